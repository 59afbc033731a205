#!/usr/bin/env python3
"""Installs a build into a prefix, and removes exactly what was installed. (./dev install, ./dev uninstall)

The prefix keeps a manifest: the files, and the directories (with a slash at their end) that were not there before. What is
installed is staged first, so that the manifest is exact, and a library in use is replaced, never rewritten under its users.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import steps

MANIFEST = "lib64/cmake/portacl/install_manifest.txt"


def _run(prefix: Path, *command: steps.Argument) -> None:
    """Runs a command as root only if the prefix, or what it would be made in, is not the caller's to write."""
    place = prefix
    while not place.exists():
        place = place.parent
    if steps.run(command if os.access(place, os.W_OK) else steps.as_root(command)):
        steps.die(f"failed: {' '.join(map(str, command))}")


def _read(prefix: Path) -> list[str]:
    return os.fsdecode((prefix / MANIFEST).read_bytes()).split("\n")[:-1]


def _remove_files(prefix: Path, files: list[str]) -> None:
    for file in files:
        if file.startswith("/") or not file or "//" in file or ".." in file.split("/"):
            steps.die(f"{prefix}/{MANIFEST} names something outside the prefix: {file}")
    if files:
        _run(prefix, "rm", "-f", "--", *(f"{prefix}/{file}" for file in files))


def install(build: Path, prefix: Path, cmake: str) -> None:
    os.umask(0o022)
    stage = Path(tempfile.mkdtemp(prefix="stage.", dir=build))
    try:
        tree = Path(f"{stage}{prefix}")
        steps.step(
            f"installing into {prefix}", "stage", [cmake, "--install", build, "--prefix", prefix], {**os.environ, "DESTDIR": str(stage)}
        )
        old = _read(prefix) if (prefix / MANIFEST).is_file() else []
        lines = {MANIFEST, *(line for line in old if line.endswith("/"))}
        (tree / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
        for folder, folders, files in os.walk(tree):
            below = Path(folder).relative_to(tree)
            links = [name for name in folders if (Path(folder) / name).is_symlink()]
            lines.update(str(below / name) for name in [*files, *links])
            lines.update(f"{below / name}/" for name in folders if name not in links and not (prefix / below / name).is_dir())
        text = "".join(f"{line}\n" for line in sorted(lines, key=os.fsencode))
        (tree / MANIFEST).write_bytes(os.fsencode(text))
        _run(prefix, "mkdir", "-p", "--", prefix)
        _run(prefix, "cp", "-RP", "--remove-destination", "--", f"{tree}/.", f"{prefix}/")
        # An older version may have installed what this one does not have.
        _remove_files(prefix, [line for line in old if not line.endswith("/") and not os.path.lexists(tree / line)])
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def uninstall(prefix: Path) -> None:
    if not (prefix / MANIFEST).is_file():
        steps.die(f"nothing to remove: {prefix}/{MANIFEST} does not exist")
    lines = _read(prefix)
    directories = sorted((line for line in lines if line.endswith("/")), key=os.fsencode, reverse=True)  # the inner ones first
    there = [line for line in directories if (prefix / line).is_dir()]
    _remove_files(prefix, [line for line in lines if not line.endswith("/")])
    # What others put there stays, and with it the directory.
    if there:
        _run(prefix, "rmdir", "--ignore-fail-on-non-empty", "--", *(f"{prefix}/{line}" for line in there))
    steps.say(f"removed portacl from {prefix}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="install.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("install", help="install a build")
    one.add_argument("build", type=Path)
    one.add_argument("prefix", type=Path)
    one.add_argument("--cmake", default="cmake", help="the program that makes the build")
    one = commands.add_parser("uninstall", help="remove what install put into a prefix")
    one.add_argument("prefix", type=Path)
    arguments = parser.parse_args()
    prefix = arguments.prefix.resolve()
    if arguments.command == "install":
        install(arguments.build.resolve(), prefix, arguments.cmake)
    else:
        uninstall(prefix)
    return 0


if __name__ == "__main__":
    sys.exit(main())
