"""Which CANN a process uses: what its variables name, what is loaded in it, and how the portacl beside this file takes the place.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import NamedTuple

from portacl_start import TorchImports
from portacl_start._version import __version__

VERSION = __version__
TOOLKIT = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "portacl", "toolkit")
LIBRARIES = os.path.join(TOOLKIT, "lib64")

RECORDING = "portacl.recording"

# Where CANN and its driver lie when they are installed, whether or not the environment says so.
TRACES_OF_CANN = ("/usr/local/Ascend", "~/Ascend", "/dev/davinci*")

_HOMES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
_PLACES_OF_CANN = (*_HOMES, "ASCEND_OPP_PATH")
# Lists of folders: what portacl puts first, and what it takes out where it belongs to another CANN.
_LISTS = {
    "LD_LIBRARY_PATH": ("lib64",),
    "PATH": ("bin", "tools/profiler/bin"),
    "CMAKE_PREFIX_PATH": ("lib64/cmake",),
    "PKG_CONFIG_PATH": ("lib64/pkgconfig",),
}


class Cann(NamedTuple):
    """An installation: the folder that holds lib64, or the libraries themselves where there is no such folder."""

    place: str

    @property
    def is_this(self) -> bool:
        return _same(self.place, TOOLKIT)

    @property
    def is_portacl(self) -> bool:
        return any(glob.glob(os.path.join(glob.escape(folder), "libportacl.so.*")) for folder in self._folders)

    @property
    def is_there(self) -> bool:
        return any(os.path.exists(os.path.join(folder, "libascendcl.so")) for folder in self._folders)

    @property
    def _folders(self) -> tuple[str, str]:
        return os.path.join(self.place, "lib64"), self.place

    def __str__(self) -> str:
        name = f"portacl {VERSION}" if self.is_this else "portacl" if self.is_portacl else "CANN"
        return f"{name} in {self.place}"


THIS = Cann(TOOLKIT)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _lies_in(path: str, folder: str) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(os.path.realpath(folder) + os.sep)


def named(environ: Mapping[str, str]) -> Cann | None:
    """What the environment names, whether or not it is there."""
    return next((Cann(environ[name]) for name in _HOMES if environ.get(name)), None)


def loaded() -> Cann | None:
    """What this process has loaded."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(None, 5)[5].strip() for line in maps if ".so" in line and "/" in line}
    except OSError:
        return None
    for path in sorted(paths):
        folder, name = os.path.split(path)
        if name.startswith(("libascendcl.so", "libacl_rt.so", "libportacl.so")):
            return Cann(os.path.dirname(folder) if os.path.basename(folder) == "lib64" else folder)
    return None


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """What toolkit/set_env.sh would set in this environment; folders of another CANN leave the lists."""
    other = named(environ)
    changes = {name: TOOLKIT for name in (*_HOMES, "ASCEND_AICPU_PATH")}
    changes["ASCEND_OPP_PATH"] = os.path.join(TOOLKIT, "opp")
    changes["TOOLCHAIN_HOME"] = os.path.join(TOOLKIT, "toolkit")
    for name, folders in _LISTS.items():
        first = [os.path.join(TOOLKIT, folder) for folder in folders]
        rest = [one for one in environ.get(name, "").split(":") if one and one not in first]
        if other is not None:
            rest = [one for one in rest if not _lies_in(one, other.place)]
        changes[name] = ":".join([*first, *rest])
    if other is not None and environ.get("PYTHONPATH"):
        changes["PYTHONPATH"] = ":".join(_without_modules_of(other, environ["PYTHONPATH"].split(":")))
    return changes


def _without_modules_of(other: Cann, folders: list[str]) -> list[str]:
    """Where Python finds modules, but for those of another CANN, which has a module acl of its own."""
    place = os.path.join(other.place, "python")
    return [one for one in folders if not one or not _lies_in(one, place)]


def load() -> None:
    """Loads the libraries, so that this process has them under every name that CANN's have."""
    core, *others = sorted(glob.glob(os.path.join(glob.escape(LIBRARIES), "*.so*")), key=lambda path: "libportacl" not in path)
    for path in (core, *others):  # the names find the code by itself, but by a search
        ctypes.CDLL(path)


def found_by_others(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """What finders of modules find, but for that of this package."""
    for finder in sys.meta_path:
        spec = None if finder is TorchImports else finder.find_spec(name, path, target)
        if spec is not None:
            return spec
    return None


def take_over() -> Cann:
    """Puts the portacl of this package in force, in this process and those that it starts, and returns what is in force.

    Libraries are never exchanged: if this process has loaded another CANN, that one stays, with a warning."""
    there = loaded()
    if there is not None and not there.is_this:
        warnings.warn(f"{there} is loaded in this process and stays in force; {THIS} is not used", RuntimeWarning, stacklevel=3)
        return there
    other = named(os.environ)
    if other is not None and not other.is_this and other.is_there:
        warnings.warn(f"{THIS} is in force; {other}, which the environment names, is not used", RuntimeWarning, stacklevel=3)
    if there is None:
        load()
    if other is not None and not other.is_this:
        sys.path[:] = _without_modules_of(other, sys.path)
    os.environ.update(variables(os.environ))
    os.environ.update(_variables_of_triton())
    set_for_checks()
    if processors() == 1:
        # The thread of torch_npu's queue would take turns with the program's.
        os.environ.setdefault("TASK_QUEUE_ENABLE", "0")
    return THIS


def processors(quota_file: str = "/sys/fs/cgroup/cpu.max") -> int:
    """How many processors this process may keep busy: by its affinity, and by the quota of the container that it runs in."""
    allowed = len(os.sched_getaffinity(0))
    try:
        with open(quota_file, encoding="ascii") as file:
            quota, period = file.read().split()
        return max(1, min(allowed, -(-int(quota) // int(period))))
    except (OSError, ValueError, ZeroDivisionError):  # no control groups of version 2, or "max"
        return allowed


def _variables_of_triton() -> dict[str, str]:
    from portacl_start import triton

    return triton.variables(os.environ)


def is_import_for_recording() -> bool:
    """Whether the package portacl is being imported, by its __init__ which calls this, only as the parent of portacl.recording, or for
    `python -m portacl record`: these leave the CANN that a program uses as it is."""
    frame: FrameType | None = sys._getframe(1)
    is_at_import = False
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            if frame.f_code.co_name == "_find_and_load":
                name = str(frame.f_locals.get("name"))
                if is_at_import:
                    return name == RECORDING or name.startswith(RECORDING + ".")
                is_at_import = name == "portacl"
        elif is_at_import:
            is_started = frame.f_globals.get("__name__") == "runpy" and frame.f_locals.get("mod_name") == "portacl.__main__"
            return is_started and sys.argv[:2] == ["-m", "record"]
        frame = frame.f_back
    return False


def check(how: str = "1", file: str | None = None, suppressions: str | None = None) -> None:
    """Has the programs of this process checked for what an NPU would not forgive, and those that it starts: docs/checking.md.

    `how` is the value of PORTACL_CHECK: "1" stops at the first finding, "report" collects them. To be called before the first use
    of device npu, best before torch is imported: PyTorch's own allocator would hide where an allocation ends."""
    os.environ["PORTACL_CHECK"] = how
    if file is not None:
        os.environ["PORTACL_CHECK_FILE"] = file
    if suppressions is not None:
        os.environ["PORTACL_CHECK_SUPPRESSIONS"] = suppressions
    if "torch_npu" in sys.modules:
        late = "torch_npu is imported already, whose allocator keeps freed memory and packs small tensors into one allocation"
        warnings.warn(f"portacl.check() finds less: {late}", RuntimeWarning, stacklevel=3)
    set_for_checks()


def set_for_checks() -> None:
    """What PyTorch needs in a checked program: an allocation for each tensor, and calls made by the thread that wrote them."""
    if os.environ.get("PORTACL_CHECK", "0") not in ("", "0"):
        os.environ.setdefault("PYTORCH_NO_NPU_MEMORY_CACHING", "1")
        os.environ.setdefault("TASK_QUEUE_ENABLE", "0")


def reason_to_stay_out() -> str | None:
    """Why a process that nobody asked to use portacl must not: it may have a CANN. None: there is no trace of any."""
    if os.environ.get("PORTACL_AUTOSTART") == "0":
        return "PORTACL_AUTOSTART is 0"
    for name in _PLACES_OF_CANN:
        if os.environ.get(name):
            return f"{name} is {os.environ[name]}"
    there = loaded()
    if there is not None:
        return f"{there} is loaded"
    for trace in TRACES_OF_CANN:
        found = glob.glob(os.path.expanduser(trace))
        if found:
            return f"there is {found[0]}"
    try:
        ctypes.CDLL("libascendcl.so")
    except OSError:
        return None
    return f"the loader finds {loaded() or 'libascendcl.so'}"


def put_in_force_unless_cann() -> str | None:
    """For a process that imports a client of CANN: portacl where that was asked for, or where there is nothing else; returns why not."""
    one = named(os.environ)
    if one is not None and one.is_this:
        take_over()
        return None
    there = loaded()
    if there is not None and there.is_this:
        return None
    reason = reason_to_stay_out()
    if reason is None:
        take_over()
        say(f"{THIS}: no CANN was found, so device npu is this computer's CPU")
    return reason


def say(sentence: str) -> None:
    """A line for the user."""
    if sys.stderr is not None:
        sys.stderr.write(sentence + "\n")
