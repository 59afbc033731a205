"""One process that runs entries of op_db: reads lines {"index", "limit"} and answers each with a line, the outcome.

usage: python worker.py, with portacl in force.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
import os
import sys


def main() -> None:
    os.environ["PORTACL_REPORT"] = str(os.getpid())  # count own operators, too
    os.environ.setdefault("PORTACL_FALLBACK", "quiet")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print goes where errors go
    import torch
    import torch_npu  # noqa: F401

    torch.set_num_threads(1)
    import portacl.torch

    portacl.torch.install()
    import samples

    print(json.dumps({"entries": samples.entries()}), file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        try:
            outcome = samples.run(task["index"], task["limit"])
        except Exception as error:  # a fault of these tests, not of an operator: it must not look like success
            outcome = samples.Outcome(samples.entries()[task["index"]], "fails", reason=f"the test itself: {error!r}"[:200])
        print(json.dumps(dataclasses.asdict(outcome)), file=answers, flush=True)


if __name__ == "__main__":
    main()
