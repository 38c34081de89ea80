// SPDX-License-Identifier: Apache-2.0
//
// Mach calls and structures that some sets of Apple's headers leave out. The
// declarations are those of Apple's own interfaces and may stand beside them.
//
//   mach/mach_vm.h        xnu osfmk/mach/mach_vm.defs
//   mach/mach_traps.h     xnu osfmk/mach/mach_traps.h: mach_reply_port
//   mach-o/dyld_images.h  dyld include/mach-o/dyld_images.h, first members
//
// Crash time: all of these are stubs of libsystem_kernel: a message to the
// kernel, no lock, no allocation in this process.
#ifndef CAIRN_SAFE_MACH_CALLS_MAC_H_
#define CAIRN_SAFE_MACH_CALLS_MAC_H_

#include <mach/mach.h>

#include <cstdint>

extern "C" {
mach_port_name_t mach_reply_port(void);
kern_return_t mach_vm_read_overwrite(vm_map_read_t task,
                                     mach_vm_address_t address,
                                     mach_vm_size_t size,
                                     mach_vm_address_t data,
                                     mach_vm_size_t* out_size);
kern_return_t mach_vm_region(vm_map_read_t task,
                             mach_vm_address_t* address,
                             mach_vm_size_t* size,
                             vm_region_flavor_t flavor,
                             vm_region_info_t info,
                             mach_msg_type_number_t* info_count,
                             mach_port_t* object_name);
kern_return_t mach_vm_deallocate(vm_map_t target,
                                 mach_vm_address_t address,
                                 mach_vm_size_t size);
kern_return_t mach_vm_region_recurse(vm_map_read_t task,
                                     mach_vm_address_t* address,
                                     mach_vm_size_t* size,
                                     natural_t* depth,
                                     vm_region_recurse_info_t info,
                                     mach_msg_type_number_t* info_count);
}

namespace cairn::safe {

// The start of struct dyld_all_image_infos, 64 bit.
struct DyldAllImageInfos {
  uint32_t version;
  uint32_t image_count;
  uint64_t images;
  uint64_t notification;
  uint8_t process_detached;
  uint8_t system_initialized;
  uint8_t reserved[6];
  uint64_t dyld_load_address;
};
static_assert(sizeof(DyldAllImageInfos) == 40);

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_MACH_CALLS_MAC_H_
