#!/usr/bin/env python3
"""Which blocks of comments tools/check_comments.py counts, and when it refuses them, on a small tree.

Usage: check_comments_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)


class Comments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools").mkdir()
        self.write("src/a/b/c/one.h", "// What it takes.\n// Where it lies.\nint a;  // What is not counted.\n/// Of a row.\nint b;\n// Offsets.\n// Of rows\n")
        self.write("src/two.toml", "# Those that stay.\n[a]\n# Whatever\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def check(self, status, *arguments):
        result = subprocess.run([sys.executable, "-B", f"{TOOLS}/check_comments.py", *arguments, self.root], capture_output=True, text=True)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def counts(self):
        return (self.root / "tools/comment_counts.txt").read_text().splitlines()[1:]

    def test_first_lines_of_blocks_are_counted_by_folder(self):
        said = self.check(1)
        self.assertIn("src/a/b: 2 blocks of comments begin with a relative clause or a bare Of, and 0 may:\n"
                      "src/a/b/c/one.h:1: What it takes.\nsrc/a/b/c/one.h:4: Of a row.\n", said)
        self.check(0, "--record")
        self.assertEqual(self.counts(), ["   2 .", "   2 a/b"])
        self.check(0)

    def test_more_than_recorded_are_refused_and_fewer_are_not(self):
        self.check(0, "--record")
        self.write("src/a/b/two.cc", "// Who comes first\n")
        self.assertIn("src/a/b/two.cc:1: Who comes first", self.check(1))
        self.check(1, "--record")
        self.write("src/a/b/two.cc", "// Returns the first.\n")
        self.write("src/two.toml", "# Kept.\n")
        self.check(0)
        self.check(0, "--record")
        self.assertEqual(self.counts(), ["   2 a/b"])

    def test_pronouns_are_refused_however_many_there_were(self):
        self.check(0, "--record")
        for number, text in enumerate(("Its size.", "The same for rows.", "The same, without dims.", "Both return NaN.", "Likewise for a row.", "It waits.")):
            self.write("src/a/b/two.cc", f"// {text}\nint a;\n")
            self.check(0, "--record")
            self.assertIn(f"src/a/b/two.cc:1: {text}: begins with a pronoun; name the thing\n", self.check(1), number)
        self.write("src/a/b/two.cc", "// The same bytes may be read elsewhere.\n\n// Items of rows.\n\n// Bothers nobody.\n")
        self.check(0)

    def test_public_headers_may_have_none(self):
        self.check(0, "--record")
        for text in ("What a call returns.", "The same for lists."):
            self.write("include/acl/one.h", f"// {text}\nint a;\n")
            self.check(0, "--record")
            self.assertIn(f"include/acl/one.h:1: {text}: begins with neither a verb nor the name of the thing\n", self.check(1))
        self.write("include/acl/one.h", "// The code that a call returns.\nint a;\n")
        self.check(0)

    def test_a_folder_that_is_called_otherwise_keeps_its_count(self):
        self.check(0, "--record")
        (self.root / "src/a").rename(self.root / "src/base")
        self.check(1)
        self.check(0, "--record")
        self.check(0)


if __name__ == "__main__":
    unittest.main()
