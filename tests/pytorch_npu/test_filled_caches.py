"""Caches of keys and values filled from positions on, and products whose batch is the second dim, beside what they are by definition."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

OWN = ["scatter_update", "scatter_update_", "npu_scatter_list", "npu_scatter_list_", "npu_transpose_batchmatmul"]


def drawn(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def test_they_are_own():
    assert {f"aten::{name}" for name in OWN} - portacl.torch.own_operators() == set()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_scatter_update(dtype):
    cache, updates = (drawn(3, 2, 8, 4) * 9).to(dtype), (drawn(2, 2, 3, 4) * 9).to(dtype)
    starts = torch.tensor([5, 0])
    want = cache.clone()
    for row, start in enumerate(starts.tolist()):
        want[row, :, start : start + 3] = updates[row]
    npu = cache.npu()
    assert torch.equal(torch_npu.scatter_update(npu, starts.npu(), updates.npu(), -2).cpu(), want)
    assert torch.equal(npu.cpu(), cache)
    torch_npu.scatter_update_(npu, starts.npu(), updates.npu(), -2)
    assert torch.equal(npu.cpu(), want)
    # Rows of the batch by their numbers.
    places = torch.tensor([[2, 1], [0, 4]], dtype=torch.int32)
    got = torch_npu.scatter_update(cache.npu(), places.npu(), updates.npu(), 2).cpu()
    want = cache.clone()
    want[2, :, 1:4], want[0, :, 4:7] = updates[0], updates[1]
    assert torch.equal(got, want)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_scatter_list(dtype):
    caches = [drawn(2, 8, 4, dtype=dtype) + at for at in range(3)]
    updates = drawn(3, 2, 2, 4, dtype=dtype)
    starts = torch.tensor([6, 0, 3])
    mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
    want = [cache.clone() for cache in caches]
    for row in (0, 2):
        want[row][:, starts[row] : starts[row] + 2] = updates[row]
    npu = [cache.npu() for cache in caches]
    got = torch_npu.npu_scatter_list(npu, starts.npu(), updates.npu(), mask.npu())
    assert all(torch.equal(ours.cpu(), theirs) for ours, theirs in zip(got, want))
    assert all(torch.equal(ours.cpu(), cache) for ours, cache in zip(npu, caches))
    torch_npu.npu_scatter_list_(npu, starts.npu(), updates.npu(), mask.npu(), axis=2)
    assert all(torch.equal(ours.cpu(), theirs) for ours, theirs in zip(npu, want))
    # Starts and lengths, without a mask.
    spans = torch.tensor([[0, 1], [7, 0], [6, 2]])
    got = torch_npu.npu_scatter_list([cache.npu() for cache in caches], spans.npu(), updates.npu(), None)
    want = [cache.clone() for cache in caches]
    for row, (start, length) in enumerate(spans.tolist()):
        want[row][:, start : start + length] = updates[row, :, :length]
    assert all(torch.equal(ours.cpu(), theirs) for ours, theirs in zip(got, want))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_transpose_batchmatmul(dtype):
    x, weight = drawn(5, 4, 16, dtype=dtype), drawn(4, 16, 24, dtype=dtype)
    want = torch.einsum("mbk,bkn->mbn", x.double(), weight.double())
    near = {"rtol": 0.01, "atol": 0.05} if dtype != torch.float32 else {"rtol": 1e-5, "atol": 1e-5}

    def check(got, expected):
        assert got.dtype == dtype
        torch.testing.assert_close(got.cpu().double(), expected, **near)

    check(torch_npu.npu_transpose_batchmatmul(x.npu(), weight.npu(), perm_x1=(1, 0, 2), perm_y=(1, 0, 2)), want)
    check(torch_npu.npu_transpose_batchmatmul(x.transpose(0, 1).contiguous().npu(), weight.npu()), want)
    parts = torch_npu.npu_transpose_batchmatmul(x.npu(), weight.npu(), perm_x1=(1, 0, 2), batch_split_factor=2)
    check(parts, want.reshape(5, 2, 2 * 24).transpose(0, 1))


def test_transpose_batchmatmul_with_scales():
    x, weight = drawn(5, 4, 16, dtype=torch.float16), drawn(4, 16, 24, dtype=torch.float16)
    steps = torch.linspace(0.5, 8, 4 * 24)
    scale = torch_npu.npu_trans_quant_param(steps.npu(), round_mode=1)
    got = torch_npu.npu_transpose_batchmatmul(x.npu(), weight.npu(), scale=scale, perm_x1=(1, 0, 2)).cpu()
    exact = torch.einsum("mbk,bkn->mbn", x.double(), weight.double()).reshape(5, 1, 96) * steps.double()
    assert got.dtype == torch.float16
    torch.testing.assert_close(got.double(), exact, rtol=0.01, atol=0.05)
