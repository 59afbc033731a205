"""`python -m portacl doctor`: what it tells, and the problems that it finds.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.util
import pathlib

import pytest
from conftest import THIS, TOOLKIT, Python

HAS_TORCH = importlib.util.find_spec("torch") is not None
without_torch = pytest.mark.skipif(HAS_TORCH, reason="this Python has PyTorch, which no pretended version replaces")


def pretend(folder: pathlib.Path, **versions: str) -> str:
    """A folder in which Python finds these distributions."""
    for name, version in versions.items():
        facts = folder / "packages" / f"{name}-{version}.dist-info" / "METADATA"
        facts.parent.mkdir(parents=True)
        facts.write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
    return str(folder / "packages")


@without_torch
def test_nothing_is_wrong(python: Python) -> None:
    done = python("-m", "portacl", "doctor", PORTACL_NUM_THREADS="3", TASK_QUEUE_ENABLE="0")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    first, *lines = done.stdout.splitlines()
    assert first == THIS
    rows = {line[2:29].strip(): line[30:] for line in lines if line.startswith("  ")}
    assert rows["emulates"].startswith("CANN ") and "Atlas A2 (Ascend910B1)" in rows["emulates"]
    assert rows["threads"] == "3" and rows["PORTACL_NUM_THREADS"] == "3" and rows["TASK_QUEUE_ENABLE"] == "0"
    assert "ASCEND_HOME_PATH" not in rows, "what importing portacl sets is not the user's"
    assert rows["SLEEF"].startswith(str(TOOLKIT)) and rows["Gloo"].startswith(str(TOOLKIT)) and rows["ATB"].startswith(str(TOOLKIT))
    assert lines[-1] == "problems: none"


def test_another_cann(python: Python, other_cann: pathlib.Path) -> None:
    done = python("-m", "portacl", "doctor", ASCEND_HOME_PATH=str(other_cann))
    assert done.returncode == 1
    assert f"  - the environment names another CANN, CANN in {other_cann}: python -m portacl uses this package" in done.stdout


def test_a_value_that_is_not_accepted(python: Python) -> None:
    done = python("-m", "portacl", "doctor", PORTACL_SOC="Ascend1")
    assert done.returncode == 1
    assert "portacl-info ended with 1: " in done.stdout and "PORTACL_SOC" in done.stdout.split("problems:")[1]


def test_a_program_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    from portacl import doctor

    monkeypatch.setattr("portacl.prefix", lambda: tmp_path)
    report = doctor._Report()
    doctor._portacl(report, {})
    program = tmp_path / "bin" / "portacl-info"
    assert report.problems == [f"{program} cannot be run: No such file or directory; installing portacl again brings it back"]


def test_a_library_that_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    from portacl import doctor

    monkeypatch.setattr("portacl_start.environment.LIBRARIES", str(tmp_path))
    report = doctor._Report()
    doctor._portacl(report, {})
    assert f"missing: {tmp_path} has no libatb.so" in capsys.readouterr().out
    assert [one for one in report.problems if one.startswith("libatb.so is missing; it is needed by ")]


@without_torch
@pytest.mark.parametrize(
    ("versions", "problem"),
    [
        ({"torch": "2.13.0"}, "torch 2.13.0: torch_npu is missing, so there is no device npu"),
        ({"torch": "2.12.0", "torch_npu": "2.13.0"}, "torch_npu 2.13.0: made for torch 2.13.0, and torch is 2.12.0"),
        ({"torch_npu": "2.13.0"}, "torch_npu 2.13.0: torch is missing"),
        (
            {"torch": "2.1.0", "torch_npu": "2.1.0"},
            "torch_npu 2.1.0: not one that portacl is tested with (2.10.0.post4, 2.13.0, 2.14.0); the table of 2.10.0.post4 is used",
        ),
        ({"vllm": "0.18.0", "vllm_ascend": "0.23.0"}, "vllm-ascend 0.23.0: made for vllm 0.23, and vllm is 0.18.0"),
    ],
)
def test_versions_that_do_not_fit(python: Python, versions: dict[str, str], problem: str) -> None:
    done = python("-m", "portacl", "doctor", PYTHONPATH=pretend(python.folder, **versions))
    assert done.returncode == 1
    assert f"  - {problem}" in done.stdout.split("problems:")[1], done.stdout


@pytest.mark.skipif(importlib.util.find_spec("torch_npu") is None, reason="this Python has no torch_npu")
def test_a_script(python: Python) -> None:
    """What falls back, of a program that ends with a code of its own."""
    python.write("falls.py", "import sys, torch\nx = torch.rand(8, device='npu')\ntorch.logcumsumexp(x, 0)\nx + x\nsys.exit(3)")
    done = python("-m", "portacl", "doctor", "falls.py")
    assert done.returncode == 1
    assert "works                       yes, as Ascend910B1" in done.stdout
    assert "graphs                      captured ones, no graph engine; torchair " in done.stdout
    told = done.stdout.split("what falls back to PyTorch's CPU kernels in falls.py")[1]
    assert "aten::_logcumsumexp (" in told and "aten::add" not in told
    assert "  - the script ended with 3" in told
