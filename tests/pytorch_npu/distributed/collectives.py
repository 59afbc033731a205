"""Every collective of torch.distributed on device npu, against what each rank can compute alone. Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
LEFT, RIGHT = (RANK - 1) % SIZE, (RANK + 1) % SIZE


def numbers(rank: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """What a rank holds."""
    draw = torch.Generator().manual_seed(rank * 100 + count)
    if dtype == torch.bool:
        return torch.rand(count, generator=draw) < 0.4
    if not dtype.is_floating_point:
        return torch.randint(0, 50, (count,), generator=draw).to(dtype)
    return (torch.rand(count, generator=draw) * 8 - 4).to(dtype)


def together(count: int, dtype: torch.dtype, op) -> torch.Tensor:
    """The reduction in the order of ranks, in float32 for 16-bit floats."""
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    result = numbers(0, count, dtype).to(wide)
    for rank in range(1, SIZE):
        other = numbers(rank, count, dtype).to(wide)
        if op == dist.ReduceOp.SUM:
            result = result + other
        elif op == dist.ReduceOp.PRODUCT:
            result = result * other
        elif op == dist.ReduceOp.MAX:
            result = torch.maximum(result, other)
        else:
            result = torch.minimum(result, other)
    return result.to(dtype)


def same(found: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    assert torch.equal(found.cpu(), wanted), f"rank {RANK}: {what}: {found.cpu()} is not {wanted}"


def main() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64):
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MAX, dist.ReduceOp.MIN):
            for count in (3, 5000, 90001):
                x = numbers(RANK, count, dtype).npu()
                dist.all_reduce(x, op)
                same(x, together(count, dtype, op), f"all_reduce {dtype} {op}")
    x = numbers(RANK, 20000, torch.float32).npu()
    work = dist.all_reduce(x, dist.ReduceOp.SUM, async_op=True)
    work.wait()
    same(x, together(20000, torch.float32, dist.ReduceOp.SUM), "async_op")
    x = numbers(RANK, 20000, torch.float32).npu()
    dist.all_reduce(x, dist.ReduceOp.AVG)
    same(x, together(20000, torch.float32, dist.ReduceOp.SUM) / SIZE, "average")

    for dtype in (torch.float32, torch.bool, torch.uint8, torch.float16):
        for count in (7, 40000):
            root = count % SIZE
            x = numbers(RANK, count, dtype).npu()
            dist.broadcast(x, root)
            same(x, numbers(root, count, dtype), f"broadcast {dtype}")
            parts = [torch.empty(count, dtype=dtype, device="npu") for _ in range(SIZE)]
            dist.all_gather(parts, numbers(RANK, count, dtype).npu())
            for rank, part in enumerate(parts):
                same(part, numbers(rank, count, dtype), f"all_gather {dtype}")
            flat = torch.empty(count * SIZE, dtype=dtype, device="npu")
            dist.all_gather_into_tensor(flat, numbers(RANK, count, dtype).npu())
            same(flat, torch.cat([numbers(rank, count, dtype) for rank in range(SIZE)]), f"all_gather_into_tensor {dtype}")
    uneven = [torch.empty(10 * rank + 3, device="npu") for rank in range(SIZE)]
    dist.all_gather(uneven, numbers(RANK, 10 * RANK + 3, torch.float32).npu())
    for rank, part in enumerate(uneven):
        same(part, numbers(rank, 10 * rank + 3, torch.float32), "all_gather of other sizes")

    for count in (4 * SIZE, 50000 * SIZE):
        part = count // SIZE
        here = slice(RANK * part, (RANK + 1) * part)
        whole = together(count, torch.float32, dist.ReduceOp.SUM)
        x = numbers(RANK, count, torch.float32).npu()
        out = torch.empty(part, device="npu")
        dist.reduce_scatter_tensor(out, x)
        same(out, whole[here], "reduce_scatter_tensor")
        dist.reduce_scatter(out, list(x.chunk(SIZE)))
        same(out, whole[here], "reduce_scatter")
        dist.reduce(x, SIZE - 1)
        if RANK == SIZE - 1:
            same(x, whole, "reduce")
        dist.scatter(out, list(numbers(0, count, torch.float32).npu().chunk(SIZE)) if RANK == 0 else None, 0)
        same(out, numbers(0, count, torch.float32)[here], "scatter")
        gathered = [torch.empty(part, device="npu") for _ in range(SIZE)] if RANK == 0 else None
        dist.gather(numbers(RANK, part, torch.float32).npu(), gathered, 0)
        if gathered is not None:
            for rank, one in enumerate(gathered):
                same(one, numbers(rank, part, torch.float32), "gather")
        out = torch.empty(count, device="npu")
        dist.all_to_all_single(out, numbers(RANK, count, torch.float32).npu())
        same(out, torch.cat([numbers(rank, count, torch.float32)[here] for rank in range(SIZE)]), "all_to_all_single")
    give = [numbers(RANK * SIZE + to, 5 + RANK + 2 * to, torch.float32).npu() for to in range(SIZE)]
    take = [torch.empty(5 + rank + 2 * RANK, device="npu") for rank in range(SIZE)]
    dist.all_to_all(take, give)
    for rank, one in enumerate(take):
        same(one, numbers(rank * SIZE + RANK, 5 + rank + 2 * RANK, torch.float32), "all_to_all")

    if SIZE > 1:
        for count in (11, 70000):
            mine, came = numbers(RANK, count, torch.float32).npu(), torch.empty(count, device="npu")
            if RANK % 2 == 0:
                dist.send(mine, RIGHT)
                dist.recv(came, LEFT)
            else:
                dist.recv(came, LEFT)
                dist.send(mine, RIGHT)
            same(came, numbers(LEFT, count, torch.float32), "send and recv")
            came.zero_()
            for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, RIGHT), dist.P2POp(dist.irecv, came, LEFT)]):
                work.wait()
            same(came, numbers(LEFT, count, torch.float32), "batch_isend_irecv")
        group = dist.new_group(list(range(0, SIZE, 2)))
        if RANK % 2 == 0:
            x = torch.ones(9, device="npu")
            dist.all_reduce(x, group=group)
            same(x, torch.full((9,), float(len(range(0, SIZE, 2)))), "a group of some")
    objects: list = [None] * SIZE
    dist.all_gather_object(objects, {"rank": RANK})
    assert objects == [{"rank": rank} for rank in range(SIZE)]
    dist.barrier()
    dist.destroy_process_group()
    print("done")


main()
