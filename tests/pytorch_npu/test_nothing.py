"""Tensors without elements: every result is written, and an error is PyTorch's."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
from torch.nn import functional

CANARY = 0x7B
SHAPES = ((3, 0), (0, 3), (0, 0), (0,))
DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool)


def leave_canaries() -> None:
    """Fills the memory that the next results are made in."""
    blocks = [torch.full((512,), CANARY, dtype=torch.uint8, device="npu") for _ in range(40)]
    torch.npu.synchronize()
    del blocks


def holds_canary(tensor: torch.Tensor) -> bool:
    of_bytes = tensor.detach().cpu().reshape(-1).view(torch.uint8).view(-1, tensor.element_size())
    return bool((of_bytes == CANARY).all(1).any())


def tensors(result) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [tensor for item in result for tensor in tensors(item)] if isinstance(result, (tuple, list)) else []


def check(call, words: str = "") -> None:
    """The CPU's results, or its error where `words` are given; `call` is given a device."""
    if words:
        with pytest.raises((RuntimeError, IndexError), match=words):
            call("cpu")
        leave_canaries()
        with pytest.raises((RuntimeError, IndexError), match=words):
            call("npu")
            torch.npu.synchronize()
        return
    want = tensors(call("cpu"))
    leave_canaries()
    got = tensors(call("npu"))
    assert [(t.shape, t.dtype) for t in got] == [(t.shape, t.dtype) for t in want]
    for ours, theirs in zip(got, want):
        assert torch.equal(torch.nan_to_num(ours.cpu(), 7.0), torch.nan_to_num(theirs, 7.0))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
class TestExtremes:
    @pytest.mark.parametrize("name", ["amax", "amin"])
    def test_of_dims(self, name, dtype):
        reduce = getattr(torch, name)
        for shape in SHAPES:
            x = torch.zeros(shape, dtype=dtype)
            check(lambda device: reduce(x.to(device)), rf"{name}\(\): Expected reduction dim to be specified")
            for dim in range(-1, len(shape)):
                words = "" if shape[dim] else rf"{name}\(\): Expected reduction dim .* to have non-zero size"
                for keepdim in (False, True):
                    check(lambda device: reduce(x.to(device), dim, keepdim), words)
                    out = torch.zeros(1, dtype=dtype)
                    check(lambda device: reduce(x.to(device), dim, keepdim, out=out.to(device).resize_(0)), words)

    @pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian"])
    def test_with_places(self, name, dtype):
        if dtype is torch.bool and name.endswith("median"):
            return  # the CPU has no such kernel
        reduce = getattr(torch, name)
        for shape in SHAPES:
            x = torch.zeros(shape, dtype=dtype)
            for dim in range(-1, len(shape)):
                words = "" if shape[dim] else rf"{name.removeprefix('nan')}\(\): Expected reduction dim .* to have non-zero size"
                for keepdim in (False, True):
                    check(lambda device: reduce(x.to(device), dim, keepdim), words)


REDUCTIONS = {
    name: getattr(torch, name)
    for name in "sum prod mean std var std_mean var_mean all any count_nonzero logsumexp nansum median nanmedian".split()
} | {f"norm {p}": lambda x, p=p: torch.linalg.vector_norm(x, p) for p in (0, 1, 2, 3)}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_other_reductions(name):
    for shape in SHAPES:
        x = torch.zeros(shape)
        dims = () if name.startswith(("norm", "median", "nanmedian")) else range(-1, len(shape))
        for arguments in [*((dim,) for dim in dims), *([()] if name != "logsumexp" else [])]:
            check(lambda device: REDUCTIONS[name](x.to(device), *arguments))


def gradient_of_prelu(device: str):
    x = torch.zeros(3, 0, device=device, requires_grad=True)
    weight = torch.ones(1, device=device, requires_grad=True)
    return torch.autograd.grad(functional.prelu(x, weight).sum(), [x, weight])


def gradient_of_norm(shape: tuple[int, ...], training: bool):
    def of(device: str):
        x = torch.zeros(shape, device=device, requires_grad=True)
        weight, bias = (torch.ones(shape[1], device=device, requires_grad=True) for _ in range(2))
        mean, variance = torch.zeros(shape[1], device=device), torch.ones(shape[1], device=device)
        result = functional.batch_norm(x, mean, variance, weight, bias, training)
        return [result, *torch.autograd.grad(result.sum(), [x, weight, bias])]

    return of


def test_gradients():
    check(gradient_of_prelu)
    check(gradient_of_norm((2, 3, 0), False))
    # PyTorch's CPU kernel ends the process.
    leave_canaries()
    result, of_input, of_weight, of_bias = gradient_of_norm((0, 3), False)("npu")
    assert result.shape == of_input.shape == (0, 3)
    assert of_weight.tolist() == of_bias.tolist() == [0, 0, 0]
    x = torch.zeros(0, 3)
    statistics = torch.zeros(3), torch.ones(3)
    check(
        lambda device: torch.native_batch_norm(
            x.to(device), None, None, *(t.to(device) for t in statistics), True, 0.1, 1e-5
        ),
        "at least one element",
    )


def test_into_what_has_elements():
    index, source = torch.zeros(0, dtype=torch.int64), torch.zeros(0)
    target = torch.tensor([1.0, 2.0, 3.0])
    for name in ("index_copy", "index_add", "scatter", "scatter_add"):
        check(lambda device: getattr(target.to(device), name)(0, index.to(device), source.to(device)))
        check(lambda device: getattr(target.to(device), name + "_")(0, index.to(device), source.to(device)))
    check(lambda device: target.to(device).index_fill(0, index.to(device), 2.0))
    check(lambda device: target.to(device).index_put((index.to(device),), source.to(device)))
    out = torch.zeros(3)
    check(lambda device: torch.index_copy(target.to(device), 0, index.to(device), source.to(device), out=out.to(device)))


def test_draws():
    x = torch.zeros(3, 0)
    check(lambda device: torch.multinomial(x.to(device), 4, replacement=True), "invalid multinomial distribution")
    check(lambda device: torch.multinomial(x.t().to(device), 4, replacement=True))


def test_factors():
    x, square = torch.zeros(5, 0), torch.eye(5)
    check(lambda device: torch.triangular_solve(x.to(device), square.to(device)))
    for mode in ("complete", "reduced"):
        check(lambda device: torch.linalg.qr(x.to(device), mode))
        check(lambda device: torch.linalg.qr(x.t().to(device), mode))
    check(lambda device: torch.linalg.inv(x[:0].to(device)))
    check(lambda device: torch.ones(3).to(device) * 2 + 1)  # which torch_npu drops where one of them fails as it runs


POOLS = {
    "adaptive_avg_pool2d": (torch.zeros(2, 3, 0, 4), torch.zeros(2, 3, 4, 4), ((2, 2), (0, 2))),
    "adaptive_avg_pool3d": (torch.zeros(2, 3, 0, 4, 4), torch.zeros(2, 3, 4, 4, 4), ((2, 2, 2), (0, 2, 2))),
    "adaptive_max_pool2d": (torch.zeros(2, 3, 0, 4), torch.zeros(2, 3, 4, 4), ((2, 2), (0, 2))),
    "adaptive_max_pool3d": (torch.zeros(2, 3, 0, 4, 4), torch.zeros(2, 3, 4, 4, 4), ((2, 2, 2), (0, 2, 2))),
}


@pytest.mark.parametrize("name", POOLS)
def test_adaptive_pools(name):
    pool = getattr(functional, name)
    empty, full, (size, nothing) = POOLS[name]
    check(lambda device: pool(empty.to(device), size), "Expected input to have non-zero size for non-batch dimensions")
    check(lambda device: pool(full[:0].to(device), size))

    def gradient(device: str):
        x = full.to(device).requires_grad_()
        return torch.autograd.grad(pool(x, nothing).sum(), x)

    # CANN's functions refuse to make nothing.
    refused = r"Expected grad_output to have non-zero size|call aclnnAdaptive...Pool.d failed, error code is 161002"
    check(gradient, refused)


def test_the_canary_is_seen():
    leave_canaries()
    assert holds_canary(torch.empty(3, device="npu"))
