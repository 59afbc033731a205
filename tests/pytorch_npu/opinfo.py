"""PyTorch's own samples (op_db) on device npu against the CPU: who computes each operator, and is the result right?

    opinfo.py [--page PAGE] [--limit N] [--jobs N] [NAME...]   run entries (all); without names, write the table into PAGE
    opinfo.py --rows --page PAGE NAME...                       write their rows into PAGE, and how many entries are of each kind
    opinfo.py --reasons --page PAGE                            write into PAGE why its entries differ or fail
    opinfo.py --short --page PAGE [NAME...]                    the entries that PAGE calls own, or these of them, two samples of each
                                                               dtype: they must still be own, and right
Runs in a Python with torch, torch_npu and expecttest, with portacl in force. Each entry runs in a worker process, which may
die or be killed without taking the run along.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import collections
import datetime
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import tomllib

BEGIN = "<!-- written by ./dev opinfo: begin -->"
END = "<!-- written by ./dev opinfo: end -->"
REASONS_BEGIN = "<!-- reasons, of tests/pytorch_npu/opinfo_reasons.toml: begin -->"
REASONS_END = "<!-- reasons: end -->"
REASONS = Path(__file__).with_name("opinfo_reasons.toml")
UNLIKE = ("differs", "fails")  # kinds that need a reason
KINDS = ("own", "refused", "fallback", "differs", "fails", "skipped")
SECONDS_TO_START = 600
SECONDS_PER_ENTRY = 300


class Worker:
    """A worker process, and the thread that listens to it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(Path(__file__).with_name("worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.answers: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, args=(self.process, self.answers), daemon=True).start()
        first = self._answer(SECONDS_TO_START)
        if first is None:
            self.stop()
            raise SystemExit("a worker did not start: does `import torch` with torch_npu work in this Python?")
        self.entries: list[str] = json.loads(first)["entries"]

    @staticmethod
    def _listen(process: subprocess.Popen[str], answers: queue.Queue[str | None]) -> None:
        for line in process.stdout:  # type: ignore[union-attr]
            answers.put(line)
        answers.put(None)

    def _answer(self, seconds: float) -> str | None:
        try:
            return self.answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def run(self, index: int, limit: int) -> dict:
        """The outcome of an entry, whatever becomes of the process."""
        try:
            self.process.stdin.write(json.dumps({"index": index, "limit": limit}) + "\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
            answer = self._answer(SECONDS_PER_ENTRY)
        except BrokenPipeError:
            answer = None
        if answer is not None:
            return json.loads(answer)
        name = self.entries[index]
        status = self.process.poll()
        if status is None:
            time.sleep(0.2)  # it may just be dying
            status = self.process.poll()
        reason = f"not done after {SECONDS_PER_ENTRY} s" if status is None else f"the process ended ({status})"
        self.stop()
        self._start()
        return {"name": name, "kind": "fails", "reason": reason}

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def run(workers: list[Worker], indices: list[int], limit: int, progress: bool) -> list[dict]:
    """Outcomes in the order of `indices`."""
    outcomes: dict[int, dict] = {}
    waiting = collections.deque(indices)
    lock = threading.Lock()
    totals: collections.Counter[str] = collections.Counter()

    def work(worker: Worker) -> None:
        while True:
            with lock:
                if not waiting:
                    return
                index = waiting.popleft()
            outcome = worker.run(index, limit)
            with lock:
                outcomes[index] = outcome
                totals[outcome["kind"]] += 1
                done = len(outcomes)
                if progress and (done * 10 // len(indices)) > ((done - 1) * 10 // len(indices)):
                    counts = ", ".join(f"{totals[kind]} {kind}" for kind in KINDS)
                    print(f"    {done * 100 // len(indices):3d}%  {done} of {len(indices)}: {counts}", flush=True)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[index] for index in indices]


def names(calls: dict[str, list[str]]) -> str:
    """Operators with the dtypes of the samples that called them: "mm, bmm (i64), floor (bool i64)"."""
    by_dtypes: dict[str, list[str]] = {}
    for name, dtypes in calls.items():
        by_dtypes.setdefault(" ".join(dtypes), []).append(name.removeprefix("aten::"))
    return ", ".join(f"{', '.join(operators)} ({dtypes})" for dtypes, operators in by_dtypes.items())


def remark(outcome: dict) -> str:
    words = []
    if outcome["kind"] == "own" and not outcome.get("own"):
        words.append("views and memory alone")
    words += [f"without {names(outcome['missing'])}"] if outcome.get("missing") else []
    words += [f"refused: {names(outcome['refused'])}"] if outcome.get("refused") else []
    if outcome.get("random"):
        words.append("random: shapes and dtypes compared")
    if outcome.get("other_bits"):
        words.append(f"{outcome['other_bits']} samples within the tolerance, not the same bits")
    if outcome.get("nearer"):
        words.append(f"{outcome['nearer']} samples as near to the CPU's float64 result as the CPU's own, or within the tolerance of it")
    if outcome.get("skipped"):
        words.append(f"{outcome['skipped']} samples skipped")
    if outcome.get("reason"):
        words.append(outcome["reason"])
    return "; ".join(words).replace("|", "/").replace("<", "&lt;").replace("\n", " ")


def table(outcomes: list[dict], limit: int, versions: str, minutes: float) -> str:
    count = collections.Counter(outcome["kind"] for outcome in outcomes)
    compared = sum(outcome.get("compared", 0) for outcome in outcomes)
    gradients = sum(outcome.get("gradients", 0) for outcome in outcomes)
    skipped = sum(outcome.get("skipped", 0) for outcome in outcomes)
    other = sum(outcome.get("other_bits", 0) for outcome in outcomes)
    nothing = sum(outcome["kind"] == "own" and not outcome["own"] for outcome in outcomes)
    today = datetime.date.today().isoformat()
    lines = [
        BEGIN,
        "",
        f"Written on {today}, {versions}: the first {limit} samples of each of f32, f16, bf16, i64 and bool (c64 where none of them "
        f"is listed), {minutes:.0f} CPU-minutes.",
        "",
        "| entries of op_db | own | refused | fallback | differs | fails | without a sample that the CPU computes |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        f"| {len(outcomes)} | " + " | ".join(str(count[kind]) for kind in KINDS) + " |",
        "",
        f"Of the own entries, {nothing} need nothing but views and memory. {compared} samples compared, {gradients} of them with "
        f"gradients; {skipped} skipped (not computed by the CPU either, or sparse); {other} that only fell back "
        "have other bits than the CPU's, within the tolerance.",
        "",
        "| entry | result | dtypes | samples | with gradient | remark |",
        "|---|---|---|---:|---:|---|",
    ]
    lines += [row(outcome) for outcome in sorted(outcomes, key=lambda o: o["name"])]
    return "\n".join([*lines, "", END])


def row(outcome: dict) -> str:
    return (
        f"| {outcome['name']} | {outcome['kind']} | {' '.join(outcome.get('dtypes', []))} | {outcome.get('compared', 0)} | "
        f"{outcome.get('gradients', 0)} | {remark(outcome)} |"
    )


def with_rows(page: str, outcomes: list[dict]) -> str:
    """The page with other rows for entries that it has."""
    lines = page.split("\n")
    counts = next(i for i, line in enumerate(lines) if line.startswith("| entries of op_db |")) + 2
    numbers = [int(number) for number in lines[counts].strip("| ").split(" | ")]
    for outcome in outcomes:
        at = next((i for i, line in enumerate(lines) if line.startswith(f"| {outcome['name']} | ") and i > counts), None)
        if at is None:
            raise SystemExit(f"the page has no row of {outcome['name']}")
        for kind, step in (lines[at].split(" | ")[1], -1), (outcome["kind"], 1):
            numbers[1 + KINDS.index(kind)] += step
        lines[at] = row(outcome)
    lines[counts] = "| " + " | ".join(map(str, numbers)) + " |"
    return "\n".join(lines)


def kinds_of(page: str) -> dict[str, str]:
    """The kind of each entry of the page."""
    rows = [line.split(" | ") for line in page.partition("| entry | result | dtypes |")[2].split("\n") if line.startswith("| ")]
    return {row[0][2:]: row[1] for row in rows if len(row) > 5}


def own_entries(page: Path) -> list[str]:
    return [name for name, kind in kinds_of(page.read_text(encoding="utf-8")).items() if kind == "own"]


def reasons() -> dict[str, dict]:
    """What REASONS says of each entry."""
    groups = tomllib.loads(REASONS.read_text(encoding="utf-8"))["reasons"]
    return {name: group for group in groups for name in group["entries"]}


def unexplained(page: str) -> list[str]:
    """Where the page and REASONS do not fit together."""
    kinds, known = kinds_of(page), reasons()
    faults = [f"{name} {kind}, and {REASONS.name} gives no reason" for name, kind in kinds.items() if kind in UNLIKE and name not in known]
    return faults + [f"{REASONS.name} has {name}, which the page does not say to differ or fail" for name in known if kinds.get(name) not in UNLIKE]


def with_reasons(page: str) -> str:
    """The page with a line for each entry that differs or fails."""
    kinds, known = kinds_of(page), reasons()
    lines = ["", "| entry | result | by | reason |", "|---|---|---|---|"]
    for wanted in UNLIKE:
        for name in sorted(name for name, kind in kinds.items() if kind == wanted):
            why = known.get(name, {"because": "?", "reason": "not explained yet"})
            lines.append(f"| `{name}` | {wanted} | {why['because']} | {why['reason']} |")
    before, _, rest = page.partition(REASONS_BEGIN)
    after = rest.partition(REASONS_END)[2]
    return before + "\n".join([REASONS_BEGIN, *lines, "", REASONS_END]) + after


def write_reasons(path: Path) -> int:
    page = path.read_text(encoding="utf-8")
    path.write_text(with_reasons(page), encoding="utf-8")
    faults = unexplained(page)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


def cpu_minutes() -> float:
    times = os.times()
    return (times.user + times.system + times.children_user + times.children_system) / 60


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--limit", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write the outcomes there, too")
    options = parser.parse_args()
    if options.short and (options.page is None or not set(options.names) <= set(own_entries(options.page))):
        parser.error("--short needs --page, and takes names of entries that are own there")
    if options.rows and (options.page is None or not options.names):
        parser.error("--rows needs --page and names")
    if options.reasons:
        if options.page is None or options.names:
            parser.error("--reasons needs --page and takes no names")
        return write_reasons(options.page)
    workers = [Worker() for _ in range(max(1, options.jobs))]
    entries = workers[0].entries
    wanted = options.names or (own_entries(options.page) if options.short else [])
    indices = [i for i, name in enumerate(entries) if not wanted or name in wanted or name.split(".")[0] in wanted]
    if options.short:
        indices = [i for i in indices if entries[i] in wanted]
    unknown = [name for name in wanted if not any(e == name or e.split(".")[0] == name for e in entries)]
    if unknown:
        for worker in workers:
            worker.stop()
        raise SystemExit(f"op_db has no entry {', '.join(unknown)}")
    outcomes = run(workers, indices, 2 if options.short else options.limit, progress=len(indices) > 20)
    for worker in workers:
        worker.stop()
    count = collections.Counter(outcome["kind"] for outcome in outcomes)
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1), encoding="utf-8")
    if options.short or options.names:
        for outcome in outcomes:
            told = options.names and not options.short
            if told or outcome["kind"] != "own":
                print(f"{outcome['name']}: {outcome['kind']}; {remark(outcome)}".rstrip("; "))
                if told:
                    print(f"  own: {', '.join(outcome.get('own', []))}")
    print(f"{len(outcomes)} entries: " + ", ".join(f"{count[kind]} {kind}" for kind in KINDS))
    if options.rows:
        options.page.write_text(with_rows(options.page.read_text(encoding="utf-8"), outcomes), encoding="utf-8")
        return write_reasons(options.page)
    if options.page and not options.short and not options.names:
        import importlib.metadata

        versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "torch_npu"))
        page = options.page.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        after = rest.partition(END)[2]
        new = before + table(outcomes, options.limit, versions, cpu_minutes()) + after
        options.page.write_text(new, encoding="utf-8")
        print(f"wrote {options.page}")
        return write_reasons(options.page)
    if options.short:
        return 0 if count["own"] == len(outcomes) else 1
    return 0 if not options.names or count["differs"] + count["fails"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
