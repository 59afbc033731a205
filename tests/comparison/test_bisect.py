"""The operator that makes the loss part."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
import torch

from portacl.comparison import __main__ as command_line


def test_the_same_loss(model, record, compare):
    found = compare("--bisect", record(model("mlp")))
    assert found.code == 0
    assert re.fullmatch(r"the loss of step 0, #\d+ aten::\S+: [\d.]+ recorded, the same on portacl\n", found.text)


@pytest.mark.parametrize("fault", ["aten::addmm=200000ulp@1", "aten::gelu=nan@0"])
def test_the_operator_of_a_step(fault, model, record, compare):
    file = record(model("mlp"), fault)
    off = compare(file).of("off")[0]
    found = compare("--bisect", file)
    assert found.code == 1
    assert f"it parts at #{off['index']} {off['name']}" in found.text
    recorded, portacls = re.search(r": (\S+) recorded, (\S+) on portacl", found.text).groups()
    assert recorded != portacls and re.search(rf"loss without it: +{re.escape(portacls)} ", found.text)
    assert re.search(rf"loss with its recorded result: +{re.escape(recorded)} ", found.text)
    assert "mlp.py" in found.text  # the call stack
    assert ("its share of the difference:    100 %" in found.text) is ("nan" not in fault)


def test_an_error_of_the_gradient_shows_in_the_next_step(model, record, compare):
    file = record(model("mlp", steps=2), "aten::gelu_backward=3000000ulp@0")
    found = compare("--bisect", file)
    assert found.code == 1
    assert "the loss of step 0" in found.text and "the same on portacl" in found.text.splitlines()[0]
    assert "the loss of step 1" in found.text and re.search(r"it parts at #\d+ aten::gelu_backward", found.text)


def test_what_is_no_loss(record, capsys):
    file = record(lambda: torch.ones(4, device="npu").exp())
    for arguments, message in (
        (["--bisect", file], "no loss was found"),
        (["--bisect", "--loss", "99", file], "no call #99"),
        (["--bisect", "--loss", "1", file], "call #1 has no result of one floating number"),
        (["--loss", "1", file], "--loss belongs to --bisect"),
        (["--bisect", file, file], "--bisect takes one recording"),
    ):
        with pytest.raises(SystemExit) as end:
            command_line.main([str(one) for one in arguments])
        assert end.value.code == 2 and message in capsys.readouterr().err
