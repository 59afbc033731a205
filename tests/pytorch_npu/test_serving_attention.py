"""Attention of caches through torch_npu: own, and right against float64."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

DTYPES = [torch.float16, torch.bfloat16]


def test_are_own():
    names = ("npu_incre_flash_attention", "npu_prompt_flash_attention", "npu_attention_update")
    assert {f"npu::{name}" for name in names} <= portacl.torch.own_operators()


def exact(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float) -> torch.Tensor:
    """[..., heads, rows, depth] in float64, every key seen."""
    group = query.shape[-3] // key.shape[-3]
    k, v = (t.double().repeat_interleave(group, -3) for t in (key, value))
    return torch.softmax(query.double() @ k.transpose(-1, -2) * scale, -1) @ v


def assert_near(got: torch.Tensor, want: torch.Tensor) -> None:
    tolerance = 2e-3 if got.dtype is torch.float16 else 1.6e-2
    torch.testing.assert_close(got.cpu().double(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
class TestAttention:
    def test_prompt(self, dtype):
        query, key, value = (torch.randn(2, heads, 11, 32).to(dtype) for heads in (4, 2, 2))
        got = torch_npu.npu_prompt_flash_attention(
            query.npu(), key.npu(), value.npu(), num_heads=4, num_key_value_heads=2, input_layout="BNSD", scale_value=0.25
        )
        assert_near(got, exact(query, key, value, 0.25))

    def test_one_query(self, dtype):
        query, key, value = (torch.randn(2, heads, rows, 32).to(dtype) for heads, rows in ((4, 1), (2, 40), (2, 40)))
        got = torch_npu.npu_incre_flash_attention(
            query.npu(), key.npu(), value.npu(), num_heads=4, num_key_value_heads=2, input_layout="BNSD", scale_value=0.25,
            actual_seq_lengths=[40, 7],
        )
        want = [exact(query[b], key[b, :, :keys], value[b, :, :keys], 0.25) for b, keys in enumerate((40, 7))]
        assert_near(got, torch.stack(want))

    @pytest.mark.parametrize("pieces", [False, True])
    def test_latent_decoding(self, dtype, pieces):
        """One head of keys whose values are its own first part, in blocks, as MLA decodes."""
        tokens, heads, block, keys = 3, 8, 128, (130, 5, 256)
        query, rope = torch.randn(tokens, heads, 1, 512).to(dtype), torch.randn(tokens, heads, 1, 64).to(dtype)
        cache, cached_rope = torch.randn(7, block, 1, 512).to(dtype), torch.randn(7, block, 1, 64).to(dtype)
        table = torch.tensor([[6, 1], [2, 0], [3, 5]], dtype=torch.int32)
        given = [cache.view(7, block, 512), cached_rope.view(7, block, 64)]
        if pieces:
            given = [one.view(7, block, -1, 16).transpose(1, 2).unsqueeze(1).contiguous() for one in given]
        got, _ = torch_npu.npu_fused_infer_attention_score(
            query.npu(), given[0].npu(), given[0].npu(), query_rope=rope.npu(), key_rope=given[1].npu(), num_heads=heads,
            num_key_value_heads=1, input_layout="BNSD_NBSD", scale=0.05, block_table=table.npu(), block_size=block,
            actual_seq_lengths_kv=list(keys),
        )
        for b, count in enumerate(keys):
            k, r = (one[table[b].long()].flatten(0, 1)[:count].transpose(0, 1) for one in (cache, cached_rope))
            want = exact(torch.cat([query[b], rope[b]], -1), torch.cat([k, r], -1), k, 0.05)
            assert_near(got[:, b], want)

    def test_parts_become_the_whole(self, dtype):
        query, key, value = (torch.randn(1, heads, rows, 64).to(dtype) for heads, rows in ((4, 6), (4, 50), (4, 50)))
        parts = [
            torch_npu.npu_fused_infer_attention_score(
                query.npu(), k.contiguous().npu(), v.contiguous().npu(), num_heads=4, input_layout="BNSD", scale=0.125,
                softmax_lse_flag=True,
            )
            for k, v in zip(key.split(20, 2), value.split(20, 2))
        ]
        out, lse = torch_npu.npu_attention_update([p[1].flatten() for p in parts], [p[0].reshape(-1, 64) for p in parts], 1)
        assert_near(out.view(1, 4, 6, 64), exact(query, key, value, 0.125))
        scores = query.double() @ key.double().transpose(-1, -2) * 0.125
        torch.testing.assert_close(lse.cpu().double(), torch.logsumexp(scores, -1).flatten(), rtol=1e-4, atol=1e-4)


def test_workspace_for_a_graph():
    """The answer is enough for other lengths of the same tensors."""
    query = torch.randn(4, 4, 64, dtype=torch.float16).npu()
    cache = torch.randn(5, 128, 128, dtype=torch.float16).npu()
    table = torch.tensor([[0, 1], [2, 3], [4, 0], [1, 2]], dtype=torch.int32).npu()
    workspace = torch.ops.npu._npu_fused_infer_attention_score_get_max_workspace(
        query, cache, cache, num_heads=4, num_key_value_heads=2, input_layout="TND", scale=0.125, block_table=table, block_size=128,
        actual_seq_lengths=[1, 2, 3, 4], actual_seq_lengths_kv=[3, 4, 5, 6],
    )
    assert workspace.numel() > 0
