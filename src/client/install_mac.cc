// SPDX-License-Identifier: Apache-2.0
//
// cairn_install and cairn_uninstall on Apple systems:
//
//   ReadConfig · PrepareDirectory   what is asked for, and whether it can be
//   had MapInstallation                 memory for everything a crash needs
//   StartImageFeed · GatherFacts    what every report begins with
//   MakeSlots                       files with real blocks
//   StartThreads                    ports, and the two threads that write
//   TakeExceptionPorts · InstallSignals   from here on a crash is reported
//   StartNextLaunch                 reports of earlier runs, in the background
#include <dlfcn.h>
#include <mach/mach.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "cairn/cairn.h"
#include "capture/context_mac.h"
#include "capture/thread_facts_mac.h"
#include "client/config.h"
#include "client/facts.h"
#include "client/image_feed_mac.h"
#include "client/last_run.h"
#include "client/next_launch.h"
#include "client/objc_exception.h"
#include "client/slots.h"
#include "client/terminate.h"
#include "handlers/crash_state_mac.h"
#include "safe/clock.h"

namespace cairn::client {
namespace {

using handlers::CrashState;

constexpr uint32_t kMaxImages = 4096;
constexpr uint64_t kCapturePauseNs = 1000000000;
constexpr uint32_t kMaxCaptures = 20;
constexpr size_t kServerStackBytes = 512 << 10;

// Everything of one install, in one mapping: zero, and touched only as far as
// used.
struct Installation {
  CrashState state;
  capture::ImageTable image_table;
  writer::Annotations annotations;
  char directory[writer::kMaxDirectoryBytes + 1];
  uint64_t last_capture_ns;
  uint32_t captures;
  pthread_t exception_thread, second_thread;
  uint32_t threads;
  capture::Image images[kMaxImages];
};

std::mutex g_mutex;
Installation* g_installation = nullptr;
Config* g_config = nullptr;

Installation* MapInstallation() {
  void* memory = mmap(nullptr,
                      sizeof(Installation),
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANON | MAP_NORESERVE,
                      -1,
                      0);
  return memory == MAP_FAILED ? nullptr : static_cast<Installation*>(memory);
}

// A debugger owns the task's exceptions, and suspends our threads with all
// others: in its presence only signals are handled (A1.49).
bool IsTraced() {
  int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, getpid()};
  kinfo_proc info = {};
  size_t bytes = sizeof(info);
  return sysctl(name, 4, &info, &bytes, nullptr, 0) == 0 &&
         (info.kp_proc.p_flag & P_TRACED) != 0;
}

bool MakePort(mach_port_t* out) {
  return mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, out) ==
             KERN_SUCCESS &&
         mach_port_insert_right(
             mach_task_self(), *out, *out, MACH_MSG_TYPE_MAKE_SEND) ==
             KERN_SUCCESS;
}

void DropPort(mach_port_t* port) {
  if (*port != MACH_PORT_NULL) {
    mach_port_mod_refs(mach_task_self(), *port, MACH_PORT_RIGHT_SEND, -1);
    mach_port_mod_refs(mach_task_self(), *port, MACH_PORT_RIGHT_RECEIVE, -1);
    *port = MACH_PORT_NULL;
  }
}

bool StartThread(void* (*body)(void*), CrashState* state, pthread_t* out) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  pthread_attr_setstacksize(&attributes, kServerStackBytes);
  const bool started = pthread_create(out, &attributes, body, state) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

bool StartThreads(Installation* installation) {
  CrashState* state = &installation->state;
  if (!MakePort(&state->server_port) || !MakePort(&state->second_port)) {
    return false;
  }
  if (StartThread(
          &handlers::SecondThread, state, &installation->second_thread)) {
    installation->threads = 1;
  }
  if (installation->threads == 1 &&
      StartThread(
          &handlers::ExceptionThread, state, &installation->exception_thread)) {
    installation->threads = 2;
  }
  return installation->threads == 2;
}

void StopThreads(Installation* installation) {
  CrashState* state = &installation->state;
  if (installation->threads > 1) {
    handlers::SendStop(state->server_port);
    pthread_join(installation->exception_thread, nullptr);
  }
  if (installation->threads > 0) {
    handlers::SendStop(state->second_port);
    pthread_join(installation->second_thread, nullptr);
  }
  DropPort(&state->server_port);
  DropPort(&state->second_port);
}

void Undo(Installation* installation) {
  CrashState* state = &installation->state;
  handlers::RestoreSignals(state);
  handlers::RestoreExceptionPorts(state);
  handlers::SetBase(nullptr);
  StopThreads(installation);
  StopImageFeed();
  RemoveSlots(state);
  munmap(installation, sizeof(Installation));
}

template <typename Function>
void LookUp(const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

ObjcRuntime FindObjcRuntime() {
  ObjcRuntime runtime = {};
  LookUp("sel_registerName", &runtime.sel_registerName);
  LookUp("objc_msgSend", &runtime.objc_msgSend);
  LookUp("NSSetUncaughtExceptionHandler", &runtime.set_handler);
  LookUp("NSGetUncaughtExceptionHandler", &runtime.get_handler);
  static void* (*get_class)(void*) = nullptr;
  static bool (*responds)(void*, void*) = nullptr;
  LookUp("object_getClass", &get_class);
  LookUp("class_respondsToSelector", &responds);
  if (get_class != nullptr && responds != nullptr) {
    runtime.responds = [](void* object, void* selector) {
      return responds(get_class(object), selector);
    };
  }
  return runtime;
}

void PrepareCapture() {
  uint32_t bits = 0;
  size_t bytes = sizeof(bits);
  if (sysctlbyname("machdep.virtual_address_size", &bits, &bytes, nullptr, 0) !=
      0) {
    bits = 0;
  }
  capture::SetAddressBits(bits);
  capture::SetDispatchOffsets(dlsym(RTLD_DEFAULT, "dispatch_queue_offsets"));
}

cairn_status Prepare(const Config& config, Installation* installation) {
  CrashState* state = &installation->state;
  state->slot_spec.directory.fd = -1;
  state->annotations = &installation->annotations;
  state->images = new (&installation->image_table) capture::ImageTable;
  state->images->Init(installation->images, kMaxImages);
  PrepareCapture();
  FillLimits(config, state);
  GatherFacts(config, state);
  StartImageFeed(state->images);
  const cairn_status opened =
      OpenDirectory(config, installation->directory, state);
  if (opened != CAIRN_OK) {
    return opened;
  }
  const cairn_status made = MakeSlots(config, state);
  if (made != CAIRN_OK) {
    return made;
  }
  if (!StartThreads(installation)) {
    return CAIRN_NO_MEMORY;
  }
  handlers::SetBase(state);
  if ((!IsTraced() && !handlers::TakeExceptionPorts(state)) ||
      handlers::InstallSignals(state) != 0) {
    return CAIRN_SIGNALS_REFUSED;
  }
  return CAIRN_OK;
}

cairn_status InstallLocked(const cairn_config* given) {
  if (g_installation != nullptr) {
    return CAIRN_ALREADY_INSTALLED;
  }
  auto config = std::make_unique<Config>();
  cairn_status status = ReadConfig(given, config.get());
  if (status == CAIRN_OK) {
    status = PrepareDirectory(config.get());
  }
  if (status != CAIRN_OK) {
    return status;
  }
  Installation* installation = MapInstallation();
  if (installation == nullptr) {
    return CAIRN_NO_MEMORY;
  }
  const bool has_work =
      config->lazy_slots ? config->next_launch : NoteRun(config->directory);
  status = Prepare(*config, installation);
  if (status != CAIRN_OK) {
    Undo(installation);
    return status;
  }
  InstallTerminateHook();
  InstallObjcHandler(FindObjcRuntime());
  installation->state.installed = 1;
  g_installation = installation;
  g_config = config.release();
  if (has_work && g_config->next_launch) {
    StartNextLaunch(*g_config);
  }
  return CAIRN_OK;
}

// The calling thread waits for the exception thread, which writes.
bool CaptureNow(CrashState* state, const std::string& text) {
  handlers::Request request = {};
  request.kind = format::EventKind::kCapture;
  request.thread_id = static_cast<uint32_t>(safe::ThreadId());
  request.message = text.data();
  request.message_bytes = text.size();
  capture::RegistersHere(&request.registers);
  return handlers::AskForReport(state, &request) && request.written;
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
  cairn::client::RemoveObjcHandler();
  cairn::client::Undo(g_installation);
  g_installation = nullptr;
  delete cairn::client::g_config;
  cairn::client::g_config = nullptr;
  return CAIRN_OK;
}

// Exceptions are handled on a stack of our own; no thread needs one.
extern "C" cairn_status cairn_register_thread(void) {
  return CAIRN_OK;
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
  if (!cairn::client::CaptureNow(&g_installation->state, text)) {
    return CAIRN_LIMIT;
  }
  ++g_installation->captures;
  g_installation->last_capture_ns = now;
  return CAIRN_OK;
}
