"""Experts and quantisers of torch_npu on tensors without memory: shapes and dtypes of fake tensors beside those of the device, torch.export."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

N, K, E, H = 9, 2, 4, 64
SIZES = (5, 0, 9, 4)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def _experts():
    return torch.stack([torch.randperm(E)[:K] for _ in range(N)]).int()


def _map():
    return torch.zeros(N, E, dtype=torch.bool).scatter_(1, _experts().long(), True)


def _places():
    return torch.argsort(torch.argsort(_experts().flatten(), stable=True)).int()


def _whole(*shape):
    return torch.randint(-9, 9, shape, dtype=torch.int8)


def _half(*shape):
    return torch.randn(*shape).bfloat16()


# What each call takes: tensors of the CPU, then keywords.
CALLS = {
    "npu_moe_gating_top_k": ((torch.randn(N, 16), 4), {"k_group": 2, "group_count": 4, "norm_type": 1}),
    "npu_moe_gating_top_k_softmax": ((_half(N, E),), {"k": K}),
    "npu_moe_gating_top_k_softmax_v2": ((_half(N, E),), {"k": K}),
    "npu_moe_init_routing": ((_half(N, H), torch.arange(N * K, dtype=torch.int32).view(K, N).T.contiguous(), _experts(), N), {}),
    "npu_moe_init_routing_v2": (
        (_half(N, H), _experts()),
        {
            "active_num": N * K, "expert_num": E, "expert_tokens_num_type": 1, "expert_tokens_num_flag": True, "active_expert_range": [0, E],
            "quant_mode": 1, "row_idx_type": 0,
        },
    ),
    "npu_moe_finalize_routing": ((_half(N * K, H), _half(N, H), None, _half(E, H), _half(N, K), _places(), _experts()), {}),
    "npu_moe_compute_expert_tokens": ((_experts().flatten().sort().values.int(), E), {}),
    "npu_moe_re_routing": ((_half(7, H), torch.tensor([[2, 1, 0], [1, 0, 3]])), {"per_token_scales": torch.rand(7)}),
    "npu_moe_token_permute": ((_half(N, H), _experts()), {}),
    "npu_moe_token_unpermute": ((_half(N * K, H), _places(), _half(N, K)), {}),
    "npu_moe_token_permute_with_routing_map": ((_half(N, H), _map()), {"num_out_tokens": N * K}),
    "npu_grouped_matmul": (
        ([_half(18, H)], [_half(E, H, 32)]),
        {"group_list": torch.tensor(SIZES), "group_list_type": 1, "split_item": 3, "group_type": 0},
    ),
    "npu_grouped_matmul_swiglu_quant_v2": (
        (_whole(18, H), [_whole(E, H, 32)], [torch.rand(E, 32)], torch.rand(18), torch.tensor(SIZES).cumsum(0)),
        {},
    ),
    "npu_dynamic_quant": ((_half(N, H),), {}),
    "npu_dynamic_quant_asymmetric": ((_half(N, H),), {}),
    "npu_dynamic_block_quant": ((_half(N, 300),), {"row_block_size": 1, "col_block_size": 128}),
    "npu_quantize": ((_half(N, H), _half(H), _half(H), torch.qint8, -1, False), {}),
    "npu_anti_quant": ((_whole(N, H), torch.rand(H)), {"dst_dtype": torch.float16}),
    "npu_group_quant": ((_half(N, H), _half(2, H), torch.tensor([3, N], dtype=torch.int32)), {"dst_dtype": torch.qint8}),
    "npu_kronecker_quant": ((_half(3, 4, 8), _half(4, 4), _half(8, 8), 1.0), {}),
    "npu_rotate_quant": ((_half(N, 128), _half(32, 32)), {}),
    "npu_add_rms_norm_dynamic_quant": ((_half(N, H), _half(N, H), _half(H)), {"output_mask": [True, False]}),
    "npu_add_rms_norm_quant": ((_half(N, H), _half(N, H), _half(H), _half(H), _half(H)), {}),
    "npu_dequant_swiglu_quant": (
        (torch.randint(-500, 500, (N, 2 * H), dtype=torch.int32),),
        {"weight_scale": torch.rand(2 * H), "activation_scale": torch.rand(N), "activate_left": True, "quant_mode": 1},
    ),
    "npu_swiglu_quant": ((_half(N, 2 * H),), {"activate_left": True, "quant_mode": 1}),
    "npu_dequant_bias": ((torch.randint(-500, 500, (N, H), dtype=torch.int32), torch.rand(H), torch.rand(N), None), {"output_dtype": torch.float16}),
    "npu_quant_matmul": ((_whole(N, H), _whole(H, 32), torch.rand(32)), {"pertoken_scale": torch.rand(N), "output_dtype": torch.bfloat16}),
    "npu_weight_quant_batchmatmul": ((_half(N, H), _whole(H, 32), _half(32)), {}),
}


def _described(result):
    """Shapes and dtypes, of tensors that hold something."""
    leaves = result if isinstance(result, (list, tuple)) else [result]
    return [(tuple(leaf.shape), leaf.dtype, leaf.device.type) for leaf in leaves if leaf is not None and leaf.numel() > 1]


@pytest.mark.parametrize("name", CALLS)
def test_fake_tensors_are_like_real_ones(name):
    args, keywords = tree_map_only(torch.Tensor, lambda tensor: tensor.npu(), CALLS[name])
    function = getattr(torch_npu, name)
    real = function(*args, **keywords)
    with FakeTensorMode() as mode:
        args, keywords = tree_map_only(torch.Tensor, mode.from_tensor, (args, keywords))
        fake = function(*args, **keywords)
    assert _described(fake) == _described(real)


class Layer(torch.nn.Module):
    """A layer of experts, in whole numbers where it has scales of weights."""

    def __init__(self, is_int8):
        super().__init__()
        up, down = torch.randn(E, H, 2 * H) / H**0.5, torch.randn(E, H, H) / H**0.5
        self.choice = torch.nn.Parameter(torch.randn(H, E).bfloat16())
        self.scales = [None, None]
        if is_int8:
            self.scales = [(weight.abs().amax(1) / 127).npu().bfloat16() for weight in (up, down)]
            up, down = ((weight / (weight.abs().amax(1, keepdim=True) / 127)).round().to(torch.int8) for weight in (up, down))
        else:
            up, down = up.bfloat16(), down.bfloat16()
        self.up, self.down = (torch.nn.Parameter(weight, requires_grad=False) for weight in (up, down))

    def product(self, rows, weight, scale, sizes):
        more = {}
        if scale is not None:
            rows, step = torch_npu.npu_dynamic_quant(rows)
            more = {"scale": [scale], "per_token_scale": [step], "output_dtype": torch.bfloat16}
        return torch_npu.npu_grouped_matmul([rows], [weight], group_list=sizes, group_list_type=1, split_item=3, group_type=0, **more)[0]

    def forward(self, x):
        shares, experts, _ = torch_npu.npu_moe_gating_top_k_softmax(x @ self.choice, k=K)
        rows, places = torch_npu.npu_moe_token_permute(x, experts)
        sizes = (experts.flatten()[:, None] == torch.arange(E, device=x.device)).sum(0)
        gated = torch_npu.npu_swiglu(self.product(rows, self.up, self.scales[0], sizes), dim=-1)
        return torch_npu.npu_moe_token_unpermute(self.product(gated, self.down, self.scales[1], sizes), places, shares)


@pytest.mark.parametrize("is_int8", [False, True], ids=["bf16", "int8"])
def test_a_layer_of_experts_is_exported(is_int8):
    layer, x = Layer(is_int8).npu(), _half(N, H).npu()
    with torch.no_grad():
        exported = torch.export.export(layer, (x,))
        called = {node.target.name() for node in exported.graph.nodes if node.op == "call_function" and hasattr(node.target, "name")}
        assert {"npu::npu_moe_token_permute", "npu::npu_grouped_matmul"} <= called
        assert torch.equal(exported.module()(x), layer(x))
