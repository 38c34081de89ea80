#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The crash-time rules hold for this build's objects, and each bites when a
source that breaks it is compiled with the same flags."""
import os
import pathlib
import re
import tempfile
import unittest

import compiled
import crash_time

TREE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["CAIRN_BINARY_DIR"])
MODEL = TREE / "src/safe/bytes.cc"
FOLDERS = ("safe", "format", "capture", "writer", "handlers")
# Files for another system or processor are not compiled here.
FOREIGN = re.compile(r"_(mac|ios|arm64|arm|armv7|i386)(_mac|_linux|_posix)?\.cc$")


class CrashTime(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.objects = crash_time.read_objects(BUILD / "tests/checks/crash_time_objects.txt")
        self.allowed = crash_time.read_allow_list(TREE / "tests/checks/crash_time_symbols.txt")

    def compile(self, text, name="bad"):
        source, output = self.place / f"{name}.cc", self.place / f"{name}.o"
        source.write_text("#include <cstddef>\n#include <cstdint>\n" + text)
        return compiled.compile_like(BUILD, MODEL, source, output), str(output)

    def complaints(self, text):
        result, output = self.compile(text)
        self.assertEqual(result.returncode, 0, result.stderr)
        return list(crash_time.check(self.objects + [output], self.allowed))

    def assertBites(self, text, expected):
        complaints = self.complaints(text)
        self.assertTrue(any(expected in c for c in complaints), f"{expected} not in {complaints}")
        self.assertTrue(all(c.startswith("bad.o:") for c in complaints), complaints)

    def test_this_build_is_clean(self):
        self.assertEqual(list(crash_time.check(self.objects, self.allowed)), [])

    def test_every_source_of_the_folders_is_compiled_as_crash_time_code(self):
        have = {str(pathlib.Path(o).relative_to(BUILD)) for o in self.objects}
        for folder in FOLDERS:
            for source in (TREE / "src" / folder).rglob("*.cc"):
                if "_test" in source.stem or FOREIGN.search(source.name):
                    continue
                found = [o for o in have if o.startswith(f"src/{folder}/")
                         and o.endswith(f"/{source.name}.o")]
                self.assertTrue(found, f"{source} is no part of a cairn_crash_time_library")

    def test_a_good_source_is_let_through(self):
        self.assertEqual(self.complaints("int Twice(int a) { return 2 * a; }\n"), [])

    def test_libc_call(self):
        self.assertBites('extern "C" int getpid(); int F() { return getpid(); }\n',
                         "undefined getpid")

    def test_errno(self):
        self.assertBites("#include <cerrno>\nint F() { return errno; }\n",
                         "undefined __errno_location")

    def test_allocation(self):
        self.assertBites("int* F() { return new int(1); }\n", "allocation")

    def test_big_struct_copy_goes_to_our_own_memcpy(self):
        self.assertEqual(
            self.complaints("struct Big { char bytes[4096]; };\n"
                            "void F(Big* a, const Big* b) { *a = *b; }\n"), [])

    def test_libgcc_division(self):
        self.assertBites("unsigned __int128 F(unsigned __int128 a, unsigned __int128 b)"
                         " { return a / b; }\n", "libgcc arithmetic")

    def test_thread_local_variable(self):
        self.assertBites("thread_local int value;\nint F() { return ++value; }\n",
                         "thread-local")

    def test_thread_pointer(self):
        self.assertBites('uint64_t F() { uint64_t v; __asm__ volatile("movq %%fs:0x28, %0"'
                         ' : "=r"(v)); return v; }\n', "thread pointer")

    def test_static_constructor(self):
        self.assertBites("int G();\nint value = G();\nint G() { return 3; }\n"
                         "struct S { S(); int v; }; S::S() : v(G()) { __asm__(\"\"); } S s;\n",
                         "init_array")

    def test_destructor_at_exit(self):
        self.assertBites("struct S { ~S(); }; S::~S() { __asm__(\"\"); } S s;\n", "__cxa_atexit")

    def test_virtual_pure_call(self):
        self.assertBites("struct S { virtual int F() = 0; S(); protected: ~S(); }; S::S() {}\n", "exceptions")

    def test_frame_too_large(self):
        text = "int F(int n) {{ volatile char b[{}]; b[n] = 1; return b[n / 2]; }}\n"
        result, _ = self.compile(text.format(1500))
        self.assertEqual(result.returncode, 0, result.stderr)
        result, _ = self.compile(text.format(2500))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("frame-larger-than", result.stderr)

    def test_alloca_and_variable_length_array(self):
        result, _ = self.compile("int F(int n) { volatile char b[n]; b[0] = 1; return b[0]; }\n")
        self.assertIn("vla", result.stderr)
        result, _ = self.compile("void* G(int n) { return __builtin_alloca(n); }\n")
        self.assertIn("alloca", result.stderr)

    def test_exception(self):
        result, _ = self.compile("void F() { throw 1; }\n")
        self.assertIn("exception", result.stderr)

    def test_allow_list_wants_a_reason(self):
        path = self.place / "allow.txt"
        path.write_text("getpid\n")
        with self.assertRaises(SystemExit):
            crash_time.read_allow_list(path)


if __name__ == "__main__":
    unittest.main()
