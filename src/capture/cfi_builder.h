// SPDX-License-Identifier: Apache-2.0
//
// Builds .eh_frame and .eh_frame_hdr byte by byte. For tests only.
#ifndef CAIRN_CAPTURE_CFI_BUILDER_H_
#define CAIRN_CAPTURE_CFI_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn::capture {

class CfiBuilder {
 public:
  using Bytes = std::vector<uint8_t>;

  // `base` is where the section will lie.
  explicit CfiBuilder(uint64_t base) : base_(base) {}

  static void Put(Bytes* bytes, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; ++i) {
      bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
  }

  // A CIE with code alignment 1, data alignment −8, and what the arguments
  // say. `operands` are those of the augmentation. Returns its offset.
  size_t AddCie(const std::string& augmentation,
                const Bytes& operands,
                const Bytes& program,
                uint8_t return_register = 16,
                uint8_t version = 1) {
    Bytes body;
    Put(&body, 0, 4);
    body.push_back(version);
    body.insert(body.end(), augmentation.begin(), augmentation.end());
    body.push_back(0);
    if (version == 4) {
      body.insert(body.end(), {8, 0});
    }
    body.insert(body.end(), {1, 0x78, return_register});
    if (!augmentation.empty() && augmentation[0] == 'z') {
      body.push_back(static_cast<uint8_t>(operands.size()));
      body.insert(body.end(), operands.begin(), operands.end());
    }
    body.insert(body.end(), program.begin(), program.end());
    return AddEntry(body);
  }

  // An FDE of the CIE at `cie` with position-relative sdata4 addresses (0x1b),
  // or, with `absolute`, eight absolute bytes each.
  size_t AddFde(size_t cie,
                uint64_t begin,
                uint64_t bytes,
                const Bytes& program,
                bool absolute = false) {
    Bytes body;
    Put(&body, section_.size() + 4 - cie, 4);
    if (absolute) {
      Put(&body, begin, 8);
      Put(&body, bytes, 8);
    } else {
      Put(&body, begin - (base_ + section_.size() + 8), 4);
      Put(&body, bytes, 4);
    }
    body.push_back(0);  // augmentation length
    body.insert(body.end(), program.begin(), program.end());
    const size_t offset = AddEntry(body);
    entries_.emplace_back(begin, base_ + offset);
    return offset;
  }

  void AddTerminator() { Put(&section_, 0, 4); }
  void AddRaw(const Bytes& bytes) {
    section_.insert(section_.end(), bytes.begin(), bytes.end());
  }

  const Bytes& section() const { return section_; }
  // The search table for a header at `header`: 0x1b, 0x03, 0x3b. FDEs must have
  // been added in order of address.
  Bytes Header(uint64_t header) const {
    Bytes bytes = {1, 0x1b, 0x03, 0x3b};
    Put(&bytes, base_ - (header + 4), 4);
    Put(&bytes, entries_.size(), 4);
    for (const auto& [begin, fde] : entries_) {
      Put(&bytes, begin - header, 4);
      Put(&bytes, fde - header, 4);
    }
    return bytes;
  }

 private:
  size_t AddEntry(Bytes body) {
    while (body.size() % 4 != 0) {
      body.push_back(0);  // DW_CFA_nop
    }
    const size_t offset = section_.size();
    Put(&section_, body.size(), 4);
    section_.insert(section_.end(), body.begin(), body.end());
    return offset;
  }

  uint64_t base_;
  Bytes section_;
  std::vector<std::pair<uint64_t, uint64_t>> entries_;
};

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CFI_BUILDER_H_
