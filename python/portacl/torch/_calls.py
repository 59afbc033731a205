"""Counts and times of calls per operator, and their table."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time

_clock = time.perf_counter


class Calls:
    """Calls of one operator. `seconds` excludes the time of other counted operators that it called."""

    __slots__ = ("name", "own", "count", "seconds")

    def __init__(self, name: str, own: bool):
        self.name = name
        self.own = own
        self.count = 0
        self.seconds = 0.0


class _Frames(threading.local):
    def __init__(self) -> None:
        self.inner: list[float] = []  # time spent in counted calls, for each call in progress


_frames = _Frames()
_lock = threading.Lock()


class Timed:
    """with Timed(calls): measures one call, counted whether it succeeds or raises."""

    __slots__ = ("calls", "start")

    def __init__(self, calls: Calls):
        self.calls = calls

    def __enter__(self) -> None:
        _frames.inner.append(0.0)
        self.start = _clock()

    def __exit__(self, *_: object) -> None:
        whole = _clock() - self.start
        inner = _frames.inner
        own_time = whole - inner.pop()
        if inner:
            inner[-1] += whole
        calls = self.calls
        with _lock:
            calls.count += 1
            calls.seconds += own_time


def render(calls: list[Calls], counts_own: bool) -> str:
    """Returns the table: operator, calls, own or fallback, time; the slowest first, totals below."""
    used = sorted((c for c in calls if c.count), key=lambda c: (-c.seconds, c.name))
    rows = [(c.name, str(c.count), "own" if c.own else "fallback", f"{c.seconds * 1e3:.3f}") for c in used]
    heads = ("operator", "calls", "by", "time (ms)")
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(4)]

    def line(row: tuple[str, ...]) -> str:
        cells = (row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].ljust(widths[2]), row[3].rjust(widths[3]))
        return "  ".join(cells)

    lines = [line(heads), line(tuple("-" * width for width in widths)), *map(line, rows)]
    for own in (True, False):
        some = [c for c in used if c.own is own]
        if own and not counts_own:
            lines.append("own: not counted (PORTACL_REPORT was not set)")
        else:
            lines.append(
                f"{'own' if own else 'fallback'}: {len(some)} operators, {sum(c.count for c in some)} calls, "
                f"{sum(c.seconds for c in some) * 1e3:.3f} ms"
            )
    return "\n".join(lines) + "\n"
