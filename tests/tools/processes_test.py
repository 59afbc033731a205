#!/usr/bin/env python3
"""Which processes tests/register_processes.cmake makes of a GoogleTest executable, on a script that stands for one, and how they run.

Usage: processes_test.py CMAKE CTEST
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

CTEST = sys.argv.pop(2)
CMAKE = sys.argv.pop(1)
TESTS = pathlib.Path(__file__).resolve().parents[1]
LISTING = """Running main() from gtest_main.cc
Alone.
  First
  Second
Of/Shared.
  Adds/small  # GetParam() = a "name"; with [brackets
  Adds/large  # GetParam() = 2
Typed/0.  # TypeParam = int
  Works
"""
EXECUTABLE = f"""#!{sys.executable}
import os, sys
if "--gtest_list_tests" in sys.argv:
    print({LISTING!r}, end="")
else:
    print("ran", sys.argv[1], os.environ.get("GTEST_SHARD_INDEX"), os.environ.get("GTEST_TOTAL_SHARDS"))
    sys.exit("Typed" in sys.argv[1])
"""
TABLE = "# each one\\..*\neach one\\.Alone\n2 one\\.Of/Shared\n9 one\\..*/Shared\n"


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        executable = self.root / "one"
        executable.write_text(EXECUTABLE)
        executable.chmod(0o755)

    def register(self, table, *more):
        (self.root / "table").write_text(table)
        return subprocess.run([CMAKE, "-D", "NAME=one", "-D", f"EXECUTABLE={self.root}/one", "-D", "LEFT_OUT=*Long.*", "-D", f"TABLE={self.root}/table",
                               "-D", f"OUTPUT={self.root}/CTestTestfile.cmake", *more, "-P", TESTS / "register_processes.cmake"],
                              capture_output=True, text=True)

    def ctest(self, *arguments):
        return subprocess.run([CTEST, "--test-dir", self.root, *arguments], capture_output=True, text=True).stdout

    def names(self, *arguments):
        return re.findall(r"Test +#\d+: (.*)", self.ctest("-N", *arguments))

    def test_a_suite_is_a_process_but_for_the_table(self):
        self.assertEqual(self.register(TABLE).stderr, "")
        self.assertEqual(self.names(), ["one.Alone.First", "one.Alone.Second", "one.Of/Shared.part1of2", "one.Of/Shared.part2of2", "one.Typed/0"])
        self.assertEqual(self.register("# nothing\n").stderr, "")
        self.assertEqual(self.names(), ["one.Alone", "one.Of/Shared", "one.Typed/0"])

    def test_each_test_is_a_process_where_that_is_asked_for(self):
        self.register("")
        self.assertEqual(self.names("-C", "cases"), ["one.Alone.First", "one.Alone.Second", "one.Of/Shared.Adds/small", "one.Of/Shared.Adds/large",
                                                     "one.Typed/0.Works"])

    def test_what_a_process_runs(self):
        self.register(TABLE, "-D", "EMULATOR=/usr/bin/env;A=b c")
        said = self.ctest("-V")
        for ran in ("Alone.First:-*Long.* None None", "Of/Shared.*:-*Long.* 0 2", "Of/Shared.*:-*Long.* 1 2", "Typed/0.*:-*Long.* 0 1"):
            self.assertIn(f"ran --gtest_filter={ran}\n", said)
        self.assertIn("80% tests passed, 1 tests failed out of 5", said)
        self.assertRegex(said, r"5 - one.Typed/0 \(Failed\)")

    def test_what_a_process_leaves_out_when_it_runs(self):
        self.register(TABLE)
        with mock.patch.dict(os.environ, PORTACL_TESTS_EXCEPT=":*large*:*Works", PORTACL_TESTS_DRAWN="1 of 3: other one"):
            said = self.ctest("-V")
            cases = self.ctest("-V", "-C", "cases")
        without = ":-*Long.*:*large*:*Works"
        for ran in (f"Alone.First{without} None None", f"Of/Shared.*{without} 1 6", f"Of/Shared.*{without} 4 6", f"Typed/0.*{without} 1 3"):
            self.assertIn(f"ran --gtest_filter={ran}\n", said)
        self.assertIn(f"ran --gtest_filter=Of/Shared.Adds/small{without} None None\n", cases)
        with mock.patch.dict(os.environ, PORTACL_TESTS_DRAWN="1 of 3: other one_more"):
            self.assertIn("ran --gtest_filter=Typed/0.*:-*Long.* 0 1\n", self.ctest("-V"))

    def test_an_executable_that_does_not_list_its_tests(self):
        (self.root / "one").write_text("#!/bin/sh\necho no\nexit 3\n")
        result = self.register("")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"one does not list its tests\s+\(3\):")
        self.assertFalse((self.root / "CTestTestfile.cmake").exists())

    def test_the_table_of_the_tests(self):
        for line in (TESTS / "processes.txt").read_text().splitlines():
            self.assertRegex(line, r"^(#.*|(each|[1-9]\d*) \S+|)$")
            if line and line[0] != "#":
                re.compile(line.split()[1])


if __name__ == "__main__":
    os.environ.pop("CTEST_OUTPUT_ON_FAILURE", None)
    unittest.main()
