// Properties of aclDataType and aclFormat: names, sizes, families.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/text.h"

namespace portacl {

// Adds CANN's name in messages: DT_FLOAT, DT_BF16... Numbers without a dtype print as UNKNOWN(n).
void AddDtypeName(Text& text, aclDataType dtype) noexcept;
// Adds CANN's name in messages: ND, NCHW...
void AddFormatName(Text& text, aclFormat format) noexcept;

bool IsKnownDtype(aclDataType dtype) noexcept;
bool IsKnownFormat(aclFormat format) noexcept;

// Returns the bits of a stored element; 0 for string, undefined and unknown numbers.
uint32_t StorageBits(aclDataType dtype) noexcept;

bool IsComplex(aclDataType dtype) noexcept;
bool IsFloating(aclDataType dtype) noexcept;  // f64, f32, f16, bf16 and the 8-, 6- and 4-bit floats
bool IsInteger(aclDataType dtype) noexcept;   // the signed and unsigned integers of 8 to 64 bits

// Tells whether a format's memory order differs from the view's. Strides are then ignored, and the tensor counts as
// contiguous.
bool IsPrivateFormat(aclFormat format) noexcept;

}  // namespace portacl
