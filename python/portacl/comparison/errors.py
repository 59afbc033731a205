"""Distances between two results, element by element: in units of the last place, relative, and as an angle.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class Spacing:
    """The spacing of a floating type: the distance of neighbours at 1, and at the smallest numbers."""

    epsilon: float
    smallest: float  # normal number
    largest: float


@functools.cache
def spacing(dtype: torch.dtype) -> Spacing:
    known = torch.finfo(dtype)
    return Spacing(known.eps, known.smallest_normal, known.max)


def is_inexact(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def real_dtype(dtype: torch.dtype) -> torch.dtype:
    """Returns the dtype of a complex number's parts; for others the dtype itself."""
    return dtype.to_real() if dtype.is_complex else dtype


def wide(values: torch.Tensor) -> torch.Tensor:
    """Flattens all values to float64; complex numbers become two. Integers beyond 2^53 lose bits and are compared separately."""
    values = values.detach().cpu().resolve_conj().resolve_neg()
    if values.is_complex():
        values = torch.view_as_real(values)
    return values.reshape(-1).to(torch.float64)


def unit(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Returns the distance of neighbouring numbers of a floating type at each float64 value; beyond the largest number, the one
    there."""
    known = spacing(real_dtype(dtype))
    magnitude = values.abs().nan_to_num(nan=known.largest, posinf=known.largest).clamp(known.smallest, known.largest)
    exponent = torch.frexp(magnitude).exponent - 1
    return torch.ldexp(torch.full_like(magnitude, known.epsilon), exponent)


class Deviation:
    """The deviation of a result from a reference of the same shape, element by element.

    An infinity or NaN counts as equal if both have it, and as infinitely far off otherwise.
    """

    def __init__(self, got: torch.Tensor, reference: torch.Tensor):
        self.dtype = got.dtype
        self.shape = tuple(got.shape)
        self.inexact = is_inexact(got.dtype)
        self.got = wide(got)
        exact = wide(reference)
        if self.inexact and reference.dtype != got.dtype:  # float64's results beyond the dtype's range are infinite in it
            held = exact.to(real_dtype(got.dtype)).to(torch.float64)
            exact = torch.where(held.isinf(), held, exact)
        self.reference = exact
        self.is_special = ~(self.got.isfinite() & exact.isfinite())
        if self.inexact:
            self.is_same = (self.got == exact) | (self.got.isnan() & exact.isnan())
        else:
            self.is_same = (got.detach().cpu().reshape(-1) == reference.detach().cpu().reshape(-1)).reshape(-1)
            if self.is_same.numel() != self.got.numel():  # a complex element has two parts; integers have one
                self.is_same = self.got == exact
        far = torch.full_like(self.got, math.inf)
        same = torch.zeros_like(self.got)
        self.error = torch.where(self.is_same, same, torch.where(self.is_special, far, (self.got - exact).abs()))

    @functools.cached_property
    def unit(self) -> torch.Tensor:
        return unit(self.reference, self.dtype) if self.inexact else torch.ones_like(self.got)

    @functools.cached_property
    def in_units(self) -> torch.Tensor:
        return self.error / self.unit

    @property
    def has_same_bits(self) -> bool:
        """Whether every element is the same number; zeros of different sign differ, NaNs are equal."""
        if not bool(self.is_same.all()):
            return False
        zeros = (self.got == 0) & (self.reference == 0)
        return not self.inexact or not bool((torch.signbit(self.got) != torch.signbit(self.reference))[zeros].any())

    @property
    def of_largest(self) -> float:
        """Returns the largest error in units of the last place of the largest element, so that cancellation in small elements
        does not count more."""
        if not self.error.numel():
            return 0.0
        largest = self.reference[self.reference.isfinite()].abs()
        at = largest.max() if largest.numel() else torch.zeros((), dtype=torch.float64)
        return float(self.error.max() / (unit(at.reshape(1), self.dtype)[0] if self.inexact else 1.0))

    @property
    def worst(self) -> int:
        """Returns the index of the largest error in units, or -1 if there is none."""
        if not self.error.numel() or not bool((self.error > 0).any()):
            return -1
        return int(self.in_units.argmax())

    def measures(self) -> dict[str, Any]:
        """The figures that a report shows."""
        count = self.got.numel()
        differing = int((~self.is_same).sum())
        if not differing:
            return no_measures(count)
        found: dict[str, Any] = {"elements": count, "differing": differing}
        magnitude = self.reference.abs()
        relative = torch.where(self.is_same, 0.0, self.error / magnitude).nan_to_num(nan=math.inf, posinf=math.inf)
        found["ulp"] = float(self.in_units.max())
        found["absolute"] = float(self.error.max())
        found["relative"] = float(relative.max())
        found["cosine"] = cosine(self.got[~self.is_special], self.reference[~self.is_special])
        return found


def no_measures(count: int) -> dict[str, Any]:
    """Returns the measures of two equal results."""
    return {"elements": count, "differing": 0, "ulp": 0.0, "absolute": 0.0, "relative": 0.0, "cosine": 1.0}


def are_same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two CPU tensors of one dtype and shape hold the same bytes; faster than a Deviation."""
    if not one.numel():
        return True
    bits = [tensor.resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8) for tensor in (one, other)]
    return torch.equal(*bits)


def cosine(one: torch.Tensor, other: torch.Tensor) -> float:
    """Returns the cosine of the angle between two rows of numbers: 1 if both are zero or empty, 0 if one is."""
    scale = max(float(one.abs().max()) if one.numel() else 0.0, 1e-300), max(float(other.abs().max()) if other.numel() else 0.0, 1e-300)
    one, other = one / scale[0], other / scale[1]
    norms = float(one.norm()), float(other.norm())
    if not (norms[0] and norms[1]):
        return 1.0 if norms == (0.0, 0.0) else 0.0
    return float(torch.dot(one, other)) / (norms[0] * norms[1])


def place(flat: int, shape: tuple[int, ...], is_complex: bool) -> list[int]:
    """Returns the indices of an element from its row-major number."""
    flat = flat // 2 if is_complex else flat
    indices: list[int] = []
    for length in reversed(shape):
        indices.insert(0, flat % length)
        flat //= length
    return indices


def kinds(got: torch.Tensor, reference: torch.Tensor) -> list[str]:
    """Describes a deviation in words, if possible; got and reference have the same dtype."""
    if not is_inexact(got.dtype) or got.shape != reference.shape:
        return []
    one, other = wide(got), wide(reference)
    found = []
    for name, test in (("NaN", torch.isnan), ("inf", torch.isinf)):
        count = int((test(one) & other.isfinite()).sum())
        if count:
            found.append(f"{name} at {count} of {one.numel()} elements where portacl's are finite")
    smallest = spacing(real_dtype(got.dtype)).smallest
    subnormal = (other != 0) & (other.abs() < smallest)
    flushed = subnormal & (one == 0)
    if bool(flushed.any()):
        found.append(f"{int(flushed.sum())} of {int(subnormal.sum())} subnormal numbers are zero")
    return found
