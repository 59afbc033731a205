"""Operators for which an older version of CANN's function is enough: own, and right against float64."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
import torch_npu

import portacl.torch
from portacl.torch import _table
from portacl_start import versions

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
import check_torch_npu_functions  # noqa: E402

HEADS, KEY_HEADS, DEPTH, BLOCK = 4, 2, 32, 128
SCALE = DEPTH**-0.5
QUERIES, KEYS = (5, 1, 37), (9, 200, 37)


def test_are_own():
    own = portacl.torch.own_operators()
    attention = {f"npu::npu_fused_infer_attention_score{version}{form}" for version in ("", "_v2") for form in ("", ".out")}
    assert attention | {"npu::npu_rotary_mul", "npu::npu_weight_quant_batchmatmul"} <= own


def test_all_functions_that_are_looked_up_are_listed():
    library = Path(torch_npu.__file__).parent / "lib" / "libtorch_npu.so"
    listed = TOOLS / "torch_npu_table" / f"functions-{versions.nearest(torch_npu.__version__)}.txt"
    assert check_torch_npu_functions.names_in(library.read_bytes()) == listed.read_text().split()


class TestTable:
    def test_one_version_is_enough(self):
        some = _table.table_for(torch_npu.__version__, "Ascend910B1")
        needs = some.needs("aten::npu_fused_infer_attention_score")
        for version in ("V2", "V3"):
            assert some.missing(needs, {"aclnnFusedInferAttentionScore" + version}.__contains__) == []
        lacking = some.missing(needs, {"aclnnFusedInferAttentionScoreV5"}.__contains__)
        assert lacking == ["aclnnFusedInferAttentionScoreV3 or aclnnFusedInferAttentionScoreV2"]

    def test_another_product_needs_another(self):
        some = _table.table_for(torch_npu.__version__, "Ascend950PR_9579")
        for name in (f"aten::npu_fused_infer_attention_score{version}{form}" for version in ("", "_v2") for form in ("", ".out")):
            assert some.missing(some.needs(name), lambda name: not name.endswith("V5")) == ["aclnnFusedInferAttentionScoreV5"]

    def test_where_the_cpu_computes_all_are_needed(self):
        data = _table.table_for(torch_npu.__version__, "Ascend910B1")
        with_versions = [name for name, needs in data._needs.items() if "|" in needs]
        assert len(with_versions) > 20
        for name in with_versions:
            assert name.startswith(("aten::npu_", "aten::_npu_"))


def exact(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, is_causal: bool) -> torch.Tensor:
    """One sequence, [tokens, heads, depth], in float64."""
    q, k, v = (t.double().transpose(0, 1) for t in (query, key, value))
    k, v = (t.repeat_interleave(HEADS // KEY_HEADS, 0) for t in (k, v))
    scores = q @ k.transpose(1, 2) * SCALE
    if is_causal:  # the last query sees all keys
        scores += torch.full(scores.shape[1:], -torch.inf, dtype=torch.float64).triu(scores.shape[2] - scores.shape[1] + 1)
    return (torch.softmax(scores, 2) @ v).transpose(0, 1)


def sequences(dtype: torch.dtype, queries: tuple[int, ...] = QUERIES) -> list[tuple[torch.Tensor, ...]]:
    shapes = [((q, HEADS), (k, KEY_HEADS), (k, KEY_HEADS)) for q, k in zip(queries, KEYS)]
    return [tuple(torch.randn(*shape, DEPTH).to(dtype) for shape in each) for each in shapes]


def ends(lengths: tuple[int, ...]) -> list[int]:
    return torch.tensor(lengths).cumsum(0).tolist()


def infer(version: str, query, key, value, layout: str, queries=None, keys=None, **others) -> torch.Tensor:
    names = {
        "": ("num_heads", "scale", "actual_seq_lengths", "actual_seq_lengths_kv"),
        "_v2": ("num_query_heads", "softmax_scale", "actual_seq_qlen", "actual_seq_kvlen"),
    }[version]
    given = {**dict(zip(names, (HEADS, SCALE, queries, keys))), **others}
    given = {name: one.npu() if isinstance(one, torch.Tensor) else one for name, one in given.items()}
    tensors = (query.npu(), key.npu(), value.npu())
    function = getattr(torch.ops.npu, "npu_fused_infer_attention_score" + version)
    result = function(*tensors, num_key_value_heads=KEY_HEADS, input_layout=layout, **given)[0]
    into = [torch.zeros_like(result), torch.zeros(1, device="npu")]
    function.out(*tensors, num_key_value_heads=KEY_HEADS, input_layout=layout, **given, out=into)
    assert torch.equal(into[0], result)
    return result.cpu()


def assert_near(got: torch.Tensor, want: torch.Tensor) -> None:
    tolerance = 2e-3 if got.dtype is torch.float16 else 1.6e-2
    torch.testing.assert_close(got.double(), want, rtol=tolerance, atol=tolerance)


FUTURE = torch.ones(2048, 2048, dtype=torch.int8).triu(1)


@pytest.mark.parametrize("version", ["", "_v2"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
class TestAttention:
    def test_packed(self, dtype, version):
        all_of_them = sequences(dtype)
        packed = [torch.cat(some) for some in zip(*all_of_them)]
        got = infer(version, *packed, "TND", ends(QUERIES), ends(KEYS), sparse_mode=3, atten_mask=FUTURE)
        assert_near(got, torch.cat([exact(*one, True) for one in all_of_them]))

    def test_batch(self, dtype, version):
        query, key, value = (torch.randn(2, 11, heads, DEPTH).to(dtype) for heads in (HEADS, KEY_HEADS, KEY_HEADS))
        got = infer(version, *(t.transpose(1, 2).contiguous() for t in (query, key, value)), "BNSD")
        assert_near(got.transpose(1, 2), torch.stack([exact(q, k, v, False) for q, k, v in zip(query, key, value)]))

    def test_paged(self, dtype, version):
        all_of_them = sequences(dtype, queries=(1, 1, 1))
        table, blocks = torch.tensor([[5, 0], [1, 3], [4, 0]], dtype=torch.int32), 6
        caches = [torch.zeros(blocks, BLOCK, KEY_HEADS * DEPTH, dtype=dtype) for _ in range(2)]
        for row, (_, *pair) in zip(table.tolist(), all_of_them):
            for cache, tokens in zip(caches, pair):
                for block, part in zip(row, tokens.flatten(1).split(BLOCK)):
                    cache[block, : len(part)] = part
        query = torch.cat([one[0] for one in all_of_them])
        got = infer(
            version, query, *caches, "TND", [1, 2, 3], list(KEYS), sparse_mode=3, atten_mask=FUTURE, block_table=table, block_size=BLOCK
        )
        assert_near(got, torch.cat([exact(*one, True) for one in all_of_them]))


@pytest.mark.parametrize("mode", ["half", "interleave"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rotary(dtype, mode):
    x, cosine, sine = (torch.randn(shape).to(dtype) for shape in ((2, 5, 3, 16), (1, 5, 1, 16), (1, 5, 1, 16)))
    wide = x.double()
    if mode == "half":
        turned = torch.cat([-wide[..., 8:], wide[..., :8]], -1)
    else:
        turned = torch.stack([-wide[..., 1::2], wide[..., ::2]], -1).flatten(-2)
    got = torch_npu.npu_rotary_mul(x.npu(), cosine.npu(), sine.npu(), mode).cpu()
    tolerance = {torch.float32: 1e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    torch.testing.assert_close(got.double(), wide * cosine.double() + turned * sine.double(), rtol=tolerance, atol=tolerance)


def test_rotary_by_a_matrix():
    x, turn = torch.randn(1, 2, 3, 4), torch.randn(4, 4)
    if _table.loaded_functions()("aclnnRotaryPositionEmbeddingV2"):
        got = torch_npu.npu_rotary_mul(x.npu(), x.npu(), x.npu(), "half", turn.npu()).cpu()
        torch.testing.assert_close(got, x * x + x @ turn * x)
        return
    # Without that version torch_npu would take no notice of the matrix.
    with pytest.raises(NotImplementedError, match="npu_rotary_mul needs aclnnRotaryPositionEmbeddingV2.*no notice of rotate"):
        torch_npu.npu_rotary_mul(x.npu(), x.npu(), x.npu(), "half", turn.npu())
    assert (torch.full((1,), 7.0, device="npu") * 2 + 1).item() == 15


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_bytes(dtype):
    x, weight = torch.randn(6, 64).to(dtype), torch.randint(-128, 128, (64, 24), dtype=torch.int8)
    scale, offset = (torch.rand(24) / 100).to(dtype), torch.randint(-9, 9, (24,)).to(dtype)
    got = torch_npu.npu_weight_quant_batchmatmul(x.npu(), weight.npu(), scale.npu(), offset.npu()).cpu()
    want = x.double() @ ((weight.double() + offset.double()) * scale.double())
    tolerance = 1e-2 if dtype is torch.float16 else 8e-2
    torch.testing.assert_close(got.double(), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("product", ["Ascend910B1", "Ascend950PR_9579"])
def test_floats_of_eight_bits(program, product):
    # torch_npu has them on Ascend 950 alone; elsewhere they fall back.
    out, err, status = program(
        """
        a, b = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(16, 32).to(torch.float8_e4m3fn).t()
        one = torch.ones(())
        got = torch._scaled_mm(a.npu(), b.npu(), one.npu(), one.npu(), out_dtype=torch.float32).cpu()
        print(torch.allclose(got, torch._scaled_mm(a, b, one, one, out_dtype=torch.float32), rtol=1e-5, atol=1e-5))
        """,
        PORTACL_SOC=product,
        PORTACL_FALLBACK="quiet",
    )
    assert status == 0, err[-2000:]
    assert out.split() == ["True"]
