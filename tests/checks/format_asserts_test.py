#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A report format with a broken rule does not compile: each case changes one
thing in a copy of the header and names the assertion that must speak."""
import os
import pathlib
import tempfile
import unittest

import compiled

TREE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILD = os.environ["CAIRN_BINARY_DIR"]
ASSERTS = TREE / "src/format/format_asserts.cc"
HEADER = "report_format.h"


class FormatAsserts(unittest.TestCase):
    def compile(self, old="", new=""):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place) / "src/format"
            folder.mkdir(parents=True)
            for header in (TREE / "src/format").glob("*.h"):
                text = header.read_text()
                if header.name == HEADER:
                    self.assertEqual(text.count(old) if old else 1, 1, f"{old!r} in {HEADER}")
                    text = text.replace(old, new) if old else text
                (folder / header.name).write_text(text)
            source = folder / ASSERTS.name
            source.write_text(ASSERTS.read_text())
            return compiled.compile_like(BUILD, ASSERTS, source, folder / "out.o", folder.parent)

    def assertBreaks(self, old, new, message):
        result = self.compile(old, new)
        self.assertNotEqual(result.returncode, 0, f"{new!r} compiled")
        self.assertIn(message, result.stderr)

    def test_the_header_as_it_is(self):
        result = self.compile()
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_id_used_twice(self):
        self.assertBreaks("V(AppVersion, 3,", "V(AppVersion, 2,", "field ids")

    def test_id_zero(self):
        self.assertBreaks("V(App, 1,", "V(App, 0,", "field ids")

    def test_ids_out_of_order(self):
        self.assertBreaks("V(HostOs, 17,", "V(HostOs, 18,", "field ids")

    def test_parent_that_is_no_group(self):
        self.assertBreaks("V(AppVersion, 3, String, App,", "V(AppVersion, 3, String, AppId,",
                          "parent is no group")

    def test_parent_that_does_not_exist(self):
        self.assertBreaks("V(AppVersion, 3, String, App,", "V(AppVersion, 3, String, Apq,", "kApq")

    def test_kind_that_does_not_exist(self):
        self.assertBreaks("V(AppVersion, 3, String, App,", "V(AppVersion, 3, Sting, App,", "kSting")

    def test_enumerator_used_twice(self):
        self.assertBreaks("V(Proc, 4,", "V(Proc, 3,", "FrozenBy")

    def test_trust_that_does_not_fit_its_bits(self):
        self.assertBreaks('V(Scan, 6, "scan")', 'V(Scan, 16, "scan")', "share a byte")

    def test_groups_deeper_than_the_limit(self):
        self.assertBreaks("kMaxGroupDepth = 8", "kMaxGroupDepth = 1", "kMaxGroupDepth")

    def test_payload_longer_than_its_length_can_say(self):
        self.assertBreaks("kMaxPayloadBytes = 1u << 20", "kMaxPayloadBytes = 1ull << 40",
                          "kMaxRecordHeaderBytes")

    def test_file_header_grown(self):
        self.assertBreaks("uint8_t reserved[344];", "uint8_t reserved[352];", "FileHeader")

    def test_file_header_member_moved(self):
        self.assertBreaks("  uint16_t header_bytes;", "  uint64_t header_bytes;", "offsetof")

    def test_section_header_grown(self):
        self.assertBreaks("  uint32_t payload_crc;", "  uint64_t payload_crc;", "SectionHeader")

    def test_magic_without_its_line_end(self):
        self.assertBreaks(r"'\r', '\n', 0x1a", r"'\n', '\n', 0x1a", "kMagic")


if __name__ == "__main__":
    unittest.main()
