"""The tests of PyTorch on portacl: run in a Python with torch and torch_npu, with portacl in force (./dev torch_npu)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import prepared
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


def _own(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("PORTACL_FALLBACK", "PORTACL_REPORT")} | variables


def _whole(source: str) -> list[str]:
    return ["-c", "import torch, torch_npu, portacl.torch\nportacl.torch.install()\n" + textwrap.dedent(source)]


@pytest.fixture
def started():
    """Runs a program by a Python of its own: (its output, what it wrote to standard error, its status)."""

    def run(source: str, **variables: str) -> tuple[str, str, int]:
        done = subprocess.run([sys.executable, *_whole(source)], env=_own(variables), capture_output=True, text=True, timeout=600)
        return done.stdout, done.stderr, done.returncode

    return run


@pytest.fixture
def program():
    """The same in a process that forks from one which has imported torch."""

    def run(source: str, **variables: str) -> tuple[str, str, int]:
        done = prepared.run(_whole(source), _own(variables))
        return done.stdout, done.stderr, done.returncode

    return run


@pytest.fixture(scope="session")
def no_libraries(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder that hides the system's SLEEF and Gloo from the loader: it finds these first, which it cannot load."""
    place = tmp_path_factory.mktemp("hidden")
    for name in ("libsleef.so.3", "libgloo.so.0"):
        (place / name).touch()
    return str(place)
