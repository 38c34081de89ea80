// SPDX-License-Identifier: Apache-2.0
#include "client/image_feed_mac.h"

#include <dlfcn.h>
#include <mach-o/dyld.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "capture/macho_image.h"
#include "safe/mach_calls_mac.h"
#include "safe/task_memory_mac.h"

namespace cairn::client {
namespace {

// Never destroyed: dyld may call while the process ends.
struct Feed {
  std::mutex mutex;  // writers of the table; dyld is never called under it
  capture::ImageTable* table = nullptr;
  std::once_flag registered;
};
Feed& TheFeed() {
  static auto* feed = new Feed;
  return *feed;
}

uint32_t FindHeader(const capture::ImageTable& table, uint64_t header) {
  for (uint32_t i = table.count(); i > 0; --i) {
    const capture::Image& image = table.at(i - 1);
    if (image.header == header && image.unloaded == 0) {
      return i - 1;
    }
  }
  return capture::kNoImage;
}

void Add(uint64_t header, const char* path) {
  capture::Image image;
  if (!capture::FillMachImage(safe::OwnTaskReader(), header, &image)) {
    return;
  }
  const size_t length = path == nullptr ? 0 : std::strlen(path);
  const size_t kept = std::min(length, capture::kMaxImagePathBytes);
  if (kept != 0) {
    std::memcpy(image.path, path + (length - kept), kept);
  }
  image.path_bytes = static_cast<uint32_t>(kept);
  Feed& feed = TheFeed();
  const std::lock_guard lock(feed.mutex);
  if (feed.table == nullptr ||
      FindHeader(*feed.table, header) != capture::kNoImage) {
    return;
  }
  feed.table->Append(image);
}

// dladdr is dyld's, and asked before our lock is taken.
void OnAdd(const mach_header* header, intptr_t /*slide*/) {
  Dl_info info = {};
  const char* path = dladdr(header, &info) != 0 ? info.dli_fname : nullptr;
  Add(reinterpret_cast<uint64_t>(header), path);
}

void OnRemove(const mach_header* header, intptr_t /*slide*/) {
  Feed& feed = TheFeed();
  const std::lock_guard lock(feed.mutex);
  if (feed.table == nullptr) {
    return;
  }
  const uint32_t index =
      FindHeader(*feed.table, reinterpret_cast<uint64_t>(header));
  if (index != capture::kNoImage) {
    feed.table->MarkUnloaded(index);
  }
}

// dyld tells of everybody but itself (A6.4).
void AddLoader() {
  task_dyld_info_data_t info = {};
  mach_msg_type_number_t count = TASK_DYLD_INFO_COUNT;
  safe::DyldAllImageInfos all;
  if (task_info(mach_task_self(),
                TASK_DYLD_INFO,
                reinterpret_cast<task_info_t>(&info),
                &count) == KERN_SUCCESS &&
      safe::OwnTaskReader().ReadValue(info.all_image_info_addr, &all) &&
      all.dyld_load_address != 0) {
    Add(all.dyld_load_address, "/usr/lib/dyld");
  }
}

}  // namespace

void StartImageFeed(capture::ImageTable* table) {
  Feed& feed = TheFeed();
  {
    const std::lock_guard lock(feed.mutex);
    feed.table = table;
  }
  bool replayed = false;
  std::call_once(feed.registered, [&replayed] {
    _dyld_register_func_for_add_image(&OnAdd);
    _dyld_register_func_for_remove_image(&OnRemove);
    replayed = true;
  });
  // A later install: from the end, since dyld puts new images in front while
  // others are counted (A6.6).
  for (uint32_t i = replayed ? 0 : _dyld_image_count(); i > 0; --i) {
    const mach_header* header = _dyld_get_image_header(i - 1);
    if (header != nullptr) {
      Add(reinterpret_cast<uint64_t>(header), _dyld_get_image_name(i - 1));
    }
  }
  AddLoader();
  const std::lock_guard lock(feed.mutex);
  table->Reindex();
}

void StopImageFeed() {
  Feed& feed = TheFeed();
  const std::lock_guard lock(feed.mutex);
  feed.table = nullptr;
}

}  // namespace cairn::client
