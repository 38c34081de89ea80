#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/count_checks counts what test programs say, and what died."""
import importlib.machinery
import importlib.util
import os
import unittest

PATH = os.path.join(os.environ["CAIRN_SOURCE_DIR"], "scripts/count_checks")
LOADER = importlib.machinery.SourceFileLoader("count_checks", PATH)
count_checks = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("count_checks", LOADER))
LOADER.exec_module(count_checks)


def count(text, code=0):
    return count_checks.count(text.splitlines(), code)


class Count(unittest.TestCase):
    def test_gtest_cases_under_ctest(self):
        text = """test 1
1: [ RUN      ] A.One
1: [       OK ] A.One (0 ms)
1: [ RUN      ] A.Two
1: [  FAILED  ] A.Two (1 ms)
1: [  PASSED  ] 1 test.
1: [  FAILED  ] 1 test, listed below:
1: [  FAILED  ] A.Two
1/2 Test  #1: a_test ...........................***Failed    0.01 sec
2: [       OK ] B/C.Three/0 (0 ms)
2/2 Test  #2: b_test ...........................   Passed    0.01 sec
50% tests passed, 1 tests failed out of 2
"""
        self.assertEqual(count(text, 8), (2, 1))

    def test_a_program_that_died_counts_as_failed(self):
        text = """1: [       OK ] A.One (0 ms)
1: [ RUN      ] A.Two
1/1 Test  #1: a_test ...........................***Exception: SegFault  0.01 sec
"""
        self.assertEqual(count(text, 8), (1, 1))

    def test_timeout_and_not_run(self):
        text = """1/2 Test  #1: a .......***Timeout   1.01 sec
2/2 Test  #2: b .......***Not Run   0.00 sec
"""
        self.assertEqual(count(text, 8), (0, 2))

    def test_a_silent_program_is_one_check(self):
        self.assertEqual(count("1/1 Test  #1: a ....   Passed    0.01 sec\n"), (1, 0))

    def test_summary_line(self):
        self.assertEqual(count("words\n12 passed, 3 failed\n", 1), (12, 3))

    def test_summary_wins_over_tap(self):
        self.assertEqual(count("ok 1 - a\nnot ok 2 - b\n1 passed, 1 failed\n", 1), (1, 1))

    def test_tap(self):
        self.assertEqual(count("ok 1 - a\nnot ok 2 - b\nok 3 # SKIP no\n", 1), (1, 1))

    def test_unittest(self):
        self.assertEqual(count("Ran 5 tests in 0.1s\n\nOK\n"), (5, 0))
        self.assertEqual(count("Ran 5 tests in 0.1s\n\nOK (skipped=2)\n"), (3, 0))
        self.assertEqual(count("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", 1), (3, 2))

    def test_a_stage_that_died_counts_as_failed(self):
        self.assertEqual(count("", 1), (0, 1))
        self.assertEqual(count("3 passed, 0 failed\n", 1), (3, 1))

    def test_a_stage_without_words_is_one_check(self):
        self.assertEqual(count("[1/2] Building\n"), (1, 0))


if __name__ == "__main__":
    unittest.main()
