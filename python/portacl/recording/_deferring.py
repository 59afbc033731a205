"""Calls that are written when the device has done them: where device npu is portacl, torch_npu's thread for launches summarises their tensors and
writes them, in the order of the device's work and without Python's lock, while the program goes on. (src/record/deferred_calls.cc)"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array
import ctypes
import os
import sys
from typing import Any, NamedTuple

import torch

from . import _summary

# How long after a tensor was summarised its summary may be named. The library has those of far more.
NAMED = 4096
_KINDS = {kind: (number, numbers) for kind, (number, numbers) in _summary._KINDS.items() if kind not in (torch.float64, torch.complex128)}
# torch_npu's OpCommand::RunOpApi(name, function, sync), and functions of acl/acl_rt.h
_RUN = "_ZN6at_npu6native9OpCommand8RunOpApiERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt8functionIFivEEb"
_TENSOR_FUNCTIONS = (
    "layout", "dtype", "device_type", "device_index", "dim", "sizes", "strides", "data_ptr", "storage_offset", "storage_size",
)  # fmt: skip
_OBJECT_SIZE = 2 * ctypes.sizeof(ctypes.c_void_p)  # of Python's object
_MOST_DIMS = 64  # of a view: kMostDims of src/record/summary.h
_EVENTS = ("aclrtCreateEvent", "aclrtRecordEvent", "aclrtSynchronizeEvent", "aclrtDestroyEvent")

_home: int | None = None  # the device whose calls are deferred: the first that is used; torch_npu has a thread for launches for each


class _State(ctypes.Structure):
    """What the library tells."""

    _fields_ = [
        ("bytes", ctypes.c_int64),
        ("calls", ctypes.c_int64),
        ("pending", ctypes.c_int64),
        ("failure", ctypes.c_int32),
        ("is_full", ctypes.c_int32),
    ]  # fmt: skip


class _Functions:
    """The library's."""

    def __init__(self, library: Any):
        self.begin, self.device, self.frame = library.PortaclDeferBegin, library.PortaclDeferDevice, library.PortaclDeferFrame
        self.call, self.error, self.finish = library.PortaclDeferCall, library.PortaclDeferError, library.PortaclDeferFinish
        self.end = library.PortaclDeferEnd
        self.begin.restype = ctypes.c_void_p
        self.begin.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
        self.device.argtypes = [ctypes.c_void_p] * 6
        self.frame.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.call.argtypes = [
            ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int,
        ]  # fmt: skip
        self.error.argtypes = self.finish.argtypes = self.end.argtypes = [ctypes.c_void_p]
        self.error.restype = ctypes.c_char_p


def _functions() -> _Functions | None:
    try:
        return _Functions(ctypes.CDLL(_summary._LIBRARY))
    except (OSError, AttributeError):  # the package without what is compiled
        return None


def tensor_functions() -> tuple[int, ...]:
    """Addresses of PyTorch's functions in C that tell of a tensor, in the order of TensorFunctions of src/record/tensor_texts.h; none where this
    PyTorch lacks one."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
        functions = [getattr(library, f"aoti_torch_get_{name}") for name in _TENSOR_FUNCTIONS]
    except (OSError, AttributeError):
        return ()
    return tuple(int(ctypes.cast(function, ctypes.c_void_p).value or 0) for function in functions)


class Compiled(NamedTuple):
    """What records operators in the place of Recorder._dispatch and what that calls."""

    dispatch: Any  # (mode, func, types, args, kwargs): a mode's __torch_dispatch__
    describe: Any  # (contents, values): _Contents.joined, and for a tensor _tensor, or None where only Python can tell it


def compiled(known: tuple[Any, ...]) -> Compiled | None:
    """None where the package has none, or this Python or PyTorch is none that it knows. (src/record/operator_calls.cc)"""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 10) or object.__basicsize__ != _OBJECT_SIZE:
        return None
    try:
        make = ctypes.PyDLL(_summary._LIBRARY).PortaclRecordOperators
    except (OSError, AttributeError):
        return None
    make.argtypes, make.restype = [ctypes.py_object], ctypes.c_void_p
    address = make(known)
    if not address:
        return None
    functions = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(functions))  # the reference that was returned
    return Compiled(*functions)


def _addresses() -> list[int] | None:
    """Of the functions of the device; None where this torch_npu has them by other names."""
    npu = sys.modules.get("torch_npu")
    if npu is None:
        return None
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(str(npu.__file__)), "lib", "libtorch_npu.so"))
        acl = ctypes.CDLL("libascendcl.so")
        functions = [getattr(library, _RUN), *(getattr(acl, name) for name in _EVENTS)]
        _ = npu._C._npu_getDevice, npu._C._npu_isCurrentStreamCapturing, npu._C._npu_getCurrentRawStreamNoWait
    except (OSError, AttributeError):
        return None
    return [int(ctypes.cast(function, ctypes.c_void_p).value or 0) for function in functions]


def synchronize(device: int) -> None:
    """Waits for all work of a device, whichever is current. Others may run Python meanwhile, the functions of torch_npu's queue, too."""
    npu = sys.modules["torch_npu"]
    with npu.npu.device(device):
        npu._C._npu_synchronize()


def is_capturing() -> bool:
    """Whether what the current stream gets is recorded for a graph, and not done: to wait for it would end the capture."""
    npu = sys.modules.get("torch_npu")
    capturing = None if npu is None else getattr(npu._C, "_npu_isCurrentStreamCapturing", None)
    return capturing is not None and npu is not None and npu.npu.is_initialized() and bool(capturing())


def request_of(tensor: torch.Tensor, is_view: bool) -> tuple[int, ...] | None:
    """What a summary of such a tensor is asked for by, behind its number and address; None where only Python can tell it."""
    global _home
    kind = _KINDS.get(tensor.dtype)
    if kind is None or (is_view and tensor.dim() > _MOST_DIMS):
        return None
    if _home is None:
        _home = tensor.device.index
    if tensor.device.index != _home:  # its work is in the queue of another thread
        return None
    number, numbers = kind
    count = tensor.numel() * numbers
    if not is_view or count == 0:
        return count, number, 0, 0
    return count, number, tensor.dtype.itemsize, tensor.dim(), *tensor.shape, *tensor.stride()


class Deferred:
    """The calls of one file, and the summaries that they name. Its methods are called with the recorder's lock."""

    @classmethod
    def begin(cls, file: int, size: int, limit: int | None) -> Deferred | None:
        """None where nothing can be deferred."""
        functions, addresses = _functions(), _addresses()
        if functions is None or addresses is None:
            return None
        state = ctypes.c_void_p()
        handle = functions.begin(file, size, limit or 0, ctypes.addressof(state))
        if not handle or not state.value:
            return None
        functions.device(handle, *addresses)
        return cls(functions, handle, _State.from_address(state.value))

    def __init__(self, functions: _Functions, handle: int, state: _State):
        self.state = state
        self.calls = 0  # that were handed over
        self.summaries = 0  # that were asked for
        self._functions = functions
        self._call = functions.call
        self.handle = handle
        self._device: int | None = None  # of which torch_npu keeps the order, once it is known
        self._npu: Any = sys.modules["torch_npu"]._C
        self._current_device = self._npu._npu_getDevice
        self.is_capturing = self._npu._npu_isCurrentStreamCapturing
        self._current_stream = self._npu._npu_getCurrentRawStreamNoWait

    def hand_over(self, words: list[int], text: str) -> None:
        """A call, or, without text, tensors that are summarised before one. Raises what torch_npu says of its queue, since it says it once."""
        is_later = stream = address = count = 0
        if words:
            given = array.array("q", words)
            address, count = given.buffer_info()
            device = self.home()
            is_capturing = self.is_capturing()
            if device == self._current_device():
                is_later = 1
                if not is_capturing:
                    stream = self._current_stream(device)
            elif is_capturing:
                is_later = 1  # neither waited for nor read
            else:
                synchronize(device)
        content = text.encode("ascii")
        if text:
            self.calls += 1
        if not self._call(self.handle, stream, address, count, content, len(content), is_later):
            error = self._functions.error(self.handle)
            raise RuntimeError(error.decode("utf-8", "replace")) if error else MemoryError()

    def home(self) -> int:
        """The device whose calls are deferred, once a tensor of one was described."""
        if self._device is None:
            self._device = _home
        assert self._device is not None
        return self._device

    def frame(self, frame: bytes) -> bool:
        """Writes a frame at once; False where that failed."""
        return bool(self._functions.frame(self.handle, frame, len(frame)))

    def wait(self) -> None:
        """Until all that was handed over is written, or the device takes no more. Raises what the device has to tell."""
        if self.state.pending and self._device is not None and not self.is_capturing():
            synchronize(self._device)

    def finish(self) -> None:
        """Writes all that was handed over and that wait() has not waited for, as what the device did not come to."""
        self._functions.finish(self.handle)

    def __del__(self) -> None:
        self._functions.end(self.handle)
