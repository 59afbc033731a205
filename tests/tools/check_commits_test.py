#!/usr/bin/env python3
"""Which subjects tools/check_commits.py refuses, in a small repository.

Usage: check_commits_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)
SOMEBODY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Commits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def git(self, *arguments):
        environment = {**os.environ, **SOMEBODY, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", f"{subject}\n\n{'a body of any length ' * 9}")

    def check(self, *arguments):
        result = subprocess.run([sys.executable, "-B", f"{TOOLS}/check_commits.py", self.root, *arguments], capture_output=True, text=True)
        return result.returncode, result.stdout

    def test_new_subjects_take_72_characters(self):
        self.git("init", "-q")
        self.commit("x" * 90)
        start = self.git("rev-parse", "HEAD")
        self.commit("y" * 72)
        self.assertEqual(self.check(start), (0, "subjects of commits: in order (1 looked at)\n"))
        self.commit("z" * 73)
        status, said = self.check(start)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^[0-9a-f]+: the subject takes 73 characters, and 72 are allowed: z+\n$")

    def test_without_history_there_is_nothing_to_look_at(self):
        self.assertEqual(self.check(), (0, "subjects of commits: no history here\n"))
        self.git("init", "-q")
        self.commit("x" * 90)
        self.assertEqual(self.check(), (0, "subjects of commits: no history here\n"))  # START is not in it


if __name__ == "__main__":
    unittest.main()
