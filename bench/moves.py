#!/usr/bin/env python3
"""Times copies and casts of the installed library beside PyTorch's copy_, on one thread, in one process, taking turns.

Usage: moves.py --prefix PREFIX [--rounds N] [--filter REGEX]

What counts is the processor's time, the least of all rounds: other programs disturb it least. A ratio above 1 says that PyTorch takes longer.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import os
import pathlib
import re
import sys
import time

os.environ["PORTACL_NUM_THREADS"] = "1"
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it

import torch  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/pytorch"))
import installed_library  # noqa: E402
from compare_moves import ACL  # noqa: E402

PAIRS = ("float32 bfloat16", "float32 float16", "float16 float32", "bfloat16 float32", "int64 float32", "float64 float32",
         "float32 float64", "int64 int32", "int32 int64", "float32 int32", "int32 float32", "float32 int64", "bool float32",
         "float32 bool", "uint8 float32", "float32 uint8", "float64 bfloat16", "int64 bfloat16", "bfloat16 float16",
         "uint8 int32", "int64 bool", "float32 complex64")


def cases():
    """name -> (source, destination), made when it is its turn."""
    def dense(shape, dtype="float32"):
        return torch.ones(shape, dtype=getattr(torch, dtype))
    yield "copy of 2^26 bytes", lambda: (dense(1 << 24), dense(1 << 24))
    for pair in PAIRS:
        source, result = pair.split()
        yield f"{source} to {result}, 2^23", lambda a=source, b=result: (dense(1 << 23, a), dense(1 << 23, b))
    for dtype in ("uint8", "float16", "float32", "float64"):
        yield f"transposed 4096 x 4096 {dtype}", lambda d=dtype: (dense((4096, 4096), d).t(), dense((4096, 4096), d))
    yield "transposed 4096 x 4096 float32 to bfloat16", lambda: (dense((4096, 4096)).t(), dense((4096, 4096), "bfloat16"))
    yield "channels last, 1024 x 1024 x 3", lambda: (dense((3, 1024, 1024)).permute(1, 2, 0), dense((1024, 1024, 3)))
    yield "channels first, 3 x 1024 x 1024", lambda: (dense((1024, 1024, 3)).permute(2, 0, 1), dense((3, 1024, 1024)))
    yield "3 x 3 matrices transposed, 500000", lambda: (dense((500000, 3, 3)).transpose(1, 2), dense((500000, 3, 3)))
    yield "heads swapped, runs of 256 bytes", lambda: (dense((64, 16, 128, 64)).transpose(1, 2), dense((64, 128, 16, 64)))
    yield "every second of 2^23", lambda: (dense(1 << 23)[::2], dense(1 << 22))
    yield "into every second of 2^23", lambda: (dense(1 << 22), dense(1 << 23)[::2])
    yield "column expanded to 4096 x 4096", lambda: (dense((4096, 1)), dense((4096, 4096)))


FORMAT_ND = installed_library.FORMAT_ND


def tensor_over(library, one, tensor_format=FORMAT_ND):
    """An aclTensor that is the same view of the same memory as PyTorch's tensor."""
    storage = one.untyped_storage()
    count = storage.nbytes() // one.element_size()
    return ctypes.c_void_p(library.lib.aclCreateTensor(
        installed_library.int64s(one.shape), ctypes.c_uint64(one.dim()), ACL[one.dtype], installed_library.int64s(one.stride()),
        ctypes.c_int64(one.storage_offset()), tensor_format, installed_library.int64s([count]), ctypes.c_uint64(1),
        ctypes.c_void_p(storage.data_ptr())))


class Copy:
    """aclnnInplaceCopy of one tensor into another: both phases and the wait."""

    def __init__(self, library, source, destination):
        self.lib, self.keep = library.lib, (source, destination)
        self.stream = library.stream
        self.tensors = [tensor_over(library, one) for one in (destination, source)]

    def __call__(self):
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        if self.lib.aclnnInplaceCopyGetWorkspaceSize(*self.tensors, ctypes.byref(size), ctypes.byref(executor)) != 0:
            raise SystemExit(self.lib.aclGetRecentErrMsg().decode())
        self.lib.aclnnInplaceCopy(None, ctypes.c_uint64(0), executor, self.stream)
        self.lib.aclrtSynchronizeStream(self.stream)


def least(rounds: int, *functions) -> list[float]:
    """Milliseconds of each, the functions taking turns."""
    times = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            times[i] = min(times[i], (time.process_time() - start) * 1e3)
    return times


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    library = installed_library.Library(options.prefix)
    print(f"{'':45} {'portacl ms':>10} {'PyTorch ms':>10} {'ratio':>6}")
    for name, make in cases():
        if not re.search(options.filter, name):
            continue
        source, destination = make()
        ours, theirs = least(options.rounds, Copy(library, source, destination), lambda: destination.copy_(source))
        print(f"{name:45} {ours:10.2f} {theirs:10.2f} {theirs / ours:6.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
