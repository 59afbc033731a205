"""A small network with synchronised batch norms, trained on a share of a batch by each process, against one process with the whole batch.
Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS = 3
EACH = 4  # images of a process


def network() -> torch.nn.Module:
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 5)
    )


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(step)
    return torch.rand(EACH * SIZE, 3, 6, 6, generator=draw), torch.rand(EACH * SIZE, 5, generator=draw)


def trained(model: torch.nn.Module, device: str, mine: slice) -> torch.nn.Module:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        x, wanted = (one[mine].to(device) for one in batch(step))
        torch.nn.functional.mse_loss(model(x), wanted).backward()
        optimizer.step()
    return model


def main() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    whole = network()
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole)).npu()
    assert any(isinstance(layer, torch.nn.SyncBatchNorm) for layer in model)
    model = torch.nn.parallel.DistributedDataParallel(model)
    found = trained(model, "npu", slice(RANK * EACH, (RANK + 1) * EACH)).module.state_dict()
    wanted = trained(whole, "cpu", slice(None)).state_dict()
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        torch.testing.assert_close(found[name].cpu(), value, rtol=2e-5, atol=2e-6, msg=lambda text, name=name: f"rank {RANK}, {name}: {text}")
    dist.barrier()
    dist.destroy_process_group()
    print("done")


main()
