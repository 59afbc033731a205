#!/usr/bin/env python3
"""Times attention and its gradients beside PyTorch's fused attention for CPUs: one process, short bursts in turn, as many threads on both sides.

Usage: attention.py --build BUILD [--threads N] [--rounds N] [--dtypes f32 bf16]

Results of both sides are compared first. Times are the best of all rounds; a ratio above 1 says that PyTorch takes longer.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import math
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "pytorch"))
SIZES = ((1, 8, 2048, 64), (8, 8, 512, 64))  # batch, heads, sequence, elements
ALL = 2**31 - 1  # tokens


class Attention:
    def __init__(self, library, size, dtype, causal):
        generator = torch.Generator().manual_seed(1)
        self.lib, self.causal, self.heads = library.lib, causal, size[1]
        self.stream = library.stream
        self.check = library.check
        self.lib.aclCreateIntArray.restype = ctypes.c_void_p
        self.query, self.key, self.value, self.of_out = (torch.randn(size, generator=generator).to(dtype) for _ in range(4))
        self.out, self.dq, self.dk, self.dv = (torch.zeros_like(self.query) for _ in range(4))
        self.greatest, self.sum = (torch.zeros((*size[:3], 8)) for _ in range(2))
        self.mask = torch.triu(torch.ones(2048, 2048, dtype=torch.bool), 1) if causal else None
        self.scale = 1 / math.sqrt(size[3])
        self.workspace = torch.zeros(0, dtype=torch.uint8)
        self.prefix = ctypes.c_void_p(self.lib.aclCreateIntArray(int64s([]), ctypes.c_uint64(0)))
        self.handles = {}
        self.layout, self.lengths = b"BNSD", ()

    def handle(self, tensor):
        if tensor is None:
            return None
        if id(tensor) not in self.handles:
            shape, rank = int64s(tensor.shape), ctypes.c_uint64(tensor.dim())
            made = self.lib.aclCreateTensor(shape, rank, ACL[tensor.dtype], int64s(tensor.stride()), ctypes.c_int64(0), FORMAT_ND,
                                            shape, rank, ctypes.c_void_p(tensor.data_ptr()))
            self.handles[id(tensor)] = ctypes.c_void_p(made)
        return self.handles[id(tensor)]

    def call(self, name, before, after):
        settings = (self.prefix, *self.lengths, ctypes.c_double(self.scale), ctypes.c_double(1), ctypes.c_int64(ALL),
                    ctypes.c_int64(0 if self.causal else ALL), ctypes.c_int64(self.heads), self.layout, ctypes.c_int64(0),
                    ctypes.c_int64(2 if self.causal else 0))
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        tensors = [[self.handle(one) for one in some] for some in (before, after)]
        phase1 = getattr(self.lib, name + "GetWorkspaceSize")
        self.check(phase1(*tensors[0], *settings, *tensors[1], ctypes.byref(size), ctypes.byref(executor)), name)
        if self.workspace.numel() < size.value:
            self.workspace = torch.zeros(size.value, dtype=torch.uint8)
        self.check(getattr(self.lib, name)(ctypes.c_void_p(self.workspace.data_ptr()), size, executor, self.stream), name)
        self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")

    def forward(self):
        self.call("aclnnFlashAttentionScore", (self.query, self.key, self.value, None, None, None, self.mask),
                  (self.greatest, self.sum, None, self.out))

    def backward(self):
        self.call("aclnnFlashAttentionScoreGrad",
                  (self.query, self.key, self.value, self.of_out, None, None, None, self.mask, self.greatest, self.sum, None, self.out),
                  (self.dq, self.dk, self.dv, None))

    def their_forward(self):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(self.query, self.key, self.value, 0.0, self.causal)

    def their_backward(self):
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            self.of_out, self.query, self.key, self.value, *self.theirs[:2], 0.0, self.causal)

    def results(self):
        return [self.out, self.dq, self.dk, self.dv]

    def compare(self):
        self.forward()
        self.backward()
        self.theirs = self.their_forward()
        gradients = self.their_backward()
        tolerance = 1e-4 if self.out.dtype == torch.float32 else 0.1
        for ours, theirs in zip(self.results(), (self.theirs[0], *gradients)):
            torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=tolerance)


class Packed(Attention):
    """The same batch as packed sequences; PyTorch gets it as a batch."""

    def __init__(self, library, size, dtype, causal):
        super().__init__(library, size, dtype, causal)
        names = ("query", "key", "value", "of_out", "out", "dq", "dk", "dv")
        for name in names:
            setattr(self, "packed_" + name, getattr(self, name).transpose(1, 2).reshape(size[0] * size[2], size[1], size[3]).contiguous())
        self.greatest, self.sum = (torch.zeros((size[0] * size[2], size[1], 8)) for _ in range(2))
        ends = int64s([size[2] * (i + 1) for i in range(size[0])])
        self.ends = ctypes.c_void_p(self.lib.aclCreateIntArray(ends, ctypes.c_uint64(size[0])))
        self.layout, self.lengths = b"TND", (self.ends, self.ends)

    def forward(self):
        self.call("aclnnFlashAttentionVarLenScore",
                  (self.packed_query, self.packed_key, self.packed_value, None, None, None, self.mask),
                  (self.greatest, self.sum, None, self.packed_out))

    def backward(self):
        self.call("aclnnFlashAttentionUnpaddingScoreGrad",
                  (self.packed_query, self.packed_key, self.packed_value, self.packed_of_out, None, None, None, self.mask, self.greatest,
                   self.sum, None, self.packed_out),
                  (self.packed_dq, self.packed_dk, self.packed_dv, None))

    def results(self):
        batches, heads, rows, depth = self.query.shape
        return [t.reshape(batches, rows, heads, depth).transpose(1, 2)
                for t in (self.packed_out, self.packed_dq, self.packed_dk, self.packed_dv)]


def best_in_turn(functions, rounds):
    best = [math.inf] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def main():
    print(f"threads: {options.threads}; ms here, ms PyTorch, ratio")
    for dtype in options.dtypes:
        ratios = []
        for size, kind in ((size, kind) for size in SIZES for kind in ((Attention, Packed) if size[0] > 1 else (Attention,))):
            for causal in (False, True):
                one = kind(library, size, {"f32": torch.float32, "bf16": torch.bfloat16}[dtype], causal)
                one.compare()
                for name, functions in (("forward", (one.forward, one.their_forward)), ("backward", (one.backward, one.their_backward))):
                    ours, theirs = best_in_turn(functions, options.rounds)
                    ratios.append(theirs / ours)
                    case = f"{dtype} {size}{' causal' if causal else ''}{' packed' if kind is Packed else ''}"
                    print(f"{case} {name}: {ours * 1e3:.1f} {theirs * 1e3:.1f} {ratios[-1]:.2f}")
        print(f"{dtype}: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--dtypes", nargs="+", choices=("f32", "bf16"), default=("f32", "bf16"))
options = parser.parse_args()
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import FORMAT_ND, Library, int64s  # noqa: E402

torch.set_num_threads(options.threads)
library = Library(options.build)
main()
