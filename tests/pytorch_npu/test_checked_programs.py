"""Wrong programs through torch_npu under PORTACL_CHECK, with their right twins: every wrong one is found, and no right one is."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parent / "checked_programs.py"
EXIT_CODE = 86  # of a program that was stopped, or that ends with errors collected
CASES = {
    name: (kind, expected)
    for name, kind, expected in (
        line.split("\t")
        for line in subprocess.run([sys.executable, "-B", PROGRAMS, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    )
}


def run(check: str, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTACL_CHECK")}
    environment.update(PORTACL_CHECK=check, PORTACL_CHECK_FILE=str(file), OMP_NUM_THREADS="1")
    command = [sys.executable, "-B", "-m", "portacl", str(PROGRAMS), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What all programs did: they are stopped at the first error."""
    folder = tmp_path_factory.mktemp("checked")
    done = run("1", folder / "%p.json", "--run", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return lambda name, which: (
        results[name][which]["code"],
        (folder / f"{name}.{which}.txt").read_text(encoding="utf-8"),
        folder / f"{results[name][which]['process']}.json",
    )


@pytest.mark.parametrize("name", CASES)
def test_the_wrong_program_is_found(ran, name):
    kind, expected = CASES[name]
    code, text, file = ran(name, "wrong")
    assert re.search(expected, text), text
    if kind.startswith("warning:"):  # which changes nothing
        assert code == 0, text
        assert f"portacl check: warning {kind.removeprefix('warning:')} in " in text
        return
    assert code == EXIT_CODE, text
    (finding,) = json.loads(file.read_text(encoding="utf-8"))["findings"]
    assert finding["kind"] == kind, text


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_said_about_the_right_program(ran, name):
    code, text, _ = ran(name, "right")
    assert code == 0, text
    assert "portacl check:" not in text


def test_findings_are_collected(tmp_path):
    name = "side_stream_reads_too_early"
    file = tmp_path / "findings.json"
    done = run("report", file, name, "wrong")
    assert done.returncode == EXIT_CODE, done.stderr
    assert CASES[name][0] in [one["kind"] for one in json.loads(file.read_text(encoding="utf-8"))["findings"]]
    assert "portacl check: 1 errors" in done.stderr
