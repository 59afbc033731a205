"""Kernels of Triton inside a graph: its interpreter computes them on the CPU, which becomes a host function of the graph."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from . import _memory

_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_host_functions: list[Any] = []  # for as long as a graph may be replayed, which nobody tells
_one_at_a_time = threading.Lock()  # the interpreter keeps what it runs in variables of its module


def _is_on_npu(one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.device.type == "npu"


def let_them_end() -> None:
    """To be called before a kernel that waits for the device with Python's lock held, which these host functions need."""
    if _host_functions and not torch.npu.is_current_stream_capturing():
        torch.npu.current_stream().synchronize()  # without the lock


def launch(call: Callable[..., Any], executor: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Calls the interpreter, or has every replay call it if the current stream is captured.

    The interpreter copies operands to the CPU and back, which no graph can hold; the host function gets the device's memory itself.
    """
    if not any(map(_is_on_npu, (*arguments, *named.values()))) or _memory.CHECKED or not torch.npu.is_current_stream_capturing():
        return call(executor, *arguments, **named)
    laid = [_memory.on_cpu(one) if _is_on_npu(one) else one for one in arguments]
    laid_named = {name: _memory.on_cpu(one) if _is_on_npu(one) else one for name, one in named.items()}

    def run(_: Any) -> None:
        with _one_at_a_time, torch.inference_mode():
            call(executor, *laid, **laid_named)

    function = _HostFunction(run)
    _host_functions.append(function)
    # Asking for the stream waits until torch_npu's queue has submitted the operators before this one.
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    code = ctypes.CDLL("libascendcl.so").aclrtLaunchHostFunc(stream, function, None)
    if code != 0:
        raise RuntimeError(f"aclrtLaunchHostFunc returned {code}: a kernel of Triton cannot be captured")
    return None
