"""The findings of a comparison: a row for every call, and summaries.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import collections
import dataclasses
import math
import re
from typing import Any

from portacl.recording import Call, Opaque, Statistics, TensorRecord

from . import errors, replay

OK, OFF, PROPAGATED, NOT_COMPARED = "ok", "off", "propagated", "not compared"


@dataclasses.dataclass
class Row:
    """The row of a call. Errors are the largest of its results, and None if none was measured."""

    index: int
    name: str
    module: str
    step: int | None
    phase: str
    verdict: str = NOT_COMPARED
    remarks: list[str] = dataclasses.field(default_factory=list)
    origin: int | None = None  # the call from which the error propagated
    ulp: float | None = None  # relative to portacl's result, or to the other run's
    exact: float | None = None  # relative to float64's result
    carried: float | None = None  # if propagated: relative to portacl's for the right inputs, in units of its largest element
    relative: float | None = None
    cosine: float | None = None
    standards: dict[str, bool | None] = dataclasses.field(default_factory=dict)
    measures: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    inputs: list[str] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    worst: dict[str, Any] | None = None
    pair: list[int | None] | None = None  # for two runs: the numbers of the call in each
    stack: tuple[Any, ...] = ()

    @classmethod
    def of(cls, call: Call) -> Row:
        row = cls(call.index, replay.name_of(call), module_of(call), call.step, call.phase)
        row.inputs = [f"{place_text(place)}: {replay.text(record)}" for place, record in call.inputs()]
        row.outputs = [f"{place_text(place)}: {replay.text(record)}" for place, record in replay.results(call)]
        row.stack = call.stack
        return row

    def not_compared(self, reason: str) -> None:
        self.verdict, self.origin, self.carried = NOT_COMPARED, None, None
        self.remarks.append(reason)

    def as_json(self, stack: int | None) -> dict[str, Any]:
        made = dataclasses.asdict(dataclasses.replace(self, stack=()))
        made["remark"] = "; ".join(made.pop("remarks"))
        made["stack"] = stack
        return made


def broken(error: Exception) -> str:
    """Returns the remark about a record that cannot be read, or has no meaning."""
    return f"it cannot be compared: {type(error).__name__}: {error}"[:400]


def module_of(call: Call) -> str:
    """Returns the path of the module that called, preceded by the class of the outermost one."""
    return ".".join(part for part in (call.root, call.module) if part)


def place_text(place: tuple[Any, ...]) -> str:
    return re.sub(r"^(kw)?args\.", "", ".".join(str(part) for part in place)).replace("outputs.", "output ")


def count_of_special(record: TensorRecord) -> tuple[int, int]:
    """Counts its NaNs and infinities, as far as they are known."""
    known: Statistics | None = record.statistics
    if known is not None and known.nan is not None and known.inf is not None:
        return known.nan, known.inf
    try:
        values = record.tensor() if record.kept == "all" else record.sample()
    except Exception:  # any exception; whoever compares the record reports it
        return 0, 0
    if values is None or not (values.is_floating_point() or values.is_complex()):
        return 0, 0
    values = errors.wide(values)  # PyTorch does not support this for 8-bit floats
    return int(values.isnan().sum()), int(values.isinf().sum())


class Repeats:
    """Finds calls that got the same inputs as an earlier one but returned another result."""

    def __init__(self) -> None:
        self._seen: dict[Any, tuple[int, tuple[Any, ...], list[TensorRecord]]] = {}

    def before(self, call: Call) -> int | None:
        """Returns the earlier call that contradicts this one, if there is one."""
        results = tuple(replay.key(record) for _, record in replay.results(call))
        if not results or None in results:
            return None
        if any(record.hash is None and not replay.is_overwritten(call, place, record) for place, record in call.inputs()):
            return None
        if _is_opaque([*call.args, *call.kwargs.values()]):
            return None
        signature = repr((call.name, _shown(call.args), _shown(call.kwargs)))
        records = [record for _, record in replay.results(call)]
        index, others, before = self._seen.setdefault(signature, (call.index, results, records))
        differ = any(one != other and not _may_be_same(*pair) for one, other, *pair in zip(results, others, records, before))
        return index if differ or len(results) != len(others) else None


def _may_be_same(one: TensorRecord, other: TensorRecord) -> bool:
    """Whether the two may differ only in the bits of NaNs, of which there are several: a device need not always return the same
    one."""
    if not (one.statistics and other.statistics and one.statistics.nan and one.statistics.nan == other.statistics.nan):
        return False
    if one.kept != "all" or other.kept != "all":
        return one.statistics == other.statistics
    first, second = one.tensor(), other.tensor()
    return first is not None and second is not None and first.shape == second.shape and errors.Deviation(first, second).has_same_bits


def _is_opaque(values: list[Any]) -> bool:
    """Whether one of them is a value that a recording does not hold."""
    return any(isinstance(one, Opaque) or (isinstance(one, (list, tuple)) and _is_opaque(list(one))) for one in values)


def _shown(value: Any) -> Any:
    if isinstance(value, TensorRecord):
        return value.dtype, value.hash, value.shape, value.strides, value.device
    if isinstance(value, (list, tuple)):
        return [_shown(one) for one in value]
    if isinstance(value, dict):
        return [(name, _shown(one)) for name, one in value.items()]
    return value


class Specials:
    """Finds calls whose results hold a NaN or an infinity that none of their inputs held, and the first call that held any."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[int, str]] = {}
        self._known: dict[Any, tuple[int, int]] = {}
        self._unwritten: set[int | None] = set()  # uninitialised memory

    def look(self, call: Call) -> list[str]:
        """Returns remarks about NaNs and infinities that appear here."""
        if replay.is_unwritten(call):
            self._unwritten.update(record.storage for _, record in call.results())
            return []
        given = [self._count(record) for _, record in call.inputs() if record.storage is None or record.storage not in self._unwritten]
        self._unwritten.difference_update(record.storage for _, record in call.results())
        made = [self._count(record) for _, record in replay.results(call)]
        found = []
        for kind, name in enumerate(("NaN", "inf")):
            arrived, left = sum(one[kind] for one in given), sum(one[kind] for one in made)
            if arrived and name not in self.first:
                self.first[name] = call.index, "among the inputs of"
            if left and not arrived:
                found.append(f"{name} appears here, in {left} elements")
                self.first.setdefault(name, (call.index, "made by"))
        return found

    def _count(self, record: TensorRecord) -> tuple[int, int]:
        key = replay.key(record)
        if key is None:
            return count_of_special(record)
        if key not in self._known:
            self._known[key] = count_of_special(record)
        return self._known[key]


@dataclasses.dataclass
class Findings:
    """All rows, and general remarks."""

    title: str
    subject: str
    standards: dict[str, str]
    chosen: tuple[str, ...]
    columns: dict[str, str]
    rows: list[Row] = dataclasses.field(default_factory=list)
    facts: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)

    def fact(self, what: str, value: str, call: int | None = None, tone: str = "") -> None:
        self.facts.append({"what": what, "value": value, "call": call, "tone": tone})

    def count(self, verdict: str) -> int:
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def is_off(self) -> bool:
        return any(row.verdict in (OFF, PROPAGATED) for row in self.rows)

    @property
    def first_off(self) -> Row | None:
        return next((row for row in self.rows if row.verdict == OFF), None)

    def operators(self) -> list[dict[str, Any]]:
        """Summarises the calls of each name in one line. Names that are off come first, then those with the largest errors."""
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.name, []).append(row)
        found = []
        for name, rows in groups.items():
            line: dict[str, Any] = {"name": name, "calls": len(rows)}
            for verdict in (OFF, PROPAGATED, OK, NOT_COMPARED):
                line[verdict] = sum(row.verdict == verdict for row in rows)
            for measure in ("ulp", "exact", "relative"):
                line[measure] = max((value for row in rows if (value := getattr(row, measure)) is not None), default=None)
            line["cosine"] = min((row.cosine for row in rows if row.cosine is not None), default=None)
            line["standards"] = {
                standard: sum(row.standards.get(standard) is False for row in rows) for standard in self.standards
            }
            reasons = collections.Counter("; ".join(row.remarks) for row in rows if row.verdict == NOT_COMPARED)
            line["reasons"] = [{"reason": reason, "calls": calls} for reason, calls in reasons.most_common()]
            found.append(line)
        far = {None: -1.0}
        return sorted(found, key=lambda line: (-line[OFF], -line[PROPAGATED], -far.get(line["ulp"], line["ulp"] or 0.0), line["name"]))

    def as_json(self) -> dict[str, Any]:
        stacks: dict[tuple[Any, ...], int] = {}
        calls = []
        for row in self.rows:
            number = stacks.setdefault(row.stack, len(stacks)) if row.stack else None
            calls.append(row.as_json(number))
        first = self.first_off
        summary: dict[str, Any] = {verdict: self.count(verdict) for verdict in (OFF, PROPAGATED, OK, NOT_COMPARED)}
        summary["calls"] = len(self.rows)
        report: dict[str, Any] = finite(
            {
                "format": 1,
                "title": self.title,
                "subject": self.subject,
                "standards": self.standards,
                "chosen": list(self.chosen),
                "columns": self.columns,
                "summary": summary,
                "first": None if first is None else first.index,
                "facts": self.facts,
                "problems": self.problems,
                "operators": self.operators(),
                "calls": calls,
                "stacks": ["\n".join(f"{frame.file}:{frame.line} {frame.function}" for frame in stack) for stack in stacks],
            }
        )
        return report


def finite(value: Any) -> Any:
    """Replaces numbers that JSON lacks by the texts "inf", "-inf" and "nan"."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return value
