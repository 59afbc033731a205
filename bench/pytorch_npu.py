"""What a call and a train step cost through torch_npu on portacl, beside PyTorch on the CPU, with torch_npu's queue and without.

usage: python -m portacl bench/pytorch_npu.py [--seconds N] [--quick] [--page PAGE]        (./dev bench --npu)

Each figure is the fastest of many short bursts of each side in turn, with a synchronisation at the end of each: one that nothing disturbed.
The processor's time is that of all threads. "Empty" is the way to an operator and back: `x - y`, whose two functions do nothing here (a
library of operators that torch_npu searches first replaces them). The two settings of the queue are two processes, whose bursts alternate.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

EMPTY = "empty: `x - y` of functions that do nothing"
LIBRARY = """
#include <stdint.h>
int aclnnSubGetWorkspaceSize(const void* self, const void* other, const void* alpha, void* out, uint64_t* size, void** executor) {
  (void)self, (void)other, (void)alpha, (void)out;
  *size = 0;
  *executor = 0;
  return 0;
}
int aclnnSub(void* workspace, uint64_t size, void* executor, void* stream) {
  (void)workspace, (void)size, (void)executor, (void)stream;
  return 0;
}
"""
QUEUES = ("1", "0")  # of TASK_QUEUE_ENABLE
BURST = 0.004  # seconds


def calls(device: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Name, function of one call of four elements."""
    import torch
    import torch.nn.functional as F

    x, y = torch.rand(4).to(device), torch.rand(4).to(device)
    gradient = torch.ones((), device=device)
    square = torch.rand(4, 4).to(device)
    yield "`x + y`", lambda: torch.add(x, y)
    yield EMPTY, lambda: torch.sub(x, y)
    yield "`torch.empty(4)`, no operator", lambda: torch.empty(4, device=device)
    yield "`x.add_(y)`", lambda: x.add_(y, alpha=1e-9)
    yield "`y.copy_(x)`", lambda: y.copy_(x)
    yield "`torch.zeros(4)`", lambda: torch.zeros(4, device=device)
    yield "`torch.mm` of 4 x 4", lambda: torch.mm(square, square)
    yield "`F.mse_loss(x, y)`", lambda: F.mse_loss(x, y)
    yield "its gradient", lambda: torch.ops.aten.mse_loss_backward(gradient, x, y, 1)


def steps(device: str) -> Iterator[tuple[str, Callable[[], object]]]:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "pytorch"))
    import regression

    for loss, optimizer in (("l1", "SGD"), ("mse", "AdamW"), ("kl", "AdamW")):
        yield f"train step, {loss}, {optimizer}", step_of(regression.Fit(loss, optimizer, device, 60))


def step_of(fit) -> Callable[[], object]:
    import regression
    import torch

    x, target = fit.x[: regression.BATCH], fit.target[: regression.BATCH]

    def step() -> None:
        fit.optimizer.zero_grad()
        fit.loss(fit.network(x), target).backward()
        fit.optimizer.step()
        torch.npu.synchronize()

    return step


def burst(function: Callable[[], object], count: int) -> list[float]:
    """Microseconds of a call by the clock, and of the processor."""
    import torch

    function()
    torch.npu.synchronize()
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(count):
        function()
    torch.npu.synchronize()
    return [(now - before) / count * 1e6 for now, before in ((time.perf_counter(), clock), (time.process_time(), processor))]


def work() -> None:
    """Answers "SIDE NAME" on standard input by a burst of that."""
    import torch
    import torch_npu  # noqa: F401

    torch.set_num_threads(1)
    cases = {side: dict([*calls(side), *steps(side)]) for side in ("npu", "cpu")}
    counts: dict[str, int] = {}
    print(json.dumps(list(cases["npu"])), flush=True)
    for line in sys.stdin:
        side, name = line.rstrip("\n").split(" ", 1)
        function = cases[side][name]
        if line not in counts:
            counts[line] = max(1, int(BURST * 1e6 / min(burst(function, 10)[0] for _ in range(5))))
        print(json.dumps(burst(function, counts[line])), flush=True)


class Worker:
    """A process with a setting of the queue."""

    def __init__(self, queue: str, libraries: str) -> None:
        settings = {
            "TASK_QUEUE_ENABLE": queue,
            "ASCEND_CUSTOM_OPP_PATH": libraries,
            "PORTACL_FALLBACK": "error",
            "PORTACL_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, "--work"],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise SystemExit("a process that measures has ended")
        return json.loads(line)

    def burst(self, side: str, name: str) -> list[float]:
        self.process.stdin.write(f"{side} {name}\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self._answer()


def make_library(folder: Path) -> None:
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("a C compiler is needed for the empty operator")
    place = folder / "op_api" / "lib"
    place.mkdir(parents=True)
    command = [*compiler.split(), "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", str(place / "libcust_opapi.so")]
    subprocess.run(command, input=LIBRARY, text=True, check=True)


def measure(seconds: float) -> dict[str, list[float]]:
    """By name: microseconds with the queue, without, on the CPU; processor time with and without; ratios to the CPU, with and without."""
    heads = ("queue", "none", "CPU", "processor: queue", "none", "queue / CPU", "none / CPU")
    print(f"{'one thread, microseconds':<46} " + "{:>8} {:>8} {:>8}   {:>16} {:>8}   {:>11} {:>10}".format(*heads))
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        make_library(Path(folder))
        queued, direct = (Worker(queue, folder) for queue in QUEUES)
        for name in queued.names:
            triples = []
            end = time.perf_counter() + seconds
            while time.perf_counter() < end or len(triples) < 5:
                triples.append((queued.burst("npu", name), direct.burst("npu", name), direct.burst("cpu", name)))
            clock = [min(triple[i][0] for triple in triples) for i in range(3)]
            processor = [min(triple[i][1] for triple in triples) for i in range(2)]
            row = rows[name] = [*clock, *processor, clock[0] / clock[2], clock[1] / clock[2]]
            print("{:<46} {:8.2f} {:8.2f} {:8.2f}   {:16.2f} {:8.2f}   {:11.2f} {:10.2f}".format(name, *row), flush=True)
        for worker in (queued, direct):
            worker.process.stdin.close()
            worker.process.wait()
    return rows


BEGIN, END = "<!-- written by bench/pytorch_npu.py -->\n", "<!-- end of what bench/pytorch_npu.py wrote -->\n"


def write_page(page: Path, rows: dict[str, list[float]]) -> None:
    lines = [
        "| call | with the queue, us | without | CPU | processor's us with the queue | without | with the queue / CPU | without / CPU |",
        "|---|" + "---:|" * 7,
    ]
    for name, row in rows.items():
        digits = 0 if row[0] >= 100 else 1
        lines.append(f"| {name} | {' | '.join(f'{time:.{digits}f}' for time in row[:5])} | {' | '.join(f'{ratio:.1f}' for ratio in row[5:])} |")
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0, help="per row")
    parser.add_argument("--quick", action="store_true", help="a tenth of a second per row")
    parser.add_argument("--page", type=Path, metavar="PAGE", help="write the table there")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work()
    rows = measure(0.1 if options.quick else options.seconds)
    if options.page:
        write_page(options.page, rows)


if __name__ == "__main__":
    main()
