"""acl.util: between Python's bytes, NumPy's arrays and addresses; threads for process_report.

An address is good for as long as the object is that it came from.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import operator
import threading
from collections.abc import Callable
from typing import Any

from acl import _binding


def bytes_to_ptr(data: bytes) -> int:
    """The address of the bytes of a bytes object, or of a bytearray."""
    if isinstance(data, bytearray):
        return ctypes.addressof((ctypes.c_char * len(data)).from_buffer(data))
    if not isinstance(data, bytes):
        raise TypeError(f"acl.util.bytes_to_ptr: data must be bytes, not {type(data).__name__}")
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _checked(what: str, pointer: int, size: int) -> tuple[int, int]:
    pointer, size = operator.index(pointer), operator.index(size)
    if size < 0 or (pointer <= 0 and size > 0) or pointer + size >= 1 << 63:
        raise ValueError(f"acl.util.{what}: there are no {size} bytes at address {pointer}")
    return pointer, size


def ptr_to_bytes(pointer: int, size: int) -> bytes:
    """A copy of so many bytes of host memory."""
    pointer, size = _checked("ptr_to_bytes", pointer, size)
    return ctypes.string_at(pointer, size) if size else b""


def numpy_to_ptr(array: Any) -> int:
    """The address of the elements of an array that lies in one piece."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError("acl.util.numpy_to_ptr: the array does not lie in one piece; numpy.ascontiguousarray makes one that does")
    return int(array.ctypes.data)


numpy_contiguous_to_ptr = numpy_to_ptr


def ptr_to_numpy(pointer: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array over host memory, which is not copied. `dtype` is NumPy's number of the type (1 is int8, 11 float32) or a dtype."""
    import numpy

    if isinstance(dtype, int):
        by_number = {numpy.dtype(char).num: numpy.dtype(char) for char in numpy.typecodes["All"] if char not in "OSUVMm"}
        if dtype not in by_number:
            raise ValueError(f"acl.util.ptr_to_numpy: {dtype} is not the number of a type of numbers")
        dtype = by_number[dtype]
    dtype = numpy.dtype(dtype)
    count = 1
    for length in shape:
        if length < 0:
            raise ValueError(f"acl.util.ptr_to_numpy: the shape has a negative length: {tuple(shape)}")
        count *= length
    pointer, size = _checked("ptr_to_numpy", pointer, count * dtype.itemsize)
    data: Any = (ctypes.c_char * size).from_address(pointer) if size else b""
    return numpy.frombuffer(data, dtype=dtype, count=count).reshape(shape)


_threads: dict[int, threading.Thread] = {}


def start_thread(function: Callable[[list[Any]], Any], arguments: list[Any]) -> tuple[int, int]:
    """Starts a thread that calls function(arguments); returns (the id that subscribe_report takes, code)."""
    if not callable(function):
        raise TypeError(f"acl.util.start_thread: function must be callable, not {type(function).__name__}")
    thread = threading.Thread(target=function, args=(arguments,), daemon=True)
    thread.start()
    assert thread.ident is not None
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thread_id: int) -> int:
    """Waits until such a thread has ended, which its function decides; returns a code."""
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return _binding.INVALID_PARAM
    thread.join()
    return 0


__all__ = ["bytes_to_ptr", "numpy_contiguous_to_ptr", "numpy_to_ptr", "ptr_to_bytes", "ptr_to_numpy", "start_thread", "stop_thread"]


def __getattr__(name: str) -> Any:
    return _binding.absent(__name__)(name)
