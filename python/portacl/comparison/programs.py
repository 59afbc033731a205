"""Calls of a C++ program, done again: the same C functions are called, on portacl, with what was recorded.

A recording names functions and values, no signatures: those are read from the headers that are installed with the library.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from portacl.recording import Call, Opaque, Scalar, TensorRecord

from . import exact
from .replay import Elements, NotReplayed, Place, is_overwritten, results, widened

_ACL = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9, "uint64": 10, "float64": 11,
    "bool": 12, "complex64": 16, "complex128": 17, "bfloat16": 27, "complex32": 33, "float8_e5m2": 35, "float8_e4m3fn": 36, "float8_e8m0fnu": 37,
}  # fmt: skip
_OF_ACL = {number: name for name, number in _ACL.items()}
_FORMAT_ND = 2
_NAME = re.compile(r"aclnn[A-Z]\w*", re.ASCII)
_PHASE_1 = re.compile(r"aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\(([^)]*)\);")
_NUMBERS: dict[str, Any] = {
    "int64_t": ctypes.c_int64,
    "int32_t": ctypes.c_int32,
    "int8_t": ctypes.c_int8,
    "uint64_t": ctypes.c_uint64,
    "int": ctypes.c_int,
    "aclDataType": ctypes.c_int,
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
# Their results are drawn: in float64 they are other numbers.
_DRAWS = re.compile(r"Dropout|Rand|Normal(?!iz)|Uniform|Bernoulli|Multinomial|Exponential", re.ASCII)
# Parameters that recordings of earlier versions do not have, as portacl does not look at them: nothing is passed instead.
_NOT_LOOKED_AT = re.compile(
    r"(aclnnSort\.stable|aclnnTopk(V2)?\.(sorted|stable)|aclnnUnique2?\.sorted"
    r"|aclnnFlashAttentionScore(Grad)?V4\.(qStartIdxOptional|kvStartIdxOptional|outDtype)"
    r"|aclnnFusedInferAttentionScore(V[234])?\.(innerPrecise|antiquantMode|keyAntiquantMode|valueAntiquantMode|queryQuantMode|actualSharedPrefixLen))",
    re.ASCII,
)
# What CANN puts before a message: [PID: 7] 2026-11-26-21:40:23.906.361 Inner_Error(EH9999):
_ENVELOPE = re.compile(r"^\w*\[PID: \d+\] \S+ [\w ]+\(\w+\):\s*", re.ASCII)
_MOST_BYTES = 1 << 36  # of a tensor that a recording may ask for


class Parameter(NamedTuple):
    type: str  # C's, without const: "aclTensor*", "int64_t"
    name: str


class Function(NamedTuple):
    name: str
    parameters: tuple[Parameter, ...]


def is_of_program(meta: Mapping[str, Any]) -> bool:
    """Whether a recording holds the C functions that a program called."""
    return meta.get("source") == "aclnn"


@functools.lru_cache(maxsize=1)
def functions() -> dict[str, Function]:
    """Every operator's C function that is declared in the installed headers."""
    import portacl

    found = {}
    for header in sorted((portacl.include_dir() / "aclnnop").glob("aclnn_*.h")):
        text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
        for match in _PHASE_1.finditer(text):
            parameters = [_parameter(one) for one in match[2].split(",")[:-2]]  # but for workspaceSize and executor
            found[match[1]] = Function(match[1], tuple(parameters))
    return found


def _parameter(text: str) -> Parameter:
    found = re.fullmatch(r"\s*(?:const\s+)?(\w+\s*\**)\s*(\w+)\s*(\[\])?", text)
    if found is None:
        raise ValueError(f"{text.strip()!r} in a header is no parameter")
    return Parameter(found[1].replace(" ", "") + ("*" if found[3] else ""), found[2])


class _Library:
    """The library's functions, with a device and a stream."""

    def __init__(self) -> None:
        import portacl

        folder = pathlib.Path(portacl.library_dir())
        self.runtime = ctypes.CDLL(str(folder / "libascendcl.so"))
        self.base = ctypes.CDLL(str(folder / "libnnopbase.so"))
        self.operators = ctypes.CDLL(str(folder / "libopapi.so"))
        for kind in ("Tensor", "TensorList", "Scalar", "ScalarList", "IntArray", "FloatArray", "BoolArray"):
            name = f"aclCreate{kind}"
            getattr(self.base, name).restype = ctypes.c_void_p
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self._check("aclrtSetDevice", self.runtime.aclrtSetDevice(0))
        self.stream = ctypes.c_void_p()
        self._check("aclrtCreateStream", self.runtime.aclrtCreateStream(ctypes.byref(self.stream)))

    def _check(self, name: str, status: int) -> None:
        if status != 0:
            raise NotReplayed(f"{name} returns {status}: {self.message()}")

    def message(self) -> str:
        text = self.runtime.aclGetRecentErrMsg()
        return "" if text is None else _ENVELOPE.sub("", text.decode("utf-8", "replace").strip().rpartition("\n")[2])[:300]

    def memory(self, size: int) -> ctypes.c_void_p:
        address = ctypes.c_void_p()
        self._check("aclrtMalloc", self.runtime.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(max(size, 1)), 0))
        return address

    def run(self, function: Function, arguments: list[Any]) -> str:
        """Both phases, waited for: an empty text, or why it failed."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        phase_1 = getattr(self.operators, function.name + "GetWorkspaceSize")
        status = phase_1(*arguments, ctypes.byref(size), ctypes.byref(executor))
        if status != 0:
            return f"{function.name}GetWorkspaceSize returns {status}: {self.message()}"
        workspace = self.memory(size.value) if size.value else ctypes.c_void_p()
        status = getattr(self.operators, function.name)(workspace, size, executor, self.stream)
        status = status or self.runtime.aclrtSynchronizeStream(self.stream)
        text = "" if status == 0 else f"{function.name} returns {status}: {self.message()}"
        if workspace:
            self.runtime.aclrtFree(workspace)
        return text


class _Tensor:
    """A tensor of the library with the elements, shape and strides of one of PyTorch's."""

    def __init__(self, library: _Library, record: TensorRecord, tensor: torch.Tensor):
        self._library, self._tensor = library, tensor
        self._memory = tensor.untyped_storage()
        extent = self._memory.nbytes() // tensor.element_size()
        storage = list(record.storage_shape or ())
        count = 1
        for size in storage:
            count *= size
        if not extent <= count * bool(storage) <= _MOST_BYTES or min(storage, default=0) < 0:
            storage = list(record.shape) if record.storage_shape is None and tensor.is_contiguous() else [extent]
            count = extent
        self._size = max(self._memory.nbytes(), count * tensor.element_size())
        if self._size > _MOST_BYTES:
            raise NotReplayed(f"a tensor has {self._size} bytes")
        self.address = library.memory(self._size)
        if self._memory.nbytes():
            ctypes.memmove(self.address, self._memory.data_ptr(), self._memory.nbytes())
        rank, shape = tensor.dim(), list(tensor.shape)
        dims, strides, stored = (_int64s(one) for one in (shape, list(tensor.stride()), storage))
        made = library.base.aclCreateTensor(
            dims, ctypes.c_uint64(rank), _ACL[str(tensor.dtype).rpartition(".")[2]], strides, ctypes.c_int64(tensor.storage_offset()),
            _FORMAT_ND if record.format is None else ctypes.c_int(record.format), stored, ctypes.c_uint64(len(storage)), self.address,
        )  # fmt: skip
        if not made:
            raise NotReplayed(f"aclCreateTensor takes no tensor like it: {library.message()}")
        self.handle = ctypes.c_void_p(made)

    def result(self) -> torch.Tensor:
        """What lies there now, in the shape that it has now."""
        memory = torch.empty(self._memory.nbytes(), dtype=torch.uint8)
        if memory.numel():
            ctypes.memmove(memory.data_ptr(), self.address, memory.numel())
        flat, offset = memory.view(self._tensor.dtype), self._tensor.storage_offset()
        made = flat.as_strided(self._tensor.shape, self._tensor.stride(), offset)
        dims, rank = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        self._library.base.aclGetViewShape(self.handle, ctypes.byref(dims), ctypes.byref(rank))
        shape = [dims[k] for k in range(rank.value)]
        if shape != list(made.shape):  # phase 2 said how many there are
            count = 1
            for size in shape:
                count *= size
            made = flat.as_strided((count,), (1,), offset).reshape(shape)
        return made.clone()

    def free(self) -> None:
        self._library.runtime.aclrtFree(self.address)


def _int64s(values: list[int]) -> Any:
    return (ctypes.c_int64 * max(1, len(values)))(*values)


class Replay(Elements):
    """Replays the calls of one recording of a C++ program."""

    def __init__(self) -> None:
        super().__init__()
        self._library = _Library()

    def operator(self, call: Call) -> Function:
        """What it calls. Raises NotReplayed: a recording names no other function of any library."""
        found = functions().get(call.name) if _NAME.fullmatch(call.name) else None
        if found is None:
            raise NotReplayed(f"portacl has no {call.name}")
        return found

    def is_view(self, of: Function) -> bool:
        return False

    def draws(self, call: Call, of: Function) -> bool:
        return False  # seed and offset are among the arguments

    def fell_back(self) -> bool:
        return False

    def check(self, call: Call) -> Function:
        """Raises NotReplayed for what cannot be done again whatever its inputs hold."""
        if call.problem is not None:
            raise NotReplayed(f"the recorded call is not whole: {call.problem}")
        if call.overlap is not None:
            raise NotReplayed(f"{call.overlap} share memory: what they hold depends on which element was written first")
        function = self.operator(call)
        for record in (record for _, record in results(call)):
            if record.problem:
                raise NotReplayed(f"a result is not whole: {record.problem}")
        self.check_inputs(call)
        return function

    def on_npu(self, call: Call, values: Mapping[Place, torch.Tensor]) -> list[tuple[Place, Any]]:
        """The results on portacl, one for each of results(call); `values` replaces inputs. Raises NotReplayed."""
        found = self._run(call, values, is_wide=False)
        if isinstance(found, str):
            raise NotReplayed(f"portacl does not take it: {found}")
        return found

    def in_float64(self, call: Call, of: Function, values: Mapping[Place, torch.Tensor]) -> list[tuple[Place, Any]]:
        """The results in float64: by a formula that is known here, else by the same function on DOUBLE. Raises exact.NoMeaning."""
        if _DRAWS.search(call.name):
            raise exact.NoMeaning("random numbers have none")
        formula = _FORMULAS.get(call.name.replace("aclnnInplace", "aclnn"))
        if formula is not None:
            return self._by_formula(call, values, formula)
        try:
            found = self._run(call, values, is_wide=True)
        except NotReplayed as reason:
            raise exact.NoMeaning(f"portacl does not take it on DOUBLE: {reason}") from None
        if isinstance(found, str):
            raise exact.NoMeaning(f"no formula of {call.name} is known here, and it does not take DOUBLE ({found})")
        return found

    def _by_formula(self, call: Call, values: Mapping[Place, torch.Tensor], formula: Callable[..., torch.Tensor]) -> list[tuple[Place, Any]]:
        given: dict[str, Any] = {}
        for name, value in call.kwargs.items():
            place = ("kwargs", name)
            if isinstance(value, TensorRecord):
                given[name.removesuffix("Ref")] = self._input(call, place, value, values).to(torch.float64)
            else:
                given[name] = value.value if isinstance(value, Scalar) else value
        try:
            made: Any = formula(given)
        except Exception as error:
            raise exact.NoMeaning(f"its formula does not take it: {type(error).__name__}: {error}"[:300]) from None
        places = results(call)
        return [(places[0][0], made), *((place, None) for place, _ in places[1:])]

    def _input(self, call: Call, place: Place, record: TensorRecord, values: Mapping[Place, torch.Tensor]) -> torch.Tensor:
        if place in values:
            return values[place].reshape(record.shape)
        if is_overwritten(call, place, record):
            extent = 1 + sum((size - 1) * step for size, step in zip(record.shape, record.strides or ()) if step > 0)
            dtype = getattr(torch, record.dtype, None)
            if not isinstance(dtype, torch.dtype) or extent * dtype.itemsize > _MOST_BYTES:
                raise NotReplayed(f"a {record.dtype} of shape {list(record.shape)} cannot be made here")
            if record.count and record.strides and all(step >= 0 for step in record.strides):
                return torch.zeros(extent, dtype=dtype).as_strided(record.shape, record.strides)
            return torch.zeros(record.shape, dtype=dtype)
        made = self.elements(record)
        if made is None:
            raise NotReplayed("an input was not kept")
        return made

    def _run(self, call: Call, values: Mapping[Place, torch.Tensor], is_wide: bool) -> list[tuple[Place, Any]] | str:
        """What the function gives; or why it takes none of it."""
        function = self.check(call)
        names = [one.name for one in function.parameters]
        unknown = [name for name in call.kwargs if name not in names]
        missing = [name for name in names if name not in call.kwargs]
        if unknown or missing or call.args:
            raise NotReplayed(f"{call.name} has the parameters {', '.join(names)}, not {', '.join(map(str, call.kwargs))}")
        made = _Arguments(self._library)

        def tensor(place: Place, record: TensorRecord) -> _Tensor:
            taken = self._input(call, place, record, values)
            return made.tensor(place, record, taken.to(widened(taken.dtype)) if is_wide else taken)

        try:
            arguments = [self._argument(function, one, call.kwargs[one.name], made, tensor, is_wide) for one in function.parameters]
            problem = self._library.run(function, arguments)
            if problem:
                return problem
            found: list[tuple[Place, Any]] = []
            for place, _ in results(call):
                at = made.tensors.get(place)
                found.append((place, None if at is None else at.result()))
            return found
        except (TypeError, ValueError, OverflowError, RuntimeError, KeyError) as error:
            raise NotReplayed(f"its arguments cannot be made: {type(error).__name__}: {error}"[:300]) from None
        finally:
            made.free()

    def _argument(
        self, function: Function, parameter: Parameter, value: Any, made: _Arguments, tensor: Callable[[Place, TensorRecord], _Tensor], is_wide: bool
    ) -> Any:
        place: Place = ("kwargs", parameter.name)
        if isinstance(value, Opaque):
            if not _NOT_LOOKED_AT.fullmatch(f"{function.name}.{parameter.name}"):
                raise NotReplayed(f"the value of {parameter.name} is not recorded")
            value = None if parameter.type.endswith("*") else 0
        if parameter.type in _NUMBERS:
            if parameter.type == "aclDataType" and is_wide and isinstance(value, int) and value in _OF_ACL:
                value = _ACL[str(widened(getattr(torch, _OF_ACL[value]))).rpartition(".")[2]]
            kind = _NUMBERS[parameter.type]
            made_number = kind(value)
            if parameter.type not in ("float", "double") and int(made_number.value) != int(value):
                raise NotReplayed(f"{parameter.name} is {value}, which is no {parameter.type}")
            return made_number
        if value is None:
            return None
        if parameter.type == "aclTensor*" and isinstance(value, TensorRecord):
            return tensor(place, value).handle
        if parameter.type == "aclTensorList*" and isinstance(value, list):
            return made.list_of([None if one is None else tensor((*place, k), one).handle for k, one in enumerate(value)])
        if parameter.type == "aclScalar*" and isinstance(value, Scalar):
            return made.scalar(value)
        if parameter.type == "aclScalarList*" and isinstance(value, list):
            return made.scalars(value)
        if parameter.type in _ARRAYS and isinstance(value, list):
            return made.array(parameter.type, value)
        if parameter.type == "char*" and isinstance(value, str):
            return ctypes.c_char_p(value.encode("utf-8"))
        raise NotReplayed(f"{parameter.name} is a {type(value).__name__}, which is no {parameter.type}")


_ARRAYS: dict[str, tuple[str, Any, str]] = {
    "aclIntArray*": ("aclCreateIntArray", ctypes.c_int64, "aclDestroyIntArray"),
    "aclFloatArray*": ("aclCreateFloatArray", ctypes.c_float, "aclDestroyFloatArray"),
    "aclBoolArray*": ("aclCreateBoolArray", ctypes.c_bool, "aclDestroyBoolArray"),
}


class _Arguments:
    """The objects of one call, which are freed together."""

    def __init__(self, library: _Library):
        self._library = library
        self.tensors: dict[Place, _Tensor] = {}
        self._in_lists: set[Any] = set()
        self._others: list[tuple[str, Any]] = []

    def tensor(self, place: Place, record: TensorRecord, value: torch.Tensor) -> _Tensor:
        self.tensors[place] = made = _Tensor(self._library, record, value)
        return made

    def _other(self, handle: Any, destroy: str) -> Any:
        if not handle:
            raise NotReplayed(f"an argument cannot be made: {self._library.message()}")
        self._others.append((destroy, ctypes.c_void_p(handle)))
        return self._others[-1][1]

    def list_of(self, handles: list[Any]) -> Any:
        self._in_lists.update(one.value for one in handles if one is not None)
        values = (ctypes.c_void_p * max(1, len(handles)))(*[None if one is None else one.value for one in handles])
        return self._other(self._library.base.aclCreateTensorList(values, ctypes.c_uint64(len(handles))), "aclDestroyTensorList")

    def scalar(self, value: Scalar) -> Any:
        dtype = getattr(torch, value.dtype, None)
        if not isinstance(dtype, torch.dtype) or value.dtype not in _ACL:
            raise NotReplayed(f"a scalar is a {value.dtype}")
        memory = torch.tensor([value.value], dtype=dtype)
        return self._other(self._library.base.aclCreateScalar(ctypes.c_void_p(memory.data_ptr()), _ACL[value.dtype]), "aclDestroyScalar")

    def scalars(self, values: list[Any]) -> Any:
        if not all(isinstance(one, Scalar) for one in values):
            raise NotReplayed("an entry of a list of scalars is none")
        before = len(self._others)
        handles = [self.scalar(one).value for one in values]
        content = (ctypes.c_void_p * max(1, len(handles)))(*handles)
        made = self._other(self._library.base.aclCreateScalarList(content, ctypes.c_uint64(len(handles))), "aclDestroyScalarList")
        del self._others[before:-1]  # the list owns them
        return made

    def array(self, kind: str, values: list[Any]) -> Any:
        create, element, destroy = _ARRAYS[kind]
        content = (element * max(1, len(values)))(*values)
        return self._other(getattr(self._library.base, create)(content, ctypes.c_uint64(len(values))), destroy)

    def free(self) -> None:
        for destroy, handle in self._others:
            getattr(self._library.base, destroy)(handle)
        for one in self.tensors.values():
            if one.handle.value not in self._in_lists:
                self._library.base.aclDestroyTensor(one.handle)
            one.free()


_Given = dict[str, Any]


def _product(given: _Given) -> torch.Tensor:
    return torch.matmul(given["self"], given["mat2"])


def _with_product(first: str, second: str, sums: bool = False) -> Callable[[_Given], torch.Tensor]:
    def formula(given: _Given) -> torch.Tensor:
        product = torch.matmul(given[first], given[second])
        scaled = given["alpha"] * (product.sum(0) if sums else product)
        return scaled if given["beta"] == 0 else given["beta"] * given["self"] + scaled

    return formula


def _rms_norm(given: _Given) -> torch.Tensor:
    x, gamma = given["x"], given["gamma"]
    dims = tuple(range(x.dim() - gamma.dim(), x.dim()))
    return x * (x.square().mean(dims, keepdim=True) + given["epsilon"]).rsqrt() * gamma


def _layer_norm(given: _Given) -> torch.Tensor:
    return torch.nn.functional.layer_norm(given["input"], given["normalizedShape"], given["weightOptional"], given["biasOptional"], given["eps"])


# Of functions that do not take DOUBLE: what their first result is in float64.
_FORMULAS: dict[str, Callable[[_Given], torch.Tensor]] = {
    "aclnnMatmul": _product,
    "aclnnMm": _product,
    "aclnnBatchMatMul": _product,
    "aclnnAddmm": _with_product("mat1", "mat2"),
    "aclnnBaddbmm": _with_product("batch1", "batch2"),
    "aclnnAddbmm": _with_product("batch1", "batch2", sums=True),
    "aclnnLayerNorm": _layer_norm,
    "aclnnRmsNorm": _rms_norm,
    "aclnnSilu": lambda given: torch.nn.functional.silu(given["self"]),
    "aclnnGelu": lambda given: torch.nn.functional.gelu(given["self"]),
}
