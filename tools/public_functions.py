#!/usr/bin/env python3
# Prints the name of every function that the public headers declare, one a line, sorted: what the libraries must export.
# SPDX-License-Identifier: Apache-2.0
"""usage: public_functions.py INCLUDE_DIR"""

import pathlib
import re
import sys

import schema.headers
import schema.read

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
    for part in re.findall(r"[{};]|[^{};]+", text):
        if part == "{":
            depth += 1
        elif part == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and current.rstrip().endswith(")"):
                current = ""  # a function with a body: nothing that a library exports
        elif depth == 0 and part == ";":
            yield " ".join(current.split())
            current = ""
        elif depth == 0:
            current += part


def headers_of(root):
    """The texts of all public headers of the sources at `root`, written or made, by their paths below an include folder."""
    return schema.headers.public_headers(root, schema.read.read(root))


def headers_under(include_dir):
    """The texts of the headers under include_dir, likewise."""
    paths = sorted(pathlib.Path(include_dir).rglob("*.h"))
    return {path.relative_to(include_dir).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def functions_by_header(headers):
    """The functions that each header declares, as sets, by the header's path; of the texts of headers by their paths."""
    found = {}
    for path, text in headers.items():
        names = found.setdefault(path, set())
        for declaration in _declarations(text):
            if re.match(r"(typedef|using|static|static_assert|_Static_assert)\b", declaration):
                continue
            # Attributes and macros with arguments, such as a deprecation message, are not parameter lists.
            declaration = re.sub(r"__attribute__\s*\(\(.*?\)\)|\b[A-Z][A-Z0-9_]+\s*\([^()]*\)", " ", declaration)
            match = re.match(r"[\w\s*]*?[\s*](\w+)\s*\(", declaration)
            if match:
                names.add(match.group(1))
    return found


def functions(headers):
    """The sorted names of the functions declared in these headers."""
    return sorted(set().union(*functions_by_header(headers).values()))


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    print("\n".join(functions(headers_under(sys.argv[1]))))
