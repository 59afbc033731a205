#!/usr/bin/env python3
"""Checks, or writes, docs/torch_npu_functions.md: each name of an operator's function that torch_npu's library holds, by which it
looks the function up, with its header, or with the reason why portacl lacks it.

Usage: check_torch_npu_functions.py [--write | --names LIBTORCH_NPU] [REPOSITORY]

VERSION is the one whose table is whole. The names are in tools/torch_npu_table/functions-VERSION.txt, which --names writes from
its library. The reasons are in absent_functions.toml beside it. What torch_npu's operators need of them is in
python/portacl/torch/operators-VERSION.json. Each name has a header or a reason, and none has both. What is generated stands
between <!-- functions --> and <!-- end of functions -->.
SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import json
import pathlib
import re
import sys
import tomllib

import schema.read

BEGIN, END = "<!-- functions -->\n", "<!-- end of functions -->"
TEXT = re.compile(rb"[\t -~]{4,}")
NAME = re.compile(r"aclnn[A-Z]\w+")
SUFFIX = "GetWorkspaceSize"


def names_in(library: bytes) -> list[str]:
    """The texts of the library that are nothing but a name, without the suffix of first phases."""
    texts = (text.decode() for text in TEXT.findall(library))
    return sorted({text.removesuffix(SUFFIX) for text in texts if NAME.fullmatch(text)})


def newest(files: list[pathlib.Path]) -> pathlib.Path:
    return max(files, key=lambda file: [int(number) for number in re.findall(r"\d+", file.name)])


def needed_by(table: dict) -> dict[str, list[str]]:
    """Function: operators of torch_npu that need it on some product, or one of several of which it is one."""
    found: dict[str, set[str]] = {}
    for needs in (table["operators"], *table["products"].values()):
        for operator, need in needs.items():
            for one in re.split(r"[ |]", need):
                found.setdefault("aclnn" + one, set()).add(operator.partition("::")[2])
    return {function: sorted(operators) for function, operators in found.items()}


def homes(root: pathlib.Path) -> dict[str, tuple[str, str]]:
    """Function: its family and its header."""
    return {
        function.name: (one.family, f"aclnn_{one.name}.h") for one in schema.read.read(root) for function in one.functions
    }


def page(names: list[str], home: dict[str, tuple[str, str]], absent: list[dict], needs: dict[str, list[str]]) -> str:
    native = [name for name in names if name in home]
    lines = [f"{len(names)} names: {len(native)} are native, {len(names) - len(native)} are not.", "", "## Native", ""]
    lines += ["| family | functions |", "|---|---|"]
    for family in sorted({home[name][0] for name in native}):
        of_family = [name.removeprefix("aclnn") for name in native if home[name][0] == family]
        lines.append(f"| {family} ({len(of_family)}) | {' '.join(of_family)} |")
    lines += ["", "## Absent", "", "| function | torch_npu's operators that need it | reason |", "|---|---|---|"]
    for group in absent:
        for name in group["functions"]:
            operators = ", ".join(f"`{one}`" for one in needs.get(name, ()))
            lines.append(f"| `{name}` | {operators or '-'} | {group['reason']} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    arguments = sys.argv[1:]
    mode = arguments.pop(0) if arguments[:1] in (["--write"], ["--names"]) else ""
    library = pathlib.Path(arguments.pop(0)) if mode == "--names" else None
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    # Tables of other versions hold only what differs from this one.
    whole = [one for one in (root / "python/portacl/torch").glob("operators-*.json") if "base" not in json.loads(one.read_text())]
    table = newest(whole)
    version = table.stem.removeprefix("operators-")
    folder = root / "tools/torch_npu_table"
    list_ = folder / f"functions-{version}.txt"
    if library is not None:
        list_.write_text("\n".join(names_in(library.read_bytes())) + "\n")
        return 0
    names = list_.read_text().split()
    absent = tomllib.loads((folder / "absent_functions.toml").read_text())["absent"]
    home = homes(root)
    reasons = [name for group in absent for name in group["functions"]]
    faults = [f"absent_functions.toml has {name} twice" for name in sorted({one for one in reasons if reasons.count(one) > 1})]
    faults += [f"absent_functions.toml gives a reason for {name}, which {home[name][1]} declares" for name in reasons if name in home]
    faults += [f"absent_functions.toml has {name}, which {list_.name} has not" for name in reasons if name not in names]
    lacking = [name for name in names if name not in home and name not in reasons]
    faults += [f"{list_.name} has {name}: no header declares it, and absent_functions.toml gives no reason" for name in lacking]
    if not faults:
        of_page = root / "docs/torch_npu_functions.md"
        text = of_page.read_text()
        before, begins, rest = text.partition(BEGIN)
        _, ends, after = rest.partition(END)
        if not begins or not ends:
            raise SystemExit(f"docs/torch_npu_functions.md lacks {BEGIN.strip()} or {END}")
        made = before + BEGIN + page(names, home, absent, needed_by(json.loads(table.read_text()))) + END + after
        if mode == "--write":
            of_page.write_text(made)
        elif made != text:
            faults.append("docs/torch_npu_functions.md is not what the sources say; run tools/check_torch_npu_functions.py --write")
    print("\n".join(faults) if faults else f"functions of torch_npu: {len(names)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
