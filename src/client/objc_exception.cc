// SPDX-License-Identifier: Apache-2.0
#include "client/objc_exception.h"

#include <cstring>

#include "safe/clock.h"

namespace cairn::client {
namespace {

ObjcRuntime g_runtime = {};
ObjcHandler g_former = nullptr;

void* Ask(const ObjcRuntime& runtime, void* object, const char* name) {
  void* selector = runtime.sel_registerName(name);
  if (object == nullptr || selector == nullptr ||
      !runtime.responds(object, selector)) {
    return nullptr;
  }
  return runtime.objc_msgSend(object, selector);
}

// The bytes of an NSString.
uint32_t Copy(const ObjcRuntime& runtime,
              void* string,
              char* out,
              size_t capacity) {
  const auto* text =
      static_cast<const char*>(Ask(runtime, string, "UTF8String"));
  if (text == nullptr) {
    return 0;
  }
  const size_t bytes = strnlen(text, capacity);
  std::memcpy(out, text, bytes);
  return static_cast<uint32_t>(bytes);
}

void OnUncaught(void* exception) {
  handlers::CrashBase* state = handlers::Base();
  if (state != nullptr && state->exception.thread_id == 0 &&
      ReadObjcException(g_runtime, exception, &state->exception)) {
    __atomic_store_n(&state->exception.thread_id,
                     static_cast<uint32_t>(safe::ThreadId()),
                     __ATOMIC_RELEASE);
  }
  if (g_former != nullptr && g_former != &OnUncaught) {
    g_former(exception);
  }
}

}  // namespace

bool ReadObjcException(const ObjcRuntime& runtime,
                       void* exception,
                       handlers::ExceptionFacts* out) {
  out->type_bytes = Copy(
      runtime, Ask(runtime, exception, "name"), out->type, sizeof(out->type));
  out->message_bytes = Copy(runtime,
                            Ask(runtime, exception, "reason"),
                            out->message,
                            sizeof(out->message));
  return out->type_bytes != 0 || out->message_bytes != 0;
}

void InstallObjcHandler(const ObjcRuntime& runtime) {
  if (runtime.sel_registerName == nullptr || runtime.objc_msgSend == nullptr ||
      runtime.responds == nullptr || runtime.set_handler == nullptr ||
      runtime.get_handler == nullptr) {
    return;
  }
  g_runtime = runtime;
  const ObjcHandler now = runtime.get_handler();
  if (now != &OnUncaught) {
    g_former = now;
    runtime.set_handler(&OnUncaught);
  }
}

void RemoveObjcHandler() {
  if (g_runtime.get_handler != nullptr &&
      g_runtime.get_handler() == &OnUncaught) {
    g_runtime.set_handler(g_former);
  }
}

}  // namespace cairn::client
