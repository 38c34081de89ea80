// SPDX-License-Identifier: Apache-2.0
#include "bench/run_target.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

extern char** environ;

namespace cairn::bench {
namespace {

namespace fs = std::filesystem;

double Milliseconds(uint64_t from_ns, uint64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / 1e6;
}

void CopyPath(const std::string& path, char (&out)[512]) {
  if (path.size() >= sizeof(out)) {
    throw std::runtime_error("path too long: " + path);
  }
  std::memcpy(out, path.c_str(), path.size() + 1);
}

// Why the target's end is not the one that was asked for; "" if it is.
std::string WrongEnd(const Page& page, int status) {
  if (page.answer.failure[0] != '\0') {
    return page.answer.failure;
  }
  const bool crashed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  const bool left = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (page.request.crash != 0 ? crashed && page.answer.fault_ns != 0 : left) {
    return "";
  }
  return "wait status " + std::to_string(status);
}

}  // namespace

TargetRunner::TargetRunner(const std::string& parent) {
  std::string name = parent + "/cairn-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a directory in " + parent);
  }
  base_ = name;
  page_fd_ = memfd_create("bench-page", 0);  // inherited: no MFD_CLOEXEC
  if (page_fd_ < 0 || ftruncate(page_fd_, sizeof(Page)) != 0) {
    throw std::runtime_error("no shared page");
  }
  void* mapped = mmap(
      nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, page_fd_, 0);
  if (mapped == MAP_FAILED) {
    throw std::runtime_error("no shared page");
  }
  page_ = static_cast<Page*>(mapped);
}

TargetRunner::~TargetRunner() {
  munmap(page_, sizeof(Page));
  close(page_fd_);
  std::error_code ignored;
  fs::remove_all(base_, ignored);
}

void TargetRunner::MakeLibraries(uint32_t count) {
  fs::create_directories(base_ / "libraries");
  for (; libraries_ < count; ++libraries_) {
    fs::copy_file(
        CAIRN_BENCH_LIBRARY,
        base_ / "libraries" / ("lib" + std::to_string(libraries_) + ".so"));
  }
}

Outcome TargetRunner::Run(const Subject& subject,
                          const Load& load,
                          const std::string& kept_directory) {
  MakeLibraries(load.libraries);
  const fs::path directory =
      base_ / (kept_directory.empty() ? "run" + std::to_string(runs_++)
                                      : kept_directory);
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::owner_all);
  *page_ = {};
  Request& request = page_->request;
  request.threads = load.threads;
  request.frames = 20;
  request.libraries = load.libraries;
  request.core = subject.core ? 1 : 0;
  request.no_stack_bytes = load.no_stack_bytes ? 1 : 0;
  request.crash = load.crash ? 1 : 0;
  CopyPath(directory.string(), request.directory);
  CopyPath((base_ / "libraries").string(), request.library_directory);
  const Outcome outcome = Start(subject, directory.string());
  if (kept_directory.empty()) {
    fs::remove_all(directory);
  }
  return outcome;
}

Outcome TargetRunner::Start(const Subject& subject,
                            const std::string& directory) {
  const std::string descriptor = std::to_string(page_fd_);
  std::string program = subject.program;
  char* arguments[] = {
      program.data(), const_cast<char*>(descriptor.c_str()), nullptr};
  Outcome outcome;
  pid_t pid = 0;
  const uint64_t started = MonotonicNs();
  if (posix_spawn(
          &pid, program.c_str(), nullptr, nullptr, arguments, environ) != 0) {
    outcome.failure = "cannot start " + program;
    return outcome;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  const uint64_t ended = MonotonicNs();
  const Answer& answer = page_->answer;
  outcome.failure = WrongEnd(*page_, status);
  outcome.start_to_end_ms = Milliseconds(started, ended);
  outcome.added_from_fault_ms =
      answer.fault_ns != 0 ? Milliseconds(answer.fault_ns, ended) : 0;
  outcome.install_us =
      Milliseconds(answer.install_begin_ns, answer.install_end_ns) * 1000;
  outcome.resident_kib = static_cast<double>(answer.resident_after) / 1024;
  outcome.install_resident_kib =
      outcome.resident_kib - static_cast<double>(answer.resident_before) / 1024;
  if (page_->request.crash != 0) {
    FindReport(subject, directory, &outcome);
    if (outcome.failure.empty() && subject.core && !WCOREDUMP(status)) {
      outcome.failure = "the kernel wrote no core";
    }
  }
  return outcome;
}

void TargetRunner::FindReport(const Subject& subject,
                              const std::string& directory,
                              Outcome* outcome) const {
  if (subject.ending.empty()) {
    return;
  }
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    struct stat facts = {};
    if ((name.starts_with(subject.ending) || name.ends_with(subject.ending)) &&
        stat(entry.path().c_str(), &facts) == 0) {
      outcome->report_bytes = static_cast<uint64_t>(facts.st_size);
      outcome->report_disk_bytes = static_cast<uint64_t>(facts.st_blocks) * 512;
      return;
    }
  }
  // Where a core goes is the machine's affair (core_pattern).
  if (outcome->failure.empty() && !subject.core) {
    outcome->failure = "no report";
  }
}

std::vector<Subject> AllSubjects() {
  std::vector<Subject> subjects = {
      {"no handler", CAIRN_BENCH_TARGET_NONE, false, ""},
      {"core dump", CAIRN_BENCH_TARGET_NONE, true, "core"},
      {"cairn", CAIRN_BENCH_TARGET_CAIRN, false, ".cairn"}};
  if (WhyNoBreakpad().empty()) {
    subjects.push_back(
        {"breakpad", CAIRN_BENCH_TARGET_BREAKPAD, false, ".dmp"});
  }
  return subjects;
}

std::string WhyNoBreakpad() {
  return std::strlen(CAIRN_BENCH_TARGET_BREAKPAD) != 0
             ? ""
             : "not built: cmake -DCAIRN_BENCH_BREAKPAD=ON fetches and builds "
               "it";
}

}  // namespace cairn::bench
