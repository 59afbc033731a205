"""A collective in a graph: every replay sums what the ranks have then, and other collectives keep their place. Run by torchrun."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

import portacl.torch

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def main() -> None:
    portacl.torch.install()
    torch.set_num_threads(1)
    torch.npu.set_device(RANK)
    dist.init_process_group("hccl")
    x = torch.ones(8).npu()
    dist.all_reduce(x)  # connects the ranks: nothing of that can be captured
    torch.npu.synchronize()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph, capture_error_mode="thread_local"):
        y = x * (RANK + 1)
        dist.all_reduce(y)
        z = y + 1
    ranks = SIZE * (SIZE + 1) / 2
    for number in (1.0, 2.0, 3.0):
        x.fill_(number)
        graph.replay()
        between = torch.ones(3).npu()
        dist.all_reduce(between)
        torch.npu.synchronize()
        assert torch.equal(z.cpu(), torch.full((8,), number * ranks + 1)), z
        assert torch.equal(between.cpu(), torch.full((3,), float(SIZE))), between
    dist.destroy_process_group()
    print("done")


main()
