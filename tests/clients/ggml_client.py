"""The client in C++, ggml_kind.cpp: compiled against the installed headers and libraries, run case by case."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
from pathlib import Path

NAME = "ggml_kind"
CASES = (
    "get_rows", "set_rows", "rms_norm", "soft_max", "rope_halves", "rope_neighbours", "mul_mat", "batch_mul_mat", "quantised_experts",
    "flash_attention", "streams_and_events",
)  # fmt: skip
SOURCE = Path(__file__).with_name("ggml_kind.cpp")
LIBRARIES = ("opapi_transformer", "opapi_nn", "opapi_math", "opapi", "ascendcl", "nnopbase")
SECONDS = 120


def compiled(folder: Path, compiler: str) -> Path:
    import portacl

    program, libraries = folder / NAME, str(portacl.library_dir())
    command = [*compiler.split(), "-O1", "-std=c++17", str(SOURCE), "-I", str(portacl.include_dir()), "-L", libraries]
    subprocess.run([*command, *(f"-l{name}" for name in LIBRARIES), f"-Wl,-rpath,{libraries}", "-o", str(program)], check=True)
    return program


def run(folder: Path, compiler: str, cases: list[str]) -> list[dict]:
    """The outcomes, of a process for each case."""
    try:
        program = compiled(folder, compiler)
    except subprocess.CalledProcessError as error:
        return [outcome(case, "fails", remark=f"it does not compile: {error}") for case in cases]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PORTACL_CHECK")}
    outcomes = []
    for case in cases:
        try:
            done = subprocess.run([str(program), case], capture_output=True, text=True, timeout=SECONDS, env=environment)
        except subprocess.TimeoutExpired:
            outcomes.append(outcome(case, "fails", remark=f"not done after {SECONDS} s"))
            continue
        words = done.stdout.split()
        if len(words) != 4 or words[0] != case:
            outcomes.append(outcome(case, "fails", remark=f"it returned {done.returncode}: {done.stderr[-600:]}"))
            continue
        is_right = done.returncode == 0 and words[3] == "ok"
        outcomes.append(outcome(case, "same" if is_right else "differs", float(words[1]), float(words[2])))
    return outcomes


def outcome(case: str, result: str, worst: float = 0.0, seconds: float = 0.0, remark: str = "") -> dict:
    return {"client": NAME, "case": case, "result": result, "worst": worst, "seconds": seconds, "fell_back": [], "remark": remark}
