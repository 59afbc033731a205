"""Writes, for each source of operators, the C functions that are the same for all: what they pass on is in their signature.

A source has `PORTACL_PHASE_1(aclnnNAME) { ... }` for each function that is made. There `call` has the tensors and lists of tensors among
the arguments as tensors and the others as attributes, both in their order; `given` has all as they are, by their names. Functions that a
source defines whole, or by a macro of its own, are not made.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable

from schema.headers import phase_1_arguments, signature
from schema.read import Error, Function, Header

MARK = re.compile(r"^PORTACL_PHASE_1\((aclnn\w+)\)", re.MULTILINE)
# Of an attribute: C's types that it does not have as they are, and what they become.
CASTS = {"char*": "const char*", "uint64_t": "int64_t"}
WITHOUT_ATTRIBUTE = ("scalars", "floats", "bools", "const float*", "uint64_t*", "uint64_t**")


def is_tensor(kind: str) -> bool:
    return kind in ("tensor", "tensors")


def is_in_place(function: Function) -> bool:
    """Whether the first tensor is the output: it is read and written, and no other one is written alone."""
    tensors = [one for one in function.arguments if is_tensor(one.type)]
    return bool(tensors) and tensors[0].direction == "inout" and all(one.direction != "out" for one in tensors)


def output_count(function: Function) -> int:
    return max(1, sum(one.direction == "out" and is_tensor(one.type) for one in function.arguments))


def names_its_outputs(function: Function) -> bool:
    """Whether a call can say where its outputs are: they are the last tensors, or the first one."""
    directions = [one.direction for one in function.arguments if is_tensor(one.type)]
    count = directions.count("out")
    return is_in_place(function) or (count > 0 and "out" not in directions[:-count])


def array(type_name: str, name: str, entries: list[str]) -> str:
    line = f"  const portacl::{type_name} {name}[] = {{{', '.join(entries)}}};\n"
    if len(line) <= 111:
        return line
    return f"  const portacl::{type_name} {name}[] = {{\n" + "".join(f"      {entry},\n" for entry in entries) + "  };\n"


def made(function: Function) -> str:
    """Both phases."""
    if not names_its_outputs(function):
        raise Error(f"{function.place}: {function.name} writes neither its last tensors nor its first one: its source defines it whole.")
    tensors, attributes = [], []
    for one in function.arguments:
        if one.type in WITHOUT_ATTRIBUTE:
            raise Error(f"{function.place}: {function.name} has {one.c_type} {one.name}, which no call holds: its source defines it whole.")
        value = f"static_cast<{CASTS[one.type]}>({one.name})" if one.type in CASTS else one.name
        (tensors if is_tensor(one.type) else attributes).append(f'{{"{one.name}", {value}}}')
    text = signature(f"aclnnStatus {function.name}GetWorkspaceSize(", phase_1_arguments(function), ") {")
    text += array("TensorArgument", "given_tensors", tensors)
    if attributes:
        text += array("Attribute", "given_attributes", attributes)
    rest = [f'"{function.name}"', "given_tensors", "given_attributes" if attributes else "{}"]
    if is_in_place(function) or output_count(function) > 1:
        rest.append("/*in_place=*/true" if is_in_place(function) else "/*in_place=*/false")
    if output_count(function) > 1:
        rest.append(f"/*output_count=*/{output_count(function)}")
    text += f"  portacl::OperatorCall operator_call{{{', '.join(rest)}}};\n"
    given = ", ".join(one.name for one in function.arguments)
    text += f"  return portacl::phase1::{function.name}({{{given}}}, operator_call, workspaceSize, executor);\n}}\n"
    return text + f"PORTACL_PHASE_2({function.name})\n"


def declared(function: Function) -> str:
    """What the source defines."""
    members = "".join(f"  {one.c_type.removeprefix('const ') if '*' not in one.c_type else one.c_type} {one.name};\n" for one in function.arguments)
    return (f"struct {function.name}Arguments {{\n{members}}};\naclnnStatus {function.name}(const {function.name}Arguments& given, OperatorCall& call, "
            "uint64_t* workspaceSize, aclOpExecutor** executor);\n")


def source_text(source: str, headers: list[Header], functions: list[Function]) -> str:
    """What a source with these functions of these headers includes."""
    out = f"// The C functions of {source}. Made by tools/schema from operators.toml.\n// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n"
    out += "".join(f'#include "aclnnop/aclnn_{name}.h"\n' for name in sorted(one.name for one in headers))
    if not functions:
        return out
    out += '#include "aclnnop/phase1.h"\n\nnamespace portacl::phase1 {\n'
    out += "".join(declared(one) for one in functions)
    return out + "}  // namespace portacl::phase1\n\n" + "\n".join(made(one) for one in functions)


def sources(root: pathlib.Path, operators: Iterable[Header]) -> dict[str, str]:
    """The texts for all sources that a header names or that have such functions, by their paths below an include folder."""
    operators = list(operators)
    known = {function.name: (header, function) for header in operators for function in header.functions}
    found = {}
    for file in sorted((root / "src/aclnnop").glob("*/*.cc")):
        source, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
        headers = [one for one in operators if one.source == file.stem and one.family == file.parent.name]
        functions = []
        for match in MARK.finditer(text):
            if match.group(1) not in known:
                raise Error(f"{source}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)} is in no operators.toml.")
            header, function = known[match.group(1)]
            functions.append(function)
            if header not in headers:
                headers.append(header)
        if headers:
            found[f"aclnnop/{file.parent.name}/{file.stem}_functions.h"] = source_text(source, headers, functions)
    return found
