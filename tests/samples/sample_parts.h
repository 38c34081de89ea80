// SPDX-License-Identifier: Apache-2.0
//
// Parts that both samples have.
#ifndef CAIRN_TESTS_SAMPLES_SAMPLE_PARTS_H_
#define CAIRN_TESTS_SAMPLES_SAMPLE_PARTS_H_

#include <string_view>

#include "samples/sample_file.h"

namespace cairn::samples {

inline constexpr uint64_t kSampleTimeNs = 1767225845123456789;  // 2026-01-01

struct SampleImage {
  std::string_view path;
  uint64_t address;
  uint64_t bytes;
  uint8_t id_seed;  // 20 bytes of build-id rise from here
};

struct SampleName {
  std::string_view function, mangled, file;
  uint64_t offset;
  uint32_t line, column;
  bool inlined;
};

void PutHost(SampleFile* file);
void PutImage(SampleFile* file, const SampleImage& image);
// Names for the frames of `nodes`, innermost first.
void PutSymbol(SampleFile* file,
               std::initializer_list<uint64_t> nodes,
               std::initializer_list<SampleName> names);

}  // namespace cairn::samples

#endif  // CAIRN_TESTS_SAMPLES_SAMPLE_PARTS_H_
