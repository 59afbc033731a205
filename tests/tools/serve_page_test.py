#!/usr/bin/env python3
"""The table of `./dev serve`: rows of a run take the place of that run's, and no others'.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "serve"))
import page  # noqa: E402


def row(version, model, run, case, result="same", remark=""):
    return page.Row(version, model, run, case, result, 1.25, ["aten::foo"], remark)


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "page.md"
        self.file.write_text(f"before\n{page.BEGIN}\n{page.END}\nafter\n", encoding="utf-8")

    def rows(self):
        lines = self.file.read_text(encoding="utf-8").splitlines()
        self.assertEqual((lines[0], lines[-1]), ("before", "after"))
        table = [line for line in lines if line.startswith("| ")]
        self.assertEqual(table[0], "| " + " | ".join(page.HEADS) + " |")
        return [tuple(cell.strip() for cell in line.strip("|").split(" | "))[:5] for line in table[1:]]

    def test_runs_stand_in_their_order_and_are_replaced_whole(self):
        page.write(self.file, [row("0.18.0", "qwen2", "server", "start")], "torch 1")
        page.write(self.file, [row("0.23.0", "qwen2", "graphs", "start"), row("0.23.0", "qwen2", "graphs", "greedy")], "torch 2")
        page.write(self.file, [row("0.23.0", "qwen3-moe", "offline", "start", "fails", "a | b <c>")], "torch 2")
        expected = [
            ("0.23.0", "qwen3-moe", "offline", "start", "fails"),
            ("0.23.0", "qwen2", "graphs", "start", "same"),
            ("0.23.0", "qwen2", "graphs", "greedy", "same"),
            ("0.18.0", "qwen2", "server", "start", "same"),
        ]
        self.assertEqual(self.rows(), expected)
        text = self.file.read_text(encoding="utf-8")
        self.assertIn("With torch 2.", text)
        self.assertIn("| 1.2 | foo | a / b &lt;c> |", text)
        page.write(self.file, [row("0.23.0", "qwen2", "graphs", "start", "fails")], "torch 3")
        expected[1:3] = [("0.23.0", "qwen2", "graphs", "start", "fails")]
        self.assertEqual(self.rows(), expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
