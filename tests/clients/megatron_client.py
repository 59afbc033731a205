"""The client megatron: a GPT of experts with MindSpeed's fused parts and Megatron-core's distributed optimizer, in one, two and four processes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import judging
import megatron_plain
import torch

SHORT: tuple[str, ...] = ()
LOOP = Path(__file__).with_name("megatron_loop.py")
SECONDS = 250
# Processes; of them, those that share weights, sequences, experts. What is not shared is there several times, and the optimizer's state is
# shared by those.
CASES = {
    "one process": (1, 1, 1, 1),
    "2, weights and experts": (2, 2, 1, 2),
    "2, ring attention": (2, 1, 2, 1),
    "2, experts": (2, 1, 1, 2),
    "4, weights, ring attention, experts": (4, 2, 2, 2),
    "4, ring attention, experts": (4, 1, 2, 4),
}


def cases() -> list[str]:
    return list(CASES)


def run(case: str, outcome: judging.Outcome) -> None:
    processes, *sizes = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "seen.pt"
        launch = [sys.executable, "-B", "-m", "portacl", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PORTACL_DEVICE_COUNT": str(processes),
            "PORTACL_FALLBACK": "error",
            "CUDA_DEVICE_MAX_CONNECTIONS": "1",  # Megatron asks for it
        }
        command = [*launch, str(LOOP), str(out), *map(str, sizes)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"the processes returned {done.returncode}: {done.stderr[-400:]}")
        npu = judging.Observed(torch.load(out, map_location="cpu"))
    judging.judge(outcome, npu, judging.Observed(megatron_plain.trained()), None)
