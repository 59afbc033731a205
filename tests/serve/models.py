"""Random models of two layers, written as a hub has them, and what PyTorch's CPU makes of them in float32."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file

WORDS = 512  # of the vocabulary: w0, w1, ...
SIZES = {
    "vocab_size": WORDS,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
EXPERTS = {"head_dim": 64, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128, "norm_topk_prob": True}
# How far the best logit must be ahead of the second at every step, in standard deviations of all: more than bfloat16 rounds away.
LEAD = {"qwen2": 0.1, "qwen3-moe": 0.1, "qwen2-w8a8": 0.2}

Processor = Callable[[torch.Tensor, list[int], list[int]], torch.Tensor]  # (logits, prompt, what came after it) -> logits


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    words = {f"w{i}": i for i in range(WORDS)}
    one = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    one.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=one)


def _fresh(name: str) -> transformers.PreTrainedModel:
    torch.manual_seed(11)
    if name == "qwen3-moe":
        config = transformers.Qwen3MoeConfig(**SIZES, **EXPERTS)
        model: transformers.PreTrainedModel = transformers.Qwen3MoeForCausalLM(config)
    else:
        model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**SIZES))
    return model.to(torch.bfloat16)


def _projections(model: torch.nn.Module) -> dict[str, torch.nn.Linear]:
    """What is quantised: the products inside the layers."""
    found = {name: module for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    return {name: module for name, module in found.items() if ".layers." in name}


def _steps(rows: torch.Tensor) -> torch.Tensor:
    return rows.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 127


class _Quantised(torch.nn.Module):
    """A product whose weights are int8 by rows, and whose operands become int8 by rows in every call."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.step = _steps(linear.weight.detach())
        self.weight = (linear.weight.detach().float() / self.step).round().clamp(-127, 127)
        self.bias = None if linear.bias is None else linear.bias.detach().float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        step = _steps(x)
        y = ((x.float() / step).round() @ self.weight.T) * step * self.step.T
        return y if self.bias is None else y + self.bias


def _save_quantised(place: Path, model: torch.nn.Module) -> None:
    """As ModelSlim writes W8A8 with steps that are taken in every call."""
    tensors = load_file(place / "model.safetensors")
    kinds = dict.fromkeys(tensors, "FLOAT")
    for name, linear in _projections(model).items():
        quantised = _Quantised(linear)
        tensors[f"{name}.weight"] = quantised.weight.to(torch.int8)
        tensors[f"{name}.weight_scale"] = quantised.step
        tensors[f"{name}.weight_offset"] = torch.zeros_like(quantised.step)
        kinds.update(
            dict.fromkeys((f"{name}.{part}" for part in ("weight", "weight_scale", "weight_offset")), "W8A8_DYNAMIC")
        )
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
    kinds["model_quant_type"] = "W8A8_DYNAMIC"
    (place / "quant_model_description.json").write_text(json.dumps(kinds, indent=1), encoding="utf-8")


class Model:
    """One of MODELS: its folder, and its logits by transformers on the CPU."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.place = folder / name
        model = _fresh(name)
        model.save_pretrained(self.place)
        _tokenizer().save_pretrained(self.place)
        if name == "qwen2-w8a8":
            _save_quantised(self.place, model)
            for path, linear in _projections(model).items():
                parent, _, child = path.rpartition(".")
                setattr(model.get_submodule(parent), child, _Quantised(linear))
        self._model = model.float().eval()
        self._generator = torch.Generator().manual_seed(5)

    @torch.no_grad()
    def logits(self, ids: list[int]) -> torch.Tensor:
        """Those behind each of these tokens."""
        return self._model(torch.tensor([ids])).logits[0].float()

    def continued(self, prompt: list[int], count: int, process: Processor | None = None) -> list[int] | None:
        """The likeliest tokens one after the other; None where a step's best is not far enough ahead."""
        made: list[int] = []
        for _ in range(count):
            logits = self.logits(prompt + made)[-1]
            if process is not None:
                logits = process(logits.clone(), prompt, made)
            best, second = logits.topk(2).values.tolist()
            if best - second < LEAD[self.name] * float(logits.std()):
                return None
            made.append(int(logits.argmax()))
        return made

    def task(self, length: int, count: int, process: Processor | None = None, begin: list[int] | None = None) -> Task:
        """A prompt of this length whose continuation does not hang on roundings."""
        begin = begin or []
        for _ in range(500):
            drawn = torch.randint(WORDS, (length - len(begin),), generator=self._generator).tolist()
            made = self.continued(begin + drawn, count, process)
            if made is not None:
                return begin + drawn, made
        raise ValueError(f"{self.name}: no prompt of {length} tokens has a continuation without near ties")


Task = tuple[list[int], list[int]]
