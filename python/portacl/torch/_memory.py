"""One memory, two tensors: an NPU tensor seen as a CPU tensor, and a CPU result handed over to the NPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import os

import torch

_CPU = torch.device("cpu")
_storage_at = torch._C._construct_storage_from_data_pointer
_empty = torch.empty
_empty_strided = torch.empty_strided

# Whether the program is checked. Then the host cannot use device memory, and the functions below copy.
CHECKED = os.environ.get("PORTACL_CHECK", "0") not in ("", "0")
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2

# Below this many bytes a plain memmove is faster than a copying operator, which may use several threads.
_SMALL = 1 << 16


def _copy(destination: int, source: int, size: int, kind: int) -> None:
    function = ctypes.CDLL("libascendcl.so").aclrtMemcpy
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if function(destination, size, source, size, kind) != 0:
        raise RuntimeError("portacl: a copy between host and device failed")


class Copies:
    """The host copies of the storages of one call's NPU tensors, in a checked program; tensors that share a storage share its
    copy."""

    def __init__(self) -> None:
        self.by_device: dict[int, torch.UntypedStorage] = {}
        self.by_host: dict[int, torch.Tensor] = {}  # an NPU tensor of the storage that is copied here

    def of(self, tensor: torch.Tensor) -> torch.UntypedStorage:
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        copy = self.by_device.get(address)
        if copy is None or copy.nbytes() != size:
            copy = _empty(size, dtype=torch.uint8).untyped_storage()
            _copy(copy.data_ptr(), address, size, _DEVICE_TO_HOST)
            self.by_device[address] = copy
            self.by_host[copy.data_ptr()] = tensor
        return copy

    def write_back(self, tensor: torch.Tensor) -> None:
        """Copies back what the CPU wrote into the copy of an NPU tensor's storage."""
        storage = tensor.untyped_storage()
        copy = self.by_device.get(storage.data_ptr())
        if copy is not None and copy.nbytes():
            _copy(storage.data_ptr(), copy.data_ptr(), copy.nbytes(), _HOST_TO_DEVICE)


def on_cpu(tensor: torch.Tensor, copies: Copies | None = None) -> torch.Tensor:
    """Returns the same elements as a CPU tensor. Device memory is host memory here; in a checked program the elements are copied.

    The result does not own the memory. It must not outlive `tensor`, and it cannot be resized.
    """
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    view = _empty(0, dtype=tensor.dtype)
    if size and CHECKED:
        copies = Copies() if copies is None else copies
        view.set_(copies.of(tensor), tensor.storage_offset(), tensor.shape, tensor.stride())
    elif size:
        view.set_(_storage_at(storage.data_ptr(), _CPU, size), tensor.storage_offset(), tensor.shape, tensor.stride())
    else:
        view = view.as_strided(tensor.shape, tensor.stride())
    if tensor.is_conj():
        view = torch._conj(view)
    if tensor.is_neg():
        view = torch._neg_view(view)
    return view


def shape_on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a CPU tensor of the same shape, strides and dtype, for callers that do not read its elements."""
    return _empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype) if CHECKED else on_cpu(tensor)


def room_for(result: torch.Tensor, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns a new NPU tensor with the shape, strides and dtype of a CPU tensor, and the tensor to be filled in."""
    shape, stride = result.shape, result.stride()
    if result.is_conj() or result.is_neg():
        result = result.resolve_conj().resolve_neg()
    return _empty_strided(shape, stride, dtype=result.dtype, device=device), result


def fill(tensor: torch.Tensor, result: torch.Tensor) -> None:
    """Copies a CPU tensor into an NPU tensor of the same shape and dtype."""
    count = result.numel()
    if count == 0:
        return
    size = count * result.element_size()
    if CHECKED:
        if tensor.stride() == result.stride() and result.is_contiguous() and not result.is_neg() and not result.is_conj():
            _copy(tensor.data_ptr(), result.data_ptr(), size, _HOST_TO_DEVICE)
        else:
            copies = Copies()
            on_cpu(tensor, copies).copy_(result)
            copies.write_back(tensor)
    elif size <= _SMALL and tensor.stride() == result.stride() and result.is_contiguous() and not result.is_neg():
        ctypes.memmove(tensor.data_ptr(), result.data_ptr(), size)
    else:
        on_cpu(tensor).copy_(result)
