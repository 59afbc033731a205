"""What a program puts into Megatron-core for an NPU, as MindSpeed does: fused parts by torch_npu's public functions, and ring attention.

transfer_to_npu renames torch.cuda, and has to come before Megatron.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import torch
import torch_npu
from torch_npu.contrib import transfer_to_npu  # noqa: F401

sys.path.append(str(Path(__file__).parents[1] / "pytorch_npu"))

from gpt import pieces, ranks  # noqa: E402
from megatron.core import parallel_state  # noqa: E402
from megatron.core.models.common.embeddings import rope_utils  # noqa: E402
from megatron.core.models.gpt import gpt_layer_specs  # noqa: E402
from megatron.core.transformer import transformer_block  # noqa: E402
from megatron.core.transformer.moe import grouped_gemm_util, moe_utils  # noqa: E402
from megatron.core.transformer.moe.experts import GroupedMLP  # noqa: E402

_type_of = torch.Tensor.type


def _type(self: torch.Tensor, *args: Any, **settings: Any) -> Any:
    """Names an NPU's tensor as the distributed optimizer expects it."""
    found = _type_of(self, *args, **settings)
    return found.replace("npu", "cuda") if isinstance(found, str) else found


def _rotated(t: torch.Tensor, angles: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return torch_npu.npu_rotary_mul(t, angles.cos().to(t.dtype), angles.sin().to(t.dtype))


class Norm(torch.nn.Module):
    def __init__(self, config: Any, hidden_size: int, eps: float = 1e-5, **_: Any):
        super().__init__()
        self.eps, self.weight = eps, torch.nn.Parameter(torch.ones(hidden_size))
        self.weight.sequence_parallel = config.sequence_parallel

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch_npu.npu_rms_norm(x, self.weight, epsilon=self.eps)[0]


class Attention(torch.nn.Module):
    """Flash attention of queries [S,B,N,D], over the ranks that hold parts of the sequences."""

    ranks: Any = None  # those of the process, made once

    def __init__(self, config: Any, **_: Any):
        super().__init__()

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: torch.Tensor, **_: Any) -> torch.Tensor:
        if Attention.ranks is None:
            sizes = (parallel_state.get_tensor_model_parallel_world_size(), parallel_state.get_context_parallel_world_size())
            Attention.ranks = ranks.Processes(ranks.Layout(*sizes, parallel_state.get_data_parallel_world_size()))
            Attention.mask = torch.ones(2048, 2048, dtype=torch.bool, device=query.device).triu(1)
        inputs = ([one.flatten(2)] for one in (query, key, value))
        return pieces.ring_attention(Attention.ranks, query.shape[2], Attention.mask, *inputs)[0]


class Experts(GroupedMLP):
    """The experts of a rank in two grouped products, with swiglu between them."""

    def forward(self, rows: torch.Tensor, tokens_per_expert: torch.Tensor, probs: torch.Tensor) -> tuple[torch.Tensor, None]:
        sizes = tokens_per_expert.to(rows.device)
        up = self.weight1.view(self.num_local_experts, self.config.hidden_size, -1)
        down = self.weight2.view(self.num_local_experts, -1, self.config.hidden_size)
        made = torch_npu.npu_swiglu(pieces.grouped_product(rows, up, sizes)) * probs[:, None]
        return pieces.grouped_product(made, down, sizes), None


def install() -> None:
    torch.Tensor.type = _type
    transformer_block.LayerNormImpl = Norm  # the last one
    rope_utils._apply_rotary_pos_emb_bshd = _rotated
    grouped_gemm_util.grouped_gemm = types.SimpleNamespace(ops=None)  # asked for, and not called
    moe_utils.te_general_gemm = None  # Megatron-core 0.16 names it without Transformer Engine, too


def layers(experts: int) -> Any:
    """The layers of Megatron-core with these parts in them."""
    spec = gpt_layer_specs.get_gpt_layer_local_spec(num_experts=experts, moe_grouped_gemm=True, normalization="RMSNorm")
    parts = spec.submodules
    parts.input_layernorm = parts.pre_mlp_layernorm = Norm
    parts.self_attention.submodules.core_attention = Attention
    parts.mlp.submodules.experts.module = Experts
    return spec
