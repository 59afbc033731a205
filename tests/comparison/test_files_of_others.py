"""Recordings that no device of ours wrote: results that are far off, records of another form, operators and texts that mean harm."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math

import pytest
import torch

import portacl.recording as recordings
from portacl.comparison import __main__ as command_line
from portacl.recording import Call, Statistics, TensorRecord

X = torch.tensor([0.5, 1.0, -2.0, 3.0])


class File:
    """A recording that is written by hand, as of a device whose maker is unknown."""

    def __init__(self, path):
        self.path = path
        self._writer = recordings.Writer(str(path), {"program": ["theirs.py"]})

    def tensor(self, values: torch.Tensor) -> TensorRecord:
        name = str(values.dtype).removeprefix("torch.")
        record = TensorRecord(name, tuple(values.shape), values.stride(), 0, "npu:0", "all")
        self._writer.keep(record, bytes(values.contiguous().view(-1).view(torch.uint8).tolist()))
        return record

    def call(self, name: str, args: list, outputs: list, **more) -> None:
        self._writer.call(Call(0, name, args, more.pop("kwargs", {}), outputs, **more))

    def exp(self, x: torch.Tensor, y: torch.Tensor, **more) -> None:
        self.call("aten::exp.default", [self.tensor(x)], [self.tensor(y)], **more)

    def end(self):
        self._writer.close("it ended")
        return self.path


@pytest.fixture
def file(tmp_path):
    return File(tmp_path / "theirs.rec")


def one(found):
    (call,) = found.calls
    return call


@pytest.mark.parametrize(
    "name",
    ["aten::from_file", "aten::from_file.default", "aten::from_file.out", "aten::save", "aten::_print", "prim::Print",
     "inductor::_reinterpret_tensor", "aten::__class__", "aten::add.__class__", "aten::\udc80", "\udc80::add", "os::system", "aten",
     "aten::add.Tensor\n", "aten::exp.Nothing"],
)  # fmt: skip
def test_operators_that_a_recording_does_not_run(file, compare, tmp_path, name):
    target = tmp_path / "made"
    file.call(name, [str(target), True, 4], [file.tensor(X)])
    file.exp(X, X.exp())
    found = compare(file.end())
    assert found.code == 0 and [call["verdict"] for call in found.calls] == ["not compared", "ok"], found.text
    assert not target.exists()
    wanted = {"prim": "operators of prim are not replayed", "inductor": "operators of inductor are not replayed"}.get(name.partition("::")[0], "")
    assert wanted in found.calls[0]["remark"]


@pytest.mark.parametrize("name", ["as_strided.default", "as_strided_.default", "as_strided_copy.default"])
def test_views_stay_within_what_was_recorded(file, compare, name):
    for size, stride, offset in (([4], [1], 0), ([2, 2], [2, 1], None), ([2], [3], 0), ([3], [1], 1)):
        view = X.as_strided(size, stride, offset or 0).contiguous()
        file.call(f"aten::{name}", [file.tensor(X), size, stride, offset], [file.tensor(view)])
    for size, stride, offset in (([4], [1], 1), ([4], [1], 1 << 40), ([5], [1], None), ([2], [4], 0), ([4], [-1], 3), ([1 << 62], [1 << 62], 0)):
        file.call(f"aten::{name}", [file.tensor(X), size, stride, offset], [file.tensor(X)])
    found = compare(file.end())
    assert [call["verdict"] for call in found.calls[4:]] == ["not compared"] * 6, found.text
    assert all("of which 4 elements were recorded" in call["remark"] or "are no view" in call["remark"] for call in found.calls[4:])
    assert [call["verdict"] for call in found.calls[:4]] == ["ok"] * 4, found.text


def test_other_ways_to_memory(file, compare):
    file.call("aten::set_.source_Tensor_storage_offset", [file.tensor(X), file.tensor(X), 4, [4], [1]], [file.tensor(X)])
    file.call("aten::set_.source_Tensor_storage_offset", [file.tensor(X), file.tensor(X), 1, [4]], [file.tensor(X)])
    file.call("aten::as_strided_scatter.default", [file.tensor(X), file.tensor(X), [4], [2], 0], [file.tensor(X)])
    places = torch.tensor([[4]]), torch.tensor([[1]]), torch.tensor([100])
    file.call("aten::_nested_view_from_buffer.default", [file.tensor(X), *map(file.tensor, places)], [file.tensor(X)])
    file.call("aten::resize.default", [file.tensor(X), [100]], [file.tensor(X)])
    found = compare(file.end())
    assert [call["verdict"] for call in found.calls] == ["not compared"] * 5, found.text


WRONG = torch.tensor([math.nan, -5.0, 1e300, 0.0], dtype=torch.float64)


@pytest.mark.parametrize("y, verdict", [(X.double().exp(), "ok"), (X.double().exp() * (1 + 1e-5), "off"), (WRONG, "off")])
def test_float64_is_judged_by_torchs_standard(file, compare, y, verdict):
    file.exp(X.double(), y)
    path = file.end()
    assert one(compare(path))["verdict"] == verdict
    by_cann = one(compare(path, "--standard", "cann"))
    if verdict == "off":
        assert by_cann["verdict"] == "not compared" and "cann says nothing about float64: --standard torch or --threshold all=" in by_cann["remark"]
        assert one(compare(path, "--threshold", "float32=1ulp"))["verdict"] == "not compared"
    assert one(compare(path, "--threshold", "all=4ulp"))["verdict"] == verdict


def test_float8_is_equal_or_off(file, compare):
    dtype = torch.float8_e4m3fn
    x = (X * 1.1).to(dtype)
    file.call("aten::clone.default", [file.tensor(x)], [file.tensor(x)])
    file.call("aten::clone.default", [file.tensor((X * 1.5).to(dtype))], [file.tensor(x)])
    found = compare(file.end())
    assert [call["verdict"] for call in found.calls] == ["ok", "off"], found.text


def test_float64_of_two_runs(tmp_path, compare):
    files = []
    for name, y in (("one", X.double().exp()), ("other", WRONG)):
        made = File(tmp_path / f"{name}.rec")
        made.exp(X.double(), y)
        files.append(made.end())
    assert one(compare(*files))["verdict"] == "off"
    by_cann = one(compare(*files, "--standard", "cann"))
    assert by_cann["verdict"] == "not compared" and "--standard torch" in by_cann["remark"]
    assert one(compare(files[0], files[0], "--standard", "cann"))["verdict"] == "ok"


def summary(**statistics) -> TensorRecord:
    known = Statistics(4, **{"min": 0.0, "max": 3.0, "mean": 1.5, "norm": 3.75, **statistics})
    return TensorRecord("float32", (4,), None, 0, "npu:0", "summary", statistics=known)


NOT_FINITE = [{"max": math.nan, "mean": math.nan}, {"max": math.inf}, {"min": -math.inf, "norm": math.inf}, {"mean": math.nan}]


@pytest.mark.parametrize("changed", NOT_FINITE)
def test_statistics_that_are_not_finite(tmp_path, compare, changed):
    files = []
    for name, statistics in (("one", {}), ("other", changed)):
        made = File(tmp_path / f"{name}.rec")
        made.call("functional::exp", [summary()], [summary(**statistics)])
        files.append(made.end())
    for pair in (files, files[::-1]):
        row = one(compare(*pair))
        assert row["verdict"] == "off" and "nan" in row["remark"] + row["remark"].replace("inf", "nan")
    assert one(compare(files[1], files[1]))["verdict"] == "ok"


def test_results_that_differ_in_number(tmp_path, compare):
    files = []
    for number in (1, 2):
        made = File(tmp_path / f"{number}.rec")
        made.call("functional::split", [summary()], [summary()] * number)
        files.append(made.end())
    for pair in (files, files[::-1]):
        row = one(compare(*pair))
        assert row["verdict"] == "off" and "results that are tensors" in row["remark"]


def spoilt(file: File) -> int:
    """Writes calls of which something is wrong, and says how many."""
    long, hashed, other, scale = (file.tensor(X) for _ in range(4))
    long.shape = (1 << 70,)
    hashed.hash = {}
    other.shape, other.strides = (3,), (1,)
    scale.dtype, scale.shape, scale.strides = "float8_e8m0fnu", (16,), (1,)
    good = file.tensor(X.exp())
    for number, bad in enumerate((long, hashed, other), 1):  # never the same inputs with another result
        file.call("aten::exp.default", [bad], [good])
        file.call("aten::exp.default", [file.tensor(X + number)], [bad])
    file.call("aten::_to_copy.default", [file.tensor(X)], [scale], kwargs={"dtype": recordings.DType("float8_e8m0fnu")})
    file.call("aten::exp_.default", [file.tensor(X)], [good], written={("args", 0): 3})
    strange = file.tensor(X)
    strange.dtype, strange.shape = "no_dtype", (16,)
    strange.kept, strange.key = "summary", None
    file.call("aten::exp.default", [file.tensor(X + 4)], [strange])
    return 9


def test_a_record_of_another_form_spoils_its_own_call_alone(file, compare):
    count = spoilt(file)
    file.exp(X, X.exp())
    found = compare(file.end())
    assert not found.content["problems"] and len(found.calls) == count + 1
    assert found.calls[-1]["verdict"] == "ok"
    for number, call in enumerate(found.calls[:-1]):
        # A result of another shape or type than portacl's is off; the others tell nothing.
        assert call["verdict"] == "not compared" or number == 6, (number, call)
        assert call["remark"]


def test_a_result_that_is_off_beside_one_that_cannot_be_read(tmp_path, compare):
    files = []
    for name, factor in (("one", 1), ("other", 2)):
        made = File(tmp_path / f"{name}.rec")
        values, places = made.tensor(X.max(0).values.reshape(1) * factor), made.tensor(torch.arange(2 + factor))
        places.shape = (1,)
        made.call("aten::max.dim", [made.tensor(X.reshape(4, 1)), 0], [values, places])
        files.append(made.end())
    right, wrong, beside = one(compare(files[0])), one(compare(files[1])), one(compare(*files))
    assert right["verdict"] == "not compared" and "it holds more than 8 bytes, and its tensor has 8" in right["remark"]
    for row in (wrong, beside):
        assert row["verdict"] == "off" and "cannot be compared" in row["remark"]


def test_of_two_runs_too(tmp_path, compare):
    files = []
    for name in ("one", "other"):
        made = File(tmp_path / f"{name}.rec")
        count = spoilt(made)
        made.exp(X, X.exp() if name == "one" else X.exp() * 2)
        files.append(made.end())
    found = compare(*files)
    assert len(found.calls) == count + 1 and found.calls[-1]["verdict"] == "off"
    assert found.calls[7]["verdict"] == "not compared" and "is no tensor" in found.calls[7]["remark"]
    assert {call["verdict"] for call in found.calls[:-1]} <= {"ok", "not compared"}


@pytest.mark.parametrize("runs", [1, 2])
def test_an_error_of_the_system_is_a_sentence(file, monkeypatch, capsys, runs):
    from portacl.comparison import beside, judge

    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(judge, "compare", fails)
    monkeypatch.setattr(beside, "compare", fails)
    file.exp(X, X.exp())
    path = str(file.end())
    with pytest.raises(SystemExit) as end:
        command_line.main([path] * runs)
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert told.splitlines()[-1].endswith("Input/output error") and path in told


def test_texts_of_a_recording_do_not_steer_the_terminal(file, compare, capsys):
    from portacl.comparison import terminal

    evil = "\x1b[2J\r\nok\u202e\udc80\x9b"
    file.exp(X, X * 9, module=evil, root=evil, stack=(recordings.StackFrame(evil, 1, evil),))
    file.call(f"aten::{evil}", [file.tensor(X)], [file.tensor(X)])
    file.call("aten::mean.default", [file.tensor(X)], [file.tensor(X.mean() * 2)], module=evil)
    path = file.end()
    found = compare(path)
    assert found.code == 1 and found.calls[0]["module"] == f"{evil}.{evil}"
    bisected = compare("--bisect", path)
    for text in (found.text, bisected.text, capsys.readouterr().err):
        assert all(letter.isprintable() or letter == "\n" for letter in text)
        assert "\nok" not in text
    assert r"\x1b[2J\r\nok\u202e\udc80\x9b" in found.text
    json.dumps(found.content)
    assert terminal.printable("a\tb\u00e9") == "a\\tb\u00e9"


@pytest.mark.parametrize("kept", ["all", "summary"])
@pytest.mark.parametrize("second, verdict", [([math.nan, 1.0], "ok"), ([math.nan, 2.0], "off"), ([1.0, 2.0], "off")])
def test_nans_of_other_bits_are_one_result(tmp_path, compare, kept, second, verdict):
    """Of summaries the statistics tell whether anything else differs."""

    def record(values, bits=0):
        tensor = torch.tensor(values)
        words = tensor.view(torch.int32)
        words[tensor.isnan()] |= bits
        special = int(tensor.isnan().sum())
        finite = tensor[tensor.isfinite()]
        found = recordings.Statistics(2, float(finite.min()), float(finite.max()), float(finite.mean()), float(finite.norm()), special, 0, 0)
        made = recordings.TensorRecord("float32", (2,), (1,), 0, "npu:0", kept, statistics=found)
        return made, tensor.numpy().tobytes()

    file = tmp_path / "nan.rec"
    with recordings.Writer(str(file), {"cann": "portacl"}) as writer:
        for values, bits in (([math.nan, 1.0], 0), (second, 1)):
            (given, content), (made, result) = record([-1.0, 1.0]), record(values, bits)
            for one, elements in ((given, content), (made, result)):
                writer.keep(one, elements)
                if kept == "summary":
                    one.kept, one.key = "summary", None
            writer.call(recordings.Call(0, "aten::log", [given], {}, [made]))
    found = compare(file)
    assert ("nondeterministic" in found.calls[1]["remark"]) == (verdict == "off")
