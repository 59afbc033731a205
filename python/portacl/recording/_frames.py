"""The file of a recording: a line that names the format, then frames, each complete when it has been written.

A frame is four ASCII letters (its kind), the length of its payload as a little-endian u64, the CRC-32 of the payload as a
little-endian u32, and the payload. The kinds:

    META    zlib of JSON: what was run, where, and how it was recorded; the first frame
    STCK    zlib of JSON: {"id": number, "frames": [[file, line, function], ...]}, a call stack that calls name by its number
    DATA    16 bytes, the BLAKE2b hash of what follows, then zlib of that: the elements of a tensor, in order of rows, little-endian
    CALL    zlib of JSON: one call of an operator; it comes after the frames that it names. A tensor that has an "id" is described
            once: later calls name that number instead
    DONE    zlib of JSON: why the recording ended; the last frame

A reader passes over kinds that it does not know. Nothing in the file is code, and nothing in it names code.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

MAGIC = b"portacl recording 1\n"
VERSION = 1
HEADER = struct.Struct("<4sQI")
HASH_BYTES = 16

# What a frame of JSON may hold, unpacked: far more than a call has, and less than would hurt.
_LARGEST_JSON = 1 << 28
_STORED = 1 << 14  # bytes of JSON, at most, that are not compressed
_STORED_BEGIN = struct.Struct("<3sHH")  # of one stored block in zlib's format
_TRIED = 1 << 16  # bytes of a tensor that are compressed to see whether that is worth the time


class RecordingError(ValueError):
    """A recording that cannot be read: the message says which file, where in it, and what is wrong there."""


class Frame(NamedTuple):
    kind: str
    position: int  # of its header in the file
    payload: bytes


def content_hash(content: Any) -> str:
    """The hash of a tensor's elements: BLAKE2b with 16 bytes, as hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=HASH_BYTES).hexdigest()


_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def json_text(value: Any) -> str:
    return _encoder.encode(value)


def pack(text: bytes) -> bytes:
    """zlib of a text. What a call without long lists has is stored as it is: to compress it would take longer than many an operator."""
    size = len(text)
    if size > _STORED:
        return zlib.compress(text, 1)
    return _STORED_BEGIN.pack(b"\x78\x01\x01", size, size ^ 0xFFFF) + text + zlib.adler32(text).to_bytes(4, "big")


def text_frame(kind: bytes, text: bytes) -> bytes:
    """A frame with a packed text."""
    payload = pack(text)
    return HEADER.pack(kind, len(payload), zlib.crc32(payload)) + payload


def pack_json(value: Any) -> bytes:
    return pack(json_text(value).encode("ascii"))


def pack_data(digest: str, content: Any) -> bytes:
    """What is random does not shrink: it is stored as it is, which is ten times as fast."""
    view = memoryview(content).cast("B")
    start = view[:_TRIED]
    level = 1 if len(zlib.compress(start, 1)) < 0.9 * len(start) else 0
    return bytes.fromhex(digest) + zlib.compress(view, level)


def frame_bytes(kind: str, payload: bytes) -> bytes:
    return HEADER.pack(kind.encode("ascii"), len(payload), zlib.crc32(payload)) + payload


def unpack_json(payload: bytes) -> Any:
    """Raises ValueError where the payload is no compressed JSON."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(payload, _LARGEST_JSON)
    except zlib.error as error:
        raise ValueError(f"it cannot be unpacked ({error})") from None
    if not unpacker.eof:
        raise ValueError("it is longer than any call" if len(text) == _LARGEST_JSON else "its packed contents are cut")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON ({error})") from None


def data_hash(payload: bytes) -> str:
    return payload[:HASH_BYTES].hex()


def unpack_data(payload: bytes, size: int) -> bytes:
    """The elements, of which there must be `size` bytes; raises ValueError where there are not, or where they are others."""
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(payload[HASH_BYTES:], size + 1)
    except zlib.error as error:
        raise ValueError(f"its contents cannot be unpacked ({error})") from None
    if len(content) != size:
        there = f"more than {size}" if len(content) > size else str(len(content))
        raise ValueError(f"it holds {there} bytes, and its tensor has {size}")
    if content_hash(content) != data_hash(payload):
        raise ValueError("its contents do not have the hash that it names")
    return content


def read_frame(file: BinaryIO, position: int, end: int) -> Frame:
    """The frame at a position of a file with `end` bytes; raises ValueError with a sentence where it is cut or broken."""
    file.seek(position)
    header = file.read(HEADER.size)
    if len(header) < HEADER.size:
        raise ValueError(f"the file is cut at byte {end}, within the header of the frame at byte {position}")
    kind, length, checksum = HEADER.unpack(header)
    if not kind.isalpha() or not kind.isupper() or not kind.isascii():
        raise ValueError(f"the frame at byte {position} is broken: it begins with {kind!r}, which is no kind of frame")
    name = kind.decode("ascii")
    if length > end - position - HEADER.size:
        there = end - position - HEADER.size
        raise ValueError(f"the file is cut at byte {end}, within the frame {name} at byte {position}: {there} of its {length} bytes are there")
    payload = file.read(length)
    if len(payload) < length:
        raise ValueError(f"the file is cut at byte {position + HEADER.size + len(payload)}, within the frame {name} at byte {position}")
    if zlib.crc32(payload) != checksum:
        raise ValueError(f"the frame {name} at byte {position} is broken: its checksum is not that of its contents")
    return Frame(name, position, payload)


def frames(file: BinaryIO, end: int) -> Iterator[Frame]:
    """All frames after the first line; raises ValueError where one is cut or broken."""
    position = len(MAGIC)
    while position < end:
        frame = read_frame(file, position, end)
        yield frame
        position += HEADER.size + len(frame.payload)
