// SPDX-License-Identifier: Apache-2.0
//
// A made libSystem: a Mach-O image in memory whose text is one stub per import,
// so that every function that a program gets has an address inside an image
// with a name, and every call into the system passes one place that knows the
// rules.
#ifndef MACH_HOST_SYSTEM_IMAGE_H_
#define MACH_HOST_SYSTEM_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace mach_host {

class SystemImage {
 public:
  SystemImage();
  // The stub that jumps to `target`; the same name gives the same stub.
  std::uint64_t Stub(const std::string& name, std::uint64_t target);
  // Writes symbols and makes it read-only and executable. Nothing is added
  // afterwards.
  void Finish();
  std::uint64_t header() const { return base_; }
  bool Contains(std::uint64_t address) const { return address - base_ < kText; }
  std::uint64_t call_address() const { return call_; }

 private:
  static constexpr std::uint64_t kText = 1 << 20, kLinkEdit = 1 << 19;
  struct Named {
    std::string name;
    std::uint64_t address;
  };
  std::uint64_t base_ = 0, next_ = 0, call_ = 0;
  std::vector<Named> names_;
};

}  // namespace mach_host

// Called by each stub with its name, before the function. Keeps all registers
// that arguments travel in.
extern "C" void mach_host_on_call(const char* name);

#endif  // MACH_HOST_SYSTEM_IMAGE_H_
