// SPDX-License-Identifier: Apache-2.0
#include "capture/context_mac.h"

#include <sys/ucontext.h>

#include "capture/mach_state.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

unsigned g_address_bits = 0;

#if defined(__x86_64__)
using State = mach::StateX86_64;
constexpr thread_state_flavor_t kFlavor = mach::kFlavorX86_64;

void Convert(const State& state, Registers* out) {
  mach::RegistersFrom(state, out);
}
#else
using State = mach::StateArm64;
constexpr thread_state_flavor_t kFlavor = mach::kFlavorArm64;

// The bytes are taken as they are: on arm64e the members of Apple's structure
// are signed and may only be read through its accessors, which trap on a value
// that was not signed; a mask never does.
void Convert(const State& state, Registers* out) {
  mach::RegistersFrom(state, g_address_bits, out);
}
#endif

}  // namespace

void SetAddressBits(unsigned bits) {
  g_address_bits = bits;
}

bool ReadThreadRegisters(mach_port_t thread, Registers* out) {
  State state = {};
  mach_msg_type_number_t count = mach::kWords<State>;
  if (thread_get_state(
          thread, kFlavor, reinterpret_cast<thread_state_t>(&state), &count) !=
          KERN_SUCCESS ||
      count != mach::kWords<State>) {
    *out = {};
    return false;
  }
  Convert(state, out);
  return true;
}

void RegistersFromUcontext(const void* ucontext, Registers* out) {
  const auto* context = static_cast<const ucontext_t*>(ucontext);
  State state = {};
  safe::Copy(&state, &context->uc_mcontext->__ss, sizeof(state));
  Convert(state, out);
}

}  // namespace cairn::capture
