"""Grouped products: torch_npu's npu_grouped_matmul and its like on the device beside plain formulas of PyTorch on the CPU, and meta tensors."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
OPERATORS = (
    "npu_grouped_matmul",
    "npu_grouped_matmul.List",
    "npu_grouped_matmul_add_",
    "npu_grouped_matmul_finalize_routing",
    "npu_grouped_matmul_swiglu_quant",
    "npu_grouped_matmul_swiglu_quant_v2",
    "npu_quant_grouped_matmul_dequant",
)
SIZES = (5, 0, 9, 2)
M, K, N, E = 16, 48, 32, 4


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def products(x, weights, sizes=SIZES):
    return torch.cat([part @ weight for part, weight in zip(x.split(sizes), weights)])


@pytest.mark.parametrize("name", OPERATORS)
def test_is_own(name):
    assert f"npu::{name}" in portacl.torch.own_operators()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("is_list", [False, True])
def test_rows(dtype, is_list):
    x, weight = torch.randn(M, K).to(dtype), torch.randn(E, K, N).to(dtype)
    bias = torch.randn(E, N).to(torch.float16 if dtype == torch.float16 else torch.float32)
    weights = [one.npu() for one in weight] if is_list else [weight.npu()]
    biases = [one.npu() for one in bias] if is_list else [bias.npu()]
    ends = torch.tensor(SIZES).cumsum(0).npu()
    [y] = torch_npu.npu_grouped_matmul([x.npu()], weights, bias=biases, group_list=ends, split_item=3, group_type=0)
    want = products(x.double(), weight.double()) + bias.double().repeat_interleave(torch.tensor(SIZES), 0)
    torch.testing.assert_close(
        y.cpu(), want.to(dtype), rtol=1e-2 if dtype != torch.float32 else 1e-5, atol=1e-2 if dtype != torch.float32 else 1e-4
    )
    [again] = torch_npu.npu_grouped_matmul(
        [x.npu()], weights, bias=biases, group_list=torch.tensor(SIZES).npu(), group_list_type=1, split_item=3, group_type=0
    )
    assert torch.equal(y.cpu(), again.cpu())


def test_gradients_by_hand():
    """As MindSpeed trains: dx through transposed weights, dw by terms."""
    x, weight, grad = torch.randn(M, K).bfloat16(), torch.randn(E, K, N).bfloat16(), torch.randn(M, N).bfloat16()
    sizes = torch.tensor(SIZES).npu()
    [dx] = torch_npu.npu_grouped_matmul(
        [grad.npu()], [weight.npu().transpose(1, 2)], group_list=sizes, group_list_type=1, split_item=3, group_type=0
    )
    [dw] = torch_npu.npu_grouped_matmul(
        [x.npu().T], [grad.npu()], group_list=sizes, group_list_type=1, split_item=3, group_type=2
    )
    host_x, host_weight = x.double().requires_grad_(), weight.double().requires_grad_()
    products(host_x, host_weight).backward(grad.double())
    torch.testing.assert_close(dx.cpu(), host_x.grad.bfloat16(), rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(dw.cpu(), host_weight.grad.bfloat16(), rtol=1e-2, atol=1e-2)
    sums = torch.randn(E, K, N)
    device = sums.npu()
    torch_npu.npu_grouped_matmul_add_(device, x.npu(), grad.npu(), torch.tensor(SIZES).cumsum(0).npu())
    torch.testing.assert_close(device.cpu(), (sums.double() + host_weight.grad).float(), rtol=1e-4, atol=1e-4)


def test_lists_of_both():
    x = [torch.randn(size, K).half() for size in (3, 7)]
    weight = [torch.randn(K, n).half() for n in (16, 24)]
    y = torch_npu.npu_grouped_matmul(
        [one.npu() for one in x], [one.npu() for one in weight], group_list=None, split_item=0, group_type=-1
    )
    for one, a, b in zip(y, x, weight):
        torch.testing.assert_close(one.cpu(), (a.double() @ b.double()).half(), rtol=1e-2, atol=1e-2)


def test_array_of_groups():
    x, weight = torch.randn(M, K).half(), torch.randn(E, K, N).half()
    y = torch_npu.npu_grouped_matmul([x.npu()], [one.npu() for one in weight], group_list=[5, 5, 14, 16], split_item=3)
    torch.testing.assert_close(y[0].cpu(), products(x.double(), weight.double()).half(), rtol=1e-2, atol=1e-2)


def test_integers():
    x = torch.randint(-128, 128, (M, K), dtype=torch.int8)
    weight = torch.randint(-128, 128, (E, K, N), dtype=torch.int8)
    scale, factor = torch.rand(E, N).bfloat16(), torch.rand(M)
    sizes = torch.tensor(SIZES)
    [y] = torch_npu.npu_grouped_matmul(
        [x.npu()],
        [weight.npu()],
        scale=[scale.npu()],
        per_token_scale=[factor.npu()],
        group_list=sizes.npu(),
        group_list_type=1,
        split_item=2,
        group_type=0,
        output_dtype=torch.bfloat16,
    )
    sums = products(x.int(), weight.int())
    want = (sums.float() * scale.float().repeat_interleave(sizes, 0)) * factor[:, None]
    assert torch.equal(y.cpu(), want.bfloat16())
    [whole] = torch_npu.npu_grouped_matmul(
        [x.npu()], [weight.npu()], group_list=sizes.npu(), group_list_type=1, split_item=3, group_type=0, output_dtype=torch.int32
    )
    assert torch.equal(whole.cpu(), sums)


def test_weights_alone():
    x = torch.randn(M, K).bfloat16()
    weight = torch.randint(-128, 128, (E, K, N), dtype=torch.int8)
    scale, offset = (torch.rand(E, N) / 100).bfloat16(), torch.randint(-9, 9, (E, N)).bfloat16()
    sizes = torch.tensor(SIZES)
    [y] = torch_npu.npu_grouped_matmul(
        [x.npu()],
        [weight.npu()],
        antiquant_scale=[scale.npu()],
        antiquant_offset=[offset.npu()],
        group_list=sizes.npu(),
        group_list_type=1,
        split_item=3,
        group_type=0,
    )
    plain = ((weight.float() + offset[:, None].float()) * scale[:, None].float()).bfloat16()
    torch.testing.assert_close(y.cpu(), products(x.double(), plain.double()).bfloat16(), rtol=1e-2, atol=1e-2)


def test_swiglu_quant():
    x = torch.randint(-128, 128, (M, K), dtype=torch.int8)
    weight = torch.randint(-128, 128, (E, K, N), dtype=torch.int8)
    scale, x_scale = torch.rand(E, N) / 100, torch.rand(M) / 10
    sizes = torch.tensor(SIZES)
    q, step = torch_npu.npu_grouped_matmul_swiglu_quant_v2(
        x.npu(), [weight.npu()], [scale.npu()], x_scale.npu(), sizes.cumsum(0).npu()
    )[:2]
    c = products(x.double(), weight.double()) * x_scale[:, None] * scale.double().repeat_interleave(sizes, 0)
    s = torch.nn.functional.silu(c[:, : N // 2]) * c[:, N // 2 :]
    want = s.abs().amax(1) / 127
    torch.testing.assert_close(step.cpu().double(), want, rtol=1e-5, atol=0)
    assert ((s / want[:, None]) - q.cpu()).abs().max() <= 0.55


def test_meta_tensors():
    x, weight = torch.empty(M, K, device="meta", dtype=torch.bfloat16), torch.empty(E, K, N, device="meta", dtype=torch.bfloat16)
    [y] = torch_npu.npu_grouped_matmul(
        [x], [weight], group_list=torch.empty(E, device="meta", dtype=torch.int64), split_item=3, group_type=0
    )
    assert (y.shape, y.dtype) == ((M, N), torch.bfloat16)
