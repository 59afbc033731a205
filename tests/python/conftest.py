"""Tests of the wheel as installed beside the pytest that runs them: how Python is started, and nothing of the environment's.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

SITE = pathlib.Path(sysconfig.get_path("platlib"))
TOOLKIT = SITE / "portacl" / "toolkit"
HERE = pathlib.Path(__file__).resolve().parent
THIS = f"portacl {importlib.metadata.version('portacl')} in {TOOLKIT}"
TIME_LIMIT = 600  # seconds, against hangs: a script may import PyTorch in several processes, on a busy machine


def clean_environment() -> dict[str, str]:
    """What a user has who never heard of CANN."""
    kept = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"PYTHONDONTWRITEBYTECODE": "1"}


class Python:
    """Starts this Python in a folder of the test's own."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.executable = sys.executable

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def __call__(self, *arguments: object, input: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.executable, *map(str, arguments)],
            cwd=self.folder,
            env=clean_environment() | environment,
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )

    def prints(self, *arguments: object, **environment: str) -> str:
        """The standard output of a run that must succeed and say nothing else."""
        done = self(*arguments, **environment)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture
def python(tmp_path: pathlib.Path) -> Python:
    return Python(tmp_path)


@pytest.fixture(scope="session")
def other_cann(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder that is laid out as CANN's, with libraries that do nothing."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.fail("needs a C compiler")
    place = tmp_path_factory.mktemp("other") / "ascend-toolkit"
    (place / "lib64").mkdir(parents=True)
    for name in ("libascendcl.so", "libacl_rt.so"):
        library = place / "lib64" / name
        command = [*compiler.split(), "-shared", "-fPIC", "-x", "c", "-", f"-Wl,-soname,{name}", "-o", str(library)]
        subprocess.run(command, input="int aclInit(void) { return 12345; }", text=True, check=True)
    return place


@pytest.fixture(scope="session")
def other_portacl(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The same files in another place, as `./dev install` would have put them."""
    place = tmp_path_factory.mktemp("other") / "prefix"
    shutil.copytree(TOOLKIT, place)
    return place
