"""What operators of torch_npu mean in float64, where PyTorch's CPU has no kernel for them: their formulas, made of PyTorch's own operators.

A formula returns what it has a meaning for; None stands for a result that is only kept for the gradient.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_Tensor = torch.Tensor


class NoMeaning(Exception):
    """The reason why a call has no float64 result."""


def _matmul_backward(grad: _Tensor, one: _Tensor, other: _Tensor, mask: list[bool]) -> list[_Tensor | None]:
    return _gradients(torch.matmul, grad, [one, other], mask)


def _gradients(function: Callable[..., _Tensor], grad: _Tensor, inputs: list[_Tensor], wanted: list[bool]) -> list[_Tensor | None]:
    with torch.enable_grad():
        leaves = [tensor.detach().requires_grad_(want) for tensor, want in zip(inputs, wanted)]
        found = iter(torch.autograd.grad(function(*leaves), [leaf for leaf in leaves if leaf.requires_grad], grad))
        return [next(found) if want else None for want in wanted]


_REDUCTIONS = ("none", "mean", "sum")


def _l1_loss_backward(grad: _Tensor, one: _Tensor, target: _Tensor, reduction: int) -> list[_Tensor | None]:
    def loss(x: _Tensor) -> _Tensor:
        return torch.nn.functional.l1_loss(x, target, reduction=_REDUCTIONS[reduction])

    return _gradients(loss, grad, [one], [True])


def _kl_div_backward(grad: _Tensor, one: _Tensor, target: _Tensor, reduction: int = 1, *, log_target: bool = False) -> list[_Tensor | None]:
    def loss(x: _Tensor) -> _Tensor:
        return torch.nn.functional.kl_div(x, target, reduction=_REDUCTIONS[reduction], log_target=log_target)

    return _gradients(loss, grad, [one], [True])


def _attention(query: _Tensor, key: _Tensor, value: _Tensor, mask: _Tensor | None, scale: float) -> _Tensor:
    groups = query.shape[1] // key.shape[1]
    key, value = (tensor.repeat_interleave(groups, 1) for tensor in (key, value))
    scores = query @ key.transpose(-1, -2) * scale
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return scores.softmax(-1).nan_to_num() @ value


def _mask(query: _Tensor, key: _Tensor, given: dict[str, Any]) -> _Tensor | None:
    """Returns the mask of keys that a query does not see. Raises NoMeaning for anything but given masks and causal ones."""
    if given.get("input_layout", "") != "BNSD":
        raise NoMeaning("its formula is known here for the layout BNSD alone")
    others = ("pse", "padding_mask", "prefix", "actual_seq_qlen", "actual_seq_kvlen", "sink")
    if any(given.get(name) is not None for name in others) or given.get("keep_prob", 1.0) != 1.0:
        raise NoMeaning(f"its formula is known here without {', '.join(others)} and dropout alone")
    mask, mode = given.get("atten_mask"), given.get("sparse_mode", 0)
    if mode == 0 and given.get("next_tockens", 0) >= key.shape[2] and given.get("pre_tockens", 0) >= query.shape[2]:
        return None if mask is None else mask.bool()
    if mode in (2, 3):
        shift = 0 if mode == 2 else key.shape[2] - query.shape[2]
        return torch.ones(query.shape[2], key.shape[2]).triu(1 + shift).bool()
    raise NoMeaning(f"its formula is not known here for sparse_mode {mode} with these tokens")


_FORWARD = "query key value head_num input_layout pse padding_mask atten_mask scale keep_prob pre_tockens next_tockens".split()


def _fusion_attention(*args: Any, **kwargs: Any) -> list[_Tensor | None]:
    given = {**dict(zip(_FORWARD, args)), **kwargs}
    if len(args) > len(_FORWARD):
        names = ("inner_precise", "prefix", "actual_seq_qlen", "actual_seq_kvlen", "sparse_mode")
        given.update(zip(names, args[len(_FORWARD) :]))
    query, key, value = given["query"], given["key"], given["value"]
    return [_attention(query, key, value, _mask(query, key, given), given.get("scale", 1.0))]


def _fusion_attention_grad(
    query: _Tensor, key: _Tensor, value: _Tensor, dy: _Tensor, head_num: int, layout: str, **given: Any
) -> list[_Tensor | None]:
    mask = _mask(query, key, {**given, "input_layout": layout})

    def forward(q: _Tensor, k: _Tensor, v: _Tensor) -> _Tensor:
        return _attention(q, k, v, mask, given.get("scale_value", 1.0))

    return _gradients(forward, dy, [query, key, value], [True] * 3)


BY_NAME: dict[str, Callable[..., list[_Tensor | None]]] = {
    "aten::matmul_backward": _matmul_backward,
    "npu::l1_loss_backward": _l1_loss_backward,
    "npu::kl_div_backward": _kl_div_backward,
    "npu::npu_fusion_attention": _fusion_attention,
    "npu::npu_fusion_attention_v3": _fusion_attention,
    "npu::npu_fusion_attention_grad": _fusion_attention_grad,
    "npu::npu_fusion_attention_grad_v3": _fusion_attention_grad,
}
