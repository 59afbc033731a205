"""Random numbers of operators that PyTorch's CPU kernels compute, drawn from the NPU's generators.

An NPU generator is a seed and an offset. A call takes both, mixes them into the seed of a CPU generator made for that call,
and advances the offset. So torch.manual_seed, torch.npu.manual_seed, get_state, set_state and fork_rng mean on device npu what
they mean elsewhere; the CPU's own generator is neither read nor advanced.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import torch

_MASK = (1 << 64) - 1
_STEP = 4  # offsets of NPU generators are multiples of four
_default_generator_lock = threading.Lock()


def _mixed(seed: int, offset: int) -> int:
    """Returns a 64-bit seed in which every bit depends on every bit of both (SplitMix64's finaliser, twice)."""
    state = (seed ^ 0x706F727461636C00) & _MASK
    for addend in (offset, 0x9E3779B97F4A7C15):
        state = (state + addend) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def next_seed(generator: torch.Generator | None, device: torch.device) -> int:
    """Takes the seed of one call from an NPU generator (the device's default one if None) and advances the generator."""
    if generator is None:
        torch.npu.init()
        index = device.index if device.index is not None else torch.npu.current_device()
        generator = torch.npu.default_generators[index]
    elif generator.device.type != "npu":
        raise RuntimeError(f"Expected a 'npu' device type for generator but found '{generator.device.type}'")
    offset = generator.get_offset()
    generator.set_offset(offset + _STEP)
    return _mixed(generator.initial_seed(), offset)


def generator_for(generator: torch.Generator | None, device: torch.device) -> torch.Generator:
    return torch.Generator().manual_seed(next_seed(generator, device))


@contextlib.contextmanager
def default_generator_for(device: torch.device) -> Iterator[None]:
    """For operators that take no generator: seeds the CPU's default one, and restores it afterwards."""
    seed = next_seed(None, device)
    with _default_generator_lock:
        before = torch.default_generator.get_state()
        torch.default_generator.manual_seed(seed)
        try:
            yield
        finally:
            torch.default_generator.set_state(before)
