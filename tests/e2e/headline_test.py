#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a crash is told as: `cairn show`, the server's title and signature, and the
frame that the viewer marks all name the program's own function, neither Cairn's
nor the runtime's. Usage: headline_test.py BUILD_DIR
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

BUILD = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "build"
BIN = os.path.join(BUILD, "bin")

# Program, case, function that did it.
CASES = [
    ("crasher", "uncaught_exception", "crash_uncaught_exception"),
    ("crasher", "uncaught_int", "crash_uncaught_int"),
    ("crasher", "noexcept_exception", "Throws"),
    ("crasher", "assert", "crash_assert"),
    ("crasher", "abort", "crash_abort"),
    ("crasher", "pure_virtual", "crash_pure_virtual"),
    ("crasher", "double_free", "crash_double_free"),
    ("crasher", "stack_protector", "crash_stack_protector"),
    ("crasher", "raise_segv", "crash_raise_segv"),
    ("crasher", "kill_self", "crash_kill_self"),
    ("crasher", "null_read", "crash_null_read"),
    ("crash_sample", "exception", "ReadHeader"),
    ("crash_sample", "abort", "DecodePhoto"),
    ("crash_sample", "null_write", "FirstPixel"),
]

THROWS = """
#include <stdexcept>
#include <vector>
__attribute__((noinline)) int Third(const std::vector<int> &v) { return v.at(3) + 1; }
int main(int argc, char **) { return Third(std::vector<int>(argc)); }
"""


def run(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, **more)


def crash(folder, program, case):
    if program == "crash_sample":
        return run(os.path.join(BIN, program), "--directory", folder, "--crash", case)
    return run(os.path.join(BIN, program), folder, case)


def shown(folder, *options):
    """What died and where: the first two lines of `cairn show`."""
    text = run(os.path.join(BIN, "cairn"), "show", *options, folder).stdout
    return " ".join(text.split("\n")[:2])


class Server:
    def __enter__(self):
        self.data = tempfile.TemporaryDirectory()
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [os.path.join(BIN, "cairn-server"), "--listen", "127.0.0.1:0", "--data",
             self.data.name], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split("listening: ")[1].strip().rstrip("/")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.data.cleanup()

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return json.load(answer)


class Headline(unittest.TestCase):
    def check_server(self, server, folder, function):
        sent = run(os.path.join(BIN, "cairn"), "upload", folder, "--url", server.url)
        self.assertEqual(sent.returncode, 0, sent.stderr)
        uuid = server.get("/api/v1/reports")["reports"][0]["uuid"]
        report = server.get("/api/v1/reports/" + uuid)
        told = report["server"]
        self.assertRegex(told["title"], r" in .*\b%s\b" % function)
        places = told["signature"].split(" | ")
        # How it failed stands before where it did.
        places = [p for p in places if not re.match(r"exception |std::|(_int_|__libc_|c)?free$", p)]
        self.assertRegex(places[0], r"\b%s$" % function)
        marked = report["threads"][0]["frames"][told["culprit"]]
        self.assertRegex(marked["function"], r"\b%s\b" % function)

    def test_every_case_names_the_programs_own_function(self):
        with Server() as server:
            for program, case, function in CASES:
                with self.subTest(case=f"{program} {case}"), \
                        tempfile.TemporaryDirectory() as folder:
                    crash(folder, program, case)
                    self.assertRegex(shown(folder), r" in .*\b%s\b" % function)
                    self.assertRegex(shown(folder, "--raw"), r" in %s\+0x" % program)
                    self.check_server(server, folder, function)

    def test_preload_in_a_program_whose_library_throws(self):
        with Server() as server, tempfile.TemporaryDirectory() as work:
            source, program = os.path.join(work, "throws.cc"), os.path.join(work, "throws")
            with open(source, "w", encoding="utf-8") as file:
                file.write(THROWS)
            subprocess.run(["c++", "-O1", "-g", "-o", program, source], check=True)
            folder = os.path.join(work, "reports")
            run(program, env=dict(os.environ, CAIRN_DIRECTORY=folder,
                                  LD_PRELOAD=os.path.join(BUILD, "lib/libcairn-preload.so")))
            self.assertRegex(shown(folder), r"^uncaught std::out_of_range: .* in Third\(")
            self.assertRegex(shown(folder, "--raw"), r" in throws\+0x")
            self.check_server(server, folder, "Third")


if __name__ == "__main__":
    unittest.main()
