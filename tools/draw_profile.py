"""Draws docs/profiling.svg from a trace of PORTACL_PROFILE: its rows, arrows and memory, as a viewer of traces shows them.

    python tools/draw_profile.py TRACE.json [MILLISECONDS [FILE.svg]]

What is drawn is the last MILLISECONDS (all, if not given) before the last task ends.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "profiling.svg"
COLOURS = {"host": "#c9d6e8", "operator": "#5b8fd1", "communication": "#d1481b", "memory": "#8fbf7f", "runtime": "#e3c36a", "graph": "#b08fd1"}
LEFT, WIDTH, ROW, GAP, TOP = 150, 1000, 24, 10, 64


def draw(events: list[dict], milliseconds: float | None) -> str:
    spans = [one for one in events if one["ph"] == "X"]
    device = [one for one in spans if one["cat"] != "host"]
    end = max(one["ts"] + one["dur"] for one in device)
    begin = end - milliseconds * 1000 if milliseconds else min(one["ts"] for one in device)
    inside = [one for one in spans if one["ts"] + one["dur"] > begin and one["ts"] < end]
    names = {(one["pid"], one.get("tid")): one["args"]["name"] for one in events if one["name"] in ("thread_name", "process_name")}
    rows = sorted({(one["pid"], one["tid"]) for one in inside})
    places = {row: TOP + at * (ROW + GAP) for at, row in enumerate(rows)}
    bottom = TOP + len(rows) * (ROW + GAP)

    def x(time: float) -> float:
        return LEFT + (min(max(time, begin), end) - begin) / (end - begin) * WIDTH

    height = bottom + 100
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 40}" height="{height}" viewBox="0 0 {LEFT + WIDTH + 40} {height}" '
        'font-family="sans-serif" font-size="12" fill="#222"><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="15" font-weight="bold">{(end - begin) / 1000:.2f} ms on device npu, which is a CPU</text>',
    ]
    for at, (kind, colour) in enumerate((kind, colour) for kind, colour in COLOURS.items() if any(one["cat"] == kind for one in inside)):
        out.append(f'<rect x="{LEFT + at * 110}" y="34" width="12" height="12" fill="{colour}" stroke="#555" stroke-width="0.5"/>')
        out.append(f'<text x="{LEFT + at * 110 + 17}" y="44">{kind}</text>')
    for (process, row), y in places.items():
        owner = "" if names[process, row].startswith(("main", "thread")) else f"{names[process, 0]}, "
        out.append(f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{escape(owner + names[process, row])}</text>')
        out.append(f'<line x1="{LEFT}" y1="{y + ROW + GAP / 2}" x2="{LEFT + WIDTH}" y2="{y + ROW + GAP / 2}" stroke="#eee"/>')
    for one in inside:
        y, left = places[one["pid"], one["tid"]], x(one["ts"])
        width = max(0.8, x(one["ts"] + one["dur"]) - left)
        facts = "".join(f"\n{name}: {value}" for name, value in one["args"].items())
        tip = escape(f"{one['name']} {one['dur']:.1f} us{facts}")
        out.append(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" fill="{COLOURS.get(one["cat"], "#ddd")}" '
                   f'stroke="#555" stroke-width="0.4"><title>{tip}</title></rect>')  # fmt: skip
        text = one["name"].removeprefix("aclnn").removeprefix("aclrt")
        if width > 6.6 * len(text) + 6:
            out.append(f'<text x="{left + 4:.1f}" y="{y + 16}" font-size="11">{escape(text)}</text>')
    starts = {one["id"]: one for one in events if one["ph"] == "s"}
    for one in events:
        start = starts.get(one.get("id")) if one["ph"] == "f" else None
        if start is None or not begin <= start["ts"] < one["ts"] <= end:
            continue
        upper, lower = places.get((start["pid"], start["tid"])), places.get((one["pid"], one["tid"]))
        if upper is not None and lower is not None:
            out.append(f'<line x1="{x(start["ts"]):.1f}" y1="{upper + ROW}" x2="{x(one["ts"]):.1f}" y2="{lower}" stroke="#999" stroke-width="0.5"/>')
    memory = [(one["ts"], one["args"]["bytes"]) for one in events if one["ph"] == "C" and one["ts"] <= end]
    most = max([held for _, held in memory], default=1)
    points, held = [], 0
    for time, now in [*memory, (end, memory[-1][1] if memory else 0)]:
        if time >= begin:
            points += [f"{x(time):.1f},{bottom + 60 - held / most * 50:.1f}", f"{x(time):.1f},{bottom + 60 - now / most * 50:.1f}"]
        held = now
    first = next((before for (before_time, before) in reversed(memory) if before_time < begin), 0)
    points.insert(0, f"{LEFT},{bottom + 60 - first / most * 50:.1f}")
    out.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="#2a7d2a" stroke-width="1.5"/>')
    out.append(f'<text x="{LEFT - 8}" y="{bottom + 40}" text-anchor="end">device memory</text>')
    out.append(f'<text x="{LEFT - 8}" y="{bottom + 56}" text-anchor="end" fill="#555">up to {most / 2**20:.1f} MiB</text>')
    for tick in range(5):
        at = LEFT + WIDTH * tick / 4
        out.append(f'<text x="{at}" y="{bottom + 84}" text-anchor="middle" fill="#555">{(end - begin) * tick / 4000:.2f} ms</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3, 4):
        raise SystemExit(__doc__)
    trace = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["traceEvents"]
    file = Path(sys.argv[3]) if len(sys.argv) == 4 else PAGE
    file.write_text(draw(trace, float(sys.argv[2]) if len(sys.argv) > 2 else None), encoding="utf-8")
