"""Runs the samples of one entry of PyTorch's op_db on device npu and on the CPU, and compares them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field

import torch
from torch.testing._internal.common_methods_invocations import op_db

import portacl.torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool)
SHORT = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.bool: "bool",
    torch.complex64: "c64",
}

# Where an own operator takes part: relative and absolute, those of torch.testing.assert_close. Elsewhere: the same bits.
TOLERANCES = {torch.float32: (1.3e-6, 1e-5), torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5)}
_OTHER_TOLERANCE = (1.3e-6, 1e-5)  # complex64, float64

# These return memory that nobody wrote: shapes, strides and dtypes are compared.
_UNWRITTEN = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}

# Factors of a matrix are not unique (signs, order, phases): what they have in common is compared.
_NOT_UNIQUE = {
    "linalg.svd": lambda r: r[1],
    "svd": lambda r: r[1],
    "linalg.eig": lambda r: r[0],
    "linalg.eigh": lambda r: r[0],
}


@dataclass
class Outcome:
    """What became of one entry. `kind`: own, refused, fallback, differs or fails."""

    name: str
    kind: str = ""
    dtypes: list[str] = field(default_factory=list)
    compared: int = 0
    gradients: int = 0
    skipped: int = 0
    other_bits: int = 0  # samples that only fell back and are within the tolerance but not the same bits
    nearer: int = 0  # samples beyond the tolerance from the CPU, within it from its float64 result or no further than the CPU
    random: bool = False
    own: list[str] = field(default_factory=list)
    refused: dict[str, list[str]] = field(default_factory=dict)  # own operators that fell back all the same, and for which dtypes
    missing: dict[str, list[str]] = field(default_factory=dict)  # operators that portacl lacks, and with which dtypes they were called
    reason: str = ""


def entry_name(op) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def entries() -> list[str]:
    return [entry_name(op) for op in op_db]


def _map(value, function):
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map(v, function) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_map(v, function) for v in value)
    if isinstance(value, dict):
        return {k: _map(v, function) for k, v in value.items()}
    return value


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors(v)
    elif isinstance(value, dict):
        for v in value.values():
            yield from _tensors(v)


def _fresh(value, device):
    """Leaves of their own with the strides of the sample, so that neither run sees what the other did."""

    def one(tensor):
        copy = tensor.detach().clone() if device == "cpu" else tensor.detach().to(device)
        if copy.stride() != tensor.stride() and tensor.numel():
            base = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
            if not any(n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride())):
                base.copy_(copy)
                copy = base
        return copy.requires_grad_(tensor.requires_grad)

    return _map(value, one)


def _device(value, device):
    if isinstance(value, (torch.device, str)) and str(value).startswith("cpu"):
        return torch.device(device)
    return value


# Tensors of lengths and places that PyTorch takes from the CPU on every device.
_HOST_ARGUMENTS = {"tensor_split"}


class _Counted:
    """Which operators ran on the NPU, by the counts of portacl.torch."""

    def __init__(self):
        self.calls = portacl.torch._installed._calls
        self.own, self.fallen_back = set(), set()

    @contextlib.contextmanager
    def counting(self):
        before = [c.count for c in self.calls]
        try:
            yield
        finally:
            for old, calls in zip(before, self.calls):
                if calls.count != old:
                    (self.own if calls.own else self.fallen_back).add(calls.name)


def _is_random(names) -> bool:
    for name in names:
        namespace, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        operator = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
        if torch.Tag.nondeterministic_seeded in operator.tags:
            return True
    return False


def _drops(sample) -> bool:
    """Whether elements are dropped: torch_npu's fused attention draws, too, and has no tag that says so."""
    return sample.kwargs.get("dropout_p", 0.0) > 0.0


class _Differs(Exception):
    pass


_FLOATING = (torch.float16, torch.bfloat16, torch.float32)

# The order of equals is left open: which entries return places, and how the values lie there.
_PLACES = {"argsort": lambda r: r, "sort": lambda r: r[1], "topk": lambda r: r[1], "kthvalue": lambda r: r[1]}
_ORDERING = {*_PLACES, "msort"}


def _dim_of(name: str, sample) -> int:
    """Along which dim an entry of _ORDERING orders."""
    if name == "msort":
        return 0
    place = 1 if name in ("topk", "kthvalue") else 0
    rest = [a for a in sample.args if not isinstance(a, bool)]
    return sample.kwargs.get("dim", rest[place] if len(rest) > place else -1)


def _has_equals(name: str, sample) -> bool:
    if sample.input.dim() == 0:
        return False
    values = sample.input.detach().sort(_dim_of(name, sample)).values.movedim(_dim_of(name, sample), 0)
    return bool((values[1:] == values[:-1]).any() or values.isnan().any())


def _values_at_places(name: str, sample, result):
    """An ordering's places, as the values that lie there: what is not left open of them."""
    x = sample.input.detach()
    dim = _dim_of(name, sample)

    def gathered(places):
        if x.dim() == 0:
            return places
        kept = places.dim() == x.dim()
        found = x.gather(dim, places if kept else places.unsqueeze(dim))
        return found if kept else found.squeeze(dim)

    places = _PLACES[name](result).cpu()
    values = [gathered(places)]
    return values if places is result or name == "argsort" else [result[0], *values]


def _wider(value):
    """Leaves of their own in float64: for what the CPU rounds more often, or in another order, than it must."""

    def one(tensor):
        copy = tensor.detach().clone()
        return (copy.double() if copy.dtype in _FLOATING else copy).requires_grad_(tensor.requires_grad)

    if isinstance(value, dict):  # linspace and its like are told the type of their result
        value = {k: torch.float64 if isinstance(v, torch.dtype) and v in _FLOATING else v for k, v in value.items()}
    return _map(value, one)


def _not_further(got, want, exact) -> bool:
    """Whether each tensor is within the tolerance of the exact one, or nowhere further from it than the CPU's is somewhere."""
    if isinstance(want, torch.Tensor):
        if not (want.dtype.is_floating_point or want.dtype.is_complex):
            return bool(torch.equal(got, want))
        if got.shape != want.shape or got.dtype != want.dtype or exact.shape != want.shape:
            return False
        if not bool(torch.equal(got.isfinite(), exact.to(want.dtype).isfinite())):
            return False
        rtol, atol = TOLERANCES.get(want.dtype, _OTHER_TOLERANCE)
        if torch.allclose(got, exact.to(want.dtype), rtol=rtol, atol=atol, equal_nan=True):
            return True
        finite = exact.isfinite() & want.isfinite() & got.isfinite()
        errors = [(t.to(exact.dtype) - exact).abs()[finite].max().item() for t in (got, want)]
        return errors[0] <= errors[1]
    if isinstance(want, (list, tuple)):
        return len(got) == len(want) and all(_not_further(*three) for three in zip(got, want, exact))
    return got == want


def _nearer_to_exact(op, sample, got, got_gradient, want, want_gradient) -> bool:
    """Whether a result is right by a better reference than the CPU's own in that type: its float64."""
    arguments = [_wider(v) for v in (sample.input, sample.args, sample.kwargs)]
    host = lambda value: _map(value, lambda t: t.detach().cpu().resolve_conj().resolve_neg())  # noqa: E731
    torch.set_default_dtype(torch.float64)  # what integers become
    try:
        exact = op(arguments[0], *arguments[1], **arguments[2])
        if not _not_further(host(got), host(want), host(exact)):
            return False
        if want_gradient is not None:
            gradient = _gradients(exact, _tensors(arguments), "cpu", want)
            return _not_further(host(got_gradient), host(want_gradient), host(gradient))
    except Exception:
        return False
    finally:
        torch.set_default_dtype(torch.float32)
    return True


def _compare(got, want, what: str, values: bool) -> bool:
    """True for the same bits; False for close ones. Raises _Differs otherwise."""
    if isinstance(want, torch.Tensor):
        if not isinstance(got, torch.Tensor):
            raise _Differs(f"{what} is {type(got).__name__} instead of a tensor")
        if got.shape != want.shape:
            raise _Differs(f"{what} has shape {list(got.shape)} instead of {list(want.shape)}")
        if got.dtype != want.dtype:
            raise _Differs(f"{what} has dtype {got.dtype} instead of {want.dtype}")
        if not values or want.numel() == 0:
            return True
        if want.layout is not torch.strided:
            if got.layout is not want.layout:
                raise _Differs(f"{what} has layout {got.layout} instead of {want.layout}")
            got, want = got.to_dense(), want.to_dense()
        got, want = got.detach().cpu().resolve_conj().resolve_neg(), want.detach().resolve_conj().resolve_neg()
        if want.dtype is torch.complex32:  # few operators take it
            got, want = torch.view_as_real(got), torch.view_as_real(want)
        if torch.equal(torch.nan_to_num(got, nan=123.0), torch.nan_to_num(want, nan=123.0)) and torch.equal(
            got.isnan(), want.isnan()
        ):
            return True
        rtol, atol = TOLERANCES.get(want.dtype, _OTHER_TOLERANCE)
        if not (want.dtype.is_floating_point or want.dtype.is_complex):
            rtol = atol = 0.0
        if torch.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True):
            return False
        wide = torch.complex128 if want.dtype.is_complex else torch.float64
        distance = (got.to(wide) - want.to(wide)).abs()
        worst = torch.nan_to_num(distance, nan=math.inf).max().item()
        raise _Differs(f"{what} differs by up to {worst:.3g}")
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            raise _Differs(f"{what} has {len(got)} parts instead of {len(want)}")
        same = [_compare(g, w, f"{what}[{i}]", values) for i, (g, w) in enumerate(zip(got, want))]
        return all(same)
    if values and got != want and not (isinstance(want, float) and math.isnan(want) and math.isnan(got)):
        raise _Differs(f"{what} is {got!r} instead of {want!r}"[:120])
    return True


def _gradients(result, inputs, device, like=None):
    """Gradients of every floating output by every input that asks for one, with the same weights on both devices: those of
    `like`'s dtypes where the result stands for it."""
    outputs = [t for t in _tensors(result) if t.requires_grad]
    leaves = [t for t in inputs if t.requires_grad]
    if not outputs or not leaves:
        return None
    generator = torch.Generator().manual_seed(20)
    dtypes = [t.dtype for t in (outputs if like is None else [t for t in _tensors(like) if t.requires_grad])]
    weights = [
        torch.randn(t.shape, generator=generator, dtype=torch.float32).to(dtype).to(t.dtype).to(device)
        for t, dtype in zip(outputs, dtypes)
    ]
    return torch.autograd.grad(outputs, leaves, weights, allow_unused=True)


def _phrase(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip() and not line.startswith("[ERROR]")]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160].replace("|", "/")


def run(index: int, limit: int, dtypes=DTYPES) -> Outcome:
    """The first `limit` samples of every dtype of op_db[index]."""
    op = op_db[index]
    outcome = Outcome(entry_name(op))
    counted = _Counted()
    own_operators = portacl.torch.own_operators()
    differs, fails = [], []
    listed = [dtype for dtype in dtypes if dtype in op.supported_dtypes("cpu")]
    for dtype in listed or [torch.complex64]:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        gradient = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        torch.manual_seed(20)
        try:
            samples = iter(op.sample_inputs("cpu", dtype, requires_grad=gradient))
        except Exception:
            outcome.skipped += 1
            continue
        tried = False
        for _ in range(limit):
            try:
                sample = next(samples)
            except StopIteration:
                break
            except Exception:  # PyTorch's maker of samples needs what is not installed
                outcome.skipped += 1
                break
            everything = list(_tensors([sample.input, sample.args, sample.kwargs]))
            if any(t.layout is not torch.strided for t in everything):
                outcome.skipped += 1
                continue
            made = []
            for device in ("cpu", "npu"):
                place = "cpu" if op.name in _HOST_ARGUMENTS else device
                arguments = [_fresh(sample.input, device), _fresh(sample.args, place), _fresh(sample.kwargs, place)]
                arguments[1] = tuple(_device(v, device) for v in arguments[1])
                arguments[2] = {k: _device(v, device) for k, v in arguments[2].items()}
                made.append(arguments)
            try:
                torch.manual_seed(20)
                want = op(made[0][0], *made[0][1], **made[0][2])
                want_gradient = _gradients(want, _tensors(made[0]), "cpu") if gradient else None
            except Exception:  # not a sample for the CPU either
                outcome.skipped += 1
                continue
            tried = True
            where = f"{SHORT[dtype]}"
            got_gradient = None
            now = _Counted()
            try:
                with now.counting():
                    torch.manual_seed(20)
                    got = op(made[1][0], *made[1][1], **made[1][2])
                    if want_gradient is not None:
                        got_gradient = _gradients(got, _tensors(made[1]), "npu")
                    torch.npu.synchronize()
            except Exception as error:
                fails.append(f"{where}: {_phrase(error)}")
                continue
            finally:
                counted.own |= now.own
                for name in sorted(now.fallen_back):
                    calls = outcome.refused if name in own_operators else outcome.missing
                    if SHORT[dtype] not in calls.setdefault(name, []):
                        calls[name].append(SHORT[dtype])
            random = _is_random(now.own | now.fallen_back) or _drops(sample)
            outcome.random |= random
            values = not random and op.name not in _UNWRITTEN
            unique = _NOT_UNIQUE.get(op.name, lambda r: r)
            try:
                host = unique(_map(got, lambda t: t.cpu()))
                if op.name in _PLACES and _has_equals(op.name, sample):
                    same = _compare(*(_values_at_places(op.name, sample, r) for r in (host, want)), "result", values)
                else:
                    same = _compare(host, unique(want), "result", values)
                for tensor in _tensors(got):
                    if tensor.device.type != "npu" and any(t.device.type == "npu" for t in _tensors(made[1])):
                        raise _Differs("the result is on the CPU")
                if op.name in _ORDERING and want_gradient is not None and _has_equals(op.name, sample):
                    pass  # which of equals gets the gradient is left open as well
                elif want_gradient is not None:
                    same &= _compare(got_gradient, want_gradient, "gradient", values)
                    outcome.gradients += 1
                outcome.compared += 1
                if not same and not now.own:
                    outcome.other_bits += 1
            except _Differs as error:
                if _nearer_to_exact(op, sample, got, got_gradient, want, want_gradient):
                    outcome.compared += 1
                    outcome.gradients += want_gradient is not None
                    outcome.nearer += 1
                else:
                    differs.append(f"{where}: {error}")
            except Exception as error:
                fails.append(f"{where}, comparing: {_phrase(error)}")
        if tried:
            outcome.dtypes.append(SHORT[dtype])
    outcome.own = sorted(counted.own)
    if fails:
        outcome.kind, outcome.reason = "fails", f"{fails[0]} ({len(fails)} samples)"
    elif differs:
        outcome.kind, outcome.reason = "differs", f"{differs[0]} ({len(differs)} samples)"
    elif not outcome.compared:
        outcome.kind, outcome.reason = "skipped", "no sample that the CPU computes"
    else:
        outcome.kind = "fallback" if outcome.missing else "refused" if outcome.refused else "own"
    return outcome
