"""The installed C library through ctypes: tensors over the storage of PyTorch tensors, and both phases of a call.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import pathlib

FORMAT_ND = 2
MALLOC_HUGE_FIRST = 0


def int64s(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class CallFailed(Exception):
    pass


class Library:
    def __init__(self, prefix: str):
        self.lib = ctypes.CDLL(str(pathlib.Path(prefix) / "lib64" / "libopapi.so"))
        self.lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.lib.aclCreateTensor.restype = ctypes.c_void_p
        self.check(self.lib.aclInit(None), "aclInit")
        self.check(self.lib.aclrtSetDevice(0), "aclrtSetDevice")
        self.stream = ctypes.c_void_p()
        self.check(self.lib.aclrtCreateStream(ctypes.byref(self.stream)), "aclrtCreateStream")

    def check(self, status: int, what: str):
        if status != 0:
            text = self.lib.aclGetRecentErrMsg()
            raise CallFailed(f"{what} returned {status}: {text.decode() if text else ''}")

    def _tensor(self, operand):
        """A view as PyTorch's NPU client describes it: the storage has one dimension."""
        made = self.lib.aclCreateTensor(
            int64s(operand.shape), ctypes.c_uint64(len(operand.shape)), operand.dtype.acl, int64s(operand.strides),
            ctypes.c_int64(operand.offset), FORMAT_ND, int64s([operand.storage.numel()]), ctypes.c_uint64(1),
            ctypes.c_void_p(operand.storage.data_ptr()))
        if not made:
            raise CallFailed("aclCreateTensor")
        return ctypes.c_void_p(made)

    def call(self, name: str, inputs, attributes, output):
        """Attributes are ctypes values, in the order of the signature."""
        tensors = [self._tensor(one) for one in (*inputs, output)]
        size, executor, workspace = ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_void_p()
        try:
            phase1 = getattr(self.lib, name + "GetWorkspaceSize")
            arguments = (*tensors[:-1], *attributes, tensors[-1])
            self.check(phase1(*arguments, ctypes.byref(size), ctypes.byref(executor)), name)
            if size.value:
                self.check(self.lib.aclrtMalloc(ctypes.byref(workspace), size, MALLOC_HUGE_FIRST), "aclrtMalloc")
            self.check(getattr(self.lib, name)(workspace, size, executor, self.stream), name + " (phase 2)")
            self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")
        finally:
            for one in tensors:
                self.lib.aclDestroyTensor(one)
            if workspace:
                self.lib.aclrtFree(workspace)
