// SPDX-License-Identifier: Apache-2.0
//
// Split units: in a package (.dwp) beside the program, or in .dwo files where
// the compiler left them.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_DWARF_SPLIT_H_
#define CAIRN_SYMBOLICATE_DWARF_SPLIT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbolicate/debug_sections.h"
#include "symbolicate/dwarf_info.h"

namespace cairn::symbolicate {

// How object files are opened; each may be empty, or return null.
struct SplitFiles {
  std::function<std::shared_ptr<const DebugSections>()> open_package;
  std::function<std::shared_ptr<const DebugSections>(const std::string& path)>
      open_object;
};

class SplitUnits {
 public:
  explicit SplitUnits(SplitFiles files) : files_(std::move(files)) {}

  // The split unit for a skeleton; null when it is not found, or what is found
  // has another id.
  const DwarfUnit* Find(const DwarfUnit& skeleton);

 private:
  const DwarfUnit* InPackage(const DwarfUnit& skeleton);
  const DwarfUnit* InObject(const DwarfUnit& skeleton);
  void OpenPackage();
  void ReadPackageIndex(const ByteSource& source);

  SplitFiles files_;
  bool is_opened_ = false;
  std::unique_ptr<DwarfInfo> package_;
  std::unordered_map<uint64_t, DwarfContribution> contributions_;
  std::map<std::string, std::unique_ptr<DwarfInfo>> objects_;
  std::map<const DwarfUnit*, const DwarfUnit*> found_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_SPLIT_H_
