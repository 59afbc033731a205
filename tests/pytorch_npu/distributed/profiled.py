"""Three all-reduces of 1000 floats while torch_npu's profiler runs; argument: where its files go."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.distributed as dist
import torch_npu
from torch_npu import profiler

import portacl.torch

portacl.torch.install()


def main() -> None:
    dist.init_process_group("hccl")
    torch_npu.npu.set_device(dist.get_rank())
    x = torch.ones(1000).npu()
    dist.all_reduce(x)
    torch.npu.synchronize()  # it ends before the profile begins
    config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(sys.argv[1]), experimental_config=config):
        for _ in range(3):
            dist.all_reduce(x)
        torch.npu.synchronize()
    assert x[0].item() == 16
    dist.destroy_process_group()
    print("done")


main()
