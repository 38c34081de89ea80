#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Apple library, run: the Mach-O crasher in the host, its reports read by the reader.

Every kind of the crasher's list, with classic binds and with chained fixups. What a
report must show is what the crasher said of itself before it crashed (thread, innermost
function, address), what Apple's headers call the exception, and the status that the
parent saw. No rule of the system may have been broken on the way.

Usage: crasher_test.py BUILD_DIR
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = {"classic": ROOT / "build/apple/x86_64/bin/crasher",
            "chained": ROOT / "build/apple/x86_64/bin/crasher_chained"}
BUILD = pathlib.Path(".")

# kind: (signal that kills, exception and code of the report, crasher's function on top)
ACCESS, BAD, BREAK, DIVIDE = ("EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_BREAKPOINT",
                              "EXC_ARITHMETIC")
KINDS = {
    "null_write": (signal.SIGSEGV, ACCESS, "0x1", 0),
    "high_write": (signal.SIGSEGV, ACCESS, "0x1", 0),
    "null_call": (signal.SIGSEGV, ACCESS, "0x1", 1),
    "bad_instruction": (signal.SIGILL, BAD, "0x1", 0),
    "breakpoint": (signal.SIGTRAP, BREAK, "0x2", 0),
    "divide": (signal.SIGFPE, DIVIDE, "0x1", 0),
    "non_canonical": (signal.SIGSEGV, ACCESS, "0xd", 0),
    "write_to_code": (signal.SIGBUS, ACCESS, "0x2", 0),
    "abort": (signal.SIGABRT, None, None, None),
    "raise": (signal.SIGSEGV, None, None, None),
    "kill": (signal.SIGBUS, None, None, None),
    "overflow": (signal.SIGSEGV, ACCESS, None, None),
    "thread_overflow": (signal.SIGBUS, ACCESS, None, None),
    "thread_write": (signal.SIGSEGV, ACCESS, "0x1", 0),
    "two_at_once": (signal.SIGSEGV, ACCESS, "0x1", 0),
    "many_threads": (signal.SIGSEGV, ACCESS, "0x1", 0),
}
DARWIN_NUMBERS = {signal.SIGBUS: 10, signal.SIGSEGV: 11}


class Run:
    """One crash: what the child said, how it ended, what the report says."""

    def __init__(self, program, kind, folder, faults=(), timeout=60):
        with tempfile.NamedTemporaryFile("r") as verdict:
            words = [BUILD / "bin/mach_host", "--verdict", verdict.name]
            for fault in faults:
                words += ["--fault", fault]
            child = subprocess.run([str(w) for w in words + [program, folder, kind]],
                                   text=True, timeout=timeout, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, check=False)
            self.verdict = verdict.read().splitlines()
        self.status = child.returncode
        self.said = {}
        for line in child.stdout.splitlines():
            word, _, value = line.partition(" ")
            self.said.setdefault(word, []).append(value)
        self.out = child.stdout
        self.reports = sorted(pathlib.Path(folder).glob("*.cairn"))
        self.violations = [line for line in self.verdict if line.startswith("violation")]

    def report(self):
        shown = subprocess.run([BUILD / "bin/cairn", "show", "--json", self.reports[0]],
                               text=True, stdout=subprocess.PIPE, check=False)
        return json.loads(shown.stdout)


class CrasherTest(unittest.TestCase):
    def run_each(self, kind, **more):
        for binds, program in PROGRAMS.items():
            with self.subTest(kind=kind, binds=binds), \
                    tempfile.TemporaryDirectory() as folder:
                yield Run(program, kind, folder, **more)

    def check_whole(self, run, dies):
        self.assertEqual(run.status, -dies, run.out)
        self.assertEqual(len(run.reports), 1, run.out)
        self.assertEqual(run.violations, [])
        report = run.report()
        self.assertTrue(report["complete"])
        self.assertTrue(report["threads"][0]["crashed"])
        said = [int(word, 16) for word in run.said["thread"]]
        self.assertIn(report["threads"][0]["id"], said)
        uuid = next(line[5:] for line in run.verdict if line.startswith("uuid "))
        self.assertEqual(report["images"][0]["id"], uuid)
        self.assertEqual(report["images"][0]["arch"], "x86_64")
        return report

    def check_kind(self, kind):
        dies, exception, code, top = KINDS[kind]
        for run in self.run_each(kind):
            report = self.check_whole(run, dies)
            self.assertEqual(report["signal"]["number"], DARWIN_NUMBERS.get(dies, int(dies)))
            if exception is not None:
                self.assertEqual(report["mach"]["exception"], exception)
            if code is not None:
                self.assertEqual(report["mach"]["code"], code)
            if "address" in run.said:
                self.assertEqual(int(report["signal"]["fault_address"], 16),
                                 int(run.said["address"][0], 16))
            if top is not None:
                frame = report["threads"][0]["frames"][top]
                self.assertIn(run.said["function"][0] + "(", frame["function"])

    def test_two_threads_at_once_give_one_report(self):
        for run in self.run_each("two_at_once"):
            report = self.check_whole(run, signal.SIGSEGV)
            self.assertEqual(sorted({t["id"] for t in report["threads"][:1]} &
                                    {int(w, 16) for w in run.said["thread"]}),
                             [report["threads"][0]["id"]])

    def test_all_threads_are_frozen_by_mach(self):
        for run in self.run_each("many_threads"):
            threads = self.check_whole(run, signal.SIGSEGV)["threads"]
            self.assertEqual(len(threads), 65)
            self.assertEqual(threads[0]["frozen_by"], "self")
            self.assertEqual({t["frozen_by"] for t in threads[1:]}, {"mach"})
            names = {t.get("name") for t in threads[1:]}
            self.assertEqual(names, {f"waiter {i}" for i in range(64)})
            for thread in threads[1:]:
                self.assertEqual(thread["frames"][0]["module"], "libSystem.B.dylib")

    def test_earlier_handler_is_called_behind_the_report(self):
        for run in self.run_each("earlier_handler"):
            self.assertIn("earlier handler", run.out)
            self.assertEqual(run.status, 40 + 6)
            self.assertEqual(len(run.reports), 1)
            self.assertEqual(run.violations, [])

    def test_capture_goes_on(self):
        for run in self.run_each("capture"):
            self.assertEqual(run.status, 0)
            self.assertEqual(run.report()["kind"], "capture")
            self.assertEqual(run.violations, [])

    def test_a_clean_end_leaves_no_report(self):
        for run in self.run_each("none"):
            self.assertEqual((run.status, run.reports, run.violations), (0, [], []))

    def test_uncaught_exception_ends_by_abort(self):
        for run in self.run_each("throw"):
            report = self.check_whole(run, signal.SIGABRT)
            self.assertIn("out_of_range", report["exception"]["type"])

    # What goes wrong around it ------------------------------------------------

    def test_no_lock_of_a_frozen_thread_is_needed(self):
        for fault in ("allocator-held", "loader-held"):
            for run in self.run_each("many_threads", faults=[fault]):
                self.check_whole(run, signal.SIGSEGV)

    def test_without_a_thread_list_the_crashed_thread_is_there(self):
        for run in self.run_each("many_threads", faults=["task-threads-fails"]):
            self.assertEqual(run.status, -signal.SIGSEGV)
            self.assertEqual(len(run.reports), 1)
            self.assertIn("NullWrite", run.report()["threads"][0]["frames"][0]["function"])

    def test_a_slow_kernel_is_waited_for(self):
        for run in self.run_each("null_write", faults=["slow-reply=200"]):
            self.check_whole(run, signal.SIGSEGV)


for name in KINDS:
    setattr(CrasherTest, f"test_kind_{name}", lambda self, kind=name: self.check_kind(kind))


def main():
    global BUILD
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    missing = [str(p) for p in PROGRAMS.values() if not p.exists()]
    if missing:
        sys.exit(f"{missing[0]} is not there: cmake --preset apple-x86_64 && "
                 "cmake --build --preset apple-x86_64")
    unittest.main()


if __name__ == "__main__":
    main()
