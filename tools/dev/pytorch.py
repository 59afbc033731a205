#!/usr/bin/env python3
"""Runs what compares with PyTorch, and what runs on torch_npu: tests, examples, programs of others. Each takes "--from BUILD" first.

    ./dev torch [--long]            compares the installed library with PyTorch, and both with CANN's accuracy standard
    ./dev train                     trains a small network on device npu and on the CPU
    ./dev reproduce [ARGS]          ARGS: those of tools/reproduce.py
    ./dev torch_npu [ARGS]          ARGS: pytest's, and then nothing else is run
    ./dev torch_npu --chosen [--seed S]  what changed since everything was tested, and a sample that the seed draws, the commit if no other
    ./dev torch_npu --version V [ARGS]  the same with another version; without ARGS: its table, a training, doctor
    ./dev clients, serve [ARGS]     --help tells more
    ./dev check [ARGS]              ARGS: those of tests/check/run_examples.py
    ./dev opinfo [ARGS]             ARGS: those of tests/pytorch_npu/opinfo.py
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import environments
import install
import presets
import steps
import testing
import wheel

TESTS = steps.ROOT / "tests"
CLIENTS = ("transformers", "accelerate", "peft", "trl", "diffusers", "megatron-core")
OPINFO = TESTS / "pytorch_npu/opinfo.py"


def _on_portacl(python: Path, *command: steps.Argument, otherwise: str, **environment: str) -> None:
    os.environ.update(environment)
    steps.must([python, "-B", "-m", "portacl", *command], otherwise)


def _torch_npu(given: Path | None) -> Path:
    return environments.torch_npu(wheel.make(given))


def torch(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    if rest not in ([], ["--long"]):
        steps.die("usage: ./dev torch [--from BUILD] [--long]")
    library, cmake = presets.library(given)
    prefix, tests = library / "pytorch-prefix", TESTS / "pytorch"
    install.put(library, prefix, cmake)
    python = environments.torch()
    steps.say("comparing with PyTorch")
    steps.must([python, "-B", tests / "compare.py", "--check-table", steps.ROOT / "docs/compatibility.md"])
    steps.must([python, "-B", tests / "compare.py", "--prefix", prefix, *rest])
    steps.must([python, "-B", tests / "compare_moves.py", "--prefix", prefix])
    steps.say("measuring by CANN's accuracy standard")
    page = steps.ROOT / "docs/numerics.md"
    steps.must([python, "-B", tests / "accuracy_standard.py", "--prefix", prefix, "--check", page, *rest])


def train(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    if rest:
        steps.die("usage: ./dev train [--from BUILD]")
    picture = steps.BUILDS / "regression.svg"
    python = _torch_npu(given)
    steps.say("training with four losses and two optimizers, on device npu and on the CPU")
    os.environ["PORTACL_FALLBACK"] = os.environ.get("PORTACL_FALLBACK") or "quiet"
    example = steps.ROOT / "examples/pytorch/regression.py"
    _on_portacl(python, "--report", example, "--picture", picture, otherwise="failed: the losses did not end where they must")
    steps.say(f"the loss curves: {picture}")


def reproduce(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    python = _torch_npu(given)
    otherwise = "failed: the parameters are not those of docs/reproducibility.md"
    _on_portacl(python, steps.ROOT / "tools/reproduce.py", *rest, otherwise=otherwise)


def torch_npu(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    chosen: list[steps.Argument] = []
    rows = ["--short"]
    if rest[:1] == ["--version"]:
        tested = environments.tested_torch_npu()
        if len(rest) < 2 or rest[1] not in tested:
            steps.die(f"usage: ./dev torch_npu --version {'|'.join(tested)} [ARGS]")
        python = environments.other_torch_npu(wheel.make(given), rest[1])
        if len(rest) == 2:
            _other_torch_npu(python, rest[1])
            return
        rest = rest[2:]
    elif rest[:1] == ["--chosen"]:
        selection, more = testing.take_selection(rest)
        if given or more:
            steps.die("usage: ./dev torch_npu --chosen [--seed SEED]")
        python, rest = _torch_npu(given), []
        choice = json.loads(testing.choose("torch_npu", "torch_npu", selection))
        chosen, rows = ["--chosen", steps.BUILDS / "torch_npu.chosen"], ["--short", *choice["rows"], *choice["drawn_rows"]]
    else:
        python = _torch_npu(given)
    steps.say("testing PyTorch's NPU back end")
    pytest: list[steps.Argument] = ["-m", "pytest", "-p", "no:cacheprovider", "-q"]
    folders = [TESTS / name for name in ("pytorch_npu", "recording", "comparison")]
    how: list[steps.Argument] = [*rest] or ["-n", str(steps.JOBS), "--dist", "loadfile", "--no-loadscope-reorder", *chosen]
    _on_portacl(python, *pytest, *folders, *how, otherwise="failed: testing PyTorch's NPU back end")
    if rest:
        return
    steps.say("testing how its programs are started")
    steps.must([python, "-B", *pytest, TESTS / "python/test_pytorch.py", *chosen], "failed: testing how its programs are started")
    steps.say("running PyTorch's own samples of what is own")
    _opinfo(python, rows, "failed: what docs/pytorch.md calls own")


def _other_torch_npu(python: Path, version: str) -> None:
    """What every version that has a table must do."""
    steps.say(f"testing torch_npu {version}: its table, what is own, a step of training")
    pytest: list[steps.Argument] = ["-m", "pytest", "-p", "no:cacheprovider", "-q", TESTS / "pytorch_npu/test_tables.py"]
    _on_portacl(python, *pytest, otherwise=f"failed: testing torch_npu {version}", PORTACL_FALLBACK="quiet")
    steps.say("training with four losses and two optimizers, on device npu and on the CPU")
    example = steps.ROOT / "examples/pytorch/regression.py"
    picture = steps.BUILDS / f"regression-{version}.svg"
    _on_portacl(python, example, "--picture", picture, otherwise="failed: the losses did not end where they must")
    steps.say("asking doctor")
    steps.must([python, "-B", "-m", "portacl", "doctor"], f"failed: doctor of torch_npu {version}")


def _opinfo(python: Path, arguments: list[str], otherwise: str) -> None:
    page = steps.ROOT / "docs/pytorch.md"
    _on_portacl(python, OPINFO, "--page", page, "--jobs", steps.JOBS, *arguments, otherwise=otherwise, PORTACL_FALLBACK="quiet")


def opinfo(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    python = _torch_npu(given)
    steps.say("running PyTorch's own samples")
    _opinfo(python, rest, "failed: opinfo")


def check(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    python = _torch_npu(given)
    steps.say("running the examples under PORTACL_CHECK")
    _on_portacl(python, TESTS / "check/run_examples.py", *rest, otherwise="failed: checked examples")


def _asks_for_help(arguments: list[str]) -> bool:
    return "-h" in arguments or "--help" in arguments


def clients(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    program = TESTS / "clients/run.py"
    if _asks_for_help(rest):
        steps.must(["python3", "-B", program, "--help"])
        return
    packages = list(CLIENTS[:1] if "--short" in rest else CLIENTS)
    python = environments.clients(wheel.make(given), packages)
    steps.say("running client programs")
    steps.must([python, "-B", program, "--page", steps.ROOT / "docs/clients.md", *rest], "failed: clients")


def serve(arguments: list[str]) -> None:
    given, rest = presets.take_from(arguments)
    tests = TESTS / "serve"
    if _asks_for_help(rest):
        steps.must(["python3", "-B", tests / "options.py", "--help"])
        return
    asked = subprocess.run(["python3", "-B", tests / "options.py", "--pairs", *rest], stdout=subprocess.PIPE, text=True)
    if asked.returncode:
        sys.exit(asked.returncode)
    python = environments.serve(wheel.make(given), asked.stdout.split())
    steps.say("serving by vllm")
    page = steps.ROOT / "docs/clients.md"
    command: list[steps.Argument] = [tests / "run.py", "--environment", python.parent.parent, "--page", page, *rest]
    _on_portacl(python, *command, otherwise="failed: serve", PYTHONPATH=str(tests / "start"))


if __name__ == "__main__":
    verbs = (torch, train, reproduce, torch_npu, clients, serve, check, opinfo)
    steps.program(__doc__, {verb.__name__: verb for verb in verbs}, with_help_of_their_own=("clients", "serve"))
