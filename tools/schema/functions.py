"""Writes, for each source of operators, the C functions of both phases: what they pass on is in their signature.

A source has `PORTACL_PHASE_1(aclnnNAME) { ... }` for each function of its headers, as it is or by a macro of its own, and may have some of
another source's headers. There `call` has the tensors and lists of tensors among the arguments as tensors and the others as attributes, in
the order that the schema says; `given` has all as they are, by their names. What a call does not have
as it is, a recording takes from GivenValues. A function that a source defines whole is not made.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable

from schema.headers import phase_1_arguments, signature
from schema.read import Argument, Error, Function, Header

OWN = '#include "aclnnop/{}/{}_functions.h"\n'  # what a source of operators includes
MARK = re.compile(r"^PORTACL_PHASE_1\((aclnn\w+)\)", re.MULTILINE)
WHOLE = re.compile(r"^aclnnStatus (aclnn\w+?)(GetWorkspaceSize)?\(", re.MULTILINE)
# Of an attribute: C's types that it does not have as they are, and what they become.
CASTS = {"char*": "const char*", "uint64_t": "int64_t"}
WITHOUT_ATTRIBUTE = ("scalars", "floats", "const float*", "uint64_t*", "uint64_t**")


def is_tensor(kind: str) -> bool:
    return kind in ("tensor", "tensors")


def tensors_of(function: Function) -> list[Argument]:
    """The tensors and lists of tensors that a call has, in its order."""
    tensors = {one.name: one for one in function.arguments if is_tensor(one.type)}
    passed = [name for name, value in function.passes or () if name in tensors or value == "null"]
    absent = {name: Argument(name, "tensor", "null", "in", True) for name in passed if name not in tensors}
    return [(tensors | absent)[name] for name in passed or tensors]


def is_in_place(function: Function) -> bool:
    """Whether the first tensor is the output: it is read and written, and no other one is written alone."""
    tensors = tensors_of(function)
    return bool(tensors) and tensors[0].direction == "inout" and all(one.direction != "out" for one in tensors)


def output_count(function: Function) -> int:
    return max(1, sum(one.direction == "out" for one in tensors_of(function)))


def names_its_outputs(function: Function) -> bool:
    """Whether a call can say where its outputs are: they are the last tensors, or the first one."""
    directions = [one.direction for one in tensors_of(function)]
    count = directions.count("out")
    return is_in_place(function) or (count > 0 and "out" not in directions[:-count])


def array(type_name: str, name: str, entries: list[str]) -> str:
    line = f"  const portacl::{type_name} {name}[] = {{{', '.join(entries)}}};\n"
    if len(line) <= 111:
        return line
    return f"  const portacl::{type_name} {name}[] = {{\n" + "".join(f"      {entry},\n" for entry in entries) + "  };\n"


def attribute(name: str, argument: Argument | None, value: str) -> str:
    """An attribute of a call: an argument, or a value of its own."""
    if argument is None:
        return f'{{"{name}", {value}}}'
    if argument.type == "bools":
        return f"portacl::MaskAttribute({name})"
    return f'{{"{name}", static_cast<{CASTS[argument.type]}>({name})}}' if argument.type in CASTS else f'{{"{name}", {name}}}'


def attributes_of(function: Function) -> list[str]:
    others = {one.name: one for one in function.arguments if not is_tensor(one.type) and one.type not in WITHOUT_ATTRIBUTE}
    passed = [(name, "") for name in others] if function.passes is None else function.passes
    return [attribute(name, others.get(name), value) for name, value in passed if name in others or (value and value != "null")]


def given_of(function: Function) -> list[Argument]:
    """The arguments that a call does not have as they are."""
    has = {one.name for one in tensors_of(function)}
    if function.passes is None:
        has.update(one.name for one in function.arguments if not is_tensor(one.type))
    else:
        has.update(name for name, _ in function.passes)
    never = ("scalars", "floats", "bools")
    pointers = ("const float*", "uint64_t*", "uint64_t**")
    return [one for one in function.arguments if one.type in never or (one.name not in has and one.type not in (*pointers, "tensors"))]


def given_value(argument: Argument) -> str:
    kind = CASTS.get(argument.type)
    return f'{{"{argument.name}", {f"static_cast<{kind}>({argument.name})" if kind else argument.name}}}'


def made(function: Function) -> str:
    """Both phases."""
    if not names_its_outputs(function):
        raise Error(f"{function.place}: {function.name} writes neither its last tensors nor its first one: its source defines it whole.")
    attributes = attributes_of(function)
    tensors = [f'{{"{one.name}", {"nullptr" if one.c_type == "null" else one.name}}}' for one in tensors_of(function)]
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
    values = [given_value(one) for one in given_of(function)]
    if values:
        text += array("GivenValue", "given_values", values)
        text += f'  const portacl::GivenValues recorded("{function.name}", given_values);\n'
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
    out = (f"// The C functions of {source}. Made by tools/schema from operators.toml.\n// SPDX-License-Identifier: Apache-2.0\n"
           "// clang-format off: lines are as long as signatures.\n#pragma once\n\n")
    out += "".join(f'#include "aclnnop/aclnn_{name}.h"\n' for name in sorted(one.name for one in headers))
    if not functions:
        return out
    if any("MaskAttribute" in one for function in functions for one in attributes_of(function)):
        out += '#include "aclnnop/output_mask.h"\n'
    if any(given_of(function) for function in functions):
        out += '#include "aclnnop/given_values.h"\n'
    out += '#include "aclnnop/phase1.h"\n\nnamespace portacl::phase1 {\n'
    out += "".join(declared(one) for one in functions)
    return out + "}  // namespace portacl::phase1\n\n" + "\n".join(made(one) for one in functions)


def written(name: str) -> str:
    """What a function is called where a source defines it: by its name, or without what macros put before it."""
    stem = name.removeprefix("aclnn")
    return rf"\b({name}|{stem}|{stem.removeprefix('Inplace')}|{stem.removeprefix('Foreach')})\b"


class _Source:
    """A source, and which functions it has as text."""

    def __init__(self, path: pathlib.Path, root: pathlib.Path):
        self.family, self.stem, self.shown = path.parent.name, path.stem, path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.marked = {match.group(1): self.place(match) for match in MARK.finditer(self.text)}
        self.whole = {match.group(1): self.place(match) for match in WHOLE.finditer(self.text)}

    def place(self, match: re.Match[str]) -> str:
        return f"{self.shown}:{self.text.count(chr(10), 0, match.start()) + 1}"

    def has(self, function: Function) -> bool:
        """Whether it names the function, if only by what a macro of its own puts together."""
        return re.search(written(function.name), self.text) is not None


def sources(root: pathlib.Path, operators: Iterable[Header]) -> dict[str, str]:
    """The texts for all sources that a header names or that have such functions, by their paths below an include folder."""
    operators = list(operators)
    known = {function.name: (header, function) for header in operators for function in header.functions}
    read = [_Source(path, root) for path in sorted((root / "src/aclnnop").glob("*/*.cc"))]
    elsewhere: dict[str, str] = {}  # functions that a source has as text: where
    for source in read:
        for name, place in (source.marked | source.whole).items():
            if name not in known:
                raise Error(f"{place}: {name} is defined, and src/aclnnop/{source.family}/operators.toml has no such function.")
            if name in elsewhere:
                raise Error(f"{place}: {name} is defined at {elsewhere[name]}, too.")
            elsewhere[name] = place
    found = {}
    for source in read:
        headers = [one for one in operators if one.source == source.stem and one.family == source.family]
        functions = [known[name][1] for name in source.marked]
        for function in (function for header in headers for function in header.functions if function.name not in elsewhere):
            if function.phases == 1 or not source.has(function):
                raise Error(f"{function.place}: {function.name} is nowhere in its source, {source.shown}:1.")
            functions.append(function)
        headers += [header for header in operators if header not in headers and any(one.name in source.marked for one in header.functions)]
        if headers:
            found[f"aclnnop/{source.family}/{source.stem}_functions.h"] = source_text(source.shown, headers, functions)
        elif OWN.format(source.family, source.stem) in source.text:
            raise Error(f"{source.shown}:1: no entry of src/aclnnop/{source.family}/operators.toml has this source.")
    return found
