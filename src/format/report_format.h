// SPDX-License-Identifier: Apache-2.0
//
// The only definition of the on-disk report.
//
// A report file is
//
//   FileHeader                      fixed size, fixed offsets, little-endian
//   record record record …          up to FileHeader::committed_bytes
//   section section …               appended by later launches, never at a
//   crash
//
// A record is `field:u16, kind:u8, length:LEB128, payload[length]`. Groups
// nest: kGroupBegin opens, kGroupEnd closes and carries the CRC-32C of every
// byte from the first byte of the begin record up to the first byte of the end
// record. A reader skips what it does not know by its length, and reads a file
// that was cut anywhere up to its last whole record.
//
// Ids are never reused. docs/report-format.md and the JSON schema are printed
// from the tables below, and a test compares them.
//
// Crash time: yes (constants and plain data only).
#ifndef CAIRN_FORMAT_REPORT_FORMAT_H_
#define CAIRN_FORMAT_REPORT_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace cairn::format {

inline constexpr uint8_t kMagic[8] =
    {'C', 'A', 'I', 'R', 'N', '\r', '\n', 0x1a};
inline constexpr uint16_t kFormatVersion = 1;
// The oldest reader that shows reports of this version without a wrong word.
inline constexpr uint16_t kLeastReaderVersion = 1;
inline constexpr uint8_t kLittleEndian = 1;

// How the payload of a record is to be read.
enum class Kind : uint8_t {
  kUnsigned = 1,  // LEB128
  kSigned = 2,    // zig-zag LEB128
  kAddress = 3,   // LEB128, printed as "0x…"
  kString =
      4,       // UTF-8 bytes, no terminator; bad bytes are the reader's to mend
  kBytes = 5,  // raw bytes
  kPacked =
      6,  // LEB128 values back to back; their meaning belongs to the field
  kGroupBegin = 7,  // empty
  kGroupEnd = 8,    // u32, CRC-32C, little-endian
};

// Longest payload a writer emits in one record and a reader accepts.
inline constexpr uint64_t kMaxPayloadBytes = 1u << 20;
// Deepest nesting of groups.
inline constexpr int kMaxGroupDepth = 8;
// Longest record header: field, kind, and a length of at most 5 LEB128 bytes.
inline constexpr size_t kMaxRecordHeaderBytes = 8;

// V(name, id, kind, parent, text): one line a field. `parent` is the group that
// holds it, kNone at the top. `text` goes into docs/report-format.md.
#define CAIRN_REPORT_FIELDS(V)                                                 \
  V(App, 1, Group, None, "What the app said of itself at install")             \
  V(AppId, 2, String, App, "Identifier, such as a reverse domain name")        \
  V(AppVersion, 3, String, App, "Version as it was at start")                  \
  V(AppBuild, 4, String, App, "Build as it was at start")                      \
  V(AppEnvironment,                                                            \
    5,                                                                         \
    String,                                                                    \
    App,                                                                       \
    "Environment as it was at start, such as production")                      \
                                                                               \
  V(Host, 16, Group, None, "The machine")                                      \
  V(HostOs, 17, String, Host, "Operating system with its version")             \
  V(HostKernel, 18, String, Host, "Kernel with its version")                   \
  V(HostCpu, 19, String, Host, "Processor's name")                             \
  V(HostCores, 20, Unsigned, Host, "Cores online")                             \
  V(HostMemoryBytes, 21, Unsigned, Host, "Memory installed, bytes")            \
  V(HostPageBytes, 22, Unsigned, Host, "Page size, bytes")                     \
  V(HostName, 23, String, Host, "Reserved; no writer emits it")                \
  V(HostCpuType, 24, String, Host, "Processor type and subtype by name")       \
                                                                               \
  V(Process, 32, Group, None, "The process")                                   \
  V(ProcessId, 33, Unsigned, Process, "Process id in its own namespace")       \
  V(ProcessName, 34, String, Process, "Name as the kernel has it")             \
  V(ProcessPath, 35, String, Process, "Path of the executable")                \
  V(ProcessArgument,                                                           \
    36,                                                                        \
    String,                                                                    \
    Process,                                                                   \
    "One command-line argument; repeated, in order")                           \
  V(ProcessInstallTimeNs,                                                      \
    37,                                                                        \
    Unsigned,                                                                  \
    Process,                                                                   \
    "Unix time at install, nanoseconds")                                       \
  V(ProcessParentId, 38, Unsigned, Process, "Parent's process id at install")  \
                                                                               \
  V(Image,                                                                     \
    48,                                                                        \
    Group,                                                                     \
    None,                                                                      \
    "One loaded image; its index is its order of appearance, from 0")          \
  V(ImageAddress,                                                              \
    49,                                                                        \
    Address,                                                                   \
    Image,                                                                     \
    "Base address: the start of the lowest loaded segment")                    \
  V(ImageBytes,                                                                \
    50,                                                                        \
    Unsigned,                                                                  \
    Image,                                                                     \
    "From the base to the end of the highest loaded segment")                  \
  V(ImagePath, 51, String, Image, "Path as the loader has it")                 \
  V(ImageId, 52, Bytes, Image, "Build-id or UUID")                             \
  V(ImageArchitecture,                                                         \
    53,                                                                        \
    Unsigned,                                                                  \
    Image,                                                                     \
    "Architecture, when it differs from the file's")                           \
  V(ImageSegments,                                                             \
    54,                                                                        \
    Packed,                                                                    \
    Image,                                                                     \
    "Per loaded segment: offset from base, bytes, flags (rwx = 4 2 1)")        \
  V(ImageLinkBias,                                                             \
    55,                                                                        \
    Signed,                                                                    \
    Image,                                                                     \
    "Base address minus the lowest linked address (the slide)")                \
  V(ImageIdIsDerived,                                                          \
    56,                                                                        \
    Unsigned,                                                                  \
    Image,                                                                     \
    "1: no id in the file, derived from the first page of text")               \
  V(ImageUnloaded,                                                             \
    64,                                                                        \
    Unsigned,                                                                  \
    None,                                                                      \
    "Index of an image that has been unloaded since; earlier writers only: "   \
    "it "                                                                      \
    "stands under no checksum")                                                \
  V(UnloadedImages, 65, Group, None, "Images that have been unloaded since")   \
  V(UnloadedImage, 66, Unsigned, UnloadedImages, "Index of one; repeated")     \
                                                                               \
  V(Event, 80, Group, None, "What happened")                                   \
  V(EventKind, 81, Unsigned, Event, "See EventKind")                           \
  V(EventTimeNs, 82, Unsigned, Event, "Unix time, nanoseconds")                \
  V(EventUptimeMs,                                                             \
    83,                                                                        \
    Unsigned,                                                                  \
    Event,                                                                     \
    "Since the start of the process, milliseconds")                            \
  V(EventProcessId,                                                            \
    84,                                                                        \
    Unsigned,                                                                  \
    Event,                                                                     \
    "Process id, where it is not the installer's (a forked child)")            \
  V(EventMessage, 85, String, Event, "Message of a capture")                   \
  V(Signal, 96, Group, Event, "The signal")                                    \
  V(SignalNumber, 97, Unsigned, Signal, "si_signo")                            \
  V(SignalCode, 98, Signed, Signal, "si_code")                                 \
  V(SignalErrno, 99, Signed, Signal, "si_errno, when not 0")                   \
  V(SignalFaultAddress,                                                        \
    100,                                                                       \
    Address,                                                                   \
    Signal,                                                                    \
    "si_addr, or the address computed for it")                                 \
  V(SignalFaultKind, 101, Unsigned, Signal, "See FaultKind")                   \
  V(SignalSenderPid,                                                           \
    102,                                                                       \
    Unsigned,                                                                  \
    Signal,                                                                    \
    "si_pid of a signal that was sent")                                        \
  V(SignalSenderUid,                                                           \
    103,                                                                       \
    Unsigned,                                                                  \
    Signal,                                                                    \
    "si_uid of a signal that was sent")                                        \
  V(SignalTrap, 104, Unsigned, Signal, "Processor's trap number")              \
  V(SignalTrapError, 105, Unsigned, Signal, "Processor's error code")          \
  V(SignalSyscall, 106, Signed, Signal, "System call number of a SIGSYS")      \
  V(Mach, 112, Group, Event, "The Mach exception")                             \
  V(MachException, 113, Unsigned, Mach, "exception_type_t")                    \
  V(MachCode, 114, Signed, Mach, "Code, 64 bits")                              \
  V(MachSubcode, 115, Address, Mach, "Subcode, 64 bits")                       \
  V(Exception, 120, Group, Event, "The language exception that nobody caught") \
  V(ExceptionTypeMangled,                                                      \
    121,                                                                       \
    String,                                                                    \
    Exception,                                                                 \
    "Type as the runtime names it")                                            \
  V(ExceptionMessage, 122, String, Exception, "what(), or the reason")         \
  V(AbortMessage,                                                              \
    128,                                                                       \
    String,                                                                    \
    Event,                                                                     \
    "The runtime's own last words (assert, abort)")                            \
                                                                               \
  V(Thread,                                                                    \
    144,                                                                       \
    Group,                                                                     \
    None,                                                                      \
    "One thread; the crashed one first, and a later group with its id adds "   \
    "to it")                                                                   \
  V(ThreadId, 145, Unsigned, Thread, "Kernel's thread id")                     \
  V(ThreadName, 146, String, Thread, "Name")                                   \
  V(ThreadCrashed, 147, Unsigned, Thread, "1 for a thread that crashed")       \
  V(ThreadState,                                                               \
    148,                                                                       \
    Unsigned,                                                                  \
    Thread,                                                                    \
    "Run state as the kernel's letter (R S D T t Z X)")                        \
  V(ThreadFrozenBy, 149, Unsigned, Thread, "See FrozenBy")                     \
  V(ThreadCpuTimeMs, 150, Unsigned, Thread, "CPU time used, milliseconds")     \
  V(ThreadRegisters,                                                           \
    151,                                                                       \
    Packed,                                                                    \
    Thread,                                                                    \
    "Mask of registers that follow, mask of those that differ from the "       \
    "previous thread's, then zig-zag differences, in the order of "            \
    "register_names.h")                                                        \
  V(ThreadFrames,                                                              \
    152,                                                                       \
    Packed,                                                                    \
    Thread,                                                                    \
    "Node shared with an earlier stack (0: none), then per new node, "         \
    "outermost first: image index + 1 (0: none), offset in it or address, "    \
    "trust | kind << 4")                                                       \
  V(ThreadWalkEnd, 153, Unsigned, Thread, "See WalkEnd")                       \
  V(ThreadFramesDropped,                                                       \
    154,                                                                       \
    Packed,                                                                    \
    Thread,                                                                    \
    "Position of the gap, innermost first, and how many frames it had")        \
  V(ThreadStack, 155, Group, Thread, "Bytes of the thread's stack")            \
  V(ThreadStackAddress, 156, Address, ThreadStack, "Where the bytes were")     \
  V(ThreadStackBytes, 157, Bytes, ThreadStack, "The bytes")                    \
  V(ThreadStackLow,                                                            \
    158,                                                                       \
    Address,                                                                   \
    Thread,                                                                    \
    "Lowest address of the thread's stack, when known")                        \
  V(ThreadStackHigh,                                                           \
    159,                                                                       \
    Address,                                                                   \
    Thread,                                                                    \
    "End of the thread's stack, when known")                                   \
                                                                               \
  V(Memory, 176, Group, None, "Memory near a register or the fault")           \
  V(MemoryAddress, 177, Address, Memory, "Where the bytes were")               \
  V(MemoryBytes, 178, Bytes, Memory, "The bytes")                              \
  V(MemoryReason, 179, String, Memory, "Register's name, or fault")            \
                                                                               \
  V(Key, 192, Group, None, "A key the app set")                                \
  V(KeyName, 193, String, Key, "Name")                                         \
  V(KeyValue, 194, String, Key, "Value")                                       \
  V(Breadcrumb,                                                                \
    200,                                                                       \
    Group,                                                                     \
    None,                                                                      \
    "Something the app did before, oldest first")                              \
  V(BreadcrumbTimeNs, 201, Unsigned, Breadcrumb, "Unix time, nanoseconds")     \
  V(BreadcrumbMessage, 202, String, Breadcrumb, "Message")                     \
  V(BreadcrumbCategory, 203, String, Breadcrumb, "Category")                   \
                                                                               \
  V(Cut, 224, Group, None, "Something a limit cut")                            \
  V(CutWhat, 225, Unsigned, Cut, "See CutWhat")                                \
  V(CutKept, 226, Unsigned, Cut, "How many were kept")                         \
  V(CutDropped,                                                                \
    227,                                                                       \
    Unsigned,                                                                  \
    Cut,                                                                       \
    "How many were dropped; 0 when that is unknown")                           \
  V(CutThreadId, 228, Unsigned, Cut, "Thread concerned")                       \
                                                                               \
  V(Stage, 240, Group, None, "How the writing went")                           \
  V(StageDone,                                                                 \
    241,                                                                       \
    Unsigned,                                                                  \
    Stage,                                                                     \
    "1: the crashed thread's own part is whole, 2: all is")                    \
  V(StageFreeze,                                                               \
    242,                                                                       \
    Unsigned,                                                                  \
    Stage,                                                                     \
    "How the others were frozen, see FrozenBy")                                \
  V(StageErrno, 243, Signed, Stage, "errno that made the writer fall back")    \
  V(StageElapsedNs,                                                            \
    244,                                                                       \
    Unsigned,                                                                  \
    Stage,                                                                     \
    "Since the handler was entered, nanoseconds")                              \
  V(StageTimedOut,                                                             \
    245,                                                                       \
    Unsigned,                                                                  \
    Stage,                                                                     \
    "1: the time limit ended the writing")                                     \
                                                                               \
  V(Symbols, 320, Group, None, "Names of frames; only in an appended section") \
  V(Symbol, 321, Group, Symbols, "Names for the frames of some nodes")         \
  V(SymbolNodes, 322, Packed, Symbol, "Frame nodes that this names")           \
  V(SymbolFrame,                                                               \
    323,                                                                       \
    Group,                                                                     \
    Symbol,                                                                    \
    "One frame, innermost (most inlined) first")                               \
  V(SymbolFunction, 324, String, SymbolFrame, "Function, demangled")           \
  V(SymbolFunctionMangled,                                                     \
    325,                                                                       \
    String,                                                                    \
    SymbolFrame,                                                               \
    "Function as the file has it, when it differs")                            \
  V(SymbolOffset,                                                              \
    326,                                                                       \
    Unsigned,                                                                  \
    SymbolFrame,                                                               \
    "Offset of the address from the function's start")                         \
  V(SymbolNameSure,                                                            \
    327,                                                                       \
    Unsigned,                                                                  \
    SymbolFrame,                                                               \
    "0: the file's id did not match or the name is a guess")                   \
  V(SymbolFile, 328, String, SymbolFrame, "Source file")                       \
  V(SymbolLine, 329, Unsigned, SymbolFrame, "Line, from 1")                    \
  V(SymbolColumn, 330, Unsigned, SymbolFrame, "Column, from 1")                \
  V(SymbolInlined,                                                             \
    331,                                                                       \
    Unsigned,                                                                  \
    SymbolFrame,                                                               \
    "1: inlined into the next frame")                                          \
  V(SymbolsImage, 336, Group, Symbols, "What was found for an image")          \
  V(SymbolsImageIndex, 337, Unsigned, SymbolsImage, "Image index")             \
  V(SymbolsImageStatus,                                                        \
    338,                                                                       \
    String,                                                                    \
    SymbolsImage,                                                              \
    "ok, stripped, missing, mismatch, or why not")

// Field ids. 0 is never a field: a run of zero bytes ends the records.
enum class Field : uint16_t {
  kNone = 0,
#define CAIRN_V(name, id, kind, parent, text) k##name = id,
  CAIRN_REPORT_FIELDS(CAIRN_V)
#undef CAIRN_V
};

enum class Architecture : uint16_t {
  kUnknown = 0,
  kX86_64 = 1,
  kI386 = 2,
  kArm64 = 3,
  kArm = 4
};
enum class OperatingSystem : uint16_t {
  kUnknown = 0,
  kLinux = 1,
  kMac = 2,
  kIos = 3
};

// The enumerations below are stored as unsigned values. V(name, value, json).
// clang-format off
#define CAIRN_EVENT_KINDS(V) \
  V(Crash, 1, "crash")       \
  V(Hang, 2, "hang")         \
  V(Capture, 3, "capture")   \
  V(Survived, 4, "survived")
#define CAIRN_FAULT_KINDS(V)            \
  V(None, 0, "none")                    \
  V(NullPage, 1, "null_page")           \
  V(StackGuard, 2, "stack_guard")       \
  V(NonCanonical, 3, "non_canonical")   \
  V(Unmapped, 4, "unmapped")            \
  V(Protected, 5, "protected")          \
  V(NotExecutable, 6, "not_executable") \
  V(Misaligned, 7, "misaligned")        \
  V(FreedMapping, 8, "freed_mapping")
#define CAIRN_FROZEN_BYS(V) \
  V(None, 0, "none")        \
  V(Self, 1, "self")        \
  V(Ptrace, 2, "ptrace")    \
  V(Signal, 3, "signal")    \
  V(Proc, 4, "proc")        \
  V(Mach, 5, "mach")
#define CAIRN_WALK_ENDS(V)         \
  V(EndOfStack, 0, "end_of_stack") \
  V(NoRule, 1, "no_rule")          \
  V(Unreadable, 2, "unreadable")   \
  V(Loop, 3, "loop")               \
  V(Limit, 4, "limit")
#define CAIRN_FRAME_TRUSTS(V)         \
  V(Context, 0, "context")            \
  V(Cfi, 1, "cfi")                    \
  V(Compact, 2, "compact")            \
  V(Ehabi, 3, "ehabi")                \
  V(FramePointer, 4, "frame_pointer") \
  V(LinkRegister, 5, "link_register") \
  V(Scan, 6, "scan")
// What a frame's address is: the instruction that faulted or was about to run;
// an address to return to (behind the call); the instruction at which a signal
// interrupted the function.
#define CAIRN_FRAME_KINDS(V)       \
  V(Fault, 0, "fault")             \
  V(Return, 1, "return")           \
  V(Interrupted, 2, "interrupted")
#define CAIRN_CUT_WHATS(V)          \
  V(Frames, 1, "frames")            \
  V(Threads, 2, "threads")          \
  V(Images, 3, "images")            \
  V(StackBytes, 4, "stack_bytes")   \
  V(MemoryBytes, 5, "memory_bytes") \
  V(Breadcrumbs, 6, "breadcrumbs")  \
  V(Keys, 7, "keys")                \
  V(Arguments, 8, "arguments")      \
  V(SlotBytes, 9, "slot_bytes")     \
  V(Time, 10, "time")               \
  V(SecondPart, 11, "second_part")  \
  V(String, 12, "string")           \
  V(FrameNodes, 13, "frame_nodes")
// clang-format on

#define CAIRN_V(name, value, json) k##name = value,
enum class EventKind : uint8_t { CAIRN_EVENT_KINDS(CAIRN_V) };
enum class FaultKind : uint8_t { CAIRN_FAULT_KINDS(CAIRN_V) };
enum class FrozenBy : uint8_t { CAIRN_FROZEN_BYS(CAIRN_V) };
enum class WalkEnd : uint8_t { CAIRN_WALK_ENDS(CAIRN_V) };
enum class FrameTrust : uint8_t { CAIRN_FRAME_TRUSTS(CAIRN_V) };
enum class FrameKind : uint8_t { CAIRN_FRAME_KINDS(CAIRN_V) };
enum class CutWhat : uint8_t { CAIRN_CUT_WHATS(CAIRN_V) };
#undef CAIRN_V

// Life of a slot. Only ever rises while the slot's process lives.
enum class SlotState : uint32_t {
  kPrepared = 0,  // file made and mapped, nothing to read yet
  kArmed = 1,     // facts and images are in, waiting for a crash
  kClaimed = 2,   // a crash or a capture owns it
  kSealed = 3,    // the writer is done
};

// Who a process is, told apart from every other process of this machine:
// process ids and start times repeat across boots and namespaces.
struct ProcessIdentity {
  uint8_t boot_id[16];     // /proc/sys/kernel/random/boot_id; zero when unknown
  uint64_t pid_namespace;  // inode of /proc/self/ns/pid; zero when unknown
  uint64_t start_ticks;    // /proc/PID/stat field 22, clock ticks since boot
  uint32_t pid;            // in its own namespace
  uint32_t reserved;
};
static_assert(sizeof(ProcessIdentity) == 40);

// The first bytes of a file. Every multi-byte value is little-endian.
struct FileHeader {
  uint8_t magic[8];               // kMagic
  uint16_t format_version;        // kFormatVersion
  uint16_t least_reader_version;  // kLeastReaderVersion
  uint16_t header_bytes;          // where the records begin
  uint8_t byte_order;             // kLittleEndian
  uint8_t pointer_bytes;          // 4 or 8
  uint16_t architecture;          // Architecture
  uint16_t operating_system;      // OperatingSystem
  uint32_t header_crc;      // CRC-32C of the bytes before it and of report_uuid
  uint8_t report_uuid[16];  // made at install, RFC 9562 version 4
  ProcessIdentity installer;   // who made the slot
  ProcessIdentity owner;       // who claimed it; zero before
  uint64_t first_part_bytes;   // with real blocks behind them, header included
  uint64_t second_part_bytes;  // sparse, behind the first part
  uint64_t install_bytes;      // length of what install wrote, header included
  // Changed while the process runs; each by one atomic store.
  uint64_t claim;            // 0, or pid | start_ticks << 32 of the owner
  uint64_t committed_bytes;  // readable up to here, header included
  uint32_t state;            // SlotState
  uint32_t reserved0;
  uint8_t reserved[344];
};
static_assert(sizeof(FileHeader) == 512);
static_assert(offsetof(FileHeader, header_crc) == 20);
static_assert(offsetof(FileHeader, report_uuid) == 24);
static_assert(offsetof(FileHeader, installer) == 40);
static_assert(offsetof(FileHeader, owner) == 80);
static_assert(offsetof(FileHeader, claim) == 144);
static_assert(offsetof(FileHeader, committed_bytes) == 152);
static_assert(offsetof(FileHeader, state) == 160);

// A section that a later launch appended. Its payload is records.
struct SectionHeader {
  uint8_t magic[4];  // kSectionMagic
  uint16_t version;  // 1
  uint16_t reserved;
  uint64_t payload_bytes;  // behind this header
  uint32_t payload_crc;    // CRC-32C
  uint32_t header_crc;     // CRC-32C of the bytes before it
};
static_assert(sizeof(SectionHeader) == 24);
inline constexpr uint8_t kSectionMagic[4] = {'C', 'S', 'E', 'C'};

inline constexpr const char* kSlotSuffix = ".slot";
inline constexpr const char* kReportSuffix = ".cairn";

}  // namespace cairn::format

#endif  // CAIRN_FORMAT_REPORT_FORMAT_H_
