"""One memory, two tensors: an NPU tensor seen as a CPU tensor, and a CPU result handed over to the NPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes

import torch

_CPU = torch.device("cpu")
_storage_at = torch._C._construct_storage_from_data_pointer
_empty = torch.empty
_empty_strided = torch.empty_strided

# Below this many bytes a plain memmove is quicker than a copying operator, which may use several threads.
_SMALL = 1 << 16


def on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as a CPU tensor: device memory is host memory here.

    The result does not own the memory. It must not outlive `tensor`, and it cannot be resized.
    """
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    view = _empty(0, dtype=tensor.dtype)
    if size:
        view.set_(_storage_at(storage.data_ptr(), _CPU, size), tensor.storage_offset(), tensor.shape, tensor.stride())
    else:
        view = view.as_strided(tensor.shape, tensor.stride())
    if tensor.is_conj():
        view = torch._conj(view)
    if tensor.is_neg():
        view = torch._neg_view(view)
    return view


def room_for(result: torch.Tensor, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """A new NPU tensor of the shape, the strides and the dtype of a CPU tensor, and what is to be filled in."""
    shape, stride = result.shape, result.stride()
    if result.is_conj() or result.is_neg():
        result = result.resolve_conj().resolve_neg()
    return _empty_strided(shape, stride, dtype=result.dtype, device=device), result


def fill(tensor: torch.Tensor, result: torch.Tensor) -> None:
    """Writes a CPU tensor into an NPU tensor of the same shape and dtype."""
    count = result.numel()
    if count == 0:
        return
    size = count * result.element_size()
    if size <= _SMALL and tensor.stride() == result.stride() and result.is_contiguous() and not result.is_neg():
        ctypes.memmove(tensor.data_ptr(), result.data_ptr(), size)
    else:
        on_cpu(tensor).copy_(result)
