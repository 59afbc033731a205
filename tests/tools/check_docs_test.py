#!/usr/bin/env python3
"""What tools/check_docs.py finds wrong in pages of a small tree.

Usage: check_docs_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = sys.argv.pop(1)

FILES = {
    "dev": "#: build     build it\n",
    "src/plan/loop.cc": "// Plans (see docs/tour.md#the-loop).\nint LoopPlan;\n",
    "src/plan/loop.h": "\n",
    "tests/maps/maps_test.cc": "\n",
    "docs/tour.md": "# Tour\n\n```\n# not a heading\n```\n\n## The `loop`\n",
    "docs/testing.md": "# Testing\n",
    "README.md": "# This\n",
    "CONTRIBUTING.md": "`src/plan/`\n",
}


class Docs(unittest.TestCase):
    def faults(self, path, text):
        with tempfile.TemporaryDirectory() as root:
            for name, content in {**FILES, path: text}.items():
                (pathlib.Path(root) / name).parent.mkdir(parents=True, exist_ok=True)
                (pathlib.Path(root) / name).write_text(content)
            result = subprocess.run([sys.executable, "-B", f"{TOOLS}/check_docs.py", root], capture_output=True, text=True)
            self.assertEqual(result.returncode, int(result.stdout != "pages: what they name is there\n"), result.stderr)
            return result.stdout.splitlines() if result.returncode else []

    def test_what_is_there(self):
        self.assertEqual(self.faults("docs/testing.md", "[tour](tour.md#the-loop) `src/plan/` `src/plan/loop.{h,cc}` `tests/*/NAME_test.cc` `loop.*` `maps/`\n"
                                                        "`LoopPlan` `a.b` `./dev build` `src/plan/loop` one in 10 sources [a](https://b/c) `aclnnAdd`\n"), [])

    def test_what_is_not(self):
        for text, fault in {
            "[a](gone.md)": "link to gone.md, which is not there",
            "[a](tour.md#a-loop)": "link to tour.md#a-loop: no heading is called so",
            "[a](tour.md#not-a-heading)": "link to tour.md#not-a-heading: no heading is called so",
            "`src/plans/`": "`src/plans/` is not there",
            "`src/plan/loop.{h,c}`": "`src/plan/loop.{h,c}` is not there",
            "```\nat src/plan/loops.cc\n```": "src/plan/loops.cc is not there",
            "`loops.cc`": "no file is called `loops.cc`",
            "`loops/`": "no folder is called `loops/`",
            "`portacl::LoopPlans`": "`portacl::LoopPlans` is the name of nothing in the sources",
            "`./dev run`": "./dev has no verb run",
            "all 347 files": "a number that nobody keeps true: 347 files",
            "as said (N3)": "refers to a decision that no page explains: (N3)",
        }.items():
            with self.subTest(text):
                self.assertEqual(self.faults("docs/testing.md", f"# A\n{text}\n"), [f"docs/testing.md:{2 + text.startswith('```')}: {fault}"])

    def test_quotes_stand_in_a_source(self):
        quote = "# A\n```cpp\n  int LoopPlan;\n\n// Plans (see docs/tour.md#the-loop).\nint LoopPlan;\n```\n```sh\n./dev build\n```\n"
        self.assertEqual(self.faults("docs/testing.md", quote), [])
        self.assertEqual(self.faults("docs/testing.md", quote.replace("int LoopPlan;\n```", "int Loop;\n```")),
                         ["docs/testing.md:5: quotes what stands in no source: // Plans (see docs/tour.md#the-loop)."])
        self.assertEqual(self.faults("README.md", "```cpp\nint Loop;\n```\n"), [])

    def test_pages_for_users_may_name_what_others_have(self):
        self.assertEqual(self.faults("README.md", "`LoopPlans`, `loops.cc`, 347 files\n"), [])
        self.assertEqual(self.faults("README.md", "`src/plans`\n"), ["README.md:1: `src/plans` is not there"])

    def test_every_folder_has_a_row(self):
        self.assertEqual(self.faults("src/engine/a.cc", ""), ["CONTRIBUTING.md: src/engine/ has no row in the table of folders"])

    def test_sources(self):
        self.assertEqual(self.faults("src/plan/a.cc", "int a; // docs/tour.md#gone, docs/gone.md\nint b; // (R4)\nint c = f(R4);\n"),
                         ["src/plan/a.cc:1: docs/tour.md#gone is not there", "src/plan/a.cc:1: docs/gone.md is not there",
                          "src/plan/a.cc:2: refers to a decision that no page explains: (R4)"])


if __name__ == "__main__":
    unittest.main()
