// SPDX-License-Identifier: Apache-2.0
//
// errno. The program's own lies beside glibc's: each question for its address
// first takes over what glibc has set since.
#include "error_number.h"

#include <errno.h>

#include <cstring>

#include "../darwin_errors.h"
#include "../shim_table.h"

namespace mach_host {
namespace {

struct Pair {
  int linux, darwin;
};
constexpr Pair kPairs[] = {
#define PAIR(name, number) {name, number},
    DARWIN_ERRORS(PAIR)
#undef PAIR
};

thread_local int program_errno = 0;

int* ErrorAddress() {
  if (errno != 0) {
    program_errno = DarwinError(errno);
    errno = 0;
  }
  return &program_errno;
}

int LinuxError(int darwin_error) {
  for (const Pair& pair : kPairs)
    if (pair.darwin == darwin_error)
      return pair.linux;
  return darwin_error;
}

char* StrError(int error) {
  return strerror(LinuxError(error));
}

int StrErrorR(int error, char* buffer, std::size_t size) {
  const char* text = strerror_r(LinuxError(error), buffer, size);
  if (text != buffer && size != 0) {
    std::strncpy(buffer, text, size - 1);
    buffer[size - 1] = 0;
  }
  return 0;
}

}  // namespace

int DarwinError(int linux_error) {
  if (linux_error == 0)
    return 0;
  for (const Pair& pair : kPairs)
    if (pair.linux == linux_error)
      return pair.darwin;
  return EIO;
}

MACH_SHIM("___error", ErrorAddress);
MACH_SHIM("_strerror", StrError);
MACH_SHIM("_strerror_r", StrErrorR);

}  // namespace mach_host
