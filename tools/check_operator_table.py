#!/usr/bin/env python3
"""Checks the operator tables of README.md and README.zh-CN.md against the code: the operators, products and dtypes.

Usage: check_operator_table.py [REPOSITORY]

An operator is a header include/aclnnop/aclnn_NAME.h that declares a function ...GetWorkspaceSize. What it accepts is the
DtypeRule that the list of checks in src/aclnnop/NAME.cc hands to DtypesIn or PromotedIn. A row of the table names the
operator; the columns are the product lines of src/acl/settings/soc_profile.cc; a cell lists dtypes (f32 f16 ...), or is "-".
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

import public_functions

SHORT_NAMES = {
    "ACL_FLOAT": "f32", "ACL_FLOAT16": "f16", "ACL_BF16": "bf16", "ACL_DOUBLE": "f64", "ACL_INT8": "s8", "ACL_UINT8": "u8",
    "ACL_INT16": "s16", "ACL_INT32": "s32", "ACL_INT64": "s64", "ACL_BOOL": "bool", "ACL_UINT16": "u16", "ACL_UINT32": "u32",
    "ACL_UINT64": "u64", "ACL_COMPLEX64": "c64", "ACL_COMPLEX128": "c128", "ACL_COMPLEX32": "c32", "ACL_HIFLOAT8": "hif8",
    "ACL_FLOAT8_E5M2": "e5m2", "ACL_FLOAT8_E4M3FN": "e4m3fn", "ACL_FLOAT8_E8M0": "e8m0", "ACL_FLOAT4_E2M1": "e2m1",
    "ACL_FLOAT4_E1M2": "e1m2",
}
PAGES = ("README.md", "README.zh-CN.md")
NO_DEVICE = "no device"


def code_of(path: pathlib.Path) -> str:
    return public_functions.without_comments(path.read_text(encoding="utf-8"), keep_strings=True)


def product_lines(root: pathlib.Path) -> list[str]:
    """The product lines in the order in which rules list them; further names of a product share its entry."""
    lines: dict[str, str] = {}
    for product, line in re.findall(r'\{\s*Product::(k\w+),\s*"([^"]+)"', code_of(root / "src/acl/settings/soc_profile.cc")):
        lines.setdefault(product, line)
    return list(lines.values())


def dtype_sets(code: str) -> dict[str, frozenset[str]]:
    return {
        name: frozenset(SHORT_NAMES.get(dtype, dtype) for dtype in re.findall(r"ACL_\w+", dtypes))
        for name, dtypes in re.findall(r"constexpr\s+DtypeSet\s+(\w+)\s*\{([^}]*)\}", code)
    }


def dtype_rules(code: str) -> dict[str, list[str]]:
    """For each rule the names of its sets, one per product."""
    return {
        name: re.findall(r"\w+", sets)
        for name, sets in re.findall(r"constexpr\s+DtypeRule\s+(\w+)\s*=\s*\{\{([^}]*)\}\}", code)
    }


def accepted(root: pathlib.Path) -> dict[str, dict[str, frozenset[str]]]:
    """operator -> product line -> dtypes, as the code has it."""
    shared = "".join(code_of(path) for path in sorted((root / "src/contract").glob("*.h")))
    products = product_lines(root)
    found = {}
    for header in sorted((root / "include/aclnnop").glob("aclnn_*.h")):
        name = re.search(r"\b(aclnn\w+)GetWorkspaceSize\s*\(", code_of(header))
        if not name:
            continue
        code = code_of(root / "src/aclnnop" / (header.stem.removeprefix("aclnn_") + ".cc"))
        sets, rules = dtype_sets(shared + code), dtype_rules(shared + code)
        used = set(re.findall(r"\b(?:DtypesIn|PromotedIn)\(\s*(\w+)", code))
        if len(used) != 1:
            raise SystemExit(f"{name.group(1)}: its checks use {len(used)} dtype rules, expected one: {sorted(used)}")
        rule = rules[used.pop()]
        if len(rule) != len(products):
            raise SystemExit(f"{name.group(1)}: its dtype rule has {len(rule)} entries for {len(products)} products")
        found[name.group(1)] = {
            product: sets[dtypes] for product, dtypes in zip(products, rule) if product != NO_DEVICE
        }
    return found


def table_of(page: pathlib.Path) -> dict[str, dict[str, frozenset[str]]]:
    """The same, as the page has it: from every table whose first column holds names of operators."""
    rows: dict[str, dict[str, frozenset[str]]] = {}
    columns: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not columns:
            columns = cells
        elif re.fullmatch(r"`?aclnn\w+`?", cells[0]):
            dtypes = [frozenset(cell.replace("-", " ").split()) for cell in cells[1:]]
            rows[cells[0].strip("`")] = dict(zip(columns[1:], dtypes))
    return rows


def listed(dtypes: frozenset[str] | None) -> str:
    return "nothing" if dtypes is None else " ".join(sorted(dtypes, reverse=True)) or "-"


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    expected = accepted(root)
    faults = [] if expected else ["no operator found under include/aclnnop"]
    for page in PAGES:
        found = table_of(root / page)
        for operator in sorted(expected.keys() | found.keys()):
            if operator not in found or operator not in expected:
                faults.append(f"{page}: {operator} is " + ("missing" if operator in expected else "no operator"))
                continue
            for product in sorted(expected[operator].keys() | found[operator].keys()):
                ours, theirs = expected[operator].get(product), found[operator].get(product)
                if ours != theirs:
                    faults.append(f"{page}: {operator} on {product}: {listed(theirs)}, the code has {listed(ours)}")
    print("\n".join(faults) if faults else f"operator tables: in order ({len(expected)} operators)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
