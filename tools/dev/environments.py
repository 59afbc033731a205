"""Makes the Python environments below build/ that the verbs of ./dev run programs in. What is there already stays.

pip gets packages from wherever it is configured to look.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path

import needs
import steps

TORCH_VERSION = "2.13.0"
TORCH_NPU_VERSION = "2.13.0"
OTHERS = ("numpy", "pyyaml", "expecttest", "pytest", "pytest-xdist")  # which torch_npu and its tests import
ALONE = ("TORCH_DEVICE_BACKEND_AUTOLOAD", "PORTACL_AUTOSTART")  # 0: no torch_npu and no portacl but where it is asked for
CLIENT_PINS = steps.ROOT / "tests/clients/requirements.txt"


def with_packages(name: str, packages: list[str]) -> Path:
    """Returns the Python of build/NAME, where pip finds the packages under these names."""
    python = steps.BUILDS / name / "bin/python"
    if not steps.succeeds([python, "-m", "pip", "show", "-q", *packages]):
        _make(name, f"{name}-venv")
        steps.step(f"installing {' '.join(packages)} there with pip", f"{name}-pip", [python, "-m", "pip", "install", *packages])
    return python


def _make(name: str, log: str) -> None:
    needs.provide_venv()
    place = steps.BUILDS / name
    steps.step(f"making build/{name}, a Python environment", log, ["python3", "-m", "venv", "--clear", place])


def torch() -> Path:
    """Returns the Python of build/pytorch, which has the CPU build of PyTorch."""
    python = steps.BUILDS / "pytorch/bin/python"
    has_it = f"import numpy, torch; assert torch.__version__.split('+')[0] == '{TORCH_VERSION}'"
    os.environ.update(dict.fromkeys(ALONE, "0"))
    if steps.succeeds([python, "-c", has_it]):
        return python
    _make("pytorch", "pytorch-venv")
    steps.step(
        f"installing PyTorch {TORCH_VERSION} there with pip",
        "pytorch-pip",
        [python, "-m", "pip", "install", f"torch=={TORCH_VERSION}", "numpy"],
    )
    if steps.run([python, "-c", has_it]):
        steps.die(f"{python} does not find PyTorch {TORCH_VERSION}")
    return python


def torch_npu(wheel: Path) -> Path:
    """Returns the same Python, which then has torch_npu, and portacl from the wheel."""
    python = torch()
    if not _has_torch_npu(python, TORCH_NPU_VERSION):
        steps.step(
            f"installing torch_npu {TORCH_NPU_VERSION} there with pip",
            "torch-npu-pip",
            [python, "-m", "pip", "install", f"torch=={TORCH_VERSION}", f"torch_npu=={TORCH_NPU_VERSION}", *OTHERS],
        )
    return _with_portacl(python, wheel)


def other_torch_npu(wheel: Path, version: str) -> Path:
    """Returns the Python of build/pytorch-VERSION, which has that version of torch_npu, the PyTorch that it is made for, and portacl."""
    place = f"pytorch-{version}"
    python = steps.BUILDS / place / "bin/python"
    os.environ.update(dict.fromkeys(ALONE, "0"))
    if not steps.succeeds([python, "-c", "import torch"]) or not _has_torch_npu(python, version):
        _make(place, f"{place}-venv")
        made_for = version.partition(".post")[0]
        install: list[steps.Argument] = [python, "-m", "pip", "install"]
        steps.step(f"installing PyTorch {made_for} there with pip", f"{place}-pip", [*install, f"torch=={made_for}", *OTHERS])
        # By itself, since it may ask for a build of PyTorch that the package index does not have.
        steps.step(f"installing torch_npu {version} there with pip", f"{place}-npu-pip", [*install, "--no-deps", f"torch_npu=={version}"])
    return _with_portacl(python, wheel)


def tested_torch_npu() -> tuple[str, ...]:
    """Returns the versions for which portacl has a table."""
    spec = importlib.util.spec_from_file_location("versions", steps.ROOT / "python/portacl_start/versions.py")
    assert spec is not None and spec.loader is not None
    versions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(versions)
    tested: tuple[str, ...] = versions.TESTED_TORCH_NPU
    return tested


def _has_torch_npu(python: Path, version: str) -> bool:
    asserted = "".join(f"; m.version('{name}')" for name in OTHERS)
    return steps.succeeds([python, "-c", f"import importlib.metadata as m; assert m.version('torch_npu') == '{version}'{asserted}"])


def _has_wheel(python: Path, wheel: Path) -> bool:
    """Whether pip installed this very file: it notes its hash, and RECORD last."""
    place = Path(_site(python)) / f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    note = place / "direct_url.json"
    if not (note.is_file() and (place / "RECORD").is_file()):
        return False
    found = json.loads(note.read_text(encoding="utf-8")).get("archive_info", {}).get("hashes", {}).get("sha256")
    return bool(found == hashlib.sha256(wheel.read_bytes()).hexdigest())


def _with_portacl(python: Path, wheel: Path) -> Path:
    command: list[steps.Argument] = [python, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall", wheel]
    if not _has_wheel(python, wheel):
        steps.step("installing portacl there", "torch-npu-portacl", command)
    for variable in ALONE:
        del os.environ[variable]
    return python


def _site(python: Path) -> str:
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def clients(wheel: Path, names: list[str]) -> Path:
    """Returns the Python of build/clients: on top of the above, packages of others by the versions that are pinned for them."""
    below = torch_npu(wheel)
    place = steps.BUILDS / "clients"
    python = place / "bin/python"
    if not steps.succeeds([python, "-c", "import torch"]):
        command: list[steps.Argument] = [below, "-m", "venv", "--clear", "--without-pip", place]
        steps.step("making build/clients, a Python environment", "clients-venv", command)
        (Path(_site(python)) / "pytorch.pth").write_text(_site(below) + "\n", encoding="utf-8")
    pins = dict(re.findall(r"^([^=\s]+)==(\S+)$", CLIENT_PINS.read_text(encoding="utf-8"), re.MULTILINE))
    asserted = "".join(f"; assert m.version('{name}') == '{pins.get(name, '')}'" for name in names)
    if not steps.succeeds([python, "-c", f"import importlib.metadata as m{asserted}"]):
        # PyTorch is among what is asked for, so that nothing brings another one.
        torches = [f"torch=={TORCH_VERSION}", f"torch_npu=={TORCH_NPU_VERSION}"]
        steps.step(
            f"installing {' '.join(names)} there with pip",
            "clients-pip",
            [python, "-m", "pip", "install", "-c", CLIENT_PINS, *torches, *names],
        )
    command = [python, "-m", "pip", "install", "--ignore-installed", "--no-index", "--no-deps", wheel]
    if not _has_wheel(python, wheel):
        steps.step("installing portacl there, too", "clients-portacl", command)
    return python


def serve(wheel: Path, pairs: list[str]) -> Path:
    """Returns the Python of build/serve: that of torch_npu below pairs of versions of vllm and vllm-ascend."""
    below = torch_npu(wheel)
    place = steps.BUILDS / "serve"
    command: list[steps.Argument] = [below, "-B", steps.ROOT / "tests/serve/environment.py", place, "--wheel", wheel, *pairs]
    steps.step("making build/serve, a Python environment with vllm", "serve-environment", command)
    return place / "bin/python"
