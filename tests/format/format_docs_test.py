#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/report-format.md and docs/report.schema.json are what the format's
definition prints, and `cairn show --json` keeps to the schema.

`format_docs_test.py --write` writes both documents.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

TREE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("CAIRN_BINARY_DIR", TREE / "build"))
PAGE = TREE / "docs/report-format.md"
SCHEMA = TREE / "docs/report.schema.json"
BLOCK = re.compile(r"<!-- (\w+) -->\n.*?<!-- end of \1 -->", re.S)


def run(program, *arguments):
    return subprocess.run([BUILD / "bin" / program, *arguments], check=True,
                          capture_output=True, text=True).stdout


def page():
    """The page with its generated blocks made anew."""
    blocks = {match[1]: match[0] for match in BLOCK.finditer(run("cairn-format", "--markdown"))}
    return BLOCK.sub(lambda match: blocks[match[1]], PAGE.read_text())


def visit(schema, value, root, seen):
    """Adds to `seen` each property of the schema that the value has."""
    if "$ref" in schema:
        return visit(root["$defs"][schema["$ref"].split("/")[-1]], value, root, seen)
    if isinstance(value, list):
        for item in value:
            visit(schema["items"], item, root, seen)
    for name, member in schema.get("properties", {}).items():
        if name in value:
            seen.add(id(member))
            visit(member, value[name], root, seen)
    return None


def properties(root):
    for place, schema in [("report", root), *root["$defs"].items()]:
        for name, member in schema["properties"].items():
            yield f"{place}.{name}", member


class FormatDocs(unittest.TestCase):
    def setUp(self):
        self.schema = json.loads(SCHEMA.read_text())
        self.validator = jsonschema.Draft202012Validator(self.schema)
        self.closed = {**self.schema, "additionalProperties": False}

    def complaints(self, value):
        closed = jsonschema.Draft202012Validator(self.closed)
        return [f"{list(error.path)}: {error.message}" for error in closed.iter_errors(value)]

    def test_the_page_is_what_the_definition_prints(self):
        self.assertEqual(PAGE.read_text(), page(), "run format_docs_test.py --write")

    def test_the_schema_is_what_the_definition_prints(self):
        self.assertEqual(SCHEMA.read_text(), run("cairn-format", "--schema"),
                         "run format_docs_test.py --write")
        self.validator.check_schema(self.schema)

    def test_samples_keep_to_the_schema(self):
        for sample in sorted(TREE.glob("tests/samples/*.cairn")):
            for options in ([], ["--raw"]):
                shown = json.loads(run("cairn", "show", "--json", *options, sample))
                self.assertEqual(self.complaints(shown), [], sample.name)

    def test_every_member_of_the_schema_is_printed_by_a_full_report(self):
        example = json.loads(run("cairn-format", "--example"))
        self.assertEqual(self.complaints(example), [])
        seen = set()
        visit(self.schema, example, self.schema, seen)
        missing = [name for name, member in properties(self.schema) if id(member) not in seen]
        self.assertEqual(missing, [])

    def test_the_schema_bites(self):
        shown = json.loads(run("cairn-format", "--example"))
        for change in ({"threads": None}, {"uuid": "x"}, {"kind": "boom"}, {"extra": 1}):
            self.assertNotEqual(self.complaints({**shown, **change}), [], change)
        shown["threads"][0]["frames"][0]["address"] = 4096
        self.assertNotEqual(self.complaints(shown), [])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
        SCHEMA.write_text(run("cairn-format", "--schema"))
    else:
        unittest.main()
