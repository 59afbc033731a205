"""Standards by which a result passes: CANN's accuracy standard, PyTorch's, torch_npu's, the same bits, and user-defined
thresholds.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import pathlib
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._comparison import default_tolerances

from .errors import Deviation, real_dtype

NAMES = {
    "cann": "CANN's accuracy standard for experimental operators",
    "torch": "torch.testing.assert_close, with its own tolerances",
    "torch_npu": "assertRtolEqual of torch_npu's tests, with its own tolerances",
    "bits": "the same bits as portacl's",
    "threshold": "the thresholds given by --threshold",
}


@functools.cache
def _of_cann() -> dict[str, Any]:
    """Loads CANN's numbers; tests/pytorch/accuracy_standard.py reads the same file."""
    file = pathlib.Path(__file__).with_name("accuracy_standard.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _cann(deviation: Deviation) -> bool | None:
    """Passes if 99 % lie within atol + rtol |exact|, and none beyond the limit, or 32 units in the last place if that is more."""
    known = _of_cann()
    row = known.get(dtype_name(real_dtype(deviation.dtype)))
    if row is None:
        return None
    within = deviation.error <= 2.0 ** row["atol"] + 2.0 ** row["rtol"] * deviation.reference.abs()
    within = torch.where(deviation.is_special, deviation.is_same, within)
    far = deviation.error > torch.clamp(known["largest_ulp"] * deviation.unit, min=row["limit"])
    return int(within.sum()) >= known["share"] * within.numel() and not bool(far.any())


def _torch(deviation: Deviation) -> bool | None:
    """Passes if every element lies within atol + rtol |expected|; integers and bools must be equal. NaNs count as equal."""
    rtol, atol = default_tolerances(deviation.dtype)
    within = deviation.error <= atol + rtol * deviation.reference.abs()
    return bool(torch.where(deviation.is_special, deviation.is_same, within).all())


def _torch_npu(deviation: Deviation) -> bool | None:
    """Passes as torch_npu's functions do: NaNs are at the same indices, and of the relative errors or of the absolute ones no
    more than the fraction `prec` is larger."""
    if deviation.dtype is torch.bool:
        return bool(deviation.is_same.all())
    if deviation.dtype.is_complex:
        return None
    if deviation.dtype is torch.bfloat16:
        within = deviation.error <= 1e-3 + 1e-3 * deviation.reference.abs()
        return bool(torch.where(deviation.is_special, deviation.is_same, within).all())
    precision, least = (1e-3, 6e-8) if deviation.dtype is torch.float16 else (1e-4, 1e-9)
    if not torch.equal(deviation.got.isnan(), deviation.reference.isnan()):
        return False
    larger = torch.maximum(deviation.got.abs(), deviation.reference.abs())
    absolute = deviation.error > precision
    relative = ~(deviation.error / (larger + least) <= precision) & ~deviation.is_same
    allowed = deviation.got.numel() * precision
    return not (int(relative.sum()) > allowed and int(absolute.sum()) > allowed)


def _bits(deviation: Deviation) -> bool | None:
    return deviation.has_same_bits


@dataclasses.dataclass(frozen=True)
class Threshold:
    """The threshold for one dtype: units in the last place, or a relative and an absolute tolerance, which every element must
    meet."""

    ulp: float | None
    rtol: float = 0.0
    atol: float = 0.0

    def passes(self, deviation: Deviation) -> bool:
        if self.ulp is not None:
            return bool((deviation.in_units <= self.ulp).all())
        within = deviation.error <= self.atol + self.rtol * deviation.reference.abs()
        return bool(torch.where(deviation.is_special, deviation.is_same, within).all())


_NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_THRESHOLD = re.compile(rf"(\w+)=(?:(?P<ulp>{_NUMBER})ulp|(?P<rtol>{_NUMBER})(?:,(?P<atol>{_NUMBER}))?)")


def threshold(text: str) -> tuple[str, Threshold]:
    """Parses `DTYPE=4ulp`, `DTYPE=RTOL` or `DTYPE=RTOL,ATOL` into the dtype, or "all", and the threshold. Raises ValueError for
    anything else."""
    fits = _THRESHOLD.fullmatch(text)
    if fits is None:
        raise ValueError(f"--threshold {text}: not DTYPE=Nulp, DTYPE=RTOL or DTYPE=RTOL,ATOL (float32=4ulp, float16=1e-3,1e-5)")
    name = fits[1]
    if name != "all" and not isinstance(getattr(torch, name, None), torch.dtype):
        raise ValueError(f"--threshold {text}: {name} is no dtype of PyTorch's, such as float32, float16 or bfloat16, nor all")
    if fits["ulp"] is not None:
        return name, Threshold(float(fits["ulp"]))
    return name, Threshold(None, float(fits["rtol"]), float(fits["atol"] or 0))


_RULES: dict[str, Callable[[Deviation], bool | None]] = {"cann": _cann, "torch": _torch, "torch_npu": _torch_npu, "bits": _bits}


class Standards:
    """The standards for results: all of them are reported, and the chosen ones decide whether an operator is off."""

    def __init__(self, chosen: tuple[str, ...], thresholds: dict[str, Threshold] | None = None, falls_to: str | None = None):
        """`falls_to` decides for dtypes that no chosen standard covers."""
        self.thresholds = thresholds or {}
        for name in chosen:
            if name not in NAMES or (name == "threshold" and not self.thresholds):
                raise ValueError(f"--standard {name}: not one of cann, torch, torch_npu, bits, or threshold where one is given")
        self.chosen = chosen
        self.falls_to = falls_to
        self.names = tuple(name for name in NAMES if name != "threshold" or self.thresholds)

    @property
    def text(self) -> str:
        """Names the deciding standards."""
        last = f", or {self.falls_to} of a dtype that it says nothing about" if self.falls_to else ""
        return ", ".join(self.chosen) + last

    def judge(self, name: str, deviation: Deviation) -> bool | None:
        """Whether the result passes; None if the standard does not cover the dtype."""
        if name == "threshold":
            limit = self.thresholds.get(dtype_name(deviation.dtype), self.thresholds.get("all"))
            return None if limit is None else limit.passes(deviation)
        return _RULES[name](deviation)

    def verdicts(self, beside_portacl: Deviation | None, beside_exact: Deviation | None) -> dict[str, bool | None]:
        """Applies each standard to a result, compared with portacl's (None: the same bytes) and, if there is one, float64's.

        The bits, and integers, are compared with portacl's, everything else with float64's. PyTorch's standards require equal
        numbers for dtypes of one byte.
        """
        found = {}
        for name in self.names:
            judged = beside_exact
            if name == "bits" or judged is None or (name in ("torch", "torch_npu") and judged.dtype.itemsize == 1):
                judged = beside_portacl
            found[name] = True if judged is None else self.judge(name, judged)
            if judged is not None and not judged.inexact and found[name] is None:
                found[name] = bool(judged.is_same.all())
        return found

    def _deciding(self, verdicts: dict[str, bool | None]) -> list[bool]:
        known = [verdict for name in self.chosen if (verdict := verdicts[name]) is not None]
        last = None if self.falls_to is None else verdicts[self.falls_to]
        return known if known or last is None else [last]

    def is_off(self, verdicts: dict[str, bool | None]) -> bool:
        return not all(self._deciding(verdicts))

    def is_silent(self, verdicts: dict[str, bool | None]) -> bool:
        """Whether no deciding standard covers the dtype."""
        return not self._deciding(verdicts)

    def silence(self, dtype: torch.dtype) -> str:
        """Returns the remark about it."""
        return f"{', '.join(self.chosen)} says nothing about {dtype_name(dtype)}: --standard torch or --threshold all=LIMIT does"


def magnitude(ulp: float | None) -> float:
    """Returns a number for sorting and drawing: infinite errors come last, unknown ones first."""
    return -1.0 if ulp is None else math.inf if math.isnan(ulp) else ulp
