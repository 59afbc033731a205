"""Computes aclnnL1LossBackward through ctypes, by CANN's library names, and checks it. Needs nothing but Python and portacl in force.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import sys

ACL_FLOAT, ACL_FORMAT_ND, REDUCTION_SUM = 0, 2, 2
COUNT = 4

runtime = ctypes.CDLL("libascendcl.so")
meta = ctypes.CDLL("libnnopbase.so")
operators = ctypes.CDLL("libopapi.so")
meta.aclCreateTensor.restype = ctypes.c_void_p


def check(status: int, what: str) -> None:
    if status != 0:
        sys.exit(f"{what} returned {status}")


def floats(*values: float) -> ctypes.Array:
    return (ctypes.c_float * COUNT)(*values)


def tensor(data: ctypes.Array) -> ctypes.c_void_p:
    shape, stride = (ctypes.c_int64 * 1)(COUNT), (ctypes.c_int64 * 1)(1)
    made = meta.aclCreateTensor(
        shape, ctypes.c_uint64(1), ACL_FLOAT, stride, ctypes.c_int64(0), ACL_FORMAT_ND, shape, ctypes.c_uint64(1), data
    )
    return ctypes.c_void_p(made)


def main() -> None:
    check(runtime.aclInit(None), "aclInit")
    check(runtime.aclrtSetDevice(0), "aclrtSetDevice")
    gradient, self_, target = floats(1, 2, 4, 8), floats(0, 5, 1, 7), floats(1, 3, 1, 9)
    result = floats(99, 99, 99, 99)
    operands = [tensor(one) for one in (gradient, self_, target)]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    phase1 = operators.aclnnL1LossBackwardGetWorkspaceSize
    arguments = (*operands, ctypes.c_int64(REDUCTION_SUM), tensor(result), ctypes.byref(size), ctypes.byref(executor))
    check(phase1(*arguments), "phase 1")
    check(operators.aclnnL1LossBackward(None, size, executor, None), "phase 2")
    check(runtime.aclrtSynchronizeDevice(), "aclrtSynchronizeDevice")
    if list(result) != [-1, 2, 0, -8]:  # sign(self - target) * gradient
        sys.exit(f"wrong: {list(result)}")
    print("one operator:", *result)


if __name__ == "__main__":
    main()
