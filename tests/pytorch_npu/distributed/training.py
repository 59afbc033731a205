"""A small network trained by DistributedDataParallel or by FSDP2 (the argument), against one process that adds the ranks' gradients
in their order: the same bits. Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS = 3


def network() -> torch.nn.Module:
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(24, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).npu()


def batch(rank: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(1000 * step + rank)
    return torch.rand(8, 24, generator=draw).npu(), torch.rand(8, 4, generator=draw).npu()


def loss_of(model: torch.nn.Module, rank: int, step: int) -> torch.Tensor:
    x, wanted = batch(rank, step)
    return torch.nn.functional.mse_loss(model(x), wanted)


def alone(average_after: bool) -> list[torch.Tensor]:
    """The parameters that one process comes to: ranks one after the other, gradients added in their order.

    DDP divides each rank's gradient before it adds, FSDP2 afterwards."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        sums: list[torch.Tensor] = []
        for rank in range(SIZE):
            model.zero_grad()
            loss_of(model, rank, step).backward()
            grads = [p.grad.clone() if average_after else p.grad / SIZE for p in model.parameters()]
            sums = grads if not sums else [a + b for a, b in zip(sums, grads)]
        for parameter, grad in zip(model.parameters(), sums):
            parameter.grad = grad / SIZE if average_after else grad
        optimizer.step()
    return [p.detach().cpu() for p in model.parameters()]


def main() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    model = network()
    if sys.argv[1] == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("npu", (SIZE,))
        for layer in model:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, RANK, step).backward()
        optimizer.step()
    found = [(p.full_tensor() if hasattr(p, "full_tensor") else p).detach().cpu() for p in model.parameters()]
    wanted = alone(average_after=sys.argv[1] != "ddp")
    for index, (one, other) in enumerate(zip(found, wanted)):
        assert torch.equal(one, other), f"rank {RANK}, parameter {index}: {(one - other).abs().max()} apart"
    dist.barrier()
    dist.destroy_process_group()
    print("done")


main()
