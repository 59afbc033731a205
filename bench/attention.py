#!/usr/bin/env python3
"""Times attention and its gradients beside PyTorch's fused attention for CPUs: one process, short bursts in turn, as many threads on both sides.

Usage: attention.py --build BUILD [--threads N] [--rounds N] [--dtypes f32 bf16] [--sweep] [--processor]

Results of both sides are compared first. Times are the best of all rounds; a ratio above 1 says that PyTorch takes longer. Rates are 10^9 multiplications a second, here, of
PyTorch, and of the processor, which multiplies in registers in the same run; masked ones are not counted. --sweep measures forward alone, for sequences from 64 to 4096 and
heads of 32 to 128 elements. --processor takes the processor time instead of the elapsed time, and the calling thread computes: for a machine that does other work, too.
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
from machine_rates import Rates  # noqa: E402

SIZES = ((1, 8, 2048, 64), (8, 8, 512, 64))  # batch, heads, sequence, elements
# As many heads as make a call last some milliseconds.
SWEEP = tuple((1, max(1, 2**22 // (sequence * sequence)), sequence, depth) for depth in (32, 64, 128) for sequence in (64, 256, 1024, 4096))
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
    clock = time.process_time if options.processor else time.perf_counter
    best = [math.inf] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = clock()
            function()
            best[i] = min(best[i], clock() - start)
    return best


def geometric_mean(ratios):
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, lowest {min(ratios):.2f}"


def forward_and_backward(dtype, kinds):
    ratios = {"forward": [], "backward": []}
    for size, kind in ((size, kind) for size in SIZES for kind in ((Attention, Packed) if size[0] > 1 else (Attention,))):
        for causal in (False, True):
            one = kind(library, size, kinds[dtype], causal)
            one.compare()
            for name, functions in (("forward", (one.forward, one.their_forward)), ("backward", (one.backward, one.their_backward))):
                ours, theirs = best_in_turn(functions, options.rounds)
                ratios[name].append(theirs / ours)
                case = f"{dtype} {size}{' causal' if causal else ''}{' packed' if kind is Packed else ''}"
                print(f"{case} {name}: {ours * 1e3:.1f} {theirs * 1e3:.1f} {theirs / ours:.2f}", flush=True)
    for name, some in ratios.items():
        print(f"{dtype} {name}: geometric mean {geometric_mean(some)}", flush=True)


def sweep(dtype, kinds):
    multiply, multiplications = rates.multiplier(str(kinds[dtype])[6:])
    ratios = []
    for size in SWEEP:
        batch, heads, sequence, depth = size
        for causal in (False, True):
            one = Attention(library, size, kinds[dtype], causal)
            one.forward()
            tolerance = 1e-4 if dtype == "f32" else 0.1
            torch.testing.assert_close(one.out, one.their_forward()[0], atol=tolerance, rtol=tolerance)
            ours, theirs, registers = best_in_turn((one.forward, one.their_forward, multiply), options.rounds)
            work = 2 * batch * heads * depth * (sequence * (sequence + 1) // 2 if causal else sequence * sequence)
            ratios.append(theirs / ours)
            processors, here = multiplications / registers / 1e9, work / ours / 1e9
            print(f"{dtype} {size}{' causal' if causal else ''}: {ours * 1e3:.2f} ms; here {here:.0f}, PyTorch {work / theirs / 1e9:.0f}, "
                  f"processor {processors:.0f}; {theirs / ours:.2f}; of the processor's {here / processors:.2f}", flush=True)
    print(f"{dtype} forward, sweep: {len(ratios)} cases, geometric mean {geometric_mean(ratios)}", flush=True)


def main():
    print(f"threads: {options.threads}{', processor time' if options.processor else ''}" + ("" if options.sweep else "; ms here, ms PyTorch, ratio"))
    for dtype in options.dtypes:
        (sweep if options.sweep else forward_and_backward)(dtype, {"f32": torch.float32, "bf16": torch.bfloat16})


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--dtypes", nargs="+", choices=("f32", "bf16"), default=("f32", "bf16"))
parser.add_argument("--sweep", action="store_true")
parser.add_argument("--processor", action="store_true")
options = parser.parse_args()
if options.processor:
    os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"  # a waiting thread would count
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import FORMAT_ND, Library, int64s  # noqa: E402

torch.set_num_threads(options.threads)
rates = Rates(options.threads)
library = Library(options.build)
main()
