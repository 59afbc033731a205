// Broadcasts shapes by NumPy's and CANN's rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/shape.h"

namespace portacl {

// Aligns the shapes on the right. A missing axis, or one of length 1, takes the other's length; 1 with 0
// gives 0. Returns false when an axis differs otherwise, and leaves *result untouched.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result) noexcept;

}  // namespace portacl
