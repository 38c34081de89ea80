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
#else
// Mach-O: one leading underscore, and no equations, since an assembler makes
// indirect symbols of them that not every linker knows. Each object gets local
// functions instead that jump to ours.
#if defined(__x86_64__)
#define CAIRN_JUMP "jmp "
#else
#define CAIRN_JUMP "b "
#endif
__asm__(
    ".text\n"
    ".p2align 2\n"
    "_memcpy: " CAIRN_JUMP
    "_cairn_safe_memcpy\n"
    "_memmove: " CAIRN_JUMP
    "_cairn_safe_memmove\n"
    "_memset: " CAIRN_JUMP
    "_cairn_safe_memset\n"
    "_memcmp: " CAIRN_JUMP
    "_cairn_safe_memcmp\n"
    "_bzero: " CAIRN_JUMP
    "_cairn_safe_bzero\n"
    "___bzero: " CAIRN_JUMP "_cairn_safe_bzero\n");
#undef CAIRN_JUMP
#endif

#endif  // CAIRN_SAFE_LIBC_NAMES_H_
