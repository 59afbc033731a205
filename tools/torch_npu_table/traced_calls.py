"""Runs PyTorch's own samples on torch_npu with the stand-in library: which functions does each operator really call?

Every kernel of torch_npu is wrapped, so that a call of an operator from inside another one counts for the inner one, as it
will be dispatched by itself. Results are garbage: nothing is computed. One process per part of the operators; a part that dies
goes on behind the operator that killed it.

usage: python traced_calls.py LIBRARY START    the entries of op_db from START on, one line of JSON each; then torch._foreach_*
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import json
import sys
from pathlib import Path

import any_build  # noqa: F401
import torch
import torch_npu  # noqa: F401
from foreach_calls import calls as foreach_calls
from stand_in import Record
from torch.testing._internal.common_methods_invocations import op_db

_NEVER = ("npu::print", "npu::save_npugraph", "npu::set_op_timeout", "npu::super_kernel")


class Tracer:
    def __init__(self, record: Record):
        self.record = record
        self.stack: list[str] = []
        self.calls: dict[str, set[str]] = collections.defaultdict(set)
        self.inner: dict[str, set[str]] = collections.defaultdict(set)
        self.libraries = [torch.library.Library(n, "IMPL", "PrivateUse1") for n in ("aten", "npu")]
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1"):
            namespace, _, rest = name.partition("::")
            if namespace in ("aten", "npu") and not name.startswith(_NEVER):
                base, _, overload = rest.partition(".")
                try:
                    operator = getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")
                except AttributeError:
                    continue
                self.libraries[namespace == "npu"].impl(name, self.wrapped(name, operator), "PrivateUse1", with_keyset=True)

    def flush(self) -> None:
        calls = self.record.take()
        where = self.stack[-1] if self.stack else "outside"
        calls_of = self.calls[where]
        for i, call in enumerate(calls):
            if call == "legacy":
                calls_of.add("legacy:" + calls[i + 1])
            elif i == 0 or calls[i - 1] != "legacy":
                calls_of.add(call)

    def wrapped(self, name, operator):
        call_boxed = torch.library.get_kernel(operator, "PrivateUse1").call_boxed

        def kernel(keyset, *args, **kwargs):
            self.flush()
            if self.stack:
                self.inner[self.stack[-1]].add(name)
            self.stack.append(name)
            try:
                return call_boxed(keyset, *args, **kwargs)
            finally:
                self.flush()
                self.stack.pop()

        return kernel


def moved(value, dtype=None):
    if isinstance(value, torch.Tensor):
        return value.detach().to("npu").requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v) for v in value)
    if isinstance(value, dict):
        return {k: moved(v) for k, v in value.items()}
    return value


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v)


def samples_of(op, per_dtype: int):
    """(sample, whether to ask for gradients); inputs are made on the CPU."""
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        if dtype not in op.supported_dtypes("cpu"):
            continue
        gradient = dtype.is_floating_point and op.supports_autograd
        samples = op.sample_inputs("cpu", dtype, requires_grad=gradient)
        for count, sample in enumerate(samples):
            if count >= per_dtype:
                break
            yield sample, gradient


def trace(op, tracer: Tracer, per_dtype: int) -> None:
    variants = [op.op] + [f for f in (op.inplace_variant, op.method_variant) if f is not None]
    for sample, gradient in samples_of(op, per_dtype):
        for number, function in enumerate(variants):
            try:
                arguments = moved(sample.input), moved(sample.args), moved(sample.kwargs)
                if function is op.inplace_variant:
                    arguments = moved(sample.input.detach()), moved(sample.args), moved(sample.kwargs)
                result = function(arguments[0], *arguments[1], **arguments[2])
                if gradient and number == 0:
                    outputs = [t for t in tensors(result) if t.requires_grad]
                    if outputs:
                        torch.autograd.backward(outputs, [torch.empty_like(t) for t in outputs])
                if number == 0 and op.supports_out and isinstance(result, torch.Tensor):
                    function(arguments[0], *arguments[1], out=torch.empty(result.shape, dtype=result.dtype, device="npu"), **arguments[2])
            except Exception:
                pass
            torch.npu.synchronize()


def tell(tracer: Tracer) -> None:
    tracer.flush()
    calls = {name: sorted(functions) for name, functions in tracer.calls.items() if name != "outside"}
    inner = {name: sorted(operators) for name, operators in tracer.inner.items()}
    print(json.dumps({"calls": calls, "inner": inner}), flush=True)
    tracer.calls.clear()
    tracer.inner.clear()


def main() -> None:
    library, start = Path(sys.argv[1]), int(sys.argv[2])
    torch.npu.set_compile_mode(jit_compile=False)  # as portacl sets it
    tracer = Tracer(Record(library))
    print(json.dumps({"entries": len(op_db)}), flush=True)
    for index in range(start, len(op_db)):
        print(json.dumps({"begin": index, "name": op_db[index].name}), flush=True)
        try:
            trace(op_db[index], tracer, 6)
        except Exception:  # no sample of it can be made
            pass
        tell(tracer)
    for call in foreach_calls():
        try:
            call()
        except Exception:
            pass
        torch.npu.synchronize()
    tell(tracer)


if __name__ == "__main__":
    main()
