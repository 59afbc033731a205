"""CANN on ordinary CPUs: importing this package puts its libraries in force, in this process and those that it starts.

Import it before torch. If another CANN is loaded in the process already, that one stays in force, and a RuntimeWarning says so.

    python -m portacl SCRIPT [ARGUMENTS]    starts a script with portacl in force, without a change to it
    portacl.check()                         checks the program for what an NPU would not forgive
    portacl.include_dir(), library_dir()    for compilers
    portacl.prefix()                        the folder with both, laid out as a CANN toolkit (what ASCEND_HOME_PATH names)
    import portacl.recording                records and reads recordings; this import alone puts nothing in force, so that a program on
                                            an NPU is recorded there

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pathlib

from portacl_start import environment as _environment
from portacl_start._version import __version__

__all__ = ["__version__", "check", "include_dir", "library_dir", "prefix"]


def check(how: str = "1", file: str | None = None, suppressions: str | None = None) -> None:
    """Checks this program, and those that it starts, for what an NPU would not forgive; before torch_npu is imported.

    `how`: "1" ends the process with code 86 at the first finding; "report" collects them, prints a summary at the end, and ends with
    that code then; parts may follow ("report,memory,init"). `file` gets them as JSON; `suppressions` names what is not to be told.
    The same as PORTACL_CHECK, PORTACL_CHECK_FILE and PORTACL_CHECK_SUPPRESSIONS in the environment."""
    _environment.check(how, file, suppressions)


def prefix() -> pathlib.Path:
    """The installed prefix: include, lib64, bin, set_env.sh."""
    return pathlib.Path(_environment.TOOLKIT)


def include_dir() -> pathlib.Path:
    """The folder of acl/acl.h and aclnnop/."""
    return prefix() / "include"


def library_dir() -> pathlib.Path:
    """The folder of libascendcl.so, libnnopbase.so, libopapi.so and the others."""
    return prefix() / "lib64"


if not _environment.is_import_for_recording():
    _environment.take_over()
