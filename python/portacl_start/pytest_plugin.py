"""`pytest --npu`: test suites that were written for an NPU run on portacl. `pytest --npu-check`: and are checked (docs/checking.md).

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from portacl_start import environment


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("portacl").addoption("--npu", action="store_true", help="run on portacl: device npu is this computer's CPU")
    parser.getgroup("portacl").addoption(
        "--npu-check",
        action="store_true",
        help="--npu, and collect what an NPU would not forgive: a summary at the end, exit code 86, PORTACL_CHECK_FILE for JSON",
    )
    parser.addini("npu", "run on portacl, as --npu does", type="bool", default=False)


def _is_asked_for(config: pytest.Config) -> bool:
    return bool(config.known_args_namespace.npu or config.known_args_namespace.npu_check or config.getini("npu"))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Before the first conftest.py: those of NPU suites import torch.
    if early_config.known_args_namespace.npu_check:
        os.environ.setdefault("PORTACL_CHECK", "report")
    if _is_asked_for(early_config):
        there = environment.take_over()
        if not there.is_this:
            raise pytest.UsageError(f"--npu came too late: {there} is loaded already")


def pytest_report_header(config: pytest.Config) -> str | None:
    if not _is_asked_for(config):
        return None
    # By another process: the library takes its settings at its first call, which is the tests'.
    program = os.path.join(environment.TOOLKIT, "bin", "portacl-info")
    info = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    if info.returncode != 0:
        return f"npu: {environment.THIS}: {info.stderr.strip().splitlines()[-1]}"
    facts = json.loads(info.stdout)
    return f"npu: {environment.THIS}, emulating CANN {facts['emulated_cann_version']} on {facts['soc']}"
