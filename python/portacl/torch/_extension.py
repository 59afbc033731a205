"""The operators of vllm_ascend_C, vllm-ascend's extension, where it does not load: torch.ops._C_ascend.

The extension is built for one version of PyTorch. Its file holds the signatures of
its operators, which differ from version to version, as text; they are read from there. An operator is computed by the function of
CANN that the extension would call, or made of PyTorch's operators where it is a kernel of the extension. The others raise
NotImplementedError with their names. Where the extension loads, only its kernels are replaced.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from . import _native

NAMESPACE = "_C_ascend"
_SIGNATURE = re.compile(rb"(?<=\0)([a-z]\w*)\([^\0()]*(?:\([^\0()]*\)[^\0()]*)*\) *-> *[^\0]+(?=\0)")
_libraries: list[torch.library.Library] = []

# Operators that are torch_npu's as well, by the same function of CANN: its name, and arguments that are called otherwise there.
_TWINS: dict[str, tuple[str, dict[str, str]]] = {
    "moe_gating_top_k": ("npu_moe_gating_top_k", {"bias_opt": "bias"}),
    "npu_apply_top_k_top_p": ("npu_top_k_top_p", {}),
    "npu_gemma_rms_norm": ("npu_gemma_rms_norm", {"x": "input"}),
    "npu_lightning_indexer": ("npu_lightning_indexer", {}),
    "npu_moe_init_routing_custom": ("npu_moe_init_routing_v2", {}),
    "npu_recurrent_gated_delta_rule": ("npu_recurrent_gated_delta_rule", {}),
    "npu_sparse_flash_attention": ("npu_sparse_flash_attention", {}),
}
# What the function does where the extension has no argument for it, and torch_npu has one with another default.
_FIXED = {"npu_sparse_flash_attention": {"attention_mode": 2}}
_Kernel = Callable[..., Any]


def define(file: str, why: str) -> None:
    """Defines what the extension in this file would. `why`: the reason for which it does not load.

    Raises ValueError for a file without signatures of operators, or with one that this PyTorch does not read.
    """
    signatures = read_signatures(Path(file).read_bytes())
    if not signatures:
        raise ValueError(f"{file} has no signatures of operators")
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    try:
        computed = sum(_define(library, name, signature, why) for name, signature in signatures.items())
    except RuntimeError as error:
        library._destroy()
        raise ValueError(f"{file}: {error}") from error
    _libraries.append(library)
    warnings.warn(
        f"vllm-ascend's extension does not load ({why}); of its {len(signatures)} operators portacl computes {computed}, "
        "and the others raise NotImplementedError",
        RuntimeWarning,
        stacklevel=2,
    )


def _define(library: torch.library.Library, name: str, signature: str, why: str) -> bool:
    """Defines one operator; returns whether it is computed."""
    library.define(signature)
    kernel = _kernel(name)
    if kernel is None:
        reason = f"vllm-ascend's extension, whose operator {NAMESPACE}::{name} is, does not load ({why})"
        library.impl(name, functools.partial(_refuse, reason), "CompositeExplicitAutograd")
        return False
    library.impl(name, kernel, "CompositeExplicitAutograd" if name in _TWINS else "PrivateUse1")
    if name in _SHAPES:
        library.impl(name, _SHAPES[name], "Meta")
    return True


def read_signatures(data: bytes) -> dict[str, str]:
    """Returns the signatures of operators among the texts of a file, by name."""
    return {match[1].decode(): re.sub(r"\s+", " ", match[0].decode()) for match in _SIGNATURE.finditer(data)}


def replace_kernels() -> None:
    """Of an extension that loaded, puts what is computed here in the place of its kernels, which are machine code of a device."""
    library = torch.library.Library(NAMESPACE, "IMPL", "PrivateUse1")
    _libraries.append(library)
    for name in _OWN_KERNELS:
        if hasattr(getattr(torch.ops, NAMESPACE), name):
            reason = f"{NAMESPACE}::{name} is a kernel of vllm-ascend's extension, machine code of a device that is not there"
            library.impl(name, _KERNELS.get(name) or functools.partial(_refuse, reason))


def _refuse(reason: str, /, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(f"{reason}, and portacl has no function for it")


def _kernel(name: str) -> _Kernel | None:
    if name in _KERNELS:
        return _KERNELS[name]
    if name not in _TWINS:
        return None
    twin, renamed = _TWINS[name]
    try:
        operator = getattr(torch.ops.npu, twin).default
        here = getattr(torch.ops, NAMESPACE)
        schema = getattr(here, name).default._schema
    except AttributeError:  # a torch_npu without it
        return None
    taken = {argument.name for argument in operator._schema.arguments}
    ordered = [argument.name for argument in schema.arguments]
    defaults = {argument.name: argument.default_value for argument in schema.arguments}
    results = len(schema.returns)
    fixed = {one: value for one, value in _FIXED.get(name, {}).items() if one in taken}

    def call(*args: Any, **kwargs: Any) -> Any:
        # An argument that PyTorch leaves out has the extension's default, which may be another than torch_npu's.
        given = {one: value for one, value in (fixed | defaults).items() if value is not None}
        given.update(zip(ordered, args), **kwargs)
        named = {renamed.get(one, one): value for one, value in given.items() if value is not None}
        unknown = [one for one in named if one not in taken]
        if unknown:
            raise NotImplementedError(f"{NAMESPACE}::{name}: {twin} of torch_npu, which computes it, takes no {', '.join(unknown)}")
        outputs = operator(**named)
        if isinstance(outputs, torch.Tensor):
            return outputs
        return outputs[0] if results == 1 else tuple(outputs[:results])

    return call


# ---- by a function of CANN that torch_npu does not call ----


def _add_rms_norm_bias_shapes(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor | None = None, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    kept = x1.dim() - gamma.dim()
    rows = [*x1.shape[:kept], *[1] * gamma.dim()]
    return torch.empty_like(x1), torch.empty(rows, dtype=torch.float32, device=x1.device), torch.empty_like(x1)


def _add_rms_norm_bias(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor | None = None, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    y, rstd, x = _add_rms_norm_bias_shapes(x1, x2, gamma, beta, epsilon)
    _native.call("aclnnAddRmsNormBias", x1, x2, gamma, beta, epsilon, y, rstd, x)
    return y, rstd, x


# ---- kernels of the extension ----


def _batch_matmul_transpose(
    tensor_a: torch.Tensor,
    tensor_b: torch.Tensor,
    tensor_c: torch.Tensor,
    format_mode: str | None = None,
    quant_mode: str | None = None,
) -> None:
    """Multiplies [rows, batch, k] by [batch, k, columns]; writes [rows, batch, columns]."""
    tensor_c.copy_(torch.bmm(tensor_a.transpose(0, 1), tensor_b).transpose(0, 1).view_as(tensor_c))


def _get_masked_input_and_mask(
    input: torch.Tensor,
    org_vocab_start_index: int,
    org_vocab_end_index: int,
    num_org_vocab_padding: int,
    added_vocab_start_index: int,
    added_vocab_end_index: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Maps tokens to the rows of this process's part of the embedding; others become 0, and true in the mask."""
    original = (input >= org_vocab_start_index) & (input < org_vocab_end_index)
    added = (input >= added_vocab_start_index) & (input < added_vocab_end_index)
    width = org_vocab_end_index - org_vocab_start_index + num_org_vocab_padding
    offset = original * org_vocab_start_index + added * (added_vocab_start_index - width)
    valid = original | added
    return (valid * (input - offset)).to(input.dtype), ~valid


def _of_rows(weight: torch.Tensor, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The adapter of each row, [rows, out, in], and which rows have one: an index of -1 is none."""
    if weight.dim() == 4:  # [adapters, 1, out, in]
        weight = weight.squeeze(1)
    has = indices >= 0
    return weight[indices.clamp(min=0).long()], has


def _product(x: torch.Tensor, weight: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    of_rows, has = _of_rows(weight, indices)
    product = torch.bmm(of_rows.float(), x.float().unsqueeze(-1)).squeeze(-1)
    return product * has.unsqueeze(-1)


def _rows_of(indices: torch.Tensor, seq_len: torch.Tensor) -> torch.Tensor:
    return torch.repeat_interleave(indices, seq_len.to(indices.dtype))


def _bgmv_shrink(x: torch.Tensor, weight: torch.Tensor, indices: torch.Tensor, y: torch.Tensor, scale: float) -> None:
    """Adds scale * weight[indices] @ x to y, for each row."""
    y += (_product(x, weight, indices) * scale).to(y.dtype)


def _bgmv_expand(
    x: torch.Tensor, weight: torch.Tensor, indices: torch.Tensor, y: torch.Tensor, slice_offset: int, slice_size: int
) -> torch.Tensor:
    """Adds weight[indices] @ x to a slice of the columns of y, for each row."""
    into = y[:, slice_offset : slice_offset + slice_size]
    into.copy_((into.float() + _product(x, weight, indices)).to(y.dtype))
    return y


def _sgmv_shrink(
    x: torch.Tensor, weight: torch.Tensor, lora_indices: torch.Tensor, seq_len: torch.Tensor, y: torch.Tensor, scale: float
) -> None:
    _bgmv_shrink(x, weight, _rows_of(lora_indices, seq_len), y, scale)


def _sgmv_expand(
    x: torch.Tensor,
    weight: torch.Tensor,
    lora_indices: torch.Tensor,
    seq_len: torch.Tensor,
    y: torch.Tensor,
    slice_offset: int,
    slice_size: int,
) -> torch.Tensor:
    return _bgmv_expand(x, weight, _rows_of(lora_indices, seq_len), y, slice_offset, slice_size)


_KERNELS: dict[str, _Kernel] = {
    "batch_matmul_transpose": _batch_matmul_transpose,
    "bgmv_expand": _bgmv_expand,
    "bgmv_shrink": _bgmv_shrink,
    "get_masked_input_and_mask": _get_masked_input_and_mask,
    "npu_add_rms_norm_bias": _add_rms_norm_bias,
    "sgmv_expand": _sgmv_expand,
    "sgmv_shrink": _sgmv_shrink,
}
_OWN_KERNELS = (
    *("batch_matmul_transpose", "bgmv_expand", "bgmv_shrink", "get_masked_input_and_mask"),
    *("mla_preprocess", "sgmv_expand", "sgmv_shrink"),
)
# What the traces of torch.compile need; vllm-ascend itself registers it for the kernels of the extension.
_SHAPES: dict[str, _Kernel] = {
    "npu_add_rms_norm_bias": _add_rms_norm_bias_shapes,
    "batch_matmul_transpose": lambda *_, **__: None,
}
