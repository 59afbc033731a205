"""Whole training steps of examples/pytorch: device npu on portacl beside PyTorch on the CPU, in one process, a few steps of each in turn.

usage: python -m portacl bench/models.py [--threads N] [--seconds N] [--precision f32|bf16|f16|bf16-weights] [MODEL...]    (./dev bench --models)
       python -m portacl bench/models.py --page PAGE [--seconds N]     with one thread and with two, language models also in bf16, under
                                                                       autocast and whole; writes the table in docs/performance.md

A row is the median of the steps' times on each side; the ratio, CPU / npu, is the median of those of neighbouring bursts: above 1,
npu is faster. Memory is that of a process of its own, which has trained two linear layers before: what twelve steps of the model add to that at
most, and the most that the process ever held.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import json
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
LANGUAGE = ("nanogpt", "llama")
ROWS = (("f32", tuple(MODELS)), ("bf16", LANGUAGE), ("bf16-weights", LANGUAGE))  # of the page
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


def again(*arguments: object) -> str:
    """What a process of its own prints last."""
    command = [sys.executable, "-B", __file__, *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]


def warm_up(device: str) -> None:
    """A step of as little as has all parts of one, so that what every program loads is loaded."""
    import torch
    import training

    class Tiny(training.Task):
        def network(self):
            return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Linear(4, 4))

        def loss(self, network, step):
            return network(self.uniform(step, 4, 4)).square().mean()

    run = training.Run(Tiny, device, "f32", steps=2)
    run.step()
    run.losses[-1].item()


def print_memory(name: str, device: str, precision: str) -> None:
    import torch

    warm_up(device)
    before, ever = held("VmRSS"), held("VmHWM")
    forget_peak()
    run = run_of(name, device, precision)
    for _ in range(12):
        run.step()
    torch.npu.synchronize()
    peak = held("VmHWM")
    print(json.dumps([peak - before, max(peak, ever)]))


def measure(names: list[str], precision: str, threads: int, seconds: float) -> dict[str, list[float]]:
    """By model: milliseconds of npu and CPU, their ratio; MiB that are added by npu and CPU, and that both processes hold at most."""
    print(f"{precision}, {threads} thread{'s' if threads > 1 else ''}: milliseconds a step; MiB that training adds, the process's at most")
    print(f"{'model':<14} {'npu':>8} {'cpu':>8} {'cpu / npu':>10} {'npu MiB':>9} {'cpu MiB':>9} {'npu, all':>9} {'cpu, all':>9}")
    rows = {}
    for name in names:
        npu, cpu = (run_of(name, device, precision) for device in ("npu", "cpu"))
        burst(npu), burst(cpu)
        pairs = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(pairs) < 3:
            pairs.append((burst(npu), burst(cpu)))
        times = [statistics.median(pair[side] for pair in pairs) * 1e3 for side in (0, 1)]
        ratio = statistics.median(theirs / ours for ours, theirs in pairs)
        peaks = [[math.nan] * 2] * 2
        if seconds >= 1:
            options = ("--precision", precision, "--threads", threads, name)
            peaks = [json.loads(again("--memory", device, *options)) for device in ("npu", "cpu")]
        row = rows[name] = [*times, ratio, *(side[0] for side in peaks), *(side[1] for side in peaks)]
        print(f"{name:<14} {row[0]:8.2f} {row[1]:8.2f} {row[2]:10.2f}" + "".join(f" {mib:9.1f}" for mib in row[3:]), flush=True)
    ratios = [row[2] for row in rows.values()]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f}, lowest {min(ratios):.2f}")
    return rows


BEGIN, END = "<!-- written by bench/models.py -->\n", "<!-- end of what bench/models.py wrote -->\n"


def write_page(page: Path, seconds: float) -> None:
    sides: list[dict[str, list[float]]] = []
    for threads in (1, 2):
        rows = {}
        for precision, names in ROWS:
            measured = json.loads(again("--threads", threads, "--seconds", seconds, "--precision", precision, "--json", *names))
            rows |= {name if precision == "f32" else f"{name}, {precision}": row for name, row in measured.items()}
        sides.append(rows)
    one, two = sides
    lines = [
        "| model | npu, ms, 1 thread | CPU | CPU / npu | npu, ms, 2 threads | CPU | CPU / npu | npu, MiB added | CPU | npu, MiB in all | CPU |",
        "|---|" + "---:|" * 10,
    ]
    for name, row in one.items():
        times = [f"{value:.{digits}f}" for side in (row, two[name]) for value, digits in zip(side[:3], (1, 1, 2))]
        lines.append(f"| {name} | {' | '.join(times)} | {' | '.join(f'{mib:.0f}' for mib in row[3:])} |")
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    page.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="per row; below 1, no memory")
    parser.add_argument("--precision", choices=("f32", "bf16", "f16", "bf16-weights"), default="f32")
    parser.add_argument("--page", type=Path, metavar="PAGE", help="write the table there, of one thread and of two")
    parser.add_argument("--memory", choices=("npu", "cpu"), help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)  # all rows as the last line
    options = parser.parse_args()
    if options.page:
        return write_page(options.page, options.seconds)
    os.environ["PORTACL_NUM_THREADS"] = str(options.threads)  # before the library is called first
    import torch
    import torch_npu  # noqa: F401

    torch.set_num_threads(options.threads)
    if options.memory:
        return print_memory(options.models[0], options.memory, options.precision)
    rows = measure(options.models, options.precision, options.threads, options.seconds)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
