// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_form.h"

#include "symbolicate/dwarf_constants.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

// DW_FORM_indirect may name itself again and again.
constexpr int kMaxIndirect = 4;

}  // namespace

uint32_t FixedFormBytes(uint16_t form, const DwarfSizes& sizes) {
  switch (form) {
    case kFormAddress:
      return sizes.address;
    case kFormReferenceAddress:
      return sizes.version <= 2 ? sizes.address : sizes.offset;
    case kFormStringPointer:
    case kFormSectionOffset:
    case kFormLineString:
    case kFormStringSupplement:
    case kFormGnuReferenceAlternate:
    case kFormGnuStringAlternate:
      return sizes.offset;
    case kFormFlagPresent:
    case kFormImplicitConstant:
      return 0;
    case kFormData1:
    case kFormFlag:
    case kFormReference1:
    case kFormStringIndex1:
    case kFormAddressIndex1:
      return 1;
    case kFormData2:
    case kFormReference2:
    case kFormStringIndex2:
    case kFormAddressIndex2:
      return 2;
    case kFormStringIndex3:
    case kFormAddressIndex3:
      return 3;
    case kFormData4:
    case kFormReference4:
    case kFormReferenceSupplement4:
    case kFormStringIndex4:
    case kFormAddressIndex4:
      return 4;
    case kFormData8:
    case kFormReference8:
    case kFormSignature:
    case kFormReferenceSupplement8:
      return 8;
    case kFormData16:
      return 16;
    default:
      return DwarfAbbreviation::kVariable;
  }
}

void SkipForm(uint16_t form, const DwarfSizes& sizes, DwarfCursor* in) {
  for (int i = 0; form == kFormIndirect && i < kMaxIndirect; ++i) {
    form = static_cast<uint16_t>(in->Uleb());
  }
  switch (form) {
    case kFormBlock1:
      in->Skip(in->U8());
      return;
    case kFormBlock2:
      in->Skip(in->U16());
      return;
    case kFormBlock4:
      in->Skip(in->U32());
      return;
    case kFormBlock:
    case kFormExpression:
      in->Skip(in->Uleb());
      return;
    case kFormString:
      in->Text();
      return;
    case kFormSignedData:
    case kFormUnsignedData:
    case kFormReferenceUnsigned:
    case kFormStringIndex:
    case kFormAddressIndex:
    case kFormLocationListIndex:
    case kFormRangeListIndex:
    case kFormGnuAddressIndex:
    case kFormGnuStringIndex:
      in->SkipLeb();
      return;
    default:
      break;
  }
  const uint32_t bytes = FixedFormBytes(form, sizes);
  if (bytes == DwarfAbbreviation::kVariable) {
    in->Fail();
  } else {
    in->Skip(bytes);
  }
}

DwarfValue ReadForm(const DwarfAttributeSpec& spec,
                    const DwarfSizes& sizes,
                    DwarfCursor* in) {
  uint16_t form = spec.form;
  for (int i = 0; form == kFormIndirect && i < kMaxIndirect; ++i) {
    form = static_cast<uint16_t>(in->Uleb());
  }
  DwarfValue value{form, 0, {}};
  switch (form) {
    case kFormFlagPresent:
      value.number = 1;
      return value;
    case kFormImplicitConstant:
      value.number = static_cast<uint64_t>(spec.constant);
      return value;
    case kFormString:
      value.text = in->Text();
      return value;
    case kFormSignedData:
      value.number = static_cast<uint64_t>(in->Sleb());
      return value;
    case kFormUnsignedData:
    case kFormReferenceUnsigned:
    case kFormStringIndex:
    case kFormAddressIndex:
    case kFormLocationListIndex:
    case kFormRangeListIndex:
    case kFormGnuAddressIndex:
    case kFormGnuStringIndex:
      value.number = in->Uleb();
      return value;
    default:
      break;
  }
  const uint32_t bytes = FixedFormBytes(form, sizes);
  if (bytes <= 8) {
    value.number = in->Unsigned(static_cast<int>(bytes));
  } else {
    SkipForm(form, sizes, in);
  }
  return value;
}

}  // namespace cairn::symbolicate
