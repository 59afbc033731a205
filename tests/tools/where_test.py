#!/usr/bin/env python3
"""What tools/where.py prints for functions and operators of a small tree.

Usage: where_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)
sys.path.insert(0, TOOLS)

import public_functions  # noqa: E402
import where  # noqa: E402

FILES = {
    "include/acl/acl_rt.h": "// aclrtMalloc(size)\nint aclrtMalloc(void** devPtr,\n                unsigned long size);\nint aclrtFree(void* devPtr);\n",
    "src/acl/memory/memory.cc": "int aclrtMalloc(void** devPtr, unsigned long size);\n\nint aclrtMalloc(\n    void** devPtr, unsigned long size) {\n  return 0;\n}\n",
    "src/acl/memory/free.cc": "#define FREES(name) int name(void* devPtr) { return 0; }\n\nFREES(aclrtFree)\n",
    "src/aclnnop/arithmetic/copy.cc": "int aclnnCopyGetWorkspaceSize(int self) { return self; }\nint aclnnCopy(int stream) { return stream; }\n",
    "src/aclnnop/arithmetic/half.cc": "\nPORTACL_PHASE_1(aclnnHalf) { return 0; }\n\nTHIRDS(Third)\n",
    "src/aclop/operator_table.cc": 'ROW("Half", aclnnHalf),\nROW("Third", aclnnInplaceThird),\n',
    "src/aclnnop/arithmetic/operators.toml":
        '[copy]\nsource = "copy"\nrepository = "math"\ntitle = "Copies."\nformula = "c"\nfunctions = ["aclnnCopy(tensor self, out tensor out)"]\n'
        '[half]\nsource = "half"\nrepository = "math"\ntitle = "Halves."\nformula = "h"\n'
        'functions = ["aclnnHalf(tensor self, out tensor out)", "aclnnInplaceThird(inout tensor x)"]\n',
    "tests/numerics/copy_test.cc": "\n",
    "tests/acl/memory_test.cc": "\nint a = aclrtMalloc(nullptr, 0);\nint b = aclrtMalloc(nullptr, 1);\nint c = aclnnCopy(0);\n",
}


class Where(unittest.TestCase):
    def where(self, name):
        with tempfile.TemporaryDirectory() as root:
            for path, text in FILES.items():
                (pathlib.Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (pathlib.Path(root) / path).write_text(text)
            return subprocess.run([sys.executable, "-B", f"{TOOLS}/where.py", name, root], capture_output=True, text=True)

    def lines(self, name):
        return [" ".join(line.split()) for line in self.where(name).stdout.splitlines()]

    def test_a_function(self):
        self.assertEqual(self.lines("aclrtMalloc"),
                         ["definition src/acl/memory/memory.cc:3 aclrtMalloc", "header include/acl/acl_rt.h:2 aclrtMalloc",
                          "test tests/acl/memory_test.cc:2 2 places"])

    def test_one_that_a_macro_defines(self):
        self.assertEqual(self.lines("aclrtFree")[0], "definition src/acl/memory/free.cc:3 aclrtFree")

    def test_an_operator_by_its_function_or_its_file(self):
        expected = ["definition src/aclnnop/arithmetic/copy.cc:1 aclnnCopyGetWorkspaceSize", "definition src/aclnnop/arithmetic/copy.cc:2 aclnnCopy",
                    "header src/aclnnop/arithmetic/operators.toml:6 aclnnCopyGetWorkspaceSize", "header src/aclnnop/arithmetic/operators.toml:6 aclnnCopy",
                    "test tests/numerics/copy_test.cc:1", "test tests/acl/memory_test.cc:4"]
        self.assertEqual(self.lines("aclnnCopy"), expected)
        self.assertEqual(self.lines("copy"), expected)

    def test_an_operator_whose_functions_are_made(self):
        self.assertEqual(self.lines("aclnnHalf"),
                         ["definition src/aclnnop/arithmetic/half.cc:2 aclnnHalfGetWorkspaceSize", "definition src/aclnnop/arithmetic/half.cc:2 aclnnHalf",
                          "header src/aclnnop/arithmetic/operators.toml:12 aclnnHalfGetWorkspaceSize",
                          "header src/aclnnop/arithmetic/operators.toml:12 aclnnHalf"])

    def test_an_operator_whose_functions_are_rows_of_a_macro(self):
        self.assertEqual(self.lines("aclnnInplaceThird"),
                         ["definition src/aclnnop/arithmetic/half.cc:4 aclnnInplaceThirdGetWorkspaceSize",
                          "definition src/aclnnop/arithmetic/half.cc:4 aclnnInplaceThird",
                          "header src/aclnnop/arithmetic/operators.toml:12 aclnnInplaceThirdGetWorkspaceSize",
                          "header src/aclnnop/arithmetic/operators.toml:12 aclnnInplaceThird"])

    def test_every_public_function_has_a_definition(self):
        root = pathlib.Path(TOOLS).resolve().parent
        names = set().union(*public_functions.functions_by_header(public_functions.headers_of(root)).values())
        self.assertEqual([name for name in sorted(names) if not where.lines_of_definition(root, name)], [])

    def test_an_unknown_name(self):
        result = self.where("aclrtMaloc")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("aclrtMalloc", result.stderr)


if __name__ == "__main__":
    unittest.main()
