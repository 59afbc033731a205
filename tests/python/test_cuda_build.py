"""The set of names that a PyTorch for CUDA keeps: emptied by its layout, with a library that stands for PyTorch's own.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import types

import pytest

from portacl_start import cuda_build

LIBRARY = r"""
#include <cstddef>
#include <string>
#include <unordered_set>
static std::unordered_set<std::string> names;
extern "C" void* the_set() { return &names; }
extern "C" bool insert(const char* name) { return names.insert(name).second; }
extern "C" std::size_t count() { std::size_t n = 0; for (const std::string& name : names) n += !name.empty(); return n; }
extern "C" bool has(const char* name) { return names.count(name) != 0; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("set")
    (folder / "set.cpp").write_text(LIBRARY)
    subprocess.run([*compiler.split(), "-shared", "-fPIC", "-O1", str(folder / "set.cpp"), "-o", str(folder / "set.so")], check=True)
    found = ctypes.CDLL(str(folder / "set.so"))
    found.the_set.restype = ctypes.c_void_p
    found.insert.restype = found.has.restype = ctypes.c_bool
    found.count.restype = ctypes.c_size_t
    return found


def test_names_make_room_and_come_back(library: ctypes.CDLL) -> None:
    names = [f"name_{i}_that_is_{'long_' * (i % 7)}enough".encode() for i in range(60)]
    for _ in range(3):
        assert all(library.insert(name) for name in names)
        assert not library.insert(names[0])
        assert library.count() == len(names)
        assert cuda_build.empty(library.the_set())
        assert library.count() == 0 and not library.has(names[0])
    assert cuda_build.empty(library.the_set())


def test_what_does_not_look_like_names_is_left_alone(library: ctypes.CDLL) -> None:
    assert cuda_build.empty(library.the_set())
    for name in (b"", b"two words", b"\xff\xfe", b"x" * 129):
        assert library.insert(b"a_name") and library.insert(name)
        assert not cuda_build.empty(library.the_set())
        assert library.count() == 1 + (name != b"") and library.has(name)
        # Emptied for the next, by what is not asked here.
        address = library.the_set()
        ctypes.memset(ctypes.c_size_t.from_address(address).value, 0, 8 * ctypes.c_size_t.from_address(address + 8).value)
        ctypes.c_size_t.from_address(address + 16).value = ctypes.c_size_t.from_address(address + 24).value = 0


def test_only_a_pytorch_for_a_gpu_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:

    def never(*_: object) -> None:
        raise AssertionError("no library is to be looked into")

    monkeypatch.setattr(cuda_build.ctypes, "CDLL", never)
    monkeypatch.delitem(sys.modules, "torch.version", raising=False)
    assert cuda_build.make_room() is None
    monkeypatch.setitem(sys.modules, "torch.version", types.SimpleNamespace(__version__="2.13.0+cpu", cuda=None, hip=None))
    assert cuda_build.make_room() is None


def test_a_pytorch_that_cannot_make_room_is_named(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    version = types.SimpleNamespace(__version__="9.9.0+cu999", cuda="99.9", hip=None)
    monkeypatch.setitem(sys.modules, "torch.version", version)
    monkeypatch.setattr(cuda_build.ctypes, "CDLL", lambda _: types.SimpleNamespace(**{cuda_build._NAMES: library.the_set}))
    assert cuda_build.empty(library.the_set())
    assert library.insert(b"pinned_reserve_segment_size_mb")
    assert cuda_build.make_room() is None
    assert library.count() == 0
    assert library.insert(b"not a name")
    assert cuda_build.make_room() == (
        "this PyTorch, 9.9.0+cu999, is not one that torch_npu can be loaded beside: install PyTorch's CPU build"
    )
    monkeypatch.setattr(cuda_build.ctypes, "CDLL", lambda _: types.SimpleNamespace())
    assert cuda_build.make_room() is None
