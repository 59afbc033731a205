#!/usr/bin/env python3
"""Runs the corpus of wrong programs under PORTACL_CHECK: every wrong one is found, with its message, and no right one is.

Usage: run_corpus.py CORPUS [NAME...]             the programs of an executable (see corpus.h)
       run_corpus.py --table CORPUS [--write]     docs/checking.md has a program for each kind of finding, and says which

Programs in Python, through torch_npu, are run by tests/pytorch_npu/test_checked_programs.py.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

EXIT_CODE = 86


class Case(NamedTuple):
    name: str
    kind: str
    expected: str


ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "checking.md"
PYTHON = ROOT / "tests" / "pytorch_npu" / "checked_programs.py"
BEGIN, END = "<!-- programs, written by tests/check/run_corpus.py -->\n", "<!-- end of programs -->\n"


def command_of(corpus: str) -> list[str]:
    return [sys.executable, "-B", corpus] if corpus.endswith(".py") else [corpus]


def cases_of(corpus: str) -> list[Case]:
    listed = subprocess.run([*command_of(corpus), "--list"], capture_output=True, text=True, check=True)
    return [Case(*line.split("\t")) for line in listed.stdout.splitlines()]


def run(corpus: str, name: str, which: str, check: str, file: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PORTACL_CHECK")}
    variables.update(PORTACL_CHECK=check, PORTACL_CHECK_FILE=file)
    pathlib.Path(file).unlink(missing_ok=True)  # what an earlier run found
    command = [*command_of(corpus), name, which]
    return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=300, check=False)


def faults_of(corpus: str, case: Case, folder: str) -> list[str]:
    faults = []
    file = os.path.join(folder, case.name + ".json")

    def say(what: str, done: subprocess.CompletedProcess[str]) -> None:
        faults.append(f"{case.name}: {what} (exit code {done.returncode})\n{done.stdout[-500:]}{done.stderr[-3000:]}")

    def begins_in_program(finding: dict[str, Any]) -> bool:
        """The first function is that of the access, not one of the signal's on the way here."""
        functions = [line for line in finding["places"][0]["stack"] if line.startswith("#")]
        return bool(functions) and (os.path.basename(corpus) in functions[0] or "c_library" in case.name)

    def findings() -> list[dict[str, Any]]:
        try:
            found = json.loads(pathlib.Path(file).read_text())["findings"]
        except (OSError, ValueError):
            return []
        assert isinstance(found, list)
        return found

    warns = case.kind.startswith("warning:")
    kind = case.kind.removeprefix("warning:")
    done = run(corpus, case.name, "wrong", "1", file)
    if done.returncode != (0 if warns else EXIT_CODE):
        say("the wrong program was not stopped" if not warns else "a warning changed the exit code", done)
    if not re.search(case.expected, done.stderr):
        say(f"the report of the wrong program does not say {case.expected}", done)
    if kind not in [one["kind"] for one in findings()]:
        say(f"the JSON of the wrong program has no {kind}", done)
    if not all(begins_in_program(one) for one in findings() if str(one["kind"]).startswith("host-access") and one["part"] == "memory"):
        say("the stack of an access does not begin in the program", done)
    if not warns and len(findings()) != 1:
        say("the wrong program gives more than one finding before it is stopped", done)
    done = run(corpus, case.name, "wrong", "report", file)
    if kind not in [one["kind"] for one in findings()]:
        say(f"PORTACL_CHECK=report does not collect {kind}", done)
    has_errors = any(one["certainty"] == "error" for one in findings())
    if done.returncode != (EXIT_CODE if has_errors else 0) or has_errors == warns:
        say("PORTACL_CHECK=report ends with another exit code than that of what it collected", done)
    if not re.search(rf"^portacl check: {0 if warns else '[1-9][0-9]*'} errors, ", done.stderr, re.MULTILINE):
        say("PORTACL_CHECK=report ends without its summary", done)
    for check in ("1", "report"):
        done = run(corpus, case.name, "right", check, file)
        # Small programs leave things behind, which matters to those alone that are about it.
        told = [one for one in findings() if kind.endswith("-leaked") or not str(one["kind"]).endswith("-leaked")]
        if done.returncode != 0 or told:
            say(f"the right program is reported, or fails, under PORTACL_CHECK={check}", done)
    if (done := run(corpus, case.name, "right", "0", file)).returncode != 0:
        say("the right program fails without checks", done)
    return faults


def table(corpus: str, writes: bool) -> int:
    """Every kind that the page explains has a program, every program's kind is explained, and the page names the programs."""
    page = PAGE.read_text(encoding="utf-8")
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    explained = [kind for row in re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", page[:start], re.M) for kind in re.findall("[a-z-]+", row)]
    programs: dict[str, tuple[list[str], list[str]]] = {kind: ([], []) for kind in explained}
    for language, source in enumerate((corpus, str(PYTHON))):
        for case in sorted(cases_of(source)):
            kind = case.kind.removeprefix("warning:")
            if kind not in programs:
                print(f"{case.name}: docs/checking.md does not explain {kind}")
                return 1
            programs[kind][language].append(case.name)
    missing = [kind for kind, names in programs.items() if not any(names)]
    if missing:
        print(f"no program for {', '.join(missing)}")
        return 1
    counts = [sum(len(names[language]) for names in programs.values()) for language in (0, 1)]
    lines = [f"{counts[0]} programs in C++, {counts[1]} in Python, each with its right twin:", "", "| kind | C++ | PyTorch |", "|---|---|---|"]
    for kind, names in programs.items():
        lines.append(f"| `{kind}` | {' | '.join(', '.join(f'`{name}`' for name in one) for one in names)} |")
    made = page[:start] + "\n".join(lines) + "\n" + page[end:]
    if made == page:
        return 0
    if not writes:
        print("docs/checking.md names other programs; tests/check/run_corpus.py --table CORPUS --write corrects it")
        return 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


def main(corpus: str, names: list[str]) -> int:
    cases = [case for case in cases_of(corpus) if not names or case.name in names]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for found in pool.map(lambda case: faults_of(corpus, case, folder), cases) for fault in found]
    for fault in faults:
        print(fault)
    print(f"{len(cases)} programs, each with its twin; {len(faults)} faults")
    return 1 if faults or not cases else 0


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        sys.exit(table(sys.argv[2], "--write" in sys.argv))
    sys.exit(main(sys.argv[1], sys.argv[2:]))
