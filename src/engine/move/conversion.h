// Conversions between any two dtypes of whole numbers, floats (those of 8 bits too), bool and complex numbers, dense on both sides: at most three
// passes over a tile, of which at most one rounds; or twice as many through a third dtype.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"
#include "engine/conversions.h"

namespace portacl::engine {

// Converts n elements to where there are none yet; no alignment is asked for.
using ConvertFunction = void (*)(const void* source, void* destination, size_t n);

// One pass: one of the three. `numbers` is how many of them an element of the pass's source has: 2 where a complex type is
// taken as pairs.
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

// From one dtype to another; without passes where the bytes stay as they are.
struct Conversion {
  int passes = 0;
  int32_t from_size = 0;  // of an element, in bytes
  int32_t to_size = 0;
  ConversionPass pass[6];

  bool KeepsBytes() const { return passes == 0; }
  // Where it returns, n elements of `destination` are written; in tiles where there are several passes.
  void Run(const void* source, void* destination, size_t n, bool stream) const noexcept;
};

// What is converted: where a complex number becomes a real one, its real part alone, which lies at its start.
aclDataType ConvertedPart(aclDataType from, aclDataType to) noexcept;

// Whether a dtype is one that every other such one converts to and from.
bool IsConvertible(aclDataType dtype) noexcept;

// `from` is a ConvertedPart, and both are convertible, or they are the same. Values (docs/numerics.md): one rounding, to
// nearest even. A float becomes an integer truncated toward zero; NaN becomes 0; what s32, s64 or u64 cannot hold becomes
// the nearest that they can; narrower integers and u32 get the low bits of the s64. Integers narrow to their low
// bits. Bool is whether anything is not 0, and counts as 1. The imaginary part of a real number is 0.
Conversion FindConversion(Isa isa, aclDataType from, aclDataType to) noexcept;

// To `via` first, exactly so, then to `to`.
Conversion FindConversionThrough(Isa isa, aclDataType from, aclDataType via, aclDataType to) noexcept;

// FindConversion, for the life of the process.
const Conversion& ConversionBetween(Isa isa, aclDataType from, aclDataType to) noexcept;

}  // namespace portacl::engine
