// Broadcasting of shapes, as NumPy's and CANN's rules have it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/shape.h"

namespace portacl {

// Right-aligned; a missing axis or one of length 1 takes the other's length (1 with 0 gives 0). False when an
// axis differs otherwise; *result is then untouched.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result) noexcept;

}  // namespace portacl
