// Conversions between stored elements and float32, dense on both sides. Compiled once, used by every formula.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl_base.h"
#include "base/isa.h"

namespace portacl::engine {

// Reads n stored elements as float32.
using LoadFunction = void (*)(const void* source, float* destination, size_t n);
// Rounds n float32 values once, to nearest even, and stores them. With `stream`, whole cache lines go past
// the caches if the instruction set can; the caller then ends with a fence.
using StoreFunction = void (*)(const float* source, void* destination, size_t n, bool stream);

// f32, f16, bf16 and the 8-bit floats widen exactly. Integers and bool are rounded once, directly to
// `through` (f32, f16 or bf16); a non-zero bool byte counts as 1. Returns nullptr for other dtypes.
LoadFunction FindLoad(Isa isa, aclDataType dtype, aclDataType through) noexcept;

// Supports f32, f16, bf16, f64 and the 8-bit floats (FindByteFloatStore); c64 and c128 get a zero imaginary
// part. Returns nullptr for other dtypes.
StoreFunction FindStore(Isa isa, aclDataType dtype) noexcept;

}  // namespace portacl::engine
