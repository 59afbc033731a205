// The layout of rows in memory: axes within rows and axes over rows, with any strides on both. Copies rows to
// dense elements of the computed type, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/move/conversion.h"
#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Axes of an operand, outermost first, merged where possible; strides in bytes.
struct RowAxes {
  int rank;
  int64_t extent[kMaxLoopRank];
  int64_t stride[kMaxLoopRank];
};

// The layout of an operand's elements, and their conversion.
struct RowwiseOperand {
  int8_t argument;   // operand of the executor; kConstant: all elements are one number
  bool is_in_place;  // the kernel reads or writes rows directly in memory
  bool is_shared;    // an input that has one row for all rows
  int32_t size;      // of an element in memory
  int64_t offset;    // in bytes
  double constant;
  const Conversion* conversion;  // between stored and computed elements
  RowAxes outer;                 // rows
  RowAxes inner;                 // elements of a row

  static constexpr int8_t kConstant = -1;
};

// A range of indices along axes at equal distances, from an index on: `count` of them, at most `most`.
struct RowTile {
  int64_t offset;
  int64_t stride;
  int64_t count;
};
RowTile RowTileFrom(const RowAxes& axes, int64_t index, int64_t most) noexcept;

// Tells whether elements of `size` bytes are contiguous.
bool IsDense(const RowAxes& axes, int32_t size) noexcept;

// Returns the operand of a tensor that broadcasts to `shape`. A row spans the axes of the bit set.
RowwiseOperand RowwiseOperandOf(int operand, const StridedView& tensor, const Shape& shape, uint32_t axes,
                                bool is_output, aclDataType computed, Isa isa) noexcept;
// Returns the operand of a number for each row: a tensor's elements in order, or a single one for all rows.
RowwiseOperand NumbersOf(int operand, const StridedView& tensor, bool is_output, aclDataType computed,
                         Isa isa) noexcept;

// Loads elements [at, at + n) of `rows` rows as dense computed elements of `size` bytes. `raw` is a buffer
// for as many stored elements.
void LoadRows(const RowwiseOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
              int64_t n, int32_t size, char* to, char* raw) noexcept;
// Stores such elements.
void StoreRows(const RowwiseOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
               int64_t n, int32_t size, const char* from, char* raw) noexcept;

}  // namespace portacl::engine
