"""The tests of recordings: run in a Python with torch and torch_npu, with portacl in force (./dev torch_npu)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pytest

os.environ.setdefault("PORTACL_FALLBACK", "quiet")

import torch  # noqa: E402
import torch_npu  # noqa: E402, F401

import portacl.torch  # noqa: E402

portacl.torch.install()
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def the_same_numbers():
    """A test draws the same numbers whenever it runs, and whatever ran before it."""
    torch.manual_seed(20)
