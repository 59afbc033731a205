"""A device with known faults, to try a comparison on: portacl, but for the operators that are named.

    python -m portacl -m portacl.comparison.simulate --fault aten::mm=4ulp SCRIPT [ARGUMENTS]

    with portacl.comparison.simulate.device("aten::mm=4ulp"), portacl.recording.record("run.rec"):
        ...

A fault is OPERATOR=KIND or OPERATOR=KIND@N: for the N-th call of the operator alone, counted from 0. OPERATOR may leave out the overload.

    Nulp              every finite number that is not zero is N units in the last place larger in magnitude
    flush             subnormal numbers become zero
    reorder           sums are made in float32, one term after the other, from the last one to the first (sum, mean, mm, addmm, bmm)
    nan, inf          the element in the middle is one
    nondeterministic  every call gives other last bits, as sums in no fixed order do

A recorder that is entered inside (after) this one records what the faulty device gave.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import re
import runpy
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_FAULT = re.compile(r"(?P<name>\w+::\w+(?:\.\w+)?)=(?:(?P<ulps>\d+)ulp|(?P<kind>flush|reorder|nan|inf|nondeterministic))(?:@(?P<only>\d+))?")
_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclasses.dataclass
class Fault:
    name: str
    kind: str
    ulps: int = 0
    only: int | None = None
    calls: int = 0

    def fits(self, name: str) -> bool:
        if name != self.name and name.partition(".")[0] != self.name:
            return False
        self.calls += 1
        return self.only is None or self.only == self.calls - 1


def fault(text: str) -> Fault:
    """Parses OPERATOR=KIND. Raises ValueError for anything else."""
    fits = _FAULT.fullmatch(text)
    if fits is None:
        raise ValueError(f"--fault {text}: not OPERATOR=KIND, such as aten::mm=4ulp, with KIND Nulp, flush, reorder, nan, inf or nondeterministic")
    only = None if fits["only"] is None else int(fits["only"])
    made = Fault(fits["name"], fits["kind"] or "ulp", int(fits["ulps"] or 0), only)
    if made.kind == "reorder" and made.name.partition(".")[0] not in _REORDERED:
        raise ValueError(f"--fault {text}: sums are reordered of {', '.join(sorted(_REORDERED))}")
    return made


def device(*faults: str) -> TorchDispatchMode:
    """Returns a mode in which the named operators have these faults."""
    return _Device([fault(text) for text in faults])


class _Device(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, faults: list[Fault]):
        super().__init__()  # type: ignore[no-untyped-call]
        self._faults = faults

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.name()
        found = [fault for fault in self._faults if fault.fits(name)]
        reordered = next((fault for fault in found if fault.kind == "reorder"), None)
        if reordered is None:
            outputs = func(*args, **kwargs)
        else:
            outputs = _REORDERED[name.partition(".")[0]](*args, **kwargs)
        for one in found:
            for tensor in _written(func, args, kwargs, outputs):
                _spoil(tensor, one)
        return outputs


def _written(func: Any, args: Any, kwargs: dict[str, Any], outputs: Any) -> list[torch.Tensor]:
    """Returns the floating results of a call, including those that it wrote into its arguments."""
    found: list[Any] = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    for number, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[number] if number < len(args) else kwargs.get(argument.name)
            found += value if isinstance(value, (list, tuple)) else [value]
    unique: dict[int, torch.Tensor] = {}
    for value in found:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, torch.Tensor) and one.is_floating_point():
                unique.setdefault(one.data_ptr() if one.numel() else id(one), one)
    return list(unique.values())


def _spoil(tensor: torch.Tensor, fault: Fault) -> None:
    if fault.kind == "reorder" or not tensor.numel():
        return
    values = tensor.detach().cpu().contiguous()
    flat = values.view(-1)
    if fault.kind == "flush":
        flat[flat.abs() < torch.finfo(flat.dtype).smallest_normal] = 0
    elif fault.kind in ("nan", "inf"):
        flat[flat.numel() // 2] = float(fault.kind)
    else:
        bits = flat.view(_INTEGERS[flat.element_size()])
        movable = flat.isfinite() & (flat != 0)
        if fault.kind == "ulp":
            bits[movable] += fault.ulps
        else:
            chosen = (torch.arange(flat.numel()) + fault.calls) % 3 == 0
            bits[movable & chosen] ^= 1
    tensor.copy_(values)


# ---- sums in another order ----------------------------------------------------------------------------


def _one_by_one(terms: torch.Tensor, dim: int) -> torch.Tensor:
    """Sums along a dim in float32, from the last term to the first."""
    terms = terms.movedim(dim, 0).to(torch.float32)
    total = torch.zeros_like(terms[0]) if terms.shape[0] else torch.zeros(terms.shape[1:])
    for k in range(terms.shape[0] - 1, -1, -1):
        total = total + terms[k]
    return total


def _sum(values: torch.Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> torch.Tensor:
    dims = list(range(values.dim())) if dim is None or dim == [] else [d % values.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    kept = [d for d in range(values.dim()) if d not in dims]
    on_host = values.detach().cpu().permute(*kept, *dims).reshape(*(values.shape[d] for d in kept), -1)
    total = _one_by_one(on_host, -1)
    if keepdim:
        total = total.reshape([1 if d in dims else values.shape[d] for d in range(values.dim())])
    return total.to(dtype or values.dtype).to(values.device)


def _mean(values: torch.Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> torch.Tensor:
    total = _sum(values, dim, keepdim, dtype=torch.float32)
    return (total * (max(1, total.numel()) / max(1, values.numel()))).to(dtype or values.dtype)


def _product(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    first, second = one.detach().cpu().float(), other.detach().cpu().float()
    total = torch.zeros(*first.shape[:-1], second.shape[-1])
    for k in range(first.shape[-1] - 1, -1, -1):
        total = total + first[..., :, k : k + 1] * second[..., k : k + 1, :]
    return total


def _mm(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return _product(one, other).to(one.dtype).to(one.device)


def _addmm(bias: torch.Tensor, one: torch.Tensor, other: torch.Tensor, *, beta: Any = 1, alpha: Any = 1) -> torch.Tensor:
    total = alpha * _product(one, other) + beta * bias.detach().cpu().float()
    result: torch.Tensor = total.to(one.dtype).to(one.device)
    return result


_REORDERED: dict[str, Callable[..., torch.Tensor]] = {
    "aten::sum": _sum,
    "aten::mean": _mean,
    "aten::mm": _mm,
    "aten::bmm": _mm,
    "aten::addmm": _addmm,
}


def main(arguments: list[str]) -> None:
    faults = []
    while arguments[:1] == ["--fault"] and len(arguments) > 1:
        faults.append(arguments[1])
        arguments = arguments[2:]
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] == "-m" and len(arguments) == 1):
        sys.stderr.write("usage: python -m portacl -m portacl.comparison.simulate --fault OPERATOR=KIND[@N] ... [-m] SCRIPT [ARGUMENTS]\n")
        raise SystemExit(0 if arguments[:1] in (["-h"], ["--help"]) else 2)
    try:
        mode = device(*faults)
    except ValueError as error:
        sys.stderr.write(f"portacl: {error}\n")
        raise SystemExit(2) from None
    import torch_npu  # type: ignore[import-untyped]  # noqa: F401

    is_module = arguments[0] == "-m"
    sys.argv = arguments[is_module:]
    with mode:
        if is_module:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            import os

            sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
            runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
