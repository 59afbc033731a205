#!/usr/bin/env python3
"""What tools/check_lengths.py takes for a function, how it counts lines, and what it refuses, on a small tree.

Usage: check_lengths_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True
import check_lengths  # noqa: E402


def counted(text):
    return [(function.name, function.line, function.lines) for function in check_lengths.functions(text)]


class Functions(unittest.TestCase):
    def test_a_function_begins_with_its_declaration(self):
        self.assertEqual(counted("int x;\ntemplate <class T>\nint f(T a,\n      T b) {\n  return a;\n}\nvoid g() noexcept { f(1, 2); }\n"),
                         [("f", 2, 5), ("g", 7, 1)])

    def test_namespaces_and_types_hold_functions(self):
        self.assertEqual(counted('namespace a::b {\nextern "C" {\nclass C final : public D {\n public:\n  C(int x) : x_(x), y_{1} {}\n'
                                 "  int f() const override {\n    return x_;\n  }\n};\n}\n}\n"), [("C", 5, 1), ("f", 6, 3)])

    def test_values_are_no_functions(self):
        self.assertEqual(counted("constexpr int kTable[] = {\n  1,\n};\nenum class E { a };\nalignas(64) int row_[4] = {};\nint f(int (&)[4]) {\n}\n"),
                         [("f", 6, 2)])

    def test_lambdas_and_local_classes_count_for_their_function(self):
        self.assertEqual(counted("auto f() -> int {\n  struct S { int g() { return 1; } };\n  const auto h = [](int i) {\n    return i;\n  };\n  return h(1);\n}\n"),
                         [("f", 1, 7)])

    def test_comments_literals_and_preprocessor_lines_hold_no_braces(self):
        self.assertEqual(counted("#define BEGIN() {\\\n  {\nint f() {\n  // {\n  /* { */ const char b = '{';\n  const char* a = \"{\\\"{\";\n  return 1'000;\n}\nint g() { return 0; }\n"),
                         [("f", 3, 6), ("g", 9, 1)])


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def check(self, status, name, text):
        (self.root / "src/a").mkdir(parents=True, exist_ok=True)
        (self.root / "src/a" / name).write_text(text)
        result = subprocess.run([sys.executable, "-B", f"{TOOLS}/check_lengths.py", self.root], capture_output=True, text=True)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def test_long_functions_are_refused(self):
        self.check(0, "one.cc", "int f() {\n" + "  g();\n" * 78 + "}\n")
        self.assertEqual(self.check(1, "one.cc", "\nint f() {\n" + "  g();\n" * 79 + "}\n"),
                         "src/a/one.cc:2: f has 81 lines, and a function may have 80\n")

    def test_long_files_are_refused(self):
        self.check(0, "one.h", "int x;\n" * 600)
        self.assertEqual(self.check(1, "one.h", "int x;\n" * 601), "src/a/one.h: 601 lines, and a file may have 600\n")

    def test_schemas_are_tables(self):
        self.check(0, "operators.toml", "a = 1\n" * 2000)


if __name__ == "__main__":
    unittest.main()
