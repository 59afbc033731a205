#!/usr/bin/env python3
"""A client as test kits in Python are written: libraries opened lazily, every symbol looked up by name on each of them.

Usage: ctypes_client.py DIRECTORY_OF_THE_LIBRARIES
SPDX-License-Identifier: Apache-2.0
"""
import array
import ctypes
import glob
import math
import os
import queue
import sys
import threading

ACL_FLOAT, ACL_FORMAT_ND = 0, 2
H2D, D2H = 1, 2


class Libraries:
    """Finds a function by name: first in each libopapi_*.so, then in the runtime libraries."""

    def __init__(self, directory):
        names = sorted(glob.glob(os.path.join(directory, "libopapi_*.so")))
        assert len(names) >= 2, f"no libopapi_*.so in {directory}"
        names += [os.path.join(directory, n) for n in ("libopapi.so", "libnnopbase.so", "libascendcl.so", "libacl_rt.so")]
        self.handles = [ctypes.CDLL(name, mode=os.RTLD_LAZY) for name in names]

    def __getattr__(self, name):
        found = [handle[name] for handle in self.handles if hasattr(handle, name)]
        assert len(found) == len(self.handles), f"{name} is missing in a library"
        addresses = {ctypes.cast(one, ctypes.c_void_p).value for one in found}
        assert len(addresses) == 1, f"{name} differs between the libraries"
        function = found[0]
        if name == "aclGetRecentErrMsg":
            function.restype = ctypes.c_char_p
        elif name.startswith("aclCreate"):
            function.restype = ctypes.c_void_p
        else:
            function.restype = ctypes.c_int
        setattr(self, name, function)
        return function


lib = None


def check(status, what):
    if status != 0:
        text = lib.aclGetRecentErrMsg()
        raise SystemExit(f"{what} returned {status}: {text.decode() if text else ''}")


def int64s(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class DeviceMemory:
    def __init__(self, values):
        self.count = len(values)
        self.bytes = max(4 * self.count, 4)
        self.address = ctypes.c_void_p()
        check(lib.aclrtMalloc(ctypes.byref(self.address), ctypes.c_size_t(self.bytes), 0), "aclrtMalloc")
        host = (ctypes.c_float * self.count)(*values)
        check(lib.aclrtMemcpy(self.address, ctypes.c_size_t(self.bytes), host, ctypes.c_size_t(4 * self.count), H2D), "aclrtMemcpy")

    def values(self):
        host = (ctypes.c_float * self.count)()
        check(lib.aclrtMemcpy(host, ctypes.c_size_t(4 * self.count), self.address, ctypes.c_size_t(4 * self.count), D2H), "aclrtMemcpy")
        return list(host)

    def free(self):
        check(lib.aclrtFree(self.address), "aclrtFree")


def tensor(memory, shape, strides, offset=0):
    """A view over a storage that is described by one dimension, as PyTorch back ends do."""
    made = lib.aclCreateTensor(
        int64s(shape), ctypes.c_uint64(len(shape)), ACL_FLOAT, int64s(strides), ctypes.c_int64(offset), ACL_FORMAT_ND,
        int64s([memory.count]), ctypes.c_uint64(1), memory.address)
    assert made, "aclCreateTensor"
    return ctypes.c_void_p(made)


def sign(x, y):
    return (x > y) - (x < y)


def run_case(stream, phase2, name, shape, grad, self_, target, reduction, expected):
    """Phase 1 here, phase 2 on another thread; the tensors go before the stream is synchronised."""
    count = math.prod(shape)
    out = DeviceMemory([-1.0] * count)
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    tensors = [grad, self_, target, tensor(out, shape, strides)]
    workspace, executor = ctypes.c_uint64(99), ctypes.c_void_p()
    check(lib.aclnnL1LossBackwardGetWorkspaceSize(
        tensors[0], tensors[1], tensors[2], ctypes.c_int64(reduction), tensors[3], ctypes.byref(workspace),
        ctypes.byref(executor)), name)
    assert workspace.value == 0
    status = phase2(lambda: lib.aclnnL1LossBackward(None, workspace, executor, stream))
    check(status, name)
    for one in tensors:
        check(lib.aclDestroyTensor(one), "aclDestroyTensor")
    check(lib.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")
    got = out.values()
    wanted = [array.array("f", [value])[0] for value in expected]
    assert got == wanted, f"{name}: {got[:8]} instead of {wanted[:8]}"
    out.free()
    print(f"{name}: {count} elements agree")


class OtherThread:
    """A task queue with a thread of its own, which has set the device but not made the executor."""

    def __init__(self):
        self.tasks, self.results = queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()

    def loop(self):
        check(lib.aclrtSetDevice(0), "aclrtSetDevice")
        while (task := self.tasks.get()) is not None:
            self.results.put(task())
        check(lib.aclrtResetDevice(0), "aclrtResetDevice")

    def __call__(self, task):
        self.tasks.put(task)
        return self.results.get()

    def stop(self):
        self.tasks.put(None)
        self.thread.join()


def main():
    global lib
    lib = Libraries(sys.argv[1])
    check(lib.aclInit(None), "aclInit")
    check(lib.aclrtSetDevice(0), "aclrtSetDevice")
    stream = ctypes.c_void_p()
    check(lib.aclrtCreateStream(ctypes.byref(stream)), "aclrtCreateStream")
    phase2 = OtherThread()

    for rows, columns in ((3, 4), (300, 400)):
        count = rows * columns
        shape, dense = [rows, columns], [columns, 1]
        a = [float(i * 7 % 11) for i in range(count)]
        b = [float(i * 5 % 13) for i in range(count)]
        g = [float(i % 100) + 0.5 for i in range(count)]
        memory_a, memory_b, memory_g = DeviceMemory(a), DeviceMemory(b), DeviceMemory(g)
        one, row = DeviceMemory([2.0]), DeviceMemory(a[:columns])

        run_case(stream, phase2, "dense", shape, tensor(memory_g, shape, dense), tensor(memory_a, shape, dense),
                 tensor(memory_b, shape, dense), 0, [sign(x, y) * z for x, y, z in zip(a, b, g)])
        c = array.array("f", [1.0 / count])[0]
        scaled = array.array("f", [2.0 * c])[0]
        run_case(stream, phase2, "gradOutput without dimensions, mean", shape, tensor(one, [], []),
                 tensor(memory_a, shape, dense), tensor(memory_b, shape, dense), 1, [sign(x, y) * scaled for x, y in zip(a, b)])
        run_case(stream, phase2, "expanded inputs (stride 0)", shape, tensor(one, shape, [0, 0]), tensor(row, shape, [0, 1]),
                 tensor(memory_b, shape, dense), 2,
                 [sign(a[i % columns], b[i]) * 2.0 for i in range(count)])
        run_case(stream, phase2, "transposed self, offset", [columns, rows - 1], tensor(one, [], []),
                 tensor(memory_a, [columns, rows - 1], [1, columns], columns),
                 tensor(memory_b, [columns, rows - 1], [rows - 1, 1]), 0,
                 [sign(a[columns + j * columns + i], b[i * (rows - 1) + j]) * 2.0 for i in range(columns) for j in range(rows - 1)])
        for memory in (memory_a, memory_b, memory_g, one, row):
            memory.free()

    # A failure comes back as a code with a text.
    workspace, executor = ctypes.c_uint64(), ctypes.c_void_p()
    status = lib.aclnnL1LossBackwardGetWorkspaceSize(None, None, None, ctypes.c_int64(0), None, ctypes.byref(workspace),
                                                     ctypes.byref(executor))
    assert status == 161001 and b"gradOutput" in lib.aclGetRecentErrMsg()

    phase2.stop()
    check(lib.aclrtDestroyStream(stream), "aclrtDestroyStream")
    check(lib.aclrtResetDevice(0), "aclrtResetDevice")
    check(lib.aclFinalize(), "aclFinalize")


if __name__ == "__main__":
    main()
