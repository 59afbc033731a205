"""A table in a page of the documentation, between two marks, written by a script.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys


def _split(page: pathlib.Path, mark: str):
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"{page} has no marks {begin.strip()} and {end.strip()}")
    head, rest = text.split(begin)
    table, tail = rest.split(end)
    return head + begin, table, end + tail


def read(page: pathlib.Path, mark: str) -> str:
    return _split(page, mark)[1].strip("\n")


def write(page: pathlib.Path, mark: str, table: str):
    head, _, tail = _split(page, mark)
    page.write_text(f"{head}\n{table}\n\n{tail}", encoding="utf-8")


def check(page: pathlib.Path, mark: str, table: str, writer: str) -> int:
    if read(page, mark) == table:
        return 0
    print(f"{page}: the table \"{mark}\" is not what {writer} writes", file=sys.stderr)
    return 1
