#!/usr/bin/env python3
"""Looks up what PyTorch's back end looks up, through every library name, and compares with docs/compatibility.md.

Usage: client_symbols_test.py DIRECTORY_OF_THE_LIBRARIES ROOT_OF_THE_SOURCES

The page has a table of these functions. "Present": found, and calling it without a device and with zeros for arguments
neither crashes nor says that the function is not supported. "Not supported": found, and it returns 207000 (or nothing at all) and says so.
"Absent": not found in any library. The names are in client_symbols.txt; table and file must name the same ones.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import pathlib
import re
import sys

NOT_SUPPORTED = 207000
LIBRARIES = (
    "libascend_hal.so", "libascendcl.so", "libacl_op_compiler.so", "libacl_rt.so", "libacl_tdt_channel.so", "libge_runner.so", "libgraph.so",
    "libhccl.so", "libhcomm.so", "libms_tools_ext.so", "libmsprofiler.so", "libmspti.so", "libnnopbase.so", "libopapi.so", "libopapi_cv.so", "libopapi_math.so", "libopapi_nn.so",
    "libopapi_transformer.so", "libruntime.so",
)  # fmt: skip
# These return no code: null or nothing stands for "not supported".
WITHOUT_CODE: set[str] = set()
STATES = ("present", "not supported", "absent")
HEADER = "| functions | " + " | ".join(STATES) + " |"


def symbols_of(path):
    """The names in client_symbols.txt."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch("D|L|DL", tags) for tags, _ in lines), f"{path}: unknown tags"
    return {name for _, name in lines}


def table_of(page):
    """What the table of the page says: name -> state."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines.count(HEADER) == 1, f"{page}: no table begins with {HEADER!r}"
    states = {}
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        cells = line.strip("|").split("|")[1:]
        for state, cell in zip(STATES, cells, strict=True):
            for name in re.findall(r"`(\w+)`", cell):
                assert name not in states, f"{page}: {name} stands twice in the table"
                states[name] = state
    return states


def outcome_of(name, libraries):
    """What a client meets, in the words of the page."""
    found = [hasattr(library, name) for library in libraries]
    if not any(found):
        return "absent"
    if not all(found):
        return f"found in {sum(found)} of {len(libraries)} libraries"
    addresses = {ctypes.cast(getattr(library, name), ctypes.c_void_p).value for library in libraries}
    if len(addresses) != 1:
        return "another function in another library"
    function = libraries[0][name]
    function.restype = ctypes.c_int
    recent = libraries[0]["aclGetRecentErrMsg"]
    recent.restype = ctypes.c_char_p
    recent()
    status = function(*[ctypes.c_void_p(0)] * 12)
    message = (recent() or b"").decode()
    libraries[0]["aclrtResetDeviceForce"](0)  # in case it set one
    recent()
    says_so = f"{name} is not supported: " in message
    if says_so and (status == NOT_SUPPORTED or name in WITHOUT_CODE):
        return "not supported"
    return "says that it is not supported, but returns another code" if says_so else "present"


def main():
    directory, root = map(pathlib.Path, sys.argv[1:])
    wanted = symbols_of(root / "tests" / "acl" / "client_symbols.txt")
    table = table_of(root / "docs" / "compatibility.md")
    libraries = [ctypes.CDLL(str(directory / name), mode=os.RTLD_LAZY | os.RTLD_LOCAL) for name in LIBRARIES]
    faults = [f"{name}: not in the table" for name in sorted(wanted - set(table))]
    faults += [f"{name}: in the table, but no client is known to look for it" for name in sorted(set(table) - wanted)]
    for name in sorted(wanted & set(table)):
        outcome = outcome_of(name, libraries)
        if outcome != table[name]:
            faults.append(f"{name}: {outcome}, but the table says {table[name]}")
    print("\n".join(faults))
    counts = ", ".join(f"{list(table.values()).count(state)} {state}" for state in STATES)
    print(f"{len(wanted)} functions: {counts}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
