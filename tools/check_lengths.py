#!/usr/bin/env python3
"""Checks that no file in src/ and no function in it is longer than LIMITS says. There are no exceptions.

Usage: check_lengths.py [REPOSITORY]

A function is counted from the first line of its declaration to its closing brace; what a lambda or a local class takes counts for the
function that it is in. Schemas (*.toml) are tables and are not counted. Split by what a part does, not where a limit is met.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

LIMITS = {"file": 600, "function": 80}
SUFFIXES = (".cc", ".h", ".c", ".cpp")
# Comments, literals and preprocessor lines hold no braces that count. A quote between two digits separates them.
BLANKED = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)
                       | (?P<raw>R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)")
                       | (?P<text>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')
                       | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)""", re.S | re.M | re.X)
TYPE = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:inline\s+)?(?:(?:namespace|class|struct|union|enum)\b|extern\s*$)", re.S)
ACCESS = re.compile(r"^(?:\s*(?:public|protected|private)\s*:)+")
# A body comes behind parameters or initializers, and the words that may follow them.
BODY = re.compile(r"[)}]\s*(?:(?:const|noexcept|override|final|HWY_\w+|&&?)\s*)*(?:->[^;{}]*)?$")


class Function(NamedTuple):
    name: str
    line: int
    lines: int


def code_of(text: str) -> str:
    """Returns the text with as many lines, in which comments, literals and preprocessor lines are blank."""
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def name_of(head: str) -> str:
    """Returns the name in front of a declaration's first parameters."""
    found = re.search(r"([~\w:]+|operator\s*\S+?)\s*\(", re.sub(r"\b(?:alignas|decltype|noexcept|HWY_\w+)\s*\([^()]*\)", "", head))
    return found[1] if found else " ".join(head.split())[:40]


def functions(text: str) -> Iterator[Function]:
    """The functions of a file, and those of its classes."""
    code = code_of(text)
    scopes: list[bool] = []  # of each open brace: whether declarations are in it
    start = 0  # where the declaration begins
    parentheses = 0
    line = 1
    head, first_line = "", 1  # of the declaration whose body or value is open
    for found in re.finditer(r"[{}();\n]", code):
        sign, at = found[0], found.start()
        if sign == "\n":
            line += 1
        elif sign in "()":
            parentheses += 1 if sign == "(" else -1
        elif sign == "{":
            is_scope = False
            if all(scopes):
                head = ACCESS.sub("", code[start:at])
                first_line = line - head.lstrip().count("\n")
                is_scope = parentheses == 0 and (not head.strip() or TYPE.match(head) is not None)
            scopes.append(is_scope)
            if is_scope:
                start = at + 1
        elif sign == "}" and scopes:
            was_scope = scopes.pop()
            if was_scope:
                start = at + 1
            elif all(scopes) and BODY.search(head.rstrip()):
                yield Function(name_of(head), first_line, line - first_line + 1)
                start = at + 1
        elif sign == ";" and parentheses == 0 and all(scopes):
            start = at + 1


def faults(root: pathlib.Path) -> Iterator[str]:
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        text, here = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        lines = len(text.splitlines())
        if lines > LIMITS["file"]:
            yield f"{here}: {lines} lines, and a file may have {LIMITS['file']}"
        for function in functions(text):
            if function.lines > LIMITS["function"]:
                yield f"{here}:{function.line}: {function.name} has {function.lines} lines, and a function may have {LIMITS['function']}"


def main() -> int:
    found = list(faults(pathlib.Path((sys.argv[1:] or [f"{__file__}/../.."])[0]).resolve()))
    print("\n".join(found) or f"lengths: no file above {LIMITS['file']} lines, no function above {LIMITS['function']}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
