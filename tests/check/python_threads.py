#!/usr/bin/env python3
"""Two threads of Python in a checked program, one with the interpreter's lock and one without: neither may wait for the other for good.

Usage: python_threads.py LIBRARY [NUMBER]         all pairs of threads, or one of them

A call's stack has lines of Python, for which the interpreter's lock is needed. What waits for it must hold no lock that another call, made
with the interpreter's lock, wants. ctypes makes calls of both sorts: CDLL's let go of it, PyDLL's keep it.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import faulthandler
import os
import sys
import time
from collections.abc import Callable

SECONDS = 2  # of each pair
TOO_LONG = 60
FLOAT, ND = 0, 2
MIB = 1 << 20

Handle = ctypes.c_void_p


class Location(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("type", ctypes.c_int)]


class Properties(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("handle_type", "allocation_type", "attribute")] + [("location", Location), ("reserve", ctypes.c_uint64)]


def must(status: int) -> None:
    assert status == 0, f"a call returned {status}"


class Calls:
    """The functions of the library, as a loader of ctypes calls them. Each thread works on its own objects."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.acl = library
        library.aclCreateTensor.restype = Handle
        library.aclCreateTensor.argtypes = [Handle, ctypes.c_uint64, ctypes.c_int, Handle, ctypes.c_int64, ctypes.c_int, Handle, ctypes.c_uint64, Handle]
        for name in ("aclrtFree", "aclrtFreeHost", "aclDestroyTensor", "aclrtDestroyStream", "aclrtUnmapMem", "aclDestroyAclOpExecutor"):
            getattr(library, name).argtypes = [Handle]
        library.aclSetRawTensorAddr.argtypes = [Handle, Handle]
        library.aclnnAbsGetWorkspaceSize.argtypes = [Handle, Handle, Handle, Handle]
        library.aclrtMalloc.argtypes = [Handle, ctypes.c_size_t, ctypes.c_int]
        library.aclrtMallocHost.argtypes = [Handle, ctypes.c_size_t]
        library.aclrtReserveMemAddress.argtypes = [Handle, ctypes.c_size_t, ctypes.c_size_t, Handle, ctypes.c_uint64]
        library.aclrtMallocPhysical.argtypes = [Handle, ctypes.c_size_t, Handle, ctypes.c_uint64]
        library.aclrtMapMem.argtypes = [Handle, ctypes.c_size_t, ctypes.c_size_t, Handle, ctypes.c_uint64]

    def allocate(self) -> Handle:
        address = Handle()
        must(self.acl.aclrtMalloc(ctypes.byref(address), 256, 0))
        return address

    def device_memory(self) -> None:
        must(self.acl.aclrtFree(self.allocate()))

    def pinned_memory(self) -> None:
        address = Handle()
        must(self.acl.aclrtMallocHost(ctypes.byref(address), 256))
        must(self.acl.aclrtFreeHost(address))

    def stream(self) -> None:
        stream = Handle()
        must(self.acl.aclrtCreateStream(ctypes.byref(stream)))
        must(self.acl.aclrtDestroyStream(stream))

    def tensor(self, address: Handle) -> Handle:
        shape = (ctypes.c_int64 * 1)(64)
        return Handle(self.acl.aclCreateTensor(shape, 1, FLOAT, None, 0, ND, shape, 1, address))

    def tensors(self) -> None:
        must(self.acl.aclDestroyTensor(self.tensor(Handle())))

    def phase_1(self) -> Callable[[], None]:
        """A call that is given up between its phases, with its tensors changed and destroyed there."""
        memory = self.allocate()

        def one() -> None:
            tensor = self.tensor(memory)
            size, executor = ctypes.c_uint64(), Handle()
            must(self.acl.aclnnAbsGetWorkspaceSize(tensor, tensor, ctypes.byref(size), ctypes.byref(executor)))
            must(self.acl.aclSetRawTensorAddr(tensor, memory))
            must(self.acl.aclDestroyTensor(tensor))
            must(self.acl.aclDestroyAclOpExecutor(executor))

        return one

    def mapping(self) -> Callable[[], None]:
        place, physical = Handle(), Handle()
        must(self.acl.aclrtReserveMemAddress(ctypes.byref(place), 2 * MIB, 0, None, 0))
        properties = Properties(0, 0, 0, Location(0, 1), 0)
        must(self.acl.aclrtMallocPhysical(ctypes.byref(physical), 2 * MIB, ctypes.byref(properties), 0))

        def one() -> None:
            must(self.acl.aclrtMapMem(place, 2 * MIB, 0, physical, 0))
            must(self.acl.aclrtUnmapMem(place))

        return one


def together(name: str, without_lock: Callable[[], None], with_lock: Callable[[], None]) -> None:
    print(name, flush=True)
    faulthandler.dump_traceback_later(TOO_LONG, exit=True)  # by a thread that needs no lock

    def work() -> None:
        must(free.acl.aclrtSetDevice(0))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            without_lock()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(work)
        while not other.done():
            with_lock()
        other.result()
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    os.environ.update(PORTACL_CHECK="report", PORTACL_CHECK_FILE=os.devnull)
    free, keeping = Calls(ctypes.CDLL(sys.argv[1])), Calls(ctypes.PyDLL(sys.argv[1]))
    must(free.acl.aclInit(None))
    must(free.acl.aclrtSetDevice(0))
    pairs = {
        "pinned memory is made, memory is freed": lambda: (free.pinned_memory, keeping.device_memory),
        "streams are made": lambda: (free.stream, keeping.stream),
        "tensors are made": lambda: (free.tensors, keeping.tensors),
        "phase 1 ends, tensors are made": lambda: (free.phase_1(), keeping.tensors),
        "memory is mapped": lambda: (free.mapping(), keeping.mapping()),
    }
    for number, (name, pair) in enumerate(pairs.items()):
        if sys.argv[2:] in ([], [str(number)]):
            together(name, *pair())
