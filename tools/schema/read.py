"""Reads the schema of the operators: one strict text for each family, src/aclnnop/FAMILY/operators.toml.

A table of that file is a public header, aclnnop/aclnn_NAME.h:

    [lerp_tensor]
    source = "lerp"                # src/aclnnop/FAMILY/lerp.cc, which several headers may share
    repository = "math"            # CANN's repository: nn, math, transformer or cv
    title = "aclnnLerp and aclnnInplaceLerp, linear interpolation with a tensor of weights."
    formula = "  out = ..."        # formula, values, types and whatever else: what the head of the header says, in this order
    values = "NaN stays NaN."
    types = "floats."
    about = '''...'''
    text = '''...'''               # what the functions share, by the names of sections of aclnn_util.h
    arguments = '''...'''          # a line for each argument
    codes = '''...'''              # a line for each code, in the order of the checks
    functions = [
      "aclnnLerp(tensor self, tensor end, tensor weight, out tensor out)",
    ]

`phase_2` is a comment of the second phase's own. `arguments_of` and `codes_of` name another header of the family whose lines are the
same. A header with several groups of functions has a table for each, [[NAME.group]], with text, arguments, codes and functions. `also`
names headers that the header includes at its end, `needs` those that it includes at its beginning. A header with neither source nor
functions declares nothing of its own: it stands where CANN has it, and includes the headers that it names, if any.

What checks and tests read: `reads`, the elements of inputs that it reads: "all", which is the default, "moved" (it only puts them somewhere),
"partly", or "partly, NAME moved"; `writes = "anew"` where the in-place form does not read what was there; `fuzz`, how random programs call it:
"elementwise", where "Elementwise operators" is among the sections, "lists", where "Lists" is, or "own", by a row of tests/fuzz.

Facts: `dtypes`, what is accepted on each product, "f32 f16; since A2: bf16; 950: s64", or "none"; `documented`, what CANN's pages say, the
same if it is not there: "without 310B", "since A2", or as dtypes; `dtypes_of`: "every operand", the default, "every input" or "promoted
inputs". A header with a source has them.

A function has two phases. Its arguments, in CANN's order, are "[out | inout | mutable] TYPE NAME":
`tensor`, `tensors`, `scalar`, `scalars`, `ints`, `floats` and `bools` are CANN's handles, any other TYPE is C's own. `out` is
written, `inout` read and written. `const` before a handle that is written: CANN's signature says const all the same; `mutable` before one
that is read: it does not. `?` behind a handle's type: it may be null, if only in some calls. "call aclnnNAME(...)" is a function of one
phase, with the arguments as they are. The call that a source gets has the tensors as tensors and the others as attributes, in their
order. Behind the signature "passes NAME, NAME=VALUE" says otherwise: these are the attributes, and, where a tensor is among them, these
are the tensors. NAME=null is a tensor that is not there, NAME=VALUE an attribute, VALUE being C++.

Every mistake is an Error of one sentence that names file and line.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import dataclasses
import pathlib
import re
import tomllib

REPOSITORIES = ("nn", "math", "transformer", "cv")
HANDLES = {
    "tensor": "aclTensor*",
    "tensors": "aclTensorList*",
    "scalar": "aclScalar*",
    "scalars": "aclScalarList*",
    "ints": "aclIntArray*",
    "floats": "aclFloatArray*",
    "bools": "aclBoolArray*",
}
C_TYPES = ("int8_t", "int32_t", "int64_t", "uint64_t", "int", "bool", "float", "double", "aclDataType", "char*", "const float*",
           "int*", "int64_t**", "uint64_t*", "uint64_t**", "aclOpExecutor**")
# Dtypes by their short names, in the order of CANN's lists.
DTYPES = {
    "f32": "FLOAT", "f16": "FLOAT16", "bf16": "BF16", "f64": "DOUBLE", "s8": "INT8", "s16": "INT16", "s32": "INT32", "s64": "INT64",
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "u64": "UINT64", "bool": "BOOL", "c64": "COMPLEX64", "c128": "COMPLEX128",
    "c32": "COMPLEX32", "hif8": "HIFLOAT8", "e5m2": "FLOAT8_E5M2", "e4m3fn": "FLOAT8_E4M3FN", "e8m0": "FLOAT8_E8M0",
    "e2m1": "FLOAT4_E2M1", "e1m2": "FLOAT4_E1M2", "s4": "INT4",
}
PRODUCTS = {"A1": "kAtlasTraining", "A2": "kAtlasA2", "A3": "kAtlasA3", "950": "kAscend950", "310P": "kAtlasInference", "310B": "kAtlas200I500A2"}
GROUP_KEYS = {"text": str, "arguments": str, "codes": str, "phase_2": str, "arguments_of": str, "codes_of": str,
              "functions": list}
HEADER_KEYS = {"source": str, "repository": str, "title": str, "formula": str, "values": str, "types": str, "about": str, "group": list,
               "also": list, "needs": list, "reads": str, "writes": str, "fuzz": str, "dtypes": str, "documented": str,
               "dtypes_of": str, **GROUP_KEYS}
# What a key may say.
CHOICES = {"repository": "|".join(REPOSITORIES), "reads": r"all|moved|partly|partly, \w+ moved", "writes": "anew", "fuzz": "elementwise|lists|own",
           "dtypes_of": "every operand|every input|promoted inputs"}


class Error(Exception):
    """A mistake in a schema: one sentence that begins with FILE:LINE."""


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    type: str  # the schema's word
    c_type: str
    direction: str  # in, out or inout
    is_optional: bool


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    arguments: tuple[Argument, ...]
    phases: int
    place: str  # FILE:LINE
    passes: tuple[tuple[str, str], ...] | None  # names, and values of those that are no arguments; None: all arguments in their order


@dataclasses.dataclass(frozen=True)
class Group:
    text: str
    arguments: str
    codes: str
    phase_2: str
    functions: tuple[Function, ...]


@dataclasses.dataclass(frozen=True)
class Header:
    name: str
    family: str
    source: str  # without folder and .cc; empty where the header declares nothing of its own
    repository: str
    title: str
    about: str
    groups: tuple[Group, ...]
    needs: tuple[str, ...]
    also: tuple[str, ...]
    place: str  # FILE:LINE
    facts: dict[str, str]  # the keys of checks and tests
    dtypes: tuple[dict[str, frozenset[str]], ...]  # by product: documented and accepted

    @property
    def functions(self) -> tuple[Function, ...]:
        return tuple(function for group in self.groups for function in group.functions)


class _File:
    """One family's file, and where in it things stand."""

    def __init__(self, path: pathlib.Path, root: pathlib.Path):
        self.shown = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        try:
            self.tables = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))
            raise Error(f"{self.shown}:{line.group(1) if line else 1}: no TOML: {error}.") from None
        self.lines = self.text.splitlines()
        self.starts: dict[str, int] = {}  # by the text of a line, the first one that has it
        for i, line in enumerate(self.lines):
            self.starts.setdefault(line.strip(), i)

    def line(self, table: str, what: str = "") -> int:
        """The line of a table, or of the first one in it that holds `what`."""
        starts = [self.starts[line] for line in (f"[{table}]", f"[[{table}.group]]") if line in self.starts]
        start = min(starts, default=0)
        if what:
            start = next((i for i in range(start, len(self.lines)) if what in self.lines[i]), start)
        return start + 1

    def error(self, table: str, message: str, what: str = "") -> Error:
        return Error(f"{self.shown}:{self.line(table, what)}: {table}: {message}.")


def _checked(file: _File, table: str, values: dict[str, object], known: dict[str, type]) -> None:
    for key, value in values.items():
        if key not in known:
            raise file.error(table, f"{key} is no key, known are {', '.join(known)}", key)
        if not isinstance(value, known[key]):
            raise file.error(table, f"{key} is no {'list' if known[key] is list else 'text'}", key)


def _argument(file: _File, table: str, text: str, whole: str) -> Argument:
    match = re.fullmatch(r"(?:(out|inout|mutable) )?(const )?(.+?)(\?)? ?\b(\w+)", text.strip())
    if match is None:
        raise file.error(table, f'"{text}" is no argument', whole)
    direction, const, kind, optional, name = match.groups()
    kind = kind.strip()
    if kind in HANDLES:
        if const and direction is None:
            raise file.error(table, f'"{text}": a handle that is read is const anyhow', whole)
        c_type = ("" if direction and not const else "const ") + HANDLES[kind]
    elif (const or "") + kind in C_TYPES or kind in C_TYPES:
        if optional:
            raise file.error(table, f'"{text}": only a handle may be null', whole)
        c_type = (const or "") + kind
    else:
        raise file.error(table, f'"{text}": {kind} is no type, known are {", ".join((*HANDLES, *C_TYPES))}', whole)
    return Argument(name, kind, c_type, "in" if direction in (None, "mutable") else direction, optional is not None)


def _function(file: _File, table: str, text: object) -> Function:
    match = re.fullmatch(r"(call )?(aclnn\w+)\(([^()]*)\)(?: passes (.+))?", text) if isinstance(text, str) else None
    if match is None:
        raise file.error(table, f'{text!r} is no function: "aclnnNAME(ARGUMENTS)"', str(text))
    called, name, signature, passed = match.groups()
    arguments = tuple(_argument(file, table, one, name) for one in signature.split(",") if one.strip())
    names = [argument.name for argument in arguments]
    passes = None if passed is None else tuple((one.strip(), value.strip()) for one, _, value in (part.partition("=") for part in passed.split(",")))
    for one, value in passes or ():
        if not value and one not in names:
            raise file.error(table, f"{name} passes {one}, which is none of its arguments", name + "(")
    for whose, some in ("has", names), ("passes", [one for one, _ in passes or ()]):
        twice = next((one for one in some if some.count(one) > 1), None)
        if twice:
            raise file.error(table, f"{name} {whose} two arguments {twice}", name + "(")
    return Function(name, arguments, 1 if called else 2, f"{file.shown}:{file.line(table, name + '(')}", passes)


def _lines_of(file: _File, table: str, values: dict[str, str], key: str) -> str:
    """The text of a key, or that of the header that KEY_of names."""
    other = values.get(f"{key}_of")
    if other is None:
        return values.get(key, "")
    if key in values:
        raise file.error(table, f"{key} and {key}_of exclude each other", f"{key}_of")
    named = file.tables.get(other)
    if not isinstance(named, dict) or key not in named:
        raise file.error(table, f"{key}_of names {other}, which has no {key} of its own", f"{key}_of")
    return named[key]


def _group(file: _File, table: str, values: dict) -> Group:
    functions = values.get("functions")
    if not functions:
        raise file.error(table, "no functions")
    return Group(values.get("text", ""), _lines_of(file, table, values, "arguments"), _lines_of(file, table, values, "codes"),
                 values.get("phase_2", ""),
                 tuple(_function(file, table, one) for one in functions))


def _dtypes(file: _File, table: str, key: str, text: str, others: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """What "TYPES; PRODUCTS: TYPES; ..." says for each product; "without PRODUCTS" and "since A2": what `others` has, but there or there alone."""
    without, new = re.fullmatch(r"without (.+)", text), frozenset(("A2", "A3", "950"))
    if without or text == "since A2":
        left_out = without.group(1).split() if without else PRODUCTS.keys() - new
        return {product: frozenset() if product in left_out else types for product, types in others.items()}
    found: dict[str, set[str]] = {product: set() for product in PRODUCTS}
    for part in text.split(";") if text != "none" else ():
        where, colon, types = part.rpartition(":")
        for product in PRODUCTS if not colon else new if where.strip() == "since A2" else where.split():
            if product not in PRODUCTS:
                raise file.error(table, f"{key}: {product} is no product, known are {', '.join(PRODUCTS)}", f"{key} =")
            found[product].update(types.split())
    strange = next((one for one in sorted(set().union(*found.values())) if one not in DTYPES), None)
    if strange:
        raise file.error(table, f"{key}: {strange} is no dtype, known are {', '.join(DTYPES)}", f"{key} =")
    return {product: frozenset(types) for product, types in found.items()}


def _facts(file: _File, table: str, values: dict) -> tuple[dict[str, frozenset[str]], ...]:
    if "dtypes" not in values:
        return ()
    accepted = _dtypes(file, table, "dtypes", values["dtypes"], {})
    return (_dtypes(file, table, "documented", values["documented"], accepted) if "documented" in values else accepted, accepted)


def _about(values: dict) -> str:
    """Formula, then values and types, then the rest, with empty lines between them."""
    facts = f"Values: {values['values'].strip()}\n" if "values" in values else ""
    if "types" in values:
        facts += ("Types\n" if values["types"].startswith("  ") else "Types: ") + values["types"].rstrip() + "\n"
    return "\n".join(part.rstrip() + "\n" for part in (values.get("formula"), facts, values.get("about")) if part)


def _header(file: _File, family: str, name: str, values: object, root: pathlib.Path) -> Header:
    if not isinstance(values, dict):
        raise file.error(name, "is no table", name)
    _checked(file, name, values, HEADER_KEYS)
    for key, choices in CHOICES.items():
        if key in values and not re.fullmatch(choices, values[key]):
            raise file.error(name, f"{key} {values[key]} is none of {choices.replace('|', ', ')}", key)
    is_alias = "source" not in values and "functions" not in values and "group" not in values
    for key in ("title",) if is_alias else ("source", "repository", "title"):
        if key not in values:
            raise file.error(name, f"no {key}")
    needs, also = tuple(values.get("needs", ())), tuple(values.get("also", ()))
    if is_alias:
        return Header(name, family, "", "", values["title"], values.get("about", ""), (), needs, also,
                      f"{file.shown}:{file.line(name)}", {}, ())
    source = f"src/aclnnop/{family}/{values['source']}.cc"
    if not (root / source).is_file():
        raise file.error(name, f"its source {source} is missing", "source")
    if not any(key in values for key in ("formula", "values", "types", "about")):
        raise file.error(name, f"no formula of what {source}:1 computes")
    groups = values.get("group")
    if groups is None:
        groups = [{key: value for key, value in values.items() if key in GROUP_KEYS}]
    elif GROUP_KEYS.keys() & values.keys():
        raise file.error(name, "has groups, and keys of a group of its own")
    for group in groups:
        _checked(file, name, group, GROUP_KEYS)
    return Header(name, family, values["source"], values["repository"], values["title"], _about(values),
                  tuple(_group(file, name, group) for group in groups), needs, also,
                  f"{file.shown}:{file.line(name)}", {key: values[key] for key in CHOICES if key in values}, _facts(file, name, values))


def read(root: pathlib.Path) -> list[Header]:
    """All headers, by family and in the order of its file. Raises Error for the first mistake."""
    headers: list[Header] = []
    places: dict[str, str] = {}  # header or function: where it stands
    for path in sorted((root / "src/aclnnop").glob("*/operators.toml")):
        file, family = _File(path, root), path.parent.name
        for name, values in file.tables.items():
            header = _header(file, family, name, values, root)
            for one, place in ((f"aclnn_{name}.h", header.place), *((f.name, f.place) for f in header.functions)):
                if one in places:
                    raise Error(f"{place}: {one} is declared at {places[one]}, too.")
                places[one] = place
            headers.append(header)
    for header in headers:
        for other in (*header.needs, *header.also):
            if f"aclnn_{other}.h" not in places:
                raise Error(f"{header.place}: {header.name}: it includes {other}, which is no header.")
    return headers
