"""Runs test executables under PORTACL_CHECK=report; fails on any error finding that suite.supp does not name, and on any failed test.

Usage: run_suite.py BUILD [--jobs N] [--report FOLDER] [EXECUTABLE...]

Without names, every GoogleTest executable of the build, each in one process. suite.supp beside this file holds the findings of tests
that are wrong on purpose, as PORTACL_CHECK_SUPPRESSIONS has them, `#in EXECUTABLE KIND:PATTERN` those of one executable alone, and
`#skip EXECUTABLE:FILTER` the tests that are not run, `*` all of them. Each has a reason above it.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
SUPPRESSIONS = HERE / "suite.supp"
SECONDS = 900  # for one executable


class Result(NamedTuple):
    name: str
    seconds: float
    tests: int
    faults: list[str]
    suppressed: int
    warnings: int


def executables_of(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """The GoogleTest executables, from what CMake wrote down of them."""
    return {name: file.parent / name for file in sorted((build / "tests").rglob("*.include.cmake"))
            for name in [file.name.removesuffix(".include.cmake")]}


def skipped_of(name: str) -> list[str]:
    lines = SUPPRESSIONS.read_text().splitlines()
    return [line.split(":", 1)[1].strip() for line in lines if re.match(rf"#skip {re.escape(name)}:", line)]


def suppressions_of(name: str, folder: pathlib.Path) -> pathlib.Path:
    """A file of those lines that are the executable's."""
    text = re.sub(rf"^#in {re.escape(name)} ", "", SUPPRESSIONS.read_text(), flags=re.MULTILINE)
    file = folder / "suppressions"
    file.write_text(text)
    return file


def findings_of(folder: pathlib.Path) -> list[dict]:
    """Those of the process and of the children that it started anew."""
    return [finding for file in folder.glob("*.json") for finding in json.loads(file.read_text())["findings"]]


def run(name: str, program: pathlib.Path, folder: pathlib.Path) -> Result:
    shutil.rmtree(folder, ignore_errors=True)  # what an earlier run found
    folder.mkdir(parents=True)
    skipped = [test for test in skipped_of(name) if test != "*"]
    if "*" in skipped_of(name):
        return Result(name, 0, 0, [], 0, 0)
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PORTACL_CHECK")}
    variables.update(PORTACL_CHECK="report", PORTACL_CHECK_FILE=str(folder / "%p.json"),
                     PORTACL_CHECK_SUPPRESSIONS=str(suppressions_of(name, folder)))
    command = [str(program), "--gtest_brief=1", "--gtest_filter=-" + ":".join(["*Long.*", *skipped])]
    begin = time.monotonic()
    faults: list[str] = []
    text = ""
    try:
        done = subprocess.run(command, cwd=program.parent, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        text = done.stdout.decode(errors="replace")
        code = done.returncode
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        faults.append(f"it did not end in {SECONDS} seconds")
        code = 0
    (folder / "output.txt").write_text(text)
    findings = findings_of(folder)
    errors = [one for one in findings if one["certainty"] == "error"]
    for (kind, function), number in collections.Counter((one["kind"], one["function"]) for one in errors).most_common():
        example = next(one for one in errors if (one["kind"], one["function"]) == (kind, function))
        lines = [line for place in example["places"] for line in place["stack"] if "_Test::TestBody" in line or "_Test::" in line]
        faults.append(f"{kind} in {function} ({number}): {example['message']}" + (f"\n      {lines[0].strip()}" if lines else ""))
    # A forked child writes no JSON, but tells what it finds, in the middle of a line perhaps.
    told = len(re.findall(r"portacl check: error [a-z-]+ in ", text))
    if told > len(errors):
        faults.append(f"{told - len(errors)} errors in forked children, which write no JSON")
    failed = sorted(set(re.findall(r"^\[  FAILED  \] (\S+)", text, re.MULTILINE)))
    faults += [f"failed: {test}" for test in failed]
    passed = re.search(r"^\[  PASSED  \] (\d+) test", text, re.MULTILINE)
    if code not in (0, 1) and not errors or not passed and not failed:
        faults.append(f"it ended with {code}")
    suppressed = sum(json.loads(file.read_text())["suppressed"] for file in folder.glob("*.json"))
    warnings = sum(1 for one in findings if one["certainty"] == "warning")
    return Result(name, time.monotonic() - begin, int(passed[1]) if passed else 0, faults, suppressed, warnings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--report", type=pathlib.Path, help="a folder for the findings and the output of each executable")
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args()
    programs = executables_of(options.build.resolve())
    unknown = [name for name in options.names if name not in programs]
    if unknown or not programs:
        print(f"no such test executable: {', '.join(unknown) or 'none is built'}")
        return 1
    wanted = options.names or list(programs)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.report or pathlib.Path(scratch)
        results = []
        pending = [pool.submit(run, name, programs[name], folder / name) for name in wanted]
        for done in concurrent.futures.as_completed(pending):
            result = done.result()
            results.append(result)
            state = "clean" if not result.faults else f"{len(result.faults)} faults"
            print(f"    {result.name}: {result.tests} tests, {state}, {result.seconds:.0f} s", flush=True)
            for fault in result.faults:
                print(f"      {fault}", flush=True)
    faulty = [result.name for result in results if result.faults]
    print(f"{len(results)} executables, {sum(result.tests for result in results)} tests; "
          f"{sum(result.suppressed for result in results)} findings suppressed, {sum(result.warnings for result in results)} warnings; "
          f"{len(faulty)} executables not clean")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
