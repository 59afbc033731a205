// How rows of operands lie in memory: axes that rows span and axes over which they go, any strides on both; and copies of rows to where they
// are dense elements of the type that is computed in, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "engine/move/conversion.h"
#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Axes of an operand, outermost first, neighbours merged where they can be; strides in bytes.
struct RowAxes {
  int rank;
  int64_t extent[kMaxLoopRank];
  int64_t stride[kMaxLoopRank];
};

// Where an operand's elements lie, and what becomes of them.
struct RowOperand {
  int8_t argument;   // operand of the executor; kConstant: all elements are one number
  bool is_in_place;  // rows are taken as they are in memory
  bool is_shared;    // an input that has one row for all
  int32_t size;      // of an element in memory
  int64_t offset;    // in bytes
  double constant;
  const Conversion* conversion;  // between what is in memory and what is computed in
  RowAxes outer;                 // rows
  RowAxes inner;                 // elements of a row

  static constexpr int8_t kConstant = -1;
};

// A stretch of indices along axes that lie one stride apart, from an index on: `count` of them, at most `most`.
struct RowStretch {
  int64_t offset;
  int64_t stride;
  int64_t count;
};
RowStretch StretchFrom(const RowAxes& axes, int64_t index, int64_t most) noexcept;

// Whether elements of `size` bytes follow each other.
bool IsDense(const RowAxes& axes, int32_t size) noexcept;

// The operand of a tensor that broadcasts to `shape`, whose rows are what the axes of the set span, a bit each.
RowOperand RowOperandOf(int operand, const StridedView& tensor, const Shape& shape, uint32_t axes,
                        bool is_output, aclDataType computed, Isa isa) noexcept;
// A number for each row: a tensor's elements in their order; a single one is that of all rows.
RowOperand NumbersOf(int operand, const StridedView& tensor, bool is_output, aclDataType computed,
                     Isa isa) noexcept;

// Elements [at, at + n) of `rows` rows, as they are computed, n after n, `size` bytes each. `raw` takes as many as they are in memory.
void LoadRows(const RowOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
              int64_t n, int32_t size, char* to, char* raw) noexcept;
// The other way.
void StoreRows(const RowOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
               int64_t n, int32_t size, const char* from, char* raw) noexcept;

}  // namespace portacl::engine
