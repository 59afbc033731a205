"""Kernels for the operators that portacl lacks: PyTorch's CPU kernels on the NPU tensors' own memory."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch_npu

from . import _generators, _interpreted, _memory
from ._calls import Calls, Timed

_CPU = torch.device("cpu")
_Tensor = torch.Tensor
_NUMBERS = (int, float, complex)
_ND, _FRACTAL_NZ = 2, 29  # formats, by CANN's numbers

# Operators that take host tensors beside device tensors: indices, lengths, lists of numbers, and copies between the two.
_TAKE_HOST_TENSORS = frozenset(
    """_copy_from _copy_from_and_resize _ctc_loss _index_put_impl_ _pack_padded_sequence _pad_packed_sequence copy_ ctc_loss
    _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_
    gru index index_put index_put_ lstm rnn_relu rnn_tanh _unsafe_index _unsafe_index_put""".split()
)

# Operators whose CPU kernels lack 16-bit floats, or round every step to them: they compute in float32, which is rounded once.
_IN_FLOAT32 = frozenset(
    """_adaptive_avg_pool3d _adaptive_avg_pool3d_backward _add_relu _add_relu_ _cdist_backward _pdist_forward _pdist_backward
    grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward index_reduce index_reduce_
    multi_margin_loss multi_margin_loss_backward reflection_pad3d_backward replication_pad3d_backward
    segment_reduce _segment_reduce_backward upsample_linear1d upsample_linear1d_backward
    upsample_trilinear3d upsample_trilinear3d_backward _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward
    _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward""".split()
)
# Operators whose gradients test which differences equal the distance, which a rounded distance does not tell.
_DISTANCES: dict[str, Callable[..., _Tensor]] = {
    "_cdist_backward": lambda gradient, x1, x2, p, rounded: torch.ops.aten._cdist_forward(x1, x2, p, 2),
    "_pdist_backward": lambda gradient, x, p, rounded: torch.ops.aten._pdist_forward(x, p),
}
_NARROW = (torch.float16, torch.bfloat16)

_current_stream = torch_npu._C._npu_getCurrentStream
is_captured = torch_npu._C._npu_isCurrentStreamCapturing
_streams: dict[tuple[int, int, int], Any] = {}


def _wait_for_current_stream(index: int) -> None:
    """Waits for submitted work, because the CPU kernel accesses the memory at once."""
    key = _current_stream(index)
    stream = _streams.get(key)
    if stream is None:
        stream = torch.npu.Stream(stream_id=key[0], device_index=key[1], device_type=key[2])
        _streams[key] = stream
    stream.synchronize()


def _reach(tensor: _Tensor) -> int:
    """Returns the bytes from the first element to the end of the last one."""
    if tensor.numel() == 0:
        return 0
    last = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride()))
    return int((last + 1) * tensor.element_size())


class _Call:
    """The arguments of one call as CPU tensors, and the destinations of the results."""

    __slots__ = ("operator", "device", "originals", "outputs", "generator", "takes_host_tensors", "copies")

    def __init__(self, operator: torch._ops.OpOverload, takes_host_tensors: bool):
        self.operator = operator
        self.device: torch.device | None = None
        self.originals: dict[int, _Tensor] = {}  # by id of the CPU tensor, which lives as long as this call
        self.outputs: list[tuple[_Tensor, _Tensor]] = []  # out= tensors, and the tensors computed for them
        self.generator: torch.Generator | None = None
        self.copies = _memory.Copies() if _memory.CHECKED else None
        self.takes_host_tensors = takes_host_tensors

    def argument(self, value: Any) -> Any:
        if isinstance(value, _Tensor):
            if value.is_cpu:
                if value.dim() and not self.takes_host_tensors:
                    raise RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two devices, npu and cpu! "
                        f"(in {self.operator})"
                    )
                return value
            if value.device.type != "npu":
                return value
            device = value.device
            if self.device is None:
                self.device = device
            elif device != self.device and not self.takes_host_tensors:
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but found at least two devices, {self.device} and "
                    f"{device}! (in {self.operator})"
                )
            if value.layout is not torch.strided:
                raise NotImplementedError(
                    f"{self.operator}: a tensor of layout {value.layout} on an NPU; portacl's fallback takes dense tensors"
                )
            if self.copies is not None:
                _wait_for_current_stream(device.index)  # data that is copied here must be complete
            seen = _memory.on_cpu(value, self.copies)
            self.originals[id(seen)] = value
            return seen
        if isinstance(value, (list, tuple)):
            return [self.argument(item) for item in value] if value and not isinstance(value[0], (int, float)) else value
        if isinstance(value, torch.device):
            if value.type == "npu":
                if self.device is None:
                    self.device = value
                return _CPU
            return value
        if isinstance(value, torch.Generator):
            self.generator = value
            return None
        return value

    def output(self, value: Any) -> Any:
        """Handles an out= tensor: the kernel may resize it, so that it computes into memory that can be resized."""
        if isinstance(value, _Tensor) and value.device.type == "npu":
            if self.device is None:
                self.device = value.device
            fresh = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
            self.originals[id(fresh)] = value
            self.outputs.append((value, fresh))
            return fresh
        if isinstance(value, (list, tuple)):
            return [self.output(item) for item in value]
        return value

    def finish_outputs(self) -> None:
        for tensor, computed in self.outputs:
            if tensor.shape != computed.shape:
                tensor.resize_(computed.shape)
                _wait_for_current_stream(tensor.device.index)  # as in `result`
                if tensor.stride() != computed.stride() and _reach(computed) <= tensor.untyped_storage().nbytes():
                    tensor.as_strided_(computed.shape, computed.stride())
            _memory.fill(tensor, computed)

    def write_back(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """In a checked program, copies back what the CPU wrote into its copies of arguments."""
        assert self.copies is not None
        for i, argument in enumerate(self.operator._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write or argument.is_out:
                continue
            value = args[i] if i < len(args) else kwargs.get(argument.name)
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(one, _Tensor) and one.device.type == "npu":
                    self.copies.write_back(one)

    def result(self, value: Any, may_be_view: bool) -> Any:
        if isinstance(value, _Tensor):
            original = self.originals.get(id(value))
            if original is not None:
                return original
            if may_be_view:
                base = self._base_of(value)
                if base is not None:
                    return base.as_strided(value.shape, value.stride(), value.storage_offset())
            tensor, value = _memory.room_for(value, self.device)
            # Another thread may just have submitted work on this memory and freed it. The memory may then be used by work
            # submitted later, but not by the CPU.
            _wait_for_current_stream(self.device.index)
            _memory.fill(tensor, value)
            return tensor
        if isinstance(value, tuple):
            return tuple([self.result(item, may_be_view) for item in value])
        if isinstance(value, list):
            return [self.result(item, may_be_view) for item in value]
        return value

    def _base_of(self, value: _Tensor) -> _Tensor | None:
        address = value.untyped_storage().data_ptr()
        if self.copies is not None:
            original = self.copies.by_host.get(address)
            return original if original is not None and original.dtype == value.dtype else None
        if address:
            for original in self.originals.values():
                if original.untyped_storage().data_ptr() == address and original.dtype == value.dtype:
                    return original
        return None


class _Widened:
    """Widens the 16-bit floats of one call, of CPU tensors, to float32."""

    __slots__ = ("narrow", "written")

    def __init__(self) -> None:
        self.narrow: dict[int, tuple[_Tensor, _Tensor]] = {}  # by id of the wide tensor: that, and the narrow one
        self.written: list[tuple[_Tensor, _Tensor]] = []

    def argument(self, value: Any, is_written: bool) -> Any:
        if isinstance(value, _Tensor):
            if value.dtype not in _NARROW:
                return value
            wide = value.float()
            self.narrow[id(wide)] = wide, value
            if is_written:
                self.written.append((wide, value))
            return wide
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], _Tensor):
            return [self.argument(item, is_written) for item in value]
        return value

    def result(self, value: Any) -> Any:
        """Returns the kernel's result, rounded, and rounds the tensors that it wrote."""
        for wide, narrow in self.written:
            if narrow.shape != wide.shape:  # an out= tensor
                narrow.resize_(wide.shape)
            narrow.copy_(wide)
        self.written.clear()
        return self._rounded(value)

    def _rounded(self, value: Any) -> Any:
        if isinstance(value, _Tensor):
            known = self.narrow.get(id(value))
            if known is not None:
                return known[1]
            return value.to(next(iter(self.narrow.values()))[1].dtype) if value.dtype is torch.float32 else value
        return tuple([self._rounded(item) for item in value]) if isinstance(value, tuple) else value


def _has_wider(values: Iterable[Any]) -> bool:
    """Whether the tensors include floats of more than 16 bits, to which the others promote or which do not fit them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if _has_wider(value):
                return True
        elif isinstance(value, _Tensor) and (value.is_floating_point() or value.is_complex()) and value.dtype not in _NARROW:
            return True
    return False


def _places_of_tensors(operator: torch._ops.OpOverload) -> frozenset[int]:
    """Returns the positional arguments that are tensors by the schema but may be numbers in a call."""
    return frozenset(i for i, argument in enumerate(operator._schema.arguments) if str(argument.type) == "Tensor")


def fallback(operator: torch._ops.OpOverload, calls: Calls, first: Callable[[], None]) -> Callable[..., Any]:
    """Returns the kernel for device npu that computes `operator` with the CPU's. It calls `first` for every call until that
    returns None."""
    schema = operator._schema
    name = schema.name.split("::")[1]
    outputs = frozenset(argument.name for argument in schema.arguments if argument.is_out)
    has_generator = any("Generator" in str(argument.type) for argument in schema.arguments)
    is_random = has_generator or torch.Tag.nondeterministic_seeded in operator.tags
    returns = schema.returns
    may_be_view = any(r.alias_info is not None and not r.alias_info.is_write for r in returns) or (
        torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "CompositeImplicitAutograd")
    )
    takes_host_tensors = name in _TAKE_HOST_TENSORS
    # The dispatcher passes a Python number that stands for a tensor as a number, which few operators accept.
    numbers_fit = torch._C._should_allow_numbers_as_tensors(name)
    tensors = _places_of_tensors(operator)
    written = frozenset(a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
    names = [a.name for a in schema.arguments]
    widens = name in _IN_FLOAT32
    announced = False

    def kernel(*args: Any, **kwargs: Any) -> Any:
        nonlocal announced
        if is_captured():
            raise RuntimeError(
                f"{operator} cannot be captured in a graph: portacl has no operator for it, so PyTorch's CPU kernel computes "
                "it, once and at the call, and no replay would compute it again. Call it before or after the capture."
            )
        if not announced:
            first()
            announced = True
        with Timed(calls):
            call = _Call(operator, takes_host_tensors)
            argument = call.argument
            host_args = [argument(value) for value in args]
            host_kwargs = {
                key: call.output(value) if key in outputs else argument(value) for key, value in kwargs.items()
            }
            device = call.device
            index = None if device is None else device.index
            if index is None:
                index = torch.npu.current_device()
                call.device = device = torch.device("npu", index)
            _wait_for_current_stream(index)
            target: Callable[..., Any] = operator
            if not numbers_fit and any(i in tensors and isinstance(value, _NUMBERS) for i, value in enumerate(args)):
                target = operator.overloadpacket  # an overload for numbers exists
            widened = None
            if widens and not _has_wider(host_args) and not _has_wider(host_kwargs.values()):
                widened = _Widened()
                host_args = [widened.argument(value, key in written) for key, value in zip(names, host_args)]
                host_kwargs = {key: widened.argument(value, key in written) for key, value in host_kwargs.items()}
                if widened.narrow and name in _DISTANCES:
                    host_args[-1] = _DISTANCES[name](*host_args)
            if is_random:
                if has_generator:
                    host_kwargs["generator"] = _generators.generator_for(call.generator, device)
                    host_args = _without_generator(operator, host_args)
                    result = operator(*host_args, **host_kwargs)
                else:
                    with _generators.default_generator_for(device):
                        result = operator(*host_args, **host_kwargs)
            else:
                result = target(*host_args, **host_kwargs)
            if widened is not None and widened.narrow:
                result = widened.result(result)
            if call.copies is not None:
                call.write_back(args, kwargs)
            if outputs:
                call.finish_outputs()
            return call.result(result, may_be_view)

    return kernel


def _without_generator(operator: torch._ops.OpOverload, args: list[Any]) -> list[Any]:
    """Passes a generator among the positional arguments by name."""
    for position, argument in enumerate(operator._schema.arguments[: len(args)]):
        if argument.name == "generator":
            return args[:position]
    return args


def missing(operator: torch._ops.OpOverload, lacking: list[str], why_no_fallback: str) -> Callable[..., Any]:
    """Returns a kernel that reports that neither portacl nor PyTorch's CPU can compute the operator."""
    message = (
        f"{operator.name().replace('npu::', 'torch_npu.')} needs {', '.join(lacking)}, which portacl does not have, "
        f"and {why_no_fallback}"
    )

    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(message)

    return kernel


def refusing(operator: torch._ops.OpOverload, reason: str, why_no_fallback: str) -> Callable[..., Any]:
    """Returns a kernel for arguments that neither CANN's function nor PyTorch's CPU takes."""
    message = f"{operator.name().replace('npu::', 'torch_npu.')}: {reason}, and {why_no_fallback}"

    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(message)

    return kernel


def in_plain_format(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `kernel` with a result that torch_npu does not hold to be in the format FRACTAL_NZ."""

    def cast(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        result = kernel(keyset, *args, **kwargs)
        is_fractal = torch_npu.get_npu_format(result) == _FRACTAL_NZ
        return torch_npu.npu_format_cast(result, _ND) if is_fractal else result

    return cast


def of_contiguous(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `kernel` for tensors that need not be contiguous, where torch_npu does not make them so."""

    def call(keyset: torch._C.DispatchKeySet, *args: Any) -> Any:
        return kernel(keyset, *(one.contiguous() if isinstance(one, _Tensor) else one for one in args))

    return call


def unless(
    condition: Callable[..., bool], operator: torch._ops.OpOverload, dispatch_key: str, kernel: Callable[..., Any]
) -> Callable[..., Any]:
    """Returns torch_npu's registered kernel, but `kernel` for arguments with which that needs more than is here."""
    call_boxed = torch.library.get_kernel(operator, dispatch_key).call_boxed

    def choose(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        if condition(*args, **kwargs):
            return kernel(keyset, *args, **kwargs)
        return call_boxed(keyset, *args, **kwargs)

    return choose


def unless_captured(
    operator: torch._ops.OpOverload, dispatch_key: str, refused: Callable[..., bool], kernel: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Returns torch_npu's registered kernel for an operator whose result has a shape that depends on values, which no graph can
    hold.

    `kernel`, if there is one, computes refused calls.
    """

    def condition(*args: Any, **kwargs: Any) -> bool:
        if is_captured():
            return True
        _interpreted.let_them_end()
        return kernel is not None and refused(*args, **kwargs)

    def refuse(_: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        if kernel is not None and not is_captured():
            return kernel(*args, **kwargs)
        raise RuntimeError(
            f"{operator} cannot be captured in a graph: the shape of its result depends on values, for which it waits. Call it "
            "before or after the capture."
        )

    return unless(condition, operator, dispatch_key, refuse)


def unless_empty(of_nothing: Callable[..., Any], kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `kernel`, except for calls whose second tensor has no elements."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        return (of_nothing if args[1].numel() == 0 else kernel)(*args, **kwargs)

    return choose


_OF_OTHER_DTYPES = frozenset("index indices mask condition sorter".split())  # tensors whose dtype says nothing about the rest


def takes_one_of(operator: torch._ops.OpOverload, dtypes: frozenset[torch.dtype]) -> Callable[..., bool]:
    """Whether a call has a tensor of one of these dtypes, or makes one."""
    arguments = [a for a in operator._schema.arguments if a.name not in _OF_OTHER_DTYPES]
    asked = {a.name for a in arguments if "Tensor" in str(a.type) or a.name == "dtype"}
    places = tuple(i for i, a in enumerate(operator._schema.arguments) if a.name in asked and not a.kwarg_only)
    names = tuple(a.name for a in arguments if a.name in asked and a.kwarg_only)

    def takes(value: Any) -> bool:
        if isinstance(value, _Tensor):
            return value.dtype in dtypes
        if isinstance(value, (list, tuple)):
            for item in value:
                if takes(item):
                    return True
            return False
        return isinstance(value, torch.dtype) and value in dtypes

    def condition(*args: Any, **kwargs: Any) -> bool:
        # Every call comes here, so tensors are asked without another call.
        count = len(args)
        for place in places:
            if place >= count:
                break
            value = args[place]
            if isinstance(value, _Tensor):
                if value.dtype in dtypes:
                    return True
            elif value is not None and takes(value):
                return True
        return bool(kwargs) and any(takes(kwargs.get(name)) for name in names)

    return condition


def either(first: Callable[..., bool], second: Callable[..., bool]) -> Callable[..., bool]:
    """Joins two conditions on a call with or."""

    def condition(*args: Any, **kwargs: Any) -> bool:
        return first(*args, **kwargs) or second(*args, **kwargs)

    return condition


def takes_host_self(first: torch.Tensor, *_: Any, **__: Any) -> bool:
    """Whether the first operand is a number that lies on the CPU as a tensor."""
    return first.device.type == "cpu"


def takes_aclnn_complex(target: torch.Tensor, source: torch.Tensor | None = None, *_: Any, **__: Any) -> bool:
    """Whether a copy uses aclnnComplex, with which torch_npu makes complex numbers of real ones, and conjugates. complex32 counts,
    too, since aclnnInplaceCopy lacks it."""
    half = torch.complex32
    if source is None:
        return target.is_conj() or target.dtype is half
    if target.is_complex():
        return not source.is_complex() or target.dtype is half or target.is_conj() or source.is_conj()
    return source.is_complex() and (source.dtype is half or source.is_conj())


def takes_conjugate_or_complex32(target: torch.Tensor, source: torch.Tensor | None = None, *_: Any, **__: Any) -> bool:
    """Whether a copy has a conjugate as its target, which torch_npu fills as if it were none, or has complex32, which aclnnInplaceCopy lacks."""
    half = torch.complex32
    if source is None:
        return target.dtype is half
    return target.is_conj() or target.dtype is half or source.dtype is half


def between_devices(condition: Callable[..., bool]) -> Callable[..., bool]:
    """Adds to a condition on copies what comes before one between CPU and NPU, which waits."""

    def after_host_functions(target: torch.Tensor, source: torch.Tensor | None = None, *args: Any, **kwargs: Any) -> bool:
        if source is not None and source.device.type != target.device.type:
            _interpreted.let_them_end()
        return condition(target, source, *args, **kwargs)

    return after_host_functions


class _Again(threading.local):
    operator: torch._ops.OpOverload | None = None  # called from its own kernel, which must not call it back


_again = _Again()


def counted(operator: torch._ops.OpOverload, dispatch_key: str, calls: Calls) -> Callable[..., Any]:
    """Returns torch_npu's own kernel with counting. It waits for the stream, so that the time is that of the work."""
    original = torch.library.get_kernel(operator, dispatch_key)
    call_boxed = original.call_boxed
    tensors = _places_of_tensors(operator)
    numbers_fit = torch._C._should_allow_numbers_as_tensors(operator._schema.name.split("::")[1])

    def kernel(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        if _again.operator is operator:
            _again.operator = None
            return call_boxed(keyset, *args, **kwargs)
        with Timed(calls):
            if any(i in tensors and isinstance(value, _NUMBERS) for i, value in enumerate(args)):
                # A number that stands for a tensor promotes differently from tensors. PyTorch recreates it from the number, but
                # only in a call of the operator, and for everything called inside; kernels cannot do so.
                if numbers_fit:
                    _again.operator = operator
                    try:
                        result = operator(*args, **kwargs)
                    finally:
                        _again.operator = None
                else:
                    result = operator.overloadpacket(*args, **kwargs)  # an overload for numbers exists
            else:
                result = call_boxed(keyset, *args, **kwargs)
            if not is_captured():
                _wait_for_current_stream(torch_npu._C._npu_getDevice())
            return result

    return kernel


def decomposed(operator: torch._ops.OpOverload) -> Callable[..., Any]:
    """Returns PyTorch's own gradient in place of torch_npu's, called with the dispatch keys of the call.

    The CPU's entry leads to it: the derivative, or the composition of other operators, is the same for every device.
    """
    original = torch.library.get_kernel(operator, "AutogradCPU")
    call_boxed = original.call_boxed

    def kernel(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        return call_boxed(keyset, *args, **kwargs)

    return kernel


def or_steps(whole: Callable[..., Any], steps: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a composition that also receives PyTorch's own composition of the operator, with the dispatch keys of the call."""

    def kernel(keyset: torch._C.DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        return whole(lambda *some: steps(keyset, *some), *args, **kwargs)

    return kernel
