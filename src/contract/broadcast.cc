// Broadcasting of shapes (see broadcast.h).
// SPDX-License-Identifier: Apache-2.0
#include "contract/broadcast.h"

#include <algorithm>

namespace portacl {

bool BroadcastShapes(const Shape& a, const Shape& b, Shape* result) noexcept {
  if (a == b) {
    *result = a;
    return true;
  }
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (int i = 1; i <= out.rank; ++i) {
    const int64_t x = i <= a.rank ? a[a.rank - i] : 1;
    const int64_t y = i <= b.rank ? b[b.rank - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    out.dim[out.rank - i] = x == 1 ? y : x;
  }
  *result = out;
  return true;
}

}  // namespace portacl
