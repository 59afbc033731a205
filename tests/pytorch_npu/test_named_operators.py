"""What torch_npu computes by operators of CANN's graph engine, by the name of their type: native operators compute these."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch_npu

import portacl.torch

_F = torch.nn.functional
_NPU = torch.ops.npu
_HALVES = (torch.float32, torch.float16, torch.bfloat16)
_LOOSE = {torch.float32: (1e-5, 1e-6), torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}


def _values(*shape: int, least: float = -4.0, most: float = 4.0) -> torch.Tensor:
    """The same numbers for everybody."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) * 37 % 101 / 100 * (most - least) + least).view(shape)


def _quarters(*shape: int) -> torch.Tensor:
    """Numbers whose products have sums without rounding, in any order."""
    return (_values(*shape) * 4).round() / 4


def _same(got: Any, want: Any, dtype: torch.dtype = torch.float32) -> None:
    relative, absolute = _LOOSE[dtype]
    torch.testing.assert_close(got.cpu().float(), want.float(), rtol=relative, atol=absolute)


def _mish(x: torch.Tensor) -> torch.Tensor:
    return x * torch.tanh(_F.softplus(x))


def _confused(x: torch.Tensor) -> torch.Tensor:
    return x.permute(1, 0, 2).reshape(3, 8)


# Operator, and what PyTorch's CPU makes of the same tensors in float32.
_FLOATS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[torch.Tensor]]] = {
    "npu_silu": (_NPU.npu_silu, _F.silu, [_values(5, 7)]),
    "npu_silu, transposed": (lambda x: _NPU.npu_silu(x.t()), lambda x: _F.silu(x.t()), [_values(5, 7)]),
    "npu_silu, of no dims": (_NPU.npu_silu, _F.silu, [torch.tensor(1.5)]),
    "npu_mish": (_NPU.npu_mish, _mish, [_values(5, 7)]),
    "npu_bmmV2": (lambda x, y: _NPU.npu_bmmV2(x, y, []), torch.matmul, [_values(2, 3, 4), _values(2, 4, 5)]),
    "npu_bmmV2, transposed": (
        lambda x, y: _NPU.npu_bmmV2(x.transpose(1, 2), y.transpose(1, 2), []),
        lambda x, y: x.transpose(1, 2) @ y.transpose(1, 2),
        [_values(2, 4, 3), _values(2, 5, 4)],
    ),
    "npu_bmmV2, of a matrix": (lambda x, y: _NPU.npu_bmmV2(x, y, []), torch.matmul, [_values(2, 3, 4), _values(4, 5)]),
    "npu_bmmV2, deep": (lambda x, y: _NPU.npu_bmmV2(x, y, []), torch.matmul, [_values(2, 2, 3, 4), _values(2, 2, 4, 5)]),
    "npu_confusion_transpose": (lambda x: _NPU.npu_confusion_transpose(x, [1, 0, 2], [3, 8], True), _confused, [_values(2, 3, 4)]),
    "npu_confusion_transpose, last": (
        lambda x: _NPU.npu_confusion_transpose(x, [1, 0, 2], [2, 3, 4], False),
        lambda x: x.reshape(2, 3, 4).permute(1, 0, 2),
        [_values(2, 12)],
    ),
    "npu_conv2d": (
        lambda x, w, b: _NPU.npu_conv2d(x, w, b, [1, 2], [1, 0], [1, 1], 2),
        lambda x, w, b: _F.conv2d(x, w, b, (1, 2), (1, 0), 1, 2),
        [_quarters(2, 4, 5, 6), _quarters(6, 2, 3, 3), _quarters(6)],
    ),
    "npu_conv2d, without a bias": (
        lambda x, w: _NPU.npu_conv2d(x, w, None, [1, 1], [1, 1], [2, 1], 1),
        lambda x, w: _F.conv2d(x, w, None, 1, 1, (2, 1)),
        [_quarters(1, 2, 6, 6), _quarters(3, 2, 3, 3)],
    ),
    "npu_conv3d": (
        lambda x, w, b: _NPU.npu_conv3d(x, w, b, [1, 2, 1], [1, 0, 1], [1, 1, 1], 1),
        lambda x, w, b: _F.conv3d(x, w, b, (1, 2, 1), (1, 0, 1)),
        [_quarters(1, 2, 4, 5, 5), _quarters(3, 2, 3, 3, 3), _quarters(3)],
    ),
    "npu_convolution": (
        lambda x, w, b: _NPU.npu_convolution(x, w, b, [1, 1], [1, 1], [1, 1], 1),
        lambda x, w, b: _F.conv2d(x, w, b, padding=1),
        [_quarters(1, 2, 5, 5), _quarters(3, 2, 3, 3), _quarters(3)],
    ),
    "npu_conv_transpose2d": (
        lambda x, w, b: _NPU.npu_conv_transpose2d(x, w, b, [1, 1], [1, 0], [2, 2], [1, 1], 2),
        lambda x, w, b: _F.conv_transpose2d(x, w, b, 2, 1, (1, 0), 2),
        [_quarters(1, 4, 5, 5), _quarters(4, 3, 3, 3), _quarters(6)],
    ),
    "npu_convolution_transpose, of volumes": (
        lambda x, w, b: _NPU.npu_convolution_transpose(x, w, b, [1] * 3, [0] * 3, [1] * 3, [1] * 3, 1),
        lambda x, w, b: _F.conv_transpose3d(x, w, b, 1, 1),
        [_quarters(1, 4, 4, 4, 4), _quarters(4, 2, 3, 3, 3), _quarters(2)],
    ),
    "npu_layer_norm_eval": (
        lambda x, w, b: _NPU.npu_layer_norm_eval(x, [4, 5], w, b, 1e-3),
        lambda x, w, b: _F.layer_norm(x, [4, 5], w, b, 1e-3),
        [_values(3, 4, 5), _values(4, 5), _values(4, 5)],
    ),
    "npu_layer_norm_eval, alone": (
        lambda x: _NPU.npu_layer_norm_eval(x, [5]),
        lambda x: _F.layer_norm(x, [5]),
        [_values(3, 4, 5)],
    ),
    "npu_softmax_cross_entropy_with_logits": (
        _NPU.npu_softmax_cross_entropy_with_logits,
        lambda x, y: -(y * x.log_softmax(1)).sum(1),
        [_values(3, 4), _values(3, 4, least=0, most=1)],
    ),
    "npu_softmax_cross_entropy_with_logits_backward": (
        _NPU.npu_softmax_cross_entropy_with_logits_backward,
        lambda g, x, y: g[:, None] * (x.softmax(1) - y),
        [_values(3), _values(3, 4), _values(3, 4, least=0, most=1)],
    ),
}


@pytest.mark.parametrize("dtype", _HALVES, ids=str)
@pytest.mark.parametrize("name", _FLOATS)
def test_floats(name, dtype):
    function, on_cpu, given = _FLOATS[name]
    given = [one.to(dtype) for one in given]
    got = function(*(one.npu() for one in given))
    assert got.device.type == "npu" and got.dtype is dtype
    want = on_cpu(*(one.float() for one in given))
    assert got.shape == want.shape
    _same(got, want.to(dtype), dtype)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 2, 3, 4)], ids=str)
def test_products_of_halves_have_a_plain_format(shape):
    """torch_npu makes them in FRACTAL_NZ, with which it calls the graph engine for what follows."""
    x, y = _quarters(*shape).half(), _quarters(*shape).half().transpose(-1, -2)
    there = x.npu().requires_grad_()
    got = _NPU.npu_bmmV2(there, y.npu(), [])
    plain = {torch_npu.get_npu_format(torch.empty(size, device="npu")) for size in ((2, 2), (2, 2, 2), (2, 2, 2, 2))}
    assert torch_npu.get_npu_format(got) in plain
    want = x.float() @ y.float()
    assert torch.equal((got + got).cpu(), 2 * want.half())
    got.sum().backward()
    assert torch_npu.get_npu_format(there.grad) in plain
    _same(there.grad, torch.ones_like(want) @ y.float().transpose(-1, -2), torch.float16)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("shapes", [((3, 4), (5, 4)), ((2, 3, 4), (2, 5, 4)), ((1, 3, 4), (2, 5, 4)), ((3, 4), (2, 1, 5, 4))], ids=str)
def test_gradients_of_distances(shapes, p):
    x, y = _quarters(*shapes[0]), _quarters(*shapes[1]).flip(-1) * 1.25  # so that equal differences are equal in every precision
    here = [one.double().requires_grad_() for one in (x, y)]
    there = [one.npu().requires_grad_() for one in (x, y)]
    want = torch.cdist(*here, p=p)
    weights = _values(*want.shape, least=-1, most=2)
    got = torch.cdist(*there, p=p)
    for one, other in zip(torch.autograd.grad(got, there, weights.npu()), torch.autograd.grad(want, here, weights.double())):
        torch.testing.assert_close(one.cpu().double(), other, rtol=1e-5, atol=1e-5)


def test_gradients_of_a_sum_of_distances():
    """Its gradient is one number, repeated, which torch_npu refuses."""
    x, y = _quarters(3, 4), _quarters(5, 4).flip(-1) * 1.25
    here, there = x.clone().requires_grad_(), x.npu().requires_grad_()
    torch.cdist(here, y).sum().backward()
    torch.cdist(there, y.npu()).sum().backward()
    _same(there.grad, here.grad)
    got = torch.ops.aten._cdist_backward(torch.ones(5, 3).npu().t(), x.t().contiguous().npu().t(), y.npu(), 2.0, torch.cdist(x, y).npu())
    _same(got, here.grad)


def test_gradients_of_no_distances():
    for shapes in ((0, 4), (5, 4)), ((3, 4), (0, 4)), ((3, 0), (5, 0)):
        tensors = [torch.ones(shape).npu().requires_grad_() for shape in shapes]
        torch.cdist(*tensors, p=1.0).sum().backward()
        assert all(torch.equal(one.grad.cpu(), torch.zeros(shape)) for one, shape in zip(tensors, shapes))


_WITH_GRADIENTS = ("npu_silu", "npu_mish", "npu_bmmV2", "npu_bmmV2, of a matrix", "npu_confusion_transpose")


@pytest.mark.parametrize("name", _WITH_GRADIENTS)
def test_gradients(name):
    function, on_cpu, given = _FLOATS[name]
    here = [one.clone().requires_grad_() for one in given]
    there = [one.npu().requires_grad_() for one in given]
    want, got = on_cpu(*here), function(*there)
    weights = _values(*want.shape, least=-1, most=2)
    for one, other in zip(torch.autograd.grad(got, there, weights.npu()), torch.autograd.grad(want, here, weights)):
        _same(one, other)


def _gradients(convolve: Callable[..., torch.Tensor], x: torch.Tensor, w: torch.Tensor, g: torch.Tensor) -> list[torch.Tensor]:
    b = torch.zeros(g.shape[1]).requires_grad_()
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    return list(torch.autograd.grad(convolve(x, w, b), (x, w, b), g))


def test_gradients_of_convolutions():
    x, w = _quarters(2, 4, 6, 5), _quarters(6, 2, 3, 3)
    want = _gradients(lambda *t: _F.conv2d(*t, (2, 1), 1, 1, 2), x, w, g := _quarters(2, 6, 3, 5))
    arguments = ([2, 1], [1, 1], [1, 1], 2, [True] * 3)
    for operator in (_NPU.npu_conv2d_backward, _NPU.npu_convolution_backward):
        for one, other in zip(operator(x.npu(), g.npu(), w.npu(), *arguments), want):
            _same(one, other)
    x, w = _quarters(1, 2, 4, 5, 4), _quarters(3, 2, 3, 3, 3)
    want = _gradients(lambda *t: _F.conv3d(*t, 1, 1), x, w, g := _quarters(1, 3, 4, 5, 4))
    for one, other in zip(_NPU.npu_conv3d_backward(x.npu(), g.npu(), w.npu(), [1] * 3, [1] * 3, [1] * 3, 1, [True] * 3), want):
        _same(one, other)
    x, w = _quarters(1, 4, 5, 5), _quarters(4, 2, 3, 3)
    want = _gradients(lambda *t: _F.conv_transpose2d(*t, 1, 1), x, w, g := _quarters(1, 2, 5, 5))
    got = _NPU.npu_conv_transpose2d_backward(x.npu(), g.npu(), w.npu(), [1, 1], [0, 0], [1, 1], [1, 1], 1, [True] * 3)
    for one, other in zip(got, want):
        _same(one, other)
    x, w = _quarters(1, 4, 4, 4, 4), _quarters(4, 2, 3, 3, 3)
    want = _gradients(lambda *t: _F.conv_transpose3d(*t, 1, 1), x, w, g := _quarters(1, 2, 4, 4, 4))
    got = _NPU.npu_conv_transpose3d_backward(x.npu(), g.npu(), w.npu(), [1] * 3, [0] * 3, [1] * 3, [1] * 3, 1, [True] * 3)
    for one, other in zip(got, want):
        _same(one, other)


def test_depthwise_gradients():
    x, w = _quarters(1, 3, 5, 5), _quarters(3, 1, 3, 3)
    want = _gradients(lambda *t: _F.conv2d(*t, 1, 1, 1, 3), x, w, g := _quarters(1, 3, 5, 5))
    got = _NPU._conv_depthwise2d_backward(g.npu(), x.npu(), w.npu(), [3, 3], [1, 1], [1, 1], [1, 1], [True, True])
    for one, other in zip(got, want):
        _same(one, other)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16, torch.int64, torch.bool, torch.float64], ids=str)
def test_moves(dtype):
    x = (_values(4, 5) * 10).to(dtype)
    y = x.npu()
    assert torch.equal(_NPU.npu_transpose(y, [1, 0]).cpu(), x.t())
    assert torch.equal(_NPU.npu_transpose(y[1:3], [1, 0]).cpu(), x[1:3].t())
    assert torch.equal(_NPU.npu_slice(y, [1, 2], [2, 3]).cpu(), x[1:3, 2:5])
    assert torch.equal(_NPU.npu_slice(y[1:3, 2:5], [0, 1], [2, 2]).cpu(), x[1:3, 3:5])
    assert torch.equal(_NPU.npu_indexing(y, [0, 1], [3, 4], [1, 2]).cpu(), x[0:3, 1:4:2])
    assert torch.equal(_NPU.npu_indexing(y, [0, 1], [3, 4], [1, 2], 1, 2).cpu(), x[:3, 1::2])
    assert torch.equal(_NPU.npu_stride_copy(y, [2, 3], [5, 1], 7).cpu(), torch.as_strided(x, (2, 3), (5, 1), 7))
    assert torch.equal(_NPU.npu_pad(y, [1, 2, 0, 1]).cpu(), _F.pad(x, (0, 1, 1, 2)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_signs_as_bits(dtype):
    x = _values(1003).to(dtype)
    x[::7] = 0
    padded = torch.nn.functional.pad((x >= 0).to(torch.int32), (0, 5)).view(-1, 8)
    bytes_ = (padded << torch.arange(8)).sum(1).to(torch.uint8).view(2, 63)
    packed = _NPU.npu_sign_bits_pack(x.npu(), 2)
    assert torch.equal(packed.cpu(), bytes_)
    numbers = _NPU.npu_sign_bits_unpack(packed.flatten(), 3, dtype)
    assert torch.equal(numbers.cpu(), (padded * 2 - 1).to(dtype).view(3, 336))


def test_into_a_view():
    x = _values(4, 6).npu()
    part = _values(2, 3)
    _NPU.npu_view_copy(x[1:3, 2:5], part.npu(), False)
    want = _values(4, 6)
    want[1:3, 2:5] = part
    assert torch.equal(x.cpu(), want)


def test_in_place_and_into():
    x = _values(3, 4)
    y = x.npu()
    assert _NPU.npu_silu_(y) is y
    _same(y, _F.silu(x))
    out = torch.empty(4, 3, device="npu")
    assert _NPU.npu_transpose.out(x.npu(), [1, 0], out=out) is out
    assert torch.equal(out.cpu(), x.t())
    whole = torch.zeros(3, 4, dtype=torch.int32, device="npu")
    assert _NPU.npu_dtype_cast_(whole, x.npu()).cpu().equal(x.to(torch.int32))


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_extrema(kind, dim, keeps):
    x = _values(4, 8)
    here, there = x.clone().requires_grad_(), x.npu().requires_grad_()
    want = getattr(torch, kind)(here, dim, keepdim=keeps)
    values, indices = getattr(_NPU, f"npu_{kind}").dim(there, dim, keeps)
    assert torch.equal(values.cpu(), want.values) and torch.equal(indices.cpu().long(), want.indices)
    assert indices.dtype is torch.int32
    weights = _values(*want.values.shape, least=1, most=2)
    values.backward(weights.npu())
    want.values.backward(weights)
    assert torch.equal(there.grad.cpu(), here.grad)


def test_the_first_of_equal_ones():
    x = torch.tensor([[1.0, 3.0, 3.0, 2.0]])
    assert _NPU.npu_max(x.npu(), 1)[1].tolist() == [1]


def test_scatters():
    x, places, updates = _values(4, 5), torch.tensor([2, 0, 4, 1], dtype=torch.int32), _values(4)
    want = x.scatter(1, places.long()[:, None], updates[:, None])
    assert torch.equal(_NPU.npu_scatter(x.npu(), places.npu(), updates.npu(), 1).cpu(), want)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, -1])
def test_sorts(dim, descending):
    x = _values(3, 4)
    assert torch.equal(_NPU.npu_sort_v2(x.npu(), dim, descending).cpu(), x.sort(dim, descending).values)


def test_classes():
    x = torch.tensor([2, 0, 3])
    got = _NPU.npu_one_hot(x.npu(), -1, 4, 5, -1).cpu()
    assert torch.equal(got, _F.one_hot(x, 4) * 6.0 - 1)


def test_dropout():
    torch.npu.manual_seed(3)
    x = torch.rand(64, 64) + 1
    there = x.npu().requires_grad_()
    y, mask = _NPU._dropout_with_byte_mask(there, 0.25)
    kept = mask.cpu().view(64, 64).bool()
    assert abs(kept.float().mean().item() - 0.75) < 0.05
    assert torch.equal(y.detach().cpu(), torch.where(kept, x / 0.75, 0))
    y.sum().backward()
    assert torch.equal(there.grad.cpu(), torch.where(kept, torch.full((), 1.0) / 0.75, 0))
    torch.npu.manual_seed(3)
    again, _ = _NPU._dropout_with_byte_mask(x.npu(), 0.25)
    assert torch.equal(again.cpu(), y.detach().cpu())


def test_softmax_of_a_sum_with_dropout():
    x, x1 = _values(1, 2, 32, 128), _values(1, 2, 32, 128).flip(3)
    mask, softmax, dropped = _NPU.npu_dropout_with_add_softmax(x.npu(), x1.npu(), 0.5, 0.25, -1)
    want = (x1 + 0.5 * x).softmax(-1)
    _same(softmax, want)
    kept = mask.cpu().view(want.shape).bool()
    assert abs(kept.float().mean().item() - 0.75) < 0.05
    _same(dropped, torch.where(kept, want / 0.75, 0))


@pytest.mark.parametrize("dtype", _HALVES, ids=str)
def test_masked_softmax(dtype):
    x = _values(1, 2, 32, 64).to(dtype)
    mask = (torch.arange(32 * 64) % 5 == 0).view(1, 1, 32, 64)
    there = x.npu().requires_grad_()
    got = torch_npu.npu_scaled_masked_softmax(there, mask.npu(), 0.5, False)
    here = x.float().requires_grad_()
    want = (here * 0.5).masked_fill(mask, -10000.0).softmax(-1)
    _same(got.detach(), want.detach(), dtype)
    weights = _values(1, 2, 32, 64).to(dtype)
    got.backward(weights.npu())
    want.backward(weights.float())
    _same(there.grad, here.grad, dtype)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: _NPU.npu_silu(torch.ones(2, dtype=torch.int32).npu()), "npu_silu"),
        (lambda: _NPU.npu_mish(torch.ones(2, dtype=torch.float64).npu()), "npu_mish"),
        (lambda: _NPU.npu_max.dim(torch.ones(2, 3, dtype=torch.int32).npu(), 1), "npu_max"),
        (lambda: _NPU.npu_bmmV2(*[torch.ones(1, 2, 2, dtype=torch.int8).npu()] * 2, []), "npu_bmmV2"),
    ],
)
def test_dtypes_that_are_refused_are_so_at_the_call(call, name):
    with pytest.raises(NotImplementedError, match=f"torch_npu.{name}.*CANN's function does not take .*no CPU kernel"):
        call()
    torch.npu.synchronize()
    assert (torch.full((1,), 7.0, device="npu") * 2).item() == 14


def test_these_are_own():
    own = portacl.torch.own_operators()
    names = {"npu_silu", "npu_mish", "npu_bmmV2", "npu_conv2d", "npu_conv3d", "npu_pad", "npu_slice", "npu_transpose", "npu_sort_v2"}
    names |= {"npu_sign_bits_pack", "npu_sign_bits_unpack", "npu_max.dim", "npu_min.dim", "npu_one_hot", "npu_layer_norm_eval"}
    assert {f"npu::{name}" for name in names} | {"aten::_cdist_backward"} <= own


def test_without_the_queue(program):
    out, err, status = program(
        """
        x = torch.ones(2, 3).npu()
        print(torch.ops.npu.npu_silu(x).sum().item() > 0)
        try:
            torch.ops.npu.npu_indexing(x, [1, 2], [0, 0], [-1, -1])  # what only the native operator refuses
            torch.npu.synchronize()
        except RuntimeError as error:
            print(str(error).replace("\\n", " "))
        """,
        TASK_QUEUE_ENABLE="0",
        PORTACL_FALLBACK="quiet",
    )
    assert status == 0, err[-2000:]
    assert "True" in out
    assert "operator StridedSlice slices with the stride -1, accepted: 1 and more" in out


@pytest.mark.parametrize("amsgrad", [False, True])
def test_a_step_of_adamw(amsgrad):
    weight, m, v, gradient, greatest = (
        _values(4, 5, least=least, most=most) for least, most in ((-4, 4), (-1, 1), (0.1, 1), (-2, 2), (0.2, 2))
    )
    rate, decay, beta1, beta2, epsilon, before = 0.01, 0.1, 0.9, 0.99, 1e-5, 3  # steps before this one
    new_m, new_v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient * gradient
    scale = torch.maximum(greatest, new_v) if amsgrad else new_v
    step = new_m / (1 - beta1 ** (before + 1)) / ((scale / (1 - beta2 ** (before + 1))).sqrt() + epsilon)
    settings = (beta1**before, beta2**before, rate, decay, beta1, beta2, epsilon)
    out = tuple(one.npu() for one in (weight, m, v))
    torch_npu.npu_apply_adam_w(*settings, gradient.npu(), greatest.npu() if amsgrad else None, amsgrad, False, out=out)
    for got, want in zip(out, (weight * (1 - rate * decay) - rate * step, new_m, new_v)):
        _same(got, want)
