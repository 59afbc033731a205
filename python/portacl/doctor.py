"""`python -m portacl doctor`: what a bug report needs, and what does not fit together on this machine.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import glob
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import portacl
from portacl_start import environment
from portacl_start import versions as tested

# The packages that run on device npu, or beside those that do: PyTorch's parts, then frameworks.
_CLIENTS = (
    *("torch", "torch_npu", "torchvision", "torchaudio", "numpy"),
    *("transformers", "accelerate", "peft", "trl", "diffusers"),
    *("vllm", "vllm-ascend", "triton", "triton-ascend", "mindspeed", "megatron-core", "sglang", "deepspeed"),
)
_OF_TORCH = ("torchvision", "torchaudio")  # compiled for one build of torch
_VARIABLES = re.compile(
    r"PORTACL_|ASCEND_|HCCL_|PYTORCH_NPU_|TASK_QUEUE_ENABLE$|TORCH_DEVICE_BACKEND_AUTOLOAD$|OMP_NUM_THREADS$|LD_PRELOAD$|LD_LIBRARY_PATH$"
)
_PROBE_SECONDS = 300

# Runs in a separate process: a client that ends its process must not end the report.
_PROBE = """
import json, warnings
warnings.simplefilter("ignore")
import torch, torch_npu, portacl.torch
portacl.torch.install()
found = {"result": (torch.full((2,), 7.0, device="npu") * 2 + 1).tolist(), "device": torch.npu.get_device_name()}
found["native"] = len(portacl.torch.own_operators())
weight = torch.ones(2, device="npu", requires_grad=True)
(weight * 3).sum().backward()
found["gradient"] = weight.grad.tolist()
graph = torch.npu.NPUGraph()
with torch.npu.graph(graph):
    doubled = weight.detach() * 2
graph.replay()
found["graph"] = doubled.tolist()
print("found " + json.dumps(found))
"""
_PROBE_FINDS = {"result": [15.0, 15.0], "gradient": [3.0, 3.0], "graph": [2.0, 2.0]}


class _Report:
    """Lines to print, and the problems among them."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def head(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def fact(self, name: str, value: object) -> None:
        print(f"  {name:<27} {value}", flush=True)

    def problem(self, sentence: str) -> None:
        self.problems.append(sentence)


def main(arguments: list[str]) -> int:
    """Prints the report; returns 0 if everything fits, else 1."""
    report = _Report()
    given = _given_environment()
    _portacl(report, given)
    _machine(report)
    _variables(report, given)
    has_torch = _clients(report)
    if has_torch:
        _pytorch(report)
    if arguments:
        _script(report, arguments)
    report.head("problems: none" if not report.problems else "problems:")
    for sentence in report.problems:
        print(f"  - {sentence}")
    return 1 if report.problems else 0


def _given_environment() -> dict[str, str]:
    """Returns the variables with which this process was started: importing portacl has set some since."""
    try:
        with open("/proc/self/environ", "rb") as file:
            lines = os.fsdecode(file.read()).split("\0")
    except OSError:
        return dict(os.environ)
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _portacl(report: _Report, given: Mapping[str, str]) -> None:
    print(f"portacl {portacl.__version__} in {portacl.prefix()}")
    program = str(portacl.prefix() / "bin" / "portacl-info")
    try:
        done = subprocess.run([program, "--json"], capture_output=True, text=True, check=False)
    except OSError as error:
        report.problem(f"{program} cannot be run: {error.strerror}; installing portacl again brings it back")
        return
    if done.returncode != 0:
        report.problem(f"{program} ended with {done.returncode}: {_last_line(done.stderr) or _last_line(done.stdout)}")
        return
    facts: dict[str, Any] = json.loads(done.stdout)
    report.fact("emulates", f"CANN {facts['emulated_cann_version']}, {facts['product']} ({facts['soc']})")
    report.fact("instruction set", f"{facts['isa']} (of: {' '.join(facts['isas'])})")
    report.fact("threads", facts["threads"])
    report.fact("devices", facts["devices"])
    for name, needed_by in (("sleef", "exp, log and their kin of float64, which fall back"), ("gloo", "several processes")):
        found: Mapping[str, str] = facts[name]
        report.fact(name.upper() if name == "sleef" else "Gloo", found.get("file") or f"missing: {found.get('why', '')}")
        if not found.get("file"):
            report.problem(f"{name} is missing ({found.get('why', '')}); it is needed by {needed_by}")
    atb = glob.glob(os.path.join(environment.LIBRARIES, "libatb.so*"))
    report.fact("ATB", atb[0] if atb else f"missing: {environment.LIBRARIES} has no libatb.so")
    if not atb:
        report.problem("libatb.so is missing; it is needed by torch_npu's functions of ATB; installing portacl again brings it back")
    other = environment.named(given)
    if other is not None and not other.is_this:
        report.problem(f"the environment names another CANN, {other}: python -m portacl uses this package, a plain python the other one")
    traces = [found for trace in environment.TRACES_OF_CANN for found in glob.glob(os.path.expanduser(trace))]
    report.fact("other CANN", ", ".join(traces) or "no trace")


def _machine(report: _Report) -> None:
    report.head("machine")
    report.fact("processor", _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine())
    report.fact("cores", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}")
    report.fact("memory", _field("/proc/meminfo", "MemTotal") or "unknown")
    report.fact("system", f"{platform.platform()}, {_field('/etc/os-release', 'PRETTY_NAME', '=').strip(chr(34)) or 'unknown distribution'}")
    report.fact("Python", f"{platform.python_version()} ({sys.executable})")


def _variables(report: _Report, environ: Mapping[str, str]) -> None:
    report.head("environment")
    names = [name for name in sorted(environ) if _VARIABLES.match(name)]
    for name in names:
        value = environ[name]
        report.fact(name, value if len(value) <= 120 else value[:117] + "...")
    if not names:
        report.fact("-", "no variable of portacl, CANN or the loader is set")


def _clients(report: _Report) -> bool:
    """Prints versions and whether they fit; returns whether torch and torch_npu are installed."""
    report.head("clients in this Python")
    versions = {name: version for name in _CLIENTS if (version := _version(name)) is not None}
    for name, version in versions.items():
        fits = _why_not(name, version, versions)
        report.fact(name, version if fits is None else f"{version}: {fits}")
        if fits is not None:
            report.problem(f"{name} {version}: {fits}")
    if not versions:
        report.fact("-", "none")
    return "torch" in versions and "torch_npu" in versions


def _why_not(name: str, version: str, versions: Mapping[str, str]) -> str | None:
    """Returns why this version does not fit the others, or None."""
    torch = versions.get("torch", "")
    if name == "torch_npu":
        short = version.split("+")[0]
        why = tested.why_not(version)
        if why is not None:
            return why
        if not torch:
            return "torch is missing"
        if _release(torch) != _release(short):
            return f"made for torch {'.'.join(_release(short))}, and torch is {torch}"
    if name == "torch" and "torch_npu" not in versions:
        return "torch_npu is missing, so there is no device npu"
    if name in _OF_TORCH and torch and ("+cpu" in torch) != ("+cpu" in version):
        return f"another build than torch {torch}: install both from PyTorch's index of CPU builds"
    if name == "vllm-ascend" and "vllm" in versions and _release(versions["vllm"])[:2] != _release(version)[:2]:
        return f"made for vllm {'.'.join(_release(version)[:2])}, and vllm is {versions['vllm']}"
    return None


def _pytorch(report: _Report) -> None:
    report.head("PyTorch on device npu")
    done = _run(["-c", _PROBE], _PROBE_SECONDS)
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    if not lines:
        report.fact("fails", _last_line(done.stderr) or f"exit code {done.returncode}")
        report.problem(f"device npu does not work: {_last_line(done.stderr) or f'exit code {done.returncode}'}")
        return
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("found "))
    wrong = {name: found[name] for name, right in _PROBE_FINDS.items() if found[name] != right}
    report.fact("works", "no" if wrong else f"yes, as {found['device']}")
    report.fact("operators", f"{found['native']} of torch_npu's are portacl's own")
    protobuf = _version("protobuf")
    torchair = f"torchair loads by protobuf {protobuf}" if protobuf else "torchair needs protobuf, which is missing"
    report.fact("graphs", f"captured ones, no graph engine; {torchair}")
    if wrong:
        report.problem(f"device npu computes wrong results: {wrong}")
    if done.returncode != 0:
        report.problem(f"a program on device npu ends with {done.returncode}: {_last_line(done.stderr)}")


def _script(report: _Report, arguments: list[str]) -> None:
    report.head(f"what falls back to PyTorch's CPU kernels in {' '.join(arguments)}")
    done = _run(["-m", "portacl", "--report", *arguments], None, PORTACL_FALLBACK="quiet")
    rows = list(_fallbacks(done.stderr))
    for operator, calls, milliseconds in rows:
        report.fact(calls + " calls", f"{operator} ({milliseconds} ms)")
    if not rows:
        report.fact("-", "nothing")
    if done.returncode != 0:
        report.problem(f"the script ended with {done.returncode}: {_last_line(done.stderr.split('operator  ')[0])}")


def _fallbacks(text: str) -> Iterator[tuple[str, str, str]]:
    """Returns operator, calls and milliseconds of each fallback in portacl.torch.report()'s table."""
    for row in re.finditer(r"^(\S+) +(\d+) +fallback +([\d.]+)$", text, re.MULTILINE):
        yield row[1], row[2], row[3]


def _run(arguments: list[str], seconds: int | None, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    environ = {**os.environ, **variables}
    try:
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"not ended after {seconds} seconds")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _release(version: str) -> tuple[str, ...]:
    """Returns the first three numbers of a version."""
    return tuple(re.findall(r"\d+", version)[:3])


def _field(path: str, name: str, between: str = ":") -> str:
    """Returns the value of a line such as "MemTotal: 24541372 kB"; empty if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, mark, value = line.partition(between)
                if mark and key.strip() == name:
                    return value.strip()
    except OSError:
        pass
    return ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
