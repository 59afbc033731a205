"""Judges the calls of one recording: each is replayed from its recorded inputs.

A call is *off* if its recorded result fails a chosen standard, compared with portacl's and float64's results for the recorded
inputs: it made the error. Another call is *propagated* if an input descends from a call that was off, and its recorded result
fails the standard compared with portacl's result for the right inputs: those that the earlier calls would have returned, had none
been off. If it passes, the error has died out.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Union

import torch

from portacl.recording import Call, Recording

from . import errors, exact, findings, programs, replay
from . import standards as standards_text
from .errors import Deviation
from .findings import NOT_COMPARED, OFF, OK, PROPAGATED, Findings, Row
from .standards import Standards

Replayed = Union[replay.Replay, programs.Replay]
_Results = list[tuple[replay.Place, Any]]
_AROUND = 3  # elements shown on each side of the worst one


def compare(
    opened: Recording, calls: list[Call], standards: Standards, of_portacl: bool, progress: Callable[[int, Call], None]
) -> Findings:
    """Judges all calls of a recording."""
    home = replay.home_of(calls)
    where = "portacl" if of_portacl else f"device {home}"
    title = f"{opened.path}: {len(calls)} calls recorded on {where}, beside portacl and float64"
    columns = {"ulp": "ulp (portacl)", "exact": "ulp (float64)"}
    names = {name: standards_text.NAMES[name] for name in standards.names}
    found = Findings(title, f"off where a result fails {standards.text}", names, standards.chosen, columns)
    replayed: Replayed = programs.Replay() if programs.is_of_program(opened.meta) else replay.Replay(home, of_portacl)
    Judge(replayed, standards, found).all(calls, progress)
    return found


class Judge:
    def __init__(self, replayed: Replayed, standards: Standards, found: Findings):
        self._replay = replayed
        self._standards = standards
        self._found = found
        self._repeats = findings.Repeats()
        self._specials = findings.Specials()
        # The right values for those that are off, and the call that made the error.
        self._right: dict[replay.Key, tuple[torch.Tensor, int]] = {}

    def all(self, calls: Iterable[Call], progress: Callable[[int, Call], None]) -> None:
        for number, call in enumerate(calls):
            progress(number, call)
            self._found.rows.append(self.one(call))
        found = self._found
        first = found.first_off
        if first is not None:
            found.fact("first off", f"#{first.index} {first.name} {first.module}".rstrip(), first.index, "off")
        for name, (index, how) in self._specials.first.items():
            row = next((row for row in found.rows if row.index == index), None)
            found.fact(f"first {name}", f"{how} #{index} {row.name if row else ''}", index)

    def one(self, call: Call) -> Row:
        row = Row.of(call)
        try:
            row.remarks += self._specials.look(call)
            self._judge(call, row)
        except replay.NotReplayed as reason:
            row.not_compared(str(reason))
            self._forget(call)
        except Exception as error:  # any exception that malformed records can raise
            if row.verdict == OFF:  # one result is, whatever is wrong with another
                row.remarks.append(findings.broken(error))
            else:
                row.not_compared(findings.broken(error))
            self._forget(call)
            return row
        self._repeated(call, row)
        return row

    def _repeated(self, call: Call, row: Row) -> None:
        """Reports two results for the same inputs, which is known even if the elements are not."""
        try:
            of = self._replay.operator(call)
        except replay.NotReplayed:
            return
        if replay.is_unwritten(call) or self._replay.draws(call, of) or call.error is not None or call.problem is not None:
            return
        other = self._repeats.before(call)
        if other is not None:
            row.verdict = OFF
            row.remarks.append(f"nondeterministic: call #{other} got the same inputs and gave another result")

    def _judge(self, call: Call, row: Row) -> None:
        of = self._replay.check(call)
        if not replay.results(call):
            raise replay.NotReplayed("its result is no tensor")
        results = self._replay.on_npu(call, {})
        if self._replay.fell_back():
            row.remarks.append("portacl lacks it: PyTorch's CPU kernel took its place")
        by_exact = self._exact(call, of, results, row)
        is_off, is_known = self._beside(call, row, results, by_exact)
        changed = {
            place: self._right[key]
            for place, record in call.inputs()
            if (key := replay.key(record)) is not None and key in self._right
        }
        if is_off:
            row.verdict = OFF
            row.origin = row.index
            row.remarks += self._looks(call, results)
        else:
            row.verdict = OK if is_known else NOT_COMPARED
        if changed:
            results = self._replay.on_npu(call, {place: value for place, (value, _) in changed.items()})
            origin = min(index for _, index in changed.values())
            if is_off:
                row.remarks.append(f"its inputs were off already, from call #{origin}")
            elif (carried := self._carried(call, results)) is not None:
                row.verdict, row.origin, row.carried = PROPAGATED, origin, carried
                row.remarks.append(f"its inputs were off already, by {self._input_error(call, changed)}, from call #{origin}")
        if row.verdict in (OK, NOT_COMPARED):
            self._forget(call)
        else:
            self._remember(call, results, row.index if row.origin is None else row.origin)

    # -- the right values for those that are off ------------------------------------------------

    def _forget(self, call: Call) -> None:
        for _, record in replay.results(call):
            key = replay.key(record)
            if key is not None:
                self._right.pop(key, None)

    def _remember(self, call: Call, results: _Results, origin: int) -> None:
        for (_, record), (_, value) in zip(replay.results(call), results):
            key = replay.key(record)
            if key is None or not isinstance(value, torch.Tensor):
                continue
            value = value.detach().cpu()
            recorded = self._replay.elements(record)
            if recorded is not None and recorded.shape == value.shape and not self._is_same(recorded, value):
                self._right[key] = value, origin
            else:
                self._right.pop(key, None)

    @staticmethod
    def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
        return one.dtype == other.dtype and (errors.are_same_bytes(one, other) or Deviation(one, other).has_same_bits)

    def _carried(self, call: Call, results: _Results) -> float | None:
        """Measures the recorded results against portacl's results for the right inputs, in units of the last place of the largest
        element. Returns None if they pass."""
        worst, is_off = 0.0, False
        for (_, record), (_, value) in zip(replay.results(call), results):
            recorded = self._replay.elements(record)
            if isinstance(value, torch.Tensor) and recorded is not None and value.shape == recorded.shape:
                deviation = Deviation(recorded, value)
                if self._standards.is_off(self._standards.verdicts(deviation, None)):
                    is_off = True
                    worst = max(worst, deviation.of_largest)
        return worst if is_off else None

    def _input_error(self, call: Call, changed: dict[replay.Place, tuple[torch.Tensor, int]]) -> str:
        worst = 0.0
        for place, record in call.inputs():
            if place in changed:
                recorded = self._replay.elements(record)
                assert recorded is not None  # the call was replayed from it
                worst = max(worst, float(Deviation(recorded, changed[place][0].reshape(recorded.shape)).measures()["ulp"]))
        return f"up to {worst:.3g} ulp"

    # -- the errors of recorded results --------------------------------------------------------

    def _exact(self, call: Call, of: Any, results: _Results, row: Row) -> _Results:
        """Returns float64's results; None for calls that have none."""
        nothing: _Results = [(place, None) for place, _ in results]
        if self._replay.is_view(of):
            return nothing
        if not any(isinstance(value, torch.Tensor) and errors.is_inexact(value.dtype) for _, value in results):
            return nothing  # integers are compared with portacl's
        try:
            return self._replay.in_float64(call, of, {})
        except exact.NoMeaning as reason:
            row.remarks.append(f"no float64: {reason}")
            return nothing

    def _beside(self, call: Call, row: Row, results: _Results, by_exact: _Results) -> tuple[bool, bool]:
        """Measures every result. Returns whether one fails a chosen standard, and whether all kept results could be judged."""
        is_off = is_silent = is_any = False
        worst: tuple[float, Any] | None = None
        for number, ((place, record), (_, value), (_, true)) in enumerate(zip(replay.results(call), results, by_exact)):
            try:
                recorded = self._replay.elements(record)
            except Exception as error:
                is_silent = True
                row.remarks.append(f"{findings.place_text(place)}: {findings.broken(error)}")
                continue
            if recorded is None:
                row.remarks.append(f"{findings.place_text(place)} was not kept whole")
                continue
            if not isinstance(value, torch.Tensor) or value.shape != recorded.shape or value.dtype != recorded.dtype:
                is_off = is_any = True
                got = replay.text(record)
                what = f"{value.dtype} {tuple(value.shape)}" if isinstance(value, torch.Tensor) else "nothing"
                row.remarks.append(f"{findings.place_text(place)} is {got}, portacl gives {what}")
                continue
            value = value.detach().cpu()
            beside = None if errors.are_same_bytes(recorded, value) else Deviation(recorded, value)
            true_one = None
            inexact = errors.is_inexact(recorded.dtype)
            if isinstance(true, torch.Tensor) and inexact and true.shape == recorded.shape:
                true_one = self._beside_exact(value, true, None if beside is None else recorded, row, place)
            elif isinstance(true, torch.Tensor) and true.shape != recorded.shape and inexact:
                row.remarks.append(f"no float64 of {findings.place_text(place)}: PyTorch's CPU gives another shape")
            verdicts = self._standards.verdicts(beside, true_one)
            is_off |= self._standards.is_off(verdicts)
            is_any = True
            if beside is not None and self._standards.is_silent(verdicts) and not beside.has_same_bits:
                is_silent = True
                row.remarks.append(f"{findings.place_text(place)}: {self._standards.silence(recorded.dtype)}")
            for name, verdict in verdicts.items():
                old = row.standards.get(name)
                row.standards[name] = verdict if old is None else old if verdict is None else old and verdict
            measured = errors.no_measures(recorded.numel()) if beside is None else beside.measures()
            self._take(row, measured)
            where = findings.place_text(place)
            row.measures[f"{where} beside portacl"] = measured
            if true_one is not None:
                by_true = true_one.measures()
                row.measures[f"{where} beside float64"] = by_true
                row.exact = max(row.exact or 0.0, by_true["ulp"])
            if beside is not None and measured["differing"] and (worst is None or measured["ulp"] > worst[0]):
                shown = {"recorded": recorded, "portacl": value}
                if isinstance(true, torch.Tensor) and true_one is not None:
                    shown["float64"] = true
                worst = measured["ulp"], around(beside, number, shown)
        if worst is not None:
            row.worst = worst[1]
        return is_off, is_any and not is_silent

    def _beside_exact(
        self, value: torch.Tensor, true: torch.Tensor, recorded: torch.Tensor | None, row: Row, place: replay.Place
    ) -> Deviation | None:
        """Compares the recorded result (None: it equals portacl's) with float64's. Returns None if portacl's own fails, so that
        float64's comes from another formula."""
        own = Deviation(value, true)
        verdict = self._standards.judge("cann", own)
        if verdict is None and own.dtype.itemsize > 1:
            verdict = self._standards.judge("torch", own)
        if verdict is False:
            row.remarks.append(
                f"{findings.place_text(place)}: not judged by float64's, from which portacl's own is {own.measures()['ulp']:.3g} ulp away"
            )
            return None
        if recorded is None:
            return own
        row.measures[f"{findings.place_text(place)}: portacl's beside float64"] = own.measures()
        return Deviation(recorded, true)

    @staticmethod
    def _take(row: Row, measured: dict[str, Any]) -> None:
        row.ulp = max(row.ulp or 0.0, measured["ulp"])
        row.relative = max(row.relative or 0.0, measured["relative"])
        row.cosine = measured["cosine"] if row.cosine is None else min(row.cosine, measured["cosine"])

    def _looks(self, call: Call, results: _Results) -> list[str]:
        found: list[str] = []
        for (_, record), (_, value) in zip(replay.results(call), results):
            recorded = self._replay.elements(record)
            if isinstance(value, torch.Tensor) and recorded is not None and recorded.dtype == value.dtype:
                found += errors.kinds(recorded, value.cpu())
        return found


def around(deviation: Deviation, output: int, values: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Returns the values of several tensors of one shape around the worst element."""
    is_complex = deviation.dtype.is_complex
    worst = deviation.worst if deviation.worst >= 0 else int((~deviation.is_same).int().argmax())
    flat = worst // 2 if is_complex else worst
    count = deviation.got.numel() // (2 if is_complex else 1)
    first, last = max(0, flat - _AROUND), min(count, flat + _AROUND + 1)
    places = [errors.place(k, deviation.shape, False) for k in range(first, last)]
    shown: dict[str, list[Any]] = {}
    for name, tensor in values.items():
        part = tensor.detach().cpu().reshape(-1)[first:last]
        shown[name] = [str(one) if part.is_complex() else one for one in part.tolist()]
    return {"output": output, "at": errors.place(flat, deviation.shape, False), "here": flat - first, "places": places, "values": shown}
