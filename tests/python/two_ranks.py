"""Two processes add their numbers with HCCL's C interface and float64 by aclnnExp. Needs nothing but Python and portacl in force.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import struct
import sys

FP64, SUM = 10, 0  # HCCL_DATA_TYPE_FP64, HCCL_REDUCE_SUM
ACL_DOUBLE, ACL_FORMAT_ND = 11, 2
ROOT_INFO_BYTES = 4108


def check(status: int, what: str) -> None:
    if status != 0:
        text = ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg
        text.restype = ctypes.c_char_p
        sys.exit(f"{what} returned {status}: {(text() or b'').decode()}")


def exponential(value: float) -> float:
    meta, operators = ctypes.CDLL("libnnopbase.so"), ctypes.CDLL("libopapi.so")
    meta.aclCreateTensor.restype = ctypes.c_void_p
    one, number = (ctypes.c_int64 * 1)(1), (ctypes.c_double * 1)(value)
    rank, zero = ctypes.c_uint64(1), ctypes.c_int64(0)
    tensor = ctypes.c_void_p(meta.aclCreateTensor(one, rank, ACL_DOUBLE, one, zero, ACL_FORMAT_ND, one, rank, number))
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    phase1 = operators.aclnnExpGetWorkspaceSize(tensor, tensor, ctypes.byref(size), ctypes.byref(executor))
    check(phase1, "aclnnExpGetWorkspaceSize")
    check(operators.aclnnExp(None, size, executor, None), "aclnnExp")
    check(ctypes.CDLL("libascendcl.so").aclrtSynchronizeDevice(), "aclrtSynchronizeDevice")
    return number[0]


def read_whole(pipe: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = os.read(pipe, size - len(data))
        if not part:
            sys.exit("rank 0 gave no root information")
        data += part
    return data


def main() -> None:
    here, there = os.pipe()
    child = os.fork()  # before the library is used
    rank = 0 if child else 1
    os.close(here if rank == 0 else there)
    acl, hccl = ctypes.CDLL("libascendcl.so"), ctypes.CDLL("libhccl.so")
    check(acl.aclInit(None), "aclInit")
    check(acl.aclrtSetDevice(0), "aclrtSetDevice")
    info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
    if rank == 0:
        check(hccl.HcclGetRootInfo(info), "HcclGetRootInfo")
        os.write(there, info.raw)
    else:
        info.raw = read_whole(here, ROOT_INFO_BYTES)
    comm = ctypes.c_void_p()
    check(hccl.HcclCommInitRootInfo(2, info, rank, ctypes.byref(comm)), "HcclCommInitRootInfo")
    stream = ctypes.c_void_p()
    check(acl.aclrtCreateStream(ctypes.byref(stream)), "aclrtCreateStream")
    data = (ctypes.c_double * 1)(exponential(rank))
    check(hccl.HcclAllReduce(data, data, ctypes.c_uint64(1), FP64, SUM, comm, stream), "HcclAllReduce")
    check(acl.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream")
    check(hccl.HcclCommDestroy(comm), "HcclCommDestroy")
    # 1 + e, both of them correctly rounded.
    if struct.pack("d", data[0]) != struct.pack("d", 1.0 + 2.718281828459045):
        sys.exit(f"wrong: {data[0]}")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1] for line in maps if "sleef" in line or "gloo" in line}
    if rank == 0:
        _, status = os.waitpid(child, 0)
        if status != 0:
            sys.exit("rank 1 failed")
        print("two ranks:", *sorted(files))


if __name__ == "__main__":
    main()
