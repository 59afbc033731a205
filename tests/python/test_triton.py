"""What `python -m portacl` sets where triton-ascend is installed, by a package that is laid out as it is.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import subprocess

import pytest
from conftest import TOOLKIT, Python

PRINT = "import os; print(os.environ.get('TRITON_INTERPRET'), os.environ.get('TRITON_NPU_COMPILER_PATH'))"
COMPILER = TOOLKIT / "compiler" / "triton"
INTERPRETER = """
RESERVED_KWS = ["num_warps"]

class GridExecutor:
    def __init__(self, arg_names):
        self.arg_names = arg_names

    def __call__(self, *args, **kwargs):
        return args, kwargs

class InterpreterBuilder:
    pass
"""
EXTRA = """
import sys, types

sys.modules[__name__ + ".ascend"] = types.ModuleType("ascend")
"""
OPTIONS = """
import dataclasses

@dataclasses.dataclass
class NPUOptions:
    multibuffer: bool = True
    stream: int = 0
"""


@pytest.fixture
def with_triton(python: Python) -> Python:
    for folder in ("", "runtime", "language", "backends", "backends/ascend"):
        python.write(f"packages/triton/{folder}/__init__.py", "")
    python.write("packages/triton/language/extra/__init__.py", EXTRA)
    python.write("packages/triton/runtime/interpreter.py", INTERPRETER)
    python.write("packages/triton/backends/ascend/compiler.py", OPTIONS)
    return python


def test_what_is_set(with_triton: Python) -> None:
    place = str(with_triton.folder / "packages")
    assert with_triton.prints("-m", "portacl", "-c", PRINT, PYTHONPATH=place) == f"1 {COMPILER}\n"
    assert with_triton.prints("-c", "import portacl; " + PRINT, PYTHONPATH=place) == f"1 {COMPILER}\n"
    given = {"TRITON_INTERPRET": "0", "TRITON_NPU_COMPILER_PATH": "/mine"}
    assert with_triton.prints("-m", "portacl", "-c", PRINT, PYTHONPATH=place, **given) == "0 /mine\n"


def test_another_triton_is_left_alone(python: Python) -> None:
    assert python.prints("-m", "portacl", "-c", PRINT) == "None None\n"
    python.write("packages/triton/__init__.py", "")
    assert python.prints("-m", "portacl", "-c", PRINT, PYTHONPATH=str(python.folder / "packages")) == "None None\n"


@pytest.mark.parametrize("name", ["ccec", "npuc"])
def test_answers_of_the_compilers(name: str) -> None:
    program = COMPILER / name
    assert subprocess.run([program, "-print-targets"], capture_output=True, text=True, check=True).stdout.split() == ["hiipu64"]
    done = subprocess.run([program, "kernel.mlir", "-o", "kernel.o"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{name}: portacl compiles no device code; Triton's kernels run with TRITON_INTERPRET=1\n"


def test_options_of_the_compiler(with_triton: Python) -> None:
    """The interpreter gets a call without them, but for those that are arguments of the kernel."""
    code = """
from triton.runtime import interpreter
run = interpreter.GridExecutor(["x", "stream"])
print(run(1, x=2, stream=3, multibuffer=True, unknown=4))
"""
    place = str(with_triton.folder / "packages")
    kept = "((1,), {'x': 2, 'stream': 3, 'unknown': 4})\n"
    assert with_triton.prints("-m", "portacl", "-c", code, PYTHONPATH=place) == kept
    whole = "((1,), {'x': 2, 'stream': 3, 'multibuffer': True, 'unknown': 4})\n"
    assert with_triton.prints("-c", code, PYTHONPATH=place) == whole


def test_a_gather(with_triton: Python) -> None:
    """It is added to an interpreter that has none."""
    code = """
from triton.runtime import interpreter
print(interpreter.InterpreterBuilder.create_gather.__module__)
"""
    place = str(with_triton.folder / "packages")
    assert with_triton.prints("-m", "portacl", "-c", code, PYTHONPATH=place) == "portacl_start.triton\n"
    own = INTERPRETER.replace("    pass", "    def create_gather(self, source, index, axis):\n        return source")
    with_triton.write("packages/triton/runtime/interpreter.py", own)
    assert with_triton.prints("-m", "portacl", "-c", code, PYTHONPATH=place) == "triton.runtime.interpreter\n"


def test_the_later_name_of_its_extras(with_triton: Python) -> None:
    code = """
import triton.language.extra.cann
print(triton.language.extra.cann.__name__)
"""
    place = str(with_triton.folder / "packages")
    assert with_triton.prints("-m", "portacl", "-c", code, PYTHONPATH=place) == "ascend\n"
    own = "\nsys.modules[__name__ + '.cann'] = cann = types.ModuleType('own')\n"
    with_triton.write("packages/triton/language/extra/__init__.py", EXTRA + own)
    assert with_triton.prints("-m", "portacl", "-c", code, PYTHONPATH=place) == "own\n"
