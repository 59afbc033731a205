"""What happens around the imports of torch and torch_npu: the libraries before, the fallback of portacl.torch after.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from portacl_start import cuda_build, environment, report, versions

_imports_under_way = 0
_is_installed = False
# torch_npu is about to load its libraries, on portacl.
_npu_is_next = False


def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """What the other finders find, with a loader that tells of the beginning and the end."""
    spec = environment.found_by_others(name, path, target)
    loader = spec.loader if spec is not None else None
    if loader is None or not hasattr(loader, "exec_module"):
        return spec
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        global _imports_under_way, _npu_is_next
        reason = None
        if name == "torch_npu":
            reason = _before_torch_npu()
            _npu_is_next = reason is None
            if _npu_is_next and "torch._C" in sys.modules:
                _make_room()
        _imports_under_way += 1
        try:
            execute(module)
        except (ImportError, OSError):
            if reason is not None:
                environment.say(f"portacl is installed but was not used, because {reason}; see python -m portacl --help")
            raise
        finally:
            _imports_under_way -= 1
        # Where a program imports torch_npu first, torch is there only now, and torch_npu's own libraries come next.
        if name == "torch" and _npu_is_next:
            _make_room()
        # torch imports torch_npu at its own end, when a part of torch is still missing.
        if _imports_under_way == 0 and "torch_npu" in sys.modules:
            _after_torch_npu()

    # On this one object, so that it stays what it is for everybody else.
    setattr(loader, "exec_module", exec_module)  # noqa: B010
    return spec


def _before_torch_npu() -> str | None:
    """Puts portacl in force where that was asked for, or where there is nothing else; returns why it did not."""
    reason = environment.put_in_force_unless_cann()
    if reason is not None:
        return reason
    try:
        version = importlib.metadata.version("torch_npu")
    except importlib.metadata.PackageNotFoundError:
        version = "of an unknown version"
    why = versions.why_not(version)
    if why is not None:
        warnings.warn(f"torch_npu {version} is {why}; portacl is {environment.VERSION}", RuntimeWarning, stacklevel=2)
    return None


def _make_room() -> None:
    global _npu_is_next
    _npu_is_next = False
    reason = cuda_build.make_room()
    if reason is not None:
        raise ImportError(f"portacl: {reason}")


def _after_torch_npu() -> None:
    global _is_installed
    there = environment.loaded()
    if _is_installed or there is None or not there.is_portacl:
        return
    _is_installed = True
    fallback = importlib.import_module("portacl.torch")
    fallback.install()
    report.print_at_exit(fallback.report)
