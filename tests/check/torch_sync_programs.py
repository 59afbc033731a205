"""Programs that do not order their streams through torch_npu, with their right twins: run_corpus.py runs them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys


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


CASES = {
    "side_stream_reads_too_early": ("race", r"aclnnAdds? reads self(.|\n)*in side_stream_reads_too_early", side_stream_reads_too_early),
    "main_stream_reads_too_early": ("race", r"and nothing orders the two streams", main_stream_reads_too_early),
    "event_is_recorded_too_early": ("race", r"record an event in .* behind aclnnInplaceAdds?", event_is_recorded_too_early),
    "pinned_copy_in_the_side_stream": ("race", r"aclrtMemcpyAsync writes the destination", pinned_copy_in_the_side_stream),
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
