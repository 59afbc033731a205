"""Writes what checks and tests read of the schema: lists of its functions, one line for each, as arguments of a macro.

SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator

from schema.functions import is_in_place, sources, tensors_of
from schema.headers import family_headers, list_of_operators
from schema.read import DTYPES, PRODUCTS, Error, Function, Header

ACCESS = {"all": "kReads", "moved": "kMoves", "partly": "kPartly"}
# What the fuzzer gives an operator over lists for arguments that are no lists.
BESIDE_LISTS = {"scalar": "given.Scalar()", "scalars": "given.Scalars(1)", "tensor": "given.Numbers({1}, t[0])"}


def called(operators: Iterable[Header]) -> Iterator[tuple[Header, Function]]:
    return ((header, function) for header in operators for function in header.functions if function.phases == 2)


def functions(operators: Iterable[Header]) -> str:
    return "".join(f"FUNCTION({function.name})\n" for _, function in called(operators))


def access(operators: Iterable[Header]) -> str:
    """Functions that do not read every element of every input, that write what was there anew, or that write inputs."""
    text = ""
    for header, function in called(operators):
        reads, _, moved = header.facts.get("reads", "all").partition(", ")
        rewritten = sum(one.direction == "inout" for one in function.arguments) > is_in_place(function)
        row = f'{ACCESS[reads]}, "{moved.removesuffix(" moved")}", {str("writes" in header.facts).lower()}, {str(rewritten).lower()}'
        text += f"ACCESS({function.name}, {row})\n" if row != 'kReads, "", false, false' else ""
    return text


def parameters(operators: Iterable[Header]) -> str:
    """PARAMETERS(NAME, "tensor self,out tensor out"): direction, type and name of each parameter of phase 1, by the functions' names."""
    text = ""
    for _, function in sorted(called(operators), key=lambda one: one[1].name):
        words = [f"{'' if one.direction == 'in' else one.direction + ' '}{one.type} {one.name}" for one in function.arguments]
        text += f'PARAMETERS({function.name}, "{",".join(words)}")\n'
    return text


def fuzz_kind(header: Header, function: Function) -> str:
    texts = "".join(group.text for group in header.groups)
    derived = "elementwise" if '"Elementwise operators"' in texts else "lists" if '"Lists"' in texts else "own"
    return "own" if derived == "lists" and not all(one.type in (*BESIDE_LISTS, "tensors") for one in function.arguments) else header.facts.get("fuzz", derived)


def fuzz_calls(operators: Iterable[Header]) -> str:
    """MAP(NAME, whether in place) and LISTS(NAME, how many lists, ARGUMENTS): functions whose calls follow from their signatures."""
    text = ""
    for header, function in sorted(called(operators), key=lambda one: one[0].name):
        kind, lists = fuzz_kind(header, function), [one for one in function.arguments if one.type == "tensors"]
        if kind == "elementwise" and not lists and sum(one.direction == "out" for one in tensors_of(function)) <= 1:
            text += f"MAP({function.name.removeprefix('aclnn')}, {str(is_in_place(function)).lower()})\n"
        elif kind == "lists":
            given = [f"given.List({{t[{lists.index(one)}]}})" if one in lists else BESIDE_LISTS[one.type] for one in function.arguments]
            text += f"LISTS({function.name.removeprefix('aclnn')}, {len(lists)}, {', '.join(given)})\n"
    return text


def operator_info(operators: Iterable[Header]) -> str:
    """OPERATOR_INFO(header, function, whether of promoted inputs, whether of inputs alone, rules): what is documented and accepted."""
    text = ""
    for header in operators:
        if header.source and not header.dtypes:
            raise Error(f"{header.place}: {header.name}: no dtypes.")
        if header.source:
            rules = ", ".join("DtypeRule{{" + ", ".join(
                "DtypeSet(" + ", ".join(f"ACL_{DTYPES[one]}" for one in DTYPES if one in rule[product]) + ")" if rule[product] else "DtypeSet()"
                for product in PRODUCTS) + "}}" for rule in header.dtypes)
            of = header.facts.get("dtypes_of")
            text += f"OPERATOR_INFO({header.name}, {header.functions[0].name}, {str(of == 'promoted inputs').lower()}, {str(of == 'every input').lower()}, {rules})\n"
    return text


def made(root: pathlib.Path, operators: list[Header]) -> dict[str, str]:
    """All that sources and tests include and no user has, by paths below an include folder."""
    lists = {"aclnnop/operators": list_of_operators, "aclnnop/functions": functions, "aclnnop/operator_info": operator_info, "aclnnop/fuzz_calls": fuzz_calls,
             "aclnnop/parameters": parameters, "aclnnop/access": access}
    return {f"{path}.def": write(operators) for path, write in lists.items()} | family_headers(operators) | sources(root, operators)
