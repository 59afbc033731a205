"""The client peft: its methods on a tiny random llama, forward, gradients of the adapter, steps, generation."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any

import judging
import peft
import torch
import transformers
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING

SHORT: tuple[str, ...] = ()
VOCABULARY = 128
PROJECTIONS = ["q_proj", "v_proj"]
# Settings of the methods whose defaults are for larger models, or ask for more.
METHODS: dict[str, dict[str, Any]] = {
    "LORA": {}, "ADALORA": {"total_step": 10}, "BEFT": {}, "BOFT": {}, "C3A": {"block_size": 8}, "CARTRIDGE": {}, "CPT": {}, "DEFT": {},
    "DELORA": {}, "FOURIERFT": {"n_frequency": 50}, "GLORA": {}, "GRALORA": {}, "HIRA": {}, "HRA": {}, "IA3": {"feedforward_modules": []},
    "LILY": {}, "LN_TUNING": {"target_modules": ["input_layernorm"]}, "LOHA": {}, "LOKR": {}, "MISS": {"r": 4}, "OFT": {}, "SHIRA": {"r": 4},
    "PROMPT_TUNING": {}, "P_TUNING": {"encoder_hidden_size": 32}, "PREFIX_TUNING": {}, "OSF": {}, "PEANUT": {}, "PSOFT": {"r": 4}, "RANDLORA": {},
    "ROAD": {"group_size": 8}, "SUPERTUNING": {}, "TINYLORA": {},
    "TRAINABLE_TOKENS": {"token_indices": [9, 12, 30], "target_modules": ["embed_tokens"]},
    "UNILORA": {}, "VBLORA": {"vector_length": 8, "num_vectors": 16, "topk": 2}, "VERA": {"r": 4}, "WAVEFT": {"n_frequency": 50},
    "LORA, weights decomposed": {"use_dora": True}, "LORA, rank-stabilised": {"use_rslora": True},
}  # fmt: skip
NEW_TOKENS = 5


def cases() -> list[str]:
    return list(METHODS)


def base() -> torch.nn.Module:
    torch.manual_seed(30)
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=VOCABULARY,
        max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def adapted(case: str) -> torch.nn.Module:
    method = PEFT_TYPE_TO_CONFIG_MAPPING[peft.PeftType(case.partition(",")[0])]
    known = {field.name for field in dataclasses.fields(method)}
    settings = {"task_type": "CAUSAL_LM", "target_modules": PROJECTIONS, "num_virtual_tokens": 4, **METHODS[case]}
    torch.manual_seed(31)
    made = peft.get_peft_model(base(), method(**{name: value for name, value in settings.items() if name in known}))
    generator = torch.Generator().manual_seed(32)
    with torch.no_grad():
        for parameter in made.parameters():  # adapters begin as nothing: then half of their gradients are zero
            if parameter.requires_grad and parameter.is_floating_point():
                parameter.add_(torch.empty_like(parameter).uniform_(-0.05, 0.05, generator=generator))
    return made


def _generate(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    torch.manual_seed(33)
    ids = inputs["input_ids"]
    return model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS, do_sample=False
    )


def run(case: str, outcome: judging.Outcome) -> None:
    made = adapted(case)
    generator = torch.Generator().manual_seed(34)
    ids = torch.randint(8, VOCABULARY, (2, 10), generator=generator)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}
    npu = judging.observed(made, inputs, "npu", generate=_generate)
    cpu = judging.observed(made, inputs, "cpu", generate=_generate)
    try:
        exact = judging.observed(made, inputs, "cpu", torch.float64)
    except Exception:  # written for float32
        exact, outcome.remark = None, "has no float64: against the CPU's float32"
    judging.judge(outcome, npu, cpu, exact)
