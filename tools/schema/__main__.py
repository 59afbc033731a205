"""Makes from the schema of the operators what the build, its users and its tools read.

Usage: schema write FOLDER     FOLDER/include, all public headers; FOLDER/generated/aclnnop, the lists of operators and functions, the C functions and families
       schema list             prints that list: OPERATOR(header, family, source, repository)
       schema header NAME      prints a public header, by its own name or that of a function

What read.py says of a mistake is printed, and the exit status is 1.
SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from schema import headers, read, tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def put(file: pathlib.Path, text: str) -> None:
    """Writes a file whose text is another one: what depends on it is not built anew for nothing."""
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main() -> int:
    verb, *arguments = sys.argv[1:] or [""]
    operators = read.read(ROOT)
    if verb == "write" and len(arguments) == 1:
        folder = pathlib.Path(arguments[0])
        texts = {folder / "include" / path: text for path, text in headers.public_headers(ROOT, operators).items()}
        texts |= {folder / "generated" / path: text for path, text in tables.made(ROOT, operators).items()}
        for path, text in texts.items():
            put(path, text)
        for path in [*(folder / "include").rglob("*.h"), *(folder / "generated/aclnnop").rglob("*.h")]:
            if path not in texts:
                path.unlink()
    elif verb == "list" and not arguments:
        print(headers.list_of_operators(operators), end="")
    elif verb == "header" and len(arguments) == 1:
        name = arguments[0]
        found = [one for one in operators if name in (one.name, f"aclnn_{one.name}.h", *(function.name for function in one.functions))]
        if not found:
            print(f"no operator's header or function is called {name}", file=sys.stderr)
            return 1
        print(headers.header_text(found[0]), end="")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except read.Error as error:
        sys.exit(str(error))
