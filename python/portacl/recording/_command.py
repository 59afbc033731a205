"""`python -m portacl record`: runs a program, in this process, and records its operators."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import importlib.util
import os
import re
import runpy
import sys
import types
from typing import Any, NoReturn

from portacl_start import environment

DESCRIPTION = """\
Runs a program and records each of PyTorch's operators that it calls, forward and backward: name, arguments, what tensors hold
before and after, module, call stack, random state. `portacl compare` looks at the file.

The program runs on the device that it asks for, as under a plain `python SCRIPT`: where a CANN is installed on that, with an NPU,
and portacl takes no part in what is computed; where there is no trace of one, device npu is portacl. --portacl puts portacl in
force in either case. What the program computes is the same as without recording.
"""
EPILOG = """\
A step ends with the step() of the optimizer that makes the first one (portacl.recording.record() in a program has more ways). With
several processes each records for itself: torchrun --no-python python -m portacl record -o run.{rank}.rec SCRIPT
"""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int | None:
    """Parses bytes as "500M", "8G" or "1.5GB"; returns None for "none"."""
    if text.lower() == "none":
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 500M or 8G, nor none")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def steps(text: str) -> range:
    """Parses a range as "3:5", "3:" or ":5", or one step as "3"."""
    found = re.fullmatch(r"(\d+)|(\d*):(\d*)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of steps such as 3:5 (steps 3 and 4), 3: or 3")
    if found[1] is not None:
        return range(int(found[1]), int(found[1]) + 1)
    chosen = range(int(found[2] or 0), int(found[3]) if found[3] else sys.maxsize)
    if not chosen:
        raise argparse.ArgumentTypeError(f"{text!r}: there is no step in it")
    return chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m portacl record",
        usage="%(prog)s [-o FILE] [options] SCRIPT [ARGUMENTS] | -m MODULE [ARGUMENTS] | -c CODE [ARGUMENTS]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="run.rec", help="where to (run.rec); {rank} and {pid} are filled in")
    parser.add_argument(
        "--keep",
        choices=("all", "sample", "summary"),
        default="all",
        help="of tensors: all elements (default), some of them with a hash and statistics, or these alone",
    )
    parser.add_argument("--sample", type=int, metavar="N", default=64, help="how many elements --keep sample keeps (64)")
    parser.add_argument(
        "--limit",
        type=size,
        metavar="SIZE",
        default=8 << 30,
        help="of the file, such as 500M, or none (8G): short of it tensors are no longer kept whole, at it recording stops; both are said",
    )
    parser.add_argument("--steps", type=steps, metavar="A:B", help="only steps A to B - 1, counted from 0")
    parser.add_argument("--module", metavar="PATH", help="only the operators of one module and of its gradient, such as layers.0")
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, default=None, help="a line that tells how far it is, or none")
    parser.add_argument("--no-stacks", action="store_true", help="no call stacks")
    parser.add_argument("--portacl", action="store_true", help="on portacl, even where a CANN is installed")
    return parser


def _split(parser: argparse.ArgumentParser, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Returns the options of record, and the program with its own."""
    takes_value = {option for action in parser._actions for option in action.option_strings if action.nargs is None}
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] not in ("-m", "-c", "-"):
        at += 2 if arguments[at] in takes_value else 1
    return arguments[:at], arguments[at:]


def _run(program: list[str]) -> None:
    """Runs the program as Python would, as __main__."""
    first = program[0]
    if first == "-m":
        sys.argv = program[1:]
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        return
    if first == "-c":
        sys.argv = ["-c", *program[2:]]
        main: Any = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        main.__builtins__ = __builtins__
        exec(compile(program[1], "<string>", "exec"), main.__dict__)
        return
    sys.argv = program
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.abspath(first))
    runpy.run_path(first, run_name="__main__")


def main(arguments: list[str]) -> NoReturn:
    parser = _parser()
    options, program = _split(parser, arguments)
    given = parser.parse_args(options)
    if not program or (program[0] in ("-m", "-c") and len(program) < 2):
        parser.error("there is no program to run")
    if program[0] not in ("-m", "-c") and not os.path.exists(program[0]):
        parser.error(f"there is no file {program[0]}")
    if given.sample < 1:
        parser.error(f"--sample {given.sample}: must be at least 1")
    if importlib.util.find_spec("torch") is None:
        raise SystemExit(f"portacl: what is recorded are PyTorch's operators, and {sys.executable} has no torch")
    if given.portacl:
        environment.take_over()
    path = given.output.replace("{rank}", os.environ.get("RANK", "0")).replace("{pid}", str(os.getpid()))

    from . import _capture

    sys.argv = program if program[0] not in ("-m", "-c") else [program[0], *program[2:]]
    recorder = _capture.Recorder(
        path,
        given.keep,
        given.limit,
        sample=given.sample,
        steps=given.steps,
        module=given.module,
        progress=given.progress,
        stacks=not given.no_stacks,
    )
    try:
        recorder.start()
    except OSError as error:
        raise SystemExit(f"portacl: {path} cannot be written: {error.strerror}") from None
    process = os.getpid()
    status: Any = 0
    reason = "the program ended"
    try:
        _run(program)
    except SystemExit as ended:
        status = ended.code
        if status not in (None, 0):
            reason = f"the program ended with status {status}"
    except KeyboardInterrupt:
        status = 130
        reason = "the program was interrupted"
    except BaseException as error:
        reason = f"the program raised {type(error).__name__}"
        status = 1
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    recorder.stop(reason)
    if os.getpid() == process:  # not one that the program forked
        environment.say(f"portacl record: {recorder.summary()}")
    raise SystemExit(status)
