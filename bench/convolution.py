#!/usr/bin/env python3
"""Times convolutions and both of their gradients beside PyTorch's: one process, the two sides in turn, as many threads on either side.

Usage: convolution.py --build BUILD [--threads N] [--rounds N] [--batch N] [--dtypes f32 bf16] [--filter REGEX]

The layers are those of ResNet-18 and one depthwise layer. Results of both sides are compared first. A round is a call of each side, of which the
one begins that came second before; a time is the median of all rounds, a ratio the median of the rounds' ratios, above 1 where PyTorch takes longer.
PyTorch's tensors are as a program has them: row-major, outputs made by each call.
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
NCHW = 0
SECONDS = 0.4  # for a case, of which quick ones have more rounds
# Channels of the input and of the output, pixels along an axis, kernel, stride, groups; how often the network has it.
LAYERS = (
    ("7x7/2, 3 to 64, 224", 3, 64, 224, 7, 2, 1, 1),
    ("3x3, 64 to 64, 56", 64, 64, 56, 3, 1, 1, 4),
    ("3x3/2, 64 to 128, 56", 64, 128, 56, 3, 2, 1, 1),
    ("1x1/2, 64 to 128, 56", 64, 128, 56, 1, 2, 1, 1),
    ("3x3, 128 to 128, 28", 128, 128, 28, 3, 1, 1, 3),
    ("3x3/2, 128 to 256, 28", 128, 256, 28, 3, 2, 1, 1),
    ("1x1/2, 128 to 256, 28", 128, 256, 28, 1, 2, 1, 1),
    ("3x3, 256 to 256, 14", 256, 256, 14, 3, 1, 1, 3),
    ("3x3/2, 256 to 512, 14", 256, 512, 14, 3, 2, 1, 1),
    ("1x1/2, 256 to 512, 14", 256, 512, 14, 1, 2, 1, 1),
    ("3x3, 512 to 512, 7", 512, 512, 7, 3, 1, 1, 3),
)
DEPTHWISE = (("3x3, 256 groups, 28", 256, 256, 28, 3, 1, 256, 0),)


class Layer:
    def __init__(self, library, layer, batch, dtype):
        name, channels, outputs, side, kernel, self.stride, self.groups, _ = layer
        generator = torch.Generator().manual_seed(1)
        self.lib, self.stream, self.check = library.lib, library.stream, library.check
        self.lib.aclCreateIntArray.restype = ctypes.c_void_p
        self.padding = kernel // 2
        after = (side + 2 * self.padding - kernel) // self.stride + 1
        draw = lambda *shape: torch.randn(shape, generator=generator).to(dtype)  # noqa: E731
        self.x, self.w = draw(batch, channels, side, side), draw(outputs, channels // self.groups, kernel, kernel)
        self.of_y = draw(batch, outputs, after, after)
        self.y, self.of_x, self.of_w = (torch.zeros_like(one) for one in (self.of_y, self.x, self.w))
        self.multiplications = self.of_y.numel() * self.w[0].numel()
        self.workspace = torch.zeros(0, dtype=torch.uint8)
        self.handles = {}

    def handle(self, tensor):
        if id(tensor) not in self.handles:
            shape, rank = int64s(tensor.shape), ctypes.c_uint64(tensor.dim())
            made = self.lib.aclCreateTensor(shape, rank, ACL[tensor.dtype], int64s(tensor.stride()), ctypes.c_int64(0), NCHW, shape, rank,
                                            ctypes.c_void_p(tensor.data_ptr()))
            self.handles[id(tensor)] = ctypes.c_void_p(made)
        return self.handles[id(tensor)]

    def array(self, *values):
        if values not in self.handles:
            self.handles[values] = ctypes.c_void_p(self.lib.aclCreateIntArray(int64s(values), ctypes.c_uint64(len(values))))
        return self.handles[values]

    def bools(self, *values):
        key = ("bool", *values)
        if key not in self.handles:
            self.lib.aclCreateBoolArray.restype = ctypes.c_void_p
            made = self.lib.aclCreateBoolArray((ctypes.c_bool * len(values))(*values), ctypes.c_uint64(len(values)))
            self.handles[key] = ctypes.c_void_p(made)
        return self.handles[key]

    def call(self, name, *arguments):
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(getattr(self.lib, name + "GetWorkspaceSize")(*arguments, ctypes.byref(size), ctypes.byref(executor)), name)
        if self.workspace.numel() < size.value:
            self.workspace = torch.zeros(size.value, dtype=torch.uint8)
        self.check(getattr(self.lib, name)(ctypes.c_void_p(self.workspace.data_ptr()), size, executor, self.stream), name)
        self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")

    def settings(self):
        two = [self.array(value, value) for value in (self.stride, self.padding, 1)]
        return (*two, ctypes.c_bool(False), self.array(0, 0), ctypes.c_int64(self.groups))

    def forward(self):
        self.call("aclnnConvolution", self.handle(self.x), self.handle(self.w), None, *self.settings(), self.handle(self.y), ctypes.c_int8(0))

    def backward(self, of_x, of_w):
        self.call("aclnnConvolutionBackward", self.handle(self.of_y), self.handle(self.x), self.handle(self.w), None, *self.settings(),
                  self.bools(of_x, of_w, False), ctypes.c_int8(0), self.handle(self.of_x) if of_x else None,
                  self.handle(self.of_w) if of_w else None, None)

    def their_forward(self):
        return torch.conv2d(self.x, self.w, None, self.stride, self.padding, 1, self.groups)

    def their_backward(self, of_x, of_w):
        return torch.ops.aten.convolution_backward(self.of_y, self.x, self.w, None, [self.stride] * 2, [self.padding] * 2, [1, 1], False, [0, 0],
                                                   self.groups, [of_x, of_w, False])

    def ways(self):
        return (("forward", self.forward, self.their_forward),
                ("of x", lambda: self.backward(True, False), lambda: self.their_backward(True, False)),
                ("of w", lambda: self.backward(False, True), lambda: self.their_backward(False, True)))

    def compare(self):
        self.forward()
        self.backward(True, True)
        theirs = (self.their_forward(), *self.their_backward(True, True)[:2])
        for mine, other in zip((self.y, self.of_x, self.of_w), theirs):
            tolerance = (1e-4 if mine.dtype == torch.float32 else 2e-2) * float(other.float().abs().max())
            torch.testing.assert_close(mine, other, atol=tolerance, rtol=0)


def in_turn(ours, theirs, rounds):
    took = ([], [])
    end = time.perf_counter() + SECONDS
    while len(took[0]) < rounds or (time.perf_counter() < end and len(took[0]) < 10 * rounds):
        round_ = len(took[0])
        for side in ((0, 1) if round_ % 2 == 0 else (1, 0)):
            start = time.perf_counter()
            (ours, theirs)[side]()
            took[side].append(time.perf_counter() - start)
    return statistics.median(took[0]), statistics.median(took[1]), statistics.median(b / a for a, b in zip(*took))


def main():
    print(f"threads: {options.threads}, batch: {options.batch}; ms here, ms PyTorch, ratio; 10^9 multiplications a second here")
    for dtype in options.dtypes:
        ratios = {}
        for layer in LAYERS + DEPTHWISE:
            if not re.search(options.filter, layer[0]):
                continue
            one = Layer(library, layer, options.batch, {"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
            one.compare()
            for way, ours, theirs in one.ways():
                mine, other, ratio = in_turn(ours, theirs, options.rounds)
                if layer in LAYERS:
                    ratios.setdefault(way, []).append(ratio)
                print(f"{dtype} {layer[0]}, {way}: {mine * 1e3:.2f} {other * 1e3:.2f} {ratio:.2f}; {one.multiplications / mine / 1e9:.0f}", flush=True)
        for way, some in (*ratios.items(), ("all", sum(ratios.values(), []))):
            if some:
                print(f"{dtype} {way}: geometric mean {math.exp(sum(map(math.log, some)) / len(some)):.2f}, lowest {min(some):.2f}")


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--dtypes", nargs="+", choices=("f32", "bf16"), default=("f32",))
parser.add_argument("--filter", default="")
options = parser.parse_args()
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import Library, int64s  # noqa: E402

torch.set_num_threads(options.threads)
library = Library(options.build)
main()
