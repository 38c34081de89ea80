// SPDX-License-Identifier: Apache-2.0
//
// Forced into every crash-time object by the build (`-include`).
//
// A compiler may turn any struct copy into a call of memcpy. Crash-time code
// must not call libc's: bound lazily, the call would run the loader in a dying
// process. These assembler equations make such calls go to our own hidden
// functions (safe/bytes.h), whatever the optimiser does.
#ifndef CAIRN_SAFE_LIBC_NAMES_H_
#define CAIRN_SAFE_LIBC_NAMES_H_

#if defined(__ELF__)
__asm__(
    "memcpy = cairn_safe_memcpy\n"
    "memmove = cairn_safe_memmove\n"
    "memset = cairn_safe_memset\n"
    "memcmp = cairn_safe_memcmp\n");
#endif

#endif  // CAIRN_SAFE_LIBC_NAMES_H_
