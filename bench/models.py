"""Whole training steps of examples/pytorch: device npu on portacl beside PyTorch on the CPU, in one process, a few steps of each in turn.

usage: python -m portacl bench/models.py [--threads N] [--seconds N] [--precision f32|bf16|f16] [MODEL...]    (./dev bench --models)

A row is the median of the steps' times on each side; the ratio, CPU / npu, is the median of those of neighbouring bursts: above 1,
npu is faster. Peak memory: what a process of its own holds at most after 12 steps, less what it held before the model was made.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("PORTACL_FALLBACK", "error")
EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "pytorch"
sys.path.insert(0, str(EXAMPLES))
MODELS = {"mlp": "Points", "nanogpt": "Characters", "llama": "Sequences", "resnet": "Stripes", "distillation": "Distillation", "lstm": "Waves"}
BURST = 4  # steps


def task(name: str):
    return getattr(__import__(name), MODELS[name])


def run_of(name: str, device: str, precision: str):
    import training

    return training.Run(task(name), device, precision, steps=10**6)


def burst(run) -> float:
    import torch

    start = time.perf_counter()
    for _ in range(BURST):
        run.step()
    run.losses[-1].item()
    torch.npu.synchronize()
    return (time.perf_counter() - start) / BURST


def held(which: str) -> float:
    """MiB that this process holds (VmRSS), or has held at most since forget_peak() (VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(which + ":")[1].split()[0]) / 1024


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def memory(name: str, device: str, precision: str, threads: int) -> float:
    """MiB, of a process of its own."""
    command = [sys.executable, "-B", __file__, "--memory", device, "--precision", precision, "--threads", str(threads), name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def measure(names: list[str], precision: str, threads: int, seconds: float) -> None:
    print(f"{precision}, {threads} thread{'s' if threads > 1 else ''}: milliseconds a step, MiB at most")
    print(f"{'model':<14} {'npu':>8} {'cpu':>8} {'cpu / npu':>10} {'npu MiB':>9} {'cpu MiB':>9}")
    ratios = []
    for name in names:
        npu, cpu = (run_of(name, device, precision) for device in ("npu", "cpu"))
        burst(npu), burst(cpu)
        pairs = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(pairs) < 3:
            pairs.append((burst(npu), burst(cpu)))
        times = [statistics.median(pair[side] for pair in pairs) * 1e3 for side in (0, 1)]
        ratios.append(statistics.median(theirs / ours for ours, theirs in pairs))
        peaks = [memory(name, device, precision, threads) for device in ("npu", "cpu")] if seconds >= 1 else [math.nan] * 2
        print(f"{name:<14} {times[0]:8.2f} {times[1]:8.2f} {ratios[-1]:10.2f} {peaks[0]:9.1f} {peaks[1]:9.1f}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}, lowest {min(ratios):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="per row; below 1, no memory")
    parser.add_argument("--precision", choices=("f32", "bf16", "f16"), default="f32")
    parser.add_argument("--memory", choices=("npu", "cpu"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["PORTACL_NUM_THREADS"] = str(options.threads)  # before the library is called first
    import torch
    import torch_npu  # noqa: F401

    torch.set_num_threads(options.threads)
    if options.memory:
        torch.ones(2, device=options.memory).sum().item()
        before = held("VmRSS")
        forget_peak()
        run = run_of(options.models[0], options.memory, options.precision)
        for _ in range(12):
            run.step()
        torch.npu.synchronize()
        print(held("VmHWM") - before)
    else:
        measure(options.models, options.precision, options.threads, options.seconds)


if __name__ == "__main__":
    main()
