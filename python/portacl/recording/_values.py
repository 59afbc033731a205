"""What the arguments of an operator may be besides tensors, without PyTorch, and how JSON holds each of them.

JSON's own numbers, texts, true, false, null and lists stand for themselves; everything else is an object with one key that names it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Callable
from typing import Any

# Bytes of an element, by the names of PyTorch's dtypes.
ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1,
    "qint8": 1, "quint8": 1, "qint32": 4,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class DType:
    """torch.NAME"""

    name: str

    def torch(self) -> Any:
        return _attribute_of_torch(self.name, "dtype")


@dataclasses.dataclass(frozen=True)
class Device:
    """torch.device(name), such as "npu:0"."""

    name: str


@dataclasses.dataclass(frozen=True)
class Layout:
    """torch.NAME, such as "strided"."""

    name: str

    def torch(self) -> Any:
        return _attribute_of_torch(self.name, "layout")


@dataclasses.dataclass(frozen=True)
class MemoryFormat:
    """torch.NAME, such as "channels_last"."""

    name: str

    def torch(self) -> Any:
        return _attribute_of_torch(self.name, "memory_format")


@dataclasses.dataclass(frozen=True)
class Generator:
    """A random generator as it was before the call. `state` is what its get_state() returned, `offset` an NPU's or GPU's alone."""

    device: str
    seed: int
    offset: int | None = None
    state: bytes | None = None
    is_default: bool = True


@dataclasses.dataclass(frozen=True)
class Scalar:
    """An aclScalar: a number of a dtype, by PyTorch's name."""

    dtype: str
    value: Any


@dataclasses.dataclass(frozen=True)
class Opaque:
    """An argument that is none of the types above: its class and the start of its text."""

    type: str
    text: str


def _attribute_of_torch(name: str, kind: str) -> Any:
    """Returns torch.NAME if it is of the required class: a recording names no other part of PyTorch."""
    import torch

    value = getattr(torch, name, None) if name.isidentifier() else None
    if not isinstance(value, getattr(torch, kind)):
        raise ValueError(f"this PyTorch has no {kind} {name!r}")
    return value


_NAMED: dict[str, Callable[[str], Any]] = {"dtype": DType, "device": Device, "layout": Layout, "memory_format": MemoryFormat}
_KEYS = {DType: "dtype", Device: "device", Layout: "layout", MemoryFormat: "memory_format"}


def encode(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Returns JSON for a value; `tensor` converts values that are unknown here, TensorRecords, to JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, list):
        return [encode(one, tensor) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(one, tensor) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, tensor), encode(one, tensor)] for key, one in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    key = _KEYS.get(type(value))
    if key is not None:
        return {key: value.name}
    if isinstance(value, Generator):
        state = None if value.state is None else base64.b64encode(value.state).decode("ascii")
        return {"generator": [value.device, value.seed, value.offset, state, value.is_default]}
    if isinstance(value, Scalar):
        return {"scalar": [value.dtype, encode(value.value, tensor)]}
    if isinstance(value, Opaque):
        return {"opaque": [value.type, value.text]}
    return tensor(value)


def decode(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Returns the value that JSON represents; raises ValueError if there is none."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [decode(one, tensor) for one in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("an argument is no value that a recording can hold")
    ((key, content),) = value.items()
    try:
        if key == "tensor":
            return tensor(content)
        if key in _NAMED:
            return _NAMED[key](_text(content))
        if key == "float":
            return float(_text(content))
        if key == "complex":
            real, imaginary = content
            return complex(float(real), float(imaginary))
        if key == "tuple":
            return tuple(decode(one, tensor) for one in content)
        if key == "dict":
            return {decode(one, tensor): decode(other, tensor) for one, other in content}
        if key == "bytes":
            return base64.b64decode(_text(content), validate=True)
        if key == "generator":
            device, seed, offset, state, is_default = content
            state = None if state is None else base64.b64decode(_text(state), validate=True)
            return Generator(_text(device), int(seed), None if offset is None else int(offset), state, bool(is_default))
        if key == "scalar":
            dtype, number = content
            found = decode(number, tensor)
            if not isinstance(found, (bool, int, float, complex)):
                raise ValueError("a scalar is no number")
            return Scalar(_text(dtype), found)
        if key == "opaque":
            kind, text = content
            return Opaque(_text(kind), _text(text))
    except (TypeError, KeyError) as error:
        raise ValueError(f"an argument of kind {key!r} is malformed ({error})") from None
    raise ValueError(f"an argument is of the unknown kind {key!r}")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a text")
    return value


def tensors_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Returns every TensorRecord in a decoded value, in order, with its place: ("args", 0, 2) is the third in a list that is the
    first argument."""
    found: list[tuple[tuple[Any, ...], Any]] = []
    if isinstance(value, (list, tuple)):
        for place, one in enumerate(value):
            found += tensors_in(one, (*path, place))
    elif isinstance(value, dict):
        for key, one in value.items():
            found += tensors_in(one, (*path, key))
    elif hasattr(value, "strides") and hasattr(value, "kept"):
        found.append((path, value))
    return found
