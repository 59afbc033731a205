"""A program that calls C functions, as one in C++ does: without PyTorch, by ctypes. Tests run it in processes of their own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import os
import struct

_FOLDER = os.environ["PORTACL_TEST_LIBRARIES"]
acl = ctypes.CDLL(f"{_FOLDER}/libascendcl.so")
base = ctypes.CDLL(f"{_FOLDER}/libnnopbase.so")
operators = ctypes.CDLL(f"{_FOLDER}/libopapi.so")
for _kind in ("Tensor", "TensorList", "Scalar", "ScalarList", "IntArray", "BoolArray"):
    getattr(base, f"aclCreate{_kind}").restype = ctypes.c_void_p
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
FLOAT, INT8, INT32, INT64 = 0, 2, 3, 9
_CODES = {FLOAT: ("f", 4), INT8: ("b", 1), INT32: ("i", 4), INT64: ("q", 8)}


def start() -> None:
    assert acl.aclInit(None) == 0, acl.aclGetRecentErrMsg()
    assert acl.aclrtSetDevice(0) == 0


def stream() -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    assert acl.aclrtCreateStream(ctypes.byref(made)) == 0
    return made


class Tensor:
    """A dense one on the device, or a view of one by strides."""

    def __init__(self, shape, values=None, dtype=FLOAT, strides=None, offset=0, count=None):
        size = 1
        for length in shape:
            size *= length
        self.count = size if count is None else count
        self.code, self.width = _CODES[dtype]
        self.address = ctypes.c_void_p()
        assert acl.aclrtMalloc(ctypes.byref(self.address), ctypes.c_size_t(max(1, self.count * self.width)), 0) == 0
        if values is not None:
            content = struct.pack(f"<{self.count}{self.code}", *values)
            ctypes.memmove(self.address, content, len(content))
        if strides is None:
            strides = [1] * len(shape)
            for dim in range(len(shape) - 2, -1, -1):
                strides[dim] = strides[dim + 1] * shape[dim + 1]
        dims, steps, storage = ((ctypes.c_int64 * max(1, len(one)))(*one) for one in (shape, strides, [self.count]))
        self.handle = ctypes.c_void_p(
            base.aclCreateTensor(
                dims, ctypes.c_uint64(len(shape)), dtype, steps, ctypes.c_int64(offset), 2, storage, ctypes.c_uint64(1), self.address
            )
        )

    def values(self):
        content = ctypes.string_at(self.address, self.count * self.width)
        return list(struct.unpack(f"<{self.count}{self.code}", content))


def scalar(value: float) -> ctypes.c_void_p:
    content = ctypes.c_float(value)
    return ctypes.c_void_p(base.aclCreateScalar(ctypes.byref(content), FLOAT))


def _list(kind, handles):
    values = (ctypes.c_void_p * len(handles))(*handles)
    return ctypes.c_void_p(getattr(base, f"aclCreate{kind}List")(values, ctypes.c_uint64(len(handles))))


def tensors(*given):
    return _list("Tensor", [one.handle.value for one in given])


def scalars(*values):
    return _list("Scalar", [scalar(value).value for value in values])


def ints(*values):
    return ctypes.c_void_p(base.aclCreateIntArray((ctypes.c_int64 * len(values))(*values), ctypes.c_uint64(len(values))))


def bools(*values):
    return ctypes.c_void_p(base.aclCreateBoolArray((ctypes.c_bool * len(values))(*values), ctypes.c_uint64(len(values))))


def phase_1(name, *arguments):
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    given = [one.handle if isinstance(one, Tensor) else one for one in arguments]
    status = getattr(operators, name + "GetWorkspaceSize")(*given, ctypes.byref(size), ctypes.byref(executor))
    return status, size, executor


def launch(on, name, *arguments) -> int:
    status, size, executor = phase_1(name, *arguments)
    if status:
        return status
    workspace = ctypes.c_void_p()
    if size.value:
        assert acl.aclrtMalloc(ctypes.byref(workspace), size, 0) == 0
    return getattr(operators, name)(workspace, size, executor, on)


def call(on, name, *arguments) -> int:
    return launch(on, name, *arguments) or acl.aclrtSynchronizeStream(on)
