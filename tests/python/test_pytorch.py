"""The real torch and torch_npu, where the Python that runs the tests has them: every way of starting trains on device npu.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.util
import re

import pytest
from conftest import THIS, Python

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch_npu") is None, reason="this Python has no torch_npu")

NOTICE = f"{THIS}: no CANN was found, so device npu is this computer's CPU\n"

TRAINS = """
import os
import sys
{imports}

def step(_=0):
    import torch
    weight = torch.tensor([0.5, -1.0, 2.0], device="npu", requires_grad=True)
    target = torch.tensor([1.0, 1.0, 1.0]).to("npu")
    loss = torch.nn.functional.l1_loss(weight, target, reduction="sum")
    loss.backward()
    return loss.item(), weight.grad.cpu().tolist()

if __name__ == "__main__":
    print(os.environ.get("RANK", "-"), step(), flush=True)
"""
STEP = "(3.5, [-1.0, -1.0, 1.0])"


@pytest.fixture
def trains(python: Python) -> Python:
    python.write("trains.py", TRAINS.format(imports="import torch"))
    python.write("npu_first.py", TRAINS.format(imports="import torch_npu, torch"))
    python.write("portacl_first.py", TRAINS.format(imports="import portacl, torch"))
    return python


@pytest.mark.parametrize("script", ["trains.py", "npu_first.py", "portacl_first.py"])
@pytest.mark.parametrize("start", [(), ("-m", "portacl")])
def test_every_way_of_starting(trains: Python, start: tuple[str, ...], script: str) -> None:
    done = trains(*start, script)
    assert (done.returncode, done.stdout) == (0, f"- {STEP}\n"), done.stderr
    assert (NOTICE in done.stderr) == (start == () and script != "portacl_first.py")


def test_back_ends_that_are_not_loaded(trains: Python) -> None:
    done = trains("-m", "portacl", "npu_first.py", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert (done.returncode, done.stdout) == (0, f"- {STEP}\n"), done.stderr


def test_the_program_installs_the_fallback_itself(trains: Python) -> None:
    """install() imports torch_npu, at whose end portacl calls install() as well."""
    trains.write("installs.py", TRAINS.format(imports="import portacl.torch\nportacl.torch.install()"))
    done = trains("installs.py")
    assert (done.returncode, done.stdout) == (0, f"- {STEP}\n"), done.stderr


def test_torchrun(trains: Python) -> None:
    done = trains("-m", "portacl", "-m", "torch.distributed.run", "--nproc_per_node", "2", "trains.py")
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, [f"0 {STEP}", f"1 {STEP}"]), done.stderr


def test_the_end_waits_for_threads_of_autograd(trains: Python) -> None:
    """A thread of autograd that still has work when the program ends finishes it, instead of ending the process by an abort."""
    trains.write(
        "ends.py",
        """
import threading
import time
import trains

def works():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as name:
        name.write("pt_autograd_7")
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        sum(range(1000))
    print("finished", flush=True)
    threading.Event().wait()

trains.step()
threading.Thread(target=works, daemon=True).start()
""",
    )
    done = trains("-m", "portacl", "ends.py")
    assert (done.returncode, done.stdout) == (0, "finished\n"), done.stderr


def test_workers(trains: Python) -> None:
    trains.write(
        "workers.py",
        """
import multiprocessing
from trains import step
import torch

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.tensor([index])

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(step, [0])[0])
    loader = torch.utils.data.DataLoader(Rows(), num_workers=2, multiprocessing_context="spawn")
    print([batch.npu().cpu().item() for batch in loader])
""",
    )
    done = trains("-m", "portacl", "workers.py")
    assert (done.returncode, done.stdout) == (0, f"{STEP}\n[0, 1, 2, 3]\n"), done.stderr


@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("sys.exit(3)", 3), ("raise ValueError('here')", 1)])
def test_report(trains: Python, end: str, code: int) -> None:
    path = trains.folder / "trains.py"
    path.write_text(path.read_text() + f"    {end}\n")
    done = trains("-m", "portacl", "--report", path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (code, f"- {STEP}")
    rows = re.findall(r"^.*l1_loss.*$", done.stderr, re.MULTILINE)
    assert len(rows) >= 2, done.stderr  # the loss and its gradient


def test_suite_for_an_npu(trains: Python) -> None:
    trains.write("conftest.py", "import torch\nimport torch_npu\n")
    trains.write("test_suite.py", f"import trains\n\ndef test_step():\n    assert str(trains.step()) == {STEP!r}\n")
    done = trains("-m", "pytest", "-p", "no:cacheprovider", "--npu", "test_suite.py")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert f"\nnpu: {THIS}, emulating CANN 9.1.0 on Ascend910B1\n" in done.stdout
