// SPDX-License-Identifier: Apache-2.0
#include "client/terminate.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>

#include "handlers/crash_base.h"
#include "safe/clock.h"

namespace cairn::client {
namespace {

std::terminate_handler g_former = nullptr;

void Keep(const char* text, char* out, size_t capacity, uint32_t* bytes) {
  const size_t length = std::min(strnlen(text, capacity), capacity);
  std::memcpy(out, text, length);
  *bytes = static_cast<uint32_t>(length);
}

void KeepMessage(handlers::ExceptionFacts* facts) {
  // what() is the app's code: it may throw itself.
  try {
    throw;
  } catch (const std::exception& exception) {
    try {
      Keep(exception.what(),
           facts->message,
           sizeof(facts->message),
           &facts->message_bytes);
    } catch (...) {
      facts->message_bytes = 0;
    }
  } catch (const char* text) {
    if (text != nullptr) {
      Keep(text, facts->message, sizeof(facts->message), &facts->message_bytes);
    }
  } catch (...) {
    facts->message_bytes = 0;  // of another type: no text
  }
}

[[noreturn]] void OnTerminate() {
  handlers::CrashBase* state = handlers::Base();
  const std::type_info* type = abi::__cxa_current_exception_type();
  // The first thread keeps its facts; one that ends at the same moment has
  // none.
  if (state != nullptr && type != nullptr &&
      __atomic_exchange_n(&state->exception.taken, 1, __ATOMIC_ACQ_REL) == 0) {
    handlers::ExceptionFacts& facts = state->exception;
    facts.message_bytes = 0;
    Keep(type->name(), facts.type, sizeof(facts.type), &facts.type_bytes);
    // The type stands before the message is asked for: where the exception
    // cannot be thrown again, we are called again and find it taken.
    __atomic_store_n(&facts.thread_id,
                     static_cast<uint32_t>(safe::ThreadId()),
                     __ATOMIC_RELEASE);
    if (std::current_exception() != nullptr) {
      KeepMessage(&facts);
    }
  }
  if (g_former != nullptr && g_former != &OnTerminate) {
    g_former();
  }
  std::abort();
}

}  // namespace

void InstallTerminateHook() {
  const std::terminate_handler now = std::get_terminate();
  if (now != &OnTerminate) {
    g_former = std::set_terminate(&OnTerminate);
  }
}

void RemoveTerminateHook() {
  if (std::get_terminate() == &OnTerminate) {
    std::set_terminate(g_former);
  }
}

}  // namespace cairn::client
