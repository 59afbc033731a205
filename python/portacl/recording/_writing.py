"""The file of a recording, written: each frame is complete when it has been written, contents are written once."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

from . import _frames
from ._reading import Call, StackFrame, TensorRecord


class Writer:
    """Writes calls to a file. Used from several threads, calls go in one after the other.

        with Writer("run.rec", {"program": ["train.py"]}) as writer:
            record = TensorRecord(...)
            writer.keep(record, elements)
            writer.call(Call(...))

    Where a disk is full, OSError is raised once; what is complete stays. Processes that are forked from this one write nothing.
    `limit` is a number of bytes, after which nothing is written but the last frame; `is_full` says so then.
    """

    def __init__(self, path: str, meta: dict[str, Any], limit: int | None = None):
        self.path = path
        self.limit = limit
        self.bytes = 0
        self.calls = 0
        self.is_full = False
        self._lock = threading.RLock()
        self._stacks: dict[tuple[StackFrame, ...], int] = {}
        self._data: set[str] = set()
        # Without a buffer: what a program wrote before it crashed is there, and what is forked from it has nothing to write again.
        self._file = open(path, "wb", buffering=0)
        self._process = os.getpid()  # what is forked from it writes nothing
        self.is_broken = False
        try:
            self._put(_frames.MAGIC)
            self._put(_frames.frame_bytes("META", _frames.pack_json({"format": _frames.VERSION, **meta})))
        except OSError:
            self._file.close()
            raise

    def _put(self, content: bytes) -> None:
        written = self._file.write(content)
        while written < len(content):  # a call of the system takes 2 GB at most
            written += self._file.write(content[written:])
        self.bytes += len(content)

    def _frame(self, kind: str, payload: bytes) -> bool:
        """Writes a frame, and says whether it is there. Raises OSError where it cannot be written: what was written before stays, and the file takes
        no more frames but the last one."""
        return self._whole(_frames.frame_bytes(kind, payload))

    def _whole(self, frame: bytes) -> bool:
        """The same of a frame's bytes."""
        if self.is_broken or os.getpid() != self._process:
            return False
        try:
            self._put(frame)
        except OSError as error:
            self.is_broken = True
            with contextlib.suppress(OSError):  # a part of the frame may be there
                self._file.seek(self.bytes)
                self._file.truncate()
            self._cannot(error)
            return False
        return True

    def _cannot(self, error: OSError) -> None:
        """What is done where a frame cannot be written."""
        raise error

    def has_room(self, size: int, share: float = 1.0) -> bool:
        """Whether so many bytes more fit below a share of the limit."""
        return self.limit is None or self.bytes + size <= share * self.limit

    def keep(self, record: TensorRecord, elements: Any) -> None:
        """Writes all elements of a tensor (bytes in order of rows, little-endian), once for all that have the same; sets its hash."""
        digest = _frames.content_hash(elements)
        record.key = digest
        record.hash = record.hash or f"blake2b:{digest}"
        record.kept = "all"
        self.contents(digest, elements)

    def contents(self, digest: str, elements: Any) -> None:
        """Writes contents with a hash, unless they have been."""
        if digest in self._data:
            return
        payload = _frames.pack_data(digest, elements)
        with self._lock:
            if digest not in self._data:
                if self._frame("DATA", payload):
                    self._data.add(digest)

    def stack(self, frames: tuple[StackFrame, ...]) -> int:
        """The number by which calls name this call stack, which is written once."""
        number = self._stacks.get(frames)
        if number is None:
            with self._lock:
                number = self._stacks.get(frames)
                if number is None:
                    number = len(self._stacks)
                    self._frame("STCK", _frames.pack_json({"id": number, "frames": [list(frame) for frame in frames]}))
                    self._stacks[frames] = number
        return number

    def call(self, call: Call) -> None:
        """Writes a call, and gives it its index."""
        with self._lock:
            call.index = self.calls
            self.text(_frames.json_text(call.as_json(self.stack(call.stack) if call.stack else None)))

    def text(self, text: str) -> None:
        """Writes a call that is JSON already, with the index `self.calls`."""
        frame = _frames.text_frame(b"CALL", text.encode("ascii"))
        with self._lock:
            if self.limit is not None and self.bytes + len(frame) - _frames.HEADER.size > self.limit:
                self.is_full = True
                return
            if self._whole(frame):
                self.calls += 1

    def meta(self, more: dict[str, Any]) -> None:
        """Adds to what the first frame says."""
        with self._lock:
            self._frame("META", _frames.pack_json(more))

    def close(self, reason: str = "") -> None:
        """Writes the last frame, which says why the recording ended. Closing again does nothing."""
        if os.getpid() != self._process:  # whose threads may have held the lock
            self._file.close()
            return
        with self._lock:
            if self._file.closed:
                return
            was_broken, self.is_broken = self.is_broken, False
            try:
                self._frame("DONE", _frames.pack_json({"reason": reason, "calls": self.calls}))
            except OSError:
                if not was_broken:  # else it was raised before
                    raise
            finally:
                self.is_broken |= was_broken
                self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
