"""The client accelerate: a training loop of a small network, alone, in mixed precision, with accumulated gradients, in two processes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import accelerate
import accelerate_loop
import judging
import torch

SHORT: tuple[str, ...] = ()
LOOP = Path(__file__).with_name("accelerate_loop.py")
SECONDS = 250
TWO = "two processes"
CASES: dict[str, dict[str, Any]] = {
    "float32": {},
    "bf16": {"precision": "bf16"},
    "fp16": {"precision": "fp16"},
    "accumulated gradients": {"accumulate": 2},
    "saved and loaded": {"save": True},
    TWO: {},
}
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def cases() -> list[str]:
    return list(CASES)


def _in_two_processes(folder: Path) -> dict[str, Any]:
    """What rank 0 wrote down."""
    out = folder / "seen.json"
    launch = [sys.executable, "-B", "-m", "portacl", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PORTACL_DEVICE_COUNT": "2"}
    done = subprocess.run([*launch, str(LOOP), str(out)], env=environment, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"the processes returned {done.returncode}: {done.stderr[-400:]}")
    return json.loads(out.read_text(encoding="utf-8"))


def _in_this_process(device: str, folder: Path, **settings: Any) -> dict[str, Any]:
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    try:
        return accelerate_loop.loop(device, folder, **settings)
    finally:
        accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)


def _observed(seen: dict[str, Any]) -> judging.Observed:
    return judging.Observed(
        {name: torch.tensor(values, dtype=torch.float64) for name, values in seen["numbers"].items()}, seen["equal"]
    )


def run(case: str, outcome: judging.Outcome) -> None:
    settings = CASES[case]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        npu = _in_two_processes(folder) if case == TWO else _in_this_process("npu", folder, **settings)
        # One process with the whole batch is what two come to, and float32 what mixed precision does, within its tolerance.
        plain = {name: value for name, value in settings.items() if name != "precision"}
        cpu = _in_this_process("cpu", folder, **plain)
    judging.judge(outcome, _observed(npu), _observed(cpu), None, DTYPES.get(settings.get("precision", ""), torch.float32))
