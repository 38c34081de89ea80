#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer check passes on this tree and bites on a copy that breaks it."""
import os
import pathlib
import shutil
import tempfile
import unittest

import layers

TREE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])


class Layers(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.copy = pathlib.Path(place.name).resolve() / "tree"
        for part in ("cmake", "src", "include"):
            shutil.copytree(TREE / part, self.copy / part)

    def complaints(self):
        return layers.check(self.copy)[1]

    def add(self, path, text):
        path = self.copy / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_this_tree_is_clean(self):
        files, complaints, folders = layers.check(TREE)
        self.assertEqual(complaints, [])
        self.assertGreater(files, 20)
        self.assertIn("src/safe", folders)

    def test_crash_time_code_may_not_include_ordinary_code(self):
        self.add("src/safe/bad.cc", '#include "report/report.h"\n')
        self.assertEqual(
            self.complaints(),
            ["src/safe/bad.cc:1: src/safe may not include src/report (report/report.h)"])

    def test_a_path_with_dots_is_seen_through(self):
        self.add("src/capture/bad.h", '  #  include "../report/report.h"\n')
        self.assertEqual(len(self.complaints()), 1)

    def test_a_lower_layer_may_not_include_a_higher_one(self):
        self.add("src/report/bad.h", '\n#include "upload/uploader.h"\n')
        self.assertIn("src/report/bad.h:2:", self.complaints()[0])

    def test_unit_tests_may_use_the_writer(self):
        self.add("src/symbolicate/good_test.cc", '#include "writer/record_writer.h"\n')
        self.assertEqual(self.complaints(), [])
        self.add("src/symbolicate/good.cc", '#include "writer/record_writer.h"\n')
        self.assertEqual(len(self.complaints()), 1)

    def test_an_include_that_is_not_there(self):
        self.add("src/report/bad.h", '#include "safe/none.h"\n')
        self.assertEqual(len(self.complaints()), 1)

    def test_an_os_question_outside_an_os_file(self):
        self.add("src/capture/asks.cc", "#if defined(__linux__)\n#endif\n")
        self.assertEqual(len(self.complaints()), 1)
        os.rename(self.copy / "src/capture/asks.cc", self.copy / "src/capture/asks_linux.cc")
        self.assertEqual(self.complaints(), [])

    def test_a_folder_without_a_row(self):
        self.add("src/extra/good.cc", "\n")
        self.assertIn("src/extra", self.complaints()[0])


if __name__ == "__main__":
    unittest.main()
