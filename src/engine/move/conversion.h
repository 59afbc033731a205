// Conversions between any two dtypes of integers, floats (also of 8 bits), bool and complex numbers, dense on
// both sides. There are at most three passes over a tile, of which at most one rounds; or twice as many
// through a third dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/conversions.h"

namespace portacl::engine {

// Converts n elements to uninitialised memory. Neither side needs alignment.
using ConvertFunction = void (*)(const void* source, void* destination, size_t n);

// A pass, by one of three functions. `numbers` is the count of numbers in an element of the pass's source: 2
// for complex types that are converted as pairs.
struct ConversionPass {
  ConvertFunction convert = nullptr;
  LoadFunction load = nullptr;
  StoreFunction store = nullptr;
  int numbers = 1;

  void Run(const void* source, void* destination, size_t n, bool stream) const {
    n *= static_cast<size_t>(numbers);
    if (convert != nullptr) return convert(source, destination, n);
    if (load != nullptr) return load(source, static_cast<float*>(destination), n);
    store(static_cast<const float*>(source), destination, n, stream);
  }
  bool CanStream() const { return store != nullptr; }
};

// A conversion from one dtype to another. It has no passes if the bytes stay as they are.
struct Conversion {
  int passes = 0;
  int32_t from_size = 0;  // of an element, in bytes
  int32_t to_size = 0;
  ConversionPass pass[6];

  bool KeepsBytes() const { return passes == 0; }
  // Writes n elements of `destination`, in tiles if there are several passes.
  void Run(const void* source, void* destination, size_t n, bool stream) const noexcept;
};

// Returns the dtype of the converted part. If a complex number becomes a real one, that is its real part, at
// its start.
aclDataType ConvertedPart(aclDataType from, aclDataType to) noexcept;

// Whether a dtype converts to and from all other such dtypes.
bool IsConvertible(aclDataType dtype) noexcept;

// Finds a conversion. `from` is a ConvertedPart; both are convertible, or they are the same. The values
// (docs/numerics.md) are rounded once, to nearest even. Floats become integers truncated toward zero; NaN
// becomes 0. Values beyond s32, s64 or u64 saturate; narrower integers and u32 get the low bits of the s64.
// Integers narrow to their low bits. Bool is true for any value other than 0, and counts as 1. The imaginary
// part of a real number is 0.
Conversion FindConversion(Isa isa, aclDataType from, aclDataType to) noexcept;

// Finds a conversion to `via`, exactly as FindConversion rounds, followed by one to `to`.
Conversion FindConversionThrough(Isa isa, aclDataType from, aclDataType via, aclDataType to) noexcept;

// Returns FindConversion's result with the lifetime of the process.
const Conversion& ConversionBetween(Isa isa, aclDataType from, aclDataType to) noexcept;

}  // namespace portacl::engine
