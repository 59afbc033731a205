"""Deformable convolutions of torch_npu beside PyTorch's sampling of grids in float64, and its module, which trains through them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu
from torch.nn import functional as F


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
    samples = samples_of(x, offset, weight.shape[2:], settings["stride"][2:], settings["padding"], settings["dilation"][2:], settings["deformable_groups"])
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
    with pytest.raises(RuntimeError, match="modulated is false"):
        torch_npu.npu_deformable_conv2d(x, weight, offset, bias, **{**SETTINGS, "modulated": False})
    with pytest.raises(RuntimeError, match="offset"):
        torch_npu.npu_deformable_conv2d(x, weight, offset[:, :36].contiguous(), bias, **SETTINGS)


# The gradient is Ascend 950's alone.
PROGRAM = """
import sys
sys.path.insert(0, "{folder}")
from test_deformable import SETTINGS, convolved, operands

torch.manual_seed(20)
given = operands()
exact = [one.double().requires_grad_() for one in given]
out, samples = convolved(*exact, SETTINGS)
gradient = torch.randn(out.shape)
out.backward(gradient.double())
x, weight, offset, bias = given

ours = [one.npu().requires_grad_() for one in given]
got, _ = torch_npu.npu_deformable_conv2d(*ours, **SETTINGS)
got.backward(gradient.npu())
for mine, theirs in zip(ours, exact):
    torch.testing.assert_close(mine.grad.cpu().double(), theirs.grad, rtol=1e-4, atol=1e-4)

for dtype, tolerance in ((torch.float32, 1e-4), (torch.float16, 2e-2)):
    got = torch_npu.npu_deformable_conv2dbk(
        *(one.to(dtype).npu() for one in (x, gradient, samples.detach().float(), weight, offset)), **SETTINGS)
    for mine, theirs in zip(got, exact):
        assert mine.dtype == dtype
        difference = (mine.cpu().double() - theirs.grad).abs().max() / theirs.grad.abs().max()
        assert dtype != torch.float32 or difference < tolerance, (dtype, difference)

# torch_npu's module learns what one with other offsets makes.
from torch_npu.contrib.module.deform_conv import ModulatedDeformConv
module = ModulatedDeformConv(4, 6, 3, padding=1, deformable_groups=2).npu()
images = torch.randn(2, 4, 8, 8).npu()
with torch.no_grad():
    module.conv_offset.bias.normal_()
    module.bias.normal_()
    wanted = module(images).clone()
    module.conv_offset.bias.mul_(0.3)
optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = ((module(images) - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < 0.5 * losses[0], losses
assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in module.parameters())
print("done")
"""


def test_gradients_and_the_module_that_trains(program):
    folder = __file__.rpartition("/")[0]
    out, err, status = program(PROGRAM.format(folder=folder), PORTACL_SOC="Ascend950PR_9579", PORTACL_FALLBACK="error")
    assert status == 0, err
    assert out.splitlines()[-1] == "done", out


def test_no_gradient_elsewhere():
    x, weight, offset, bias = (one.npu() for one in operands())
    out, _ = torch_npu.npu_deformable_conv2d(x.requires_grad_(), weight, offset, bias, **SETTINGS)
    with pytest.raises(RuntimeError, match="only on Ascend 950"):
        out.sum().backward()
