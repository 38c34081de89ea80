// SPDX-License-Identifier: Apache-2.0
#include "report/image_text.h"

#include "format/register_names.h"

namespace cairn::report {

std::string BaseName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

format::Architecture ArchitectureOf(const Report& report, const Image& image) {
  return image.architecture != format::Architecture::kUnknown
             ? image.architecture
             : report.architecture;
}

std::vector<std::string> SymbolStatuses(const Report& report) {
  std::vector<std::string> statuses(report.images.size());
  for (const auto& [image, status] : report.symbol_status) {
    if (image < statuses.size()) {
      statuses[image] = status;
    }
  }
  return statuses;
}

std::string RegisterName(format::Architecture architecture, uint32_t index) {
  const format::RegisterNames names = format::RegisterNamesOf(architecture);
  return index < names.count ? names.names[index]
                             : "register" + std::to_string(index);
}

}  // namespace cairn::report
