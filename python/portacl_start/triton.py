"""triton-ascend on portacl: no compiler for device code is there, so its kernels run by its own interpreter, on numpy.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from portacl_start import environment

COMPILER = os.path.join(environment.TOOLKIT, "compiler", "triton")


def is_installed() -> bool:
    """Whether the triton of this Python is triton-ascend; it is not imported."""
    spec = importlib.machinery.PathFinder.find_spec("triton")
    folders = spec.submodule_search_locations if spec is not None else None
    return any(os.path.isdir(os.path.join(folder, "backends", "ascend")) for folder in folders or ())


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """What triton-ascend needs to take itself for active, and to compile nothing; what the user set stays."""
    wanted = {"TRITON_INTERPRET": "1", "TRITON_NPU_COMPILER_PATH": COMPILER}
    return {name: value for name, value in wanted.items() if name not in environ} if is_installed() else {}


def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """One of COMPLETED, with a loader that completes it once it has run."""
    spec = environment.found_by_others(name, path, target)
    there = environment.loaded() or environment.named(os.environ)
    loader = spec.loader if spec is not None else None
    if loader is None or there is None or not there.is_portacl or not is_installed():
        return spec
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        COMPLETED[name](module)

    setattr(loader, "exec_module", exec_module)  # noqa: B010
    return spec


def _complete_interpreter(interpreter: Any) -> None:
    if hasattr(interpreter, "GridExecutor"):
        _accept_options(interpreter.GridExecutor)
    if hasattr(interpreter, "InterpreterBuilder") and not hasattr(interpreter.InterpreterBuilder, "create_gather"):
        _gather(interpreter)


def _accept_options(executor: Any) -> None:
    """Calls of kernels name options of the compiler (`multibuffer`), which the interpreter would take for the kernel's arguments.
    And inside a graph they become host functions."""
    call = executor.__call__

    def call_without_options(self: Any, *arguments: Any, **named: Any) -> Any:
        from triton.backends.ascend.compiler import NPUOptions  # type: ignore[import-not-found] # there by now

        options = NPUOptions.__dataclass_fields__
        kept = {name: value for name, value in named.items() if name in self.arg_names or name not in options}
        if "torch_npu" not in sys.modules:
            return call(self, *arguments, **kept)
        return importlib.import_module("portacl.torch._interpreted").launch(call, self, arguments, kept)

    executor.__call__ = call_without_options


def _gather(interpreter: Any) -> None:
    """`tl.gather`, which triton-ascend 3.2.0 has for its compiler alone."""

    def create_gather(self: Any, source: Any, index: Any, axis: int) -> Any:
        import numpy

        return interpreter.TensorHandle(numpy.take_along_axis(source.data, index.data, axis), source.dtype.scalar)

    interpreter.InterpreterBuilder.create_gather = create_gather


def _give_later_name(extra: Any) -> None:
    """`triton.language.extra.cann`, the name that later versions have for its `ascend`."""
    later, now = f"{extra.__name__}.cann", sys.modules.get(f"{extra.__name__}.ascend")
    if now is not None and later not in sys.modules:
        sys.modules[later] = extra.cann = now


COMPLETED: dict[str, Callable[[ModuleType], None]] = {
    "triton.runtime.interpreter": _complete_interpreter,
    "triton.language.extra": _give_later_name,
}
