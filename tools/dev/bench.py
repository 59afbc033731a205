#!/usr/bin/env python3
"""Measures how fast the library is: against what memory allows, PyTorch, and other programs. (./dev bench)

Without a kind, the machine's own limits are measured and then calls of the library beside them. Results lie in build/bench. The parts
of one run are kept beside each other; a new run takes their place, or, with --keep, corrects them.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import environments
import presets
import steps
import wheel

USAGE = (
    "usage: ./dev bench [--npu [--seconds N | --quick] [--page PAGE] | --models [--threads N | --page PAGE] [--seconds N]"
    " | --experts [--threads N] [--rounds N]"
    " | --recording [--threads N] [--pairs N]"
    " | --maps ... | --convolutions | --attention [--sweep] [--processor]"
    " | --products [--kinds KIND...] [--processor] [--threads N]"
    " | --collectives [--ranks N,N] [--seconds N] | --peers | --limits]"
    " [--quick] [--filter REGEX] [--minutes N] [--part I/N] [--table] [--whole] [--blocking] [--keep]"
)
MAPS_USAGE = "usage: ./dev bench --maps [--from BUILD] [--filter REGEX] [--rest-of-aten] [--minutes N] [--processor] [--check] [--keep] [--page]"
BENCH = steps.ROOT / "bench"
PLACE = steps.BUILDS / "bench"


@dataclass(frozen=True)
class Kind:
    """What a kind of measurement is run by, and what that needs."""

    meaning: str
    program: str = ""  # of bench/, whose own arguments follow the kind; "" where this program knows them
    python: str = "none"  # an environment that environments.py makes
    build: str = "library"  # or the targets of build/release
    arguments: tuple[str, ...] = ()


KINDS = {
    "--npu": Kind("operators through torch_npu", "pytorch_npu.py", "torch_npu"),
    "--models": Kind("whole training steps through torch_npu", "models.py", "torch_npu"),
    "--experts": Kind("a layer of experts through torch_npu beside PyTorch", "experts.py", "torch_npu"),
    "--recording": Kind("whole training steps with and without a recording", "recording_cost.py", "torch_npu"),
    "--collectives": Kind(
        "several processes, beside PyTorch's", "collectives.py", "torch", "cann_hccl portacl_gloo", ("--library", "{build}/lib64/libhccl.so")
    ),
    "--checks": Kind("what PORTACL_CHECK and profiles cost where they are off", "{build}/bench/check_costs", build="check_costs",
                     arguments=("{build}/lib64/libportacl.so", "{build}/bench/libportacl_unchecked.so")),
    "--convolutions": Kind("convolutions beside PyTorch", "convolution.py", "torch", arguments=("--build", "{build}")),
    "--attention": Kind("attention beside PyTorch", "attention.py", "torch", arguments=("--build", "{build}")),
    "--decoding": Kind("attention of one query to cached tokens", "decoding.py", "torch", arguments=("--build", "{build}")),
    "--products": Kind("products of matrices beside PyTorch", "products.py", "torch", arguments=("--build", "{build}")),
    "--factors": Kind("solutions and factors of matrices beside PyTorch", "factors.py", "torch", arguments=("--build", "{build}")),
    "--maps": Kind("elementwise operators beside PyTorch", python="torch"),
    "--peers": Kind("other programs that do the same", python="torch", build="portacl_bench"),
    "--limits": Kind("the machine's limits alone", build="portacl_bench"),
}  # fmt: skip
CEILING = Kind("the library beside the machine's limits", build="portacl_bench")
WITH_VALUE = ("--filter", "--minutes", "--part")


def kind_of(arguments: Sequence[str]) -> Kind:
    first = arguments[0] if arguments else ""
    if first in KINDS and first not in ("--peers", "--limits"):
        return KINDS[first]
    return KINDS["--peers"] if "--peers" in arguments else CEILING


def options_of(arguments: Sequence[str], with_value: Sequence[str], alone: Sequence[str], usage: str) -> dict[str, str]:
    """Returns the options in their order, with their values, which "=" or a space parts from them."""
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in with_value and (equals or rest):
            found[name] = value if equals else rest.pop(0)
        elif name in alone and not equals:
            found[name] = ""
        else:
            steps.die(usage)
    return found


def bench_options(arguments: Sequence[str]) -> dict[str, str]:
    return options_of(arguments, WITH_VALUE, ("--quick", "--table", "--whole", "--blocking", "--peers", "--limits", "--keep"), USAGE)


def maps_options(arguments: Sequence[str]) -> dict[str, str]:
    return options_of(arguments, ("--filter", "--minutes"), ("--rest-of-aten", "--processor", "--check", "--keep", "--page"), MAPS_USAGE)


def _failed(why: str = "") -> NoReturn:
    steps.die(f"failed: bench{why}")


def _remove(*patterns: str) -> None:
    for pattern in patterns:
        for path in PLACE.glob(pattern):
            path.unlink()


def _kept(name: str) -> Path:
    return PLACE / f"{name}.kept-{int(time.time())}.json"


def measure(arguments: Sequence[str], library: Path, python: steps.Argument) -> None:
    options = bench_options(arguments)
    peers = "--peers" in options
    name = "peers" if peers else "limits" if "--limits" in options else "ceiling"
    part = options.get("--part", "1/1")
    passed = []
    for option, value in options.items():
        if option == "--filter":
            passed.append(f"{'--filter' if peers else '--benchmark_filter'}={value}")
        elif option not in ("--peers", "--keep"):
            passed.append(f"{option}={value}" if value else option)
    PLACE.mkdir(parents=True, exist_ok=True)
    if "--keep" in options:
        out = _kept(name)
    else:
        if part.startswith("1/"):
            _remove(f"{name}.*.json")
        out = PLACE / f"{name}.{part.replace('/', '-of-', 1)}.json"
    command: list[steps.Argument]
    if peers:
        steps.say("measuring against other programs")
        command = [python, BENCH / "peers.py", "--build", library, "--out", out, *passed]
    else:
        steps.say("measuring against what memory allows")
        command = [library / "bench/portacl_bench", *passed, f"--benchmark_out={out}", "--benchmark_out_format=json"]
    if steps.run(command):
        _failed()
    results: list[steps.Argument] = [path for one in ("ceiling", "limits", "peers") for path in sorted(PLACE.glob(f"{one}.*.json"))]
    status = steps.run(["python3", BENCH / "report.py", "--plots", PLACE, *results])
    if status:
        sys.exit(status)


def measure_maps(arguments: Sequence[str], library: Path, python: steps.Argument) -> None:
    options = maps_options(arguments)
    only_check = "--check" in options
    PLACE.mkdir(parents=True, exist_ok=True)
    out = PLACE / "maps.json"
    if "--keep" in options:
        out = _kept("maps")
    elif not only_check:
        _remove("maps.json", "maps.kept-*.json")
    passed = [f"{name}={value}" if value else name for name, value in options.items() if name not in ("--keep", "--page")]
    steps.say("measuring operators against PyTorch")
    status = steps.run([python, "-B", BENCH / "maps.py", "--build", library, "--out", out, *passed])
    if not only_check:
        command: list[steps.Argument] = ["python3", "-B", BENCH / "maps_report.py"]
        if "--page" in options:
            command += ["--page", steps.ROOT / "docs/performance.md"]
        if "--rest-of-aten" in options:
            command.append("--rest-of-aten")
        status |= steps.run([*command, PLACE / "maps.json", *sorted(PLACE.glob("maps.kept-*.json"))])
    if status:
        _failed(" (cases that were not measured are named above)")


def run_program(kind: Kind, arguments: Sequence[str], library: Path, python: steps.Argument) -> None:
    program = kind.program.format(build=library)
    command: list[steps.Argument] = [program]
    if kind.python != "none":
        command = [python, "-B", *(["-m", "portacl"] if kind.python == "torch_npu" else []), BENCH / program]
    if steps.run([*command, *(one.format(build=library) for one in kind.arguments), *arguments]):
        _failed()


def bench(arguments: list[str]) -> None:
    kind = kind_of(arguments)
    given, rest = None, arguments[1:]
    if kind.build == "library" and kind.python == "torch":
        given, rest = presets.take_from(rest)
    if kind is KINDS["--maps"]:
        maps_options(rest)
    elif not kind.program:
        bench_options(arguments)
    library, python = steps.RELEASE, Path("python3")
    if kind.python == "torch_npu":
        python = environments.torch_npu(wheel.make(None))
    elif kind.build == "library":
        library, _ = presets.library(given)
    else:
        presets.build("release", kind.build.split(), tests=True)
    if kind.python == "torch":
        python = environments.torch()
    if kind.program:
        run_program(kind, rest, library, python)
    elif kind is KINDS["--maps"]:
        measure_maps(rest, library, python)
    else:
        measure(arguments, library, python)


if __name__ == "__main__":
    kinds = "".join(f"  {name:16}{kind.meaning}\n" for name, kind in KINDS.items())
    steps.program(f"{__doc__}\nkinds:\n{kinds}\n{USAGE}\n{MAPS_USAGE}", {"bench": bench})
