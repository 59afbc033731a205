"""What a model does on a device, and whether device npu did the same: numbers against float64, everything else to the letter.

A number is right where it is as near to the CPU's float64 result as the CPU's float32 result is, within FACTOR, or within the tolerance
of it. The distance is the largest of a tensor's, as a part of its largest number.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 2e-2, torch.float16: 4e-3}
FACTOR = 8
# Gradients and weights far below the largest of their kind are held against a part of that: what is zero but for roundings
# (the gradient of a key's bias, say) has no other size.
LEAST_PART = 1e-3
TELLS_NOTHING = 1e-2  # a CPU's float32 so far from float64 would let anything pass: such a model must be made otherwise
BEYOND = 1e30
STEPS = 3
# Large enough for AdamW's steps to follow a gradient's size, not only its sign, which roundings decide where it is next to zero.
ADAMW = {"lr": 1e-3, "eps": 1e-3, "weight_decay": 0.01}


class AsOnAnNpu(TorchFunctionMode):
    """What an NPU computes otherwise than the CPU by definition, for the CPU's runs: aclnnGelu is the form with tanh."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if function is torch.nn.functional.gelu:
            kwargs = {**kwargs, "approximate": "tanh"}
        return function(*args, **kwargs)


Numbers = dict[str, torch.Tensor]  # by "kind.name"


@dataclasses.dataclass
class Outcome:
    """One row of the table."""

    client: str
    case: str
    result: str = "same"  # same, differs, fails
    worst: float = 0.0  # the largest distance from the exact result
    seconds: float = 0.0
    fell_back: list[str] = dataclasses.field(default_factory=list)
    remark: str = ""


@dataclasses.dataclass
class Observed:
    """What a run came to: numbers, and what must be equal."""

    numbers: Numbers = dataclasses.field(default_factory=dict)
    equal: dict[str, Any] = dataclasses.field(default_factory=dict)


def tensors_of(value: Any, name: str = "output") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of real numbers in what a model returns; caches aside, which its outputs depend on."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point():
            yield name, value
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in ("past_key_values", "cache_params", "mems"):
                yield from tensors_of(one, f"{name}.{key}")
    elif isinstance(value, (list, tuple)):
        for i, one in enumerate(value):
            yield from tensors_of(one, f"{name}.{i}")


def weighed(output: Any) -> torch.Tensor:
    """A loss of all that a model returns: its own where it has one, and every number with a weight of its own."""
    total = None
    for name, tensor in tensors_of(output):
        if name == "output.loss":
            part = tensor
        elif tensor.requires_grad:
            weights = torch.cos(torch.arange(tensor.numel(), dtype=torch.float64)).to(device=tensor.device, dtype=tensor.dtype)
            part = (tensor.reshape(-1) * weights).mean()
        else:
            continue
        total = part if total is None else total + part.to(total.dtype)
    if total is None:
        raise ValueError("nothing that the model returns has a gradient")
    return total


def moved(value: Any, device: str, dtype: torch.dtype) -> Any:
    """Inputs on a device, real numbers of this dtype."""
    if isinstance(value, torch.Tensor):
        return value.to(device=device, dtype=dtype if value.is_floating_point() else value.dtype)
    if isinstance(value, dict):
        return {key: moved(one, device, dtype) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(moved(one, device, dtype) for one in value)
    return value


def kept(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("cpu", copy=True)


def without_dropout(model: torch.nn.Module) -> torch.nn.Module:
    for module in model.modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):  # of labels, in diffusers
            module.dropout_prob = 0.0
    return model


def observed(
    model: torch.nn.Module,
    inputs: dict[str, Any],
    device: str,
    dtype: torch.dtype = torch.float32,
    generate: Callable[[torch.nn.Module, dict[str, Any]], torch.Tensor] | None = None,
    draws: bool = False,
) -> Observed:
    """Forward, gradients, three steps of AdamW, and what is generated, by a copy of the model.

    A model that draws numbers while it trains, which no two devices share, is trained as if it did not.
    """
    with contextlib.nullcontext() if device == "npu" else AsOnAnNpu():
        return _observed(model, inputs, device, dtype, generate, draws)


def _observed(
    model: torch.nn.Module, inputs: dict[str, Any], device: str, dtype: torch.dtype, generate: Any, draws: bool
) -> Observed:
    seen = Observed()
    model = without_dropout(copy.deepcopy(model)).to(device=device, dtype=dtype)
    inputs = moved(inputs, device, dtype)
    torch.manual_seed(23)
    model.eval()
    with torch.no_grad():
        for name, tensor in tensors_of(model(**inputs)):
            seen.numbers[name] = kept(tensor)
        if generate is not None:
            seen.equal["generated"] = generate(model, inputs).cpu().tolist()
    model.train(not draws)
    trained = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW([parameter for _, parameter in trained], **ADAMW)
    for step in range(STEPS):
        torch.manual_seed(24 + step)
        optimizer.zero_grad()
        loss = weighed(model(**inputs))
        loss.backward()
        seen.numbers[f"loss.{step}"] = kept(loss)
        if step == 0:
            for name, parameter in trained:
                if parameter.grad is not None:
                    seen.numbers[f"gradient.{name}"] = kept(parameter.grad)
            seen.equal["without gradient"] = [name for name, parameter in trained if parameter.grad is None]
        optimizer.step()
    for name, parameter in trained:
        seen.numbers[f"weight.{name}"] = kept(parameter)
    return seen


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """In float64, with infinities for what models write in their place: the ends of a dtype's range."""
    wide = tensor.double()
    return torch.where(wide.abs() > BEYOND, torch.copysign(torch.full_like(wide, math.inf), wide), wide)


def _largest(tensor: torch.Tensor) -> float:
    finite = tensor[torch.isfinite(tensor)].abs()
    return float(finite.max()) if finite.numel() else 0.0


def _distance(got: torch.Tensor, right: torch.Tensor, size: float) -> float:
    """The largest difference as a part of `size`; infinite where shapes differ, or one is finite and the other is not."""
    if got.shape != right.shape:
        return math.inf
    finite = torch.isfinite(right)
    if not torch.equal(finite, torch.isfinite(got)) or not torch.equal(got[~finite].nan_to_num(), right[~finite].nan_to_num()):
        return math.inf
    return float((got - right)[finite].abs().max()) / size if bool(finite.any()) else 0.0


def judge(outcome: Outcome, npu: Observed, cpu: Observed, exact: Observed | None, dtype: torch.dtype = torch.float32) -> None:
    """Writes into the outcome whether device npu did what the CPU does; without float64, the CPU's own results are what is right."""
    reference = cpu if exact is None else exact
    for name in cpu.equal:
        if npu.equal.get(name) != cpu.equal[name]:
            outcome.result = "differs"
            outcome.remark = f"{name}: {npu.equal.get(name)} instead of {cpu.equal[name]}"[:300]
            return
    if npu.numbers.keys() != cpu.numbers.keys():
        outcome.result = "differs"
        outcome.remark = f"only on one device: {sorted(npu.numbers.keys() ^ cpu.numbers.keys())}"[:300]
        return
    right = {name: _plain(tensor) for name, tensor in reference.numbers.items()}
    largest: dict[str, float] = {}
    for name, tensor in right.items():
        kind = name.partition(".")[0]
        largest[kind] = max(largest.get(kind, 0.0), _largest(tensor))
    worst_part = 1.0
    for name, tensor in right.items():
        size = max(_largest(tensor), LEAST_PART * largest[name.partition(".")[0]]) or 1.0
        far, of_cpu = (_distance(_plain(one.numbers[name]), tensor, size) for one in (npu, cpu))
        allowed = max(TOLERANCE[dtype], FACTOR * of_cpu)
        outcome.worst = max(outcome.worst, far)
        if of_cpu > TELLS_NOTHING:
            outcome.result = "differs"
            outcome.remark = f"{name} tells nothing: the CPU's own result is {of_cpu:.1e} of {size:.1e} away from float64"
            return
        if far > worst_part * allowed:
            worst_part = far / allowed
            outcome.result = "differs"
            outcome.remark = f"{name} is {far:.1e} of {size:.1e} away, more than {allowed:.1e}"
