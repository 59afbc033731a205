#!/usr/bin/env python3
"""Times operators beside PyTorch writing into an output that exists: one thread, one process, taking turns.

Usage: maps.py --build BUILD --out FILE [--filter REGEX] [--rest-of-aten] [--minutes N] [--processor] [--check]

Names are OPERATOR/DTYPE/2^SIZE; the rows are in maps_table.py (elementwise), moves_table.py (movement, indexing, random numbers), images_table.py
(pads, windows, resampling), reductions_table.py (reductions, scans), ordered_table.py (sorting, selecting, searching, counting) and rows_table.py
(softmax, norms, losses over classes). A ratio above 1 says that PyTorch takes longer. Both sides must agree before they are timed; --check does that and times nothing. --processor takes the
processor time instead of the elapsed time, and the calling thread computes (ASCEND_LAUNCH_BLOCKING): for a machine that does other work, too.
--rest-of-aten measures only the operators of rest_of_aten.py.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ctypes
import json
import os
import pathlib
import platform
import re
import struct
import sys
import time
import warnings

import images_table
import maps_table
import moves  # before PyTorch: it sets the environment
import moves_table
import ordered_table
import reductions_table
import rest_of_aten
import rows_table
import torch
from compare_moves import ACL
from installed_library import CallFailed, Library, int64s
from peers import ROOT, SECONDS_TO_FALL_ASLEEP, compile_c, quantile

sys.path.insert(0, str(ROOT / "tools"))
import schema.read  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64, "i8": torch.int8, "bool": torch.bool}
TOLERANCES = {"f32": 1e-4, "bf16": 4e-2}
# Where functions have steps, the sides may stand on two sides of one: a quotient rounded to bf16 before it is truncated, or after.
SHARE_THAT_MAY_DIFFER = 5e-3
# Random numbers of the two sides are other ones: so far may means and deviations be apart.
MOMENTS_APART = 0.1
FORMATS = {3: 47, 4: 0, 5: 30}  # NCL, NCHW, NCDHW
IN_CACHE = 14
CALLS_IN_CACHE = 64
MADE = moves_table.MADE | images_table.MADE | reductions_table.MADE | ordered_table.MADE | rows_table.MADE
LEAST_PAIRS, MOST_PAIRS = 3, 41


class Case:
    def __init__(self, row, dtype, log2):
        self.row, self.dtype, self.log2 = row, dtype, log2
        self.name = f"{row.name}/{dtype}/2^{log2}"


def all_cases():
    """Ordered so that operands can be kept from one case to the next."""
    rows = maps_table.ROWS + moves_table.ROWS + images_table.ROWS + reductions_table.ROWS + ordered_table.ROWS + rows_table.ROWS
    for product in sorted({row.product for row in rows}):
        for in_cache in (True, False):
            for dtype in DTYPES:
                for row in sorted(rows, key=lambda row: row.from_memory):
                    if row.product == product and dtype in row.dtypes and getattr(row, "in_cache", True) >= in_cache:
                        yield Case(row, dtype, IN_CACHE if in_cache else row.from_memory)


def memcpy(to, source):
    ctypes.memmove(to.data_ptr(), source.data_ptr(), source.nbytes)
    return to


# ---- operands ---------------------------------------------------------------------------------

class Operands:
    """What the words of maps_table.py mean for a case. Tensors are kept for as long as dtype and size stay."""

    def __init__(self):
        self.key, self.kept = None, {}

    def tensor(self, letter, dtype, domain, log2):
        return self.keep((letter, dtype, domain, log2), lambda: self.made(letter, dtype, domain, log2))

    def keep(self, name, make):
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    @staticmethod
    def made(letter, dtype, domain, log2):
        generator = torch.Generator().manual_seed(ord(letter))
        real, integer = maps_table.DOMAINS[domain]
        pattern = torch.rand(min(1 << log2, 1 << 16), generator=generator)
        if dtype == "bool":
            pattern = pattern < 0.5
        elif dtype in maps_table.FLOATS:
            pattern = pattern * (real[1] - real[0]) + real[0]
        else:
            pattern = torch.floor(pattern * (integer[1] - integer[0] + 1)) + integer[0]
        return pattern.to(DTYPES[dtype]).repeat((1 << log2) // pattern.numel())

    @staticmethod
    def needed(words):
        """The names of MADE in words, and in how those are made."""
        found = set()
        while True:
            more = {name for name in MADE if re.search(rf"\b{name}\b", words)}
            if more == found:
                return found
            found, words = more, " ".join([words, *(MADE[name] for name in more)])

    def names(self, case):
        row, dtype, log2 = case.row, case.dtype, case.log2
        if self.key != (dtype, log2):
            self.key, self.kept = (dtype, log2), {}
        real = dtype in maps_table.FLOATS
        rows, columns = 1 << log2 // 2, 1 << log2 - log2 // 2
        names = {"torch": torch, "n": 1 << log2, "rows": rows, "columns": columns, "s": 1.5 if real else True if dtype == "bool" else 2,
                 "t": 0.5 if real else 3, "low": -1.0 if real else -5, "high": 1.0 if real else 5}
        placed = isinstance(row, moves_table.Placed)
        words = f"{row.ours} {row.torch} {row.result} {row.theirs}" if placed else row.ours
        needed = self.needed(words) if placed else set()
        words = " ".join([words, *(MADE[name] for name in needed)])
        for letter in "abc":
            if re.search(rf"\b{letter}2?\b", words):
                names[letter] = self.tensor(letter, dtype, row.domain, log2)
        if re.search(r"\bm\b", words):
            names["m"] = self.tensor("m", "bool", "any", log2)
        result = DTYPES[row.output_of(dtype)]
        names["out"] = self.keep(("out", result), lambda: torch.zeros(1 << log2, dtype=result))
        names["z"] = torch.tensor(names["s"], dtype=DTYPES[dtype])
        for letter in ("a", "b", "out"):
            if letter in names:
                names[letter + "2"] = names[letter].view(rows, columns)
        names["out1"] = names["out"][:1]
        if "decay" in row.ours.split():
            names["decay"] = self.keep(("decay", dtype, row.domain), lambda: torch.exp(-names["b"].abs()))
        names["sum"] = torch.zeros((), dtype=result)
        names.update({"F": torch.nn.functional, "memcpy": memcpy, "g": torch.Generator().manual_seed(1)})
        for name, how in MADE.items():
            if name in needed:
                names[name] = self.keep((name, row.domain), lambda how=how: eval(how, names))
        if "same" in row.ours.split():
            names["same"] = self.keep(("same", dtype, row.domain), lambda: names["a"].clone())
        if "pair" in row.ours.split():
            names["pair"] = self.keep(("pair", dtype, row.domain), lambda: self.tensor("p", dtype, row.domain, log2).repeat(2))
        for name, count in (("outs", 2), ("also", 1)):
            if name in row.ours.split():
                names[name] = self.keep((name, result), lambda count=count: torch.zeros(count << log2, dtype=result))
        return names


# ---- the two sides ----------------------------------------------------------------------------

class CallArguments(ctypes.Structure):
    _fields_ = [("phase1", ctypes.c_void_p), ("phase2", ctypes.c_void_p), ("words", ctypes.c_uint64 * 14), ("numbers", ctypes.c_double * 5),
                ("word_count", ctypes.c_int32), ("shaped_rank", ctypes.c_int32), ("workspace", ctypes.c_void_p), ("workspace_size", ctypes.c_uint64),
                ("shaped", ctypes.c_void_p), ("shaped_dims", ctypes.c_int64 * 2), ("shaped_dtype", ctypes.c_int64),
                ("shaped_data", ctypes.c_void_p)]


class Portacl:
    """The library of a build, as one product after the other."""

    def __init__(self, build, place):
        self.build, self.loaded, self.product = build, None, None
        lib = build / "lib64"
        self.c = compile_c("maps_calls.c", place / "maps_calls.so",
                           ["-I", str(build / "include"), "-L", str(lib), f"-Wl,-rpath,{lib}", "-lportacl"])
        self.c.maps_burst.restype = ctypes.c_double
        self.c.maps_burst.argtypes = [ctypes.POINTER(CallArguments), ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        self.c.maps_free.argtypes = [ctypes.POINTER(CallArguments)]

    def use(self, product):
        if self.loaded is not None and product == self.product:
            return
        if self.loaded is not None:
            lib = self.loaded.lib
            self.loaded.check(lib.aclrtDestroyStream(self.loaded.stream), "aclrtDestroyStream")
            self.loaded.check(lib.aclrtResetDevice(0), "aclrtResetDevice")
            self.loaded.check(lib.aclFinalize(), "aclFinalize")
        os.environ.pop("PORTACL_SOC", None)
        if product:
            os.environ["PORTACL_SOC"] = product
        self.loaded, self.product = Library(self.build), product
        for function in ("aclCreateScalar", "aclCreateTensorList", "aclCreateIntArray", "aclCreateBoolArray"):
            getattr(self.loaded.lib, function).restype = ctypes.c_void_p


class OurSide:
    def __init__(self, portacl, case, names):
        self.portacl, self.lib, self.names = portacl, portacl.loaded.lib, names  # the tensors live as long as this
        self.tensors, self.scalars, self.texts, self.lists, self.arrays, self.flags, self.kept = [], [], [], [], [], [], []
        arguments = self.arguments = CallArguments()
        function = "aclnn" + case.row.function
        arguments.phase1 = self.address(function + "GetWorkspaceSize")
        arguments.phase2 = self.address(function)
        numbers = []
        for word in case.row.ours.split():
            kind, _, text = word.partition(":") if word[1:2] == ":" else ("", "", word)
            if kind in ("F", "D"):
                value = float(eval(text, names))
                numbers.append(struct.unpack("<d", struct.pack("<fxxxx", value))[0] if kind == "F" else value)
                continue
            arguments.words[arguments.word_count] = self.word(case, kind, text) & 0xFFFFFFFFFFFFFFFF
            arguments.word_count += 1
        arguments.numbers[:len(numbers)] = numbers

    def address(self, name):
        return ctypes.cast(getattr(self.lib, name), ctypes.c_void_p).value

    def word(self, case, kind, text):
        if kind == "I":
            return int(eval(text, self.names))
        if kind == "S":
            return self.scalar(eval(text, self.names))
        if kind == "A":
            values = int64s(eval(text, self.names))
            self.arrays.append(ctypes.c_void_p(self.lib.aclCreateIntArray(values, ctypes.c_uint64(len(values)))))
            return self.arrays[-1].value
        if kind == "B":
            values = eval(text, self.names)
            flags = (ctypes.c_bool * len(values))(*values)
            self.flags.append(ctypes.c_void_p(self.lib.aclCreateBoolArray(flags, ctypes.c_uint64(len(values)))))
            return self.flags[-1].value
        if text == "null":
            return 0
        if kind == "L":
            made = [self.tensor(one) for one in eval(text, self.names)]
            handles = (ctypes.c_void_p * len(made))(*made)
            self.lists.append(ctypes.c_void_p(self.lib.aclCreateTensorList(handles, ctypes.c_uint64(len(made)))))
            return self.lists[-1].value
        if kind in ("T", "C", "V"):
            value = eval(text, self.names)
            one = self.tensor(value, FORMATS[value.dim()] if kind == "C" else moves.FORMAT_ND)
            if kind == "V":
                self.arguments.shaped, self.arguments.shaped_rank = one.value, value.dim()
                self.arguments.shaped_dims[:value.dim()] = value.shape
                self.arguments.shaped_dtype, self.arguments.shaped_data = ACL[value.dtype], value.data_ptr()
        elif text == "type":
            return ACL[self.names["out"].dtype]
        elif text in ("none", "tanh"):
            self.texts.append(ctypes.create_string_buffer(text.encode()))
            return ctypes.addressof(self.texts[-1])
        else:
            one = self.tensor(self.names[text])
        self.tensors.append(one)
        return one.value

    def tensor(self, one, tensor_format=moves.FORMAT_ND):
        self.kept.append(one)
        return moves.tensor_over(self.portacl.loaded, one, tensor_format)

    def scalar(self, value):
        held, dtype = ((ctypes.c_bool(value), torch.bool) if isinstance(value, bool) else (ctypes.c_int64(value), torch.int64)
                       if isinstance(value, int) else (ctypes.c_double(value), torch.float64))
        made = ctypes.c_void_p(self.lib.aclCreateScalar(ctypes.byref(held), ACL[dtype]))
        self.scalars.append(made)
        return made.value

    def burst(self, uncounted, calls):
        seconds = self.portacl.c.maps_burst(ctypes.byref(self.arguments), self.portacl.loaded.stream, uncounted, calls)
        if seconds < 0:
            text = self.lib.aclGetRecentErrMsg()
            raise CallFailed(f"status {-seconds:.0f}: {text.decode() if text else ''}")
        return seconds

    def rest(self):
        """A stream's worker that has just worked may look out for more and would disturb whoever is next."""
        time.sleep(SECONDS_TO_FALL_ASLEEP)

    def close(self):
        for one in self.tensors:
            self.lib.aclDestroyTensor(one)
        for one in self.lists:  # their tensors with them
            self.lib.aclDestroyTensorList(one)
        for one in self.scalars:
            self.lib.aclDestroyScalar(one)
        for one in self.arrays:
            self.lib.aclDestroyIntArray(one)
        self.portacl.c.maps_free(ctypes.byref(self.arguments))


class TorchSide:
    def __init__(self, case, names):
        self.function = eval("lambda: " + case.row.torch, names)

    def burst(self, uncounted, calls):
        function = self.function
        for _ in range(uncounted):
            function()
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - begin) / calls if calls else 0

    def rest(self):
        pass


# ---- measuring --------------------------------------------------------------------------------

def share_that_differs(ours, theirs):
    """Of the elements."""
    if ours.is_floating_point():
        tolerance = TOLERANCES["bf16" if torch.bfloat16 in (ours.dtype, theirs.dtype) else "f32"]
        apart = ~torch.isclose(ours.float(), theirs.float(), rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        apart = ours != theirs
    return float(apart.float().mean())


def check(case, names, ours, theirs):
    placed = isinstance(case.row, moves_table.Placed)
    result = case.row.result if placed else "outs" if "outs" in case.row.ours.split() else "out"

    def written():
        value = eval(result, names)
        return torch.cat([one.flatten() for one in value]) if isinstance(value, list) else value

    written().fill_(3)  # so that a side that does nothing is found out
    names["out"].fill_(3)
    ours.burst(0, 1)
    mine = written().clone().flatten()
    written().fill_(3)
    names["out"].fill_(3)
    other = theirs.function()
    if placed and case.row.theirs:
        other = names[case.row.theirs]
    elif re.search(r"\bouts?[12]?\b|\bout=", case.row.torch):
        other = written()
    other = other.flatten()
    if placed and not case.row.compares:
        return check_moments(mine.double(), other.double(), case)
    if mine.numel() != other.numel():
        raise CallFailed(f"the sides have {mine.numel()} and {other.numel()} elements")
    share = share_that_differs(mine, other)
    if share > SHARE_THAT_MAY_DIFFER:
        apart = (mine.float() - other.float()).abs().nan_to_num().argmax() if mine.dtype != torch.bool else (mine ^ other).int().argmax()
        raise CallFailed(f"the sides differ in {share:.3%} of the elements: {mine[apart]} and {other[apart]} at {int(apart)}")


def check_moments(mine, other, case):
    if mine.numel() != other.numel():
        return  # bits beside bytes
    scale = float(other.std()) + 1e-9
    if mine.numel() and max(abs(float(mine.mean() - other.mean())), abs(float(mine.std()) - float(other.std()))) > MOMENTS_APART * scale:
        raise CallFailed(f"the sides have means {mine.mean():.4f} and {other.mean():.4f}, deviations {mine.std():.4f} and {other.std():.4f}")


def processor_seconds(side, uncounted, calls):
    """As burst, but of the processor, in all threads."""
    side.burst(uncounted, 0)
    begin = time.process_time()
    side.burst(0, calls)
    seconds = (time.process_time() - begin) / calls
    side.rest()
    return seconds


def elapsed_seconds(side, uncounted, calls):
    seconds = side.burst(uncounted, calls)
    side.rest()
    return seconds


def compare(case, ours, theirs, seconds, take):
    uncounted, calls = (1, CALLS_IN_CACHE) if case.log2 == IN_CACHE else (0, 1)
    elements = 1 << case.log2
    pairs = []
    end = time.perf_counter() + seconds
    while len(pairs) < LEAST_PAIRS or (len(pairs) < MOST_PAIRS and time.perf_counter() < end):
        order = (ours, theirs) if len(pairs) % 2 == 0 else (theirs, ours)
        took = {side: take(side, uncounted, calls) for side in order}
        pairs.append((took[ours], took[theirs]))
    ratios = [theirs / ours for ours, theirs in pairs]
    mine, other = ([pair[side] / elements * 1e9 for pair in pairs] for side in (0, 1))
    return {"ratio": quantile(ratios, 0.5), "ratio_p10": quantile(ratios, 0.1), "ratio_p90": quantile(ratios, 0.9),
            "pairs": len(pairs), "ns_per_element": quantile(mine, 0.5), "their_ns_per_element": quantile(other, 0.5)}


def processor():
    try:
        return re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--rest-of-aten", action="store_true", help="only the operators of rest_of_aten.py")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--processor", action="store_true", help="processor time instead of elapsed time")
    parser.add_argument("--check", action="store_true", help="compare what both sides compute, time nothing")
    options = parser.parse_args()
    if options.processor:
        # Else two threads would count, one of which waits for the other.
        os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"
    cases = [case for case in all_cases() if re.search(options.filter, case.name)]
    if options.rest_of_aten:
        cases = [case for case in cases if rest_of_aten.is_in(case.row.name)]
    if options.check:
        cases = [case for case in cases if case.log2 == IN_CACHE] or cases
    if not cases:
        sys.exit("no case has such a name")
    place = options.out.resolve().parent
    place.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    families = maps_table.families(schema.read.read(ROOT))
    portacl, operands = Portacl(options.build.resolve(), place), Operands()
    seconds, take = options.minutes * 60 / len(cases), processor_seconds if options.processor else elapsed_seconds
    measured, failed = [], []
    print(f"{len(cases)} cases" + ("" if options.check else f", {options.minutes:g} minutes and what slow ones take"), file=sys.stderr)
    if not options.check:
        print(f"{'operator/dtype/elements':<36} {'ns/element':>10} {'PyTorch':>10} {'ratio':>7} {'p10..p90':>16}")
    for case in cases:
        ours = None
        begin = time.perf_counter()
        try:
            portacl.use(case.row.product)
            names = operands.names(case)
            ours, theirs = OurSide(portacl, case, names), TorchSide(case, names)
            check(case, names, ours, theirs)
            if options.check:
                continue
            result = compare(case, ours, theirs, seconds - (time.perf_counter() - begin), take)
        except (AttributeError, CallFailed, RuntimeError, TypeError) as error:
            failed.append({"name": case.name, "why": str(error).splitlines()[0] if str(error) else type(error).__name__})
            print(f"{case.name:<36} not measured: {failed[-1]['why']}", flush=True)
            continue
        finally:
            if ours is not None:
                ours.close()
        measured.append({"name": case.name, "family": families.get(case.row.operator, "?"), "dtype": case.dtype, "log2": case.log2, **result})
        print(f"{case.name:<36} {result['ns_per_element']:10.4f} {result['their_ns_per_element']:10.4f} {result['ratio']:7.2f} "
              f"{result['ratio_p10']:7.2f}..{result['ratio_p90']:.2f}", flush=True)
        options.out.write_text(json.dumps({"torch": torch.__version__, "vectors": torch.backends.cpu.get_cpu_capability(),
                                           "processor": processor(), "maps": measured, "failed": failed}, indent=1) + "\n")
    if options.check:
        print(f"{len(cases) - len(failed)} of {len(cases)} cases agree with PyTorch")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
