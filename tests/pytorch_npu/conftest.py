"""The tests of PyTorch on portacl: run in a Python with torch and torch_npu, with portacl in force (./dev torch_npu)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

os.environ.setdefault("PORTACL_FALLBACK", "quiet")

import torch  # noqa: E402
import torch_npu  # noqa: E402, F401

import portacl.torch  # noqa: E402

portacl.torch.install()
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def the_same_numbers():
    """A test draws the same numbers whenever it runs, and whatever ran before it."""
    torch.manual_seed(20)


@pytest.fixture
def program():
    """Runs a program in a process of its own: (its output, what it wrote to standard error, its status)."""

    def run(source: str, **variables: str) -> tuple[str, str, int]:
        environment = {k: v for k, v in os.environ.items() if k not in ("PORTACL_FALLBACK", "PORTACL_REPORT")}
        environment.update(variables)
        opening = "import torch, torch_npu, portacl.torch\nportacl.torch.install()\n"
        done = subprocess.run(
            [sys.executable, "-c", opening + textwrap.dedent(source)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,  # seconds, against hangs
        )
        return done.stdout, done.stderr, done.returncode

    return run


@pytest.fixture(scope="session")
def no_libraries(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder that hides the system's SLEEF and Gloo from the loader: it finds these first, which it cannot load."""
    place = tmp_path_factory.mktemp("hidden")
    for name in ("libsleef.so.3", "libgloo.so.0"):
        (place / name).touch()
    return str(place)
