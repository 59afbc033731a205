"""Operands: views of any layout over a storage, and random shapes, layouts and values for them.

Random numbers come from the Mersenne Twister of numpy.random.RandomState, whose stream is frozen.
SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import math

import numpy as np
import torch

import number_formats as nf


@dataclasses.dataclass
class Operand:
    name: str
    dtype: nf.Dtype
    shape: tuple
    strides: tuple
    offset: int
    storage: torch.Tensor  # of rank 1

    def indices(self) -> np.ndarray:
        """Where in the storage each element of the view lies."""
        places = np.full(self.shape, self.offset, dtype=np.int64)
        for axis, (length, stride) in enumerate(zip(self.shape, self.strides)):
            along = np.arange(length, dtype=np.int64) * stride
            places += along.reshape([-1 if k == axis else 1 for k in range(len(self.shape))])
        return places

    def view(self) -> torch.Tensor:
        """PyTorch's view of the same memory; a copy where a stride is negative, which PyTorch does not have."""
        if any(stride < 0 for stride in self.strides):
            return self.storage[torch.from_numpy(self.indices())]
        return torch.as_strided(self.storage, self.shape, self.strides, self.offset)

    def values(self) -> np.ndarray:
        """The stored values: float64, or int64 where the type is an integer."""
        wide = self.storage.to(torch.float64 if self.dtype.floating or self.dtype.is_complex else torch.int64)
        return wide.numpy()[self.indices()]

    def __str__(self):
        return (f"{self.name}: {self.dtype.name} shape {list(self.shape)} strides {list(self.strides)} "
                f"offset {self.offset} storage {self.storage.numel()}")


# ---- shapes ---------------------------------------------------------------------------------------------------------


def random_shape(rng, long: bool) -> tuple:
    rank = rng.randint(0, 9)
    most = 3000
    if rng.randint(0, 20) == 0:  # past the blocks of sums (256, 4096) and of the parallel loop (16384)
        most = 70000 if long else 40000
        rank = rng.randint(1, 5)
    shape, count = [], 1
    for _ in range(rank):
        room = max(1, most // count)
        length = rng.randint(1, min(room, 9) + 1) if rng.randint(0, 4) else rng.randint(1, min(room, most) + 1)
        shape.append(int(length))
        count *= length
    rng.shuffle(shape)
    if rank and rng.randint(0, 25) == 0:
        shape[rng.randint(0, rank)] = 0
    return tuple(shape)


def narrowed(rng, shape: tuple, how_often: int) -> tuple:
    """A shape that broadcasts to the given one."""
    if rng.randint(0, how_often):
        return shape
    narrow = [1 if rng.randint(0, 3) == 0 else length for length in shape]
    return tuple(narrow[rng.randint(0, len(narrow) + 1):])


# ---- layouts --------------------------------------------------------------------------------------------------------


def random_layout(rng, shape: tuple, is_output: bool):
    """Strides, offset and the number of elements of the storage."""
    kind = rng.randint(0, 6)
    strides, step = [0] * len(shape), 1
    order = list(range(len(shape)))[::-1]
    if kind in (2, 3):
        rng.shuffle(order)
    for axis in order:
        if kind >= 3 and rng.randint(0, 3) == 0:
            step *= rng.randint(2, 4)
        strides[axis] = int(step)
        step *= max(shape[axis], 1)
    if kind == 4 and not is_output:
        strides = [0 if rng.randint(0, 3) == 0 else stride for stride in strides]
    if kind == 5:
        strides = [-stride if rng.randint(0, 2) == 0 else stride for stride in strides]
    reach = [(max(length, 1) - 1) * stride for length, stride in zip(shape, strides)]
    offset = -sum(least for least in reach if least < 0) + (rng.randint(0, 4) if kind else 0)
    last = offset + sum(most for most in reach if most > 0)
    return tuple(strides), int(offset), int(last + 1 + (rng.randint(0, 4) if kind else 0))


# ---- values ---------------------------------------------------------------------------------------------------------


def special_values(dtype: nf.Dtype) -> np.ndarray:
    tiny = np.ldexp(1.0, dtype.lowest_exponent)
    smallest = np.ldexp(tiny, 1 - dtype.digits)
    largest = nf.limit(dtype) - nf.unit(np.array(np.inf), dtype)
    positive = [0.0, smallest, 3 * smallest, tiny - smallest, tiny, 2 * tiny, 1e-3, 0.25, 0.5, 1.0, 1.0 + 2.0**-7, 1.5,
                2.0, 3.0, 10.0, 87.0, 88.75, 100.0, 104.5, largest / 2, largest, np.inf]
    return np.array(positive + [-value for value in positive] + [np.nan])


def random_values(rng, dtype: nf.Dtype, count: int, kind: str, base=None) -> np.ndarray:
    """float64 (or int64) values; the caller rounds them to the type."""
    if not dtype.floating:
        if dtype is nf.BOOL:
            return rng.randint(0, 2, count)
        bounds = np.iinfo(str(dtype.torch).replace("torch.", ""))
        if kind in ("special", "wide"):
            bits = rng.randint(1, bounds.bits + 1, count)
            values = rng.randint(bounds.min, bounds.max, count, dtype=np.int64) >> (bounds.bits - bits)
            edges = np.array([bounds.min, bounds.max, 0, 1], dtype=np.int64)
            return np.where(rng.randint(0, 8, count) == 0, edges[rng.randint(0, 4, count)], values)
        return rng.randint(0 if bounds.min == 0 else -8, 9, count)
    if kind == "uniform":
        return rng.random_sample(count) * 10 - 5
    if kind == "normal":
        return rng.standard_normal(count)
    if kind == "probability":
        return rng.random_sample(count)
    if kind == "logarithm":
        return np.log(rng.random_sample(count) + 1e-6)
    if kind == "wide":
        exponent = rng.random_sample(count) * (dtype.highest_exponent - dtype.lowest_exponent + dtype.digits)
        values = np.exp2(exponent + dtype.lowest_exponent - dtype.digits + 1)
        return np.where(rng.randint(0, 2, count) == 0, values, -values)
    if kind == "special":
        specials = special_values(dtype)
        chosen = specials[rng.randint(0, len(specials), count)]
        return np.where(rng.randint(0, 4, count) == 0, rng.standard_normal(count), chosen)
    if kind == "close":  # near the values of another operand, often equal to them
        steps = np.where(rng.randint(0, 2, count) == 0, 0, rng.randint(-3, 4, count))
        alone = base is None or len(base) == 0
        near = rng.standard_normal(count) if alone else np.resize(base, count).astype(np.float64)
        with np.errstate(all="ignore"):
            return near + steps * nf.unit(near, dtype)
    raise ValueError(kind)


def stored(values: np.ndarray, dtype: nf.Dtype) -> torch.Tensor:
    with np.errstate(all="ignore"):
        if dtype.floating:
            return torch.from_numpy(nf.rounded(values.astype(np.float64), dtype)).to(dtype.torch)
    return torch.from_numpy(np.ascontiguousarray(values).astype(np.int64)).to(dtype.torch)


def random_operand(rng, name: str, dtype: nf.Dtype, shape: tuple, kind: str, base=None) -> Operand:
    strides, offset, count = random_layout(rng, shape, False)
    return Operand(name, dtype, shape, strides, offset, stored(random_values(rng, dtype, count, kind, base), dtype))


def random_output(rng, name: str, dtype: nf.Dtype, shape: tuple) -> Operand:
    """The storage is filled with a value that shows where nothing was written."""
    strides, offset, count = random_layout(rng, shape, True)
    return Operand(name, dtype, shape, strides, offset, torch.full((count,), 77, dtype=dtype.torch))


def dense(name: str, dtype: nf.Dtype, shape: tuple, storage: torch.Tensor) -> Operand:
    strides = tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))
    return Operand(name, dtype, tuple(shape), strides, 0, storage)
