#!/usr/bin/env python3
"""That tests/headers has the signature of every function of the schema, written a second time.

Usage: signatures_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys
import unittest

TOOLS = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(TOOLS))
import schema.read  # noqa: E402

# HAS(aclnnNAME, ...) is about both phases, HAS_MOST(aclnnNAME) about aclnnNAMEGetMaxWorkspaceSize. Other rows name one function each.
ROW = re.compile(r"(?:\b(HAS(?:_MOST)?)\()?\b(aclnn\w+)")
ENDS = {"HAS": ("", "GetWorkspaceSize"), "HAS_MOST": ("GetMaxWorkspaceSize",), "": ("",)}


class Signatures(unittest.TestCase):
    def test_every_function(self):
        written = set()
        for path in (TOOLS.parent / "tests/headers").glob("*signatures_test.cc"):
            for macro, name in ROW.findall(re.sub("//.*", "", path.read_text(encoding="utf-8"))):
                written.update(name + end for end in ENDS[macro])
        declared = {one.name + end for header in schema.read.read(TOOLS.parent) for one in header.functions
                    for end in ENDS["HAS"][: one.phases]}
        self.assertEqual(sorted(declared - written), [])


if __name__ == "__main__":
    unittest.main()
