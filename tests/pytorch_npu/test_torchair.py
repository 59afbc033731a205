"""torchair, torch_npu's way to CANN's graph engine: its libraries load, and say that there is no engine; npugraph_ex, which captures, works."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import errno
import importlib.machinery
import importlib.util
import os
import pathlib

import pytest
import torch
import torch_npu

CORE = pathlib.Path(torch_npu.__file__).parent / "dynamo" / "torchair" / "core"
NAMES = ("_npu_graph_executor", "_npu_utils", "_torchair")  # the fourth takes names from these, too


@pytest.mark.parametrize("name", NAMES)
def test_libraries_load_with_every_name(name):
    (file,) = CORE.glob(f"{name}*.so")
    ctypes.CDLL(str(file), mode=os.RTLD_NOW)


def test_the_engine_is_refused_by_name():
    (file,) = CORE.glob("_torchair*.so")
    loader = importlib.machinery.ExtensionFileLoader("_torchair", str(file))
    spec = importlib.util.spec_from_file_location("_torchair", str(file), loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    with pytest.raises(RuntimeError, match="ge::GEInitialize is not supported: portacl has no graph engine"):
        module.InitializeGraphEngine({"ge.exec.deviceId": "0"})
    assert torch.ones(2, device="npu").sum().item() == 2  # what follows is as if it had not been called


def test_secure_functions():
    library = ctypes.CDLL("libfmk_parser.so")

    def call(function, *arguments):
        text = ctypes.create_string_buffer(b"abcdefg", 8)
        return getattr(library, function)(text, *arguments), text.value

    room = ctypes.c_size_t
    assert call("strcpy_s", room(8), b"1234567") == (0, b"1234567")
    assert call("strcpy_s", room(7), b"1234567") == (errno.ERANGE, b"")
    assert call("strcpy_s", room(8), None) == (errno.EINVAL, b"")
    assert call("strcpy_s", room(0), b"") == (errno.EINVAL, b"abcdefg")
    assert call("snprintf_s", room(8), room(7), b"%s-%d", b"ab", 1234) == (7, b"ab-1234")
    assert call("snprintf_s", room(8), room(4), b"%s-%d", b"ab", 1234) == (-1, b"ab-1")
    assert call("snprintf_s", room(8), room(9), b"%s-%d", b"ab", 12345) == (-1, b"")


def test_npugraph_ex():
    """The calls of a function are captured at its first run, and are replayed with new operands."""

    def function(x, y):
        return torch.relu(x @ y) + 1

    compiled = torch.compile(function, backend="npugraph_ex", dynamic=False)
    generator = torch.Generator().manual_seed(3)
    for _ in range(3):
        x, y = (torch.randn(5, 5, generator=generator) for _ in range(2))
        expected = function(x.npu(), y.npu())
        assert torch.equal(compiled(x.npu(), y.npu()), expected)
        assert torch.allclose(expected.cpu(), function(x, y), rtol=1e-5, atol=1e-5)
