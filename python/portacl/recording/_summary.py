"""What a recording says of a tensor's elements: a hash, and what they have in common. On the host in one pass, by the library
libportacl_summary.so beside portacl; on another device by a few of its operators, so that no more than some numbers are copied."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
from typing import Any

import torch

from . import _frames
from ._reading import Statistics

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = os.path.join(PACKAGE, "toolkit", "lib64", "portacl", "libportacl_summary.so")
# The library's numbers (src/record/summary.h), and how many of them an element has.
_BYTES_ALONE = 0
_BYTES = (_BYTES_ALONE, 1)
_KINDS: dict[torch.dtype, tuple[int, int]] = {
    torch.bool: (1, 1),
    torch.uint8: (2, 1),
    torch.int8: (3, 1),
    torch.uint16: (4, 1),
    torch.int16: (5, 1),
    torch.uint32: (6, 1),
    torch.int32: (7, 1),
    torch.uint64: (8, 1),
    torch.int64: (9, 1),
    torch.float16: (10, 1),
    torch.bfloat16: (11, 1),
    torch.float32: (12, 1),
    torch.float64: (13, 1),
    torch.complex32: (10, 2),
    torch.complex64: (12, 2),
    torch.complex128: (13, 2),
}
_RESULT_SIZE, _TEXT_SIZE, _HASH_SIZE = 88, 320, len("xxh64:") + 16
_CHUNK = 1 << 22  # elements of which a hash on the device is made at a time: it needs some times their memory
_MASK = (1 << 64) - 1


def _load(path: str) -> Any:
    try:
        library = ctypes.CDLL(path)
        hash, text, view = library.PortaclSummarise, library.PortaclSummariseAsText, library.PortaclSummariseViewAsText
    except (OSError, AttributeError):  # the package without what is compiled
        return None, None, None
    hash.argtypes = text.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32, ctypes.c_void_p]
    view.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    text.restype = view.restype = ctypes.c_size_t
    return hash, text, view


_summarise, _summarise_as_text, _summarise_view = _load(_LIBRARY)


class _Room(threading.local):
    """Where the library puts its text, of each thread."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(_TEXT_SIZE)
        self.address = ctypes.addressof(self._buffer)
        self.content = memoryview(self._buffer).cast("B")


_room = _Room()


def text_of_memory(address: int, count: int, dtype: torch.dtype) -> tuple[str, str]:
    """The hash, and the statistics as JSON, of `count` elements that lie one after the other in host memory."""
    kind, numbers = _KINDS.get(dtype, _BYTES)
    if _summarise_as_text is not None:
        size = _summarise_as_text(address, count * numbers, kind, _room.address)
        if size:
            text = str(_room.content[:size], "ascii")
            return text[:_HASH_SIZE], text[_HASH_SIZE:]
    return hash_of_memory(address, count * dtype.itemsize), text_of(_by_pytorch(address, count, dtype))


def text_of_view(address: int, count: int, dtype: torch.dtype, shape: Any, strides: Any) -> tuple[str, str] | None:
    """The same of the elements of a view, in order of rows; None where the library cannot tell it."""
    kind, numbers = _KINDS.get(dtype, _BYTES)
    if _summarise_view is None or kind == _BYTES_ALONE or count == 0:
        return None
    rank = len(shape)
    dims = (ctypes.c_int64 * (2 * rank))(*shape, *strides)
    size = _summarise_view(address, count * numbers, kind, dtype.itemsize, rank, ctypes.addressof(dims), _room.address)
    if not size:
        return None
    text = str(_room.content[:size], "ascii")
    return text[:_HASH_SIZE], text[_HASH_SIZE:]


def hash_of_memory(address: int, size: int) -> str:
    """The hash alone."""
    if _summarise is None:
        content = (ctypes.c_char * size).from_address(address) if size else b""
        return "blake2b:" + _frames.content_hash(content)
    room = ctypes.create_string_buffer(_RESULT_SIZE)
    _summarise(address, size, _BYTES_ALONE, room)
    return f"xxh64:{int.from_bytes(room.raw[:8], sys.byteorder):016x}"


def text_of(found: Statistics) -> str:
    """Statistics as JSON."""
    return _frames.json_text(found.as_json())


def _tensor_at(address: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    view = torch.empty(0, dtype=dtype)
    if count:
        size = count * dtype.itemsize
        view.set_(torch._C._construct_storage_from_data_pointer(address, torch.device("cpu"), size), 0, (count,), (1,))
    return view


def _by_pytorch(address: int, count: int, dtype: torch.dtype) -> Statistics:
    return by_operators(_tensor_at(address, count, dtype))


def by_operators(flat: torch.Tensor) -> Statistics:
    """The same statistics by PyTorch's operators in float64, for elements that lie on the CPU."""
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    if flat.dtype is torch.uint64:
        numbers = [int(one) for one in flat.tolist()]
        floats = torch.tensor([float(one) for one in numbers], dtype=torch.float64)
        extremes: tuple[Any, Any] = (min(numbers), max(numbers)) if numbers else (None, None)
    else:
        if not flat.dtype.is_floating_point:
            flat = flat.to(torch.int64)
        floats = flat.to(torch.float64)
        finite = flat[torch.isfinite(floats)]
        if finite.dtype.itemsize == 1:
            finite = finite.to(torch.float32)
        extremes = (finite.min().item(), finite.max().item()) if finite.numel() else (None, None)
    found = Statistics(
        floats.numel(),
        nan=int(torch.isnan(floats).sum()),
        inf=int(torch.isinf(floats).sum()),
        zeros=int((floats == 0).sum()),
    )
    found.min, found.max = extremes
    numbers64 = floats[torch.isfinite(floats)]
    if numbers64.numel():
        scale = float(numbers64.abs().max()) or 1.0
        scaled = numbers64 / scale
        found.mean = float(scaled.mean()) * scale
        found.norm = float(torch.linalg.vector_norm(scaled)) * scale
    return found


def on_device(flat: torch.Tensor) -> tuple[str, Statistics]:
    """The hash and the statistics of elements that lie in order on a device whose memory the host cannot read.

    Sums are float32's, in the device's order. Raises what the device raises where it lacks an operator.
    """
    digest = _hash_on_device(flat)
    numbers = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
    count = numbers.numel()
    if count == 0:
        return digest, Statistics(0, nan=0, inf=0, zeros=0)
    if numbers.dtype not in (torch.float32, torch.float64):
        exact = None if numbers.dtype.is_floating_point or numbers.dtype is torch.bool else numbers.to(torch.int64)
        numbers = numbers.to(torch.float32)
    else:
        exact = None

    def measured(values: torch.Tensor) -> list[float]:
        parts = (values.amin(), values.amax(), values.mean(), torch.linalg.vector_norm(values), (values == 0).sum().to(values.dtype))
        return [float(one) for one in torch.stack(parts).cpu().tolist()]

    low, high, mean, norm, zeros = measured(numbers)
    nans = infinities = 0
    if not (math.isfinite(low) and math.isfinite(high)):
        is_nan, is_infinite = torch.isnan(numbers), torch.isinf(numbers)
        nans, infinities = (int(one) for one in torch.stack((is_nan.sum(), is_infinite.sum())).cpu().tolist())
        finite = numbers[~(is_nan | is_infinite)]
        if finite.numel() == 0:
            return digest, Statistics(count, nan=nans, inf=infinities, zeros=0)
        low, high, mean, norm, zeros = measured(finite)
    found = Statistics(count, low, high, mean, norm, nans, infinities, int(zeros))
    if count > 1 << 24:  # more than float32 counts
        found.zeros = int((numbers == 0).sum())
    if exact is not None:
        found.min, found.max = (int(one) for one in torch.stack((exact.amin(), exact.amax())).cpu().tolist())
    return digest, found


def text_on_device(flat: torch.Tensor) -> tuple[str, str]:
    digest, found = on_device(flat)
    return digest, text_of(found)


def _hash_on_device(flat: torch.Tensor) -> str:
    """The sum, modulo 2^64, of the elements' words, each times a number that depends on its place."""
    word = {1: torch.uint8, 2: torch.int16}.get(flat.dtype.itemsize, torch.int32)
    words = flat.view(word)
    total = 0
    for start in range(0, words.numel(), _CHUNK):
        part = words[start : start + _CHUNK].to(torch.int64)
        place = torch.arange(start + 1, start + 1 + part.numel(), device=flat.device, dtype=torch.int64)
        factor = (place * 0x1E3779B97F4A7C15 + 0x2545F4914F6CDD1D) * (place + 0x5851F42D4C957F2D)
        total += int((part * factor).sum())
    return f"sum64:{(total + words.numel() * 0x632BE59BD9B4E019) & _MASK:016x}"
