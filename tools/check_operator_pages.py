#!/usr/bin/env python3
"""Checks, or writes, what README.md, README.zh-CN.md and docs/operators.md say about operators: their families, functions,
products and dtypes, as the schema and portacl-info have them.

Usage: check_operator_pages.py [--write] [PORTACL_INFO]     (default: build/release/src/portacl-info)

Each page has what is generated between two comments, <!-- operators --> and <!-- end of operators -->.
SPDX-License-Identifier: Apache-2.0
"""
import functools
import json
import pathlib
import subprocess
import sys

import schema.read

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- operators -->\n", "<!-- end of operators -->"


@functools.cache
def operators() -> list[tuple[str, str, list[str]]]:
    """(header, family, functions), in the order of the schema."""
    return [(f"aclnnop/aclnn_{one.name}.h", one.family, sorted(function.name for function in one.functions))
            for one in schema.read.read(ROOT) if one.source]


def accepted(info: pathlib.Path) -> dict[str, dict[str, str]]:
    """header -> product line -> dtypes, in short names."""
    facts = json.loads(subprocess.run([info, "--json"], check=True, capture_output=True, text=True).stdout)
    return {
        one["header"]: {
            product: " ".join(short for short, name in schema.read.DTYPES.items() if name in dtypes) or "-"
            for product, dtypes in one["accepted"].items()
        }
        for one in facts["operators"]
    }


def short(functions: list[str]) -> str:
    return " ".join(name.removeprefix("aclnn") for name in functions)


def summary() -> str:
    """A row for each family, in the order of their names: how many functions, and three that begin the schema."""
    families: dict[str, list[list[str]]] = {}
    for _, family, functions in operators():
        families.setdefault(family, []).append(functions)
    rows = []
    for family, headers in sorted(families.items()):
        first = [min(functions, key=lambda name: (name.startswith("aclnnInplace"), len(name), name)) for functions in headers[:3]]
        rows.append(f"| [{family}](docs/operators.md#{family}) | {sum(map(len, headers))} | {', '.join(f'`{name}`' for name in first)} |")
    return "\n".join(["| family | functions | for example |", "|---|---|---|", *rows]) + "\n"


def details(info: pathlib.Path) -> str:
    """A row for each header, by families; products that accept the same share a line."""
    dtypes = accepted(info)
    parts = []
    families = dict.fromkeys(family for _, family, _ in operators())
    for family in families:
        parts += [f"## {family.capitalize()}", "", "| functions | header | dtypes |", "|---|---|---|"]
        for header, of, functions in operators():
            if of != family:
                continue
            by_dtypes: dict[str, list[str]] = {}
            for product, names in dtypes[header].items():
                by_dtypes.setdefault(names, []).append(product)
            if len(by_dtypes) == 1:
                cell = next(iter(by_dtypes))
            else:
                cell = "<br>".join(f"{', '.join(products)}: {names}" for names, products in by_dtypes.items())
            parts.append(f"| {short(functions)} | `{header.removeprefix('aclnnop/')}` | {cell} |")
        parts.append("")
    return "\n".join(parts)


def main() -> int:
    arguments = sys.argv[1:]
    write = arguments[:1] == ["--write"]
    info = pathlib.Path((arguments[write:] or [ROOT / "build/release/src/portacl-info"])[0])
    pages = {"README.md": summary(), "README.zh-CN.md": summary(), "docs/operators.md": details(info)}
    faults = []
    for name, expected in pages.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            faults.append(f"{name}: no place for the operators")
            continue
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        page = before + BEGIN + expected + END + after
        if write:
            (ROOT / name).write_text(page, encoding="utf-8")
        elif page != text:
            faults.append(f"{name}: not what the code has; tools/check_operator_pages.py --write mends it")
    print("\n".join(faults) or f"pages of operators: in order ({len(operators())} headers)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
