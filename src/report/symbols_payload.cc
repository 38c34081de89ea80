// SPDX-License-Identifier: Apache-2.0
//
// Names of frames → the records of a section: equal names once, with all the
// nodes that have them.
#include <algorithm>
#include <map>
#include <string_view>

#include "format/varint.h"
#include "report/append.h"
#include "safe/crc32c.h"

namespace cairn::report {
namespace {

using format::Field;
using format::Kind;

// Longest text that is kept of a name.
constexpr size_t kMaxTextBytes = 16384;
// Nodes in one record, so that it stays below format::kMaxPayloadBytes.
constexpr size_t kMaxNodesInRecord = 65536;

// Records into a growing buffer: writer/record_writer.h is for crash time and
// has a fixed one.
class RecordBuffer {
 public:
  void PutUnsigned(Field field, uint64_t value) {
    uint8_t payload[format::kMaxVarintBytes];
    const size_t bytes = format::PutVarint(payload, value);
    Put(field, Kind::kUnsigned, payload, bytes);
  }
  void PutText(Field field, std::string_view text) {
    if (!text.empty()) {
      Put(field,
          Kind::kString,
          text.data(),
          std::min(text.size(), kMaxTextBytes));
    }
  }
  void PutPacked(Field field, const std::vector<uint32_t>& values) {
    std::vector<uint8_t> payload;
    for (const uint32_t value : values) {
      uint8_t bytes[format::kMaxVarintBytes];
      payload.insert(
          payload.end(), bytes, bytes + format::PutVarint(bytes, value));
    }
    Put(field, Kind::kPacked, payload.data(), payload.size());
  }

  class Group {
   public:
    Group(RecordBuffer* buffer, Field field)
        : buffer_(buffer), field_(field), start_(buffer->bytes_.size()) {
      buffer_->Put(field, Kind::kGroupBegin, nullptr, 0);
    }
    ~Group() {
      const std::vector<uint8_t>& all = buffer_->bytes_;
      const uint32_t crc =
          safe::Crc32c(0, all.data() + start_, all.size() - start_);
      const uint8_t little[4] = {static_cast<uint8_t>(crc),
                                 static_cast<uint8_t>(crc >> 8),
                                 static_cast<uint8_t>(crc >> 16),
                                 static_cast<uint8_t>(crc >> 24)};
      buffer_->Put(field_, Kind::kGroupEnd, little, sizeof(little));
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

   private:
    RecordBuffer* buffer_;
    Field field_;
    size_t start_;
  };

  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  void Put(Field field, Kind kind, const void* payload, size_t size) {
    const uint16_t id = static_cast<uint16_t>(field);
    uint8_t length[format::kMaxVarintBytes];
    bytes_.push_back(static_cast<uint8_t>(id & 0xff));
    bytes_.push_back(static_cast<uint8_t>(id >> 8));
    bytes_.push_back(static_cast<uint8_t>(kind));
    bytes_.insert(
        bytes_.end(), length, length + format::PutVarint(length, size));
    const uint8_t* from = static_cast<const uint8_t*>(payload);
    bytes_.insert(bytes_.end(), from, from + size);
  }

  std::vector<uint8_t> bytes_;
};

void PutSymbolFrame(const SymbolFrame& symbol, RecordBuffer* out) {
  const RecordBuffer::Group group(out, Field::kSymbolFrame);
  out->PutText(Field::kSymbolFunction, symbol.function);
  if (symbol.function_mangled != symbol.function) {
    out->PutText(Field::kSymbolFunctionMangled, symbol.function_mangled);
  }
  if (symbol.offset) {
    out->PutUnsigned(Field::kSymbolOffset, *symbol.offset);
  }
  if (!symbol.name_sure) {
    out->PutUnsigned(Field::kSymbolNameSure, 0);
  }
  out->PutText(Field::kSymbolFile, symbol.file);
  if (symbol.line != 0) {
    out->PutUnsigned(Field::kSymbolLine, symbol.line);
  }
  if (symbol.column != 0) {
    out->PutUnsigned(Field::kSymbolColumn, symbol.column);
  }
  if (symbol.inlined) {
    out->PutUnsigned(Field::kSymbolInlined, 1);
  }
}

void PutSymbol(const std::vector<uint32_t>& nodes,
               const std::vector<SymbolFrame>& symbols,
               RecordBuffer* out) {
  const RecordBuffer::Group group(out, Field::kSymbol);
  for (size_t at = 0; at < nodes.size(); at += kMaxNodesInRecord) {
    const size_t end = std::min(nodes.size(), at + kMaxNodesInRecord);
    out->PutPacked(Field::kSymbolNodes,
                   {nodes.begin() + static_cast<ptrdiff_t>(at),
                    nodes.begin() + static_cast<ptrdiff_t>(end)});
  }
  for (const SymbolFrame& symbol : symbols) {
    PutSymbolFrame(symbol, out);
  }
}

// One text that is equal for equal names.
std::string NameKey(const std::vector<SymbolFrame>& symbols) {
  RecordBuffer records;
  for (const SymbolFrame& symbol : symbols) {
    PutSymbolFrame(symbol, &records);
  }
  const std::vector<uint8_t> bytes = records.Take();
  return {bytes.begin(), bytes.end()};
}

struct Named {
  const std::vector<SymbolFrame>* symbols;
  std::vector<uint32_t> nodes;
};

std::vector<Named> GroupByName(const Report& report) {
  std::vector<Named> named;
  std::map<std::string, size_t> by_name;
  std::vector<bool> seen;
  for (const Thread& thread : report.threads) {
    for (const Frame& frame : thread.frames) {
      seen.resize(std::max<size_t>(seen.size(), frame.node + size_t{1}));
      if (frame.symbols.empty() || frame.node == 0 || seen[frame.node]) {
        continue;
      }
      seen[frame.node] = true;
      const auto [at, is_new] =
          by_name.emplace(NameKey(frame.symbols), named.size());
      if (is_new) {
        named.push_back({&frame.symbols, {}});
      }
      named[at->second].nodes.push_back(frame.node);
    }
  }
  return named;
}

}  // namespace

std::vector<uint8_t> SymbolsPayload(const Report& report) {
  RecordBuffer out;
  {
    const RecordBuffer::Group group(&out, Field::kSymbols);
    for (const Named& named : GroupByName(report)) {
      PutSymbol(named.nodes, *named.symbols, &out);
    }
    for (const auto& [image, status] : report.symbol_status) {
      const RecordBuffer::Group entry(&out, Field::kSymbolsImage);
      out.PutUnsigned(Field::kSymbolsImageIndex, image);
      out.PutText(Field::kSymbolsImageStatus, status);
    }
  }
  return out.Take();
}

}  // namespace cairn::report
