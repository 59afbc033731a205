#!/usr/bin/env python3
"""Runs vLLM and vllm-ascend on device npu, and tells which of their tokens are those of transformers on the CPU (options.py; ./dev serve)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import asyncio
import collections
import dataclasses
import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import clients
import judging
import page
from judging import BUDGET, TOKENS, Case
from models import Model
from options import LONG, MODELS, parse
from page import Row

HERE = Path(__file__).resolve().parent
WIDTHS = (8, 11, 14, 21, 8, 7, 0, 0)
REQUESTS = 8  # at once, of the server
LONG_REQUESTS = 200
GROWTH = 16  # MiB that these may add to the memory of the server
END = 60  # seconds that it may take to end
USES_THE_DEVICE = "import torch, torch_npu; torch.zeros(1, device='npu')"
# vllm-ascend 0.18.0 leaves generated tokens out of penalties while it schedules a step before the last one has ended.
OFFLINE: dict[str, dict[str, Any]] = {"0.18.0": {"async_scheduling": False}}
SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "PORTACL_FALLBACK": "quiet",
    "PORTACL_DEVICE_MEMORY": "2G",
    # Devices that other programs of the user are not likely to take: vLLM compares their free memory before and after it tries a model.
    "PORTACL_DEVICE_COUNT": "8",
    "ASCEND_RT_VISIBLE_DEVICES": "7",
    "OMP_NUM_THREADS": "1",
}


@dataclasses.dataclass
class Run:
    """One start of vLLM: its settings, and what is asked of it."""

    version: str
    model: Model
    name: str
    cases: list[Case]
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def row(self, case: str, result: str, **rest: Any) -> Row:
        return Row(self.version, self.model.name, self.name, case, result, **rest)


class Stack:
    """A pair of versions, in a folder of its own beside what both need."""

    def __init__(self, version: str, place: Path, folder: Path, seconds: float) -> None:
        self.version = version
        self.place = place / f"vllm-{version}"
        self.folder = folder
        self.seconds = seconds

    def _environment(self, run: Run) -> dict[str, str]:
        return {**os.environ, **SETTINGS, "PYTHONPATH": f"{self.place}:{HERE / 'start'}", **run.environment}

    def _start(self, run: Run, program: str, arguments: list[str], log: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-B", "-m", "portacl", str(HERE / program), *arguments]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, env=self._environment(run), cwd=self.folder,
            start_new_session=True,
        )  # fmt: skip

    def _stop(self, process: subprocess.Popen[str]) -> None:
        """Ends what is left of a run, with the processes that it started."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()

    def log(self, run: Run) -> Path:
        return self.folder / f"{run.version}-{run.model.name}-{run.name.replace(' ', '-')}.log"

    def offline(self, run: Run) -> list[Row]:
        """Rows of all cases; after an error, which an NPU's queue does not survive, the rest have an engine of their own."""
        rows: list[Row] = []
        left = list(run.cases)
        while left:
            answers, error = self._ask(run, left)
            for answer in answers:
                if answer["name"] == "start":
                    if not rows:
                        rows.append(run.row("start", "same", seconds=answer["seconds"]))
                    continue
                case = left.pop(0)
                wrong = case.judge(answer)
                rows.append(
                    run.row(
                        case.name, "differs" if wrong else "same",
                        seconds=answer["seconds"], fell_back=answer["fell_back"], remark=wrong,
                    )
                )  # fmt: skip
            if error and not any(answer["name"] == "start" for answer in answers):
                return rows + [run.row("start" if not rows else left[0].name, "fails", remark=error)]
            if error and left:
                rows.append(run.row(left.pop(0).name, "fails", remark=error))
        return rows

    def _ask(self, run: Run, cases: list[Case]) -> tuple[list[dict[str, Any]], str]:
        """The answers to some of the cases, the first ones, and what ended them."""
        file = self.folder / "answers"
        file.unlink(missing_ok=True)
        task = {
            "options": {
                "model": str(run.model.place), "dtype": "bfloat16", "max_model_len": 256, "max_num_seqs": 8, "seed": 3,
                "max_num_batched_tokens": BUDGET, "num_gpu_blocks_override": 32, "enforce_eager": True, **run.options,
            },
            "requests": [case.request() for case in cases],
        }  # fmt: skip
        with self.log(run).open("w", encoding="utf-8") as log:
            process = self._start(run, "engine.py", [str(file)], log)
            error = ""
            try:
                process.communicate(json.dumps(task) + "\n", timeout=self.seconds)
            except subprocess.TimeoutExpired:
                error = f"not done after {self.seconds:.0f} s"
            finally:
                self._stop(process)
        answers = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
        if answers and answers[-1]["name"] == "error":
            error = error or answers.pop()["error"]
        elif not error and len(answers) < 1 + len(cases):
            error = f"the process ended ({process.returncode})"
        return answers, error if not error else _named(error, self.log(run))

    def server(self, run: Run) -> list[Row]:
        """What OpenAI's clients ask, and the end on SIGTERM."""
        port = clients.free_port()
        arguments = ["serve", str(run.model.place), "--host", clients.ADDRESS, "--port", str(port), "--served-model-name", clients.MODEL]
        arguments += ["--dtype", "bfloat16", "--max-model-len", "256", "--max-num-seqs", str(REQUESTS)]
        arguments += ["--num-gpu-blocks-override", "32", "--enforce-eager"]
        rows: list[Row] = []
        with self.log(run).open("w", encoding="utf-8") as log:
            begun = time.perf_counter()
            process = self._start(run, "server.py", arguments, log)
            try:
                error = asyncio.run(clients.wait_for(port, process, self.seconds))
                if error:
                    return [run.row("start", "fails", seconds=time.perf_counter() - begun, remark=_named(error, self.log(run)))]
                rows.append(run.row("start", "same", seconds=time.perf_counter() - begun))
                rows += self._long(run, port, process.pid) if run.name == LONG else [self._at_once(run, port)]
                rows.append(self._end(run, process))
            finally:
                self._stop(process)
        return rows

    def _asked(self, run: Run, name: str, port: int, requests: list[clients.Asked], at_once: int) -> Row:
        begun = time.perf_counter()
        try:
            wrong = asyncio.run(clients.ask(port, requests, at_once, self.seconds))
            result = "differs" if wrong else "same"
        except Exception as raised:
            result, wrong = "fails", _named(f"{type(raised).__name__}: {raised}"[:300], self.log(run))
        return run.row(name, result, seconds=time.perf_counter() - begun, remark=wrong)

    def _at_once(self, run: Run, port: int) -> Row:
        requests = clients.at_once([run.model.task(4 + 6 * i, TOKENS) for i in range(REQUESTS)])
        return self._asked(run, f"{REQUESTS} requests at once", port, requests, REQUESTS)

    def _long(self, run: Run, port: int, session: int) -> list[Row]:
        """Many requests of random lengths; afterwards the server may hold hardly more memory than after the first of them."""
        tasks = [run.model.task(length, TOKENS) for length in (5, 31, 90, 150)]
        warm = self._asked(run, f"{clients.WARM_UP} requests before", port, clients.drawn(clients.WARM_UP, tasks, 1), clients.CLIENTS)
        before = clients.memory_of(session)
        name = f"{LONG_REQUESTS} requests by {clients.CLIENTS} clients"
        row = self._asked(run, name, port, clients.drawn(LONG_REQUESTS, tasks, 2), clients.CLIENTS)
        after = clients.memory_of(session)
        result = "same" if before and sum(after) - sum(before) <= GROWTH else "differs"
        told = [" + ".join(f"{mib:.0f}" for mib in one) for one in (before, after)]
        return [warm, row, run.row("memory", result, remark=f"{told[0]} MiB before these, {told[1]} MiB after them")]

    def _end(self, run: Run, process: subprocess.Popen[str]) -> Row:
        """The end on SIGTERM, which leaves no process, and no shared memory that the next program on the device does not remove."""
        shared = clients.shared_by(process.pid)
        begun = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(timeout=END)
        except subprocess.TimeoutExpired:
            return run.row("end on SIGTERM", "fails", seconds=END, remark=f"not done after {END} s")
        seconds = time.perf_counter() - begun
        while clients.processes_of(process.pid) and time.perf_counter() - begun < END:
            time.sleep(0.1)
        left = [f"process {place.name}" for place in clients.processes_of(process.pid)]
        left += self._kept(run, shared)
        remark = ", ".join(([f"exit code {code}"] if code else []) + ([f"left: {' '.join(left)}"] if left else []))
        return run.row("end on SIGTERM", "differs" if left or code not in (0, -signal.SIGTERM) else "same", seconds=seconds, remark=remark)

    def _kept(self, run: Run, shared: set[str]) -> list[str]:
        """Shared memory that stays. A killed engine leaves the table of its device's memory; the next program there must remove it."""
        left = sorted(name for name in shared if Path(name).exists())
        if any(map(clients.is_table, left)):
            command = [sys.executable, "-B", "-m", "portacl", "-c", USES_THE_DEVICE]
            subprocess.run(command, env=self._environment(run), cwd=self.folder, timeout=self.seconds, check=True)
        return [name for name in left if Path(name).exists()]


def _named(error: str, log: Path) -> str:
    """An error that another process had, by the line of the log that tells of it."""
    if "EngineCore" not in error and "Engine core" not in error and "WorkerProc" not in error and "process ended" not in error:
        return error
    told = re.compile(r"\b([A-Z]\w*(?:Error|Exception): .*)")
    found = [match[1] for match in map(told.search, log.read_text(encoding="utf-8", errors="replace").splitlines()) if match]
    found = [line for line in found if "EngineCore" not in line and "Engine core" not in line and "WorkerProc" not in line]
    return (found[0] if found else error)[:300]


def versions() -> str:
    names = ("torch", "torch_npu", "transformers", "triton-ascend")
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def runs_of(version: str, models: dict[str, Model], options: argparse.Namespace) -> Iterator[Run]:
    """What is run of a version: the models and runs that are named, and all where none is. Each is made when its turn comes."""
    alone = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    two = {"ASCEND_RT_VISIBLE_DEVICES": "6,7"}
    # PyTorch 2.13 keeps compiled graphs of a kind alone that vLLM's backend, written for 2.11, does not make.
    compiled = {**alone, "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    qwen2 = models["qwen2"]
    if options.short:
        yield Run(version, qwen2, "offline", [judging.greedy(qwen2)], {}, alone)
        return
    if options.long:
        yield Run(version, qwen2, LONG, [])
        return
    graphs, parallel = {"enforce_eager": False}, {"tensor_parallel_size": 2}
    wanted: list[tuple[str, str, Callable[[Model], list[Case]], dict[str, Any], dict[str, str]]] = [
        ("qwen2", "offline", judging.offline, OFFLINE.get(version, {}), alone),
        ("qwen3-moe", "offline", judging.offline, OFFLINE.get(version, {}), alone),
        ("qwen2-w8a8", "offline", judging.alone, {"quantization": "ascend"}, alone),
        ("qwen2", "graphs", judging.alone, graphs, compiled),
        ("qwen3-moe", "graphs", judging.alone, graphs, compiled),
        ("qwen2", "two processes", judging.alone, parallel, two),
        ("qwen3-moe", "two processes", judging.alone, parallel, two),
        ("qwen2", "server", lambda _: [], {}, {}),
    ]
    for model, name, cases, settings, environment in wanted:
        if model in options.models and name in options.runs:
            yield Run(version, models[model], name, cases(models[model]), settings, environment)


def main() -> int:
    options = parse(sys.argv[1:])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.logs or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        models = {name: Model(name, folder) for name in (MODELS[:1] if options.short or options.long else MODELS)}
        for version in options.vllm:
            stack = Stack(version, options.environment.resolve(), folder, options.seconds)
            for run in runs_of(version, models, options):
                made = stack.server(run) if run.name in ("server", LONG) else stack.offline(run)
                for row in made:
                    cells = zip(row.cells(), WIDTHS, strict=True)
                    print("  ".join(cell.ljust(width) for cell, width in cells).rstrip(), flush=True)
                rows += made
                if options.page and not options.short:
                    page.write(options.page, made, versions())
    count = collections.Counter(row.result for row in rows)
    print(f"{count['same']} passed, {len(rows) - count['same']} failed")
    return 0 if rows and count["same"] == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
