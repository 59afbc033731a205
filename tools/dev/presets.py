#!/usr/bin/env python3
"""Builds a preset of CMake below build/, configured afresh where compiler or checkout are others. (what every verb of ./dev builds by)

    ./dev buildtime     builds the library without any cache, and prints what each folder and file costs the compiler
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import needs
import steps

INSTALLED = "portacl_install"  # the target of what is installed
CONFIGURED = "configured.json"  # in a build directory: what CMake was run with
# What CMake reads of the environment, and what changes where a package is installed.
READ = re.compile(r"(CMAKE_\w+|CC|CXX|\w*FLAGS|PATH|PKG_CONFIG_\w+|\w+_ROOT|\w+_DIR)")
INSTALLED_PACKAGES = (Path("/var/lib/dpkg/status"), Path(sysconfig.get_paths()["purelib"]))


def take_from(arguments: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Takes "--from BUILD" off the arguments: a build that exists, to be used instead of build/release."""
    if list(arguments[:1]) != ["--from"]:
        return None, list(arguments)
    if len(arguments) < 2 or not (Path(arguments[1]) / "CMakeCache.txt").is_file():
        steps.die("--from needs a build directory")
    given = Path(arguments[1]).resolve()
    steps.log_into(given / "logs")
    return given, list(arguments[2:])


def _entry(cache: str, name: str) -> str:
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", cache, re.MULTILINE)
    return found[1] if found else ""


def _is_stale(cache: str) -> bool:
    """Whether another compiler made the cache, or it is that of another checkout: CMake would keep it silently."""
    compiler = shutil.which(shlex.split(os.environ["CXX"])[0]) or ""
    cached = _entry(cache, "CMAKE_CXX_COMPILER")
    return _entry(cache, "CMAKE_HOME_DIRECTORY") != str(steps.ROOT) or os.path.realpath(cached) != os.path.realpath(compiler)


def _read_by_cmake(cmake: str, folder: Path) -> dict[str, object]:
    """Returns what a run of CMake depends on besides its options and the files that Ninja looks at."""
    files = [steps.ROOT / "CMakePresets.json", steps.ROOT / "CMakeUserPresets.json", folder / "CMakeCache.txt"]
    return {
        "cmake": cmake,
        "files": [hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files],
        "packages": [place.stat().st_mtime_ns if place.exists() else 0 for place in INSTALLED_PACKAGES],
        "environment": {name: value for name, value in sorted(os.environ.items()) if READ.fullmatch(name)},
    }


def _is_configured(cmake: str, folder: Path, cache: str, options: Sequence[str]) -> bool:
    """Whether CMake would do again what it did. Ninja runs it where a file changed that it read."""
    settings = [re.fullmatch(r"-D(\w+)=(.*)", option) for option in options]
    if not all(one and _entry(cache, one[1]) == one[2] for one in settings) or not (folder / "build.ninja").is_file():
        return False
    try:
        return bool(json.loads((folder / CONFIGURED).read_text(encoding="utf-8")) == _read_by_cmake(cmake, folder))
    except (OSError, ValueError):
        return False


def _configure(cmake: str, preset: str, cache: str, options: Sequence[str]) -> None:
    folder = steps.BUILDS / preset
    if _is_configured(cmake, folder, cache, options):
        return
    record = folder / CONFIGURED
    record.unlink(missing_ok=True)
    steps.step(f"configuring build/{preset}", f"configure-{preset}", [cmake, "-S", steps.ROOT, "--preset", preset, *options])
    record.write_text(json.dumps(_read_by_cmake(cmake, folder)), encoding="utf-8")


def build(preset: str, targets: Sequence[str] = (), *, tests: bool = False, options: Sequence[str] = ()) -> str:
    """Builds targets, or everything, of a preset. Returns the path of CMake, which is installed like all else that is missing."""
    cmake = needs.prepare(tests)
    folder = steps.BUILDS / preset
    cached = folder / "CMakeCache.txt"
    cache = cached.read_text(encoding="utf-8", errors="replace") if cached.is_file() else ""
    options = list(options)
    if cache and _is_stale(cache):
        options.append("--fresh")
        cache = ""
    # What is installed needs no tests, nor what they need, if no test follows; a build that has them keeps them.
    if list(targets) == [INSTALLED] and not tests and _entry(cache, "PORTACL_BUILD_TESTS") != "ON":
        options.append("-DPORTACL_BUILD_TESTS=OFF")
    _configure(cmake, preset, cache, options)
    command: list[steps.Argument] = [cmake, "--build", folder, "--parallel", steps.JOBS, *(["--target", *targets] if targets else [])]
    if not steps.watched_step(f"building build/{preset}", f"build-{preset}", command):
        steps.die(f"failed: building build/{preset} (whole output: {steps.log_of(f'build-{preset}')})")
    return cmake


def library(given: Path | None) -> tuple[Path, str]:
    """Returns a build of the library, build/release unless one is given, and the path of CMake."""
    return (given, needs.prepare()) if given else (steps.RELEASE, build("release", [INSTALLED]))


def buildtime(arguments: list[str]) -> None:
    if arguments:
        steps.die("usage: ./dev buildtime")
    cmake = needs.prepare()
    place = steps.BUILDS / "buildtime"
    times = place / "compile_times.txt"
    launcher = f"{steps.ROOT}/tools/compile_times.py;launch;{times}"
    launchers = [f"-DCMAKE_{name}_LAUNCHER={launcher}" for name in ("C_COMPILER", "CXX_COMPILER", "CXX_LINKER")]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for variable in ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER"):
        os.environ.pop(variable, None)
    os.environ["CCACHE_DISABLE"] = "1"
    command: list[steps.Argument] = [cmake, "-S", steps.ROOT, "-B", place, "--preset", "release", "-DPORTACL_BUILD_TESTS=OFF", *launchers]
    steps.step("configuring build/buildtime", "configure-buildtime", command)
    command = [cmake, "--build", place, "--parallel", steps.JOBS, "--target", INSTALLED]
    if not steps.watched_step("building build/buildtime", "build-buildtime", command):
        steps.die("failed: building build/buildtime")
    steps.must(["python3", "-B", steps.ROOT / "tools/compile_times.py", "report", times])


if __name__ == "__main__":
    steps.program(__doc__, {"buildtime": buildtime})
