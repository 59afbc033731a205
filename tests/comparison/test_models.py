"""Six models of examples/pytorch, forward and backward: a clean run shows nothing, a fault is found and named."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

MODELS = ("mlp", "nanogpt", "llama", "resnet", "distillation", "lstm")
# What each model calls in every step, late, so that not much follows from it.
FAULTS = {
    "mlp": "aten::gelu_backward=1ulp@1",
    "nanogpt": "npu::npu_fusion_attention_grad_v3=2ulp@1",
    "llama": "aten::silu_backward=nan@1",
    "resnet": "aten::convolution_backward=1ulp@17",
    "distillation": "aten::_log_softmax=nondeterministic@0",
    "lstm": "npu::_lstm_npu_backward=1ulp@0",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_clean_run_shows_nothing(name, model, record, compare):
    found = compare(record(model(name)))
    assert found.code == 0, found.text
    assert found.of("off") == found.of("propagated") == []
    assert "first off" not in found.text and "first NaN" not in found.text
    backward = [call for call in found.of("ok") if call["phase"] == "backward"]
    assert len(backward) > 10
    assert {call["phase"] for call in found.of("ok")} == {"forward", "backward", "none"}
    # CANN's standard and the bits hold of every call; all reasons for not comparing are these.
    assert all(call["standards"]["cann"] is not False and call["standards"]["bits"] is True for call in found.of("ok"))
    reasons = {call["remark"] for call in found.of("not compared")}
    assert reasons <= {"its result is memory that nobody has written yet", "it ran on the host: no tensor of the device takes part"}


@pytest.mark.parametrize("name", MODELS)
def test_a_fault_is_found_and_named(name, model, record, compare):
    fault = FAULTS[name]
    found = compare(record(model(name), fault))
    assert found.code == 1
    assert [call["name"] for call in found.of("off")] == [fault.partition("=")[0]]
    off = found.of("off")[0]
    assert found.content["first"] == off["index"]
    assert off["standards"]["bits"] is False
    assert all(call["index"] > off["index"] and call["origin"] == off["index"] for call in found.of("propagated"))
