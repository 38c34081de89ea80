// SPDX-License-Identifier: Apache-2.0
//
// A report as read: plain data, nothing of the file left.
//
// Ordinary code. Absent means unknown: std::optional, or an empty string or
// list.
#ifndef CAIRN_REPORT_REPORT_H_
#define CAIRN_REPORT_REPORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/report_format.h"

namespace cairn::report {

using Uuid = std::array<uint8_t, 16>;

struct App {
  std::string id, version, build, environment;
};

struct Host {
  std::string os, kernel, cpu, cpu_type;
  std::optional<uint64_t> cores, memory_bytes, page_bytes;
};

struct Process {
  std::optional<uint64_t> pid, parent_pid, install_time_ns, uptime_ms;
  std::string name, path;
  std::vector<std::string> args;
};

struct Segment {
  uint64_t offset = 0, bytes = 0;
  uint32_t flags = 0;
};

struct Image {
  uint64_t address = 0, bytes = 0;
  int64_t link_bias = 0;
  std::string path;
  std::vector<uint8_t> id;
  bool id_is_derived = false;
  bool unloaded = false;
  format::Architecture architecture = format::Architecture::kUnknown;
  std::vector<Segment> segments;
};

struct Signal {
  uint32_t number = 0;
  int64_t code = 0;
  std::optional<uint64_t> fault_address, sender_pid, sender_uid, trap,
      trap_error;
  std::optional<int64_t> error, syscall;
  std::optional<format::FaultKind> fault_kind;
};

struct MachException {
  uint32_t exception = 0;
  int64_t code = 0;
  uint64_t subcode = 0;
};

struct Exception {
  std::string type_mangled, message;
};

// A name for a frame: the frame itself last, calls inlined into it before.
struct SymbolFrame {
  std::string function, function_mangled, file;
  std::optional<uint64_t> offset;
  uint32_t line = 0, column = 0;
  bool name_sure = true;
  bool inlined = false;
};

struct Frame {
  uint64_t address = 0;           // as recorded, never reduced
  std::optional<uint32_t> image;  // index into Report::images
  uint64_t image_offset = 0;
  format::FrameKind kind = format::FrameKind::kReturn;
  format::FrameTrust trust = format::FrameTrust::kScan;
  uint32_t node = 0;                 // in the trie; equal node, equal name
  std::vector<SymbolFrame> symbols;  // innermost first; empty: no name
};

struct Thread {
  uint64_t id = 0;
  std::string name;
  bool crashed = false;
  char state = 0;  // the kernel's letter, 0: unknown
  format::FrozenBy frozen_by = format::FrozenBy::kNone;
  std::optional<uint64_t> cpu_time_ms;
  // Index and value, in the order of format/register_names.h.
  std::vector<std::pair<uint32_t, uint64_t>> registers;
  std::vector<Frame> frames;  // innermost first
  std::optional<format::WalkEnd> end;
  uint64_t gap_position = 0, gap_frames = 0;
  std::optional<uint64_t> stack_low, stack_high;  // bounds of the whole stack
  uint64_t stack_address = 0;
  std::vector<uint8_t> stack;
};

struct Memory {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  std::string reason;
};

struct Breadcrumb {
  uint64_t time_ns = 0;
  std::string message, category;
};

struct Cut {
  format::CutWhat what{};
  uint64_t kept = 0, dropped = 0;
  std::optional<uint64_t> thread_id;
};

struct Stage {
  uint32_t done = 0;  // 1 crashed thread's own part, 2 all
  format::FrozenBy freeze = format::FrozenBy::kNone;
  std::optional<int64_t> error;
  uint64_t elapsed_ns = 0;
  bool timed_out = false;
};

// Something in the file that could not be used; shown to people, never dropped.
struct Problem {
  uint64_t offset = 0;  // in the file
  std::string text;
};

struct Report {
  uint16_t format_version = 0;
  Uuid uuid{};
  format::Architecture architecture = format::Architecture::kUnknown;
  format::OperatingSystem operating_system = format::OperatingSystem::kUnknown;
  format::SlotState state = format::SlotState::kPrepared;
  format::ProcessIdentity installer{}, owner{};
  // Nothing is missing: sealed, every group whole and its checksum right.
  bool complete = false;
  std::vector<Problem> problems;

  App app;
  Host host;
  Process process;
  format::EventKind kind = format::EventKind::kCrash;
  std::optional<uint64_t> time_ns;
  std::string message;  // of a capture
  std::optional<Signal> signal;
  std::optional<MachException> mach;
  std::optional<Exception> exception;
  std::string abort_message;
  std::vector<Image> images;
  std::vector<Thread> threads;  // crashed first
  std::vector<Memory> memory;
  std::vector<std::pair<std::string, std::string>> keys;
  std::vector<Breadcrumb> breadcrumbs;
  std::vector<Cut> cuts;
  std::vector<Stage> stages;
  // Image index and what was found for it; from appended sections.
  std::vector<std::pair<uint32_t, std::string>> symbol_status;
  bool has_symbols = false;  // a section with names is there
};

std::string UuidText(const Uuid& uuid);  // 8-4-4-4-12, lower case
std::optional<Uuid> ParseUuid(const std::string& text);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_REPORT_H_
