"""torch_npu's norm of a sum, which PyTorch has not, beside PyTorch's norm of the sum on the CPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu  # noqa: F401
from torch import nn

import portacl.torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("with_sum", [True, False])
@pytest.mark.parametrize("last", [(8,), (3, 8)], ids=str)
def test_add_layer_norm(last, with_sum, dtype):
    assert "npu::npu_add_layer_norm" in portacl.torch.own_operators()
    x1, x2, gamma, beta = (torch.randn(shape).to(dtype) for shape in ((2, 3, 8), (2, 3, 8), last, last))
    of_npu = (one.npu() for one in (x1, x2, gamma, beta))
    y, mean, rstd, x = torch.ops.npu.npu_add_layer_norm(*of_npu, 1e-5, with_sum)
    total = x1.float() + x2.float()
    want, mean_of, rstd_of = torch.native_layer_norm(total, last, gamma.float(), beta.float(), 1e-5)
    torch.testing.assert_close(y.cpu(), want.to(dtype))
    torch.testing.assert_close(mean.cpu().flatten(), mean_of.flatten())
    torch.testing.assert_close(rstd.cpu().flatten(), rstd_of.flatten())
    if with_sum:
        assert torch.equal(x.cpu(), total.to(dtype))


def test_the_terms_may_have_two_dtypes():
    x1, x2, one = torch.randn(4, 6), torch.randn(4, 6).bfloat16(), torch.ones(6)
    y = torch.ops.npu.npu_add_layer_norm(x1.npu(), x2.npu(), one.npu(), one.npu())[0]
    torch.testing.assert_close(y.cpu(), nn.functional.layer_norm(x1 + x2.float(), (6,), one, one))
