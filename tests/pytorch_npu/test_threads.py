"""Many threads, own operators and operators that fall back, streams of their own and streams that they share."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest
import torch

THREADS = 6
ROUNDS = 200
# Below and above the size up to which a result is put in place by a plain copy, and one that a worker of the stream computes.
SIZES = (100, 5000, 40000)


def _resized(tensor: torch.Tensor) -> torch.Tensor:
    """A result in an out= tensor that gets its memory only when the result is there."""
    out = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return torch.hypot(tensor, tensor, out=out)


# Own operators leave memory free behind them while their work is still to be done; what falls back then takes it.
CHAINS = {
    "one result": lambda x: (x * 2 + 1).cumsum(0),
    "several": lambda x: torch.stack((x * 3 - 1).sub(x).flip(0).aminmax()),
    "in between": lambda x: ((x + 2).lgamma() * 2 - x).cumsum(0),
    "resized": lambda x: _resized(x * 2 - 1) + 0,
    "in place": lambda x: (x * 4).add_(x).cumprod(0).mul_(0.5),
}


def _work(number: int, streams: list, failures: list, wrong: list, start: threading.Barrier) -> None:
    try:
        numbers = torch.Generator().manual_seed(number)
        inputs = [torch.randint(-4, 5, (size,), generator=numbers).float() / 4 for size in SIZES]
        # The CPU's kernels on the CPU; the own operators between them are exact for these numbers, but for fractions of lgamma.
        wanted = {name: [chain(x) for x in inputs] for name, chain in CHAINS.items()}
        start.wait()
        for turn in range(ROUNDS):
            with torch.npu.stream(streams[(number + turn) % len(streams)]):
                x = inputs[turn % len(inputs)].npu()
                for name, chain in CHAINS.items():
                    got = chain(x)
                    if not torch.equal(got.cpu(), wanted[name][turn % len(inputs)]):
                        wrong.append((number, turn, name))
    except BaseException as error:
        failures.append(error)
        start.abort()


@pytest.mark.parametrize("shared", [0, 1, 3], ids=["streams of their own", "one stream", "three streams"])
def test_what_threads_compute_is_theirs(shared):
    wrong: list = []
    failures: list = []
    start = threading.Barrier(THREADS)
    common = [torch.npu.current_stream(), torch.npu.Stream(), torch.npu.Stream()][:shared]
    threads = [
        threading.Thread(target=_work, args=(n, common or [torch.npu.Stream()], failures, wrong, start)) for n in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert not wrong, f"{len(wrong)} of {THREADS * ROUNDS * len(CHAINS)}: {wrong[:5]}"
