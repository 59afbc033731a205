"""What `./dev clients` calls the same, and what it does not (tests/clients/judging.py)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib
import sys

import pytest
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "clients"))

import judging  # noqa: E402


def judged(npu, cpu, exact=None, equal_npu=None, equal_cpu=None):
    outcome = judging.Outcome("client", "case")
    runs = [
        None if one is None else judging.Observed({"output": torch.tensor(one, dtype=torch.float64)}) for one in (npu, cpu, exact)
    ]
    runs[0].equal, runs[1].equal = equal_npu or {}, equal_cpu or {}
    judging.judge(outcome, *runs)
    return outcome.result


@pytest.mark.parametrize(
    "npu, cpu, exact, result",
    [
        pytest.param([1.0, 2.0], [1.0, 2.0], None, "same", id="equal"),
        pytest.param([1.0, 2.00003], [1.0, 2.0], None, "same", id="within the tolerance of the largest"),
        pytest.param([1.0, 2.00005], [1.0, 2.0], None, "differs", id="beyond it"),
        pytest.param([1.0, 2.0007], [1.0, 2.0001], [1.0, 2.0], "same", id="as near to float64 as the CPU, within the factor"),
        pytest.param([1.0, 2.0009], [1.0, 2.0001], [1.0, 2.0], "differs", id="further"),
        pytest.param([1.0, 2.0], [1.0, 2.1], [1.0, 2.0], "differs", id="the CPU so far away that it tells nothing"),
        pytest.param([1.0, float("nan")], [1.0, 2.0], None, "differs", id="NaN"),
        pytest.param([1.0, -float("inf")], [1.0, float("inf")], None, "differs", id="another infinity"),
        pytest.param([1.0, -3.4e38], [1.0, -3.4e38], [1.0, -1.7e308], "same", id="the ends of two ranges"),
        pytest.param([1.0], [1.0, 2.0], None, "differs", id="another shape"),
    ],
)
def test_numbers(npu, cpu, exact, result):
    assert judged(npu, cpu, exact) == result


def test_what_must_be_equal():
    assert judged([1.0], [1.0], equal_npu={"generated": [[1, 2]]}, equal_cpu={"generated": [[1, 2]]}) == "same"
    assert judged([1.0], [1.0], equal_npu={"generated": [[1, 3]]}, equal_cpu={"generated": [[1, 2]]}) == "differs"


def test_a_run_has_output_loss_gradient_and_weights_on_both_devices():
    model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Dropout(0.5), nn.Linear(4, 2))
    inputs = {"input": torch.rand(5, 3)}
    npu, cpu, exact = (judging.observed(model, inputs, *how) for how in (("npu",), ("cpu",), ("cpu", torch.float64)))
    assert {name.partition(".")[0] for name in npu.numbers} == {"output", "loss", "gradient", "weight"}
    outcome = judging.Outcome("client", "case")
    judging.judge(outcome, npu, cpu, exact)
    assert outcome.result == "same", outcome.remark
    del npu.numbers["gradient.0.weight"]
    judging.judge(outcome, npu, cpu, exact)
    assert outcome.result == "differs" and "gradient.0.weight" in outcome.remark
