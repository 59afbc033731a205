// Spans of rows (see row_spans.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/row_spans.h"

#include "acl/error_codes/rt_error_codes.h"
#include "base/text.h"

namespace portacl::engine {

void RowSpans::Run(const JobContext& context) const noexcept {
  const auto word = [&](const BufferRef& buffer, int64_t at) {
    return Load<int64_t>(buffer.Address(context) + at * int64_t{sizeof(int64_t)});
  };
  bool has_failed = false;
  // Tells whether the number lies between 0 and `most`, and reports the first one that does not.
  const auto fits = [&](int64_t at, int64_t most) {
    const int64_t value = word(spans, at);
    if (value >= 0 && value <= most) return true;
    if (raises && !has_failed)
      context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, Text(context.api, ": ", name, " has the value ", value,
                                                       " at element ", at, ", accepted: 0 to ", most, "."));
    has_failed = true;
    return false;
  };
  for (int64_t row = 0; row < rows; ++row) {
    int64_t length = is_masked && word(mask, row) != 1 ? 0 : steps;
    int64_t start = 0;
    if (length > 0) {
      const int64_t at = has_lengths ? 2 * row : row;
      if (has_lengths) length = fits(at + 1, steps) ? word(spans, at + 1) : 0;
      if (length > 0) {
        if (fits(at, bound - length))
          start = word(spans, at);
        else
          length = 0;
      }
    }
    for (int64_t step = 0; step < steps; ++step)
      Store(positions.Address(context) + (row * steps + step) * int64_t{sizeof(int64_t)},
            step < length ? start + step : kNoPosition);
  }
}

}  // namespace portacl::engine
