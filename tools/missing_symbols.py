#!/usr/bin/env python3
# Says which aclnn names a program uses that an installed prefix does not have, once compiling the program has failed.
# SPDX-License-Identifier: Apache-2.0
"""usage: missing_symbols.py PREFIX COMPILER ARGUMENTS... (the command that failed)

Prints the missing names and returns 0, or prints nothing and returns 1 when nothing is missing from the prefix.

The compiler decides what is missing, because only it knows scopes, macros and overloads: headers that do not exist are
replaced by empty ones until it gets past them, and then it names what is undeclared, or the linker what is undefined.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from public_functions import without_comments

_NO_HEADER = re.compile(r"fatal error: '?(?P<name>[\w./+-]+)'?(?:: No such file or directory| file not found)")
_OUR_HEADER = re.compile(r"(?:acl|aclnn|aclnnop|opdev)/|aclnn_\w+\.h$")
_UNDECLARED = re.compile(
    r"error: '(?:::)?(\w+)' (?:was not declared|has not been declared|does not name a type)"
    r"|error: there are no arguments to '(\w+)' that depend on a template parameter"
    r"|error: (?:use of undeclared identifier|unknown type name|no member named) '(?:::)?(\w+)'"
    r"|error: '::(\w+)' has not been declared"
)
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?(\w+)")


def _say(command):
    """What the compiler says of the command, in English and without a limit on errors."""
    limit = "-ferror-limit=0" if "clang" in os.path.basename(command[0]) else "-fmax-errors=0"
    done = subprocess.run(
        [command[0], limit, *command[1:]], env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False
    )
    return done.stderr


def _defines(source, name):
    """Whether the source itself defines a function of that name, even if only after its use."""
    for match in re.finditer(rf"[\w*&>]\s+\*?\b{name}\s*\(", source):
        depth, end = 1, match.end()
        while depth and end < len(source):
            depth += {"(": 1, ")": -1}.get(source[end], 0)
            end += 1
        if re.match(r"\s*(noexcept\s*)?\{", source[end:]):
            return True
    return False


def missing(prefix, command):
    """The headers and the names that the failed command asks for and the prefix lacks."""
    headers, names = [], set()
    with tempfile.TemporaryDirectory() as stand_ins:
        command = [*command, "-I", stand_ins]
        said = _say(command)
        while True:
            match = _NO_HEADER.search(said)
            if not match or not _OUR_HEADER.search(match["name"]) or match["name"] in headers:
                break
            headers.append(match["name"])
            stand_in = pathlib.Path(stand_ins, match["name"])
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            # An operator's header would have brought the tensor types along.
            brings = '#include "aclnn/aclnn_base.h"\n' if stand_in.name.startswith("aclnn_") else ""
            stand_in.write_text(brings, encoding="utf-8")
            said = _say([*command, "-fsyntax-only"])
        for match in _UNDECLARED.finditer(said):
            names.update(name for name in match.groups() if name)
        names.update(_UNDEFINED.findall(said))
    files = [argument for argument in command[1:] if os.path.isfile(argument)]
    source = "\n".join(without_comments(pathlib.Path(file).read_text(errors="replace")) for file in files)
    declared = set()
    for header in pathlib.Path(prefix, "include").rglob("*.h"):
        declared.update(re.findall(r"\w+", without_comments(header.read_text(encoding="utf-8"))))
    names = {name for name in names if re.match(r"acl|ACL", name)}
    return headers, sorted(name for name in names - declared if not _defines(source, name))


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    headers, names = missing(arguments[0], arguments[1:])
    if not headers and not names:
        return 1
    print("portacl does not have what this program uses:")
    for name in names:
        print(f"  {name}")
    for header in headers:
        print(f"  {header} (header)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
