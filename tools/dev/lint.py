#!/usr/bin/env python3
"""Keeps the sources in order.

    ./dev format                        formats every source file in place
    ./dev lint [--whole] [--record]     checks that the mutants fit, Python's style, formatting, the rules that tools/check_* keep, and
                                        clang-tidy's of what changed (--whole: of everything; --record: keep what was clean)
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import environments
import needs
import presets
import steps

FOLDERS = ("src", "include", "tests", "examples", "bench", "tools")
SUFFIXES = (".h", ".cc", ".c", ".cpp")


def _sources() -> list[Path]:
    files = (path for folder in FOLDERS for path in (steps.ROOT / folder).rglob("*"))
    return sorted(path for path in files if path.suffix in SUFFIXES and path.is_file())


def _of_clang(tool: str) -> str:
    """Returns the path of a tool. Other versions judge a little differently: 14, Debian 12's, is the one that counts where it is there."""
    return needs.program([f"clang-{tool}-14", f"clang-{tool}"], f"clang-{tool}")


def _version(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"[0-9][0-9.]*", said)
    return found[0] if found else "?"


def format_sources(arguments: list[str]) -> None:
    steps.must([_of_clang("format"), "-i", *_sources()])


def _lint_python() -> None:
    """Checks the style of the package, its tests and the programs of ./dev, and the types of those programs."""
    python = environments.with_packages("lint-tools", ["mypy", "ruff"])
    programs = Path(__file__).parent
    folders = [steps.ROOT / "python", steps.ROOT / "tests/python", programs]
    steps.step("style of Python (ruff)", "ruff", [python.parent / "ruff", "check", "--no-cache", *folders])
    types: list[steps.Argument] = [python.parent / "mypy", "--config-file", steps.ROOT / "pyproject.toml"]
    steps.step("types of the programs of ./dev (mypy)", "mypy", [*types, *sorted(programs.glob("*.py"))])


def lint(arguments: list[str]) -> None:
    if set(arguments) - {"--whole", "--record"}:
        steps.die("usage: ./dev lint [--whole] [--record]")
    needs.prepare(tests=True)
    # What takes seconds first.
    steps.step("mutants that fit the sources", "mutants", [steps.ROOT / "tests/mutation/mutate.py", "--check"])
    _lint_python()
    clang_format, clang_tidy = _of_clang("format"), _of_clang("tidy")
    presets.build("release", [presets.INSTALLED], tests=True)  # some rules are about what the compiler made of the sources
    for check in sorted((steps.ROOT / "tools").glob("check_*")):
        if os.access(check, os.X_OK):
            steps.step(check.name, check.name, [check])
    # What the schema makes is laid out as what is written.
    files = [*_sources(), *sorted((steps.RELEASE / "include/aclnnop").rglob("*.h"))]
    listed = steps.log_of("formatted")
    listed.write_text("".join(f"{file}\0" for file in files), encoding="utf-8")
    many: list[steps.Argument] = ["xargs", "--null", f"--arg-file={listed}", "--max-procs", steps.JOBS, "--max-args", "50"]
    steps.step(f"formatting (clang-format {_version(clang_format)})", "formatting", [*many, clang_format, "--dry-run", "--Werror"])
    tidy: list[steps.Argument] = ["python3", "-B", steps.ROOT / "tools/tidy.py", steps.RELEASE, "--clang-tidy", clang_tidy]
    steps.step(f"clang-tidy ({_version(clang_tidy)})", "clang-tidy", [*tidy, "--jobs", steps.JOBS, *arguments])


if __name__ == "__main__":
    steps.program(__doc__, {"format": format_sources, "lint": lint})
