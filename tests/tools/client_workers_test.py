"""A worker of `./dev clients` that cannot be started is told of, for every case that it was to run."""

# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))

import run


class WorkersThatDoNotStart(unittest.TestCase):
    def setUp(self):
        program = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "program"
        program.write_text("#!/bin/sh\necho no such module >&2\nexit 3\n")
        program.chmod(0o755)
        self.enterContext(mock.patch.object(sys, "executable", str(program)))

    def test_every_case_fails_and_says_why(self):
        cases = [("transformers", "one"), ("peft", "two"), ("peft", "three")]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            outcomes = run.run([run.Worker(), run.Worker()], cases, "c++")
        self.assertEqual([(one["client"], one["case"]) for one in outcomes], cases)
        for outcome in outcomes:
            self.assertEqual(outcome["result"], "fails")
            self.assertIn("a worker did not start: no such module", outcome["remark"])
        self.assertEqual(len(printed.getvalue().splitlines()), 3)

    def test_a_list_of_cases_cannot_be_had(self):
        with self.assertRaisesRegex(SystemExit, "client transformers: a worker did not start: no such module"):
            run.wanted_cases(run.Worker(), ["transformers"], [], False)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
