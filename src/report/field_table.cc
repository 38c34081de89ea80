// SPDX-License-Identifier: Apache-2.0
#include "report/field_table.h"

namespace cairn::report {
namespace {

using format::Field;
using format::Kind;

// The list names groups by what they are, not by the record that opens them.
inline constexpr Kind kGroup = Kind::kGroupBegin;
inline constexpr Kind kUnsigned = Kind::kUnsigned;
inline constexpr Kind kSigned = Kind::kSigned;
inline constexpr Kind kAddress = Kind::kAddress;
inline constexpr Kind kString = Kind::kString;
inline constexpr Kind kBytes = Kind::kBytes;
inline constexpr Kind kPacked = Kind::kPacked;

constexpr FieldInfo kFields[] = {
#define CAIRN_V(name, id, kind, parent, text) \
  {Field::k##name, k##kind, Field::k##parent, #name, text},
    CAIRN_REPORT_FIELDS(CAIRN_V)
#undef CAIRN_V
};

constexpr bool StrictlyRising() {
  for (size_t i = 1; i < std::size(kFields); ++i) {
    if (kFields[i - 1].field >= kFields[i].field) {
      return false;
    }
  }
  return true;
}
static_assert(StrictlyRising(), "field ids rise, so none is used twice");

}  // namespace

const FieldInfo* FindField(uint16_t id) {
  size_t low = 0;
  size_t high = std::size(kFields);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (static_cast<uint16_t>(kFields[middle].field) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool found = low < std::size(kFields) &&
                     static_cast<uint16_t>(kFields[low].field) == id;
  return found ? &kFields[low] : nullptr;
}

const std::vector<FieldInfo>& AllFields() {
  static const std::vector<FieldInfo> fields(std::begin(kFields),
                                             std::end(kFields));
  return fields;
}

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kUnsigned:
      return "unsigned";
    case Kind::kSigned:
      return "signed";
    case Kind::kAddress:
      return "address";
    case Kind::kString:
      return "string";
    case Kind::kBytes:
      return "bytes";
    case Kind::kPacked:
      return "packed";
    case Kind::kGroupBegin:
      return "group";
    case Kind::kGroupEnd:
      return "end of group";
  }
  return "unknown";
}

}  // namespace cairn::report
