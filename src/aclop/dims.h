// Dims as calls by type name give them: lists of any length and of any numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace portacl {

using Dims = std::vector<int64_t>;

// "[2, 3]".
inline Text& AddDims(Text& text, const Dims& dims) noexcept {
  text.Add('[');
  for (size_t i = 0; i < dims.size(); ++i) text.Add(i == 0 ? "" : ", ").Add(dims[i]);
  return text.Add(']');
}

// Counts the elements. Returns false if a dim is negative or the number does not fit.
inline bool CountElements(const Dims& dims, int64_t* count) noexcept {
  const bool is_empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  *count = is_empty ? 0 : 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(*count, dim, count)) return false;
  }
  return true;
}

}  // namespace portacl
