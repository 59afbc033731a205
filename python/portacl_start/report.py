"""The table of `python -m portacl --report`, printed at the end of the process that was started by it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable

_is_printed = False


def _is_wanted() -> bool:
    return os.environ.get("PORTACL_REPORT") == str(os.getpid())


def _print(text: str) -> None:
    global _is_printed
    if _is_printed or not _is_wanted() or sys.stderr is None:
        return
    _is_printed = True
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()


def expect() -> None:
    """Says at the end that there is nothing to report, unless print_at_exit came first."""
    if _is_wanted():
        atexit.register(_print, "portacl: nothing to report: torch_npu was not imported\n")


def print_at_exit(table: Callable[[], str]) -> None:
    """Prints the table before what was registered earlier: torch_npu's own end must not have come."""
    if _is_wanted():
        atexit.register(lambda: _print(table()))
