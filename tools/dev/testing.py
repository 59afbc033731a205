#!/usr/bin/env python3
"""Builds and runs the tests: as they are, under PORTACL_CHECK, under sanitizers, by other compilers. docs/testing.md says what they prove.

    ./dev test [--whole|--long|--chosen] [--seed S] [--of A,B] [ARGS]
    ./dev test --check [NAMES]
    ./dev asan|tsan [--long] [--chosen [--seed S]|--pool|--of A,B] [--except PATTERNS] [ARGS]
    ./dev clang|aarch64 [--long] [--of A,B] [ARGS]
    ./dev mutants [--only REGEX]
    ./dev conformance

--whole        tests/determinism runs every operator in every way, not only what changed and a sample that the seed draws
--long         the exhaustive tests run, too
--of A,B       only these test executables
--chosen       only what tests what changed since everything was tested, and a sample that the seed draws, the commit if no other
--pool         everything that the sample is drawn from
--except A:B   not the tests of GoogleTest that these patterns match, which may hold * and ?
ARGS           ctest's; with -R NAME every test of GoogleTest is a process, else every suite
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import needs
import presets
import progress
import steps

CHOOSER = steps.ROOT / "tools/chosen.py"
# What the processes leave out when they run (tests/register_processes.cmake).
LEFT_OUT_TESTS, DRAWN_TESTS = "PORTACL_TESTS_EXCEPT", "PORTACL_TESTS_DRAWN"
NEEDED = {"--of": "the names of test executables, with commas", "--except": "patterns of tests, with colons"}
NOTHING_LEFT_OUT = "-DPORTACL_LEFT_OUT="  # what an earlier choice left in CMake's cache


@dataclass
class Selection:
    """What is tested: "all", "chosen" or "pool". Whether tests/determinism runs only what changed, and a sample, in every way."""

    what: str = "all"
    seed: str = ""
    of_determinism: bool = False


def take_selection(arguments: list[str]) -> tuple[Selection, list[str]]:
    """Takes "--chosen" or "--pool", and "--seed SEED", off the arguments."""
    selection, rest = Selection(), list(arguments)
    if rest[:1] in (["--chosen"], ["--pool"]):
        selection.what = rest.pop(0)[2:]
    if rest[:1] == ["--seed"] and len(rest) > 1:
        selection.seed = rest[1]
        rest = rest[2:]
    return selection, rest


def _seed() -> str:
    command = ["git", "-C", str(steps.ROOT), "rev-parse", "--short=12", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    return commit or datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def choose(verb: str, what: str, selection: Selection, *arguments: steps.Argument) -> str:
    """Returns what tools/chosen.py chooses for the seed."""
    again = f"./dev {verb}" + (" --fixed" if verb == "fuzz" else "") + (" --chosen" if selection.what == "chosen" else "")
    selection.seed = selection.seed or _seed()
    steps.say(f"choosing what is tested ({again} --seed {selection.seed} chooses the same)")
    file = steps.BUILDS / f"{what}.chosen"
    with file.open("w", encoding="utf-8") as out:
        command = ["python3", "-B", CHOOSER, what, steps.RELEASE, "--seed", selection.seed, *arguments]
        if subprocess.run([str(part) for part in command], stdout=out).returncode:
            steps.die("failed: choosing")
    return file.read_text(encoding="utf-8").strip()


def choose_for_sanitizer(verb: str, preset: str, selection: Selection) -> tuple[str, list[str]]:
    """Returns the executables that are chosen, and the options of a build in which the library is instrumented where it must be."""
    options = ["-DPORTACL_BORROWED="]
    chosen = ""
    if selection.what == "pool":
        command = ["python3", "-B", str(CHOOSER), preset, "--pool"]
        chosen = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        os.environ.pop(DRAWN_TESTS, None)
    elif selection.what == "chosen":
        presets.build("release", [presets.INSTALLED], tests=True, options=options)
        if preset == "asan":
            borrowed = steps.BUILDS / f"{preset}.borrowed"
            chosen = choose(verb, preset, selection, "--borrow", borrowed)
            options = [f"-DPORTACL_BORROWED={borrowed}"]
        else:
            chosen = choose(verb, preset, selection)
        chosen, _, os.environ[DRAWN_TESTS] = chosen.partition("\n")
    return chosen, options


def run_tests(verb: str, preset: str, arguments: list[str], selection: Selection, options: tuple[str, ...] | list[str] = ()) -> None:
    tier, names, executables = ["-LE", "^long$"], [], []
    rest = list(arguments)
    while rest[:1] in (["--long"], ["--of"], ["--except"]):
        option = rest.pop(0)
        if option == "--long":
            tier = []
            continue
        if not rest:
            steps.die(f"{option} needs {NEEDED[option]} between them")
        if option == "--except":
            os.environ[LEFT_OUT_TESTS] = f":{rest.pop(0)}"
            continue
        executables = rest[0].split(",")
        names = ["-R", f"^({'|'.join(executables)})(\\.|$)"]
        rest.pop(0)
    cmake = presets.build(preset, executables, tests=True, options=options)
    if selection.of_determinism and ("determinism" in " ".join(executables) or not executables):
        if not any("-R" in one for one in rest) or any("eterminism" in one for one in rest):
            os.environ["PORTACL_DETERMINISM_WHOLE"] = choose(verb, "determinism", selection)
    if any(one.startswith(("-R", "--tests-regex", "-E", "--exclude-regex")) for one in rest):
        names += ["-C", "cases"]  # names of single tests fit, too
    folder = steps.BUILDS / preset
    report = folder / "tests.xml"
    report.unlink(missing_ok=True)
    options_of_ctest: list[steps.Argument] = ["--output-on-failure", "--no-tests=error", "--output-junit", report, *tier, *names, *rest]
    options_of_ctest += ["--test-output-size-passed", "9999999"]  # the report counts the tests of each process
    passed = steps.watched_step(
        f"testing build/{preset}",
        f"test-{preset}",
        [Path(cmake).parent / "ctest", "--test-dir", folder, "--parallel", steps.JOBS, *options_of_ctest],
    )
    print(progress.report(report), flush=True)
    if not passed:
        steps.die(f"failed: testing build/{preset} (whole output: {steps.log_of(f'test-{preset}')})")


def test(arguments: list[str]) -> None:
    if arguments[:1] == ["--check"]:
        presets.build("release", arguments[1:], tests=True, options=[NOTHING_LEFT_OUT])
        steps.say("running the tests under PORTACL_CHECK")
        suite = steps.ROOT / "tests/check/run_suite.py"
        command: list[steps.Argument] = ["python3", "-B", suite, steps.RELEASE, "--jobs", steps.JOBS, *arguments[1:]]
        steps.must(command, "failed: tests under PORTACL_CHECK")
        return
    selection, rest = take_selection(arguments)
    options = [NOTHING_LEFT_OUT]
    if selection.what == "pool":
        steps.die("--pool is of ./dev asan and ./dev tsan; ./dev test runs everything")
    if selection.what == "chosen":
        if rest[:1] == ["--of"]:
            steps.die("--chosen chooses the executables; --of names them")
        presets.build("release", [presets.INSTALLED], tests=True)
        options = [f"-DPORTACL_LEFT_OUT={choose('test', 'left-out', selection)}"]
    selection.of_determinism = rest[:1] not in (["--whole"], ["--long"])
    if rest[:1] == ["--whole"]:
        rest = rest[1:]
    run_tests("test", "release", rest, selection, options)


def _sanitized(preset: str, arguments: list[str]) -> None:
    long = arguments[:1] == ["--long"]
    selection, rest = take_selection(arguments[long:])
    chosen, options = choose_for_sanitizer(preset, preset, selection)
    of = [] if selection.what == "all" else ["--of", chosen]
    run_tests(preset, preset, [*(["--long"] if long else []), *of, *rest], selection, options)


def asan(arguments: list[str]) -> None:
    os.environ.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    _sanitized("asan", arguments)


def tsan(arguments: list[str]) -> None:
    os.environ.setdefault("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1")
    _sanitized("tsan", arguments)


def use_clang() -> None:
    os.environ["CXX"] = needs.program(["clang++", "clang++-14"], "clang")
    os.environ["CC"] = shutil.which("clang") or shutil.which("clang-14") or "clang"


def clang(arguments: list[str]) -> None:
    use_clang()
    run_tests("clang", "clang", arguments, Selection())


def aarch64(arguments: list[str]) -> None:
    needs.program(["aarch64-linux-gnu-g++"], "g++-aarch64-linux-gnu", "g++ for aarch64 (aarch64-linux-gnu-g++)")
    needs.program(["qemu-aarch64-static", "qemu-aarch64"], "qemu-user-static", "qemu's user-mode emulation")
    os.environ.update(CC="aarch64-linux-gnu-gcc", CXX="aarch64-linux-gnu-g++")
    run_tests("aarch64", "aarch64", arguments, Selection())


def mutants(arguments: list[str]) -> None:
    needs.prepare(tests=True)
    steps.must([steps.ROOT / "tests/mutation/mutate.py", "--jobs", steps.JOBS, *arguments])


def conformance(arguments: list[str]) -> None:
    presets.build("release", tests=True, options=[NOTHING_LEFT_OUT])
    steps.must(["python3", "-B", steps.ROOT / "tools/write_conformance.py", steps.RELEASE])


if __name__ == "__main__":
    verbs = (test, asan, tsan, clang, aarch64, mutants, conformance)
    steps.program(__doc__, {verb.__name__: verb for verb in verbs})
