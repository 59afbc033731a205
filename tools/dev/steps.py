"""Tells what the programs behind ./dev do, and how long each stage of it took.

Where PORTACL_STAGES names a file, a line WALL|PROCESSOR|STAGE|VERB, in hundredths of a second, is added to that for every stage of a second
and more. Else a table of them ends a verb that took more than a minute and did not fail: then what failed is said last.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TextIO, Union

import progress

ROOT = Path(__file__).resolve().parent.parent.parent
BUILDS = ROOT / "build"
RELEASE = BUILDS / "release"
JOBS = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
LINES_OF_A_FAILURE = 40
LONG = 60  # seconds

Argument = Union[str, Path]


def _clocks() -> tuple[float, float]:
    """Seconds: the time, and what processors spent on this process and its children."""
    times = os.times()
    return time.monotonic(), times.user + times.system + times.children_user + times.children_system


class _Stages:
    def __init__(self) -> None:
        self.verb = ""
        self.name = "starting"
        self.first = self.began = _clocks()
        self.told: list[str] = []

    def begin(self, name: str) -> None:
        now = _clocks()
        wall, processor = (round((new - old) * 100) for new, old in zip(now, self.began))
        if wall >= 100:
            self.told.append(f"{wall}|{processor}|{self.name}|")
        self.name, self.began = name, now

    def end(self, status: int) -> None:
        self.begin("")
        file = os.environ.get("PORTACL_STAGES")
        if file and self.told:
            with open(file, "a", encoding="utf-8") as out:
                out.writelines(f"{line}{self.verb}\n" for line in self.told)
        elif self.told and status == 0 and self.began[0] - self.first[0] >= LONG:
            print(progress.table(self.told), end="", file=sys.stderr)


class _Logs:
    """The folder of the logs: that of a build that exists, where one is given, else one below build/."""

    folder = BUILDS / "logs"


_stages = _Stages()


def log_of(name: str) -> Path:
    _Logs.folder.mkdir(parents=True, exist_ok=True)
    return _Logs.folder / f"{name}.log"


def log_into(folder: Path) -> None:
    _Logs.folder = folder


def say(text: str) -> None:
    """Begins a stage, which ends where something else is said."""
    _stages.begin(text)
    print(f"==> {text}", flush=True)


def die(text: str) -> NoReturn:
    sys.stdout.flush()
    print(f"==> {text}", file=sys.stderr, flush=True)
    sys.exit(1)


def step(what: str, log: str, command: Sequence[Argument], environment: Mapping[str, str] | None = None) -> None:
    """Runs a short step. Its output is shown only when it fails."""
    say(what)
    path = log_of(log)
    with path.open("wb") as out:
        status = _status(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment)
    if status:
        if path.stat().st_size:
            print(end_of(path), file=sys.stderr)
        die(f"failed: {what} (whole output: {path})")


def end_of(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_OF_A_FAILURE:])


def watched_step(what: str, log: str, command: Sequence[Argument], environment: Mapping[str, str] | None = None) -> bool:
    """Runs a long step: its progress is shown in tenths, and everything else it says as it comes. Returns whether it succeeded."""
    say(what)
    with log_of(log).open("w", encoding="utf-8") as out:
        words = [str(part) for part in command]
        with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
        ) as process:
            assert process.stdout is not None
            progress.show(_copied(process.stdout, out))
    return process.returncode == 0


def _copied(lines: Iterable[str], out: TextIO) -> Iterator[str]:
    for line in lines:
        out.write(line)
        yield line


def run(command: Sequence[Argument], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> int:
    """Runs a program whose output is shown, and returns its status."""
    sys.stdout.flush()
    return _status(command, env=environment, cwd=folder)


def must(command: Sequence[Argument], otherwise: str = "") -> None:
    """Runs a program whose output is shown. Where it fails, this one ends: with a message, or else with the same status."""
    status = run(command)
    if status and otherwise:
        die(otherwise)
    if status:
        sys.exit(status if status > 0 else 128 - status)


def succeeds(command: Sequence[Argument]) -> bool:
    """Whether a program that says nothing returns 0. One that is not there does not."""
    return _status(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def _status(command: Sequence[Argument], **options: object) -> int:
    try:
        return subprocess.run([str(part) for part in command], **options).returncode  # type: ignore[call-overload,no-any-return]
    except OSError as error:
        print(error, file=sys.stderr)
        return 127


def has(program: str) -> bool:
    return shutil.which(program) is not None


def as_root(command: Sequence[Argument]) -> list[Argument]:
    return list(command) if os.geteuid() == 0 else ["sudo", *command]


Verb = Callable[[list[str]], None]


def program(about: str | None, verbs: Mapping[str, Verb], with_help_of_their_own: Sequence[str] = ()) -> NoReturn:
    """Runs the verb that the command line names first, with the arguments behind it. --help as the first one prints what the program is about."""
    name, arguments = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if name not in verbs:
        print(f"{about}\n\nusage: ./dev VERB ...     VERB: {', '.join(verbs)}")
        sys.exit(0 if name in ("-h", "--help") else 2)
    if arguments[:1] in (["-h"], ["--help"]) and name not in with_help_of_their_own:
        print(about)
        sys.exit(0)
    _stages.verb = name
    status = 0
    try:
        verbs[name](arguments)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        status = 130
    _stages.end(status)
    sys.stdout.flush()
    sys.exit(status)
