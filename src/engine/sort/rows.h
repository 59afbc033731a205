// Rows along a dim of a tensor, each sorted, or searched for its first elements in order or for one of them: values and where they were.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/place.h"
#include "engine/strided.h"
#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. Ascending, NaN is behind all numbers, descending before them; equal elements stay in
// their order.
struct SortRows {
  enum class Kind : uint8_t {
    kFirst,      // the first `kept` of the order, which may be all
    kOne,        // the one at place `nth` of the order, from 0
    kMedian,     // the lower one of the middle; the first NaN where there is one
    kNanMedian,  // the same of the numbers; NaN where there are none
  };
  Kind kind;
  bool descends;
  aclDataType dtype;
  int32_t size;
  Isa isa;
  int64_t length;  // of a row, not 0
  int64_t kept;
  int64_t nth;
  // Rows: the other dims. Strides in bytes.
  int64_t rows;
  int rank;
  int64_t extent[kMaxDims];
  struct Side {
    bool is_there;
    Place place;
    int64_t step;  // along a row
    int64_t stride[kMaxDims];
  };
  Side source;
  Side values;
  Side places;  // INT64
  GatherFunction gather;
  int threads;
  Place memory;  // RowsMemory bytes

  void Run(const JobContext& context) const noexcept;
};

// The rows along `dim` of `source`, written to `values` and `places`, either of which may be null, with as many dims as `source`. Their
// Places are offset by the views' own offsets. Sets all that follows from the views, and `threads`, `isa` and memory's size.
void PlanSortRows(const StridedView& source, const StridedView* values, const StridedView* places, int dim,
                  Isa isa, int threads, SortRows& rows) noexcept;
// What it needs besides, in bytes; aligned to 8. After what is to be done with the rows is set.
int64_t RowsMemory(const SortRows& rows) noexcept;

}  // namespace portacl::engine
