#!/usr/bin/env python3
"""Measures the installed library, and PyTorch beside it, by CANN's public accuracy standard.

Usage: accuracy_standard.py --prefix PREFIX [--check PAGE | --write PAGE] [--long]

The standard: shapes of ranks 1 to 8 with dims 2^k and 2^k - 1; half of the operands uniform in [-5, 5], half normal with
a mean in [-5, 5] and a deviation in [0.1, 2]; empty tensors, shape [1], all dims 1, one dim of 2^20, infinities and NaN.
Of each case's results, 99 % lie within atol + rtol * |exact|, and none is farther off than an absolute limit or 32 units
in the last place, whichever is larger. PAGE is docs/numerics.md: --check compares portacl's columns with the table there,
which --write writes; PyTorch's depend on the machine. --long takes larger shapes and more cases, and has no table.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import dataclasses
import json
import math
import multiprocessing
import os
import pathlib
import sys
import warnings

import numpy as np
import torch

import installed_library
import marked_table
import number_formats as nf
import operands
import operators

MARK = "accuracy standard"
SEED = 2026
STANDARD = json.loads((pathlib.Path(__file__).resolve().parents[2] / "python/portacl/comparison/accuracy_standard.json").read_text())
# dtype: rtol, atol, absolute limit
TOLERANCES = {short: (2.0 ** STANDARD[name]["rtol"], 2.0 ** STANDARD[name]["atol"], STANDARD[name]["limit"])
              for short, name in (("f32", "float32"), ("f16", "float16"), ("bf16", "bfloat16"))}
LARGEST_ULP = STANDARD["largest_ulp"]
SHARE = STANDARD["share"]
LARGEST_DIM = 2**20


@dataclasses.dataclass
class Score:
    results: int = 0
    within: int = 0
    largest_error: float = 0.0
    largest_ulp: float = 0.0
    failed: int = 0

    def add(self, got: np.ndarray, truth: np.ndarray, dtype: nf.Dtype):
        rtol, atol, most = TOLERANCES[dtype.name]
        expected = nf.rounded(truth, dtype)
        special = ~np.isfinite(expected) | ~np.isfinite(got)
        same = (np.isnan(expected) & np.isnan(got)) | (expected == got)
        error = np.where(special, np.where(same, 0.0, np.inf), np.abs(got - truth))
        error = np.where(np.isnan(error), np.inf, error)
        unit = nf.unit(truth, dtype)
        within = np.where(special, same, error <= atol + rtol * np.abs(truth))
        self.results += got.size
        self.within += int(np.count_nonzero(within))
        if got.size:
            self.largest_error = max(self.largest_error, float(error.max()))
            self.largest_ulp = max(self.largest_ulp, float((error / unit).max()))
            far = error > np.maximum(most, LARGEST_ULP * unit)
            self.failed += bool(np.count_nonzero(within) < SHARE * got.size or np.any(far))

    def cells(self) -> list:
        share = math.floor(self.within / self.results * 1e4) / 1e2
        ulp = f"{self.largest_ulp:.2g}" if self.largest_ulp < 100 else f"{self.largest_ulp:.0e}"
        return ["100 %" if self.within == self.results else f"{share:.2f} %", f"{self.largest_error:.1e}", ulp,
                str(self.failed)]


def random_shape(rng, rank: int, most: int) -> tuple:
    shape, count = [], 1
    for left in range(rank, 0, -1):
        room = max(0, int(math.log2(max(1, most // count))))
        power = rng.randint(0, min(20, max(1, 2 * room // left)) + 1)
        length = max(1, 2**power - rng.randint(0, 2))
        shape.append(length if length * count <= most else 1)
        count *= shape[-1]
    rng.shuffle(shape)
    return tuple(int(n) for n in shape)


def shapes_of_cases(rng, operator, long: bool) -> list:
    """(shapes of the inputs, whether infinities and NaN are among the values)."""
    most = 2**22 if long else 2**15
    same = [random_shape(rng, rank, most) for rank in range(1, 9) for _ in range(20 if long else 4)]
    same += [(1,), (1,) * 8, (LARGEST_DIM,)]
    cases = [((shape,) * len(operator.inputs), False) for shape in same]
    for position in range(len(operator.inputs)):  # an empty tensor in each place
        cases.append((tuple((0, 4) if k == position else (1, 4) for k in range(len(operator.inputs))), False))
    cases.append((((0, 3),) * len(operator.inputs), False))
    cases += [(((64, 33),) * len(operator.inputs), True)] * 2
    return cases


def values_of(rng, count: int, uniform: bool, with_specials: bool) -> np.ndarray:
    if uniform:
        values = rng.random_sample(count) * 10 - 5
    else:
        values = rng.standard_normal(count) * (0.1 + 1.9 * rng.random_sample()) + (rng.random_sample() * 10 - 5)
    if with_specials:
        specials = np.array([np.inf, -np.inf, np.nan])
        values = np.where(rng.randint(0, 8, count) == 0, specials[rng.randint(0, 3, count)], values)
    return values


def calls_of(operator, dtype: nf.Dtype, long: bool):
    rng = np.random.RandomState([SEED, operators.ALL.index(operator), dtype.acl])
    for number, (shapes, with_specials) in enumerate(shapes_of_cases(rng, operator, long)):
        reduction = operator.reductions[number % len(operator.reductions)]
        log_target = operator.has_log_target and number % 2 == 1
        inputs = []
        named_shapes = dict(zip(operator.inputs, shapes))
        if operator.name in ("aclnnKlDivBackward", "aclnnKlDivTargetBackward"):  # gradOutput may not enlarge R
            R = np.broadcast_shapes(named_shapes["self"], named_shapes["target"])
            if np.broadcast_shapes(named_shapes["gradOutput"], R) != R:
                continue
        for name, shape in named_shapes.items():
            values = values_of(rng, math.prod(shape), bool(rng.randint(0, 2)), with_specials)
            if name == "target" and operator.has_log_target and not log_target:
                values = np.abs(values)  # a logarithm is taken of it
            inputs.append(operands.dense(name, dtype, shape, operands.stored(values, dtype)))
        R = tuple(int(n) for n in np.broadcast_shapes(*shapes))
        shape = tuple(operator.output_shape(R, named_shapes, reduction))
        if math.prod(R) == 0 and operator.name in ("aclnnMseLossOut", "aclnnKlDivTargetBackward") and math.prod(shape):
            continue  # nothing is written then: docs/compatibility.md
        storage = torch.full((math.prod(shape),), int(operators.UNTOUCHED), dtype=dtype.torch)
        output = operands.dense(operator.output, dtype, shape, storage)
        yield operators.Call(operator, inputs, output, reduction, (1.0, 0.5, 2.0)[number % 3], log_target)


library = None  # of a worker process


def start_worker(prefix: str):
    global library
    warnings.filterwarnings("ignore", category=UserWarning)
    np.seterr(all="ignore")
    torch.set_num_threads(1)
    library = installed_library.Library(prefix)


def measure(index: int, dtype_index: int, long: bool):
    operator, dtype = operators.ALL[index], nf.FLOATS[dtype_index]
    cases, ours, theirs = 0, Score(), Score()
    for call in calls_of(operator, dtype, long):
        library.call(operator.name, call.inputs, operator.attributes(call), call.output)
        truth = np.asarray(operator.truth(call), dtype=np.float64)
        got = operator.pytorch(call)
        if got.dtype != dtype.torch or tuple(got.shape) != call.output.shape:
            raise AssertionError(f"{operator.name}: PyTorch gives {got.dtype} {tuple(got.shape)}, not {call.output}")
        ours.add(call.output.values(), truth, dtype)
        theirs.add(got.to(torch.float64).numpy(), truth, dtype)
        cases += 1
    return cases, ours, theirs


def table_of(rows) -> str:
    lines = ["| operator | dtype | cases | results | portacl: within | max error | max ulp | failed | "
             "PyTorch: within | max error | max ulp | failed |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for name, dtype, cases, ours, theirs in rows:
        cells = [name, dtype, str(cases), str(ours.results), *ours.cells(), *theirs.cells()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def without_pytorch(table: str) -> list:
    return [line.split(" | ")[:8] for line in table.splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--check", metavar="PAGE", type=pathlib.Path)
    parser.add_argument("--write", metavar="PAGE", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    workers, spawn = len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, spawn, start_worker, (arguments.prefix,)) as pool:
        tasks = [(operator.name, dtype.name, pool.submit(measure, index, dtype_index, arguments.long))
                 for index, operator in enumerate(operators.ALL) for dtype_index, dtype in enumerate(nf.FLOATS)]
        rows = [(name, dtype, *task.result()) for name, dtype, task in tasks]
    table = table_of(rows)
    print(table)
    failed = sum(ours.failed for _, _, _, ours, _ in rows)
    print(f"{sum(row[2] for row in rows)} cases, {sum(row[3].results for row in rows)} results; "
          f"failed by portacl: {failed}, by PyTorch: {sum(row[4].failed for row in rows)}")
    if arguments.write:
        marked_table.write(arguments.write, MARK, table)
    elif arguments.check and not arguments.long:
        if without_pytorch(marked_table.read(arguments.check, MARK)) != without_pytorch(table):
            print(f"FAILED: portacl's columns differ from those in {arguments.check}, which --write writes anew")
            return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
