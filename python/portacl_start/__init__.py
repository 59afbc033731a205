"""Sees when torch_npu is imported. Every start of this Python reads this file (portacl_start.pth), so it does nothing else.

PYTEST_DONT_REWRITE: this is imported before pytest.
SPDX-License-Identifier: Apache-2.0
"""

import os
import sys


class TorchImports:
    """A finder that takes part in the imports of torch, torch_npu, two modules of triton and vllm-ascend's extension, and in no other."""

    @staticmethod
    def find_spec(name, path=None, target=None):  # type: ignore[no-untyped-def] # typing would have to be imported
        if name == "torch_npu" or name == "torch":
            from portacl_start import pytorch

            return pytorch.find_spec(name, path, target)
        if name == "triton.runtime.interpreter" or name == "triton.language.extra":
            from portacl_start import triton

            return triton.find_spec(name, path, target)
        if name == "vllm_ascend.vllm_ascend_C":
            from portacl_start import vllm_ascend

            return vllm_ascend.find_spec(name, path, target)
        return None


sys.meta_path.insert(0, TorchImports)
if "PORTACL_REPORT" in os.environ:
    from portacl_start import report as _report

    _report.expect()
