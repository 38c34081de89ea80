#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/behaviours.md holds every founding row with its state; a row that is
said to be built has a test; the rows still open are printed; and the check
bites."""
import os
import pathlib
import re
import unittest

import rows

TREE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
TESTS = TREE / "tests"
STATES = ("built", "partly", "open")


def stated(text):
    """Row -> state, from the page's tables."""
    found = re.findall(r"^\| (S\d+\.\d+) \| (\w+) \| .+ \| .+ \| .+ \|$", text, re.MULTILINE)
    return found


def complaints(page, ids, covered):
    """What is wrong with a page, given the rows that some test covers."""
    states = stated(page)
    found = [f"{row} stands twice" for row in {r for r, _ in states}
             if [r for r, _ in states].count(row) > 1]
    known = dict(states)
    found += [f"{row} has no line" for row in ids if row not in known]
    found += [f"{row} is no founding row" for row in known if row not in ids]
    found += [f"{row}: {state} is no state" for row, state in states if state not in STATES]
    found += [f"{row} is said to be built, and no test covers it"
              for row, state in states if state == "built" and row not in covered]
    return found


class ThisTree(unittest.TestCase):
    def test_built_rows_have_tests(self):
        tests = rows.existing_tests(os.environ["CAIRN_BINARY_DIR"])
        table = rows.Table(TESTS / "seed_row_ids.txt", TESTS / "seed_rows.txt", tests, TREE)
        page = (TREE / "docs" / "behaviours.md").read_text()
        covered = set(table.ids) - set(table.open)
        for state in ("partly", "open"):
            print(f"{state}:", " ".join(row for row, said in stated(page) if said == state))
        self.assertEqual(complaints(page, table.ids, covered), [])


class Bites(unittest.TestCase):
    PAGE = ("| S1.1 | built | what | Apple | Linux |\n"
            "| S1.2 | open | what | Apple | Linux |\n")

    def check(self, page, covered=("S1.1",)):
        return complaints(page, ["S1.1", "S1.2"], set(covered))

    def test_good_page(self):
        self.assertEqual(self.check(self.PAGE), [])

    def test_built_without_a_test(self):
        self.assertEqual(self.check(self.PAGE, covered=("S1.2",)),
                         ["S1.1 is said to be built, and no test covers it"])

    def test_row_missing_twice_or_unknown(self):
        self.assertEqual(self.check(self.PAGE.splitlines()[0] + "\n"), ["S1.2 has no line"])
        self.assertEqual(len(self.check(self.PAGE * 2)), 2)
        self.assertEqual(len(self.check(self.PAGE + "| S9.9 | open | a | b | c |\n")), 1)

    def test_other_states(self):
        self.assertEqual(len(self.check(self.PAGE.replace("open", "soon"))), 1)


if __name__ == "__main__":
    unittest.main()
