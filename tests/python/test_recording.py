"""The file of a recording, written and read with Python alone: whole, cut at every byte, broken at every byte; and msprobe's folders.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import pickle
import struct
import zlib

import numpy
import pytest
from conftest import Python

import portacl.recording as recordings
from portacl.recording import Call, Statistics, TensorRecord

ELEMENTS = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
SCALAR = recordings.Scalar("float16", 1.5)


def tensor(**changes: object) -> TensorRecord:
    fields: dict[str, object] = {"dtype": "float32", "shape": (2, 3), "strides": (3, 1), "offset": 0, "device": "npu:0", "kept": "all"}
    return TensorRecord(**{**fields, **changes})  # type: ignore[arg-type]


def write(path: pathlib.Path) -> None:
    with recordings.Writer(str(path), {"program": ["train.py"]}) as writer:
        record = tensor(statistics=Statistics(6, 1.0, 6.0, 3.5, 9.5, 0, 0, 0), name="weight", requires_grad=True, storage=4)
        writer.keep(record, ELEMENTS)
        other = tensor(shape=(3, 2), strides=(1, 3), order=(1, 0), format=29, storage_shape=(1, 6))
        writer.keep(other, ELEMENTS)
        sample = tensor(kept="sample", sample_positions=(0, 5), sample_bytes=ELEMENTS[:4] + ELEMENTS[-4:], hash="xxh64:1")
        stack = (recordings.StackFrame("train.py", 3, "step"), recordings.StackFrame("train.py", 9, "<module>"))
        values = [True, 3, -0.0, 1e-310, float("inf"), "text", None, 2 - 3j, (1, [2]), b"\0\1", recordings.Opaque("Work", "<Work>"), SCALAR]
        random = recordings.Generator("npu:0", 7, 12, b"state")
        writer.call(Call(0, "aten::add.Tensor", [record, *values], {"out": other, "dtype": recordings.DType("float32")}, [record], stack=stack))
        writer.call(
            Call(
                0, "aten::add_.Tensor", [[record, other], recordings.Layout("strided"), recordings.Device("cpu")], {}, [sample],
                module="layers.0", root="Net", step=2, phase="backward", written={("args", 0, 1): other}, aliases={0: ("args", 0, 0)},
                stack=stack, random=random, gradient_of=0, thread=1,
            )
        )  # fmt: skip
        writer.call(Call(0, "aten::mm.default", [recordings.MemoryFormat("channels_last")], {}, [], error="RuntimeError: no"))
        writer.close("the program ended")


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "run.rec"
    write(path)
    return path


def read(path: pathlib.Path) -> tuple[list[Call], str | None]:
    with recordings.open(path) as recording:
        calls = list(recording)
        for call in calls:
            for _, record in call.inputs():
                record.content()
        return calls, recording.problem


def test_what_is_written_is_read(path: pathlib.Path) -> None:
    with recordings.open(path) as recording:
        first, second, third = recording
        assert (recording.problem, recording.end, recording.meta) == (None, "the program ended", {"format": 1, "program": ["train.py"]})
        assert [call.index for call in recording] == [0, 1, 2]  # once more
        record = first.args[0]
        assert (record.shape, record.strides, record.dtype, record.kept) == ((2, 3), (3, 1), "float32", "all")
        assert (record.name, record.storage) == ("weight", 4)
        assert record.requires_grad and record.statistics == Statistics(6, 1.0, 6.0, 3.5, 9.5, 0, 0, 0)
        assert record.key == hashlib.blake2b(ELEMENTS, digest_size=16).hexdigest()
        assert record.content() == ELEMENTS
        assert first.kwargs["out"].content() == struct.pack("<6f", 1, 4, 2, 5, 3, 6)  # its rows are the other's columns
    values = first.args[1:]
    assert values == [True, 3, -0.0, 1e-310, float("inf"), "text", None, 2 - 3j, (1, [2]), b"\0\1", recordings.Opaque("Work", "<Work>"), SCALAR]
    assert (first.kwargs["out"].format, first.kwargs["out"].storage_shape, record.format) == (29, (1, 6), None)
    assert str(values[2]) == "-0.0" and first.kwargs["dtype"] == recordings.DType("float32")
    assert [place for place, _ in first.inputs()] == [("args", 0), ("kwargs", "out")]
    assert first.stack == second.stack == (("train.py", 3, "step"), ("train.py", 9, "<module>"))
    assert (second.module, second.root, second.step, second.phase) == ("layers.0", "Net", 2, "backward")
    assert second.gradient_of == 0 and second.thread == 1 and second.random == recordings.Generator("npu:0", 7, 12, b"state")
    assert [place for place, _ in second.results()] == [("outputs", 0), ("args", 0, 1)]
    assert (second.outputs[0].sample_positions, second.outputs[0].sample_bytes) == ((0, 5), ELEMENTS[:4] + ELEMENTS[-4:])
    assert second.args[1:] == [recordings.Layout("strided"), recordings.Device("cpu")]
    assert third.error == "RuntimeError: no"


def test_contents_are_written_once(path: pathlib.Path) -> None:
    assert path.read_bytes().count(hashlib.blake2b(ELEMENTS, digest_size=16).digest()) == 1


def test_a_file_cut_at_every_byte_says_where_and_yields_what_is_complete(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = path.read_bytes()
    cut = tmp_path / "cut.rec"
    counts = []
    for size in range(len(content)):
        cut.write_bytes(content[:size])
        try:
            calls, problem = read(cut)
        except recordings.RecordingError as error:
            assert size < len(b"portacl recording 1\n")
            calls, problem = [], str(error)
        assert problem is not None and f"the file is cut at byte {size}" in problem
        counts.append(len(calls))
    assert counts == sorted(counts) and set(counts) == {0, 1, 2, 3}


def test_a_file_broken_at_every_byte_says_where_and_yields_what_came_before(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = path.read_bytes()
    broken = tmp_path / "broken.rec"
    for place in range(len(content)):
        broken.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        try:
            calls, problem = read(broken)
        except recordings.RecordingError as error:
            problem = str(error)
        assert problem is not None and "byte " in problem, place


def frames(*kinds_and_contents: tuple[str, object]) -> bytes:
    """A file with right checksums and whatever in it."""
    made = b"portacl recording 1\n"
    for kind, content in kinds_and_contents:
        payload = content if isinstance(content, bytes) else zlib.compress(json.dumps(content).encode())
        made += struct.pack("<4sQI", kind.encode(), len(payload), zlib.crc32(payload)) + payload
    return made


CALL = {"index": 0, "name": "aten::x", "args": [], "outputs": [], "step": 0, "phase": "none"}
TENSOR = {"dtype": "float32", "shape": [2], "strides": [1], "device": "cpu", "kept": "summary"}


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (("CALL", b"no zlib"), "cannot be unpacked"),
        (("CALL", zlib.compress(b"{")), "it is no JSON"),
        (("CALL", zlib.compress(b"[" * 100_000)), "it is no JSON"),
        (("CALL", [1]), "it is no object"),
        (("CALL", {"index": 0}), "malformed"),
        (("CALL", {**CALL, "args": {"dtype": "float32"}}), "must be lists"),
        (("CALL", {**CALL, "args": [{"code": "print()"}]}), "the unknown kind 'code'"),
        (("CALL", {**CALL, "args": [{"tensor": 4}]}), "which no call before it describes"),
        (("CALL", {**CALL, "args": [{"tensor": {"dtype": "float32"}}]}), "a tensor is malformed"),
        (("CALL", {**CALL, "args": [{"tensor": {**TENSOR, "shape": [-1]}}]}), "where sizes must be"),
        (("CALL", {**CALL, "args": [{"tensor": {**TENSOR, "kept": "all", "key": "ab"}}]}), "not in the file, ab"),
        (("CALL", {**CALL, "args": [{"tensor": {**TENSOR, "order": [1]}}]}), "where an order of 1 dims must be"),
        (("CALL", {**CALL, "args": [{"tensor": {**TENSOR, "kept": "sample", "sample": [[0], ""]}}]}), "not as many elements"),
        (("CALL", {**CALL, "written": [["args", {}]]}), "the place of an argument"),
        (("STCK", {"id": 1}), "call stack is malformed"),
        (("call", {}), "is no kind of frame"),
    ],
)
def test_frames_that_hold_what_they_must_not(tmp_path: pathlib.Path, frame: tuple[str, object], words: str) -> None:
    path = tmp_path / "run.rec"
    path.write_bytes(frames(("META", {"format": 1}), ("CALL", CALL), frame, ("CALL", CALL)))
    calls, problem = read(path)
    assert len(calls) == 1 and problem is not None
    assert words in problem and "at byte " in problem and problem.endswith("1 call is complete before that")


def test_a_frame_of_a_later_kind_is_passed_over(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "run.rec"
    path.write_bytes(frames(("META", {"format": 1}), ("NEWS", b"?"), ("CALL", CALL), ("DONE", {"reason": "end"})))
    calls, problem = read(path)
    assert len(calls) == 1 and problem is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ELEMENTS + b"more", "it holds more than 24 bytes"),
        (ELEMENTS[:8], "it holds 8 bytes, and its tensor has 24"),
        (ELEMENTS[::-1], "do not have the hash"),
        (None, "cannot be unpacked"),
    ],
)
def test_contents_that_are_not_the_tensors(tmp_path: pathlib.Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "run.rec"
    digest = hashlib.blake2b(ELEMENTS, digest_size=16)
    record = {**TENSOR, "shape": [2, 3], "kept": "all", "key": digest.hexdigest()}
    payload = digest.digest() + (b"??" if content is None else zlib.compress(content))
    path.write_bytes(frames(("META", {}), ("DATA", payload), ("CALL", {**CALL, "args": [{"tensor": record}]}), ("DONE", {})))
    with recordings.open(path) as recording:
        (call,) = recording
        with pytest.raises(recordings.RecordingError, match=f"frame DATA at byte \\d+: .*{words}"):
            call.args[0].content()


def test_no_recording(tmp_path: pathlib.Path) -> None:
    for content, words in ((b"PK\3\4", "does not begin with the line"), (b"portacl recording 2\n....", "a format that this portacl does not know")):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(recordings.RecordingError, match=words):
            recordings.open(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        recordings.open(tmp_path / "nowhere")
    with pytest.raises(recordings.RecordingError, match="there is no dump.json of msprobe in this folder"):
        recordings.open(tmp_path)


def test_the_import_leaves_cann_alone(python: Python) -> None:
    shown = "from portacl_start import environment; import os; print(environment.loaded() is not None, 'ASCEND_HOME_PATH' in os.environ)"
    assert python.prints("-c", f"import portacl.recording; {shown}") == "False False\n"
    assert python.prints("-c", f"from portacl.recording import Writer; {shown}") == "False False\n"
    assert python.prints("-c", f"import portacl; import portacl.recording; {shown}") == "True True\n"


def test_record_says_what_it_needs(python: Python) -> None:
    script = python.write("script.py", "print(1)")
    done = python("-m", "portacl", "record", script, ASCEND_HOME_PATH=str(python.folder))
    assert done.returncode == 1 and "has no torch" in done.stderr and "is in force" not in done.stderr
    assert "--keep {all,sample,summary}" in python.prints("-m", "portacl", "record", "--help")
    assert "python -m portacl record" in python.prints("-m", "portacl", "--help")


# ---- msprobe


def statistics(shape: list[int], **more: object) -> dict[str, object]:
    values = {"Max": 2.5, "Min": -1.5, "Mean": 0.25, "Norm": 4.0, "requires_grad": True}
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": shape, **values, **more}


def dump(folder: pathlib.Path, data: object, head: dict[str, str] | None = None, **more: object) -> None:
    (folder / "dump_tensor_data").mkdir(parents=True)
    written = {"task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": "/elsewhere/dump_tensor_data", **(head or {})}
    (folder / "dump.json").write_text(json.dumps({**written, "data": data}))
    for name, content in more.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


LINEAR = "Functional.linear.0.forward"
MODULE = "Module.module.layers.0.attention.Linear.forward.0"
DATA = {
    LINEAR: {
        "input_args": [statistics([2, 3], data_name=f"{LINEAR}.input.0.npy"), None, {"type": "int", "value": 3}],
        "input_kwargs": {"dtype": {"type": "torch.dtype", "value": "torch.bfloat16"}, "scale": {"type": "float", "value": "inf"}},
        "output": [statistics([2], md5="9a0364b9", Max="nan", dtype="torch.bfloat16"), {"type": "slice", "value": [0, None, 2]}],
    },
    MODULE: {"input_args": [[statistics([1])]], "input_kwargs": {}, "output": [], "parameters": {"weight": statistics([4, 4], md5="a" * 32)}},
    MODULE.replace("forward", "backward"): {"input": [statistics([2])], "output": [None, statistics([])]},
    "Module.layers.0.attention.Linear.parameters_grad.0": {"bias": [statistics([4])], "weight": [statistics([4, 4])]},
}
LINES = ["File /home/me/train.py, line 12, in forward, \n x = linear(x)", "File /home/me/train.py, line 3, in <module>, \n go()"]
STACKS = {"0": [[LINEAR, MODULE], LINES]}
PARENTS = {LINEAR: MODULE, MODULE: None}


def test_a_dump_of_msprobe(tmp_path: pathlib.Path) -> None:
    for step in (10, 2):
        dump(tmp_path / f"step{step}" / "rank0", DATA, stack=STACKS, construct=PARENTS)
        numpy.save(tmp_path / f"step{step}" / "rank0" / "dump_tensor_data" / f"{LINEAR}.input.0.npy", numpy.frombuffer(ELEMENTS, "<f4").reshape(2, 3))
    with recordings.open(tmp_path) as recording:
        calls = list(recording)
        assert recording.problem is None and recording.meta["level"] == "mix" and recording.meta["format"] == "msprobe"
    assert [(call.index, call.step) for call in calls] == [(number, 2 if number < 4 else 10) for number in range(8)]
    linear, module, backward, gradients = calls[:4]
    assert (linear.name, linear.module, linear.phase) == ("functional::linear", "layers.0.attention", "forward")
    first = linear.args[0]
    assert (first.shape, first.dtype, first.kept, first.requires_grad, first.strides) == ((2, 3), "float32", "all", True, None)
    assert first.content() == ELEMENTS and first.statistics == Statistics(6, -1.5, 2.5, 0.25, 4.0)
    assert linear.args[1:] == [None, 3] and linear.kwargs == {"dtype": recordings.DType("bfloat16"), "scale": float("inf")}
    assert linear.outputs[0].hash == "crc32:9a0364b9" and linear.outputs[0].dtype == "bfloat16" and linear.outputs[0].kept == "summary"
    assert linear.outputs[1].type == "slice"
    assert linear.stack == (("/home/me/train.py", 12, "forward"), ("/home/me/train.py", 3, "<module>"))
    assert (module.name, module.module, module.phase) == ("module::Linear", "layers.0.attention", "forward")
    assert module.kwargs["parameters.weight"].name == "weight" and module.kwargs["parameters.weight"].hash == "md5:" + "a" * 32
    assert (backward.phase, len(backward.args), backward.outputs[0], backward.outputs[1].shape) == ("backward", 1, None, ())
    assert (gradients.module, len(gradients.outputs)) == ("layers.0.attention", 2)


@pytest.mark.parametrize("level", ["L0", "L1", "mix"])
@pytest.mark.parametrize("task", ["statistics", "tensor"])
def test_each_level_and_task_of_msprobe(tmp_path: pathlib.Path, level: str, task: str) -> None:
    """L0 has modules, L1 functions and no construct.json, mix both; statistics names no file."""
    names = [name for name in DATA if level == "mix" or name.startswith("Module") == (level == "L0")]
    data = json.loads(json.dumps({name: DATA[name] for name in names}))
    if task == "statistics" and LINEAR in data:
        del data[LINEAR]["input_args"][0]["data_name"]
    parents = {"construct": PARENTS} if level != "L1" else {}
    dump(tmp_path, data, head={"task": task, "level": level}, stack=STACKS, **parents)
    if task == "tensor":
        numpy.save(tmp_path / "dump_tensor_data" / f"{LINEAR}.input.0.npy", numpy.frombuffer(ELEMENTS, "<f4").reshape(2, 3))
    calls, problem = read(tmp_path)
    assert problem is None and len(calls) == len(names)
    with recordings.open(tmp_path) as recording:
        assert (recording.meta["level"], recording.meta["task"]) == (level, task)
    modules = [call for call in calls if call.name.startswith("module::")]
    assert len(modules) == {"L0": 3, "L1": 0, "mix": 3}[level]
    assert {call.module for call in modules} <= {"layers.0.attention"} and {call.phase for call in modules} <= {"forward", "backward"}
    if level != "L0":
        linear = next(call for call in calls if call.name == "functional::linear")
        assert linear.module == ("layers.0.attention" if level == "mix" else "") and linear.stack[0].line == 12
        assert linear.args[0].kept == ("all" if task == "tensor" else "summary")
        assert linear.args[0].statistics == Statistics(6, -1.5, 2.5, 0.25, 4.0)


def test_dumps_of_msprobe_that_are_broken(tmp_path: pathlib.Path) -> None:
    malformed = {"input_args": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": 3}]}
    dump(tmp_path / "a", {LINEAR: DATA[LINEAR], "Tensor.add.0.forward": malformed})
    calls, problem = read(tmp_path / "a" / "dump.json")
    assert len(calls) == 1 and problem is not None and "'Tensor.add.0.forward' is malformed" in problem
    assert calls[0].args[0].problem is not None and "is not in" in calls[0].args[0].problem

    dump(tmp_path / "b", {})
    (tmp_path / "b" / "dump.json").write_text('{"data": {')
    with pytest.raises(recordings.RecordingError, match="no JSON at byte 10"):
        recordings.open(tmp_path / "b")

    dump(tmp_path / "c", {LINEAR: {"input_args": [statistics([1], data_name="../../secret.npy")]}})
    _, problem = read(tmp_path / "c")
    assert problem is not None and "is no name of a file" in problem

    for folder in ("d/rank0", "d/rank1"):
        dump(tmp_path / folder, DATA)
    with pytest.raises(recordings.RecordingError, match="dumps of several ranks, rank0, rank1"):
        recordings.open(tmp_path / "d")


class Harmful:
    """What would be run if it were unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('code of a recording was run')",)


def test_nothing_is_unpickled(tmp_path: pathlib.Path) -> None:
    dump(tmp_path, DATA)
    file = tmp_path / "dump_tensor_data" / f"{LINEAR}.input.0.npy"
    numpy.save(file, numpy.array([Harmful()], dtype=object), allow_pickle=True)
    assert pickle.dumps(Harmful()) and b"exec" in file.read_bytes()
    with recordings.open(tmp_path) as recording:
        call = next(iter(recording))
        with pytest.raises(recordings.RecordingError, match="it cannot be read: ValueError: Object arrays cannot be loaded"):
            call.args[0].content()
