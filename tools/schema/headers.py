"""Writes the public headers of the operators as their schema says.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import pathlib
from collections.abc import Iterable

from schema.read import Function, Group, Header

WIDTH = 110  # of clang-format
SHARED_CODES = "Codes, after those that all operators share, in this order:"
BEFORE = """#ifdef __cplusplus
extern "C" {
#endif
"""
AFTER = """#ifdef __cplusplus
}
#endif
"""


def comment(text: str, indent: str = "") -> str:
    """The text as a comment, its lines after // and `indent`; one that is empty as // alone."""
    return "".join(f"//{' ' + indent + line if line else ''}\n" for line in text.splitlines())


def packed(arguments: list[str], column: int, end: str) -> list[str]:
    """The lines of an argument list that begin at this column and end so, as many arguments in each as fit."""
    lines = [""]
    for i, argument in enumerate(arguments):
        piece = argument + (end if i + 1 == len(arguments) else ",")
        if lines[-1] and column + len(lines[-1]) + 1 + len(piece) > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + piece
    return lines


def signature(start: str, arguments: list[str], end: str) -> str:
    """As clang-format lays it out: below the first argument, or, where that saves more than three lines, below the function."""
    beside, below = packed(arguments, len(start), end), packed(arguments, 4, end)
    if len(beside) > len(below) + 3 or any(len(start) + len(line) > WIDTH for line in beside):
        return start + "\n    " + "\n    ".join(below) + "\n"
    return start + ("\n" + " " * len(start)).join(beside) + "\n"


def declaration(name: str, arguments: list[str]) -> str:
    return signature(f"ACLNN_API aclnnStatus {name}(", arguments, ");")


def c_arguments(function: Function) -> list[str]:
    return [f"{argument.c_type} {argument.name}" for argument in function.arguments]


def phase_1_arguments(function: Function) -> list[str]:
    return [*c_arguments(function), "uint64_t* workspaceSize", "aclOpExecutor** executor"]


def declarations(function: Function, phase_2: str) -> str:
    """Those of both phases, `phase_2` being a comment of the second one's own."""
    if function.phases == 1:
        return declaration(function.name, c_arguments(function))
    first = declaration(f"{function.name}GetWorkspaceSize", phase_1_arguments(function))
    second = ["void* workspace", "uint64_t workspaceSize", "aclOpExecutor* executor", "aclrtStream stream"]
    return first + (f"\n{comment(phase_2)}" if phase_2 else "") + declaration(function.name, second)


def group_text(group: Group) -> str:
    parts = comment(group.text) + comment(group.arguments, "  ")
    if group.codes:
        parts += comment(SHARED_CODES) + comment(group.codes, "  ")
    return parts + "".join(declarations(function, group.phase_2) for function in group.functions)


def head_text(header: Header) -> str:
    head = comment(f"aclnnop/aclnn_{header.name}.h: {header.title}") + "// SPDX-License-Identifier: Apache-2.0\n"
    return head + ("//\n" + comment(header.about) if header.about else "")


def header_text(header: Header) -> str:
    guard = f"PORTACL_ACLNNOP_ACLNN_{header.name.upper()}_H_"
    includes = ["aclnn/aclnn_base.h", *(f"aclnn_{name}.h" for name in header.needs), "aclnn_util.h"]
    body = ""
    if header.groups:
        also = f"\n{header_also(header)}" if header.also else ""
        body = f"\n{BEFORE}\n" + "\n".join(group_text(group) for group in header.groups) + f"\n{AFTER}{also}"
    else:
        includes = includes[1:-1] or includes  # what is included brings the others along
    return (head_text(header) + f"#ifndef {guard}\n#define {guard}\n\n" + "".join(f'#include "{one}"\n' for one in includes) +
            f"{body}\n#endif  // {guard}\n")


def header_also(header: Header) -> str:
    return comment("CANN declares these here, too.") + "".join(f'#include "aclnn_{name}.h"\n' for name in header.also)


def public_headers(root: pathlib.Path, operators: Iterable[Header]) -> dict[str, str]:
    """All public headers, those of include/ and those of the operators, by their paths below an include folder."""
    written = {path.relative_to(root / "include").as_posix(): path.read_text(encoding="utf-8") for path in (root / "include").rglob("*.h")}
    return dict(sorted((written | {f"aclnnop/aclnn_{one.name}.h": header_text(one) for one in operators}).items()))


def family_headers(operators: Iterable[Header]) -> dict[str, str]:
    """For each family a header that includes all of its public headers, for tests; by its path below an include folder."""
    found: dict[str, str] = {}
    for one in operators:
        path = f"aclnnop/families/{one.family}.h"
        head = f"// All operators of the family {one.family}. Made by tools/schema.\n// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n"
        found[path] = found.get(path, head) + f'#include "aclnnop/aclnn_{one.name}.h"\n'
    return found


def list_of_operators(operators: Iterable[Header]) -> str:
    """A line for each that has functions: what C++ sources and CMake read of the schema."""
    return "".join(f"OPERATOR({one.name}, {one.family}, {one.source}, {one.repository})\n" for one in operators if one.source)
