// Numbers as codes of few bits: integers that are rounded and saturated, and floats of 8 and of 4 bits.
// docs/numerics.md explains the bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"

namespace portacl::engine {

// The rounding to integers and to FLOAT4. FLOAT8 always rounds to nearest even, HIFLOAT8 to nearest with ties
// away from zero.
enum class Rounding : uint8_t { kNearestEven, kNearestAway, kFloor, kCeil, kTruncate };

// Encodes n float32 numbers with saturation: too large numbers become the largest finite one of the dtype,
// NaN becomes 0. INT8, UINT8 and the 8-bit floats take a byte, INT32 four. INT4 and FLOAT4 take the low half
// of a byte, until PackHalves.
using EncodeFunction = void (*)(const float* from, void* to, size_t n, Rounding rounding);
// Returns nullptr if the dtype has no codes.
EncodeFunction FindEncode(Isa isa, aclDataType dtype) noexcept;

// Packs 2 * n codes of 4 bits into n bytes; the first of a pair is the low half.
void PackHalves(const uint8_t* from, uint8_t* to, size_t n) noexcept;

// Returns a table of 256 numbers for the codes of a dtype of 8 or 4 bits, except INT8 and UINT8; nullptr for
// others. Tables of 4 bits repeat.
const float* NumbersOfCodes(aclDataType dtype) noexcept;

// Returns the greatest finite number of a dtype that FindEncode supports.
float GreatestNumber(aclDataType dtype) noexcept;

// Like FindLoad and FindStore, for the 8-bit floats. NaN stays NaN. Too large numbers become infinity, or NaN
// if there is none.
using LoadBytesFunction = void (*)(const void* source, float* destination, size_t n);
using StoreBytesFunction = void (*)(const float* source, void* destination, size_t n, bool stream);
LoadBytesFunction FindByteFloatLoad(aclDataType dtype) noexcept;
StoreBytesFunction FindByteFloatStore(aclDataType dtype) noexcept;

}  // namespace portacl::engine
