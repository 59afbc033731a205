"""Programs in processes of their own, each forked from a process that has imported torch, which takes most of the time of their start.

What torch_npu and portacl do when they are imported is done by each program itself, with its own environment, as `import torch` does it.
Variables that are read before that make another process to fork from.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence

# What torch_npu and portacl read, and what torchrun sets. It is the program's own.
LATE = re.compile(r"PORTACL_|PYTEST_|ASCEND_LOG_|TASK_QUEUE_ENABLE$|PYTORCH_NO_NPU_MEMORY_CACHING$|(LOCAL_|WORLD_|MASTER_|TORCHELASTIC_|RANK)")
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
SECONDS = 600


class _Starter:
    """The process that is forked, and what it is told and says, a line of JSON each."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # What torch_npu would import of PyTorch.
        modules = [name for name in list(sys.modules) if name.partition(".")[0] in ("torch", "sympy", "mpmath", "numpy")]
        environment = {**environment, AUTOLOAD: "0"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-B", __file__], stdin=pipe, stdout=pipe, env=environment, start_new_session=True)
        self.ask({"modules": modules})

    def ask(self, request: object) -> list[int]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            self.end()
            raise subprocess.TimeoutExpired("a program", SECONDS)
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


_starters: dict[frozenset[tuple[str, str]], _Starter] = {}


def run(arguments: Sequence[str], *environments: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs Python with these arguments, "-c SOURCE" or a script and its own, once in each environment, all at once.

    Where one of several fails, the others are ended, and its status is that of all, as torchrun has it."""
    early = frozenset((name, value) for name, value in environments[0].items() if not LATE.match(name))
    starter = _starters.get(early)
    if starter is None or starter.process.poll() is not None:
        starter = _starters[early] = _Starter(dict(early))
    with tempfile.TemporaryDirectory() as folder:
        files = [[str(pathlib.Path(folder) / f"{index}.{kind}") for kind in ("out", "err")] for index in range(len(environments))]
        request = {"arguments": list(arguments), "environments": [dict(one) for one in environments], "files": files, "folder": os.getcwd()}
        statuses = starter.ask(request)
        out, err = ("".join(pathlib.Path(pair[kind]).read_text(encoding="utf-8") for pair in files) for kind in (0, 1))
    status = next((one for one in statuses if one not in (0, -signal.SIGTERM)), next((one for one in statuses if one), 0))
    return subprocess.CompletedProcess(list(arguments), status, out, err)


def end_all() -> None:
    for starter in _starters.values():
        starter.end()
    _starters.clear()


def _become(request: dict, index: int) -> list[str]:
    """Makes a forked process what a new one would be that has imported torch."""
    os.environ.clear()
    os.environ.update(request["environments"][index])
    os.chdir(request["folder"])
    for target, name in enumerate([os.devnull, *request["files"][index]]):
        file = os.open(name, os.O_RDONLY if target == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(file, target)
        os.close(file)
    if "PORTACL_REPORT" in os.environ:
        from portacl_start import report

        report.expect()
    if os.environ.get(AUTOLOAD) != "0":
        sys.modules["torch"]._import_device_backends()
    return request["arguments"]


def _serve() -> list[str]:
    """Forks a process for each request. Returns in the forked ones, with what they run."""
    import gc
    import importlib

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    lines = os.fdopen(os.dup(0), "rb", buffering=0)
    for name in json.loads(lines.readline())["modules"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that forked processes do not look for garbage among it, at their end either, and share its pages
    print("[]", file=answers, flush=True)
    while line := lines.readline():
        request = json.loads(line)
        running = {}
        for index in range(len(request["files"])):
            process = os.fork()
            if process == 0:
                answers.close()
                lines.close()
                return _become(request, index)
            running[process] = index
        statuses = [0] * len(running)
        while running:
            process, status = os.wait()
            if process in running:
                statuses[running.pop(process)] = os.waitstatus_to_exitcode(status)
                for other in running if status else ():
                    os.kill(other, signal.SIGTERM)
        print(json.dumps(statuses), file=answers, flush=True)
    os._exit(0)


if __name__ == "__main__":
    ran = _serve()
    program = types.ModuleType("__main__")
    sys.modules["__main__"] = program
    if ran[0] == "-c":
        sys.argv, sys.path[0] = ["-c", *ran[2:]], ""
        code = compile(ran[1], "<string>", "exec")
    else:
        sys.argv, sys.path[0] = ran, os.path.dirname(ran[0])
        program.__file__ = ran[0]
        code = compile(pathlib.Path(ran[0]).read_text(encoding="utf-8"), ran[0], "exec")
    exec(code, program.__dict__)
