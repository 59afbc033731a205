#!/usr/bin/env python3
"""Compares copies and casts of the installed library with PyTorch's copy_, for every pair of dtypes, in random layouts.

Usage: compare_moves.py --prefix PREFIX [--rounds N] [--seed N]

Values are within what both dtypes hold, so that every result is defined, and must be the same bits (any NaN for a NaN). Only where PyTorch
rounds twice, on its way to 16 bits through float32, the results may be neighbours.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import sys
import types
import warnings

import numpy as np
import torch

import installed_library
import operands

ACL = {torch.float32: 0, torch.float16: 1, torch.int8: 2, torch.int32: 3, torch.uint8: 4, torch.int16: 6, torch.uint16: 7,
       torch.uint32: 8, torch.int64: 9, torch.uint64: 10, torch.float64: 11, torch.bool: 12, torch.complex64: 16,
       torch.complex128: 17, torch.bfloat16: 27}
WIDE = (torch.int32, torch.uint32, torch.int64, torch.uint64, torch.float64, torch.complex128)
HALVES = (torch.float16, torch.bfloat16)


def bits(tensor: torch.Tensor) -> np.ndarray:
    """The bytes of each element; those of NaN are made alike."""
    tensor = torch.view_as_real(tensor.resolve_conj()) if tensor.dtype.is_complex else tensor
    if tensor.dtype.is_floating_point:
        tensor = torch.where(torch.isnan(tensor), torch.full_like(tensor, float("nan")), tensor)
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(kinds[tensor.element_size()]).numpy()


def values(rng, count: int, source: torch.dtype, result: torch.dtype) -> torch.Tensor:
    """Random numbers of `source` that `result` can hold."""
    low, high = -3e38, 3e38
    for dtype in (source, result):
        if dtype is torch.bool:
            continue
        limits = torch.finfo(dtype) if dtype.is_floating_point or dtype.is_complex else torch.iinfo(dtype)
        low, high = max(low, float(limits.min) / 2), min(high, float(limits.max) / 4)
    exponents = rng.random_sample(count) * np.log2(max(high, 2.0))
    numbers = np.where(rng.randint(0, 2, count) == 0, 1.0, -1.0) * np.exp2(exponents) * (1 + rng.random_sample(count) / 16)
    numbers = np.where(rng.randint(0, 5, count) == 0, np.round(numbers), numbers).clip(low, high)
    if source is torch.bool:
        return torch.from_numpy(rng.randint(0, 2, count).astype(bool))
    if source.is_complex:
        return torch.complex(torch.from_numpy(numbers), torch.from_numpy(np.roll(numbers, 1))).to(source)
    if not source.is_floating_point:  # also odd ones that no double has
        spread = rng.randint(0, 4096, count) if torch.iinfo(source).bits == 64 else 0
        return (torch.from_numpy(np.trunc(numbers).astype(np.int64)) + torch.as_tensor(spread)).clamp(int(low), int(high)).to(source)
    if not (result.is_floating_point or result.is_complex):
        return torch.from_numpy(numbers).to(source)
    numbers[rng.randint(0, 12, count) == 0] = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan])
    return torch.from_numpy(numbers).to(source)


def compare(library, rng, name: str, source: torch.dtype, result: torch.dtype) -> str:
    """What is wrong with one random call, or nothing."""
    shape = operands.random_shape(rng, False)
    narrow = operands.narrowed(rng, shape, 2) if name == "aclnnInplaceCopy" else shape
    strides, offset, count = operands.random_layout(rng, narrow, False)
    src = operands.Operand("src", types.SimpleNamespace(acl=ACL[source]), narrow, strides, offset, values(rng, count, source, result))
    strides, offset, count = operands.random_layout(rng, shape, True)
    out = operands.Operand("out", types.SimpleNamespace(acl=ACL[result]), shape, strides, offset, torch.ones(count).to(result))
    converted = torch.empty_like(src.storage, dtype=result).copy_(src.storage)
    theirs = bits(out.storage).copy()
    taken = np.broadcast_to(src.indices(), shape)
    theirs[out.indices()] = bits(converted)[taken]
    if name == "aclnnInplaceCopy":
        library.call(name, [out], [], src)  # in the order of the signature
    else:
        library.call(name, [src], [ctypes.c_int(ACL[result])], out)
    ours = bits(out.storage)
    apart = ours != theirs
    if source in WIDE and result in HALVES:
        apart &= np.abs(ours.astype(np.int64) - theirs.astype(np.int64)) > 1
    if not apart.any():
        return ""
    at = int(np.argwhere(apart)[0][0])
    return f"{name} {source} to {result}, shape {list(shape)}: place {at} has the bits {ours[at]}, PyTorch {theirs[at]}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # that the imaginary part is dropped
    library = installed_library.Library(options.prefix)
    rng = np.random.RandomState(options.seed)
    calls, failures = 0, []
    for name in ("aclnnInplaceCopy", "aclnnCast"):
        for source in ACL:
            for result in ACL:
                for _ in range(options.rounds):
                    calls += 1
                    failure = compare(library, rng, name, source, result)
                    if failure:
                        failures.append(failure)
                        break
    print("\n".join(failures))
    print(f"copies and casts: {calls} calls, {len(failures)} differ from PyTorch")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
