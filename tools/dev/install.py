#!/usr/bin/env python3
"""Installs a build into a prefix, and removes exactly what was installed. (./dev install, ./dev uninstall)

The prefix keeps a manifest: the files, and the directories (with a slash at their end) that were not there before. What is
installed is staged first, so that the manifest is exact, and a library in use is replaced, never rewritten under its users.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import presets
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


def put(library: Path, prefix: Path, cmake: str) -> None:
    os.umask(0o022)
    stage = Path(tempfile.mkdtemp(prefix="stage.", dir=library))
    try:
        tree = Path(f"{stage}{prefix}")
        steps.step(
            f"installing into {prefix}", "stage", [cmake, "--install", library, "--prefix", prefix], {**os.environ, "DESTDIR": str(stage)}
        )
        old = _read(prefix) if (prefix / MANIFEST).is_file() else []
        lines = {MANIFEST, *(line for line in old if line.endswith("/"))}
        (tree / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
        if not prefix.is_dir():
            lines.add("/")  # the prefix itself
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


def take_away(prefix: Path) -> None:
    if not (prefix / MANIFEST).is_file():
        steps.die(f"nothing to remove: {prefix}/{MANIFEST} does not exist")
    lines = _read(prefix)
    directories = sorted((line for line in lines if line.endswith("/")), key=os.fsencode, reverse=True)  # the inner ones first
    there = [line for line in directories if os.path.isdir(f"{prefix}/{line}")]
    _remove_files(prefix, [line for line in lines if not line.endswith("/")])
    # What others put there stays, and with it the directory.
    if there:
        _run(prefix, "rmdir", "--ignore-fail-on-non-empty", "--", *(f"{prefix}/{line}" for line in there))
    steps.say(f"removed portacl from {prefix}")


def install(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    if len(rest) != 1 or rest[0].startswith("-"):
        steps.die("usage: ./dev install [--from BUILD] PREFIX")
    prefix = Path(rest[0]).resolve()
    library, cmake = presets.library(given)
    put(library, prefix, cmake)
    steps.say(f"installed; to use it: source {shlex.quote(str(prefix / 'set_env.sh'))}")


def uninstall(arguments: list[str]) -> None:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        steps.die("usage: ./dev uninstall PREFIX")
    take_away(Path(arguments[0]).resolve())


if __name__ == "__main__":
    steps.program(__doc__, {"install": install, "uninstall": uninstall})
