"""The client transformers: tiny random models of many architectures, on device npu and on the CPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import architectures
import judging
import tiny
import torch
import transformers

SHORT = architectures.SHORT
NEW_TOKENS = 6


def cases() -> list[str]:
    return list(architectures.NAMES)


def _generate(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    given = {name: value for name, value in inputs.items() if name == model.main_input_name}
    torch.manual_seed(25)
    with torch.no_grad():
        return model.generate(**given, max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=0)


def _exact(made: Any, inputs: dict[str, Any], draws: bool, cpu: judging.Observed) -> judging.Observed | None:
    """The CPU's float64 run; None where the model itself is written for float32: it raises, or adds up the ends of the range."""
    try:
        if hasattr(made, "set_experts_implementation"):
            made.set_experts_implementation("eager")  # the other ones have no float64
        exact = judging.observed(made, inputs, "cpu", torch.float64, draws=draws)
    except Exception:
        return None
    return (
        exact
        if all(one.isfinite().all() or not cpu.numbers[name].isfinite().all() for name, one in exact.numbers.items())
        else None
    )


def run(case: str, outcome: judging.Outcome) -> None:
    transformers.logging.set_verbosity_error()
    config = tiny.configuration(case, architectures.OVERRIDES.get(case, {}))
    made = tiny.model(tiny.kind_of(case), config)
    inputs = tiny.inputs(made, config)
    generates = made.can_generate() and case not in architectures.NO_GENERATION
    if hasattr(made, "lm_head") and "labels" in tiny.accepted(made) and "input_ids" in inputs:
        inputs["labels"] = inputs.get("decoder_input_ids", inputs["input_ids"]).clone()
    generate = _generate if generates else None
    draws = case in architectures.DRAWS
    npu = judging.observed(made, inputs, "npu", generate=generate, draws=draws)
    cpu = judging.observed(made, inputs, "cpu", generate=generate, draws=draws)
    exact = _exact(made, inputs, draws, cpu)
    judging.judge(outcome, npu, cpu, exact)
    if exact is None and outcome.result == "same":
        outcome.remark = "has no float64: against the CPU's float32"
