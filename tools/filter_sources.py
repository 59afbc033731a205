#!/usr/bin/env python3
"""Writes exports.map (what libportacl.so exports) and filter_<name>.c (the bodies of each library under a name of CANN).

Usage: filter_sources.py OUTPUT_DIR
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys

import cann_libraries


def write_if_changed(path: pathlib.Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> int:
    output = pathlib.Path(sys.argv[1])
    exports = cann_libraries.exports()
    names = exports.pop(cann_libraries.CODE)
    if not names:
        print("no public function found", file=sys.stderr)
        return 1
    listed = "".join(f"    {name};\n" for name in names)
    write_if_changed(output / "exports.map", f"{{\n  global:\n{listed}  local:\n    *;\n}};\n")
    # The loader never runs these bodies: it takes every symbol from libportacl.so. A trap says so if that should ever fail.
    for library, functions in exports.items():
        bodies = "".join(f"FILTERED({function})\n" for function in functions)
        write_if_changed(
            output / f"filter_{library}.c",
            f"/* Link-time names of what lib{library}.so exports; generated. */\n"
            "typedef int NotEmpty;\n"
            "#define FILTERED(name) \\\n"
            '  __attribute__((visibility("default"), noreturn)) void name(void); \\\n'
            "  void name(void) { __builtin_trap(); }\n" + bodies,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
