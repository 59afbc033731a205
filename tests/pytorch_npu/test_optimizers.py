"""Optimizers of PyTorch on lists of tensors and fused: what they compute on device npu, beside device cpu."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings

import pytest
import torch

FOREACH = ("AdamW", "Adam", "SGD", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adadelta", "Adamax", "ASGD", "Rprop")
FUSED = {"AdamW": {}, "Adam": {}, "SGD": {"momentum": 0.9}}  # torch_npu's fused SGD takes no momentum of 0
# Parameters are below 1, steps about 0.01: five of them, each with a few roundings of 2^-24, and of gradients that differ as little.
BOUND = 2.0**-20


def trained(device: str, optimizer: str, **options: bool | float) -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.Tanh(), torch.nn.Linear(20, 3)).to(device)
    steps = getattr(torch.optim, optimizer)(model.parameters(), lr=0.01, **options)
    inputs = torch.Generator().manual_seed(1)
    for _ in range(5):
        steps.zero_grad()
        model(torch.randn(8, 10, generator=inputs).to(device)).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        steps.step()
    return torch.cat([parameter.detach().flatten().cpu() for parameter in model.parameters()])


@pytest.mark.parametrize("optimizer", FOREACH)
def test_lists(optimizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what falls back
        on_npu = trained("npu", optimizer, foreach=True)
    assert (on_npu - trained("cpu", optimizer, foreach=True)).abs().max() <= BOUND


@pytest.mark.parametrize("optimizer", FUSED)
def test_fused(optimizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        on_npu = trained("npu", optimizer, fused=True, **FUSED[optimizer])
    assert (on_npu - trained("cpu", optimizer, fused=True, **FUSED[optimizer])).abs().max() <= BOUND


def test_the_same_bits_again():
    assert torch.equal(trained("npu", "AdamW", foreach=True), trained("npu", "AdamW", foreach=True))


def test_integers_among_scalars_fall_back():
    tensors = [torch.ones(3).npu(), torch.ones(2, 2).npu()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = torch._foreach_mul(tensors, [1, 2])
    assert torch.equal(result[1].cpu(), torch.full((2, 2), 2.0))
