"""Compares two recordings: their calls are aligned by module path, name and order, even if others were inserted between them.

A pair is *off* if a result of the second run fails a chosen standard although its inputs pass: the operator made the difference.
It is *propagated* if its inputs differed already. If elements were not kept, hashes, samples and statistics are compared, and a
row reports the remaining uncertainty.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math
from typing import Any

import torch

from portacl.recording import Call, Recording, TensorRecord

from . import findings, judge, programs, replay, standards
from .align import align
from .errors import Deviation, is_inexact, no_measures
from .findings import OFF, OK, PROPAGATED, Findings, Row

# The relative difference of means and norms that two runs may have by dtype, if only statistics were kept.
_OF_STATISTICS = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
_ELSE_OF_STATISTICS = 2.0**-10
_STATISTICS = "only statistics were compared"


class Pair:
    """Two records of one tensor, and their comparison."""

    def __init__(self, first: TensorRecord, second: TensorRecord):
        self.first = first
        self.second = second
        self.unknown = ""  # why too little was kept to compare
        self.reason = ""
        self.deviation: Deviation | None = None
        self.one: torch.Tensor | None = None
        self.other: torch.Tensor | None = None
        self.is_equal = False
        if first.dtype != second.dtype or first.shape != second.shape:
            self.reason = f"{replay.text(first)} and {replay.text(second)}"
        elif first.key is not None and second.key is not None:
            self.is_equal = first.key == second.key and first.order == second.order
        elif first.hash is not None:
            self.is_equal = first.hash == second.hash
        if self.reason or self.is_equal:
            return
        if first.kept == "all" and second.kept == "all":
            self._measure(first.tensor(), second.tensor())
        elif not self._by_sample():
            self._by_statistics()

    def _measure(self, one: torch.Tensor | None, other: torch.Tensor | None) -> None:
        if one is None or other is None:
            self.unknown = "its elements were not kept"
            return
        self.one, self.other = one, other
        self.deviation = Deviation(other, one)

    def _by_sample(self) -> bool:
        """Returns the elements that both runs kept; samples of one shape have the same positions."""
        one, other = (_elements(record, (self.first, self.second)) for record in (self.first, self.second))
        if one is None or other is None:
            return False
        self._measure(one, other)
        self.unknown = f"{one.numel()} of {self.first.count} elements were compared"
        if self.deviation is not None and self.deviation.has_same_bits:
            self.unknown += ", which are equal, though the hashes are not"
        return True

    def _by_statistics(self) -> None:
        one, other = self.first.statistics, self.second.statistics
        self.unknown = _STATISTICS
        if one is None or other is None:
            self.unknown = "the hashes differ, and nothing else was kept" if self.first.hash and self.second.hash else "nothing was kept to compare"
            return
        tolerance = _OF_STATISTICS.get(self.first.dtype, _ELSE_OF_STATISTICS)
        differ = [
            f"{name} {getattr(one, name)} and {getattr(other, name)}"
            for name in ("nan", "inf")
            if None not in (getattr(one, name), getattr(other, name)) and getattr(one, name) != getattr(other, name)
        ]
        extremes = [float(value or 0) for value in (one.min, one.max, other.min, other.max)]
        scale = max(abs(value) for value in extremes if math.isfinite(value)) if any(map(math.isfinite, extremes)) else 0.0
        for name in ("min", "max", "mean", "norm"):
            pair = getattr(one, name), getattr(other, name)
            if None in pair:
                continue
            if not all(map(math.isfinite, pair)):
                if repr(float(pair[0])) != repr(float(pair[1])):
                    differ.append(f"{name} {pair[0]:.6g} and {pair[1]:.6g}")
                continue
            most = tolerance * max(scale, abs(pair[0]) if name == "norm" else 0.0)
            if abs(float(pair[0]) - float(pair[1])) > most:
                differ.append(f"{name} {pair[0]:.6g} and {pair[1]:.6g}")
        self.reason = ", ".join(differ)

    def is_silent(self, by: standards.Standards) -> bool:
        """Whether no deciding standard can tell how far the elements are apart."""
        deviation = self.deviation
        return deviation is not None and not deviation.has_same_bits and by.is_silent(by.verdicts(deviation, None))

    def is_off(self, by: standards.Standards) -> bool:
        if self.is_equal:
            return False
        if self.reason:
            return True
        if self.deviation is not None:
            return by.is_off(by.verdicts(self.deviation, None))
        # The distance is unknown: the standard of bits fails, and others may pass.
        return "bits" in by.chosen and _have_one_kind(self.first, self.second)


def _have_one_kind(first: TensorRecord, second: TensorRecord) -> bool:
    """Whether both hashes have one kind and one order of elements, so that different hashes mean different elements."""
    kinds = [None if record.hash is None else (record.hash.split(":")[0], record.hash.split(":")[2:]) for record in (first, second)]
    return kinds[0] is not None and kinds[0] == kinds[1]


def _elements(record: TensorRecord, both: tuple[TensorRecord, TensorRecord]) -> torch.Tensor | None:
    """Returns the elements at the positions of which one of the two has a sample."""
    positions = next((one.sample_positions for one in both if one.sample_positions), ())
    if not positions:
        return None
    if record.kept == "all":
        whole = record.tensor()
        return None if whole is None else whole.reshape(-1)[list(positions)]
    return record.sample() if record.sample_positions == positions else None


def token(call: Call) -> tuple[str, str, bool]:
    """The key that a call has in both runs."""
    return findings.module_of(call), call.name, call.phase == "backward"


def compare(first: Recording, second: Recording, calls: list[Call], others: list[Call], by: standards.Standards) -> Findings:
    title = f"{second.path} ({len(others)} calls) beside {first.path} ({len(calls)} calls)"
    names = {name: standards.NAMES[name].replace("portacl's", "the first run's") for name in by.names}
    found = Findings(title, f"off where a result fails {by.text} beside the first run's", names, by.chosen, {"ulp": "ulp", "exact": ""})
    if programs.is_of_program(first.meta) and programs.is_of_program(second.meta):
        # Streams run concurrently, so that the order in which their calls end differs between runs.
        calls, others = (sorted(some, key=lambda call: call.thread) for some in (calls, others))
    inserted = [0, 0]
    for number, (i, j) in enumerate(align([token(call) for call in calls], [token(call) for call in others])):
        if i is None or j is None:
            call = calls[i] if i is not None else others[j or 0]
            row = Row.of(call)
            row.pair = [None if i is None else call.index, None if j is None else call.index]
            row.remarks.append(f"in the {'second' if i is None else 'first'} run alone")
            inserted[j is not None] += 1
        else:
            row = Row.of(others[j])
            row.pair = [calls[i].index, others[j].index]
            try:
                _compare(row, calls[i], others[j], by)
            except Exception as error:  # any exception that malformed records can raise
                row.not_compared(findings.broken(error))
        row.index = number
        found.rows.append(row)
    first_off = found.first_off
    if first_off is not None:
        found.fact("first off", f"row {first_off.index}, {first_off.name} {first_off.module}".rstrip(), first_off.index, "off")
    found.fact("in one run alone", f"{inserted[0]} calls of the first, {inserted[1]} of the second")
    return found


def _compare(row: Row, call: Call, other: Call, by: standards.Standards) -> None:
    if call.problem or other.problem:
        row.remarks.append(f"the recorded call is not whole: {call.problem or other.problem}")
        return
    if replay.is_unwritten(call):
        row.remarks.append("its result is memory that nobody has written yet")
        return
    if call.error or other.error:
        row.remarks.append(f"raised an error: {call.error or other.error}")
        row.verdict = OK if call.error == other.error else OFF
        return
    counts = len(replay.results(call)), len(replay.results(other))
    pairs = list(zip(replay.results(call), replay.results(other)))
    if counts == (0, 0):
        row.remarks.append("its result is no tensor" if call.outputs else "it gives no result")
        return
    came = [Pair(one, two) for (_, one), (_, two) in zip(call.inputs(), other.inputs())]
    differed = [pair for pair in came if pair.is_off(by)]
    if len(call.inputs()) != len(other.inputs()):
        row.remarks.append(f"{len(call.inputs())} and {len(other.inputs())} input tensors")
    is_off, known = _results(row, pairs, by)
    if counts[0] != counts[1]:
        is_off = True
        row.remarks.append(f"{counts[0]} and {counts[1]} results that are tensors")
    if is_off:
        row.verdict = PROPAGATED if differed else OFF
        if differed:
            row.remarks.append("its inputs differed already")
        elif any(pair.unknown or pair.is_silent(by) for pair in came):
            row.remarks.append("whether its inputs differed is not wholly known")
    elif known:
        row.verdict = OK


def _results(row: Row, pairs: list[Any], by: standards.Standards) -> tuple[bool, bool]:
    """Returns whether a result is off, and whether anything was compared."""
    is_off = known = is_silent = False
    for number, ((place, one), (_, other)) in enumerate(pairs):
        try:
            pair = Pair(one, other)
        except Exception as error:
            is_silent = True
            row.remarks.append(f"{findings.place_text(place)}: {findings.broken(error)}")
            continue
        is_off |= pair.is_off(by)
        known |= pair.is_equal or pair.unknown in ("", _STATISTICS) or pair.deviation is not None or pair.is_off(by)
        where = findings.place_text(place)
        if pair.reason:
            row.remarks.append(f"{where}: {pair.reason}")
        if pair.deviation is not None and pair.is_silent(by):
            is_silent = True
            row.remarks.append(f"{where}: {by.silence(pair.deviation.dtype)}")
        if pair.unknown and not pair.is_equal:
            row.remarks.append(f"{where}: {pair.unknown}")
        if pair.is_equal:
            measured = no_measures(one.count)
        elif pair.deviation is not None:
            measured = pair.deviation.measures()
            for name, verdict in by.verdicts(pair.deviation, None).items():
                row.standards[name] = verdict if row.standards.get(name) is None else row.standards[name] and verdict is not False
            if measured["differing"] and pair.one is not None and pair.other is not None and (row.worst is None or measured["ulp"] > (row.ulp or 0)):
                row.worst = judge.around(pair.deviation, number, {"first": pair.one, "second": pair.other})
        else:
            continue
        row.measures[where] = measured
        judge.Judge._take(row, measured)
        if not is_inexact(getattr(torch, one.dtype, torch.float32)) and measured["differing"]:
            row.remarks.append(f"{where}: {measured['differing']} of {measured['elements']} integers differ")
    return is_off, known and not is_silent
