"""Programs that are wrong on an NPU through torch_npu, each in one way, with their right twins: test_checked_programs.py runs them.

    python checked_programs.py --list              names, kinds of finding, what the report says
    python -m portacl checked_programs.py --run FOLDER   every program in a process of its own, forked from one that has imported torch_npu
    python -m portacl checked_programs.py NAME wrong|right

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path


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


def numpy_over_device_memory(right: bool) -> None:
    numbers = torch.ones(64, device="npu")
    if right:
        assert numbers.cpu().numpy().sum() == 64
    else:
        import numpy

        numpy.ctypeslib.as_array((ctypes.c_float * 64).from_address(numbers.data_ptr())).sum()


def copy_of_an_empty_tensor(right: bool) -> None:
    source = torch.ones(64, device="npu") if right else torch.empty(64, device="npu")
    (source.clone() + 1).cpu()


def side_stream_reads_too_early(right: bool) -> None:
    side = torch.npu.Stream()
    ones = torch.ones(1024, device="npu")
    torch.npu.synchronize()
    doubled = ones * 2
    if right:
        side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        total = doubled + 1
    torch.npu.synchronize()
    assert total.sum().item() == 3072


def main_stream_reads_too_early(right: bool) -> None:
    numbers = torch.ones(1024, device="npu")
    torch.npu.synchronize()
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        numbers.mul_(2)
    if right:
        torch.npu.current_stream().wait_stream(side)
    total = numbers + 1
    torch.npu.synchronize()
    del total


def event_is_recorded_too_early(right: bool) -> None:
    side = torch.npu.Stream()
    event = torch.npu.Event()
    numbers = torch.ones(1024, device="npu")
    torch.npu.synchronize()
    if not right:
        event.record()
    numbers.add_(1)
    if right:
        event.record()
    with torch.npu.stream(side):
        side.wait_event(event)
        numbers.mul_(2)
    torch.npu.synchronize()


def pinned_copy_in_the_side_stream(right: bool) -> None:
    side = torch.npu.Stream()
    host = torch.ones(1024).pin_memory()
    with torch.npu.stream(side):
        batch = host.to("npu", non_blocking=True)
    if right:
        torch.npu.current_stream().wait_stream(side)
    total = batch * 2
    torch.npu.synchronize()
    del total


def gradient_of_the_side_stream(right: bool) -> None:
    weight = torch.ones(1024, device="npu")
    torch.npu.synchronize()
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        gradient = weight * 3
    if right:
        side.synchronize()
    weight -= gradient
    torch.npu.synchronize()


CASES = {
    "read_through_the_pointer": ("host-access", r"checked_programs.py:\d+ in read_through_the_pointer", read_through_the_pointer),
    "write_through_the_pointer": ("host-access", r"device memory from aclrtMalloc", write_through_the_pointer),
    "read_what_is_gone": ("use-after-free", r"device memory that aclrtFree freed", read_what_is_gone),
    "add_to_nothing": ("uninitialised-read", r"checked_programs.py:\d+ in add_to_nothing", add_to_nothing),
    "sum_of_a_buffer_filled_in_part": ("uninitialised-read", r"nothing was written", sum_of_a_buffer_filled_in_part),
    "gradient_buffer_without_zeros": ("uninitialised-read", r"nothing was written", gradient_buffer_without_zeros),
    "numpy_over_device_memory": ("host-access", r"checked_programs.py:\d+ in numpy_over_device_memory", numpy_over_device_memory),
    "copy_of_an_empty_tensor": ("warning:uninitialised-copy", r"checked_programs.py:\d+ in copy_of_an_empty_tensor", copy_of_an_empty_tensor),
    "side_stream_reads_too_early": ("race", r"aclnnAdds? reads self(.|\n)*in side_stream_reads_too_early", side_stream_reads_too_early),
    "main_stream_reads_too_early": ("race", r"and nothing orders the two streams", main_stream_reads_too_early),
    "event_is_recorded_too_early": ("race", r"record an event in .* behind aclnnInplaceAdds?", event_is_recorded_too_early),
    "pinned_copy_in_the_side_stream": ("race", r"aclrtMemcpyAsync writes the destination", pinned_copy_in_the_side_stream),
    "gradient_of_the_side_stream": ("race", r"in gradient_of_the_side_stream", gradient_of_the_side_stream),
}


def run(name: str, which: str) -> None:
    CASES[name][2](which == "right")
    torch.npu.synchronize()


def fork_and_run(name: str, which: str, folder: Path) -> int:
    """The child's number. What it writes goes to a file."""
    child = os.fork()
    if child != 0:
        return child
    status = 1
    try:
        out = os.open(folder / f"{name}.{which}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        run(name, which)
        status = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run_all(folder: Path, at_once: int = 2) -> None:
    """Writes FOLDER/results.json: for each program and its twin the child's number and its exit code."""
    results: dict[str, dict[str, dict[str, int]]] = {name: {} for name in CASES}
    running: dict[int, tuple[str, str]] = {}

    def wait() -> None:
        child, status = os.wait()
        name, which = running.pop(child)
        results[name][which] = {"process": child, "code": os.waitstatus_to_exitcode(status)}

    for name in CASES:
        for which in ("wrong", "right"):
            if len(running) == at_once:
                wait()
            running[fork_and_run(name, which, folder)] = (name, which)
    while running:
        wait()
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for name, (kind, expected, _) in CASES.items():
            print(name, kind, expected, sep="\t")
    else:
        import torch
        import torch_npu  # noqa: F401

        torch.set_num_threads(1)
        if sys.argv[1] == "--run":
            run_all(Path(sys.argv[2]))
        else:
            run(sys.argv[1], sys.argv[2])
