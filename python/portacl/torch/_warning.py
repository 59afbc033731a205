"""Where a warning points: at the program's line, also where PyTorch computes a gradient in a thread of its own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from types import FrameType

import torch

from . import FallbackWarning

# Whose lines tell a user nothing about the program: this package's, and PyTorch's.
_NOT_THE_PROGRAM = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__))
_BACKWARD = "_engine_run_backward"  # the function of PyTorch in which a thread waits for gradients
_LINE = re.compile(r'File "([^"]+)", line (\d+)')


def warn(message: str) -> None:
    """A FallbackWarning that points at the program's line that called.

    Autograd computes a device's gradients in a thread of its own, whose only Python code is this package's. There the warning names
    the gradient, and points at the line of the forward call where PyTorch recorded it (torch.autograd.detect_anomaly), else at the line
    that asked for gradients.
    """
    frame = _of_program(sys._getframe(1))
    if frame is not None:
        _warn_at(message, frame)
        return
    node = torch._C._current_autograd_node()
    gradient = "a thread without Python code" if node is None else f"the gradient {node.name()}"
    message = f"{message}; called by {gradient}"
    recorded = [] if node is None else node.metadata.get("traceback_") or []
    places = [place for lines in recorded for place in _LINE.findall(lines) if not place[0].startswith(_NOT_THE_PROGRAM)]
    if places:
        file, line = places[-1]
        warnings.warn_explicit(message, FallbackWarning, file, int(line))
        return
    here = threading.get_ident()
    waiting = [caller for thread, top in sys._current_frames().items() if thread != here and (caller := _asking(top))]
    frame = _of_program(waiting[0]) if len(waiting) == 1 else None  # of several, which one asked for this is not known
    if frame is not None:
        _warn_at(message, frame)
    else:
        warnings.warn_explicit(message, FallbackWarning, f"<{gradient}>", 1)


def _of_program(frame: FrameType | None) -> FrameType | None:
    """The innermost frame, from this one outwards, that is the program's own."""
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        frame = frame.f_back
    return frame


def _asking(frame: FrameType | None) -> FrameType | None:
    """The frame that waits for gradients, of a thread whose innermost frame this is."""
    while frame is not None and frame.f_code.co_name != _BACKWARD:
        frame = frame.f_back
    return frame


def _warn_at(message: str, frame: FrameType) -> None:
    known = frame.f_globals
    warnings.warn_explicit(
        message,
        FallbackWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=known.get("__name__") or "<unknown>",
        registry=known.setdefault("__warningregistry__", {}),
    )
