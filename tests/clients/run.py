#!/usr/bin/env python3
"""Runs programs that others wrote for NPUs on device npu, and on the CPU with the same numbers: is the result the same? (./dev clients)

Tiny random models of transformers, adapters of peft, trainers of trl, loops of accelerate, pipelines of diffusers, a GPT of Megatron-core:
forward, gradients, steps of an optimizer, generation; and a program in C++ that calls as ggml's CANN back end does. Only packages are downloaded.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import collections
import datetime
import importlib.metadata
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import ggml_client

HERE = Path(__file__).resolve().parent
BEGIN = "<!-- written by ./dev clients: begin -->"
END = "<!-- written by ./dev clients: end -->"
PYTHON_CLIENTS = ("transformers", "peft", "accelerate", "trl", "diffusers", "megatron")
PACKAGES = {"megatron": "megatron-core"}  # of clients that are called otherwise
SHORT = ("transformers",)  # what the short form installs, and runs the short list of
SECONDS_TO_START = 300
SECONDS_PER_CASE = 300
HEADS = ("client", "case", "result", "worst difference", "seconds", "fell back", "remark")


class Worker:
    """A process that runs cases one after the other, and may die of one."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def _start(self) -> str | None:
        """Why the process could not be started."""
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-m", "portacl", str(HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.answers: queue.Queue[str | None] = queue.Queue()
        self.said: collections.deque[str] = collections.deque(maxlen=40)
        threading.Thread(target=self._listen, args=(self.process, self.answers), daemon=True).start()
        overhearing = threading.Thread(target=self._overhear, args=(self.process, self.said), daemon=True)
        overhearing.start()
        if self._answer(SECONDS_TO_START) is not None:
            return None
        self.stop()
        overhearing.join(timeout=5)
        return "a worker did not start: " + "".join(self.said)[-600:]

    @staticmethod
    def _listen(process: subprocess.Popen[str], answers: queue.Queue[str | None]) -> None:
        for line in process.stdout:  # type: ignore[union-attr]
            answers.put(line)
        answers.put(None)

    @staticmethod
    def _overhear(process: subprocess.Popen[str], said: collections.deque[str]) -> None:
        said.extend(process.stderr)  # type: ignore[arg-type]

    def _answer(self, seconds: float) -> str | None:
        try:
            return self.answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def ask(self, client: str, case: str | None) -> dict:
        """What became of a case, whatever becomes of the process; without a case, the client's list of them."""
        answer = None
        begun = time.perf_counter()
        if self.process is None and (reason := self._start()) is not None:
            # An exception would end this thread alone, without a word, and leave its cases out.
            return {"client": client, "case": case, "result": "fails", "remark": reason, "seconds": time.perf_counter() - begun}
        process = self.process
        try:
            process.stdin.write(json.dumps({"client": client, "case": case}) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer = self._answer(SECONDS_PER_CASE)
        except BrokenPipeError:
            pass
        if answer is not None:
            outcome = json.loads(answer)
            if outcome.get("result") == "fails":
                self.stop()  # an NPU's queue takes no more work after an error: the next case begins afresh
            return outcome
        time.sleep(0.2)  # it may just be dying
        status = process.poll()  # type: ignore[union-attr]
        reason = (
            f"not done after {SECONDS_PER_CASE} s"
            if status is None
            else f"the process ended ({status}): {''.join(self.said)[-600:]}"
        )
        self.stop()
        return {"client": client, "case": case, "result": "fails", "remark": reason, "seconds": time.perf_counter() - begun}

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def wanted_cases(worker: Worker, clients: list[str], names: list[str], short: bool) -> list[tuple[str, str]]:
    """(client, case) of all that NAMES ask for, of everything without names."""
    cases: list[tuple[str, str]] = []
    for client in clients:
        listed = worker.ask(client, None)
        if listed.get("result") == "fails":
            raise SystemExit(f"client {client}: {listed['remark']}")
        cases += [(client, case) for case in listed["short" if short else "cases"]]
    cases += [(ggml_client.NAME, case) for case in ggml_client.CASES]
    chosen = [one for one in cases if not names or one[0] in names or one[1] in names]
    unknown = [name for name in names if not any(name in one for one in cases)]
    if unknown:
        raise SystemExit(f"there is no client or case {', '.join(unknown)}; --list names them")
    return chosen


def line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/").replace("<", "&lt;") for cell in cells) + " |"


def row(outcome: dict) -> list[str]:
    fallen = " ".join(name.removeprefix("aten::") for name in outcome.get("fell_back", []))
    worst = outcome.get("worst", 0.0)
    return [
        outcome["client"], outcome["case"], outcome["result"], f"{worst:.1e}" if worst else "0", f"{outcome.get('seconds', 0.0):.1f}", fallen,
        outcome.get("remark", "").replace("\n", " "),
    ]  # fmt: skip


def run(workers: list[Worker], cases: list[tuple[str, str]], compiler: str) -> list[dict]:
    """Outcomes in the order of the cases; each is printed when it is there."""
    outcomes: dict[tuple[str, str], dict] = {}
    waiting = collections.deque(one for one in cases if one[0] != ggml_client.NAME)
    lock = threading.Lock()

    def tell(outcome: dict) -> None:
        outcomes[outcome["client"], outcome["case"]] = outcome
        client, case, result, worst, seconds, fallen, remark = row(outcome)
        print(
            f"{client:<13}{case:<32}{result:<9}{worst:>8}{seconds:>7}  {fallen}{'; ' if fallen and remark else ''}{remark}".rstrip(),
            flush=True,
        )

    def work(worker: Worker) -> None:
        while True:
            with lock:
                if not waiting:
                    return
                client, case = waiting.popleft()
            outcome = worker.ask(client, case)
            with lock:
                tell(outcome)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    own = [case for client, case in cases if client == ggml_client.NAME]
    if own:
        with tempfile.TemporaryDirectory() as folder:
            made = ggml_client.run(Path(folder), compiler, own)
        with lock:
            for outcome in made:
                tell(outcome)
    for thread in threads:
        thread.join()
    return [outcomes[one] for one in cases]


def versions() -> str:
    names = ("torch", "torch_npu", *(PACKAGES.get(name, name) for name in PYTHON_CLIENTS))
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def page_text(outcomes: list[dict], minutes: float) -> str:
    lines = [
        BEGIN,
        "",
        f"Written on {datetime.date.today().isoformat()}, {versions()}; {minutes:.0f} minutes.",
        "",
        "| client | cases | same | differs | fails | without any fallback |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for client in dict.fromkeys(outcome["client"] for outcome in outcomes):
        some = [outcome for outcome in outcomes if outcome["client"] == client]
        results = collections.Counter(outcome["result"] for outcome in some)
        alone = sum(outcome["result"] == "same" and not outcome.get("fell_back") for outcome in some)
        lines.append(f"| {client} | {len(some)} | {results['same']} | {results['differs']} | {results['fails']} | {alone} |")
    lines += ["", line(HEADS), "|---|---|---|---:|---:|---|---|", *(line(row(outcome)) for outcome in outcomes)]
    return "\n".join([*lines, "", END])


def write_page(page: Path, outcomes: list[dict], minutes: float) -> None:
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(before + page_text(outcomes, minutes) + rest.partition(END)[2], encoding="utf-8")
    print(f"wrote {page}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"clients ({', '.join(PYTHON_CLIENTS)}, {ggml_client.NAME}) or cases; without one, all",
    )
    parser.add_argument("--short", action="store_true", help="ten architectures of transformers and the program in C++")
    parser.add_argument("--list", action="store_true", help="name the cases and run none")
    parser.add_argument("--page", type=Path, help="write the table of a whole run into this page")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (as many as there are cores)")
    options = parser.parse_args()
    begun = time.perf_counter()
    workers = [Worker() for _ in range(max(1, options.jobs))]
    try:
        cases = wanted_cases(workers[0], list(SHORT if options.short else PYTHON_CLIENTS), options.names, options.short)
        if options.list:
            print("\n".join(f"{client} {case}" for client, case in cases))
            return 0
        outcomes = run(workers, cases, os.environ.get("CXX") or "g++")
    finally:
        for worker in workers:
            worker.stop()
    count = collections.Counter(outcome["result"] for outcome in outcomes)
    if options.page and not options.names and not options.short:
        write_page(options.page, outcomes, (time.perf_counter() - begun) / 60)
    print(f"{len(outcomes)} cases in {time.perf_counter() - begun:.0f} s: {count['differs']} differ, {count['fails']} fail")
    print(f"{count['same']} passed, {len(outcomes) - count['same']} failed")
    return 0 if count["same"] == len(outcomes) and outcomes else 1


if __name__ == "__main__":
    sys.exit(main())
