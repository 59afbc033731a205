"""vllm-ascend on portacl: its extension is built for one version of PyTorch. Where it does not load, portacl.torch has its operators.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from portacl_start import environment

EXTENSION = "vllm_ascend.vllm_ascend_C"


class _Loader:
    """Loads the extension, or else makes an empty module in its place and defines the operators that the extension would."""

    def __init__(self, loader: Any, file: str) -> None:
        self._loader = loader
        self._file = file
        self._why: ImportError | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        try:
            module: ModuleType | None = self._loader.create_module(spec)
        except ImportError as error:
            self._why = error
            return None  # importlib makes one
        return module

    def exec_module(self, module: ModuleType) -> None:
        operators = importlib.import_module("portacl.torch._extension")
        if self._why is None:
            self._loader.exec_module(module)
            operators.replace_kernels()
            return
        try:
            operators.define(self._file, str(self._why))
        except (ImportError, OSError, ValueError) as error:
            raise self._why from error


def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
    """What the other finders find; if portacl is in force, with a loader that knows what to do where the extension does not load."""
    spec = environment.found_by_others(name, path, target)
    there = environment.loaded()
    if spec is None or spec.origin is None or spec.loader is None or "torch_npu" not in sys.modules:
        return spec
    if there is not None and there.is_portacl:
        spec.loader = _Loader(spec.loader, spec.origin)  # type: ignore[assignment] # has what importlib calls
    return spec
