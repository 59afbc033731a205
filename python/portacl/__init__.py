"""CANN on ordinary CPUs: importing this package puts its libraries in force, in this process and those that it starts.

Import it before torch. If another CANN is loaded in the process already, that one stays in force, and a RuntimeWarning says so.

    python -m portacl SCRIPT [ARGUMENTS]    starts a script with portacl in force, without a change to it
    portacl.include_dir(), library_dir()    for compilers
    portacl.prefix()                        the folder with both, laid out as a CANN toolkit (what ASCEND_HOME_PATH names)

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pathlib

from portacl_start import environment as _environment
from portacl_start._version import __version__

__all__ = ["__version__", "include_dir", "library_dir", "prefix"]


def prefix() -> pathlib.Path:
    """The installed prefix: include, lib64, bin, set_env.sh."""
    return pathlib.Path(_environment.TOOLKIT)


def include_dir() -> pathlib.Path:
    """The folder of acl/acl.h and aclnnop/."""
    return prefix() / "include"


def library_dir() -> pathlib.Path:
    """The folder of libascendcl.so, libnnopbase.so, libopapi.so and the others."""
    return prefix() / "lib64"


_environment.take_over()
