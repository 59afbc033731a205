"""acl.op: what there is of operators by their names.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from acl import _binding, _table

_functions = _binding.bind_all(__name__, _table.OP)
globals().update(_functions)
__all__ = [*_functions]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _binding.absent(__name__)(name)
