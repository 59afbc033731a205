#!/usr/bin/env python3
"""Writes exports.map (what libportacl.so exports) and filter.c (the bodies of the filter libraries) from the public headers.

Usage: filter_sources.py INCLUDE_DIR OUTPUT_DIR
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import subprocess
import sys


def main() -> int:
    include, output = map(pathlib.Path, sys.argv[1:3])
    lister = pathlib.Path(__file__).with_name("public_functions.py")
    names = subprocess.run([sys.executable, lister, include], check=True, capture_output=True, text=True).stdout.split()
    if not names:
        print(f"no public function found under {include}", file=sys.stderr)
        return 1
    exports = "".join(f"    {name};\n" for name in names)
    (output / "exports.map").write_text(f"{{\n  global:\n{exports}  local:\n    *;\n}};\n")
    # The loader never runs these bodies: it takes every symbol from libportacl.so. A trap says so if that should ever fail.
    bodies = "".join(f"FILTERED({name})\n" for name in names)
    (output / "filter.c").write_text(
        "/* Link-time names of the public functions; generated. */\n"
        "#define FILTERED(name) \\\n"
        '  __attribute__((visibility("default"), noreturn)) void name(void); \\\n'
        "  void name(void) { __builtin_trap(); }\n" + bodies
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
