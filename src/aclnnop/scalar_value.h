// Converts an aclScalar to a tensor's dtype, as CANN's operators do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/tensor.h"

namespace portacl {

// An element of any dtype, in its memory format.
struct ScalarValue {
  alignas(16) unsigned char bytes[16] = {};
};

// Tells whether a scalar of this dtype converts to that one: both are integers, floats of at least 16 bits,
// bool or complex.
bool ScalarConverts(aclDataType from, aclDataType to) noexcept;

// Converts like tensors (engine/move/conversion.h), with two exceptions. A float counts as true only from the
// machine epsilon of its own type on (2^-52 for DOUBLE, else 2^-23). Complex numbers become 0 if the result
// is not complex. Preconditions: ScalarConverts, and the default floating-point environment.
ScalarValue ConvertScalar(const aclScalar& scalar, aclDataType to) noexcept;

// Tells whether a scalar is 1.
bool IsOne(const aclScalar& scalar) noexcept;

}  // namespace portacl
