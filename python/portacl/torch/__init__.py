"""PyTorch on portacl: what torch_npu needs and portacl lacks is computed by PyTorch's CPU kernels.

    import torch, torch_npu
    import portacl.torch
    portacl.torch.install()

`python -m portacl SCRIPT` does this by itself. An operator is either *own*, computed by portacl's aclnn functions, or it *falls
back*: PyTorch's CPU kernel works on the same memory, because device memory is host memory here. Which of the two is decided
once, by name, from the functions that are there.

Environment: PORTACL_FALLBACK=warn (default: each operator that falls back is named once, as a FallbackWarning), quiet, or
error (NotImplementedError instead of falling back).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import threading
from typing import Any

__all__ = ["FallbackWarning", "install", "own_operators", "report"]


class FallbackWarning(UserWarning):
    """An operator is computed by PyTorch's CPU kernel, because portacl lacks what it needs."""


_lock = threading.RLock()
_installed: Any = None  # an _install.Installation

_MODES = ("warn", "quiet", "error")


def install() -> None:
    """Registers the fallback with PyTorch's dispatcher, for the whole process; later calls do nothing.

    torch and torch_npu are imported where they are not yet. Where PORTACL_REPORT is set (not empty), own operators are counted,
    too: every call of one then passes through Python and waits for its stream, so a program is slower; its results are the same.

    Raises ValueError for a PORTACL_FALLBACK that is none of warn, quiet, error; ImportError where torch or torch_npu is missing.
    """
    global _installed
    mode = os.environ.get("PORTACL_FALLBACK") or "warn"
    if mode not in _MODES:
        raise ValueError(f"PORTACL_FALLBACK={mode}: neither of {', '.join(_MODES)}")
    # Comes before _install, which needs both: if portacl starts by itself, the end of these imports calls this function.
    import torch  # noqa: F401
    import torch_npu  # noqa: F401

    with _lock:
        if _installed is None:
            from . import _end, _install

            _installed = _install.Installation(mode, bool(os.environ.get("PORTACL_REPORT")))
            _end.wait_at_exit()


def own_operators() -> frozenset[str]:
    """The operators of torch_npu, as "aten::add.Tensor", for which portacl has everything. Empty before install()."""
    return frozenset() if _installed is None else _installed.own


def report() -> str:
    """A table of the calls so far: operator, calls, own or fallback, milliseconds. What took longest comes first.

    Own operators are in it where PORTACL_REPORT was set when install() was called. The time of a call includes waiting for its stream and
    excludes other operators in the table that it called.
    """
    if _installed is None:
        return "portacl.torch is not installed in this process: nothing was counted\n"
    return _installed.report()
