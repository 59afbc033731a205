#!/usr/bin/env python3
"""Compares the installed library with PyTorch: every operator, random calls, both judged by the exact values.

Usage: compare.py --prefix PREFIX [--long] [--seed N] [--cases N] [--operator NAME [--case K]]
       compare.py --write-table PAGE | --check-table PAGE

portacl may nowhere be farther from the exact value than PyTorch by more than a unit in the last place of the output's
type, and may nowhere differ from PyTorch by more than roundings explain, but for the differences that differences.py
lists; and each of those must occur. PAGE is docs/compatibility.md, which holds the list as a table.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import math
import multiprocessing
import os
import pathlib
import sys
import time
import warnings

import numpy as np
import torch

import differences
import installed_library
import marked_table
import operators
import random_calls

MARK = "differences from PyTorch"
FAILURES_SHOWN = 5


class Tally:
    def __init__(self):
        self.cases = self.elements = self.closer = self.farther = 0
        self.failures = []
        self.mixes = set()
        self.occurrences = collections.Counter()  # (difference, operator) -> elements
        self.calls = collections.Counter()  # (difference, operator) -> calls

    def add(self, difference, operator, elements):
        self.occurrences[difference.name, operator.name] += elements
        self.calls[difference.name, operator.name] += 1

    def merge(self, other):
        for name, value in vars(other).items():
            if isinstance(value, set):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)


def run(library, call):
    """What the library and PyTorch give, and the exact values, as arrays of float64 (int64 for an integer output)."""
    library.call(call.operator.name, call.inputs, call.operator.attributes(call), call.output)
    dtype = call.output.dtype
    ours = call.output.values()
    theirs = call.operator.pytorch(call).to(dtype.torch)
    if dtype.is_complex:
        if np.any(ours.imag != 0) and not np.any(ours.real == operators.UNTOUCHED):
            raise AssertionError("an imaginary part is not 0")
        ours, theirs = ours.real, theirs.real
    theirs = theirs.to(torch.float64 if dtype.floating else torch.int64).numpy()
    truth = np.asarray(call.operator.truth(call))
    if theirs.shape != call.output.shape or truth.shape != call.output.shape:
        raise AssertionError(f"shapes: PyTorch {theirs.shape}, exact {truth.shape}, output {call.output.shape}")
    if dtype.floating:
        truth = truth.astype(np.float64)
    else:  # integers are exact, and narrowed as C does
        truth = torch.from_numpy(np.array(truth)).to(dtype.torch).to(torch.int64).numpy()
    outside = np.ones(call.output.storage.numel(), dtype=bool)
    outside[call.output.indices()] = False
    if np.any(call.output.storage.to(torch.complex128).numpy()[outside] != operators.UNTOUCHED):
        raise AssertionError("something outside the output's view was written")
    return ours, theirs, truth


def judge(call, ours, theirs, truth, tally):
    """The elements that no listed difference explains: {what is wrong: mask}."""
    if not call.output.dtype.floating:
        apart = ours != theirs
        if np.any(apart) and operators.pytorch_common(call, True) != operators.pytorch_common(call, False):
            tally.add(differences.BY_NAME["rank 0"], call.operator, int(apart.sum()))
            apart = np.zeros_like(apart)
        return {"not the exact integer": ours != truth, "not PyTorch's integer": apart}
    results = differences.Results(call, ours, theirs, truth)
    tally.closer += int(np.count_nonzero(results.our_error < results.their_error))
    tally.farther += int(np.count_nonzero(results.our_error > results.their_error))
    wrong = {"differs from PyTorch": results.apart, "farther from the exact value than PyTorch": results.farther}
    for one in differences.ALL:
        if not any(np.any(mask) for mask in wrong.values()):
            break
        if call.operator.name not in one.operators + one.rarely:
            continue
        explained = np.broadcast_to(one.explains(results), call.output.shape)
        count = 0
        for what, mask in wrong.items():
            if what.startswith("differs") or one.portacl_may_be_farther:
                count += int(np.count_nonzero(mask & explained))
                wrong[what] = mask & ~explained
        if count:
            tally.add(one, call.operator, count)
    return wrong


def shown(value) -> str:
    return f"{value!r} ({value.hex()})" if isinstance(value, float) else repr(value)


def describe(call, masks, ours, theirs, truth) -> str:
    lines = [f"  {one}" for one in (*call.inputs, call.output)]
    reduction = operators.REDUCTIONS[call.reduction]
    lines.append(f"  reduction {reduction}, beta {call.beta!r}, logTarget {call.log_target}, "
                 f"R {list(call.R)}, divisor {call.operator.divisor(call)}")
    for what, mask in masks.items():
        places = np.argwhere(mask)
        for place in places[:3]:
            place = tuple(int(k) for k in place)
            lines.append(f"  {what}, at {list(place)} ({len(places)} such): portacl {float(ours[place])!r}, "
                         f"PyTorch {float(theirs[place])!r}, exact {float(truth[place])!r}")
            if not call.summed:
                operands = {one.name: call.values(one.name)[place].item() for one in call.inputs}
                lines.append("    " + ", ".join(f"{name} {shown(value)}" for name, value in operands.items()))
    return "\n".join(lines)


library = None  # of a worker process


def start_worker(prefix):
    global library
    warnings.filterwarnings("ignore", category=UserWarning)
    np.seterr(all="ignore")
    torch.set_num_threads(1)
    library = installed_library.Library(prefix)


def compare_some(index, seed, long, numbers) -> Tally:
    """The random calls of these numbers of one operator."""
    operator, tally = operators.ALL[index], Tally()
    for number in numbers:
        call = random_calls.random_call(operator, seed, number, long)
        try:
            ours, theirs, truth = run(library, call)
            masks = judge(call, ours, theirs, truth, tally)
            failed = any(np.any(mask) for mask in masks.values())
            text = describe(call, masks, ours, theirs, truth) if failed else ""
        except (AssertionError, RuntimeError, ArithmeticError, installed_library.CallFailed) as error:
            text = describe(call, {}, None, None, None) + f"\n  {type(error).__name__}: {error}"
        tally.cases += 1
        tally.elements += math.prod(call.output.shape)
        tally.mixes.add((tuple(one.dtype.name for one in call.inputs), call.output.dtype.name))
        if text:
            tally.failures.append(f"FAILED: {operator.name}, to reproduce: compare.py --prefix PREFIX --seed {seed}"
                                  f"{' --long' if long else ''} --operator {operator.name} --case {number}\n{text}")
    return tally


def report(tallies, seconds, whole: bool) -> int:
    print(f"{'operator':<27}{'calls':>7}{'results':>11}{'mixes of dtypes':>17}{'closer':>11}{'farther':>11}")
    total = Tally()
    for operator, tally in tallies.items():
        mixes = f"{len(tally.mixes)}/{len({(mix, out) for mix, out, _ in operator.all_mixes})}"
        print(f"{operator.name:<27}{tally.cases:>7}{tally.elements:>11}{mixes:>17}"
              f"{tally.closer:>11}{tally.farther:>11}")
        total.merge(tally)
    print("listed differences: results (calls)")
    missing = 0
    for one in differences.ALL:
        seen = [f"{name.removeprefix('aclnn')} {total.occurrences[one.name, name]} ({total.calls[one.name, name]})"
                for name in one.operators + one.rarely if total.occurrences[one.name, name]]
        print(f"  {one.name}: {', '.join(seen)}")
        absent = [name for name in one.operators if not total.occurrences[one.name, name]]
        if absent and whole:
            print(f"FAILED: the difference \"{one.name}\" is listed but did not occur for {', '.join(absent)}")
            missing += len(absent)
    for text in total.failures[:FAILURES_SHOWN]:
        print(text)
    print(f"{total.cases} calls, {total.elements} results in {seconds:.0f} s; {len(total.failures)} calls failed, "
          f"{missing} listed differences did not occur")
    return 1 if total.failures or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--operator")
    parser.add_argument("--case", type=int)
    parser.add_argument("--write-table", metavar="PAGE", type=pathlib.Path)
    parser.add_argument("--check-table", metavar="PAGE", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.write_table:
        marked_table.write(arguments.write_table, MARK, differences.table())
        return 0
    if arguments.check_table:
        return marked_table.check(arguments.check_table, MARK, differences.table(), "compare.py --write-table")
    if not arguments.prefix:
        parser.error("--prefix is missing")
    capability = torch.backends.cpu.get_cpu_capability()
    print(f"portacl against PyTorch {torch.__version__} ({capability}), seed {arguments.seed}", flush=True)
    cases, start = arguments.cases or (20000 if arguments.long else 1000), time.monotonic()
    workers = len(os.sched_getaffinity(0)) if arguments.case is None else 1
    with concurrent.futures.ProcessPoolExecutor(
            workers, multiprocessing.get_context("spawn"), start_worker, (arguments.prefix,)) as pool:
        tasks = []
        for index, operator in enumerate(operators.ALL):
            if arguments.operator not in (None, operator.name):
                continue
            if arguments.case is not None:
                numbers = [arguments.case]
            else:  # enough for all mixes of dtypes
                numbers = range(arguments.cases or max(cases, random_calls.calls_for_every_mix(operator)))
            for first in range(0, len(numbers), 250):
                some = list(numbers[first:first + 250])
                tasks.append((operator, pool.submit(compare_some, index, arguments.seed, arguments.long, some)))
        tallies = {operator: Tally() for operator, _ in tasks}
        for operator, task in tasks:
            tallies[operator].merge(task.result())
    whole = arguments.operator is None and arguments.case is None and arguments.cases is None
    return report(tallies, time.monotonic() - start, whole)


if __name__ == "__main__":
    sys.exit(main())
