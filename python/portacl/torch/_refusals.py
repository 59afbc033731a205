"""Arguments, other than the table's dtypes, that CANN's functions refuse and PyTorch's CPU kernels accept: an own operator falls
back.

The rules are those of Atlas A2, for arguments that occur in programs. Frequent functions that refuse only what hardly any program
passes have no rule (aclnnConstantPadNd, aclnnScatterAdd, a bool to the power of True), since every call would pay for the test.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

_Tensor = torch.Tensor


class Rule(NamedTuple):
    """A rule of an operator: the arguments that it depends on, by their names in the schema, and the test of them."""

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


def _are_factors_of_integers(tensor: _Tensor, *factors: Any) -> bool:
    return not tensor.is_floating_point() and any(isinstance(factor, float) for factor in factors)


def _is_a_bool(number: Any) -> bool:
    return isinstance(number, bool)


def _is_wide_unit_triangle(matrix: _Tensor, unitriangular: bool) -> bool:
    return unitriangular and matrix.dtype is not torch.float32


def _is_cubic_float64(input: _Tensor, interpolation_mode: int) -> bool:
    return interpolation_mode == 2 and input.dtype is torch.float64


def _loses_imaginary_parts(tensor: _Tensor, dtype: torch.dtype | None) -> bool:
    return dtype is not None and tensor.is_complex() and not dtype.is_complex


def _is_no_sum_of_floats(tensor: _Tensor, dtype: torch.dtype | None) -> bool:
    if dtype is None or dtype.is_floating_point:
        return False
    return tensor.is_floating_point() or dtype.is_complex or dtype is torch.bool


def _is_of_other_scales(input: _Tensor, *scales: float | None) -> bool:
    # For these, CANN's function uses the ratio of the lengths, whatever the scales are.
    return input.dtype in (torch.float64, torch.uint8) and any(scale is not None for scale in scales)


def _are_other_factors(matrix: _Tensor, full_matrices: bool, compute_uv: bool, u: _Tensor, values: _Tensor, vh: _Tensor) -> bool:
    if matrix.dim() < 2 or _are_empty(matrix):
        return True
    *batch, rows, columns = matrix.shape
    least = min(rows, columns)
    if list(values.shape) != [*batch, least]:
        return True
    of_u, of_vh = ([rows, rows], [columns, columns]) if full_matrices else ([rows, least], [least, columns])
    return compute_uv and (list(u.shape) != [*batch, *of_u] or list(vh.shape) != [*batch, *of_vh])


def _is_for_other_shapes(target: _Tensor, reduction: int, output: _Tensor, total_weight: _Tensor) -> bool:
    return output.shape != (target.shape if reduction == 0 else ()) or total_weight.dim() > 0


_DILATED = Rule(("dilation",), _is_dilated, "a dilation other than 1")
_PADS = Rule(("grad_output", "padding"), _are_large_pads, "pads below 0 or above 7 of bfloat16")
_ONE = "one element of bfloat16"
_INTEGERS = "integers among the scalars for tensors of floats"
_SCALARS = {"add": "scalars", "sub": "scalars", "mul": "scalars", "div": "scalars", "pow": "exponent"}  # their names
_BOOLS = "a bool for a number"
_NUMBERS = {  # for operators on lists: their names
    **{f"{kind}.Scalar": "scalar" for kind in ("add", "mul", "div")},
    **{f"{kind}.Scalar": "value" for kind in ("addcdiv", "addcmul")},
    **{"add.List": "alpha", "lerp.Scalar": "weight", "pow.Scalar": "exponent"},
}
_SHIFTS = ("bitwise_left_shift.Tensor_Scalar", "bitwise_left_shift.Tensor_Scalar_out", "bitwise_left_shift_.Tensor_Scalar")
_WINDOWS = {
    **dict.fromkeys(("hann_window", "blackman_window", "bartlett_window"), ("", ".periodic")),
    "hamming_window": ("", ".periodic", ".periodic_alpha", ".periodic_alpha_beta"),
}
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
    **{
        f"_foreach_{op}{place}.{form}": Rule((name,), _is_a_bool, _BOOLS)
        for op, form, name in ((*call.split("."), name) for call, name in _NUMBERS.items())
        for place in ("", "_")
    },
    **{f"fmod{form}": Rule(("other",), _is_a_bool, _BOOLS) for form in (".Scalar", ".Scalar_out", "_.Scalar")},
    **{shift: Rule(("other",), _is_a_bool, _BOOLS) for shift in (*_SHIFTS, "__lshift__.Scalar", "__ilshift__.Scalar")},
    **{
        f"addmv{form}": Rule(("self", "beta", "alpha"), _are_factors_of_integers, "factors of integers that are not whole")
        for form in ("", ".out", "_")
    },
    **{
        f"{kind}{form}": Rule(("dtype",), lambda dtype: dtype is None, "a window without a dtype")
        for kind, forms in _WINDOWS.items()
        for form in forms
    },
    **{
        f"mean{form}": Rule(("self", "dtype"), _loses_imaginary_parts, "a real dtype for complex numbers")
        for form in ("", ".dim", ".out")
    },
    **{
        f"nansum{form}": Rule(("self", "dtype"), _is_no_sum_of_floats, "a dtype that is not of floats, of floats or bool or complex")
        for form in ("", ".out")
    },
    **{
        name: Rule((matrix, "unitriangular"), _is_wide_unit_triangle, "ones on the diagonal, but of float32")
        for name, matrix in (("linalg_solve_triangular", "self"), ("linalg_solve_triangular.out", "self"), ("triangular_solve.X", "A"))
    },
    **{f"_fused_sgd_{form}": Rule(("momentum",), lambda momentum: momentum == 0, "a momentum of 0") for form in ("", ".tensor_lr")},
    **{
        f"upsample_nearest2d{form}": Rule(("self", "scales_h", "scales_w"), _is_of_other_scales, "scales of float64 or uint8")
        for form in ("", ".out")
    },
    "_linalg_svd.U": Rule(("A", "full_matrices", "compute_uv", "U", "S", "Vh"), _are_other_factors, "outputs that it would have to resize"),
    "nll_loss2d_forward.output": Rule(
        ("target", "reduction", "output", "total_weight"), _is_for_other_shapes, "outputs that it would have to resize"
    ),
    **{
        f"grid_sampler_2d{form}": Rule(("input", "interpolation_mode"), _is_cubic_float64, "cubic interpolation of float64")
        for form in ("", "_backward")
    },
    "scatter_reduce.two_out": Rule(
        ("reduce", "include_self"),
        lambda reduce, include_self: reduce != "sum" or not include_self,
        "a reduction that is no sum with self",
    ),
    "convolution_backward": Rule(
        ("weight", "stride", "transposed", "output_padding"),
        _is_beyond_stride,
        "an output padding of three axes up to the dilation",
    ),
    "matmul": Rule(("self", "other"), _are_empty, "tensors without elements (torch_npu's gradient)"),
    # These succeed with any shapes, but do not write the result.
    **{f"avg_pool{axes}d{form}": Rule(("self",), _are_empty, "tensors without elements") for axes in (2, 3) for form in ("", ".out")},
    # The operator of the graph engine takes the first along dims that were repeated.
    "_cdist_backward": Rule(("grad", "x1", "x2"), _are_empty, "tensors without elements"),
    # These refuse an empty batch, too.
    **{kind: Rule(("self",), _are_empty, "tensors without elements") for kind in ("_adaptive_avg_pool3d", "adaptive_avg_pool3d.out")},
    **{
        kind: Rule(("grad_output", "self"), _are_empty, "tensors without elements")
        for kind in ("_adaptive_avg_pool3d_backward", "adaptive_avg_pool3d_backward.grad_input")
    },
    "native_dropout_backward": Rule(("mask",), lambda mask: mask.dtype is torch.bool, "a mask of bool, which the CPU makes"),
    # These succeed, but do not write the gradients of weight and bias.
    **{f"native_{of}_norm_backward": Rule(("input",), _are_empty, "tensors without elements") for of in ("batch", "group")},
    **{
        "native_batch_norm" + form: Rule(
            ("input", "training"), lambda input, training: training and input.numel() == 0, "statistics of no elements"
        )
        for form in ("", ".out")
    },
    **{
        f"linalg_cholesky{form}": Rule(
            ("self",), lambda matrix: matrix.dim() > 1 and matrix.shape[-1] > 8192, "matrices of more than 8192 rows"
        )
        for form in ("", ".out")
    },
    "native_group_norm": Rule(("eps",), lambda eps: eps <= 0, "an epsilon of 0 or less"),
    "unfold_backward": Rule(
        ("input_sizes", "dim"), lambda sizes, dim: dim < 0 or len(sizes) == 0, "a dim from behind, a tensor without dims"
    ),
}

# These succeed without elements, but do not write the result. PyTorch's CPU kernels refuse such calls, or write it.
_UNWRITTEN = {
    **{kind + form: ("self",) for kind in ("amax", "amin") for form in ("", ".out")},
    **{f"{kind}.dim{form}": ("self",) for kind in ("max", "min") for form in ("", f"_{kind}")},
    **{f"{kind}.dim{form}": ("self",) for kind in ("median", "nanmedian") for form in ("", "_values")},
    **{"index_copy" + form: ("index",) for form in ("", ".out")},
    **{kind: ("self",) for kind in ("multinomial", "multinomial.out", "triangular_solve.X")},
    "_prelu_kernel_backward": ("self",),
    **{f"_embedding_bag{form}": ("weight", "indices", "offsets") for form in ("", "_forward_only")},
    "_linalg_svd": ("A",),
    **{kind: ("self",) for kind in ("slogdet", "unique_dim")},
}
# Likewise, except for an empty batch, which has no result.
_UNWRITTEN_POOLS = {
    **{kind + form: ("self",) for kind in ("adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_max_pool3d") for form in ("", ".out")},
    "_adaptive_avg_pool2d": ("self",),
    "_adaptive_avg_pool2d_backward": ("grad_output", "self"),
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
    """Returns the rule of an operator by its full name, "aten::NAME.OVERLOAD"."""
    return _RULES.get(operator.removeprefix("aten::"))


def refused_arguments(operator: torch._ops.OpOverload, of: Rule) -> Callable[..., bool]:
    """Whether a call has arguments that the rule names. The dispatcher omits trailing arguments that have their defaults."""
    schema = operator._schema.arguments
    found = [next((i, a) for i, a in enumerate(schema) if a.name == name) for name in of.arguments]
    asked = [(None if a.kwarg_only else i, a.name, a.default_value if a.has_default_value() else None) for i, a in found]
    refuses = of.refuses
    if any(place is None for place, _, _ in asked):

        def condition(*args: Any, **kwargs: Any) -> bool:
            count = len(args)
            return refuses(
                *(
                    kwargs.get(name, default) if place is None else args[place] if place < count else default
                    for place, name, default in asked
                )
            )

        return condition
    places = [(place, default) for place, _, default in asked if place is not None]

    def of_places(*args: Any, **_: Any) -> bool:
        return refuses(*(args[i] if i < len(args) else default for i, default in places))

    return of_places
