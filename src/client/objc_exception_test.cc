// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the runtime: objects are tables of answers.
#include "client/objc_exception.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "safe/clock.h"

namespace cairn::client {
namespace {

using Object = std::map<std::string, const void*>;

void* Register(const char* name) {
  static std::map<std::string, std::unique_ptr<std::string>> names;
  auto& kept = names[name];
  if (kept == nullptr) {
    kept = std::make_unique<std::string>(name);
  }
  return kept.get();
}
bool Responds(void* object, void* selector) {
  return static_cast<Object*>(object)->count(
             *static_cast<std::string*>(selector)) != 0;
}
void* Send(void* object, void* selector) {
  return const_cast<void*>(
      static_cast<Object*>(object)->at(*static_cast<std::string*>(selector)));
}

ObjcHandler g_handler = nullptr;
void SetHandler(ObjcHandler handler) {
  g_handler = handler;
}
ObjcHandler GetHandler() {
  return g_handler;
}
constexpr ObjcRuntime kRuntime = {&Register,
                                  &Send,
                                  &Responds,
                                  &SetHandler,
                                  &GetHandler};

std::string Type(const handlers::ExceptionFacts& facts) {
  return {facts.type, facts.type_bytes};
}
std::string Message(const handlers::ExceptionFacts& facts) {
  return {facts.message, facts.message_bytes};
}

struct RangeException {
  Object name = {{"UTF8String", "NSRangeException"}};
  Object reason = {{"UTF8String", "index 5 beyond bounds [0 .. 2]"}};
  Object object = {{"name", &name}, {"reason", &reason}};
};

TEST(ObjcException, NameAndReasonAreRead) {
  RangeException thrown;
  handlers::ExceptionFacts facts = {};
  ASSERT_TRUE(ReadObjcException(kRuntime, &thrown.object, &facts));
  EXPECT_EQ(Type(facts), "NSRangeException");
  EXPECT_EQ(Message(facts), "index 5 beyond bounds [0 .. 2]");
}

TEST(ObjcException, A1_54_ThrownObjectThatIsNoExceptionSaysNothing) {
  Object string = {{"UTF8String", "thrown as it is"}};
  handlers::ExceptionFacts facts = {};
  EXPECT_FALSE(ReadObjcException(kRuntime, &string, &facts));
  EXPECT_FALSE(ReadObjcException(kRuntime, nullptr, &facts));
}

TEST(ObjcException, LongReasonIsCut) {
  const std::string text(5000, 'x');
  RangeException thrown;
  thrown.reason = {{"UTF8String", text.c_str()}};
  handlers::ExceptionFacts facts = {};
  ASSERT_TRUE(ReadObjcException(kRuntime, &thrown.object, &facts));
  EXPECT_EQ(facts.message_bytes, sizeof(facts.message));
}

void* g_seen = nullptr;
void Former(void* exception) {
  g_seen = exception;
}

TEST(ObjcException, A1_53_FormerHandlerIsCalledBehindOursAndPutBack) {
  // Zero is its valid state, as install maps it.
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::calloc(1, sizeof(handlers::CrashBase)), &std::free);
  auto* state = static_cast<handlers::CrashBase*>(memory.get());
  handlers::SetBase(state);
  g_handler = &Former;
  InstallObjcHandler(kRuntime);
  ASSERT_NE(g_handler, &Former);
  RangeException thrown;
  g_handler(&thrown.object);
  EXPECT_EQ(g_seen, &thrown.object);
  EXPECT_EQ(Type(state->exception), "NSRangeException");
  EXPECT_EQ(state->exception.thread_id,
            static_cast<uint32_t>(safe::ThreadId()));
  RemoveObjcHandler();
  EXPECT_EQ(g_handler, &Former);
  handlers::SetBase(nullptr);
}

TEST(ObjcException, NoRuntimeNoHandler) {
  g_handler = &Former;
  ObjcRuntime part = kRuntime;
  part.objc_msgSend = nullptr;
  InstallObjcHandler(part);
  EXPECT_EQ(g_handler, &Former);
}

}  // namespace
}  // namespace cairn::client
