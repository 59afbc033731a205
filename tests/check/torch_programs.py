"""Programs that use device memory wrongly through torch_npu, with their right twins: run_corpus.py runs them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import sys


def read_through_the_pointer(right: bool) -> None:
    numbers = torch.zeros(64, device="npu")
    if right:
        assert numbers.cpu()[0].item() == 0
    else:
        ctypes.c_float.from_address(numbers.data_ptr()).value


def write_through_the_pointer(right: bool) -> None:
    numbers = torch.zeros(64, device="npu")
    if right:
        numbers.copy_(torch.ones(64))
    else:
        ctypes.memset(numbers.data_ptr(), 0, 256)


def read_what_is_gone(right: bool) -> None:
    numbers = torch.zeros(64, device="npu")
    address = numbers.data_ptr()
    torch.npu.synchronize()  # the copy below waits for nothing
    if not right:
        del numbers
    host = (ctypes.c_float * 64)()
    copy = ctypes.CDLL("libascendcl.so").aclrtMemcpy
    copy.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    copy(ctypes.addressof(host), 256, address, 256, 2)


def add_to_nothing(right: bool) -> None:
    total = torch.zeros(64, device="npu") if right else torch.empty(64, device="npu")
    for _ in range(3):
        total += 1
    total.cpu()


def sum_of_a_buffer_filled_in_part(right: bool) -> None:
    buffer = torch.empty(8, 64, device="npu")
    for row in range(4):
        buffer[row] = 1.0
    (buffer[:4] if right else buffer).sum().cpu()


def gradient_buffer_without_zeros(right: bool) -> None:
    weight = torch.ones(16, 16, device="npu", requires_grad=True)
    weight.grad = torch.zeros_like(weight) if right else torch.empty_like(weight)
    (weight * 2).sum().backward()
    weight.grad.cpu()


CASES = {
    "read_through_the_pointer": ("host-access", r"torch_programs.py:\d+ in read_through_the_pointer", read_through_the_pointer),
    "write_through_the_pointer": ("host-access", r"device memory from aclrtMalloc", write_through_the_pointer),
    "read_what_is_gone": ("use-after-free", r"device memory that aclrtFree freed", read_what_is_gone),
    "add_to_nothing": ("uninitialised-read", r"torch_programs.py:\d+ in add_to_nothing", add_to_nothing),
    "sum_of_a_buffer_filled_in_part": ("uninitialised-read", r"nothing was written", sum_of_a_buffer_filled_in_part),
    "gradient_buffer_without_zeros": ("uninitialised-read", r"nothing was written", gradient_buffer_without_zeros),
}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name, (kind, expected, _) in CASES.items():
            print(name, kind, expected, sep="\t")
    else:
        import portacl

        if os.environ.get("PORTACL_CHECK", "0") != "0":
            portacl.check(os.environ["PORTACL_CHECK"])
        import torch
        import torch_npu  # noqa: F401

        CASES[sys.argv[1]][2](sys.argv[2] == "right")
        torch.npu.synchronize()
