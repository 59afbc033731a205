#!/usr/bin/env python3
"""Compiles an aclnn program against an installed prefix as for an NPU, and runs it. (./dev demo)

CXX may carry flags. A program that does not compile is told which functions it would miss.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import install
import presets
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


def demo(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    if len(rest) > 1:
        steps.die("usage: ./dev demo [--from BUILD] [FILE.cpp]")
    file = Path(rest[0]).resolve() if rest else EXAMPLE
    if not file.exists():
        steps.die(f"no such file: {rest[0]}")
    place = given or steps.BUILDS
    prefix, folder = place / "prefix", place / "demo"
    library, cmake = presets.library(given)
    install.put(library, prefix, cmake)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / file.stem
    command = command_of(file, prefix, out, foreign=bool(rest))
    steps.say("compiling as for an NPU")
    print(shlex.join(command), flush=True)
    log = steps.log_of("demo")
    with log.open("wb") as said:
        status = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT).returncode
    if status:
        missing = subprocess.run(["python3", steps.ROOT / "tools/missing_symbols.py", prefix, *command], stdout=sys.stderr).returncode
        if missing:
            print(steps.end_of(log), file=sys.stderr)
        steps.die(f"failed: compiling {file} (whole output: {log})")
    print(log.read_text(encoding="utf-8", errors="replace"), end="")  # warnings
    steps.say(f"running {out.name}")
    path = os.environ.get("LD_LIBRARY_PATH")
    status = steps.run([out], {**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib64{f':{path}' if path else ''}"})
    if status:
        steps.die(f"failed: {out} returned {status if status > 0 else 128 - status}")
    steps.say("it returned 0")


if __name__ == "__main__":
    steps.program(__doc__, {"demo": demo})
