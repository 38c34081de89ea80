// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_parts.h"

namespace cairn::samples {

using format::Field;

void PutHost(SampleFile* file) {
  file->Group(Field::kHost, [&] {
    file->Text(Field::kHostOs, "Debian GNU/Linux 12 (bookworm)");
    file->Text(Field::kHostKernel, "Linux 6.1.0-18-amd64");
    file->Text(Field::kHostCpu, "Intel(R) Xeon(R) Processor @ 2.90GHz");
    file->Text(Field::kHostCpuType, "x86_64");
    file->Number(Field::kHostCores, 8);
    file->Number(Field::kHostMemoryBytes, uint64_t{16} << 30);
    file->Number(Field::kHostPageBytes, 4096);
  });
}

void PutImage(SampleFile* file, const SampleImage& image) {
  file->Group(Field::kImage, [&] {
    file->Address(Field::kImageAddress, image.address);
    file->Number(Field::kImageBytes, image.bytes);
    file->Text(Field::kImagePath, image.path);
    std::vector<uint8_t> id(20);
    for (uint8_t i = 0; i < 20; ++i) {
      id[i] = static_cast<uint8_t>(image.id_seed + i);
    }
    file->Bytes(Field::kImageId, id);
    file->Signed(Field::kImageLinkBias, static_cast<int64_t>(image.address));
    file->Pack(Field::kImageSegments,
               Packed()
                   .Add(0)
                   .Add(0x1000)
                   .Add(4)
                   .Add(0x1000)
                   .Add(image.bytes - 0x2000)
                   .Add(5)
                   .Add(image.bytes - 0x1000)
                   .Add(0x1000)
                   .Add(6));
  });
}

void PutSymbol(SampleFile* file,
               std::initializer_list<uint64_t> nodes,
               std::initializer_list<SampleName> names) {
  file->Group(Field::kSymbol, [&] {
    Packed packed;
    for (const uint64_t node : nodes) {
      packed.Add(node);
    }
    file->Pack(Field::kSymbolNodes, packed);
    for (const SampleName& name : names) {
      file->Group(Field::kSymbolFrame, [&] {
        file->Text(Field::kSymbolFunction, name.function);
        if (!name.mangled.empty()) {
          file->Text(Field::kSymbolFunctionMangled, name.mangled);
        }
        file->Number(Field::kSymbolOffset, name.offset);
        if (!name.file.empty()) {
          file->Text(Field::kSymbolFile, name.file);
          file->Number(Field::kSymbolLine, name.line);
        }
        if (name.column != 0) {
          file->Number(Field::kSymbolColumn, name.column);
        }
        if (name.inlined) {
          file->Number(Field::kSymbolInlined, 1);
        }
      });
    }
  });
}

}  // namespace cairn::samples
