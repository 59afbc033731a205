"""One process that runs cases of Python clients: reads lines {"client", "case"} and answers each with a line, the outcome.

usage: python -m portacl worker.py. Without a case the answer is the client's list of cases.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import importlib
import json
import os
import sys
import time
import traceback
import warnings

SETTINGS = {
    "PORTACL_FALLBACK": "quiet",
    # What asks a hub for files finds none, and says so at once.
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def main() -> None:
    os.environ.update(SETTINGS)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print goes where errors go
    import judging
    import torch
    import torch_npu  # noqa: F401

    import portacl.torch

    portacl.torch.install()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")

    def fallen() -> dict[str, int]:
        lines = [line.split() for line in portacl.torch.report().splitlines()]
        return {words[0]: int(words[1]) for words in lines if len(words) == 4 and words[2] == "fallback"}

    def answer(value: dict) -> None:
        print(json.dumps(value), file=answers, flush=True)

    answer({})
    for line in sys.stdin:
        task = json.loads(line)
        outcome = judging.Outcome(task["client"], task["case"])
        before, begun = fallen(), time.perf_counter()
        try:
            client = importlib.import_module(f"{task['client']}_client")
            if task["case"] is None:
                answer({"cases": client.cases(), "short": list(client.SHORT)})
                continue
            client.run(task["case"], outcome)
        except Exception as error:
            traceback.print_exc()
            outcome.result = "fails"
            outcome.remark = f"{type(error).__name__}: {error}"[:500]
        outcome.seconds = time.perf_counter() - begun
        outcome.fell_back = sorted(name for name, count in fallen().items() if count != before.get(name))
        answer(dataclasses.asdict(outcome))


if __name__ == "__main__":
    main()
