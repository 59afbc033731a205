"""Recording: a dispatch mode of PyTorch sees every operator, forward and backward, on whatever device, and writes what it got and gave."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import atexit
import base64
import contextlib
import ctypes
import datetime
import dis
import functools
import json
import math
import os
import platform
import re
import sys
import threading
import time
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from portacl_start import environment

from . import _frames, _summary
from ._deferring import NAMED, Compiled, Deferred, compiled, is_capturing, request_of, synchronize, tensor_functions
from ._modules import Modules
from ._reading import REMEMBERED, StackFrame
from ._writing import Writer

KEPT = ("all", "sample", "summary")
DEFAULT_LIMIT = 8 << 30
_FOR_WHOLE_TENSORS = 0.9  # the share of the limit after which tensors are no longer kept whole: calls go on in what is left
_DEPTH = 16  # frames of a call stack
_PRUNED_AT = 512  # pieces of memory or tensors that are known, after which those that are gone are looked for
_MOST_VIEWS = 64  # of one memory, that are remembered
_FORGOTTEN_AFTER = 200_000  # operators that autograd may still come back to

_quote = json.dumps

# What writes arguments that its schema does not say so of: the places of these arguments.
_WRITES: dict[str, tuple[int, ...]] = {
    "aten::native_batch_norm": (3, 4),
    "aten::cudnn_batch_norm": (3, 4),
    "aten::miopen_batch_norm": (3, 4),
    "aten::batch_norm_gather_stats": (3, 4),
    "aten::batch_norm_gather_stats_with_counts": (3, 4),
    "aten::batch_norm_update_stats": (1, 2),
}
# What returns memory as it comes, and what fills its first argument without a look at it: elements that mean nothing are not recorded.
_ALLOCATES = {
    f"aten::{name}" for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_")
}
_OVERWRITES = {
    f"aten::{name}_"
    for name in ("copy", "fill", "zero", "uniform", "normal", "random", "bernoulli", "exponential", "geometric", "cauchy", "log_normal", "set")
}  # fmt: skip
# What asks about tensors and computes nothing.
_PASSED_OVER = ("prim::", "profiler::", "aten::sym_", "aten::is_same_size", "aten::is_pinned", "aten::_is_all_true", "aten::size")
# Operators of others than PyTorch are not tagged as random.
_SOUNDS_RANDOM = re.compile(r"dropout|rand|bernoulli|multinomial|normal_|uniform|exponential|geometric|cauchy")
_PLAIN = (torch.Tensor, torch.nn.Parameter)

_NUMBERS = {dtype: str(dtype).rpartition(".")[2] for dtype in _summary._KINDS}


class _Operator:
    """What the schema of an operator says, looked up once."""

    def __init__(self, func: Any):
        schema = func._schema
        self.called = func._op if type(func) is torch._ops.OpOverload else func  # which has nothing to add
        overload = schema.overload_name or "default"
        self.name = f"{schema.name}.{overload}"
        self.is_passed_over = self.name.startswith(_PASSED_OVER)
        self.is_collective = self.name.startswith(("c10d::", "_c10d_functional::"))
        self.count = len(schema.returns)
        self.begin = f',"name":"{self.name}","args":['
        self.allocates = schema.name in _ALLOCATES
        self.overwritten = 0 if schema.name in _OVERWRITES else None
        self.outs = {argument.name for argument in schema.arguments if argument.is_out}
        self.written: list[tuple[int, str]] = []
        places: dict[str, tuple[int, str]] = {}
        takes_generator = False
        for number, argument in enumerate(schema.arguments):
            place = (number, argument.name)
            takes_generator |= "Generator" in str(argument.type)
            if argument.alias_info is not None:
                for one in argument.alias_info.before_set:
                    places[one] = place
                if argument.alias_info.is_write:
                    self.written.append(place)
        for number in _WRITES.get(schema.name, ()):
            self.written.append((number, schema.arguments[number].name))
        self.aliases: dict[int, tuple[int, str]] = {}
        for number, result in enumerate(schema.returns):
            if result.alias_info is not None:
                for one in result.alias_info.before_set:
                    if one in places:
                        self.aliases[number] = places[one]
        tagged = torch.Tag.nondeterministic_seeded in func.tags
        foreign = not self.name.startswith("aten::")
        self.draws = tagged or takes_generator or (foreign and _SOUNDS_RANDOM.search(self.name) is not None)


class _Seen(weakref.ref):  # type: ignore[type-arg]
    """A tensor that was described: by its number, once the call that describes it has been written."""

    __slots__ = ("writes", "storage", "address", "form", "needs_grad", "number", "view")

    writes: int
    storage: _Storage
    address: int
    form: _Form
    needs_grad: bool
    number: int
    view: Any  # by which others of the same memory are found; None for one with a name

    def fill(self, storage: _Storage, address: int, form: _Form, needs_grad: bool, number: int, view: Any) -> _Seen:
        self.writes = storage.writes
        self.storage = storage
        self.address = address
        self.form = form
        self.needs_grad = needs_grad
        self.number = number
        self.view = view
        return self


class _Storage:
    """What is known of a piece of memory, until something is written into it. Its address is given to no other as long as this lives."""

    __slots__ = ("key", "number", "writes", "place", "content", "summary", "views")

    def __init__(self, storage: torch.UntypedStorage, number: int):
        self.key = storage._weak_ref()
        self.number = number
        self.writes = 0
        self.place: Any = None  # of the elements that `content` tells of
        self.content = ""
        self.summary = -1  # the number of a summary that stands in `content`
        self.views: dict[Any, int] | None = None  # tensors that were described since it was written last: autograd makes objects for each use

    def __del__(self, free: Any = torch.UntypedStorage._free_weak_ref) -> None:
        free(self.key)


class _Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    supports_higher_order_operators = True  # they are run, and not recorded

    def __init__(self, recorder: Recorder):
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder

    def __enter__(self) -> Any:
        compiled = self._recorder._compiled
        if compiled is not None:  # PyTorch looks for it in the object first
            vars(self)["__torch_dispatch__"] = types.MethodType(compiled.dispatch, self)
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> Any:
        vars(self).pop("__torch_dispatch__", None)  # which has this object
        return super().__exit__(*error)  # type: ignore[no-untyped-call]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for one in types:
            if one not in _PLAIN:
                return NotImplemented  # a tensor that is made of others: those come here when it has taken itself apart
        return self._recorder._dispatch(func, args, kwargs or {})


class _LastingWriter(Writer):
    """A writer that tells a recorder where the file takes no more, and raises nothing: the program goes on."""

    def __init__(self, path: str, meta: dict[str, Any], limit: int | None, failed: Callable[[OSError], None]):
        self._failed = failed
        super().__init__(path, meta, limit)

        self.deferred: Deferred | None = None

    def defer(self) -> None:
        """From now on calls are written when the device has done them, where that is possible."""
        self.deferred = Deferred.begin(self._file.fileno(), self.bytes, self.limit)

    def read_state(self) -> None:
        """Sets what is told of the file."""
        if self.deferred is not None:
            state = self.deferred.state
            self.bytes, self.calls = state.bytes, state.calls
            self.is_full = state.is_full != 0

    def _whole(self, frame: bytes) -> bool:
        if self._file.closed:  # by another thread; its number may be another file's by now
            return False
        if self.deferred is None or self.is_broken or os.getpid() != self._process:
            return super()._whole(frame)
        is_there = self.deferred.frame(frame)
        self.read_state()
        if not is_there:
            self.is_broken = True
            number = self.deferred.state.failure
            self._cannot(OSError(number, os.strerror(number)))
        return is_there

    def _cannot(self, error: OSError) -> None:
        self._failed(error)

    def close(self, reason: str = "") -> None:
        if self.deferred is not None and os.getpid() == self._process and not self._file.closed:
            self.deferred.finish()
            self.read_state()
        try:
            super().close(reason)
        except OSError as error:  # of the file: frames are told above
            self._failed(error)


class Recorder:
    """Records the operators of this thread, and of autograd's threads that work for it, between start() and stop(), or in a `with`.

    `keep`      "all": tensors whole; "sample": a hash, statistics and `sample` elements; "summary": a hash and statistics
    `limit`     of the file, in bytes: short of it tensors are no longer kept whole, at it recording stops; both are said
    `steps`     range(first, end) of steps to be recorded; a step ends with the step() of the first optimizer that makes one, or with
                this object's step(), if that is called
    `module`    the path of a module, as in named_modules(): its operators and those of its gradient alone
    `model`     modules whose paths are to be known before they are called; others become known when one is called from outside of all
    `progress`  whether a line on standard error tells how far it is; None: if that is a terminal
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        keep: str = "all",
        limit: int | None = DEFAULT_LIMIT,
        *,
        sample: int = 64,
        steps: range | None = None,
        module: str | None = None,
        model: torch.nn.Module | list[torch.nn.Module] | None = None,
        progress: bool | None = None,
        stacks: bool = True,
    ):
        if keep not in KEPT:
            raise ValueError(f"keep={keep!r}: none of {', '.join(KEPT)}")
        if limit is not None and limit <= 0:
            raise ValueError(f"limit={limit}: must be a number of bytes above 0, or None")
        if sample < 1:
            raise ValueError(f"sample={sample}: must be at least 1")
        if steps is not None and (steps.step != 1 or steps.start < 0):
            raise ValueError(f"steps={steps}: must be range(first, end)")
        self.path = os.fspath(path)
        self.keep = keep
        self.limit = limit
        self.current_step = 0
        self.problems: list[str] = []
        self._sample, self._steps, self._module, self._stacks = sample, steps, module, stacks
        models = [] if model is None else [model] if isinstance(model, torch.nn.Module) else list(model)
        self._modules = Modules(*models)
        self._lock = threading.RLock()
        self._operators: dict[Any, _Operator] = {}
        self._storages: dict[int, _Storage] = {}
        self._seen: dict[int, _Seen] = {}
        self._prune_seen_at = _PRUNED_AT
        self._tensor_count = 0
        self._storage_count = 0
        self._prune_at = _PRUNED_AT
        self._forward: dict[int, tuple[int, str, str, int | None]] = {}
        self._code: dict[int, Any] = {}  # of the program, by its id
        self._not_program: dict[int, Any] = {}  # of PyTorch and of this
        self._modules_text: dict[tuple[str, str], str] = {}
        self._stack_numbers: dict[Any, int] = {}
        packages = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
        folders = [os.path.join(packages, "torch"), os.path.join(packages, "torch_npu"), _summary.PACKAGE]
        self._not_the_programs = tuple(folder + os.sep for folder in folders)
        self._threads: dict[int, int] = {}
        self._modes: list[_Mode] = []
        self._optimizer: weakref.ref[Any] | None = None
        self._steps_by_hand = False
        self._hook: Any = None
        self._writer: _LastingWriter | None = None
        self._is_whole = keep == "all"
        self._is_off = False
        self._is_failed = False
        self._reason = ""
        self._uncached: set[int] = set()
        self._wants_progress = (sys.stderr is not None and sys.stderr.isatty()) if progress is None else progress
        self._line_at = 0.0
        self._line_shown = False
        self._npu_is_host = False
        self._deferred: Deferred | None = None
        self._compiled: Compiled | None = None  # _dispatch and what it calls, where that is compiled
        self._storage_type: Any = _Storage
        self._process = os.getpid()  # what is forked from it writes nothing
        self._forks = _forks

    # ---- from start to stop

    def start(self) -> Recorder:
        """Opens the file and begins; raises OSError where it cannot be written."""
        if self._writer is not None:
            raise RuntimeError(f"{self.path}: this recording was started before")
        # Threads are numbered in the order in which they come.
        self._process = os.getpid()
        self._forks = _forks
        self._writer = _LastingWriter(self.path, self._meta(), self.limit, self._failed)
        there = environment.loaded()
        self._npu_is_host = there is not None and there.is_portacl and os.environ.get("PORTACL_CHECK", "0") in ("", "0")
        if self._npu_is_host and self.keep == "summary":
            self._writer.defer()
            self._deferred = self._writer.deferred
        if self._deferred is not None:
            atexit.register(self._exits)
            self._compiled = compiled(self._known_to_compiled(self._deferred))
        elif self._npu_is_host:
            # Every call is waited for. torch_npu asks once, at the first call; its thread for launches would be woken for each, in vain.
            os.environ.setdefault("TASK_QUEUE_ENABLE", "0")
        _watch_replays()
        _watching.add(self)
        self._modules.start()
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._hook = register_optimizer_step_post_hook(self._optimizer_stepped)
        mode = _Mode(self)
        self._modes.append(mode)
        mode.__enter__()
        return self

    def _known_to_compiled(self, deferred: Deferred) -> tuple[Any, ...]:
        """In the order of Known of src/record/tensor_texts.h."""
        named = frozenset((torch.dtype, torch.layout, torch.memory_format))  # of whose objects there is one for each value
        return (
            self, deferred, deferred.handle, tensor_functions(), self._lock.acquire, self._lock.release,
            self._seen, self._storages, self._modules.parameters, self._uncached,
            torch.Tensor, torch.nn.Parameter, torch.Size, torch.device, named,
            None, True, False, int, float, str, list, tuple,
            _form_of, _Contents, torch.UntypedStorage._free_weak_ref, _quote, REMEMBERED, NAMED,
            NotImplemented, Exception, RuntimeError,
            torch._C._current_graph_task_id, torch._C._current_autograd_node, _next_sequence, torch.is_grad_enabled, self._modules.current,
            synchronize,
        )  # fmt: skip

    def stop(self, reason: str = "the program ended it") -> None:
        """Ends the recording and closes the file. Later calls do nothing."""
        if self._writer is None:
            return
        if self._modes:
            self._modes.pop().__exit__(None, None, None)
        is_here = os.getpid() == self._process  # one that was forked has no threads that could give back a lock, nor a file of its own
        with self._lock if is_here else contextlib.nullcontext():
            trouble = None
            if is_here and not self._is_off:
                try:
                    self._reason = self._settle()
                except RuntimeError as error:  # of the device, which tells it once
                    trouble = error
            self._is_off = True
            self._modules.stop()
            if self._hook is not None:
                self._hook.remove()
                self._hook = None
            self._compiled = None
            self._storages.clear()
            self._seen.clear()
            self._forward.clear()
            self._writer.close(self._reason or reason)
        if is_here:
            atexit.unregister(self._exits)
            self._show(last=True)
        if trouble is not None:
            raise trouble

    def _settle(self) -> str:
        """Waits until all calls are written; returns why the recording ended before, or nothing."""
        writer = self._writer
        if self._deferred is None or writer is None:
            return self._reason
        self._deferred.wait()
        self._find_trouble()
        return self._say_full(writer) if writer.is_full and not self._is_off else self._reason

    def _exits(self) -> None:
        """Where the program ends without stop(): what it called is written."""
        if self._deferred is not None and os.getpid() == self._process:
            with contextlib.suppress(RuntimeError):
                self._deferred.wait()

    def __enter__(self) -> Recorder:
        return self.start()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.stop("the program ended it" if kind is None else f"the program raised {kind.__name__}")

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[None]:
        """Records the operators of another thread, too, in which this is called."""
        with _Mode(self):
            yield

    def step(self) -> None:
        """Ends a step, for programs without an optimizer. Once it has been called, optimizers no longer do."""
        self._steps_by_hand = True
        self._next_step()

    def _optimizer_stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._steps_by_hand:
            return
        first = None if self._optimizer is None else self._optimizer()
        if first is None:
            self._optimizer = weakref.ref(optimizer)
        elif first is not optimizer:
            return
        self._next_step()

    def _next_step(self) -> None:
        self.current_step += 1
        if self._steps is not None and self.current_step >= self._steps.stop:
            if self._is_off or os.getpid() != self._process:
                return
            reason = "all steps that were asked for are recorded"
            with self._lock:
                try:
                    reason = self._settle() or reason
                finally:  # the device may have failed
                    self._end(reason)

    def _end(self, reason: str) -> None:
        """Writes no more, though the program goes on."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if not self._is_off and self._writer is not None:
                self._is_off = True
                self._reason = reason
                self._storages.clear()
                self._writer.close(reason)

    def _failed(self, error: OSError) -> None:
        """The file takes no more: the recording ends, the program goes on."""
        if self._is_failed:
            return
        self._is_failed = True
        writer = self._writer
        calls = 0 if writer is None else writer.calls
        sentence = f"{self.path} cannot be written: {error.strerror or error}: the recording ends after {calls} calls, in step {self.current_step}"
        self._say(sentence)
        self._reason = sentence
        self._is_off = True
        if writer is not None:
            writer.close(sentence)  # without this object's lock: a thread that holds it may wait for the writer's

    def _say(self, sentence: str) -> None:
        self.problems.append(sentence)
        if sys.stderr is not None:
            with contextlib.suppress(OSError):  # it may be a file on the same full disk
                sys.stderr.write(("\n" if self._line_shown else "") + f"portacl record: {sentence}\n")
            self._line_shown = False

    def _meta(self) -> dict[str, Any]:
        there = environment.loaded()
        meta: dict[str, Any] = {
            "program": list(sys.argv),
            "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "machine": platform.machine(),
            "keep": self.keep,
            "sample": self._sample,
            "limit": self.limit,
            "steps": None if self._steps is None else [self._steps.start, self._steps.stop],
            "module": self._module,
            "cann": None if there is None else str(there),
            "rank": os.environ.get("RANK"),
        }
        npu = sys.modules.get("torch_npu")
        if npu is not None:
            meta["torch_npu"] = str(getattr(npu, "__version__", ""))
        return meta

    def summary(self) -> str:
        """How much was recorded, as a sentence."""
        if self._writer is None:
            return "nothing was recorded"
        calls, steps = self.calls, self.current_step
        return f"{calls} calls in {steps} whole step{'' if steps == 1 else 's'}, {_size_text(self._writer.bytes)} in {self.path}"

    @property
    def calls(self) -> int:
        """How many calls are written."""
        if self._writer is None:
            return 0
        self._writer.read_state()
        return self._writer.calls

    # ---- progress

    def _show_when_due(self) -> None:
        now = time.monotonic()
        if now - self._line_at > (0.25 if sys.stderr.isatty() else 5.0):
            self._line_at = now
            self._show()

    def _show(self, last: bool = False) -> None:
        if not self._wants_progress or sys.stderr is None or self._writer is None:
            return
        text = f"portacl record: step {self.current_step}, {self.calls} calls, {_size_text(self._writer.bytes)} in {self.path}"
        is_terminal = sys.stderr.isatty()
        with contextlib.suppress(OSError):
            sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if last else "") if is_terminal else text + "\n")
            sys.stderr.flush()
        self._line_shown = is_terminal and not last

    # ---- one operator: what follows is compiled (src/record/operator_calls.cc), too, which calls some of it

    def _dispatch(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self._is_off or self._writer is None or _forks != self._forks:
            return func(*args, **kwargs)
        if self._steps is not None and self.current_step < self._steps.start:
            return func(*args, **kwargs)
        operator = self._operator_of(func)
        if operator is None or operator.is_passed_over:
            return func(*args, **kwargs)

        in_backward = torch._C._current_graph_task_id() != -1
        of: tuple[int, str, str, int | None] | None = None
        root = module = ""
        if in_backward:
            of = self._gradient_of()
            if of is not None:
                root, module = of[1], of[2]
        current = self._modules.current()
        if current is not None and (of is None or not in_backward):
            root, module = current
        if self._module is not None and not (module == self._module or module.startswith(self._module + ".")):
            if not in_backward:
                self._remember(_next_sequence(), -1, root, module, None)
            result = func(*args, **kwargs)
            if operator.written:
                with self._lock:
                    self._written_places(operator, args, kwargs)
            return result
        return self._record(func, operator, args, kwargs, in_backward, of, root, module, current is not None)

    def _operator_of(self, func: Any) -> _Operator | None:
        operator = self._operators.get(func)
        if operator is None and isinstance(func, torch._ops.OpOverload):
            operator = self._operators[func] = _Operator(func)
        return operator

    def _gradient_of(self) -> tuple[int, str, str, int | None] | None:
        node: Any = torch._C._current_autograd_node()
        if node is None:
            return None
        variable = getattr(node, "variable", None)
        if variable is not None:  # a gradient is added up for a parameter
            place = self._place_of(variable)
            return None if place is None else (-1, *place, None)
        return self._forward.get(node._sequence_nr())

    def _place_of(self, variable: torch.Tensor) -> tuple[str, str] | None:
        return self._modules.module_of(variable)

    def _record(
        self,
        func: Any,
        operator: _Operator,
        args: Any,
        kwargs: Any,
        in_backward: bool,
        of: tuple[int, str, str, int | None] | None,
        root: str,
        module: str,
        in_module: bool,
    ) -> Any:
        writer = self._writer
        assert writer is not None
        stack = of[3] if of is not None and of[3] is not None else self._stack() if self._stacks else None
        with self._lock:
            call = _Contents(self)
            random = self._generator(args, kwargs) if operator.draws else None
            if operator.overwritten is None:
                given = call.joined(args)
            else:
                given = ",".join([call.json(one) if number != operator.overwritten else call.shape(one) for number, one in enumerate(args)])
            named = ""
            if kwargs:
                outs = operator.outs
                texts = [f'["{key}",{call.shape(one) if key in outs else call.json(one)}]' for key, one in kwargs.items()]
                named = f',"kwargs":{{"dict":[{",".join(texts)}]}}'
            needs_grad = call.needs_grad
            sequence = _next_sequence()
            if call.work and self._deferred is not None:
                self._deferred.hand_over(call.work, "")
        error = None
        try:
            result = func(*args, **kwargs)
        except Exception as raised:
            error = raised
        with self._lock:
            if self._is_off:
                if error is not None:
                    raise error
                return result
            call.begin_again(args, kwargs)
            places = self._written_places(operator, args, kwargs) if operator.written or operator.is_collective else None
            if in_backward:
                phase = "backward"
            elif in_module or (needs_grad and torch.is_grad_enabled()):
                phase = "forward"
            else:
                phase = "none"
            deferred = self._deferred
            index = writer.calls if deferred is None else deferred.calls
            parts = [
                f'{{"index":{index}{operator.begin}',
                given,
                f'],"step":{self.current_step},"phase":"{phase}"',
                named,
            ]
            if error is None:
                count = operator.count
                outputs = (result,) if count == 1 else () if count == 0 else result
                read = ",".join([call.shape(one) for one in outputs]) if operator.allocates else call.joined(outputs)
                parts.append(f',"outputs":[{read}]')
                if places:
                    parts.append(f',"written":[{",".join([f"[{place},{call.json(one)}]" for place, one in places])}]')
                if operator.aliases:
                    aliases = [
                        f"[{number},{_place(place, args)}]"
                        for number, place in operator.aliases.items()
                        if number < len(outputs) and isinstance(outputs[number], torch.Tensor)
                    ]
                    parts.append(f',"aliases":[{",".join(aliases)}]')
            else:
                parts.append(f',"outputs":[],"error":{self._error_text(error)}')
            if module or root:
                where = self._modules_text.get((module, root))
                if where is None:
                    where = f',"module":{_quote(module)}' if module else ""
                    where += f',"root":{_quote(root)}' if root else ""
                    self._modules_text[module, root] = where
                parts.append(where)
            if of is not None and of[0] >= 0:
                parts.append(f',"gradient_of":{of[0]}')
            if random is not None:
                parts.append(f',"random":{random}')
            if stack is not None:
                parts.append(f',"stack":{stack}')
            thread = self._threads.get(threading.get_ident())
            if thread is None:
                thread = self._threads[threading.get_ident()] = len(self._threads)
            parts.append(f',"thread":{thread}}}' if thread else "}")
            if not in_backward:
                self._remember(sequence, index, root, module, stack)
            if deferred is None:
                writer.text("".join(parts))
            else:
                try:
                    deferred.hand_over(call.work, "".join(parts))
                except RuntimeError as raised:  # torch_npu's queue has failed
                    error = error or raised
                state = deferred.state
                if state.is_full or state.failure:
                    self._find_trouble()
            self._see(call.new)
            if writer.is_full:
                self._end_full()
            elif self._wants_progress:
                self._show_when_due()
        if error is not None:
            raise error
        return result

    def _error_text(self, error: BaseException) -> str:
        return _quote(f"{type(error).__name__}: {error}"[:500])

    def _end_full(self) -> None:
        if self._writer is not None and self._writer.is_full:
            self._end(self._say_full(self._writer))

    def _say_full(self, writer: Writer) -> str:
        limit = _size_text(self.limit or 0)
        sentence = f"the limit of {limit} is reached after {writer.calls} calls, in step {self.current_step}: the recording ends here"
        self._say(sentence)
        return sentence

    def _find_trouble(self) -> None:
        """Tells what became of calls that were written later."""
        writer = self._writer
        if writer is None or writer.deferred is None:
            return
        writer.read_state()
        number = writer.deferred.state.failure
        if number:
            self._failed(OSError(number, os.strerror(number)))

    def _remember(self, sequence: int, index: int, root: str, module: str, stack: int | None) -> None:
        """The call for which autograd made its last node. Others that follow have none, and must not take its place."""
        node = sequence - 1
        if node not in self._forward:
            self._forward[node] = (index, root, module, stack)
            if len(self._forward) > _FORGOTTEN_AFTER:
                for key in list(self._forward)[: _FORGOTTEN_AFTER // 2]:
                    del self._forward[key]

    def _written_places(self, operator: _Operator, args: Any, kwargs: Any) -> list[tuple[str, torch.Tensor]]:
        """(place as JSON, tensor) for all that a call wrote, which are forgotten."""
        found: list[tuple[str, torch.Tensor]] = []
        if operator.is_collective:
            self._uncache(args)
        for number, name in operator.written:
            is_positional = number < len(args)
            place = f'"args",{number}' if is_positional else f'"kwargs","{name}"'
            for where, tensor in _tensors(args[number] if is_positional else kwargs.get(name), place):
                self._forget(tensor)
                found.append((f"[{where}]", tensor))
        return found

    def _uncache(self, args: Any) -> None:
        """It may be written at any time from now on."""
        for one in args:
            for _, tensor in _tensors(one, ""):
                self._forget(tensor, for_good=True)

    def _known(self, storage: torch.UntypedStorage, key: int) -> _Storage:
        known = self._storages.get(key)
        if known is None or _is_gone(key):
            if len(self._storages) >= self._prune_at:
                for old in [old for old in self._storages if _is_gone(old)]:
                    del self._storages[old]
                self._prune_at = max(_PRUNED_AT, 2 * len(self._storages))
            known = self._storages[key] = self._storage_type(storage, self._storage_count)
            self._storage_count += 1
            self._uncached.discard(key)
        return known

    def _see(self, described: list[_Seen]) -> None:
        """From now on calls may name these tensors by their numbers."""
        for seen in described:
            tensor = seen()
            if tensor is not None:
                self._seen[id(tensor)] = seen
            storage = seen.storage
            if seen.view is not None and seen.writes == storage.writes:
                views = storage.views
                if views is None or len(views) >= _MOST_VIEWS:
                    views = storage.views = {}
                views[seen.view] = seen.number
        if len(self._seen) >= self._prune_seen_at:
            self._prune_seen()

    def _prune_seen(self) -> None:
        for key in [key for key, seen in self._seen.items() if seen() is None]:
            del self._seen[key]
        self._prune_seen_at = max(_PRUNED_AT, 2 * len(self._seen))

    def _forget_all(self) -> None:
        """A graph was replayed, which may have written whatever was there when it was captured."""
        if self._is_off or _forks != self._forks:
            return
        with self._lock:
            for known in self._storages.values():
                known.writes += 1
                known.place = None
                known.views = None

    def _forget(self, tensor: torch.Tensor, for_good: bool = False) -> None:
        try:
            key = tensor.untyped_storage()._cdata
        except (RuntimeError, NotImplementedError):  # it has no storage
            return
        known = self._storages.get(key)
        if known is not None:
            known.writes += 1
            known.place = None
            known.views = None
        if for_good:
            self._uncached.add(key)

    def _stack(self) -> int | None:
        places: list[Any] = []
        frame: Any = sys._getframe(3)
        codes, others = self._code, self._not_program
        while frame is not None:
            code = frame.f_code
            place = id(code)  # a hash of its instructions is what its own hash is
            if place not in others:
                if place not in codes:
                    (codes if self._is_program(code) else others)[place] = code
                    continue
                places.append(place)
                places.append(frame.f_lasti)
                if len(places) == 2 * _DEPTH:
                    break
            frame = frame.f_back
        key = tuple(places)
        number = self._stack_numbers.get(key)
        if number is None and key:
            found = [(codes[place], at) for place, at in zip(key[::2], key[1::2])]
            number = self._stack_numbers[key] = self._new_stack(found)
        return number

    def _is_program(self, code: Any) -> bool:
        name: str = code.co_filename
        return not (name.startswith(self._not_the_programs) or name.startswith("<frozen "))

    def _new_stack(self, places: list[tuple[Any, int]]) -> int:
        """The number of a call stack, of which the function and the instruction are known."""
        assert self._writer is not None
        return self._writer.stack(tuple(StackFrame(code.co_filename, _line(code, at), code.co_name) for code, at in places))

    def _generator(self, args: Any, kwargs: Any) -> str | None:
        """JSON for the generator that a call will draw from, as it is before it."""
        values = [*args, *kwargs.values()]
        generator = next((one for one in values if isinstance(one, torch.Generator)), None)
        if generator is not None:
            return _generator_json(generator, False)
        device = next((one.device for value in values for _, one in _tensors(value, "")), None)
        if device is None:
            device = next((one for one in values if isinstance(one, torch.device)), torch.device("cpu"))
        default = _default_generator(device)
        return None if default is None else _generator_json(default, True)


_is_gone: Any = torch.UntypedStorage._expired  # of memory that a _Storage knows
# The number of autograd's next node: it has made that of a call before the call comes here.
_next_sequence: Any = getattr(torch.autograd, "_get_sequence_nr")  # noqa: B009 # it is not among its names


_watching: weakref.WeakSet[Recorder] = weakref.WeakSet()  # of graphs' replays, which are no operators


def _watch_replays() -> None:
    graph = getattr(getattr(sys.modules.get("torch_npu"), "npu", None), "NPUGraph", None)
    if graph is None or hasattr(graph.replay, "is_watched"):
        return
    replay = graph.replay

    @functools.wraps(replay)
    def watched(one: Any) -> None:
        replay(one)
        for recorder in list(_watching):
            recorder._forget_all()

    watched.is_watched = True  # type: ignore[attr-defined]
    graph.replay = watched


_forks = 0  # between the first process and this one


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


def _tensors(value: Any, place: str) -> list[tuple[str, torch.Tensor]]:
    """All tensors in an argument with their places, which begin with this one."""
    if isinstance(value, torch.Tensor):
        return [(place, value)]
    if isinstance(value, (list, tuple)):
        return [found for number, one in enumerate(value) for found in _tensors(one, f"{place},{number}")]
    return []


def _line(code: Any, at: int) -> int:
    """The line of an instruction."""
    line = code.co_firstlineno
    for start, number in dis.findlinestarts(code):
        if start > at:
            break
        line = number if number is not None else line
    return int(line)


def _place(place: tuple[int, str], args: Any) -> str:
    return f'["args",{place[0]}]' if place[0] < len(args) else f'["kwargs","{place[1]}"]'


def _default_generator(device: torch.device) -> torch.Generator | None:
    if device.type == "cpu":
        return torch.default_generator
    module: Any = getattr(torch, device.type, None)
    generators = getattr(module, "default_generators", ())
    index = device.index if device.index is not None else module.current_device() if module is not None else 0
    return generators[index] if index < len(generators) else None


def _generator_json(generator: torch.Generator, is_default: bool) -> str:
    state = generator.get_state().cpu().contiguous()
    content = ctypes.string_at(state.data_ptr(), state.numel())
    offset = None
    if generator.device.type != "cpu":
        try:
            offset = generator.get_offset()
        except RuntimeError:
            offset = None
    seed = generator.initial_seed()
    text = base64.b64encode(content).decode("ascii")
    return f'{{"generator":["{generator.device}",{seed},{_quote(offset)},"{text}",{_quote(is_default)}]}}'


def _size_text(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "KB", "MB", "GB"):
        if value < 1024 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError


def _number(value: float) -> str:
    """A float as JSON, exactly."""
    if value != value or value in (math.inf, -math.inf):
        return f'{{"float":"{value!r}"}}'
    return repr(value)


class _Contents:
    """Arguments or results of one call, as JSON. What the device still computes is waited for before the first contents are read."""

    __slots__ = ("_recorder", "_ready", "_deferred", "_given", "needs_grad", "new", "work")

    def __init__(self, recorder: Recorder):
        self._recorder = recorder
        self._ready: set[int] = set()
        self._deferred = recorder._deferred
        self._given: Any = None
        self.needs_grad = False
        self.new: list[_Seen] = []
        self.work: list[int] = []  # requests for summaries

    def begin_again(self, args: Any, kwargs: Any) -> None:
        """From arguments to results."""
        self._ready = set()
        self._given = (args, kwargs)
        self.work = []

    def joined(self, values: Any) -> str:
        """The same, with commas."""
        compiled = self._recorder._compiled
        if compiled is not None and type(values) in (tuple, list, torch.Size):
            text: str = compiled.describe(self, values)
            return text
        return ",".join(self.texts(values))

    def texts(self, values: Any) -> list[str]:
        """JSON for each of the arguments or results."""
        found = []
        for value in values:
            kind = type(value)
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                found.append(f'{{"tensor":{self._tensor(value)}}}')
            elif kind is int:
                found.append(str(value))
            elif value is None:
                found.append("null")
            else:
                found.append(self.json(value))
        return found

    def json(self, value: Any) -> str:
        kind = type(value)
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            return f'{{"tensor":{self._tensor(value)}}}'
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return str(value)
        if kind is float:
            return _number(value)
        if kind is list or kind is tuple or kind is torch.Size:
            return f"[{self.joined(value)}]"
        if kind is str:
            return _quote(value)
        return self._rare(value)

    def _rare(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f'{{"tensor":{self._tensor(value)}}}'
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, torch.SymInt)):
            return str(int(value))
        if isinstance(value, (float, torch.SymFloat)):
            return _number(float(value))
        if isinstance(value, complex):
            return f'{{"complex":["{value.real!r}","{value.imag!r}"]}}'
        if isinstance(value, (list, tuple)):
            return f"[{','.join([self.json(one) for one in value])}]"
        if isinstance(value, torch.dtype):
            return f'{{"dtype":"{str(value).rpartition(".")[2]}"}}'
        if isinstance(value, torch.device):
            return f'{{"device":"{value}"}}'
        if isinstance(value, torch.layout):
            return f'{{"layout":"{str(value).rpartition(".")[2]}"}}'
        if isinstance(value, torch.memory_format):
            return f'{{"memory_format":"{str(value).rpartition(".")[2]}"}}'
        if isinstance(value, torch.Generator):
            return _generator_json(value, False)
        if isinstance(value, str):
            return _quote(str(value))
        return f'{{"opaque":[{_quote(type(value).__name__)},{_quote(_text_of(value))}]}}'

    def shape(self, value: Any) -> str:
        """A tensor whose elements mean nothing yet."""
        if not isinstance(value, torch.Tensor):
            return f"[{','.join([self.shape(one) for one in value])}]" if isinstance(value, (list, tuple)) else self.json(value)
        if value.requires_grad:
            self.needs_grad = True
        number = None
        if value.layout is torch.strided:
            try:
                storage = value.untyped_storage()
                number = self._recorder._known(storage, storage._cdata).number
            except (RuntimeError, NotImplementedError):
                number = None
        return f'{{"tensor":{_described(value, number, chr(34) + "summary" + chr(34))}}}'

    # ---- tensors

    def _tensor(self, tensor: torch.Tensor) -> str:
        compiled = self._recorder._compiled
        if compiled is not None:
            text: str | None = compiled.describe(self, tensor)
            if text is not None:
                return text
        return self.anew(tensor)

    def anew(self, tensor: torch.Tensor) -> str:
        needs_grad = tensor.requires_grad
        if needs_grad:
            self.needs_grad = True
        recorder = self._recorder
        key = id(tensor)
        seen = recorder._seen.get(key)
        # The same object, in the same memory, which nothing has written since.
        if (
            seen is not None
            and seen() is tensor
            and seen.writes == seen.storage.writes
            and seen.needs_grad == needs_grad
            and seen.address == tensor.data_ptr()
            and seen.form is _form_of(tensor)  # assigning to .data changes it without an operator
            and recorder._tensor_count - seen.number < REMEMBERED
        ):
            return str(seen.number)
        if tensor.layout is not _STRIDED:
            return self._without_strides(tensor)
        try:
            storage = tensor.untyped_storage()
            place = storage._cdata
        except (RuntimeError, NotImplementedError):
            return _described(tensor, None, '"summary","problem":"it has no memory"')
        known = recorder._storages.get(place)
        if known is None or _is_gone(place):
            known = recorder._known(storage, place)
        named = recorder._modules.parameters.get(key)
        name = named[1] if named is not None and named[0]() is tensor else None
        form = _form_of(tensor)
        # The CPU's memory may be written by what PyTorch does not see, NumPy's arrays for one; a device's is not.
        may_have_changed = form.is_cpu or place in recorder._uncached
        address = tensor.data_ptr()
        is_turned = tensor.is_neg() or (form.is_complex and tensor.is_conj())
        view: Any = None
        if name is None and not may_have_changed:
            view = (address, form, needs_grad, type(tensor), is_turned and (tensor.is_conj(), tensor.is_neg()))
            if known.views is not None:
                earlier = known.views.get(view)
                if earlier is not None and recorder._tensor_count - earlier < REMEMBERED:
                    return str(earlier)
        content = None
        if form.request is not None and not is_turned and self._deferred is not None and not may_have_changed:
            content = self._deferred_content(tensor, storage, known, form, address)
        if content is None:
            content = self._content(tensor, known, form, address, is_turned, may_have_changed)
        text = _described_as(form, tensor, needs_grad, is_turned, known.number, content, name)
        if not may_have_changed:
            number = recorder._tensor_count
            recorder._tensor_count = number + 1
            self.new.append(_Seen(tensor).fill(known, address, form, needs_grad, number, view))
            return f'{{"id":{number},{text[1:]}'
        return text

    def _deferred_content(self, tensor: torch.Tensor, storage: torch.UntypedStorage, known: _Storage, form: _Form, address: int) -> str | None:
        """The same as _content, where the device's thread reads the elements; None where they are not in the memory."""
        if (tensor.storage_offset() + form.extent) * form.dtype.itemsize > storage.nbytes():
            return None
        place: Any = (form.dtype, address, form.count) if form.order is not None else (form.dtype, address, form.count, form, False, False)
        deferred = self._deferred
        assert deferred is not None and form.request is not None
        number = deferred.summaries
        if known.place != place or (known.summary >= 0 and number - known.summary > NAMED):
            deferred.summaries = number + 1
            self.work += (number, address, *form.request)
            known.summary = number
            known.place = place
            known.content = f'\x01{number}\x02"'
        return f"{known.content[:-1]}{form.order_text}" if form.order_text else known.content

    def _content(self, tensor: torch.Tensor, known: _Storage, form: _Form, address: int, is_turned: bool, may_have_changed: bool) -> str:
        """JSON from "kept" on: what is kept of the elements."""
        recorder = self._recorder
        if form.problem is not None:
            return form.problem
        if form.extent and (tensor.storage_offset() + form.extent) * form.dtype.itemsize > tensor.untyped_storage().nbytes():
            return '"summary","problem":"its storage is smaller than its view"'
        dtype, count = form.dtype, form.count
        is_host = form.is_cpu or (form.is_npu and recorder._npu_is_host)
        order = form.order
        # Elements that fill their memory are read there, in the order in which they lie: a transposed matrix is the matrix.
        is_direct = is_host and order is not None and not is_turned and recorder.keep != "sample"
        if is_direct:
            place: Any = (dtype, address, count)
        else:
            place = (dtype, address, count, form, tensor.is_conj(), tensor.is_neg())
            order = ()
        deferred = self._deferred
        if known.place != place or may_have_changed or (known.summary >= 0 and deferred is not None and deferred.summaries - known.summary > NAMED):
            late = ({tensor.device.index} if form.is_npu else self._may_come_from()) - self._ready
            if late:
                if is_capturing():
                    return '"summary","problem":"the device did not come to its elements"'
                for device in late:
                    synchronize(device)
                self._ready |= late
            known.summary = -1
            try:
                if is_direct:
                    known.content = self._elements(tensor, address, count, dtype)
                else:
                    known.content = self._apart(tensor, form, address, is_turned, is_host)
            except (RuntimeError, NotImplementedError, TypeError) as error:
                return f'"summary","problem":{_quote(f"its elements could not be read: {error}"[:300])}'
            known.place = place
        # The hash comes last.
        return f"{known.content[:-1]}{form.order_text}" if order else known.content

    def _may_come_from(self) -> set[int]:
        """The devices that may still compute a result on the host."""
        if self._given is None or "torch_npu" not in sys.modules:
            return set()
        args, kwargs = self._given
        return {one.device.index for value in (*args, *kwargs.values()) for _, one in _tensors(value, "") if one.device.type == "npu"}

    def _apart(self, tensor: torch.Tensor, form: _Form, address: int, is_turned: bool, is_host: bool) -> str:
        """The same of elements that do not fill their memory in an order that is known."""
        recorder = self._recorder
        if is_host and not is_turned and recorder.keep != "sample" and not recorder._is_whole:
            found = _summary.text_of_view(address, form.count, form.dtype, tensor.shape, tensor.stride())
            if found is not None:
                return f'"summary","statistics":{found[1]},"hash":"{found[0]}"'
        return self._copied(tensor, form.count, form.dtype, is_host)

    def _copied(self, tensor: torch.Tensor, count: int, dtype: torch.dtype, is_host: bool) -> str:
        """The same of elements that must be brought in order, or to the host, first."""
        recorder = self._recorder
        if is_host:
            memory = _on_host(tensor).resolve_conj().resolve_neg().contiguous()
        else:
            memory = tensor.resolve_conj().resolve_neg()
            memory = (memory.cpu() if recorder._is_whole else memory).contiguous().view(-1)
        return self._elements(memory, memory.data_ptr() if memory.is_cpu else 0, count, dtype)

    def _elements(self, memory: torch.Tensor, address: int, count: int, dtype: torch.dtype) -> str:
        recorder = self._recorder
        assert recorder._writer is not None
        if address or count == 0:
            digest, statistics = _summary.text_of_memory(address, count, dtype)
        else:
            digest, statistics = _summary.text_on_device(memory)
        size = count * dtype.itemsize
        if recorder._is_whole and (address or count == 0) and self._has_room(size):
            content = (ctypes.c_char * size).from_address(address) if size else b""
            key = _frames.content_hash(content)
            recorder._writer.contents(key, content)
            return f'"all","statistics":{statistics},"key":"{key}","hash":"{digest}"'
        if recorder.keep == "sample" and count:
            positions = _positions(count, recorder._sample)
            flat = memory.view(-1)
            chosen = flat[torch.tensor(positions, device=flat.device)].cpu()
            text = base64.b64encode(bytes(chosen.view(torch.uint8).tolist())).decode("ascii")
            return f'"sample","statistics":{statistics},"sample":[{positions},"{text}"],"hash":"{digest}"'
        return f'"summary","statistics":{statistics},"hash":"{digest}"'

    def _has_room(self, size: int) -> bool:
        recorder = self._recorder
        assert recorder._writer is not None
        if recorder._writer.has_room(size, _FOR_WHOLE_TENSORS):
            return True
        recorder._is_whole = False
        limit = _size_text(recorder.limit or 0)
        sentence = (
            f"{_size_text(recorder._writer.bytes)} of the limit of {limit} are written: from call {recorder._writer.calls} on, "
            f"in step {recorder.current_step}, tensors are kept as a hash and statistics"
        )
        recorder._say(sentence)
        recorder._writer.meta({"summaries_from": recorder._writer.calls, "summaries_because": sentence})
        return False

    def _without_strides(self, tensor: torch.Tensor) -> str:
        """Sparse tensors are recorded as the tensors that they are made of."""
        try:
            if tensor.layout is torch.sparse_coo:
                parts = [tensor._indices(), tensor._values()]
            elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
                parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
            elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
                parts = [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
            else:
                return _described(tensor, None, f'"summary","problem":"the elements of layout {tensor.layout} are not recorded"')
            texts = [self._tensor(one) for one in parts]
        except (RuntimeError, NotImplementedError) as error:
            return _described(tensor, None, f'"summary","problem":{_quote(f"its parts could not be read: {error}"[:300])}')
        kept = "all" if all('"kept":"all"' in text for text in texts) else "summary"
        return _described(tensor, None, f'"{kept}","parts":[{",".join(texts)}]')


def _text_of(value: Any) -> str:
    try:
        return repr(value)[:200]
    except Exception as error:
        return f"{type(error).__name__} instead of its text"


def _described(tensor: torch.Tensor, storage: int | None, content: str, name: str | None = None) -> str:
    """A TensorRecord as JSON; `content` begins with the value of "kept"."""
    is_turned = tensor.layout is _STRIDED and (tensor.is_conj() or tensor.is_neg())
    return _described_as(_form_of(tensor), tensor, tensor.requires_grad, is_turned, storage, content, name)


def _described_as(form: _Form, tensor: torch.Tensor, needs_grad: bool, is_turned: bool, storage: int | None, content: str, name: str | None) -> str:
    more = ""
    if form.is_strided:
        offset = tensor.storage_offset()
        if offset:
            more = f',"offset":{offset}'
        if is_turned:
            if tensor.is_conj():
                more += ',"conjugated":true'
            if tensor.is_neg():
                more += ',"negated":true'
    if storage is not None:
        more += f',"storage":{storage}'
    if type(tensor) is not torch.Tensor:
        more += f',"type":{_quote(type(tensor).__name__)}'
    if needs_grad:
        more += ',"requires_grad":true'
    if name is not None:
        more += f',"name":{_quote(name)}'
    return f'{form.start}{more},"kept":{content}}}'


class _Form:
    """What is the same of all tensors of one dtype, shape, layout and device, looked up once."""

    __slots__ = (
        "dtype", "item_size", "start", "count", "order", "order_text", "problem", "is_strided", "is_cpu", "is_npu", "is_complex", "extent", "request",
    )  # fmt: skip

    def __init__(self, tensor: torch.Tensor):
        self.dtype = tensor.dtype
        self.item_size = tensor.dtype.itemsize
        self.is_strided = tensor.layout is _STRIDED
        self.is_cpu = tensor.is_cpu
        self.is_npu = tensor.device.type == "npu"
        self.is_complex = tensor.is_complex()
        self.count = tensor.numel()
        self.problem: str | None = None  # why elements are not recorded
        if tensor.is_meta:
            self.problem = '"summary","problem":"a tensor of device meta has no elements"'
        elif tensor.is_quantized:
            self.problem = '"summary","problem":"the elements of quantized tensors are not recorded"'
        self.order: tuple[int, ...] | None = ()
        self.extent = 0  # elements of memory from the first to the last
        layout = f'null,"layout":"{str(tensor.layout).rpartition(".")[2]}"'
        if self.is_strided:
            layout = f"[{','.join(map(str, tensor.stride()))}]"
            if self.count:
                self.extent = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))
            if not tensor.is_contiguous():
                self.order = _order_in_memory(tensor.shape, tensor.stride())
        self.order_text = "" if not self.order else f':{",".join(map(str, self.order))}","order":{list(self.order)}'
        # What a summary is asked for by, besides number and address; None where the device's thread cannot tell it, or not of all such tensors.
        self.request: tuple[int, ...] | None = None
        if self.is_npu and self.is_strided and self.problem is None and not self.is_complex:
            self.request = request_of(tensor, self.order is None)
        dtype = _NUMBERS.get(tensor.dtype) or str(tensor.dtype).rpartition(".")[2]
        shape = ",".join(map(str, tensor.shape))
        self.start = f'{{"dtype":"{dtype}","shape":[{shape}],"strides":{layout},"device":"{tensor.device}"'


_FORMS: dict[Any, _Form] = {}
_MOST_FORMS = 4096
_STRIDED = torch.strided


def _form_of(tensor: torch.Tensor) -> _Form:
    place = (tensor.dtype, tensor.shape, tensor.stride() if tensor.layout is _STRIDED else tensor.layout, tensor.device)
    form = _FORMS.get(place)
    if form is None:
        if len(_FORMS) >= _MOST_FORMS:
            _FORMS.clear()
        form = _FORMS[place] = _Form(tensor)
    return form


def _order_in_memory(shape: Any, strides: Any) -> tuple[int, ...] | None:
    """The dims in the order in which they lie in memory, if elements fill it without gaps; () for the order of rows."""
    order = sorted(range(len(shape)), key=lambda dim: (-strides[dim], dim))
    extent = 1
    for dim in reversed(order):
        if shape[dim] != 1:
            if strides[dim] != extent:
                return None
            extent *= shape[dim]
    moved = tuple(dim for dim in order if shape[dim] != 1)
    return () if list(moved) == sorted(moved) else tuple(order)


def _positions(count: int, wanted: int) -> list[int]:
    """Places in the order of rows, evenly, with the first and the last."""
    if count <= wanted:
        return list(range(count))
    if wanted == 1:
        return [0]
    return [number * (count - 1) // (wanted - 1) for number in range(wanted)]


def _on_host(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_cpu:
        return tensor
    from portacl.torch import _memory

    return _memory.on_cpu(tensor)


def record(path: str | os.PathLike[str], keep: str = "all", limit: int | None = DEFAULT_LIMIT, **options: Any) -> Recorder:
    """`with record("run.rec"):` records what happens in it; the options are Recorder's."""
    return Recorder(path, keep, limit, **options)
