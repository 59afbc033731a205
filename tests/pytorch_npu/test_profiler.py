"""Profiles: torch_npu's profiler and torch's own, `python -m portacl --profile`, and what stands in their way."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import json
import os
import pathlib
import subprocess
import sys
from collections import Counter

import pytest
from test_distributed import torchrun

# Steps 0 and 1 are not recorded, 2 and 3 are; then, without a schedule, a trace alone; then a profiler inside of one.
NPU_PROFILER = """
import glob, os
from torch_npu import profiler
os.chdir(PLACE)
x = torch.ones(4, 6).npu()

def step():
    with torch.autograd.profiler.record_function("outer"):
        with torch.autograd.profiler.record_function("inner"):
            y = x @ x.t()
        return torch.relu(y.bfloat16())

def config(level):
    return profiler._ExperimentalConfig(profiler_level=level, data_simplification=False)

with profiler.profile(
    schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
    on_trace_ready=profiler.tensorboard_trace_handler("steps"),
    record_shapes=True, profile_memory=True, with_stack=True, experimental_config=config(profiler.ProfilerLevel.Level1),
) as prof:
    for _ in range(5):
        step()
        torch.npu.synchronize()  # a step's work is done before the next one begins
        prof.step()

with profiler.profile(experimental_config=config(profiler.ProfilerLevel.Level0)) as prof:
    step()
prof.export_chrome_trace("level0.json")

with profiler.profile(activities=[profiler.ProfilerActivity.NPU], on_trace_ready=profiler.tensorboard_trace_handler("outside")):
    step()
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("inside")):
        step()
    step()
assert step().shape == (4, 4)
print("done")
"""

TORCH_PROFILER = """
import os
from torch.profiler import ProfilerActivity, profile, record_function, schedule
os.chdir(PLACE)
x = torch.ones(4, 6).npu()
ready = []

def on_ready(prof):
    ready.append(prof.step_num)
    prof.export_chrome_trace(f"{len(ready)}.json")

both = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]
with profile(activities=both, schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=on_ready, record_shapes=True) as prof:
    for _ in range(8):
        with record_function("outer"):
            torch.relu(x @ x.t())
        torch.npu.synchronize()
        prof.step()
with profile(activities=both) as prof:
    torch.relu(x)
    torch.npu.synchronize()
print(ready, [one.key for one in prof.key_averages() if one.self_device_time_total > 0])
"""


def rows(path: pathlib.Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def events(path: pathlib.Path) -> list[dict]:
    content = json.loads(path.read_text())
    return content["traceEvents"] if isinstance(content, dict) else content


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> pathlib.Path:
    """The folder in which NPU_PROFILER left its files."""
    folder = tmp_path_factory.mktemp("profiles")
    code = f"import torch, torch_npu\nPLACE = {str(folder)!r}\n{NPU_PROFILER}"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr
    assert "[ERROR]" not in done.stdout, done.stdout
    return folder


@pytest.fixture(scope="module")
def output(place) -> pathlib.Path:
    (folder,) = place.glob("steps/*_ascend_pt/ASCEND_PROFILER_OUTPUT")
    return folder


class TestNpuProfiler:
    def test_files_are_those_of_the_analysis(self, output):
        assert {path.name for path in output.iterdir()} >= {
            "analyse.done",
            "api_statistic.csv",
            "kernel_details.csv",
            "memory_record.csv",
            "npu_module_mem.csv",
            "op_statistic.csv",
            "operator_details.csv",
            "operator_memory.csv",
            "step_trace_time.csv",
            "task_time.csv",
            "trace_view.json",
        }

    def test_kernels_have_steps_shapes_and_dtypes(self, output):
        kernels = rows(output / "kernel_details.csv")
        matmul = [one for one in kernels if one["Type"] == "Matmul"]
        assert [one["Step Id"] for one in matmul] == ["2", "3"]
        for one in matmul:
            assert (one["Name"], one["Accelerator Core"], one["Device_id"]) == ("aclnnMatmul", "AI_CORE", "0")
            assert (one["Input Shapes"], one["Output Shapes"]) == ("4,6;6,4", "4,4")
            assert (one["Input Data Types"], one["Output Data Types"]) == ("FLOAT;FLOAT", "FLOAT")
            assert float(one["Duration(us)"]) > 0 and float(one["Wait Time(us)"]) >= 0
        assert {(one["Input Data Types"], one["Output Data Types"]) for one in kernels if one["Type"] == "Relu"} == {
            ("BF16", "BF16")
        }
        starts = [float(one["Start Time(us)"]) for one in kernels]
        assert starts == sorted(starts)

    def test_statistics_add_up(self, output):
        kernels = rows(output / "kernel_details.csv")
        statistic = {one["OP Type"]: one for one in rows(output / "op_statistic.csv")}
        assert {kind: int(one["Count"]) for kind, one in statistic.items()} == Counter(one["Type"] for one in kernels)
        for kind, one in statistic.items():
            total = sum(float(kernel["Duration(us)"]) for kernel in kernels if kernel["Type"] == kind)
            assert float(one["Total Time(us)"]) == pytest.approx(total, abs=0.01)
        assert sum(float(one["Ratio(%)"]) for one in statistic.values()) == pytest.approx(100, abs=0.1)
        calls = {one["API Name"]: int(one["Count"]) for one in rows(output / "api_statistic.csv")}
        assert calls["aclnnMatmul"] == calls["aclnnMatmulGetWorkspaceSize"] == 2

    def test_operators_have_their_time_on_the_device(self, output):
        details = rows(output / "operator_details.csv")
        times = {one["Name"]: float(one["Device Total Duration(us)"]) for one in details}
        assert times["outer"] >= times["inner"] > 0
        assert times["inner"] == pytest.approx(times["aten::matmul"], abs=0.01)
        assert any("4,6" in one["Input Shapes"] for one in details if one["Name"] == "aten::matmul")
        steps = rows(output / "step_trace_time.csv")
        assert [one["Step"] for one in steps] == ["2", "3"]
        assert all(float(one["Computing"]) > 0 and float(one["Communication"]) == 0 for one in steps)

    def test_memory_is_the_allocators(self, output):
        assert {"aten::matmul", "aten::relu"} <= {one["Name"] for one in rows(output / "operator_memory.csv")}
        assert any(one["Component"] == "PTA" for one in rows(output / "memory_record.csv"))

    def test_trace_leads_from_operators_to_kernels(self, output):
        trace = events(output / "trace_view.json")
        names = {one["args"]["name"] for one in trace if one["name"] == "process_name"}
        assert {"Python", "CANN", "Ascend Hardware", "Overlap Analysis"} <= names
        kernels = [
            one for one in trace if one["ph"] == "X" and one["name"] == "aclnnMatmul" and "Task Type" in one.get("args", {})
        ]
        assert len(kernels) == 2 and {one["args"]["Input Shapes"] for one in kernels} == {"4,6;6,4"}
        arrows = {(one["pid"], one["tid"], one["ts"]) for one in trace if one["ph"] == "f" and one["name"] == "torch_to_npu"}
        assert {(one["pid"], one["tid"], one["ts"]) for one in kernels} <= arrows
        spans = {
            name: sorted(
                (float(one["ts"]), float(one["ts"]) + float(one["dur"]))
                for one in trace
                if one["ph"] == "X" and one["name"].split("#")[0] == name and one.get("cat") == "cpu_op"
            )
            for name in ("outer", "inner", "ProfilerStep")
        }
        assert [len(one) for one in spans.values()] == [2, 2, 2]
        for outer, inner, step in zip(spans["outer"], spans["inner"], spans["ProfilerStep"]):
            assert step[0] <= outer[0] <= inner[0] <= inner[1] <= outer[1] <= step[1]
        # torch_npu makes a range of each step, too, by mstx.
        ranges = [one["name"] for one in trace if one["name"].startswith("ProfilerStep#") and "cat" not in one]
        assert ranges == ["ProfilerStep#2", "ProfilerStep#3"]
        # The clocks of host and device are one.
        matmul = [one for one in trace if one["ph"] == "X" and one["name"] == "aten::matmul"]
        for operator, kernel in zip(matmul, kernels):
            assert 0 < float(kernel["ts"]) - float(operator["ts"]) < 1e6

    def test_level_0_has_kernels_but_no_calls(self, place):
        trace = events(place / "level0.json")
        assert any(one["name"] == "aclnnMatmul" for one in trace)
        assert not any(one["name"].startswith("AscendCL@") for one in trace)

    def test_a_second_one_inside_is_refused(self, place):
        # torch_npu has one: the end of the second ends the first, whose files are whole.
        (outside,) = place.glob("outside/*_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
        assert Counter(one["Type"] for one in rows(outside))["Matmul"] == 2
        assert not list(place.glob("inside/*/PROF_*"))


def test_torch_profiler_has_kernels(tmp_path):
    code = f"import torch, torch_npu\nPLACE = {str(tmp_path)!r}\n{TORCH_PROFILER}"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[4, 8] ['aclnnRelu']\n"
    for name in ("1.json", "2.json"):
        trace = events(tmp_path / name)
        kernels = [one for one in trace if one.get("cat") == "kernel"]
        assert Counter(one["name"] for one in kernels) == {"aclnnMatmul": 2, "aclnnRelu": 2}
        outer = [one for one in trace if one.get("cat") == "user_annotation" and one["name"] == "outer"]
        assert len(outer) == 2
        matmul = [one for one in trace if one["name"] == "aten::matmul"]
        assert matmul[0]["args"]["Input Dims"] == [[4, 6], [6, 4]]
        for one, kernel in zip(matmul, (one for one in kernels if one["name"] == "aclnnMatmul")):
            assert 0 < kernel["ts"] - one["ts"] < 1e6  # one clock


def test_collectives_are_communication(tmp_path):
    done = torchrun(2, "profiled.py", str(tmp_path))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    outputs = sorted(tmp_path.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT"))
    assert len(outputs) == 2
    for output in outputs:
        kinds = Counter(one["Type"] for one in rows(output / "kernel_details.csv") if one["Accelerator Core"] == "HCCL")
        assert kinds["hcom_allReduce_"] == 3
        content = json.loads((output / "communication.json").read_text())
        (step,) = content.values()
        reduced = [one for name, one in step["collective"].items() if name.startswith("hcom_allReduce__")]
        assert len(reduced) == 3
        assert all(one["Communication Bandwidth Info"]["SDMA"]["Transit Size(MB)"] == 0.004 for one in reduced)
        assert (output / "communication_matrix.json").exists()
        names = [one["name"] for one in events(output / "trace_view.json")]
        assert "Communication" in names and any(name.startswith("hcom_allReduce__") for name in names)


def test_any_script_by_the_command_line(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch, torch_npu\nprint(torch.ones(3, 5).npu().sum().item())\n")
    trace = tmp_path / "out.json"
    command = [sys.executable, "-B", "-m", "portacl", "--profile", str(trace), str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "15.0\n"), done.stderr
    tasks = [one for one in events(trace) if one.get("cat") == "operator"]
    assert [
        (one["args"]["Input Shapes"], one["args"]["Input Data Types"]) for one in tasks if one["name"] == "aclnnReduceSum"
    ] == [("3,5", "FLOAT")]
    assert any(one.get("cat") == "HostToDevice" for one in events(trace))
    command[5] = str(tmp_path / "nowhere" / "out.json")
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr == f"portacl: --profile {command[5]}: there is no folder {tmp_path}/nowhere\n"


def msprof(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["msprof", *arguments], capture_output=True, text=True, timeout=600, env=os.environ)


def test_msprof_refuses_what_is_no_profile(tmp_path):
    for arguments, says in [
        ((), "accepted: --export=on or --analyze=on"),
        (("--export=on",), "accepted: --export=on or --analyze=on"),
        (("--export=on", "--type=db", f"--output={tmp_path}"), "accepted: --export=on or --analyze=on"),
        (("--export=on", f"--output={tmp_path}"), f"{tmp_path} holds no profile: "),
    ]:
        done = msprof(*arguments)
        assert (done.returncode, done.stdout) == (1, "") and says in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
    assert msprof("--help").returncode == 0
