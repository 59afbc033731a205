"""Functions that PyTorch or torch_npu composes of others, and functions that fall back: on device npu beside the CPU, with gradients."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings

import pytest
import torch
from torch.nn import functional as F

import portacl.torch


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def positive(n: int, batch: int = 2) -> torch.Tensor:
    x = drawn(batch, n, n)
    return x @ x.mT + n * torch.eye(n)


def spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(torch.stft(x, 16, hop_length=4, window=torch.hann_window(16).to(x.device), return_complex=True))


def round_trip(x: torch.Tensor) -> torch.Tensor:
    window = torch.hann_window(16).to(x.device)
    return torch.istft(torch.stft(x, 16, hop_length=4, window=window, return_complex=True), 16, hop_length=4, window=window)


def normed_weights(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(6, 4)).to(x.device)
    return layer(x)


def normed_weights_of_old(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = torch.nn.utils.weight_norm(torch.nn.Conv1d(6, 4, 3)).to(x.device)
    return layer(x[..., None].expand(-1, -1, 5))


COMPOSED = {
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), drawn(2, 8, 3, 5)),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 3), drawn(2, 2, 6, 9)),
    "pixel_shuffle there and back": (lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2) * x, drawn(3, 4, 3, 5)),
    "weight_norm": (normed_weights, drawn(5, 6)),
    "weight_norm of old": (normed_weights_of_old, drawn(5, 6)),
    "stft": (spectrum, drawn(3, 64)),
    "istft": (round_trip, drawn(3, 64)),
    "fft": (lambda x: torch.fft.fft(x).abs(), drawn(4, 30)),
    "ifft": (lambda x: torch.view_as_real(torch.fft.ifft(x, dim=0).resolve_conj()), drawn(12, 5)),
    "rfft2": (lambda x: torch.view_as_real(torch.fft.rfft2(x, norm="ortho").resolve_conj()), drawn(2, 9, 14)),
    "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft(x), n=21), drawn(3, 21)),
    "fftn of a product": (lambda x: torch.fft.ifftn(torch.fft.fftn(x) * torch.fft.fftn(x)).real, drawn(3, 4, 6)),
    "fftshift": (lambda x: torch.fft.fftshift(x, dim=1), drawn(3, 7)),
}

FALLEN_BACK = {
    "huber_loss": (lambda x: F.huber_loss(x, x.detach().flip(0), delta=0.7), drawn(6, 5)),
    "multi_margin_loss": (lambda x: F.multi_margin_loss(x, torch.tensor([0, 3, 4, 1], device=x.device)), drawn(4, 5)),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), drawn(3, 8)),
    "mode": (lambda x: torch.mode((x * 2).round(), 1)[0] + x.sum(), drawn(4, 9)),
    "linalg.inv": (torch.linalg.inv, positive(5)),
    "linalg.solve": (lambda x: torch.linalg.solve(x, x[..., :2].detach() + 1), positive(4)),
    "linalg.det": (torch.linalg.det, positive(3)),
    "linalg.eigh": (lambda x: torch.linalg.eigh(x)[0], positive(5)),
    "linalg.eigvals": (lambda x: torch.view_as_real(torch.linalg.eigvals(x)).norm(dim=-1).sum(), positive(4)),
    "linalg.lu": (lambda x: torch.linalg.lu(x)[2], positive(4)),
    "linalg.lstsq": (lambda x: torch.linalg.lstsq(x, x[..., :1].detach()).solution, positive(4)),
    "linalg.matrix_power": (lambda x: torch.linalg.matrix_power(x / 10, -2), positive(3)),
    "linalg.householder_product": (lambda x: torch.linalg.householder_product(x.tril(-1) / 10, x[0] / 10), drawn(5, 3)),
}
# What those call: none of it may be native, else the list above no longer tells what it says.
ABSENT = """huber_loss multi_margin_loss _logcumsumexp mode linalg_inv_ex _linalg_solve_ex _linalg_det _linalg_eigh linalg_eig linalg_lu
linalg_lstsq.out linalg_householder_product""".split()


def with_gradient(function, x: torch.Tensor, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = x.detach().to(device).requires_grad_()
    y = function(leaf)
    assert y.device.type == device
    weights = torch.linspace(-1, 2, y.numel()).view(y.shape).to(y.dtype).to(device)
    (gradient,) = torch.autograd.grad(y, leaf, weights)
    return y.detach().cpu(), gradient.cpu()


@pytest.mark.parametrize("name", COMPOSED)
def test_composed(name):
    for got, want in zip(with_gradient(*COMPOSED[name], "npu"), with_gradient(*COMPOSED[name], "cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", FALLEN_BACK)
def test_fallen_back(name):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        on_npu = with_gradient(*FALLEN_BACK[name], "npu")
    assert not [one for one in told if "portacl" in str(one.message)]  # torch_npu tells of its own formats
    for got, want in zip(on_npu, with_gradient(*FALLEN_BACK[name], "cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_those_are_not_native():
    assert {f"aten::{name}" for name in ABSENT} & portacl.torch.own_operators() == set()


# The first use of an operator that falls back is told, once, unless the program asked for quiet.
def test_programs_may_ask_for_quiet(program):
    source = "torch.logcumsumexp(torch.ones(3).npu(), 0).cpu(); torch.logcumsumexp(torch.ones(3).npu(), 0).cpu()"
    for quiet in (True, False):
        out, err, status = program(source, **({"PORTACL_FALLBACK": "quiet"} if quiet else {}))
        assert (out, status, err.count("logcumsumexp")) == ("", 0, 0 if quiet else 1)
    assert program(source, PORTACL_FALLBACK="error")[2] != 0
