"""The number types of operands: what PyTorch and CANN call them, their spacing, and roundings into them.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses

import numpy as np
import torch


@dataclasses.dataclass(frozen=True)
class Dtype:
    name: str
    acl: int  # aclDataType
    torch: torch.dtype
    digits: int = 0  # significant bits of a floating type
    lowest_exponent: int = 0  # of the smallest normal number
    highest_exponent: int = 0  # of the largest finite number

    @property
    def floating(self) -> bool:
        return self.digits > 0

    @property
    def is_complex(self) -> bool:
        return self.torch.is_complex

    @property
    def sixteen_bits(self) -> bool:
        return self.name in ("f16", "bf16")


F32 = Dtype("f32", 0, torch.float32, 24, -126, 127)
F16 = Dtype("f16", 1, torch.float16, 11, -14, 15)
BF16 = Dtype("bf16", 27, torch.bfloat16, 8, -126, 127)
# Results of these types are float32 results that were widened: their unit in the last place is float32's.
F64 = Dtype("f64", 11, torch.float64, 24, -126, 127)
C64 = Dtype("c64", 16, torch.complex64, 24, -126, 127)
C128 = Dtype("c128", 17, torch.complex128, 24, -126, 127)
S8, S16 = Dtype("s8", 2, torch.int8), Dtype("s16", 6, torch.int16)
S32, S64 = Dtype("s32", 3, torch.int32), Dtype("s64", 9, torch.int64)
U8, BOOL = Dtype("u8", 4, torch.uint8), Dtype("bool", 12, torch.bool)

FLOATS = (F32, F16, BF16)
INTEGERS = (S8, U8, S16, S32, S64, BOOL)


def promote(first: Dtype, second: Dtype) -> Dtype:
    """CANN's promotion, for the types above up to float32. It agrees with PyTorch's but for tensors of rank 0."""
    if first == second:
        return first
    floats = [one for one in (first, second) if one.floating]
    if floats:
        return floats[0] if len(floats) == 1 else F32
    if U8 in (first, second) and S8 in (first, second):
        return S16
    order = (BOOL, U8, S8, S16, S32, S64)
    return max(first, second, key=order.index)


def unit(values: np.ndarray, dtype: Dtype) -> np.ndarray:
    """The distance between neighbouring numbers of the type at each value; what is too large counts as the largest."""
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))[1] - 1
    exponent = np.where(np.isinf(values), dtype.highest_exponent, exponent)
    exponent = np.where(values == 0, dtype.lowest_exponent, exponent)
    exponent = np.clip(exponent, dtype.lowest_exponent, dtype.highest_exponent)
    return np.ldexp(1.0, exponent - (dtype.digits - 1))


def limit(dtype: Dtype) -> float:
    """Where infinity lies, for the purpose of measuring distances: one step beyond the largest finite number."""
    return float(np.ldexp(1.0, dtype.highest_exponent + 1))


def rounded(values: np.ndarray, dtype: Dtype) -> np.ndarray:
    """float64 values rounded once to a floating type, to nearest even, and widened again."""
    with np.errstate(all="ignore"):
        step = unit(values, dtype)
        result = np.where(np.isfinite(values), np.rint(values / step) * step, values)
        return np.where(np.abs(result) >= limit(dtype), np.copysign(np.inf, values), result)


def round_integers(values: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Integers rounded once to a floating type: those that float64 cannot hold are rounded by hand."""
    result = rounded(values.astype(np.float64), dtype)
    for place in np.flatnonzero(np.abs(values.astype(np.float64)) > 2.0**53):
        exact = int(values.flat[place])
        magnitude = abs(exact)
        step = 1 << (magnitude.bit_length() - dtype.digits)
        quotient, rest = divmod(magnitude, step)
        if 2 * rest > step or (2 * rest == step and quotient % 2):
            quotient += 1
        value = float(quotient * step)
        result.flat[place] = np.copysign(np.inf if value >= limit(dtype) else value, exact)
    return result
