"""Which module of the program an operator belongs to: the paths of modules that are being called, and of parameters."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import weakref
from typing import Any

import torch
from torch.nn.modules import module as _module


class Modules:
    """Follows the calls of all modules by PyTorch's hooks for all of them, which change nothing in a module."""

    def __init__(self, *known: torch.nn.Module):
        self._paths: dict[int, tuple[weakref.ref[Any], tuple[str, str]]] = {}  # by the module's id
        self.parameters: dict[int, tuple[weakref.ref[torch.Tensor], str, str]] = {}
        self._calls = threading.local()
        self._handles: list[Any] = []
        for one in known:
            self._learn(one)

    def start(self) -> None:
        self._handles = [
            _module.register_module_forward_pre_hook(self._begin),
            _module.register_module_forward_hook(self._end, always_call=True),
        ]

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def current(self) -> tuple[str, str] | None:
        """(class of the outermost module, path of the innermost) in this thread; None outside of all."""
        stack = getattr(self._calls, "stack", None)
        return stack[-1][0] if stack else None

    def name_of(self, tensor: torch.Tensor) -> str | None:
        """The path of a parameter or buffer of a module that was called."""
        found = self.parameters.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def module_of(self, tensor: torch.Tensor) -> tuple[str, str] | None:
        """(class of the outermost module, path) of the module whose parameter it is."""
        found = self.parameters.get(id(tensor))
        return (found[2], found[1].rpartition(".")[0]) if found is not None and found[0]() is tensor else None

    def _learn(self, root: torch.nn.Module) -> None:
        name = type(root).__name__
        for path, one in root.named_modules():
            self._place(one, (name, path))
        for path, tensor in [*root.named_parameters(), *root.named_buffers()]:
            self.parameters[id(tensor)] = (weakref.ref(tensor), path, name)

    def _place(self, module: Any, place: tuple[str, str]) -> None:
        key = id(module)
        paths = self._paths

        def gone(reference: weakref.ref[Any]) -> None:
            known = paths.get(key)
            if known is not None and known[0] is reference:
                del paths[key]

        paths[key] = (weakref.ref(module, gone), place)

    def _begin(self, module: torch.nn.Module, arguments: Any) -> None:
        stack = getattr(self._calls, "stack", None)
        if stack is None:
            stack = self._calls.stack = []
        found = self._paths.get(id(module))
        if found is not None and found[0]() is module:
            known = found[1]
        else:
            if not stack or not isinstance(module, torch.nn.Module):
                self._learn(module)
                known = self._paths[id(module)][1]
            else:  # made during the call: it has no path of its own
                root, path = stack[-1][0]
                known = (root, f"{path}.{type(module).__name__}" if path else type(module).__name__)
        stack.append((known, id(module)))

    def _end(self, module: torch.nn.Module, arguments: Any, output: Any) -> None:
        stack = getattr(self._calls, "stack", None)
        if stack and stack[-1][1] == id(module):
            stack.pop()
