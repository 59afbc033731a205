"""Folders that msprobe dumped (dump.json, stack.json, construct.json and dump_tensor_data), read as recordings.

Its levels L0 (modules), L1 (functions of PyTorch's API) and mix, its tasks statistics and tensor. A call is what msprobe writes
under one name: "Functional.conv2d.0.forward" is the call "functional::conv2d", "Module.layers.0.Linear.forward.0" is "module::Linear"
of the module layers.0; a backward call has the gradients that it got as arguments, and those that it made as outputs. .npy files
are read without pickle, .pt files with torch.load(weights_only=True): nothing in a folder is run as code.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from . import _values
from ._frames import RecordingError
from ._reading import Call, Recording, StackFrame, Statistics, TensorRecord

_API = re.compile(r"(?P<kind>[A-Za-z_]+)\.(?P<name>.+)\.(?P<number>\d+)\.(?P<phase>forward|backward)")
_MODULE = re.compile(r"(?P<kind>Module|Cell)\.(?P<path>.+)\.(?P<class>[^.]+)\.(?P<phase>forward|backward)\.(?P<number>\d+)")
_PARAMETERS_GRAD = re.compile(r"(?:Module|Cell)\.(?P<path>.+)\.(?P<class>[^.]+)\.parameters_grad(?:\.\d+)?")
_STACK_LINE = re.compile(r"\s*File\s+\"?(?P<file>.*?)\"?,\s*line\s+(?P<line>\d+),\s*in\s+(?P<function>[^,]+)")
_STEP = re.compile(r"step(\d+)$")
_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter", "torch.Parameter", "mindspore.Tensor", "numpy.ndarray")
# Dtypes whose names in MindSpore and NumPy differ from PyTorch's.
_DTYPES = {
    "Float16": "float16", "Float32": "float32", "Float64": "float64", "BFloat16": "bfloat16", "Int8": "int8", "Int16": "int16",
    "Int32": "int32", "Int64": "int64", "UInt8": "uint8", "Bool": "bool", "half": "float16", "float": "float32", "double": "float64",
}  # fmt: skip


def open_folder(path: str) -> Recording:
    """A recording of a folder with dump.json, or of a folder of such folders (step0/rank0): there must be one rank."""
    if os.path.basename(path) == "dump.json":
        path = os.path.dirname(path) or "."
    found = sorted((folder for folder, _, files in os.walk(path) if "dump.json" in files), key=_order)
    if not found:
        raise RecordingError(f"{path}: no recording: there is no dump.json of msprobe in this folder")
    ranks = {os.path.basename(folder) for folder in found}
    if len(found) > 1 and len(ranks) > 1:
        raise RecordingError(f"{path}: dumps of several ranks, {', '.join(sorted(ranks))}: name the folder of one of them")
    return FolderRecording(path, found)


def _order(folder: str) -> list[tuple[int, int | str]]:
    """Sorts step2 before step10."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in re.split(r"(\d+)", folder)]


class FolderRecording(Recording):
    """A dump of msprobe, of one rank and any number of steps."""

    def __init__(self, path: str, folders: list[str]):
        super().__init__(path, {"format": "msprobe"})
        self._folders = folders
        self.end = "msprobe's dump"
        first = _load(folders[0], "dump.json")
        self.meta.update({key: value for key, value in first.items() if key != "data" and isinstance(value, (str, int, float))})

    def __iter__(self) -> Iterator[Call]:
        self.problem = None
        index = 0
        for number, folder in enumerate(self._folders):
            try:
                content = _load(folder, "dump.json")
                stacks, parents = _stacks(folder), _parents(folder)
            except RecordingError as error:
                self.problem = f"{error}; {index} calls were read before it"
                return
            parts = os.path.normpath(folder).split(os.sep)
            step = next((int(found[1]) for found in map(_STEP.match, reversed(parts)) if found), number)
            data = content.get("data")
            if not isinstance(data, dict):
                self.problem = f"{os.path.join(folder, 'dump.json')}: it has no object data; {index} calls were read before it"
                return
            reader = _Folder(folder)
            for name, entry in data.items():
                try:
                    call = reader.call(index, name, entry, step)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    self.problem = f"{reader.path}: the entry {name!r} is malformed ({error}); {index} calls were read before it"
                    return
                call.stack = stacks.get(name, ())
                call.module = call.module or parents.get(name, "")
                index += 1
                yield call


def _load(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except json.JSONDecodeError as error:
        raise RecordingError(f"{path}: no JSON at byte {error.pos}: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"{path}: no JSON: {error}") from None
    if not isinstance(content, dict):
        raise RecordingError(f"{path}: it is no object (byte 0)")
    return content


def _stacks(folder: str) -> dict[str, tuple[StackFrame, ...]]:
    """Reads stack.json: either {name: lines}, or {number: {"data": names, "info": lines}}."""
    if not os.path.exists(os.path.join(folder, "stack.json")):
        return {}
    found: dict[str, tuple[StackFrame, ...]] = {}
    for name, entry in _load(folder, "stack.json").items():
        names, lines = [name], entry
        if isinstance(entry, dict):
            names, lines = entry.get("data", []), entry.get("info", [])
        elif isinstance(entry, list) and len(entry) == 2 and all(isinstance(one, list) for one in entry):
            names, lines = entry
        if not isinstance(lines, list) or not isinstance(names, list):
            continue
        matches = [_STACK_LINE.match(line) for line in lines if isinstance(line, str)]
        stack = tuple(StackFrame(one["file"], int(one["line"]), one["function"].strip()) for one in matches if one is not None)
        for one in names:
            found[str(one)] = stack
    return found


def _parents(folder: str) -> dict[str, str]:
    """Reads construct.json: the path of the module that calls a function, by the function's name; {} if there is no such file."""
    if not os.path.exists(os.path.join(folder, "construct.json")):
        return {}
    found: dict[str, str] = {}
    for name, parent in _load(folder, "construct.json").items():
        parent = parent[0] if isinstance(parent, list) and parent else parent
        module = _MODULE.fullmatch(parent) if isinstance(parent, str) else None
        if module:
            found[name] = _path(module["path"])
    return found


class _Folder:
    """Returns the entries of one dump.json."""

    def __init__(self, folder: str):
        self.path = os.path.join(folder, "dump.json")
        self._contents = os.path.join(folder, "dump_tensor_data")

    def call(self, index: int, name: str, entry: Any, step: int) -> Call:
        if not isinstance(entry, dict):
            raise ValueError("it is no object")
        module = _MODULE.fullmatch(name)
        api = None if module else _API.fullmatch(name)
        gradients = None if module or api else _PARAMETERS_GRAD.fullmatch(name)
        if module:
            call = Call(index, f"module::{module['class']}", [], {}, [], module=_path(module["path"]), phase=module["phase"])
        elif api:
            call = Call(index, f"{api['kind'].lower()}::{api['name']}", [], {}, [], phase=api["phase"])
        elif gradients:
            call = Call(index, "module::parameters_grad", [], {}, [], module=_path(gradients["path"]), phase="backward")
            call.outputs = [self._value(one) for one in _list(list(entry.values()))]
        else:
            call = Call(index, name, [], {}, [])
        call.step = step
        if gradients is None:
            call.args = [self._value(one) for one in _list(entry.get("input_args", entry.get("input", [])))]
            kwargs = entry.get("input_kwargs") or {}
            call.kwargs = {str(key): self._value(one) for key, one in kwargs.items()}
            for key, one in (entry.get("parameters") or {}).items():
                value = self._value(one)
                if isinstance(value, TensorRecord):
                    value.name = str(key)
                call.kwargs[f"parameters.{key}"] = value
            call.outputs = [self._value(one) for one in _list(entry.get("output", []))]
        return call

    def _value(self, entry: Any) -> Any:
        if entry is None or isinstance(entry, (bool, int, float, str)):
            return entry
        if isinstance(entry, list):
            return [self._value(one) for one in entry]
        kind = entry.get("type")
        if kind in _TENSORS or ("dtype" in entry and "shape" in entry):
            return self._tensor(entry, str(kind))
        if kind is None:
            return {str(key): self._value(one) for key, one in entry.items()}
        value = entry.get("value")
        if kind == "torch.dtype":
            return _values.DType(str(value).rpartition(".")[2])
        if kind == "torch.memory_format":
            return _values.MemoryFormat(str(entry.get("format", value)).rpartition(".")[2])
        if kind == "torch.device":
            return _values.Device(str(value))
        if kind in ("float", "int", "bool", "str", "NoneType", "complex"):
            return float(value) if kind == "float" and isinstance(value, (int, str)) else value
        if kind in ("torch.Size", "list", "tuple") and isinstance(value, list):
            return value
        return _values.Opaque(str(kind), str(value)[:200])

    def _tensor(self, entry: dict[str, Any], kind: str) -> TensorRecord:
        dtype = str(entry["dtype"]).rpartition(".")[2]
        dtype = _DTYPES.get(dtype, dtype)
        record = TensorRecord(
            dtype=dtype,
            shape=tuple(int(size) for size in entry.get("shape") or ()),
            strides=None,
            offset=0,
            device="",
            kept="summary",
            type=kind.rpartition(".")[2],
            requires_grad=bool(entry.get("requires_grad", False)),
        )
        digest = entry.get("md5")
        if isinstance(digest, str) and digest:
            record.hash = ("crc32:" if len(digest) <= 8 else "md5:") + digest.lower()
        low, high, mean, norm = (_number(entry.get(name)) for name in ("Min", "Max", "Mean", "Norm"))
        if any(value is not None for value in (low, high, mean, norm)):
            record.statistics = Statistics(record.count, low, high, mean, norm)
        name = entry.get("data_name")
        if isinstance(name, str) and name and name != "-1":
            self._keep(record, name)
        return record

    def _keep(self, record: TensorRecord, name: str) -> None:
        """Makes the record read the file of its elements on demand."""
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise ValueError(f"data_name {name!r} is no name of a file")
        path = os.path.join(self._contents, name)
        if not os.path.exists(path):
            record.problem = f"the file {name} is not in {self._contents}"
            return
        record.kept = "all"
        record._read = lambda: _elements(path, record)


def _path(text: str) -> str:
    """Returns a module's path without "module.", which msprobe prefixes once for each wrapper."""
    while text.startswith("module."):
        text = text[len("module.") :]
    return text


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _number(value: Any) -> float | int | None:
    """Converts a number, also from texts for numbers that JSON lacks; returns None if msprobe could not compute it."""
    if isinstance(value, bool) or value is None:
        return None if value is None else int(value)
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _elements(path: str, record: TensorRecord) -> bytes:
    """Returns the bytes of a tensor in a file, in row-major order. Raises RecordingError if the file is broken or belongs to
    another tensor."""
    content: bytes
    try:
        if path.endswith(".npy"):
            import numpy

            array: Any = numpy.load(path, allow_pickle=False)
            content, shape, dtype = array.tobytes(), tuple(array.shape), str(array.dtype.newbyteorder("=").name)
            if array.dtype.byteorder == ">":
                content = array.astype(array.dtype.newbyteorder("<")).tobytes()
        else:
            import torch

            value = torch.load(path, map_location="cpu", weights_only=True)
            if not isinstance(value, torch.Tensor):
                raise RecordingError(f"{path}: it holds {type(value).__name__} instead of a tensor")
            value = value.detach().resolve_conj().resolve_neg().contiguous()
            shape, dtype = tuple(value.shape), str(value.dtype).rpartition(".")[2]
            content = ctypes.string_at(value.data_ptr(), value.numel() * value.element_size())
    except RecordingError:
        raise
    except Exception as error:  # any exception that a broken file can raise
        raise RecordingError(f"{path}: it cannot be read: {type(error).__name__}: {error}") from None
    if shape != record.shape:
        raise RecordingError(f"{path}: its shape is {list(shape)}, and dump.json says {list(record.shape)}")
    # If NumPy lacks the dtype, msprobe writes a wider one.
    record.dtype = dtype
    return content
