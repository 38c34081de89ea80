#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The linked libraries show, need and do what they should; and the check bites."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import libraries

LIBRARIES = pathlib.Path(os.environ["CAIRN_BINARY_DIR"]) / "lib"
EXPORTS = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "src/client/exports.map"
GOOD = ("-Wl,-z,now", "-Wl,-z,nodelete")


def interposed():
    """What the version script lets out besides the API."""
    words = EXPORTS.read_text().split("global:")[1].split("local:")[0]
    return {word.strip() for word in words.split(";")} - {"", "cairn_*"}


class ThisBuild(unittest.TestCase):
    def test_shared_library(self):
        path = LIBRARIES / "libcairn.so"
        self.assertEqual(list(libraries.check(str(path), interposed())), [])

    def test_preload(self):
        path = LIBRARIES / "libcairn-preload.so"
        self.assertEqual(list(libraries.check(str(path), interposed())), [])

    def test_every_function_of_the_api_is_exported(self):
        header = (EXPORTS.parents[2] / "include/cairn/cairn.h").read_text()
        declared = {line.split("(")[0].split()[-1].lstrip("*")
                    for line in header.splitlines()
                    if line.startswith("CAIRN_API ") and "(" in line}
        self.assertGreater(len(declared), 8)
        self.assertEqual(declared - libraries.exported(str(LIBRARIES / "libcairn.so")), set())


class Bites(unittest.TestCase):
    def complaints(self, text, *flags):
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "libbad.so")
            subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", path, *flags],
                           input=text, text=True, check=True)
            return list(libraries.check(path))

    def test_a_good_library(self):
        self.assertEqual(self.complaints("int cairn_x(void) { return 1; }", *GOOD), [])

    def test_export(self):
        self.assertEqual(self.complaints("int other(void) { return 1; }", *GOOD),
                         ["exports other"])

    def test_lazy_binding(self):
        self.assertEqual(len(self.complaints("int cairn_x;", "-Wl,-z,lazy", GOOD[1])), 1)

    def test_unloading(self):
        self.assertEqual(len(self.complaints("int cairn_x;", GOOD[0])), 1)

    def test_thread_local_storage(self):
        self.assertEqual(self.complaints("static __thread int v = 1;"
                                         "int cairn_x(void) { return ++v; }", *GOOD),
                         ["has thread-local storage"])

    def test_executable_stack(self):
        self.assertEqual(self.complaints("int cairn_x;", *GOOD, "-Wl,-z,execstack"),
                         ["wants an executable stack"])

    def test_needed_library(self):
        self.assertEqual(self.complaints("int cairn_x;", *GOOD, "-Wl,--no-as-needed", "-lz"),
                         ["needs libz.so.1"])


if __name__ == "__main__":
    unittest.main()
