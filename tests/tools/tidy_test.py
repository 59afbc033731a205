#!/usr/bin/env python3
"""Which sources tools/tidy.py has clang-tidy look at, and what it keeps, on a small tree with programs that stand in for Ninja and clang-tidy.

Usage: tidy_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)

FILES = {
    "src/a.h": "int a;\n",
    "src/a.cc": '#include "a.h"\n',
    "src/b-inl.h": "int b;\n",
    "src/c.cc": '#include "b-inl.h"\n#include "a.h"\n',
    "src/d.cc": '#include "b-inl.h"\n',
    ".clang-tidy": "Checks: '*'\n",
}
DEPS = """a.o: #deps 2, deps mtime 1 (VALID)
    ../src/a.cc
    ../src/a.h
    /usr/include/stdio.h

c.o: #deps 3, deps mtime 1 (VALID)
    ../src/c.cc
    ../src/b-inl.h
    ../src/a.h

d.o: #deps 2, deps mtime 1 (VALID)
    ../src/d.cc
    ../src/b-inl.h

"""
COMMANDS = """[{"directory": "build", "file": "../src/a.cc",
  "command": "g++ -O3 -Winvalid-pch -include /a/folder/objects.dir/cmake_pch.hxx -fpch-deps -finline-small-functions -Wno-uninitialized -Wno-maybe-uninitialized -o a.o -c ../src/a.cc"}]
"""
# Tells which source it was asked about, keeps the commands, and finds the word "fault" in the source and in the header that stands in the same folder.
CLANG_TIDY = """#!/bin/sh
[ "$1" = --version ] && { echo "clang version ${TIDY_VERSION:-14.0.6}"; exit; }
for last; do :; done
echo "$last" >>"$(dirname "$0")/seen"
cp "$2/compile_commands.json" "$(dirname "$0")/commands"
! grep -H fault "$last"
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for path, text in FILES.items():
            self.write(path, text)
        self.write("build/deps", DEPS)
        self.write("build/compile_commands.json", COMMANDS)
        for program, text in (("ninja", f'#!/bin/sh\ncat "{self.root}/build/deps"\n'), ("clang-tidy", CLANG_TIDY)):
            self.write(f"build/{program}", text)
            (self.root / "build" / program).chmod(0o755)
        self.write("build/CMakeCache.txt", f"CMAKE_MAKE_PROGRAM:FILEPATH={self.root}/build/ninja\n")
        (self.root / "tools").mkdir()
        for script in ("tidy.py", "recorded_state.py"):
            shutil.copy(f"{TOOLS}/{script}", self.root / "tools")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def looked_at(self, *arguments, status=0, **environment):
        """The names of the sources that clang-tidy was asked about."""
        seen = self.root / "build/seen"
        seen.unlink(missing_ok=True)
        run = subprocess.run(
            [sys.executable, "-B", self.root / "tools/tidy.py", "build", "--clang-tidy", self.root / "build/clang-tidy", *arguments],
            cwd=self.root, env=environment, capture_output=True, text=True)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.said = run.stdout
        return sorted(pathlib.Path(line).name for line in seen.read_text().splitlines()) if seen.exists() else []

    def test_commands_name_no_precompiled_header(self):
        self.looked_at()
        self.assertIn("g++ -O3 -o a.o -c ../src/a.cc", (self.root / "build/commands").read_text())

    def test_everything_without_a_list_and_nothing_after_it(self):
        self.assertEqual(self.looked_at(), ["a.cc", "c.cc", "d.cc"])
        self.assertEqual(self.looked_at("--record"), ["a.cc", "c.cc", "d.cc"])
        self.assertEqual(self.looked_at(), [])
        self.assertEqual(self.looked_at("--whole"), ["a.cc", "c.cc", "d.cc"])

    def test_a_changed_source(self):
        self.looked_at("--record")
        self.write("src/c.cc", "int c;\n")
        self.assertEqual(self.looked_at(), ["c.cc"])
        self.assertEqual(self.looked_at(), ["c.cc"])  # until it is recorded

    def test_a_changed_header_by_its_own_source_else_by_the_one_that_includes_least(self):
        self.looked_at("--record")
        self.write("src/a.h", "long a;\n")
        self.assertEqual(self.looked_at(), ["a.cc"])
        self.write("src/b-inl.h", "long b;\n")
        self.assertEqual(self.looked_at(), ["a.cc", "d.cc"])
        self.write("src/c.cc", "int c;\n")  # looked at anyhow, and it includes both
        self.assertEqual(self.looked_at(), ["c.cc"])

    def test_what_moved_is_not_new(self):
        self.looked_at("--record")
        (self.root / "src/moved").mkdir()
        (self.root / "src/a.h").rename(self.root / "src/moved/a.h")
        self.write("src/a.cc", '#include "moved/a.h"\n')
        self.write("src/c.cc", '#include "moved/a.h"\n#include "b-inl.h"\n')
        self.assertEqual(self.looked_at(), [])
        self.write("src/c.cc", '#include "moved/a.h"\n#include "other.h"\n')
        self.assertEqual(self.looked_at(), ["c.cc"])

    def test_a_header_that_nothing_includes(self):
        self.looked_at("--record")
        self.write("src/lost.h", "int lost;\n")
        self.assertEqual(self.looked_at(status=1), [])
        self.assertIn("src/lost.h: no source includes it", self.said)

    def test_what_is_found_is_not_recorded(self):
        self.looked_at("--record")
        self.write("src/d.cc", "fault\n")
        self.assertEqual(self.looked_at("--record", status=1), ["d.cc"])
        self.assertIn("src/d.cc:fault", self.said)
        self.assertEqual(self.looked_at(status=1), ["d.cc"])

    def test_a_program_that_dies_has_not_found_it_clean(self):
        self.looked_at("--record")
        self.write("src/d.cc", "int d;\n")
        self.write("build/clang-tidy", CLANG_TIDY.replace("! grep -H fault", "kill -9 $$; ! grep -H fault"))
        self.assertEqual(self.looked_at("--record", status=1), ["d.cc"])
        self.assertIn("src/d.cc: clang-tidy ended with -9", self.said)
        self.assertEqual(self.looked_at(status=1), ["d.cc"])

    def test_everything_after_another_version_or_other_checks(self):
        self.looked_at("--record")
        self.assertEqual(self.looked_at(TIDY_VERSION="15.0.0"), ["a.cc", "c.cc", "d.cc"])
        self.write(".clang-tidy", "Checks: ''\n")
        self.assertEqual(self.looked_at(), ["a.cc", "c.cc", "d.cc"])


if __name__ == "__main__":
    unittest.main()
