"""Recordings with `--keep summary` on portacl, whose calls the device's thread summarises and writes while the program goes on."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import resource
import signal
import sys
import threading
import weakref

import pytest
import torch
from test_capture import of, run, train

import portacl.recording as recordings
from portacl.recording import _capture


def read(path):
    with recordings.open(path) as recording:
        calls = list(recording)
        assert recording.problem is None
    assert [call.index for call in calls] == list(range(len(calls)))
    return calls


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "run.rec")


def values(record):
    """The one value that all elements have."""
    found = record.statistics
    assert record.problem is None and record.hash is not None and found.min == found.max
    return found.min


def test_it_says_what_is_said_where_each_call_is_waited_for(tmp_path, monkeypatch):
    def recorded(name):
        path = str(tmp_path / name)
        with recordings.record(path, "summary") as recorder:
            train("npu")
            mask = torch.arange(6.0, device="npu").reshape(2, 3).t() > 2  # in another order than that of rows
            for part in (mask, torch.ones(4, 6, device="npu")[:, 1:3], torch.ones(3, dtype=torch.complex64, device="npu").conj()):
                part.clone()
            torch.ones(3, dtype=torch.float64, device="npu").neg()
            torch.zeros(0, 3, device="npu").neg()
        return [json.dumps(call.as_json(None)) for call in read(path)], recorder

    found, recorder = recorded("later.rec")
    assert recorder._deferred is not None and recorder._deferred.summaries > 100
    monkeypatch.setattr(_capture._LastingWriter, "defer", lambda writer: None)
    wanted, recorder = recorded("waited.rec")
    assert recorder._deferred is None
    assert found == wanted


def call_all_kinds():
    """Arguments and results of all kinds that an operator has."""
    x, host = torch.arange(6.0, device="npu").reshape(2, 3), torch.ones(2, 3)
    whole = torch.arange(6, device="npu", dtype=torch.float64)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2)).to("npu")
    net(x).sum().backward()
    with torch.no_grad():
        net[0].weight.add_(1)
    for value in (2, -1.5, math.nan, math.inf, True, 1 << 40, 3 + 2j):
        x * value
    torch.full((2,), -math.inf, device="npu", dtype=torch.float16)
    torch.empty(3, device="npu").copy_(host[0])
    torch.add(x, 1, out=torch.empty(2, 3, device="npu"))
    torch.ops.aten.div.Tensor_mode(x, x, rounding_mode="floor")
    with contextlib.suppress(RuntimeError):
        torch.ops.aten.div.Tensor_mode(host, host, rounding_mode='no "mode"\u20ac')
    with contextlib.suppress(RuntimeError):
        host.add_(torch.ones(5))
    torch._foreach_add_([x, net[2].bias.detach()], 2.5)
    x[:, 1:].t().mul_(2)
    torch.stack([x.t(), x.reshape(3, 2)]).split(1)
    x[torch.tensor([0, 1], device="npu"), :]
    x.view(torch.int32).neg()
    whole.neg().to(torch.bfloat16).to("cpu", memory_format=torch.contiguous_format).neg()
    torch.view_as_complex(x.reshape(3, 2)).conj().clone()
    torch._neg_view(x).clone()
    host.to_sparse().coalesce()
    torch.randn(3, device="npu", generator=torch.Generator("npu").manual_seed(4)).uniform_()
    torch.rand(3)
    x.max(1)
    x.untyped_storage().resize_(48)
    x.neg()
    x.data = x.data[:1]
    x.neg()


@pytest.mark.parametrize("options", [{}, {"steps": range(1, 2)}, {"module": "0"}, {"stacks": False}], ids=str)
def test_what_compiled_code_records_is_what_python_records(tmp_path, monkeypatch, options):
    test = sys._getframe().f_code.co_name  # whose lines are others

    def recorded(name):
        torch.manual_seed(7)
        with recordings.record(str(tmp_path / name), "summary", **options) as recorder:
            is_compiled = recorder._compiled is not None
            train("npu")
            call_all_kinds()
        calls = read(str(tmp_path / name))
        stacks = [[frame for frame in call.stack if frame.function != test] for call in calls]
        return [(call.as_json(None), stack) for call, stack in zip(calls, stacks)], recorder.problems, is_compiled

    *found, is_compiled = recorded("compiled.rec")
    assert is_compiled and len(found[0]) >= 10
    monkeypatch.setattr(_capture, "compiled", lambda known: None)
    *wanted, is_compiled = recorded("python.rec")
    assert not is_compiled
    for one, other in zip(found[0], wanted[0]):
        assert one == other
    assert found == wanted


def test_a_call_runs_little_python(path):
    """What that costs is most of what a recording would."""
    called = set()

    def profile(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(os.path.dirname(_capture.__file__)):
            called.add(frame.f_code.co_name)

    def work(x):
        for _ in range(20):
            (x.mul(2) + 1).relu().t().sum()

    with recordings.record(path, "summary", progress=False):
        x = torch.ones(4, 5, device="npu")
        for profiler in (None, profile):  # the first time there are operators, shapes and lines that are new
            sys.setprofile(profiler)
            work(x)
        sys.setprofile(None)
    assert called <= {"current", "_known"}


@pytest.mark.parametrize("count", [7, 2 << 20])  # on the launching thread, and on the stream's own
def test_operands_in_place_before_and_after(path, count):
    with recordings.record(path, "summary"):
        x = torch.zeros(count, device="npu")
        y = x[1:]
        for _ in range(30):
            x.add_(1)
            y.mul_(1)
            torch._foreach_add_([x], 1)
    calls = read(path)
    once, parts, lists = of(calls, "aten::add_.Tensor"), of(calls, "aten::mul_.Tensor"), of(calls, "aten::_foreach_add_.Scalar")
    for number, (added, part, listed) in enumerate(zip(once, parts, lists, strict=True)):
        assert (values(added.args[0]), values(added.outputs[0]), values(added.written["args", 0])) == (2 * number, 2 * number + 1, 2 * number + 1)
        assert (values(part.args[0]), values(part.outputs[0])) == (2 * number + 1, 2 * number + 1)
        assert (values(listed.args[0][0]), values(listed.written["args", 0, 0])) == (2 * number + 1, 2 * number + 2)
        assert added.args[0].storage == part.args[0].storage and part.args[0].statistics.count == count - 1


def test_operands_that_are_freed_at_once(path):
    with recordings.record(path, "summary"):
        for number in range(200):
            torch.full((1000,), float(number), device="npu").add(1)
    added = of(read(path), "aten::add.Tensor")
    assert [(values(call.args[0]), values(call.outputs[0])) for call in added] == [(number, number + 1) for number in range(200)]


def test_a_summary_that_is_named_long_after(path):
    with recordings.record(path, "summary"):
        x = torch.full((8,), 3.0, device="npu")
        for _ in range(3):
            x.detach()
            for _ in range(2100):
                torch.ones(1, device="npu").neg()
            x.view(2, 4).neg()
    assert {values(call.args[0]) for call in of(read(path), "aten::detach.default")} == {3}
    assert [values(call.args[0]) for call in of(read(path), "aten::neg.default") if call.args[0].shape == (2, 4)] == [3, 3, 3]


def test_streams(path):
    first, second = torch.npu.Stream(), torch.npu.Stream()
    with recordings.record(path, "summary"):
        for number in range(20):
            with torch.npu.stream(first):
                x = torch.full((2 << 20,), float(number), device="npu").add_(1)
            second.wait_stream(first)
            with torch.npu.stream(second):
                y = x.mul_(2)
            torch.npu.current_stream().wait_stream(second)
            y.sub_(1)
    calls = read(path)
    assert [values(call.outputs[0]) for call in of(calls, "aten::mul_.Tensor")] == [2 * number + 2 for number in range(20)]
    assert [(values(call.args[0]), values(call.outputs[0])) for call in of(calls, "aten::sub_.Tensor")] == [(2 * n + 2, 2 * n + 1) for n in range(20)]


def test_threads_and_the_host(path):
    together = threading.Barrier(3)

    def work(recorder, number):
        with recorder.in_thread():
            together.wait()
            for _ in range(50):
                torch.full((50,), float(number), device="npu").add_(1).mul(2).to("cpu", non_blocking=True)
            together.wait()

    with recordings.record(path, "summary") as recorder:
        threads = [threading.Thread(target=work, args=(recorder, number)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.ones(2).neg()
    calls = read(path)
    for call in of(calls, "aten::mul.Tensor"):
        assert values(call.outputs[0]) == 2 * values(call.args[0])
    copies = of(calls, "aten::_to_copy.default")
    assert len(copies) == 150 and all(values(call.args[0]) == values(call.outputs[0]) for call in copies)
    assert values(of(calls, "aten::neg.default")[0].outputs[0]) == -1


def test_several_devices(path):
    if torch.npu.device_count() < 2:
        torch.npu.set_device(0)
    devices = [f"npu:{number % torch.npu.device_count()}" for number in range(4)]
    with recordings.record(path, "summary"):
        for number, device in enumerate(devices * 5):
            with torch.npu.device(device):
                torch.full((100,), float(number), device=device).add_(1)
    added = of(read(path), "aten::add_.Tensor")
    assert [(values(call.args[0]), values(call.outputs[0])) for call in added] == [(number, number + 1) for number in range(20)]


def test_an_error_in_the_middle(path):
    with recordings.record(path, "summary"):
        x = torch.ones(3, device="npu")
        with pytest.raises(RuntimeError):
            x.add_(torch.ones(2, device="npu"))
        x.add_(1)
    calls = read(path)
    failed, added = of(calls, "aten::add_.Tensor")
    assert failed.error is not None and failed.outputs == [] and values(failed.args[0]) == 1
    assert added.error is None and values(added.outputs[0]) == 2


def test_the_limit_is_kept_and_said(path, capfd):
    limit = 60_000
    with recordings.record(path, "summary", limit=limit) as recorder:
        for _ in range(300):
            torch.ones(2, device="npu").neg()
        torch.npu.synchronize()
    calls = read(path)
    assert limit - 2000 < os.path.getsize(path) <= limit + 500
    assert len(recorder.problems) == 1 and recorder.problems[0].startswith(f"the limit of 58.6 KB is reached after {len(calls)} calls, in step 0")
    with recordings.open(path) as recording:
        assert list(recording) and recording.end == recorder.problems[0]
    assert f"portacl record: {recorder.problems[0]}" in capfd.readouterr().err


@pytest.mark.parametrize("room", [0, 4, 300, 1000, 3000])
def test_a_full_disk_ends_the_recording_alone(path, capfd, room):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with recordings.record(path, "summary", progress=False) as recorder:
        x = torch.ones(3, device="npu")
        torch.npu.synchronize()
        size = os.path.getsize(path)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, before[1]))
            for _ in range(30):
                x = x + 1
            torch.npu.synchronize()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert (x + 1).tolist() == [32.0] * 3
    assert len(recorder.problems) == 1
    with recordings.open(path) as recording:
        calls = list(recording)
        assert recording.problem is None or "cut at byte" in recording.problem
    assert 1 <= len(calls) < 30 and [call.index for call in calls] == list(range(len(calls)))
    assert f"cannot be written: File too large: the recording ends after {len(calls)} calls" in capfd.readouterr().err


SCRIPT = """
import os, signal, sys, torch, torch_npu
import portacl.recording
recorder = portacl.recording.record(sys.argv[1], "summary").start()
x = torch.zeros(1000, device="npu")
for _ in range(100):
    x.add_(1)
if sys.argv[2] == "killed":
    torch.npu.synchronize()
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "fails":  # in the stream, as the device finds out
    torch.nn.functional.embedding(torch.tensor([0, 9], device="npu"), x.reshape(10, 100)[:4])
    try:
        torch.npu.synchronize()
    except RuntimeError as error:
        print("indices has the value 9" in str(error))
if sys.argv[2] == "raises":
    raise ValueError("in the middle")
if sys.argv[2] == "forks":
    if os.fork() == 0:
        x.add_(1)
        recorder.stop()
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("how", ["ends", "raises", "killed", "forks"])
def test_a_program_that_does_not_close_it(tmp_path, how):
    script, path = tmp_path / "script.py", tmp_path / "run.rec"
    script.write_text(SCRIPT)
    done = run("-m", "portacl", script, path, how)
    assert done.returncode == {"ends": 0, "raises": 1, "killed": -signal.SIGKILL, "forks": 0}[how], done.stderr
    with recordings.open(path) as recording:
        added = [call for call in recording if call.name == "aten::add_.Tensor"]
        assert recording.problem is not None and recording.problem.endswith("; 101 calls are complete") and recording.end == ""
    assert [values(call.outputs[0]) for call in added] == list(range(1, 101))


def test_work_that_fails_in_its_stream_is_told_by_the_stream(tmp_path):
    script, path = tmp_path / "script.py", tmp_path / "run.rec"
    script.write_text(SCRIPT)
    done = run("-m", "portacl", script, path, "fails")
    assert done.stdout == "True\n", done.stderr
    with recordings.open(path) as recording:
        calls = list(recording)
    assert [values(call.outputs[0]) for call in of(calls, "aten::add_.Tensor")] == list(range(1, 101))
    assert len(of(calls, "aten::embedding.default")) == 1


def test_what_a_graph_captures_is_not_read(path):
    x = torch.ones(4, device="npu")
    graph = torch.npu.NPUGraph()
    with recordings.record(path, "summary"):
        with torch.npu.graph(graph):
            y = x + 1
        graph.replay()
        z = y * 3
    (added,), (multiplied,) = of(read(path), "aten::add.Tensor"), of(read(path), "aten::mul.Tensor")
    assert added.outputs[0].problem == "the device did not come to its elements" and values(multiplied.outputs[0]) == 6
    assert z.tolist() == [6.0] * 4


def test_what_the_device_does_not_come_to_is_told(path, monkeypatch):
    """As where torch_npu's thread has failed, and drops all that is behind it."""
    with recordings.record(path, "summary") as recorder:
        x = torch.ones(3, device="npu")
        torch.npu.synchronize()
        held = []
        deferred = recorder._deferred
        monkeypatch.setattr(deferred, "_current_stream", lambda device: held.append(device) or 0)
        x.neg()
        x.reshape(3, 1).t().neg()
    assert held
    told = [call for call in read(path) if call.name == "aten::neg.default"]
    assert [call.outputs[0].problem for call in told] == ["the device did not come to its elements"] * 2
    assert [call.outputs[0].hash for call in told] == [None, None] and values(told[0].args[0]) == 1


def test_memory_is_not_kept_alive(path):
    with recordings.record(path, "summary") as recorder:
        x = torch.ones(1 << 20, device="npu")
        torch.npu.synchronize()
        before = torch.npu.memory_allocated()
        for _ in range(300):
            x + 1
        torch.npu.synchronize()
        assert torch.npu.memory_allocated() == before
        assert recorder._deferred.state.pending == 0


def test_calls_that_finish_in_another_order_are_written_in_theirs(path):
    """A stream that has no queue is launched at once."""
    at_once = torch.npu.SyncLaunchStream()
    with recordings.record(path, "summary"):
        y = torch.zeros(1 << 20, device="npu")
        for number in range(20):
            y.add_(1)
            with torch.npu.stream(at_once):
                torch.full((100,), 1000.0 + number, device="npu").add(1)
    calls = read(path)
    assert [values(call.outputs[0]) for call in of(calls, "aten::add_.Tensor")] == list(range(1, 21))
    assert [values(call.outputs[0]) for call in of(calls, "aten::add.Tensor")] == list(range(1001, 1021))


@pytest.mark.parametrize("keep", ["summary", "all"])
def test_a_graph_is_captured_as_without_a_recording(path, keep):
    """Though there are elements that only Python reads, and some that go to the host."""
    x, y, host = torch.ones(4, dtype=torch.float64, device="npu"), torch.ones(4, device="npu"), torch.zeros(4).pin_memory()
    graph = torch.npu.NPUGraph()
    with recordings.record(path, keep):
        with torch.npu.graph(graph):
            added = x + 1
            host.copy_(y.clone(), non_blocking=True)
        graph.replay()
        torch.npu.synchronize()
        assert added.tolist() == [2.0] * 4 and host.tolist() == [1.0] * 4
        added.neg()
        host.neg()
    calls = read(path)
    assert of(calls, "aten::add.Tensor")[0].outputs[0].problem == "the device did not come to its elements"
    assert of(calls, "aten::copy_.default")[0].outputs[0].problem == "the device did not come to its elements"
    assert [(values(call.args[0]), values(call.outputs[0])) for call in of(calls, "aten::neg.default")] == [(2, -2), (1, -1)]


@pytest.mark.parametrize("keep", ["summary", "sample"])
def test_what_a_replay_writes_is_read_again(path, keep):
    x = torch.zeros(4, device="npu")
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        x.add_(1)
    x.zero_()
    with recordings.record(path, keep):
        for _ in range(3):
            graph.replay()
            x.neg()
    assert [(values(call.args[0]), values(call.outputs[0])) for call in of(read(path), "aten::neg.default")] == [(1, -1), (2, -2), (3, -3)]


def test_a_view_of_more_dims_than_the_library_knows(path):
    with recordings.record(path, "summary"):
        x = torch.ones(4, 6, device="npu")[:, ::2]
        x.as_strided([1] * 80 + [4, 3], [0] * 80 + [6, 2]).detach()
    (call,) = of(read(path), "aten::detach.default")
    assert values(call.outputs[0]) == 1 and call.outputs[0].statistics.count == 12


def test_a_call_with_tens_of_thousands_of_tensors(path):
    tensors = list(torch.ones(17000, 1, device="npu").unbind(0))
    with recordings.record(path, "summary"):
        torch._foreach_add_(tensors, 1)
    (call,) = of(read(path), "aten::_foreach_add_.Scalar")
    assert {values(one) for one in call.args[0]} == {1} and {values(one) for one in call.written.values()} == {2}


def test_the_limit_is_said_though_the_steps_end(path, capfd):
    with recordings.record(path, "summary", limit=8000, steps=range(1), progress=False) as recorder:
        x = torch.ones(2000, 2000, device="npu")
        for _ in range(2):  # calls behind them are written later
            x @ x
        for _ in range(30):
            torch.ones(2, device="npu").neg()
        recorder.step()
        (problem,) = recorder.problems
        assert problem.startswith("the limit of 7.8 KB is reached after ")
        torch.ones(2, device="npu").neg()
    with recordings.open(path) as recording:
        assert f"after {len(list(recording))} calls, in step " in problem and recording.end == problem
    assert problem in capfd.readouterr().err


def test_a_thread_that_comes_late_writes_nothing(path, tmp_path):
    """The file's number may be another file's by then."""
    comes, goes = threading.Event(), threading.Event()

    recorder = recordings.record(path, "summary", progress=False).start()
    torch.ones(2).neg()
    new_stack = recorder._new_stack

    def slow(places):  # before the writer's lock
        comes.set()
        goes.wait()
        return new_stack(places)

    recorder._new_stack = slow

    def work():
        with recorder.in_thread():
            torch.ones(2).neg()

    thread = threading.Thread(target=work)
    thread.start()
    comes.wait()
    number = recorder._writer._file.fileno()
    recorder._modes.pop().__exit__(None, None, None)
    recorder.stop()
    with open(tmp_path / "other", "wb", buffering=0) as other:
        assert other.fileno() == number
        other.write(b"precious")
        goes.set()
        thread.join()
    assert (tmp_path / "other").read_bytes() == b"precious" and recorder.problems == []
    assert len(read(path)) == 2


def test_recordings_are_given_back(tmp_path):
    """Once nothing names them: the library's part, and what is known of the program."""
    begun, ended, recorders = [], [], []
    for number in range(3):
        with recordings.record(str(tmp_path / f"{number}.rec"), "summary") as recorder:
            torch.ones(3, device="npu").neg()
            deferred = recorder._deferred
            end = deferred._functions.end
            deferred._functions.end = lambda handle, end=end: (ended.append(handle), end(handle))
            begun.append(deferred.handle)
        recorders.append(weakref.ref(recorder))
    del recorder, deferred
    gc.collect()
    assert [one() for one in recorders] == [None] * 3 and sorted(ended) == sorted(begun)


DEVICES = """
import sys, torch, torch_npu
import portacl.recording
with portacl.recording.record(sys.argv[1], "summary", progress=False) as recorder:
    y = torch.ones(3, device="npu:0")
    x = torch.zeros(4 << 20, device="npu:1")
    for _ in range(4):
        x = x.add(1)
        y = y + 1
    z = torch.zeros(4 << 20, device="npu:0")
    for _ in range(4):
        z.copy_(x)
        x.add_(1)
with portacl.recording.record(sys.argv[2], "summary", progress=False) as recorder:
    for _ in range(20):
        z.mul_(2)
    torch.npu.set_device(1)
    x.sub_(1)
    z.mul_(2)
    torch.npu.set_device(0)
    z.mul_(2)
    torch.npu.set_device(1)  # the other one ends it
"""


def test_tensors_of_a_device_that_is_not_current(tmp_path):
    script, first, second = tmp_path / "script.py", tmp_path / "first.rec", tmp_path / "second.rec"
    script.write_text(DEVICES)
    done = run("-m", "portacl", script, first, second, TASK_QUEUE_ENABLE="1", PORTACL_DEVICE_COUNT="2")
    assert done.returncode == 0, done.stderr
    calls = read(first)
    added = [call for call in of(calls, "aten::add.Tensor") if call.args[0].device == "npu:1"]
    assert [(values(call.args[0]), values(call.outputs[0])) for call in added] == [(number, number + 1) for number in range(4)]
    assert [values(call.outputs[0]) for call in of(calls, "aten::copy_.default")] == [4, 5, 6, 7]
    assert [values(call.outputs[0]) for call in of(calls, "aten::add_.Tensor")] == [5, 6, 7, 8]
    calls = read(second)
    assert [values(call.outputs[0]) for call in of(calls, "aten::mul_.Tensor")] == [7 * 2.0**number for number in range(1, 23)]
    assert values(of(calls, "aten::sub_.Tensor")[0].outputs[0]) == 7


STREAMS = """
import sys, torch, torch_npu
import portacl.recording
streams = [torch.npu.Stream() for _ in range(3)]
with portacl.recording.record(sys.argv[1], "summary", progress=False):
    tensors = [torch.zeros((1 << 18) * (number + 1), device="npu") for number in range(3)]
    torch.npu.synchronize()
    for _ in range(20):
        for stream, tensor in zip(streams, tensors):
            with torch.npu.stream(stream):
                tensor.add_(1)
"""


def test_streams_with_queues_of_their_own(tmp_path):
    script, path = tmp_path / "script.py", tmp_path / "run.rec"
    script.write_text(STREAMS)
    done = run("-m", "portacl", script, path, TASK_QUEUE_ENABLE="1", PER_STREAM_QUEUE="1")
    assert done.returncode == 0, done.stderr
    added = of(read(path), "aten::add_.Tensor")
    for number in range(3):
        assert [values(call.outputs[0]) for call in added[number::3]] == list(range(1, 21))


# The queue gets a function that is Python's, and may fail.
QUEUE = """
import contextlib, ctypes, faulthandler, os, sys, time, torch, torch_npu
import portacl.recording
from portacl.recording import _deferring
faulthandler.dump_traceback_later(60, exit=True)
library = ctypes.CDLL(os.path.join(os.path.dirname(torch_npu.__file__), "lib", "libtorch_npu.so"))
run = getattr(library, _deferring._RUN)
run.argtypes, run.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_bool], None
status = 0 if sys.argv[2] == "works" else 500002
def work(function):
    time.sleep(0.2)
    return status
called = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(work)
managed = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(lambda *given: False)
function = (ctypes.c_uint64 * 4)(0, 0, ctypes.cast(managed, ctypes.c_void_p).value, ctypes.cast(called, ctypes.c_void_p).value)
name = (ctypes.c_uint64 * 4)(0, 2, 0x6262, 0)
name[0] = ctypes.addressof(name) + 16
def told(function):
    try:
        function()
        print("ok")
    except RuntimeError as error:
        print("the current working operator name is bb" in str(error))
w = torch.ones(4, 4, device="npu")
torch.npu.synchronize()
recorder = portacl.recording.record(sys.argv[1], "summary", progress=False)
is_recorded = sys.argv[3] == "recorded"
if is_recorded:
    recorder.start()
w.add(5)
run(ctypes.addressof(name), ctypes.addressof(function), False)
w.add(1)
if sys.argv[2] == "fails":
    time.sleep(0.5)
    told(lambda: w.add(2))
    told(lambda: w.mul(2))
    told(torch.npu.synchronize)
told(recorder.stop if is_recorded else torch.npu.synchronize)
told(torch.npu.synchronize)
"""


@pytest.mark.parametrize("how, said", [("works", "ok ok"), ("fails", "True ok ok ok ok"), ("fails late", "True ok")])
def test_a_queue_of_torch_npus_that_fails_or_runs_python(tmp_path, how, said):
    """The program is told what it is told without a recording, and once."""
    script, path = tmp_path / "script.py", tmp_path / "run.rec"
    script.write_text(QUEUE)
    done = run("-m", "portacl", script, path, how, "recorded", TASK_QUEUE_ENABLE="1")
    assert (done.stdout.split(), done.returncode) == (said.split(), 0), done.stderr
    added = of(read(path), "aten::add.Tensor")
    assert values(added[0].outputs[0]) == 6
    if how == "works":
        assert values(added[1].outputs[0]) == 2
    else:
        assert added[1].outputs[0].problem == "the device did not come to its elements"


def test_what_a_failed_queue_tells_without_a_recording(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(QUEUE)
    done = run("-m", "portacl", script, tmp_path / "run.rec", "fails", "alone", TASK_QUEUE_ENABLE="1")
    assert done.stdout.split() == ["True", "ok", "ok", "ok", "ok"], done.stderr
