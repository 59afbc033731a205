"""torch_npu's functions that serving calls around attention, beside their formulas in PyTorch on the CPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu
from torch import nn

import portacl.torch

HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, *HALVES]
OWN = """npu_add_rms_norm_cast npu_add_rms_norm_v2 npu_gemma_rms_norm npu_deep_norm npu_deep_norm_backward npu_add_layer_norm_backward
npu_group_norm_silu npu_masked_softmax_with_rel_pos_bias npu_gelu_mul
npu_clipped_swiglu npu_rotary_mul npu_apply_rotary_pos_emb npu_interleave_rope npu_mrope npu_scatter_pa_kv_cache npu_top_k_top_p
npu_gather_pa_kv_cache npu_kv_rmsnorm_rope_cache npu_kv_rmsnorm_rope_cache_v2 npu_qkv_rms_norm_rope_cache npu_quant_scatter npu_quant_scatter_
npu_rope_quant_kvcache npu_dequant_rope_quant_kvcache npu_top_k_top_p_sample npu_advance_step_flashattn npu_recurrent_gated_delta_rule
npu_chunk_gated_delta_rule npu_masked_causal_conv1d npu_lightning_indexer npu_quant_lightning_indexer npu_sparse_flash_attention
npu_kv_quant_sparse_flash_attention npu_ffn npu_block_sparse_attention npu_nsa_compress npu_nsa_compress_grad npu_nsa_select_attention
npu_mla_prolog_v2 npu_mla_prolog_v3 npu_nsa_compress_attention npu_nsa_compress_attention_infer npu_nsa_select_attention_infer
npu_nsa_select_attention_grad npu_mhc_pre npu_mhc_post npu_mhc_sinkhorn""".split()


def drawn(*shapes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(sum(map(sum, shapes)))
    made = [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]
    return made if len(made) > 1 else made[0]


def near(got, want, dtype):
    tolerance = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(got.detach().cpu().float(), want.detach().float(), rtol=tolerance, atol=tolerance)


def rms(x):
    return torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def test_they_are_own():
    assert {f"npu::{name}" for name in OWN} - portacl.torch.own_operators() == set()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rms_norms(dtype):
    x1, x2, gamma = drawn((3, 5, 32), (3, 5, 32), (32,), dtype=dtype)
    total = x1.float() + x2.float()
    normed = total * rms(total) * gamma.float()
    wide, narrow, rstd, x = torch_npu.npu_add_rms_norm_cast(x1.npu(), x2.npu(), gamma.npu())
    near(wide, normed, dtype)
    assert torch.equal(wide.cpu(), narrow.cpu().float())
    near(rstd, rms(total), torch.float32)
    assert torch.equal(x.cpu(), total.to(dtype))
    first, second = x1.npu(), x2.npu()
    rstd = torch.ops.npu.npu_add_rms_norm_v2(first, second, gamma.npu())
    near(first, normed, dtype)
    assert torch.equal(second.cpu(), total.to(dtype))
    near(rstd, rms(total), torch.float32)
    got, _ = torch_npu.npu_gemma_rms_norm(x1.npu(), gamma.npu())
    near(got, x1.float() * rms(x1.float()) * (1 + gamma.float()), dtype)


def test_deep_norm_and_its_gradients():
    values = drawn((4, 6, 24), (4, 6, 24), (24,), (24,))
    on_cpu = [one.clone().requires_grad_() for one in values]
    on_npu = [one.npu().requires_grad_() for one in values]
    x, gx, beta, gamma = on_cpu
    want = nn.functional.layer_norm(0.3 * x + gx, (24,), gamma, beta, 1e-6)
    got = torch_npu.npu_deep_norm(*on_npu, 0.3, 1e-6)[2]
    near(got, want, torch.float32)
    slope = drawn((4, 6, 24))
    want.backward(slope)
    got.backward(slope.npu())
    for ours, theirs in zip(on_npu, on_cpu):
        near(ours.grad, theirs.grad, torch.float32)


def test_gradients_of_add_layer_norm():
    values = drawn((4, 6, 24), (4, 6, 24), (24,), (24,))
    on_cpu = [one.clone().requires_grad_() for one in values]
    on_npu = [one.npu().requires_grad_() for one in values]
    x1, x2, gamma, beta = on_cpu
    want = nn.functional.layer_norm(x1 + x2, (24,), gamma, beta, 1e-5)
    got = torch_npu.npu_add_layer_norm(*on_npu, 1e-5, True)
    (want * want + x1 + x2).sum().backward()
    (got[0] * got[0] + got[3]).sum().backward()
    for ours, theirs in zip(on_npu, on_cpu):
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_group_norm_silu(dtype):
    x, gamma, beta = drawn((2, 6, 5, 7), (6,), (6,), dtype=dtype)
    got, _, _ = torch_npu.npu_group_norm_silu(x.npu(), gamma.npu(), beta.npu(), 3, 1e-5)
    near(got, nn.functional.silu(nn.functional.group_norm(x.float(), 3, gamma.float(), beta.float(), 1e-5)), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_of_windows(dtype):
    x = drawn((2, 3, 4, 32), dtype=dtype)
    bias, windows = drawn((3, 4, 32), (2, 4, 32), dtype=dtype)
    got = torch_npu.npu_masked_softmax_with_rel_pos_bias(x.npu(), windows.npu(), bias.npu(), 0.5)
    near(got, torch.softmax(x.float() * 0.5 + windows.float()[:, None] + bias.float(), -1), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gates(dtype):
    x = drawn((3, 5, 32), dtype=dtype) * 4
    first, second = x.float().chunk(2, -1)
    for approximate in ("none", "tanh"):
        near(
            torch_npu.npu_gelu_mul(x.npu(), approximate=approximate),
            nn.functional.gelu(first, approximate=approximate) * second,
            dtype,
        )
    for interleaved in (True, False):
        a, b = (x.float()[..., ::2], x.float()[..., 1::2]) if interleaved else (first, second)
        a, b = a.clamp(max=7), b.clamp(-7, 7)
        got = torch_npu.npu_clipped_swiglu(x.npu(), interleaved=interleaved)
        near(got, a * torch.sigmoid(1.702 * a) * (b + 1), dtype)


def halves_turned(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rotary(dtype):
    query, key, cos, sin = drawn((2, 3, 4, 128), (2, 3, 2, 128), (2, 3, 1, 128), (2, 3, 1, 128), dtype=dtype)
    want = [one.float() * cos.float() + halves_turned(one.float()) * sin.float() for one in (query, key)]
    got = torch_npu.npu_apply_rotary_pos_emb(query.npu(), key.npu(), cos.npu(), sin.npu())
    for ours, theirs in zip(got, want):
        near(ours, theirs, dtype)
    x, cos, sin = drawn((2, 3, 4, 64), (2, 1, 4, 64), (2, 1, 4, 64), dtype=dtype)
    apart = torch.cat([x.float()[..., ::2], x.float()[..., 1::2]], -1)
    got = torch_npu.npu_interleave_rope(x.npu(), cos.npu(), sin.npu())
    near(got, apart * cos.float() + halves_turned(apart) * sin.float(), dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rotary_by_positions(dtype):
    table = drawn((20, 32), dtype=dtype)
    query, key = drawn((5, 4 * 32), (5, 32), dtype=dtype)
    positions = torch.tensor([3, 0, 19, 7, 7])
    cos, sin = table.float()[positions].chunk(2, -1)
    got = torch_npu.npu_mrope(
        positions.npu(), query.npu(), key.npu(), table.npu(), 32, mrope_section=[0, 0, 0], rotary_mode="half"
    )
    for ours, x in zip(got, (query, key)):
        a, b = x.float().view(5, -1, 32).chunk(2, -1)
        want = torch.cat([a * cos[:, None] - b * sin[:, None], b * cos[:, None] + a * sin[:, None]], -1)
        near(ours, want.flatten(1), dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_paged_cache(dtype):
    key, value = drawn((5, 2, 32), (5, 2, 32), dtype=dtype)
    slots = torch.tensor([7, 3, -1, 33, 3], dtype=torch.int32)
    caches = [torch.zeros(3, 16, 2, 32, dtype=dtype).npu() for _ in range(2)]
    torch_npu.npu_scatter_pa_kv_cache(key.npu(), value.npu(), *caches, slots.npu(), cache_mode="Norm")
    for rows, cache in zip((key, value), caches):
        want = torch.zeros(48, 2, 32, dtype=dtype)
        for row, slot in zip(rows, slots.tolist()):
            if slot >= 0:
                want[slot] = row
        assert torch.equal(cache.cpu(), want.view(3, 16, 2, 32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_what_is_sampled_from(dtype):
    logits = drawn((4, 50), dtype=dtype)
    p, k = torch.tensor([0.9, 0.5, 0.1, 0.99], dtype=dtype), torch.tensor([50, 10, 5, 1], dtype=torch.int32)
    in_order, places = logits.float().sort(stable=True)
    least = in_order.gather(1, (50 - k.long())[:, None])
    in_order = in_order.masked_fill(in_order < least, -torch.inf)
    hidden = in_order.softmax(1).cumsum(1) <= 1 - p.float()[:, None]
    hidden[:, -1] = False
    want = torch.empty_like(in_order).scatter_(1, places, in_order.masked_fill(hidden, -torch.inf))
    got = torch_npu.npu_top_k_top_p(logits.npu(), p.npu(), k.npu())
    assert torch.equal(got.cpu().float(), want)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rows_from_pages(dtype):
    caches = drawn((4, 16, 2, 32), (4, 16, 2, 32), dtype=dtype)
    table = torch.tensor([[2, 0], [-1, 3]], dtype=torch.int32)
    lengths = torch.tensor([18, 17], dtype=torch.int32)
    rows = [torch.full((36, 2, 32), 7, dtype=dtype).npu() for _ in range(2)]
    torch_npu.npu_gather_pa_kv_cache(caches[0].npu(), caches[1].npu(), table.npu(), lengths.npu(), *rows)
    for cache, got in zip(caches, rows):
        want = torch.full((36, 2, 32), 7, dtype=dtype)
        want[:18] = torch.cat([cache[2], cache[0, :2]])
        want[18:35] = torch.cat([torch.zeros(16, 2, 32, dtype=dtype), cache[3, :1]])
        assert torch.equal(got.cpu(), want)


def normed(x, gamma):
    return x.float() * torch.rsqrt((x.float() ** 2).mean(-1, keepdim=True) + 1e-5) * gamma.float()


@pytest.mark.parametrize("mode", ["Norm", "PA", "PA_NZ"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rows_of_latent_attention(dtype, mode):
    kv, gamma, cos, sin = drawn((3, 1, 2, 576), (512,), (3, 1, 2, 64), (3, 1, 2, 64), dtype=dtype)
    slots = torch.tensor([5, -1, 17, 0, 40, 5])
    paged = mode != "Norm"
    key, value = (torch.zeros(*((2, 16, 1) if paged else (3, 1, 18)), d, dtype=dtype).npu() for d in (64, 512))
    index = (slots if paged else slots.view(3, 2)).npu()
    got = torch_npu.npu_kv_rmsnorm_rope_cache(
        kv.npu(), gamma.npu(), cos.npu(), sin.npu(), index, key, value, epsilon=1e-5, cache_mode=mode, is_output_kv=True
    )
    last = kv.float()[..., 512:]
    apart = torch.cat([last[..., ::2], last[..., 1::2]], -1)
    want = (apart * cos.float() + halves_turned(apart) * sin.float(), normed(kv[..., :512], gamma))
    for ours, theirs in zip(got[2:], want):
        near(ours, theirs, dtype)
    for cache, rows in zip(got[:2], got[2:]):
        d = rows.shape[-1]
        expected = torch.zeros_like(cache.cpu()).reshape(-1, d)
        for t, slot in enumerate(slots.tolist()):
            if 0 <= slot < (32 if paged else 18):
                expected[slot if paged else t // 2 * 18 + slot] = rows.cpu().reshape(-1, d)[t]
        found = cache.cpu().reshape(-1, d)
        if mode == "PA_NZ":
            found = cache.cpu().reshape(2, d // 16, 16, 16).transpose(1, 2).reshape(-1, d)
        assert torch.equal(found, expected)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rows_as_int8(dtype):
    cache = torch.zeros(3, 8, 16, dtype=torch.int8)
    indices, updates = torch.tensor([2, 7]), drawn((2, 2, 16), dtype=dtype) * 20
    scales = torch.full((16,), 0.5, dtype=torch.bfloat16 if dtype == torch.bfloat16 else torch.float32)
    got = torch_npu.npu_quant_scatter(cache.npu(), indices.npu(), updates.npu(), scales.npu(), None, -2, -1)
    quantised = (updates.float() / 0.5).round().clamp(-128, 127).to(torch.int8)
    want = cache.clone()
    want[0, 2:4] = quantised[0]
    want[1, 7] = quantised[1, 0]
    assert torch.equal(got.cpu(), want)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_quantised_keys_and_values(dtype):
    x, cos, sin = drawn((2, 3, 128), (2, 3, 1, 32), (2, 3, 1, 32), dtype=dtype)
    caches = [torch.zeros(2, 6, 1, 32, dtype=torch.int8).npu() for _ in range(2)]
    scales = [torch.full((32,), 0.03).npu() for _ in range(2)]
    indices = torch.tensor([2, 4], dtype=torch.int32).npu()
    query, key, value, keys, values = torch_npu.npu_rope_quant_kvcache(
        x.npu(), cos.npu(), sin.npu(), *caches, indices, *scales, [64, 32, 32], kv_output=True
    )
    heads = x.float().view(2, 3, 4, 32)
    turned = heads * cos.float() + halves_turned(heads) * sin.float()
    near(query, turned[:, :, :2], dtype)
    near(key, turned[:, :, 2:3], dtype)
    assert torch.equal(value.cpu(), x.view(2, 3, 4, 32)[:, :, 3:])
    quantised = (value.cpu().float() / 0.03).round().clamp(-128, 127).to(torch.int8)
    want = torch.zeros(2, 6, 1, 32, dtype=torch.int8)
    want[0, 2:5] = quantised[0]
    want[1, 4:6] = quantised[1, :2]
    assert torch.equal(values.cpu(), want)
    assert not torch.equal(keys.cpu(), torch.zeros_like(want))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_next_tokens(dtype):
    logits = drawn((4, 60), dtype=dtype)
    k, p = torch.tensor([1, 5, 0, 60], dtype=torch.int32), torch.tensor([0.9, 0.5, 0.0, 1.0], dtype=dtype)
    chosen, kept = torch_npu.npu_top_k_top_p_sample(logits.npu(), k.npu(), p.npu(), is_need_logits=True)
    assert torch.equal(chosen.cpu(), logits.float().argmax(1))
    for row, (count, left) in enumerate(zip((1, None, 1, 60), kept.cpu().isfinite().sum(1).tolist())):
        assert left == count if count else 1 <= left <= 5, row
    chosen, _ = torch_npu.npu_top_k_top_p_sample(logits.npu(), k.npu(), torch.ones(4, dtype=dtype).npu(), post_sample="multiNomial")
    assert chosen.flatten()[0].item() == logits[0].float().argmax().item()
    assert logits[1, chosen.flatten()[1]] in logits[1].topk(5).values


def test_steps():
    tokens, positions, lengths, slots = (torch.zeros(3, dtype=torch.int64).npu() for _ in range(4))
    lengths += torch.tensor([4, 9, 2]).npu()
    sampled, table = torch.tensor([[11], [12]]), torch.tensor([[3, 1, 7], [5, 6, 2], [0, 0, 0]])
    torch_npu.npu_advance_step_flashattn(
        tokens, sampled.npu(), positions, lengths, slots, table.npu(), 3, 2, 4
    )
    assert tokens.tolist() == [11, 12, 0]
    assert positions.tolist() == [4, 9, 0]
    assert lengths.tolist() == [5, 10, 2]
    assert slots.tolist() == [1 * 4, (7 + 3) * 4 + 1, -1]


def test_gated_delta_rule():
    query, key, value, state = drawn((5, 1, 16), (5, 1, 16), (5, 2, 8), (3, 2, 8, 16), dtype=torch.bfloat16)
    beta, g = drawn((5, 2), dtype=torch.bfloat16).sigmoid(), -drawn((5, 2)).abs()
    lengths, index = torch.tensor([2, 3], dtype=torch.int32), torch.tensor([0, 1, 2, 2, 0], dtype=torch.int32)
    states = state.npu()
    got = torch_npu.npu_recurrent_gated_delta_rule(
        query.npu(), key.npu(), value.npu(), states, beta=beta.npu(), scale=0.25,
        actual_seq_lengths=lengths.npu(), ssm_state_indices=index.npu(), g=g.npu(),
    )
    for first, end in ((0, 2), (2, 5)):
        now = state[index[first]].float()
        for t in range(first, end):
            now = now * g[t].exp()[:, None, None]
            error = (value[t].float() - now @ key[t, 0].float()) * beta[t].float()[:, None]
            now = now + error[:, :, None] * key[t, 0].float()
            near(got[t], now @ query[t, 0].float() * 0.25, torch.bfloat16)
    near(states[0], now, torch.bfloat16)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_causal_convolution(dtype):
    x, weight = drawn((6, 2, 24), (3, 24), dtype=dtype)
    mask = torch.ones(2, 6, dtype=torch.bool)
    mask[0, 4] = False
    got = torch_npu.npu_masked_causal_conv1d(x.npu(), weight.npu(), mask=mask.npu())
    padded = torch.cat([torch.zeros(2, 2, 24), x.float()])
    want = sum(padded[i : i + 6] * weight.float()[i] for i in range(3)) * mask.T[:, :, None]
    near(got, want, dtype)


def test_lightning_indexer():
    generator = torch.Generator().manual_seed(5)
    query = torch.randint(-2, 3, (2, 3, 4, 128), generator=generator).half()
    key = torch.randint(-2, 3, (2, 9, 1, 128), generator=generator).half()
    weights = torch.randint(0, 8, (2, 3, 4), generator=generator).half()
    scores = torch.einsum("bsh,bsht->bst", weights.float(), torch.einsum("bshd,btd->bsht", query.float(), key[:, :, 0].float()).relu())
    scores.masked_fill_(torch.ones(3, 9, dtype=torch.bool).triu(7), -float("inf"))
    got, _ = torch_npu.npu_lightning_indexer(query.npu(), key.npu(), weights.npu(), sparse_count=5, sparse_mode=3)
    want = scores.sort(dim=-1, descending=True, stable=True).indices[..., :5]
    assert torch.equal(got.cpu()[:, :, 0].long(), want)
    quantised = torch_npu.npu_quant_lightning_indexer(
        query.to(torch.int8).npu(), key.to(torch.int8).npu(), weights.npu(), torch.ones(2, 3, 4).half().npu(), torch.ones(2, 9, 1).half().npu(), 0, 0,
        sparse_count=5, sparse_mode=3,
    )
    assert torch.equal(quantised.cpu(), got.cpu())


def test_sparse_flash_attention():
    query, rope, keys, key_rope = drawn((1, 4, 3, 512), (1, 4, 3, 64), (1, 10, 1, 512), (1, 10, 1, 64), dtype=torch.bfloat16)
    indices = torch.tensor([[0, 1, -1], [3, 0, 2], [4, -1, 1], [1, 2, 3]], dtype=torch.int32).view(1, 4, 1, 3)
    got = torch_npu.npu_sparse_flash_attention(
        query.npu(), keys.npu(), keys.npu(), indices.npu(), 0.05, query_rope=rope.npu(), key_rope=key_rope.npu(), sparse_block_size=2,
        sparse_mode=0, attention_mode=2,
    )[0]
    whole = torch.cat([keys, key_rope], -1)[0, :, 0].float()
    for s in range(4):
        chosen = [2 * i + j for i in indices[0, s, 0].tolist()[: ([*indices[0, s, 0].tolist(), -1]).index(-1)] for j in range(2)]
        weights = (torch.cat([query, rope], -1)[0, s].float() @ whole[chosen].T * 0.05).softmax(-1)
        near(got[0, s], weights @ keys[0, chosen, 0].float(), torch.bfloat16)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_ffn(dtype):
    x, first, second = drawn((6, 16), (2, 16, 24), (2, 24, 16), dtype=dtype)
    got = torch_npu.npu_ffn(x.npu(), (first / 8).npu(), (second / 8).npu(), "silu", expert_tokens=[2, 4])
    rows = [(x[:2], 0), (x[2:], 1)]
    want = [nn.functional.silu(part.float() @ (first[i] / 8).float()).to(dtype).float() @ (second[i] / 8).float() for part, i in rows]
    near(got, torch.cat(want), dtype)


def test_block_sparse_attention():
    query, key, value = drawn((1, 2, 4, 32), (1, 2, 256, 32), (1, 2, 256, 32), dtype=torch.bfloat16)
    marks = torch.tensor([[[1, 0], [1, 1]], [[0, 1], [1, 0]]], dtype=torch.int8)[None]
    got = torch_npu.npu_block_sparse_attention(
        query.npu(), key.npu(), value.npu(), marks.npu(), [2, 128], q_input_layout="BNSD", kv_input_layout="BNSD", num_key_value_heads=2,
        scale_value=0.2, inner_precise=0,
    )[0]
    seen = marks.bool().repeat_interleave(2, 2).repeat_interleave(128, 3)
    scores = (query.float() @ key.float().transpose(2, 3) * 0.2).masked_fill(~seen, -torch.inf)
    near(got, scores.softmax(-1) @ value.float(), torch.bfloat16)


def test_quantised_sparse_flash_attention():
    query, rope = drawn((1, 3, 2, 576), (1, 8, 1, 64), dtype=torch.bfloat16)
    generator = torch.Generator().manual_seed(8)
    whole = torch.randint(-127, 128, (1, 8, 1, 512), generator=generator).to(torch.int8)
    scales = torch.rand(1, 8, 1, 4, generator=generator) / 64
    rows = torch.cat([whole, rope.view(torch.int8), scales.view(torch.int8)], -1)
    indices = torch.tensor([[5, 0, -1], [7, 6, 1], [2, 3, 4]], dtype=torch.int32).view(1, 3, 1, 3)
    got = torch_npu.npu_kv_quant_sparse_flash_attention(
        query.npu(), rows.npu(), rows.npu(), indices.npu(), 0.04, 2, 2, sparse_mode=0, attention_mode=2,
    )
    keys = torch.cat([whole.float() * scales.repeat_interleave(128, -1), rope.float()], -1)[0, :, 0]
    for s in range(3):
        chosen = [i for i in indices[0, s, 0].tolist() if i >= 0]
        weights = (query[0, s].float() @ keys[chosen].T * 0.04).softmax(-1)
        near(got[0, s], weights @ keys[chosen, :512], torch.bfloat16)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_windows_of_rows(dtype):
    x, weight, slope = drawn((96, 2, 48), (32, 2), (3, 2, 48), dtype=dtype)
    own = [one.npu().requires_grad_() for one in (x, weight)]
    of_float = [(one / 8).float().requires_grad_() for one in (x, weight)]
    got = torch_npu.npu_nsa_compress(*[one / 8 for one in own], 32, 16, actual_seq_len=[40, 96])
    # A window begins at each 16th row of a sequence, as long as the sequence has 32 more.
    want = torch.stack([(of_float[0][first : first + 32] * of_float[1][:, :, None]).sum(0) for first in (0, 40, 56)])
    near(got, want, dtype)
    got.backward(slope.npu())
    want.backward(slope.float())
    for ours, theirs in zip(own, of_float):
        near(ours.grad, theirs.grad / 8, dtype)


# torch_npu passes mode 2: a query sees no keys behind its own position.
def test_selected_blocks():
    query, key, value = drawn((6, 4, 32), (50, 2, 32), (50, 2, 16), dtype=torch.bfloat16)
    blocks = torch.tensor([[0, 2], [0, -1]], dtype=torch.int32).repeat(6, 1, 1)
    got, greatest, total = torch_npu.npu_nsa_select_attention(
        query.npu(), key.npu(), value.npu(), blocks.npu(), 0.2, 4, 8, 2, actual_seq_qlen=[4, 6], actual_seq_kvlen=[30, 50]
    )
    for row in range(6):
        first, position = (0, row) if row < 4 else (30, row - 4)
        for head in range(4):
            chosen = [first + 8 * b + j for b in blocks[row, head // 2].tolist() if b >= 0 for j in range(8)]
            chosen = [j for j in chosen if j <= first + position]
            scores = key[chosen, head // 2].float() @ query[row, head].float() * 0.2
            near(got[row, head], scores.softmax(-1) @ value[chosen, head // 2].float(), torch.bfloat16)
            near(greatest[row, head], scores.max().expand(8), torch.float32)
            near(total[row, head], (scores - scores.max()).exp().sum().expand(8), torch.float32)


def test_compressed_keys():
    query, key, value = drawn((6, 4, 32), (20, 2, 32), (20, 2, 16), dtype=torch.bfloat16)
    got, blocks, greatest, total = torch_npu.npu_nsa_compress_attention(
        query.npu(), key.npu(), value.npu(), 0.2, 4, 32, 16, 64, 3,
        actual_seq_qlen=[4, 6], actual_cmp_seq_kvlen=[8, 20], actual_sel_seq_kvlen=[2, 5],
    )
    for row in range(6):
        first, last = (0, 8) if row < 4 else (8, 20)
        for n in range(2):
            shares = torch.zeros(last - first)
            for head in (2 * n, 2 * n + 1):
                scores = key[first:last, n].float() @ query[row, head].float() * 0.2
                weights = scores.softmax(-1)
                shares += weights
                near(got[row, head], weights @ value[first:last, n].float(), torch.bfloat16)
                near(greatest[row, head], scores.max().expand(8), torch.float32)
                near(total[row, head], (scores - scores.max()).exp().sum().expand(8), torch.float32)
            count = (last - first + 3) // 4
            of_blocks = [
                sum(shares[p].item() for m in range(4) for k in range(2) if 0 <= (p := 4 * j - m - k) < last - first) for j in range(count)
            ]
            want = sorted(range(count), key=lambda j: -of_blocks[j])[:3]
            assert blocks[row, n].tolist() == want + [-1] * (3 - len(want))


def test_selected_blocks_of_pages():
    query, key, value = drawn((2, 4, 32), (5, 16, 64), (5, 16, 32), dtype=torch.bfloat16)
    blocks = torch.tensor([[[0, 1], [1, -1]], [[2, 0], [0, 0]]], dtype=torch.int32)
    table = torch.tensor([[4, 1], [0, 3]], dtype=torch.int32)
    got = torch_npu.npu_nsa_select_attention_infer(
        query.npu(), key.npu(), value.npu(), blocks.npu(), 0.2, 4, 2, 16, 2, 16, layout="TND", block_table=table.npu(), actual_seq_kvlen=[25, 32]
    )
    for b, length in enumerate((25, 32)):
        keys, values = (one[table[b].long()].reshape(32, 2, -1)[:length].float() for one in (key, value))
        for head in range(4):
            chosen = [j for i in blocks[b, head // 2].tolist() if i >= 0 for j in range(16 * i, min(16 * i + 16, length))]
            scores = keys[chosen, head // 2] @ query[b, head].float() * 0.2
            near(got[b, head], scores.softmax(-1) @ values[chosen, head // 2], torch.bfloat16)


# torch_npu has them of Ascend 950 alone.
def test_hyper_connections(program):
    out, err, status = program(
        """
        x, phi, alpha, bias = torch.randn(5, 4, 32).bfloat16(), torch.randn(24, 128) / 8, torch.randn(3), torch.randn(24)
        h_in, post, res, *_ = torch_npu.npu_mhc_pre(x.npu(), phi.npu(), alpha.npu(), bias.npu())
        flat = x.float().flatten(1)
        w = flat @ phi.T * torch.rsqrt((flat * flat).mean(1, keepdim=True) + 1e-6)
        pre = (w[:, :4] * alpha[0] + bias[:4]).sigmoid() + 1e-6
        torch.testing.assert_close(h_in.cpu().float(), (pre[:, :, None] * x.float()).sum(1), rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(post.cpu(), 2 * (w[:, 4:8] * alpha[1] + bias[4:8]).sigmoid(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(res.cpu().flatten(1), w[:, 8:] * alpha[2] + bias[8:], rtol=1e-4, atol=1e-4)
        mixed = torch_npu.npu_mhc_sinkhorn(res, num_iters=3)[0].cpu()
        want = res.cpu().softmax(-1) + 1e-6
        want = want / (want.sum(-2, keepdim=True) + 1e-6)
        for _ in range(2):
            want = want / (want.sum(-1, keepdim=True) + 1e-6)
            want = want / (want.sum(-2, keepdim=True) + 1e-6)
        torch.testing.assert_close(mixed, want, rtol=1e-4, atol=1e-5)
        got = torch_npu.npu_mhc_post(x.npu(), mixed.npu(), h_in, post)
        want = post.cpu()[:, :, None] * h_in.cpu().float()[:, None] + torch.einsum("tij,tid->tjd", mixed, x.float())
        torch.testing.assert_close(got.cpu().float(), want, rtol=1e-2, atol=1e-2)
        print("done")
        """,
        PORTACL_SOC="Ascend950PR_9579",
        PORTACL_FALLBACK="error",
    )
    assert status == 0, err
    assert out.splitlines()[-1] == "done", out


def interleaved(x, cos, sin):
    apart = torch.cat([x[..., ::2], x[..., 1::2]], -1)
    return apart * cos + halves_turned(apart) * sin


# The first version is one of CANN's graph engine there.
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("mode", ["PA_BSND", "PA_NZ"])
def test_queries_of_latent_attention(version, mode):
    he, hcq, heads, d, dr, latent, tokens = 96, 48, 2, 16, 32, 64, 5
    shapes = ((tokens, he), (he, hcq), (hcq, heads * (d + dr)), (heads, d, latent), (he, latent + dr), (hcq,), (latent,), (tokens, dr), (tokens, dr))
    x, down, up, absorbed, joined, of_queries, of_keys, sin, cos = (one / 8 for one in drawn(*shapes, dtype=torch.bfloat16))
    slots = torch.tensor([3, 17, -1, 30, 0])
    keys, ropes = (torch.zeros(2, 16, 1, width, dtype=torch.bfloat16).npu() for width in (latent, dr))
    weights = [torch_npu.npu_format_cast(one.npu(), 29) for one in (down, up, joined)]
    first = [x.npu(), weights[0], weights[1], absorbed.npu(), weights[2], of_queries.npu(), of_keys.npu(), sin.npu(), cos.npu()]
    if version == 3:
        query, rope, *_ = torch_npu.npu_mla_prolog_v3(*first, keys, ropes, cache_index=slots.npu(), cache_mode=mode, qc_qr_scale=1.5)
    else:
        query, rope, keys, ropes, *_ = torch_npu.npu_mla_prolog_v2(*first, slots.npu(), keys, ropes, cache_mode=mode)
    c = normed((x.float() @ down.float()).bfloat16(), of_queries) * (1.5 if version == 3 else 1)
    u = (c.bfloat16().float() @ up.float()).bfloat16().float().view(tokens, heads, d + dr)
    near(query, torch.einsum("tnd,ndl->tnl", u[..., :d], absorbed.float()), torch.bfloat16)
    near(rope, interleaved(u[..., d:], cos.float()[:, None], sin.float()[:, None]), torch.bfloat16)
    w = (x.float() @ joined.float()).bfloat16().float()
    for cache, rows in ((keys, normed(w[:, :latent], of_keys)), (ropes, interleaved(w[:, latent:], cos.float(), sin.float()))):
        found = cache.cpu()
        if mode == "PA_NZ":
            found = found.reshape(2, -1, 16, 16).transpose(1, 2)
        expected = torch.zeros(32, rows.shape[-1])
        for t, slot in enumerate(slots.tolist()):
            if slot >= 0:
                expected[slot] = rows[t]
        near(found.reshape(32, -1), expected, torch.bfloat16)


# torch_npu has it of Ascend 950 alone.
def test_causal_convolution_of_requests(program):
    out, err, status = program(
        """
        x, weight, states = torch.randn(19, 128), torch.randn(3, 128), torch.randn(8, 2, 128)
        x, weight, states = (one.bfloat16() for one in (x, weight, states))
        ends, lines = [0, 5, 8, 15, 19], [0, 3, 1, 5]
        given = {"query_start_loc": torch.tensor(ends, dtype=torch.int32).npu(), "cache_indices": torch.tensor(lines, dtype=torch.int32).npu()}
        want, kept = torch.empty(19, 128), states.clone()
        for first, last, line in zip(ends, ends[1:], lines):
            rows = torch.cat([states[line], x[first:last]])
            kept[line] = rows[-2:]
            want[first:last] = sum(rows[k : k + last - first].float() * weight[k].float() for k in range(3))
        of_states = states.npu()
        got = torch_npu.npu_fused_causal_conv1d(x.npu(), weight.npu(), of_states, residual_connection=1, **given)
        torch.testing.assert_close(got.cpu().float(), want + x.float(), rtol=1e-2, atol=1e-2)
        assert torch.equal(of_states.cpu(), kept)
        in_place, of_states = x.npu(), states.npu()
        torch_npu.npu_fused_causal_conv1d_v2(in_place, weight.npu(), of_states, **given)
        torch.testing.assert_close(in_place.cpu().float(), want, rtol=1e-2, atol=1e-2)
        assert torch.equal(of_states.cpu(), kept)
        computed = torch.tensor([0, 1, 2, 3], dtype=torch.int32).npu()
        got = torch_npu.npu_fused_causal_conv1d(x.npu(), weight.npu(), states.npu(), conv_mode="pangu", num_computed_tokens=computed, **given)
        print([row for row in range(19) if not got[row].any()])
        """,
        PORTACL_SOC="Ascend950PR_9579",
        PORTACL_FALLBACK="error",
    )
    assert status == 0, err
    assert out.splitlines()[-1] == "[0, 1, 5]", out
