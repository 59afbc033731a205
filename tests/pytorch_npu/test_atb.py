"""torch_npu's functions that go through ATB (libatb.so), against formulas of PyTorch's CPU in float32.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import math
import os
import pathlib
import subprocess
import sys

import pytest
import torch
import torch_npu

HALVES = (torch.float16, torch.bfloat16)
_generator = torch.Generator().manual_seed(20)


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=_generator).to(dtype)


def lengths(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    """To 16 bits: one rounding of weights, one of the result."""
    eps = torch.finfo(found.dtype).eps
    torch.testing.assert_close(found.cpu().float(), expected.float(), rtol=2 * eps, atol=2 * eps)


@pytest.mark.parametrize("dtype", HALVES)
def test_matmul_add_fp32(dtype: torch.dtype) -> None:
    """C += x^T weight, what is added in float32."""
    x, weight, c = rand(37, 5, dtype=dtype), rand(37, 11, dtype=dtype), rand(5, 11)
    on_npu = c.npu()
    torch_npu._npu_matmul_add_fp32(x.npu(), weight.npu(), on_npu)
    expected = c.double() + x.double().T @ weight.double()
    torch.testing.assert_close(on_npu.cpu().double(), expected, rtol=1e-6, atol=1e-5)


def test_matmul_add_fp32_again_and_again() -> None:
    """One operation serves all shapes, and queued calls keep their operands."""
    total = torch.zeros(4, 6, device="npu")
    expected = torch.zeros(4, 6, dtype=torch.float64)
    for rows in (1, 7, 3, 64, 2):
        x, weight = rand(rows, 4, dtype=torch.float16), rand(rows, 6, dtype=torch.float16)
        torch_npu._npu_matmul_add_fp32(x.npu(), weight.npu(), total)
        expected += x.double().T @ weight.double()
    torch.testing.assert_close(total.cpu().double(), expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("dtype", HALVES)
def test_reshape_and_cache(dtype: torch.dtype) -> None:
    """Rows go to their slots; a slot below 0 takes none, and all else stays."""
    key, value = rand(5, 2, 8, dtype=dtype), rand(5, 2, 4, dtype=dtype)
    keys, values = rand(3, 4, 2, 8, dtype=dtype), rand(3, 4, 2, 4, dtype=dtype)
    slots = [11, 0, -1, 6, 3]
    on_npu = keys.npu(), values.npu()
    torch_npu._npu_reshape_and_cache(key.npu(), value.npu(), *on_npu, lengths(*slots).npu())
    for rows, cache, found in ((key, keys, on_npu[0]), (value, values, on_npu[1])):
        expected = cache.flatten(0, 1).clone()
        for row, slot in zip(rows, slots):
            if slot >= 0:
                expected[slot] = row
        assert torch.equal(found.cpu().flatten(0, 1), expected)


def test_reshape_and_cache_of_one() -> None:
    key, keys = rand(3, 1, 16, dtype=torch.float16), rand(2, 4, 1, 16, dtype=torch.float16)
    on_npu = keys.npu()
    torch_npu._npu_reshape_and_cache_siso(key.npu(), on_npu, lengths(7, 2, 0).npu())
    expected = keys.flatten(0, 1).clone()
    expected[[7, 2, 0]] = key
    assert torch.equal(on_npu.cpu().flatten(0, 1), expected)


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, *HALVES])
def test_rotary_embedding(dtype: torch.dtype, neox: bool) -> None:
    size, tokens = 16, 7
    positions = torch.tensor([0, 3, 9, 1, 2, 30, 31])
    angles = torch.arange(32)[:, None] / 10000 ** (torch.arange(0, size, 2) / size)
    cache = torch.cat((angles.cos(), angles.sin()), -1).to(dtype)
    query, key = rand(tokens, 4 * size, dtype=dtype), rand(tokens, 2 * size, dtype=dtype)
    on_npu = query.npu(), key.npu()
    torch_npu._npu_rotary_embedding(positions.npu(), *on_npu, size, cache.npu(), neox)
    cos, sin = (part[positions].float()[:, None] for part in cache.chunk(2, -1))
    for given, found in zip((query, key), on_npu):
        x = given.float().view(tokens, -1, size)
        one, other = x.chunk(2, -1) if neox else (x[..., ::2], x[..., 1::2])
        turned = one * cos - other * sin, other * cos + one * sin
        expected = torch.cat(turned, -1) if neox else torch.stack(turned, -1).flatten(-2)
        close(found.view(tokens, -1, size), expected)


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float, causal: bool, shift: torch.Tensor | None = None) -> torch.Tensor:
    """Of one sequence: query [queries, heads, size], key and value [keys, their heads, size]; the last query sees all keys."""
    times = query.shape[1] // key.shape[1]
    key, value = (one.double().repeat_interleave(times, 1) for one in (key, value))
    products = torch.einsum("qhd,khd->hqk", query.double(), key) * scale
    if shift is not None:
        products = products + shift.double()
    if causal:
        products.masked_fill_(torch.ones(products.shape[1:]).triu(1 + key.shape[0] - query.shape[0]).bool(), -math.inf)
    return torch.einsum("hqk,khd->qhd", products.softmax(-1), value)


def paged(sequences: list[torch.Tensor], rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Blocks of so many rows in another order than the sequences', and the table that finds them; what nobody may read is NaN."""
    needed = [math.ceil(len(one) / rows) for one in sequences]
    order = torch.randperm(sum(needed), generator=_generator).tolist()
    cache = torch.full((sum(needed), rows, *sequences[0].shape[1:]), math.nan, dtype=sequences[0].dtype)
    table = torch.zeros(len(sequences), max(needed), dtype=torch.int32)
    for i, sequence in enumerate(sequences):
        for t in range(needed[i]):
            table[i, t] = order.pop()
            part = sequence[t * rows : (t + 1) * rows]
            cache[table[i, t], : len(part)] = part
    return cache, table


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("heads", [(4, 4), (8, 2)])
def test_paged_attention(dtype: torch.dtype, heads: tuple[int, int]) -> None:
    queries, of_keys = heads
    size, counts = 32, (1, 17, 40)
    keys = [rand(count, of_keys, size, dtype=dtype) for count in counts]
    values = [rand(count, of_keys, size, dtype=dtype) for count in counts]
    order = _generator.get_state()
    key_cache, table = paged(keys, 16)
    _generator.set_state(order)
    value_cache, _ = paged(values, 16)
    query = rand(len(counts), queries, size, dtype=dtype)
    scale = size**-0.5
    out = torch.zeros(len(counts), queries, size, dtype=dtype, device="npu")
    torch_npu._npu_paged_attention(
        query.npu(), key_cache.nan_to_num().npu(), value_cache.nan_to_num().npu(), of_keys, queries, scale, table.npu(), lengths(*counts), out
    )
    for i in range(len(counts)):
        close(out[i : i + 1], attention(query[i : i + 1], keys[i], values[i], scale, False))


def test_lengths_on_the_device_are_read_in_the_order_of_the_stream() -> None:
    """What is queued before the call may still write them."""
    keys = rand(1, 16, 1, 16, dtype=torch.float16)
    query = rand(1, 1, 16, dtype=torch.float16)
    on_npu, work = lengths(16).npu(), torch.ones(700, 700, device="npu")
    out = torch.zeros(1, 1, 16, dtype=torch.float16, device="npu")
    work = work @ work
    on_npu.fill_(3)
    torch_npu._npu_paged_attention(query.npu(), keys.npu(), keys.npu(), 1, 1, 0.25, lengths(0)[None].npu(), on_npu, out)
    close(out, attention(query, keys[0, :3], keys[0, :3], 0.25, False))


def test_paged_attention_with_an_alibi_mask() -> None:
    """A mask that ends with the longest sequence, inside of a block."""
    counts, size, heads = (5, 17), 16, 4
    keys = [rand(count, heads, size, dtype=torch.float16) for count in counts]
    cache, table = paged(keys, 16)
    query, mask = rand(2, heads, size, dtype=torch.float16), rand(2, heads, 1, 17, dtype=torch.float16)
    out = torch.zeros(2, heads, size, dtype=torch.float16, device="npu")
    cache = cache.nan_to_num().npu()
    torch_npu._npu_matmul_add_fp32(query[0].npu(), query[0].npu(), torch.zeros(size, size, device="npu"))  # loads ATB's operators
    torch.ops.atb._npu_paged_attention_v2.out(
        query.npu(), cache, table.npu(), counts, value_cache=cache, mask=mask.npu(), num_kv_heads=heads, num_heads=heads, scale_value=0.25, mask_type=2, out=out
    )
    for i, count in enumerate(counts):
        close(out[i : i + 1], attention(query[i : i + 1], keys[i], keys[i], 0.25, False, mask[i, :, :, :count]))


@pytest.mark.parametrize("dtype", HALVES)
def test_flash_attention_unpad(dtype: torch.dtype) -> None:
    counts, size, heads = (3, 1, 20), 16, 2
    tokens = sum(counts)
    query, key, value = (rand(tokens, heads, size, dtype=dtype) for _ in range(3))
    out = torch.zeros(tokens, heads, size, dtype=dtype, device="npu")
    torch_npu._npu_flash_attention_unpad(query.npu(), key.npu(), value.npu(), lengths(*counts), 0.25, heads, heads, out)
    begin = 0
    for count in counts:
        part = slice(begin, begin + count)
        close(out[part], attention(query[part], key[part], value[part], 0.25, False))
        begin += count


def test_attention_over_pages_with_several_queries() -> None:
    """qlens: the queries are the last tokens of their sequences, and see what came before them."""
    counts, asked, size, heads = (9, 33), (4, 7), 16, 2
    keys, values = ([rand(count, heads, size, dtype=torch.float16) for count in counts] for _ in range(2))
    order = _generator.get_state()
    key_cache, table = paged(keys, 16)
    _generator.set_state(order)
    value_cache, _ = paged(values, 16)
    query = rand(sum(asked), heads, size, dtype=torch.float16)
    triangle = torch.full((128, 128), -10000.0, dtype=torch.float16).triu(1).npu()
    out = torch.zeros(sum(asked), heads, size, dtype=torch.float16, device="npu")
    torch_npu._npu_flash_attention_qlens(
        query.npu(), key_cache.nan_to_num().npu(), value_cache.nan_to_num().npu(), table.npu(), triangle, lengths(*asked), lengths(*counts), heads, heads, 0.25, out
    )
    begin = 0
    for i, count in enumerate(asked):
        part = slice(begin, begin + count)
        close(out[part], attention(query[part], keys[i], values[i], 0.25, True))
        begin += count


@pytest.mark.parametrize("best", [1, 2])
def test_group_topk(best: int) -> None:
    """Experts outside of the best groups become 0, in place; of equal groups the lower one stays."""
    scores = torch.tensor([[1.0, 5, 2, 2, 4, 4, 0, 3], [1, 1, 1, 1, 1, 1, 1, 1]], dtype=torch.float16)
    on_npu = scores.npu()
    torch_npu._npu_group_topk(on_npu, 2, 4, best)
    groups = scores.float().view(2, 4, 2)
    of_group = groups.topk(best, -1).values.sum(-1)
    kept = of_group.sort(dim=-1, descending=True, stable=True).indices[:, :2]
    mask = torch.zeros(2, 4, dtype=torch.bool).scatter_(1, kept, True)
    assert torch.equal(on_npu.cpu().float(), (groups * mask[..., None]).view(2, 8))


@pytest.mark.parametrize("dtype", HALVES)
def test_quant_rms_norm(dtype: torch.dtype) -> None:
    x, gamma, beta = rand(6, 64, dtype=dtype), rand(1, 64, dtype=dtype), rand(1, 64, dtype=dtype)
    scale, offset = torch.tensor([0.03125], dtype=dtype), torch.tensor([3], dtype=torch.int8)
    out = torch.zeros(6, 64, dtype=torch.int8, device="npu")
    torch_npu._npu_quant_rms_norm(x.npu(), gamma.npu(), beta.npu(), scale.npu(), offset.npu(), out, 1e-5)
    y = x.double() * (x.double().square().mean(-1, keepdim=True) + 1e-5).rsqrt() * gamma.double() + beta.double()
    exact = y / scale.double() + 3
    assert ((out.cpu().double() - exact.clamp(-128, 127)).abs() <= 0.5 + 1e-4).all()


def test_quantize_per_tensor() -> None:
    x = torch.tensor([[0.5, 1.5, 2.5, -0.5, 200.0, -300.0, 0.0, 1.0]], dtype=torch.float16)
    out = torch.zeros(1, 8, dtype=torch.int8, device="npu")
    torch_npu._npu_quantize_per_tensor(x.npu(), torch.ones(1, dtype=torch.float16).npu(), torch.tensor([1], dtype=torch.int8).npu(), out)
    assert out.cpu().tolist() == [[1, 3, 3, 1, 127, -128, 1, 2]]


REFUSED = """
import torch, torch_npu
out = torch.zeros(1, 1, 16, dtype=torch.float16, device="npu")
cache = torch.zeros(1, 16, 1, 16, dtype=torch.int8, device="npu")
scales = torch.ones(1, device="npu")
one = torch.ones(1, dtype=torch.int32)
torch_npu._npu_paged_attention_quant(cache[:, 0], cache, cache, 1, 1, 1.0, one.npu(), one, 2, 1, scales, scales, out)
torch.npu.synchronize()
"""


def test_what_is_refused_is_an_error(tmp_path: pathlib.Path) -> None:
    """Quantised caches: torch_npu raises and names the parameter's operation, and the log says why."""
    script = tmp_path / "refused.py"
    script.write_text(REFUSED)
    environ = {**os.environ, "ASCEND_LOG_PRINT_TO_STDOUT": "1", "PORTACL_FALLBACK": "quiet"}
    done = subprocess.run([sys.executable, "-m", "portacl", script], env=environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "PagedAttentionOperation: quantType has the value 2, accepted: 0" in done.stdout


def _fused_add_topk_div(
    x: torch.Tensor, bias: torch.Tensor, groups: int, kept: int, n: int, k: int, is_norm: bool, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """In float64, row by row."""
    values, places = [], []
    for row in x.double():
        gates = torch.sigmoid(row)
        biased = (gates + bias.double()).reshape(groups, -1)
        scores = torch.stack([group.sort(descending=True).values[:n].sum() for group in biased])
        for group in scores.sort(descending=True).indices[kept:]:
            biased[group] = -math.inf
        indices = biased.reshape(-1).sort(descending=True).indices[:k]
        y = gates[indices]
        values.append(scale * (y / y.sum() if is_norm else y))
        places.append(indices)
    return torch.stack(values), torch.stack(places)


@pytest.mark.parametrize("dtype", (torch.float32, *HALVES))
@pytest.mark.parametrize("groups,kept,n,k,is_norm", [(4, 2, 2, 4, True), (8, 3, 1, 5, False), (1, 1, 1, 2, True)])
def test_fused_add_topk_div(dtype: torch.dtype, groups: int, kept: int, n: int, k: int, is_norm: bool) -> None:
    """One operation serves calls of other shapes."""
    for rows in (3, 17):
        x, bias = rand(rows, 32, dtype=dtype), rand(32).mul(0.1).to(dtype)
        y, indices = torch_npu.atb.npu_fused_add_topk_div(
            x.npu(), bias.npu(), activation_type="activation_sigmoid", group_num=groups, group_topk=kept, n=n, k=k,
            is_norm=is_norm, scale=1.5,
        )  # fmt: skip
        expected_y, expected_indices = _fused_add_topk_div(x, bias, groups, kept, n, k, is_norm, 1.5)
        assert (y.dtype, indices.dtype) == (torch.float32, torch.int32)
        assert torch.equal(indices.cpu().long(), expected_indices)
        torch.testing.assert_close(y.cpu().double(), expected_y, rtol=2e-6, atol=0)


@pytest.mark.parametrize("dtype", HALVES)
def test_self_attention_prefix_encoder(dtype: torch.dtype) -> None:
    """Queries at the ends of sequences whose keys lie in pages."""
    heads, key_heads, size, block = 4, 2, 16, 128
    queries, keys = [3, 1, 5], [130, 1, 70]
    table = torch.tensor([[3, 0], [2, 0], [1, 0]], dtype=torch.int32)
    table[0, 1] = 4
    key, value = rand(5, block, key_heads, size, dtype=dtype), rand(5, block, key_heads, size, dtype=dtype)
    query = rand(sum(queries), heads, size, dtype=dtype)
    out = torch_npu.atb.npu_self_attention_prefix_encoder(
        query.npu(), key.npu(), value.npu(), table.npu(), queries, keys, heads, 0.25, key_heads, mask_type="mask_type_causal_mask"
    )
    expected, begin = [], 0
    for i, (count, length) in enumerate(zip(queries, keys)):
        rows = torch.arange(length)
        places = table[i].long()[rows // block], rows % block
        k, v = (cache[places].double().repeat_interleave(heads // key_heads, 1) for cache in (key, value))
        scores = torch.einsum("qhd,khd->hqk", query[begin : begin + count].double(), k) * 0.25
        later = rows[None, :] > torch.arange(length - count, length)[:, None]
        expected.append(torch.einsum("hqk,khd->qhd", scores.masked_fill(later, -math.inf).softmax(-1), v))
        begin += count
    close(out, torch.cat(expected))


def latent(
    query: torch.Tensor, query_rope: torch.Tensor, key: torch.Tensor, key_rope: torch.Tensor, value: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one sequence with rotary parts, and the logarithms of its sums [heads, queries], in float64."""
    times = query.shape[1] // key.shape[1]
    whole = torch.cat((query, query_rope), -1).double()
    keys = torch.cat((key, key_rope), -1).double().repeat_interleave(times, 1)
    products = torch.einsum("qhd,khd->hqk", whole, keys) * scale
    if causal:
        products.masked_fill_(torch.ones(products.shape[1:]).triu(1 + key.shape[0] - query.shape[0]).bool(), -math.inf)
    values = value.double().repeat_interleave(times, 1)
    return torch.einsum("hqk,khd->qhd", products.softmax(-1), values), products.logsumexp(-1)


@pytest.mark.parametrize("dtype", (*HALVES, torch.int8))
@pytest.mark.parametrize("cumsum,starts", [(False, None), (True, None), (False, (16, 0, 33))])
def test_paged_cache_load(dtype: torch.dtype, cumsum: bool, starts: tuple[int, ...] | None) -> None:
    """Rows of the pages behind each other, from the page of each sequence's start on; what is behind stays."""
    counts, block = (5, 0, 17), 16
    caches = [(rand(9, block, 2, size) * 10).to(dtype) for size in (16, 32)]
    table = torch.tensor([[3, 0, 7, 1], [2, 4, 0, 0], [5, 8, 6, 1]], dtype=torch.int32)
    given = lengths(0, *torch.tensor(counts).cumsum(0).tolist()) if cumsum else lengths(*counts)
    outs = [torch.full((sum(counts) + 2, 2, size), 7, dtype=dtype, device="npu") for size in (16, 32)]
    torch_npu.atb.npu_paged_cache_load(
        caches[0].npu(), caches[1].npu(), table.npu(), given.npu(), seq_starts=None if starts is None else lengths(*starts).npu(),
        cumsum=cumsum, key=outs[0], value=outs[1],
    )  # fmt: skip
    for cache, found in zip(caches, outs):
        rows = [
            cache[table[i, (0 if starts is None else starts[i]) // block + j // block].item(), j % block]
            for i, count in enumerate(counts)
            for j in range(count)
        ]
        expected = torch.cat((torch.stack(rows), torch.full((2, 2, cache.shape[-1]), 7, dtype=dtype)))
        assert torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("dtype", HALVES)
def test_multi_head_latent_attention(dtype: torch.dtype) -> None:
    """Keys are a latent row and a rotary part, values the latent row."""
    heads, depth, counts = 8, 512, (1, 20, 33)
    rows = [rand(count, 1, depth, dtype=dtype) for count in counts]
    ropes = [rand(count, 1, 64, dtype=dtype) for count in counts]
    order = _generator.get_state()
    cache, table = paged(rows, 16)
    _generator.set_state(order)
    of_ropes, _ = paged(ropes, 16)
    query, query_rope = rand(3, heads, depth, dtype=dtype), rand(3, heads, 64, dtype=dtype)
    given = query.npu(), query_rope.npu(), cache.nan_to_num().npu(), of_ropes.nan_to_num().npu(), table.npu(), counts, heads, 0.04, 1
    out = torch_npu.atb.npu_multi_head_latent_attention(*given)
    with_lse, lse = torch_npu.atb.npu_multi_head_latent_attention(*given, True, calc_type="calc_type_ring")
    assert torch.equal(out, with_lse)
    assert (lse.shape, lse.dtype) == ((3, heads, 1), dtype)
    for i in range(3):
        expected, logarithms = latent(query[i : i + 1], query_rope[i : i + 1], rows[i], ropes[i], rows[i], 0.04, False)
        close(out[i : i + 1], expected)
        close(lse[i : i + 1, :, 0], logarithms.T)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("key_heads", [4, 2])
def test_ring_mla(dtype: torch.dtype, key_heads: int) -> None:
    """Parts of the keys one after the other give what all of them give; a part without keys changes nothing."""
    heads, queries, scale = 4, (3, 7), 0.1
    parts = [(4, 9), (5, 0), (3, 8)]  # keys of both sequences; the last part is seen causally
    tokens = sum(queries)
    query, query_rope = rand(tokens, heads, 128, dtype=dtype), rand(tokens, heads, 64, dtype=dtype)
    sequences: list[list[list[torch.Tensor]]] = [[], []]
    mask = torch.full((512, 512), -10000.0, dtype=dtype).triu(1).npu()
    out = lse = None
    for number, counts in enumerate(parts):
        made = [[rand(count, key_heads, size, dtype=dtype) for size in (128, 64, 128)] for count in counts]
        for sequence, one in zip(sequences, made):
            sequence.append(one)
        key, key_rope, value = (torch.cat([one[k] for one in made]).npu() for k in range(3))
        first = number == 0
        out, lse = torch_npu.atb.npu_ring_mla(
            query.npu(), query_rope.npu(), key, key_rope, value, mask, torch.tensor([queries, counts], dtype=torch.int32), heads, key_heads,
            pre_out=None if first else out, prev_lse=None if first else lse, qk_scale=scale, kernel_type="kernel_type_high_precision",
            mask_type="mask_type_triu" if number == len(parts) - 1 else "no_mask", input_layout="type_bsnd",
            calc_type="calc_type_first_ring" if first else "calc_type_default",
        )  # fmt: skip
        begin = 0
        for sequence, count in zip(sequences, queries):
            part = slice(begin, begin + count)
            begin += count
            key, key_rope, value = (torch.cat([one[k] for one in sequence]) for k in range(3))
            expected, logarithms = latent(query[part], query_rope[part], key, key_rope, value, scale, number == len(parts) - 1)
            eps = torch.finfo(dtype).eps
            torch.testing.assert_close(out[part].cpu().double(), expected, rtol=4 * eps, atol=4 * eps)
            torch.testing.assert_close(lse[:, part].cpu().double(), logarithms, rtol=1e-5, atol=1e-5)


def test_ring_mla_of_a_first_part_without_keys() -> None:
    query, query_rope = rand(2, 2, 128, dtype=torch.float16).npu(), rand(2, 2, 64, dtype=torch.float16).npu()
    key, key_rope = rand(3, 2, 128, dtype=torch.float16).npu(), rand(3, 2, 64, dtype=torch.float16).npu()
    options = {"mask_type": "no_mask", "kernel_type": "kernel_type_high_precision", "input_layout": "type_bsnd"}

    def ring(counts: tuple[int, int], calc_type: str, **given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seqlen = torch.tensor([(1, 1), counts], dtype=torch.int32)
        return torch_npu.atb.npu_ring_mla(query, query_rope, key, key_rope, key, None, seqlen, 2, 2, calc_type=calc_type, **options, **given)

    out, lse = ring((3, 0), "calc_type_first_ring")
    assert torch.equal(out[1].cpu(), torch.zeros(2, 128, dtype=torch.float16))
    assert torch.equal(lse[:, 1].cpu(), torch.full((2,), -math.inf))
    merged, both = ring((0, 3), "calc_type_default", pre_out=out, prev_lse=lse)
    alone, logarithms = ring((0, 3), "calc_type_first_ring")
    assert torch.equal(merged[0], out[0]) and torch.equal(both[:, 0], lse[:, 0])
    assert torch.equal(merged[1], alone[1]) and torch.equal(both[:, 1], logarithms[:, 1])
    again, still = ring((0, 0), "calc_type_default", pre_out=merged, prev_lse=both)
    assert torch.equal(again, merged) and torch.equal(still, both)


LOOKED_UP_AND_REFUSED = """
import torch, torch_npu
def refused(call):
    try:
        call()
        torch.npu.synchronize()
    except RuntimeError as error:
        print("RAISED", str(error).splitlines()[0])
half = torch.zeros(1, 1, 512, dtype=torch.float16, device="npu")
rope = torch.zeros(1, 1, 64, dtype=torch.float16, device="npu")
pages, ropes = half.view(1, 1, 1, 512), rope.view(1, 1, 1, 64)
table = torch.zeros(1, 1, dtype=torch.int32, device="npu")
mla = torch_npu.atb.npu_multi_head_latent_attention
refused(lambda: mla(half, rope, pages, ropes, table, [1], 1, 1.0, 1, cache_mode="int8_nzcache"))
refused(lambda: mla(half, rope[..., :32].contiguous(), pages, ropes, table, [1], 1, 1.0, 1))
x = torch.zeros(1, 7168, dtype=torch.float16, device="npu")
small = torch.zeros(1, dtype=torch.float16, device="npu")
refused(lambda: torch_npu.atb.npu_mla_preprocess(x, x[0], x[0], *[small] * 9, half[0], pages, ropes, table[0]))
print("THEN", mla(half, rope, pages, ropes, table, [1], 1, 1.0, 1).abs().sum().item())
"""


def test_looked_up_functions_refuse_by_name(tmp_path: pathlib.Path) -> None:
    """torch_npu raises, the log says what is accepted, and the next right call is right."""
    script = tmp_path / "refused.py"
    script.write_text(LOOKED_UP_AND_REFUSED)
    environ = {**os.environ, "ASCEND_LOG_PRINT_TO_STDOUT": "1", "TASK_QUEUE_ENABLE": "0"}
    done = subprocess.run([sys.executable, "-m", "portacl", script], env=environ, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.count("RAISED ") == 3, done.stdout + done.stderr
    assert "AtbMLA: cacheMode has the value 2, accepted: 1 (krope_ctkv)" in done.stdout
    assert "AtbMLA: qRope has 32 in dim 2, accepted: 64" in done.stdout, done.stdout
    assert "AtbMLAPreprocess: it is not supported: " in done.stdout
    assert "THEN 0.0" in done.stdout, done.stdout + done.stderr


def test_refusals_of_a_looked_up_function() -> None:
    """A code, no operation, and the next right call is right."""
    library = ctypes.CDLL("libatb.so")
    context, none = ctypes.c_void_p(), ctypes.c_void_p(None)
    assert library._ZN3atb13CreateContextEPPNS_7ContextE(ctypes.byref(context)) == 0
    tensors = [torch.zeros(2, 8), torch.zeros(8), torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int32)]
    tensors = [tensor.npu() for tensor in tensors]
    library.aclCreateTensor.restype = ctypes.c_void_p
    handles = []
    for tensor in tensors:
        dims, strides = ((ctypes.c_int64 * tensor.dim())(*sizes) for sizes in (tensor.shape, tensor.stride()))
        dtype = 0 if tensor.dtype == torch.float32 else 3
        address = ctypes.c_void_p(tensor.data_ptr())
        rank = ctypes.c_uint64(tensor.dim())
        made = library.aclCreateTensor(dims, rank, dtype, strides, ctypes.c_int64(0), 2, dims, rank, address)
        handles.append(ctypes.c_void_p(made))
    x, bias, y, indices = handles
    operation, size = ctypes.c_void_p(), ctypes.c_uint64()

    def set_up(activation: int = 8, k: int = 3, maps: bool = False, out: ctypes.c_void_p = y) -> int:
        scalars = [ctypes.c_int64(one) for one in (2, 1, 1, k)]
        rest = (ctypes.c_int(activation), ctypes.c_bool(True), ctypes.c_float(1), ctypes.c_bool(maps), out, indices)
        return int(
            library.AtbFusedAddTopkDivGetWorkspaceSize(
                x, bias, none, none, *scalars, *rest, ctypes.byref(size), ctypes.byref(operation), context
            )
        )

    library._ZN3atb16DestroyOperationEPNS_9OperationE.argtypes = [ctypes.c_void_p]
    invalid_param, invalid_size, invalid_operation = 1, 9, 24
    assert set_up(activation=7) == invalid_param and not operation
    assert set_up(maps=True) == invalid_param and not operation
    assert set_up(k=9) == invalid_param and not operation
    assert set_up(k=2) == invalid_size and not operation
    assert library.AtbFusedAddTopkDiv(none, ctypes.c_uint64(0), none, context) == invalid_operation
    assert set_up() == 0 and operation
    workspace = torch.empty(size.value, dtype=torch.uint8, device="npu")
    torch.npu.synchronize()
    assert library.AtbFusedAddTopkDiv(ctypes.c_void_p(workspace.data_ptr()), size, operation, context) == 0
    torch.npu.synchronize()
    assert torch.allclose(tensors[2].cpu(), torch.full((2, 3), 1 / 3))
    assert library._ZN3atb16DestroyOperationEPNS_9OperationE(operation) == 0
    for handle in handles:
        library.aclDestroyTensor(handle)
    library._ZN3atb14DestroyContextEPNS_7ContextE(context)
