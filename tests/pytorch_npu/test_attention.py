"""Attention of packed sequences (layout TND): own, and each sequence's numbers are those that it has alone."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

QUERIES, KEYS = (5, 1, 130, 3), (4, 300, 17, 9)
HEADS, KEY_HEADS, DEPTH = 4, 2, 16
SCALE = DEPTH**-0.5
ALL = 2147483647


def ends(lengths: tuple[int, ...]) -> list[int]:
    return torch.tensor(lengths).cumsum(0).tolist()


def tensors(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Query, key, value and the gradient of the result."""
    shapes = ((sum(QUERIES), HEADS), (sum(KEYS), KEY_HEADS), (sum(KEYS), KEY_HEADS), (sum(QUERIES), HEADS))
    return tuple(torch.randn(*shape, DEPTH).to(dtype) for shape in shapes)


def attend(query, key, value, of_out, layout: str, mask, mode: int, **lengths):
    leaves = [t.detach().npu().requires_grad_() for t in (query, key, value)]
    settings = {"scale": SCALE, "atten_mask": mask, "sparse_mode": mode, "pre_tockens": ALL, "next_tockens": ALL if mode == 0 else 0}
    out = torch_npu.npu_fusion_attention(*leaves, HEADS, layout, **settings, **lengths)[0]
    out.backward(of_out.npu())
    return [t.detach().cpu() for t in (out, *(leaf.grad for leaf in leaves))]


def exact(query, key, value, of_out, mode: int):
    """One sequence in float64."""
    leaves = [t.detach().double().transpose(0, 1).requires_grad_() for t in (query, key, value)]
    keys, values = (t.repeat_interleave(HEADS // KEY_HEADS, 0) for t in leaves[1:])
    scores = leaves[0] @ keys.transpose(1, 2) * SCALE
    if mode == 3:
        hidden = torch.ones(scores.shape[1:], dtype=torch.bool).triu(scores.shape[2] - scores.shape[1] + 1)
        scores = scores.masked_fill(hidden, -torch.inf)
    out = torch.nan_to_num(torch.softmax(scores, 2)) @ values
    out.backward(of_out.double().transpose(0, 1))
    return [torch.nan_to_num(t.detach()).transpose(0, 1) for t in (out, *(leaf.grad for leaf in leaves))]


def test_is_own():
    assert {"npu::npu_fusion_attention", "npu::npu_fusion_attention_grad"} <= portacl.torch.own_operators()


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_packed_is_a_loop_over_sequences(dtype, mode):
    all_of_them = tensors(dtype)
    mask = None if mode == 0 else torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    packed = attend(*all_of_them, "TND", mask, mode, actual_seq_qlen=ends(QUERIES), actual_seq_kvlen=ends(KEYS))
    lengths = (QUERIES, KEYS, KEYS, QUERIES)
    for sequence in zip(*(t.split(some) for t, some in zip(all_of_them, lengths))):
        alone = attend(*(t.transpose(0, 1)[None] for t in sequence), "BNSD", mask, mode)
        want = exact(*sequence, mode)
        for i, (one, true) in enumerate(zip(alone, want)):
            rows = one.shape[2]
            got, packed[i] = packed[i][:rows], packed[i][rows:]
            assert torch.equal(got, one[0].transpose(0, 1))
            if mode == 3 and sequence[0].shape[0] > sequence[1].shape[0]:
                continue  # queries that see nothing are for the exact ones not a number
            tolerance = 2e-5 if dtype == torch.float32 else 2e-2 if dtype == torch.float16 else 0.15
            assert torch.allclose(got.double(), true, rtol=tolerance, atol=tolerance)
    assert all(t.numel() == 0 for t in packed)


def test_dropped_weights():
    query, key, value, of_out = tensors(torch.float32)
    lengths = {"actual_seq_qlen": ends(QUERIES), "actual_seq_kvlen": ends(KEYS)}
    results = []
    for _ in range(2):
        torch.npu.manual_seed(3)
        leaves = [t.npu().requires_grad_() for t in (query, key, torch.ones_like(value))]
        out = torch_npu.npu_fusion_attention(*leaves, HEADS, "TND", scale=SCALE, keep_prob=0.75, **lengths)[0]
        out.backward(of_out.npu())
        results.append([out.detach().cpu(), *(leaf.grad.cpu() for leaf in leaves)])
    for one, two in zip(*results):
        assert torch.equal(one, two)
    assert abs(results[0][0].mean().item() - 1) < 0.1
    assert results[0][0].std() > 0.01


@pytest.mark.parametrize("layout", ["BNSD", "TND"])
def test_sinks(layout):
    query, key, value, of_out = (torch.randn(HEADS, rows, DEPTH) for rows in (7, 11, 11, 7))
    sink = torch.randn(HEADS)
    leaves = [t.double().requires_grad_() for t in (query, key, value, sink)]
    scores = leaves[0] @ leaves[1].transpose(1, 2) * SCALE
    weights = torch.softmax(torch.cat([scores, leaves[3][:, None, None].expand(-1, 7, 1)], -1), -1)[..., :-1]
    want = weights @ leaves[2]
    want.backward(of_out.double())

    def laid(t):
        return t[None] if layout == "BNSD" else t.transpose(0, 1).contiguous()

    lengths = {} if layout == "BNSD" else {"actual_seq_qlen": [7], "actual_seq_kvlen": [11]}
    own = [laid(t).npu().requires_grad_() for t in (query, key, value)]
    own.append(sink.npu().requires_grad_())
    got = torch_npu.npu_fusion_attention_v2(*own[:3], HEADS, layout, scale=SCALE, sink=own[3], **lengths)[0]
    got.backward(laid(of_out).npu())
    for one, true in zip([got, *(leaf.grad for leaf in own[:3])], [want, *(leaf.grad for leaf in leaves[:3])]):
        torch.testing.assert_close(one.detach().cpu().double(), laid(true.detach()), rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(own[3].grad.cpu().double(), leaves[3].grad, rtol=2e-5, atol=2e-5)
