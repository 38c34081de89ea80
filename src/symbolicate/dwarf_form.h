// SPDX-License-Identifier: Apache-2.0
//
// The values of attributes, by form.
//
// Ordinary code. Bounds as DwarfCursor has them.
#ifndef CAIRN_SYMBOLICATE_DWARF_FORM_H_
#define CAIRN_SYMBOLICATE_DWARF_FORM_H_

#include <cstdint>
#include <string_view>

#include "symbolicate/dwarf_abbreviations.h"
#include "symbolicate/dwarf_cursor.h"

namespace cairn::symbolicate {

// A value as it stands: an address, constant, offset or index by `form`; the
// text itself for kFormString.
struct DwarfValue {
  uint16_t form = 0;  // 0: absent
  uint64_t number = 0;
  std::string_view text;

  explicit operator bool() const { return form != 0; }
};

// Bytes of the form, or DwarfAbbreviation::kVariable.
uint32_t FixedFormBytes(uint16_t form, const DwarfSizes& sizes);

// Steps over the value. An unknown form fails the cursor: nothing behind it can
// be read.
void SkipForm(uint16_t form, const DwarfSizes& sizes, DwarfCursor* in);

DwarfValue ReadForm(const DwarfAttributeSpec& spec,
                    const DwarfSizes& sizes,
                    DwarfCursor* in);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_FORM_H_
