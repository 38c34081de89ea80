// SPDX-License-Identifier: Apache-2.0
//
// Compiled for x86_64-macos, never run: each structure and constant of darwin.h
// against Apple's headers.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mach-o/loader.h>
#include <mach-o/nlist.h>
#include <mach/mach.h>
#include <mach/mach_types.h>
#include <mach/task_info.h>
#include <mach/thread_info.h>
#include <mach/vm_region.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/ucontext.h>

#include <cstddef>

#include "darwin.h"
#include "darwin_errors.h"
#include "macho_file.h"

#define SAME_SIZE(ours, theirs) \
  static_assert(sizeof(darwin::ours) == sizeof(theirs))
#define SAME(ours, a, theirs, b) \
  static_assert(offsetof(darwin::ours, a) == offsetof(theirs, b))
#define VALUE(ours, theirs)                             \
  static_assert(static_cast<long long>(darwin::ours) == \
                static_cast<long long>(theirs))

SAME_SIZE(StackT, stack_t);
SAME(StackT, flags, stack_t, ss_flags);
SAME_SIZE(SigAction, struct sigaction);
SAME(SigAction, mask, struct sigaction, sa_mask);
SAME(SigAction, flags, struct sigaction, sa_flags);
SAME_SIZE(SigInfo, siginfo_t);
SAME(SigInfo, pid, siginfo_t, si_pid);
SAME(SigInfo, addr, siginfo_t, si_addr);
SAME(SigInfo, value, siginfo_t, si_value);
SAME_SIZE(ExceptionState64, x86_exception_state64_t);
SAME(ExceptionState64, faultvaddr, x86_exception_state64_t, __faultvaddr);
SAME_SIZE(ThreadState64, x86_thread_state64_t);
SAME(ThreadState64, rsp, x86_thread_state64_t, __rsp);
SAME(ThreadState64, r15, x86_thread_state64_t, __r15);
SAME(ThreadState64, rip, x86_thread_state64_t, __rip);
SAME(ThreadState64, gs, x86_thread_state64_t, __gs);
SAME_SIZE(FloatState64, x86_float_state64_t);
SAME(FloatState64, fxsave, x86_float_state64_t, __fpu_fcw);
SAME_SIZE(MContext64, struct __darwin_mcontext64);
SAME(MContext64, ss, struct __darwin_mcontext64, __ss);
SAME(MContext64, fs, struct __darwin_mcontext64, __fs);
SAME_SIZE(UContext, ucontext_t);
SAME(UContext, sigmask, ucontext_t, uc_sigmask);
SAME(UContext, stack, ucontext_t, uc_stack);
SAME(UContext, mcontext, ucontext_t, uc_mcontext);
SAME_SIZE(MsgHeader, mach_msg_header_t);
SAME(MsgHeader, remote, mach_msg_header_t, msgh_remote_port);
SAME(MsgHeader, local, mach_msg_header_t, msgh_local_port);
SAME(MsgHeader, voucher, mach_msg_header_t, msgh_voucher_port);
SAME(MsgHeader, id, mach_msg_header_t, msgh_id);
SAME_SIZE(PortDescriptor, mach_msg_port_descriptor_t);
SAME_SIZE(Ndr, NDR_record_t);
SAME_SIZE(ThreadBasicInfo, thread_basic_info_data_t);
SAME_SIZE(ThreadIdentifierInfo, thread_identifier_info_data_t);
SAME_SIZE(ThreadExtendedInfo, thread_extended_info_data_t);
SAME(ThreadExtendedInfo, name, thread_extended_info_data_t, pth_name);
SAME_SIZE(RegionBasicInfo64, vm_region_basic_info_data_64_t);
SAME(RegionBasicInfo64, offset, vm_region_basic_info_data_64_t, offset);
SAME_SIZE(RegionSubmapInfo64, vm_region_submap_info_data_64_t);
SAME(RegionSubmapInfo64, user_tag, vm_region_submap_info_data_64_t, user_tag);
SAME(RegionSubmapInfo64, is_submap, vm_region_submap_info_data_64_t, is_submap);
static_assert(offsetof(darwin::TaskDyldInfo, padding) ==
                  sizeof(task_dyld_info_data_t) ||
              sizeof(darwin::TaskDyldInfo) == sizeof(task_dyld_info_data_t));
SAME_SIZE(MachTaskBasicInfo, mach_task_basic_info_data_t);
SAME_SIZE(Stat, struct stat);
SAME(Stat, ino, struct stat, st_ino);
SAME(Stat, mtime, struct stat, st_mtimespec);
SAME(Stat, size, struct stat, st_size);
SAME(Stat, blksize, struct stat, st_blksize);
SAME(Dirent, name, struct dirent, d_name);
SAME(Dirent, type, struct dirent, d_type);
SAME_SIZE(Flock, struct flock);
SAME(Flock, type, struct flock, l_type);

VALUE(kSigBus, SIGBUS);
VALUE(kSigSys, SIGSYS);
VALUE(kSigChld, SIGCHLD);
VALUE(kSigUsr1, SIGUSR1);
VALUE(kSigUsr2, SIGUSR2);
VALUE(kSigInfo, SIGINFO);
VALUE(kSigEmt, SIGEMT);
VALUE(kSigStop, SIGSTOP);
VALUE(kSigCont, SIGCONT);
VALUE(kSaOnStack, SA_ONSTACK);
VALUE(kSaResetHand, SA_RESETHAND);
VALUE(kSaNoDefer, SA_NODEFER);
VALUE(kSaSigInfo, SA_SIGINFO);
VALUE(kSsDisable, SS_DISABLE);
VALUE(kSigBlock, SIG_BLOCK);
VALUE(kSigUnblock, SIG_UNBLOCK);
VALUE(kSigSetMask, SIG_SETMASK);
VALUE(kFpeIntDiv, FPE_INTDIV);
VALUE(kSegvMapErr, SEGV_MAPERR);
VALUE(kSegvAccErr, SEGV_ACCERR);
VALUE(kSiUser, SI_USER);
VALUE(kThreadState64, x86_THREAD_STATE64);
VALUE(kFloatState64, x86_FLOAT_STATE64);
VALUE(kExceptionState64, x86_EXCEPTION_STATE64);
VALUE(kThreadState, x86_THREAD_STATE);
VALUE(kThreadState64Count, x86_THREAD_STATE64_COUNT);
VALUE(kExceptionState64Count, x86_EXCEPTION_STATE64_COUNT);
VALUE(kFloatState64Count, x86_FLOAT_STATE64_COUNT);
VALUE(kThreadStateCount, x86_THREAD_STATE_COUNT);
VALUE(kMsgComplex, MACH_MSGH_BITS_COMPLEX);
VALUE(kRcvLarge, MACH_RCV_LARGE);
VALUE(kRcvTimeout, MACH_RCV_TIMEOUT);
VALUE(kSendTimeout, MACH_SEND_TIMEOUT);
VALUE(kMoveSendOnce, MACH_MSG_TYPE_MOVE_SEND_ONCE);
VALUE(kMakeSendOnce, MACH_MSG_TYPE_MAKE_SEND_ONCE);
VALUE(kSendInvalidDest, MACH_SEND_INVALID_DEST);
VALUE(kSendTimedOut, MACH_SEND_TIMED_OUT);
VALUE(kSendInvalidHeader, MACH_SEND_INVALID_HEADER);
VALUE(kSendMsgTooSmall, MACH_SEND_MSG_TOO_SMALL);
VALUE(kRcvInvalidName, MACH_RCV_INVALID_NAME);
VALUE(kRcvTimedOut, MACH_RCV_TIMED_OUT);
VALUE(kRcvTooLarge, MACH_RCV_TOO_LARGE);
VALUE(kRcvPortDied, MACH_RCV_PORT_DIED);
VALUE(kRcvInterrupted, MACH_RCV_INTERRUPTED);
VALUE(kExcBadAccess, EXC_BAD_ACCESS);
VALUE(kExcBadInstruction, EXC_BAD_INSTRUCTION);
VALUE(kExcArithmetic, EXC_ARITHMETIC);
VALUE(kExcSoftware, EXC_SOFTWARE);
VALUE(kExcBreakpoint, EXC_BREAKPOINT);
VALUE(kExcCrash, EXC_CRASH);
VALUE(kExcGuard, EXC_GUARD);
VALUE(kExcTypesCount, EXC_TYPES_COUNT);
VALUE(kBehaviorDefault, EXCEPTION_DEFAULT);
VALUE(kBehaviorState, EXCEPTION_STATE);
VALUE(kBehaviorStateIdentity, EXCEPTION_STATE_IDENTITY);
VALUE(kMachExceptionCodes, static_cast<unsigned>(MACH_EXCEPTION_CODES));
VALUE(kExcI386Div, EXC_I386_DIV);
VALUE(kExcI386InvOp, EXC_I386_INVOP);
VALUE(kExcI386GpFlt, EXC_I386_GPFLT);
VALUE(kExcI386Bpt, EXC_I386_BPT);
VALUE(kExcI386Sgl, EXC_I386_SGL);
VALUE(kExcSoftSignal, EXC_SOFT_SIGNAL);
VALUE(kInvalidAddress, KERN_INVALID_ADDRESS);
VALUE(kProtectionFailure, KERN_PROTECTION_FAILURE);
VALUE(kInvalidName, KERN_INVALID_NAME);
VALUE(kInvalidRight, KERN_INVALID_RIGHT);
VALUE(kTerminated, KERN_TERMINATED);
VALUE(kThreadBasicInfo, THREAD_BASIC_INFO);
VALUE(kThreadIdentifierInfo, THREAD_IDENTIFIER_INFO);
VALUE(kThreadExtendedInfo, THREAD_EXTENDED_INFO);
VALUE(kRegionBasicInfo64, VM_REGION_BASIC_INFO_64);
VALUE(kTaskDyldInfo, TASK_DYLD_INFO);
VALUE(kMachTaskBasicInfo, MACH_TASK_BASIC_INFO);
VALUE(kTaskVmInfo, TASK_VM_INFO);
VALUE(kONonBlock, O_NONBLOCK);
VALUE(kOAppend, O_APPEND);
VALUE(kONoFollow, O_NOFOLLOW);
VALUE(kOCreat, O_CREAT);
VALUE(kOTrunc, O_TRUNC);
VALUE(kOExcl, O_EXCL);
VALUE(kONoCtty, O_NOCTTY);
VALUE(kODirectory, O_DIRECTORY);
VALUE(kOCloExec, O_CLOEXEC);
VALUE(kFGetLk, F_GETLK);
VALUE(kFSetLk, F_SETLK);
VALUE(kFSetLkW, F_SETLKW);
VALUE(kFPreallocate, F_PREALLOCATE);
VALUE(kFGetPath, F_GETPATH);
VALUE(kFFullFsync, F_FULLFSYNC);
VALUE(kFSetProtectionClass, F_SETPROTECTIONCLASS);
VALUE(kFDupFdCloExec, F_DUPFD_CLOEXEC);
VALUE(kAtFdcwd, AT_FDCWD);
VALUE(kAtRemoveDir, AT_REMOVEDIR);
VALUE(kAtSymlinkNoFollow, AT_SYMLINK_NOFOLLOW);
VALUE(kFRdLck, F_RDLCK);
VALUE(kFUnLck, F_UNLCK);
VALUE(kFWrLck, F_WRLCK);
VALUE(kMapFixed, MAP_FIXED);
VALUE(kMapNoReserve, MAP_NORESERVE);
VALUE(kMapAnon, MAP_ANON);
VALUE(kMapJit, MAP_JIT);
VALUE(kMutexSignature, _PTHREAD_MUTEX_SIG_init);
VALUE(kRecursiveMutexSignature, _PTHREAD_RECURSIVE_MUTEX_SIG_init);
VALUE(kErrorCheckMutexSignature, _PTHREAD_ERRORCHECK_MUTEX_SIG_init);
VALUE(kCondSignature, _PTHREAD_COND_SIG_init);
VALUE(kOnceSignature, _PTHREAD_ONCE_SIG_init);
VALUE(kRwlockSignature, _PTHREAD_RWLOCK_SIG_init);

// macho_file.h
static_assert(sizeof(macho::Header) == sizeof(mach_header_64));
static_assert(sizeof(macho::SegmentCommand) == sizeof(segment_command_64));
static_assert(offsetof(macho::SegmentCommand, protection) ==
              offsetof(segment_command_64, initprot));
static_assert(offsetof(macho::SegmentCommand, section_count) ==
              offsetof(segment_command_64, nsects));
static_assert(sizeof(macho::SectionHeader) == sizeof(section_64));
static_assert(offsetof(macho::SectionHeader, flags) ==
              offsetof(section_64, flags));
static_assert(sizeof(macho::Symbol) == sizeof(nlist_64));
static_assert(offsetof(macho::Symbol, value) == offsetof(nlist_64, n_value));
static_assert(sizeof(macho::SymbolTableCommand) == sizeof(symtab_command));
static_assert(sizeof(macho::UuidCommand) == sizeof(uuid_command));
static_assert(macho::kMagic64 == MH_MAGIC_64 &&
              macho::kCpuX86_64 == CPU_TYPE_X86_64);
static_assert(macho::kSegment64 == LC_SEGMENT_64 &&
              macho::kSymbolTable == LC_SYMTAB);
static_assert(macho::kUuid == LC_UUID && macho::kLoadDylib == LC_LOAD_DYLIB);
static_assert(macho::kLoadWeakDylib == LC_LOAD_WEAK_DYLIB &&
              macho::kIdDylib == LC_ID_DYLIB);
static_assert(macho::kMain == LC_MAIN && macho::kDyldInfo == LC_DYLD_INFO);
static_assert(macho::kDyldInfoOnly == LC_DYLD_INFO_ONLY);
static_assert(macho::kChainedFixups == LC_DYLD_CHAINED_FIXUPS);
static_assert(macho::kExecute == MH_EXECUTE && macho::kDylib == MH_DYLIB);
static_assert(macho::kModInitPointers == S_MOD_INIT_FUNC_POINTERS);
static_assert(macho::kInitOffsets == S_INIT_FUNC_OFFSETS);
static_assert(macho::kThreadLocalVariables == S_THREAD_LOCAL_VARIABLES);

// darwin_errors.h: each name of the table has Apple's number.
#define ERROR(name, number) static_assert(name == number);
DARWIN_ERRORS(ERROR)
