"""Calls that CANN's functions or torch_npu refuse and PyTorch's CPU computes: they have the CPU's results."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

_F = torch.nn.functional
_ATEN = torch.ops.aten
_CPU_NUMBERS = (torch.tensor(2.5), torch.tensor(3, dtype=torch.uint8), torch.tensor(1.25, dtype=torch.float64), torch.tensor(1 + 2j))
_WIDE = (torch.float64, torch.complex64, torch.complex128)
_PLACES = torch.tensor([[0, 1, 0, 1], [1, 1, 0, 0]])


def _values(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The same numbers for everybody, between -4 and 4; integers and bool of them."""
    count = torch.Size(shape).numel()
    numbers = (torch.arange(count) * 37 % 101 / 12.5 - 4).view(shape)
    return numbers.to(dtype) * (1 + 0.5j) if dtype.is_complex else numbers.to(dtype)


def _positive(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (_values(*shape) * 0.1 + 0.5).to(dtype)


def _moved(value: Any, device: str) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone() if device == "cpu" else torch.empty_like(value, device=device).copy_(value)
    return [_moved(one, device) for one in value] if isinstance(value, list) else value


def _flat(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else [t for one in value for t in _flat(one)]


def _gradients(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def call(*inputs: torch.Tensor) -> list[torch.Tensor]:
        leaves = [one.requires_grad_() for one in inputs]
        result = function(*leaves)
        weights = _values(*result.shape).to(result.device, result.dtype)
        return [result.detach(), *torch.autograd.grad(result, leaves, weights)]

    return call


def _in_place(name: str, *more: Any) -> Callable[..., Any]:
    def call(*tensors: torch.Tensor) -> list[torch.Tensor]:
        getattr(torch, name)(list(tensors), *more)
        return list(tensors)

    return call


def _on_lists(name: str, *more: Any) -> Callable[..., Any]:
    return lambda *tensors: getattr(torch, name)(list(tensors), *more)


def _with_out(function: Callable[..., Any], *dtypes: torch.dtype | None) -> Callable[..., Any]:
    """With out= of these dtypes; None is the first tensor's."""

    def call(first: torch.Tensor, *more: Any) -> Any:
        outs = tuple(torch.empty(0, dtype=dtype or first.dtype, device=first.device) for dtype in dtypes)
        return function(first, *more, out=outs if len(outs) > 1 else outs[0])

    return call


def _trained(optimizer: str, how: dict[str, Any]) -> Callable[..., Any]:
    def call(parameters: torch.Tensor, gradient: torch.Tensor) -> list[torch.Tensor]:
        leaves = [parameters.clone().requires_grad_(), parameters[:1].clone().requires_grad_()]
        steps = getattr(torch.optim, optimizer)(leaves, lr=0.01, **how)
        for step in (1, 2, 3):
            for leaf in leaves:
                leaf.grad = gradient[: len(leaf)] * step
            steps.step()
        return [leaf.detach() for leaf in leaves]

    return call


_Call = tuple[Callable[..., Any], list[Any]]


def _calls() -> dict[str, _Call]:
    """By name: the call, and what it is given on either device. All but sums fall back, so the bits are the CPU's."""
    calls: dict[str, _Call] = {}
    for dim in (-1, -2):
        calls[f"unfold_backward {dim}"] = lambda x, d=dim: _ATEN.unfold_backward(x, [4, 6], d, 3, 1), [
            _values(*((4, 4, 3) if dim == -1 else (2, 6, 3)))
        ]
    for number in _CPU_NUMBERS:
        for dtype in (torch.bool, torch.uint8, torch.int16, torch.int64, torch.float64, torch.complex64):
            name = f"{number.dtype} on the CPU + {dtype}"
            calls[name] = lambda x, n=number: n + x, [_values(7, dtype=dtype)]
            result = torch.result_type(number, _values(1, dtype=dtype))
            calls[f"{name}, out"] = _with_out(lambda x, out, n=number: torch.add(n, x, out=out), result), [_values(7, dtype=dtype)]
    for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
        for more in ((), (False,)):
            calls[f"{kind}_window{more}"] = lambda x, k=kind, m=more: getattr(torch, f"{k}_window")(9, *m, device=x.device), [_values(1)]
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            for dim in (1, -1):
                if (reduce, include) != ("sum", True):
                    calls[f"scatter_reduce {reduce} {include} {dim}, out"] = (
                        lambda x, i, s, out, d=dim, r=reduce, n=include: torch.scatter_reduce(x, d, i, s, r, include_self=n, out=out)
                    ), [_values(3, 4), _PLACES, _values(2, 4), torch.empty(3, 4)]
    for stable in (True, False):
        calls[f"sort float64 {stable}"] = lambda x, s=stable: torch.sort(x, dim=-1, stable=s), [_values(3, 40, dtype=torch.float64)]
        calls[f"argsort float64 {stable}"] = lambda x, s=stable: torch.argsort(x, dim=0, stable=s), [_values(40, 3, dtype=torch.float64)]
        calls[f"sort float64 {stable}, out"] = _with_out(lambda x, out, s=stable: torch.sort(x, stable=s, dim=1, out=out), None, torch.int64), [
            _values(3, 40, dtype=torch.float64)
        ]
    for dtype in _WIDE:
        for function in ("exp", "expm1", "log", "log10", "log1p", "log2", "neg", "reciprocal"):
            calls[f"_foreach_{function} {dtype}"] = _on_lists(f"_foreach_{function}"), [_positive(3, dtype=dtype), _positive(2, 2, dtype=dtype)]
            calls[f"_foreach_{function}_ {dtype}"] = _in_place(f"_foreach_{function}_"), [_positive(3, dtype=dtype), _positive(2, dtype=dtype)]
        calls[f"_foreach_zero_ {dtype}"] = _in_place("_foreach_zero_"), [_values(3, dtype=dtype), _values(2, 2, dtype=dtype)]
        for function in ("sub", "div", "pow"):
            for number in (2, 2.5, [1.5, 2.5]):
                given = [_positive(3, dtype=dtype), _positive(2, 2, dtype=dtype)]
                calls[f"_foreach_{function} {dtype} {number}"] = _on_lists(f"_foreach_{function}", number), given
                calls[f"_foreach_{function}_ {dtype} {number}"] = _in_place(f"_foreach_{function}_", number), given
        for function in ("addcmul", "addcdiv"):
            calls[f"_foreach_{function} {dtype}, a tensor of numbers"] = (
                lambda x, y, f=function: getattr(torch, f"_foreach_{f}")([x], [y], [y], torch.tensor([1.5]))
            ), [_values(3, dtype=dtype), _positive(3, dtype=dtype)]
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int64):
        calls[f"_foreach_sub {dtype} 2"] = _on_lists("_foreach_sub", 2), [_values(3, dtype=dtype), _values(2, 2, dtype=dtype)]
    for function in ("add", "mul", "div", "pow"):
        calls[f"_foreach_{function} True"] = _on_lists(f"_foreach_{function}", True), [_values(3), _values(2, 2)]
        calls[f"_foreach_{function}_ True"] = _in_place(f"_foreach_{function}_", True), [_values(3), _values(2, 2)]
    wide = [_values(3, 4, dtype=torch.float64), _values(3, 4, dtype=torch.float64).flip(0)]
    for optimizer in ("Adam", "AdamW", "NAdam", "RAdam"):
        for how in ({"foreach": True}, {"foreach": False}, *([{"fused": True}] if optimizer.startswith("Adam") else [])):
            calls[f"{optimizer} float64 {how}"] = _trained(optimizer, how), wide
    calls["SGD fused without momentum"] = _trained("SGD", {"fused": True}), [_values(3, 4), _values(3, 4).flip(0)]
    calls["bilinear float64"] = lambda x: _F.interpolate(x, size=(7, 3), mode="bilinear"), [_values(1, 2, 4, 5, dtype=torch.float64)]
    calls["bilinear float64, gradient"] = _gradients(lambda x: _F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=True)), [
        _values(1, 2, 4, 5, dtype=torch.float64)
    ]
    for dtype in (torch.float64, torch.uint8):
        whole = torch.arange(40).reshape(1, 2, 4, 5).to(dtype)
        calls[f"nearest {dtype}"] = lambda x: _F.interpolate(x, scale_factor=1.7, mode="nearest"), [whole]
        calls[f"nearest {dtype}, out"] = (
            lambda x, out: _ATEN.upsample_nearest2d.out(x, [6, 8], 1.7, 1.7, out=out)
        ), [whole, torch.empty(1, 2, 6, 8, dtype=dtype)]
    classes = torch.tensor([[[0, 2], [1, 1]], [[2, 0], [0, 1]]])
    for reduction, shape in enumerate(((2, 2, 2), (), ())):
        calls[f"nll_loss2d {reduction}, out"] = (
            lambda x, t, out, r=reduction: _ATEN.nll_loss2d.out(x, t, None, r, -100, out=out)
        ), [_values(2, 3, 2, 2), classes, torch.empty(shape)]
    calls["cubic grid_sample float64"] = (
        lambda x, g: _F.grid_sample(x, g, mode="bicubic", align_corners=False),
        [_values(1, 2, 4, 5, dtype=torch.float64), _values(1, 3, 4, 2, dtype=torch.float64) / 4],
    )
    for dtype in (None, torch.float32, torch.int64):
        calls[f"cumprod bool {dtype}"] = lambda x, d=dtype: torch.cumprod(x, -1, dtype=d), [_values(3, 4, dtype=torch.bool)]
    for dtype in (torch.float32, torch.float64, torch.float16):
        calls[f"mean bool {dtype}"] = lambda x, d=dtype: torch.mean(x, dtype=d), [_values(3, 4, dtype=torch.bool)]
        calls[f"mean bool {dtype}, dim, out"] = _with_out(lambda x, out, d=dtype: torch.mean(x, -1, dtype=d, out=out), dtype), [
            _values(3, 4, dtype=torch.bool)
        ]
    calls["mean complex64 float32"] = lambda x: torch.mean(x, -1, dtype=torch.float32), [_values(3, 4, dtype=torch.complex64)]
    calls["nansum float32 int64"] = lambda x: torch.nansum(x, -1, dtype=torch.int64), [_values(3, 4)]
    for dtype in (torch.float64, torch.complex128):
        for function in ("fft", "ifft", "fft2", "ifftn", "irfft", "hfft", *(("rfft", "ihfft") if dtype is torch.float64 else ())):
            calls[f"fft.{function} {dtype}"] = lambda x, f=function: getattr(torch.fft, f)(x), [_values(4, 6, dtype=dtype)]
    calls["rfft float64, gradient"] = lambda x: _gradients(lambda y: torch.fft.rfft(y).abs())(x), [_values(4, 6, dtype=torch.float64)]
    for p in (1, 2, 3.5, float("inf")):
        calls[f"norm complex64 {p}"] = lambda x, p=p: torch.norm(x, p, -1), [_values(3, 4, dtype=torch.complex64)]
    for dtype in (torch.bool, torch.int64, torch.float16, torch.float32, torch.float64):
        calls[f"mode {dtype}, out"] = _with_out(lambda x, out: torch.mode(x, -1, out=out), None, torch.int64), [_values(3, 9, dtype=dtype)]
    calls["addmv of integers"] = lambda x, a, b: torch.addmv(x, a, b, alpha=2.5), [torch.arange(3), torch.arange(12).view(3, 4), torch.arange(4)]
    calls["fmod True"] = lambda x: torch.fmod(x, True), [_values(7)]
    calls["conj_physical_"] = lambda x: x.conj_physical_(), [_values(7, dtype=torch.complex64)]
    return calls


_CALLS = _calls()


@pytest.mark.parametrize("name", _CALLS)
def test_as_on_the_cpu(name):
    function, given = _CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = (_flat(function(*_moved(given, device))) for device in ("cpu", "npu"))
    assert len(want) == len(got)
    for one, other in zip(want, got):
        assert other.device.type == "npu" and other.dtype is one.dtype and other.shape == one.shape
        exact = one.dtype in (torch.bool, torch.int64) or not _is_composed(name)
        torch.testing.assert_close(other.cpu(), one, equal_nan=True, **({"rtol": 0, "atol": 0} if exact else {}))


def _is_composed(name: str) -> bool:
    """Whether some steps are own: of optimizers, of gradients and of Fourier transforms."""
    return name.partition(" ")[0] in ("Adam", "AdamW", "NAdam", "RAdam", "SGD") or name.startswith("fft.") or "gradient" in name


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, float("inf")])
def test_distance_of_pairs_of_complex_numbers(p):
    x, y = _values(3, 4, dtype=torch.complex64), _values(3, 4, dtype=torch.complex64).flip(0)
    torch.testing.assert_close(_F.pairwise_distance(x.npu(), y.npu(), p).cpu(), _F.pairwise_distance(x, y, p))


_NARROW = [torch.float16, torch.bfloat16]

# The CPU has no kernel for 16-bit floats, or one that rounds every step.
_OF_16_BITS: dict[str, _Call] = {
    "_add_relu": (lambda x, y: _ATEN._add_relu.Tensor(x, y, alpha=2), [_values(5, 7), _values(5, 7).flip(0)]),
    "_add_relu_": (lambda x, y: _ATEN._add_relu_.Tensor(x, y), [_values(5, 7), _values(5, 7).flip(0)]),
    "_add_relu, out": (lambda x, y, z: _ATEN._add_relu.out(x, y, out=z), [_values(5, 7), _values(5, 7).flip(0), _values(5, 7)]),
    "_add_relu, a number": (lambda x: _ATEN._add_relu.Scalar(x, 2.3, 0.7), [_values(5, 7)]),
    "pdist": (lambda x: _ATEN._pdist_forward(x, 3.0), [_values(6, 5)]),
    "linear": (lambda x: _F.interpolate(x, size=13, mode="linear"), [_values(1, 2, 17)]),
    "linear, gradient": (lambda x: _ATEN.upsample_linear1d_backward(x, [40], [1, 2, 7], False), [_values(1, 2, 40)]),
    "trilinear": (lambda x: _F.interpolate(x, size=(3, 6, 7), mode="trilinear"), [_values(1, 2, 3, 4, 5)]),
    "trilinear, gradient": (
        lambda x: _ATEN.upsample_trilinear3d_backward(x, [6, 7, 8], [1, 2, 3, 4, 5], False),
        [_values(1, 2, 6, 7, 8)],
    ),
    **{
        f"antialiased {mode}": (lambda x, m=mode: _F.interpolate(x, size=(3, 8), mode=m, antialias=True), [_values(1, 2, 9, 5)])
        for mode in ("bilinear", "bicubic")
    },
    "antialiased, gradient": (
        lambda x: _ATEN._upsample_bilinear2d_aa_backward(x, [3, 8], [1, 2, 9, 5], False),
        [_values(1, 2, 3, 8)],
    ),
    **{
        f"grid_sampler_2d, gradient, {mode}": (
            lambda g, x, y, m=mode: _ATEN.grid_sampler_2d_backward(g, x, y, m, 0, False, [True, True]),
            [_values(1, 2, 9, 8), _values(1, 2, 4, 5), _values(1, 9, 8, 2) / 4],
        )
        for mode in (0, 2)
    },
    "grid_sampler_3d": (
        lambda x, y: _ATEN.grid_sampler_3d(x, y, 0, 1, False),
        [_values(1, 2, 3, 4, 5), _values(1, 2, 3, 4, 3) / 4],
    ),
    "grid_sampler_3d, gradient": (
        lambda g, x, y: _ATEN.grid_sampler_3d_backward(g, x, y, 0, 1, False, [True, True]),
        [_values(1, 2, 2, 3, 4), _values(1, 2, 3, 4, 5), _values(1, 2, 3, 4, 3) / 4],
    ),
    "replication_pad3d, gradient": (
        lambda g, x: _ATEN.replication_pad3d_backward(g, x, [2] * 6),
        [_values(1, 2, 7, 8, 9), _values(1, 2, 3, 4, 5)],
    ),
    "index_reduce": (lambda x, y: x.index_reduce(0, torch.arange(9).to(x.device) % 3, y, "mean"), [_values(3, 4), _values(9, 4)]),
    "multi_margin_loss": (lambda x: _F.multi_margin_loss(x, torch.arange(5).to(x.device)), [_values(5, 7)]),
}

# Sums of native operators, which add in float32 in an order of their own.
_OF_ANOTHER_ORDER = ("trilinear", "grid_sampler_3d, gradient")


@pytest.mark.parametrize("dtype", _NARROW, ids=str)
@pytest.mark.parametrize("name", _OF_16_BITS)
def test_16_bits_are_rounded_once(name, dtype):
    function, given = _OF_16_BITS[name]
    given = [one.to(dtype) for one in given]
    want = [one.to(dtype) for one in _flat(function(*(one.float() for one in given)))]
    exact = _flat(function(*(one.double() for one in given)))
    for got, one, true in zip(_flat(function(*_moved(given, "npu"))), want, exact):
        assert got.device.type == "npu" and got.dtype is dtype
        if name in _OF_ANOTHER_ORDER:  # a float32 sum beside a tie may be rounded to either side
            noise = 1e-6 * true.abs().max()
            assert ((got.cpu().double() - true).abs() <= (one.double() - true).abs() + noise).all()
        else:
            assert torch.equal(got.cpu(), one)


def test_floats_of_two_widths_are_refused():
    x, grid = _values(1, 2, 3, 4, 5, dtype=torch.float16), _values(1, 2, 3, 4, 3)
    with pytest.raises(RuntimeError, match="expected scalar type Half but found Float"):
        _ATEN.grid_sampler_3d(x, grid, 0, 0, False)
    with pytest.raises(RuntimeError, match="parameter grid with dtype DT_FLOAT differs from input with dtype DT_FLOAT16"):
        _ATEN.grid_sampler_3d(x.npu(), grid.npu(), 0, 0, False)


@pytest.mark.parametrize("dtype", _NARROW, ids=str)
@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, float("inf")])
def test_gradients_of_distances_know_the_distance(p, dtype):
    """Of 16 bits, it would not say which difference is the largest."""
    x, y, g = (one.to(dtype) for one in (_values(3, 4), _values(5, 4).flip(0) * 1.3, _values(3, 5)))
    exact = [one.float() for one in (x, y)]
    want = _ATEN._cdist_backward(g.float(), *exact, p, _ATEN._cdist_forward(*exact, p, 2)).to(dtype)
    rounded = _ATEN._cdist_forward(*exact, p, 2).to(dtype)
    assert torch.equal(_ATEN._cdist_backward(g.npu(), x.npu(), y.npu(), p, rounded.npu()).cpu(), want)
    leaf = x.npu().requires_grad_()
    torch.cdist(leaf, y.npu(), p).sum().backward()
    assert leaf.grad.dtype is dtype and leaf.grad.abs().max() > 0


@pytest.mark.parametrize("dtype", _NARROW, ids=str)
@pytest.mark.parametrize("number", [2.1, 0.1, -1.7, 3, 65503.0])
@pytest.mark.parametrize("alpha", [1, 0.3, 2.7, -2])
def test_what_a_number_less_a_tensor_rounds(number, alpha, dtype):
    """The number and alpha, to 16 bits, and the difference. (PyTorch's CPU does not round alpha for what fills no vector.)"""
    x = torch.randn(1024).to(dtype)
    assert torch.equal(torch.rsub(x.npu(), number, alpha=alpha).cpu(), torch.rsub(x, number, alpha=alpha))
    if alpha == 1:
        assert torch.equal((number - x.npu()).cpu(), number - x)


@pytest.mark.parametrize(
    "lengths, message",
    [
        (lambda: torch.tensor([3, 2]).npu(), "1D CPU int64 tensor, but got 1D npu:0 Long tensor"),
        (lambda: torch.tensor([3, 2], dtype=torch.int32), "1D CPU int64 tensor, but got 1D cpu Int tensor"),
        (lambda: torch.tensor([3.0, 2.0]), "1D CPU int64 tensor, but got 1D cpu Float tensor"),
        (lambda: torch.tensor([[3, 2]]), "1D CPU int64 tensor, but got 2D cpu Long tensor"),
    ],
)
def test_lengths_of_sequences_lie_on_the_cpu(lengths, message):
    x = _values(3, 2, 4).npu()
    with pytest.raises(RuntimeError, match=f"'lengths' argument should be a {message}"):
        torch._C._VariableFunctions._pack_padded_sequence(x, lengths(), False)
    with pytest.raises(RuntimeError, match="Cannot pack empty tensors"):
        torch._C._VariableFunctions._pack_padded_sequence(x[:0], lengths(), False)
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2]))
    assert torch.equal(packed.data.cpu(), nn.utils.rnn.pack_padded_sequence(x.cpu(), [3, 2]).data)


def test_numbers_on_the_cpu_are_not_for_everybody(program):
    x = torch.arange(3).npu()
    assert torch.add(torch.tensor(2.5), x, alpha=2).tolist() == [2.5, 4.5, 6.5]
    out, err, status = program(
        """
        x = torch.arange(3).npu()
        try:
            torch.tensor(2.5) + x
        except RuntimeError as error:
            print(str(error).splitlines()[0])
        print((torch.tensor(2.5) + x.float()).tolist())
        """,
        PORTACL_ADD_V3="",  # which install() sets where nobody has
    )
    assert status == 0, err[-2000:]
    refusal, sums = out.splitlines()[-2:]
    assert "call aclnnAddV3 failed, error code is 161002" in refusal
    assert sums == "[2.5, 3.5, 4.5]"


def test_no_index_of_a_scalar_is_refused_as_on_the_cpu():
    for device in ("cpu", "npu"):
        scalar, none = torch.tensor(5.0, device=device), torch.empty(0, dtype=torch.int64, device=device)
        with pytest.raises(RuntimeError, match="index_select|IndexSelect"):
            torch.index_select(scalar, 0, none)
        assert torch.index_select(scalar, 0, none.new_zeros(1)).item() == 5.0


def test_the_choice_is_announced(program):
    out, err, status = program(
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.sort(torch.ones(2, dtype=torch.float64, device="npu"), stable=True)
            torch.hann_window(4, device="npu")
            torch.sort(torch.ones(2).npu(), stable=True)
            torch.hann_window(4, dtype=torch.float32, device="npu")
        for one in caught:
            print(one.category.__name__, one.message)
        """
    )
    assert status == 0, err
    lines = [line for line in out.splitlines() if line.startswith("FallbackWarning")]
    assert len(lines) == 2, out
    assert "aten::sort.stable" in lines[0] and "float64" in lines[0]
    assert "aten::hann_window" in lines[1] and "a window without a dtype" in lines[1]
