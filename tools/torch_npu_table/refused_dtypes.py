"""Which dtypes an operator refuses that PyTorch's CPU kernel takes: found by calling it with each of them.

    TORCH_DEVICE_BACKEND_AUTOLOAD=0 python refused_dtypes.py [--other]
                          prints {operator: dtypes} for the own operators of torch_npu on the portacl in force
                          --other: and a line for each other form of a call, with its dtypes, that is refused beside those

CANN's functions list the dtypes that they take, and torch_npu hands them over as they are. It also refuses some by itself, in
words of its own, so every error of the NPU is a refusal where the CPU computes. A dtype that only some forms of a call refuse, such as
those with a dim from behind, is no matter for the table but for a rule in portacl/torch/_refusals.py.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.bool, torch.uint8, torch.int8, torch.int16),
        *(torch.int32, torch.int64, torch.complex64, torch.complex128),
    )
}
# What stands for an argument without a default, by its type.
_VALUES = {"number": 1, "int": 1, "float": 1.0, "bool": True, "List[int]": [2, 3], "SymInt": 2}


# Of indices, which are of as many dims as what they index or of one, whatever the operator.
INDICES = (torch.tensor([[0, 1, 0], [1, 1, 0]]), torch.tensor([0, 1, 0]), torch.tensor([0, 1]))

# Operators whose arguments hang together: a tuple is the shape of a tensor of the dtype that is tried, the rest are values.
_PADS = {
    f"{kind}_pad{dims}d": {"self": (1, *[4] * dims), "grad_output": (1, *[6] * dims), "padding": [1, 1] * dims}
    for kind in ("reflection", "replication")
    for dims in (1, 2, 3)
}
_WINDOWS = {"kernel_size": [2, 2], "dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]}
_PLANES = {"self": (1, 1, 2, 2), "grad_output": (1, 1, 3, 3), "output_size": [3, 3], "input_size": [1, 1, 2, 2]}
_LINES = {"self": (1, 1, 2), "grad_output": (1, 1, 3), "output_size": [3], "input_size": [1, 1, 2]}
_DEPTHS = {"self": (1, 1, 2, 2, 2), "grad_output": (1, 1, 3, 3, 3), "output_size": [3, 3, 3], "input_size": [1, 1, 2, 2, 2]}
_AREA = {"kernel_size": [2, 2], "stride": [1, 1], "padding": [0, 0], "ceil_mode": False, "count_include_pad": True}
_VOLUME = {"kernel_size": [2, 2, 2], "stride": [1, 1, 1], "padding": [0, 0, 0], "ceil_mode": False, "count_include_pad": True}
# Of more than one element each: to one, it is a mean.
_PARTS_OF_AREA = {
    **{"self": (1, 4, 4), "grad_output": (1, 2, 2), "output_size": [2, 2]},
    "indices": torch.zeros(1, 2, 2, dtype=torch.int64),
}
_PARTS_OF_VOLUME = {
    **{"self": (1, 4, 4, 4), "grad_output": (1, 2, 2, 2), "output_size": [2, 2, 2]},
    "indices": torch.zeros(1, 2, 2, 2, dtype=torch.int64),
}
_NORMALIZED = {
    **{"input": (2, 2, 3), "grad_out": (2, 2, 3), "weight": (2,), "bias": (2,), "training": True, "train": True},
    **{"N": 2, "C": 2, "HxW": 3, "group": 2, "eps": 1e-5, "momentum": 0.1, "output_mask": [True] * 3},
}
_DESCENT = {"momentum": 0.5, "dampening": 0.0, "nesterov": False, "grad_scale": None, "found_inf": None}
_MOMENTS = {
    "state_steps": lambda one: [torch.ones((), device=one.device) for _ in range(2)],
    **{"max_exp_avg_sqs": [], "amsgrad": False, "beta1": 0.5, "beta2": 0.5, "grad_scale": None, "found_inf": None},
}
_STATISTICS = {**{name: (2,) for name in ("running_mean", "running_var", "save_mean", "save_invstd")}, **_NORMALIZED}
_CLASSES = {"weight": None, "reduction": 1, "ignore_index": -100, "total_weight": ()}
_CONVOLUTION = {
    **{"self": (1, 1, 3, 3), "input": (1, 1, 3, 3), "weight": (1, 1, 2, 2), "bias": None, "stride": [1, 1], "padding": [0, 0]},
    **{"dilation": [1, 1], "transposed": False, "output_padding": [0, 0], "groups": 1},
}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("_adaptive_avg_pool2d", "adaptive_avg_pool2d", "adaptive_max_pool2d"), _PARTS_OF_AREA),
    **dict.fromkeys(("_adaptive_avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d"), _PARTS_OF_VOLUME),
    "_addmm_activation": {"self": (2, 4), "mat1": (2, 3), "mat2": (3, 4)},
    **dict.fromkeys(("_softmax", "_log_softmax"), {"half_to_float": False}),
    "_prelu_kernel": {"weight": (1,)},
    **dict.fromkeys(("_fused_adam", "_fused_adamw"), _MOMENTS),
    "_fused_adam_.tensor_lr": {**_MOMENTS, "lr": lambda one: torch.ones((), device=one.device)},
    "_fused_sgd_": _DESCENT,
    "_fused_sgd_.tensor_lr": {**_DESCENT, "lr": lambda one: torch.ones((), device=one.device)},
    **dict.fromkeys(("_fft_r2c", "_fft_c2c"), {"dim": [1], "normalization": 0, "onesided": True, "forward": True}),
    "_fft_c2r": {"self": (2, 3), "dim": [1], "normalization": 0, "last_dim_size": 4},
    **{f"_foreach_addc{kind}{form}.Tensor": {"scalars": torch.tensor([1.0, 2.0])} for kind in ("div", "mul") for form in ("", "_")},
    "as_strided": {"size": [2, 2], "stride": [2, 1], "storage_offset": 1},
    **dict.fromkeys(("linalg_solve_triangular", "triangular_solve", "inverse"), {"self": (1, 1), "A": (1, 1), "B": (1, 1)}),
    "scaled_dot_product_attention": {name: (1, 1, 2, 8) for name in ("query", "key", "value")},
    "view_as_complex": {"self": (3, 2)},
    **{f"{kind}_window": {"window_length": 5} for kind in ("hann", "hamming", "blackman", "bartlett")},
    "hardtanh": {"min_val": -1, "max_val": 3},
    "_pack_padded_sequence": {"lengths": torch.tensor([3, 2])},  # on the CPU, whatever the device
    "affine_grid_generator": {"theta": (1, 2, 3), "grad": (1, 2, 2, 2), "size": [1, 1, 2, 2], "align_corners": False},
    "avg_pool2d": {"self": (1, 3, 3), "grad_output": (1, 2, 2), **_AREA},
    "avg_pool3d": {"self": (1, 3, 3, 3), "grad_output": (1, 2, 2, 2), **_VOLUME},
    "addbmm": {"self": (2, 4), "batch1": (2, 2, 3), "batch2": (2, 3, 4)},
    "addmm": {"self": (2, 4), "mat1": (2, 3), "mat2": (3, 4)},
    "addmv": {"self": (2,), "mat": (2, 3), "vec": (3,)},
    "baddbmm": {"self": (2, 2, 4), "batch1": (2, 2, 3), "batch2": (2, 3, 4)},
    "bernoulli": {"self": (2, 3)},
    **dict.fromkeys(("_cdist_forward", "cdist"), {"x1": (2, 3), "x2": (4, 3), "p": 1.0, "compute_mode": None}),
    "_cdist_backward": {"grad": (2, 4), "x1": (2, 3), "x2": (4, 3), "p": 1.0, "cdist": (2, 4)},
    "bucketize": {"boundaries": (3,), "self": (2, 3)},
    "bucketize.Scalar": {"boundaries": (3,), "self": 1},
    "bernoulli_.Tensor": {"p": (2, 3)},
    "binary_cross_entropy": {"self": (3,), "target": (3,), "weight": None, "grad_output": ()},
    "bincount": {"self": (3,), "weights": None},
    "bmm": {"self": (2, 2, 3), "mat2": (2, 3, 4)},
    "col2im": {"self": (1, 4, 4), "output_size": [3, 3], **_WINDOWS},
    "convolution": _CONVOLUTION,
    "_convolution": {**_CONVOLUTION, "benchmark": False, "deterministic": False, "cudnn_enabled": False},
    "convolution_backward": {**_CONVOLUTION, "grad_output": (1, 1, 2, 2), "bias_sizes": [1], "output_mask": [True] * 3},
    "_slow_conv2d_forward": {**_CONVOLUTION, "kernel_size": [2, 2]},
    "_slow_conv2d_backward": {**_CONVOLUTION, "grad_output": (1, 1, 2, 2), "kernel_size": [2, 2], "output_mask": [True] * 3},
    "slow_conv_transpose2d": {**_CONVOLUTION, "kernel_size": [2, 2]},
    "_conv_depthwise2d": {**_CONVOLUTION, "kernel_size": [2, 2]},
    "conv_tbc": {"self": (3, 1, 1), "weight": (2, 1, 1), "bias": (1,), "pad": 0},
    "conv_tbc_backward": {"self": (2, 1, 1), "input": (3, 1, 1), "weight": (2, 1, 1), "bias": (1,), "pad": 0},
    "count_nonzero.dim_IntList": {"dim": [1]},
    "dot": {"self": (3,), "tensor": (3,)},
    "flip": {"dims": [0]},
    "glu": {"self": (2, 4), "grad_output": (2, 2)},
    "grid_sampler_2d": {
        **{"input": (1, 1, 2, 2), "grad_output": (1, 1, 2, 2), "grid": (1, 2, 2, 2)},
        **{"interpolation_mode": 0, "padding_mode": 0, "output_mask": [True, True]},
    },
    "grid_sampler_3d": {
        **{"input": (1, 1, 2, 2, 2), "grad_output": (1, 1, 2, 2, 2), "grid": (1, 2, 2, 2, 3)},
        **{"interpolation_mode": 0, "padding_mode": 0, "output_mask": [True, True]},
    },
    "max_unpool2d": {"self": (1, 2, 2), "indices": torch.zeros(1, 2, 2, dtype=torch.int64), "output_size": [4, 4]},
    "max_unpool3d": {
        **{"self": (1, 2, 2, 2), "indices": torch.zeros(1, 2, 2, 2, dtype=torch.int64), "output_size": [4, 4, 4]},
        **{"stride": [1, 1, 1], "padding": [0, 0, 0]},
    },
    "im2col": {"self": (1, 1, 3, 3), **_WINDOWS},
    "linalg_vector_norm": {"dtype": None},
    "logsumexp": {"dim": [1]},
    **dict.fromkeys(("native_batch_norm", "_native_batch_norm_legit"), _STATISTICS),
    "native_dropout": {"p": 0.5, "train": True},
    "native_group_norm": {"mean": (2, 2), "rstd": (2, 2), **_NORMALIZED},
    "native_layer_norm": {**_NORMALIZED, "normalized_shape": [3], "mean": (2, 2, 1), "rstd": (2, 2, 1), "weight": (3,), "bias": (3,)},
    "nll_loss": {"self": (3, 2), "target": torch.tensor([0, 1, 0]), "grad_output": (), **_CLASSES},
    "nll_loss2d": {"self": (1, 2, 1, 3), "target": torch.tensor([[[0, 1, 0]]]), "grad_output": (), **_CLASSES},
    "norm": {"dim": [1]},
    # The NPU's indices are a mask, but the CPU's where the CPU computes.
    "max_pool2d_with_indices": {
        **{"self": (1, 3, 3), "grad_output": (1, 2, 2), "dilation": [1, 1], **_AREA},
        "indices": lambda x: torch.ops.aten.max_pool2d_with_indices(x.new_ones(1, 3, 3), [2, 2], [1, 1])[1],
    },
    "max_pool3d_with_indices": {
        **{"self": (1, 3, 3, 3), "grad_output": (1, 2, 2, 2), "dilation": [1, 1, 1], **_VOLUME},
        "indices": lambda x: torch.ops.aten.max_pool3d_with_indices(x.new_ones(1, 3, 3, 3), [2, 2, 2], [1, 1, 1])[1],
    },
    "matmul": {"self": (2, 3), "other": (3, 4)},
    "mm": {"self": (2, 3), "mat2": (3, 4)},
    "multilabel_margin_loss": {"target": torch.tensor([[0, 1, -1], [2, 0, 0]]), "reduction": 1},
    "mv": {"self": (2, 3), "vec": (3,)},
    # A bool to the power of True is refused; every power would pay for the question.
    **dict.fromkeys(("pow.Tensor_Scalar", "pow.Tensor_Scalar_out", "pow_.Scalar"), {"exponent": 2}),
    "put_": {"accumulate": True},  # takes fewer dtypes than without
    "repeat_interleave": {"repeats": (1,)},
    "repeat_interleave.self_Tensor": {"repeats": INDICES[2][1:]},
    "roll": {"shifts": [1], "dims": [0]},
    "random_.from": {"from": 0, "to": 2},
    "scatter_reduce": {"reduce": "sum", "include_self": True},
    "searchsorted": {"sorted_sequence": (3,), "self": (2, 3), "sorter": None},
    "searchsorted.Scalar": {"sorted_sequence": (3,), "self": 1, "sorter": None},
    "slow_conv_dilated2d": {**_CONVOLUTION, "kernel_size": [2, 2]},
    "sort": {"stable": True},
    "split_with_sizes_copy": {"split_sizes": [1, 1]},
    "unfold_backward": {"grad_in": (2, 2, 2), "input_sizes": [2, 3], "dim": 1, "size": 2, "step": 1},
    **dict.fromkeys(("_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "upsample_bicubic2d"), _PLANES),
    **dict.fromkeys(("_upsample_nearest_exact3d", "upsample_nearest3d", "upsample_trilinear3d"), _DEPTHS),
    "upsample_bilinear2d": _PLANES,
    **dict.fromkeys(("upsample_linear1d", "upsample_nearest1d"), _LINES),
    "upsample_nearest2d": _PLANES,
    "vdot": {"self": (3,), "other": (3,)},
    **_PADS,
}


def _arguments(operator: torch._ops.OpOverload) -> dict[str, Any]:
    """Of _ARGUMENTS: of this overload, or of all of its kind: in place, with out=, the gradient."""
    name = operator.name().removeprefix("aten::")
    base = name.partition(".")[0]
    for key in (name, base, base.removesuffix("_"), base.removesuffix("_backward").removesuffix("_forward")):
        if key in _ARGUMENTS:
            return _ARGUMENTS[key]
    return {}


# The names of dims, which may be counted from behind.
_DIMS = frozenset("dim dims dim0 dim1 dimension".split())
_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
# Of a call: arguments by name. What can be called is given the dtype that is tried.
_Form = dict[str, Any]


def _forms(operator: torch._ops.OpOverload) -> Iterator[_Form]:
    """The forms of a call beside the first: one argument, or what hangs together, has another value."""
    called = operator._schema.name.partition("::")[2]
    if called.startswith("_") and not called.startswith("_foreach_"):
        return  # called by others, whose arguments it trusts
    arguments = [a for a in operator._schema.arguments if not a.is_out]
    given = _arguments(operator)
    names = {a.name for a in arguments}
    tensors = [a.name for a in arguments if str(a.type) == "Tensor" and a.name not in ("index", "indices", "mask", "condition")]
    writes = any(a.alias_info for a in arguments)
    takes_numbers = torch._C._should_allow_numbers_as_tensors(called) and not writes
    for argument in arguments:
        name, kind = argument.name, str(argument.type)
        if name in _DIMS:
            yield {name: -1 if kind in ("int", "SymInt", "Optional[int]") else [-1]}
        elif name == "reduce":
            for reduction in _REDUCTIONS:
                for include in (True, False):
                    yield {name: reduction, **({"include_self": include} if "include_self" in names else {})}
        elif name == "dtype":
            yield from ({name: value} for value in (None, torch.float32, torch.float64, torch.int64))
        elif name == "rounding_mode":
            yield from ({name: value} for value in (None, "floor"))
        elif kind in ("bool", "Optional[bool]") and name != "pin_memory":
            at_first = given.get(name, argument.default_value if argument.has_default_value() else _VALUES["bool"])
            yield from ({name: value} for value in (True, False) if value is not at_first)
        elif kind in ("number", "Optional[number]", "List[number]") and name not in given:
            yield from ({name: [value] * 2 if kind == "List[number]" else value} for value in (2.5, True))
        elif name in tensors[1:] and takes_numbers:
            yield from ({name: value} for value in (2, 2.5, True))
    if len(tensors) > 1 and torch.Tag.pointwise in operator.tags and not writes:
        yield from ({tensors[0]: value} for value in (_number_of, torch.tensor(1), torch.tensor(1.5)))


def _number_of(dtype: torch.dtype) -> torch.Tensor:
    """A number that lies on the CPU as a tensor."""
    return torch.ones(()).to(dtype)


def _value(argument: Any, dtype: torch.dtype, device: str, indices: torch.Tensor, given: dict[str, Any], form: _Form) -> Any:
    kind, name = str(argument.type), argument.name
    if name in form:
        return form[name](dtype) if form[name] is _number_of else form[name]
    if name in given:
        value = given[name]
        if isinstance(value, tuple):
            return torch.ones(value).to(dtype).to(device)
        if callable(value):  # of a tensor of the dtype that is tried
            return value(torch.ones(()).to(dtype).to(device))
        return value.to(device) if isinstance(value, torch.Tensor) and name not in ("lengths", "scalars") else value
    if kind == "List[Optional[Tensor]]":
        return [indices.to(device)]
    if kind == "Tensor" and name in ("index", "indices"):
        return indices.to(device)
    if name == "dtype":
        return dtype
    if name == "device":
        return torch.device(device)
    if name == "rounding_mode":
        return "trunc"
    if kind == "List[number]":
        return [1.0, 1.0] if dtype.is_floating_point or dtype.is_complex else [1, 1]
    if kind == "List[Tensor]":
        return [torch.tensor([1, 2]).to(dtype).to(device) for _ in range(2)]
    if "Tensor" in kind:
        if name in ("mask", "condition"):
            return torch.tensor([[True, False, True]]).to(device)
        if name == "value":
            return torch.tensor(1).to(dtype).to(device)
        return torch.tensor([[1, 2, 1], [1, 1, 2]]).to(dtype).to(device)
    if kind == "Optional[number]" and name in ("min", "max"):
        return 1
    if argument.has_default_value():
        return argument.default_value
    return _VALUES.get(kind)


def _result(operator: torch._ops.OpOverload, args: list[Any], kwargs: dict[str, Any], dtype: torch.dtype) -> Any:
    """What the CPU gives without out=, for its shape and dtype."""
    packet = operator.overloadpacket
    for overload in packet.overloads():
        other = getattr(packet, overload)
        if not any(a.is_out for a in other._schema.arguments):
            try:
                result = other(*args, **kwargs)
            except (RuntimeError, TypeError, NotImplementedError):
                continue
            return result if any(isinstance(a, torch.Tensor) for a in args) else result.to(dtype)
    shape = _arguments(operator).get("self", (2, 3)) if operator._schema.arguments[-1].name == "grad_input" else (2, 3)
    return torch.empty(shape, dtype=dtype)


def _call(operator: torch._ops.OpOverload, dtype: torch.dtype, device: str, indices: torch.Tensor, form: _Form) -> None:
    schema = operator._schema.arguments
    given = _arguments(operator)

    def values(place: str, **which: bool) -> dict[str, Any]:
        return {
            a.name: _value(a, dtype, place, indices, given, form)
            for a in schema
            if not a.is_out and a.kwarg_only == which["by_name"]
        }

    args, kwargs = values(device, by_name=False), values(device, by_name=True)
    outs = [a for a in schema if a.is_out]
    if outs:
        like = _result(operator, list(values("cpu", by_name=False).values()), values("cpu", by_name=True), dtype)
        for out, one in zip(outs, like if isinstance(like, tuple) else [like]):
            if str(out.type) == "List[Tensor]":
                kwargs[out.name] = [torch.empty_like(each, device=device) for each in one]
            else:
                kwargs[out.name] = torch.empty(one.shape, dtype=one.dtype).to(device)
    operator(*args.values(), **kwargs)
    if device != "cpu":
        torch.npu.synchronize()


# torch_npu's words for a number on the CPU, which many of its operators do not take, on an NPU either.
_OF_TWO_DEVICES = "same device"
# A list's tensors are taken one by one where CANN has no function for the list; then the operator of one of them falls back.
_OF_ONE_TENSOR = re.compile("call aclnn(?!Foreach)")


# torch_npu hands over no dilation; the indices, which are the NPU's, are not of the dtype that the CPU takes.
_COMPUTED_NOWHERE = dict.fromkeys(
    [
        "aten::max_pool3d_with_indices_backward.grad_input",
        "aten::adaptive_max_pool3d.out",
        "aten::adaptive_max_pool3d_backward",
        "aten::adaptive_max_pool3d_backward.grad_input",
    ],
    (torch.float32, torch.float16, torch.bfloat16),
)


def _is_refused(operator: torch._ops.OpOverload, dtype: torch.dtype, form: _Form) -> bool | None:
    """Whether the NPU refuses a call that the CPU computes; None where that does not."""
    if dtype in _COMPUTED_NOWHERE.get(operator.name(), ()):
        return None
    for indices in INDICES:
        try:
            _call(operator, dtype, "cpu", indices, form)
            break
        except Exception:  # not for the CPU either, at least not with such indices
            continue
    else:
        return None
    try:
        _call(operator, dtype, "npu", indices, form)
    except Exception as error:  # of CANN's function or of torch_npu
        is_of_one = operator.name().startswith("aten::_foreach_") and _OF_ONE_TENSOR.search(str(error))
        return _OF_TWO_DEVICES not in str(error) and not is_of_one
    return False


def refused(operators: Iterable[torch._ops.OpOverload]) -> dict[str, list[str]]:
    """By operator, the dtypes that the CPU takes for all of its tensors and that the NPU refuses, if need be in every form of a call."""
    found: dict[str, list[str]] = {}
    for operator in operators:
        for name, dtype in DTYPES.items():
            is_refused = _is_refused(operator, dtype, {})
            if is_refused is None:
                others = [_is_refused(operator, dtype, form) for form in _forms(operator)]
                is_refused = any(others) and False not in others
            if is_refused:
                found.setdefault(operator.name(), []).append(name)
    return found


def refused_forms(operators: Iterable[torch._ops.OpOverload], known: dict[str, list[str]]) -> dict[str, list[str]]:
    """By operator and form of a call, "aten::NAME(dim=-1)", the dtypes that are refused beside those known of the operator."""
    found: dict[str, list[str]] = {}
    for operator in operators:
        left = {name: dtype for name, dtype in DTYPES.items() if name not in known.get(operator.name(), ())}
        for form in _forms(operator):
            dtypes = [name for name, dtype in left.items() if _is_refused(operator, dtype, form)]
            if dtypes:
                shown = ", ".join(f"{k}={'a number on the CPU' if v is _number_of else v}" for k, v in form.items())
                found[f"{operator.name()}({shown})"] = dtypes
    return found


def overloads(names: Iterable[str]) -> list[torch._ops.OpOverload]:
    """The operators of these names, "aten::add.Tensor", that PyTorch has."""
    result = []
    for name in names:
        base, _, overload = name.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, base, None)
        if name.startswith("aten::") and packet is not None and (overload or "default") in packet.overloads():
            result.append(getattr(packet, overload or "default"))
    return result


def main() -> None:
    if "torch_npu" in sys.modules:
        raise SystemExit(__doc__)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    import portacl.torch
    from portacl.torch import _table

    # The CPU is not to compute what is looked for, but what rules in _refusals.py name.
    _table.Table.refused = lambda self, operator: []  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    import any_build  # noqa: F401
    import torch_npu  # where portacl is installed in this Python, it begins with this import

    portacl.torch.install()
    table = _table.Table(torch_npu.__version__.split("+")[0], _table.product())
    own = overloads(sorted(portacl.torch.own_operators()))
    found = refused(one for one in own if table.needs(one.name()))  # the others call operators, which then fall back
    print(json.dumps({name: " ".join(dtypes) for name, dtypes in found.items()}), flush=True)
    if "--other" in sys.argv:
        for call, dtypes in refused_forms(own, found).items():
            print(f"{call}: {' '.join(dtypes)}")


if __name__ == "__main__":
    main()
