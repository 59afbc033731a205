#!/usr/bin/env python3
"""Which library under CANN's names exports which function, from cmake/cann_libraries.txt and the headers.

Usage: cann_libraries.py            prints the names, without lib and .so, one a line
       cann_libraries.py LIBRARY    prints the functions that it exports, one a line ("portacl": all of them)

SPDX-License-Identifier: Apache-2.0
"""
import fnmatch
import pathlib
import sys

import public_functions
import schema.read

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The library that has the code: the others only have its names.
CODE = "portacl"


def _listed() -> dict[str, list[str]]:
    lines = (ROOT / "cmake" / "cann_libraries.txt").read_text(encoding="utf-8").splitlines()
    return {name: headers for name, *headers in (line.split() for line in lines if line and not line.startswith("#"))}


def _repositories() -> dict[str, str]:
    """The repository of each operator's header."""
    return {f"aclnnop/aclnn_{one.name}.h": one.repository for one in schema.read.read(ROOT) if one.source}


def names() -> list[str]:
    """The libraries under CANN's names."""
    return sorted({*_listed(), "opapi", *(f"opapi_{repository}" for repository in _repositories().values())})


def exports() -> dict[str, list[str]]:
    """The sorted functions of each library, that of the code included."""
    declared = public_functions.functions_by_header(public_functions.headers_of(ROOT))
    patterns, repositories = _listed(), _repositories()
    found: dict[str, set[str]] = {name: set() for name in [CODE, *names()]}
    for header, functions in declared.items():
        found[CODE].update(functions)
        if header.startswith("aclnnop/") and functions:
            if header not in repositories:
                sys.exit(f"{header} declares functions, but no operators.toml has it")
            found["opapi"].update(functions)
            found[f"opapi_{repositories[header]}"].update(functions)
        for name, headers in patterns.items():
            if any(fnmatch.fnmatchcase(header, pattern) for pattern in headers):
                found[name].update(functions)
    return {name: sorted(functions) for name, functions in found.items()}


if __name__ == "__main__":
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1] not in [CODE, *names()]):
        sys.exit(__doc__)
    print("\n".join(exports()[sys.argv[1]] if len(sys.argv) == 2 else names()))
