"""Runs an engine of vLLM in this process: reads a task, a line of JSON, and answers each of its requests with a line.

usage: python -m portacl engine.py ANSWERS. A task is {"options": of vllm.LLM, "requests": [{"name", "prompts", "sampling": [...]}]}.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any, TextIO


def first_cause(error: BaseException) -> str:
    """The error that began it, in a line."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])}"[:400]


def fallen() -> list[str]:
    import portacl.torch

    lines = [line.split() for line in portacl.torch.report().splitlines()]
    return [words[0] for words in lines if len(words) == 4 and words[2] == "fallback"]


def run(task: dict[str, Any], answers: TextIO) -> None:
    def answer(**value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    begun = time.perf_counter()
    try:
        from vllm import LLM, SamplingParams

        engine = LLM(**task["options"])
        answer(name="start", seconds=time.perf_counter() - begun)
        for request in task["requests"]:
            begun = time.perf_counter()
            prompts = [{"prompt_token_ids": ids} for ids in request["prompts"]]
            sampling = [SamplingParams(**one) for one in request["sampling"]]
            outputs = engine.generate(prompts, sampling, use_tqdm=False)
            answer(
                name=request["name"],
                seconds=time.perf_counter() - begun,
                tokens=[list(output.outputs[0].token_ids) for output in outputs],
                cached=[output.num_cached_tokens for output in outputs],
                fell_back=fallen(),
            )
    except Exception as error:
        traceback.print_exc()
        answer(name="error", seconds=time.perf_counter() - begun, error=first_cause(error))


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        run(json.loads(sys.stdin.readline()), file)
