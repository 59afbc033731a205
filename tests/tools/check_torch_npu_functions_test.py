#!/usr/bin/env python3
"""What tools/check_torch_npu_functions.py reads, writes and refuses, on a small tree.

Usage: check_torch_npu_functions_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)

SCHEMA = """
[abs]
source = "unary"
repository = "math"
title = "aclnnAbs, the absolute value."
formula = "out = |self|"
types = "floats."
arguments = '''
self: the input
out: the result'''
codes = '''
161001: a null pointer'''
dtypes = "f32"
functions = ["aclnnAbs(tensor self, out tensor out)"]
"""
REASON = "Not computed yet."
ABSENT = f'[[absent]]\nreason = "{REASON}"\nfunctions = ["aclnnNone"]\n'
TABLE = {
    "operators": {"aten::none": "Abs None", "aten::either": "NoneV2|None", "aten::abs": "Abs"},
    "products": {"Ascend950.*": {"aten::npu_none": "None", "aten::none": "None"}},
}
PAGE = "before\n<!-- functions -->\n<!-- end of functions -->\nafter\n"


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/aclnnop/pointwise/operators.toml", SCHEMA)
        self.write("src/aclnnop/pointwise/unary.cc", "")
        self.write("python/portacl/torch/operators-2.9.0.json", "{}")
        self.write("python/portacl/torch/operators-2.13.0.json", json.dumps(TABLE))
        self.write("tools/torch_npu_table/functions-2.13.0.txt", "aclnnAbs\naclnnNone\n")
        self.write("tools/torch_npu_table/absent_functions.toml", ABSENT)
        self.write("docs/torch_npu_functions.md", PAGE)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *arguments):
        command = [sys.executable, "-B", f"{TOOLS}/check_torch_npu_functions.py", *arguments, self.root]
        result = subprocess.run(command, capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def faults(self):
        status, told = self.check()
        self.assertEqual(status, 1, told)
        return told

    def test_a_page_that_was_written_is_in_order(self):
        self.assertIn("docs/torch_npu_functions.md is not what the sources say", self.faults())
        self.assertEqual(self.check("--write"), (0, "functions of torch_npu: 2\n"))
        self.assertEqual(self.check(), (0, "functions of torch_npu: 2\n"))
        page = (self.root / "docs/torch_npu_functions.md").read_text()
        self.assertTrue(page.startswith("before\n") and page.endswith("\nafter\n"))
        self.assertIn("2 names: 1 are native, 1 are not.\n", page)
        self.assertIn("| pointwise (1) | Abs |\n", page)
        self.assertIn(f"| `aclnnNone` | `either`, `none`, `npu_none` | {REASON} |\n", page)

    def test_each_name_has_a_header_or_a_reason(self):
        self.write("tools/torch_npu_table/functions-2.13.0.txt", "aclnnAbs\naclnnNone\naclnnOther\n")
        self.assertIn("functions-2.13.0.txt has aclnnOther: no header declares it, and", self.faults())

    def test_no_name_has_both(self):
        self.write("tools/torch_npu_table/absent_functions.toml", ABSENT.replace('["', '["aclnnAbs", "'))
        self.assertIn("gives a reason for aclnnAbs, which aclnn_abs.h declares", self.faults())

    def test_no_reason_stands_alone_or_twice(self):
        self.write("tools/torch_npu_table/absent_functions.toml", ABSENT.replace('["', '["aclnnGone", "aclnnNone", "'))
        told = self.faults()
        self.assertIn("has aclnnGone, which functions-2.13.0.txt has not", told)
        self.assertIn("has aclnnNone twice", told)

    def test_names_are_whole_texts_of_a_library(self):
        texts = (b"aclnnAbsGetWorkspaceSize", b"aclnnAbs", b"aclnnNone", b"call aclnnMul failed", b"aclnnoparam", b"xaclnnDiv")
        library = self.root / "library.so"
        library.write_bytes(b"\0\1".join(texts) + b"\0")
        self.write("tools/torch_npu_table/functions-2.13.0.txt", "")
        self.assertEqual(self.check("--names", library), (0, ""))
        names = (self.root / "tools/torch_npu_table/functions-2.13.0.txt").read_text()
        self.assertEqual(names, "aclnnAbs\naclnnNone\n")


if __name__ == "__main__":
    unittest.main()
