// Codes of numbers in few bits: integers that are rounded and saturated, the floats of 8 and of 4 bits. What each bit means stands in
// docs/numerics.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "acl/isa.h"

namespace portacl::engine {

// How a number becomes an integer, or one of FLOAT4. FLOAT8 is rounded to nearest even whatever is asked for, HIFLOAT8 to nearest with ties
// away from zero.
enum class Rounding : uint8_t { kNearestEven, kNearestAway, kFloor, kCeil, kTruncate };

// The codes of n float32 numbers, saturated: what is too large becomes the largest finite number of the dtype, NaN becomes 0. INT8, UINT8
// and the 8-bit floats take a byte, INT32 four; INT4 and FLOAT4 the low half of a byte, until PackHalves.
using EncodeFunction = void (*)(const float* from, void* to, size_t n, Rounding rounding);
// nullptr for a dtype that has none.
EncodeFunction FindEncode(Isa isa, aclDataType dtype) noexcept;

// Two codes of 4 bits become a byte, the first one in its low half: 2 * n codes.
void PackHalves(const uint8_t* from, uint8_t* to, size_t n) noexcept;

// The number of each code, of a dtype of 8 or 4 bits that is no integer of 8; nullptr for any other. Those of 4 bits repeat.
const float* NumbersOfCodes(aclDataType dtype) noexcept;

// The greatest finite number of a dtype that FindEncode takes.
float GreatestNumber(aclDataType dtype) noexcept;

// As FindLoad and FindStore, of the 8-bit floats: NaN stays NaN, and what is too large becomes infinity, or NaN where there is none.
using LoadBytesFunction = void (*)(const void* source, float* destination, size_t n);
using StoreBytesFunction = void (*)(const float* source, void* destination, size_t n, bool stream);
LoadBytesFunction FindByteFloatLoad(aclDataType dtype) noexcept;
StoreBytesFunction FindByteFloatStore(aclDataType dtype) noexcept;

}  // namespace portacl::engine
