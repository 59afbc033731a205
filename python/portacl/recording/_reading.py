"""A recording as a program reads it: Recording, its Calls, their TensorRecords. PyTorch is needed for TensorRecord.tensor() alone."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Callable, NamedTuple

from . import _frames, _values
from ._frames import RecordingError

# A call may name a tensor described by an earlier one, if it is among the last so many.
REMEMBERED = 20_000


class StackFrame(NamedTuple):
    """A source position in the program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.function}"


@dataclasses.dataclass
class Statistics:
    """What the elements have in common. Of complex numbers the real and imaginary parts count one by one.

    min, max, mean and norm (the square root of the sum of squares) are those of the finite elements, with nine digits, and None where
    there is none, or where what was read does not have them. `count` counts all of them, `zeros` those of either sign.
    """

    count: int
    min: float | int | None = None
    max: float | int | None = None
    mean: float | None = None
    norm: float | None = None
    nan: int | None = None
    inf: int | None = None
    zeros: int | None = None

    def as_json(self) -> dict[str, Any]:
        content = {key: _values.encode(value, _no_tensor) for key, value in dataclasses.asdict(self).items() if value is not None}
        for key in ("nan", "inf", "zeros"):  # most tensors have none: a missing field is 0, and null is unknown
            value = getattr(self, key)
            if value is None:
                content[key] = None
            elif value == 0:
                del content[key]
        return content

    @classmethod
    def from_json(cls, content: Any) -> Statistics:
        known = {field.name for field in dataclasses.fields(cls)}
        return cls(**{"nan": 0, "inf": 0, "zeros": 0, **{key: _values.decode(value, _no_tensor) for key, value in content.items() if key in known}})


def _no_tensor(value: Any) -> Any:
    raise ValueError(f"{type(value).__name__} where a number must be")


@dataclasses.dataclass
class TensorRecord:
    """A tensor as it was at a call.

    `kept`      "all": every element is in the recording; "sample": some are; "summary": none
    `hash`      of all elements: "xxh64:DIGITS" in order of rows, "xxh64:DIGITS:0,2,1" in the order of these dims (as they lie in memory);
                "sum64:DIGITS" where the host could not read them, "blake2b:DIGITS" where portacl's library is not there, "md5:" and
                "crc32:" in a dump of msprobe. Equal texts are equal elements; different ones may be different kinds or orders
    `key`       of elements that are kept, by which the file names them
    `order`     the dims in the order in which kept elements lie in the file; () for the order of rows
    `storage`   a number: tensors with the same one were views of one memory then; None where there was none
    `sample_positions`, `sample_bytes`   where in the order of rows, and those elements, little-endian
    """

    dtype: str  # PyTorch's name: "float32"
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # None if it had none (a sparse tensor), or if the source does not tell
    offset: int
    device: str
    kept: str
    hash: str | None = None
    key: str | None = None
    order: tuple[int, ...] = ()
    statistics: Statistics | None = None
    layout: str = "strided"
    storage: int | None = None
    type: str = "Tensor"  # the name of its class
    requires_grad: bool = False
    conjugated: bool = False  # a view that conjugates; kept elements are already conjugated
    negated: bool = False
    name: str | None = None  # of a parameter or buffer, if a called module has it
    parts: tuple[TensorRecord, ...] = ()  # of a sparse tensor: indices and values; of a subclass: its tensors
    sample_positions: tuple[int, ...] = ()
    sample_bytes: bytes = b""
    problem: str | None = None  # why elements are missing that should be here
    format: int | None = None  # for C++ programs: CANN's number, None for ND
    storage_shape: tuple[int, ...] | None = None  # for C++ programs: None if it is the view's, or if nobody has looked at it
    _read: Callable[[], bytes] | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def count(self) -> int:
        """Returns the number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def item_size(self) -> int:
        size = _values.ITEM_SIZES.get(self.dtype)
        if size is None:
            raise ValueError(f"the size of a {self.dtype} is not known")
        return size

    def content(self) -> bytes | None:
        """Returns all elements in row-major order, little-endian, or None if they were not kept. Raises RecordingError if they
        are broken."""
        content = None if self._read is None else self._read()
        if content is None or not self.order or self.count == 0:
            return content
        lying = [self.shape[dim] for dim in self.order]
        steps = [0] * len(lying)
        step = self.item_size
        for place in reversed(range(len(lying))):
            steps[self.order[place]] = step
            step *= lying[place]
        starts = [0]
        for size, step in zip(self.shape[:-1], steps[:-1]):
            starts = [start + number * step for start in starts for number in range(size)]
        size, step, width = self.shape[-1], steps[-1], self.item_size
        return b"".join([content[at : at + width] for start in starts for at in range(start, start + size * step, step)])

    def tensor(self) -> Any:
        """A torch.Tensor on the CPU with the elements, shape and strides that it had; None where its elements were not kept.

        Raises RecordingError where they are broken. Where elements overlapped in memory but for repetition (strides of 0), or where it
        was sparse, the result is contiguous or sparse again, and its elements are the same.
        """
        import torch

        if self.layout != "strided":
            return self._sparse()
        content = None if self._read is None else self._read()
        if content is None:
            return None
        kind = _values.DType(self.dtype).torch()
        if self.count == 0:
            return torch.empty_strided(self.shape, self.strides or _of_rows(self.shape), dtype=kind)
        # Copies, so that it is as writable and as aligned as any tensor.
        flat = torch.frombuffer(bytearray(content), dtype=torch.uint8).clone().view(kind)
        if self.order:
            lying = flat.reshape([self.shape[dim] for dim in self.order])
            return lying.permute([self.order.index(dim) for dim in range(len(self.order))])
        return _with_strides(flat.reshape(self.shape), self.strides)

    def sample(self) -> Any:
        """Returns the elements at `sample_positions` as a torch.Tensor, or None if there are none."""
        import torch

        if not self.sample_positions:
            return None
        return torch.frombuffer(bytearray(self.sample_bytes), dtype=torch.uint8).clone().view(_values.DType(self.dtype).torch())

    def _sparse(self) -> Any:
        import torch

        parts = [part.tensor() for part in self.parts]
        if not parts or any(part is None for part in parts):
            return None
        if self.layout == "sparse_coo":
            return torch.sparse_coo_tensor(parts[0], parts[1], self.shape, check_invariants=True)
        if self.layout.startswith("sparse_"):
            return torch.sparse_compressed_tensor(
                parts[0], parts[1], parts[2], size=self.shape, layout=_values.Layout(self.layout).torch(), check_invariants=True
            )
        return None

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "dtype": self.dtype,
            "shape": list(self.shape),
            "strides": None if self.strides is None else list(self.strides),
            "offset": self.offset,
            "device": self.device,
            "kept": self.kept,
        }
        for name in ("hash", "key", "storage", "name", "problem"):
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        if self.statistics is not None:
            content["statistics"] = self.statistics.as_json()
        if self.layout != "strided":
            content["layout"] = self.layout
        if self.type != "Tensor":
            content["type"] = self.type
        for name in ("requires_grad", "conjugated", "negated"):
            if getattr(self, name):
                content[name] = True
        if self.format is not None:
            content["format"] = self.format
        if self.storage_shape is not None:
            content["storage_shape"] = list(self.storage_shape)
        if self.order:
            content["order"] = list(self.order)
        if self.parts:
            content["parts"] = [part.as_json() for part in self.parts]
        if self.sample_positions:
            content["sample"] = [list(self.sample_positions), base64.b64encode(self.sample_bytes).decode("ascii")]
        return content


def _of_rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def _with_strides(tensor: Any, strides: tuple[int, ...] | None) -> Any:
    """Returns the same elements with these strides, if possible."""
    import torch

    if strides is None or len(strides) != tensor.dim() or tensor.stride() == strides:
        return tensor
    if any(stride < 0 for stride in strides):
        return tensor
    once = tuple(size if stride else min(size, 1) for size, stride in zip(tensor.shape, strides))
    extent = 1 + sum((size - 1) * stride for size, stride in zip(once, strides))
    if extent > 4 * tensor.numel() + 4096:  # a few elements far apart are not worth the memory
        return tensor
    memory = torch.zeros(extent, dtype=tensor.dtype)
    narrow = tensor[tuple(slice(0, size) for size in once)]
    try:
        memory.as_strided(once, strides).copy_(narrow)
    except RuntimeError:  # its elements overlap
        return tensor
    view = memory.as_strided(tensor.shape, strides)
    return view


def record_from_json(content: Any, read: Callable[[str, int], bytes], known: Callable[[str], bool]) -> TensorRecord:
    """Makes a TensorRecord from as_json()'s result; `read` returns the contents for a hash and a size, `known` tells whether it
    has them."""
    if not isinstance(content, dict):
        raise ValueError("a tensor is no object")
    try:
        record = TensorRecord(
            dtype=str(content["dtype"]),
            shape=_sizes(content["shape"]),
            strides=None if content["strides"] is None else _sizes(content["strides"], negative=True),
            offset=int(content.get("offset", 0)),
            device=str(content["device"]),
            kept=str(content.get("kept", "summary")),
            hash=_text_or_none(content.get("hash")),
            key=_text_or_none(content.get("key")),
            order=_order(content.get("order", []), len(content["shape"])),
            storage=content.get("storage") if isinstance(content.get("storage"), int) else None,
            layout=str(content.get("layout", "strided")),
            type=str(content.get("type", "Tensor")),
            requires_grad=bool(content.get("requires_grad", False)),
            conjugated=bool(content.get("conjugated", False)),
            negated=bool(content.get("negated", False)),
            name=_text_or_none(content.get("name")),
            problem=_text_or_none(content.get("problem")),
            parts=tuple(record_from_json(part, read, known) for part in content.get("parts", ())),
        )
        if "format" in content:
            record.format = int(content["format"])
        if "storage_shape" in content:
            record.storage_shape = _sizes(content["storage_shape"], negative=True)
        if "statistics" in content:
            record.statistics = Statistics.from_json(content["statistics"])
        if "sample" in content:
            positions, elements = content["sample"]
            record.sample_positions = _sizes(positions)
            record.sample_bytes = base64.b64decode(elements, validate=True)
            if len(record.sample_bytes) != len(positions) * record.item_size:
                raise ValueError("a sample has not as many elements as positions")
        spoilt = [name for name in ("hash", "key", "name", "problem") if not isinstance(content.get(name), (str, type(None)))]
        if spoilt:
            record.kept, record.problem = "summary", f"its {spoilt[0]} is no text"
        if record.kept == "all" and record.layout == "strided":
            digest = str(record.key)
            if not known(digest):
                raise ValueError(f"a tensor names contents that are not in the file, {digest}")
            size = record.count * record.item_size
            record._read = lambda: read(digest, size)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a tensor is malformed ({type(error).__name__}: {error})") from None
    return record


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _order(values: Any, dims: int) -> tuple[int, ...]:
    if values and (not isinstance(values, list) or sorted(values) != list(range(dims))):
        raise ValueError(f"{values!r} where an order of {dims} dims must be")
    return tuple(values)


def _sizes(values: Any, negative: bool = False) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(type(value) is int and (negative or value >= 0) for value in values):
        raise ValueError(f"{values!r} where sizes must be")
    return tuple(values)


@dataclasses.dataclass
class Call:
    """One call of an operator.

    `args`, `kwargs`    as the operator got them: tensors as TensorRecord with what they held before the call, dtypes and their like as
                        portacl.recording.DType, Device, Layout, MemoryFormat, Generator
    `outputs`           one for each result; the contents after the call
    `written`           {place: TensorRecord after the call} for every argument that the call wrote, ("args", 0) or ("kwargs", "out") or,
                        within a list, ("args", 0, 3)
    `aliases`           {number of an output: place of the argument whose memory it lies in}, for outputs that are views or the argument itself
    `phase`             "forward", "backward" (computed by autograd), or "none" (an optimizer, data, anything else)
    `module`            the path from the outermost module that was called, "layers.0.attention"; "" in that one itself, and outside of all.
                        In backward, that of the call whose gradient it is
    `root`              the class of the outermost module, "" outside of all
    `gradient_of`       in backward, the index of the call whose gradient is computed, where autograd tells
    `random`            the generator from which the call drew, as it was before; None where it drew nothing
    `thread`            which one called; of a C++ program, the number of the stream
    `overlap`           of a C++ program: what shared memory where something was written, other than as one view: "out and target"
    `error`             what the call raised, if it did; it has no outputs then
    `problem`           why a part of it could not be read
    """

    index: int
    name: str  # "aten::add.Tensor"
    args: list[Any]
    kwargs: dict[str, Any]
    outputs: list[Any]
    module: str = ""
    root: str = ""
    step: int = 0
    phase: str = "none"
    written: dict[tuple[Any, ...], Any] = dataclasses.field(default_factory=dict)
    aliases: dict[int, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    stack: tuple[StackFrame, ...] = ()  # the innermost frame first
    random: _values.Generator | None = None
    gradient_of: int | None = None
    thread: int = 0
    overlap: str | None = None
    error: str | None = None
    problem: str | None = None  # why a part of it could not be read

    def inputs(self) -> list[tuple[tuple[Any, ...], TensorRecord]]:
        """Returns (place, tensor) for every tensor among the arguments; places are those of `written`."""
        found: list[tuple[tuple[Any, ...], TensorRecord]] = _values.tensors_in(self.args, ("args",))
        return found + _values.tensors_in(self.kwargs, ("kwargs",))

    def results(self) -> list[tuple[tuple[Any, ...], TensorRecord]]:
        """Returns (place, tensor) for every tensor that it made or wrote: ("outputs", 0), then those of `written` that are no
        outputs."""
        found: list[tuple[tuple[Any, ...], TensorRecord]] = _values.tensors_in(self.outputs, ("outputs",))
        returned = set(self.aliases.values())
        return found + [(place, record) for place, record in self.written.items() if place not in returned]

    def as_json(self, stack: int | None) -> dict[str, Any]:
        """Returns the content of a CALL frame; `stack` is the number of the STCK frame."""

        def encode(value: Any) -> Any:
            return _values.encode(value, lambda record: {"tensor": record.as_json()})

        content: dict[str, Any] = {
            "index": self.index,
            "name": self.name,
            "args": encode(self.args),
            "outputs": encode(self.outputs),
            "step": self.step,
            "phase": self.phase,
        }
        if self.kwargs:
            content["kwargs"] = encode(self.kwargs)
        if self.written:
            content["written"] = [[list(place), encode(record)] for place, record in self.written.items()]
        if self.aliases:
            content["aliases"] = [[number, list(place)] for number, place in self.aliases.items()]
        for name in ("module", "root", "thread"):
            if getattr(self, name):
                content[name] = getattr(self, name)
        for name in ("gradient_of", "overlap", "error"):
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        if self.random is not None:
            content["random"] = encode(self.random)
        if stack is not None:
            content["stack"] = stack
        return content


def _call_from_json(content: Any, stacks: dict[int, tuple[StackFrame, ...]], tensor: Callable[[Any], TensorRecord]) -> Call:
    if not isinstance(content, dict):
        raise ValueError("a call is no object")

    def decode(value: Any) -> Any:
        return _values.decode(value, tensor)

    try:
        kwargs = decode(content["kwargs"]) if "kwargs" in content else {}
        args, outputs = decode(content["args"]), decode(content["outputs"])
        if not isinstance(args, list) or not isinstance(outputs, list) or not isinstance(kwargs, dict):
            raise ValueError("arguments and outputs of a call must be lists")
        written = {_place(place): decode(value) for place, value in content.get("written", ())}
        others = [place for place, value in written.items() if not isinstance(value, TensorRecord)]
        return Call(
            index=int(content["index"]),
            name=str(content["name"]),
            args=args,
            kwargs=kwargs,
            outputs=outputs,
            module=str(content.get("module", "")),
            root=str(content.get("root", "")),
            step=int(content.get("step", 0)),
            phase=str(content.get("phase", "none")),
            written={place: value for place, value in written.items() if isinstance(value, TensorRecord)},
            aliases={int(number): _place(place) for number, place in content.get("aliases", ())},
            stack=stacks.get(content["stack"], ()) if "stack" in content else (),
            random=decode(content["random"]) if "random" in content else None,
            gradient_of=content.get("gradient_of"),
            thread=int(content.get("thread", 0)),
            overlap=_text_or_none(content.get("overlap")),
            error=content.get("error"),
            problem=f"what it wrote at {list(others[0])} is no tensor" if others else None,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a call is malformed ({type(error).__name__}: {error})") from None


def _place(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or not all(isinstance(one, (int, str)) for one in value):
        raise ValueError(f"{value!r} where the place of an argument must be")
    return tuple(value)


class Recording:
    """A recording that is read: iterating over it yields its calls in order, as often as one likes.

    `path`      the file or folder
    `meta`      what was run, where and how it was recorded
    `problem`   None, or a sentence with the position in the file where it is cut or broken; complete once an iteration has ended.
                What is complete before that place was yielded.
    `end`       why the recording ended, as recorded ("" where that is not there); complete once an iteration has ended
    """

    def __init__(self, path: str, meta: dict[str, Any]):
        self.path = path
        self.meta = meta
        self.problem: str | None = None
        self.end = ""

    def __iter__(self) -> Iterator[Call]:
        raise NotImplementedError

    def close(self) -> None:
        """Closes the files. Tensors of its calls cannot be read afterwards."""

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class FileRecording(Recording):
    """A recording in a file of this package."""

    def __init__(self, path: str):
        super().__init__(path, {})
        self._file: BinaryIO = open(path, "rb")
        try:
            self._size = os.fstat(self._file.fileno()).st_size
            magic = self._file.read(len(_frames.MAGIC))
            if magic != _frames.MAGIC:
                if _frames.MAGIC.startswith(magic):
                    raise RecordingError(f"{path}: the file is cut at byte {len(magic)}, within its first line: it holds no call")
                if magic.startswith(b"portacl recording "):
                    raise RecordingError(f"{path}: byte 0 says {magic!r}: a format that this portacl does not know; it reads {_frames.VERSION}")
                raise RecordingError(f"{path}: no recording: it does not begin with the line 'portacl recording {_frames.VERSION}' (byte 0)")
            self._data: dict[str, int] = {}
            try:
                first = next(_frames.frames(self._file, self._size), None)
                if first is not None and first.kind == "META":
                    self.meta = self._json(first)
            except ValueError as error:
                self.problem = f"{path}: {error}; it holds no call"
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def _json(frame: _frames.Frame) -> Any:
        try:
            content = _frames.unpack_json(frame.payload)
            if not isinstance(content, dict):
                raise ValueError("it is no object")
            return content
        except ValueError as error:
            raise ValueError(f"the frame {frame.kind} at byte {frame.position} is broken: {error}") from None

    def _content(self, digest: str, size: int) -> bytes:
        position = self._data[digest]
        try:
            return _frames.unpack_data(_frames.read_frame(self._file, position, self._size).payload, size)
        except (ValueError, OverflowError) as error:
            raise RecordingError(f"{self.path}: the frame DATA at byte {position}: {error}") from None

    def __iter__(self) -> Iterator[Call]:
        stacks: dict[int, tuple[StackFrame, ...]] = {}
        count, done = 0, False
        self.problem = None

        described: dict[int, TensorRecord] = {}

        def tensor(content: Any) -> TensorRecord:
            if isinstance(content, int):
                if content not in described:
                    raise ValueError(f"it names tensor {content}, which no call before it describes")
                return described[content]
            record = record_from_json(content, self._content, self._data.__contains__)
            if "id" in content:
                described[int(content["id"])] = record
                if len(described) > 4 * REMEMBERED:
                    for old in list(described)[: 2 * REMEMBERED]:
                        del described[old]
            return record

        try:
            for frame in _frames.frames(self._file, self._size):
                call = None
                if frame.kind == "DATA":
                    self._data.setdefault(_frames.data_hash(frame.payload), frame.position)
                elif frame.kind == "CALL":
                    call = self._in_frame(frame, lambda content: _call_from_json(content, stacks, tensor))
                elif frame.kind == "STCK":
                    number, stack = self._in_frame(frame, _stack_from_json)
                    stacks[number] = stack
                elif frame.kind == "META":
                    self.meta.update(self._json(frame))
                elif frame.kind == "DONE":
                    self.end = str(self._json(frame).get("reason", ""))
                    done = True
                if call is not None:
                    count += 1
                    yield call
            if not done:
                self.problem = (
                    f"{self.path}: the file is cut at byte {self._size}: it has no closing frame, so the program was ended while "
                    f"it recorded; {_calls(count)} complete"
                )
        except ValueError as error:
            self.problem = f"{self.path}: {error}; {_calls(count)} complete before that"

    def _in_frame(self, frame: _frames.Frame, read: Callable[[Any], Any]) -> Any:
        content = self._json(frame)
        try:
            return read(content)
        except (ValueError, RecursionError, OverflowError) as error:
            raise ValueError(f"the frame {frame.kind} at byte {frame.position} is broken: {error}") from None


def _calls(count: int) -> str:
    return "1 call is" if count == 1 else f"{count} calls are"


def _stack_from_json(content: Any) -> tuple[int, tuple[StackFrame, ...]]:
    try:
        return int(content["id"]), tuple(StackFrame(str(file), int(line), str(name)) for file, line, name in content["frames"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a call stack is malformed ({error})") from None


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Opens a recording of this package, or a folder that msprobe dumped.

    Raises RecordingError, with the position, where it is neither; OSError where it cannot be opened."""
    name = os.fspath(path)
    if os.path.isdir(name) or os.path.basename(name) == "dump.json":
        from . import _msprobe

        return _msprobe.open_folder(name)
    return FileRecording(name)
