"""PyTorch as the package index has it is built for CUDA, and torch_npu for its CPU build: both register settings of their memory
allocators, some under the same names, which ends the process. Here CUDA's names make room, before torch_npu comes.

The names are in a std::unordered_set<std::string> that libc10.so hands out; it is emptied in place, by the layout of libstdc++.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import re
import sys

# c10::CachingAllocator::AcceleratorAllocatorConfig::getMutableKeys()
_NAMES = "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev"
_MOST_NAMES = 256
_LONGEST_NAME = 128
_WORD = ctypes.sizeof(ctypes.c_void_p)


def make_room() -> str | None:
    """To be called when torch is loaded and torch_npu is not; returns why torch_npu would not load, or None."""
    version = sys.modules.get("torch.version")
    if getattr(version, "cuda", None) is None and getattr(version, "hip", None) is None:
        return None
    try:
        names = getattr(ctypes.CDLL("libc10.so"), _NAMES)
    except (OSError, AttributeError):
        return None  # a PyTorch without such names
    names.restype = ctypes.c_void_p
    address = names()
    if address is not None and empty(address):
        return None
    return (
        f"this PyTorch, {getattr(version, '__version__', 'of an unknown version')}, is not one that torch_npu can be loaded "
        "beside: install PyTorch's CPU build"
    )


def empty(address: int) -> bool:
    """Empties the set of strings at an address; False, and nothing is changed, where it does not look like one."""
    # The buckets, their number, the first node, the number of elements.
    buckets, bucket_count, node, count = (_word(address + i * _WORD) for i in range(4))
    if buckets == 0 or not 0 < bucket_count <= 64 * _MOST_NAMES or count > _MOST_NAMES:
        return False
    for _ in range(count):
        # A node: the next one, then the string: its characters and their number.
        if node == 0:
            return False
        length = _word(node + 2 * _WORD)
        if not 0 < length <= _LONGEST_NAME:
            return False
        if re.fullmatch(rb"[\w:.-]+", ctypes.string_at(_word(node + _WORD), length)) is None:
            return False
        node = _word(node)
    if node != 0:
        return False
    ctypes.memset(buckets, 0, bucket_count * _WORD)
    ctypes.c_size_t.from_address(address + 2 * _WORD).value = 0
    ctypes.c_size_t.from_address(address + 3 * _WORD).value = 0
    return True


def _word(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value
