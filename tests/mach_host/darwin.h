// SPDX-License-Identifier: Apache-2.0
//
// Darwin's x86_64 structures and constants as the host fills and reads them.
// Every size, offset and value is compared with Apple's own headers when
// layout_check.cc is compiled for x86_64-macos.
#ifndef MACH_HOST_DARWIN_H_
#define MACH_HOST_DARWIN_H_

#include <cstdint>

namespace darwin {

// <sys/signal.h>
inline constexpr int kSigHup = 1, kSigInt = 2, kSigQuit = 3, kSigIll = 4,
                     kSigTrap = 5, kSigAbrt = 6, kSigEmt = 7, kSigFpe = 8,
                     kSigKill = 9, kSigBus = 10, kSigSegv = 11, kSigSys = 12,
                     kSigPipe = 13, kSigAlrm = 14, kSigTerm = 15, kSigUrg = 16,
                     kSigStop = 17, kSigTstp = 18, kSigCont = 19, kSigChld = 20,
                     kSigTtin = 21, kSigTtou = 22, kSigIo = 23, kSigXcpu = 24,
                     kSigXfsz = 25, kSigVtalrm = 26, kSigProf = 27,
                     kSigWinch = 28, kSigInfo = 29, kSigUsr1 = 30,
                     kSigUsr2 = 31;
inline constexpr int kSaOnStack = 0x1, kSaRestart = 0x2, kSaResetHand = 0x4,
                     kSaNoCldStop = 0x8, kSaNoDefer = 0x10, kSaNoCldWait = 0x20,
                     kSaSigInfo = 0x40;
inline constexpr int kSsOnStack = 1, kSsDisable = 4;
inline constexpr int kSigBlock = 1, kSigUnblock = 2, kSigSetMask = 3;
inline constexpr int kFpeIntDiv = 7, kFpeFltDiv = 1, kIllIllOpc = 1,
                     kSegvMapErr = 1, kSegvAccErr = 2, kBusAdrAln = 1,
                     kTrapBrkpt = 1, kSiUser = 0x10001;

struct StackT {
  std::uint64_t sp;
  std::uint64_t size;
  std::int32_t flags;
  std::int32_t padding;
};

struct SigAction {
  std::uint64_t handler;
  std::uint32_t mask;
  std::int32_t flags;
};

struct SigInfo {
  std::int32_t signo, error, code, pid;
  std::uint32_t uid;
  std::int32_t status;
  std::uint64_t addr;
  std::uint64_t value;
  std::int64_t band;
  std::uint64_t padding[7];
};

// <mach/i386/_structs.h>
struct ExceptionState64 {
  std::uint16_t trapno, cpu;
  std::uint32_t err;
  std::uint64_t faultvaddr;
};

struct ThreadState64 {
  std::uint64_t rax, rbx, rcx, rdx, rdi, rsi, rbp, rsp, r8, r9, r10, r11, r12,
      r13, r14, r15, rip, rflags, cs, fs, gs;
};

// The FXSAVE area between two pairs of words of the kernel's own.
struct FloatState64 {
  std::int32_t reserved[2];
  std::uint8_t fxsave[512];
  std::int32_t reserved1;
};

struct MContext64 {
  ExceptionState64 es;
  ThreadState64 ss;
  FloatState64 fs;
};

struct UContext {
  std::int32_t onstack;
  std::uint32_t sigmask;
  StackT stack;
  std::uint64_t link;
  std::uint64_t mcsize;
  std::uint64_t mcontext;
};

// <mach/i386/thread_status.h>, <mach/thread_status.h>
inline constexpr int kThreadState64 = 4, kFloatState64 = 5,
                     kExceptionState64 = 6, kThreadState = 7, kFloatState = 8,
                     kExceptionState = 9;
inline constexpr std::uint32_t kThreadState64Count = 42,
                               kExceptionState64Count = 4,
                               kFloatState64Count = 131, kThreadStateCount = 44;

// <mach/message.h>
struct MsgHeader {
  std::uint32_t bits, size, remote, local, voucher;
  std::int32_t id;
};

#pragma pack(push, 4)
struct PortDescriptor {
  std::uint32_t name, pad1;
  std::uint16_t pad2;
  std::uint8_t disposition, type;
};
#pragma pack(pop)

inline constexpr std::uint32_t kMsgComplex = 0x80000000u;
inline constexpr int kSendMsg = 1, kRcvMsg = 2, kRcvLarge = 4,
                     kSendTimeout = 0x10, kRcvTimeout = 0x100,
                     kRcvInterrupt = 0x400;
inline constexpr int kMoveReceive = 16, kMoveSend = 17, kMoveSendOnce = 18,
                     kCopySend = 19, kMakeSend = 20, kMakeSendOnce = 21;
inline constexpr int kSendInvalidDest = 0x10000003, kSendTimedOut = 0x10000004,
                     kSendInvalidHeader = 0x10000010,
                     kSendMsgTooSmall = 0x10000008,
                     kRcvInvalidName = 0x10004002, kRcvTimedOut = 0x10004003,
                     kRcvTooLarge = 0x10004004, kRcvPortDied = 0x10004009,
                     kRcvInterrupted = 0x10004005;

// <mach/exc.defs>, <mach/mach_exc.defs>: subsystems 2401 and 2405; the layouts
// are what MIG makes of them (__Request__…_t), packed to four bytes.
inline constexpr int kExcRaise = 2401, kExcRaiseState = 2402,
                     kExcRaiseStateIdentity = 2403, kMachExcRaise = 2405,
                     kMachExcRaiseState = 2406,
                     kMachExcRaiseStateIdentity = 2407;
struct Ndr {
  std::uint8_t bytes[8];
};
inline constexpr Ndr kNdr = {{0, 0, 0, 0, 1, 0, 0, 0}};

// <mach/exception_types.h>
inline constexpr int kExcBadAccess = 1, kExcBadInstruction = 2,
                     kExcArithmetic = 3, kExcEmulation = 4, kExcSoftware = 5,
                     kExcBreakpoint = 6, kExcSyscall = 7, kExcMachSyscall = 8,
                     kExcRpcAlert = 9, kExcCrash = 10, kExcResource = 11,
                     kExcGuard = 12, kExcCorpseNotify = 13, kExcTypesCount = 14;
inline constexpr int kBehaviorDefault = 1, kBehaviorState = 2,
                     kBehaviorStateIdentity = 3;
inline constexpr std::uint32_t kMachExceptionCodes = 0x80000000u;
inline constexpr int kExcI386Div = 1, kExcI386InvOp = 1, kExcI386GpFlt = 13,
                     kExcI386Bpt = 2, kExcI386Sgl = 1, kExcSoftSignal = 0x10003;

// <mach/kern_return.h>
inline constexpr int kSuccess = 0, kInvalidAddress = 1, kProtectionFailure = 2,
                     kNoSpace = 3, kInvalidArgument = 4, kFailure = 5,
                     kResourceShortage = 6, kNotReceiver = 7, kNoAccess = 8,
                     kInvalidName = 15, kInvalidTask = 16, kInvalidRight = 17,
                     kInvalidValue = 18, kUrefsOverflow = 19,
                     kInvalidCapability = 20, kAborted = 14, kTerminated = 37,
                     kNotSupported = 46;

// <mach/thread_info.h>
inline constexpr int kThreadBasicInfo = 3, kThreadIdentifierInfo = 4,
                     kThreadExtendedInfo = 5;
struct TimeValue {
  std::int32_t seconds, microseconds;
};
struct ThreadBasicInfo {
  TimeValue user_time, system_time;
  std::int32_t cpu_usage, policy, run_state, flags, suspend_count, sleep_time;
};
struct ThreadIdentifierInfo {
  std::uint64_t thread_id, thread_handle, dispatch_qaddr;
};
#pragma pack(push, 4)
struct ThreadExtendedInfo {
  std::uint64_t user_time, system_time;
  std::int32_t cpu_usage, policy, run_state, flags, sleep_time, curpri,
      priority, maxpriority;
  char name[64];
};
#pragma pack(pop)
inline constexpr int kThStateRunning = 1, kThStateStopped = 2,
                     kThStateWaiting = 3;

// <mach/vm_region.h>
#pragma pack(push, 4)
struct RegionBasicInfo64 {
  std::int32_t protection, max_protection;
  std::uint32_t inheritance;
  std::uint32_t shared, reserved;
  std::uint64_t offset;
  std::int32_t behavior;
  std::uint16_t user_wired_count;
};
struct RegionSubmapInfo64 {
  std::int32_t protection, max_protection;
  std::uint32_t inheritance;
  std::uint64_t offset;
  std::uint32_t user_tag, pages_resident, pages_shared_now_private,
      pages_swapped_out, pages_dirtied, ref_count;
  std::uint16_t shadow_depth;
  std::uint8_t external_pager, share_mode;
  std::uint32_t is_submap;
  std::int32_t behavior;
  std::uint32_t object_id;
  std::uint16_t user_wired_count;
  std::uint16_t flags;
  std::uint32_t pages_reusable;
  std::uint64_t object_id_full;
};
#pragma pack(pop)
inline constexpr int kRegionBasicInfo64 = 9;

// <mach/task_info.h>
inline constexpr int kTaskDyldInfo = 17, kMachTaskBasicInfo = 20,
                     kTaskVmInfo = 22;
struct TaskDyldInfo {
  std::uint64_t all_image_info_addr, all_image_info_size;
  std::int32_t all_image_info_format;
  std::int32_t padding;
};
#pragma pack(push, 4)
struct MachTaskBasicInfo {
  std::uint64_t virtual_size, resident_size, resident_size_max;
  TimeValue user_time, system_time;
  std::int32_t policy, suspend_count;
};
#pragma pack(pop)

// <sys/stat.h> with 64-bit inodes
struct TimeSpec {
  std::int64_t sec, nsec;
};
struct Stat {
  std::int32_t dev;
  std::uint16_t mode, nlink;
  std::uint64_t ino;
  std::uint32_t uid, gid;
  std::int32_t rdev;
  TimeSpec atime, mtime, ctime, birthtime;
  std::int64_t size, blocks;
  std::int32_t blksize;
  std::uint32_t flags, gen;
  std::int32_t lspare;
  std::int64_t qspare[2];
};

// <sys/dirent.h> with 64-bit inodes
struct Dirent {
  std::uint64_t ino, seekoff;
  std::uint16_t reclen, namlen;
  std::uint8_t type;
  char name[1024];
};

// <sys/fcntl.h>
inline constexpr int kONonBlock = 0x4, kOAppend = 0x8, kOSync = 0x80,
                     kONoFollow = 0x100, kOCreat = 0x200, kOTrunc = 0x400,
                     kOExcl = 0x800, kONoCtty = 0x20000, kODirectory = 0x100000,
                     kOCloExec = 0x1000000;
inline constexpr int kFDupFd = 0, kFGetFd = 1, kFSetFd = 2, kFGetFl = 3,
                     kFSetFl = 4, kFGetLk = 7, kFSetLk = 8, kFSetLkW = 9,
                     kFPreallocate = 42, kFGetPath = 50, kFFullFsync = 51,
                     kFSetProtectionClass = 64, kFDupFdCloExec = 67,
                     kFOfdSetLk = 90, kFOfdSetLkW = 91, kFOfdGetLk = 92;
inline constexpr int kAtFdcwd = -2, kAtRemoveDir = 0x80,
                     kAtSymlinkNoFollow = 0x20;
struct Flock {
  std::int64_t start, len;
  std::int32_t pid;
  std::int16_t type, whence;
};
inline constexpr int kFRdLck = 1, kFUnLck = 2, kFWrLck = 3;

// <sys/mman.h>
inline constexpr int kMapShared = 1, kMapPrivate = 2, kMapFixed = 0x10,
                     kMapNoReserve = 0x40, kMapJit = 0x800, kMapAnon = 0x1000;

// <pthread/introspection.h>
inline constexpr unsigned kHookCreate = 1, kHookStart = 2, kHookTerminate = 3,
                          kHookDestroy = 4;

// Static initialisers' signatures, <pthread/pthread_impl.h>
inline constexpr std::int64_t kMutexSignature = 0x32AAABA7,
                              kRecursiveMutexSignature = 0x32AAABA2,
                              kErrorCheckMutexSignature = 0x32AAABA1,
                              kCondSignature = 0x3CB0B1BB,
                              kOnceSignature = 0x30B1BCBA,
                              kRwlockSignature = 0x2DA8B3B4;

}  // namespace darwin

#endif  // MACH_HOST_DARWIN_H_
