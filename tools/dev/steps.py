"""Tells what the programs of tools/dev do, as ./dev tells it, and how long each stage took.

./dev names two things in the environment: PORTACL_LOGS, the folder of the logs, and PORTACL_STAGES_TOLD, a file that takes a line
WALL|PROCESSOR|STAGE, in hundredths of a second, for every stage of more than a second.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Union

ROOT = Path(__file__).resolve().parent.parent.parent
BUILDS = ROOT / "build"
LOGS = Path(os.environ.get("PORTACL_LOGS") or BUILDS / "logs")
LINES_OF_A_FAILURE = 40

Argument = Union[str, Path]


def _clocks() -> tuple[float, float]:
    """Seconds: the time, and what processors spent on this process and its children."""
    times = os.times()
    return time.monotonic(), times.user + times.system + times.children_user + times.children_system


class _Stages:
    def __init__(self) -> None:
        self.name = "starting"
        self.began = _clocks()
        self.told: list[str] = []

    def begin(self, name: str) -> None:
        now = _clocks()
        wall, processor = (round((new - old) * 100) for new, old in zip(now, self.began))
        if wall >= 100:
            self.told.append(f"{wall}|{processor}|{self.name}\n")
        self.name, self.began = name, now

    def write(self) -> None:
        self.begin("")
        file = os.environ.get("PORTACL_STAGES_TOLD")
        if file and self.told:
            with open(file, "a", encoding="utf-8") as out:
                out.writelines(self.told)


_stages = _Stages()
atexit.register(_stages.write)


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
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    with path.open("wb") as out:
        status = _status(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=environment)
    if status:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_OF_A_FAILURE:]
        print("\n".join(lines), file=sys.stderr)
        die(f"failed: {what} (whole output: {path})")


def run(command: Sequence[Argument], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> int:
    """Runs a program whose output is shown, and returns its status."""
    sys.stdout.flush()
    return _status(command, env=environment, cwd=folder)


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
