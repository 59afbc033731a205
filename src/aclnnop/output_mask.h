// outputMask: tells which of an operator's gradients are requested.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "aclnn/tensor.h"
#include "contract/checks.h"

namespace portacl {

// Returns outputMask as an attribute, with a bit for each of the first three values. `real` is the number of
// values, or -1 for null.
inline Attribute MaskAttribute(const aclBoolArray* mask) {
  int64_t bits = 0;
  Attribute attribute("outputMask", int64_t{0});
  attribute.real = -1.0f;
  if (mask == nullptr) return attribute;
  for (size_t i = 0; i < mask->values.size() && i < 3; ++i) bits |= int64_t{mask->values[i] != 0} << i;
  attribute.integer = bits;
  attribute.real = static_cast<float>(mask->values.size());
  return attribute;
}

}  // namespace portacl
