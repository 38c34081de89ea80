// SPDX-License-Identifier: Apache-2.0
//
// make_samples DIRECTORY: writes simple.cairn and rich.cairn there. Needed only
// when a new sample is added: those that are checked in never change.
#include <cstdio>
#include <fstream>
#include <string>

#include "samples/samples.h"

namespace {

bool Write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.flush().good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_samples DIRECTORY\n");
    return 2;
  }
  const std::string directory = argv[1];
  return Write(directory + "/simple.cairn", cairn::samples::Simple()) &&
                 Write(directory + "/rich.cairn", cairn::samples::Rich())
             ? 0
             : 1;
}
