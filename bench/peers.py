#!/usr/bin/env python3
"""Compares portacl with PyTorch, NumPy and hand-written loops: one process, short bursts in turn, medians of ratios.

Usage: peers.py --build BUILD --out FILE [--filter REGEX] [--quick] [--minutes N] [--part I/N] [--compile-only]

Names are GROUP/OPERATOR/DTYPE/LAYOUT/2^SIZE/tTHREADS. Every comparison first checks that both sides compute the same.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
import warnings

BETA = 1.0
DTYPES = ("f32", "f16", "bf16")
ACL_DTYPES = {"f32": 0, "f16": 1, "bf16": 27}
TOLERANCES = {"f32": 2e-5, "f16": 4e-3, "bf16": 4e-2}
GRADIENTS = ("l1_loss_backward", "smooth_l1_loss_backward", "kl_div_backward", "kl_div_backward.log",
             "kl_div_target_backward", "mse_loss_backward")
LOSSES = ("l1_loss", "smooth_l1_loss", "mse_loss", "kl_div", "kl_div.log")
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2, "batchmean": 3}
LOOPS = ("l1_loss_backward", "smooth_l1_loss_backward", "kl_div_backward", "kl_div_backward.log", "mse_loss_backward")
# A pool of threads that has just worked may look out for more for milliseconds and would disturb whoever is next.
SECONDS_TO_FALL_ASLEEP = 0.005
# OpenMP's threads spin for longer than that.
SECONDS_FOR_SEVERAL_THREADS = 0.02

ROOT = pathlib.Path(__file__).resolve().parent.parent


# ---- the two libraries compiled on the spot ---------------------------------------------------

class Operand(ctypes.Structure):
    _fields_ = [("dims", ctypes.c_int64 * 2), ("strides", ctypes.c_int64 * 2), ("rank", ctypes.c_int64),
                ("dtype", ctypes.c_int64), ("data", ctypes.c_void_p)]


def compile_c(source, target, flags):
    line = [os.environ.get("CC", "cc"), "-O3", "-std=gnu11", "-fPIC", "-shared", str(ROOT / "bench" / source), "-o",
            str(target), *flags]
    subprocess.run(line, check=True)
    return ctypes.CDLL(str(target))


class Portacl:
    def __init__(self, build, place):
        lib = build / "lib64"
        self.c = compile_c("peers_calls.c", place / "peers_calls.so",
                           ["-I", str(build / "include"), "-L", str(lib), f"-Wl,-rpath,{lib}", "-lportacl"])
        self.c.peers_message.restype = ctypes.c_char_p
        self.c.peers_make.restype = ctypes.c_void_p
        self.c.peers_make.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int, ctypes.c_int,
                                      ctypes.POINTER(Operand)]
        self.c.peers_free.argtypes = [ctypes.c_void_p]
        self.c.peers_burst.restype = ctypes.c_double
        self.c.peers_burst.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int]

    def start(self, threads):
        if self.c.peers_start(threads) != 0:
            raise RuntimeError(self.c.peers_message())

    def calls(self, *specs):
        """A side that makes the given calls one after the other; a spec is (operator, reduction, dtype, tensors)."""
        return PortaclCalls(self, specs)


class PortaclCalls:
    def __init__(self, library, specs):
        self.c = library.c
        self.tensors = [spec[3] for spec in specs]  # alive for as long as they may be written to
        made = []
        for operator, reduction, dtype, tensors in specs:
            name, _, log = operator.partition(".")
            operands = (Operand * len(tensors))()
            for operand, tensor in zip(operands, tensors):
                operand.rank = tensor.dim()
                for axis in range(tensor.dim()):
                    operand.dims[axis] = tensor.size(axis)
                    operand.strides[axis] = tensor.stride(axis)
                operand.dtype = ACL_DTYPES[dtype]
                operand.data = tensor.data_ptr()
            made.append(self.c.peers_make(name.encode(), REDUCTIONS[reduction], log == "log", len(tensors), operands))
        self.handles = (ctypes.c_void_p * len(made))(*made)

    def burst(self, calls):
        seconds = self.c.peers_burst(self.handles, len(self.handles), calls)
        if seconds < 0:
            raise RuntimeError(f"status {-seconds:.0f}: {self.c.peers_message()}")
        return seconds

    def close(self):
        for handle in self.handles:
            self.c.peers_free(handle)


class PythonSide:
    def __init__(self, function):
        self.function = function

    def burst(self, calls):
        function = self.function
        function()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - begin) / calls if calls else 0


class LoopSide:
    def __init__(self, loops, case, tensors):
        grad, self_, target, out = tensors
        rows, columns = out.shape
        self.arguments = (LOOPS.index(case.operator), DTYPES.index(case.dtype), case.threads, grad.data_ptr(),
                          self_.data_ptr(), target.data_ptr(), out.data_ptr(), rows, columns,
                          columns if target.size(0) == rows else 0)
        self.burst_function = loops.loops_burst
        self.tensors = tensors

    def burst(self, calls):
        return self.burst_function(*self.arguments, calls)


# ---- cases ------------------------------------------------------------------------------------

class Case:
    def __init__(self, group, operator, dtype, layout, log2, threads):
        self.group, self.operator, self.dtype = group, operator, dtype
        self.layout, self.log2, self.threads = layout, log2, threads

    @property
    def name(self):
        return f"{self.group}/{self.operator}/{self.dtype}/{self.layout}/2^{self.log2}/t{self.threads}"


def all_cases(threads):
    for count in sorted({1, threads}):
        for dtype in DTYPES:
            for log2 in (2, 12, 16, 20, 24):
                for operator in GRADIENTS:
                    layouts = ["dense"]
                    if log2 in (16, 24) and dtype != "f16" and operator != "kl_div_target_backward":
                        layouts += ["scalar_grad", "row", "column", "transposed", "one_transposed", "stride2"]
                        if operator.startswith("kl_div_backward"):
                            layouts += ["self_row", "self_column"]
                    for layout in layouts:
                        yield Case("eager", operator, dtype, layout, log2, count)
                for operator in LOSSES:
                    for reduction in ("none", "mean"):
                        if log2 != 12:
                            yield Case("forward", f"{operator}.{reduction}", dtype, "dense", log2, count)
                for operator in LOSSES:
                    for layout in ("dense",) if log2 == 2 else ("dense", "row"):
                        yield Case("autograd", operator, dtype, layout, log2, count)
                if dtype != "f16" and log2 > 2:
                    for operator in GRADIENTS[:3]:
                        for layout in ("dense", "row"):
                            yield Case("compile", operator, dtype, layout, log2, count)
                if log2 >= 20:
                    for operator in LOOPS:
                        for layout in ("dense", "row"):
                            yield Case("loop", operator, dtype, layout, log2, count)
                if dtype == "f32" and count == 1:
                    for operator in LOOPS:
                        yield Case("numpy", operator, dtype, "dense", log2, count)


def is_quick(case):
    if case.group == "compile" or case.dtype == "f16":
        return False
    if case.layout == "dense":
        return case.log2 in (2, 16) or (case.log2 == 24 and case.operator == "l1_loss_backward")
    return case.log2 == 16 and case.group == "eager" and case.operator == "l1_loss_backward"


def least_seconds(case):
    slow = 3 if case.operator.endswith("log") or case.dtype != "f32" or case.layout == "one_transposed" else 1
    return {2: 0.15, 12: 0.15, 16: 0.2, 20: 0.35}.get(case.log2, 0.9 * slow)


# ---- operands ---------------------------------------------------------------------------------

def torch_dtype(torch, dtype):
    return {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]


def make(torch, case, shape, layout, low=0.05, high=1.0):
    """Numbers in (low, high], which every operator takes as any operand."""
    rows, columns = shape if len(shape) == 2 else (1, 1)
    kind = torch_dtype(torch, case.dtype)
    if layout == "transposed":
        tensor = torch.empty(columns, rows, dtype=kind).t()
    elif layout == "stride2":
        tensor = torch.zeros(rows, 2 * columns, dtype=kind)[:, ::2]
    else:
        tensor = torch.empty(shape, dtype=kind)
    pattern = torch.rand(min(max(tensor.numel(), 1), 1 << 16)) * (high - low) + low
    tensor.copy_(pattern.repeat(tensor.numel() // pattern.numel()).view(tensor.shape))
    return tensor


def operands(torch, case):
    """gradOutput, self, target and output, as the gradient operators take them."""
    rows, columns = 1 << (case.log2 // 2), 1 << (case.log2 - case.log2 // 2)
    whole = (rows, columns)
    every = case.layout if case.layout in ("transposed", "stride2") else "dense"
    shapes = {"g": whole, "s": whole, "t": whole, "o": whole}
    layouts = dict.fromkeys("gsto", every)
    odd = "s" if case.operator == "kl_div_target_backward" else "t"
    if case.layout == "scalar_grad":
        shapes["g"] = ()
    elif case.layout == "row":
        shapes[odd] = (1, columns)
    elif case.layout == "column":
        shapes[odd] = (rows, 1)
    elif case.layout == "one_transposed":
        layouts[odd] = "transposed"
    elif case.layout == "self_row":
        shapes["s"] = shapes["o"] = (1, columns)
    elif case.layout == "self_column":
        shapes["s"] = shapes["o"] = (rows, 1)
    return [make(torch, case, shapes[k], layouts[k]) for k in "gsto"]


# ---- the other side ---------------------------------------------------------------------------

def eager(torch, case, tensors):
    """Every formulation that writes into a given output; the fastest is compared with."""
    g, s, t, o = tensors
    aten = torch.ops.aten
    if case.operator == "l1_loss_backward":
        def chain():
            torch.sub(s, t, out=o)
            torch.sign(o, out=o)
            torch.mul(o, g, out=o)
        return [chain]
    if case.operator in ("smooth_l1_loss_backward", "mse_loss_backward"):
        wide = [x.expand(o.shape) for x in (s, t)]
        if case.operator == "mse_loss_backward":
            def one_pass():
                aten.mse_loss_backward.grad_input(g, *wide, 0, grad_input=o)
            def chain():
                torch.sub(s, t, out=o)
                torch.mul(o, g, out=o)
                torch.mul(o, 2, out=o)
            return [one_pass, chain]
        def one_pass():
            aten.smooth_l1_loss_backward.grad_input(g, *wide, 0, BETA, grad_input=o)
        return [one_pass]
    if case.operator == "kl_div_target_backward":
        def chain():
            torch.log(t, out=o)
            torch.sub(o, s, out=o)
            torch.mul(o, g, out=o)
            torch.add(o, g, out=o)
        def fewer():
            torch.log(t, out=o)
            torch.sub(o, s, out=o)
            torch.addcmul(g, o, g, out=o)
        return [chain, fewer]
    log = case.operator.endswith(".log")
    zero = torch.zeros((), dtype=o.dtype)
    if case.layout in ("self_row", "self_column"):
        axis = 0 if case.layout == "self_row" else 1
        whole = torch.empty_like(t)
        def sum_of_product():
            if log:
                torch.exp(t, out=whole)
                torch.mul(whole, g, out=whole)
            else:
                torch.mul(t, g, out=whole)
            torch.sum(whole, axis, keepdim=True, out=o)
            torch.neg(o, out=o)
        return [sum_of_product]
    def chain():
        if log:
            torch.exp(t, out=o)
            torch.mul(o, g, out=o)
        else:
            torch.mul(t, g, out=o)
        torch.neg(o, out=o)
    def fewer():
        if log:
            torch.exp(t, out=o)
            torch.addcmul(zero, o, g, value=-1, out=o)
        else:
            torch.addcmul(zero, t, g, value=-1, out=o)
    if log and t.shape != o.shape:
        small = torch.empty_like(t)
        def small_exp():
            torch.exp(t, out=small)
            torch.mul(small, g, out=o)
            torch.neg(o, out=o)
        return [small_exp]
    return [chain, fewer]


def loss_function(torch, operator, reduction):
    F = torch.nn.functional
    name, _, log = operator.partition(".")
    if name == "l1_loss":
        return lambda s, t: F.l1_loss(s, t, reduction=reduction)
    if name == "smooth_l1_loss":
        return lambda s, t: F.smooth_l1_loss(s, t, reduction=reduction, beta=BETA)
    if name == "mse_loss":
        return lambda s, t: F.mse_loss(s, t, reduction=reduction)
    return lambda s, t: F.kl_div(s, t, reduction=reduction, log_target=log == "log")


def compiled(torch, case, tensors):
    g, s, t, o = tensors
    formulas = {"l1_loss_backward": lambda g, s, t: torch.sign(s - t) * g,
                "smooth_l1_loss_backward":
                    lambda g, s, t: torch.where((s - t).abs() >= BETA, torch.sign(s - t), (s - t) / BETA) * g,
                "kl_div_backward": lambda g, s, t: -(t * g)}
    formula = formulas[case.operator]
    torch._dynamo.reset()
    torch._inductor.config.cpp.threads = case.threads
    into = torch.compile(lambda g, s, t, o: o.copy_(formula(g, s, t)), fullgraph=True, dynamic=False)
    into(g, s, t, o)
    return [lambda: into(g, s, t, o)]


def numpy_chain(np, case, tensors):
    g, s, t, o = [x.numpy() for x in tensors]
    def l1():
        np.subtract(s, t, out=o)
        np.sign(o, out=o)
        np.multiply(o, g, out=o)
    def smooth_l1():
        np.subtract(s, t, out=o)
        np.clip(o, -1, 1, out=o)
        np.multiply(o, g, out=o)
    def kl():
        np.multiply(t, g, out=o)
        np.negative(o, out=o)
    def kl_log():
        np.exp(t, out=o)
        np.multiply(o, g, out=o)
        np.negative(o, out=o)
    def mse():
        np.subtract(s, t, out=o)
        np.multiply(o, g, out=o)
        np.multiply(o, np.float32(2), out=o)
    return [dict(zip(LOOPS, (l1, smooth_l1, kl, kl_log, mse)))[case.operator]]


# ---- measuring --------------------------------------------------------------------------------

def calls_per_burst(side, seconds):
    calls = 1
    while True:
        one = max(side.burst(calls), 1e-9)
        if one * calls >= seconds / 4 or calls >= 20000:
            return max(1, min(20000, math.ceil(seconds / one)))
        calls *= 4


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def compare(ours, others, seconds, threads):
    # Several threads: each side's are awake, and have what they work on in their caches, before a call counts.
    rest, length, warm_up = ((SECONDS_TO_FALL_ASLEEP, 500e-6, 0) if threads == 1 else
                             (SECONDS_FOR_SEVERAL_THREADS, 3e-3, 2e-3))

    def burst(side, calls):
        start = time.perf_counter()
        while time.perf_counter() - start < warm_up:
            side.burst(calls // 4)
        result = side.burst(calls)
        time.sleep(rest)
        return result

    begin = time.perf_counter()
    calls = [calls_per_burst(side, length) for side in others]
    best = 0
    if len(others) > 1:
        tried = [statistics.median(burst(side, n) for _ in range(5)) for side, n in zip(others, calls)]
        best = tried.index(min(tried))
    our_calls = calls_per_burst(ours, length)
    mine, theirs = [], []
    while len(mine) < 7 or (len(mine) < 41 and time.perf_counter() - begin < seconds):
        mine.append(burst(ours, our_calls))
        theirs.append(burst(others[best], calls[best]))
    ratios = [t / m for t, m in zip(theirs, mine)]
    return {"ratio": quantile(ratios, 0.5), "ratio_p10": quantile(ratios, 0.1), "ratio_p90": quantile(ratios, 0.9),
            "pairs": len(mine), "ns_per_call": quantile(mine, 0.5) * 1e9, "their_ns_per_call": quantile(theirs, 0.5) * 1e9,
            "formulation": best}


class Peers:
    def __init__(self, build, place):
        import numpy
        import torch
        self.np, self.torch = numpy, torch
        self.portacl = Portacl(build, place)
        self.loops = compile_c("peers_loops.c", place / "peers_loops.so", ["-march=native", "-fopenmp", "-lm"])
        self.loops.loops_burst.restype = ctypes.c_double
        self.loops.loops_burst.argtypes = ([ctypes.c_int] * 3 + [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 3 +
                                           [ctypes.c_int])
        self.threads = None

    def use_threads(self, threads):
        if threads != self.threads:
            self.torch.set_num_threads(threads)
            self.portacl.start(threads)
            self.threads = threads

    def sides(self, case):
        """Ours, the others, and two functions that give what each has computed."""
        torch = self.torch
        if case.group == "forward":
            operator, _, reduction = case.operator.partition(".")
            if "." in reduction:  # kl_div.log.mean
                log, reduction = reduction.split(".")
                operator = f"{operator}.{log}"
            _, s, t, o = operands(torch, Case("", "", case.dtype, case.layout, case.log2, 1))
            if reduction != "none":
                o = torch.empty((), dtype=o.dtype)
            function = loss_function(torch, operator, reduction)
            ours = self.portacl.calls((operator, reduction, case.dtype, [s, t, o]))
            return ours, [PythonSide(lambda: function(s, t))], lambda: o, lambda: function(s, t)
        if case.group == "autograd":
            reduction = "batchmean" if case.operator.startswith("kl") else "mean"
            g, s, t, o = operands(torch, Case("", "", case.dtype, case.layout, case.log2, 1))
            g = torch.ones((), dtype=s.dtype)
            loss = torch.empty((), dtype=s.dtype)
            function = loss_function(torch, case.operator, reduction)
            leaf = s.detach().clone().requires_grad_()
            name, dot, log = case.operator.partition(".")
            ours = self.portacl.calls((case.operator, reduction, case.dtype, [s, t, loss]),
                                      (f"{name}_backward{dot}{log}", reduction, case.dtype, [g, s, t, o]))
            def step():
                leaf.grad = None
                function(leaf, t).backward()
            def gradient():
                step()
                return leaf.grad
            return ours, [PythonSide(step)], lambda: o, gradient
        tensors = operands(torch, case)
        ours = self.portacl.calls((case.operator, "none", case.dtype, tensors))
        out = tensors[3]
        if case.group == "loop":
            others = [LoopSide(self.loops, case, tensors)]
        elif case.group == "numpy":
            others = [PythonSide(f) for f in numpy_chain(self.np, case, tensors)]
        elif case.group == "compile":
            others = [PythonSide(f) for f in compiled(torch, case, tensors)]
        else:
            others = [PythonSide(f) for f in eager(torch, case, tensors)]
        def computed():
            for side in others:
                side.burst(0)
            return out
        return ours, others, lambda: out, computed

    def run(self, case, patience, compile_only=False):
        torch = self.torch
        self.use_threads(case.threads)
        ours, others, our_result, their_result = self.sides(case)
        try:
            if compile_only:
                return None
            ours.burst(0)
            mine = our_result().detach().clone().float()
            other = their_result().detach().float()
            # 16-bit sums and chains round more often on the other side.
            tolerance = TOLERANCES[case.dtype]
            scale = other.abs().max().clamp_min(1e-30)
            # And by the smallest step of the type, which for float16 and means over many elements is not small.
            least = 2 * torch.finfo(their_result().dtype).smallest_normal * torch.finfo(their_result().dtype).eps
            if not torch.allclose(mine / scale, other / scale, rtol=tolerance, atol=tolerance + float(least / scale)):
                raise RuntimeError(f"{case.name}: the sides differ by {(mine - other).abs().max()} of {scale}")
            return compare(ours, others, least_seconds(case) * patience, case.threads)
        finally:
            ours.close()


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--part", default="1/1", help="I/N: the I-th of N parts of the run")
    parser.add_argument("--compile-only", action="store_true", help="fill torch.compile's cache, measure nothing")
    options = parser.parse_args()

    place = options.out.resolve().parent
    place.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(place / "inductor"))
    warnings.filterwarnings("ignore")
    threads = len(os.sched_getaffinity(0))
    cases = [c for c in all_cases(threads)
             if re.search(options.filter, c.name) and (not options.quick or is_quick(c)) and
             (not options.compile_only or c.group == "compile")]
    if not cases:
        sys.exit("no case has such a name")
    least = sum(least_seconds(c) for c in cases)
    part, parts = (int(x) for x in options.part.split("/"))
    if not 1 <= part <= parts:
        sys.exit(f"--part {options.part}: the first part is 1, the last is the number of parts")
    patience = min(2.0, max(0.3, (0.5 if options.quick else options.minutes) * 60 / least))
    passed, chosen = 0, []
    for case in cases:
        if least * (part - 1) / parts <= passed < least * part / parts:
            chosen.append(case)
        passed += least_seconds(case)
    cases = chosen
    print(f"{len(cases)} cases, about {least / parts * patience * 1.3:.0f} seconds", file=sys.stderr)

    peers = Peers(options.build, place)
    results = []
    print(f"{'case':>11}  {'group/operator/dtype/layout/elements/threads':<60} {'faster':>8} {'p10..p90':>16} "
          f"{'ns/call':>11} {'theirs':>11}")
    for number, case in enumerate(cases, 1):
        result = peers.run(case, patience, options.compile_only)
        if result is None:
            continue
        results.append({"name": case.name, "group": case.group, "threads": case.threads, **result})
        print(f"{number:5}/{len(cases):<5}  {case.name:<60} {result['ratio']:7.2f}x "
              f"({result['ratio_p10']:6.2f}..{result['ratio_p90']:6.2f}) {result['ns_per_call']:11.0f} "
              f"{result['their_ns_per_call']:11.0f}", flush=True)
        options.out.write_text(json.dumps({"torch": peers.torch.__version__, "numpy": peers.np.__version__,
                                           "compiler": shutil.which(os.environ.get("CC", "cc")),
                                           "comparisons": results}, indent=1) + "\n")
    for group in dict.fromkeys(r["group"] for r in results):
        ratios = [r["ratio"] for r in results if r["group"] == group]
        print(f"{group:>10}: geometric mean {geometric_mean(ratios):.2f}, lowest {min(ratios):.2f}, {len(ratios)} cases")


if __name__ == "__main__":
    main()
