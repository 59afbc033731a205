"""What recording costs: training steps of examples/pytorch on device npu with `--keep summary` beside the same steps without.

usage: python -m portacl bench/recording_cost.py [--threads N] [--pairs N] [--keep all|sample|summary] [MODEL...]    (./dev bench --recording)

Two processes train the same model, one of them in a recording, each as a program of its own would. They take turns, some steps at a time, so that
what else the machine does meets both. A row has the medians: milliseconds of a step by the clock and by the processor's time, and the ratios of
turns beside each other.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from models import MODELS, run_of

WARM_UP = 3  # turns that are not counted
LEAST = 0.08  # seconds of a turn without recording


def settle(run) -> None:
    import torch

    run.losses[-1].item()
    torch.npu.synchronize()


def train(name: str, keep: str | None) -> None:
    """Takes the number of steps of each turn from standard input, and answers with the seconds of one: by the clock, and of the processor."""
    import torch
    import torch_npu  # noqa: F401

    import portacl.recording

    threads = int(os.environ["PORTACL_NUM_THREADS"])
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        recorder = None
        if keep:
            recorder = portacl.recording.record(os.path.join(folder, "run.rec"), keep=keep, limit=None, progress=False).start()
        run = run_of(name, "npu", "f32")
        for line in sys.stdin:
            steps = int(line)
            start, processor = time.perf_counter(), time.process_time()
            for _ in range(steps):
                run.step()
            settle(run)
            took = ((time.perf_counter() - start) / steps, (time.process_time() - processor) / steps)
            calls = recorder.calls if recorder else 0
            print(json.dumps([*took, calls]), flush=True)
        if recorder:
            recorder.stop()


class Side:
    """A process that trains when it is asked to."""

    def __init__(self, name: str, threads: int, keep: str | None):
        command = [sys.executable, "-B", "-m", "portacl", __file__, "--train", keep or "nothing", name]
        environment = {**os.environ, "PORTACL_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def turn(self, steps: int) -> tuple[float, float, int]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        return tuple(json.loads(self.process.stdout.readline()))

    def end(self) -> None:
        self.process.communicate()


def measure(name: str, threads: int, pairs: int, keep: str) -> dict[str, float]:
    without, recorded = Side(name, threads, None), Side(name, threads, keep)
    try:
        steps = 2
        for _ in range(WARM_UP):
            first = without.turn(steps)
            recorded.turn(steps)
        steps = max(2, round(LEAST / first[0]))
        before = recorded.turn(steps)[2]
        found = []
        for number in range(pairs):
            if number % 2:
                there = recorded.turn(steps)
                here = without.turn(steps)
            else:
                here = without.turn(steps)
                there = recorded.turn(steps)
            found.append((here, there))
        calls = (there[2] - before) / steps / pairs
    finally:
        without.end()
        recorded.end()
    row: dict[str, float] = {"calls": calls}
    for place, kind in enumerate(("clock", "processor")):
        row[kind] = statistics.median(here[place] for here, there in found)
        row[f"{kind}, recorded"] = statistics.median(there[place] for here, there in found)
        ratios = sorted(there[place] / here[place] for here, there in found)
        row[f"{kind}, ratio"] = statistics.median(ratios)
        row[f"{kind}, quartiles"] = [ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]]
    row["us a call"] = (row["processor, recorded"] - row["processor"]) / calls * 1e6
    return row


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=21, help="turns with and without")
    parser.add_argument("--keep", default="summary", choices=("all", "sample", "summary"))
    parser.add_argument("--json", action="store_true", help="all rows as the last line")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        return train(options.models[0], None if options.train == "nothing" else options.train)
    print(f"{processor()}, {os.cpu_count()} processors, {options.threads} thread{'s' if options.threads > 1 else ''}, load {os.getloadavg()[0]:.1f}")
    print(f"--keep {options.keep}: ms of a step without and with recording, by the clock and of the processor; ratios with their quartiles")
    print(f"{'model':<14} {'calls':>6} {'clock':>16} {'ratio':>20} {'processor':>16} {'ratio':>20} {'us a call':>10}")
    rows = {}
    for name in options.models:
        row = rows[name] = measure(name, options.threads, options.pairs, options.keep)
        text = f"{name:<14} {row['calls']:6.0f}"
        for kind in ("clock", "processor"):
            low, high = row[f"{kind}, quartiles"]
            text += f" {row[kind] * 1e3:7.2f} {row[f'{kind}, recorded'] * 1e3:8.2f} {row[f'{kind}, ratio']:8.2f} ({low:.2f} {high:.2f})"
        print(f"{text} {row['us a call']:10.1f}", flush=True)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
