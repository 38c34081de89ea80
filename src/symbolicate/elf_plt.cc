// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_plt.h"

#include <algorithm>
#include <vector>

#include "symbolicate/elf_format.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxRelocations = 4u << 20;
constexpr size_t kChunkRelocations = 4096;
constexpr size_t kMaxNameBytes = 4096;
constexpr uint64_t kMaxStubBytes = 16;

// The slot that the stub jumps through: `jmp *displacement(%rip)` (ff 25),
// behind an optional endbr64 and bnd prefix.
std::optional<uint64_t> SlotOf(const std::vector<uint8_t>& stub,
                               uint64_t start) {
  for (size_t i = 0; i + 6 <= stub.size(); ++i) {
    if (stub[i] == 0xff && stub[i + 1] == 0x25) {
      const auto displacement = static_cast<int32_t>(elf::Load32(&stub[i + 2]));
      return start + i + 6 + static_cast<uint64_t>(int64_t{displacement});
    }
    if (stub[i] == 0xff && stub[i + 1] == 0x35) {
      return std::nullopt;  // push: the common head that calls the loader
    }
  }
  return std::nullopt;
}

// The symbol that fills `slot`, by one relocation section.
std::optional<std::string> FillerOf(const ElfFile& file,
                                    const ElfSection& relocations,
                                    uint64_t slot) {
  const auto& sections = file.sections();
  if (relocations.link >= sections.size()) {
    return std::nullopt;
  }
  const ElfSection& symbols = sections[relocations.link];
  std::vector<uint8_t> raw(kChunkRelocations * elf::kRelaBytes64);
  const uint64_t count =
      std::min(relocations.bytes / elf::kRelaBytes64, kMaxRelocations);
  for (uint64_t first = 0; first < count; first += kChunkRelocations) {
    const auto here = static_cast<size_t>(
        std::min<uint64_t>(kChunkRelocations, count - first));
    if (!file.source().Read(relocations.offset + first * elf::kRelaBytes64,
                            raw.data(),
                            here * elf::kRelaBytes64)) {
      return std::nullopt;
    }
    for (size_t i = 0; i < here; ++i) {
      const uint8_t* at = &raw[i * elf::kRelaBytes64];
      const uint32_t type = elf::Load32(at + 8);
      const uint64_t symbol = elf::Load32(at + 12);
      if (elf::Load64(at) != slot || (type != elf::kRelocX86_64GlobDat &&
                                      type != elf::kRelocX86_64JumpSlot)) {
        continue;
      }
      uint8_t entry[elf::kSymbolBytes64];
      if (symbol >= symbols.bytes / sizeof(entry) ||
          symbols.link >= sections.size() ||
          !file.source().Read(
              symbols.offset + symbol * sizeof(entry), entry, sizeof(entry))) {
        return std::nullopt;
      }
      bool cut = false;
      return file.StringAt(
          sections[symbols.link], elf::Load32(entry), kMaxNameBytes, &cut);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<PltStub> FindPltStub(const ElfFile& file, uint64_t address) {
  if (!file.is_64() || file.machine() != elf::kMachineX86_64) {
    return std::nullopt;
  }
  const ElfSection* plt = file.CodeSectionAt(address);
  if (plt == nullptr || plt->type == elf::kSectionNoBits ||
      (plt->name != ".plt" && plt->name != ".plt.sec" &&
       plt->name != ".plt.got")) {
    return std::nullopt;
  }
  const uint64_t stub_bytes =
      plt->name == ".plt.got" && plt->entry_bytes == 8 ? 8 : kMaxStubBytes;
  const uint64_t start =
      plt->address + (address - plt->address) / stub_bytes * stub_bytes;
  std::vector<uint8_t> stub(
      static_cast<size_t>(std::min(stub_bytes, plt->end() - start)));
  if (!file.source().Read(
          plt->offset + (start - plt->address), stub.data(), stub.size())) {
    return std::nullopt;
  }
  const auto slot = SlotOf(stub, start);
  if (!slot) {
    return std::nullopt;
  }
  for (const ElfSection& section : file.sections()) {
    if (section.type == elf::kSectionRela &&
        (section.name == ".rela.plt" || section.name == ".rela.dyn")) {
      auto name = FillerOf(file, section, *slot);
      if (name && !name->empty()) {
        return PltStub{start, *name + "@plt"};
      }
    }
  }
  return std::nullopt;
}

}  // namespace cairn::symbolicate
