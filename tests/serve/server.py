"""Starts vLLM's server: vllm's own command line. usage: python -m portacl server.py serve MODEL ..."""

# SPDX-License-Identifier: Apache-2.0

if __name__ == "__main__":
    from vllm.entrypoints.cli.main import main

    main()
