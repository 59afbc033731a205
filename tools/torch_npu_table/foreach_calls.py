"""Calls of torch._foreach_* and of the fused optimizers, which op_db has no samples of."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch


def calls():
    """Functions without arguments, each one call on device npu."""
    names = [name for name in dir(torch.ops.aten) if name.startswith("_foreach")] or _foreach_names()
    for name in names:
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads():
            operator = getattr(packet, overload)
            for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
                yield lambda operator=operator, dtype=dtype: operator(*_arguments(operator, dtype))


def _foreach_names() -> list[str]:
    every = torch._C._dispatch_get_all_op_names()
    return sorted({name[6:].split(".")[0] for name in every if name.startswith(("aten::_foreach", "aten::_fused_ad", "aten::_fused_sgd"))})


def _arguments(operator, dtype):
    """By type: two lists of three tensors, scalars as in programs."""
    made = []
    for argument in operator._schema.arguments:
        kind = str(argument.type)
        if argument.has_default_value() and not kind.startswith("List[Tensor"):
            continue
        if kind == "List[Tensor]":
            steps = argument.name == "state_steps"
            made.append([torch.ones((), device="npu") if steps else torch.ones(4, dtype=dtype).npu() for _ in range(3)])
        elif kind == "Tensor":
            made.append(torch.ones((), dtype=dtype).npu())
        elif kind in ("List[number]", "List[Scalar]"):
            made.append([1.5, 2.5, 3.5])
        elif kind in ("number", "Scalar", "float"):
            made.append(1.5)
        elif kind == "bool":
            made.append(False)
        elif kind == "int":
            made.append(1)
        else:
            made.append(None)
    return made
