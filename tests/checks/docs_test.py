#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/architecture.md says of the layers is cmake/layers.txt.

`docs_test.py --write` writes the table into the page.
"""
import os
import pathlib
import re
import sys
import unittest

import layers

TREE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PAGE = TREE / "docs/architecture.md"
TABLE = re.compile(r"(<!-- layers -->\n).*?(<!-- end of layers -->)", re.S)


def markdown():
    table = layers.read_table(TREE / "cmake/layers.txt")
    order = list(table) + ["public"]
    rows = ["| folder | may include |", "|---|---|"]
    for folder, allowed in table.items():
        names = ", ".join(f"`{name}`" for name in sorted(allowed, key=order.index))
        rows.append(f"| `{folder}` | {names or 'nothing'} |")
    return "\n".join(rows) + "\n"


class Docs(unittest.TestCase):
    def test_the_table_of_layers(self):
        self.assertEqual(TABLE.sub(lambda m: m[1] + markdown() + m[2], PAGE.read_text()),
                         PAGE.read_text(), "run tests/checks/docs_test.py --write")

    def test_links_lead_to_files(self):
        for page in [*TREE.glob("*.md"), *TREE.glob("docs/*.md")]:
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(TABLE.sub(lambda m: m[1] + markdown() + m[2], PAGE.read_text()))
    else:
        unittest.main()
