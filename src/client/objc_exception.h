// SPDX-License-Identifier: Apache-2.0
//
// The Objective-C exception that nobody caught: its name and reason for the
// report of the abort that follows. Nothing is linked for it: the runtime's
// functions are looked up, and where there is none nothing happens. A test
// hands in a runtime of its own.
//
// Ordinary code, in the thread that threw, before the abort.
#ifndef CAIRN_CLIENT_OBJC_EXCEPTION_H_
#define CAIRN_CLIENT_OBJC_EXCEPTION_H_

#include "handlers/crash_base.h"

namespace cairn::client {

// An object, a selector, a message without arguments; names as in
// <objc/message.h>.
using ObjcHandler = void (*)(void* exception);
struct ObjcRuntime {
  void* (*sel_registerName)(const char* name);
  void* (*objc_msgSend)(void* object, void* selector);
  bool (*responds)(void* object, void* selector);
  void (*set_handler)(ObjcHandler handler);  // NSSetUncaughtExceptionHandler
  ObjcHandler (*get_handler)();              // NSGetUncaughtExceptionHandler
};

// Fills type with `[exception name]` and message with `[exception reason]`;
// what the object does not answer to is left out. False when there was neither.
bool ReadObjcException(const ObjcRuntime& runtime,
                       void* exception,
                       handlers::ExceptionFacts* out);

// Takes the uncaught-exception handler's place; the former is called behind
// ours. Does nothing when a function is missing.
void InstallObjcHandler(const ObjcRuntime& runtime);
void RemoveObjcHandler();

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_OBJC_EXCEPTION_H_
