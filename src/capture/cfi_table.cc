// SPDX-License-Identifier: Apache-2.0
//
// The flow: FindCfi → ReadHeader → SearchTable → ParseFde → ParseCie; or, with
// an unusable table, FindLinear over the entries of .eh_frame.
#include "capture/cfi_table.h"

#include "capture/byte_reader.h"

namespace cairn::capture {
namespace {

// DW_EH_PE_*: low half the format, then what it is relative to.
constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kAbsolute = 0x00;
constexpr uint8_t kRelativeMask = 0x70;
constexpr uint8_t kPcRelative = 0x10;
constexpr uint8_t kDataRelative = 0x30;
constexpr uint8_t kIndirect = 0x80;
constexpr uint8_t kOmit = 0xff;

constexpr uint64_t kMaxEntryBytes = 1 << 20;
constexpr uint32_t kMaxAugmentation = 16;
constexpr uint64_t kEntriesAtOnce = 16;  // of 8 bytes: one piece of a reader

// What differs between .eh_frame and .debug_frame: how a CIE is told, and from
// where an FDE's pointer to it counts.
constexpr uint64_t kNowhere = ~uint64_t{0};

struct Section {
  bool is_debug;
  uint64_t start;  // of .debug_frame

  bool IsCie(uint64_t id, bool wide) const {
    return id == (!is_debug ? 0 : wide ? ~uint64_t{0} : uint64_t{0xffffffff});
  }
  // kNowhere: out of range.
  uint64_t CieOf(uint64_t pointer_at, uint64_t id) const {
    if (is_debug) {
      return id < kNowhere - start ? start + id : kNowhere;
    }
    return id <= pointer_at ? pointer_at - id : kNowhere;
  }
};
constexpr Section kEhFrame = {false, 0};

struct SearchTable {
  uint64_t frames;   // .eh_frame, 0: unknown
  uint64_t entries;  // where the sorted table begins
  uint64_t count;    // 0: unusable
  uint8_t encoding;
  size_t value_bytes;
};

size_t FormatBytes(uint8_t encoding, int pointer_bytes) {
  switch (encoding & kFormatMask) {
    case 0x00:
      return static_cast<size_t>(pointer_bytes);
    case 0x02:
    case 0x0a:
      return 2;
    case 0x03:
    case 0x0b:
      return 4;
    case 0x04:
    case 0x0c:
      return 8;
    default:
      return 0;
  }
}

uint64_t ReadFormat(ByteReader* bytes, uint8_t encoding, int pointer_bytes) {
  switch (encoding & kFormatMask) {
    case 0x01:
      return bytes->Uleb();
    case 0x09:
      return static_cast<uint64_t>(bytes->Sleb());
    default:
      break;
  }
  const size_t width = FormatBytes(encoding, pointer_bytes);
  if ((encoding & 0x08) != 0) {
    return static_cast<uint64_t>(bytes->Signed(width));
  }
  return bytes->Unsigned(width);
}

uint64_t Truncate(uint64_t value, int pointer_bytes) {
  return pointer_bytes == 4 ? static_cast<uint32_t>(value) : value;
}

// Reads a length field; returns the end of the entry, 0 at the terminator.
// `wide` tells the 64-bit form.
uint64_t ReadEntryEnd(ByteReader* bytes, bool* wide) {
  uint64_t length = bytes->U32();
  *wide = length == 0xffffffff;
  if (*wide) {
    length = bytes->Unsigned(8);
  }
  if (!bytes->ok() || length == 0 || length > kMaxEntryBytes) {
    return 0;
  }
  return bytes->address() + length;
}

// The letters behind 'z'. An unknown one ends the reading: its operand's size
// cannot be known, and the length that 'z' gave leads past it.
bool ReadAugmentation(ByteReader* bytes,
                      const char* letters,
                      int pointer_bytes,
                      CfiEntry* entry) {
  const uint64_t length = bytes->Uleb();
  const uint64_t after = bytes->address() + length;
  if (length > kMaxEntryBytes) {
    return false;
  }
  for (; *letters != '\0' && bytes->ok(); ++letters) {
    switch (*letters) {
      case 'R':
        entry->pointer_encoding = bytes->U8();
        continue;
      case 'L':
        bytes->U8();
        continue;
      case 'P': {
        const uint8_t encoding = bytes->U8();
        if ((encoding & kFormatMask) == 0x01 ||
            (encoding & kFormatMask) == 0x09) {
          bytes->Uleb();
        } else if (encoding != kOmit) {
          bytes->Skip(FormatBytes(encoding, pointer_bytes));
        }
        continue;
      }
      case 'S':
        entry->signal_frame = true;
        continue;
      case 'B':  // arm64: signed with key B
      case 'G':  // arm64: tagged stack
        continue;
      default:
        break;
    }
    break;
  }
  entry->initial_program = after;
  entry->sized_augmentation = true;
  return bytes->ok();
}

bool ParseCie(const safe::MemoryReader& memory,
              const Section& section,
              uint64_t cie,
              int pointer_bytes,
              CfiEntry* entry) {
  ByteReader bytes(memory, cie, cie + kMaxEntryBytes);
  bool wide = false;
  const uint64_t end = ReadEntryEnd(&bytes, &wide);
  if (end == 0 || !section.IsCie(bytes.Unsigned(wide ? 8 : 4), wide)) {
    return false;
  }
  bytes.MoveTo(bytes.address(), end);
  const uint8_t version = bytes.U8();
  char letters[kMaxAugmentation] = "";
  for (uint32_t i = 0;; ++i) {
    if (i == kMaxAugmentation || !bytes.ok()) {
      return false;
    }
    letters[i] = static_cast<char>(bytes.U8());
    if (letters[i] == '\0') {
      break;
    }
  }
  const bool old_gcc = letters[0] == 'e' && letters[1] == 'h';
  if (old_gcc) {
    bytes.Skip(static_cast<uint64_t>(pointer_bytes));
  }
  if (version == 4 && (bytes.U8() != pointer_bytes || bytes.U8() != 0)) {
    return false;
  }
  entry->code_align = bytes.Uleb();
  entry->data_align = bytes.Sleb();
  entry->return_register = version == 1 ? bytes.U8() : bytes.Uleb();
  entry->pointer_encoding = kAbsolute;
  entry->signal_frame = false;
  entry->sized_augmentation = false;
  entry->initial_program = bytes.address();
  entry->initial_program_end = end;
  if (letters[0] == 'z') {
    if (!ReadAugmentation(&bytes, letters + 1, pointer_bytes, entry)) {
      return false;
    }
  } else if (letters[0] != '\0' && !old_gcc) {
    return false;
  }
  return bytes.ok() && (version == 1 || version == 3 || version == 4) &&
         entry->initial_program <= end;
}

bool ReadHeader(const safe::MemoryReader& memory,
                const CfiTables& tables,
                int pointer_bytes,
                SearchTable* table) {
  const uint64_t end = tables.header + tables.header_bytes;
  ByteReader bytes(memory, tables.header, end);
  const uint8_t version = bytes.U8();
  const uint8_t frames_encoding = bytes.U8();
  const uint8_t count_encoding = bytes.U8();
  table->encoding = bytes.U8();
  *table = {0, 0, 0, table->encoding, 0};
  if (!bytes.ok() || version != 1 || frames_encoding == kOmit) {
    return false;
  }
  table->frames = ReadEncodedPointer(
      &bytes, memory, frames_encoding, tables.header, pointer_bytes);
  if (!bytes.ok()) {
    table->frames = 0;
    return false;
  }
  if (count_encoding == kOmit || table->encoding == kOmit) {
    return true;
  }
  table->count = ReadEncodedPointer(
      &bytes, memory, count_encoding, tables.header, pointer_bytes);
  table->entries = bytes.address();
  table->value_bytes = FormatBytes(table->encoding, pointer_bytes);
  const uint8_t relative = table->encoding & kRelativeMask;
  // Position-relative values would each need their own place; nobody writes
  // them.
  if (!bytes.ok() || table->value_bytes == 0 ||
      (relative != kAbsolute && relative != kDataRelative) ||
      (table->encoding & kIndirect) != 0) {
    table->count = 0;
  } else if (table->count > (end - table->entries) / (2 * table->value_bytes)) {
    table->count = (end - table->entries) / (2 * table->value_bytes);
  }
  return true;
}

// Entry `index` of the table: start of code, and where its FDE is.
bool ReadTableEntry(ByteReader* bytes,
                    const SearchTable& table,
                    uint64_t header,
                    uint64_t index,
                    int pointer_bytes,
                    uint64_t* begin,
                    uint64_t* fde) {
  const uint64_t base =
      (table.encoding & kRelativeMask) == kDataRelative ? header : 0;
  const uint64_t at = table.entries + index * 2 * table.value_bytes;
  bytes->MoveTo(at, at + 2 * table.value_bytes);
  *begin = Truncate(base + ReadFormat(bytes, table.encoding, pointer_bytes),
                    pointer_bytes);
  *fde = Truncate(base + ReadFormat(bytes, table.encoding, pointer_bytes),
                  pointer_bytes);
  return bytes->ok();
}

// The last entry that begins at or below `address`. kNone when there is none.
CfiLookup SearchFde(const safe::MemoryReader& memory,
                    const SearchTable& table,
                    uint64_t header,
                    uint64_t address,
                    int pointer_bytes,
                    uint64_t* fde) {
  ByteReader bytes(memory, 0, 0);
  uint64_t low = 0;
  uint64_t high = table.count;
  CfiLookup result = CfiLookup::kNone;
  while (low < high) {
    // The last few lie in one piece: read them from their first.
    const uint64_t middle =
        high - low > kEntriesAtOnce ? low + (high - low) / 2 : low;
    uint64_t begin = 0;
    uint64_t place = 0;
    if (!ReadTableEntry(
            &bytes, table, header, middle, pointer_bytes, &begin, &place)) {
      return CfiLookup::kBad;
    }
    if (begin > address) {
      high = middle;
    } else {
      low = middle + 1;
      *fde = place;
      result = CfiLookup::kFound;
    }
  }
  return result;
}

// The CIE that was read last: most FDEs share one.
struct CieCache {
  uint64_t address = kNowhere;
  CfiEntry cie = {};
};

// Reads what follows an FDE's length field, up to `end`. False: a CIE, or bad.
bool ReadFde(ByteReader* bytes,
             const safe::MemoryReader& memory,
             const Section& section,
             uint64_t end,
             bool wide,
             int pointer_bytes,
             CieCache* cache,
             CfiEntry* entry) {
  bytes->MoveTo(bytes->address(), end);
  const uint64_t pointer_at = bytes->address();
  const uint64_t id = bytes->Unsigned(wide ? 8 : 4);
  const uint64_t cie = section.CieOf(pointer_at, id);
  if (!bytes->ok() || section.IsCie(id, wide) || cie == kNowhere) {
    return false;
  }
  if (cie != cache->address) {
    cache->address = kNowhere;
    if (!ParseCie(memory, section, cie, pointer_bytes, &cache->cie)) {
      return false;
    }
    cache->address = cie;
  }
  *entry = cache->cie;
  const uint8_t encoding = entry->pointer_encoding;
  entry->begin = ReadEncodedPointer(bytes, memory, encoding, 0, pointer_bytes);
  entry->end = entry->begin +
               ReadFormat(bytes, encoding & kFormatMask & ~0x08, pointer_bytes);
  if (entry->sized_augmentation) {
    bytes->Skip(bytes->Uleb());
  }
  entry->program = bytes->address();
  entry->program_end = end;
  return bytes->ok() && entry->end >= entry->begin;
}

// Reads a section from its start, entry by entry.
CfiLookup FindLinear(const safe::MemoryReader& memory,
                     const Section& section,
                     uint64_t frames,
                     uint64_t limit,
                     uint64_t address,
                     int pointer_bytes,
                     uint32_t* budget,
                     CfiEntry* entry) {
  ByteReader bytes(memory, frames, limit);
  CieCache cache;
  while (*budget > 0 && bytes.address() < limit) {
    --*budget;
    const uint64_t start = bytes.address();
    bool wide = false;
    const uint64_t end = ReadEntryEnd(&bytes, &wide);
    if (end == 0 || end > limit || end <= start) {
      return bytes.ok() ? CfiLookup::kNone : CfiLookup::kBad;
    }
    if (ReadFde(
            &bytes, memory, section, end, wide, pointer_bytes, &cache, entry) &&
        address >= entry->begin && address < entry->end) {
      entry->fde = start;
      return CfiLookup::kFound;
    }
    bytes.Restart(end, limit);  // a bad entry is passed by
  }
  return CfiLookup::kNone;
}

}  // namespace

uint64_t ReadEncodedPointer(ByteReader* bytes,
                            const safe::MemoryReader& memory,
                            uint8_t encoding,
                            uint64_t data_base,
                            int pointer_bytes) {
  const uint64_t place = bytes->address();
  uint64_t value = ReadFormat(bytes, encoding, pointer_bytes);
  switch (encoding & kRelativeMask) {
    case kAbsolute:
      break;
    case kPcRelative:
      value += place;
      break;
    case kDataRelative:
      value += data_base;
      break;
    default:
      bytes->Fail();
  }
  value = Truncate(value, pointer_bytes);
  if ((encoding & kIndirect) != 0) {
    ByteReader behind(memory, value, value + 8);
    value = behind.Unsigned(static_cast<size_t>(pointer_bytes));
    if (!behind.ok()) {
      bytes->Fail();
    }
  }
  return bytes->ok() ? value : 0;
}

bool ParseFde(const safe::MemoryReader& memory,
              uint64_t fde,
              uint64_t limit,
              int pointer_bytes,
              CfiEntry* entry) {
  ByteReader bytes(memory, fde, limit);
  CieCache cache;
  bool wide = false;
  const uint64_t end = ReadEntryEnd(&bytes, &wide);
  if (end == 0 || end > limit ||
      !ReadFde(
          &bytes, memory, kEhFrame, end, wide, pointer_bytes, &cache, entry)) {
    return false;
  }
  entry->fde = fde;
  return true;
}

CfiLookup FindCfi(const safe::MemoryReader& memory,
                  const CfiTables& tables,
                  uint64_t address,
                  int pointer_bytes,
                  uint32_t* budget,
                  CfiEntry* entry) {
  uint64_t frames = tables.frames;
  uint64_t limit = tables.frames + tables.frames_bytes;
  if (tables.header != 0) {
    SearchTable table = {};
    if (ReadHeader(memory, tables, pointer_bytes, &table) && table.count > 0) {
      uint64_t fde = 0;
      const CfiLookup found =
          SearchFde(memory, table, tables.header, address, pointer_bytes, &fde);
      if (found == CfiLookup::kNone) {
        return found;
      }
      if (found == CfiLookup::kFound &&
          ParseFde(memory, fde, ~uint64_t{0}, pointer_bytes, entry)) {
        return address >= entry->begin && address < entry->end
                   ? CfiLookup::kFound
                   : CfiLookup::kNone;
      }
    }
    if (frames == 0) {
      frames = table.frames;
      limit = ~uint64_t{0};  // up to its terminator
    }
    if (frames == 0) {
      return CfiLookup::kBad;
    }
  }
  return frames == 0 ? CfiLookup::kNone
                     : FindLinear(memory,
                                  kEhFrame,
                                  frames,
                                  limit,
                                  address,
                                  pointer_bytes,
                                  budget,
                                  entry);
}

CfiLookup FindDebugFrame(const DebugFrames& frames,
                         uint64_t address,
                         int pointer_bytes,
                         uint32_t* budget,
                         CfiEntry* entry) {
  return FindLinear(frames.memory,
                    {true, frames.address},
                    frames.address,
                    frames.address + frames.bytes,
                    address,
                    pointer_bytes,
                    budget,
                    entry);
}

}  // namespace cairn::capture
