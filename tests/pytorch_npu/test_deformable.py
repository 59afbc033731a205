"""Deformable convolutions of torch_npu beside PyTorch's sampling of grids in float64, and its module, which trains through them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu
from torch.nn import functional as F
from torch_npu.contrib.module.deform_conv import ModulatedDeformConv


def samples_of(x, offset, kernel, stride, padding, dilation, groups):
    """What kernel positions meet that offsets move, times their factors: N, C, rows * kernel rows, columns * kernel columns."""
    n, c, height, width = x.shape
    rows, columns = offset.shape[2:]
    moved = offset.view(n, 3, groups, *kernel, rows, columns)

    def places(axis, count, before):
        steps = torch.arange(count)[None] * stride[axis] + torch.arange(kernel[axis])[:, None] * dilation[axis] - before
        return steps.to(x.dtype)

    px = places(1, columns, padding[2])[None, None, None, :, None, :] + moved[:, 0]
    py = places(0, rows, padding[0])[None, None, :, None, :, None] + moved[:, 1]
    # Beside an image of one row or column coordinates cannot be normalized.
    grid = torch.stack([px * 2 / (width - 1) - 1, py * 2 / (height - 1) - 1], -1)
    of_group = x.view(n * groups, c // groups, height, width)
    found = F.grid_sample(of_group, grid.view(n * groups, -1, columns, 2), mode="bilinear", padding_mode="zeros", align_corners=True)
    found = found.view(n, groups, c // groups, *kernel, rows, columns) * moved[:, 2][:, :, None]
    return found.permute(0, 1, 2, 5, 3, 6, 4).reshape(n, c, rows * kernel[0], columns * kernel[1])


def convolved(x, weight, offset, bias, settings):
    stride, dilation = settings["stride"][2:], settings["dilation"][2:]
    samples = samples_of(x, offset, weight.shape[2:], stride, settings["padding"], dilation, settings["deformable_groups"])
    return F.conv2d(samples, weight, bias, weight.shape[2:], groups=settings["groups"]), samples


SETTINGS = {
    "kernel_size": [3, 2],
    "stride": [1, 1, 2, 1],
    "padding": [1, 2, 0, 1],
    "dilation": [1, 1, 1, 2],
    "groups": 2,
    "deformable_groups": 3,
    "modulated": True,
}


def operands(dtype=torch.float32):
    shapes = ((2, 12, 9, 11), (8, 6, 3, 2), (2, 54, 5, 10), (8,))
    return [(torch.randn(shape) * 1.5).to(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("has_bias", [False, True])
def test_convolutions(has_bias, dtype):
    x, weight, offset, bias = operands(dtype)
    bias = bias if has_bias else None
    tolerance = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    want = convolved(*(None if one is None else one.double() for one in (x, weight, offset, bias)), SETTINGS)
    got = torch_npu.npu_deformable_conv2d(*(None if one is None else one.npu() for one in (x, weight, offset, bias)), **SETTINGS)
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == dtype
        torch.testing.assert_close(ours.cpu().double(), theirs, rtol=tolerance, atol=tolerance)


def test_empty_batches():
    x, weight, offset, bias = (one.npu() for one in operands())
    out, samples = torch_npu.npu_deformable_conv2d(x[:0], weight, offset[:0], bias, **SETTINGS)
    assert out.shape == (0, 8, 5, 10)
    assert samples.shape == (0, 12, 15, 20)


def test_refusals():
    x, weight, offset, bias = (one.npu() for one in operands())
    with pytest.raises(RuntimeError, match="modulated is False"):
        torch_npu.npu_deformable_conv2d(x, weight, offset, bias, **{**SETTINGS, "modulated": False})
    with pytest.raises(RuntimeError, match="offset"):
        torch_npu.npu_deformable_conv2d(x, weight, offset[:, :36].contiguous(), bias, **SETTINGS)


def check_gradients():
    given = operands()
    exact = [one.double().requires_grad_() for one in given]
    out, samples = convolved(*exact, SETTINGS)
    gradient = torch.randn(out.shape)
    out.backward(gradient.double())
    x, weight, offset, _ = given
    ours = [one.npu().requires_grad_() for one in given]
    got, _ = torch_npu.npu_deformable_conv2d(*ours, **SETTINGS)
    got.backward(gradient.npu())
    for mine, theirs in zip(ours, exact, strict=True):
        torch.testing.assert_close(mine.grad.cpu().double(), theirs.grad, rtol=2e-4, atol=2e-4)
    operator = torch_npu.npu_deformable_conv2dbk
    got = operator(*(one.npu() for one in (x, gradient, samples.detach().float(), weight, offset)), **SETTINGS)
    for mine, theirs in zip(got, exact, strict=True):
        torch.testing.assert_close(mine.cpu().double(), theirs.grad, rtol=2e-4, atol=2e-4)


def check_module():
    """torch_npu's module learns what one with other offsets makes."""
    module = ModulatedDeformConv(4, 6, 3, padding=1, deformable_groups=2).npu()
    images = torch.randn(2, 4, 8, 8).npu()
    with torch.no_grad():
        module.conv_offset.bias.normal_()
        module.bias.normal_()
        wanted = module(images).clone()
        module.conv_offset.bias.mul_(0.3)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.03)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((module(images) - wanted) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0], losses
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in module.parameters())


def test_gradients():
    check_gradients()


def test_the_module_trains():
    check_module()


# There the operators are native ones; else they are composed of sampling at grids.
def test_on_ascend_950(program):
    out, err, status = program(
        f"""
        import sys
        sys.path.insert(0, {__file__.rpartition("/")[0]!r})
        import test_deformable
        torch.manual_seed(20)
        test_deformable.check_gradients()
        test_deformable.check_module()
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            test_deformable.test_convolutions(True, dtype)
        test_deformable.test_empty_batches()
        try:
            x, weight, offset, bias = (one.npu() for one in test_deformable.operands())
            torch_npu.npu_deformable_conv2d(x, weight, offset, bias, **{{**test_deformable.SETTINGS, "modulated": False}})
            torch.npu.synchronize()
        except RuntimeError as error:
            assert "modulated" in str(error), error
        else:
            raise AssertionError("not refused")
        print("done")
        """,
        PORTACL_SOC="Ascend950PR_9579",
        PORTACL_FALLBACK="error",
    )
    assert status == 0, err[-3000:]
    assert out.splitlines()[-1] == "done", out
