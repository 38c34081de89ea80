// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/stepped_process.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace cairn::unwind_tests {
namespace {

constexpr uint32_t kMostImages = 512;
constexpr uint64_t kPageBytes = 4096;
// An address outside of all images makes them be read again, but not at every
// instruction.
constexpr uint64_t kStepsBetweenRefreshes = 256;

size_t ReadProcess(pid_t id, uint64_t address, void* out, size_t bytes) {
  iovec local = {out, bytes};
  iovec remote = {reinterpret_cast<void*>(address), bytes};
  const ssize_t count = process_vm_readv(id, &local, 1, &remote, 1, 0);
  return count > 0 ? static_cast<size_t>(count) : 0;
}

[[noreturn]] void RunProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  dup2(null, 2);
  personality(ADDR_NO_RANDOMIZE);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  const char* path = std::getenv("PATH");
  const std::string path_word =
      std::string("PATH=") + (path == nullptr ? "/usr/bin:/bin" : path);
  // The same environment everywhere, so that runs are alike.
  char* environment[] = {const_cast<char*>(path_word.c_str()),
                         const_cast<char*>("HOME=/"),
                         const_cast<char*>("LC_ALL=C"),
                         nullptr};
  execvpe(words[0], words.data(), environment);
  _exit(127);
}

void StayOnThisProcessor() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(std::max(0, sched_getcpu())), &here);
  sched_setaffinity(0, sizeof(here), &here);
}

}  // namespace

SteppedProcess::SteppedProcess()
    : storage_(kMostImages),
      table_(std::make_unique<capture::ImageTable>()),
      cache_(std::make_unique<uint8_t[]>(capture::RuleCacheBytes())) {
  table_->Init(storage_.data(), kMostImages);
}

SteppedProcess::~SteppedProcess() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
}

bool SteppedProcess::Start(const std::vector<std::string>& arguments,
                           bool from_entry) {
  StayOnThisProcessor();
  id_ = fork();
  if (id_ == 0) {
    RunProgram(arguments);
  }
  int status = 0;
  if (waitpid(id_, &status, 0) != id_ || !WIFSTOPPED(status)) {
    id_ = 0;
    return false;
  }
  ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_EXITKILL);
  ReadVectors();
  if (from_entry && !RunToEntry()) {
    return false;
  }
  ptrace(PTRACE_GETREGS, id_, nullptr, &registers_);
  Refresh();
  return true;
}

void SteppedProcess::ReadVectors() {
  const std::string folder = "/proc/" + std::to_string(id_);
  std::ifstream file(folder + "/auxv", std::ios::binary);
  Elf64_auxv_t entry = {};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof(entry))) {
    const uint64_t value = entry.a_un.a_val;
    switch (entry.a_type) {
      case AT_PHDR:
        vectors_.program_headers = value;
        break;
      case AT_PHNUM:
        vectors_.program_header_count = value;
        break;
      case AT_PHENT:
        vectors_.program_header_bytes = value;
        break;
      case AT_BASE:
        vectors_.loader_base = value;
        break;
      case AT_SYSINFO_EHDR:
        vectors_.vdso = value;
        break;
      case AT_ENTRY:
        entry_ = value;
        break;
      default:
        break;
    }
  }
  char path[4096] = "";
  const ssize_t bytes =
      readlink((folder + "/exe").c_str(), path, sizeof(path) - 1);
  path_.assign(path, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  vectors_.executable_path = path_.c_str();
}

bool SteppedProcess::RunToEntry() {
  errno = 0;
  const long code = ptrace(PTRACE_PEEKTEXT, id_, entry_, nullptr);
  if (errno != 0) {
    return false;
  }
  ptrace(PTRACE_POKETEXT, id_, entry_, (code & ~0xffL) | 0xcc);
  ptrace(PTRACE_CONT, id_, nullptr, nullptr);
  int status = 0;
  if (waitpid(id_, &status, 0) != id_ || !WIFSTOPPED(status)) {
    id_ = 0;
    return false;
  }
  ptrace(PTRACE_POKETEXT, id_, entry_, code);
  ptrace(PTRACE_GETREGS, id_, nullptr, &registers_);
  if (registers_.rip != entry_ + 1) {
    return false;
  }
  registers_.rip = entry_;
  return ptrace(PTRACE_SETREGS, id_, nullptr, &registers_) == 0;
}

Stepped SteppedProcess::Step() {
  const bool system_call = AtSystemCall();
  const int signal = pending_signal_;
  pending_signal_ = 0;
  int status = 0;
  if (ptrace(PTRACE_SINGLESTEP, id_, nullptr, signal) != 0 ||
      waitpid(id_, &status, 0) != id_ || !WIFSTOPPED(status)) {
    id_ = WIFSTOPPED(status) ? id_ : 0;
    return Stepped::kGone;
  }
  ++steps_;
  const uint64_t before = registers_.rip;
  ptrace(PTRACE_GETREGS, id_, nullptr, &registers_);
  if (WSTOPSIG(status) != SIGTRAP) {
    pending_signal_ = WSTOPSIG(status);
  }
  KeepImagesFresh();
  // A delivered signal that has no handler leaves everything in its place.
  if (signal != 0 && registers_.rip != before) {
    return Stepped::kSignalHandler;
  }
  return system_call ? Stepped::kSystemCallMade : Stepped::kInstruction;
}

bool SteppedProcess::AtSystemCall() {
  uint16_t code = 0;
  return ReadPages(this, registers_.rip, &code, sizeof(code)) == 2 &&
         code == 0x050f;
}

bool SteppedProcess::AtTrap() {
  uint8_t code = 0;
  return ReadPages(this, registers_.rip, &code, sizeof(code)) == 1 &&
         code == 0xcc;
}

bool SteppedProcess::RunToTrap() {
  int status = 0;
  int signal = pending_signal_;
  pending_signal_ = 0;
  do {
    if (ptrace(PTRACE_CONT, id_, nullptr, signal) != 0 ||
        waitpid(id_, &status, 0) != id_ || !WIFSTOPPED(status)) {
      id_ = WIFSTOPPED(status) ? id_ : 0;
      return false;
    }
    signal = WSTOPSIG(status);
  } while (signal != SIGTRAP);
  ++steps_;
  ptrace(PTRACE_GETREGS, id_, nullptr, &registers_);
  Refresh();
  return true;
}

bool SteppedProcess::ReadWord(uint64_t address, uint64_t* out) {
  return ReadPages(this, address, out, sizeof(*out)) == sizeof(*out);
}

// The loader calls an empty function at each change of its list; before it
// does, and for what it forgets to tell, code outside of all images tells.
void SteppedProcess::KeepImagesFresh() {
  const bool unknown = steps_ - refreshed_at_ >= kStepsBetweenRefreshes &&
                       table_->Find(registers_.rip) == capture::kNoImage;
  const bool untold =
      loader_event_ == 0 && steps_ - refreshed_at_ >= 16 * kPageBytes;
  if (registers_.rip == loader_event_ || unknown || untold) {
    Refresh();
  }
}

void SteppedProcess::Refresh() {
  refreshed_at_ = steps_;
  images_since_ = steps_;
  uint32_t unloaded = 0;
  for (uint32_t i = 0; i < table_->count(); ++i) {
    unloaded += table_->at(i).unloaded;
  }
  const uint32_t added =
      RefreshImages(table_.get(), vectors_, {&ReadPages, this});
  for (uint32_t i = 0; i < table_->count(); ++i) {
    unloaded -= table_->at(i).unloaded;
  }
  if (added != 0 || unloaded != 0) {
    ++image_changes_;
    std::memset(cache_.get(), 0, capture::RuleCacheBytes());
  }
  // DT_DEBUG of the program leads to struct r_debug.
  const uint64_t dynamic = table_->count() > 0 ? table_->at(0).dynamic : 0;
  ElfW(Dyn) entry = {};
  for (uint64_t i = 0; loader_event_ == 0 && dynamic != 0 && i < 128; ++i) {
    if (ReadPages(this, dynamic + i * sizeof(entry), &entry, sizeof(entry)) ==
            0 ||
        entry.d_tag == DT_NULL) {
      break;
    }
    if (entry.d_tag == DT_DEBUG && entry.d_un.d_ptr != 0) {
      ReadWord(entry.d_un.d_ptr + offsetof(r_debug, r_brk), &loader_event_);
    }
  }
}

bool SteppedProcess::IsConstant(uint64_t address) const {
  const uint32_t index = table_->Find(address);
  if (index == capture::kNoImage) {
    return false;
  }
  const capture::Image& image = table_->at(index);
  for (uint32_t i = 0; i < image.segment_count; ++i) {
    const capture::ImageSegment& segment = image.segments[i];
    if (address / kPageBytes * kPageBytes >=
            segment.address / kPageBytes * kPageBytes &&
        address < segment.address + segment.bytes) {
      return (segment.flags & capture::kSegmentWrite) == 0;
    }
  }
  return false;
}

// The page that holds `address`, read anew when it may have changed.
SteppedProcess::Page* SteppedProcess::PageAt(uint64_t address) {
  auto& page = pages_[address / kPageBytes];
  if (page == nullptr) {
    page = std::make_unique<Page>();
  }
  const uint64_t stamp = page->is_constant ? images_since_ : steps_;
  if (page->stamp < stamp) {
    if (ReadProcess(
            id_, address / kPageBytes * kPageBytes, page->bytes, kPageBytes) !=
        kPageBytes) {
      return nullptr;
    }
    page->stamp = steps_;
    page->is_constant = IsConstant(address);
  }
  return page.get();
}

size_t SteppedProcess::ReadPages(void* context,
                                 uint64_t address,
                                 void* out,
                                 size_t bytes) {
  auto* self = static_cast<SteppedProcess*>(context);
  size_t done = 0;
  while (done < bytes) {
    const uint64_t at = address + done;
    const size_t count =
        std::min<size_t>(bytes - done, kPageBytes - at % kPageBytes);
    const Page* page = self->PageAt(at);
    if (page == nullptr) {
      break;
    }
    std::memcpy(static_cast<uint8_t*>(out) + done,
                page->bytes + at % kPageBytes,
                count);
    done += count;
  }
  return done;
}

capture::WalkInput SteppedProcess::Input(const capture::Registers& registers) {
  capture::WalkInput input = {};
  input.registers = &registers;
  input.memory = {&ReadPages, this};
  input.stack_memory = {&ReadPages, this};
  input.images = table_.get();
  input.cache = reinterpret_cast<capture::RuleCache*>(cache_.get());
  input.first_is_fault = false;
  return input;
}

}  // namespace cairn::unwind_tests
