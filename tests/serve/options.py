#!/usr/bin/env python3
"""The options of `./dev serve`, read with nothing but Python: prints its help, or the pairs of versions that a run needs.

usage: options.py --pairs ARGUMENTS...
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import sys
from pathlib import Path

ABOUT = """\
Serves random models of two layers by vLLM and vllm-ascend, as the package index has them, on device npu: are the tokens those of
transformers on the CPU?

Prompts are drawn such that the best logit is ahead of the second by more than bfloat16 rounds away, so tokens must be equal. Sampled
tokens must lie within their limits, and be the same for the same seed. A case that fails is a row that says why.
"""
PAIRS = ("0.23.0", "0.18.0", "0.26.0rc1")  # versions of vllm-ascend, for vllm of the same number
MODELS = ("qwen2", "qwen3-moe", "qwen2-w8a8")
RUNS = ("offline", "graphs", "two processes", "server")
LONG = "long"  # a run by --long alone


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="./dev serve", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("names", nargs="*", metavar="NAME", help=f"only these models ({', '.join(MODELS)}), only these runs ({', '.join(RUNS)})")
    made.add_argument("--vllm", action="append", metavar="VERSION", help=f"a pair of versions; may be given again ({', '.join(PAIRS)})")
    made.add_argument("--short", action="store_true", help="a start of the first pair, and greedy tokens of one model")
    made.add_argument("--long", action="store_true", help="the server under 200 requests of random lengths by 8 clients, and nothing else")
    made.add_argument("--logs", type=Path, help="keep in this folder what vLLM says")
    made.add_argument("--page", type=Path, help="write the rows into this page; those of other runs stay")
    made.add_argument("--seconds", type=float, default=900, help="that a run may take (900)")
    made.add_argument("--environment", type=Path, help=argparse.SUPPRESS)
    return made


def parse(arguments: list[str]) -> argparse.Namespace:
    """Options, with the pairs of versions in `vllm`, and the names in `models` and `runs`."""
    options = parser().parse_args(arguments)
    options.vllm = options.vllm or list(PAIRS[:1] if options.short else PAIRS)
    if options.long and (options.short or options.names):
        parser().error("--long is a run of its own: neither --short nor names")
    unknown = set(options.names) - {*MODELS, *RUNS}
    if unknown:
        parser().error(f"there is no model or run {', '.join(sorted(unknown))}")
    for kind, known in (("models", MODELS), ("runs", RUNS)):
        setattr(options, kind, [name for name in known if name in options.names] or list(known))
    return options


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pairs"]:
        print(*parse(sys.argv[2:]).vllm)
    else:
        parser().parse_args(sys.argv[1:])
