"""The model scripts of examples/pytorch from the command line, a few steps each: progress, curve, comparison, checkpoints."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import prepared
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytorch"
MODELS = ("mlp", "nanogpt", "llama", "resnet", "distillation", "lstm", "moe")


def run(model: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(EXAMPLES / f"{model}.py"), "--batch", "4", *arguments]
    environment = {**os.environ, "PORTACL_FALLBACK": "error", "OMP_NUM_THREADS": "1", **variables}
    return prepared.run(command, environment)


def parameters(output: str) -> list[str]:
    return re.findall(r"parameters ([0-9a-f]{16})", output)


@pytest.mark.parametrize("model", MODELS)
def test_both_devices_agree_and_nothing_falls_back(model, tmp_path):
    picture = tmp_path / "curve.svg"
    done = run(model, "--steps", "4", "--picture", str(picture))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of the first loss between npu and cpu" in done.stdout
    assert done.stdout.rstrip().endswith("right")
    assert done.stdout.count("step ") >= 8
    assert picture.read_text(encoding="utf-8").count("<polyline") == 2


@pytest.mark.parametrize("model", MODELS)
def test_parameters_in_bf16_train_on_both_devices(model):
    done = run(model, "--steps", "2", "--precision", "bf16-weights")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("right")


def test_paged_caches_change_no_token():
    """By a Python of its own."""
    command = [sys.executable, "-B", str(EXAMPLES / "llama_serving.py"), "--tokens", "20"]
    environment = {**os.environ, "PORTACL_FALLBACK": "error", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("right: the same tokens and logits without caches")


@pytest.mark.parametrize("model", ["mlp", "nanogpt"])
def test_nothing_is_found_in_them(model, tmp_path):
    """./dev check runs all of them."""
    file = tmp_path / "findings.json"
    checks = {"PORTACL_CHECK": "report", "PORTACL_CHECK_FILE": str(file), "PYTORCH_NO_NPU_MEMORY_CACHING": "1", "TASK_QUEUE_ENABLE": "0"}
    command = [sys.executable, "-B", str(EXAMPLES / f"{model}.py"), "--batch", "4", "--device", "npu", "--steps", "3"]
    environment = {**os.environ, "PORTACL_FALLBACK": "error", "OMP_NUM_THREADS": "1", **checks}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(file.read_text(encoding="utf-8"))["findings"] == []


@pytest.mark.parametrize("precision", ["bf16", "f16", "bf16-weights"])
def test_a_resumed_run_ends_with_the_same_parameters(precision, tmp_path):
    checkpoint = str(tmp_path / "middle.pt")
    how = ("--device", "npu", "--steps", "6", "--precision", precision)
    whole = run("nanogpt", *how, "--checkpoint", checkpoint, "--at", "2")
    resumed = run("nanogpt", *how, "--resume", checkpoint)
    assert whole.returncode == resumed.returncode == 0, whole.stderr + resumed.stderr
    assert len(parameters(whole.stdout)) == 1
    assert parameters(whole.stdout) == parameters(resumed.stdout)
    assert parameters(whole.stdout) != parameters(run("nanogpt", *how, "--steps", "5").stdout)


def test_an_unknown_precision_is_refused():
    done = run("mlp", "--precision", "f8")
    assert done.returncode == 2
    assert "f32" in done.stderr
