"""Folders that msprobe dumped, read as recordings."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ._reading import Recording


def open_folder(path: str) -> Recording:
    raise NotImplementedError(path)
