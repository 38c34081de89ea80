// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/step_exceptions.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace cairn::unwind_tests {
namespace {

constexpr size_t kFields = 5;

std::string Trim(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  const size_t last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

const Site& SiteNames::Of(const capture::ImageTable& images, uint64_t address) {
  auto [known, is_new] = known_.try_emplace(address);
  Site& site = known->second;
  if (!is_new) {
    return site;
  }
  site = {"?", "?", address};
  const uint32_t index = images.Find(address);
  if (index == capture::kNoImage) {
    return site;
  }
  const capture::Image& image = images.at(index);
  const std::string path(image.path, image.path_bytes);
  site.module = path.substr(path.rfind('/') + 1);
  site.offset = address - image.address;
  std::string error;
  const auto frames =
      symbolicator_.LookupFile(path, address - image.link_bias, &error);
  if (!frames.empty()) {
    site.function = frames.back().function;
    site.offset = frames.back().offset.value_or(0);
  }
  return site;
}

bool Exceptions::Load(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') {
      continue;
    }
    std::vector<std::string> fields;
    std::istringstream line(text);
    for (std::string field; std::getline(line, field, '|');) {
      fields.push_back(Trim(field));
    }
    if (fields.size() != kFields ||
        std::count(fields.begin(), fields.end(), "") != 0) {
      std::fprintf(
          stderr, "%s: no exception: %s\n", path.c_str(), text.c_str());
      return false;
    }
    lines_.push_back({fields[0], fields[1]});
  }
  return true;
}

bool Exceptions::Has(const Site& site) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
    return (line.module == "*" || site.module.starts_with(line.module)) &&
           line.function == site.function;
  });
}

}  // namespace cairn::unwind_tests
