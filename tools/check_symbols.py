#!/usr/bin/env python3
"""Checks the machine code of a build: what it exports, and which instructions stand where.

Usage: check_symbols.py [BUILD_DIR]     (default: build/release of this repository)

- libportacl.so exports exactly the functions that include/ declares.
- It has nothing called at the end of a thread or of the process: no static and no thread_local object has a destructor,
  since the program may call functions after it (src/base/process/no_destructor.h, src/base/process/thread_end.h).
- No object has a fused multiply-add, which rounds once where formulas round twice, but those whose sources include the
  functions' steps (src/engine/functions/), where what is fused is written so, on every instruction set.
- AVX instructions (and those that came with them) stand only in functions of Highway's N_AVX2 and N_AVX3 namespaces,
  which run only where the machine has them; everything else runs on any x86-64.

The last two rules are read off x86-64 code; for other machines only the first two are checked, and a line says so.
SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import cann_libraries
import public_functions

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a source that may fuse includes, itself or through others.
FUSED_STEPS = "engine/functions/primitives-inl.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
# What the namespaces of the vector code look like inside a mangled name.
VECTOR_NAMESPACES = ("6N_AVX2", "6N_AVX3")

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+(?:(?:data16|cs|ds|es|fs|gs|ss|notrack|lock|rep|repz|repnz|bnd) )*(\S+)(.*)$")
FUSED = re.compile(r"v4?f(?:n|c)?m(?:add|sub)")
# VEX and EVEX code starts with a v; the others that do belong to virtual machines and segments.
NOT_VECTOR = re.compile(r"v(?:err|erw|m[a-z]+)$")
# Integer instructions of the same machines (BMI, BMI2), which Highway's AVX2 target allows the compiler.
WITH_AVX2 = {"andn", "bextr", "blsi", "blsmsk", "blsr", "bzhi", "mulx", "pdep", "pext", "rorx", "sarx", "shlx", "shrx"}


# A function has none of what is forbidden if none of these texts is in it. That is known in a hundredth of the time of reading its lines.
SIGNS_OF_FUSED = ("madd", "msub")
SIGNS_BEYOND_BASELINE = ("\tv", " v", "%ymm", "%zmm", *sorted(WITH_AVX2))


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_beyond_baseline(mnemonic: str, operands: str) -> bool:
    if re.search(r"%[yz]mm", operands) or mnemonic in WITH_AVX2:
        return True
    return mnemonic.startswith("v") and not NOT_VECTOR.match(mnemonic)


def may_fuse(path: pathlib.Path) -> bool:
    """Whether the source of an object, portacl_objects.dir/PATH.o, includes the steps that fuse."""
    name = path.as_posix().split("/portacl_objects.dir/")[1].removesuffix(".o")
    found, waiting = set(), [name]
    while waiting:
        here = ROOT / "src" / waiting.pop()
        if here in found or not here.exists():
            continue
        found.add(here)
        waiting += INCLUDE.findall(here.read_text(encoding="utf-8"))
    return ROOT / "src" / FUSED_STEPS in found


def faults_in_function(file: str, lines: str, is_fused: bool) -> list[str]:
    """The faults of a function, once for each instruction; `lines` are what objdump prints of it."""
    header = FUNCTION.match(lines.partition("\n")[0])
    function = header.group(1) if header else None
    is_vector = function is not None and any(name in function for name in VECTOR_NAMESPACES)
    signs = (() if is_fused else SIGNS_OF_FUSED) + (() if is_vector else SIGNS_BEYOND_BASELINE)
    if not any(sign in lines for sign in signs):
        return []
    faults: dict[str, None] = {}
    for line in lines.splitlines()[1:]:
        code = INSTRUCTION.match(line)
        if not code:
            continue
        mnemonic, operands = code.groups()
        if FUSED.match(mnemonic) and not is_fused:
            faults[f"{file}: {function} has the fused instruction {mnemonic}"] = None
        if is_beyond_baseline(mnemonic, operands) and not is_vector:
            faults[f"{file}: {function} has {mnemonic}, which not every x86-64 machine can run"] = None
    return list(faults)


def faults_in_object(path: pathlib.Path) -> tuple[list[str], int]:
    """The faults, once per function and instruction, and the number of vector functions that were looked at."""
    is_fused = may_fuse(path)
    functions = output_of("objdump", "-d", "--no-show-raw-insn", str(path)).split("\n\n")
    faults = [fault for lines in functions for fault in faults_in_function(path.name, lines, is_fused)]
    headers = (lines.partition("\n")[0] for lines in functions)
    return faults, sum(any(name in header for name in VECTOR_NAMESPACES) for header in headers if FUNCTION.match(header))


def faults_in_code(objects: list[pathlib.Path]) -> tuple[list[str], int]:
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(faults_in_object, objects, chunksize=8))
    return list(dict.fromkeys(fault for faults, _ in found for fault in faults)), sum(count for _, count in found)


def faults_in_names(folder: pathlib.Path) -> list[str]:
    """What a library under a name of CANN exports beyond what its namesake does (cann_libraries.py), or lacks of that."""
    faults, exports = [], cann_libraries.exports()
    for name in cann_libraries.names():
        lines = output_of("nm", "-D", "--defined-only", str(folder / f"lib{name}.so")).splitlines()
        exported, own = {line.split()[-1].split("@")[0] for line in lines}, set(exports[name])
        faults += [f"lib{name}.so exports {extra}, which is not its own" for extra in sorted(exported - own)]
        faults += [f"lib{name}.so does not export {missing}" for missing in sorted(own - exported)]
    return faults


def faults_in_exports(library: pathlib.Path) -> list[str]:
    lines = output_of("nm", "-D", "--defined-only", str(library)).splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines}
    declared = set(public_functions.functions(public_functions.headers_of(ROOT)))
    faults = [f"{library.name} exports {name}, which no public header declares" for name in sorted(exported - declared)]
    return faults + [f"{library.name} does not export {name}" for name in sorted(declared - exported)]


def faults_in_endings(library: pathlib.Path) -> list[str]:
    lines = output_of("nm", "-D", "--undefined-only", str(library)).splitlines()
    used = {line.split()[-1].split("@")[0] for line in lines}
    return [f"{library.name} uses {name}: some static or thread_local object has a destructor"
            for name in sorted(used & {"__cxa_atexit", "__cxa_thread_atexit", "__cxa_thread_atexit_impl", "atexit"})]


def main() -> int:
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "release"
    library = build / "lib64" / "libportacl.so"
    objects = sorted((build / "src" / "CMakeFiles" / "portacl_objects.dir").rglob("*.o"))
    if not library.exists() or not objects:
        print(f"{build} is no build of portacl; build it first")
        return 1
    faults = faults_in_exports(library) + faults_in_endings(library)
    summary = "symbols: in order"
    faults += faults_in_names(library.parent)
    if "x86-64" in output_of("objdump", "-f", str(objects[0])):
        in_code, vector_functions = faults_in_code(objects)
        faults += in_code
        summary += f" ({len(objects)} objects, {vector_functions} functions of AVX code)"
        if vector_functions == 0:
            faults.append("no object has a function in N_AVX2 or N_AVX3: nothing could be checked")
    else:
        summary += "; instructions were not looked at: that is only known for x86-64"
    print("\n".join(faults) if faults else summary)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
