#!/usr/bin/env python3
"""Counts the blocks of comments in src/ that do not begin with a verb or the name of a thing, but with a relative clause or a bare "Of", and refuses
those that begin with a pronoun whose noun is elsewhere. The public headers of include/ may have neither.

Usage: check_comments.py [--record] [REPOSITORY]

"// What a tile takes" and "// Of a row" are read twice; "// Returns what a tile takes" and "// The sums of a row" are not. Such blocks that
were there before the rule are counted, by folder, in tools/comment_counts.txt. No folder may have more than its count.
--record writes the counts that there are. Folders may be renamed and blocks may move, but the counts together may only fall.
SPDX-License-Identifier: Apache-2.0
"""
import collections
import pathlib
import re
import sys
from collections.abc import Iterator

LIST = "tools/comment_counts.txt"
HEAD = "# Comment blocks that begin with a relative clause or a bare Of, by folder. Written by tools/check_comments.py --record."
MARKS = {".h": "//", ".cc": "//", ".c": "//", ".toml": "#", ".py": "#"}
# "The same bytes may be ..." is a sentence about a thing; "The same for rows" is not.
PRONOUNS = re.compile(r"(It|Its|They|Their|Them|Likewise|As above)\b|The same(?:[,.;:]| (?:\w+ ){0,2}(?:for|as|with|in|by)\b)|Both (?:return|have|are|take)\b|Neither\b")
OPENS = re.compile(r"(What|Whatever|Whether|Of|Where|Wherever|Who|Whoever|Whom|Whose|Which|Those)\b")


def blocks(path: pathlib.Path) -> Iterator[tuple[int, str]]:
    """The first line of each block of comments that stand on lines of their own, with its number."""
    mark = MARKS[path.suffix]
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        text = line.strip()
        if text.startswith(mark) and not inside:
            yield number, text.removeprefix(mark).lstrip("/ ")
        inside = text.startswith(mark)


def found(root: pathlib.Path) -> dict[str, list[str]]:
    """Folder of src/, in two levels -> lines FILE:NUMBER: TEXT."""
    lines: dict[str, list[str]] = collections.defaultdict(list)
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in MARKS:
            here = path.relative_to(root)
            folder = "/".join(here.parts[1:-1][:2]) or "."
            lines[folder] += [f"{here.as_posix()}:{number}: {text}" for number, text in blocks(path) if OPENS.match(text)]
    return {folder: places for folder, places in lines.items() if places}


def pronouns(root: pathlib.Path) -> list[str]:
    """Lines FILE:NUMBER: TEXT of the blocks that begin with a pronoun."""
    paths = [path for path in sorted((root / "src").rglob("*")) if path.suffix in MARKS]
    return [f"{path.relative_to(root).as_posix()}:{number}: {text}" for path in paths for number, text in blocks(path) if PRONOUNS.match(text)]


def in_public_headers(root: pathlib.Path) -> list[str]:
    """Lines FILE:NUMBER: TEXT of the blocks in include/ that begin with a relative clause, a bare Of or a pronoun."""
    paths = sorted((root / "include").rglob("*.h"))
    return [f"{path.relative_to(root).as_posix()}:{number}: {text}" for path in paths for number, text in blocks(path)
            if OPENS.match(text) or PRONOUNS.match(text)]


def recorded(root: pathlib.Path) -> "dict[str, int] | None":
    """Folder -> count. None where nothing was recorded yet."""
    path = root / LIST
    if not path.exists():
        return None
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {folder: int(count) for count, folder in rows}


def main() -> int:
    arguments = sys.argv[1:]
    record = arguments[:1] == ["--record"]
    root = pathlib.Path((arguments[record:] or [f"{__file__}/../.."])[0]).resolve()
    places, before = found(root), recorded(root)
    total = sum(map(len, places.values()))
    if record:
        if before is not None and total > sum(before.values()):
            print(f"{total} blocks of comments begin with a relative clause or a bare Of, and {sum(before.values())} may")
            return 1
        rows = [f"{len(lines):4} {folder}" for folder, lines in sorted(places.items())]
        (root / LIST).write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
        return 0
    faults = [f"{place}: begins with a pronoun; name the thing" for place in pronouns(root)]
    faults += [f"{place}: begins with neither a verb nor the name of the thing" for place in in_public_headers(root)]
    for folder, lines in sorted(places.items()):
        allowed = (before or {}).get(folder, 0)
        if len(lines) > allowed:
            faults += [f"src/{folder}: {len(lines)} blocks of comments begin with a relative clause or a bare Of, and {allowed} may:", *lines]
    print("\n".join(faults) or f"comments: {total} blocks begin with a relative clause or a bare Of, none of them new")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
