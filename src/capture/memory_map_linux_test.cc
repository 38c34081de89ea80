// SPDX-License-Identifier: Apache-2.0
//
// Against /proc/self/maps read by the C library.
#include "capture/memory_map_linux.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

namespace cairn::capture {
namespace {

const int32_t kSelf = static_cast<int32_t>(getpid());

std::string Text(const Mapping& mapping) {
  char text[64];
  std::snprintf(text,
                sizeof(text),
                "%" PRIx64 "-%" PRIx64 " %u",
                mapping.low,
                mapping.high,
                mapping.flags);
  return mapping.found ? text : "none";
}

Neighbourhood Expected(uint64_t address) {
  Neighbourhood around = {};
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[1024], permissions[8];
  uint64_t low = 0, high = 0;
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    if (std::sscanf(
            line, "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, permissions) !=
        3) {
      continue;
    }
    const uint32_t flags = (permissions[0] == 'r' ? 4u : 0) +
                           (permissions[1] == 'w' ? 2u : 0) +
                           (permissions[2] == 'x' ? 1u : 0);
    const Mapping mapping = {low, high, flags, true};
    if (high <= address) {
      around.below = mapping;
    } else if (low <= address) {
      around.holds = mapping;
    } else if (!around.above.found) {
      around.above = mapping;
    }
  }
  std::fclose(maps);
  return around;
}

// Three pages, the middle one gone, the last one for reading only.
class MemoryMap : public testing::Test {
 protected:
  void SetUp() override {
    pages_ = reinterpret_cast<uint64_t>(mmap(nullptr,
                                             5 * 4096,
                                             PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS,
                                             -1,
                                             0));
    munmap(Page(2), 4096);
    mprotect(Page(3), 4096, PROT_READ);
    mprotect(Page(4), 4096, PROT_NONE);
  }
  void TearDown() override { munmap(Page(0), 5 * 4096); }
  void* Page(int index) const {
    return reinterpret_cast<void*>(pages_ + index * 4096);
  }
  uint64_t pages_ = 0;
};

TEST_F(MemoryMap, NeighboursAreTheKernels) {
  int local = 0;
  const std::vector<uint64_t> addresses = {
      0,
      reinterpret_cast<uint64_t>(&local),
      reinterpret_cast<uint64_t>(&FindMappings),
      pages_,
      pages_ + 2 * 4096 + 5,
      pages_ + 3 * 4096,
      pages_ + 4 * 4096 - 1,
      ~uint64_t{0}};
  std::vector<Neighbourhood> around(addresses.size());
  ASSERT_TRUE(
      FindMappings(kSelf, addresses.data(), addresses.size(), around.data()));
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Neighbourhood expected = Expected(addresses[i]);
    EXPECT_EQ(Text(around[i].below), Text(expected.below)) << i;
    EXPECT_EQ(Text(around[i].holds), Text(expected.holds)) << i;
    EXPECT_EQ(Text(around[i].above), Text(expected.above)) << i;
  }
  EXPECT_FALSE(around[4].holds.found);
  EXPECT_EQ(around[5].holds.flags, 4u);
}

TEST_F(MemoryMap, HundredsOfMappingsAndLongNames) {
  std::vector<void*> kept;
  for (int i = 0; i < 500; ++i) {  // neighbours differ, so none are merged
    kept.push_back(mmap(nullptr,
                        4096,
                        i % 2 != 0 ? PROT_READ : PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS,
                        -1,
                        0));
  }
  for (const int i : {0, 1, 250, 499}) {
    const auto address = reinterpret_cast<uint64_t>(kept[i]);
    Neighbourhood around;
    ASSERT_TRUE(FindMappings(kSelf, &address, 1, &around));
    EXPECT_EQ(Text(around.holds), Text(Expected(address).holds));
    EXPECT_EQ(Text(around.above), Text(Expected(address).above));
  }
  for (void* page : kept) {
    munmap(page, 4096);
  }
}

TEST_F(MemoryMap, WithoutProcOrDescriptorsItIsRefused) {
  const uint64_t address = pages_;
  Neighbourhood around;
  around.holds.found = true;
  EXPECT_FALSE(FindMappings(-1, &address, 1, &around));
  EXPECT_FALSE(around.holds.found);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_FALSE(FindMappings(kSelf, &address, 1, &around));
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace cairn::capture
