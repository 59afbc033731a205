"""Draws docs/reproducibility.svg from what tools/reproduce.py --json wrote: the loss of one model, and the hash that each run came to.

    python tools/draw_reproducibility.py RUNS.json MODEL [FILE.svg]
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reproducibility.svg"
COLOURS = {"avx512": "#1f6fb4", "avx2": "#d1481b", "portable": "#2a7d2a", "neon": "#d1481b", "sve": "#1f6fb4"}
WIDTH, HEIGHT, LEFT, TOP = 380, 200, 52, 52


def draw(runs: list[dict], model: str) -> str:
    runs = [run for run in runs if run["model"] == model]
    losses = [loss for run in runs for loss in run["losses"]]
    high, steps = max(losses) * 1.05, runs[0]["steps"]
    whole, table = (LEFT + WIDTH + 456, TOP + HEIGHT + 44), LEFT + WIDTH + 24
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" viewBox="0 0 {whole[0]} {whole[1]}" '
        'font-family="sans-serif" font-size="13" fill="#222"><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="16" font-weight="bold">{steps} steps of {model} on device npu, which is a CPU</text>',
        f'<text x="{LEFT}" y="41" fill="#555">loss; the curves of {len(runs)} runs lie on each other</text>',
        f'<text x="{table}" y="41" fill="#555">SHA-256 of all parameters afterwards</text>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="#fafafa" stroke="#888"/>',
    ]
    for tick in range(int(high) + 1):
        y = TOP + HEIGHT * (1 - tick / high)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4.5:.1f}" text-anchor="end">{tick}</text>')
    for step in (1, steps // 2, steps):
        x = LEFT + (step - 1) / max(1, steps - 1) * WIDTH
        out.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{step}</text>')
    out.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">step</text>')
    row = min(44, HEIGHT // len(runs))
    for number, run in enumerate(runs):
        colour = COLOURS.get(run["isa"], "#555")
        # Each run has its own dashes, so that all can be seen.
        dashes = f'stroke-dasharray="8 {8 * (len(runs) - 1)}" stroke-dashoffset="{-8 * number}"'
        points = " ".join(
            f"{LEFT + i / max(1, steps - 1) * WIDTH:.1f},{TOP + HEIGHT * (1 - loss / high):.1f}" for i, loss in enumerate(run["losses"])
        )
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" {dashes if len(runs) > 1 else ""}/>')
        y = TOP + row * number + 18
        threads = f"{run['threads']} thread{'s' if run['threads'] > 1 else ''}"
        out.append(f'<rect x="{table}" y="{y - 11}" width="14" height="14" fill="{colour}"/>')
        out.append(f'<text x="{table + 24}" y="{y}"><tspan font-weight="bold">{run["isa"]}</tspan>, {threads}</text>')
        out.append(f'<text x="{table + 150}" y="{y}" font-family="monospace">{run["hash"][:32]}</text>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    file = Path(sys.argv[3]) if len(sys.argv) == 4 else PAGE
    file.write_text(draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]), encoding="utf-8")
