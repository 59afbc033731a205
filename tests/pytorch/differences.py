"""Where portacl and PyTorch differ on purpose: the one list, from which the table in docs/compatibility.md is written.

A difference has a cause, which is looked for in the operands, and an effect, which is looked for in the results; it
explains the elements that show both.
SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import functools
import math
from typing import Callable

import numpy as np

import number_formats as nf
import operators
from operators import BATCHMEAN


ANY_RANGE = dataclasses.replace(nf.F32, highest_exponent=1023)  # sums in between may exceed float32's


class Results:
    """What both sides made of a call, and how far each is from the exact value."""

    def __init__(self, call: operators.Call, ours: np.ndarray, theirs: np.ndarray, truth: np.ndarray):
        self.call, self.ours, self.theirs, self.truth = call, ours, theirs, truth
        dtype = call.output.dtype
        self.limit, self.unit = nf.limit(dtype), nf.unit(truth, dtype)
        self.our_error, self.their_error = self._error(ours), self._error(theirs)

    def _clamped(self, values):
        return np.clip(values, -self.limit, self.limit)

    def _error(self, values):
        """The distance to the exact value; infinity is one step beyond the largest number, NaN equals NaN alone."""
        distance = np.abs(self._clamped(values) - self._clamped(self.truth))
        one, both = np.isnan(values) | np.isnan(self.truth), np.isnan(values) & np.isnan(self.truth)
        return np.where(one, np.where(both, 0.0, np.inf), distance)

    @functools.cached_property
    def allowed(self) -> np.ndarray:
        """How far a result may be off where no step overflows or underflows: roundings in float32, relative to what is
        added up, and half a unit for the last rounding of a sum or of a 16-bit result."""
        dtype, call = self.call.output.dtype, self.call
        magnitude = np.nan_to_num(call.operator.magnitude(call, self.truth), nan=0.0)
        bound = call.operator.bound(call) * (2 if call.summed else 1)  # the magnitude may be just below a power of two
        return bound * nf.unit(magnitude, ANY_RANGE) + (self.unit / 2 if dtype.sixteen_bits or call.summed else 0.0)

    @functools.cached_property
    def good(self) -> np.ndarray:
        return self.our_error <= self.allowed

    @functools.cached_property
    def farther(self) -> np.ndarray:
        """Where portacl is farther from the exact value than PyTorch, by more than a unit in the last place."""
        return self.our_error > self.their_error + self.unit

    @functools.cached_property
    def apart(self) -> np.ndarray:
        """Where the two differ by more than the roundings of both can explain, or in NaN, or in the sign of a zero."""
        ours, theirs = self.ours, self.theirs
        zeros = (ours == 0) & (theirs == 0) & (np.signbit(ours) != np.signbit(theirs))
        distance = np.abs(self._clamped(ours) - self._clamped(theirs))
        return (np.isnan(ours) != np.isnan(theirs)) | zeros | (distance > np.maximum(2 * self.allowed, self.unit))

    def overflows(self, steps) -> np.ndarray:
        return self._any(steps, lambda step: np.abs(step) >= nf.limit(nf.F32))

    def underflows(self, steps) -> np.ndarray:
        return self._any(steps, lambda step: (np.abs(step) < np.ldexp(1.0, nf.F32.lowest_exponent)) & (step != 0))

    def _any(self, steps, test) -> np.ndarray:
        found = np.zeros(self.call.R, dtype=bool)
        for step in steps:
            found = found | test(np.broadcast_to(step, self.call.R))
        return self.call.any_term(found)


@dataclasses.dataclass(frozen=True)
class Difference:
    name: str
    operators: tuple
    subject: str
    pytorch: str
    portacl: str
    explains: Callable[[Results], np.ndarray]
    portacl_may_be_farther: bool = False
    rarely: tuple = ()  # operators where it need not occur in every run


def our_steps(r):
    return r.call.operator.steps(r.call)


def their_steps(r):
    return r.call.operator.pytorch_steps(r.call)


def value(r, name):
    return r.call.values(name)


def cancels(r):
    return r.call.operator.magnitude(r.call, r.truth) > 2 * np.abs(r.truth)


def one_term(mask):
    """A cause that is looked for in the terms, for an element that sums them."""
    return lambda r: r.good & r.call.any_term(mask(r))


def names(*which):
    return tuple("aclnn" + name for name in which)


EVERY = tuple(one.name for one in operators.ALL)
KL = names("KlDiv", "KlDivBackward", "KlDivTargetBackward")

# The first that explains an element counts.
ALL = (
    Difference(
        "nothing to sum", names("MseLossOut", "KlDivTargetBackward"),
        "the inputs have no elements, the output has",
        "writes the sum or the mean of nothing: 0 or NaN",
        "writes nothing, as CANN",
        lambda r: (r.ours == operators.UNTOUCHED) & (math.prod(r.call.R) == 0)),
    Difference(
        "beta of 0", names("SmoothL1LossBackward"),
        "beta = 0 and self = target",
        "`aten::smooth_l1_loss_backward` takes -1 for the sign; by way of `smooth_l1_loss` it is the L1 loss's 0",
        "the sign is 0",
        one_term(lambda r: (r.call.beta == 0) & (value(r, "self") == value(r, "target")))),
    Difference(
        "gradient of 0", names("KlDivTargetBackward"),
        "gradOutput = 0, and log(target) is infinite or NaN",
        "0: its xlogy takes 0 times anything for 0",
        "NaN: multiplies",
        one_term(lambda r: np.asarray(not r.call.log_target) & (value(r, "gradOutput") == 0)
                 & ~np.isfinite(np.log(value(r, "target"))))),
    Difference(
        "batchmean", KL,
        "batchmean where self is broadcast along the first axis of R",
        "divides by self's first dim before broadcasting",
        "divides by R's first dim",
        lambda r: r.good & (r.call.reduction == BATCHMEAN)
        & (r.call.operator.pytorch_divisor(r.call) != r.call.operator.divisor(r.call))),
    Difference(
        "overflow of a step", names("KlDivBackward", "KlDivTargetBackward"),
        "a step is beyond FLOAT's range, the result is not",
        "divides gradOutput by n first, and overflows for other operands",
        "multiplies by 1/n last (KlDivBackward), as CANN: infinity, or NaN where infinities meet",
        lambda r: ~r.good & r.overflows(our_steps(r)) & ~np.isfinite(r.ours), True,
        rarely=names("KlDiv", "MseLossOut")),
    Difference(
        "order of steps",
        names("SmoothL1Loss", "SmoothL1LossBackward", "KlDiv", "KlDivBackward", "KlDivTargetBackward"),
        "a step of PyTorch's is beyond FLOAT's range or subnormal",
        "infinity, NaN or fewer digits: divides by beta last and gradOutput by n first, subtracts target * self from "
        "target * log(target)",
        "right: divides by beta first, multiplies by 1/n last, subtracts before it multiplies",
        lambda r: r.good & (r.overflows(their_steps(r)) | r.underflows(their_steps(r)))),
    Difference(
        "sign of zero", names("KlDiv", "KlDivTargetBackward"),
        "several terms add up to 0",
        "the sign depends on which are added first",
        "sums start at +0; the terms of one element are added in CANN's order",
        lambda r: r.good & (r.ours == 0) & (r.theirs == 0), rarely=names("KlDivBackward")),
    Difference(
        "rank 0", tuple(name for name in EVERY if name != "aclnnMseLossBackward"),
        "an operand of rank 0 has a wider type than the others",
        "it does not count in promotion and is narrowed: FLOAT beside FLOAT16, INT64 beside INT16",
        "it counts",
        lambda r: r.good & (operators.pytorch_common(r.call, True) != operators.pytorch_common(r.call, False))),
    Difference(
        "16-bit steps", EVERY,
        "FLOAT16 or BF16 operands",
        "rounds steps and results to 16 bits, where they may overflow; narrows beta and gradients to the loss's type",
        "rounds once, to the output's type",
        lambda r: r.good & (r.our_error <= r.their_error) & r.call.operator.sixteen_bit_steps(r.call)),
    Difference(
        "sums", names("L1Loss", "SmoothL1Loss"),
        "sums of many terms",
        "in float32, in an order that depends on the machine",
        "in float64, in a fixed order",
        lambda r: r.good & (r.our_error <= r.their_error) & r.call.summed,
        rarely=names("KlDiv", "MseLoss", "MseLossOut", "KlDivBackward", "KlDivTargetBackward")),
    Difference(
        "cancellation", KL,
        "terms that cancel",
        "each term is rounded, in an order of its own",
        "each term is rounded, in CANN's order: either may be closer, by a few units in the last place of the terms",
        lambda r: r.good & cancels(r), True),
    Difference(
        "subnormal steps", names("SmoothL1LossBackward", "KlDivBackward", "KlDivTargetBackward"),
        "a step is subnormal in float32 and loses digits that later steps enlarge",
        "the same in another order",
        "the same in CANN's order: either may be closer",
        lambda r: r.underflows(our_steps(r)) & np.isfinite(r.ours), True,
        rarely=names("SmoothL1Loss", "KlDiv", "MseLossBackward")),
    Difference(
        "last bits", names("SmoothL1LossBackward", "KlDivBackward", "KlDiv", "KlDivTargetBackward"),
        "FLOAT results of several roundings",
        "rounds as often, in another order; a mean divides by n",
        "CANN's order, c = 1/n; either may be closer, within the bounds of [numerics.md](numerics.md)",
        lambda r: r.good & r.farther & np.asarray(not r.call.output.dtype.sixteen_bits), True,
        rarely=names("SmoothL1Loss", "MseLossOut", "MseLossBackward", "L1LossBackward")),
)


BY_NAME = {one.name: one for one in ALL}


def table() -> str:
    lines = ["| difference | where | operators | PyTorch | portacl |", "|---|---|---|---|---|"]
    for one in ALL:
        listed = one.operators + one.rarely
        which = "all" if set(listed) == set(EVERY) else ", ".join(name for name in EVERY if name in listed)
        lines.append(f"| {one.name} | {one.subject} | {which} | {one.pytorch} | {one.portacl} |")
    return "\n".join(lines)
