"""Recordings of what a program's operators got and gave: written on any device, read anywhere.

    import portacl.recording
    with portacl.recording.record("run.rec", keep="all"):   # needs torch, on whatever device the program uses
        ...

    with portacl.recording.open("run.rec") as recording:    # a file of record, or a folder that msprobe dumped
        for call in recording:
            print(call.index, call.name, call.module, [record.shape for place, record in call.inputs()])
        if recording.problem:
            print(recording.problem)

`import portacl.recording` does not put portacl in force, unlike `import portacl`: a program on an NPU is recorded there. Reading needs
Python alone; TensorRecord.tensor() needs torch. Nothing in a recording is run as code.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ._frames import RecordingError
from ._reading import Call, Recording, StackFrame, Statistics, TensorRecord
from ._reading import open_recording as open
from ._values import Device, DType, Generator, Layout, MemoryFormat, Opaque, Scalar, tensors_in
from ._writing import Writer

__all__ = [
    "Call",
    "DType",
    "Device",
    "Generator",
    "Layout",
    "MemoryFormat",
    "Opaque",
    "Recorder",
    "Recording",
    "RecordingError",
    "Scalar",
    "StackFrame",
    "Statistics",
    "TensorRecord",
    "Writer",
    "open",
    "record",
    "tensors_in",
]


def __getattr__(name: str) -> Any:
    if name in ("record", "Recorder"):  # which need torch
        from . import _capture

        return getattr(_capture, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
