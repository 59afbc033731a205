"""The file of a recording, written: each frame is complete when it has been written, contents are written once."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time
from typing import Any

from . import _frames
from ._reading import Call, StackFrame, TensorRecord

_FLUSHED_EVERY = 0.25  # seconds: what a program that is ended may lose


class Writer:
    """Writes calls to a file. Used from several threads, calls go in one after the other.

        with Writer("run.rec", {"program": ["train.py"]}) as writer:
            record = TensorRecord(...)
            writer.keep(record, elements)
            writer.call(Call(...))

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
        self._flushed = time.monotonic()
        self._file = open(path, "wb", buffering=1 << 20)  # noqa: SIM115 # closed by close()
        self._put(_frames.MAGIC)
        self._frame("META", _frames.pack_json({"format": _frames.VERSION, **meta}))
        self._file.flush()

    def _put(self, content: bytes) -> None:
        self._file.write(content)
        self.bytes += len(content)

    def _frame(self, kind: str, payload: bytes) -> None:
        self._put(_frames.frame_bytes(kind, payload))

    def has_room(self, size: int, share: float = 1.0) -> bool:
        """Whether so many bytes more fit below a share of the limit."""
        return self.limit is None or self.bytes + size <= share * self.limit

    def keep(self, record: TensorRecord, elements: Any) -> None:
        """Writes all elements of a tensor (bytes in order of rows, little-endian), once for all that have the same; sets its hash."""
        digest = _frames.content_hash(elements)
        record.hash = f"blake2b:{digest}"
        record.kept = "all"
        with self._lock:
            if digest not in self._data:
                self._frame("DATA", _frames.pack_data(digest, elements))
                self._data.add(digest)

    def holds(self, hash: str | None) -> bool:
        """Whether the contents with this hash have been written."""
        return hash is not None and hash.startswith("blake2b:") and hash[8:] in self._data

    def call(self, call: Call) -> None:
        """Writes a call, and gives it its index."""
        with self._lock:
            call.index = self.calls
            stack = None
            if call.stack:
                stack = self._stacks.get(call.stack)
                if stack is None:
                    stack = self._stacks[call.stack] = len(self._stacks)
                    self._frame("STCK", _frames.pack_json({"id": stack, "frames": [list(frame) for frame in call.stack]}))
            payload = _frames.pack_json(call.as_json(stack))
            if not self.has_room(len(payload)):
                self.is_full = True
                return
            self._frame("CALL", payload)
            self.calls += 1
            if time.monotonic() - self._flushed > _FLUSHED_EVERY:
                self._file.flush()
                self._flushed = time.monotonic()

    def meta(self, more: dict[str, Any]) -> None:
        """Adds to what the first frame says."""
        with self._lock:
            self._frame("META", _frames.pack_json(more))

    def close(self, reason: str = "") -> None:
        """Writes the last frame, which says why the recording ended. Closing again does nothing."""
        with self._lock:
            if not self._file.closed:
                self._frame("DONE", _frames.pack_json({"reason": reason, "calls": self.calls}))
                self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
