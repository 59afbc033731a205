#!/usr/bin/env python3
"""Times attention of one query of each batch to its cached tokens, beside two ways to read as many bytes: one process, in turn, as many threads.

Usage: decoding.py --build BUILD [--before BUILD] [--threads N] [--rounds N] [--batches 1 16] [--tokens N] [--processor]

Keys and values are BF16, 32 heads of 128 elements. A case of few batches takes another part of them each time, so that it comes from memory.
Times are the best of all rounds; `sum` is the time over the attention's of PyTorch's sum of contiguous numbers, `read` that of decoding_reads.c,
which reads the cache in the order of its pages (the better of with and without prefetching), and `before` how many times as long the library in
another build takes, whose results must have the same bits. --processor takes the processor time of all threads instead of the elapsed time,
and the calling thread computes (ASCEND_LAUNCH_BLOCKING): for a machine that does other work, too.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import math
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "pytorch"))
HEADS, DEPTH, PAGE = 32, 128, 128
# PyTorch's threads poll for some milliseconds after a sum, and would take processors from what is timed next.
PAUSE = 0.01  # seconds
BF16, INT32 = 27, 3


class Installed:
    """A build's library by its own file: several may be loaded at once."""

    def __init__(self, build):
        self.lib = ctypes.CDLL(str(pathlib.Path(build) / "lib64" / "libportacl.so"))
        self.lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name in ("aclCreateTensor", "aclCreateTensorList", "aclCreateIntArray"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.check(self.lib.aclInit(None), "aclInit")
        self.check(self.lib.aclrtSetDevice(0), "aclrtSetDevice")
        self.stream = ctypes.c_void_p()
        self.check(self.lib.aclrtCreateStream(ctypes.byref(self.stream)), "aclrtCreateStream")

    def check(self, status, what):
        if status != 0:
            raise SystemExit(f"{what} returned {status}: {(self.lib.aclGetRecentErrMsg() or b'').decode()}")

    def tensor(self, tensor):
        shape, rank = int64s(tensor.shape), ctypes.c_uint64(tensor.dim())
        made = self.lib.aclCreateTensor(shape, rank, INT32 if tensor.dtype == torch.int32 else BF16, int64s(tensor.stride()),
                                        ctypes.c_int64(0), FORMAT_ND, shape, rank, ctypes.c_void_p(tensor.data_ptr()))
        return ctypes.c_void_p(made)


class Decoding:
    """One library's calls, for each part of a cache."""

    def __init__(self, installed, layout, query, caches, table, tokens):
        self.installed, self.out = installed, torch.zeros_like(query)
        lib, batches = installed.lib, query.shape[0]
        self.workspace = torch.zeros(0, dtype=torch.uint8)
        lengths = ctypes.c_void_p(lib.aclCreateIntArray(int64s([tokens] * batches), ctypes.c_uint64(batches)))
        pages = None if table is None else installed.tensor(table)
        settings = (ctypes.c_int64(HEADS), ctypes.c_double(1 / math.sqrt(DEPTH)), layout, ctypes.c_int64(HEADS),
                    ctypes.c_int64(0 if table is None else PAGE), ctypes.c_int64(1))
        lists = [[ctypes.c_void_p(lib.aclCreateTensorList((ctypes.c_void_p * 1)(installed.tensor(one)), ctypes.c_uint64(1)))
                  for one in cache] for cache in caches]
        ends = (installed.tensor(query), installed.tensor(self.out))
        self.calls = [(ends[0], key, value, None, None, lengths, *[None] * 7, pages, None, *settings, ends[1]) for key, value in lists]

    def run(self, at):
        lib, size, executor = self.installed.lib, ctypes.c_uint64(), ctypes.c_void_p()
        call = self.calls[at % len(self.calls)]
        self.installed.check(lib.aclnnIncreFlashAttentionV4GetWorkspaceSize(*call, ctypes.byref(size), ctypes.byref(executor)), "phase 1")
        if self.workspace.numel() < size.value:
            self.workspace = torch.zeros(size.value, dtype=torch.uint8)
        workspace = ctypes.c_void_p(self.workspace.data_ptr())
        self.installed.check(lib.aclnnIncreFlashAttentionV4(workspace, size, executor, self.installed.stream), "phase 2")
        self.installed.check(lib.aclrtSynchronizeStream(self.installed.stream), "aclrtSynchronizeStream")


class Cache(ctypes.Structure):
    """`struct cache` of decoding_reads.c."""

    _fields_ = [("of", ctypes.c_void_p * 2), ("table", ctypes.c_void_p)] + [
        (name, ctypes.c_int64) for name in ("batches", "heads", "tokens", "page_tokens", "page", "token", "head", "bytes", "prefetches")]


class Reads:
    """The loop that reads a cache."""

    def __init__(self, threads):
        with tempfile.TemporaryDirectory() as place:
            self.lib = compile_c("decoding_reads.c", pathlib.Path(place) / "decoding_reads.so", ["-march=native", "-pthread"])
        self.lib.decoding_read.restype = ctypes.c_uint32
        if self.lib.decoding_start(ctypes.c_int64(threads)) != 0:
            raise SystemExit("decoding_reads.c starts no threads")

    def calls(self, case, batches, caches, table, tokens):
        """Returns functions of a part's number, which do not prefetch and do."""
        row = DEPTH * 2
        page = tokens if table is None else PAGE
        by_row = case in ("BSND", "pages of rows")
        steps = (HEADS * row, row) if by_row else (row, page * row)
        made = [[Cache((ctypes.c_void_p * 2)(*[one.data_ptr() for one in cache]), None if table is None else table.data_ptr(), batches, HEADS, tokens,
                       page, page * HEADS * row, *steps, row, prefetches) for cache in caches] for prefetches in (0, 1)]
        for one, cache in zip(made[0], caches):
            expected = sum(int(part.reshape(-1).view(torch.int32).sum(dtype=torch.int64)) for part in cache) % 2**32
            if self.lib.decoding_read(ctypes.byref(one)) != expected:
                raise SystemExit(f"{case}, {batches}: not all of the cache is read")
        return [lambda at, kind=kind: self.lib.decoding_read(ctypes.byref(kind[at % len(kind)])) for kind in made]


def shapes_of(case, batches, tokens):
    """The layout, and the shapes of a query and of a batch's keys."""
    pages = batches * tokens // PAGE
    return {
        "BSND": (b"BSND", (batches, 1, HEADS, DEPTH), (batches, tokens, HEADS, DEPTH)),
        "BNSD": (b"BNSD", (batches, HEADS, 1, DEPTH), (batches, HEADS, tokens, DEPTH)),
        "pages of rows": (b"BSND", (batches, 1, HEADS, DEPTH), (pages, PAGE, HEADS * DEPTH)),
        "pages of heads": (b"BNSD", (batches, HEADS, 1, DEPTH), (pages, HEADS, PAGE, DEPTH)),
    }[case]


def main():
    libraries = [Installed(build) for build in (options.build, options.before) if build]
    generator = torch.Generator().manual_seed(1)
    elements = options.tokens * HEADS * DEPTH  # of a batch's keys
    most = max(options.batches)
    memory = [torch.randn(most * elements, generator=generator, dtype=torch.float32).to(torch.bfloat16) for _ in range(2)]
    names = "".join(f" {name:>8}" for name in ["ms", "GB/s", "sum", "read"] + (["before"] if options.before else []))
    reads = Reads(options.threads)
    print(f"threads: {options.threads}, {options.tokens} tokens\n{'case':<28}{names}")
    for batches in options.batches:
        parts = most // batches
        for case in ("BSND", "BNSD", "pages of rows", "pages of heads"):
            layout, of_query, of_key = shapes_of(case, batches, options.tokens)
            query = torch.randn(of_query, generator=generator).to(torch.bfloat16)
            table = None
            if case.startswith("pages"):
                table = torch.randperm(of_key[0], generator=generator).to(torch.int32).reshape(batches, -1)
            size = batches * elements
            caches = [[whole[i * size:(i + 1) * size].view(of_key) for whole in memory] for i in range(parts)]
            ours = [Decoding(library, layout, query, caches, table, options.tokens) for library in libraries]
            numbers = [[one.reshape(-1).view(torch.float32) for one in cache] for cache in caches]
            functions = [one.run for one in ours]
            functions += reads.calls(case, batches, caches, table, options.tokens)
            functions.append(lambda at, numbers=numbers: [one.sum() for one in numbers[at % len(numbers)]])
            best = [math.inf] * len(functions)
            at = 0
            for each in range(options.rounds * parts):
                order = range(len(functions))
                for i in order if each % 2 == 0 else reversed(order):
                    time.sleep(PAUSE)
                    start = clock()
                    functions[i](at)
                    best[i] = min(best[i], clock() - start)
                    at += 1
            for one in ours:
                one.run(0)
            if any(not torch.equal(one.out.view(torch.int16), ours[0].out.view(torch.int16)) for one in ours):
                raise SystemExit(f"{case}, {batches}: other bits than before")
            ratios = [best[-1] / best[0], min(best[-3:-1]) / best[0]] + [best[1] / best[0] for _ in ours[1:]]
            columns = [best[0] * 1e3, 4 * size / best[0] / 1e9, *ratios]
            print(f"{case + f', batch {batches}':<28}" + "".join(f" {number:8.2f}" for number in columns), flush=True)


parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--build", required=True)
parser.add_argument("--before")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--batches", type=int, nargs="+", default=(1, 16))
parser.add_argument("--tokens", type=int, default=4096)
parser.add_argument("--processor", action="store_true")
options = parser.parse_args()
if options.tokens % 256 != 0:
    parser.error("--tokens: a multiple of 256, which decoding_reads.c reads at a time")
os.environ["PORTACL_NUM_THREADS"] = str(options.threads)
clock = time.perf_counter
if options.processor:
    clock = time.process_time
    os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # another copy of the library would come with it
import torch  # noqa: E402
from installed_library import FORMAT_ND, int64s  # noqa: E402
from peers import compile_c  # noqa: E402

torch.set_num_threads(options.threads)
main()
