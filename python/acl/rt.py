"""acl.rt: devices, contexts, streams, events, memory, and Python functions in streams.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

from acl import _binding, _table

_functions = _binding.bind_all(__name__, _table.RT)
globals().update(_functions)

_launch_callback = _binding.bind(f"{__name__}.launch_callback", _table.LAUNCH_CALLBACK)
_numbers = itertools.count(1)
_launched: dict[int, tuple[Callable[[Any], Any], Any]] = {}  # until they are called


def _call(number: int) -> None:
    function, argument = _launched.pop(number)
    function(argument)


_callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_call)


def launch_callback(function: Callable[[Any], Any], user_data: Any, block_type: int, stream: int) -> int:
    """aclrtLaunchCallback: takes (function, user_data, block_type, stream), returns the code. The thread that subscribed the stream,
    with subscribe_report, calls function(user_data) in its process_report; both are kept until then."""
    if not callable(function):
        raise TypeError(f"acl.rt.launch_callback: function must be callable, not {type(function).__name__}")
    number = next(_numbers)
    _launched[number] = function, user_data
    code = 1
    try:
        code = int(_launch_callback(ctypes.cast(_callback, ctypes.c_void_p).value, number, block_type, stream))
    finally:
        if code != 0:
            _launched.pop(number, None)
    return code


__all__ = ["launch_callback", *_functions]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    return _binding.absent(__name__)(name)
