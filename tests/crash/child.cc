// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

namespace cairn::crash {
namespace {

void AddLine(Child* child, const std::string& line) {
  const size_t space = line.find(' ');
  const std::string word = line.substr(0, space);
  const std::string values =
      space == std::string::npos ? "" : line.substr(space + 1);
  child->facts.emplace(word, values);
  if (word == "kill_me") {
    usleep(50000);  // until it waits
    kill(std::stoi(values), SIGSEGV);
  }
}

constexpr int kLimitSeconds = 120;

// Reads both streams to their ends; lines of the first are facts.
void ReadAll(pid_t pid, int facts_fd, int errors_fd, Child* child) {
  const auto limit =
      std::chrono::steady_clock::now() + std::chrono::seconds(kLimitSeconds);
  std::string pending;
  pollfd fds[2] = {{facts_fd, POLLIN, 0}, {errors_fd, POLLIN, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds, 2, 1000) == 0 && std::chrono::steady_clock::now() > limit) {
      child->errors += "killed: it hung\n";
      kill(pid, SIGKILL);
      return;
    }
    for (pollfd& entry : fds) {
      if (entry.fd < 0 || entry.revents == 0) {
        continue;
      }
      char buffer[4096];
      const ssize_t got = read(entry.fd, buffer, sizeof(buffer));
      if (got <= 0) {
        entry.fd = -1;
        continue;
      }
      if (&entry == &fds[1]) {
        child->errors.append(buffer, static_cast<size_t>(got));
        continue;
      }
      pending.append(buffer, static_cast<size_t>(got));
      for (size_t end = pending.find('\n'); end != std::string::npos;
           end = pending.find('\n')) {
        AddLine(child, pending.substr(0, end));
        pending.erase(0, end + 1);
      }
    }
  }
}

void SetPreload(const std::string& program, const std::string& directory) {
  if (program.find("preloaded") == std::string::npos) {
    return;
  }
  const std::string library =
      std::string(CAIRN_BINARY_DIR) + "/lib/libcairn-preload.so";
  setenv("LD_PRELOAD", library.c_str(), 1);
  setenv("CAIRN_DIRECTORY", directory.c_str(), 1);
  setenv("CAIRN_APP_ID", "org.cairn.crasher", 1);
  setenv("CAIRN_APP_VERSION", "1.2.3", 1);
}

void ListReports(Child* child) {
  for (const auto& entry :
       std::filesystem::directory_iterator(child->directory)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() == ".cairn") {
      child->reports.push_back(path);
    } else if (entry.path().filename() != "last-install") {
      child->other_files.push_back(path);
    }
  }
  std::sort(child->reports.begin(), child->reports.end());
}

}  // namespace

Child::~Child() {
  std::error_code ignored;
  if (!directory.empty() && !keep && getenv("CAIRN_KEEP_REPORTS") == nullptr) {
    std::filesystem::remove_all(directory, ignored);
  }
}

std::string Child::Fact(const std::string& word) const {
  const auto found = facts.find(word);
  return found == facts.end() ? "" : found->second;
}

std::optional<uint64_t> Child::Address(const std::string& word) const {
  const std::string text = Fact(word);
  if (text.empty()) {
    return std::nullopt;
  }
  return std::stoull(text, nullptr, 16);
}

std::vector<std::string> Child::Facts(const std::string& word) const {
  std::vector<std::string> values;
  const auto range = facts.equal_range(word);
  for (auto it = range.first; it != range.second; ++it) {
    values.push_back(it->second);
  }
  return values;
}

Child RunChild(const std::string& program,
               const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment) {
  Child child;
  char directory[] = "/tmp/cairn-crash-XXXXXX";
  child.directory = mkdtemp(directory);
  int facts[2], errors[2];
  if (pipe2(facts, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
    abort();
  }
  std::vector<std::string> words = {program, child.directory};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(facts[1], 1);
    dup2(errors[1], 2);
    for (const std::string& entry : environment) {
      putenv(const_cast<char*>(entry.c_str()));
    }
    SetPreload(program, child.directory);
    if (chdir(child.directory.c_str()) != 0) {  // for its core
      _exit(127);
    }
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(facts[1]);
  close(errors[1]);
  ReadAll(pid, facts[0], errors[0], &child);
  close(facts[0]);
  close(errors[0]);
  waitpid(pid, &child.status, 0);
  ListReports(&child);
  return child;
}

NmSymbols::NmSymbols(const std::string& path) {
  const std::string command = "nm --defined-only -S '" + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"),
                                                   pclose);
  char line[4096];
  while (pipe != nullptr && fgets(line, sizeof(line), pipe.get()) != nullptr) {
    std::istringstream words(line);
    std::string address, bytes, type, name;
    words >> address >> bytes >> type >> name;
    if (name.empty() || std::string("tTwW").find(type) == std::string::npos) {
      continue;
    }
    functions_[std::stoull(address, nullptr, 16)] = {
        std::stoull(bytes, nullptr, 16), name};
  }
}

std::string NmSymbols::FunctionAt(uint64_t address) const {
  auto found = functions_.upper_bound(address);
  if (found == functions_.begin()) {
    return "";
  }
  --found;
  return address - found->first < found->second.bytes ? found->second.name : "";
}

}  // namespace cairn::crash
