"""Quantisers: torch_npu's npu_*quant* on the device beside plain formulas of PyTorch on the CPU, meta tensors, torch.export."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu

import portacl.torch

HALVES = (torch.float16, torch.bfloat16)
OPERATORS = (
    "npu_add_rms_norm_dynamic_quant", "npu_add_rms_norm_quant", "npu_anti_quant", "npu_dequant_bias", "npu_dequant_swiglu_quant",
    "npu_dynamic_block_quant", "npu_dynamic_quant", "npu_dynamic_quant_asymmetric", "npu_group_quant", "npu_kronecker_quant", "npu_quant_matmul_gelu",
    "npu_quantize", "npu_rms_norm_quant", "npu_rotate_quant", "npu_swiglu_quant",
)
M, H = 7, 64


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def codes(x):
    return x.round().clamp(-128, 127).to(torch.int8)


def near(found, want, most=1):
    assert found.shape == want.shape
    assert (found.cpu().int() - want.int()).abs().max() <= most


@pytest.mark.parametrize("name", OPERATORS)
def test_is_own(name):
    assert f"npu::{name}" in portacl.torch.own_operators()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_dynamic(dtype):
    x = torch.randn(3, M, H).to(dtype)
    smooth = torch.rand(H).to(dtype)
    y, scale = torch_npu.npu_dynamic_quant(x.npu(), smooth_scales=smooth.npu())
    t = x.float() * smooth.float()
    want = t.abs().amax(-1) / 127
    torch.testing.assert_close(scale.cpu(), want)
    near(y, codes(t / want[..., None]))
    y, scale, offset = torch_npu.npu_dynamic_quant_asymmetric(x.npu())
    assert (y.cpu().float() - offset.cpu()[..., None]).mul(scale.cpu()[..., None]).sub(x.float()).abs().max() <= scale.max().item()
    packed, _ = torch_npu.npu_dynamic_quant(x.npu(), dst_type=torch.quint4x2)
    assert packed.dtype == torch.int32 and packed.shape == (3, M, H // 8)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_static(dtype):
    x = torch.randn(M, H).to(dtype)
    scale = torch.rand(H).to(dtype) + 0.5
    zero = torch.randint(-9, 9, (H,)).to(dtype)
    y = torch_npu.npu_quantize(x.npu(), scale.npu(), zero.npu(), torch.qint8, -1, False)
    near(y, codes(x.float() * scale.float() + zero.float()), 0)
    y = torch_npu.npu_quantize(x.float().npu(), scale.float().npu(), zero.int().npu(), torch.qint8, 1, True)
    near(y, codes(x.float() / scale.float() + zero.float()), 0)
    back = torch_npu.npu_anti_quant(y, scale.float().npu(), offset=-zero.float().npu(), dst_dtype=torch.float16)
    torch.testing.assert_close(back.cpu().float(), (y.cpu().float() - zero.float()) * scale.float(), rtol=1e-3, atol=1e-3)


def test_groups():
    x = torch.randn(M, H).half()
    scale = torch.rand(2, H).half() * 20
    ends = torch.tensor([3, M], dtype=torch.int32)
    y = torch_npu.npu_group_quant(x.npu(), scale.npu(), ends.npu(), dst_dtype=torch.qint8)
    rows = torch.where(torch.arange(M) < 3, 0, 1)
    near(y, codes(x.float() * scale.float()[rows]), 0)


def norm(x, gamma, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gamma


def test_norms():
    x1, x2 = torch.randn(M, H).bfloat16(), torch.randn(M, H).bfloat16()
    gamma = torch.rand(H).bfloat16()
    scale = torch.full((H,), 0.03).bfloat16()
    zero = torch.zeros(H).bfloat16()
    y, _, total = torch_npu.npu_add_rms_norm_quant(x1.npu(), x2.npu(), gamma.npu(), scale.npu(), zero.npu())
    assert torch.equal(total.cpu(), x1 + x2)
    n = norm(x1.float() + x2.float(), gamma.float())
    near(y, codes(n / scale.float()))
    y, _, total, step, _ = torch_npu.npu_add_rms_norm_dynamic_quant(x1.npu(), x2.npu(), gamma.npu(), output_mask=[True, False])
    torch.testing.assert_close(step.cpu(), n.abs().amax(-1) / 127, rtol=1e-4, atol=1e-6)
    near(y, codes(n / step.cpu()[:, None]))
    one, none = torch.tensor([0.05]).bfloat16(), torch.tensor([3], dtype=torch.int8)
    y = torch_npu.npu_rms_norm_quant(x1.npu(), gamma.npu(), zero.npu(), one.npu(), none.npu(), 1e-6)
    near(y, codes(norm(x1.float(), gamma.float()) / one.float() + 3))


def test_activations():
    x = torch.randint(-500, 500, (M, 2 * H), dtype=torch.int32)
    weight, row = torch.rand(2 * H) / 100, torch.rand(M)
    y, step = torch_npu.npu_dequant_swiglu_quant(x.npu(), weight_scale=weight.npu(), activation_scale=row.npu(), activate_left=True, quant_mode=1)
    v = x.float() * weight * row[:, None]
    z = torch.nn.functional.silu(v[:, :H]) * v[:, H:]
    torch.testing.assert_close(step.cpu(), z.abs().amax(-1) / 127, rtol=1e-4, atol=1e-6)
    near(y, codes(z / step.cpu()[:, None]))
    half = torch.randn(M, 2 * H).half()
    y, step = torch_npu.npu_swiglu_quant(half.npu(), activate_left=True, quant_mode=1)
    z = torch.nn.functional.silu(half.float()[:, :H]) * half.float()[:, H:]
    near(y, codes(z * step.cpu()[:, None]))
    out = torch_npu.npu_dequant_bias(x.npu(), weight.npu(), row.npu(), None, output_dtype=torch.float16)
    torch.testing.assert_close(out.cpu().float(), v, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_blocks(dtype):
    x = torch.randn(M, 300).to(dtype)
    y, scale = torch_npu.npu_dynamic_block_quant(x.npu(), row_block_size=1, col_block_size=128)
    assert scale.shape == (M, 3)
    for block, part in enumerate(x.float().split(128, dim=1)):
        want = part.abs().amax(1) / 127
        torch.testing.assert_close(scale[:, block].cpu(), want, rtol=1e-6, atol=0)
        near(y[:, 128 * block:128 * (block + 1)], codes(part / want[:, None]))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rotations(dtype):
    x, rotation = torch.randn(M, 128).to(dtype), torch.randn(32, 32).to(dtype)
    y, scale = torch_npu.npu_rotate_quant(x.npu(), rotation.npu())
    z = (x.float().view(M, 4, 32) @ rotation.float()).view(M, 128)
    torch.testing.assert_close(scale.cpu(), z.abs().amax(1) / 127, rtol=1e-4, atol=0)
    near(y, codes(z / scale.cpu()[:, None]))
    x, first, second = torch.randn(3, 4, 8).to(dtype), torch.randn(4, 4).to(dtype), torch.randn(8, 8).to(dtype)
    y, scale = torch_npu.npu_kronecker_quant(x.npu(), first.npu(), second.npu(), 1.0)
    z = first.float() @ (x.float() @ second.float()).to(dtype).float()
    torch.testing.assert_close(scale.cpu(), z.abs().amax((1, 2)) / 7, rtol=2e-2, atol=0)
    halves = (y.cpu()[..., None] >> (4 * torch.arange(8))) & 15
    near(((halves ^ 8) - 8).view(3, 4, 8), (z / scale.cpu()[:, None, None]).round().clamp(-8, 7))


@pytest.fixture
def internal_formats():
    """Lets tensors have formats of the device; without that torch_npu leaves them in ND."""
    torch.npu.config.allow_internal_format = True
    yield
    torch.npu.config.allow_internal_format = False


@pytest.mark.usefixtures("internal_formats")
@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.int8, torch.int32], ids=str)
@pytest.mark.parametrize("shape", [(33, 17), (1, 48), (3, 20, 40)], ids=str)
def test_fractal(dtype, shape):
    x = torch.randint(-99, 99, shape).to(dtype)
    y = torch_npu.npu_format_cast(x.npu(), 29)
    assert torch_npu.get_npu_format(y) == 29
    for same in (y, y.clone(), y.detach(), torch_npu.npu_format_cast(y, 2)):
        assert torch.equal(same.cpu(), x)
    assert torch.equal(y.reshape(-1).cpu(), x.reshape(-1))
    assert torch.equal(y[..., 1:].cpu(), x[..., 1:])
    y.copy_(x.npu() + 1)
    assert torch_npu.get_npu_format(y) == 29
    assert torch.equal(y.cpu(), x + 1)


@pytest.mark.usefixtures("internal_formats")
def test_fractal_weights():
    x, weight = torch.randint(-9, 9, (M, H), dtype=torch.int8), torch.randint(-9, 9, (H, 40), dtype=torch.int8)
    scale, of_rows = torch.rand(40), torch.rand(M)
    fractal = torch_npu.npu_format_cast(weight.npu(), 29)
    y = torch_npu.npu_quant_matmul(x.npu(), fractal, scale.npu(), pertoken_scale=of_rows.npu(), output_dtype=torch.bfloat16)
    want = (x.int() @ weight.int()).float() * scale * of_rows[:, None]
    torch.testing.assert_close(y.cpu(), want.bfloat16())


@pytest.mark.parametrize("approximate", ["gelu_erf", "gelu_tanh"])
def test_gelu_of_products(approximate):
    x, weight = torch.randint(-9, 9, (M, H), dtype=torch.int8), torch.randint(-9, 9, (H, 40), dtype=torch.int8)
    of_rows, scale = torch.rand(M) / 50, torch.rand(40) / 50
    y = torch_npu.npu_quant_matmul_gelu(x.npu(), weight.npu(), of_rows.npu(), scale.npu(), approximate=approximate)
    product = (x.int() @ weight.int()).float() * scale * of_rows[:, None]
    want = torch.nn.functional.gelu(product, approximate=approximate.removeprefix("gelu_").replace("erf", "none"))
    torch.testing.assert_close(y.cpu().float(), want, rtol=1e-2, atol=1e-4)


def test_on_ascend_950(program):
    out, err, status = program(
        """
        torch.manual_seed(0)
        x = torch.randn(7, 64).bfloat16()
        y, scale = torch_npu.npu_gelu_quant(x.npu(), approximate="tanh", quant_mode="dynamic", dst_type=1)
        want = torch.nn.functional.gelu(x.float(), approximate="tanh")
        print(bool(((y.cpu() * scale.cpu()[:, None] - want).abs() <= 0.51 * scale.cpu()[:, None]).all()))
        a, b = torch.randn(16, 32).to(torch.float8_e4m3fn), torch.randn(32, 24).to(torch.float8_e4m3fn)
        of_rows, scale = torch.rand(16), torch.rand(24)
        got = torch_npu.npu_quant_matmul(a.npu(), b.npu(), scale.npu(), pertoken_scale=of_rows.npu(), output_dtype=torch.bfloat16)
        want = (a.float() @ b.float()) * scale * of_rows[:, None]
        print(torch.allclose(got.cpu().float(), want, rtol=1e-2, atol=1e-2))
        """,
        PORTACL_SOC="Ascend950PR_9579",
    )
    assert status == 0, err[-2000:]
    assert out.split() == ["True", "True"]


class Quantised(torch.nn.Module):
    def forward(self, x):
        y, scale = torch_npu.npu_dynamic_quant(x)
        return y.float() * scale[:, None]


def test_meta_and_export():
    x = torch.empty(M, H, dtype=torch.bfloat16, device="meta")
    y, scale = torch_npu.npu_dynamic_quant(x)
    assert y.shape == (M, H) and y.dtype == torch.int8 and scale.shape == (M,) and scale.dtype == torch.float32
    device = torch.randn(M, H).bfloat16().npu()
    exported = torch.export.export(Quantised(), (device,))
    assert torch.equal(exported.module()(device), Quantised()(device))


def test_refusals_leave_nothing_behind():
    x = torch.randn(M, H).half().npu()
    with pytest.raises(RuntimeError, match="aclnnDynamicQuant"):
        torch_npu.npu_dynamic_quant(x, smooth_scales=torch.rand(H + 1).half().npu())
    y, _ = torch_npu.npu_dynamic_quant(x)
    assert y.abs().amax() == 127
