"""The versions of torch_npu that portacl is tested with. For each, portacl.torch has a table of what its operators need.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re

TESTED_TORCH_NPU = ("2.10.0.post4", "2.13.0", "2.14.0")


def nearest(version: str) -> str:
    """Returns the tested version that is this one, or else the nearest; of two that are as near, the later one."""
    short = version.split("+")[0]
    if short in TESTED_TORCH_NPU:
        return short
    here = _place(short)
    return min(reversed(TESTED_TORCH_NPU), key=lambda one: abs(_place(one) - here))


def why_not(version: str) -> str | None:
    """Says that a version is not tested, and which table serves it; None for a tested one."""
    if version.split("+")[0] in TESTED_TORCH_NPU:
        return None
    return f"not one that portacl is tested with ({', '.join(TESTED_TORCH_NPU)}); the table of {nearest(version)} is used"


def _place(version: str) -> int:
    """Returns where a version stands among others, by its major, minor, patch and post; a part that is not given is 0."""
    found = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.?post(\d+))?", version)
    place = 0
    for part in found.groups() if found else ():
        place = place * 1000 + int(part or 0)
    return place
