// SPDX-License-Identifier: Apache-2.0
//
// Linked statically, once at a fixed address and once position-independent:
// the image table of a program without a loader. Exit code 0 when the
// executable and the vDSO are found as /proc/self/maps has them.
#include <sys/auxv.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "capture/fake_memory.h"
#include "capture/image_table.h"

namespace {

using cairn::capture::Image;
using cairn::capture::ImageTable;

ImageTable table;
Image storage[4];

// True when every mapping of this program's file lies in image `index`.
bool CoversMappings(uint32_t index, const char* path) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) {
    return false;
  }
  char line[512];
  int seen = 0;
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    uint64_t low = 0;
    char allows[5] = "";
    if (std::strstr(line, path) == nullptr ||
        std::sscanf(line, "%" SCNx64 "-%*x %4s", &low, allows) != 2) {
      continue;
    }
    ++seen;
    if (table.Find(low) != index ||
        table.IsExecutable(low) != (allows[2] == 'x')) {
      std::printf("not as mapped: %s", line);
      seen = -100;
    }
  }
  std::fclose(maps);
  return seen > 0;
}

}  // namespace

int main(int, char** arguments) {
  const cairn::capture::ProcessVectors vectors = {getauxval(AT_PHDR),
                                                  getauxval(AT_PHNUM),
                                                  getauxval(AT_PHENT),
                                                  getauxval(AT_BASE),
                                                  getauxval(AT_SYSINFO_EHDR),
                                                  arguments[0]};
  table.Init(storage, 4);
  RefreshImages(&table, vectors, cairn::capture::OwnMemory());
  const uint32_t added =
      RefreshImages(&table, vectors, cairn::capture::OwnMemory());
  const bool good =
      table.count() == 2 && added == 0 && table.at(0).id_bytes == 20 &&
      (table.at(0).eh_frame_hdr | table.at(0).eh_frame) != 0 &&
      table.Find(vectors.vdso) == 1 && CoversMappings(0, arguments[0]);
  std::printf("eh_frame at %" PRIx64 "\n", table.at(0).eh_frame);
  std::printf("%s: %u images, %u added again, vDSO is %u\n",
              good ? "good" : "bad",
              table.count(),
              added,
              table.Find(vectors.vdso));
  return good ? 0 : 1;
}
