#!/usr/bin/env python3
"""Finds out what the build needs and this machine lacks, and installs it where Debian's or Ubuntu's packages have it. (./dev setup)

Nothing is fetched, and no package is touched, when nothing is missing. CXX names another compiler than g++.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

import steps


class Need(NamedTuple):
    package: str
    name: str
    header: str = ""  # shows a library where there are no packages


LIBRARIES = [
    Need("libhwy-dev", "Google Highway", "hwy/highway.h"),
    Need("nlohmann-json3-dev", "nlohmann-json", "nlohmann/json.hpp"),
    Need("libgloo-dev", "Gloo", "gloo/transport/unbound_buffer.h"),
    Need("libsleef3", "SLEEF", "sleef.h"),
]
# What tests and measurements need besides.
TEST_LIBRARIES = [
    Need("libtbb-dev", "oneTBB", "oneapi/tbb/parallel_for.h"),
    Need("libgtest-dev", "GoogleTest", "gtest/gtest.h"),
    Need("libgmock-dev", "GoogleMock", "gmock/gmock.h"),
    Need("libbenchmark-dev", "Google Benchmark", "benchmark/benchmark.h"),
    Need("libmpfr-dev", "MPFR", "mpfr.h"),
]
OLDEST_CMAKE = (3, 25)
TOO_OLD = "#if defined(__clang__) ? __clang_major__ < 14 : __GNUC__ < 12\n#error\n#endif\n"


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX") or "g++")


def _preprocesses(text: str, *options: str) -> bool:
    command = [*_compiler(), *options, "-E", "-x", "c++", "-"]
    try:
        return subprocess.run(command, input=text, text=True, capture_output=True).returncode == 0
    except OSError:
        return False


def has_compiler() -> bool:
    return steps.has(_compiler()[0]) and _preprocesses(TOO_OLD)


def find_cmake() -> str | None:
    for candidate in ("/usr/bin/cmake", "cmake"):
        path = shutil.which(candidate)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"^cmake version (\d+)\.(\d+)", said, re.MULTILINE)
            if version and (int(version[1]), int(version[2])) >= OLDEST_CMAKE:
                return path
    return None


def has_packages() -> bool:
    """Whether this is Debian 12, Ubuntu 24.04 or newer: the first whose packages are new enough."""
    if not (steps.has("apt-get") and steps.has("dpkg-query")):
        return False
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            fields = dict(line.split("=", 1) for line in shlex.split(file.read(), comments=True) if "=" in line)
    except OSError:
        return False
    version = fields.get("VERSION_ID", "9999")  # Debian's testing and sid carry none
    oldest = {"debian": "12", "ubuntu": "24.04"}.get(fields.get("ID", ""))
    return oldest is not None and steps.succeeds(["dpkg", "--compare-versions", version, "ge", oldest])


def _installed(packages: list[str]) -> set[str]:
    command = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *packages]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    return {line.split()[0] for line in said.splitlines() if line.endswith(" installed")}


def missing(tests: bool) -> list[Need]:
    found = []
    if not has_compiler():
        found.append(Need("g++", "g++ 12 or newer"))
    if not find_cmake():
        found.append(Need("cmake", "CMake 3.25 or newer"))
    if not (steps.has("ninja") or steps.has("ninja-build")):
        found.append(Need("ninja-build", "Ninja"))
    if not steps.has("pkg-config"):
        found.append(Need("pkg-config", "pkg-config"))
    libraries = LIBRARIES + (TEST_LIBRARIES if tests else [])
    if has_packages():
        installed = _installed([one.package for one in libraries])
        return found + [one for one in libraries if one.package not in installed]
    return found + [one for one in libraries if not _preprocesses(f"#include <{one.header}>\n", "-std=c++20")]


def _names(needs: list[Need]) -> str:
    return ", ".join(need.name for need in needs)


def provide(needs: list[Need]) -> None:
    """Installs packages."""
    if not needs:
        return
    packages = [need.package for need in needs]
    if not has_packages():
        steps.die(f"portacl needs these and does not find them here: {_names(needs)}.")
    if os.geteuid() != 0:
        if not steps.has("sudo"):
            steps.die(f"portacl needs root or sudo to install: {' '.join(packages)}")
        if steps.run(["sudo", "-v"]):
            steps.die("failed: sudo")
    apt = steps.as_root(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"])
    steps.step("reading the package lists", "apt-update", [*apt, "update"])
    steps.step(
        f"installing {' '.join(packages)}", "apt-install", [*apt, "install", "-y", "--no-install-recommends", "--no-upgrade", *packages]
    )


def program(names: Sequence[str], package: str, brings: str = "") -> str:
    """Returns the path of the first of these programs that is there. Where none is, the package is installed that has one."""
    if not any(map(shutil.which, names)):
        provide([Need(package, brings or package)])
    return next((path for path in map(shutil.which, names) if path), names[0])


def provide_venv() -> None:
    """Provides the modules that make Python environments."""
    if not steps.succeeds(["python3", "-c", "import ensurepip, venv"]):
        provide([Need("python3-venv", "venv for Python 3")])


def prepare(tests: bool = False) -> str:
    """Provides what the library needs, and with `tests` what those need. Returns the path of CMake."""
    if os.environ.get("CXX") and not has_compiler():
        steps.die(f"CXX={os.environ['CXX']} is not g++ 12, clang++ 14 or newer")
    os.environ["CXX"] = os.environ.get("CXX") or "g++"
    lacking = missing(tests)
    if lacking:
        provide(lacking)
        lacking = missing(tests)
    cmake = find_cmake()
    if lacking or not cmake:
        steps.die(f"still missing: {_names(lacking)}")
    return cmake


def setup(arguments: list[str]) -> None:
    if arguments not in ([], ["mpi"]):
        steps.die("usage: ./dev setup [mpi]")
    prepare(tests=True)
    if arguments and not steps.has("mpicxx"):
        provide([Need("libopenmpi-dev", "Open MPI (headers)"), Need("openmpi-bin", "Open MPI (mpirun)")])
    steps.say("everything that the build needs is here")


if __name__ == "__main__":
    steps.program(__doc__, {"setup": setup})
