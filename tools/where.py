#!/usr/bin/env python3
"""Prints where a public function or an operator is defined, declared and tested, as FILE:LINE.

Usage: where.py NAME [REPOSITORY]   NAME: aclrtMalloc, aclnnCast, aclnnCastGetWorkspaceSize, or an operator's file: cast
SPDX-License-Identifier: Apache-2.0
"""
import difflib
import functools
import pathlib
import re
import sys

import public_functions
import schema.functions
import schema.read

MOST_TESTS = 10  # files that are printed; the functions that every test calls are in many more
PHASE_1 = "GetWorkspaceSize"


def functions_meant(name, by_header):
    """The functions that a name stands for, phase 1 of an operator first."""
    declared = set().union(*by_header.values())
    if name in declared:
        return [one for one in (name + PHASE_1, name) if one in declared]
    return sorted(by_header.get(f"aclnnop/aclnn_{name}.h", ()), key=lambda one: (not one.endswith(PHASE_1), one))


@functools.cache
def code_of(path):
    return public_functions.without_comments(path.read_text(encoding="utf-8"))


@functools.cache
def sources(root):
    """The sources of src/ with their text, comments included."""
    return {path: path.read_text(encoding="utf-8") for path in sorted((root / "src").rglob("*.cc"))}


@functools.cache
def operators(root):
    """The entries of the schema."""
    return schema.read.read(root)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def uses(text, name):
    """The places in a text where a name stands outside of preprocessor lines."""
    return [use.start() for use in re.finditer(rf"^(?!\s*#).*?(?P<name>\b(?:{name})\b)", text, re.MULTILINE)]


def line_of_definition(text, name):
    """The line at which a function's body begins to be stated; None when the text has none."""
    for match in re.finditer(rf"^\w[^\n;(){{}}]*?\b{name}\s*\(|^{name}\s*\(", text, re.MULTILINE):
        end = re.compile(r"[;{]").search(text, match.end())
        if end and end.group() == "{":
            return line_of(text, match.start())
    return None


def lines_of_definition(root, name):
    """Where a function is defined or, if a macro defines it or the schema makes it, where its name, less that of the phase, stands."""
    short = name.removesuffix(PHASE_1)
    texts = {path: code_of(path) for path, text in sources(root).items() if short in text}
    if any(short == function.name for header in operators(root) for function in header.functions):  # other folders call it
        texts = {path: text for path, text in texts.items() if path.is_relative_to(root / "src/aclnnop")}
    defined = [(path, line) for path, text in texts.items() if (line := line_of_definition(text, name))]
    named = [(path, line_of(text, uses(text, short)[0])) for path, text in texts.items() if uses(text, short)]
    return defined or named or lines_in_its_source(root, short)


def lines_in_its_source(root, name):
    """Where the source of an operator has its name as a row of a macro."""
    for header in operators(root):
        if name in [function.name for function in header.functions]:
            path = root / f"src/aclnnop/{header.family}/{header.source}.cc"
            text = code_of(path)
            return [(path, line_of(text, at)) for at in uses(text, schema.functions.written(name))[-1:]]
    return []


def lines_of_declaration(root, name):
    for function in (function for header in operators(root) for function in header.functions):
        if name == function.name or (name == function.name + PHASE_1 and function.phases == 2):
            path, line = function.place.split(":")
            yield root / path, int(line)
    for path in sorted((root / "include").rglob("*.h")):
        text = code_of(path)
        match = re.search(rf"^(?!\s*#)[^\n]*?\b{name}\s*\(", text, re.MULTILINE)
        if match:
            yield path, line_of(text, match.start())


def tests_of(root, names, file_name):
    """The files of tests/ that are named after an operator, then those that name its functions, the most places first."""
    own, others = [], []
    pattern = re.compile(rf"\b({'|'.join(names)})\b")
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix not in {".cc", ".h", ".c", ".cpp", ".py"}:
            continue
        if re.sub(r"(_contract)?(_test)?$", "", path.stem) == file_name:
            own.append((path, 1, 0))
            continue
        text = path.read_text(encoding="utf-8")
        places = [match.start() for match in pattern.finditer(text)]
        if places:
            others.append((path, line_of(text, places[0]), len(places)))
    return own + sorted(others, key=lambda one: -one[2])


def main() -> int:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    name = sys.argv[1]
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent.parent)
    by_header = public_functions.functions_by_header(public_functions.headers_of(root))
    names = functions_meant(name, by_header)
    if not names:
        known = set().union(*by_header.values()) | {re.sub(r".*aclnn_|\.h$", "", header) for header in by_header}
        alike = difflib.get_close_matches(name, known, n=5)
        print(f"no public function and no operator is called {name}" + (f"; alike: {', '.join(alike)}" if alike else ""),
              file=sys.stderr)
        return 1

    def show(what, path, line, note):
        print(f"{what:<10}  {path.relative_to(root).as_posix()}:{line}  {note}".rstrip())

    for one in names:
        for path, line in lines_of_definition(root, one):
            show("definition", path, line, one)
    for one in names:
        for path, line in lines_of_declaration(root, one):
            show("header", path, line, one)
    headers = [header for header, declared in by_header.items() if names[0] in declared]
    tests = tests_of(root, names, re.sub(r".*aclnn_|\.h$", "", headers[0]))
    for path, line, places in tests[:MOST_TESTS]:
        show("test", path, line, f"{places} places" if places > 1 else "")
    if len(tests) > MOST_TESTS:
        print(f"{'test':<10}  and {len(tests) - MOST_TESTS} files more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
