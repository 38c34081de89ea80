// SPDX-License-Identifier: Apache-2.0
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/crash/crasher_options.h"

namespace cairn::crash {
namespace {

const std::map<std::string, unsigned> kCalls = {
    {"ptrace", SYS_ptrace},
    {"clone", SYS_clone},
    {"process_vm_readv", SYS_process_vm_readv},
    {"openat", SYS_openat},
    {"prctl", SYS_prctl},
    {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo},
    {"setitimer", SYS_setitimer},
    {"wait4", SYS_wait4},
};

void AddRules(const std::string& names,
              unsigned answer,
              std::vector<sock_filter>* code) {
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) {
    const auto call = kCalls.find(name);
    if (call == kCalls.end()) {
      _exit(90);
    }
    code->push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->second, 0, 1));
    code->push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
}

}  // namespace

void FilterSystemCalls(const std::string& deny, const std::string& kill) {
  if (deny.empty() && kill.empty()) {
    return;
  }
  std::vector<sock_filter> code = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  AddRules(deny, SECCOMP_RET_ERRNO | EPERM, &code);
  AddRules(kill, SECCOMP_RET_KILL_PROCESS, &code);
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(code.size()),
                              code.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp,
              SECCOMP_SET_MODE_FILTER,
              SECCOMP_FILTER_FLAG_TSYNC,
              &program) != 0) {
    _exit(89);
  }
}

}  // namespace cairn::crash
