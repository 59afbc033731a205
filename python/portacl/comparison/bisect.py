"""Finds the operator at which the loss diverges, by replacing recorded results with portacl's.

The recorded calls are a graph: an input is the result of the last earlier call that returned the same elements. The loss for a
prefix of k calls uses their recorded results, and portacl computes everything that follows from them up to the loss. With all
calls that is the recorded loss, with none it is portacl's. The search halves the calls until one is left that moves the loss from
nearer portacl's to nearer the recorded one.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable
from typing import Any

import torch

from portacl.recording import Call, Recording, TensorRecord

from . import findings, programs, replay
from .terminal import printable

_Source = tuple[int, int]  # a call's index in the program, and the number of its result


@dataclasses.dataclass
class Swaps:
    """The loss for a prefix of recorded results. `kept` counts calls that could not be replayed: their recorded results stayed."""

    loss: float
    kept: int


class Graph:
    """The calls that a loss depends on, and the source of each of their inputs."""

    def __init__(self, calls: list[Call], target: int):
        self.calls = calls
        self.target = target
        last: dict[replay.Key, _Source] = {}
        self.sources: list[dict[replay.Place, _Source]] = []
        for at, call in enumerate(calls[: target + 1]):
            found = {}
            for place, record in call.inputs():
                key = replay.key(record)
                if key is not None and key in last:
                    found[place] = last[key]
            self.sources.append(found)
            for number, (_, record) in enumerate(replay.results(call)):
                key = replay.key(record)
                if key is not None:
                    last[key] = (at, number)
        needed = {target}
        for at in range(target, -1, -1):
            if at in needed:
                needed.update(source for source, _ in self.sources[at].values())
        self.needed = sorted(needed)
        self.leaves = sum(len(calls[at].inputs()) - len(self.sources[at]) for at in self.needed)


class Bisection:
    def __init__(self, graph: Graph, replayed: replay.Replay, progress: Callable[[int, str], None]):
        self.graph = graph
        self._replay = replayed
        self._progress = progress
        self._known: dict[int, Swaps] = {}
        self._done = 0

    def loss(self, recorded: int) -> Swaps:
        """Returns the loss with the recorded results of the first `recorded` calls that it needs."""
        if recorded not in self._known:
            self._known[recorded] = self._run(lambda number: number < recorded)
        return self._known[recorded]

    def with_one(self, number: int) -> Swaps:
        """Returns the loss with the recorded result of this call alone."""
        return self._run(lambda other: other == number)

    def _run(self, is_recorded: Callable[[int], bool]) -> Swaps:
        graph = self.graph
        uses: dict[_Source, int] = {}
        for at in graph.needed:
            for source in graph.sources[at].values():
                uses[source] = uses.get(source, 0) + 1
        computed: dict[_Source, torch.Tensor] = {}
        kept = 0
        for number, at in enumerate(graph.needed):
            call = graph.calls[at]
            self._done += 1
            self._progress(self._done, call.name)
            values = {place: computed[source] for place, source in graph.sources[at].items() if source in computed}
            for source in graph.sources[at].values():
                uses[source] -= 1
                if not uses[source]:
                    computed.pop(source, None)
            if is_recorded(number):
                continue
            try:
                for k, (_, value) in enumerate(self._replay.on_npu(call, values)):
                    if isinstance(value, torch.Tensor) and (uses.get((at, k)) or at == graph.target):
                        computed[at, k] = value
            except replay.NotReplayed:
                kept += 1
        target = graph.calls[graph.target]
        for k, (_, record) in enumerate(replay.results(target)):
            if _is_loss(record):
                value = computed.get((graph.target, k))
                return Swaps(_number(record.tensor() if value is None else value), kept)
        raise ValueError(f"call #{target.index} has no result of one floating number")


def _number(value: torch.Tensor) -> float:
    return float(value.detach().cpu().to(torch.float64).reshape(()))


def _is_loss(record: TensorRecord) -> bool:
    return record.count == 1 and record.dtype in ("float32", "float16", "bfloat16", "float64") and record.kept == "all"


# Operators that return a number that was computed before, or none that was computed.
_NO_LOSSES = ("ones_like", "detach", "fill_")


def losses(calls: list[Call]) -> list[int]:
    """Finds the losses: for each step, the last call before gradients that computed a single floating number."""
    found: list[int] = []
    candidate = None
    was_backward = False
    for at, call in enumerate(calls):
        if call.phase == "backward":
            if not was_backward and candidate is not None:
                found.append(candidate)
            candidate, was_backward = None, True
            continue
        was_backward = False
        results = replay.results(call)
        name = call.name.partition("::")[2].partition(".")[0]
        if call.inputs() and results and _is_loss(results[0][1]) and results[0][1].device != "cpu" and name not in _NO_LOSSES:
            candidate = at
    if not found and candidate is not None:
        found.append(candidate)
    return found


def _is_nearer_recorded(loss: float, portacls: float, recorded: float) -> bool:
    if math.isfinite(portacls) and math.isfinite(recorded):
        return not math.isfinite(loss) or abs(loss - recorded) < abs(loss - portacls)
    return math.isfinite(loss) == math.isfinite(recorded)


def run(opened: Recording, calls: list[Call], chosen: int | None, progress: Any, quiet: bool) -> int:
    """Searches and prints the result. Returns 0 if no loss diverges, else 1. Raises ValueError if there is no loss."""
    if programs.is_of_program(opened.meta):
        raise ValueError(f"--bisect looks for the loss of PyTorch's training steps: {opened.path} holds the calls of a C++ program")
    targets = [at for at, call in enumerate(calls) if call.index == chosen] if chosen is not None else losses(calls)
    if not targets:
        missing = "no loss was found: no call gives one floating number; name it by --loss CALL"
        raise ValueError(missing if chosen is None else f"no call #{chosen}")
    home = replay.home_of(calls)
    replayed = replay.Replay(home, replay.is_of_portacl(opened.meta, home))
    for target in targets:
        graph = Graph(calls, target)
        shown = progress(len(graph.needed) * (3 + max(1, len(graph.needed)).bit_length()), quiet)
        search = Bisection(graph, replayed, shown)
        count = len(graph.needed)
        recorded, portacls = search.loss(count), search.loss(0)
        call = calls[target]
        name = printable(f"the loss of step {call.step}, #{call.index} {call.name}")
        if recorded.loss == portacls.loss or (math.isnan(recorded.loss) and math.isnan(portacls.loss)):
            shown.end()
            sys.stdout.write(f"{name}: {recorded.loss:.9g} recorded, the same on portacl\n")
            continue
        low, high = 0, count  # with none portacl's loss, with all the recorded one
        while high - low > 1:
            middle = (low + high) // 2
            if _is_nearer_recorded(search.loss(middle).loss, portacls.loss, recorded.loss):
                high = middle
            else:
                low = middle
        shown.end()
        _tell(search, graph, name, high, recorded, portacls)
        return 1
    return 0


def _tell(search: Bisection, graph: Graph, name: str, high: int, recorded: Swaps, portacls: Swaps) -> None:
    found = graph.calls[graph.needed[high - 1]]
    before, after, alone = search.loss(high - 1).loss, search.loss(high).loss, search.with_one(high - 1).loss
    gap = recorded.loss - portacls.loss
    share = (after - before) / gap if gap and math.isfinite(gap) and math.isfinite(after - before) else math.nan
    lines = [
        f"{name}: {recorded.loss:.9g} recorded, {portacls.loss:.9g} on portacl",
        f"it parts at #{found.index} {found.name} {findings.module_of(found)}".rstrip(),
        f"  loss with its recorded result:  {alone:.9g} (everything else portacl's)",
        f"  loss without it:                {portacls.loss:.9g} (everything portacl's)",
        f"  recorded up to and with it:     {after:.9g}",
        f"  recorded up to it, without it:  {before:.9g}",
    ]
    if not math.isnan(share):
        lines.append(f"  its share of the difference:    {share * 100:.3g} %")
    lines += [f"  in   {findings.place_text(place)}: {replay.text(record)}" for place, record in found.inputs()]
    lines += [f"  out  {findings.place_text(place)}: {replay.text(record)}" for place, record in replay.results(found)]
    lines += [f"  at {frame.file}:{frame.line} in {frame.function}" for frame in found.stack[:8]]
    lines.append(
        f"of {graph.target + 1} calls up to the loss it depends on {len(graph.needed)}; {graph.leaves} of their inputs are no call's results; "
        f"{portacls.kept} calls could not be replayed, and kept their recorded results"
    )
    sys.stdout.write("\n".join(map(printable, lines)) + "\n")
