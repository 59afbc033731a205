"""Which aclnn functions each operator of torch_npu needs, and with that: own or fallback.

The data, operators-VERSION.json, is written by tools/torch_npu_table: of one version all, of the others what differs from their
"base". A need is a string: the functions without the prefix
aclnn, all of which must be there; "NEWEST|OLDER" for versions of a function, one of which is enough; "npu::NAME" for another
operator; "" for nothing (the operator only manages tensors or calls other operators); "graph:TYPE" for an operator of CANN's graph
engine that portacl does not have, "legacy" for one whose type is not known. Of versions torch_npu takes the newest that is there, or
the one that the arguments ask for; where that is not there it says so itself, before anything is queued. Beside the needs stand the
dtypes that an operator's functions refuse and PyTorch's CPU kernel takes.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import importlib.resources
import json
import re
from collections.abc import Callable
from typing import Any

from portacl_start.versions import nearest

_LIBRARIES = ("libopapi.so", "libopapi_nn.so", "libopapi_math.so")


def table_for(version: str, product: str) -> Table:
    """Returns the table of this version of torch_npu, or of the nearest one; operators that it does not know fall back."""
    return Table(nearest(version), product)


def read(version: str) -> dict[str, Any]:
    """Returns the data of a tested version of torch_npu."""
    file = importlib.resources.files(__package__) / f"operators-{version}.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return changed(read(data["base"]), data) if "base" in data else data


def changed(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Returns the data with changes: values that take the place of others, and None for those that are not there."""
    result = dict(base)
    for name, value in changes.items():
        if name == "base":
            continue
        if isinstance(value, dict):
            result[name] = changed(base.get(name) or {}, value)
        elif value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result


def differences(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """Returns what makes the data of the base, by changed()."""
    found: dict[str, Any] = {name: None for name in base if name not in data}
    for name, value in data.items():
        there = base.get(name)
        if isinstance(value, dict):
            inner = differences(there if isinstance(there, dict) else {}, value)
            if inner or there is None:
                found[name] = inner
        elif value != there:
            found[name] = value
    return dict(sorted(found.items()))


class Table:
    """The needs of every operator for one product."""

    def __init__(self, version: str, product: str):
        data = read(version)
        self.version = version
        self.product = product
        self._needs: dict[str, str] = data["operators"]
        for pattern, needs in data["products"].items():
            if re.fullmatch(pattern, product):
                self._needs = {**self._needs, **needs}
        self._gradients: dict[str, str] = data["gradients"]
        self._refused: dict[str, str] = data["refused"]

    def needs(self, operator: str) -> str | None:
        """Returns None for an operator that the table does not know. torch_npu registers each of its own twice, as npu:: and
        aten::."""
        if operator.startswith("npu::"):
            operator = "aten" + operator[len("npu") :]
        return self._needs.get(operator)

    def gradient_needs(self, operator: str) -> str:
        """Returns the needs of the gradient that torch_npu has in place of PyTorch's."""
        return self._gradients.get(operator, "")

    def refused(self, operator: str) -> list[str]:
        """Returns the dtypes, as "float64", with which an own operator falls back, or is refused where PyTorch's CPU has none."""
        if operator.startswith("npu::"):
            operator = "aten" + operator[len("npu") :]
        return self._refused.get(operator, "").split()

    def missing(self, needs: str | None, present: Callable[[str], bool], seen: frozenset[str] = frozenset()) -> list[str]:
        """Returns the full names of missing functions; empty if everything that is needed is here."""
        if needs is None:
            return ["a function that this table does not know"]
        lacking = []
        for need in needs.split():
            if need == "legacy":
                lacking.append("an operator of CANN's graph engine")
            elif need.startswith("graph:"):
                lacking.append(f"an operator of CANN's graph engine ({need.removeprefix('graph:')})")
            elif need.startswith(("npu::", "aten::")):
                if need not in seen:
                    lacking += self.missing(self.needs(need), present, seen | {need})
            else:
                versions = [one if one.startswith("acl") else "aclnn" + one for one in need.split("|")]
                if not any(map(present, versions)):
                    lacking.append(" or ".join(versions))
        return list(dict.fromkeys(lacking))


def loaded_functions() -> Callable[[str], bool]:
    """Tells whether both phases of an operator are in the libraries that torch_npu searches."""
    libraries = []
    for name in _LIBRARIES:
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError:
            continue
    known: dict[str, bool] = {}

    def present(function: str) -> bool:
        if function not in known:
            known[function] = all(
                any(hasattr(library, symbol) for library in libraries)
                for symbol in (function, function + "GetWorkspaceSize")
            )
        return known[function]

    return present


def product() -> str:
    """Returns the emulated product, as CANN names it ("Ascend910B1")."""
    name = ctypes.CDLL("libascendcl.so").aclrtGetSocName
    name.restype = ctypes.c_char_p
    return (name() or b"").decode()
