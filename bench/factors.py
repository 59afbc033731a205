#!/usr/bin/env python3
"""Times triangular systems, inverses, factors and determinants beside PyTorch's: one process, the two sides in turn, as many threads on either side.

Usage: factors.py --build BUILD [--threads N] [--rounds N] [--dtypes ...] [--orders ...] [--small] [--processor-time] [--filter REGEX]

Both sides are compared first. A time is the best of all rounds, a ratio the median of the rounds' ratios, above 1 where PyTorch takes longer. --small
measures batches of small matrices instead; --processor-time counts the process's processor time, which other processes disturb less.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
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
BATCHES = ((4, 4096), (16, 512), (32, 128))
# How far results may lie apart, in units of the type's epsilon times the order, relative to the greatest number.
APART = 32


class Side:
    def __init__(self, library):
        self.lib, self.check, self.stream = library.lib, library.check, library.stream

    def handle(self, tensor):
        return ctypes.c_void_p(self.lib.aclCreateTensor(
            int64s(tensor.shape), ctypes.c_uint64(tensor.dim()), ACL[tensor.dtype], int64s(tensor.stride()), ctypes.c_int64(0), FORMAT_ND,
            int64s([tensor.untyped_storage().nbytes() // tensor.itemsize]), ctypes.c_uint64(1), ctypes.c_void_p(tensor.data_ptr())))

    def prepared(self, name, *given):
        """A call with its workspace, which PyTorch's side does not keep."""
        arguments = [self.handle(one) if isinstance(one, torch.Tensor) else one for one in given]
        phase1, phase2 = getattr(self.lib, name + "GetWorkspaceSize"), getattr(self.lib, name)
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(phase1(*arguments, ctypes.byref(size), ctypes.byref(executor)), name)
        workspace = torch.zeros(size.value, dtype=torch.uint8)

        def call():
            self.check(phase1(*arguments, ctypes.byref(size), ctypes.byref(executor)), name)
            self.check(phase2(ctypes.c_void_p(workspace.data_ptr()), size, executor, self.stream), name)
            self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")

        return call


def cases(side, n, batch, dtype):
    """Name, calls of both sides, and what they compute."""
    generator = torch.Generator().manual_seed(1)
    shape = (batch, n, n) if batch else (n, n)
    a = torch.randn(shape, generator=generator, dtype=dtype)
    right = torch.randn(shape, generator=generator, dtype=dtype)
    triangle = a / n + 2 * torch.eye(n, dtype=dtype)
    symmetric = a @ a.mH + n * torch.eye(n, dtype=dtype)
    out, other, q = (torch.zeros(shape, dtype=dtype) for _ in range(3))
    none = torch.zeros(0, dtype=dtype)
    sign, size = (torch.zeros(shape[:-2], dtype=dtype) for _ in range(2))
    kept = torch.zeros(shape, dtype=dtype)
    yes, no = ctypes.c_bool(True), ctypes.c_bool(False)
    for name, upper, turned in (("lower", no, no), ("upper", yes, no), ("upper^T", yes, yes)):
        matrix = triangle.mH if turned.value else triangle
        yield (f"triangular_solve {name}", side.prepared("aclnnTriangularSolve", right, triangle, upper, turned, no, out, kept),
               lambda m=matrix, u=upper.value != turned.value: torch.linalg.solve_triangular(m, right, upper=u, out=other), lambda: (out, other))
    yield "inverse", side.prepared("aclnnInverse", a, out), lambda: torch.linalg.inv(a, out=other), lambda: (out, other)
    yield "slogdet", side.prepared("aclnnSlogdet", a, sign, size), lambda: torch.linalg.slogdet(a), lambda: (size.real, torch.linalg.slogdet(a)[1])
    if dtype == torch.float32:
        yield ("cholesky", side.prepared("aclnnLinalgCholesky", symmetric, no, out), lambda: torch.linalg.cholesky(symmetric, out=other),
               lambda: (out, other))
    yield ("qr, r", side.prepared("aclnnLinalgQr", a, ctypes.c_int64(2), none, out), lambda: torch.linalg.qr(a, mode="r"),
           lambda: (out, torch.linalg.qr(a)[1]))
    yield ("qr", side.prepared("aclnnLinalgQr", a, ctypes.c_int64(0), q, out), lambda: torch.linalg.qr(a), lambda: (q, torch.linalg.qr(a)[0]))


def burst(function, calls):
    clock = time.process_time if options.processor_time else time.perf_counter
    start = clock()
    for _ in range(calls):
        function()
    return (clock() - start) / calls


def in_turn(functions):
    calls = max(1, int(LEAST_BURST / min(burst(functions[0], 2), 1.0)))
    took = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while len(took[0]) < options.rounds or (time.perf_counter() < end and len(took[0]) < 100):
        order = range(2) if len(took[0]) % 2 == 0 else (1, 0)
        for one in order:
            took[one].append(burst(functions[one], calls))
    return [min(some) for some in took], statistics.median(b / a for a, b in zip(*took))


def main():
    print(f"threads: {options.threads}; ms here, ms PyTorch, ratio")
    side = Side(library)
    for dtype in (getattr(torch, name) for name in options.dtypes):
        for n, batch in BATCHES if options.small else ((n, 0) for n in options.orders):
            for name, ours, theirs, results in cases(side, n, batch, dtype):
                if not re.search(options.filter, name):
                    continue
                best, ratio = in_turn([ours, theirs])
                here, there = results()
                apart = ((here - there).abs().max() / there.abs().max()).item()
                # Other results are as far from the exact ones as the matrix is from a singular one.
                assert apart < APART * n * torch.finfo(dtype).eps * (1 if name.startswith("triangular") else 100), (name, n, apart)
                where = f"{n} x {n}" + (f", {batch} of them" if batch else "")
                print(f"{str(dtype)[6:]} {name}, {where}: {best[0] * 1e3:.3f} {best[1] * 1e3:.3f} {ratio:.2f}", flush=True)


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--dtypes", nargs="*", default=("float32", "float64", "complex64"))
parser.add_argument("--orders", nargs="*", type=int, default=(64, 256, 512, 1024))
parser.add_argument("--small", action="store_true")
parser.add_argument("--processor-time", action="store_true")
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
