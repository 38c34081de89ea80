// SPDX-License-Identifier: Apache-2.0
//
// cairn_install and cairn_uninstall:
//
//   ReadConfig · PrepareDirectory      what is asked for, and whether it can be
//   had MapState                           memory for everything a crash needs
//   GatherFacts · UpdateImages         what every report begins with
//   MakeSlots · ArmSlot                files with real blocks
//   InstallHandlers                    from here on a crash is reported
//   alternate stacks                   own thread, then those that run already
//   StartNextLaunch                    reports of earlier runs, in the
//   background

#include <dlfcn.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "cairn/cairn.h"
#include "capture/image_table.h"
#include "client/config.h"
#include "client/facts.h"
#include "client/last_run.h"
#include "client/next_launch.h"
#include "client/slots.h"
#include "client/terminate.h"
#include "handlers/crash_entry.h"
#include "handlers/crash_state.h"
#include "handlers/signals_linux.h"
#include "interpose/alternate_stack.h"
#include "interpose/image_watch.h"
#include "interpose/interposed.h"
#include "safe/syscall_linux.h"
#include "writer/report_records.h"

namespace cairn::client {
namespace {

using handlers::CrashState;

constexpr uint32_t kMaxImages = 4096;
constexpr uint64_t kCapturePauseNs = 1000000000;
constexpr uint32_t kMaxCaptures = 20;

// Everything of one install, in one mapping: zero, and touched only as far as
// used.
struct Installation {
  CrashState state;
  capture::ImageTable image_table;
  writer::Annotations annotations;
  char executable_path[writer::kMaxDirectoryBytes];
  char directory[writer::kMaxDirectoryBytes + 1];
  uint64_t last_capture_ns;
  uint32_t captures;
  capture::Image images[kMaxImages];
};

std::mutex g_mutex;
Installation* g_installation = nullptr;
Config* g_config = nullptr;

// Of an earlier install, never unmapped: another thread may just have asked for
// the state, to set a key or for a crash.
Installation* g_spare = nullptr;

Installation* MapInstallation() {
  if (g_spare != nullptr &&
      madvise(g_spare, sizeof(Installation), MADV_DONTNEED) == 0) {
    return std::exchange(g_spare, nullptr);
  }
  void* memory = mmap(nullptr,
                      sizeof(Installation),
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1,
                      0);
  return memory == MAP_FAILED ? nullptr : static_cast<Installation*>(memory);
}

void FillVectors(Installation* installation) {
  capture::ProcessVectors& vectors = installation->state.vectors;
  vectors.program_headers = getauxval(AT_PHDR);
  vectors.program_header_count = getauxval(AT_PHNUM);
  vectors.program_header_bytes = getauxval(AT_PHENT);
  vectors.loader_base = getauxval(AT_BASE);
  vectors.vdso = getauxval(AT_SYSINFO_EHDR);
  vectors.page_bytes = getauxval(AT_PAGESZ);
  const ssize_t bytes = readlink("/proc/self/exe",
                                 installation->executable_path,
                                 sizeof(installation->executable_path) - 1);
  installation->executable_path[bytes > 0 ? bytes : 0] = '\0';
  vectors.executable_path = installation->executable_path;
}

void Release(Installation* installation) {
  CrashState& state = installation->state;
  // Whoever looks at the images writes them into the slot; nobody begins behind
  // this.
  while (__atomic_exchange_n(&state.images_busy, 1, __ATOMIC_ACQUIRE) != 0) {
    sched_yield();
  }
  RemoveSlots(&state);
  g_spare = installation;
}

cairn_status Prepare(const Config& config, Installation* installation) {
  CrashState* state = &installation->state;
  state->slot_spec.directory.fd = -1;
  // Whoever still holds the state of an earlier install may be reading this.
  __atomic_store_n(
      &state->annotations, &installation->annotations, __ATOMIC_RELEASE);
  state->images = new (&installation->image_table) capture::ImageTable;
  state->images->Init(installation->images, kMaxImages);
  // glibc keeps what it said before an abort in this private variable.
  state->abort_message =
      static_cast<const uint64_t*>(dlsym(RTLD_DEFAULT, "__abort_msg"));
  FillLimits(config, state);
  FillVectors(installation);
  GatherFacts(config, state);
  interpose::UpdateImages(state);
  const cairn_status opened =
      OpenDirectory(config, installation->directory, state);
  return opened == CAIRN_OK ? MakeSlots(config, state) : opened;
}

cairn_status InstallLocked(const cairn_config* given) {
  if (g_installation != nullptr) {
    return CAIRN_ALREADY_INSTALLED;
  }
  auto* config = new Config;
  cairn_status status = ReadConfig(given, config);
  if (status == CAIRN_OK) {
    status = PrepareDirectory(config);
  }
  Installation* installation = status == CAIRN_OK ? MapInstallation() : nullptr;
  if (status == CAIRN_OK && installation == nullptr) {
    status = CAIRN_NO_MEMORY;
  }
  bool has_work = false;
  if (status == CAIRN_OK) {
    // Lazily made slots leave no trace before a crash, a marker included.
    has_work =
        config->lazy_slots ? config->next_launch : NoteRun(config->directory);
    status = Prepare(*config, installation);
  }
  if (status == CAIRN_OK) {
    handlers::SetState(&installation->state);
    if (handlers::InstallHandlers(&installation->state, &handlers::OnSignal) !=
        0) {
      handlers::SetState(nullptr);
      status = CAIRN_SIGNALS_REFUSED;
    }
  }
  if (status != CAIRN_OK) {
    if (installation != nullptr) {
      Release(installation);
    }
    delete config;
    return status;
  }
  interpose::PrepareInterposition();
  interpose::GiveAlternateStack();
  interpose::GiveAlternateStackToOthers();
  InstallTerminateHook();
  installation->state.installed = 1;
  g_installation = installation;
  g_config = config;
  if (has_work && config->next_launch) {
    StartNextLaunch(*config);
  }
  return CAIRN_OK;
}

}  // namespace
}  // namespace cairn::client

using cairn::client::g_installation;
using cairn::client::g_mutex;

extern "C" cairn_status cairn_install(const cairn_config* config) {
  const std::lock_guard lock(g_mutex);
  try {
    return cairn::client::InstallLocked(config);
  } catch (const std::bad_alloc&) {
    return CAIRN_NO_MEMORY;
  } catch (...) {
    return CAIRN_IO_ERROR;
  }
}

extern "C" cairn_status cairn_uninstall(void) {
  const std::lock_guard lock(g_mutex);
  if (g_installation == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  cairn::client::StopNextLaunch();
  cairn::client::RemoveTerminateHook();
  cairn::handlers::RestoreHandlers(&g_installation->state,
                                   &cairn::handlers::OnSignal);
  cairn::handlers::SetState(nullptr);
  cairn::client::Release(g_installation);
  g_installation = nullptr;
  delete cairn::client::g_config;
  cairn::client::g_config = nullptr;
  return CAIRN_OK;
}

extern "C" cairn_status cairn_register_thread(void) {
  return cairn::interpose::GiveAlternateStack() ? CAIRN_OK : CAIRN_NO_MEMORY;
}

extern "C" cairn_status cairn_capture(const char* kind, const char* message) {
  const std::lock_guard lock(g_mutex);
  if (g_installation == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  const uint64_t now = cairn::safe::MonotonicNs();
  if (g_installation->captures >= cairn::client::kMaxCaptures ||
      (g_installation->captures != 0 && now - g_installation->last_capture_ns <
                                            cairn::client::kCapturePauseNs)) {
    return CAIRN_LIMIT;
  }
  std::string text = kind != nullptr && std::strcmp(kind, "capture") != 0
                         ? std::string(kind) + ": "
                         : std::string();
  text += message != nullptr ? message : "";
  text.resize(std::min<size_t>(text.size(), 1024));
  if (!cairn::handlers::CaptureNow(
          &g_installation->state, text.data(), text.size())) {
    return CAIRN_LIMIT;
  }
  ++g_installation->captures;
  g_installation->last_capture_ns = now;
  return CAIRN_OK;
}
