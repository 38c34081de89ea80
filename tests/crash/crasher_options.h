// SPDX-License-Identifier: Apache-2.0
//
// What the crasher is surrounded by, word by word on its command line:
//
//   threads=N        N more parked threads          threads_stack=BYTES of each
//   busy=N           N threads that compute
//   blocked=N        N parked threads with every signal blocked
//   handler=chained  an earlier handler that dies by the default action
//   core=0           no core dump; core=unlimited a whole one
//   descriptors=used none is left at the crash
//   user=ID          runs as that user, with no capability
//   dumpable=0       not dumpable at the crash
//   deny=CALL,…      seccomp answers these system calls with EPERM
//   kill=CALL,…      seccomp answers them with SIGSYS for the process
//   root=empty       chroot to the report directory: no /proc
//   traced=1         another process traces every thread
//   nproc=0 fsize=0  limits; as=now: the address space may hardly grow
//   vfork=1          a thread waits in vfork for its child
#ifndef CAIRN_TESTS_CRASH_CRASHER_OPTIONS_H_
#define CAIRN_TESTS_CRASH_CRASHER_OPTIONS_H_

#include <map>
#include <string>

namespace cairn::crash {

using Options = std::map<std::string, std::string>;

Options ReadOptions(char** words, int count);
// Before Cairn is installed, and behind it. Both say what they did.
void PrepareSurrounding(const Options& options, const char* directory);
void MakeSurrounding(const Options& options, const char* directory);

// Called last: takes the calls away. `deny` and `kill` are lists of names.
void FilterSystemCalls(const std::string& deny, const std::string& kill);

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_CRASHER_OPTIONS_H_
