#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the single-step proof over its list of programs and sums its figures.

Usage: prove_steps.py PROGRAM_DIRECTORY TARGET_DIRECTORY [--full] [--only WORD]

Each program is a check, each planted fault too. About 200,000 instructions; with
--full, or CAIRN_TEST_FULL=1, more than 5,000,000, and libunwind and gdb are
asked as well.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXCEPTIONS = os.path.join(os.path.dirname(HERE), "unwind_exceptions.txt")
NUMBERS = {"stepped": r"^stepped +(\d+)", "compared": r"^compared +(\d+)",
           "skipped": r"^skipped +(\d+)", "resyncs": r"^resyncs +(\d+)",
           "mismatches": r"^mismatches +(\d+)", "listed": r"of them listed (\d+)",
           "with data": r"^with data +(\d+)",
           "mismatches with data": r"^with data .*mismatches (\d+)",
           "libunwind asked": r"^libunwind +(\d+) asked",
           "libunwind mismatches": r"^libunwind .*mismatches (\d+)"}
PYTHON = "import re, json; json.dumps([re.sub('a+', 'b', 'caat')] * 9); sorted(range(99), key=str)"
SQL = ("create table t(a, b); insert into t values (1, 'x'), (2, 'y'); "
       "select count(*), group_concat(b) from t join t using (a) group by b order by 1;")


def real_programs(folder):
    """name, command, where stepping begins, weight."""
    data = os.path.join(folder, "data")
    with open(data, "wb") as file:
        file.write(b"".join(b"%d words of text\n" % (i * i) for i in range(300)))
    return [
        ("sqlite3, first", ["/usr/bin/sqlite3", ":memory:", SQL], "first", 2),
        ("sqlite3, entry", ["/usr/bin/sqlite3", ":memory:", SQL], "entry", 4),
        ("python3, entry", ["/usr/bin/python3", "-S", "-c", PYTHON], "entry", 8),
        ("openssl sha256", ["/usr/bin/openssl", "dgst", "-sha256", data], "entry", 4),
        ("openssl aes", ["/usr/bin/openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-k", "word",
                         "-in", data], "entry", 4),
        ("openssl prime", ["/usr/bin/openssl", "prime", "-generate", "-bits", "128"],
         "entry", 3),
        ("xz", ["/usr/bin/xz", "-c", "-k", data], "entry", 3),
    ]


def figures(text):
    found = {}
    for name, pattern in NUMBERS.items():
        match = re.search(pattern, text, re.M)
        found[name] = int(match[1]) if match else 0
    return found


def run(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True,
                          env=dict(os.environ, **(environment or {})))
    return done.returncode, done.stdout + done.stderr


def check_plants(programs, targets):
    """A planted fault must be found; without one the same program has none."""
    failed = 0
    target = sorted(glob.glob(os.path.join(targets, "step_target-g++-12-O2-nofp")))
    for plant in ("none", "cfa", "epilogue", "pc"):
        code, text = run([os.path.join(programs, "step_proof_planted"), "30000", "--from", "entry",
                          "--warm",
                          "--exceptions", EXCEPTIONS, "--program"] + target,
                         {"CAIRN_PLANT": plant})
        found = figures(text)
        good = (found["stepped"] == 30000 and
                (code == 0) == (plant == "none") and
                (found["mismatches"] > found["listed"]) == (plant != "none"))
        failed += not good
        print("%-4s planted fault %-9s %7d mismatches" %
              ("ok" if good else "FAIL", plant, found["mismatches"]), flush=True)
    return 4 - failed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs")
    parser.add_argument("targets")
    parser.add_argument("--full", action="store_true",
                        default=os.environ.get("CAIRN_TEST_FULL") == "1")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    small = sorted(path for path in glob.glob(os.path.join(options.targets, "step_target-*"))
                   if os.access(path, os.X_OK) and os.path.isfile(path))
    if not small:
        sys.exit("no step_target in " + options.targets)
    jobs = [(os.path.basename(path), [path], "first" if i == 0 else "warm", 2)
            for i, path in enumerate(small)] + real_programs(folder)
    unit = 100000 if options.full else 4000
    passed = failed = 0
    total = dict.fromkeys(NUMBERS, 0)
    for name, command, start, weight in jobs:
        if options.only not in name:
            continue
        more = ["--ask-every", "2000", "--gdb", "20"] if options.full else []
        steps = unit * weight
        if start == "first":
            steps = max(steps, 20000)
        code, text = run([os.path.join(options.programs, "step_proof"), str(steps), "--from"] +
                         (["entry", "--warm"] if start == "warm" else [start]) +
                         ["--exceptions", EXCEPTIONS] + more + ["--program"] + command)
        found = figures(text)
        good = (code == 0 and found["stepped"] == steps and
                found["skipped"] * 1000 <= found["stepped"])
        passed, failed = passed + good, failed + (not good)
        print("%-4s %-32s %8d stepped, %5d mismatches" %
              ("ok" if good else "FAIL", name, found["stepped"], found["mismatches"]), flush=True)
        if not good or options.full:
            print("".join("     %s\n" % line for line in text.splitlines()), flush=True)
        for key, value in found.items():
            total[key] += value
    if not options.only:
        good, bad = check_plants(options.programs, options.targets)
        passed, failed = passed + good, failed + bad
    shutil.rmtree(folder)
    print("in all: " + ", ".join("%d %s" % (value, key) for key, value in total.items()))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
