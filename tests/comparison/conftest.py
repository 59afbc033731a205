"""The tests of `python -m portacl compare`: run in a Python with torch and torch_npu, with portacl in force (./dev torch_npu)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import importlib
import io
import json
import pathlib
import sys

import pytest
import torch
import torch_npu  # noqa: F401

import portacl.recording
import portacl.torch
from portacl.comparison import __main__ as command_line
from portacl.comparison import simulate

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "pytorch"))

portacl.torch.install()


class Report:
    """What a comparison came to: its exit code, its table and its JSON."""

    def __init__(self, code: int, text: str, content: dict):
        self.code, self.text, self.content = code, text, content
        self.calls = content.get("calls", [])

    def of(self, verdict: str) -> list[dict]:
        return [call for call in self.calls if call["verdict"] == verdict]

    def fact(self, what: str) -> str:
        return next((fact["value"] for fact in self.content["facts"] if fact["what"] == what), "")


@pytest.fixture
def compare(tmp_path):
    """Runs the command in this process."""

    def run(*arguments) -> Report:
        file = tmp_path / "report.json"
        file.unlink(missing_ok=True)
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            code = command_line.main([*map(str, arguments), *([] if "--bisect" in arguments else ["--json", str(file)])])
        return Report(code, text.getvalue(), json.loads(file.read_text()) if file.exists() else {})

    return run


@pytest.fixture
def record(tmp_path):
    """Records a program on the simulated device: (program, *faults) -> file."""

    def run(program, *faults: str, keep: str = "all", name: str = "run.rec") -> pathlib.Path:
        file = tmp_path / name
        torch.manual_seed(1)
        with simulate.device(*faults), portacl.recording.record(file, keep=keep, progress=False):
            program()
        return file

    return run


@pytest.fixture
def model():
    """One step of a model of examples/pytorch, forward, backward and optimizer, as a program to be recorded."""
    import training

    def make(name: str, steps: int = 1):
        module = importlib.import_module(name)
        kinds = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, training.Task) and one is not training.Task]
        run = training.Run(kinds[0], "npu", batch=2, steps=2)

        def program():
            for _ in range(steps):
                run.step()

        return program

    return make
