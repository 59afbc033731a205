"""What the wheel holds: files, licences, what its libraries need, and that compilers find their way.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import HERE, SITE, TOOLKIT, Python, clean_environment

ROOT = HERE.parent.parent
C_AND_CXX_RUNTIME = re.compile(r"(libc|libm|libgcc_s|libdl|libpthread|librt|ld-linux-[a-z0-9_-]+)\.so\.\d+")


def files() -> list[pathlib.Path]:
    return [pathlib.Path(str(one.locate())) for one in importlib.metadata.distribution("portacl").files or []]


def is_elf(path: pathlib.Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


BINARIES = [path for path in files() if path.is_file() and is_elf(path)]


def output_of(*command: object, **environment: str) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, env=clean_environment() | environment, capture_output=True, text=True, check=True).stdout


def test_facts() -> None:
    facts = importlib.metadata.metadata("portacl")
    version = re.search(r"project\(portacl VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert version is not None and facts["Version"] == version[1]
    assert facts["Requires-Python"] == ">=3.9" and facts.get_all("Requires-Dist") is None
    wheel = importlib.metadata.distribution("portacl").read_text("WHEEL") or ""
    assert re.search(r"^Tag: py3-none-manylinux_2_\d+_[a-z0-9_]+$", wheel, re.MULTILINE), wheel


def test_modules(python: Python) -> None:
    code = "import portacl; print(portacl.__version__, portacl.prefix(), portacl.include_dir(), portacl.library_dir())"
    version = importlib.metadata.version("portacl")
    assert python.prints("-c", code) == f"{version} {TOOLKIT} {TOOLKIT}/include {TOOLKIT}/lib64\n"
    assert {"py.typed", "__init__.py", "__main__.py"} <= {path.name for path in (SITE / "portacl").iterdir()}


def test_licences() -> None:
    found = {path.name for path in files() if "licenses" in path.parts and TOOLKIT not in path.parents and path.stat().st_size > 400}
    assert {"LICENSE", "README.md"} | {path.name for path in (ROOT / "licenses").iterdir()} == found
    # Of each copy that came with Gloo.
    carried = TOOLKIT / "lib64" / "portacl"
    for library in carried.glob("lib*.so.*"):
        assert (carried / "licenses" / f"{library.name}.txt").stat().st_size > 400, library


def test_layout_is_that_of_an_installed_prefix() -> None:
    names = {str(path.relative_to(TOOLKIT)) for path in files() if TOOLKIT in path.parents}
    written = {f"include/{path.relative_to(ROOT / 'include')}" for path in (ROOT / "include").rglob("*.h")}
    listed = subprocess.run([sys.executable, "-B", ROOT / "tools/schema", "list"], capture_output=True, text=True, check=True).stdout
    made = {f"include/aclnnop/aclnn_{name}.h" for name in re.findall(r"^OPERATOR\((\w+),", listed, re.MULTILINE)}
    assert len(made) > 400 and written | made <= names
    assert {"set_env.sh", "bin/portacl-info", "lib64/libportacl.so.0", "lib64/cmake/portacl/portacl-config.cmake"} <= names
    assert os.access(TOOLKIT / "bin" / "portacl-info", os.X_OK)
    # A link would have been copied: no file is there twice.
    assert [path.name for path in (TOOLKIT / "lib64").glob("libportacl*")] == ["libportacl.so.0"]


def test_nothing_names_the_machine_that_built_it() -> None:
    for path in files():
        if path.suffix in (".sh", ".cmake", ".pc", ".py", ".info", ".so", ".0") or is_elf(path):
            data = path.read_bytes()
            assert str(ROOT).encode() not in data and b"/tmp/" not in data, path


@pytest.mark.parametrize("binary", BINARIES, ids=lambda path: path.name)
def test_needs_nothing_beyond_the_runtime(binary: pathlib.Path) -> None:
    own = {path.name for path in BINARIES}
    # Loaded where several processes communicate, with the C++ runtime that PyTorch has there.
    has_own_runtime = binary.name != "libgloo.so.0"
    own |= set() if has_own_runtime else {"libstdc++.so.6"}
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", binary))
    assert [name for name in needed if name not in own and not C_AND_CXX_RUNTIME.fullmatch(name)] == []
    # The C library is not newer than the wheel's name says, and no other library's versions count.
    tag = re.search(r"manylinux_2_(\d+)_", importlib.metadata.distribution("portacl").read_text("WHEEL") or "")
    assert tag is not None
    versions = output_of("objdump", "-T", binary)
    assert all(int(minor) <= int(tag[1]) for minor in re.findall(r"\(GLIBC_2\.(\d+)", versions))
    assert not (has_own_runtime and "GLIBCXX_" in versions)


def test_soname_is_the_file_name() -> None:
    for path in BINARIES:
        if ".so" in path.name and path.name != "libportacl_sleef.so":  # which has none: test_carried_libraries.py
            assert re.findall(r"\(SONAME\).*\[(.*)\]", output_of("readelf", "-d", path)) == [path.name]


def compiler() -> list[str]:
    found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if found is None:
        pytest.fail("needs a C++ compiler")
    return found.split()


def test_exceptions_of_another_runtime(python: Python) -> None:
    program = python.folder / "throws"
    link = ["-I", TOOLKIT / "include", "-L", TOOLKIT / "lib64", "-lascendcl", "-lnnopbase"]
    output_of(*compiler(), "-std=c++17", HERE / "throwing_host_function.cpp", *link, "-o", program)
    assert output_of(program, LD_LIBRARY_PATH=f"{TOOLKIT}/lib64") == "stopped\n"


def test_compilers_by_set_env(python: Python) -> None:
    """As in the README, with the prefix that the package tells, and by pkg-config where it is."""
    example = ROOT / "examples" / "l1_loss_backward.cpp"
    lines = ["g++ $0 -I $ASCEND_HOME_PATH/include -L $ASCEND_HOME_PATH/lib64 -lopapi_nn -lascendcl -lnnopbase -o program"]
    if shutil.which("pkg-config"):
        lines.append("g++ $0 $(pkg-config --cflags --libs portacl) -o program")
    for line in lines:
        script = f'cd "$2" && source "$("$1" -m portacl --prefix)/set_env.sh" && {line.replace("g++", " ".join(compiler()))} && ./program'
        assert output_of("bash", "-ec", script, example, python.executable, python.folder)
