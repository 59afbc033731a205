"""Trains the models of examples/pytorch, and serves one, with every instruction set and several numbers of threads: one hash a model must come out.

    python -m portacl tools/reproduce.py [--short] [--isas A,B] [--threads 1,2] [--steps N] [--write] [MODEL...]      (./dev reproduce)

Each pair of instruction set and threads is a process of its own; the first one is told to save a checkpoint in the middle and to go on
from it in a new network. Hashes are compared with each other and with docs/reproducibility.md; --write writes them there.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reproducibility.md"
# Script, class, precision, rows of a batch: few, so that the portable instruction set gets there, too.
MODELS = {
    "mlp": ("mlp", "Points", "f32", 32),
    "nanogpt": ("nanogpt", "Characters", "f32", 2),
    "nanogpt-bf16": ("nanogpt", "Characters", "bf16", 2),
    "nanogpt-bf16-weights": ("nanogpt", "Characters", "bf16-weights", 2),
    "llama": ("llama", "Sequences", "bf16", 2),
    "llama-bf16-weights": ("llama", "Sequences", "bf16-weights", 2),
    "resnet": ("resnet", "Stripes", "f16", 4),
    "distillation": ("distillation", "Distillation", "f32", 32),
    "lstm": ("lstm", "Waves", "f32", 4),
    "moe": ("moe", "Rules", "f32", 2),
}
SERVED = {"llama_serving": ("bf16", 3, 64)}  # precision, prompts, tokens of each
STEPS, SHORT = 200, 6


def train(names: list[str], steps: int, resume: bool) -> None:
    """In a process with the settings to be tried: prints "MODEL HASH SECONDS LOSSES" for each."""
    sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
    import training

    for name in names:
        start = time.perf_counter()
        if name in SERVED:
            _, value, same, _ = __import__(name).run(SERVED[name][2])
            if not same:
                raise SystemExit(f"{name}: other tokens or logits than without caches")
            print(name, value, f"{time.perf_counter() - start:.1f}", "[]", flush=True)
            continue
        script, kind, precision, batch = MODELS[name]
        task = getattr(__import__(script), kind)
        run = training.Run(task, "npu", precision, steps, batch)
        if resume:
            run.train(steps // 2)
            checkpoint = io.BytesIO()
            run.save(checkpoint)
            checkpoint.seek(0)
            run = training.Run(task, "npu", precision, steps, batch)
            run.load(checkpoint)
        value = run.train().hash()
        print(name, value, f"{time.perf_counter() - start:.1f}", json.dumps(run.losses), flush=True)


def instruction_sets() -> list[str]:
    """Those of this machine, the best one first."""
    info = subprocess.run([sys.executable, "-B", "-m", "portacl", "--info", "--json"], capture_output=True, text=True, check=True)
    facts = json.loads(info.stdout)
    return [*facts["isas"], *facts["all_pairs_of_bf16"]][::-1]


def written(steps: int) -> dict[str, str]:
    """The page's hashes after so many steps."""
    rows = re.findall(r"^\| ([\w-]+) \| [\w-]+ \| \d+ \| (\d+) \| `([0-9a-f]{64})` \|$", PAGE.read_text(encoding="utf-8"), re.M)
    return {name: value for name, after, value in rows if int(after) == steps or name in SERVED}


def write(steps: int, hashes: dict[str, str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    kept = {(row[1], int(row[4])): row[0] for row in re.findall(r"^(\| ([\w-]+) \| ([\w-]+) \| (\d+) \| (\d+) \| `[0-9a-f]{64}` \|)$", text, re.M)}
    for name, value in hashes.items():
        precision, batch, after = SERVED[name] if name in SERVED else (*MODELS[name][2:], steps)
        kept[name, after] = f"| {name} | {precision} | {batch} | {after} | `{value}` |"
    order = [*MODELS, *SERVED]
    rows = "\n".join(kept[key] for key in sorted(kept, key=lambda key: (order.index(key[0]), key[1])))
    table = f"| model | precision | rows of a batch | steps | SHA-256 of all parameters |\n|---|---|---:|---:|---|\n{rows}\n"
    text = re.sub(r"(<!-- hashes: begin -->\n).*(<!-- hashes: end -->)", lambda m: m[1] + table + m[2], text, flags=re.S)
    PAGE.write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join([*MODELS, *SERVED]))
    parser.add_argument("--short", action="store_true", help=f"{SHORT} steps, and each number of threads once")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--isas", help="with commas between them; otherwise all of this machine")
    parser.add_argument("--threads", default="1,2,3,7")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="what each run came to, for tools/draw_reproducibility.py")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--resume", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.models or [*MODELS, *SERVED]
    steps = given.steps or (SHORT if given.short else STEPS)
    if given.worker:
        train(names, steps, given.resume)
        return 0
    isas = given.isas.split(",") if given.isas else instruction_sets()
    threads = [int(one) for one in given.threads.split(",")]
    if given.short:  # every instruction set and every number of threads, but not each with each
        count = max(len(isas), len(threads))
        settings = [(isas[i % len(isas)], threads[i % len(threads)]) for i in range(count)]
    else:
        settings = [(isa, number) for isa in isas for number in threads]
    expected = {} if given.write else written(steps)
    runs, good = [], True
    for number, (isa, count) in enumerate(settings):
        environment = dict(os.environ, PORTACL_ISA=isa, PORTACL_NUM_THREADS=str(count), PORTACL_FALLBACK="error", OMP_NUM_THREADS="1")
        command = [sys.executable, "-B", __file__, "--worker", "--steps", str(steps), *names] + ["--resume"] * (number == 0)
        how = f"{isa}, {count} thread{'s' if count > 1 else ''}{', resumed in the middle' if number == 0 else ''}"
        print(f"{steps} steps with {how}", flush=True)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            name, value, seconds, losses = line.split(maxsplit=3)
            want = expected.setdefault(name, value)
            good &= value == want
            runs.append({"model": name, "isa": isa, "threads": count, "steps": steps, "hash": value, "losses": json.loads(losses)})
            print(f"  {name:<20} {value[:32]} {seconds:>7} s{'' if value == want else f'  WRONG: not {want[:32]}'}", flush=True)
        errors = process.stderr.read()
        if process.wait() != 0:
            print(errors[-3000:], file=sys.stderr)
            return 1
    if given.json:
        Path(given.json).write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    if given.write and good:
        write(steps, {name: expected[name] for name in names})
    print(f"{len(runs)} runs, {'one hash a model' if good else 'NOT one hash a model'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
