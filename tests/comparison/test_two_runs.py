"""Two recordings side by side."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
import time

import pytest
import torch
from torch import nn

from portacl.comparison.align import _by_anchors, align


def longest(one, other):
    """The length of the longest common subsequence, by the textbook's table."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, x in enumerate(one):
        for j, y in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def test_alignments_are_the_longest_ones():
    draw = random.Random(1)
    for _ in range(1500):
        one, other = ([draw.randrange(4) for _ in range(draw.randrange(12))] for _ in range(2))
        pairs = align(one, other)
        assert [i for i, _ in pairs if i is not None] == list(range(len(one)))
        assert [j for _, j in pairs if j is not None] == list(range(len(other)))
        matched = [(i, j) for i, j in pairs if None not in (i, j)]
        assert all(one[i] == other[j] for i, j in matched)
        assert len(matched) == longest(one, other)
        some = _by_anchors(one, other)
        assert all(one[i] == other[j] for i, j in some) and some == sorted(some) and len({j for _, j in some}) == len(some)


def test_ten_thousand_calls_are_aligned_in_seconds():
    draw = random.Random(2)
    one = [draw.randrange(300) for _ in range(10_000)]
    for inserted in (20, 5000):
        other = list(one)
        for _ in range(inserted):
            other.insert(draw.randrange(len(other)), -1 - draw.randrange(300))
        start = time.process_time()
        pairs = align(one, other)
        assert time.process_time() - start < 10
        assert sum(None not in pair for pair in pairs) == len(one)


class Net(nn.Module):
    def __init__(self, wider: bool = False):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)
        self.wider = wider

    def forward(self, x):
        y = torch.tanh(self.first(x))
        if self.wider:
            y = y.neg().neg()
        return self.second(y)


def net(wider: bool = False):
    def program():
        torch.manual_seed(3)
        with torch.device("npu"):
            network = Net(wider)
        network(torch.linspace(0.1, 1, 24).reshape(3, 8).npu()).square().mean().backward()

    return program


@pytest.mark.parametrize("keep", ["all", "sample", "summary"])
def test_equal_runs(keep, record, compare):
    found = compare(record(net(), keep=keep, name="one.rec"), record(net(), keep=keep, name="other.rec"))
    assert found.code == 0, found.text
    assert not found.of("off") and len(found.of("ok")) > 10
    assert found.fact("in one run alone") == "0 calls of the first, 0 of the second"


@pytest.mark.parametrize("keep", ["all", "sample", "summary"])
def test_the_operator_that_differs(keep, record, compare):
    one, other = record(net(), keep=keep, name="one.rec"), record(net(), "aten::tanh=9000ulp", keep=keep, name="other.rec")
    found = compare(one, other)
    assert found.code == 1
    assert [call["name"] for call in found.of("off")] == ["aten::tanh"], found.text
    off = found.of("off")[0]
    assert off["module"] == "Net"
    assert all(call["index"] > off["index"] for call in found.of("propagated")) and len(found.of("propagated")) > 3
    if keep == "all":
        assert 9000 <= off["ulp"] <= 18000 and set(off["worst"]["values"]) == {"first", "second"}
    elif keep == "sample":
        assert "48 of 48 elements were compared" in off["remark"]
    else:
        assert "only statistics were compared" in off["remark"]
        assert off["ulp"] is None


def test_what_summaries_leave_unknown_is_said(record, compare):
    one, other = record(net(), keep="summary", name="one.rec"), record(net(), "aten::tanh=1ulp", keep="summary", name="other.rec")
    by_bits = compare(one, other)
    assert by_bits.code == 1 and [call["name"] for call in by_bits.of("off")] == ["aten::tanh"]
    by_cann = compare(one, other, "--standard", "cann")
    assert by_cann.code == 0
    tanh = next(call for call in by_cann.calls if call["name"] == "aten::tanh")
    assert tanh["verdict"] == "ok" and "only statistics were compared" in tanh["remark"]


def test_inserted_calls(record, compare):
    found = compare(record(net(), name="one.rec"), record(net(wider=True), name="other.rec"))
    alone = [call for call in found.calls if "in the second run alone" in call["remark"]]
    assert [call["name"] for call in alone if call["phase"] == "forward"] == ["aten::neg", "aten::neg"]
    forward = [call for call in found.of("ok") if call["module"] == "Net.second"]
    assert [call["name"] for call in forward if call["phase"] == "forward"] == ["aten::t", "aten::addmm"]
    assert "in one run alone" in found.text


def test_all_beside_samples(record, compare):
    found = compare(record(net(), keep="all", name="one.rec"), record(net(), "aten::tanh=9000ulp", keep="sample", name="other.rec"))
    assert [call["name"] for call in found.of("off")] == ["aten::tanh"]
    assert "48 of 48 elements were compared" in found.of("off")[0]["remark"]
