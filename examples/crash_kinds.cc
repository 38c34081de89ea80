// SPDX-License-Identifier: Apache-2.0
#include "crash_kinds.h"

#include <cairn/cairn.h>

#include <cstdlib>
#include <stdexcept>

namespace sample {
namespace {

struct Photo {
  std::string path;
  int* pixels;
  int width;
};

// Kept out of line, so that the report has a stack worth reading.
#define SAMPLE_NOINLINE __attribute__((noinline))

SAMPLE_NOINLINE int FirstPixel(const Photo& photo) {
  photo.pixels[0] = photo.width;
  return photo.pixels[0];
}

SAMPLE_NOINLINE int AverageRow(const Photo& photo, int rows) {
  return photo.width / rows;
}

// Never ends: the volatile read behind the call keeps it from becoming a loop.
SAMPLE_NOINLINE int CountFolders(const std::string& path, int depth) {
  if (depth < 0) {
    return 0;
  }
  volatile char name[512] = {};
  name[depth & 511] = path.empty() ? '/' : path[0];
  const int below = CountFolders(path, depth % 1000 + 1);
  return below + name[depth & 511];
}

SAMPLE_NOINLINE int ReadHeader(const Photo& photo) {
  if (photo.width < 0) {
    throw std::runtime_error("bad width in " + photo.path);
  }
  return photo.width;
}

SAMPLE_NOINLINE int DecodePhoto(const Photo& photo, const std::string& kind) {
  int result = ReadHeader(photo);
  if (kind == "abort") {
    std::abort();
  }
  if (kind == "divide") {
    result += AverageRow(photo, result - photo.width);
  }
  if (kind == "stack_overflow") {
    result += CountFolders(photo.path, 1);
  }
  if (kind == "trap") {
    __builtin_trap();
  }
  return result + FirstPixel(photo);
}

SAMPLE_NOINLINE bool ImportPhoto(int index, const std::string& kind) {
  int pixel = 0;
  const bool deadly = index == 2;
  Photo photo{"IMG_" + std::to_string(1000 + index) + ".jpg", &pixel, 640};
  if (deadly && kind == "null_write") {
    photo.pixels = nullptr;
  }
  if (deadly && kind == "exception") {
    photo.width = -1;
  }
  cairn_add_breadcrumb("import", ("decode " + photo.path).c_str());
  cairn_set_key("photo", photo.path.c_str());
  return DecodePhoto(photo, deadly ? kind : "") > 0;
}

}  // namespace

std::vector<std::string> CrashKinds() {
  return {
      "null_write", "abort", "exception", "divide", "stack_overflow", "trap"};
}

int ImportAlbum(const std::string& kind) {
  int imported = 0;
  for (int index = 0; index < 4; ++index) {
    imported += ImportPhoto(index, kind) ? 1 : 0;
  }
  return imported;
}

}  // namespace sample
