"""Whole recurrent networks: aclnnLSTM and its gradient where they compute what PyTorch means, single steps elsewhere."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu  # noqa: F401
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def outcomes(module: nn.LSTM, place: str, x: torch.Tensor, states=None, lengths=None, train: bool = True):
    """Output, states and the gradients of everything."""
    module = module.to(place).train(train)
    module.zero_grad()
    x = x.detach().to(place).requires_grad_()
    states = None if states is None else tuple(s.detach().to(place).requires_grad_() for s in states)
    given = x if lengths is None else pack_padded_sequence(x, lengths, batch_first=module.batch_first)
    y, (h, c) = module(given, states)
    if lengths is not None:
        y, _ = pad_packed_sequence(y, batch_first=module.batch_first)
    (y.square().sum() + h.sin().sum() + c.cos().sum()).backward()
    leaves = [x, *(states or ()), *module.parameters()]
    return [t.detach().cpu() for t in (y, h, c, *(leaf.grad for leaf in leaves))]


def compare(module: nn.LSTM, x: torch.Tensor, tolerance: float = 2e-6, **how):
    want = outcomes(module, "cpu", x, **how)
    got = outcomes(module, "npu", x, **how)
    for a, b in zip(got, want):
        assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * (1 + b.abs().max().item()))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_lstm(layers, bidirectional, bias, batch_first):
    module = nn.LSTM(7, 19, layers, bias=bias, batch_first=batch_first, bidirectional=bidirectional)
    compare(module, torch.randn(5, 6, 7))


def test_states_are_given_and_have_gradients():
    module = nn.LSTM(4, 6, 2, bidirectional=True)
    compare(module, torch.randn(3, 2, 4), states=(torch.randn(4, 2, 6), torch.randn(4, 2, 6)))


def test_a_view():
    compare(nn.LSTM(4, 6), torch.randn(4, 2, 9).transpose(0, 2)[::2])


def test_evaluation():
    compare(nn.LSTM(4, 6, 2, dropout=0.5), torch.randn(3, 2, 4), train=False)
    with torch.no_grad():
        module = nn.LSTM(4, 6, 2)
        x = torch.randn(3, 2, 4)
        want = module(x)[0]
        assert torch.allclose(module.npu()(x.npu())[0].cpu(), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed(bidirectional):
    module = nn.LSTM(4, 6, 2, bidirectional=bidirectional)
    compare(module, torch.randn(5, 3, 4), lengths=[5, 3, 2])


def test_half():
    module = nn.LSTM(4, 6, 2, bidirectional=True)
    x = torch.randn(3, 2, 4)
    want = module(x)[0]
    got = module.npu().half()(x.npu().half())[0]
    assert got.dtype is torch.float16
    assert torch.allclose(got.float().cpu(), want, rtol=3e-3, atol=3e-3)


def test_projections_are_single_steps():
    compare(nn.LSTM(4, 6, proj_size=3), torch.randn(3, 2, 4))


def test_dropout_between_layers_draws():
    module = nn.LSTM(4, 16, 2, dropout=0.5).npu()
    x = torch.randn(3, 2, 4).npu()
    assert not torch.equal(module(x)[0], module(x)[0])


def test_it_is_one_function(program):
    out, err, status = program(
        """
        net = torch.nn.LSTM(4, 6, 2, bidirectional=True).npu()
        net(torch.randn(3, 2, 4).npu())[0].sum().backward()
        print(portacl.torch.report())
        """,
        PORTACL_FALLBACK="error",
        PORTACL_REPORT="1",
    )
    assert status == 0, err
    assert "_lstm_npu" in out and "_lstm_npu_backward" in out and "sigmoid" not in out
