"""To be imported before torch_npu: PyTorch of the package index is built for CUDA, whose settings make room for torch_npu's
(python/portacl_start/cuda_build.py).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import os
from pathlib import Path

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch  # noqa: E402, F401

_FILE = Path(__file__).resolve().parents[2] / "python" / "portacl_start" / "cuda_build.py"
_spec = importlib.util.spec_from_file_location("cuda_build", _FILE)
assert _spec is not None and _spec.loader is not None
_cuda_build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cuda_build)
_why_not = _cuda_build.make_room()
if _why_not is not None:
    raise SystemExit(_why_not)
