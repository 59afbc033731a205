#!/usr/bin/env python3
"""Runs random programs over the C API under sanitizers. Each finding is a file, which the fuzzer runs again. (./dev fuzz)

    ./dev fuzz [SECONDS]                        searches by libFuzzer, built by clang (60 seconds)
    ./dev fuzz --fixed [--chosen [--seed S]]    runs always the same 20,000 programs, in the build of `./dev asan`, by gcc
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import needs
import presets
import steps
import testing

USAGE = "usage: ./dev fuzz [SECONDS|--fixed [--chosen [--seed S]]]"
CORPUS = steps.ROOT / "tests/fuzz/corpus"
DRAWN = "20000"
EMPTY = 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }\n'
FLAGS = ("-max_len=1500", "-timeout=60", "-rss_limit_mb=4096", "-report_slow_units=1000", "-print_final_stats=1")


def _has_fuzzer() -> bool:
    """Whether clang has libFuzzer and the sanitizers' runtimes, which its package does not bring everywhere."""
    command = [*shlex.split(os.environ["CXX"]), "-fsanitize=fuzzer,address", "-x", "c++", "-", "-o", os.devnull]
    return subprocess.run(command, input=EMPTY, text=True, capture_output=True).returncode == 0


def _run(command: list[steps.Argument]) -> tuple[bool, str]:
    """Returns whether no promise was broken, and what was said."""
    log = steps.log_of("fuzz")
    with log.open("wb") as out:
        status = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT).returncode
    said = log.read_text(encoding="utf-8", errors="replace")
    if status:
        lines = [line for line in said.splitlines() if not line.startswith("#")]
        print("\n".join(lines[-steps.LINES_OF_A_FAILURE :]), file=sys.stderr)
    return status == 0, said


def _search(seconds: str) -> None:
    testing.use_clang()
    if not _has_fuzzer():
        command = [*shlex.split(os.environ["CXX"]), "-dumpversion"]
        version = subprocess.run(command, capture_output=True, text=True).stdout.split(".")[0].strip()
        needs.provide([needs.Need(f"libclang-rt-{version}-dev", f"libFuzzer of clang {version}")])
        if not _has_fuzzer():
            steps.die(f"{os.environ['CXX']} has no libFuzzer")
    found = steps.BUILDS / "fuzz/found"
    presets.build("fuzz", ["fuzz"], tests=True)
    findings, programs = found / "findings", found / "programs"
    for folder in (findings, programs):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    steps.say(f"running random programs for {seconds} seconds")
    fuzzer = steps.BUILDS / "fuzz/tests/fuzz/fuzz"
    kept, said = _run([fuzzer, programs, CORPUS, *FLAGS, f"-max_total_time={seconds}", f"-artifact_prefix={findings}/"])
    if not kept:
        new = sorted(set(findings.iterdir()) - before)
        steps.die(f"a promise is broken: {new[-1] if new else ''}")
    for number in re.findall(r"^stat::number_of_executed_units: *(\d+)", said, re.MULTILINE):
        print(f"{number} programs run, no finding")


def _fixed(selection: testing.Selection) -> None:
    """Runs programs that are drawn without a look at what they cover. What a random search finds first differs from run to run, and says
    nothing about the change at hand."""
    needs.prepare(tests=True)
    _, options = testing.choose_for_sanitizer("fuzz", "asan", selection)
    presets.build("asan", ["fuzz_corpus"], tests=True, options=options)
    steps.say("running random programs from a fixed seed")
    program, drawn = steps.BUILDS / "asan/tests/fuzz/fuzz_corpus", steps.BUILDS / "asan/drawn_program"
    kept, said = _run([program, "--draw", DRAWN, "1", drawn, CORPUS])
    if not kept:
        steps.die(f"a promise is broken: {program} {drawn} (whole output: {steps.log_of('fuzz')})")
    for number, what in re.findall(r"^(\d+) programs; (.*)", said, re.MULTILINE):
        print(f"{number} programs run, no finding ({what})")


def fuzz(arguments: list[str]) -> None:
    first, rest = (arguments or ["60"])[0], arguments[1:]
    selection = testing.Selection()
    if first == "--fixed":
        selection, rest = testing.take_selection(rest)
    if rest or not re.fullmatch("[0-9]+|--fixed", first):
        steps.die(USAGE)
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1:detect_stack_use_after_return=1")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    if first == "--fixed":
        _fixed(selection)
    else:
        _search(first)


if __name__ == "__main__":
    steps.program(__doc__, {"fuzz": fuzz})
