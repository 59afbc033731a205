"""Read by every start of Python in `./dev serve`: torchvision of the package index is built for CUDA, and its operators do not load beside
PyTorch's CPU build. vLLM imports it and, for text, calls none of them: their names are enough, and are given before its import.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

_REGISTERED = re.compile(r"""register_meta\("(\w+)"\)|register_fake\("torchvision::(\w+)"\)""")
_kept: list[Any] = []


class _Torchvision:
    """A finder that takes part in the import of torchvision alone."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torchvision":
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.origin is not None and not _kept:
            _define(Path(found.origin).parent)
        return found


def _define(place: Path) -> None:
    import torch

    try:
        torch.ops.load_library(str(place / "_C.so"))
        return
    except OSError:
        pass
    text = (place / "_meta_registrations.py").read_text(encoding="utf-8")
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in sorted({first or second for first, second in _REGISTERED.findall(text)}):
        library.define(f"{name}(Tensor a) -> Tensor")
    _kept.append(library)


sys.meta_path.insert(0, _Torchvision)  # type: ignore[arg-type]
