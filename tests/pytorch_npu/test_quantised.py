"""Quantised products through torch_npu's own functions: exact integer sums in float64, scaled step by step."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu


def integers(*shape: int, bits: int = 8) -> torch.Tensor:
    return torch.randint(-(1 << bits - 1), 1 << bits - 1, shape, dtype=torch.int8)


def sums(x1: torch.Tensor, x2: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    exact = x1.double() @ x2.double()
    return (exact if bias is None else exact + bias.double()).float()


def on_npu(*tensors: torch.Tensor | None) -> list[torch.Tensor | None]:
    return [None if one is None else one.npu() for one in tensors]


def quant_matmul(x1, x2, scale, **others):
    others = {name: one.npu() if isinstance(one, torch.Tensor) else one for name, one in others.items()}
    return torch_npu.npu_quant_matmul(*on_npu(x1, x2, scale), **others).cpu()


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_scales_of_tokens(dtype, is_transposed):
    x1, x2 = integers(5, 300), integers(300, 17)
    if is_transposed:
        x2 = x2.t().contiguous().t()
    scale, tokens = torch.rand(17) / 1000, torch.rand(5)
    got = quant_matmul(x1, x2, scale, pertoken_scale=tokens, output_dtype=dtype)
    assert torch.equal(got, (sums(x1, x2) * scale * tokens[:, None]).to(dtype))


def test_scales_of_columns():
    x1, x2, bias = integers(2, 4, 64), integers(64, 9), torch.randint(-1000, 1000, (9,), dtype=torch.int32)
    scale = torch.rand(9) / 1000
    got = quant_matmul(x1, x2, scale.bfloat16(), bias=bias, output_dtype=torch.bfloat16)
    assert torch.equal(got, (sums(x1, x2, bias) * scale.bfloat16().float()).bfloat16())
    got = quant_matmul(x1, x2, scale, output_dtype=torch.int32)
    assert torch.equal(got.double(), x1.double() @ x2.double())


def kept(scale: torch.Tensor) -> torch.Tensor:
    """What words of 64 bits hold of a scale: all but its low 13 bits."""
    return (scale.view(torch.int32) >> 13 << 13).view(torch.float32)


def test_words_as_scales():
    x1, x2 = integers(5, 300), integers(300, 17)
    scale, offset = torch.rand(17) / 1000, torch.randint(-20, 20, (17,)).float()
    words = torch_npu.npu_trans_quant_param(*on_npu(scale, offset)).cpu()
    assert words.dtype == torch.int64
    low = kept(scale).view(torch.int32).long() & 0xFFFFFFFF
    assert torch.equal(words, low | (offset.long() & 511) << 37 | 1 << 46)
    values = sums(x1, x2) * kept(scale)
    assert torch.equal(quant_matmul(x1, x2, words, output_dtype=torch.float16), values.half())
    want = (values + offset).round().clamp(-128, 127).to(torch.int8)
    assert torch.equal(quant_matmul(x1, x2, words), want)
    # A scale of FLOAT is made into words on the way.
    assert torch.equal(quant_matmul(x1, x2, scale, output_dtype=torch.float16), values.half())
    assert torch.equal(quant_matmul(x1, x2, scale, offset=offset), want)


def test_four_bits():
    x1, x2 = integers(3, 64, bits=4), integers(64, 16, bits=4)

    def packed(numbers: torch.Tensor) -> torch.Tensor:
        nibbles = (numbers.long() & 15).view(numbers.shape[0], -1, 8) << torch.arange(0, 32, 4)
        words = nibbles.sum(-1)
        return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)

    scale, tokens = torch.rand(16) / 100, torch.rand(3)
    got = quant_matmul(packed(x1), packed(x2), scale, pertoken_scale=tokens, output_dtype=torch.bfloat16)
    assert torch.equal(got, (sums(x1, x2) * scale * tokens[:, None]).bfloat16())
