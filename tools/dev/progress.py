#!/usr/bin/env python3
"""Shows the progress of Ninja and CTest, what stages took, and what a report of tests comes to.

    progress.py stages FILE     prints the table of a file that PORTACL_STAGES named. (./dev stages)
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import re
import sys
import xml.etree.ElementTree
from collections.abc import Iterable, Iterator
from pathlib import Path

DONE = re.compile(r"^\[? *(\d+)/(\d+)(?:\] | Test.* Passed )")  # Ninja's and CTest's
PASSED_OVER = re.compile(r"Re-checking globbed|^ninja: no work to do\.$|^ *Start +\d+:")
BEGUN, PASSED = "[ RUN      ] ", "[       OK ] "  # GoogleTest's
NOTHING_RAN = re.compile(r"^\[=+\] Running 0 tests ", re.MULTILINE)
CASE = re.compile(r"^\[(?: (RUN)      \] .*|       (OK) \] .*|  (SKIPPED) \] .* \(\d+ ms\))$", re.MULTILINE)


def _but_passed(lines: Iterable[str]) -> Iterator[str]:
    """Leaves out the tests of a process of GoogleTest that passed without a word."""
    begun = ""
    for line in lines:
        if begun and line.startswith(PASSED):
            begun = ""
            continue
        yield from [begun] if begun else []
        begun = line if line.startswith(BEGUN) else ""
        yield from [line] if not begun else []
    yield from [begun] if begun else []


def show(lines: Iterable[str]) -> None:
    """Prints progress in tenths, and everything else as it comes."""
    shown = -1
    for line in _but_passed(lines):
        if PASSED_OVER.search(line):
            continue
        done = DONE.match(line)
        if done:
            tenth = int(done[1]) * 10 // int(done[2])
            if tenth != shown:
                print(f"    {tenth * 10:3d}%  {done[1]} of {done[2]}", flush=True)
            shown = tenth
        else:
            print(line, end="", flush=True)


def table(lines: Iterable[str]) -> str:
    """Lays out lines WALL|PROCESSOR|STAGE|VERB, in hundredths of a second; without a verb where there is but one."""
    rows = [line.rstrip("\n").split("|") for line in lines]
    stages = [(int(row[0]) / 100, int(row[1]) / 100, f"{row[3]}: {row[2]}" if row[3:] and row[3] else row[2]) for row in rows]
    stages.append((sum(one[0] for one in stages), sum(one[1] for one in stages), "in all"))
    return "  seconds processor  stage\n" + "".join(f"{wall:9.1f} {processor:9.1f}  {name}\n" for wall, processor, name in stages)


def report(path: Path) -> str:
    """Counts the tests of CTest's report, of a process of GoogleTest those inside."""
    try:
        processes = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        processes = []
    passed = failed = skipped = 0
    for process in processes:
        status = process.get("status")
        if NOTHING_RAN.search(process.findtext("system-out") or "") and process.get("status") == "run":
            continue
        inside = collections.Counter(found[found.lastindex or 0] for found in CASE.finditer(process.findtext("system-out") or ""))
        if not inside["RUN"]:
            inside[{"run": "OK", "notrun": "SKIPPED", "disabled": "SKIPPED"}.get(str(status), "")] = 1
            inside["RUN"] = 1
        succeeded = inside["OK"] if status == "fail" else inside["RUN"] - inside["SKIPPED"]
        passed += succeeded
        skipped += inside["SKIPPED"]
        failed += max(inside["RUN"] - inside["SKIPPED"] - succeeded, status == "fail")
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "") + f", in {len(processes)} processes"


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "stages":
        sys.exit(__doc__)
    print(table(Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()), end="")
