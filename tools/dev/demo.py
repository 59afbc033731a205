#!/usr/bin/env python3
"""Compiles an aclnn program against an installed prefix as for an NPU, and runs it. (./dev demo)

CXX may carry flags. A program that does not compile is told which functions it would miss.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import steps

EXAMPLE = steps.ROOT / "examples/l1_loss_backward.cpp"


def command_of(file: Path, prefix: Path, out: Path, foreign: bool) -> list[str]:
    """Returns the compiler's command line. That of a foreign program has what CANN's own build script adds."""
    include = ["-I", f"{prefix}/include"]
    link = ["-lopapi_nn", "-lascendcl", "-lnnopbase"]
    if foreign:
        include += ["-I", f"{prefix}/include/aclnnop", "-I", f"{prefix}/include/aclnn"]
        link.insert(1, "-lopapi_math")
    return [*shlex.split(os.environ.get("CXX") or "g++"), str(file), *include, "-L", f"{prefix}/lib64", *link, "-o", str(out)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="demo.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("folder", type=Path, help="where the executable is put")
    parser.add_argument("file", type=Path, nargs="?", help="a program (default: examples/l1_loss_backward.cpp)")
    arguments = parser.parse_args()
    prefix, file = arguments.prefix, arguments.file or EXAMPLE
    arguments.folder.mkdir(parents=True, exist_ok=True)
    out = arguments.folder / file.stem
    command = command_of(file, prefix, out, arguments.file is not None)
    steps.say("compiling as for an NPU")
    print(shlex.join(command), flush=True)
    steps.LOGS.mkdir(parents=True, exist_ok=True)
    log = steps.LOGS / "demo.log"
    with log.open("wb") as file_of_log:
        status = subprocess.run(command, stdout=file_of_log, stderr=subprocess.STDOUT).returncode
    said = log.read_text(encoding="utf-8", errors="replace")
    if status:
        missing = subprocess.run(["python3", steps.ROOT / "tools/missing_symbols.py", prefix, *command], stdout=sys.stderr).returncode
        if missing:
            print("\n".join(said.splitlines()[-steps.LINES_OF_A_FAILURE :]), file=sys.stderr)
        steps.die(f"failed: compiling {file} (whole output: {log})")
    print(said, end="")  # warnings
    steps.say(f"running {out.name}")
    path = os.environ.get("LD_LIBRARY_PATH")
    status = steps.run([out], {**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib64{f':{path}' if path else ''}"})
    if status:
        steps.die(f"failed: {out} returned {status if status > 0 else 128 - status}")
    steps.say("it returned 0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
