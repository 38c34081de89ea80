// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the DWARF specifications (2 to 5, and GNU's extensions) that
// are used here.
#ifndef CAIRN_SYMBOLICATE_DWARF_CONSTANTS_H_
#define CAIRN_SYMBOLICATE_DWARF_CONSTANTS_H_

#include <cstdint>

namespace cairn::symbolicate::dwarf {

inline constexpr uint16_t kTagLexicalBlock = 0x0b, kTagCompileUnit = 0x11;
inline constexpr uint16_t kTagInlinedSubroutine = 0x1d, kTagSubprogram = 0x2e;
inline constexpr uint16_t kTagPartialUnit = 0x3c, kTagSkeletonUnit = 0x4a;

inline constexpr uint8_t kUnitCompile = 1, kUnitType = 2, kUnitPartial = 3;
inline constexpr uint8_t kUnitSkeleton = 4, kUnitSplitCompile = 5;
inline constexpr uint8_t kUnitSplitType = 6;

enum Attribute : uint16_t {
  kAtSibling = 0x01,
  kAtName = 0x03,
  kAtStatementList = 0x10,
  kAtLowPc = 0x11,
  kAtHighPc = 0x12,
  kAtCompilationDirectory = 0x1b,
  kAtAbstractOrigin = 0x31,
  kAtDeclaration = 0x3c,
  kAtSpecification = 0x47,
  kAtRanges = 0x55,
  kAtCallColumn = 0x57,
  kAtCallFile = 0x58,
  kAtCallLine = 0x59,
  kAtLinkageName = 0x6e,
  kAtStringOffsetsBase = 0x72,
  kAtAddressBase = 0x73,
  kAtRangeListsBase = 0x74,
  kAtDwoName = 0x76,
  kAtMipsLinkageName = 0x2007,
  kAtGnuDwoName = 0x2130,
  kAtGnuDwoId = 0x2131,
  kAtGnuRangesBase = 0x2132,
  kAtGnuAddressBase = 0x2133,
};

enum Form : uint16_t {
  kFormAddress = 0x01,
  kFormBlock2 = 0x03,
  kFormBlock4 = 0x04,
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormString = 0x08,
  kFormBlock = 0x09,
  kFormBlock1 = 0x0a,
  kFormData1 = 0x0b,
  kFormFlag = 0x0c,
  kFormSignedData = 0x0d,
  kFormStringPointer = 0x0e,
  kFormUnsignedData = 0x0f,
  kFormReferenceAddress = 0x10,
  kFormReference1 = 0x11,
  kFormReference2 = 0x12,
  kFormReference4 = 0x13,
  kFormReference8 = 0x14,
  kFormReferenceUnsigned = 0x15,
  kFormIndirect = 0x16,
  kFormSectionOffset = 0x17,
  kFormExpression = 0x18,
  kFormFlagPresent = 0x19,
  kFormStringIndex = 0x1a,
  kFormAddressIndex = 0x1b,
  kFormReferenceSupplement4 = 0x1c,
  kFormStringSupplement = 0x1d,
  kFormData16 = 0x1e,
  kFormLineString = 0x1f,
  kFormSignature = 0x20,
  kFormImplicitConstant = 0x21,
  kFormLocationListIndex = 0x22,
  kFormRangeListIndex = 0x23,
  kFormReferenceSupplement8 = 0x24,
  kFormStringIndex1 = 0x25,
  kFormStringIndex2 = 0x26,
  kFormStringIndex3 = 0x27,
  kFormStringIndex4 = 0x28,
  kFormAddressIndex1 = 0x29,
  kFormAddressIndex2 = 0x2a,
  kFormAddressIndex3 = 0x2b,
  kFormAddressIndex4 = 0x2c,
  kFormGnuAddressIndex = 0x1f01,
  kFormGnuStringIndex = 0x1f02,
  kFormGnuReferenceAlternate = 0x1f20,
  kFormGnuStringAlternate = 0x1f21,
};

// Entries of .debug_rnglists.
enum RangeEntry : uint8_t {
  kRangeEnd = 0,
  kRangeBaseIndex = 1,
  kRangeStartEndIndex = 2,
  kRangeStartLengthIndex = 3,
  kRangeOffsetPair = 4,
  kRangeBase = 5,
  kRangeStartEnd = 6,
  kRangeStartLength = 7,
};

// Entry formats of the tables in a version 5 line program.
inline constexpr uint64_t kContentPath = 1, kContentDirectory = 2;

// Standard opcodes of a line program.
enum LineOpcode : uint8_t {
  kLineExtended = 0,
  kLineCopy = 1,
  kLineAdvancePc = 2,
  kLineAdvanceLine = 3,
  kLineSetFile = 4,
  kLineSetColumn = 5,
  kLineConstAddPc = 8,
  kLineFixedAdvancePc = 9,
};
inline constexpr uint8_t kLineEndSequence = 1, kLineSetAddress = 2,
                         kLineDefineFile = 3;

// Columns of .debug_cu_index.
inline constexpr uint32_t kIndexInfo = 1, kIndexAbbreviations = 3,
                          kIndexStringOffsets = 6, kIndexRangeLists = 8;

}  // namespace cairn::symbolicate::dwarf

#endif  // CAIRN_SYMBOLICATE_DWARF_CONSTANTS_H_
