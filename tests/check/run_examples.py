#!/usr/bin/env python3
"""Runs the examples, in C++ and through torch_npu, under PORTACL_CHECK=report: nothing may be said about them. (./dev check)

usage: python -m portacl tests/check/run_examples.py [--overhead [--rounds N]] [NAME...]

--overhead times the steps of the scripts in examples/pytorch instead, with checks and without, in turn.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = {
    "regression": ["--epochs", "60"],  # as many as it needs to end right
    **{name: ["--steps", "6", "--batch", "4"] for name in ("mlp", "nanogpt", "llama", "resnet", "distillation", "lstm")},
    "llama_serving": ["--tokens", "6"],
}
MODELS = {"mlp": "Points", "nanogpt": "Characters", "llama": "Sequences", "resnet": "Stripes", "distillation": "Distillation", "lstm": "Waves"}
LIMIT = 3.0  # times as long
PROCESSES = 2  # of an example of MPI
# Open MPI's names for: as root in a container, several processes on a core (4 and 5), no remote start, and shared memory without
# rights that containers lack. Other MPIs do not look at them.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def environment(check: str, file: str = "") -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("PORTACL_CHECK")}
    for name in ("PYTORCH_NO_NPU_MEMORY_CACHING", "TASK_QUEUE_ENABLE"):  # which checks set
        own.pop(name, None)
    return own | {"PORTACL_CHECK": check, "PORTACL_CHECK_FILE": file, "PORTACL_FALLBACK": "error"}


def compiled(source: Path, folder: Path, compiler: str) -> list[str]:
    import portacl

    program = folder / source.stem
    libraries = str(portacl.library_dir())
    command = [compiler, "-O1", "-std=c++11", str(source), "-I", str(portacl.include_dir()), "-L", libraries]
    command += ["-lopapi_nn", "-lopapi_math", "-lascendcl", "-lnnopbase", f"-Wl,-rpath,{libraries}", "-o", str(program)]
    subprocess.run(command, check=True)
    return [str(program)]


def is_clean(name: str, command: list[str], folder: Path, processes: int = 1) -> bool:
    file = folder / (f"{name}.json" if processes == 1 else f"{name}.%p.json")
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment("report", str(file)) | MPI, cwd=folder, capture_output=True, text=True, timeout=600)
    try:
        findings = [json.loads(written.read_text(encoding="utf-8"))["findings"] for written in folder.glob(f"{name}.*json")]
    except (OSError, ValueError):
        findings = []
    clean = done.returncode == 0 and findings == [[]] * processes
    print(f"{name:<28} {'clean' if clean else 'NOT CLEAN'}, {time.perf_counter() - begun:.1f} s", flush=True)
    if not clean:
        print(f"it returned {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-6000:]}")
    return clean


def check(names: list[str]) -> bool:
    compiler = os.environ.get("CXX", "g++")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        clean = [
            is_clean(source.name, compiled(source, folder, compiler), folder)
            for source in sorted(EXAMPLES.glob("*.cpp"))
            if not names or source.stem in names
        ]
        of_mpi = [source for source in sorted(EXAMPLES.glob("mpi/*.cpp")) if not names or source.stem in names]
        launcher, wrapper = shutil.which("mpirun"), shutil.which("mpicxx")
        for source in of_mpi:
            if launcher is None or wrapper is None:
                print(f"{source.name:<28} left out: no mpirun or no mpicxx (./dev setup mpi)", flush=True)
                continue
            os.environ["OMPI_CXX"] = compiler
            command = [launcher, "-n", str(PROCESSES), *compiled(source, folder, wrapper)]
            clean.append(is_clean(source.name, command, folder, PROCESSES))
        for name, arguments in SCRIPTS.items():
            if not names or name in names:
                command = [sys.executable, "-B", "-m", "portacl", str(EXAMPLES / "pytorch" / f"{name}.py"), "--device", "npu", *arguments]
                clean.append(is_clean(f"{name}.py", command, folder))
    print(f"{len(clean)} examples, {clean.count(False)} not clean")
    return bool(clean) and all(clean)


def time_steps(name: str) -> None:
    """In a process of its own: milliseconds of a step, and the processor's, each the median of a few."""
    sys.path.insert(0, str(EXAMPLES / "pytorch"))
    import torch
    import torch_npu  # noqa: F401

    torch.set_num_threads(1)
    if name == "regression":
        import regression

        fit = regression.Fit("smooth l1", "AdamW", "npu", 10**6)
        step = lambda: (fit.epoch(), fit.history[-1])  # noqa: E731
    else:
        import training

        run = training.Run(getattr(__import__(name), MODELS[name]), "npu", steps=10**6)
        step = lambda: (run.step(), run.losses[-1].item())  # noqa: E731
    step(), step()
    torch.npu.synchronize()
    walls, processors = [], []
    end = time.perf_counter() + 1.5
    while time.perf_counter() < end or len(walls) < 5:
        wall, processor = time.perf_counter(), time.process_time()
        step()
        torch.npu.synchronize()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    print(statistics.median(walls) * 1e3, statistics.median(processors) * 1e3)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def overhead(names: list[str], rounds: int) -> bool:
    within = True
    print("| script | a step without | with checks | times | processor time, times | memory, MiB |\n|---|---|---|---|---|---|")
    for name in SCRIPTS:
        if names and name not in names:
            continue
        measured: dict[str, list[list[float]]] = {"0": [], "report": []}
        for _ in range(rounds):
            for how, results in measured.items():
                command = [sys.executable, "-B", "-m", "portacl", __file__, "--time", name]
                done = subprocess.run(command, env=environment(how), capture_output=True, text=True, check=True)
                results.append([float(word) for word in done.stdout.split()])
        # What else the machine does makes a step longer, never shorter.
        off, on = (min(results) for results in measured.values())
        processor = min(one[1] for one in measured["report"]) / min(one[1] for one in measured["0"])
        within = within and on[0] / off[0] <= LIMIT
        print(f"| {name} | {off[0]:.1f} ms | {on[0]:.1f} ms | {on[0] / off[0]:.2f} | {processor:.2f} | {off[2]:.0f}, {on[2]:.0f} |", flush=True)
    return within


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--rounds", type=int, default=3, help="of --overhead")
    parser.add_argument("--time", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        time_steps(options.names[0])
        sys.exit(0)
    good = overhead(options.names, options.rounds) if options.overhead else check(options.names)
    sys.exit(0 if good else 1)
