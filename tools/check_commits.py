#!/usr/bin/env python3
"""Checks that the subjects of commits take at most 72 characters: those since START, where the checkout has that much history.

Usage: check_commits.py [REPOSITORY [START]]
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys

START = "d8cc31251b281676d72352848fb817832bdcd4a7"  # older subjects stay as they are
MOST = 72


def subjects(root: "str | pathlib.Path", start: str) -> "list[tuple[str, str]] | None":
    """(short hash, subject) of the commits behind `start`, merges left out; None where there is no history, or none that holds it."""

    def git(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)

    try:
        if git("merge-base", "--is-ancestor", start, "HEAD").returncode:
            return None
        lines = git("log", "--no-merges", "--format=%h %s", f"{start}..HEAD").stdout.splitlines()
    except OSError:
        return None
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if " " in line]


def main() -> int:
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = subjects(root, sys.argv[2] if len(sys.argv) > 2 else START)
    if found is None:
        print("subjects of commits: no history here")
        return 0
    faults = [f"{commit}: the subject takes {len(subject)} characters, and {MOST} are allowed: {subject}" for commit, subject in found
              if len(subject) > MOST]
    print("\n".join(faults) or f"subjects of commits: in order ({len(found)} looked at)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
