// SPDX-License-Identifier: Apache-2.0
//
// dyld's interface (<mach-o/dyld.h>, <dlfcn.h>; dyld DyldAPIs.cpp): image list,
// callbacks, which are replayed for what is loaded already inside the
// registration.
#include <dlfcn.h>
#include <limits.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../darwin.h"
#include "../kernel/ports.h"
#include "../loader.h"
#include "../shim_table.h"

namespace mach_host {
namespace {

using Callback = void (*)(const void* header, std::intptr_t slide);
std::vector<Callback> added, removed;

std::uint32_t ImageCount() {
  return static_cast<std::uint32_t>(LoadedImages().size());
}
const void* ImageHeader(std::uint32_t index) {
  if (index >= ImageCount())
    return nullptr;
  return reinterpret_cast<const void*>(LoadedImages()[index].header);
}
std::intptr_t ImageSlide(std::uint32_t index) {
  return index < ImageCount()
             ? static_cast<std::intptr_t>(LoadedImages()[index].slide)
             : 0;
}
const char* ImageName(std::uint32_t index) {
  return index < ImageCount() ? LoadedImages()[index].path.c_str() : nullptr;
}
void RegisterAdd(Callback callback) {
  added.push_back(callback);
  for (std::uint32_t i = 0; i < ImageCount(); ++i)
    callback(ImageHeader(i), ImageSlide(i));
}
void RegisterRemove(Callback callback) {
  removed.push_back(callback);
}

int ExecutablePath(char* out, std::uint32_t* size) {
  const std::string& path = LoadedImages().front().path;
  if (*size < path.size() + 1) {
    *size = static_cast<std::uint32_t>(path.size() + 1);
    return -1;
  }
  std::memcpy(out, path.c_str(), path.size() + 1);
  return 0;
}

// Systems' libraries that this machine has under another name, with the same
// calls.
const char* HostLibrary(const char* path) {
  static const std::pair<const char*, const char*> kNames[] = {
      {"libcurl.4.dylib", "libcurl.so.4"},
      {"libcurl.dylib", "libcurl.so.4"},
      {"libz.1.dylib", "libz.so.1"},
      {"libz.dylib", "libz.so.1"},
      {"liblzma.5.dylib", "liblzma.so.5"},
      {"libzstd.1.dylib", "libzstd.so.1"}};
  const char* slash = std::strrchr(path, '/');
  const char* base = slash == nullptr ? path : slash + 1;
  for (const auto& [darwin, host] : kNames)
    if (std::strcmp(base, darwin) == 0)
      return host;
  return nullptr;
}

std::string last_error;
bool failed = false;
constexpr std::uintptr_t kImageHandle =
    0x1000;  // + index; below it real handles lie never

void* Open(const char* path, int) {
  if (path == nullptr)
    return reinterpret_cast<void*>(kImageHandle);
  if (const char* host = HostLibrary(path); host != nullptr) {
    if (void* handle = dlopen(host, RTLD_NOW | RTLD_LOCAL); handle != nullptr)
      return handle;
  } else if (const int index = OpenLibrary(path); index >= 0) {
    const LoadedImage& image = LoadedImages()[static_cast<std::size_t>(index)];
    for (const Callback callback : added)
      callback(reinterpret_cast<const void*>(image.header),
               static_cast<std::intptr_t>(image.slide));
    return reinterpret_cast<void*>(kImageHandle + static_cast<unsigned>(index));
  }
  last_error = std::string(path) + ": no such library";
  failed = true;
  return nullptr;
}

void* Symbol(void* handle, const char* name) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  const std::string underscored = std::string("_") + name;
  const bool special = value >= static_cast<std::uintptr_t>(-5) || value == 0;
  if (special || value - kImageHandle < 4096) {
    if (const std::uint64_t found = FindExported(underscored); found != 0)
      return reinterpret_cast<void*>(found);
    const Shim shim = FindShim(underscored);
    if (shim.address != 0)
      return reinterpret_cast<void*>(shim.address);
  } else if (void* found = dlsym(handle, name); found != nullptr) {
    return found;
  }
  last_error = std::string(name) + ": no such symbol";
  failed = true;
  return nullptr;
}

int Close(void*) {
  return 0;
}

const char* Error() {
  if (!failed)
    return nullptr;
  failed = false;
  return last_error.c_str();
}

struct DlInfo {
  const char* path;
  const void* base;
  const char* symbol;
  const void* address;
};
int Address(const void* address, DlInfo* info) {
  const auto value = reinterpret_cast<std::uint64_t>(address);
  for (const LoadedImage& image : LoadedImages()) {
    if (value < image.header || value - image.header > (1 << 20))
      continue;
    *info = {image.path.c_str(),
             reinterpret_cast<const void*>(image.header),
             nullptr,
             nullptr};
    return 1;
  }
  return 0;
}

// <mach-o/dyld_images.h>: the head of dyld_all_image_infos.
struct ImageInfo {
  const void* header;
  const char* path;
  std::uint64_t modified;
};
struct AllImageInfos {
  std::uint32_t version, count;
  const ImageInfo* images;
  void* notification;
  std::uint8_t detached, initialised;
  const void* dyld_header;
  std::uint64_t rest[32];
};
AllImageInfos* AllImages() {
  static AllImageInfos infos = {};
  static std::vector<ImageInfo> list;
  list.clear();
  for (const LoadedImage& image : LoadedImages())
    list.push_back(
        {reinterpret_cast<const void*>(image.header), image.path.c_str(), 0});
  infos = {17,
           static_cast<std::uint32_t>(list.size()),
           list.data(),
           nullptr,
           0,
           1,
           nullptr,
           {}};
  return &infos;
}

int TaskInfo(std::uint32_t task, int flavor, void* out, std::uint32_t* count) {
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  if (flavor == darwin::kTaskDyldInfo) {
    if (*count < 5)
      return darwin::kInvalidArgument;
    const darwin::TaskDyldInfo info = {
        reinterpret_cast<std::uint64_t>(AllImages()),
        sizeof(AllImageInfos),
        1,
        0};
    std::memcpy(out, &info, 20);
    *count = 5;
    return darwin::kSuccess;
  }
  if (flavor == darwin::kMachTaskBasicInfo) {
    darwin::MachTaskBasicInfo info = {};
    info.virtual_size = 1ull << 30;
    info.resident_size = info.resident_size_max = 1 << 24;
    if (*count < sizeof info / 4)
      return darwin::kInvalidArgument;
    std::memcpy(out, &info, sizeof info);
    *count = sizeof info / 4;
    return darwin::kSuccess;
  }
  return darwin::kInvalidArgument;
}

}  // namespace

MACH_SHIM("__dyld_image_count", ImageCount);
MACH_SHIM("__dyld_get_image_header", ImageHeader);
MACH_SHIM("__dyld_get_image_vmaddr_slide", ImageSlide);
MACH_SHIM("__dyld_get_image_name", ImageName);
MACH_SHIM("__dyld_register_func_for_add_image", RegisterAdd);
MACH_SHIM("__dyld_register_func_for_remove_image", RegisterRemove);
MACH_SHIM("__NSGetExecutablePath", ExecutablePath);
MACH_SHIM("_dlopen", Open);
MACH_SHIM("_dlsym", Symbol);
MACH_SHIM("_dlclose", Close);
MACH_SHIM("_dlerror", Error);
MACH_SHIM("_dladdr", Address);
MACH_SHIM("_task_info", TaskInfo);

}  // namespace mach_host

// Lazy binding is done at load.
extern "C" void mach_host_no_lazy_binding() {
  std::abort();
}
namespace mach_host {
MACH_SHIM("dyld_stub_binder", mach_host_no_lazy_binding);
}  // namespace mach_host
