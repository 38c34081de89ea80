# SPDX-License-Identifier: Apache-2.0
"""Reads tests/fault_rows.txt and tests/seed_rows.txt and compares them with
their id lists and with the tests that exist."""
import json
import pathlib
import re
import subprocess

CANNOT = "cannot happen:"


def lines(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip()


def order(row):
    """S1.6 -> ("S", 1, 6), to sort by."""
    match = re.fullmatch(r"([A-Z])(\d+)\.(\d+)", row)
    return (match[1], int(match[2]), int(match[3])) if match else None


def gtest_names(listing):
    """Names in the output of --gtest_list_tests; parametrised ones also as the
    source has them: `All/Suite.Test/x` is Suite.Test and Suite.Test/x too."""
    names, suite = set(), ""
    for line in listing.splitlines():
        word = line.split("#")[0].rstrip()
        if not word.startswith(" ") and word.endswith("."):
            suite = word
        elif word.startswith("  ") and suite:
            full = suite + word.strip()
            plain = suite.split("/")[-1] + word.strip()
            names |= {full, plain, plain.split("/")[0]}
    return names


def existing_tests(build):
    """Every name that a row may give: ctest's, and GoogleTest's cases."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                           check=True, capture_output=True, text=True).stdout
    names, programs = set(), set()
    for test in json.loads(shown)["tests"]:
        names.add(test["name"])
        programs |= set(test.get("command", [])[:1])
    for program in map(pathlib.Path, programs):
        if program.is_file() and b"gtest_list_tests" in program.read_bytes():
            listing = subprocess.run([str(program), "--gtest_list_tests"], check=True,
                                     capture_output=True, text=True).stdout
            names |= gtest_names(listing)
    return names


class Table:
    """One list of rows. `complaints` are faults of the file; `open` the rows
    that nothing covers yet."""

    def __init__(self, ids, rows, tests, tree, strict=()):
        self.complaints, covered = [], set()
        self.ids = [row for _, row in lines(ids)]
        last = None
        for number, line in lines(rows):
            where = f"{rows.name}:{number}"
            row, bar, value = (part.strip() for part in line.partition("|"))
            if row not in self.ids or not bar or not value:
                self.complaints.append(f"{where}: not `ID | test` with a known id")
                continue
            if last is not None and order(row) <= order(last):
                self.complaints.append(f"{where}: {row} stands twice or is not sorted")
            last = row
            covered.add(row)
            if value.startswith(CANNOT):
                if len(value.removeprefix(CANNOT).split()) < 3:
                    self.complaints.append(f"{where}: {row} cannot happen, but why?")
                continue
            for name in (part.strip() for part in value.split(",")):
                if name not in tests and not (tree / name).is_file():
                    self.complaints.append(f"{where}: there is no test {name}")
        for row in self.ids:
            mark = row.replace(".", "_") + "_"
            if any(re.search(rf"(^|[./_]){mark}", name) for name in tests):
                covered.add(row)
        self.open = [row for row in self.ids if row not in covered]
        for row in self.open:
            if row.split(".")[0] in strict:
                self.complaints.append(f"{row}: no test, and its group is strict")


def strict_groups(path):
    return {group for _, group in lines(path)}
