"""Products with communication, and tokens sent to the ranks of their experts, as torch_npu calls them: whole numbers, so that every sum is
exact. Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import os

import torch
import torch.distributed as dist
import torch_npu

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ROWS, TERMS, COLUMNS = 4, 256, 12


def drawn(seed: int, rank: int, *shape: int, low: int = -1, high: int = 1) -> torch.Tensor:
    """Whole numbers that every rank can draw for any rank."""
    return torch.randint(low, high + 1, shape, generator=torch.Generator().manual_seed(1000 * seed + rank)).float()


def same(found: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    torch.testing.assert_close(found.cpu().float(), wanted.to(found.dtype).float(), rtol=0, atol=0, msg=lambda text: f"rank {RANK}, {what}: {text}")


def sums(group: str, dtype: torch.dtype) -> None:
    x, weight, bias = (drawn(seed, RANK, *shape).to(dtype).npu() for seed, shape in ((1, (ROWS, TERMS)), (2, (TERMS, COLUMNS)), (3, (COLUMNS,))))
    wanted = sum(drawn(1, one, ROWS, TERMS) @ drawn(2, one, TERMS, COLUMNS) + drawn(3, one, COLUMNS) for one in range(SIZE))
    same(torch_npu.npu_mm_all_reduce_base(x, weight, group, reduce_op="sum", bias=bias), wanted, "sum")
    turned = drawn(2, RANK, TERMS, COLUMNS).t().contiguous().to(dtype).npu().t()
    same(torch_npu.npu_mm_all_reduce_base(x[None], turned, group, bias=bias), wanted[None], "sum of a transposed weight")


def quantised_sums(group: str) -> None:
    x, weight = (drawn(seed, RANK, *shape, low=-5, high=5).to(torch.int8).npu() for seed, shape in ((4, (ROWS, 20)), (5, (20, COLUMNS))))
    scale = torch.full((COLUMNS,), 0.5, dtype=torch.bfloat16).npu()
    wanted = sum(drawn(4, one, ROWS, 20, low=-5, high=5) @ drawn(5, one, 20, COLUMNS, low=-5, high=5) * 0.5 for one in range(SIZE))
    found = torch_npu.npu_mm_all_reduce_base(x, weight, group, dequant_scale=scale)
    # Each rank's product is rounded to bfloat16, and so is the sum.
    torch.testing.assert_close(found.cpu().float(), wanted, rtol=2**-6, atol=0.5)


def gathered(group: str, dtype: torch.dtype) -> None:
    x, weight = drawn(6, RANK, ROWS, TERMS).to(dtype).npu(), drawn(7, RANK, TERMS, COLUMNS).to(dtype).npu()
    every = torch.cat([drawn(6, one, ROWS, TERMS) for one in range(SIZE)])
    product, rows = torch_npu.npu_all_gather_base_mm(x, weight, group, SIZE)
    same(rows, every, "gathered")
    same(product, every @ drawn(7, RANK, TERMS, COLUMNS), "product of what was gathered")
    whole = drawn(8, RANK, ROWS * SIZE, TERMS).to(dtype).npu()
    wanted = sum(drawn(8, one, ROWS * SIZE, TERMS) @ drawn(7, one, TERMS, COLUMNS) for one in range(SIZE))
    found = torch_npu.npu_mm_reduce_scatter_base(whole, weight, group, SIZE)
    same(found, wanted[RANK * ROWS : (RANK + 1) * ROWS], "scattered sum")


def blocks(group: str) -> None:
    each, width = 3, 8
    x, weight = drawn(11, RANK, each * SIZE, width).half().npu(), drawn(12, RANK, width * SIZE, COLUMNS).half().npu()
    moved = torch.cat([drawn(11, one, each * SIZE, width)[RANK * each : (RANK + 1) * each] for one in range(SIZE)], dim=1)
    product, rows = torch_npu.npu_all_to_all_matmul(x, weight, group, SIZE)
    same(rows, moved, "blocks of all ranks")
    same(product, moved @ drawn(12, RANK, width * SIZE, COLUMNS), "product of blocks")


def rows_of_experts(group: str) -> None:
    each, width = 2, 16  # experts of a rank
    counts = torch.stack([drawn(13, one, SIZE * each, low=0, high=3) for one in range(SIZE)]).long()  # [from][to and its expert]
    send, receive = counts[RANK].tolist(), counts[:, RANK * each : (RANK + 1) * each].reshape(-1).tolist()
    x = [drawn(14, one, int(counts[one].sum()), width) for one in range(SIZE)]
    weight = drawn(15, RANK, each, width, COLUMNS)
    wanted = []
    for expert in range(each):
        for one in range(SIZE):
            begin = int(counts[one, : RANK * each + expert].sum())
            wanted.append(x[one][begin : begin + int(counts[one, RANK * each + expert])] @ weight[expert])
    found = torch_npu.npu_alltoallv_gmm(x[RANK].half().npu(), weight.half().npu(), group, SIZE, send, receive)[0]
    same(found, torch.cat(wanted), "rows of experts")


def experts(group: str) -> None:
    tokens, choices, experts_of_rank, width = 6, 2, 2, 1024
    every = experts_of_rank * SIZE
    x = drawn(9, RANK, tokens, width, low=-9, high=9).bfloat16().npu()
    draw = torch.Generator().manual_seed(RANK)
    ids = torch.stack([torch.randperm(every, generator=draw)[:choices] for _ in range(tokens)]).int()
    scales = drawn(10, RANK, tokens, choices, low=1, high=4) / 4
    rows, _, info, counts, received, tp_received, _ = torch_npu.npu_moe_distribute_dispatch_v2(
        x, ids.npu(), group, SIZE, RANK, every, expert_token_nums_type=1
    )
    assert int(counts.sum()) == int(received.cpu()[experts_of_rank * SIZE - 1])
    begin = int(counts[0])
    rows[begin:] *= 2  # the second expert of each rank
    found = torch_npu.npu_moe_distribute_combine_v2(
        rows, ids.npu(), info, received, scales.npu(), group, SIZE, RANK, every, tp_send_counts=tp_received
    )
    factor = (scales * (ids % experts_of_rank + 1)).sum(dim=1, keepdim=True)
    same(found, x.cpu().float() * factor, "there and back")


def main() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device("npu"))
    group = backend.get_hccl_comm_name(RANK)
    for dtype in (torch.float16, torch.bfloat16):
        sums(group, dtype)
        if SIZE > 1:  # what torch_npu asks for
            gathered(group, dtype)
    quantised_sums(group)
    if SIZE > 1:
        experts(group)
        blocks(group)
        rows_of_experts(group)
    try:
        torch_npu.npu_mm_all_reduce_base(torch.ones(2, 2).half().npu(), torch.ones(2, 2).half().npu(), "nobody")
        torch.npu.synchronize()
    except RuntimeError as error:
        assert "nobody" in str(error), error
    else:
        raise AssertionError("a group that nobody has was taken")
    sums(group, torch.float16)
    dist.barrier()
    dist.destroy_process_group()
    print("done")


main()
