"""Operators that only accelerators have in PyTorch, made of operators that every device has.

They are registered where PyTorch records gradients, so the gradient is that of what they are made of.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import _memory

_Tensor = torch.Tensor


def _with_bias(gates: _Tensor, bias: _Tensor | None) -> _Tensor:
    return gates if bias is None else gates + bias


def _thnn_fused_lstm_cell(
    input_gates: _Tensor,
    hidden_gates: _Tensor,
    cx: _Tensor,
    input_bias: _Tensor | None = None,
    hidden_bias: _Tensor | None = None,
) -> tuple[_Tensor, _Tensor, _Tensor]:
    gates = _with_bias(hidden_gates, hidden_bias) + _with_bias(input_gates, input_bias)
    ingate, forget, cell, outgate = gates.chunk(4, 1)
    cy = forget.sigmoid() * cx + ingate.sigmoid() * cell.tanh()
    hy = outgate.sigmoid() * cy.tanh()
    return hy, cy, gates.detach()  # the third is a work space for the fused gradient, which is not used


def _thnn_fused_gru_cell(
    input_gates: _Tensor,
    hidden_gates: _Tensor,
    hx: _Tensor,
    input_bias: _Tensor | None = None,
    hidden_bias: _Tensor | None = None,
) -> tuple[_Tensor, _Tensor]:
    input_reset, input_update, input_new = _with_bias(input_gates, input_bias).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset = (hidden_reset + input_reset).sigmoid()
    update = (hidden_update + input_update).sigmoid()
    new = (input_new + hidden_new * reset).tanh()
    return (hx - new) * update + new, input_gates.detach()


_FLASH = 1  # PyTorch's SDPBackend.FLASH_ATTENTION: on a CPU, the fused kernel


def scaled_dot_product_attention(
    query: _Tensor,
    key: _Tensor,
    value: _Tensor,
    attn_mask: _Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> _Tensor:
    """The way that PyTorch takes for the same tensors on the CPU: its fused kernel, or the formula."""
    seen = [_memory.on_cpu(t) if t.device.type == "npu" else t for t in (query, key, value)]
    mask = attn_mask
    if mask is not None and mask.device.type == "npu":
        mask = _memory.on_cpu(mask)
    choice = torch._fused_sdp_choice(*seen, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if choice == _FLASH and not (attn_mask is not None and attn_mask.requires_grad):
        if attn_mask is not None and attn_mask.dtype is torch.bool:
            zero = torch.zeros((), dtype=query.dtype, device=query.device)
            attn_mask = torch.where(attn_mask, zero, torch.full_like(zero, float("-inf")))
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
        )[0]
    return torch.ops.aten._scaled_dot_product_attention_math(
        query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


def one_(self: _Tensor) -> _Tensor:
    return self.fill_(1)


BY_NAME: dict[str, Callable[..., Any]] = {
    "aten::_thnn_fused_lstm_cell": _thnn_fused_lstm_cell,
    "aten::_thnn_fused_gru_cell": _thnn_fused_gru_cell,
    "aten::one_": one_,
    "aten::scaled_dot_product_attention": scaled_dot_product_attention,
}
