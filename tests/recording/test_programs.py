"""What PORTACL_RECORD records of programs that call C functions, and what a comparison makes of it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
import torch

import portacl
import portacl.recording as recordings
from portacl.comparison import __main__ as command_line
from portacl.comparison import programs

HERE = pathlib.Path(__file__).resolve().parent

START = """
import c_functions as c
c.start()
s = c.stream()
"""
# Sums, a product, a row, in place, a view, an output whose length the values decide, nothing to compute, a number that is drawn.
CALLS = (
    START
    + """
import ctypes
a = c.Tensor([3, 4], [1.5, -2, 0, 4, 1e-3, 7, 8, -9, 3, 0, 5, 6])
t = c.Tensor([4, 3], [0.1 * k for k in range(24)], strides=[1, 8], offset=2, count=24)
o, p = c.Tensor([3, 4]), c.Tensor([3, 3])
assert c.call(s, "aclnnAdd", a, a, c.scalar(0.25), o) == 0
assert c.call(s, "aclnnInplaceAdd", o, a, c.scalar(1)) == 0
assert c.call(s, "aclnnMatmul", o, t, p, ctypes.c_int8(0)) == 0
assert c.call(s, "aclnnSoftmax", p, ctypes.c_int64(-1), p) == 0
n = c.Tensor([12, 2], dtype=c.INT64)
assert c.call(s, "aclnnNonzero", a, n) == 0
e, f = c.Tensor([0, 4]), c.Tensor([0, 4])
assert c.call(s, "aclnnAdd", e, e, c.scalar(1), f) == 0
d = c.Tensor([3, 4])
assert c.call(s, "aclnnInplaceUniform", d, ctypes.c_double(0), ctypes.c_double(1), ctypes.c_uint64(7), ctypes.c_uint64(0)) == 0
print(o.values(), p.values(), d.values())
"""
)
NAMES = ["aclnnAdd", "aclnnInplaceAdd", "aclnnMatmul", "aclnnSoftmax", "aclnnNonzero", "aclnnAdd", "aclnnInplaceUniform"]


@pytest.fixture
def run(tmp_path):
    """Runs a program and returns what it printed."""

    def run(code, record="run.rec", status=0, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PORTACL_RECORD", "ASCEND_"))}
        environment |= {"PYTHONPATH": str(HERE), "PORTACL_TEST_LIBRARIES": str(portacl.library_dir()), "PORTACL_NUM_THREADS": "2"}
        environment |= {"PORTACL_AUTOSTART": "0", **variables}
        if record is not None:
            environment["PORTACL_RECORD"] = str(tmp_path / record)
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run


@pytest.fixture
def compare(tmp_path):
    def compare(*arguments):
        file = tmp_path / "report.json"
        code = command_line.main([*map(str, arguments), "--json", str(file), "--quiet"])
        return code, json.loads(file.read_text())

    return compare


def read(file):
    with recordings.open(file) as recording:
        return list(recording), recording


def test_a_program_computes_the_same_and_each_call_is_there(run, tmp_path):
    assert run(CALLS) == run(CALLS, record=None)
    calls, recording = read(tmp_path / "run.rec")
    assert recording.problem is None and recording.end == "the program ended"
    assert recording.meta["cann"].startswith("portacl ") and recording.meta["source"] == "aclnn"
    assert [call.name for call in calls] == NAMES
    assert [call.index for call in calls] == list(range(len(NAMES)))
    assert all(call.stack for call in calls)
    functions = [frame.function for frame in calls[0].stack]
    assert functions[:3] == ["phase_1", "launch", "call"] and "aclnnAddGetWorkspaceSize" in functions  # a program's lines, if it is one of Python
    with recordings.open(tmp_path / "run.rec") as recording:
        add, in_place, product, row, places, empty, drawn = list(recording)
        assert list(add.kwargs) == ["self", "other", "alpha", "out"]
        assert add.kwargs["alpha"] == recordings.Scalar("float32", 0.25)
        assert add.kwargs["out"].kept == "summary" and add.kwargs["out"].hash is None  # nobody has written it yet
        a = add.kwargs["self"].tensor()
        assert add.written["kwargs", "out"].tensor().equal(a + 0.25 * a)
        assert in_place.kwargs["selfRef"].tensor().equal(a + 0.25 * a)  # before
        assert in_place.written["kwargs", "selfRef"].tensor().equal(a + 0.25 * a + a)  # after
        view = product.kwargs["mat2"]
        assert (view.shape, view.strides, view.offset, view.storage_shape) == ((4, 3), (1, 8), 2, (24,))
        whole = torch.tensor([0.1 * k for k in range(24)])
        assert view.tensor().equal(whole.as_strided((4, 3), (1, 8), 2))
        assert product.kwargs["cubeMathType"] == 0 and row.kwargs["dim"] == -1
        assert row.kwargs["self"].storage == row.kwargs["out"].storage
        assert places.written["kwargs", "out"].tensor().equal(a.nonzero())  # as many as there are
        assert empty.written["kwargs", "out"].shape == (0, 4)
        assert (drawn.kwargs["seed"], drawn.kwargs["to"]) == (7, 1.0)
        assert drawn.written["kwargs", "selfRef"].statistics.count == 12


def test_a_clean_run_shows_nothing_and_its_error_is_measured(run, tmp_path, compare):
    run(CALLS)
    code, report = compare(tmp_path / "run.rec")
    assert code == 0
    assert [call["verdict"] for call in report["calls"]] == ["ok"] * len(NAMES), [call["remark"] for call in report["calls"]]
    by_name = {call["name"]: call for call in report["calls"]}
    assert all(call["ulp"] == 0 for call in report["calls"])
    assert 0 < by_name["aclnnMatmul"]["exact"] < 2 and 0 < by_name["aclnnSoftmax"]["exact"] < 100  # of float64
    assert "random numbers have none" in by_name["aclnnInplaceUniform"]["remark"]
    run(CALLS, record="again.rec")
    code, report = compare(tmp_path / "run.rec", tmp_path / "again.rec")
    assert code == 0 and [call["verdict"] for call in report["calls"]] == ["ok"] * len(NAMES)


def rewritten(source, to, change):
    """A recording whose calls were changed, as a device that computes otherwise would have written it."""
    with recordings.open(source) as recording, recordings.Writer(str(to), {**recording.meta}) as writer:
        for call in recording:
            kept = [record for _, record in [*call.inputs(), *call.results()] if record.kept == "all"]
            contents = {id(record): record.content() for record in kept}
            change(call, contents)
            for record in kept:
                record.hash = None
                writer.keep(record, contents[id(record)])
            writer.call(call)


def test_an_operator_that_errs_is_named(run, tmp_path, compare):
    run(CALLS)

    def one_ulp_more(call, contents):
        if call.name == "aclnnMatmul":
            record = call.written["kwargs", "out"]
            content = bytearray(contents[id(record)])
            content[0] ^= 1
            contents[id(record)] = bytes(content)

    rewritten(tmp_path / "run.rec", tmp_path / "off.rec", one_ulp_more)
    code, report = compare(tmp_path / "off.rec")
    assert code == 1
    assert [call["name"] for call in report["calls"] if call["verdict"] == "off"] == ["aclnnMatmul"]
    off = next(call for call in report["calls"] if call["verdict"] == "off")
    assert 0 < off["ulp"] <= 1 and off["worst"]["at"] == [0, 0]
    assert report["facts"][0]["value"].startswith("#2 aclnnMatmul")


def test_a_recording_chooses_no_code(run, tmp_path, compare):
    run(CALLS)

    def spoil(call, contents):
        if call.index == 0:
            call.name = "system"
        elif call.index == 1:
            call.kwargs["alpha"] = "text"
        elif call.index == 2:
            call.kwargs["cubeMathType"] = 1000  # no int8_t
        elif call.index == 3:
            call.kwargs["more"] = 1
        elif call.index == 4:
            call.kwargs["self"] = None
        elif call.index == 6:
            call.name = "aclnnGetVersion"

    rewritten(tmp_path / "run.rec", tmp_path / "spoilt.rec", spoil)
    code, report = compare(tmp_path / "spoilt.rec")
    remarks = [call["remark"] for call in report["calls"]]
    assert [call["verdict"] for call in report["calls"]] == ["not compared"] * 5 + ["ok", "not compared"], remarks
    parts = ("no system", "alpha is a str", "is no int8_t", "has the parameters self, dim, out", "returns 161001", "", "no aclnn")
    for remark, part in zip(remarks, parts):
        assert part in remark


def test_what_shares_memory_is_not_compared(run, tmp_path, compare):
    code = (
        START
        + """
a = c.Tensor([8], list(range(8)))
b = c.Tensor([4], strides=[1], count=4)
b.address = c.ctypes.c_void_p(a.address.value + 8)
step = (c.ctypes.c_int64 * 1)(1)
four = (c.ctypes.c_int64 * 1)(4)
one = c.ctypes.c_uint64(1)
def view(offset):
    return c.ctypes.c_void_p(c.base.aclCreateTensor(four, one, 0, step, c.ctypes.c_int64(offset), 2, four, one, a.address))
assert c.call(s, "aclnnAbs", view(0), view(2)) == 0
assert c.call(s, "aclnnAbs", view(0), view(4)) == 0
o = c.Tensor([4], strides=[0], count=1)
assert c.call(s, "aclnnAbs", view(0), o) == 0
"""
    )
    run(code)
    report = compare(tmp_path / "run.rec")[1]
    assert [call["verdict"] for call in report["calls"]] == ["not compared", "ok", "not compared"]
    assert report["calls"][0]["remark"].startswith("out and self share memory")
    assert report["calls"][2]["remark"].startswith("elements of out share memory")


def test_seeds_are_recorded_and_what_is_not_makes_nothing_nondeterministic(run, tmp_path, compare):
    code = (
        START
        + """
import ctypes
c.base.aclCreateIntArray.restype = c.base.aclCreateScalarList.restype = ctypes.c_void_p
shape = ctypes.c_void_p(c.base.aclCreateIntArray((ctypes.c_int64 * 1)(128), ctypes.c_uint64(1)))
mask = c.Tensor([2], dtype=c.INT64)
bits = ctypes.c_void_p(c.base.aclCreateTensor((ctypes.c_int64 * 1)(16), ctypes.c_uint64(1), 4, (ctypes.c_int64 * 1)(1), ctypes.c_int64(0), 2,
                                              (ctypes.c_int64 * 1)(16), ctypes.c_uint64(1), mask.address))
for seed in (5, 6):
    assert c.call(s, "aclnnDropoutGenMaskV2", shape, ctypes.c_double(0.5), ctypes.c_int64(seed), ctypes.c_int64(0), 0, bits) == 0
a, o = c.Tensor([4], [1, 2, 3, 4]), c.Tensor([4])
def listed(one): return ctypes.c_void_p(c.base.aclCreateTensorList((ctypes.c_void_p * 1)(one.handle.value), ctypes.c_uint64(1)))
x, y = listed(a), listed(o)
for value in (1.0, 2.0):
    scalars = ctypes.c_void_p(c.base.aclCreateScalarList((ctypes.c_void_p * 1)(c.scalar(value).value), ctypes.c_uint64(1)))
    assert c.call(s, "aclnnForeachAddScalarList", x, scalars, y) == 0
"""
    )
    run(code)
    calls = read(tmp_path / "run.rec")[0]
    assert [call.kwargs.get("seed") for call in calls] == [5, 6, None, None]
    assert calls[0].written["kwargs", "out"].hash != calls[1].written["kwargs", "out"].hash
    exit_code, report = compare(tmp_path / "run.rec")
    assert exit_code == 0
    assert [call["verdict"] for call in report["calls"]] == ["ok"] * 4
    assert [call.kwargs["scalars"] for call in calls[2:]] == [[recordings.Scalar("float32", value)] for value in (1.0, 2.0)]


# A call for each type that a parameter has, with what is recorded of it.
EVERY_TYPE = {
    "aclnnVar": ("a, c.ints(1), ctypes.c_bool(False), ctypes.c_bool(True), c.Tensor([3, 1])", {"dim": [1], "unbiased": False, "keepdim": True}),
    "aclnnSort": (
        "a, ctypes.c_bool(True), ctypes.c_int64(-1), ctypes.c_bool(False), c.Tensor([3, 4]), c.Tensor([3, 4], dtype=c.INT64)",
        {"stable": True, "dim": -1, "descending": False},
    ),
    "aclnnCast": ("a, ctypes.c_int(c.INT64), c.Tensor([3, 4], dtype=c.INT64)", {"dtype": 9}),
    "aclnnMatmul": ("a, c.Tensor([4, 2], range(8)), c.Tensor([3, 2]), ctypes.c_int8(0)", {"cubeMathType": 0}),
    "aclnnInplaceUniform": (
        "c.Tensor([5]), ctypes.c_double(0.5), ctypes.c_double(2), ctypes.c_uint64(2**63 - 1), ctypes.c_uint64(4)",
        {"from": 0.5, "to": 2.0, "seed": 2**63 - 1, "offset": 4},
    ),
    "aclnnGeluMul": ("a, ctypes.c_char_p(b'tanh'), c.Tensor([3, 2])", {"approximateOptional": "tanh"}),
    "aclnnNanToNum": (
        "a, ctypes.c_float(0.5), ctypes.c_float(float('inf')), ctypes.c_float(-0.1), c.Tensor([3, 4])",
        {"nan": 0.5, "posinf": float("inf"), "neginf": -0.10000000149011612},
    ),
    "aclnnDivMod": ("a, c.Tensor([1, 4], [2, 3, 4, 5]), ctypes.c_int(2), c.Tensor([3, 4])", {"mode": 2}),
    "aclnnQuantize": (
        "a, c.Tensor([4], [0.5] * 4), c.Tensor([4], [1] * 4, dtype=c.INT32), ctypes.c_int(c.INT8), ctypes.c_int32(1), c.Tensor([3, 4], dtype=c.INT8)",
        {"dtype": 2, "axis": 1},
    ),
    "aclnnAdds": ("a, c.scalar(0.25), c.scalar(2), c.Tensor([3, 4])", {"other": ("float32", 0.25), "alpha": ("float32", 2.0)}),
    "aclnnForeachMulScalarList": (
        "c.tensors(a, c.Tensor([2], [3, 4])), c.scalars(0.5, 3), c.tensors(c.Tensor([3, 4]), c.Tensor([2]))",
        {"scalars": [("float32", 0.5), ("float32", 3.0)]},
    ),
    "aclnnLayerNormBackward": (
        "a, c.Tensor([3, 4], range(12)), c.ints(4), c.Tensor([3, 1], [1.5, 5.5, 9.5]), c.Tensor([3, 1], [0.9] * 3), c.Tensor([4], [1, 2, 3, 4]), "
        "None, c.bools(True, False, True), c.Tensor([3, 4]), None, c.Tensor([4])",
        {"normalizedShape": [4], "biasOptional": None, "outputMask": [True, False, True]},
    ),
    # All of one step, one row and one unit.
    "aclnnLstmBackward": (
        "u(), c.tensors(u(), u()), c.tensors(w(), w()), u(), None, None, *[c.tensors(u()) for k in range(7)], None, ctypes.c_bool(False), "
        "ctypes.c_int64(1), ctypes.c_double(0.25), ctypes.c_bool(True), ctypes.c_bool(False), ctypes.c_bool(False), "
        "c.bools(True, False, True, True, False), u(), u(), u(), c.tensors(w(), w())",
        {"hasBias": False, "numLayers": 1, "dropout": 0.25, "train": True, "outputMask": [True, False, True, True, False], "dh": None},
    ),
}


def test_every_type_of_argument_is_recorded_and_replayed(run, tmp_path, compare):
    code = START + (
        "import ctypes\n"
        "a = c.Tensor([3, 4], [1.5, -2, 0, 4, 1e-3, 7, 8, -9, 3, 0, 5, 6])\n"
        "def u(): return c.Tensor([1, 1, 1], [0.5])\n"
        "def w(): return c.Tensor([4, 1], [0.1, 0.2, 0.3, 0.4])\n"
    )
    for name, (arguments, _) in EVERY_TYPE.items():
        code += f"assert c.call(s, '{name}', {arguments}) == 0, c.acl.aclGetRecentErrMsg()\n"
    run(code)
    calls = read(tmp_path / "run.rec")[0]
    assert [call.name for call in calls] == list(EVERY_TYPE)
    taken = set()
    for call, (_, expected) in zip(calls, EVERY_TYPE.values()):
        assert not any(isinstance(value, recordings.Opaque) for value in call.kwargs.values())
        for parameter in programs.functions()[call.name].parameters:
            taken.add(parameter.type)
            if parameter.name in expected:
                value = call.kwargs[parameter.name]
                assert _plain(value) == expected[parameter.name], parameter
    # These are what a phase 1 gives back, or take no executor.
    assert {one.type for found in programs.functions().values() for one in found.parameters} - taken <= {"uint64_t*", "uint64_t**", "float*"}
    exit_code, report = compare(tmp_path / "run.rec")
    assert exit_code == 0
    assert [(call["name"], call["verdict"], call["remark"]) for call in report["calls"] if call["verdict"] != "ok"] == []


def _plain(value):
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return (value.dtype, value.value) if isinstance(value, recordings.Scalar) else value


def test_every_header_is_understood():
    found = programs.functions()
    assert len(found) > 600
    assert {one.type for function in found.values() for one in function.parameters} <= {
        *programs._NUMBERS, *programs._ARRAYS, "aclTensor*", "aclTensorList*", "aclScalar*", "aclScalarList*",
        "char*", "uint64_t*", "uint64_t**", "float*",
    }  # fmt: skip


def test_samples_and_summaries(run, tmp_path, compare):
    code = START + "a = c.Tensor([40, 50], [k / 7 for k in range(2000)])\no = c.Tensor([40, 50])\nassert c.call(s, 'aclnnAbs', a, o) == 0\n"
    run(code, PORTACL_RECORD_KEEP="all")
    whole = read(tmp_path / "run.rec")[0][0]
    for keep in ("sample", "summary"):
        run(code, record=f"{keep}.rec", PORTACL_RECORD_KEEP=keep)
        with recordings.open(tmp_path / f"{keep}.rec") as recording:
            call = next(iter(recording))
            result = call.written["kwargs", "out"]
            assert result.kept == keep and result.tensor() is None
            assert result.hash == whole.written["kwargs", "out"].hash and result.hash.startswith("xxh64:")
            assert result.statistics == whole.written["kwargs", "out"].statistics
            assert abs(result.statistics.mean - sum(k / 7 for k in range(2000)) / 2000) < 1e-4
            if keep == "sample":
                assert len(result.sample_positions) == 64 and result.sample_positions[::63] == (0, 1999)
                assert result.sample().equal(torch.tensor([k / 7 for k in result.sample_positions]))
        code_of, report = compare(tmp_path / "run.rec", tmp_path / f"{keep}.rec")
        assert code_of == 0 and report["calls"][0]["verdict"] == "ok"
        report = compare(tmp_path / f"{keep}.rec")[1]
        assert "inputs were recorded as" in report["calls"][0]["remark"]


MANY = (
    START
    + """
a = c.Tensor([1000], [k * 1.01 for k in range(1000)])
for k in range(40):
    assert c.call(s, "aclnnInplaceAdds", a, c.scalar(1), c.scalar(1)) == 0
print(a.values()[-1])
"""
)


def test_the_limit_is_kept(run, tmp_path):
    expected = run(MANY, record=None)
    assert run(MANY, PORTACL_RECORD_LIMIT="64K") == expected
    calls, recording = read(tmp_path / "run.rec")
    assert (tmp_path / "run.rec").stat().st_size <= 64 << 10
    assert calls[0].written["kwargs", "selfRef"].kept == "all"
    assert calls[-1].written["kwargs", "selfRef"].kept == "summary"
    assert "tensors are kept as a hash and statistics" in recording.meta["summaries_because"]
    assert recording.problem is None
    run(MANY, PORTACL_RECORD_LIMIT="6K")
    calls, recording = read(tmp_path / "run.rec")
    assert (tmp_path / "run.rec").stat().st_size <= 6500  # the last frame comes in any case
    assert 0 < len(calls) < 40 and "the limit of 6144 bytes is reached after" in recording.end


@pytest.mark.parametrize(
    "name, value, accepted", [("KEEP", "everything", "all, sample and summary"), ("LIMIT", "8 apples", "which may end in K, M, G or T")]
)
def test_other_settings_are_refused(run, tmp_path, name, value, accepted):
    code = "import c_functions as c\nassert c.acl.aclInit(None) == 100000\nprint(c.acl.aclGetRecentErrMsg().decode())\n"
    text = run(code, **{f"PORTACL_RECORD_{name}": value})
    assert f"PORTACL_RECORD_{name}" in text and value in text and accepted in text
    assert not (tmp_path / "run.rec").exists()


def test_a_full_disk_ends_the_recording_alone(run, tmp_path):
    expected = run(MANY, record=None)
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n" + MANY
    assert run(limited) == expected
    calls, recording = read(tmp_path / "run.rec")
    assert 0 < len(calls) < 40 and (tmp_path / "run.rec").stat().st_size <= 20000
    # Where the last frame had no room either, the reader says that it is not there.
    assert "cannot be written: File too large" in recording.end or "it has no closing frame" in recording.problem


@pytest.mark.parametrize("record", ["absent/run.rec", ".", "/proc/self/cmdline"])
def test_a_path_that_cannot_be_written_is_in_the_log_alone(run, record):
    expected = run(CALLS, record=None)
    assert run(CALLS, record=record) == expected
    logged = run(CALLS, record=record, ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="3")
    assert logged.count("portacl record:") == 1 and "cannot be written: " in logged and "nothing is recorded" in logged


def test_each_process_has_a_file_of_its_own(run, tmp_path):
    child = "subprocess.run([sys.executable, '-c', os.environ['CHILD']], env={**os.environ, 'CHILD': ''}, check=True)"
    both = f"{CALLS}\nimport os, subprocess, sys\n{child}\n"
    run(both, CHILD=CALLS)  # the file of the first one, which is still recording, is left alone
    calls, recording = read(tmp_path / "run.rec")
    assert [call.name for call in calls] == NAMES and recording.problem is None
    run(both, record="%p.rec", CHILD=CALLS)
    assert len(list(tmp_path.glob("[0-9]*.rec"))) == 2


def test_a_forked_process_writes_nothing(run, tmp_path):
    code = CALLS + (
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    q = c.Tensor([3, 4])\n"
        "    s = c.stream()\n"
        "    assert c.call(s, 'aclnnAbs', a, q) == 0\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert c.call(s, 'aclnnNeg', a, o) == 0\n"
    )
    run(code)
    calls, recording = read(tmp_path / "run.rec")
    assert [call.name for call in calls] == [*NAMES, "aclnnNeg"] and recording.problem is None


def test_a_forked_process_that_lives_on_does_not_keep_the_file(run, tmp_path):
    code = CALLS + (
        "import os, pathlib, time\n"
        "if os.fork() == 0:\n"
        "    null = os.open(os.devnull, os.O_RDWR)\n"
        "    for stream in range(3):\n"
        "        os.dup2(null, stream)\n"
        "    end = time.monotonic() + 60\n"
        "    while not pathlib.Path('done').exists() and time.monotonic() < end:\n"
        "        time.sleep(0.05)\n"
        "    os._exit(0)\n"
    )
    try:
        run(code)
        run(START + "a = c.Tensor([2], [1, -2])\nassert c.call(s, 'aclnnAbs', a, a) == 0\n")
        calls, recording = read(tmp_path / "run.rec")
        assert [call.name for call in calls] == ["aclnnAbs"] and recording.problem is None
    finally:
        (tmp_path / "done").touch()


def test_many_threads_and_streams(run, tmp_path, compare):
    code = (
        START
        + """
import threading
def work(number):
    assert c.acl.aclrtSetDevice(0) == 0
    on = c.stream()
    a = c.Tensor([64], [k + 0.1 * number for k in range(64)])
    for k in range(50):
        assert c.launch(on, "aclnnInplaceMuls", a, c.scalar(1.001)) == 0
    assert c.acl.aclrtSynchronizeStream(on) == 0
threads = [threading.Thread(target=work, args=[k]) for k in range(6)]
for one in threads: one.start()
for one in threads: one.join()
"""
    )
    run(code)
    calls, recording = read(tmp_path / "run.rec")
    assert len(calls) == 300 and recording.problem is None
    assert [call.index for call in calls] == list(range(300))
    by_stream: dict[int, list] = {}
    for call in calls:
        by_stream.setdefault(call.thread, []).append(call)
    assert sorted(map(len, by_stream.values())) == [50] * 6
    for some in by_stream.values():  # each goes on with what the one before it left
        for one, other in zip(some, some[1:]):
            assert one.written["kwargs", "selfRef"].hash == other.kwargs["selfRef"].hash
    run(code, record="again.rec")
    assert compare(tmp_path / "run.rec")[0] == 0


def test_a_failing_stream_fails_as_without(run, tmp_path):
    code = (
        START
        + """
assert c.acl.aclrtSetStreamFailureMode(s, 1) == 0
a, o = c.Tensor([3, 4], list(range(12))), c.Tensor([2, 4])
wrong = c.Tensor([2], [1, 9], dtype=c.INT64)
import ctypes
codes = [c.launch(s, "aclnnIndexSelect", a, ctypes.c_int64(0), wrong, o), c.launch(s, "aclnnInplaceAdds", o, c.scalar(1), c.scalar(1))]
codes.append(c.acl.aclrtSynchronizeStream(s))
print(codes, c.acl.aclGetRecentErrMsg().decode().partition("aclnn")[2])
"""
    )
    assert run(code) == run(code, record=None)
    assert read(tmp_path / "run.rec")[1].problem is None


def test_a_result_that_is_gone_before_its_length_is_known(run, tmp_path, compare):
    code = (
        START
        + """
import ctypes
a, n = c.Tensor([4], [0, 1, 0, 2]), c.Tensor([4, 1], dtype=c.INT64)
status, size, executor = c.phase_1("aclnnNonzero", a, n)
assert status == 0 and c.base.aclDestroyTensor(n.handle) == 0
workspace = ctypes.c_void_p()
assert c.acl.aclrtMalloc(ctypes.byref(workspace), size, 0) == 0
assert c.operators.aclnnNonzero(workspace, size, executor, s) == 0
assert c.acl.aclrtSynchronizeStream(s) == 0
"""
    )
    run(code)
    code_of, report = compare(tmp_path / "run.rec")
    assert code_of == 0 and report["calls"][0]["verdict"] == "not compared"
    assert "how long it is is not known" in report["calls"][0]["remark"]


def test_a_program_that_is_killed_leaves_what_was_complete(run, tmp_path, compare):
    run(CALLS + "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", status=-signal.SIGKILL)
    calls, recording = read(tmp_path / "run.rec")
    assert [call.name for call in calls] == NAMES
    assert "it has no closing frame" in recording.problem
    code, report = compare(tmp_path / "run.rec")
    assert code == 0 and len(report["problems"]) == 1


def test_repeatable_executors_and_graphs(run, tmp_path, compare):
    code = (
        START
        + """
import ctypes
a, o = c.Tensor([8], list(range(8))), c.Tensor([8])
status, size, executor = c.phase_1("aclnnExp", a, o)
assert status == 0 and c.base.aclSetAclOpExecutorRepeatable(executor) == 0
for k in range(3):
    assert c.operators.aclnnExp(None, size, executor, s) == 0
assert c.acl.aclrtSynchronizeStream(s) == 0
assert c.base.aclDestroyAclOpExecutor(executor) == 0
model = ctypes.c_void_p()
assert c.acl.aclmdlRICaptureBegin(s, 0) == 0
assert c.launch(s, "aclnnInplaceAdds", a, c.scalar(1), c.scalar(1)) == 0
assert c.acl.aclmdlRICaptureEnd(s, ctypes.byref(model)) == 0
for k in range(2):
    assert c.acl.aclmdlRIExecuteAsync(model, s) == 0
assert c.acl.aclrtSynchronizeStream(s) == 0
assert c.acl.aclmdlRIDestroy(model) == 0
print(a.values())
"""
    )
    assert run(code) == str([float(k + 2) for k in range(8)]) + "\n"
    calls, recording = read(tmp_path / "run.rec")
    assert [call.name for call in calls] == ["aclnnExp"] * 3 + ["aclnnInplaceAdds"] * 2
    assert compare(tmp_path / "run.rec")[0] == 0


def test_bisecting_needs_a_training_step(run, tmp_path, capsys):
    run(CALLS)
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--bisect", str(tmp_path / "run.rec")])
    assert ended.value.code == 2 and "holds the calls of a C++ program" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_a_program_in_cpp(tmp_path, compare):
    libraries = str(portacl.library_dir())
    source = HERE.parents[1] / "examples" / "kl_div_backward.cpp"
    options = [f"-I{portacl.include_dir()}", f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lascendcl", "-lnnopbase", "-lopapi"]
    subprocess.run(["g++", "-std=c++17", str(source), "-o", str(tmp_path / "program"), *options], check=True, timeout=120)
    environment = {**os.environ, "PORTACL_RECORD": str(tmp_path / "run.rec")}
    subprocess.run([str(tmp_path / "program")], check=True, timeout=60, env=environment, capture_output=True)
    calls = read(tmp_path / "run.rec")[0]
    assert "aclnnKlDivBackward" in {call.name for call in calls}
    assert any(frame.function == "main" for frame in calls[0].stack)
    code, report = compare(tmp_path / "run.rec")
    assert code == 0 and {call["verdict"] for call in report["calls"]} == {"ok"}
