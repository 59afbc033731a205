"""All-reduce of HCCL beside PyTorch's Gloo on the CPU: the same processes, FLOAT, sum, in place, 1 KiB to 256 MiB, in turn.

usage: TORCH_PYTHON bench/collectives.py [--library BUILD/lib64/libhccl.so] [--ranks 2,4] [--sizes 10,28] [--seconds N]
(./dev bench --collectives)

A call is one that is waited for: `torch.distributed.all_reduce`, and `HcclAllReduce` with `aclrtSynchronizeStream`. A burst of calls of
one side, then one of the other; the ratio is the median of those of neighbouring bursts, as rank 0 sees them. Processor time is all that
rank 0's process used: where ranks share processors, the less of it the better, and neighbours disturb it less.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import ctypes
import math
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # HCCL is called here without torch_npu

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

ROOT_INFO_BYTES = 4108
FLOAT, SUM, HUGE_FIRST = 4, 0, 0


class Hccl:
    """One rank's communicator and stream, by the C functions."""

    def __init__(self, path: str, rank: int, ranks: int):
        self.lib = ctypes.CDLL(path)
        self.call("aclInit", None)
        self.call("aclrtSetDevice", rank)
        self.stream = ctypes.c_void_p()
        self.call("aclrtCreateStream", ctypes.byref(self.stream))
        info = torch.zeros(ROOT_INFO_BYTES, dtype=torch.uint8)
        if rank == 0:
            self.call("HcclGetRootInfo", ctypes.c_void_p(info.data_ptr()))
        dist.broadcast(info, 0)
        self.communicator = ctypes.c_void_p()
        self.call(
            "HcclCommInitRootInfo", ranks, ctypes.c_void_p(info.data_ptr()), rank, ctypes.byref(self.communicator)
        )

    def call(self, name: str, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def buffer(self, count: int) -> ctypes.c_void_p:
        pointer = ctypes.c_void_p()
        self.call("aclrtMalloc", ctypes.byref(pointer), ctypes.c_size_t(max(count * 4, 64)), HUGE_FIRST)
        ctypes.memset(pointer, 0, count * 4)
        return pointer

    def all_reduce(self, pointer: ctypes.c_void_p, count: int):
        """What is called again and again: arguments are made once."""
        reduce, wait = self.lib.HcclAllReduce, self.lib.aclrtSynchronizeStream
        arguments = (pointer, pointer, ctypes.c_uint64(count), FLOAT, SUM, self.communicator, self.stream)
        stream = self.stream

        def run():
            if reduce(*arguments) != 0 or wait(stream) != 0:
                raise RuntimeError("HcclAllReduce failed")

        return run


def burst(run, calls: int) -> tuple[float, float]:
    """Seconds of the clock, and of processors, for a call."""
    run()
    start, work = time.perf_counter(), time.process_time()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls, (time.process_time() - work) / calls


def of_rank(rank: int, ranks: int, options: argparse.Namespace, store: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    hccl = Hccl(options.path, rank, ranks)
    ratios, work = [], []
    for log2 in range(options.sizes[0], options.sizes[1] + 1, options.step):
        count = 2**log2 // 4
        tensor = torch.empty(count).fill_(0)
        pointer = hccl.buffer(count)
        sides = [hccl.all_reduce(pointer, count), lambda tensor=tensor: dist.all_reduce(tensor)]
        if options.only:
            sides = [sides[options.only == "gloo"]] * 2
        # The same number of calls in every rank: it is rank 0 that measures.
        plan = torch.tensor([0, 0])
        once = max(burst(sides[0], 3)[0], burst(sides[1], 3)[0])
        plan[0] = max(1, int(0.02 / once))
        plan[1] = max(3, int(options.seconds / (2 * once * (int(plan[0]) + 1))))
        dist.broadcast(plan, 0)
        calls, pairs = plan.tolist()
        times = [[burst(run, calls) for run in sides] for _ in range(pairs)]
        del tensor
        hccl.call("aclrtFree", pointer)
        if rank != 0:
            continue
        ours, theirs = (statistics.median(pair[i][0] for pair in times) * 1e6 for i in (0, 1))
        ratios.append(statistics.median(pair[1][0] / pair[0][0] for pair in times))
        work.append(statistics.median(pair[1][1] / pair[0][1] for pair in times))
        size = f"{2 ** (log2 - 10)} KiB" if log2 < 20 else f"{2 ** (log2 - 20)} MiB"
        print(f"| {ranks} | {size} | {ours:.0f} | {theirs:.0f} | {ratios[-1]:.2f} | {work[-1]:.2f} |", flush=True)
    if rank == 0:
        means = (math.exp(statistics.mean(map(math.log, one))) for one in (ratios, work))
        print(f"| {ranks} | geometric mean | | | {' | '.join(f'{mean:.2f}' for mean in means)} |", flush=True)
    dist.barrier()
    hccl.call("HcclCommDestroy", hccl.communicator)
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser()
    default = Path(__file__).resolve().parent.parent / "build" / "release" / "lib64" / "libhccl.so"
    numbers = lambda text: [int(one) for one in text.split(",")]  # noqa: E731
    parser.add_argument("--library", dest="path", default=str(default))
    parser.add_argument("--ranks", type=numbers, default=[2, 4], help="processes, each number in turn")
    parser.add_argument("--sizes", type=numbers, default=[10, 28], help="first and last, as powers of two of bytes")
    parser.add_argument("--step", type=int, default=2, help="between these")
    parser.add_argument("--seconds", type=float, default=2.0, help="per size")
    parser.add_argument("--only", choices=("hccl", "gloo"), help="both sides are this one: for profiles, and for the noise")
    options = parser.parse_args()
    os.environ["PORTACL_DEVICE_COUNT"] = str(max(options.ranks))
    print("| processes | bytes | HCCL, us | Gloo, us | Gloo / HCCL | processor time |\n|---|---|---|---|---|---|", flush=True)
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            children = []
            for rank in range(ranks):
                child = os.fork()
                if child == 0:
                    try:
                        of_rank(rank, ranks, options, f"{folder}/store")
                        code = 0
                    except Exception as error:
                        print(f"rank {rank}: {error}", file=sys.stderr)
                        code = 1
                    sys.stdout.flush()
                    os._exit(code)
                children.append(child)
            failed = [os.waitpid(child, 0)[1] != 0 for child in children]
        if any(failed):
            sys.exit(f"ranks that failed: {[rank for rank, is_bad in enumerate(failed) if is_bad]}")


if __name__ == "__main__":
    main()
