// Facts about aclDataType and aclFormat: names, sizes, families.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "acl/text.h"

namespace portacl {

// CANN's name in messages: DT_FLOAT, DT_BF16...; numbers that no dtype has print as UNKNOWN(n).
void AddDtypeName(Text& text, aclDataType dtype) noexcept;
// CANN's name in messages: ND, NCHW...
void AddFormatName(Text& text, aclFormat format) noexcept;

bool IsKnownDtype(aclDataType dtype) noexcept;
bool IsKnownFormat(aclFormat format) noexcept;

// Bits that one element takes in storage; 0 for string, undefined and unknown numbers.
uint32_t StorageBits(aclDataType dtype) noexcept;

bool IsComplex(aclDataType dtype) noexcept;
bool IsFloating(aclDataType dtype) noexcept;  // f64, f32, f16, bf16 and the 8-, 6- and 4-bit floats
bool IsInteger(aclDataType dtype) noexcept;   // the signed and unsigned integers of 8 to 64 bits

// Formats whose memory order is not that of the view: strides are ignored, the tensor counts as contiguous.
bool IsPrivateFormat(aclFormat format) noexcept;

}  // namespace portacl
