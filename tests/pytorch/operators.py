"""The ten operators: their signatures, the dtypes they take, the exact values of their results, PyTorch's counterparts.

The exact value is computed in float64 from the stored inputs, sums in extended precision where the machine has it, from
the definition of the operator; nothing is rounded to float32 on the way. The counterparts are PyTorch's own functions,
run eagerly; gradients come from ATen's backward functions where ATen has one, else from autograd.
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import dataclasses
import functools
import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

import number_formats as nf
import operands

NONE, MEAN, SUM, BATCHMEAN = 0, 1, 2, 3
REDUCTIONS = ("none", "mean", "sum", "batchmean")
WRITABLE = (nf.F32, nf.F16, nf.BF16, nf.F64, nf.C64, nf.C128)
INTEGER_WRITABLE = (nf.S64, nf.S32, nf.S16, nf.S8, nf.U8) + WRITABLE
UNTOUCHED = 77.0  # what fills outputs before a call


@dataclasses.dataclass
class Call:
    """One call: the operands, the attributes, and what both sides made of it."""

    operator: "Operator"
    inputs: list
    output: operands.Operand
    reduction: int
    beta: float = 1.0
    log_target: bool = False

    def __post_init__(self):
        self.named = {one.name: one for one in self.inputs}
        self.R = self.operator.broadcast(self.named)  # what is computed before any summation

    def dtype(self, name: str) -> nf.Dtype:
        return self.named[name].dtype

    def shape(self, name: str) -> tuple:
        return self.named[name].shape

    def values(self, name: str) -> np.ndarray:
        """The values of an input, broadcast to R."""
        if name not in self._values:
            self._values[name] = np.broadcast_to(self.operator.read(self, name), self.R)
        return self._values[name]

    def any_term(self, mask: np.ndarray) -> np.ndarray:
        """For each output, whether the mask, which has the shape R, holds for any of the terms that it sums."""
        return reduce_to(np.broadcast_to(mask, self.R), self.output.shape, self.operator, self.reduction, np.logical_or)

    @property
    def summed(self) -> bool:
        return self.R != self.output.shape or (self.reduction != NONE and not self.operator.is_gradient)

    _values: dict = dataclasses.field(default_factory=dict)


def reduce_to(terms: np.ndarray, shape: tuple, operator, reduction: int, how=np.add) -> np.ndarray:
    """Terms of shape R, combined over the axes that the operator sums."""
    if operator.is_gradient:
        lead = terms.ndim - len(shape)
        kept = terms.shape[lead:]
        axes = tuple(range(lead)) + tuple(lead + k for k, n in enumerate(shape) if n == 1 and kept[k] != 1)
    elif reduction == NONE:
        axes = ()
    else:
        axes = (0,) if operator.first_axis_only and terms.ndim else tuple(range(terms.ndim))
    if not axes:
        return np.asarray(terms).reshape(shape)
    wide = terms.astype(np.longdouble) if how is np.add and terms.dtype.kind == "f" else terms
    result = how.reduce(wide, axis=axes)
    return np.asarray(result, dtype=terms.dtype).reshape(shape)


def pytorch_common(call: Call, without_rank_0: bool) -> torch.dtype:
    """What the inputs promote to in PyTorch, where tensors of rank 0 do not widen those of the same kind."""
    views = [one.view() for one in call.inputs if one.dtype is not nf.BOOL or not without_rank_0]
    every = functools.reduce(torch.promote_types, (one.dtype for one in views), torch.bool)
    ranked = [one for one in views if one.dim() > 0]
    if not ranked or not without_rank_0:
        return every
    common = functools.reduce(torch.promote_types, (one.dtype for one in ranked), torch.bool)
    return common if common.is_floating_point == every.is_floating_point else every


class Operator:
    name = ""
    inputs = ("gradOutput", "self", "target")
    output = "gradInput"
    is_gradient = True
    first_axis_only = False
    reductions = (NONE, MEAN, SUM)
    has_beta = False
    has_log_target = False

    def mixes(self) -> list:
        """Every (dtypes of the inputs, dtype of the output, reductions) that the default product accepts."""
        mixes = itertools.product(nf.FLOATS, repeat=len(self.inputs))
        return [(mix, out, self.reductions) for mix in mixes for out in nf.FLOATS]

    @functools.cached_property
    def all_mixes(self) -> list:
        return self.mixes()

    def steps(self, call: Call) -> tuple:
        """The intermediate results in the order that the definition prescribes, exact: where float32 could overflow or
        underflow although the result does not."""
        return ()

    def pytorch_steps(self, call: Call) -> tuple:
        """The same for PyTorch, where its order of operations is another."""
        return ()

    def parts(self, call: Call) -> tuple:
        """What is added to give a value, of shape R and with the factor of a mean: these may cancel."""
        raise NotImplementedError

    def magnitude(self, call: Call, truth: np.ndarray) -> np.ndarray:
        """The sum of the absolute values of all that is added to give each result."""
        if not call.summed and not self.parts_cancel(call):
            return np.abs(truth)
        return reduce_to(sum(np.abs(part) for part in self.parts(call)), call.output.shape, self, call.reduction)

    def parts_cancel(self, call: Call) -> bool:
        return False

    def bound(self, call: Call) -> float:
        """Units in the last place of float32 that a value may be off where no step overflows, underflows or cancels."""
        raise NotImplementedError

    def sixteen_bit_steps(self, call: Call) -> bool:
        """Whether PyTorch rounds something to 16 bits on the way."""
        return pytorch_common(call, True) in (torch.float16, torch.bfloat16)

    def attributes(self, call: Call) -> list:
        values = [ctypes.c_int64(call.reduction)]
        if self.has_beta:
            values.append(ctypes.c_float(call.beta))
        if self.has_log_target:
            values.append(ctypes.c_bool(call.log_target))
        return values

    def broadcast(self, named: dict) -> tuple:
        return tuple(np.broadcast_shapes(*(one.shape for one in named.values())))

    def output_shape(self, R: tuple, named_shapes: dict, reduction: int) -> tuple:
        return R

    def read(self, call: Call, name: str) -> np.ndarray:
        return call.named[name].values()

    def divisor(self, call: Call) -> float:
        """What mean and batchmean divide by."""
        raise NotImplementedError

    def factor(self, call: Call) -> float:
        return 1.0 / self.divisor(call) if call.reduction in (MEAN, BATCHMEAN) and self.divisor(call) else 1.0

    def truth(self, call: Call) -> np.ndarray:
        raise NotImplementedError

    def pytorch_divisor(self, call: Call) -> float:
        """What PyTorch divides by for batchmean: the first dim of self before it is broadcast."""
        return call.shape("self")[0] if call.shape("self") else 1

    def pytorch(self, call: Call) -> torch.Tensor:
        raise NotImplementedError


def numel_R(call: Call) -> int:
    return math.prod(call.R)


def numel_self(call: Call) -> int:
    return math.prod(call.shape("self"))


def autograd(call: Call, wanted: str, loss_of) -> torch.Tensor:
    """The gradient of a loss for one of its inputs. A gradOutput with several elements has no counterpart for a reduced
    loss: it is divided by what the mean divides by, as PyTorch's backward of a mean does, and goes through the loss."""
    leaves = {name: call.named[name].view() for name in ("self", "target")}
    common = nf.promote(call.dtype("target"), nf.promote(call.dtype("gradOutput"), call.dtype("self")))
    for name, leaf in leaves.items():
        if not call.dtype(name).floating:
            leaves[name] = leaf.to(common.torch)
    if wanted == "expanded self":
        leaves["self"] = leaves["self"].expand(call.R)
        leaves["target"] = leaves["target"].expand(call.R)
        wanted = "self"
    leaves[wanted] = leaves[wanted].detach().requires_grad_()
    gradient = call.named["gradOutput"].view()
    if not call.dtype("gradOutput").floating:
        gradient = gradient.to(common.torch)
    if call.reduction != NONE and gradient.dim() == 0:
        loss = loss_of(leaves["self"], leaves["target"], REDUCTIONS[call.reduction])
    else:
        loss = loss_of(leaves["self"], leaves["target"], "none")
        gradient = gradient.expand(loss.shape)
        if call.reduction == MEAN:
            gradient = gradient / max(loss.numel(), 1)
        elif call.reduction == BATCHMEAN and leaves["self"].dim() > 0:
            gradient = gradient / max(leaves["self"].size(0), 1)
    return torch.autograd.grad(loss, leaves[wanted], gradient)[0]


# ---- gradients ------------------------------------------------------------------------------------------------------


class L1LossBackward(Operator):
    name = "aclnnL1LossBackward"

    def mixes(self):
        found = []
        for mix in itertools.product(nf.FLOATS + nf.INTEGERS, repeat=3):
            if any(one.floating for one in mix):
                found += [(mix, out, self.reductions) for out in WRITABLE]
        return found

    def read(self, call, name):
        """Integers are converted to the promoted type first: that is part of the contract."""
        values = call.named[name].values()
        if call.dtype(name).floating:
            return values
        common = nf.promote(call.dtype("target"), nf.promote(call.dtype("gradOutput"), call.dtype("self")))
        return nf.round_integers(values, common)

    def divisor(self, call):
        return numel_R(call)

    def truth(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        sign = (x > y).astype(np.float64) - (x < y)
        return sign * (g * self.factor(call))

    def steps(self, call):
        return (call.values("gradOutput") * self.factor(call),)

    def bound(self, call):
        return 1.5

    def sixteen_bit_steps(self, call):
        return any(one.dtype.sixteen_bits for one in call.inputs)

    def pytorch(self, call):
        return autograd(call, "expanded self", lambda x, y, how: F.l1_loss(x, y, reduction=how))


class SmoothL1LossBackward(Operator):
    name = "aclnnSmoothL1LossBackward"
    inputs = ("gradOut", "self", "target")
    has_beta = True

    def divisor(self, call):
        return numel_self(call)

    def truth(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        d = x - y
        sign = np.where(d == 0, 0.0, np.sign(d))
        factor = np.where(np.abs(d) >= call.beta, sign, d / call.beta)
        return factor * g * self.factor(call)

    def pytorch_steps(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        scaled = (x - y) * self.factor(call)
        inside = np.where(np.abs(x - y) < call.beta, scaled / call.beta, 0.0)
        return scaled, scaled * g, inside  # in its scalar and in its vector code

    def steps(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        d = x - y
        factor = np.where(np.abs(d) >= call.beta, 1.0, d / call.beta)
        return d, factor, factor * g, factor * g * self.factor(call)

    def bound(self, call):
        return 4.5 if call.reduction == MEAN else 2.5

    def pytorch(self, call):
        g, x, y = (call.named[name].view() for name in self.inputs)
        out = torch.empty(call.R, dtype=call.output.dtype.torch)
        return torch.ops.aten.smooth_l1_loss_backward.grad_input(g, x, y, call.reduction, call.beta, grad_input=out)


class MseLossBackward(Operator):
    name = "aclnnMseLossBackward"
    output = "out"

    def mixes(self):
        return [((one, one, one), out, self.reductions) for one in nf.FLOATS for out in nf.FLOATS]

    def divisor(self, call):
        return numel_self(call)

    def truth(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        return (x - y) * (2 * self.factor(call)) * g

    def steps(self, call):
        g, x, y = (call.values(name) for name in self.inputs)
        return x - y, (x - y) * 2 * self.factor(call), (x - y) * 2 * self.factor(call) * g

    def bound(self, call):
        return 4.0 if call.reduction == MEAN else 2.0

    def pytorch(self, call):
        g, x, y = (call.named[name].view() for name in self.inputs)
        out = torch.empty(call.R, dtype=x.dtype)
        return torch.ops.aten.mse_loss_backward.grad_input(g, x, y, call.reduction, grad_input=out)


class KlDivBackward(Operator):
    name = "aclnnKlDivBackward"
    output = "out"
    reductions = (NONE, MEAN, SUM, BATCHMEAN)
    has_log_target = True

    def broadcast(self, named):
        return tuple(np.broadcast_shapes(named["self"].shape, named["target"].shape))

    def output_shape(self, R, named_shapes, reduction):
        return named_shapes["self"]

    def divisor(self, call):
        if call.reduction == BATCHMEAN:
            return call.R[0] if call.R else 1
        return numel_R(call)

    def parts(self, call):
        g, t = call.values("gradOutput"), call.values("target")
        return (-((np.exp(t) if call.log_target else t) * g) * self.factor(call),)

    def pytorch_steps(self, call):
        return (call.values("gradOutput") * self.factor(call),)

    def truth(self, call):
        return reduce_to(self.parts(call)[0], call.output.shape, self, call.reduction)

    def steps(self, call):
        g, t = call.values("gradOutput"), call.values("target")
        weight = np.exp(t) if call.log_target else t
        return weight, weight * g, weight * g * self.factor(call)

    def bound(self, call):
        return 0.5 + (2.0 if call.reduction in (MEAN, BATCHMEAN) else 0.0) + (1.9 if call.log_target else 0.0)

    def sixteen_bit_steps(self, call):
        return any(one.dtype.sixteen_bits for one in call.inputs)

    def pytorch(self, call):
        return autograd(call, "self", lambda x, t, how: F.kl_div(x, t, reduction=how, log_target=call.log_target))


class KlDivTargetBackward(KlDivBackward):
    name = "aclnnKlDivTargetBackward"
    output = "gradTarget"

    def mixes(self):
        return [(mix, mix[2], self.reductions) for mix in itertools.product(nf.FLOATS, repeat=3)]

    def output_shape(self, R, named_shapes, reduction):
        return named_shapes["target"]

    def parts(self, call):
        g, x, t = (call.values(name) for name in self.inputs)
        g = g * self.factor(call)
        if call.log_target:
            return g * (t - x) * np.exp(t), g * np.exp(t)
        return g * np.log(t), -(g * x), g * t / t

    def truth(self, call):
        if math.prod(call.shape("self")) == 0:
            return np.full(call.output.shape, UNTOUCHED)
        parts = self.parts(call)
        return reduce_to(sum(parts[1:], parts[0]), call.output.shape, self, call.reduction)

    def steps(self, call):
        g, x, t = (call.values(name) for name in self.inputs)
        g = g * self.factor(call)
        if call.log_target:
            return g, t - x, np.exp(t), g * (t - x), *self.parts(call)
        return g, g * np.log(t), g * x, g * np.log(t) - g * x, g * t

    def parts_cancel(self, call):
        return True

    def bound(self, call):
        return 8.0

    def pytorch(self, call):
        return autograd(call, "target", lambda x, t, how: F.kl_div(x, t, reduction=how, log_target=call.log_target))


# ---- losses ---------------------------------------------------------------------------------------------------------


class Loss(Operator):
    inputs = ("self", "target")
    output = "out"
    is_gradient = False

    def output_shape(self, R, named_shapes, reduction):
        return R if reduction == NONE else ()

    def divisor(self, call):
        return numel_R(call)

    def terms(self, call) -> np.ndarray:
        raise NotImplementedError

    def parts(self, call):
        return (self.terms(call).astype(np.float64) * self.factor(call),)

    def truth(self, call):
        terms = self.terms(call)
        if call.reduction == NONE:
            return terms.reshape(call.output.shape)
        total = reduce_to(terms, call.output.shape, self, call.reduction)
        if call.reduction == SUM:
            return total
        divisor = self.divisor(call)
        return total / divisor if divisor else np.full(call.output.shape, np.nan)


class L1Loss(Loss):
    name = "aclnnL1Loss"

    def mixes(self):
        found = []
        for first, second in itertools.product(nf.FLOATS + nf.INTEGERS, repeat=2):
            common = nf.promote(first, second)
            if common is nf.S64:
                found += [((first, second), out, (NONE, SUM)) for out in INTEGER_WRITABLE]
            elif common.floating:
                reductions = self.reductions if first.floating else (MEAN, SUM)
                found += [((first, second), out, reductions) for out in WRITABLE]
        return found

    def read(self, call, name):
        values = call.named[name].values()
        common = nf.promote(call.dtype("self"), call.dtype("target"))
        return values if call.dtype(name).floating or not common.floating else nf.round_integers(values, common)

    def terms(self, call):
        x, y = call.values("self"), call.values("target")
        return np.abs(x - y)  # int64 wraps around

    def steps(self, call):
        return (self.terms(call).astype(np.float64),)

    def bound(self, call):
        return 1.0 if call.reduction == NONE else 2.5

    def pytorch(self, call):
        common = nf.promote(call.dtype("self"), call.dtype("target"))
        views = []
        for one in call.inputs:  # PyTorch does not subtract bools
            views.append(one.view().to(common.torch) if one.dtype is nf.BOOL else one.view())
        return torch.ops.aten.l1_loss(*views, call.reduction)


class SmoothL1Loss(Loss):
    name = "aclnnSmoothL1Loss"
    output = "result"
    has_beta = True

    def mixes(self):
        return [(mix, out, self.reductions) for mix in itertools.product(nf.FLOATS, repeat=2) for out in WRITABLE]

    def terms(self, call):
        d = np.abs(call.values("self") - call.values("target"))
        return np.where(d < call.beta, d / 2 * (d / call.beta), d - call.beta / 2)

    def steps(self, call):
        d = np.abs(call.values("self") - call.values("target"))
        return d, d / 2, np.where(d < call.beta, d / call.beta, 1.0), self.terms(call)

    def pytorch_steps(self, call):
        d = call.values("self") - call.values("target")
        return (np.where(np.abs(d) < call.beta, d * d, 0.0),)

    def bound(self, call):
        return 3.5 if call.reduction == NONE else 5.0

    def pytorch(self, call):
        x, y = (one.view() for one in call.inputs)
        return torch.ops.aten.smooth_l1_loss(x, y, call.reduction, call.beta)


class KlDiv(Loss):
    name = "aclnnKlDiv"
    reductions = (NONE, MEAN, SUM, BATCHMEAN)
    has_log_target = True

    def divisor(self, call):
        if call.reduction != BATCHMEAN:
            return numel_R(call)
        batches = call.R if math.prod(call.R) else call.shape("self")
        return batches[0] if batches else 1

    def parts(self, call):
        x, t = call.values("self"), call.values("target")
        if call.log_target:
            return super().parts(call)
        return t * np.log(np.where(t == 0, 1.0, t)) * self.factor(call), -(t * x) * self.factor(call)

    def parts_cancel(self, call):
        return not call.log_target

    def terms(self, call):
        x, t = call.values("self"), call.values("target")
        if call.log_target:
            return np.exp(t) * (t - x)
        return t * (np.log(np.where(t == 0, 1.0, t)) - x)

    def pytorch_steps(self, call):
        x, t = call.values("self"), call.values("target")
        return () if call.log_target else (t * np.log(np.where(t == 0, 1.0, t)), t * x)

    def steps(self, call):
        x, t = call.values("self"), call.values("target")
        inner = t - x if call.log_target else np.log(np.where(t == 0, 1.0, t)) - x
        return (inner, np.exp(t) if call.log_target else t, self.terms(call))

    def bound(self, call):
        return 5.0 if call.reduction == NONE else 6.5

    def sixteen_bit_steps(self, call):
        return any(one.dtype.sixteen_bits for one in call.inputs)

    def pytorch(self, call):
        x, t = (one.view() for one in call.inputs)
        return F.kl_div(x, t, reduction=REDUCTIONS[call.reduction], log_target=call.log_target)


class MseLoss(Loss):
    name = "aclnnMseLoss"

    def terms(self, call):
        d = call.values("self") - call.values("target")
        return d * d

    def steps(self, call):
        d = call.values("self") - call.values("target")
        return d, d * d

    def bound(self, call):
        return 2.5 if call.reduction == NONE else 4.0

    def pytorch(self, call):
        return torch.ops.aten.mse_loss(*(one.view() for one in call.inputs), call.reduction)


class MseLossOut(MseLoss):
    name = "aclnnMseLossOut"
    first_axis_only = True

    def output_shape(self, R, named_shapes, reduction):
        return R if reduction == NONE else R[1:]

    def divisor(self, call):
        return call.R[0] if call.R else 1

    def truth(self, call):
        if math.prod(call.R) == 0:
            return np.full(call.output.shape, UNTOUCHED)
        return super().truth(call)

    def pytorch(self, call):
        terms = torch.ops.aten.mse_loss(*(one.view() for one in call.inputs), NONE)
        if call.reduction == NONE:
            return terms
        return terms.mean(0) if call.reduction == MEAN else terms.sum(0)


ALL = (L1LossBackward(), SmoothL1LossBackward(), KlDivBackward(), L1Loss(), SmoothL1Loss(), KlDiv(),
       KlDivTargetBackward(), MseLoss(), MseLossOut(), MseLossBackward())
