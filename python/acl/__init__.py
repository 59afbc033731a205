"""pyACL, CANN's Python interface: `import acl`, over the libascendcl.so that is in force. docs/python.md lists what there is.

    ret = acl.init()                        a code, 0 for success
    stream, ret = acl.rt.create_stream()    results, then the code; pointers and handles are ints

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from acl import _binding, _table, op, rt, util

_functions = _binding.bind_all(__name__, _table.ACL)
globals().update(_functions)
_create_tensor_desc = _binding.bind(f"{__name__}.create_tensor_desc", _table.CREATE_TENSOR_DESC)


def create_tensor_desc(data_type: int, dims: list[int], format: int) -> int:
    """aclCreateTensorDesc: takes (data_type, dims, format), returns a pointer; dims is a list of ints."""
    return int(_create_tensor_desc(data_type, len(dims), dims, format))


__all__ = ["create_tensor_desc", "op", "rt", "util", *_functions]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _binding.absent(__name__)(name)
