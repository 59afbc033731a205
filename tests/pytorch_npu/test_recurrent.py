"""Whole recurrent networks: aclnnLSTM, aclnnGRU and their gradients where they compute what PyTorch means, single steps elsewhere."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch_npu  # noqa: F401
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

KINDS = [nn.LSTM, nn.GRU]


def outcomes(module: nn.RNNBase, place: str, x: torch.Tensor, states=None, lengths=None, train: bool = True):
    """Output, states and the gradients of everything."""
    module = module.to(place).train(train)
    module.zero_grad()
    x = x.detach().to(place).requires_grad_()
    states = None if states is None else tuple(s.detach().to(place).requires_grad_() for s in states)
    given = x if lengths is None else pack_padded_sequence(x, lengths, batch_first=module.batch_first)
    is_lstm = isinstance(module, nn.LSTM)
    y, after = module(given, states if is_lstm or states is None else states[0])
    after = after if is_lstm else (after,)
    if lengths is not None:
        y, _ = pad_packed_sequence(y, batch_first=module.batch_first)
    (y.square().sum() + sum(state.sin().sum() for state in after)).backward()
    leaves = [x, *(states or ()), *module.parameters()]
    return [t.detach().cpu().clone() for t in (y, *after, *(leaf.grad for leaf in leaves))]


def compare(module: nn.RNNBase, x: torch.Tensor, tolerance: float = 2e-6, **how):
    want = outcomes(module, "cpu", x, **how)
    got = outcomes(module, "npu", x, **how)
    for a, b in zip(got, want):
        assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * (1 + b.abs().max().item()))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_network(kind, layers, bidirectional, bias, batch_first):
    module = kind(7, 19, layers, bias=bias, batch_first=batch_first, bidirectional=bidirectional)
    compare(module, torch.randn(5, 6, 7))


@pytest.mark.parametrize("kind", KINDS)
def test_states_are_given_and_have_gradients(kind):
    module = kind(4, 6, 2, bidirectional=True)
    compare(module, torch.randn(3, 2, 4), states=tuple(torch.randn(4, 2, 6) for _ in range(2 if kind is nn.LSTM else 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_view(kind):
    compare(kind(4, 6), torch.randn(4, 2, 9).transpose(0, 2)[::2])


@pytest.mark.parametrize("kind", KINDS)
def test_evaluation(kind):
    compare(kind(4, 6, 2, dropout=0.5), torch.randn(3, 2, 4), train=False)
    with torch.no_grad():
        module = kind(4, 6, 2)
        x = torch.randn(3, 2, 4)
        want = module(x)[0]
        assert torch.allclose(module.npu()(x.npu())[0].cpu(), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed(kind, bidirectional):
    module = kind(4, 6, 2, bidirectional=bidirectional)
    compare(module, torch.randn(5, 3, 4), lengths=[5, 3, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_half(kind):
    module = kind(4, 6, 2, bidirectional=True)
    x = torch.randn(3, 2, 4)
    want = module(x)[0]
    got = module.npu().half()(x.npu().half())[0]
    assert got.dtype is torch.float16
    assert torch.allclose(got.float().cpu(), want, rtol=3e-3, atol=3e-3)


def test_projections_are_single_steps():
    compare(nn.LSTM(4, 6, proj_size=3), torch.randn(3, 2, 4))


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_between_layers_draws(kind):
    module = kind(4, 16, 2, dropout=0.5).npu()
    x = torch.randn(3, 2, 4).npu()
    assert not torch.equal(module(x)[0], module(x)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_have_gradients(kind):
    module = kind(4, 6, 2, bidirectional=True)

    def outcome(place: str):
        module.to(place).zero_grad()
        x = data.detach().to(place).requires_grad_()
        gradients = torch.autograd.grad(module(x)[0].square().sum(), [x, *module.parameters()], create_graph=True)
        sum(g.square().sum() for g in gradients).backward()
        return [leaf.grad.cpu().clone() for leaf in (x, *module.parameters())]

    data = torch.randn(3, 2, 4)
    for a, b in zip(outcome("cpu"), outcome("npu")):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-4 * (1 + a.abs().max().item()))


def test_only_what_is_asked_for_has_a_gradient():
    module = nn.GRU(4, 6).npu().requires_grad_(False)
    module.bias_hh_l0.requires_grad_()
    x = torch.randn(3, 2, 4)
    y, h = module(x.npu())
    h.sum().backward()
    module.cpu()
    mine = module.bias_hh_l0.grad.clone()
    assert module.weight_ih_l0.grad is None
    module.zero_grad()
    module(x)[1].sum().backward()
    assert torch.allclose(mine, module.bias_hh_l0.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_differentiate_steps(kind):
    module = kind(4, 6)
    x = torch.randn(3, 2, 4)

    def loss(parameters, x):
        return torch.func.functional_call(module, parameters, (x,))[0].square().sum()

    want, got = (torch.func.grad(loss)(dict(module.to(p).named_parameters()), x.to(p)) for p in ("cpu", "npu"))
    for name, gradient in want.items():
        assert torch.allclose(got[name].cpu(), gradient.cpu(), rtol=1e-5, atol=1e-5)


def test_forward_mode_differentiates_steps():
    module, x, tangent = nn.GRU(4, 6), torch.randn(3, 2, 4), torch.randn(3, 2, 4)
    found = []
    for place in ("cpu", "npu"):
        module.to(place)
        with torch.autograd.forward_ad.dual_level():
            y = module(torch.autograd.forward_ad.make_dual(x.to(place), tangent.to(place)))[0]
            found.append(torch.autograd.forward_ad.unpack_dual(y).tangent.detach().cpu())
    assert torch.allclose(*found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("train", [False, True])
def test_torch_npus_own_name_for_it(train):
    module, x, h = nn.GRU(4, 5, 2, bidirectional=True), torch.randn(3, 2, 4), torch.randn(4, 2, 5)
    want = module(x, h)
    leaves = [t.detach().npu().requires_grad_(train) for t in (x, h, *module._flat_weights)]
    got = torch.ops.npu._gru_npu(leaves[0], leaves[1], leaves[2:], True, 2, 0.0, train, True, batch_first=False)
    for a, b in zip(got, want):
        assert torch.allclose(a.cpu(), b, rtol=1e-5, atol=1e-6)
    if train:
        got[0].square().sum().backward()
        want[0].square().sum().backward()
        for leaf, weight in zip(leaves[2:], module._flat_weights):
            assert torch.allclose(leaf.grad.cpu(), weight.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "kind, product, is_whole",
    [
        ("LSTM", "Ascend910B1", True),
        ("LSTM", "Ascend310P3", True),
        ("GRU", "Ascend910B1", True),
        ("GRU", "Ascend910_9391", True),
        ("GRU", "Ascend910B", False),
        ("GRU", "Ascend950PR_9579", False),
    ],
)
def test_it_is_one_function(program, kind, product, is_whole):
    out, err, status = program(
        f"""
        net = torch.nn.{kind}(4, 6, 2, bidirectional=True).npu()
        net(torch.randn(3, 2, 4).npu())[0].sum().backward()
        print(portacl.torch.report())
        """,
        PORTACL_FALLBACK="error" if is_whole else "quiet",
        PORTACL_REPORT="1",
        PORTACL_SOC=product,
    )
    assert status == 0, err
    name = f"_{kind.lower()}_npu"
    assert ((name in out and name + "_backward" in out) == is_whole) and ("sigmoid" in out) != is_whole, out
