"""Decides for every operator between torch_npu's kernel, the CPU's and an error, and tells PyTorch's dispatcher."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch_npu

from . import FallbackWarning, _calls, _compositions, _float64, _kernels, _refusals, _table

_registered = torch._C._dispatch_get_registrations_for_dispatch_key
_has = torch._C._dispatch_has_kernel_for_dispatch_key

# CPU kernels of operators that do not work on dense tensors: other layouts, packed formats of one CPU library, PyTorch's own
# tests.
_NOT_FOR_NPU = (
    "_empty_affine_quantized",
    "_empty_per_channel_affine_quantized",
    "_foobar",
    "_make_dep_token",
    "_make_per",
    "_nested",
    "_spdiags",
    "_test_",
    "_to_sparse",
    "_efficientzerotensor",
    "_convert_weight_to_int4pack_for_cpu",
    "_dyn_quant",
    "_weight_int4pack_mm_for_cpu",
    "dequantize",
    "from_file",
    "mkldnn_",
    "quantize_",
    "quantized_",
    "sspaddmm",
    "to_mkldnn",
)

# Operators that are registered for every device, but whose code supports only some.
_FOR_SOME_DEVICES = (
    "aten::conj_physical_",
    "aten::kaiser_window",
    "aten::kaiser_window.beta",
    "aten::kaiser_window.periodic",
    "aten::mode.values",
)
# Operators for which torch_npu uses an older version of a function and then ignores an argument: that version.
_IGNORED_WITHOUT = {"npu::npu_rotary_mul": ("rotate", "aclnnRotaryPositionEmbeddingV2")}
# Operators that torch_npu refuses on other products.
_ON_950_ALONE = {"aten::_scaled_mm", "aten::_scaled_mm_v2"}
# What torch_npu has without its gradient, for which PyTorch composes it of operators that have one.
_WITHOUT_GRADIENT = {"aten::slogdet"}
# Operators whose float16 results torch_npu makes in a format of the device's own, even where a program does not allow that. Hardly
# any operator takes such a tensor.
_IN_FRACTAL_NZ = frozenset(f"npu::{name}" for name in ("npu_bmmV2", "npu_bmm_v2_mat1_backward", "npu_bmm_v2_mat2_backward"))
# Operators that torch_npu refuses for tensors that are not contiguous, and PyTorch's CPU does not.
_OF_CONTIGUOUS = frozenset({"aten::_cdist_backward"})
# Operators whose results have shapes that depend on values.
_SHAPED_BY_VALUES = frozenset(
    f"aten::{name}"
    for name in (
        *("nonzero", "nonzero.out", "masked_select", "masked_select.out"),
        *("_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"),
    )
)


def _operator(name: str) -> torch._ops.OpOverload | None:
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
    except AttributeError:
        return None


_NO_CPU_KERNEL = "PyTorch has no CPU kernel that could stand in"
# Packages whose lines tell a user nothing about the program: this one, PyTorch and torch_npu.
_NOT_THE_PROGRAM = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__, torch_npu.__file__))
_BACKWARD = "_engine_run_backward"  # the function of PyTorch in which a thread waits for gradients
_LINE = re.compile(r'File "([^"]+)", line (\d+)')


def _warn(message: str) -> None:
    """A FallbackWarning that points at the program's line that called.

    Autograd computes a device's gradients in a thread of its own, whose only Python code is this package's. There the warning names
    the gradient, and points at the line of the forward call where PyTorch recorded it (torch.autograd.detect_anomaly), else at the line
    that asked for gradients.
    """
    frame = _of_program(sys._getframe(1))
    if frame is not None:
        _warn_at(message, frame)
        return
    node = torch._C._current_autograd_node()
    gradient = "a thread without Python code" if node is None else f"the gradient {node.name()}"
    message = f"{message}; called by {gradient}"
    recorded = [] if node is None else node.metadata.get("traceback_") or []
    places = [place for lines in recorded for place in _LINE.findall(lines) if not place[0].startswith(_NOT_THE_PROGRAM)]
    if places:
        file, line = places[-1]
        warnings.warn_explicit(message, FallbackWarning, file, int(line))
        return
    here = threading.get_ident()
    waiting = [caller for thread, top in sys._current_frames().items() if thread != here and (caller := _asking(top))]
    frame = _of_program(waiting[0]) if len(waiting) == 1 else None  # if there are several, it is unknown which one requested this
    if frame is not None:
        _warn_at(message, frame)
    else:
        warnings.warn_explicit(message, FallbackWarning, f"<{gradient}>", 1)


def _of_program(frame: FrameType | None) -> FrameType | None:
    """Returns the program's innermost frame, from this one outwards."""
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        frame = frame.f_back
    return frame


def _asking(frame: FrameType | None) -> FrameType | None:
    """Returns the frame that waits for gradients, in the thread whose innermost frame is given."""
    while frame is not None and frame.f_code.co_name != _BACKWARD:
        frame = frame.f_back
    return frame


def _warn_at(message: str, frame: FrameType) -> None:
    known = frame.f_globals
    warnings.warn_explicit(
        message,
        FallbackWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=known.get("__name__") or "<unknown>",
        registry=known.setdefault("__warningregistry__", {}),
    )


class Installation:
    """The registrations, which last as long as the process."""

    def __init__(self, mode: str, count_own: bool):
        self._mode = mode
        self._count_own = count_own
        self._calls: list[_calls.Calls] = []
        self._table = _table.table_for(torch_npu.__version__, _table.product())
        self._present = _table.loaded_functions()
        self._has_float64_functions = _float64.are_there()
        # Without this, every sum would have to test here whether its first operand is a number that lies on the CPU.
        os.environ.setdefault("PORTACL_ADD_V3", "all")
        # For products older than Atlas A2, torch_npu would have the graph engine compile the first operators of every thread.
        torch.npu.set_compile_mode(jit_compile=False)
        self._libraries = {
            (namespace, key): torch.library.Library(namespace, "IMPL", key)
            for namespace in ("aten", "npu")
            for key in ("PrivateUse1", "AutogradPrivateUse1")
        }
        own = set()
        backend = {name for name in _registered("PrivateUse1") if name.startswith(("aten::", "npu::"))}
        autograd = {name for name in _registered("AutogradPrivateUse1") if name.startswith("aten::")}
        for name in sorted(backend):
            if name.startswith("npu::") and self._table.needs(name) is None:
                continue
            lacking = self._lacking(name)
            if lacking:
                self._stand_in(name, lacking)
            elif name in _ON_950_ALONE and not self._table.product.startswith("Ascend950"):
                self._leave_to_cpu(name, "torch_npu has it on Ascend 950 alone")
            else:
                own.add(name)
                if name in ("aten::copy_", "aten::clone"):
                    if self._present("aclnnComplex"):
                        why = "torch_npu copies into a conjugate as if it were none, and aclnnInplaceCopy lacks complex32"
                        self._fall_back_for(name, _kernels.between_devices(_kernels.takes_conjugate_or_complex32), why)
                    else:
                        self._fall_back_for(name, _kernels.takes_aclnn_complex, "portacl lacks aclnnComplex")
                elif name == "aten::ge.Tensor":
                    self._fall_back_for(name, _kernels.takes_host_self, "torch_npu looks up aclnnLessScalar, which CANN lacks")
                elif name == "aten::_pack_padded_sequence":
                    self._compose(name)
                elif name in _compositions.BEFORE_950 and not self._table.product.startswith("Ascend950"):
                    self._compose(name)
                elif name in _SHAPED_BY_VALUES:
                    self._refuse_in_graphs(name)
                elif name in _IGNORED_WITHOUT and not self._present(_IGNORED_WITHOUT[name][1]):
                    self._refuse_argument(name, *_IGNORED_WITHOUT[name])
                elif refused := self._refused(name):
                    self._fall_back_for(name, *refused)
                elif count_own and self._table.needs(name):
                    self._count(name)
        for name in sorted(autograd | {name for name in backend - own if _has(name, "CompositeImplicitAutograd")}):
            self._use_right_gradient(name, name in autograd)
        self.own = frozenset(own)
        for name in sorted(set(_registered("CPU")) - backend):
            if name.startswith("aten::") and not name[6:].startswith(_NOT_FOR_NPU):
                self._add(name)
        for name in sorted(set(_FOR_SOME_DEVICES) - backend):
            operator = _operator(name)
            if operator is not None:
                self._register(name, "PrivateUse1", self._fallback(operator, "torch_npu has no kernel for it"))

    def report(self) -> str:
        return _calls.render(self._calls, self._count_own)

    def _lacking(self, name: str) -> list[str]:
        needs = self._table.needs(name)
        return self._table.missing(needs, self._present)

    def _register(self, name: str, key: str, kernel: Callable[..., Any], **how: bool) -> None:
        self._libraries[name.split("::")[0], key].impl(name, kernel, key, **how)

    def _stand_in(self, name: str, lacking: list[str]) -> None:
        """Returns the CPU's kernel, if there is one, for an operator that torch_npu has but cannot run here."""
        operator = _operator(name)
        if operator is None:
            return
        if name in _compositions.BY_NAME:
            self._compose(name)
        elif self._has_whole(name):
            whole, steps = _compositions.OR_STEPS[name].compute, _kernels.decomposed(operator)
            for key in ("PrivateUse1", "AutogradPrivateUse1"):
                self._register(name, key, _kernels.or_steps(whole, steps), with_keyset=True)
        elif name.partition("::")[2].startswith(_NOT_FOR_NPU):
            reason = "its results are no dense tensors, for which PyTorch's CPU kernels could stand in"
            self._register(name, "PrivateUse1", _kernels.missing(operator, lacking, reason))
        elif _has_cpu_kernel(name):
            self._register(name, "PrivateUse1", self._fallback(operator, f"portacl lacks {', '.join(lacking)}"))
        else:
            self._register(name, "PrivateUse1", _kernels.missing(operator, lacking, _NO_CPU_KERNEL))

    def _has_whole(self, name: str) -> bool:
        whole = _compositions.OR_STEPS.get(name)
        return whole is not None and re.fullmatch(whole.products, self._table.product) is not None and not self._lacking(whole.needs)

    def _compose(self, name: str) -> None:
        for key in ("PrivateUse1", "AutogradPrivateUse1"):
            self._register(name, key, _compositions.BY_NAME.get(name) or _compositions.BEFORE_950[name])

    def _add(self, name: str) -> None:
        """Returns the CPU's kernel for an operator that torch_npu does not have."""
        base, _, overload = name.partition(".")
        operator = _operator(name)
        if operator is None or _has(name, "CompositeImplicitAutograd") or self._derives_from_own(base, name):
            return
        self._register(name, "PrivateUse1", self._fallback(operator, "torch_npu has no kernel for it"))

    def _derives_from_own(self, base: str, name: str) -> bool:
        """Finds operators that PyTorch makes from their out= form: they are own if torch_npu's out= form is."""
        if not (_has(name, "CompositeExplicitAutogradNonFunctional") or _has(name, "CompositeExplicitAutograd")):
            return False
        base = base.removesuffix("_")
        return any(other == base or other.startswith(base + ".") for other in self.own)

    def _fallback(self, operator: torch._ops.OpOverload, reason: str) -> Callable[..., Any]:
        name = operator.name()
        calls = _calls.Calls(name, own=False)
        self._calls.append(calls)
        if self._mode == "error":

            def first() -> None:
                raise NotImplementedError(f"{name} would fall back to PyTorch's CPU kernel ({reason}); PORTACL_FALLBACK=error")

        elif self._mode == "quiet":

            def first() -> None:
                return

        else:

            def first() -> None:
                _warn(f"{name} is computed by PyTorch's CPU kernel: {reason} (PORTACL_FALLBACK=quiet: no such warnings)")

        kernel = _kernels.fallback(operator, calls, first)
        of_nothing = _compositions.OF_NOTHING.get(name)
        return kernel if of_nothing is None else _kernels.unless_empty(of_nothing, kernel)

    def _leave_to_cpu(self, name: str, reason: str) -> None:
        """Takes the CPU's kernel, if there is one, for an operator that torch_npu refuses here."""
        operator = _operator(name)
        if operator is not None and _has_cpu_kernel(name):
            self._register(name, "PrivateUse1", self._fallback(operator, reason))

    def _fall_back_for(self, name: str, condition: Callable[..., bool], reason: str) -> None:
        """An own operator that falls back for some arguments."""
        operator = _operator(name)
        if operator is not None:
            if self._count_own:
                self._count(name)
            if _has_cpu_kernel(name):
                kernel = self._fallback(operator, reason)
            else:
                kernel = _kernels.refusing(operator, reason, _NO_CPU_KERNEL)
            chosen = _kernels.unless(condition, operator, "PrivateUse1", lambda _, *args, **kwargs: kernel(*args, **kwargs))
            if name in _IN_FRACTAL_NZ:
                chosen = _kernels.in_plain_format(chosen)
            if name in _OF_CONTIGUOUS:
                chosen = _kernels.of_contiguous(chosen)
            self._register(name, "PrivateUse1", chosen, with_keyset=True)

    def _refuse_argument(self, name: str, argument: str, function: str) -> None:
        """An own operator that would ignore an argument without this function."""
        operator = _operator(name)
        if operator is not None:
            if self._count_own:
                self._count(name)
            is_given = _refusals.refused_arguments(operator, _refusals.Rule((argument,), lambda value: value is not None, argument))
            lacks = _kernels.missing(operator, [function], f"torch_npu would take no notice of {argument} without it")
            chosen = _kernels.unless(is_given, operator, "PrivateUse1", lambda _, *args, **kwargs: lacks(*args, **kwargs))
            self._register(name, "PrivateUse1", chosen, with_keyset=True)

    def _refuse_in_graphs(self, name: str) -> None:
        operator = _operator(name)
        if operator is not None:
            if self._count_own:
                self._count(name)
            condition, reason = self._refused(name) or (lambda *args, **kwargs: False, "")
            kernel = self._fallback(operator, reason) if reason else None
            chosen = _kernels.unless_captured(operator, "PrivateUse1", condition, kernel)
            self._register(name, "PrivateUse1", chosen, with_keyset=True)

    def _refused(self, name: str) -> tuple[Callable[..., bool], str] | None:
        """Finds the calls that CANN's function refuses and the CPU accepts, if any, and the reason."""
        operator = _operator(name)
        if operator is None:
            return None
        dtypes, rule = self._table.refused(name), _refusals.rule(name)
        conditions: list[Callable[..., bool]] = []
        what = list(dtypes)
        reason = "CANN's function does not take "
        if not self._has_float64_functions and self._table.missing(self._table.needs(name), _is_without_them):
            dtypes, what = [*dtypes, *_float64.DTYPES], [*what, *_float64.DTYPES]
            reason = f"{_float64.REASON}, or CANN's function does not take "
        if dtypes:
            conditions.append(_kernels.takes_one_of(operator, frozenset(getattr(torch, dtype) for dtype in dtypes)))
        if rule is not None:
            conditions.append(_refusals.refused_arguments(operator, rule))
            what.append(rule.what)
        if not conditions:
            return None
        one = conditions[0] if len(conditions) == 1 else _kernels.either(*conditions)
        return one, reason + ", ".join(dict.fromkeys(what))

    def _count(self, name: str) -> None:
        operator = _operator(name)
        if operator is None:
            return
        calls = _calls.Calls(name, own=True)
        self._calls.append(calls)
        self._register(name, "PrivateUse1", _kernels.counted(operator, "PrivateUse1", calls), with_keyset=True)

    def _use_right_gradient(self, name: str, overridden: bool) -> None:
        """Keeps torch_npu's own gradient if everything that it and the operator need is here."""
        if overridden:
            lacking = self._lacking(name) + self._table.missing(self._table.gradient_needs(name), self._present)
            if not lacking:
                operator = _operator(name)
                refused = self._refused(name)
                condition = refused[0] if refused else None
                if name in _WITHOUT_GRADIENT:
                    condition = _needs_gradient if condition is None else _kernels.either(_needs_gradient, condition)
                if operator is not None and condition is not None:
                    kernel = _kernels.decomposed(operator)
                    chosen = _kernels.unless(condition, operator, "AutogradPrivateUse1", kernel)
                    self._register(name, "AutogradPrivateUse1", chosen, with_keyset=True)
                return
        operator = _operator(name)
        if self._has_whole(name):
            return
        if operator is None or name in _compositions.BY_NAME:
            return
        if _has_cpu_kernel(name) or _has(name, "CompositeImplicitAutograd"):
            self._register(name, "AutogradPrivateUse1", _kernels.decomposed(operator), with_keyset=True)


def _needs_gradient(self: torch.Tensor, *_: Any, **__: Any) -> bool:
    return torch.is_grad_enabled() and self.requires_grad


def _is_without_them(function: str) -> bool:
    return not _float64.is_made_of_them(function)


def _has_cpu_kernel(name: str) -> bool:
    return torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU")
