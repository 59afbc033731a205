#!/usr/bin/env python3
"""Times products of matrices beside PyTorch's: one process, the two sides in turn, as many threads on either side.

Usage: products.py --build BUILD [--threads N] [--rounds N] [--dtypes ...] [--filter REGEX]

Both sides write into an output that exists, and are compared first. A time is the best of all rounds, a ratio the median of the rounds' ratios,
above 1 where PyTorch takes longer (float16 is not compared). For bf16 and f16 there is the rate of float32 beside it; for a matrix times a vector, how long
PyTorch's maximum over the matrix takes, which only reads.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import math
import os
import pathlib
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "pytorch"))
SECONDS = 0.4  # for a case, of which quick ones have more rounds
LEAST_BURST = 2e-4
# Name, batch, rows, terms, columns; whether the left and the right one are transposed in memory.
CASES = (
    *((f"{n} x {n} x {n}", 0, n, n, n, False, False) for n in (128, 256, 512, 1024, 2048)),
    *((f"x @ W^T, 1024 x {n}, 768 terms", 0, 1024, 768, n, False, True) for n in (384, 768, 3072)),
    ("64 of 64 x 128 x 64", 64, 64, 128, 64, False, False),
    ("64 of 128 x 64 @ (128 x 64)^T", 64, 128, 64, 128, False, True),
    ("x^T @ y, 384 x 768, 1024 terms", 0, 384, 1024, 768, True, False),
    ("x^T @ y, 768 x 3072, 1024 terms", 0, 768, 1024, 3072, True, False),
    ("y @ W, 1024 x 768, 3072 terms", 0, 1024, 3072, 768, False, False),
)
VECTORS = (("W @ vector, 4096 x 4096", 4096, 4096, False), ("vector @ W, 4096 x 4096", 4096, 4096, True))


class Side:
    def __init__(self, library):
        self.lib, self.check, self.stream, self.handles = library.lib, library.check, library.stream, {}

    def handle(self, tensor):
        if id(tensor) not in self.handles:
            made = self.lib.aclCreateTensor(int64s(tensor.shape), ctypes.c_uint64(tensor.dim()), ACL[tensor.dtype], int64s(tensor.stride()),
                                            ctypes.c_int64(0), FORMAT_ND, int64s([tensor.untyped_storage().nbytes() // tensor.itemsize]),
                                            ctypes.c_uint64(1), ctypes.c_void_p(tensor.data_ptr()))
            self.handles[id(tensor)] = (ctypes.c_void_p(made), tensor)
        return self.handles[id(tensor)][0]

    def multiply(self, left, right, out):
        name = "aclnnMatmul"
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(self.lib.aclnnMatmulGetWorkspaceSize(self.handle(left), self.handle(right), self.handle(out), ctypes.c_int8(0),
                                                        ctypes.byref(size), ctypes.byref(executor)), name)
        workspace = torch.empty(size.value, dtype=torch.uint8)
        self.check(self.lib.aclnnMatmul(ctypes.c_void_p(workspace.data_ptr()), size, executor, self.stream), name)
        self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")


def burst(function, calls):
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def in_turn(functions, rounds):
    calls = max(1, math.ceil(LEAST_BURST / min(burst(functions[0], 2), 1.0)))
    took = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while len(took[0]) < rounds or (time.perf_counter() < end and len(took[0]) < 40):
        order = range(len(functions)) if len(took[0]) % 2 == 0 else reversed(range(len(functions)))
        for side in order:
            took[side].append(burst(functions[side], calls))
    return [min(some) for some in took], [statistics.median(b / a for a, b in zip(took[0], some)) for some in took]


def drawn(batch, rows, columns, is_turned, dtype, generator):
    shape = (columns, rows) if is_turned else (rows, columns)
    tensor = torch.randn((*((batch,) if batch else ()), *shape), generator=generator).to(dtype)
    return tensor.transpose(-1, -2) if is_turned else tensor


def products(side, dtype, of_floats):
    ratios = []
    for name, batch, rows, terms, columns, left_turned, right_turned in CASES:
        if not re.search(options.filter, name):
            continue
        generator = torch.Generator().manual_seed(1)
        left, right = (drawn(batch, *shape, turned, dtype, generator)
                       for shape, turned in (((rows, terms), left_turned), ((terms, columns), right_turned)))
        out, other = (torch.zeros((*left.shape[:-1], columns), dtype=dtype) for _ in range(2))
        # PyTorch's products of float16 take up to 200 times as long: nobody waits for those.
        theirs = (lambda: torch.matmul(left, right, out=other)) if dtype != torch.float16 else (lambda: None)
        functions = [lambda: side.multiply(left, right, out), theirs]
        if dtype != torch.float32:
            floats = [one.float() for one in (left, right, out)]
            functions.append(lambda: side.multiply(*floats))
        best, ratio = in_turn(functions, options.rounds)
        torch.testing.assert_close(out.float(), torch.matmul(left.float(), right.float()), atol=(1e-5 if dtype == torch.float32 else 1e-2) * terms, rtol=1e-2)
        work = max(batch, 1) * rows * terms * columns
        line = f"{str(dtype)[6:]} {name}: {best[0] * 1e3:.3f}"
        if dtype != torch.float16:
            ratios.append(ratio[1])
            line += f" {best[1] * 1e3:.3f} {ratio[1]:.2f}"
        line += f"; {work / best[0] / 1e9:.0f}"
        if dtype != torch.float32:
            of_floats.append(best[2] / best[0])
            line += f"; of float32's rate {of_floats[-1]:.2f}"
        print(line, flush=True)
    if ratios:
        print(f"{str(dtype)[6:]}: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, lowest {min(ratios):.2f}")


def vectors(side):
    for name, rows, columns, is_left in VECTORS:
        if not re.search(options.filter, name):
            continue
        generator = torch.Generator().manual_seed(1)
        matrices = [torch.randn((rows, columns), generator=generator) for _ in range(4)]  # 256 MiB: from memory, not from a cache
        vector = torch.randn(columns, generator=generator)
        out, other = torch.zeros(rows), torch.zeros(rows)
        turn = iter(range(1 << 62))

        def ours():
            matrix = matrices[next(turn) % 4]
            return side.multiply(vector, matrix, out) if is_left else side.multiply(matrix, vector, out)

        def theirs():
            matrix = matrices[next(turn) % 4]
            return torch.mv(matrix.T if is_left else matrix, vector, out=other)

        best, ratio = in_turn([ours, theirs, lambda: matrices[next(turn) % 4].max()], options.rounds)
        print(f"float32 {name}: {best[0] * 1e3:.2f} {best[1] * 1e3:.2f} {ratio[1]:.2f}; of what reading alone takes {ratio[2]:.2f}", flush=True)


def main():
    print(f"threads: {options.threads}; ms here, ms PyTorch, ratio; 10^9 multiplications a second here")
    side = Side(library)
    for dtype in (getattr(torch, name) for name in options.dtypes):
        of_floats = []
        products(side, dtype, of_floats)
        if of_floats:
            print(f"{str(dtype)[6:]}: of float32's rate {min(of_floats):.2f} and more")
    vectors(side)


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--dtypes", nargs="*", default=("float32", "bfloat16", "float16"))
parser.add_argument("--filter", default="")
options = parser.parse_args()
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import FORMAT_ND, Library, int64s  # noqa: E402

torch.set_num_threads(options.threads)
library = Library(options.build)
library.lib.aclCreateTensor.restype = ctypes.c_void_p
main()
