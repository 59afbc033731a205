#!/usr/bin/env python3
# Prints the name of every function that the public headers declare, one a line, sorted: what the libraries must export.
# SPDX-License-Identifier: Apache-2.0
"""usage: public_functions.py INCLUDE_DIR"""

import pathlib
import re
import sys

# A comment, a string or a character; raw strings first, since they may hold anything.
_NOT_CODE = re.compile(
    r'R"(?P<mark>[^()\\ ]{0,16})\(.*?\)(?P=mark)"|//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL,
)


def without_comments(text, keep_strings=False):
    """The text with each comment turned into a space, and each string into an empty one."""

    def replacement(match):
        token = match.group()
        if token.startswith("/"):
            return " " + "\n" * token.count("\n")
        return token if keep_strings else '""'

    return _NOT_CODE.sub(replacement, text)


def _declarations(text):
    """The declarations at file scope (inside extern "C" counts as file scope), braces with their contents left out."""
    text = without_comments(text, keep_strings=True)
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern\s+"C(?:\+\+)?"\s*(?P<brace>\{)?', " ", text)  # its closing brace is ignored below
    text = without_comments(text)
    depth, current = 0, ""
    for character in text:
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and current.rstrip().endswith(")"):
                current = ""  # a function with a body: nothing that a library exports
        elif depth == 0 and character == ";":
            yield " ".join(current.split())
            current = ""
        elif depth == 0:
            current += character


def functions_by_header(include_dir):
    """The functions that each header under include_dir declares, as sets, by the header's path below it."""
    found = {}
    for header in sorted(pathlib.Path(include_dir).rglob("*.h")):
        names = found.setdefault(header.relative_to(include_dir).as_posix(), set())
        for declaration in _declarations(header.read_text(encoding="utf-8")):
            if re.match(r"(typedef|using|static|static_assert|_Static_assert)\b", declaration):
                continue
            # Attributes and macros with arguments, such as a deprecation message, are not parameter lists.
            declaration = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b[A-Z][A-Z0-9_]+\s*\([^()]*\)", " ", declaration)
            match = re.match(r"[\w\s*]*?[\s*](\w+)\s*\(", declaration)
            if match:
                names.add(match.group(1))
    return found


def functions(include_dir):
    """The sorted names of the functions declared in the headers under include_dir."""
    return sorted(set().union(*functions_by_header(include_dir).values()))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    print("\n".join(functions(sys.argv[1])))
