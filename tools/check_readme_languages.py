#!/usr/bin/env python3
"""Checks that README.md and README.zh-CN.md say the same: same headings in number and level, same code, same tables.

Usage: check_readme_languages.py [REPOSITORY]

Compared in order: the level of every heading; every fenced block of code, without the comments in it, which are
translated; the rows and columns of every table; and in the cells what is not language: `code`, links, operator names.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^(```|~~~)")
TABLE_RULE = re.compile(r"^\|[\s:|-]+\|$")


def without_comments(line: str) -> str:
    """A line of code without a comment at its end (or altogether), and without what that leaves behind."""
    line = re.sub(r"(^|\s)(#(?!include|define|if|endif|!)|//).*$", "", line)
    return re.sub(r"\s+$", "", re.sub(r"/\*.*?\*/", "/**/", line))


def parts(text: str) -> dict[str, list]:
    """The parts of a page that both languages share."""
    found: dict[str, list] = {"heading": [], "code": [], "table row": [], "link": []}
    block, tables, in_table = None, 0, False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            if block is None:
                block = (number, [line.strip()])
            else:
                found["code"].append(block)
                block = None
            continue
        if block is not None:
            if without_comments(line):
                block[1].append(without_comments(line))
            continue
        heading = re.match(r"^(#+) ", line)
        if heading:
            found["heading"].append((number, len(heading.group(1))))
        tables += line.startswith("|") and not in_table
        in_table = line.startswith("|")
        if in_table and not TABLE_RULE.match(line):
            # Names in backticks and operators are the same in both languages, if not in the same order.
            names = sorted(re.findall(r"`[^`]+`|\baclnn\w+", line))
            found["table row"].append((number, (f"table {tables}", f"{line.strip('|').count('|') + 1} cells", *names)))
        found["link"] += [(number, target) for target in re.findall(r"\]\(([^)]+)\)", line)]
    if block is not None:
        found["code"].append(block)
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    names = ("README.md", "README.zh-CN.md")
    english, chinese = (parts((root / name).read_text(encoding="utf-8")) for name in names)
    faults = []
    for kind in english:
        # Each page links to the other one, if to any.
        ours, theirs = (
            [entry for entry in page[kind] if kind != "link" or entry[1] not in names] for page in (english, chinese)
        )
        for (line, expected), (other_line, found) in zip(ours, theirs):
            if expected != found:
                faults.append(f"{names[1]}:{other_line}: {kind} differs from {names[0]}:{line}: {found} for {expected}")
                break
        if len(ours) != len(theirs):
            faults.append(f"{names[0]} has {len(ours)} of: {kind}; {names[1]} has {len(theirs)}")
    print("\n".join(faults) if faults else "README: both languages agree")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
