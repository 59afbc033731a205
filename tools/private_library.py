#!/usr/bin/env python3
"""Copies a shared library so that the copy is one program's own: nothing that is looked up by the library's name is answered with
the copy, and its functions call each other whatever else the process has loaded.

usage: private_library.py LIBRARY COPY

In the copy the entry of the dynamic section that names the library says DT_SYMBOLIC instead. 64 bits, little endian.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import struct
import sys

PT_DYNAMIC = 2
DT_NULL, DT_SONAME, DT_SYMBOLIC = 0, 14, 16
ENTRY = struct.Struct('<qQ')


def dynamic_section(data: bytes) -> range:
    """The offsets of the entries."""
    if data[:6] != b'\x7fELF\x02\x01':
        raise ValueError('not an ELF file of 64 bits, little endian')
    (headers,) = struct.unpack_from('<Q', data, 32)
    size, count = struct.unpack_from('<HH', data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from('<IIQQQQ', data, headers + i * size)
        if kind == PT_DYNAMIC:
            return range(offset, offset + length, ENTRY.size)
    raise ValueError('no dynamic section')


def make_private(data: bytearray) -> None:
    for offset in dynamic_section(data):
        tag, _ = ENTRY.unpack_from(data, offset)
        if tag == DT_SONAME:
            ENTRY.pack_into(data, offset, DT_SYMBOLIC, 0)
            return
        if tag == DT_NULL:
            break
    raise ValueError('the library has no name')


def main() -> None:
    source, target = map(pathlib.Path, sys.argv[1:3])
    data = bytearray(source.read_bytes())
    try:
        make_private(data)
    except (ValueError, struct.error) as error:
        sys.exit(f'{source}: {error}')
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # never rewritten under who has loaded it
    target.write_bytes(data)


if __name__ == '__main__':
    main()
