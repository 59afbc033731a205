"""The cases: what is asked of an engine, and whether the tokens that it gave are those of transformers on the CPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from models import Model, Task
from transformers import RepetitionPenaltyLogitsProcessor

TOKENS = 8
BUDGET = 64  # tokens of a step: longer prompts come in chunks
LONG = 150
BLOCK = 128  # tokens that the cache keeps together
SEEDED = {"temperature": 0.8, "seed": 7}
PENALTIES = {"repetition_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.3}

Answer = dict[str, Any]  # tokens and cached, for each prompt
Judge = Callable[[Answer], str]  # what is wrong, or nothing


@dataclasses.dataclass
class Case:
    name: str
    prompts: list[list[int]]
    sampling: list[dict[str, Any]]
    judge: Judge

    def request(self) -> dict[str, Any]:
        common = {"max_tokens": TOKENS, "temperature": 0, "detokenize": False, "ignore_eos": True}
        return {"name": self.name, "prompts": self.prompts, "sampling": [{**common, **one} for one in self.sampling]}


def unlike(answer: Answer, expected: list[list[int]]) -> str:
    for given, right in zip(answer["tokens"], expected, strict=True):
        if given != right:
            return f"{given} instead of {right}"
    return ""


def _exact(name: str, tasks: list[Task], **sampling: Any) -> Case:
    expected = [made for _, made in tasks]
    return Case(name, [prompt for prompt, _ in tasks], [sampling] * len(tasks), lambda answer: unlike(answer, expected))


def greedy(model: Model) -> Case:
    return _exact("greedy", [model.task(length, TOKENS) for length in (5, 23, 40)])


def seeded(model: Model) -> Case:
    prompt, _ = model.task(9, 1)
    sampling = [SEEDED, SEEDED, {**SEEDED, "seed": 8}]

    def judge(answer: Answer) -> str:
        first, again, other = answer["tokens"]
        if first != again:
            return f"one seed gives {first} and {again}"
        return "two seeds give the same tokens" if first == other else ""

    return Case("seeded sampling", [prompt] * 3, sampling, judge)


def _within(model: Model, prompts: list[list[int]], answer: Answer, allows: Callable[[torch.Tensor, int], bool]) -> str:
    """Whether every token is one that its logits allow."""
    for prompt, made in zip(prompts, answer["tokens"], strict=True):
        logits = model.logits(prompt + made)[len(prompt) - 1 : -1]
        for step, (row, token) in enumerate(zip(logits, made, strict=True)):
            if not allows(row, token):
                return f"token {token} of step {step} is beyond the limit"
    return ""


def top_k(model: Model) -> Case:
    """Of one, which is greedy, and of three: a token is at most a rounding below the third."""
    prompt, expected = model.task(12, TOKENS)
    prompts = [prompt, prompt]

    def judge(answer: Answer) -> str:
        if answer["tokens"][0] != expected:
            return f"top_k=1 gives {answer['tokens'][0]} instead of {expected}"
        return _within(model, prompts, answer, lambda row, token: bool(row[token] >= row.topk(3).values[-1] - 0.05 * row.std()))

    return Case("top-k", prompts, [{**SEEDED, "top_k": 1}, {**SEEDED, "top_k": 3}], judge)


def top_p(model: Model) -> Case:
    """What is likelier than a token comes to less than the limit, or a rounding more."""
    prompt, _ = model.task(12, TOKENS)
    limit = 0.3

    def allows(row: torch.Tensor, token: int) -> bool:
        shares = torch.softmax(row / SEEDED["temperature"], -1)
        return float(shares[shares > shares[token]].sum()) < limit + 0.02

    return Case("top-p", [prompt], [{**SEEDED, "top_p": limit}], lambda answer: _within(model, [prompt], answer, allows))


def penalties(model: Model) -> Case:
    repetition = RepetitionPenaltyLogitsProcessor(PENALTIES["repetition_penalty"])

    def process(logits: torch.Tensor, prompt: list[int], made: list[int]) -> torch.Tensor:
        logits = repetition(torch.tensor([prompt + made]), logits[None])[0]
        counts = torch.bincount(torch.tensor(made, dtype=torch.int64), minlength=logits.numel())
        return logits - PENALTIES["frequency_penalty"] * counts - PENALTIES["presence_penalty"] * (counts > 0)

    return _exact("penalties", [model.task(20, TOKENS, process)], **PENALTIES)


def chunked(model: Model) -> Case:
    return _exact("chunked prefill", [model.task(LONG, TOKENS)])


def prefix(model: Model) -> list[Case]:
    """A prompt, and one that begins in the same way."""
    first = model.task(LONG, TOKENS)
    second = model.task(LONG + 10, TOKENS, begin=first[0])
    filled = _exact("prefix, filling", [first])
    found = _exact("prefix caching", [second])

    def judge(answer: Answer) -> str:
        if answer["cached"][0] < BLOCK:
            return f"{answer['cached'][0]} tokens came from the cache, not {BLOCK}"
        return unlike(answer, [second[1]])

    return [filled, dataclasses.replace(found, judge=judge)]


def alone(model: Model) -> list[Case]:
    return [greedy(model)]


def offline(model: Model) -> list[Case]:
    return [
        greedy(model),
        chunked(model),
        *prefix(model),
        penalties(model),
        seeded(model),
        top_k(model),
        top_p(model),
    ]
