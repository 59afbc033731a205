"""Which dtypes an operator refuses that PyTorch's CPU kernel takes: found by calling it with each of them.

    TORCH_DEVICE_BACKEND_AUTOLOAD=0 python refused_dtypes.py
                          prints {operator: dtypes} for the own operators of torch_npu on the portacl in force

CANN's functions list the dtypes that they take, and torch_npu hands them over as they are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable
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
REFUSED = "error code is 161002"  # of a parameter

# What stands for an argument without a default, by its type.
_VALUES = {"number": 1, "int": 1, "float": 1.0, "bool": True, "List[int]": [2, 3], "List[number]": [1, 1], "SymInt": 2}


# Of indices, which are of as many dims as what they index or of one, whatever the operator.
INDICES = (torch.tensor([[0, 1, 0], [1, 1, 0]]), torch.tensor([0, 1, 0]), torch.tensor([0, 1]))

# Operators whose arguments hang together: a tuple is the shape of a tensor of the dtype that is tried, the rest are values.
_PADS = {
    f"{kind}_pad{dims}d": {"self": (1, *[4] * dims), "grad_output": (1, *[6] * dims), "padding": [1, 1] * dims}
    for kind in ("reflection", "replication")
    for dims in (1, 2)
}
_WINDOWS = {"kernel_size": [2, 2], "dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]}
_PLANES = {"self": (1, 1, 2, 2), "grad_output": (1, 1, 3, 3), "output_size": [3, 3], "input_size": [1, 1, 2, 2]}
_LINES = {"self": (1, 1, 2), "grad_output": (1, 1, 3), "output_size": [3], "input_size": [1, 1, 2]}
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
    "_fused_adamw": {"state_steps": lambda one: [torch.ones((), device=one.device) for _ in range(2)]},
    "_pack_padded_sequence": {"lengths": torch.tensor([3, 2])},  # on the CPU, whatever the device
    "affine_grid_generator": {"grad": (1, 2, 2, 2), "size": [1, 1, 2, 2], "align_corners": False},
    "avg_pool2d": {"self": (1, 3, 3), "grad_output": (1, 2, 2), **_AREA},
    "avg_pool3d": {"self": (1, 3, 3, 3), "grad_output": (1, 2, 2, 2), **_VOLUME},
    "addbmm": {"self": (2, 4), "batch1": (2, 2, 3), "batch2": (2, 3, 4)},
    "addmm": {"self": (2, 4), "mat1": (2, 3), "mat2": (3, 4)},
    "addmv": {"self": (2,), "mat": (2, 3), "vec": (3,)},
    "baddbmm": {"self": (2, 2, 4), "batch1": (2, 2, 3), "batch2": (2, 3, 4)},
    "bernoulli": {"self": (2, 3)},
    **dict.fromkeys(("_cdist_forward", "cdist"), {"x1": (2, 3), "x2": (4, 3), "p": 1.0, "compute_mode": None}),
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
    "grid_sampler_2d": {"input": (1, 1, 2, 2), "grid": (1, 2, 2, 2), "interpolation_mode": 0, "padding_mode": 0},
    "im2col": {"self": (1, 1, 3, 3), **_WINDOWS},
    "linalg_vector_norm": {"dtype": None},
    "logsumexp": {"dim": [1]},
    "native_batch_norm": {
        **{name: (2,) for name in ("running_mean", "running_var", "save_mean", "save_invstd")},
        **_NORMALIZED,
    },
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
    "put_": {"accumulate": True},  # takes fewer dtypes than without
    "repeat_interleave": {"repeats": (1,)},
    "repeat_interleave.self_Tensor": {"repeats": INDICES[2][1:]},
    "roll": {"shifts": [1], "dims": [0]},
    "scatter_reduce": {"reduce": "sum"},
    "searchsorted": {"sorted_sequence": (3,), "self": (2, 3), "sorter": None},
    "searchsorted.Scalar": {"sorted_sequence": (3,), "self": 1, "sorter": None},
    "slow_conv_dilated2d": {**_CONVOLUTION, "kernel_size": [2, 2]},
    "sort": {"stable": True},
    "split_with_sizes_copy": {"split_sizes": [1, 1]},
    "unfold_backward": {"grad_in": (2, 2, 2), "input_sizes": [2, 3], "dim": 1, "size": 2, "step": 1},
    "upsample_bicubic2d": _PLANES,
    "upsample_bilinear2d": _PLANES,
    "upsample_nearest1d": _LINES,
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


def _value(argument: Any, dtype: torch.dtype, device: str, indices: torch.Tensor, given: dict[str, Any]) -> Any:
    kind, name = str(argument.type), argument.name
    if name in given:
        value = given[name]
        if isinstance(value, tuple):
            return torch.ones(value).to(dtype).to(device)
        if callable(value):  # of a tensor of the dtype that is tried
            return value(torch.ones(()).to(dtype).to(device))
        return value.to(device) if isinstance(value, torch.Tensor) and name != "lengths" else value
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


def _result(operator: torch._ops.OpOverload, args: list[Any], dtype: torch.dtype) -> Any:
    """What the CPU gives without out=, for its shape and dtype."""
    packet = operator.overloadpacket
    for overload in packet.overloads():
        other = getattr(packet, overload)
        if not any(a.is_out for a in other._schema.arguments):
            try:
                result = other(*args)
            except (RuntimeError, TypeError, NotImplementedError):
                continue
            return result if any(isinstance(a, torch.Tensor) for a in args) else result.to(dtype)
    return torch.empty(2, 3, dtype=dtype)


def _call(operator: torch._ops.OpOverload, dtype: torch.dtype, device: str, indices: torch.Tensor) -> None:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    given = _arguments(operator)
    outs = {argument.name for argument in operator._schema.arguments if argument.is_out}
    for argument in operator._schema.arguments:
        if argument.is_out:
            host = [_value(a, dtype, "cpu", indices, given) for a in operator._schema.arguments if not a.kwarg_only]
            like = _result(operator, host, dtype)
            if isinstance(like, tuple):
                like = like[len(kwargs.keys() & outs)]
            if str(argument.type) == "List[Tensor]":
                kwargs[argument.name] = [torch.empty_like(one, device=device) for one in like]
            else:
                kwargs[argument.name] = torch.empty(like.shape, dtype=like.dtype).to(device)
        elif argument.kwarg_only:
            kwargs[argument.name] = _value(argument, dtype, device, indices, given)
        else:
            args.append(_value(argument, dtype, device, indices, given))
    operator(*args, **kwargs)
    if device != "cpu":
        torch.npu.synchronize()


def refused(operators: Iterable[torch._ops.OpOverload]) -> dict[str, list[str]]:
    """By operator, the dtypes that the CPU takes for all of its tensors and that the NPU refuses as a parameter."""
    found: dict[str, list[str]] = {}
    for operator in operators:
        for name, dtype in DTYPES.items():
            for indices in INDICES:
                try:
                    _call(operator, dtype, "cpu", indices)
                    break
                except Exception:  # not for the CPU either, at least not with such indices
                    continue
            else:
                continue
            try:
                _call(operator, dtype, "npu", indices)
            except RuntimeError as error:
                if REFUSED in str(error):
                    found.setdefault(operator.name(), []).append(name)
    return found


def overloads(names: Iterable[str]) -> list[torch._ops.OpOverload]:
    """The operators of these names, "aten::add.Tensor", that PyTorch has."""
    result = []
    for name in names:
        base, _, overload = name.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, base, None)
        if packet is not None and (overload or "default") in packet.overloads():
            result.append(getattr(packet, overload or "default"))
    return result


def main() -> None:
    if "torch_npu" in sys.modules:
        raise SystemExit(__doc__)
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    from portacl.torch import _table

    # Where portacl is installed in this Python it begins with torch_npu's import, and would have the CPU compute what is looked for.
    _table.Table.refused = lambda self, operator: []  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    import torch_npu

    table = _table.Table(torch_npu.__version__.split("+")[0], _table.product())
    present = _table.loaded_functions()
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1")
    own = [n for n in sorted(registered) if n.startswith("aten::") and table.needs(n) and not table.missing(table.needs(n), present)]
    print(json.dumps({name: " ".join(dtypes) for name, dtypes in refused(overloads(own)).items()}))


if __name__ == "__main__":
    main()
