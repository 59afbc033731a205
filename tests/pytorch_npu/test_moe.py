"""Routing to experts: torch_npu's npu_moe_* on the device beside plain formulas of PyTorch on the CPU, gradients and meta tensors."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
OPERATORS = (
    "_npu_moe_token_unpermute", "_npu_moe_token_unpermute_with_routing_map", "npu_moe_compute_expert_tokens", "npu_moe_finalize_routing",
    "npu_moe_gating_top_k", "npu_moe_gating_top_k_softmax", "npu_moe_gating_top_k_softmax_v2", "npu_moe_init_routing",
    "npu_moe_init_routing_quant", "npu_moe_init_routing_v2", "npu_moe_re_routing", "npu_moe_token_permute",
    "npu_moe_token_permute_grad", "npu_moe_token_permute_with_routing_map", "npu_moe_token_permute_with_routing_map_grad",
    "npu_moe_token_unpermute", "npu_moe_token_unpermute_grad", "npu_moe_token_unpermute_with_routing_map_grad",
)
N, K, E, H = 9, 2, 5, 24


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def chosen(n=N, k=K, experts=E):
    return torch.stack([torch.randperm(experts)[:k] for _ in range(n)]).int()


@pytest.mark.parametrize("name", OPERATORS)
def test_is_own(name):
    assert f"npu::{name}" in portacl.torch.own_operators()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_permute_and_unpermute_with_gradients(dtype):
    x = torch.randn(N, H).to(dtype)
    experts = chosen()
    probs = torch.rand(N, K).to(dtype)
    device = x.npu().requires_grad_()
    device_probs = probs.npu().requires_grad_()
    permuted, index = torch_npu.npu_moe_token_permute(device, experts.npu())
    order = torch.argsort(experts.flatten(), stable=True)
    assert torch.equal(permuted.detach().cpu(), x[order // K])
    assert torch.equal(index.cpu().long(), torch.argsort(order))
    result = torch_npu.npu_moe_token_unpermute(permuted, index, device_probs)
    host = x.float().requires_grad_()
    host_probs = probs.float().requires_grad_()
    want = (host[:, None, :] * host_probs[:, :, None]).sum(1)
    torch.testing.assert_close(result.detach().cpu(), want.detach().to(dtype))
    weight = torch.randn(N, H).to(dtype)
    (result * weight.npu()).sum().backward()
    (want * weight.float()).sum().backward()
    torch.testing.assert_close(device.grad.cpu().float(), host.grad, rtol=2e-2 if dtype != torch.float32 else 1e-5, atol=2e-2)
    torch.testing.assert_close(device_probs.grad.cpu().float(), host_probs.grad, rtol=2e-2 if dtype != torch.float32 else 1e-5, atol=2e-2)


def test_routing_map_with_gradients():
    x = torch.randn(N, H)
    experts = chosen().long()
    mask = torch.zeros(N, E, dtype=torch.bool).scatter_(1, experts, True)
    probs = torch.rand(N, E) * mask
    device = x.npu().requires_grad_()
    permuted, _, index = torch_npu.npu_moe_token_permute_with_routing_map(device, mask.npu(), num_out_tokens=N * K)
    tokens = torch.arange(N).expand(E, -1)[mask.T]
    assert torch.equal(permuted.detach().cpu(), x[tokens])
    device_probs = probs.npu().requires_grad_()
    result = torch_npu.npu_moe_token_unpermute_with_routing_map(permuted, index, x.shape, probs=device_probs, routing_map=mask.npu())
    host = x.clone().requires_grad_()
    host_probs = probs.clone().requires_grad_()
    want = host * (host_probs * mask).sum(1, keepdim=True)
    torch.testing.assert_close(result.detach().cpu(), want.detach())
    weight = torch.randn(N, H)
    (result * weight.npu()).sum().backward()
    (want * weight).sum().backward()
    torch.testing.assert_close(device.grad.cpu(), host.grad)
    torch.testing.assert_close(device_probs.grad.cpu(), host_probs.grad)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gating(dtype):
    x = torch.randn(N, 16).to(dtype)
    bias = torch.randn(16).to(dtype)
    y, which, _ = torch_npu.npu_moe_gating_top_k(x.npu(), 4, bias=bias.npu(), k_group=2, group_count=4, group_select_mode=1, norm_type=1)
    score = x.float().sigmoid()
    groups = (score + bias.float()).view(N, 4, 4)
    best = groups.topk(2, dim=-1).values.sum(-1).topk(2, dim=-1).indices
    kept = torch.zeros(N, 4, dtype=torch.bool).scatter_(1, best, True)[:, :, None].expand_as(groups).reshape(N, 16)
    want = (score + bias.float()).masked_fill(~kept, -torch.inf).topk(4).indices
    assert torch.equal(which.cpu().long(), want)
    values = score.gather(1, want)
    torch.testing.assert_close(y.cpu(), (values / values.sum(1, keepdim=True)).to(dtype))


def test_gating_softmax():
    x = torch.randn(N, 8)
    y, which, rows = torch_npu.npu_moe_gating_top_k_softmax(x.npu(), k=3)
    values, places = x.softmax(-1).topk(3)
    torch.testing.assert_close(y.cpu(), values)
    assert torch.equal(which.cpu().long(), places)
    assert torch.equal(rows.cpu().long(), torch.arange(3 * N).view(3, N).T)


def test_init_and_finalize_routing():
    x, experts, scales, bias = torch.randn(N, H), chosen(), torch.rand(N, K), torch.randn(E, H)
    rows = torch.arange(N * K, dtype=torch.int32).view(K, N).T.contiguous()
    expanded, row_index, sorted_experts = torch_npu.npu_moe_init_routing(x.npu(), rows.npu(), experts.npu(), N)
    assert torch.equal(sorted_experts.cpu(), experts.flatten().sort().values)
    counts = torch_npu.npu_moe_compute_expert_tokens(sorted_experts, E)
    assert torch.equal(counts.cpu().long(), torch.bincount(experts.flatten(), minlength=E).cumsum(0))
    result = torch_npu.npu_moe_finalize_routing(expanded, torch.zeros(N, H).npu(), None, bias.npu(), scales.npu(), row_index, experts.npu())
    want = ((x[:, None, :] + bias[experts.long()]) * scales[:, :, None]).sum(1)
    torch.testing.assert_close(result.cpu(), want)


@pytest.mark.parametrize("quant_mode", [-1, 1])
def test_init_routing_of_a_range(quant_mode):
    x, experts = torch.randn(N, H), chosen()
    expanded, row_index, counts, scale = torch_npu.npu_moe_init_routing_v2(
        x.npu(), experts.npu(), active_num=N * K, expert_num=E, expert_tokens_num_type=1, expert_tokens_num_flag=True,
        active_expert_range=[1, 4], quant_mode=quant_mode)
    flat = experts.flatten().long()
    order = torch.argsort(flat, stable=True)
    order = order[(flat[order] >= 1) & (flat[order] < 4)]
    want = torch.full((N * K,), -1, dtype=torch.int32)
    want[order] = torch.arange(len(order), dtype=torch.int32)
    assert torch.equal(row_index.cpu(), want)
    assert torch.equal(counts.cpu(), torch.bincount(flat, minlength=E)[1:4])
    rows = x[order // K]
    if quant_mode == -1:
        assert torch.equal(expanded.cpu()[: len(order)], rows)
    else:
        step = rows.abs().amax(1) / 127
        torch.testing.assert_close(scale.cpu()[: len(order)], step)
        assert ((rows / step[:, None]) - expanded.cpu()[: len(order)]).abs().max() <= 0.51


def test_re_routing():
    counts = torch.tensor([[2, 1, 0], [1, 0, 3]], dtype=torch.int32)
    tokens = torch.randn(7, H).half()
    scales = torch.rand(7)
    moved, of_scales, index, totals = torch_npu.npu_moe_re_routing(tokens.npu(), counts.npu(), per_token_scales=scales.npu())
    want = torch.tensor([0, 1, 3, 2, 4, 5, 6])
    assert torch.equal(index.cpu().long(), want)
    assert torch.equal(moved.cpu(), tokens[want])
    assert torch.equal(of_scales.cpu(), scales[want])
    assert torch.equal(totals.cpu(), counts.sum(0).int())


# Codes that experts' rows have on Ascend 950 alone, and gated products of such codes with transposed weights.
def test_codes_on_ascend_950(program):
    out, err, status = program(
        """
        torch.manual_seed(0)
        n, k, h, experts = 9, 2, 96, 5
        x = torch.randn(n, h).bfloat16()
        chosen = torch.stack([torch.randperm(experts)[:k] for _ in range(n)]).int()
        order = torch.sort(chosen.flatten(), stable=True).indices // k

        def routed(x, mode, scale=None):
            got = torch_npu.npu_moe_init_routing_v2(
                x.npu(), chosen.npu(), scale=scale, active_num=n * k, expert_num=experts, expert_tokens_num_type=1,
                expert_tokens_num_flag=True, quant_mode=mode, active_expert_range=[0, experts], row_idx_type=0,
            )
            return got[0].cpu(), got[3].cpu()

        codes, powers = routed(x, 3)
        blocks = x.float().view(n, 3, 32)
        power = torch.exp2(torch.ceil(torch.log2(blocks.abs().amax(-1, keepdim=True) / 448)))
        want = (blocks / power).to(torch.float8_e4m3fn).view(n, h)[order]
        print(torch.equal(codes.view(torch.uint8), want.view(torch.uint8)))
        print(torch.equal(powers.float()[:, :3], power[order, :, 0]), powers.shape == (n * k, 4))
        again, of_rows = routed(x.to(torch.float8_e5m2), -1, powers[:n].view(n, 2, 2).npu())
        print(torch.equal(again.view(torch.uint8), x.to(torch.float8_e5m2)[order].view(torch.uint8)))

        moved = torch_npu.npu_moe_re_routing(codes[:7].npu(), torch.tensor([[2, 1, 0], [1, 0, 3]]).npu(), per_token_scales=torch.rand(7).npu())
        print(torch.equal(moved[0].cpu().view(torch.uint8), codes[[0, 1, 3, 2, 4, 5, 6]].view(torch.uint8)))

        weight = torch.randn(2, 64, 128).to(torch.float8_e4m3fn)  # [groups, columns, terms]
        rows = torch.randn(n, 128).to(torch.float8_e4m3fn)
        ones = torch.full((2, 64, 2, 2), 1.0).to(torch.float8_e8m0fnu)
        e8m0 = torch_npu.float8_e8m0fnu
        gated, steps = torch_npu.npu_grouped_matmul_swiglu_quant_v2(
            rows.npu(), [weight.npu().transpose(1, 2)], [ones.npu().transpose(1, 2)], ones[0, :n].npu(), torch.tensor([4, n]).npu(),
            dequant_mode=2, quant_mode=2, quant_dtype=torch.float8_e4m3fn, weight_scale_dtype=e8m0, x_scale_dtype=e8m0,
        )
        product = torch.cat([rows[:4].float() @ weight[0].float().T, rows[4:].float() @ weight[1].float().T])
        want = torch.nn.functional.silu(product[:, :32]) * product[:, 32:]  # codes end at 448, and a block's greatest is below 512
        print(torch.allclose(gated.cpu().float() * steps.cpu().float()[:, 0, :1], want, rtol=0.125, atol=want.abs().max().item() / 400))
        """,
        PORTACL_SOC="Ascend950PR_9579",
        PORTACL_FALLBACK="error",
    )
    assert status == 0, err[-2000:]
    assert out.split() == ["True"] * 6


def test_meta_tensors():
    permuted, index = torch_npu.npu_moe_token_permute(torch.empty(N, H, device="meta"), torch.empty(N, K, device="meta", dtype=torch.int32))
    assert permuted.shape == (N * K, H)
    assert index.shape == (N * K,)
    assert index.dtype == torch.int32
