#!/usr/bin/env python3
"""Runs clang-tidy over the sources of src/ that changed since they were last found clean.

Usage: tidy.py BUILD --clang-tidy PROGRAM [--jobs N] [--whole] [--record]

BUILD is a finished build directory: it has compile_commands.json, and Ninja's record of which headers each source includes.
tools/tidy_clean.txt lists what was clean: a hash of the text of each file in src/, of .clang-tidy and of the program's version.
A source whose text is listed is not looked at again, wherever it lies now (recorded_state.py). A header that is not listed is looked at by way of one source that includes it:
its own where there is one, else the one that includes least. Where .clang-tidy or the version is another, all sources are looked at.

--whole   looks at all sources.
--record  writes the list, if nothing was found.

Exits with 1 when something was found, or when a changed header is included by no source.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import recorded_state

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "tools/tidy_clean.txt"
HEAD = "What clang-tidy found clean: the hash of a text, and whose it is. Written by `./dev lint --record`."


def state_of(root: pathlib.Path, version: str) -> dict[str, str]:
    """Path, or name of what else decides: hash."""
    others = {".clang-tidy": (root / ".clang-tidy").read_bytes(), "version": version.encode()}
    return recorded_state.sources_of(root) | {name: recorded_state.hash_of(text) for name, text in others.items()}


def chosen(changed: set[str], includes: dict[str, set[str]]) -> tuple[set[str], set[str]]:
    """The sources to look at for changed sources and headers, and the headers that no source includes."""
    sources = {path for path in changed if path.endswith(".cc")}
    orphans = set()
    for header in sorted(path for path in changed if path.endswith(".h")):
        own = re.sub(r"(-inl)?\.h$", ".cc", header)
        including = [source for source, headers in includes.items() if header in headers]
        if not including:
            orphans.add(header)
        elif not sources.intersection(including):
            sources.add(own if own in including else min(including, key=lambda source: (len(includes[source]), source)))
    return sources, orphans


def write_commands(build: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes the build's commands to `folder` without what clang cannot read: the headers that g++ precompiled, and options of its own."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for entry in commands:
        entry["command"] = re.sub(r" -Winvalid-pch| -fpch-deps| -finline-small-functions| -Wno-(?:maybe-)?uninitialized| -include \S+/cmake_pch\.hxx", "", entry["command"])
    (folder / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    version = subprocess.run([options.clang_tidy, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"version ([0-9.]+)", version)
    state, known = state_of(ROOT, release.group(1) if release else version), recorded_state.read_list(ROOT / LIST)
    changed = recorded_state.changed_since(known, state)
    if options.whole or changed & {"version", ".clang-tidy"}:
        changed = set(state)
    sources, orphans = chosen(changed, recorded_state.includes_of(ROOT, build))

    def look(source: str) -> str:
        command = [options.clang_tidy, "-p", folder, "--quiet", str(ROOT / source)]
        run = subprocess.run(command, capture_output=True, text=True)
        return (run.stdout or f"{source}: clang-tidy ended with {run.returncode}: {run.stderr}\n") if run.returncode else ""

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        write_commands(build, pathlib.Path(folder))
        findings = [text for text in pool.map(look, sorted(sources)) if text]
    for text in findings:
        print(text, end="")
    for header in sorted(orphans):
        print(f"{header}: no source includes it, so that nothing looks at it")
    print(f"clang-tidy: {len(sources)} of {sum(path.endswith('.cc') for path in state)} sources looked at, {len(findings)} with findings")
    if findings or orphans:
        return 1
    if options.record:
        recorded_state.write_list(ROOT / LIST, HEAD, state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
