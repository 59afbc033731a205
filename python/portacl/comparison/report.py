"""Reports of a comparison for people and for machines: a table for the terminal, JSON, and one self-contained HTML page.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from .findings import NOT_COMPARED, OFF, OK, PROPAGATED, Findings, Row
from .terminal import printable

_MOST_ROWS = 20  # in each part of the table


def number(value: float | None) -> str:
    if value is None:
        return ""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    return f"{value:.3g}"


def _angle(value: float | None) -> str:
    return "" if value is None else "1" if value == 1 else f"1 - {1 - value:.1e}" if value > 0.999 else f"{value:.4f}"


def _rows(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> list[str]:
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]

    def line(row: tuple[str, ...]) -> str:
        return "  ".join(cell.ljust(width) if k in left else cell.rjust(width) for k, (cell, width) in enumerate(zip(row, widths))).rstrip()

    return [line(heads), line(tuple("-" * width for width in widths)), *map(line, rows)]


def table(found: Findings) -> str:
    """Returns the text for a terminal."""
    lines = [found.title, found.subject, ""]
    operators = found.operators()
    compared = [line for line in operators if line["calls"] > line[NOT_COMPARED]]
    heads = ("operator", "calls", "off", "propagated", found.columns["ulp"], found.columns["exact"], "relative", "cosine", "fails")
    rows: list[tuple[str, ...]] = []
    for one in compared[:_MOST_ROWS]:
        fails = ", ".join(f"{name} {count}" for name, count in one["standards"].items() if count)
        counts = tuple(str(one[name]) for name in ("calls", OFF, PROPAGATED))
        measures = tuple(number(one[name]) for name in ("ulp", "exact", "relative"))
        rows.append((str(one["name"]), *counts, *measures, _angle(one["cosine"]), fails))
    lines += _rows(heads, rows, (0, 8))
    if len(compared) > _MOST_ROWS:
        lines.append(f"and {len(compared) - _MOST_ROWS} more operators, nearer than these")
    lines += _not_compared(operators)
    lines += _off(found)
    lines.append("")
    lines += [f"{fact['what']}: {fact['value']}" for fact in found.facts]
    lines += [f"problem: {problem}" for problem in found.problems]
    totals = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in (OFF, PROPAGATED, OK, NOT_COMPARED))
    lines.append(f"{len(found.rows)} calls: {totals}")
    return "\n".join(map(printable, lines)) + "\n"


def _not_compared(operators: list[dict[str, Any]]) -> list[str]:
    """Lists every operator that was not compared, with the reason."""
    rows = [
        (line["name"], str(reason["calls"]), reason["reason"]) for line in operators for reason in line["reasons"]
    ]
    if not rows:
        return []
    return ["", "Not compared:", *_rows(("operator", "calls", "reason"), rows, (0, 2))]


def _off(found: Findings) -> list[str]:
    rows = [row for row in found.rows if row.verdict == OFF]
    if not rows:
        return []
    shown = [(f"#{row.index}", row.name, row.module, number(row.ulp), "; ".join(row.remarks)) for row in rows[:_MOST_ROWS]]
    lines = ["", "Off, in the order of the program:", *_rows(("call", "operator", "module", "ulp", "remark"), shown, (0, 1, 2, 4))]
    if len(rows) > _MOST_ROWS:
        lines.append(f"and {len(rows) - _MOST_ROWS} more")
    return [*lines, *_opened(rows[0])]


def _opened(row: Row) -> list[str]:
    """Describes the first call that is off in full."""
    lines = ["", f"#{row.index} {row.name}", *(f"  in   {one}" for one in row.inputs), *(f"  out  {one}" for one in row.outputs)]
    if row.worst is not None:
        lines.append(f"  output {row.worst['output']} around {row.worst['at']}:")
        for name, values in row.worst["values"].items():
            lines.append(f"    {name:10}" + "  ".join(f"{value:.9g}" if isinstance(value, float) else str(value) for value in values))
    lines += [f"  at {frame.file}:{frame.line} in {frame.function}" for frame in row.stack[:6]]
    return lines


def write_json(found: Findings, file: str | os.PathLike[str]) -> None:
    _write(file, json.dumps(found.as_json(), allow_nan=False, indent=1) + "\n")


def page(found: Findings) -> str:
    """Returns the page. It contains the report as JSON, escaped so that no text can end it."""
    template = pathlib.Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    content = json.dumps(found.as_json(), allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        content = content.replace(character, f"\\u{ord(character):04x}")
    return template.replace("@REPORT@", content, 1)


def write_html(found: Findings, file: str | os.PathLike[str]) -> None:
    _write(file, page(found))


def _write(file: str | os.PathLike[str], text: str) -> None:
    """Writes a complete file or none: the old content stays until the new one is complete."""
    target = pathlib.Path(file)
    unfinished = target.with_name(target.name + ".part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, target)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
