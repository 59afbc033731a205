"""Replays the calls of a recording: on portacl with the recorded inputs, and on the CPU in float64.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import collections
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from portacl import recording
from portacl.recording import Call, TensorRecord

from . import exact

Place = tuple[Any, ...]
Key = tuple[str, str, int]


_MOST_READ = 256 << 20  # bytes of tensors that stay cached


class NotReplayed(Exception):
    """The reason why a call is not replayed; the text is for the report."""


# Operators whose results are uninitialised memory.
_UNWRITTEN = frozenset(
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize resize_ resize_as resize_as_ _resize_output".split()
)
# The namespaces whose operators are replayed. A recording is somebody's file, and must not name other code.
REPLAYED = ("aten", "prims", "npu", "torchvision")
_REASONS = {
    "c10d": "it communicates with other processes",
    "_c10d_functional": "it communicates with other processes",
    "profiler": "it computes nothing",
    "debugprims": "it computes nothing",
}
# Operators that are not replayed, by base name: those that access files, the terminal, or memory by addresses in the arguments.
_REFUSED = {
    **dict.fromkeys(("from_file", "save", "_print"), "it reaches beyond its arguments"),
    **dict.fromkeys(
        "_reinterpret_tensor _nested_view_from_buffer _nested_view_from_buffer_copy _nested_view_from_jagged _nested_view_from_jagged_copy".split(),
        "it takes places in memory as numbers",
    ),
    **dict.fromkeys(
        "set_data _resize_output_ sparse_resize_ sparse_resize_and_clear_ resize_as_sparse_".split(),
        "it gives a tensor other memory",
    ),
}
_NAME = re.compile(r"(?P<namespace>\w+)::(?P<base>\w+)(?:\.(?P<overload>\w+))?", re.ASCII)
# Results without a meaning of their own: seed and offset of dropout, which are not written if nothing is dropped, and the indices
# of maxima, which each device keeps in its own form for its own gradient.
_WITHOUT_MEANING = {
    "aten::max_pool2d_with_indices": (1,),
    "npu::npu_fusion_attention": (4, 5, 6),
    "npu::npu_fusion_attention_v2": (4, 5, 6),
    "npu::npu_fusion_attention_v3": (4, 5),
}
# Arguments that ask for float32 with 16-bit inputs; they have no meaning in float64.
_WIDENING = {"aten::_softmax": 2, "aten::_log_softmax": 2}


def operator(name: str) -> torch._ops.OpOverload:
    """Raises NotReplayed if this PyTorch has no operator of that name, or a recording may not run it."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise NotReplayed(f"{name!r} is no name of an operator")
    namespace, base, overload = parts["namespace"], parts["base"], parts["overload"] or "default"
    if namespace in _REASONS:
        raise NotReplayed(_REASONS[namespace])
    if namespace not in REPLAYED:
        raise NotReplayed(f"operators of {namespace} are not replayed: those of {', '.join(REPLAYED)} are")
    if base in _REFUSED:
        raise NotReplayed(f"{namespace}::{base} is not replayed: {_REFUSED[base]}")
    qualified = f"{namespace}::{base}" if overload == "default" else f"{namespace}::{base}.{overload}"
    try:
        found = getattr(getattr(getattr(torch.ops, namespace), base), overload) if torch._C._dispatch_has_kernel(qualified) else None
    except (AttributeError, RuntimeError):
        found = None
    if found is None:
        raise NotReplayed(f"PyTorch {torch.__version__} here has no operator {name}")
    if not isinstance(found, torch._ops.OpOverload):
        raise NotReplayed(f"{name} names no overload of an operator")
    return found


def key(record: TensorRecord) -> Key | None:
    """Returns the key by which a value is found again: its dtype and its elements, by the file's name for them or by their hash.
    A matrix and its transpose may be the same elements of the file, in two orders."""
    name = record.key or record.hash
    if name is not None and record.order:
        name += f":{record.order}:{record.shape}"
    return None if name is None else (record.dtype, name, record.count)


def name_of(call: Call) -> str:
    """Returns the name as torch.ops has it, without the overload named default."""
    return call.name.removesuffix(".default")


def is_of_program(call: Call) -> bool:
    """Whether it is a C function, which a C++ program called."""
    return "::" not in call.name


def is_overwritten(call: Call, place: Place, record: TensorRecord) -> bool:
    """Whether an argument is overwritten without being read; its content is not recorded then. For a C function also one that it
    does not touch."""
    is_unread = record.hash is None and record.kept == "summary" and not record.problem
    return is_unread and (is_of_program(call) or (place == ("args", 0) and place in call.written))


def results(call: Call) -> list[tuple[Place, TensorRecord]]:
    """Returns call.results() without those that have no meaning."""
    without = _WITHOUT_MEANING.get(name_of(call), ())
    return [(place, record) for place, record in call.results() if not (place[0] == "outputs" and place[1] in without)]


def is_unwritten(call: Call) -> bool:
    """Whether its result is uninitialised memory."""
    return call.name.partition("::")[2].partition(".")[0] in _UNWRITTEN


def is_view(of: torch._ops.OpOverload) -> bool:
    """Whether it only returns views of its arguments, and computes nothing."""
    returns = of._schema.returns
    return bool(returns) and all(one.alias_info is not None and not one.alias_info.is_write for one in returns)


def draws(call: Call, of: torch._ops.OpOverload) -> bool:
    return call.random is not None or torch.Tag.nondeterministic_seeded in of.tags


def text(record: TensorRecord) -> str:
    """Describes a tensor in a line: float32[4, 8] strides (1, 4)."""
    line = f"{record.dtype}{list(record.shape)}"
    dense: list[int] = []
    step = 1
    for length in reversed(record.shape):
        dense.insert(0, step)
        step *= max(1, length)
    if record.strides is not None and tuple(record.strides) != tuple(dense) and record.count > 1:
        line += f" strides {record.strides}"
    return line + (f" on {record.device}" if record.device == "cpu" else "") + (f" {record.name}" if record.name else "")


def built(value: Any, place: Place, tensor: Callable[[Place, TensorRecord], Any], other: Callable[[Place, Any], Any]) -> Any:
    """A recorded argument as PyTorch takes it."""
    if isinstance(value, TensorRecord):
        return tensor(place, value)
    if isinstance(value, (list, tuple)):
        made = [built(one, (*place, k), tensor, other) for k, one in enumerate(value)]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, dict):
        return {name: built(one, (*place, name), tensor, other) for name, one in value.items()}
    return other(place, value)


def check_bounds(of: torch._ops.OpOverload, arguments: Mapping[str, Any]) -> None:
    """Raises NotReplayed if a view by sizes, strides and an offset exceeds the recorded memory."""
    names = [one.name for one in of._schema.arguments]
    if "storage_offset" not in names:
        return
    given = {**dict(zip(names, arguments["args"])), **arguments["kwargs"]}
    memory = next((given[name] for name in ("source", "self", "a") if isinstance(given.get(name), torch.Tensor)), None)
    if memory is None:
        raise NotReplayed("it views memory that was not recorded")
    size, stride, offset = list(given.get("size") or ()), list(given.get("stride") or ()), given.get("storage_offset")
    offset = memory.storage_offset() if offset is None else offset
    if not stride:
        stride = [math.prod(size[k + 1 :]) for k in range(len(size))]
    if len(size) != len(stride) or any(type(one) is not int or one < 0 for one in (*size, *stride, offset)):
        raise NotReplayed(f"size {size}, strides {stride} and offset {offset} are no view")
    count = memory.untyped_storage().nbytes() // memory.element_size()
    last = offset + sum((length - 1) * step for length, step in zip(size, stride))
    if 0 not in size and last >= count:
        raise NotReplayed(f"it views element {last} of memory of which {count} elements were recorded")


def found_at(arguments: Mapping[str, Any], place: Place) -> Any:
    at: Any = arguments
    for step in place:
        at = at[step]
    return at


class Elements:
    """Reads the tensors of one recording."""

    def __init__(self) -> None:
        self._read: collections.OrderedDict[Any, torch.Tensor] = collections.OrderedDict()
        self._read_bytes = 0

    def elements(self, record: TensorRecord) -> torch.Tensor | None:
        """Returns record.tensor(), read once for consecutive calls; nobody may write into it."""
        if record.kept != "all" or record.key is None:
            unread: torch.Tensor | None = record.tensor()
            return unread
        name = (record.key, record.dtype, record.shape, record.strides, record.order)
        found = self._read.get(name)
        if found is None:
            found = record.tensor()
            if found is None:
                return None
            self._read[name] = found
            self._read_bytes += found.untyped_storage().nbytes()
            while self._read_bytes > _MOST_READ and len(self._read) > 1:
                self._read_bytes -= self._read.popitem(last=False)[1].untyped_storage().nbytes()
        else:
            self._read.move_to_end(name)
        return found

    @staticmethod
    def check_inputs(call: Call) -> None:
        """Raises NotReplayed if a tensor was not recorded whole."""
        for place, record in call.inputs():
            if is_overwritten(call, place, record):
                continue
            if record.problem:
                raise NotReplayed(f"an input is not whole: {record.problem}")
            if record.kept != "all":
                raise NotReplayed("its inputs were recorded as " + {"sample": "samples", "summary": "summaries"}.get(record.kept, record.kept))


class Replay(Elements):
    """Replays the calls of one recording of PyTorch's operators. `home` is the type of the device that was recorded, such as "npu" or "cuda"."""

    def __init__(self, home: str, on_portacl: bool):
        super().__init__()
        import torch_npu  # type: ignore[import-untyped]  # noqa: F401 # registers device npu

        import portacl.torch

        portacl.torch.install()
        torch.npu.init()  # type: ignore[attr-defined]
        self.home = home
        self.on_portacl = on_portacl  # whether the recording comes from portacl, whose random numbers are known
        installed: Any = portacl.torch._installed
        self._fallbacks = [calls for calls in installed._calls if not calls.own]
        self._fallback_count = self._count()

    def operator(self, call: Call) -> torch._ops.OpOverload:
        """Returns the function that the call names. Raises NotReplayed."""
        return operator(call.name)

    def is_view(self, of: torch._ops.OpOverload) -> bool:
        return is_view(of)

    def draws(self, call: Call, of: torch._ops.OpOverload) -> bool:
        return draws(call, of)

    def _count(self) -> int:
        return sum([calls.count for calls in self._fallbacks])

    def fell_back(self) -> bool:
        """Whether PyTorch's CPU kernels computed anything since the last query."""
        before, self._fallback_count = self._fallback_count, self._count()
        return before != self._fallback_count

    def check(self, call: Call) -> torch._ops.OpOverload:
        """Raises NotReplayed for a call that cannot be replayed, whatever its inputs hold."""
        if call.problem is not None:
            raise NotReplayed(f"the recorded call is not whole: {call.problem}")
        if call.error is not None:
            raise NotReplayed(f"the recorded call raised an error: {call.error}")
        of = operator(call.name)
        if is_unwritten(call):
            raise NotReplayed("its result is memory that nobody has written yet")
        tensors = [record for _, record in call.inputs()] + [record for _, record in results(call)]
        if not results(call) and not call.outputs:
            raise NotReplayed("it gives no result")
        if self.home != "cpu" and tensors and all(record.device.partition(":")[0] == "cpu" for record in tensors):
            raise NotReplayed("it ran on the host: no tensor of the device takes part")
        self.check_inputs(call)
        self._check_generator(call, of)
        return of

    def _check_generator(self, call: Call, of: torch._ops.OpOverload) -> None:
        if not draws(call, of):
            return
        if call.random is None:
            raise NotReplayed("it draws random numbers, and its generator was not recorded")
        if not self.on_portacl:
            raise NotReplayed(f"it draws random numbers of {call.random.device}, whose generator is not portacl's")
        if call.random.offset is None:
            raise NotReplayed("it draws random numbers, and the offset of its generator was not recorded")

    def on_npu(self, call: Call, values: Mapping[Place, torch.Tensor]) -> list[tuple[Place, Any]]:
        """Returns the results on portacl, one for each of results(call); `values` replaces inputs. Raises NotReplayed."""
        of = self.check(call)
        shared: dict[Any, torch.Tensor] = {}

        def tensor(place: Place, record: TensorRecord) -> torch.Tensor:
            device = "cpu" if self.home != "cpu" and record.device.partition(":")[0] == "cpu" else "npu"
            same = (record.storage, record.offset, record.shape, record.strides) if record.storage is not None else place
            if place in values:
                made = values[place].to(device, copy=place in call.written)
                return made if made.shape == torch.Size(record.shape) else made.reshape(record.shape)
            if same not in shared:
                shared[same] = self._argument(call, place, record).to(device, copy=place in call.written)
            return shared[same]

        def other(place: Place, value: Any) -> Any:
            if isinstance(value, recording.Device):
                return torch.device("cpu" if self.home != "cpu" and value.name.partition(":")[0] == "cpu" else "npu")
            return self._plain(value, "npu")

        try:
            arguments = {"args": built(call.args, ("args",), tensor, other), "kwargs": built(call.kwargs, ("kwargs",), tensor, other)}
            if name_of(call) == "aten::as_strided" and not all(record.offset == 0 for _, record in call.inputs()):
                raise NotReplayed("it views memory around its input, which was not recorded")
            check_bounds(of, arguments)
            with torch.no_grad(), _generator(call):
                outputs = of(*arguments["args"], **arguments["kwargs"])
        except NotReplayed:
            raise
        except Exception as error:
            raise NotReplayed(f"portacl does not take it: {_first_line(error)}") from None
        arguments["outputs"] = _as_list(of, outputs)
        return _results(call, arguments)

    def in_float64(self, call: Call, of: torch._ops.OpOverload, values: Mapping[Place, torch.Tensor]) -> list[tuple[Place, Any]]:
        """Returns the results on the CPU with every floating input widened. Raises exact.NoMeaning, with the reason, if there are
        none."""
        if draws(call, of):
            raise exact.NoMeaning("random numbers have none")
        formula = exact.BY_NAME.get(name_of(call))
        if formula is None and not torch._C._dispatch_has_computed_kernel_for_dispatch_key(name_of(call), "CPU"):
            raise exact.NoMeaning(f"PyTorch's CPU has no {name_of(call)}, and no formula of it is known here")

        def tensor(place: Place, record: TensorRecord) -> torch.Tensor:
            made = values[place].cpu().reshape(record.shape) if place in values else self._argument(call, place, record)
            return made.to(widened(made.dtype), copy=place in call.written)

        def other(place: Place, value: Any) -> Any:
            if isinstance(value, recording.Device):
                return torch.device("cpu")
            if isinstance(value, recording.DType):
                return widened(value.torch())
            if value is True and place == ("args", _WIDENING.get(name_of(call))):
                return False
            return self._plain(value, "cpu")

        try:
            arguments = {"args": built(call.args, ("args",), tensor, other), "kwargs": built(call.kwargs, ("kwargs",), tensor, other)}
            check_bounds(of, arguments)
            with torch.no_grad():
                if formula is None:
                    arguments["outputs"] = _as_list(of, of(*arguments["args"], **arguments["kwargs"]))
                else:
                    arguments["outputs"] = formula(*arguments["args"], **arguments["kwargs"])
                    arguments["outputs"] += [None] * (len(call.outputs) - len(arguments["outputs"]))
        except exact.NoMeaning:
            raise
        except Exception as error:
            raise exact.NoMeaning(f"PyTorch's CPU does not take it in float64: {_first_line(error)}") from None
        return _results(call, arguments)

    def _argument(self, call: Call, place: Place, record: TensorRecord) -> torch.Tensor:
        if is_overwritten(call, place, record):
            return torch.zeros(record.shape, dtype=getattr(torch, record.dtype))
        made = self.elements(record)
        if made is None:
            raise NotReplayed("an input was not kept")
        return made

    def _plain(self, value: Any, device: str) -> Any:
        if isinstance(value, (recording.DType, recording.Layout, recording.MemoryFormat)):
            return value.torch()
        if isinstance(value, recording.Generator):
            made = torch.Generator(device=device).manual_seed(value.seed)
            if value.offset is not None:
                made.set_offset(value.offset)
            return made
        if isinstance(value, recording.Opaque):
            raise NotReplayed(f"an argument is a {value.type}, which a recording does not hold")
        return value


class _generator:
    """with _generator(call): sets device npu's default generator to its state before the call, if the call drew from it, and
    restores it afterwards."""

    def __init__(self, call: Call):
        self._random = call.random

    def __enter__(self) -> None:
        if self._random is not None and self._random.offset is not None:
            generator = torch.npu.default_generators[0]  # type: ignore[attr-defined]
            self._before = generator.initial_seed(), generator.get_offset()
            generator.manual_seed(self._random.seed)
            generator.set_offset(self._random.offset)

    def __exit__(self, *_: object) -> None:
        if self._random is not None and self._random.offset is not None:
            generator = torch.npu.default_generators[0]  # type: ignore[attr-defined]
            generator.manual_seed(self._before[0])
            generator.set_offset(self._before[1])


def widened(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype.is_floating_point else torch.complex128 if dtype.is_complex else dtype


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300] if lines else ''}"


def _as_list(of: torch._ops.OpOverload, outputs: Any) -> list[Any]:
    count = len(of._schema.returns)
    return [] if count == 0 else [outputs] if count == 1 else list(outputs)


def _results(call: Call, arguments: Mapping[str, Any]) -> list[tuple[Place, Any]]:
    found = []
    for place, _ in results(call):
        try:
            found.append((place, found_at(arguments, place)))
        except (IndexError, KeyError, TypeError):
            found.append((place, None))
    return found


def home_of(calls: Iterable[Call]) -> str:
    """Returns the type of the device on which most calls ran; the host counts only if no other was used."""
    counts: collections.Counter[str] = collections.Counter()
    for call in calls:
        for _, record in call.results():
            counts[record.device.partition(":")[0]] += 1
    others = [name for name, _ in counts.most_common() if name not in ("cpu", "meta")]
    return others[0] if others else "cpu"


def is_of_portacl(meta: Mapping[str, Any], home: str) -> bool:
    """Whether the recorded device is portacl's."""
    return home == "npu" and str(meta.get("cann") or "").startswith("portacl")
