#!/usr/bin/env python3
"""That each entry of PyTorch's op_db that docs/pytorch.md says to differ or fail has a reason in opinfo_reasons.toml, that no other has, and
that the page lists them.

Usage: opinfo_reasons_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).parent
sys.path.insert(0, str(ROOT / "tests/pytorch_npu"))
import opinfo  # noqa: E402

PAGE = (ROOT / "docs/pytorch.md").read_text(encoding="utf-8")


class OpinfoReasons(unittest.TestCase):
    def test_each_entry_has_one(self):
        self.assertEqual(opinfo.unexplained(PAGE), [])

    def test_the_page_lists_them(self):
        self.assertEqual(opinfo.with_reasons(PAGE), PAGE)

    def test_an_entry_without_one_is_noticed(self):
        page = PAGE.replace("| abs | own |", "| abs | fails |")
        self.assertEqual(opinfo.unexplained(page), ["abs fails, and opinfo_reasons.toml gives no reason"])

    def test_a_reason_without_an_entry_is_noticed(self):
        page = PAGE.replace("| float_power | differs |", "| float_power | own |")
        self.assertEqual(opinfo.unexplained(page), ["opinfo_reasons.toml has float_power, which the page does not say to differ or fail"])

    def test_whose_rule_it_is(self):
        self.assertLessEqual({group["because"] for group in opinfo.reasons().values()}, {"torch_npu", "CANN", "PyTorch", "rounding"})


if __name__ == "__main__":
    unittest.main()
