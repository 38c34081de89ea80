// SPDX-License-Identifier: Apache-2.0
//
// mach_host: runs one x86_64 Mach-O program of our own on Linux. See README.md
// for what is simulated and what only a Mac can show.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "kernel/exceptions.h"
#include "kernel/ports.h"
#include "kernel/signals.h"
#include "kernel/thread.h"
#include "loader.h"
#include "violations.h"

namespace {

bool Play(const std::string& fault) {
  mach_host::Faults& faults = mach_host::PlayedFaults();
  if (fault == "late-thread") {
    faults.late_thread = true;
  } else if (fault == "task-threads-fails") {
    faults.task_threads_fails = true;
  } else if (fault == "allocator-held") {
    faults.allocator_held = true;
  } else if (fault == "loader-held") {
    faults.loader_held = true;
  } else if (fault == "port-dies") {
    faults.port_dies = true;
  } else if (fault == "debugger") {
    faults.debugger = true;
  } else if (fault.rfind("slow-reply=", 0) == 0) {
    faults.slow_reply_ms = std::stoi(fault.substr(11));
  } else {
    return false;
  }
  return true;
}

void AtExit() {
  mach_host::CheckLeaks();
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  CLI::App app{
      "Runs an x86_64 Mach-O program on Linux, with a simulated Mach kernel."};
  std::string verdict;
  std::vector<std::string> faults, command;
  app.add_option("--verdict",
                 verdict,
                 "file for facts and broken rules (default: standard error)");
  app.add_option("--fault",
                 faults,
                 "slow-reply=MS, late-thread, task-threads-fails, "
                 "allocator-held, loader-held, "
                 "port-dies or debugger; may be repeated")
      ->allow_extra_args(false);
  app.add_option("command", command, "the program and its arguments")
      ->required();
  app.positionals_at_end();
  app.prefix_command();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& extra : app.remaining())
    command.push_back(extra);
  for (const std::string& fault : faults) {
    if (Play(fault))
      continue;
    std::fprintf(
        stderr, "mach_host: no fault named %s; see --help\n", fault.c_str());
    return 2;
  }
  if (!verdict.empty()) {
    const int file =
        open(verdict.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
      std::perror(verdict.c_str());
      return 2;
    }
    // Out of the way of a program that counts its descriptors.
    mach_host::SetVerdictDescriptor(fcntl(file, F_DUPFD_CLOEXEC, 900));
    close(file);
  }
  try {
    mach_host::TaskPort();
    mach_host::LoadProgram(command.at(0));
    mach_host::InstallSuspension();
    mach_host::InstallSignals();
    mach_host::AttachThread();
    std::atexit(AtExit);
    std::vector<char*> arguments;
    for (std::string& argument : command)
      arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    mach_host::RunProgram(
        static_cast<int>(command.size()), arguments.data(), environment);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mach_host: %s\n", error.what());
    return 2;
  }
}
