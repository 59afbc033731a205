"""`msprof`: makes of a profile, as aclprofStart to aclprofStop leave it, the files that torch_npu's analysis reads.

Usage: msprof --export=on|--analyze=on --output=PROF_FOLDER

--export=on    tables (*.csv) and a trace (msprof_*.json) in PROF_FOLDER/mindstudio_profiler_output
--analyze=on   what collective operations took, in PROF_FOLDER/analyze

Needs nothing but Python's own library: clients start it by its name, from any environment.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

TRACE = "portacl_trace.json"
# torch_npu looks every 0.1 s whether there are tables. Where it makes nothing but a trace, it gives that up when this program has
# ended before it has seen them.
SECONDS_TO_BE_SEEN = 1.0
# Rows of a trace, by CANN's names; numbers that no process has.
CANN, HARDWARE, COMMUNICATION, OVERLAP = range(4)
PROCESSES = {CANN: "CANN", HARDWARE: "Ascend Hardware", COMMUNICATION: "Communication", OVERLAP: "Overlap Analysis"}
OPERANDS = ("Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats")


class Refused(Exception):
    """What is said, in one sentence, before the program ends with 1."""


class Span(NamedTuple):
    """A call or a task. Times are nanoseconds since 1970."""

    name: str
    category: str
    row: int  # thread or stream
    device: int  # -1: a call
    begin: int
    end: int
    facts: dict[str, Any]
    submitted: tuple[int, int] | None  # the thread and the time of the call that submitted it


class Profile(NamedTuple):
    calls: list[Span]
    tasks: list[Span]
    memory: list[tuple[int, int, int]]  # time, device, bytes held
    marks: list[Span]
    process: int


def nanoseconds(microseconds: str) -> int:
    """Of a number as the trace has it, with three digits behind the point. Exact, unlike a float."""
    whole, _, part = microseconds.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def microseconds(time: int) -> str:
    return f"{time // 1000}.{time % 1000:03d}"


def read(folder: Path) -> Profile:
    path = folder / "host" / "data" / TRACE
    try:
        start = json.loads((folder / "host" / "start_info").read_text(encoding="utf-8"))
        events = json.loads(path.read_text(encoding="utf-8"), parse_float=str)["traceEvents"]
    except (OSError, ValueError, KeyError) as error:
        raise Refused(f"{folder} holds no profile: {error}") from error
    offset = int(start["collectionTimeBegin"]) * 1000 - int(start["clockMonotonicRaw"])
    devices = {
        event["pid"]: int(event["args"]["name"].split()[1])
        for event in events
        if event["ph"] == "M" and event["name"] == "process_name" and event["args"]["name"].startswith("NPU ")
    }
    starts = {event["id"]: (event["tid"], nanoseconds(event["ts"]) + offset) for event in events if event["ph"] == "s"}
    profile = Profile([], [], [], [], next((one["pid"] for one in events if one["pid"] not in devices), 0))
    for event in events:
        if event["ph"] == "C":
            profile.memory.append((nanoseconds(event["ts"]) + offset, devices[event["pid"]], event["args"]["bytes"]))
        if event["ph"] not in ("X", "i"):
            continue
        begin = nanoseconds(event["ts"]) + offset
        end = begin + nanoseconds(event.get("dur", "0.000"))
        device, facts = devices.get(event["pid"], -1), event.get("args", {})
        span = Span(event["name"], event["cat"], event["tid"], device, begin, end, facts, starts.get(facts.get("Task Id")))
        spans = profile.tasks if device >= 0 else profile.calls if span.category == "host" else profile.marks
        spans.append(span)
    return profile


def is_operator(task: Span) -> bool:
    return task.category == "operator"


def is_communication(task: Span) -> bool:
    return task.category == "communication"


def kind_of(task: Span) -> str:
    """As CANN calls what works on a task."""
    if is_operator(task):
        return "AI_CORE"
    if is_communication(task):
        return "HCCL"
    if task.name.startswith("aclrtMemcpy"):
        return "MEMCPY_ASYNC"
    kinds = {"aclrtMemsetAsync": "MEMSET_ASYNC", "aclrtRecordEvent": "EVENT_RECORD", "aclrtStreamWaitEvent": "EVENT_WAIT"}
    return kinds.get(task.name, "OTHER")


def type_of(task: Span) -> str:
    """Of an operator: its name without aclnn; of a collective: as HCCL's own profiles call it."""
    if is_communication(task):
        names = {"HcclRecv": "hcom_receive_", "HcclBatchSendRecv": "hcom_batchSendRecv_", "HcclAlltoAll": "hcom_alltoall_"}
        rest = task.name.removeprefix("Hccl")
        return names.get(task.name, f"hcom_{rest[:1].lower()}{rest[1:]}_")
    return task.name.removeprefix("aclnn") if is_operator(task) else task.name


def names_of_collectives(tasks: Iterable[Span]) -> dict[int, str]:
    """By the task's number: the type, a number for each group, which counts from 0."""
    counts: dict[str, int] = defaultdict(int)
    names = {}
    for task in tasks:
        if is_communication(task):
            group = task.facts.get("Group", "")
            names[task.facts["Task Id"]] = f"{type_of(task)}_{counts[group]}_1@{group}"
            counts[group] += 1
    return names


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same times, without what two of them share; ascending."""
    result: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return result


def without(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What of the first lies in none of the second; both as `joined` gives them."""
    result = []
    others_at = 0
    for begin, end in spans:
        while others_at < len(others) and others[others_at][1] <= begin:
            others_at += 1
        at = others_at
        while at < len(others) and others[at][0] < end:
            if others[at][0] > begin:
                result.append((begin, others[at][0]))
            begin = max(begin, others[at][1])
            at += 1
        if begin < end:
            result.append((begin, end))
    return result


def trace_of(profile: Profile) -> list[dict[str, Any]]:
    """What torch_npu merges its own rows into."""
    base = profile.process * 1024
    events: list[dict[str, Any]] = []

    def name(what: str, process: int, row: int, key: str, text: str | int) -> None:
        events.append({"ph": "M", "name": what, "pid": process, "tid": row, "args": {key: text}})

    def process(kind: int, device: int) -> int:
        number = base + 1 + kind if kind == CANN else base + 8 + device * 4 + kind
        if (kind, device) not in known:
            known.add((kind, device))
            name("process_name", number, 0, "name", PROCESSES[kind])
            name("process_labels", number, 0, "labels", "CPU" if kind == CANN else f"NPU {device}")
            name("process_sort_index", number, 0, "sort_index", 8 + kind)
        return number

    def row(kind: int, device: int, number: int, text: str) -> tuple[int, int]:
        in_process = process(kind, device)
        if (in_process, number) not in rows:
            rows.add((in_process, number))
            name("thread_name", in_process, number, "name", text)
        return in_process, number

    def span(place: tuple[int, int], text: str, begin: int, end: int, facts: dict[str, Any]) -> None:
        times = {"ts": microseconds(begin), "dur": (end - begin) / 1000}
        events.append({"ph": "X", "name": text, "pid": place[0], "tid": place[1], **times, "args": facts})

    known: set[tuple[int, int]] = set()
    rows: set[tuple[int, int]] = set()
    for call in profile.calls:
        facts = {"Thread Id": call.row, "Mode": "ACL_OP", "level": "acl", "id": call.name, **call.facts}
        span(row(CANN, 0, call.row, f"Thread {call.row}"), f"AscendCL@{call.name}", call.begin, call.end, facts)
    for mark in profile.marks:
        span(row(CANN, 0, mark.row, f"Thread {mark.row}"), mark.name, mark.begin, mark.end, mark.facts)
    collectives = names_of_collectives(profile.tasks)
    groups: dict[str, int] = {}
    for task in profile.tasks:
        place = row(HARDWARE, task.device, task.row, f"Stream {task.row}")
        number = task.facts["Task Id"]
        facts = {"Task Type": kind_of(task), "Stream Id": task.row, "connection_id": number, **task.facts}
        text = collectives.get(number, task.name)
        span(place, text, task.begin, task.end, facts)
        if task.submitted is not None:
            flow = {"name": "HostToDevice", "cat": "HostToDevice", "id": str(number)}
            host = row(CANN, 0, task.submitted[0], f"Thread {task.submitted[0]}")
            events.append({"ph": "s", **flow, "pid": host[0], "tid": host[1], "ts": microseconds(task.submitted[1])})
            to = {"pid": place[0], "tid": place[1], "ts": microseconds(task.begin)}
            events.append({"ph": "f", "bp": "e", **flow, **to})
        if is_communication(task):
            group = task.facts.get("Group", "")
            at = groups.setdefault(group, len(groups))
            span(row(COMMUNICATION, task.device, at, f"Group {group} Communication"), text, task.begin, task.end, facts)
    for device in sorted({task.device for task in profile.tasks}):
        tasks = [task for task in profile.tasks if task.device == device]
        computing = joined((task.begin, task.end) for task in tasks if is_operator(task))
        communication = joined((task.begin, task.end) for task in tasks if is_communication(task))
        either = joined([*computing, *communication])
        whole = [(either[0][0], either[-1][1])] if either else []
        parts = {
            "Computing": computing,
            "Communication": communication,
            "Communication(Not Overlapped)": without(communication, computing),
            "Free": without(whole, either),
        }
        for at, (text, spans) in enumerate(parts.items()):
            for begin, end in spans:
                span(row(OVERLAP, device, at, text), text, begin, end, {})
    return events


def statistics(groups: dict[Any, list[int]]) -> list[tuple[Any, int, float, float, float, float]]:
    """Of each key: count, then total, least, mean and most in microseconds. The greatest total first."""
    rows = [
        (key, len(times), sum(times) / 1000, min(times) / 1000, sum(times) / len(times) / 1000, max(times) / 1000)
        for key, times in groups.items()
    ]
    return sorted(rows, key=lambda one: -one[2])


def op_summary(profile: Profile) -> list[list[Any]]:
    rows: list[list[Any]] = []
    collectives = names_of_collectives(profile.tasks)
    last_end: dict[tuple[int, int], int] = {}
    for task in profile.tasks:
        previous = last_end.get((task.device, task.row))
        wait = max(0, task.begin - previous) / 1000 if previous is not None else 0
        last_end[task.device, task.row] = max(previous or 0, task.end)
        if not is_operator(task) and not is_communication(task):
            continue
        number = task.facts["Task Id"]
        name = collectives.get(number, task.name)
        times = [microseconds(task.begin), (task.end - task.begin) / 1000, wait]
        operands = [task.facts.get(one, "N/A") for one in OPERANDS]
        rows.append([task.device, number, task.row, name, type_of(task), kind_of(task), *times, 1, 0, *operands])
    header = ["Device_id", "Task ID", "Stream ID", "Op Name", "OP Type", "Task Type", "Task Start Time(us)"]
    header += ["Task Duration(us)", "Task Wait Time(us)", "Block Num", "Mix Block Num", *OPERANDS]
    return [header, *rows]


def op_statistic(profile: Profile) -> list[list[Any]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    totals: dict[int, int] = defaultdict(int)
    for task in profile.tasks:
        if is_operator(task) or is_communication(task):
            groups[task.device, type_of(task), kind_of(task)].append(task.end - task.begin)
            totals[task.device] += task.end - task.begin
    rows = [
        [*key, count, total, least, mean, most, round(total * 100000 / max(totals[key[0]], 1), 3)]
        for key, count, total, least, mean, most in statistics(groups)
    ]
    header = ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)"]
    return [[*header, "Max Time(us)", "Ratio(%)"], *rows]


def api_statistic(profile: Profile) -> list[list[Any]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for call in profile.calls:
        groups[call.name].append(call.end - call.begin)
    rows = []
    for name, count, total, least, mean, most in statistics(groups):
        variance = sum((time / 1000 - mean) ** 2 for time in groups[name]) / count
        rows.append(["host", "acl", name, total, count, mean, least, most, round(variance, 3)])
    header = ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
    return [header, *rows]


def task_time(profile: Profile) -> list[list[Any]]:
    header = ["Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)", "task_start(us)"]
    rows: list[list[Any]] = [[*header, "task_stop(us)"]]
    for task in profile.tasks:
        times = [(task.end - task.begin) / 1000, microseconds(task.begin), microseconds(task.end)]
        rows.append([task.device, task.name, kind_of(task), task.row, task.facts["Task Id"], *times])
    return rows


def npu_mem(profile: Profile) -> list[list[Any]]:
    rows: list[list[Any]] = [["Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"]]
    for time, device, held in profile.memory:
        rows.append([device, "APP", 0, held / 1024, held / 1024, microseconds(time)])
    return rows


def npu_module_mem(profile: Profile) -> list[list[Any]]:
    rows: list[list[Any]] = [["Device_id", "Component", "Timestamp(us)", "Total Reserved(KB)", "Device"]]
    for time, device, held in profile.memory:
        rows.append([device, "RUNTIME", microseconds(time), held / 1024, f"NPU:{device}"])
    return rows


def collectives_of(profile: Profile) -> tuple[dict[str, Any], dict[str, Any]]:
    """What communication.json and communication_matrix.json hold: of each operation, and of each pair of ranks in it."""
    times: dict[str, Any] = {}
    matrix: dict[str, Any] = {}
    names = names_of_collectives(profile.tasks)
    for task in filter(is_communication, profile.tasks):
        name = names[task.facts["Task Id"]]
        milliseconds = (task.end - task.begin) / 1e6
        megabytes = task.facts.get("Bytes", 0) / 1e6
        bandwidth = round(megabytes / milliseconds, 4) if milliseconds > 0 else 0
        link = {"Transit Size(MB)": megabytes, "Transit Time(ms)": milliseconds, "Bandwidth(GB/s)": bandwidth}
        distribution = {str(megabytes): [1, milliseconds]}
        times[name] = {
            "Communication Time Info": {
                "Start Timestamp(us)": microseconds(task.begin),
                "Elapse Time(ms)": milliseconds,
                "Transit Time(ms)": milliseconds,
                "Wait Time(ms)": 0,
                "Synchronization Time(ms)": 0,
                "Idle Time(ms)": 0,
                "Wait Time Ratio": 0,
                "Synchronization Time Ratio": 0,
            },
            "Communication Bandwidth Info": {
                "SDMA": {**link, "Large Packet Ratio": 0, "Size Distribution": distribution},
            },
        }
        rank = task.facts.get("Rank", 0)
        others = [one for one in range(task.facts.get("Ranks", 1)) if one != rank]
        matrix[name] = {f"{rank}-{other}": {"Transport Type": "SDMA", **link} for other in others}
    return times, matrix


def put(folder: Path, write: Callable[[Path], None]) -> None:
    """Makes a folder anew, whole or not at all."""
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        write(beside)
        if folder.exists():
            shutil.rmtree(folder)
        os.chmod(beside, 0o750)
        os.rename(beside, folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def export(folder: Path) -> None:
    profile = read(folder)
    number = folder.name.split("_")[2][:14] if folder.name.count("_") >= 3 else "0"
    tables: list[Callable[[Profile], list[list[Any]]]] = [
        op_summary,
        op_statistic,
        api_statistic,
        task_time,
        npu_mem,
        npu_module_mem,
    ]

    def write(beside: Path) -> None:
        with open(beside / f"msprof_{number}.json", "w", encoding="utf-8") as file:
            json.dump(trace_of(profile), file)
        for table in tables:
            with open(beside / f"{table.__name__}_{number}.csv", "w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(table(profile))

    put(folder / "mindstudio_profiler_output", write)
    sleep(SECONDS_TO_BE_SEEN)


def analyze(folder: Path) -> None:
    times, matrix = collectives_of(read(folder))

    def write(beside: Path) -> None:
        for name, content in (("communication", times), ("communication_matrix", matrix)):
            (beside / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")

    put(folder / "analyze", write)


def main(arguments: list[str]) -> int:
    if any(one in ("--help", "-h") for one in arguments):
        print(__doc__)
        return 0
    options = dict(one.removeprefix("--").split("=", 1) for one in arguments if one.startswith("--") and "=" in one)
    actions = {name: action for name, action in (("export", export), ("analyze", analyze)) if options.get(name) == "on"}
    try:
        if (
            len(options) != len(arguments)
            or not actions
            or "output" not in options
            or options.keys() - {"export", "analyze", "output"}
        ):
            raise Refused("accepted: --export=on or --analyze=on, with --output=PROF_FOLDER; --help says what they make")
        for action in actions.values():
            action(Path(options["output"]).resolve())
    except (Refused, OSError) as error:
        sys.stderr.write(f"msprof: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
