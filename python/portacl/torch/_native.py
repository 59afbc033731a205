"""Calls an aclnn function on tensors of device npu, as a C++ extension of PyTorch does."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

_DTYPES = {
    torch.float32: 0, torch.float16: 1, torch.int8: 2, torch.int32: 3, torch.uint8: 4, torch.int16: 6, torch.int64: 9,
    torch.float64: 11, torch.bool: 12, torch.bfloat16: 27,
}  # fmt: skip
_FORMAT_ND = 2


def call(name: str, *arguments: torch.Tensor | float | int | bool | None) -> None:
    """Queues aclnnNAME on the current stream; results are among the arguments. Raises RuntimeError with what phase 1 refuses."""
    base, operators = ctypes.CDLL("libnnopbase.so"), ctypes.CDLL("libopapi.so")
    handles = []
    try:
        given = []
        for one in arguments:
            if isinstance(one, torch.Tensor):
                handles.append(_tensor(base, one))
                given.append(handles[-1])
            else:
                given.append(_number(one))
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        code = getattr(operators, f"{name}GetWorkspaceSize")(*given, ctypes.byref(size), ctypes.byref(executor))
        _must(name, code)
        # Asking for the stream waits until torch_npu's queue has submitted the operators before this one.
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        workspace = torch.empty(size.value, dtype=torch.uint8, device="npu")
        _must(name, getattr(operators, name)(ctypes.c_void_p(workspace.data_ptr()), size, executor, stream))
    finally:
        for handle in handles:
            base.aclDestroyTensor(handle)


def _must(name: str, code: int) -> None:
    if code != 0:
        message = ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg
        message.restype = ctypes.c_char_p
        raise RuntimeError(f"{name} returned {code}: {(message() or b'').decode(errors='replace').strip()}")


def _number(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    return ctypes.c_int64(value) if isinstance(value, int) else ctypes.c_double(value)


def _lengths(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _tensor(base: ctypes.CDLL, one: torch.Tensor) -> ctypes.c_void_p:
    if one.dtype not in _DTYPES:
        raise RuntimeError(f"a tensor of {one.dtype} has no type of CANN here")
    create = base.aclCreateTensor
    create.restype = ctypes.c_void_p
    storage = one.untyped_storage()
    held = _lengths([storage.nbytes() // one.element_size()])
    dims, rank = _lengths(one.shape), ctypes.c_uint64(one.dim())
    handle = create(
        dims, rank, ctypes.c_int(_DTYPES[one.dtype]), _lengths(one.stride()), ctypes.c_int64(one.storage_offset()),
        ctypes.c_int(_FORMAT_ND), held, ctypes.c_uint64(1), ctypes.c_void_p(storage.data_ptr()),
    )  # fmt: skip
    if handle is None:
        _must("aclCreateTensor", -1)
    return ctypes.c_void_p(handle)
