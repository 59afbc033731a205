"""What a call and a train step cost through torch_npu on portacl, beside PyTorch on the CPU: one process, short bursts in turn.

usage: python -m portacl bench/pytorch_npu.py [--seconds N]        (./dev bench --npu)

Small calls are measured in nanoseconds of one thread's wall time per call, the median of many short bursts of each side in
turn; the ratio is the median of the ratios of neighbouring bursts, so that a disturbed machine disturbs both.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("PORTACL_FALLBACK", "quiet")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch_npu  # noqa: E402, F401

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "pytorch"))
import regression  # noqa: E402


def calls(device: str):
    """Name, function of one call."""
    x, y = torch.rand(4).to(device), torch.rand(4).to(device)
    gradient = torch.ones((), device=device)
    yield "own: y.copy_(x)", lambda: y.copy_(x)
    yield "own: F.mse_loss(x, y)", lambda: F.mse_loss(x, y)
    yield "own: mse_loss_backward", lambda: torch.ops.aten.mse_loss_backward(gradient, x, y, 1)
    yield "own: torch.zeros(4)", lambda: torch.zeros(4, device=device)
    yield "fallback: x + y", lambda: torch.add(x, y)
    yield "fallback: x.add_(y)", lambda: x.add_(y, alpha=1e-9)
    for loss in regression.LOSSES:
        for optimizer in regression.OPTIMIZERS:
            yield f"train step: {loss}, {optimizer}", step_of(regression.Fit(loss, optimizer, device, 60))


def step_of(fit):
    x, target = fit.x[: regression.BATCH], fit.target[: regression.BATCH]

    def step():
        fit.optimizer.zero_grad()
        fit.loss(fit.network(x), target).backward()
        fit.optimizer.step()
        torch.npu.synchronize()

    return step


def burst(function, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        function()
    if count > 1:
        torch.npu.synchronize()
    return (time.perf_counter() - start) / count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2.0, help="per row")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'one thread, microseconds':<30} {'npu':>10} {'cpu':>10} {'npu / cpu':>10}")
    for (name, ours), (_, theirs) in zip(calls("npu"), calls("cpu")):
        count = max(1, int(0.002 / max(burst(ours, 3), 1e-7)))
        burst(theirs, count)
        end = time.perf_counter() + options.seconds
        pairs = []
        while time.perf_counter() < end or len(pairs) < 5:
            pairs.append((burst(ours, count), burst(theirs, count)))
        npu, cpu = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:<30} {npu * 1e6:10.2f} {cpu * 1e6:10.2f} {ratio:10.2f}", flush=True)


if __name__ == "__main__":
    main()
