"""`pytest --npu` on small suites, each in a process of its own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pathlib

from conftest import THIS, Python
from test_torch_imports import write_packages

SUITE = """
import ctypes

def test_library():
    assert ctypes.CDLL("libascendcl.so").aclInit(None) in (0, 100002)
"""


def pytest_of(python: Python, *arguments: str, **environment: str) -> tuple[int, str]:
    done = python("-m", "pytest", "-p", "no:cacheprovider", "--rootdir", python.folder, *arguments, **environment)
    return done.returncode, done.stdout + done.stderr


def test_off_unless_asked_for(python: Python) -> None:
    python.write("test_suite.py", SUITE)
    code, output = pytest_of(python)
    assert code == 1 and "libascendcl.so: cannot open shared object file" in output and "npu:" not in output
    assert "warning" not in output


def test_option(python: Python) -> None:
    python.write("test_suite.py", SUITE)
    code, output = pytest_of(python, "--npu")
    assert code == 0 and "1 passed" in output and "warning" not in output
    assert f"\nnpu: {THIS}, emulating CANN 9.1.0 on Ascend910B1\n" in output


def test_ini_option(python: Python) -> None:
    python.write("test_suite.py", SUITE)
    python.write("pytest.ini", "[pytest]\nnpu = true\n")
    code, output = pytest_of(python, PORTACL_SOC="Ascend950PR_9599")
    assert code == 0 and f"\nnpu: {THIS}, emulating CANN 9.1.0 on Ascend950PR_9599\n" in output
    python.write("pytest.ini", "[pytest]\nnpu = false\n")
    assert pytest_of(python)[0] == 1


def test_in_force_before_the_first_conftest(python: Python) -> None:
    write_packages(python)
    python.write("conftest.py", "import torch\nassert torch.is_whole\n")
    python.write(
        "test_suite.py", "def test_torch():\n    import torch_npu\n    assert torch_npu.library.aclInit(None) == 100002\n"
    )
    code, output = pytest_of(python, "--npu", "-s", PYTHONPATH=str(python.folder / "packages"))
    assert code == 0 and "fallback installed True" in output and "1 passed" in output


def test_too_late(python: Python, other_cann: pathlib.Path) -> None:
    python.write("test_suite.py", SUITE)
    code, output = pytest_of(python, "--npu", LD_PRELOAD=f"{other_cann}/lib64/libascendcl.so")
    assert code == 4 and f"ERROR: --npu came too late: CANN in {other_cann} is loaded already\n" in output


def test_unknown_product(python: Python) -> None:
    python.write("test_suite.py", SUITE)
    code, output = pytest_of(python, "--npu", PORTACL_SOC="Ascend1")
    assert code == 1 and "PORTACL_SOC has the value [Ascend1], accepted:" in output
