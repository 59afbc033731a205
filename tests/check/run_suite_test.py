#!/usr/bin/env python3
"""What run_suite.py makes of test executables, on scripts that stand for them.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent / "run_suite.py"
ERROR = "portacl check: error host-access in the program: the host reads an address"
FINDING = {"part": "memory", "kind": "host-access", "certainty": "error", "function": "the program", "subject": "", "message": "the host reads an address", "mend": "",
           "times": 1, "places": []}


class Suite(unittest.TestCase):
    def run_suite(self, says: str, findings: list, code: int = 0) -> tuple[int, str]:
        """The runner's exit status and output, for an executable that writes that text and those findings."""
        collected = {"errors": len(findings), "warnings": 0, "suppressed": 0, "findings": findings}
        program = textwrap.dedent(f"""\
            #!{sys.executable}
            import os, sys
            print("[==========] 1 test from 1 test suite ran.")
            sys.stderr.write({says!r})
            open(os.environ["PORTACL_CHECK_FILE"].replace("%p", "1"), "w").write({json.dumps(collected)!r})
            print("[  PASSED  ] 1 test.")
            sys.exit({code})
            """)
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "tests").mkdir()
            executable = build / "tests" / "stand_in"
            executable.write_text(program)
            executable.chmod(0o755)
            (build / "tests" / "stand_in.include.cmake").touch()
            done = subprocess.run([sys.executable, "-B", RUNNER, build, "stand_in"], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_nothing_was_found(self) -> None:
        code, text = self.run_suite("", [])
        self.assertEqual(code, 0, text)
        self.assertIn("1 tests, clean", text)

    def test_an_error_is_told_once(self) -> None:
        code, text = self.run_suite(f"{ERROR}\n", [FINDING], 86)
        self.assertEqual(code, 1, text)
        self.assertIn("1 faults", text)

    def test_errors_of_a_forked_child(self) -> None:
        for findings, says, missing in (([], f"{ERROR}\n", 1), ([], f"a line without an end{ERROR}\n{ERROR}\n", 2), ([FINDING], f"{ERROR}\n{ERROR}\n", 1)):
            code, text = self.run_suite(says, findings, 86 if findings else 0)
            self.assertEqual(code, 1, text)
            self.assertIn(f"{missing} errors in forked children", text)

    def test_what_is_no_error_of_a_child(self) -> None:
        says = "portacl check: warning copy-direction in aclrtMemcpy: it may\nportacl check: 0 errors, 1 warnings\n"
        code, text = self.run_suite(says, [])
        self.assertEqual(code, 0, text)


if __name__ == "__main__":
    unittest.main()
