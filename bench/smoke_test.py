#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each benchmark runs once, without Breakpad, and prints what it should. No
figure is judged but those that cannot be wrong on any machine."""
import json
import subprocess
import sys
import unittest

PROGRAMS = sys.argv.pop(1) if len(sys.argv) > 1 else "build/bin"


def run(name, *options):
    done = subprocess.run([f"{PROGRAMS}/{name}", "--runs", "1", "--without", "breakpad", *options],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{name} {options}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def rows(name, *options):
    output = json.loads(run(name, "--json", *options))
    for key in ("fork_exit_us", "cpu_loop_us"):
        assert output["yardsticks"][key]["median"] > 0, output["yardsticks"]
    assert output["machine"]["cores"] > 0
    return output["rows"]


class Benchmarks(unittest.TestCase):
    def test_crash_time_measures_each_case_with_each_subject(self):
        found = rows("crash_time", "--threads", "1", "3", "--libraries", "2")
        names = {(row["threads"], row["libraries"], row["subject"]) for row in found}
        cases = ((1, 0), (3, 0), (1, 2))
        subjects = ("no handler", "core dump", "cairn")
        self.assertEqual(names, {(*case, subject) for case in cases for subject in subjects})
        for row in found:
            self.assertGreater(row["total_ms"]["median"], 0, row)

    def test_crash_time_prints_a_table_that_lines_up(self):
        lines = run("crash_time", "--threads", "1").splitlines()
        head = next(line for line in lines if line.startswith("case"))
        self.assertIn("x core dump", head)
        cairn = next(line for line in lines if "cairn" in line)
        self.assertEqual(len(cairn), len(head), lines)

    def test_report_size_tells_bytes_of_each_report(self):
        found = {row["subject"]: row["bytes"]["median"]
                 for row in rows("report_size", "--threads", "2", "--without", "core dump")}
        self.assertEqual(set(found), {"cairn", "cairn, no stack bytes"})
        self.assertGreater(found["cairn"], found["cairn, no stack bytes"])
        self.assertGreater(found["cairn, no stack bytes"], 0)

    def test_install_cost_tells_time_and_memory(self):
        found = {row["subject"]: row for row in rows("install_cost")}
        self.assertEqual(set(found), {"no handler", "cairn, new directory",
                                      "cairn, directory of earlier runs"})
        for row in found.values():
            self.assertGreater(row["resident_kib"]["median"], 0)
            self.assertGreater(row["start_to_end_ms"]["median"], 0)

    def test_help_is_printed(self):
        for name in ("crash_time", "report_size", "install_cost"):
            self.assertIn("--runs", run(name, "--help"))


if __name__ == "__main__":
    unittest.main()
