"""Lists the operators that fall back without SLEEF, whose float64 functions they use: the library refuses them then
(docs/numerics.md). A wheel carries SLEEF; a processor without fused multiply-adds cannot use it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes

REASON = "portacl's functions of float64 need SLEEF, which is not there"

# int64 becomes float64 in some of them.
DTYPES = ("float64", "complex64", "complex128", "int64")

# Names without the prefix "Inplace".
_FUNCTIONS = frozenset(
    """
    Acos Acosh Asin Asinh Atan Atan2 Atanh Celu Cos Cosh Digamma Elu EluBackward Erf Erfc Erfinv Exp Exp2 Expm1 Glu GluBackward Lgamma
    LinalgVectorNorm Log Log10 Log1p Log2 LogSoftmax Norm Normal NormalFloatFloat NormalFloatTensor NormalTensor NormalTensorFloat
    NormalTensorTensor PowScalarTensor PowTensorScalar PowTensorTensor Sigmoid Sin Sinc Sinh Slogdet Softmax Tan Tanh
    """.split()
)


def is_made_of_them(function: str) -> bool:
    """Whether aclnnNAME or aclnnInplaceNAME is one of them."""
    return function.removeprefix("aclnn").removeprefix("Inplace") in _FUNCTIONS


def are_there() -> bool:
    """Asks the library, by phase 1 of aclnnExp with one float64."""
    base, operators = ctypes.CDLL("libnnopbase.so"), ctypes.CDLL("libopapi.so")
    create = base.aclCreateTensor
    create.restype = ctypes.c_void_p
    one, number = (ctypes.c_int64 * 1)(1), ctypes.c_double(0)
    double, format_nd = ctypes.c_int(11), ctypes.c_int(2)
    tensor = ctypes.c_void_p(
        create(one, ctypes.c_uint64(1), double, one, ctypes.c_int64(0), format_nd, one, ctypes.c_uint64(1), ctypes.byref(number))
    )
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    code = operators.aclnnExpGetWorkspaceSize(tensor, tensor, ctypes.byref(size), ctypes.byref(executor))
    if executor.value is not None:
        base.aclDestroyAclOpExecutor(executor)
    base.aclDestroyTensor(tensor)
    if code != 0:
        ctypes.CDLL("libascendcl.so").aclGetRecentErrMsg()  # not the program's error
    return bool(code == 0)
