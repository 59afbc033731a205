// The value of an aclScalar in a tensor's dtype, as CANN's operators convert it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"

namespace portacl {

// One element of some dtype, as it lies in memory.
struct ScalarValue {
  alignas(16) unsigned char bytes[16] = {};
};

// Whether a scalar of this dtype has a value in that one: both are integers, floats of at least 16 bits, bool or complex.
bool ScalarConverts(aclDataType from, aclDataType to) noexcept;

// As conversions of tensors (engine/move/conversion.h), but for two: a float counts as true only from the machine epsilon
// of its own type on (2^-52 for DOUBLE, else 2^-23), and complex numbers become 0 where the result is not complex.
// Precondition: ScalarConverts. To be called in the default floating-point environment.
ScalarValue ConvertScalar(const aclScalar& scalar, aclDataType to) noexcept;

// Whether a scalar is the number 1.
bool IsOne(const aclScalar& scalar) noexcept;

}  // namespace portacl
