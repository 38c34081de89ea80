// SPDX-License-Identifier: Apache-2.0
#ifndef MACH_HOST_SHIMS_ERROR_NUMBER_H_
#define MACH_HOST_SHIMS_ERROR_NUMBER_H_

namespace mach_host {

// Darwin's number for one of Linux's; numbers without a name there become EIO.
int DarwinError(int linux_error);

}  // namespace mach_host

#endif  // MACH_HOST_SHIMS_ERROR_NUMBER_H_
