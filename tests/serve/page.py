"""The table of docs/clients.md: a row for each case, in which a run takes the place of the last one of its kind."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Iterable
from pathlib import Path

from options import LONG, MODELS, PAIRS, RUNS

BEGIN = "<!-- written by ./dev serve: begin -->"
END = "<!-- written by ./dev serve: end -->"
HEADS = ("vllm and vllm-ascend", "model", "run", "case", "result", "seconds", "fell back", "remark", "date")
OF_A_RUN = 3  # cells that name it


@dataclasses.dataclass
class Row:
    version: str
    model: str
    run: str
    case: str
    result: str  # same, differs, fails
    seconds: float = 0.0
    fell_back: list[str] = dataclasses.field(default_factory=list)
    remark: str = ""

    def cells(self) -> tuple[str, ...]:
        fallen = " ".join(name.removeprefix("aten::") for name in self.fell_back)
        return self.version, self.model, self.run, self.case, self.result, f"{self.seconds:.1f}", fallen, self.remark


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(re.sub(r"\s+", " ", cell).strip().replace("|", "/").replace("<", "&lt;") for cell in cells) + " |"


def write(page: Path, rows: list[Row], versions: str) -> None:
    """The rows take the place of those of the same runs; those of other runs stay."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    there, _, after = rest.partition(END)
    today = datetime.date.today().isoformat()
    runs: dict[str, list[str]] = {}
    for line in there.splitlines():
        if line.startswith("| ") and not line.startswith(f"| {HEADS[0]} "):
            runs.setdefault(_run_of(line), []).append(line)
    fresh: dict[str, list[str]] = {}
    for row in rows:
        line = _line((*row.cells(), today))
        fresh.setdefault(_run_of(line), []).append(line)
    runs.update(fresh)
    lines = [line for run in sorted(runs, key=_order) for line in runs[run]]
    text = [BEGIN, "", f"With {versions}.", "", _line(HEADS), "|---|---|---|---|---|---:|---|---|---|", *lines, "", END]
    page.write_text(before + "\n".join(text) + after, encoding="utf-8")


def _run_of(line: str) -> str:
    return " | ".join(line.split(" | ")[:OF_A_RUN])


def _order(run: str) -> tuple[int, ...]:
    version, model, name = run.removeprefix("| ").split(" | ")
    places = ((PAIRS, version), ((*RUNS, LONG), name), (MODELS, model))
    return tuple(known.index(one) if one in known else len(known) for known, one in places)
