"""The end of a process: autograd's threads let go of Python objects before the interpreter goes, and graphs of the device."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import atexit
import gc
import os
import time

from torch_npu.npu import graphs

_TASKS = "/proc/self/task"
_LONGEST = 5.0  # seconds, after which a thread that still computes is abandoned
_BETWEEN = 0.001  # seconds between two polls


def wait_at_exit() -> None:
    """Makes the end of the process wait until autograd's threads rest.

    A device's gradients are computed by a thread of autograd. It lets go of the call's Python objects after backward() has returned, and
    waits for the GIL to do so. Python ends a thread that gets the GIL during finalization by unwinding its stack; that is inside a
    C++ destructor, and the process aborts ("terminate called without an active exception").
    """
    atexit.register(_wait)
    atexit.register(_reset_graphs)


def _reset_graphs() -> None:
    """Destroys graphs that live as long as the program: their C++ destructor waits for the device, and ends the process if there
    is none any more."""
    if graphs._GraphDispatchMode.update_stream is None:  # there is none
        return
    for one in gc.get_objects():
        if issubclass(type(one), graphs.NPUGraph):  # isinstance would query objects that warn
            try:
                one.reset()
            except RuntimeError:
                return  # the device is in no state to be waited for


def _wait() -> None:
    last = time.monotonic() + _LONGEST
    before = None
    while time.monotonic() < last:
        now = _switches()
        if now is not None and now == before:
            return
        before = now
        time.sleep(_BETWEEN)  # without the GIL, so that a thread that waits for it continues


def _switches() -> list[str] | None:
    """Returns how often each of autograd's threads gave up its processor; None if one of them is running."""
    switches = []
    try:
        threads = os.listdir(_TASKS)
    except OSError:  # no /proc: nothing is known about threads
        return []
    for thread in threads:
        try:
            with open(f"{_TASKS}/{thread}/status", encoding="ascii", errors="replace") as status:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
        except OSError:  # the thread has ended
            continue
        if fields["Name"].startswith("pt_autograd"):
            if not fields["State"].startswith("S"):
                return None
            switches.append(f"{thread} {fields['voluntary_ctxt_switches']} {fields['nonvoluntary_ctxt_switches']}")
    return sorted(switches)
