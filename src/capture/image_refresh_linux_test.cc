// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "capture/fake_memory.h"
#include "capture/image_table.h"

namespace cairn::capture {
namespace {

std::string Path(const Image& image) {
  return {image.path, image.path_bytes};
}

struct Table {
  explicit Table(uint32_t capacity)
      : storage(capacity), table(std::make_unique<ImageTable>()) {
    table->Init(storage.data(), capacity);
  }
  ImageTable* operator->() const { return table.get(); }
  ImageTable* get() const { return table.get(); }
  std::vector<Image> storage;
  std::unique_ptr<ImageTable> table;
};

ProcessVectors OwnVectors() {
  static const std::string path =
      std::filesystem::read_symlink("/proc/self/exe").string();
  return {getauxval(AT_PHDR),
          getauxval(AT_PHNUM),
          getauxval(AT_PHENT),
          getauxval(AT_BASE),
          getauxval(AT_SYSINFO_EHDR),
          path.c_str()};
}

// What the C library says of the loaded images: bias → program headers.
struct Told {
  uint64_t bias;
  std::string path;
  uint64_t eh_frame_hdr = 0;
  std::vector<std::pair<uint64_t, uint32_t>> loads;
};
std::vector<Told> ToldByTheCLibrary() {
  std::vector<Told> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        Told told = {info->dlpi_addr, info->dlpi_name, 0, {}};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_GNU_EH_FRAME) {
            told.eh_frame_hdr = info->dlpi_addr + header.p_vaddr;
          }
          if (header.p_type == PT_LOAD) {
            told.loads.emplace_back(info->dlpi_addr + header.p_vaddr,
                                    header.p_flags);
          }
        }
        static_cast<std::vector<Told>*>(context)->push_back(told);
        return 0;
      },
      &all);
  return all;
}

TEST(ImageRefresh, OwnProcessIsWhatTheCLibrarySays) {
  Table table(64);
  const uint32_t added = RefreshImages(table.get(), OwnVectors(), OwnMemory());
  const auto told = ToldByTheCLibrary();
  EXPECT_EQ(added, told.size());
  EXPECT_EQ(table->count(), told.size());
  for (const Told& image : told) {
    for (const auto& [address, flags] : image.loads) {
      const uint32_t index = table->Find(address);
      ASSERT_NE(index, kNoImage) << image.path;
      EXPECT_EQ(table->at(index).link_bias, image.bias);
      EXPECT_EQ(table->at(index).eh_frame_hdr, image.eh_frame_hdr);
      EXPECT_EQ(table->IsExecutable(address), (flags & PF_X) != 0);
      if (!image.path.empty()) {
        EXPECT_EQ(Path(table->at(index)), image.path);
      }
    }
  }
  EXPECT_EQ(Path(table->at(0)), OwnVectors().executable_path);
  EXPECT_EQ(table->Find(reinterpret_cast<uint64_t>(&OwnVectors)), 0u);
}

TEST(ImageRefresh, A6_14_VdsoIsFoundByItsAddress) {
  Table table(64);
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  const uint32_t index = table->Find(getauxval(AT_SYSINFO_EHDR));
  ASSERT_NE(index, kNoImage);
  EXPECT_EQ(Path(table->at(index)), "linux-vdso.so.1");
  EXPECT_NE(table->at(index).eh_frame_hdr, 0u);
  EXPECT_EQ(table->at(index).id_bytes, 20u);
}

TEST(ImageRefresh, A6_9_SecondRefreshAddsNoDuplicates) {
  Table table(64);
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  const uint32_t count = table->count();
  EXPECT_EQ(RefreshImages(table.get(), OwnVectors(), OwnMemory()), 0u);
  EXPECT_EQ(table->count(), count);
  for (uint32_t i = 0; i < count; ++i) {
    EXPECT_EQ(table->at(i).unloaded, 0u);
  }
}

TEST(ImageRefresh, S1_6_A6_26_UnloadedLibraryStaysAndAReloadIsANewImage) {
  Table table(64);
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  const uint32_t before = table->count();
  void* library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto code = reinterpret_cast<uint64_t>(dlsym(library, "inflate"));
  EXPECT_EQ(RefreshImages(table.get(), OwnVectors(), OwnMemory()), 1u);
  EXPECT_EQ(table->Find(code), before);
  EXPECT_TRUE(table->IsExecutable(code));
  dlclose(library);
  EXPECT_EQ(RefreshImages(table.get(), OwnVectors(), OwnMemory()), 0u);
  EXPECT_EQ(table->at(before).unloaded, 1u);
  EXPECT_EQ(table->Find(code), before);
  EXPECT_FALSE(table->IsExecutable(code));
  library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  EXPECT_EQ(RefreshImages(table.get(), OwnVectors(), OwnMemory()), 1u);
  const auto again = reinterpret_cast<uint64_t>(dlsym(library, "inflate"));
  EXPECT_EQ(table->Find(again), before + 1);
  dlclose(library);
}

TEST(ImageRefresh, LibraryOfAnotherNamespaceIsSeen) {
  Table table(64);
  void* library = dlmopen(LM_ID_NEWLM, "libz.so.1", RTLD_NOW);
  if (library == nullptr) {
    GTEST_SKIP() << dlerror();
  }
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  const auto code = reinterpret_cast<uint64_t>(dlsym(library, "inflate"));
  EXPECT_NE(table->Find(code), kNoImage);
  std::set<uint64_t> places;
  for (uint32_t i = 0; i < table->count(); ++i) {
    EXPECT_TRUE(places.insert(table->at(i).address).second);
  }
  dlclose(library);
}

TEST(ImageRefresh, A6_3_FullTableKeepsTheFirstAndCounts) {
  Table table(2);
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  RefreshImages(table.get(), OwnVectors(), OwnMemory());
  EXPECT_EQ(table->count(), 2u);
  EXPECT_EQ(table->dropped(), ToldByTheCLibrary().size() - 2);
  EXPECT_EQ(Path(table->at(0)), OwnVectors().executable_path);
}

// A hand-made process: executable at 0x400000, its dynamic section, r_debug and
// a link map whose nodes a test may break.
struct Process {
  FakeMemory memory;
  ProcessVectors vectors = {};

  Process() {
    PutImage(0x400000, 0x400100, {});
    vectors.program_headers = 0x400040;
    vectors.program_header_count = 2;
    vectors.program_header_bytes = sizeof(Elf64_Phdr);
    vectors.executable_path = "/bin/hand-made";
    PutDynamic(0x10000);
    PutDebug(r_debug::RT_CONSISTENT, 0x20000);
    PutNode(0x20000, 0, 0, 0x400100, 0x21000);
    memory.PutText(0x30000, "/lib/one.so");
    memory.PutText(0x31000, "/lib/two.so");
    PutImage(0x500000, 0x500100, 0x500000);
    PutImage(0x600000, 0x600100, 0x600000);
    PutNode(0x21000, 0x500000, 0x30000, 0x500100, 0x22000);
    PutNode(0x22000, 0x600000, 0x31000, 0x600100, 0);
  }
  // Header, one segment, PT_DYNAMIC. `bias` 0 is an executable at its address.
  void PutImage(uint64_t base, uint64_t dynamic, uint64_t bias) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_phoff = 64;
    header.e_phnum = 2;
    header.e_phentsize = sizeof(Elf64_Phdr);
    memory.PutValue(base, header);
    const Elf64_Phdr headers[2] = {
        {PT_LOAD, PF_R | PF_X, 0, base - bias, 0, 0x200, 0x200, 0x1000},
        {PT_DYNAMIC, PF_R, 0x100, dynamic - bias, 0, 0x20, 0x20, 8}};
    memory.PutValue(base + 64, headers);
  }
  void PutDynamic(uint64_t debug) {
    const Elf64_Dyn entries[2] = {{DT_DEBUG, {debug}}, {DT_NULL, {0}}};
    memory.PutValue(0x400100, entries);
  }
  void PutDebug(decltype(r_debug::r_state) state, uint64_t map) {
    r_debug debug = {};
    debug.r_version = 1;
    debug.r_map = reinterpret_cast<link_map*>(map);
    debug.r_state = state;
    memory.PutValue(0x10000, debug);
  }
  void PutNode(uint64_t at,
               uint64_t bias,
               uint64_t name,
               uint64_t dynamic,
               uint64_t next) {
    link_map node = {};
    node.l_addr = bias;
    node.l_name = reinterpret_cast<char*>(name);
    node.l_ld = reinterpret_cast<Elf64_Dyn*>(dynamic);
    node.l_next = reinterpret_cast<link_map*>(next);
    memory.PutValue(at, node);
  }
  uint32_t Refresh(Table* table) {
    return RefreshImages(table->get(), vectors, memory.reader());
  }
};

TEST(ImageRefresh, HandMadeProcessIsRead) {
  Process process;
  Table table(8);
  ASSERT_EQ(process.Refresh(&table), 3u);
  EXPECT_EQ(Path(table->at(0)), "/bin/hand-made");
  EXPECT_EQ(table->at(0).link_bias, 0u);
  EXPECT_EQ(Path(table->at(1)), "/lib/one.so");
  EXPECT_EQ(Path(table->at(2)), "/lib/two.so");
}

TEST(ImageRefresh, DebugPointerNotYetSetMarksNothing) {
  Process process;
  Table table(8);
  process.Refresh(&table);
  process.PutDynamic(0);
  EXPECT_EQ(process.Refresh(&table), 0u);
  EXPECT_EQ(table->at(1).unloaded, 0u);
}

TEST(ImageRefresh, A6_6_ListInMidUpdateMarksNothing) {
  Process process;
  Table table(8);
  process.Refresh(&table);
  process.PutDebug(r_debug::RT_DELETE, 0x20000);
  process.PutNode(0x20000, 0, 0, 0x400100, 0x22000);
  process.Refresh(&table);
  EXPECT_EQ(table->at(1).unloaded, 0u);
  process.PutDebug(r_debug::RT_CONSISTENT, 0x20000);
  process.Refresh(&table);
  EXPECT_EQ(table->at(1).unloaded, 1u);
  EXPECT_EQ(table->at(2).unloaded, 0u);
}

TEST(ImageRefresh, A4_3_UnreadableNodeOrNameKeepsTheRest) {
  Process process;
  Table table(8);
  process.memory.Remove(0x30000);
  process.memory.Remove(0x22000);
  EXPECT_EQ(process.Refresh(&table), 2u);
  EXPECT_EQ(Path(table->at(1)), "");
  EXPECT_EQ(table->at(1).address, 0x500000u);
}

TEST(ImageRefresh, A4_5_ListWithoutAnEndStops) {
  Process process;
  Table table(64);
  process.PutNode(0x22000, 0x600000, 0x31000, 0x600100, 0x21000);
  EXPECT_EQ(process.Refresh(&table), 3u);
  EXPECT_LT(process.memory.reads(), 200u);
}

TEST(ImageRefresh, A4_2_PathWithoutAnEndKeepsItsLastBytes) {
  Process process;
  Table table(8);
  std::vector<uint8_t> path(100000, 'a');
  process.memory.Remove(0x31000);
  process.memory.Put(0x40000, path);
  process.PutNode(0x21000, 0x500000, 0x40000, 0x500100, 0x22000);
  process.Refresh(&table);
  EXPECT_EQ(table->at(1).path_bytes, kMaxImagePathBytes);
  // A long one that ends: its end stays.
  path.resize(1500);
  path.insert(path.end(), {'/', 'x', '.', 's', 'o', 0});
  Process other;
  other.memory.Put(0x40000, path);
  other.PutNode(0x21000, 0x500000, 0x40000, 0x500100, 0x22000);
  Table second(8);
  other.Refresh(&second);
  EXPECT_EQ(Path(second->at(1)), std::string(507, 'a') + "/x.so");
}

TEST(ImageRefresh, OtherLibraryAtTheSamePlaceReplacesTheOld) {
  Process process;
  Table table(8);
  process.Refresh(&table);
  process.memory.PutText(0x30000, "/lib/new.so");
  EXPECT_EQ(process.Refresh(&table), 1u);
  EXPECT_EQ(table->at(1).unloaded, 1u);
  EXPECT_EQ(Path(table->at(3)), "/lib/new.so");
  EXPECT_EQ(table->Find(0x500010), 3u);
}

// Prelinked: the file header is not at the load bias.
TEST(ImageRefresh, LibraryLinkedToAFixedAddressIsFoundBelowItsDynamicSection) {
  Process process;
  Table table(8);
  process.PutImage(0x700000, 0x700100, 0x1000);
  process.PutNode(0x22000, 0x1000, 0x31000, 0x700100, 0);
  ASSERT_EQ(process.Refresh(&table), 3u);
  EXPECT_EQ(table->at(2).address, 0x700000u);
  EXPECT_EQ(table->at(2).link_bias, 0x1000u);
}

}  // namespace
}  // namespace cairn::capture
