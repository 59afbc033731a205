#!/usr/bin/env python3
"""Times convolutions and both of their gradients beside PyTorch's: one process, the two sides in turn, as many threads on either side.

Usage: convolution.py --build BUILD [--threads N] [--rounds N] [--batches N ...] [--dtypes f32 bf16] [--layers NETWORK ...] [--filter REGEX]
       [--quick] [--processor]

The layers are those of ResNet-18, or of ResNet-50 and MobileNetV3, whose depthwise layers are a group of their own. Results of both sides are compared
first. A round is a call of each side, of which the one begins that came second before; a time is the median of all rounds, a ratio the median of the
rounds' ratios, above 1 where PyTorch takes longer.
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
# Channels of the input and of the output, pixels along an axis, kernel, stride, groups. Each layer once, however often the network has it.
RESNET18 = (
    (3, 64, 224, 7, 2, 1), (64, 64, 56, 3, 1, 1), (64, 128, 56, 3, 2, 1), (64, 128, 56, 1, 2, 1), (128, 128, 28, 3, 1, 1),
    (128, 256, 28, 3, 2, 1), (128, 256, 28, 1, 2, 1), (256, 256, 14, 3, 1, 1), (256, 512, 14, 3, 2, 1), (256, 512, 14, 1, 2, 1),
    (512, 512, 7, 3, 1, 1))
RESNET50 = (
    (3, 64, 224, 7, 2, 1), (64, 64, 56, 1, 1, 1), (64, 64, 56, 3, 1, 1), (64, 256, 56, 1, 1, 1), (256, 64, 56, 1, 1, 1),
    (256, 128, 56, 1, 1, 1), (128, 128, 56, 3, 2, 1), (128, 512, 28, 1, 1, 1), (256, 512, 56, 1, 2, 1), (512, 128, 28, 1, 1, 1),
    (128, 128, 28, 3, 1, 1), (512, 256, 28, 1, 1, 1), (256, 256, 28, 3, 2, 1), (256, 1024, 14, 1, 1, 1), (512, 1024, 28, 1, 2, 1),
    (1024, 256, 14, 1, 1, 1), (256, 256, 14, 3, 1, 1), (1024, 512, 14, 1, 1, 1), (512, 512, 14, 3, 2, 1), (512, 2048, 7, 1, 1, 1),
    (1024, 2048, 14, 1, 2, 1), (2048, 512, 7, 1, 1, 1), (512, 512, 7, 3, 1, 1))
MOBILENET = (
    (3, 16, 224, 3, 2, 1), (16, 16, 112, 1, 1, 1), (16, 64, 112, 1, 1, 1), (64, 24, 56, 1, 1, 1), (24, 72, 56, 1, 1, 1),
    (72, 24, 56, 1, 1, 1), (72, 40, 28, 1, 1, 1), (40, 120, 28, 1, 1, 1), (120, 40, 28, 1, 1, 1), (40, 240, 28, 1, 1, 1),
    (240, 80, 14, 1, 1, 1), (80, 200, 14, 1, 1, 1), (200, 80, 14, 1, 1, 1), (80, 480, 14, 1, 1, 1), (480, 112, 14, 1, 1, 1),
    (112, 672, 14, 1, 1, 1), (672, 112, 14, 1, 1, 1), (672, 160, 7, 1, 1, 1), (160, 960, 7, 1, 1, 1), (960, 160, 7, 1, 1, 1))
DEPTHWISE = (
    (16, 16, 112, 3, 1, 16), (64, 64, 112, 3, 2, 64), (72, 72, 56, 3, 1, 72), (72, 72, 56, 5, 2, 72), (120, 120, 28, 5, 1, 120),
    (240, 240, 28, 3, 2, 240), (200, 200, 14, 3, 1, 200), (480, 480, 14, 3, 1, 480), (672, 672, 14, 3, 1, 672),
    (672, 672, 14, 5, 2, 672), (960, 960, 7, 5, 1, 960))
LAYERS = {"resnet18": RESNET18, "resnet50": RESNET50, "mobilenet": MOBILENET, "depthwise": DEPTHWISE}


def name_of(layer):
    channels, outputs, side, kernel, stride, groups = layer
    window = f"{kernel}x{kernel}" + (f"/{stride}" if stride > 1 else "")
    return f"{window}, {channels} to {outputs}, {side}" + (", depthwise" if groups > 1 else "")


class Layer:
    def __init__(self, library, layer, batch, dtype):
        channels, outputs, side, kernel, self.stride, self.groups = layer
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
    clock = time.process_time if options.processor else time.perf_counter
    end = time.perf_counter() + (0.1 if options.quick else SECONDS)
    while len(took[0]) < rounds or (time.perf_counter() < end and len(took[0]) < 10 * rounds):
        round_ = len(took[0])
        for side in ((0, 1) if round_ % 2 == 0 else (1, 0)):
            start = clock()
            (ours, theirs)[side]()
            took[side].append(clock() - start)
    return statistics.median(took[0]), statistics.median(took[1]), statistics.median(b / a for a, b in zip(*took))


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def run_group(network, batch, dtype):
    ratios = {}
    for layer in LAYERS[network]:
        name = f"{dtype} batch {batch} {name_of(layer)}"
        if not re.search(options.filter, name):
            continue
        one = Layer(library, layer, batch, {"f32": torch.float32, "bf16": torch.bfloat16}[dtype])
        one.compare()
        for way, ours, theirs in one.ways():
            mine, other, ratio = in_turn(ours, theirs, options.rounds)
            ratios.setdefault(way, []).append(ratio)
            print(f"{name}, {way}: {mine * 1e3:.3f} {other * 1e3:.3f} {ratio:.2f}; {one.multiplications / mine / 1e9:.0f}", flush=True)
    for way, some in (*ratios.items(), ("all", sum(ratios.values(), []))):
        if some:
            print(f"{dtype} batch {batch} {network}, {way}: geometric mean {geometric_mean(some):.2f}, lowest {min(some):.2f}", flush=True)


def main():
    print(f"threads: {options.threads}; ms here, ms PyTorch, ratio; 10^9 multiplications a second here")
    for dtype in options.dtypes:
        for batch in options.batches:
            for network in options.layers:
                run_group(network, batch, dtype)


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--batches", nargs="+", type=int, default=(8,))
parser.add_argument("--dtypes", nargs="+", choices=("f32", "bf16"), default=("f32",))
parser.add_argument("--layers", nargs="+", choices=LAYERS, default=("resnet18",))
parser.add_argument("--filter", default="")
parser.add_argument("--quick", action="store_true", help="a quarter of the time")
parser.add_argument("--processor", action="store_true", help="the processor's time, where other programs run, too; with one thread")
options = parser.parse_args()
if options.processor and options.threads > 1:
    parser.error("--processor sums the time of all threads: use it with --threads 1")
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import Library, int64s  # noqa: E402

torch.set_num_threads(options.threads)
library = Library(options.build)
main()
