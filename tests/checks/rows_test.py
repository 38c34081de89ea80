#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lists of rows are sound, name tests that exist, and are whole where a
group is strict; and the check bites."""
import os
import pathlib
import tempfile
import unittest

import rows

TREE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
TESTS = TREE / "tests"


class ThisTree(unittest.TestCase):
    def check(self, name):
        table = rows.Table(TESTS / f"{name}_row_ids.txt", TESTS / f"{name}_rows.txt",
                           rows.existing_tests(os.environ["CAIRN_BINARY_DIR"]), TREE,
                           rows.strict_groups(TESTS / "strict_rows.txt"))
        print(f"{name} rows: {len(table.ids) - len(table.open)} of {len(table.ids)} covered")
        self.assertEqual(table.complaints, [])

    def test_fault_rows(self):
        self.check("fault")

    def test_seed_rows(self):
        self.check("seed")


class Bites(unittest.TestCase):
    def table(self, text, strict=(), tests=("Suite.Test", "a_test", "Suite.A1_3_Case")):
        with tempfile.TemporaryDirectory() as place:
            tree = pathlib.Path(place)
            (tree / "ids.txt").write_text("A1.1\nA1.2\nA1.3\nA1.10\n")
            (tree / "rows.txt").write_text(text)
            return rows.Table(tree / "ids.txt", tree / "rows.txt", set(tests), tree, strict)

    def test_good_lines(self):
        table = self.table("A1.1 | Suite.Test, a_test\nA1.2 | cannot happen: no lock is taken\n")
        self.assertEqual(table.complaints, [])
        self.assertEqual(table.open, ["A1.10"])

    def test_unknown_test(self):
        self.assertEqual(len(self.table("A1.1 | Suite.None\n").complaints), 1)

    def test_unknown_row(self):
        self.assertEqual(len(self.table("A1.4 | Suite.Test\n").complaints), 1)

    def test_twice_or_unsorted(self):
        self.assertEqual(len(self.table("A1.1 | a_test\nA1.1 | a_test\n").complaints), 1)
        self.assertEqual(len(self.table("A1.10 | a_test\nA1.2 | a_test\n").complaints), 1)
        self.assertEqual(len(self.table("A1.2 | a_test\nA1.10 | a_test\n").complaints), 0)

    def test_cannot_happen_wants_a_reason(self):
        self.assertEqual(len(self.table("A1.1 | cannot happen: no\n").complaints), 1)

    def test_a_strict_group_must_be_whole(self):
        complaints = self.table("A1.1 | a_test\n", strict=("A1",)).complaints
        self.assertEqual([c.split(":")[0] for c in complaints], ["A1.2", "A1.10"])

    def test_names_in_a_gtest_listing(self):
        listing = "Suite.\n  One\nAll/Crash.\n  Whole/null_write  # GetParam() = x\n"
        self.assertEqual(rows.gtest_names(listing),
                         {"Suite.One", "All/Crash.Whole/null_write", "Crash.Whole/null_write",
                          "Crash.Whole"})


if __name__ == "__main__":
    unittest.main()
