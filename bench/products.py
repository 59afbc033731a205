#!/usr/bin/env python3
"""Times products of matrices beside PyTorch's: one process, the two sides in turn, as many threads on either side.

Usage: products.py --build BUILD [--kinds squares layers rows integers] [--dtypes ...] [--threads N] [--rounds N] [--processor] [--filter REGEX]

squares: products of one size and the like; layers: those of models (layers.py); rows: one row times weights that lie in memory, also quantised ones;
integers: INT8 beside torch._int_mm, which does not scale. Both sides write into an output that exists. After a case's rounds the result (of large
products the first rows) is compared with PyTorch's of float32. A time is the best of all rounds, a ratio the median of the rounds' ratios. It is PyTorch's time over ours, above 1 where PyTorch takes longer. Rates are 10^9 multiplications a second, here, of PyTorch
and of the processor, which multiplies in registers in the same run; for rows 10^9 bytes of weights, and of a loop that only reads them. --processor takes the processor time
instead of the elapsed time, and the calling thread computes: for a machine that does other work, too.
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
from layers import LAYERS  # noqa: E402
from machine_rates import Rates  # noqa: E402

SECONDS = 0.4  # for a case, of which quick ones have more rounds
LEAST_BURST = 2e-4
# PyTorch's products of float16 can take up to 200 times as long: nobody waits for those.
MOST_SECONDS = 4.0
IN_MEMORY = 192 << 20  # bytes of weights that no cache holds
# Name, batch, rows, terms, columns; whether the left and the right one are transposed in memory.
SQUARES = (
    *((f"{n} x {n} x {n}", 0, n, n, n, False, False) for n in (16, 32, 64, 128, 256, 512, 1024, 2048)),
    *((f"x @ W^T, 1024 x {n}, 768 terms", 0, 1024, 768, n, False, True) for n in (384, 768, 3072)),
    ("64 of 64 x 64 x 64", 64, 64, 64, 64, False, False),
    ("64 of 64 x 128 x 64", 64, 64, 128, 64, False, False),
    ("64 of 128 x 64 @ (128 x 64)^T", 64, 128, 64, 128, False, True),
    ("x^T @ y, 384 x 768, 1024 terms", 0, 384, 1024, 768, True, False),
    ("x^T @ y, 768 x 3072, 1024 terms", 0, 768, 1024, 3072, True, False),
    ("y @ W, 1024 x 768, 3072 terms", 0, 1024, 3072, 768, False, False),
)
INTEGERS = tuple((n, n, n, turned) for n in (64, 128, 256, 512, 1024) for turned in (False, True)) + ((16, 4096, 4096, False), (128, 768, 3072, True))
# Rows, terms and columns of weights; whether these lie as (columns, rows).
ROWS = ((4096, 4096, False), (4096, 4096, True))
ACL_INT4 = 29


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

    def int4_handle(self, tensor, rows, columns, is_turned):
        """Two numbers of a matrix in each byte."""
        made = self.lib.aclCreateTensor(int64s((rows, columns)), ctypes.c_uint64(2), ACL_INT4, int64s((1, rows) if is_turned else (columns, 1)),
                                        ctypes.c_int64(0), FORMAT_ND, int64s([rows * columns]), ctypes.c_uint64(1), ctypes.c_void_p(tensor.data_ptr()))
        self.handles[id(tensor)] = (ctypes.c_void_p(made), tensor)
        return self.handles[id(tensor)][0]

    def call(self, name, *arguments):
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(getattr(self.lib, name + "GetWorkspaceSize")(*arguments, ctypes.byref(size), ctypes.byref(executor)), name)
        workspace = torch.empty(size.value, dtype=torch.uint8)
        self.check(getattr(self.lib, name)(ctypes.c_void_p(workspace.data_ptr()), size, executor, self.stream), name)
        self.check(self.lib.aclrtSynchronizeStream(self.stream), "aclrtSynchronizeStream")

    def multiply(self, left, right, out):
        self.call("aclnnMatmul", self.handle(left), self.handle(right), self.handle(out), ctypes.c_int8(0))

    def multiply_integers(self, left, right, scale, out):
        self.call("aclnnQuantMatmulV3", self.handle(left), self.handle(right), self.handle(scale), None, None, ctypes.c_bool(False),
                  ctypes.c_bool(False), self.handle(out))

    def multiply_weights(self, x, weight, scale, out):
        self.call("aclnnWeightQuantBatchMatmulV2", self.handle(x), weight, self.handle(scale), None, None, None, None, ctypes.c_int(0), self.handle(out))

    def forget(self):
        for handle, _ in self.handles.values():
            self.lib.aclDestroyTensor(handle)
        self.handles = {}


def burst(function, calls):
    clock = time.process_time if options.processor else time.perf_counter
    start = clock()
    for _ in range(calls):
        function()
    return (clock() - start) / calls


def in_turn(functions):
    """The best times, and all rounds' times, of each function."""
    calls = [max(1, math.ceil(LEAST_BURST / max(1e-9, min(burst(function, 2), 1.0)))) for function in functions]
    took = [[] for _ in functions]
    end = time.perf_counter() + SECONDS
    while len(took[0]) < options.rounds or (time.perf_counter() < end and len(took[0]) < 40):
        order = range(len(functions)) if len(took[0]) % 2 == 0 else reversed(range(len(functions)))
        for side in order:
            took[side].append(burst(functions[side], calls[side]))
    return [min(some) for some in took], took


def ratio(took, a, b):
    return statistics.median(y / x for x, y in zip(took[a], took[b]))


class Ratios:
    """Geometric means of groups of ratios."""

    def __init__(self, name):
        self.name, self.groups = name, {}

    def add(self, group, value):
        self.groups.setdefault(group, []).append(value)

    def show(self):
        for group, values in self.groups.items():
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"{self.name}, {group}: {len(values)} cases, geometric mean {mean:.2f}, lowest {min(values):.2f}", flush=True)


def drawn(batch, rows, columns, is_turned, dtype, generator):
    shape = (columns, rows) if is_turned else (rows, columns)
    tensor = torch.randn((*((batch,) if batch else ()), *shape), generator=generator).to(dtype)
    return tensor.transpose(-1, -2) if is_turned else tensor


def product(side, dtype, name, batch, rows, terms, columns, left_turned, right_turned):
    """Measures one product and returns the ratio, or None if PyTorch takes too long."""
    kind = str(dtype)[6:]
    generator = torch.Generator().manual_seed(1)
    left, right = (drawn(batch, *shape, turned, dtype, generator)
                   for shape, turned in (((rows, terms), left_turned), ((terms, columns), right_turned)))
    out, other = (torch.zeros((*left.shape[:-1], columns), dtype=dtype) for _ in range(2))
    work = max(batch, 1) * rows * terms * columns
    multiply, multiplications = rates.multiplier(kind)
    functions = [lambda: side.multiply(left, right, out), multiply, lambda: torch.matmul(left, right, out=other)]
    if dtype == torch.float16 and work > 1 << 28 and burst(functions[2], 1) > MOST_SECONDS / options.rounds:
        functions.pop()
    best, took = in_turn(functions)
    compared = rows if terms * columns < 1 << 24 else min(rows, 4)
    expected = torch.matmul(left[..., :compared, :].float(), right.float())
    torch.testing.assert_close(out[..., :compared, :].float(), expected, atol=(1e-5 if dtype == torch.float32 else 1e-2) * terms, rtol=1e-2)
    side.forget()
    processors, here = multiplications / best[1] / 1e9, work / best[0] / 1e9
    line = f"{kind} {name}: {best[0] * 1e3:.3f} ms; here {here:.0f}"
    found = None
    if len(functions) == 3:
        found = ratio(took, 0, 2)
        line += f", PyTorch {work / best[2] / 1e9:.0f}"
    print(line + f", processor {processors:.0f}; " + (f"{found:.2f}; " if found else "") + f"of the processor's {here / processors:.2f}", flush=True)
    return found


def squares(side):
    for dtype in DTYPES:
        ratios = Ratios(str(dtype)[6:])
        for case in SQUARES:
            if not re.search(options.filter, case[0]):
                continue
            found = product(side, dtype, *case)
            if found:
                size = min(case[2:5])
                ratios.add("from 256" if size >= 256 else "128" if size == 128 else "up to 64", found)
        ratios.show()


def layers(side):
    for dtype in DTYPES:
        ratios = Ratios(str(dtype)[6:] + " layers")
        for name, rows, terms, columns, is_turned in LAYERS:
            case = f"{name}, {rows} x {terms} x {columns}"
            if not re.search(options.filter, case):
                continue
            found = product(side, dtype, case, 0, rows, terms, columns, False, is_turned)
            if found:
                ratios.add("from 64 rows" if rows >= 64 else "few rows", found)
        ratios.show()


def weights_of(kind, terms, columns, is_turned, generator):
    """Copies of a matrix of weights, which together fit no cache."""
    size = terms * columns * {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1, "int4": 0.5}[kind]
    count = max(2, math.ceil(IN_MEMORY / size))
    if kind in ("int8", "int4"):
        shape = (int(size),) if kind == "int4" else (columns, terms) if is_turned else (terms, columns)
        made = [torch.randint(-128, 127, shape, dtype=torch.int8, generator=generator) for _ in range(count)]
        return made if kind == "int4" or not is_turned else [one.T for one in made]
    return [drawn(0, terms, columns, is_turned, getattr(torch, kind), generator) for _ in range(count)]


def numbers_of(kind, weight, terms, columns, is_turned):
    """A matrix of weights as float32. INT4 has two numbers in a byte, the first in its lower half."""
    if kind != "int4":
        return weight.float()
    numbers = torch.stack((((weight & 15) ^ 8) - 8, weight >> 4), dim=-1).float()
    return numbers.reshape(columns, terms).T if is_turned else numbers.reshape(terms, columns)


def rows(side):
    for kind in (*options.dtypes, "int8", "int4"):
        for terms, columns, is_turned in ROWS:
            case = f"1 x {terms} x {columns}{', transposed' if is_turned else ''}"
            if not re.search(options.filter, f"{kind} {case}"):
                continue
            generator = torch.Generator().manual_seed(1)
            weights = weights_of(kind, terms, columns, is_turned, generator)
            dtype = torch.bfloat16 if kind.startswith("int") else getattr(torch, kind)
            x = torch.randn((1, terms), generator=generator).to(dtype)
            scale = torch.rand(columns, generator=generator).to(dtype)
            out, other = torch.zeros((1, columns), dtype=dtype), torch.zeros((1, columns), dtype=dtype)
            size = weights[0].untyped_storage().nbytes()
            turn = iter(range(1 << 62))
            place = [(side.int4_handle(one, terms, columns, is_turned) if kind == "int4" else side.handle(one)) for one in weights]
            readers = [rates.reader(one.data_ptr(), size) for one in weights]

            def ours():
                i = next(turn) % len(weights)
                if kind.startswith("int"):
                    return side.multiply_weights(x, place[i], scale, out)
                return side.multiply(x, weights[i], out)

            functions = [ours, lambda: readers[next(turn) % len(weights)]()]
            if not kind.startswith("int"):
                functions.append(lambda: torch.matmul(x, weights[next(turn) % len(weights)], out=other))
            best, took = in_turn(functions)
            turn = iter((0,))
            ours()
            expected = x.float() @ numbers_of(kind, weights[0], terms, columns, is_turned)
            expected = expected * scale.float() if kind.startswith("int") else expected
            torch.testing.assert_close(out.float(), expected, atol=(1e-5 if dtype == torch.float32 else 1e-2) * terms, rtol=1e-2)
            side.forget()
            line = f"{kind} {case}: {best[0] * 1e3:.3f} ms; here {size / best[0] / 1e9:.1f}"
            if len(functions) == 3:
                line += f", PyTorch {size / best[2] / 1e9:.1f}"
            line += f", reading {size / best[1] / 1e9:.1f}; "
            print(line + (f"{ratio(took, 0, 2):.2f}; " if len(functions) == 3 else "") + f"of reading {ratio(took, 0, 1):.2f}", flush=True)


def integers(side):
    multiply, multiplications = rates.multiplier("int8")
    ratios = Ratios("int8")
    for rows_, terms, columns, is_turned in INTEGERS:
        case = f"{rows_} x {terms} x {columns}{', transposed' if is_turned else ''}"
        if not re.search(options.filter, case):
            continue
        generator = torch.Generator().manual_seed(1)
        left = torch.randint(-128, 127, (rows_, terms), dtype=torch.int8, generator=generator)
        right = torch.randint(-128, 127, (columns, terms) if is_turned else (terms, columns), dtype=torch.int8, generator=generator)
        right = right.T if is_turned else right
        scale, out = torch.full((1,), 2.0**-10), torch.zeros((rows_, columns), dtype=torch.bfloat16)
        other = torch.zeros((rows_, columns), dtype=torch.int32)
        best, took = in_turn([lambda: side.multiply_integers(left, right, scale, out), multiply, lambda: torch._int_mm(left, right, out=other)])
        torch.testing.assert_close(out, (other.float() * scale).to(torch.bfloat16), atol=0, rtol=0)
        side.forget()
        work, found = rows_ * terms * columns, ratio(took, 0, 2)
        processors, here = multiplications / best[1] / 1e9, work / best[0] / 1e9
        print(f"int8 {case}: {best[0] * 1e3:.3f} ms; here {here:.0f}, PyTorch {work / best[2] / 1e9:.0f}, processor {processors:.0f}; {found:.2f}; "
              f"of the processor's {here / processors:.2f}", flush=True)
        ratios.add("from 256" if min(rows_, terms, columns) >= 256 else "smaller", found)
    ratios.show()


KINDS = {"squares": squares, "layers": layers, "rows": rows, "integers": integers}
parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--kinds", nargs="+", choices=KINDS, default=("squares", "rows"))
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--dtypes", nargs="*", choices=("float32", "bfloat16", "float16"), default=("float32", "bfloat16", "float16"))
parser.add_argument("--processor", action="store_true")
parser.add_argument("--filter", default="")
options = parser.parse_args()
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
if options.processor:
    os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"  # a waiting thread would count
import torch  # noqa: E402
from compare_moves import ACL  # noqa: E402
from installed_library import FORMAT_ND, Library, int64s  # noqa: E402

DTYPES = [getattr(torch, name) for name in options.dtypes]
torch.set_num_threads(options.threads)
rates = Rates(options.threads)
library = Library(options.build)
library.lib.aclCreateTensor.restype = ctypes.c_void_p
print(f"threads: {options.threads}{', processor time' if options.processor else ''}")
for chosen in options.kinds:
    KINDS[chosen](Side(library))
