// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/macho_linkedit.h"

#include <cstring>
#include <utility>

namespace cairn::symbolicate {
namespace {

// EXPORT_SYMBOL_FLAGS_* of mach-o/loader.h.
constexpr uint64_t kKindMask = 3, kKindRegular = 0;
constexpr uint64_t kWeakDefinition = 4, kReexport = 8;

class Cursor {
 public:
  Cursor(const std::vector<uint8_t>& bytes, size_t at)
      : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= bytes_.size(); }

  uint64_t Uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = U8();
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  uint8_t U8() {
    if (AtEnd()) {
      ok_ = false;
      return 0;
    }
    return bytes_[at_++];
  }
  // A terminated string; false when its end is not there.
  bool AppendText(std::string* text) {
    if (!ok_ || AtEnd()) {
      ok_ = false;
      return false;
    }
    const auto* from = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const size_t left = bytes_.size() - at_;
    const size_t length = strnlen(from, left);
    if (length == left) {
      ok_ = false;
      return false;
    }
    text->append(from, length);
    at_ += length + 1;
    return true;
  }

 private:
  const std::vector<uint8_t>& bytes_;
  size_t at_;
  bool ok_ = true;
};

// Walks the trie with its own stack. Each place is visited once, which ends
// cycles: in a sound trie no node has two parents.
class TrieWalk {
 public:
  explicit TrieWalk(const std::vector<uint8_t>& trie)
      : trie_(trie), seen_(trie.size()) {}

  std::vector<MachOExport> Run() {
    open_.push_back({0, ""});
    while (!open_.empty() && found_.size() < kMaxExports &&
           text_bytes_ < kMaxExportTextBytes) {
      const Node node = std::move(open_.back());
      open_.pop_back();
      held_ -= node.name.size();
      if (node.at < seen_.size() && !seen_[node.at]) {
        seen_[node.at] = true;
        Visit(node);
      }
    }
    return std::move(found_);
  }

 private:
  struct Node {
    size_t at;
    std::string name;
  };

  void Visit(const Node& node) {
    Cursor cursor(trie_, node.at);
    const uint64_t terminal_bytes = cursor.Uleb();
    if (!cursor.ok() || terminal_bytes > trie_.size() - cursor.at()) {
      return;
    }
    const size_t children = cursor.at() + static_cast<size_t>(terminal_bytes);
    if (terminal_bytes != 0) {
      Cursor terminal = cursor;
      const uint64_t flags = terminal.Uleb();
      const uint64_t offset = terminal.Uleb();
      if (terminal.ok() && terminal.at() <= children &&
          (flags & kKindMask) == kKindRegular && (flags & kReexport) == 0) {
        text_bytes_ += node.name.size();
        found_.push_back({node.name, offset, (flags & kWeakDefinition) != 0});
      }
    }
    VisitChildren(Cursor(trie_, children), node.name);
  }

  void VisitChildren(Cursor cursor, const std::string& prefix) {
    const uint8_t count = cursor.U8();
    for (unsigned i = 0; i < count; ++i) {
      std::string name = prefix;
      if (!cursor.AppendText(&name)) {
        return;
      }
      const uint64_t at = cursor.Uleb();
      if (!cursor.ok()) {
        return;
      }
      // Names that wait are bounded like those that were found.
      if (name.size() <= kMaxExportNameBytes &&
          held_ + name.size() <= kMaxExportTextBytes) {
        held_ += name.size();
        open_.push_back({static_cast<size_t>(at), std::move(name)});
      }
    }
  }

  const std::vector<uint8_t>& trie_;
  std::vector<bool> seen_;
  std::vector<Node> open_;
  size_t held_ = 0;
  size_t text_bytes_ = 0;
  std::vector<MachOExport> found_;
};

}  // namespace

std::vector<uint64_t> DecodeFunctionStarts(const std::vector<uint8_t>& bytes,
                                           uint64_t base) {
  std::vector<uint64_t> starts;
  Cursor cursor(bytes, 0);
  uint64_t address = base;
  while (!cursor.AtEnd()) {
    const uint64_t distance = cursor.Uleb();
    // A zero ends the list; only padding stands behind it.
    if (!cursor.ok() || distance == 0 || address + distance < address) {
      break;
    }
    address += distance;
    starts.push_back(address);
  }
  return starts;
}

std::vector<MachOExport> DecodeExports(const std::vector<uint8_t>& trie) {
  return trie.empty() ? std::vector<MachOExport>() : TrieWalk(trie).Run();
}

}  // namespace cairn::symbolicate
