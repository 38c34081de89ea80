// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/crash_checks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "report/names.h"

namespace cairn::crash {
namespace {

using report::Frame;
using report::Thread;

const NmSymbols& Symbols(const std::string& program) {
  static std::map<std::string, NmSymbols>* symbols =
      new std::map<std::string, NmSymbols>;
  return symbols->try_emplace(program, program).first->second;
}

const Thread* FindThread(const report::Report& report, uint64_t id) {
  for (const Thread& thread : report.threads) {
    if (thread.id == id) {
      return &thread;
    }
  }
  return nullptr;
}

}  // namespace

std::string Program(const std::string& name) {
  return std::string(CAIRN_BINARY_DIR) + "/bin/" + name;
}

// The crasher's function that holds a frame, by nm; "" in other modules.
std::string CrashChecks::FunctionOf(const Frame& frame) const {
  if (!frame.image || report_.images[*frame.image].path != program_) {
    return "";
  }
  const uint64_t lookup = frame.kind == format::FrameKind::kReturn
                              ? frame.address - 1
                              : frame.address;
  return Symbols(program_).FunctionAt(
      lookup - static_cast<uint64_t>(report_.images[*frame.image].link_bias));
}

std::string CrashChecks::Describe(const Thread& thread) const {
  std::ostringstream text;
  for (const Frame& frame : thread.frames) {
    text << std::hex << frame.address << " " << report::Name(frame.trust) << " "
         << FunctionOf(frame);
    if (frame.image) {
      text << " " << report_.images[*frame.image].path << "+"
           << frame.image_offset;
    }
    text << "\n";
  }
  text << "end: " << (thread.end ? report::Name(*thread.end) : "none") << "\n";
  return text.str();
}

void CrashChecks::Run(const std::string& program,
                      const std::vector<std::string>& options,
                      const std::vector<std::string>& environment) {
  program_ = program;
  std::vector<std::string> arguments = {crash().name};
  arguments.insert(arguments.end(), options.begin(), options.end());
  child_.emplace(RunChild(program, arguments, environment));
}

void CrashChecks::CheckAll() {
  CheckDeath();
  ASSERT_NO_FATAL_FAILURE(ReadOnlyReport());
  ASSERT_NO_FATAL_FAILURE(CheckSignal());
  CheckFacts();
  CheckSayings();
  ASSERT_NO_FATAL_FAILURE(CheckCrashedStack());
  if (expect_.threads) {
    CheckOtherThreads();
  }
  if (expect_.others == format::FrozenBy::kPtrace) {
    CheckNearMemory();
  }
}

void CrashChecks::CheckDeath() {
  const int status = Has(kChild) ? std::stoi("0" + child_->Fact("child_status"))
                                 : child_->status;
  if (Has(kChild)) {
    EXPECT_EQ(child_->status, 0) << child_->errors;
  }
  if (Has(kSurvives)) {
    EXPECT_EQ(status, 0) << child_->errors;
    EXPECT_EQ(child_->Fact("mended"), "here");
    EXPECT_EQ(child_->Fact("went_on"), "1");
    return;
  }
  ASSERT_TRUE(WIFSIGNALED(status))
      << std::hex << status << " " << child_->errors;
  EXPECT_EQ(WTERMSIG(status), crash().signal) << child_->errors;
  if (expect_.core) {
    EXPECT_EQ(WCOREDUMP(status) != 0, *expect_.core);
  }
}

void CrashChecks::ReadOnlyReport() {
  // Exactly one; slots that nobody used are gone with the process or left for
  // reaping.
  ASSERT_EQ(child_->reports.size(), 1u) << child_->errors;
  report::ReadResult result = report::ReadReportFile(child_->reports[0]);
  ASSERT_EQ(result.status, report::ReadStatus::kWhole)
      << result.error
      << (result.report.problems.empty() ? "" : result.report.problems[0].text);
  report_ = std::move(result.report);
  EXPECT_TRUE(report_.complete);
}

void CrashChecks::CheckSignal() {
  ASSERT_TRUE(report_.signal.has_value());
  const report::Signal& signal = *report_.signal;
  EXPECT_EQ(signal.number, static_cast<uint32_t>(crash().signal));
  if (crash().code != kAnyCode) {
    EXPECT_EQ(signal.code, crash().code);
  }
  if (crash().fault_kind[0] != '\0') {
    ASSERT_TRUE(signal.fault_kind.has_value());
    EXPECT_STREQ(report::Name(*signal.fault_kind), crash().fault_kind);
  }
  if (Has(kFaultAddress)) {
    ASSERT_TRUE(signal.fault_address.has_value());
    EXPECT_EQ(*signal.fault_address, *child_->Address("fault_address"));
  }
  if (Has(kSent)) {
    const std::string sender = child_->Fact("sender");
    EXPECT_EQ(
        signal.sender_pid.value_or(0),
        sender.empty() ? static_cast<uint64_t>(getpid()) : std::stoull(sender));
  }
  EXPECT_EQ(report_.kind,
            Has(kSurvives) ? format::EventKind::kSurvived
                           : format::EventKind::kCrash);
}

void CrashChecks::CheckSayings() {
  if (expect_.sayings) {
    EXPECT_EQ(report_.app.id, "org.cairn.crasher");
    EXPECT_EQ(report_.app.version, "1.2.3");
    ASSERT_EQ(report_.keys.size(), 1u);
    EXPECT_EQ(report_.keys[0].second, "blue");
    ASSERT_EQ(report_.breadcrumbs.size(), 1u);
    EXPECT_EQ(report_.breadcrumbs[0].message, "about to crash");
  }
  if (Has(kException)) {
    ASSERT_TRUE(report_.exception.has_value());
    EXPECT_EQ(report_.exception->type_mangled, child_->Fact("exception_type"));
    EXPECT_EQ(report_.exception->message, child_->Fact("exception_message"));
  }
  if (Has(kAbortMessage)) {
    EXPECT_NE(report_.abort_message.find(child_->Fact("abort_message")),
              std::string::npos)
        << report_.abort_message;
  }
}

// The crashed thread is first, is the child's, and its stack is the child's
// own: behind the crash function every return address equals glibc's
// backtrace.
void CrashChecks::CheckCrashedStack() {
  ASSERT_FALSE(report_.threads.empty());
  const Thread& thread = report_.threads[0];
  EXPECT_TRUE(thread.crashed);
  if (Has(kSeveral)) {
    const std::vector<std::string> ids = child_->Facts("one_of");
    EXPECT_EQ(std::count(ids.begin(), ids.end(), std::to_string(thread.id)), 1);
  } else {
    std::istringstream crashing(child_->Fact("crashing"));
    uint64_t id = 0;
    std::string name;
    crashing >> id >> name;
    EXPECT_EQ(thread.id, id);
    if (!name.empty()) {  // a filter may refuse the child its own name
      EXPECT_EQ(thread.name, name);
    }
  }
  ASSERT_FALSE(thread.frames.empty());
  EXPECT_EQ(thread.frames[0].kind, format::FrameKind::kFault);
  EXPECT_EQ(thread.frames[0].trust, format::FrameTrust::kContext);
  ASSERT_TRUE(thread.end.has_value());
  EXPECT_EQ(*thread.end, format::WalkEnd::kEndOfStack) << Describe(thread);
  for (const Frame& frame : thread.frames) {
    EXPECT_NE(frame.trust, format::FrameTrust::kScan) << Describe(thread);
  }
  if (Has(kWrongCode)) {
    EXPECT_EQ(thread.frames[0].address, *child_->Address("fault_address"));
  }
  CheckDepth(thread);
  CheckBacktrace(thread);
}

void CrashChecks::CheckDepth(const Thread& thread) {
  if (!Has(kDeep)) {
    EXPECT_EQ(thread.gap_frames, 0u);
    return;
  }
  EXPECT_EQ(thread.frames.size(), 512u);
  EXPECT_EQ(thread.gap_position, 256u);
  EXPECT_GT(thread.gap_frames, 1000u);
  bool told = false;
  for (const report::Cut& cut : report_.cuts) {
    told = told || (cut.what == format::CutWhat::kFrames &&
                    cut.dropped == thread.gap_frames);
  }
  EXPECT_TRUE(told);
  // Both ends: the recursion inside, the thread's start outside.
  const std::string inner = FunctionOf(thread.frames[2]);
  EXPECT_TRUE(inner == "use_up_the_stack" || inner == "go_deep") << inner;
  bool start = false;
  for (size_t i = thread.frames.size() - 6; i < thread.frames.size(); ++i) {
    const std::string function = FunctionOf(thread.frames[i]);
    start = start || function == "main" || function == "overflow_body";
  }
  EXPECT_TRUE(start) << Describe(thread);
}

void CrashChecks::CheckBacktrace(const Thread& thread) {
  if (Has(kNoBacktrace) || child_->Fact("backtrace").empty()) {
    return;
  }
  std::istringstream words(child_->Fact("backtrace"));
  std::vector<uint64_t> expected;
  for (std::string word; words >> word;) {
    expected.push_back(std::stoull(word, nullptr, 16));
  }
  ASSERT_GE(expected.size(), 2u);
  const uint64_t second = expected[1];
  size_t at = 0;
  while (at < thread.frames.size() && thread.frames[at].address != second) {
    ++at;
  }
  ASSERT_LT(at, thread.frames.size()) << Describe(thread);
  std::vector<uint64_t> found;
  for (size_t i = at; i < thread.frames.size(); ++i) {
    found.push_back(thread.frames[i].address);
  }
  expected.erase(expected.begin());
  EXPECT_EQ(found, expected) << Describe(thread);
  // The frame inside is the crash function itself, at the fault.
  ASSERT_GT(at, 0u);
  const Frame& own = thread.frames[at - 1];
  ASSERT_TRUE(own.image.has_value()) << Describe(thread);
  const uint64_t call = std::stoull(child_->Fact("backtrace"), nullptr, 16);
  const uint64_t bias =
      static_cast<uint64_t>(report_.images[*own.image].link_bias);
  EXPECT_EQ(FunctionOf(own), Symbols(program_).FunctionAt(call - 1 - bias));
}

// A line "ID NAME" of a thread that the child started beside.
void CrashChecks::CheckOtherThread(const std::string& line,
                                   const char* function,
                                   char state) {
  std::istringstream words(line);
  uint64_t id = 0;
  std::string name;
  words >> id >> name;
  const Thread* found = FindThread(report_, id);
  ASSERT_NE(found, nullptr) << line;
  EXPECT_FALSE(found->crashed);
  // No signal reaches a thread that blocks them all.
  const bool deaf = name.rfind("blocked", 0) == 0 &&
                    expect_.others == format::FrozenBy::kSignal;
  EXPECT_STREQ(report::Name(found->frozen_by),
               report::Name(deaf ? format::FrozenBy::kProc : expect_.others))
      << line;
  if (expect_.names) {
    EXPECT_EQ(found->name, name);
  }
  if (expect_.names && expect_.states &&
      expect_.others == format::FrozenBy::kPtrace) {
    EXPECT_EQ(found->state, state) << line;
  }
  EXPECT_FALSE(found->registers.empty());
  EXPECT_EQ(found->end.value_or(format::WalkEnd::kLimit),
            format::WalkEnd::kEndOfStack)
      << Describe(*found);
  bool there = false;
  for (const Frame& frame : found->frames) {
    there = there || FunctionOf(frame).find(function) != std::string::npos;
  }
  EXPECT_TRUE(there) << Describe(*found);
}

void CrashChecks::CheckOtherThreads() {
  if (Has(kChild)) {
    EXPECT_EQ(report_.threads.size(), 1u);
    return;
  }
  for (const std::string& line : child_->Facts("thread")) {
    ASSERT_NO_FATAL_FAILURE(CheckOtherThread(line, "parked_thread", 'S'));
  }
  for (const std::string& line : child_->Facts("busy")) {
    ASSERT_NO_FATAL_FAILURE(CheckOtherThread(line, "busy_thread", 'R'));
  }
  if (Has(kManyThreads)) {
    EXPECT_GE(report_.threads.size(), 103u);
  }
  CheckSeveral();
}

// Exactly one report (read before) in which all are told.
void CrashChecks::CheckSeveral() {
  if (!Has(kSeveral)) {
    return;
  }
  size_t crashed = 0;
  for (const std::string& id : child_->Facts("one_of")) {
    const Thread* thread = FindThread(report_, std::stoull(id));
    ASSERT_NE(thread, nullptr) << id;
    crashed += thread->crashed ? 1 : 0;
    if (expect_.everyone_told) {
      EXPECT_TRUE(thread->crashed) << id;
      EXPECT_EQ(thread->end.value_or(format::WalkEnd::kLimit),
                format::WalkEnd::kEndOfStack)
          << Describe(*thread);
      ASSERT_FALSE(thread->frames.empty()) << id;
      EXPECT_EQ(thread->frames[0].kind, format::FrameKind::kFault) << id;
    }
  }
  EXPECT_GE(crashed, 1u);
}

void CrashChecks::CheckFacts() {
  ASSERT_FALSE(report_.images.empty());
  EXPECT_EQ(report_.images[0].path, program_);
  EXPECT_FALSE(report_.images[0].id.empty());
  EXPECT_TRUE(report_.process.pid.has_value());
  EXPECT_FALSE(report_.host.kernel.empty());
  EXPECT_FALSE(report_.threads[0].registers.empty());
}

void CrashChecks::CheckNearMemory() {
  for (const char* reason : {"fault", "r12"}) {
    const auto address = child_->Address(std::string("near_") + reason);
    if (!address) {
      continue;
    }
    const std::string text = child_->Fact(std::string("text_") + reason);
    // Another register may hold the same address, and its name the window.
    const auto found =
        std::find_if(report_.memory.begin(),
                     report_.memory.end(),
                     [&](const report::Memory& memory) {
                       return *address - memory.address < memory.bytes.size();
                     });
    ASSERT_NE(found, report_.memory.end()) << reason;
    EXPECT_EQ(found->reason == "fault", reason == std::string("fault"));
    const size_t offset = *address - found->address;
    ASSERT_GE(found->bytes.size(), offset + text.size());
    EXPECT_EQ(std::string(found->bytes.begin() + offset,
                          found->bytes.begin() + offset + text.size()),
              text);
  }
  const std::string cut = child_->Fact("cut");
  for (const report::Cut& entry : report_.cuts) {
    EXPECT_NE(entry.what, format::CutWhat::kTime);
    if (entry.what == format::CutWhat::kMemoryBytes) {
      EXPECT_EQ(cut, "memory_bytes");
    }
  }
  if (!cut.empty()) {
    EXPECT_EQ(std::count_if(report_.cuts.begin(),
                            report_.cuts.end(),
                            [](const report::Cut& entry) {
                              return entry.what ==
                                     format::CutWhat::kMemoryBytes;
                            }),
              1);
  }
}

}  // namespace cairn::crash
