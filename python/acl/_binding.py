"""Python functions of C's, from a declaration each: how pyACL passes what.

A declaration is the C function's, in C's order: "aclrtCreateContext(*pointer context, int device)". What has a star is a result.
The Python function takes the other parameters and returns (results..., code), or the code alone. With an arrow, the C function returns
no code, and the Python function what stands behind the arrow: "aclrtGetSocName() -> text". A question mark behind a parameter's name:
it may be left out.

Pointers and handles are ints, null is 0; None is taken for it. A number that does not fit into C's type gives 100000, and a function
that the library does not have 200001, with results of 0; what is no number where one belongs raises TypeError, as a wrong number of
arguments does.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import operator
import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from portacl_start import environment

INVALID_PARAM = 100000  # ACL_ERROR_INVALID_PARAM
API_NOT_SUPPORT = 200001  # ACL_ERROR_API_NOT_SUPPORT


class _Misfit(Exception):
    """A number that its C type cannot hold."""


def _number(ctype: Any) -> Callable[[Any], Any]:
    bits = 8 * ctypes.sizeof(ctype)
    is_signed = ctype(-1).value < 0
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)

    def convert(value: Any) -> Any:
        number = operator.index(value)
        if not least <= number <= most:
            raise _Misfit
        return ctype(number)

    return convert


def _pointer(value: Any) -> Any:
    number = 0 if value is None else operator.index(value)
    if not 0 <= number < 1 << (8 * ctypes.sizeof(ctypes.c_void_p)):
        raise _Misfit
    return ctypes.c_void_p(number)


def _text(value: Any) -> Any:
    return ctypes.c_char_p(None if value is None else os.fsencode(value))


def _dims(value: Any) -> Any:
    numbers = [_KINDS["int64"].convert(one) for one in value]
    return (ctypes.c_int64 * max(len(numbers), 1))(*(one.value for one in numbers))


class _Kind(NamedTuple):
    ctype: Any
    convert: Callable[[Any], Any]
    what: str  # for errors


_KINDS = {
    "int": _Kind(ctypes.c_int32, _number(ctypes.c_int32), "an int"),
    "int64": _Kind(ctypes.c_int64, _number(ctypes.c_int64), "an int"),
    "uint": _Kind(ctypes.c_uint32, _number(ctypes.c_uint32), "an int"),
    "uint64": _Kind(ctypes.c_uint64, _number(ctypes.c_uint64), "an int"),
    "size": _Kind(ctypes.c_size_t, _number(ctypes.c_size_t), "an int"),
    "float": _Kind(ctypes.c_float, ctypes.c_float, "a float"),
    "pointer": _Kind(ctypes.c_void_p, _pointer, "an int"),
    "text": _Kind(ctypes.c_char_p, _text, "a str"),
    "dims": _Kind(ctypes.c_void_p, _dims, "a list of ints"),  # int64_t's, whose number is a parameter of its own
    "code": _Kind(ctypes.c_int32, _number(ctypes.c_int32), "an int"),
    "none": _Kind(None, _pointer, ""),
}


class _Parameter(NamedTuple):
    name: str
    kind: _Kind
    is_result: bool
    is_optional: bool


def _parse(declaration: str) -> tuple[str, list[_Parameter], str]:
    whole = re.fullmatch(r"(\w+)\((.*)\)(?: -> (\w+))?", declaration)
    assert whole is not None, declaration
    parameters = []
    for one in filter(None, whole[2].split(", ")):
        kind, name = one.split(" ")
        parameters.append(_Parameter(name.rstrip("?"), _KINDS[kind.lstrip("*")], kind[0] == "*", name[-1] == "?"))
    return whole[1], parameters, whole[3] or "code"


def _python_value(value: Any) -> Any:
    return 0 if value is None else value  # a null pointer


def _load() -> ctypes.CDLL:
    """What this process has loaded, or what torch_npu would load: portacl where there is no trace of a CANN."""
    reason = environment.put_in_force_unless_cann()
    try:
        return ctypes.CDLL("libascendcl.so")
    except OSError as error:
        unused = "" if reason is None else f"; portacl was not used, because {reason}"
        raise ImportError(f"acl: no CANN can be loaded: {error}{unused}") from None


_library = _load()


def bind(name: str, declaration: str) -> Callable[..., Any]:
    """The function `name` of pyACL."""
    c_name, parameters, returns = _parse(declaration)
    given = [one for one in parameters if not one.is_result]
    least = sum(not one.is_optional for one in given)
    results = [one for one in parameters if one.is_result]
    function: Any = getattr(_library, c_name, None)
    if function is not None:
        function.restype = _KINDS[returns].ctype
    takes = f"{least}" if least == len(given) else f"{least} to {len(given)}"

    def with_code(code: int, values: list[Any]) -> Any:
        return (*values, code) if values else code

    def failed(code: int) -> Any:
        if returns == "code":
            return with_code(code, [one.kind.ctype().value or 0 for one in results])
        return None if returns == "none" else "" if returns == "text" else 0

    def call(*arguments: Any) -> Any:
        if not least <= len(arguments) <= len(given):
            raise TypeError(f"{name} takes {takes} arguments ({', '.join(one.name for one in given)}), not {len(arguments)}")
        values = iter(arguments)
        passed, outputs = [], []
        for parameter in parameters:
            if parameter.is_result:
                outputs.append(parameter.kind.ctype())
                passed.append(ctypes.byref(outputs[-1]))
                continue
            value = next(values, None)
            try:
                passed.append(parameter.kind.convert(value))
            except TypeError:
                raise TypeError(f"{name}: {parameter.name} must be {parameter.kind.what}, not {type(value).__name__}") from None
            except _Misfit:
                return failed(INVALID_PARAM)
        if function is None:
            return failed(API_NOT_SUPPORT)
        got = function(*passed)
        if returns == "none":
            return None
        if returns == "text":
            return "" if got is None else got.decode(errors="replace")
        if returns == "code":
            return with_code(got, [_python_value(one.value) for one in outputs])
        return _python_value(got)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__module__ = name.rpartition(".")[0]
    what = f"({', '.join([one.name for one in results] + ['code'])})" if results else "the code"
    call.__doc__ = f"{c_name}: takes ({', '.join(one.name for one in given)}), returns {what if returns == 'code' else returns}"
    return call


def bind_all(module: str, declarations: dict[str, str]) -> dict[str, Callable[..., Any]]:
    """The functions of a module by their names there."""
    return {name: bind(f"{module}.{name}", declaration) for name, declaration in declarations.items()}


def absent(module: str) -> Callable[[str], Any]:
    """A module's __getattr__: says what is not there."""

    def getattr_(name: str) -> Any:
        raise AttributeError(f"{module}.{name} is not a part of pyACL that portacl has: see docs/python.md, or print({module}.__all__)")

    return getattr_
