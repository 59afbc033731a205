#!/usr/bin/env python3
"""Reads what Ninja or CTest say and prints their progress in tenths, and everything else as it comes.

With --table FILE: prints what stages took as a table. The file has lines WALL|PROCESSOR|STAGE|VERB, in hundredths of a second. (./dev stages)
With --report FILE: prints how many tests of a JUnit report passed, failed and were skipped.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree
from collections.abc import Iterable
from pathlib import Path

DONE = re.compile(r"^\[? *(\d+)/(\d+)(?:\] | Test.* Passed )")  # Ninja's and CTest's
PASSED_OVER = re.compile(r"Re-checking globbed|^ninja: no work to do\.$|^ *Start +\d+:")


def show(lines: Iterable[str]) -> None:
    shown = -1
    for line in lines:
        done = DONE.match(line)
        if done:
            tenth = int(done[1]) * 10 // int(done[2])
            if tenth != shown:
                print(f"    {tenth * 10:3d}%  {done[1]} of {done[2]}", flush=True)
            shown = tenth
        elif not PASSED_OVER.search(line):
            print(line, end="", flush=True)


def table(lines: Iterable[str]) -> str:
    rows = [line.rstrip("\n").split("|") for line in lines]
    stages = [(int(row[0]) / 100, int(row[1]) / 100, f"{row[3]}: {row[2]}" if row[3:] and row[3] else row[2]) for row in rows]
    stages.append((sum(one[0] for one in stages), sum(one[1] for one in stages), "in all"))
    return "  seconds processor  stage\n" + "".join(f"{wall:9.1f} {processor:9.1f}  {name}\n" for wall, processor, name in stages)


def report(path: Path) -> str:
    try:
        suite = xml.etree.ElementTree.parse(path).getroot().attrib
    except (OSError, xml.etree.ElementTree.ParseError):
        suite = {}
    tests, failures, skipped, disabled = (int(suite.get(name, 0)) for name in ("tests", "failures", "skipped", "disabled"))
    skipped += disabled
    return f"{tests - failures - skipped} passed, {failures} failed" + (f", {skipped} skipped" if skipped else "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="progress.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", metavar="FILE", type=Path, help="print what stages took")
    parser.add_argument("--report", metavar="FILE", type=Path, help="print what a report of tests comes to")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(arguments.table.read_text(encoding="utf-8").splitlines()), end="")
    elif arguments.report:
        print(report(arguments.report))
    else:
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        show(sys.stdin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
