#!/usr/bin/env python3
"""Checks, or writes, what docs/graph_operators.md lists: the types that portacl computes, with their native functions, as
src/aclop/operator_table.cc has them, and torch_npu's operators that call the graph engine, as its table has them.

Usage: check_graph_operators.py [--write] [REPOSITORY]

What is generated stands between two comments each, <!-- types --> and <!-- end of types -->, <!-- torch_npu --> and
<!-- end of torch_npu -->. Also checks that the table of torch_npu names as missing what the source lacks, and that the rows of a
type stand together.
SPDX-License-Identifier: Apache-2.0
"""
import ast
import itertools
import json
import pathlib
import re
import sys

ROW = re.compile(r'\b(NATIVE|UNARY|BINARY)\(\s*"(\w+)"((?:,\s*\w+){1,4})|^    // ---- (.+) ----$', re.MULTILINE)
OWN = {"Identity": "a copy", "BroadcastTo": "a move of its own"}


def rows_of(root: pathlib.Path) -> list[tuple[str, str, str]]:
    """(section, type, native function), in the order of the source."""
    rows, section = [], ""
    for kind, type_, rest, heading in ROW.findall((root / "src/aclop/operator_table.cc").read_text()):
        if heading:
            section = heading
        else:
            rows.append((section, type_, re.findall(r"\w+", rest)[-1 if kind == "NATIVE" else 0]))
    return rows


def calls_of(root: pathlib.Path) -> dict[str, str]:
    """Operator of torch_npu: types of the graph engine."""
    tree = ast.parse((root / "tools/torch_npu_table/graph_operators.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "CALLS":
            return ast.literal_eval(node.value)
    raise SystemExit("tools/torch_npu_table/graph_operators.py has no CALLS")


def types_page(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| what | types, and the native functions that compute them |", "|---|---|"]
    for section, of_section in itertools.groupby(rows, key=lambda row: row[0]):
        functions: dict[str, list[str]] = {}
        for _, type_, function in of_section:
            functions.setdefault(type_, [])
            if function not in functions[type_]:
                functions[type_].append(function)
        lines.append(f"| {section} | " + "; ".join(f"`{t}`: {', '.join(f)}" for t, f in functions.items()) + " |")
    return "\n".join(lines) + "\n"


def torch_npu_page(calls: dict[str, str], here: set[str], needs: dict[str, str]) -> str:
    works = sorted(name for name, types in calls.items() if set(types.split()) <= here)
    lines = [f"{len(works)} work:", "", "| operator | by |", "|---|---|"]
    lines += [f"| `{name}` | {calls[name].replace(' ', ', ')} |" for name in works]
    refused = sorted(set(calls) - set(works))
    lines += ["", f"{len(refused)} are refused by name, or fall back where PyTorch's CPU has a kernel:", ""]
    lines += ["| operator | lacks |", "|---|---|"]
    lines += [f"| `{name}` | {', '.join(one for one in calls[name].split() if one not in here)} |" for name in refused]
    rest = sorted(name.removeprefix("aten::") for name, need in needs.items() if need == "legacy")
    lines += ["", "So are these, of whose types nothing is known: " + ", ".join(f"`{name}`" for name in rest) + "."]
    return "\n".join(lines) + "\n"


def replaced(text: str, part: str, made: str) -> str:
    begin, end = f"<!-- {part} -->\n", f"<!-- end of {part} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"docs/graph_operators.md lacks {begin.strip()} or {end}")
    return before + begin + made + end + after


def main() -> int:
    arguments = [one for one in sys.argv[1:] if one != "--write"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    rows, calls = rows_of(root), calls_of(root)
    here = {type_ for _, type_, _ in rows} | OWN.keys()
    faults = []
    order = [type_ for type_, _ in itertools.groupby(rows, key=lambda row: row[1])]
    apart = sorted({one for one in order if order.count(one) > 1})
    faults += [f"src/aclop/operator_table.cc: the rows of {one} do not stand together" for one in apart]
    tables = (root / "python/portacl/torch").glob("operators-*.json")
    whole = (file for file in tables if "base" not in json.loads(file.read_text()))  # the others are differences
    newest = max(whole, key=lambda file: [int(number) for number in re.findall(r"\d+", file.name)])
    needs = json.loads(newest.read_text())["operators"]
    for name, types in calls.items():
        want = " ".join(f"graph:{one}" for one in types.split() if one not in here)
        if needs.get("aten::" + name) != want:
            faults.append(f"{newest.name}: aten::{name} needs \"{needs.get('aten::' + name)}\", and by the sources \"{want}\"")
    page = root / "docs/graph_operators.md"
    text = page.read_text()
    made = replaced(replaced(text, "types", types_page(rows)), "torch_npu", torch_npu_page(calls, here, needs))
    if "--write" in sys.argv[1:]:
        page.write_text(made)
    elif made != text:
        faults.append("docs/graph_operators.md is not what the sources say; run tools/check_graph_operators.py --write")
    print("\n".join(faults) if faults else f"graph operators: {len(here)} types")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
