"""Every kind of fault, in a program that is small enough to say what must come out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest
import torch

from portacl.comparison import simulate

X = torch.linspace(-3, 3, 512).reshape(16, 32)


def forward():
    """exp, then what comes after it."""
    x = X.npu()
    y = torch.tanh(x)
    z = torch.exp(y)
    return (z * 2 + y).sum(1)


@pytest.mark.parametrize("ulps", [1, 4, 1000])
def test_units_in_the_last_place(ulps, record, compare):
    found = compare(record(forward, f"aten::exp={ulps}ulp"))
    (off,) = found.of("off")
    assert found.code == 1 and off["name"] == "aten::exp"
    assert ulps <= off["ulp"] <= 2 * ulps  # a unit of the reference is up to twice that of the result
    assert off["standards"]["bits"] is False and off["standards"]["cann"] is (ulps < 8192)
    # What follows got what was off, and would have been right.
    assert [call["name"] for call in found.of("propagated")][:2] == ["aten::mul.Tensor", "aten::add.Tensor"]
    assert found.of("propagated")[0]["origin"] == off["index"] and found.of("propagated")[0]["ulp"] == 0
    assert found.of("propagated")[0]["carried"] >= ulps
    assert f"from call #{off['index']}" in found.of("propagated")[0]["remark"]


def test_thresholds_decide(record, compare):
    file = record(forward, "aten::exp=4ulp")
    assert compare(file, "--threshold", "float32=16ulp").code == 0
    assert compare(file, "--threshold", "float32=2ulp").code == 1
    assert compare(file, "--threshold", "all=1e-9").code == 1
    assert compare(file, "--threshold", "all=1e-5,1e-6").code == 0
    assert compare(file, "--standard", "cann").code == 0
    assert compare(file, "--standard", "cann", "--standard", "bits").code == 1


def test_subnormal_numbers_that_are_dropped(record, compare):
    def program():
        (torch.linspace(-4, 4, 64).npu() * 2.0**-126).mul(0.25)

    assert compare(record(program)).code == 0
    found = compare(record(program, "aten::mul.Tensor=flush"))
    off = [call for call in found.of("off") if "subnormal" in call["remark"]]
    assert [call["name"] for call in off] == ["aten::mul.Tensor"] * 2
    assert "46 of 46 subnormal numbers are zero" in off[1]["remark"]  # from 1 to 4 units of 2^-126, quartered
    assert off[1]["standards"]["cann"] is True  # which is why the bits decide of what portacl gave


@pytest.mark.parametrize("operator", ["aten::sum", "aten::mm"])
def test_a_sum_in_another_order(operator, record, compare):
    def program():
        x = (torch.rand(64, 300, generator=torch.Generator().manual_seed(4)) - 0.3).npu()
        torch.mm(x, x.t()).sum(1)

    assert compare(record(program)).code == 0
    found = compare(record(program, f"{operator}=reorder"))
    assert [call["name"].partition(".")[0] for call in found.of("off")] == [operator]
    assert 0 < found.of("off")[0]["relative"] < 1e-3 and found.of("off")[0]["measures"]["output 0 beside portacl"]["differing"] > 5


@pytest.mark.parametrize("kind, name", [("nan", "NaN"), ("inf", "inf")])
def test_one_element_that_is_no_number(kind, name, record, compare):
    found = compare(record(forward, f"aten::exp={kind}"))
    (off,) = found.of("off")
    assert off["name"] == "aten::exp" and off["ulp"] == "inf"
    assert f"{name} appears here, in 1 elements; {name} at 1 of 512 elements where portacl's are finite" == off["remark"]
    assert off["worst"]["at"] == [8, 0] and off["worst"]["values"]["recorded"][off["worst"]["here"]] in (kind, "nan", "inf")
    assert found.fact(f"first {name}") == f"made by #{off['index']} aten::exp"
    assert {call["name"] for call in found.of("propagated")} == {"aten::mul.Tensor", "aten::add.Tensor", "aten::sum.dim_IntList"}


def program_that_repeats():
    x = X.npu()
    return [torch.exp(x) for _ in range(3)]


@pytest.mark.parametrize("keep", ["all", "sample", "summary"])
def test_nondeterminism(keep, record, compare):
    file = record(program_that_repeats, "aten::exp=nondeterministic", keep=keep)
    found = compare(file, "--standard", "cann")
    assert found.code == 1
    off = found.of("off")
    assert {call["name"] for call in off} == {"aten::exp"} and len(off) == 2
    assert "nondeterministic: call #" in off[0]["remark"] and "got the same inputs and gave another result" in off[0]["remark"]
    assert compare(record(program_that_repeats, keep=keep)).code == 0


def test_an_operator_that_is_off_after_another(record, compare):
    found = compare(record(forward, "aten::tanh=1ulp", "aten::exp=1ulp"))
    assert [call["name"] for call in found.of("off")] == ["aten::tanh", "aten::exp"]
    assert "its inputs were off already, from call #" in found.of("off")[1]["remark"]
    assert found.fact("first off").split()[1] == "aten::tanh"


def test_an_error_that_dies_out(record, compare):
    """A step function of what is off gives what it would have given."""

    def program():
        torch.sign(torch.exp(X.npu()))

    found = compare(record(program, "aten::exp=4ulp"))
    assert [call["name"] for call in found.of("off")] == ["aten::exp"]
    assert found.of("propagated") == []


def test_written_arguments_and_lists(record, compare):
    def program():
        x = [X.npu(), X.npu() + 1]
        torch._foreach_mul_(x, 3.0)
        x[0].add_(x[1]).clamp_(min=0)

    clean = compare(record(program))
    assert clean.code == 0 and {"aten::_foreach_mul_.Scalar", "aten::add_.Tensor", "aten::clamp_"} <= {call["name"] for call in clean.of("ok")}
    found = compare(record(program, "aten::_foreach_mul_=1ulp"))
    assert [call["name"] for call in found.of("off")] == ["aten::_foreach_mul_.Scalar"]
    assert [call["name"] for call in found.of("propagated")] == ["aten::add_.Tensor", "aten::clamp_"]


def test_random_operators_are_replayed_from_their_generator(record, compare):
    def program():
        torch.manual_seed(7)
        x = torch.empty(100, device="npu").uniform_()
        torch.nn.functional.dropout(x, 0.3)
        torch.randn(100, device="npu", generator=torch.Generator("npu").manual_seed(3))

    found = compare(record(program))
    assert found.code == 0
    drawn = {call["name"] for call in found.of("ok")}
    assert "aten::uniform_" in drawn and any("normal" in name or "randn" in name for name in drawn), drawn
    assert [call["name"] for call in compare(record(program, "aten::uniform_=1ulp")).of("off")] == ["aten::uniform_"]


def test_samples_and_summaries_are_not_replayed_and_say_so(record, compare):
    for keep, word in (("sample", "samples"), ("summary", "summaries")):
        found = compare(record(forward, "aten::exp=nan", keep=keep))
        call = next(call for call in found.calls if call["name"] == "aten::exp")
        assert call["verdict"] == "not compared" and f"its inputs were recorded as {word}" in call["remark"]
        assert found.fact("first NaN") == f"made by #{call['index']} aten::exp"
        assert f"its inputs were recorded as {word}" in found.text
        assert "problem: no call was compared" in found.text


@pytest.mark.parametrize("fault", ["mm=4ulp", "aten::mm", "aten::mm=4", "aten::mm=four", "aten::exp=reorder", "aten::mm=nan@x"])
def test_faults_that_are_none(fault):
    with pytest.raises(ValueError, match="--fault"):
        simulate.device(fault)


def test_the_simulated_device_does_what_it_says():
    x = torch.tensor([1.0, -2.5, 0.0, math.inf, 2.0**-130])
    with simulate.device("aten::abs=3ulp@1"):
        first, second = torch.abs(x), torch.abs(x)
    assert torch.equal(first, x.abs())
    want = x.abs()
    for k in (0, 1, 4):
        for _ in range(3):
            want[k] = torch.nextafter(want[k], torch.tensor(math.inf))
    assert torch.equal(second, want)
    with simulate.device("aten::abs=flush"):
        assert torch.abs(x)[4] == 0
    with simulate.device("aten::mm=reorder"):
        assert torch.mm(torch.tensor([[2.0**25, 1.0, -(2.0**25)]]), torch.ones(3, 1)).item() == 0.0  # ((0 - 2^25) + 1) + 2^25
