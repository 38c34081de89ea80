// SPDX-License-Identifier: Apache-2.0
//
// Breadcrumbs, keys, memory, images, and what is missing, as text.
#include <algorithm>

#include "report/hex.h"
#include "report/image_text.h"
#include "report/names.h"
#include "report/text_out.h"
#include "report/time_text.h"

namespace cairn::report {
namespace {

constexpr size_t kBytesInRow = 16;
constexpr size_t kMaxMemoryRows = 8;

std::string Printable(const uint8_t* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text +=
        bytes[i] >= 0x20 && bytes[i] < 0x7f ? static_cast<char>(bytes[i]) : '.';
  }
  return text;
}

void PrintMemory(const Memory& memory, TextOut* out) {
  out->Title("Memory at " + HexNumber(memory.address) +
             (memory.reason.empty() ? "" : ", " + Clean(memory.reason)));
  size_t at = 0;
  for (size_t row = 0; row < kMaxMemoryRows && at < memory.bytes.size();
       ++row) {
    const size_t size = std::min(kBytesInRow, memory.bytes.size() - at);
    std::string line = HexNumber(memory.address + at) + " ";
    for (size_t i = 0; i < size; ++i) {
      line += " " + HexBytes(&memory.bytes[at + i], 1);
    }
    line.append(3 * (kBytesInRow - size) + 2, ' ');
    out->Line(line + Printable(&memory.bytes[at], size));
    at += size;
  }
  if (at < memory.bytes.size()) {
    out->Line("… " + std::to_string(memory.bytes.size() - at) +
              " more bytes (--json shows them)");
  }
}

std::string SizeWords(const Cut& cut) {
  std::string words = std::to_string(cut.kept) + " kept, ";
  words += cut.dropped == 0 ? "the rest" : std::to_string(cut.dropped);
  words += " dropped";
  if (cut.thread_id) {
    words += " (thread " + std::to_string(*cut.thread_id) + ")";
  }
  return words;
}

std::string ImageWords(const Report& report,
                       const Image& image,
                       const std::string& status) {
  std::string words = HexNumber(image.address) + " - " +
                      HexNumber(image.address + image.bytes) + "  " +
                      Clean(image.path);
  const format::Architecture architecture = ArchitectureOf(report, image);
  if (architecture != report.architecture) {
    words += std::string("  ") + Name(architecture);
  }
  if (!image.id.empty()) {
    words += "  " + HexBytes(image.id.data(), image.id.size());
  }
  if (image.unloaded) {
    words += "  (unloaded)";
  }
  if (!status.empty() && status != "ok") {
    words += "  (symbols: " + Clean(status) + ")";
  }
  return words;
}

}  // namespace

void PrintTrail(const Report& report, TextOut* out) {
  if (!report.breadcrumbs.empty()) {
    out->Title("Breadcrumbs");
    for (const Breadcrumb& crumb : report.breadcrumbs) {
      out->Line((crumb.time_ns != 0 ? Rfc3339(crumb.time_ns) + "  " : "") +
                (crumb.category.empty() ? "" : Clean(crumb.category) + "  ") +
                Clean(crumb.message));
    }
  }
  if (!report.keys.empty()) {
    out->Title("Keys");
    for (const auto& [name, value] : report.keys) {
      out->Line(Clean(name) + " = " + Clean(value));
    }
  }
  for (const Memory& memory : report.memory) {
    PrintMemory(memory, out);
  }
}

void PrintImages(const Report& report, TextOut* out) {
  if (report.images.empty()) {
    return;
  }
  const std::vector<std::string> statuses = SymbolStatuses(report);
  out->Title("Images");
  for (size_t i = 0; i < report.images.size(); ++i) {
    out->Line(ImageWords(report, report.images[i], statuses[i]));
  }
}

void PrintLimits(const Report& report, TextOut* out) {
  const bool timed_out = std::any_of(
      report.stages.begin(), report.stages.end(), [](const Stage& stage) {
        return stage.timed_out;
      });
  if (!report.cuts.empty() || timed_out) {
    out->Title("Cut by limits");
    for (const Cut& cut : report.cuts) {
      out->Line(std::string(Name(cut.what)) + ": " + SizeWords(cut));
    }
    if (timed_out) {
      out->Line("the time limit ended the writing");
    }
  }
  if (!report.problems.empty()) {
    out->Title("Not whole");
    for (const Problem& problem : report.problems) {
      out->Line("byte " + std::to_string(problem.offset) + ": " +
                Clean(problem.text));
    }
  }
}

}  // namespace cairn::report
