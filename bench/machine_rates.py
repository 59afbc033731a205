"""The rates of machine_rates.c, compiled for this processor: what bounds products of matrices and attention.

SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import tempfile

STEPS = 30000  # of a call: about 0.1 ms
STEPS_OF_THREADS = 20 * STEPS  # beside which the 20 us count little that several threads take to begin and to end
KINDS = ("float32", "bfloat16", "int8")


class Rates:
    """Work of `threads` threads at a time; ctypes leaves the interpreter's lock while it runs."""

    def __init__(self, threads):
        source = pathlib.Path(__file__).with_name("machine_rates.c")
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder, "machine_rates.so")
            subprocess.run([os.environ.get("CC", "cc"), "-O3", "-std=gnu11", "-march=native", "-ffp-contract=fast", "-fPIC", "-shared", str(source),
                            "-o", str(library)], check=True)
            self.lib = ctypes.CDLL(str(library))
        for kind in KINDS:
            function = getattr(self.lib, "multiply_" + kind)
            function.restype, function.argtypes = ctypes.c_double, (ctypes.c_int64,)
        self.lib.read_memory.restype, self.lib.read_memory.argtypes = ctypes.c_int64, (ctypes.c_void_p, ctypes.c_int64)
        self.threads, self.steps = threads, STEPS if threads == 1 else STEPS_OF_THREADS
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    def _together(self, function, calls):
        if self.threads == 1:
            return function(*calls[0])
        return list(self.pool.map(lambda call: function(*call), calls))

    def multiplier(self, kind):
        """A function that multiplies in registers, and how many multiplications that are. float16 has those of float32, and so have bfloat16 without
        AVX512-BF16 and int8 without AVX512-VNNI. Where the library has faster instructions (AMX's tiles, AVX-VNNI, SDOT), it exceeds these rates."""
        function = getattr(self.lib, "multiply_" + ("float32" if kind == "float16" else kind))
        if function(1) == 0:
            function = self.lib.multiply_float32
        return lambda: self._together(function, [(self.steps,)] * self.threads), function(1) * self.steps * self.threads

    def reader(self, address, size):
        """A function that reads memory, cut for the threads."""
        part = size // self.threads
        calls = [(address + part * i, part) for i in range(self.threads)]
        return lambda: self._together(self.lib.read_memory, calls)
