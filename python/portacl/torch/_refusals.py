"""Arguments, beside the table's dtypes, that CANN's functions refuse and PyTorch's CPU kernels take: an own operator falls back.

The rules are those of Atlas A2, for what programs meet. What is called often and refuses what hardly any program passes has none
(aclnnConstantPadNd, aclnnScatterAdd): every call would pay for the question.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

_Tensor = torch.Tensor


class Rule(NamedTuple):
    """What an operator refuses: the arguments that tell, by their names in its schema, and the question to them."""

    arguments: tuple[str, ...]
    refuses: Callable[..., bool]
    what: str


def _is_dilated(dilation: Any) -> bool:
    return any(step != 1 for step in dilation) if isinstance(dilation, (list, tuple)) else dilation != 1


def _are_large_pads(gradient: _Tensor, padding: list[int]) -> bool:
    is_of_rows = len(padding) == 4 and any(padding[2:])
    return gradient.dtype is torch.bfloat16 and is_of_rows and not all(0 <= pad <= 7 for pad in padding)


def _is_beyond_stride(weight: _Tensor, stride: list[int], transposed: bool, output_padding: list[int]) -> bool:
    return transposed and weight.dim() == 5 and any(pad >= step for pad, step in zip(output_padding, stride))


def _is_one_bf16(values: _Tensor, dim: int = -1) -> bool:
    rank = values.dim()
    return values.dtype is torch.bfloat16 and (rank == 0 or (-rank <= dim < rank and values.shape[dim] == 1))


def _are_empty(*tensors: _Tensor) -> bool:
    return any(tensor.numel() == 0 for tensor in tensors)


def _are_integers_for_floats(tensors: list[_Tensor], scalars: list[Any]) -> bool:
    return len(tensors) > 0 and tensors[0].is_floating_point() and any(isinstance(one, int) for one in scalars)


_DILATED = Rule(("dilation",), _is_dilated, "a dilation other than 1")
_PADS = Rule(("grad_output", "padding"), _are_large_pads, "pads below 0 or above 7 of bfloat16")
_ONE = "one element of bfloat16"
_INTEGERS = "integers among the scalars for tensors of floats"
_SCALARS = {"add": "scalars", "sub": "scalars", "mul": "scalars", "div": "scalars", "pow": "exponent"}  # their names
_MAX_POOLS = ("max_pool2d_with_indices", "max_pool3d_with_indices")

_RULES = {
    **{pool + form: _DILATED for pool in _MAX_POOLS for form in ("", ".out", "_backward", "_backward.grad_input")},
    **{f"{kind}_pad2d_backward{form}": _PADS for kind in ("reflection", "replication") for form in ("", ".grad_input")},
    **{kind + form: Rule(("self",), _is_one_bf16, _ONE) for kind in ("median", "nanmedian") for form in ("", ".out")},
    **{kind + form: Rule(("self", "dim"), _is_one_bf16, _ONE) for kind in ("median", "nanmedian") for form in (".dim", ".dim_values")},
    **{
        f"_foreach_{kind}.ScalarList": Rule(("self", name), _are_integers_for_floats, _INTEGERS)
        for op, name in _SCALARS.items()
        for kind in (op, op + "_")
    },
    "convolution_backward": Rule(
        ("weight", "stride", "transposed", "output_padding"),
        _is_beyond_stride,
        "an output padding of three axes up to the dilation",
    ),
    "matmul": Rule(("self", "other"), _are_empty, "tensors without elements (torch_npu's gradient)"),
    "native_dropout_backward": Rule(("mask",), lambda mask: mask.dtype is torch.bool, "a mask of bool, which the CPU makes"),
    # These succeed, but the gradients of weight and bias stay as the memory was.
    **{f"native_{of}_norm_backward": Rule(("input",), _are_empty, "tensors without elements") for of in ("batch", "group")},
    **{
        "native_batch_norm" + form: Rule(
            ("input", "training"), lambda input, training: training and input.numel() == 0, "statistics of no elements"
        )
        for form in ("", ".out")
    },
    "native_group_norm": Rule(("eps",), lambda eps: eps <= 0, "an epsilon of 0 or less"),
    "unfold_backward": Rule(("input_sizes",), lambda sizes: len(sizes) == 0, "a tensor without dims"),
}

# These succeed without elements, and what they return stays as the memory was. PyTorch's CPU kernels refuse that, or write it.
_UNWRITTEN = {
    **{kind + form: ("self",) for kind in ("amax", "amin") for form in ("", ".out")},
    **{f"{kind}.dim{form}": ("self",) for kind in ("max", "min") for form in ("", f"_{kind}")},
    **{f"{kind}.dim{form}": ("self",) for kind in ("median", "nanmedian") for form in ("", "_values")},
    **{"index_copy" + form: ("index",) for form in ("", ".out")},
    **{kind: ("self",) for kind in ("multinomial", "multinomial.out", "triangular_solve.X")},
    "_prelu_kernel_backward": ("self",),
}
# The same, but for a batch of nothing, of which there is no result.
_UNWRITTEN_POOLS = {
    **{kind + form: ("self",) for kind in ("adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_max_pool3d") for form in ("", ".out")},
    **{kind: ("self",) for kind in ("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool3d.out")},
    **{f"_adaptive_avg_pool{axes}d_backward": ("grad_output", "self") for axes in (2, 3)},
    "adaptive_avg_pool3d_backward.grad_input": ("grad_output", "self"),
    **{f"adaptive_max_pool{axes}d_backward{form}": ("grad_output", "self") for axes in (2, 3) for form in ("", ".grad_input")},
}


def _are_empty_planes(*tensors: _Tensor) -> bool:
    return any(0 in tensor.shape[1:] for tensor in tensors)


def _or(first: Rule | None, second: Rule) -> Rule:
    if first is None:
        return second
    count, one, other = len(first.arguments), first.refuses, second.refuses
    return Rule(
        first.arguments + second.arguments,
        lambda *given: one(*given[:count]) or other(*given[count:]),
        f"{first.what}, {second.what}",
    )


for _names, _refuses in ((_UNWRITTEN, _are_empty), (_UNWRITTEN_POOLS, _are_empty_planes)):
    for _name, _arguments in _names.items():
        _RULES[_name] = _or(_RULES.get(_name), Rule(_arguments, _refuses, "tensors without elements"))


def rule(operator: str) -> Rule | None:
    """Of an operator by its whole name, "aten::NAME.OVERLOAD"."""
    return _RULES.get(operator.removeprefix("aten::"))


def refused_arguments(operator: torch._ops.OpOverload, of: Rule) -> Callable[..., bool]:
    """Whether a call has arguments that the rule names. The dispatcher leaves out what stands last and has its default."""
    schema = operator._schema.arguments
    places = [next((i, a) for i, a in enumerate(schema) if a.name == name) for name in of.arguments]
    asked = [(i, a.default_value if a.has_default_value() else None) for i, a in places]
    refuses = of.refuses

    def condition(*args: Any, **_: Any) -> bool:
        return refuses(*(args[i] if i < len(args) else default for i, default in asked))

    return condition
