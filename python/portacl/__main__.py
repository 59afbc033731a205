"""`python -m portacl`: starts Python anew, with the variables by which CANN's clients find their libraries.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import site
import subprocess
import sys
from typing import NamedTuple, NoReturn

import portacl
from portacl_start import environment

USAGE = """\
usage: python -m portacl [OPTIONS] SCRIPT [ARGUMENTS]       run a script with portacl in force; OPTIONS are
                                                            --report and --profile FILE
       python -m portacl [OPTIONS] -m MODULE [ARGUMENTS]    the same for a module, such as torch.distributed.run
       python -m portacl record [-o FILE] SCRIPT ...        record what its operators get and give (record --help)
       python -m portacl compare FILE [FILE]                recorded operators beside portacl and float64 (compare --help)
       python -m portacl --info [--json]                    what is in force, and which product accepts which dtypes
       python -m portacl doctor [SCRIPT [ARGUMENTS]]        versions, what is found, what does not fit, what falls back
       python -m portacl --prefix                           the folder with include, lib64 and set_env.sh
       python -m portacl --version

Whatever else Python takes on its command line goes as well: -c CODE, and - for a program on standard input. The processes
that the script starts use portacl too. --report prints to standard error, when the script has ended, which of PyTorch's
operators it called, how often, which were portacl's own and which PyTorch's CPU computed instead, and the time they took.
--profile writes to FILE, when the script has ended, a trace of what the device did, for chrome://tracing or ui.perfetto.dev.
doctor prints what a bug report needs; given a script, it runs it. It ends with 1 where something does not fit.

A plain `python SCRIPT` in which torch_npu is imported uses portacl where there is no trace of a CANN: no ASCEND_HOME_PATH,
no libascendcl.so, no /usr/local/Ascend, no NPU. PORTACL_AUTOSTART=0 turns that off.
"""


def _interpreter() -> list[str]:
    """This Python with the options that it was given."""
    if not sys.executable:
        raise SystemExit("portacl: this Python does not know its own executable, so it cannot be started anew")
    if sys.version_info >= (3, 10):
        given = sys.orig_argv
    else:
        with open("/proc/self/cmdline", "rb") as line:
            given = os.fsdecode(line.read()).split("\0")[:-1]
    options = given[1 : len(given) - len(sys.argv) + 1]
    if options[-1:] == ["portacl"] and len(options) > 1 and options[-2].endswith("m"):
        options[-2:] = [options[-2][:-1]]  # -m portacl, -um portacl
    elif options and options[-1].endswith("mportacl"):
        options[-1] = options[-1][: -len("mportacl")]
    else:
        options = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *(one for one in options if one != "-")]


def _is_read_at_start() -> bool:
    """Whether Python reads portacl_start.pth where this package is installed, which it does only in site folders."""
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    place = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    return any(os.path.realpath(folder) == place for folder in folders)


def _start(arguments: list[str], report: bool, profile: str | None = None) -> NoReturn:
    there = environment.loaded()
    if there is not None and not there.is_this:
        raise SystemExit(f"portacl: not started: {there} is loaded in this process already")
    if not _is_read_at_start():
        missed = "so PyTorch gets no fallback for the operators that portacl lacks"
        sys.stderr.write(f"portacl: {portacl.prefix().parent} is not in a site folder of this Python, {missed}\n")
    if report:
        missing = [name for name in ("torch", "torch_npu") if importlib.util.find_spec(name) is None]
        if missing:
            raise SystemExit(f"portacl: --report is about PyTorch on device npu, and {sys.executable} has no {missing[0]}")
        os.environ["PORTACL_REPORT"] = str(os.getpid())  # it stays the same
    if profile is not None:
        os.environ["PORTACL_PROFILE"] = _writable(profile)
    command = [*_interpreter(), *arguments]
    os.execv(command[0], command)


def _writable(profile: str) -> str:
    """Returns the absolute path of the profile's file, or ends the program if that file cannot be written."""
    path = os.path.abspath(profile)
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        raise SystemExit(f"portacl: --profile {profile} is a folder; give the name of a file")
    if not os.path.isdir(folder):
        raise SystemExit(f"portacl: --profile {profile}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SystemExit(f"portacl: --profile {profile}: the folder {folder} cannot be written")
    return path


class _Options(NamedTuple):
    report: bool = False
    profile: str | None = None


def _options(arguments: list[str]) -> tuple[_Options, list[str]] | None:
    """Returns this command's options and the program to run; None if they are missing or incomplete."""
    options = _Options()
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        name, has_value, value = rest.pop(0).partition("=")
        if name == "--report" and not has_value:
            options = options._replace(report=True)
        elif name == "--profile" and (has_value or rest):
            options = options._replace(profile=value if has_value else rest.pop(0))
            if not options.profile:
                return None
        else:
            return None
    return (options, rest) if rest else None


def main(arguments: list[str]) -> NoReturn:
    first = arguments[0] if arguments else None
    if first in ("--help", "-h"):
        print(USAGE, end="")
    elif first == "--version":
        print(f"portacl {portacl.__version__}")
    elif first == "--prefix":
        print(portacl.prefix())
    elif first == "--info":
        program = str(portacl.prefix() / "bin" / "portacl-info")
        os.execv(program, [program, *arguments[1:]])
    elif first == "doctor" and not os.path.exists(first):
        from portacl import doctor

        raise SystemExit(doctor.main(arguments[1:]))
    elif first == "compare":
        os.environ.pop("PORTACL_RECORD", None)  # replayed calls are not recorded, least of all into the file that is being read
        _start(["-m", "portacl.comparison", *arguments[1:]], report=False)
    elif first == "record":
        importlib.import_module("portacl.recording._command").main(arguments[1:])
    elif (told := _options(arguments)) is not None:
        _start(told[1], **told[0]._asdict())
    else:
        sys.stderr.write(USAGE)
        raise SystemExit(2)
    raise SystemExit(0)


main(sys.argv[1:])
