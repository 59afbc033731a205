#!/usr/bin/env python3
"""What tools/check_graph_operators.py reads of the sources, writes and refuses, on a small tree.

Usage: check_graph_operators_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)

TABLE = """
#define UNARY(type, function) NATIVE(type, 1, 1, 1, function, a.In(0), a.Out(0))
    // ---- element by element ----
    UNARY("Abs", aclnnAbs),
    // ---- rows ----
    NATIVE("Both", 1, 1, 1, aclnnAdd, a.In(0), a.Out(0)),
    NATIVE(
        "Both", 1, 1, 1, aclnnMul, a.In(0), a.Out(0)),
"""
CALLS = 'CALLS = {\n    "npu_abs": "Abs",\n    "npu_nms": "Abs Nms",\n}\n'
NEEDS = {"aten::npu_abs": "", "aten::npu_nms": "graph:Nms", "aten::lstm": "legacy"}
PAGE = "before\n<!-- types -->\n<!-- end of types -->\nbetween\n<!-- torch_npu -->\n<!-- end of torch_npu -->\nafter\n"


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/aclop/operator_table.cc", TABLE)
        self.write("tools/torch_npu_table/graph_operators.py", CALLS)
        self.write("python/portacl/torch/operators-2.9.0.json", json.dumps({"operators": {}}))
        self.write("python/portacl/torch/operators-2.13.0.json", json.dumps({"operators": NEEDS}))
        self.write("python/portacl/torch/operators-2.14.0.json", json.dumps({"base": "2.13.0", "operators": {}}))
        self.write("docs/graph_operators.md", PAGE)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *arguments):
        result = subprocess.run([sys.executable, "-B", f"{TOOLS}/check_graph_operators.py", *arguments, self.root],
                                capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def test_a_page_that_was_written_is_in_order(self):
        status, told = self.check()
        self.assertEqual(status, 1)
        self.assertIn("docs/graph_operators.md is not what the sources say", told)
        self.assertEqual(self.check("--write")[0], 0)
        self.assertEqual(self.check(), (0, "graph operators: 4 types\n"))
        page = (self.root / "docs/graph_operators.md").read_text()
        self.assertTrue(page.startswith("before\n") and page.endswith("\nafter\n"))
        self.assertIn("| element by element | `Abs`: aclnnAbs |\n| rows | `Both`: aclnnAdd, aclnnMul |\n", page)
        self.assertIn("1 work:\n\n| operator | by |\n|---|---|\n| `npu_abs` | Abs |\n", page)
        self.assertIn("| `npu_nms` | Nms |\n", page)
        self.assertIn("nothing is known: `lstm`.", page)

    def test_rows_of_a_type_stand_together(self):
        self.write("src/aclop/operator_table.cc", TABLE + '    UNARY("Abs", aclnnAbs),\n')
        self.assertIn("the rows of Abs do not stand together", self.check()[1])

    def test_the_newest_table_names_what_is_missing(self):
        self.check("--write")
        self.write("src/aclop/operator_table.cc", TABLE + '    UNARY("Nms", aclnnNms),\n')
        status, told = self.check()
        self.assertEqual(status, 1)
        self.assertIn('operators-2.13.0.json: aten::npu_nms needs "graph:Nms", and by the sources ""', told)

    def test_a_page_without_its_marks_is_refused(self):
        self.write("docs/graph_operators.md", "before\n")
        status, told = self.check()
        self.assertEqual(status, 1)
        self.assertIn("lacks <!-- types -->", told)


if __name__ == "__main__":
    unittest.main()
