"""The GPT of the folder gpt, trained by as many processes as the layout (the arguments) has ranks.

usage: torchrun gpt_training.py TENSOR RING DATA

Rank 0 compares what all ranks have with one process: with one that does what every rank does, the same bits, and with one that
divides nothing, within the bounds below. Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

sys.path.append(str(pathlib.Path(__file__).parents[1]))

from gpt import network, plain  # noqa: E402
from gpt.ranks import Layout, OneProcess, Processes  # noqa: E402

STEPS = 20
# Losses begin at 4, and weights are of the order of 1. Divided sums have another order, and 20 steps carry their rounding on: losses
# differ by up to 5e-7 and weights by up to 2e-6.
OF_LOSSES, OF_WEIGHTS = 2e-6, 1e-5


def compare(losses: list[float], weights: list[dict[str, torch.Tensor]], layout: Layout) -> None:
    played_losses, played = network.trained(OneProcess(layout), "npu", STEPS)
    assert losses == played_losses, f"losses {losses} are not those of one process that plays all ranks, {played_losses}"
    for rank in range(layout.size):
        for name, value in weights[rank].items():
            assert torch.equal(value, played[rank][name]), f"rank {rank}: {name} has other bits than in one process that plays all ranks"

    one_losses, (one,) = network.trained(OneProcess(Layout()), "npu", STEPS)
    plain_losses, plain_weights = plain.trained(STEPS)
    for what, wanted_losses, wanted in (("one process", one_losses, one), ("PyTorch on the CPU", plain_losses, plain_weights)):
        torch.testing.assert_close(losses, wanted_losses, rtol=0, atol=OF_LOSSES, msg=lambda text, what=what: f"losses, {what}: {text}")
        for rank in range(layout.size):
            for name, value in weights[rank].items():
                own = network.part(name, wanted[name], layout, rank)
                apart = (value - own).abs().max().item()
                assert apart <= OF_WEIGHTS, f"rank {rank}, {name}: {apart} from {what}"
    assert losses[-1] < 0.25 * losses[0], f"nothing was learnt: {losses}"


def main() -> None:
    torch.set_num_threads(1)
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    layout = Layout(*map(int, sys.argv[1:]))
    assert layout.size == dist.get_world_size()
    losses, (weights,) = network.trained(Processes(layout), "npu", STEPS)
    gathered: list = [None] * layout.size
    dist.all_gather_object(gathered, (losses, weights))
    if dist.get_rank() == 0:
        assert all(others == losses for others, _ in gathered), "ranks have other losses"
        compare(losses, [one for _, one in gathered], layout)
    dist.barrier()
    dist.destroy_process_group()
    print("done")


main()
