// Sorts rows along a dim of a tensor, or selects their first elements or a single one: values and indices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "engine/strided.h"
#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. NaN comes after all numbers in ascending order, before them
// in descending order. Sorting is stable.
struct SortRows {
  enum class Kind : uint8_t {
    kFirst,      // the first `kept` of the order, possibly all
    kOne,        // the one at position `nth` of the order, from 0
    kMedian,     // the lower one of the middle; the first NaN if there is one
    kNanMedian,  // the median of the numbers; NaN without any
  };
  Kind kind;
  bool descends;
  aclDataType dtype;
  int32_t size;
  Isa isa;
  int64_t length;  // of a row, not 0
  int64_t kept;
  int64_t nth;
  // The dims over which rows are repeated; strides in bytes.
  int64_t rows;
  int rank;
  int64_t extent[kMaxDims];
  struct Side {
    bool is_there;
    BufferRef buffer;
    int64_t step;  // along a row
    int64_t stride[kMaxDims];
  };
  Side source;
  Side values;
  Side indices;  // INT64
  GatherFunction gather;
  int threads;
  BufferRef memory;  // RowsMemory bytes

  void Run(const JobContext& context) const noexcept;
};

// Plans the rows along `dim` of `source`, written to `values` and `indices`, either of which may be nullptr;
// all have the same number of dims. The views' offsets are added to the buffers. Sets everything that follows
// from the views, and `threads`, `isa` and the size of the memory.
void PlanSortRows(const StridedView& source, const StridedView* values, const StridedView* indices, int dim,
                  Isa isa, int threads, SortRows& rows) noexcept;
// Returns the bytes that a sort's work memory needs, which is aligned to 8. Call it when all other members
// are set.
int64_t RowsMemory(const SortRows& rows) noexcept;

}  // namespace portacl::engine
