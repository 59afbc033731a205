// Transposed copies of the next few rows of an input whose elements are contiguous across the rows, for
// sums that read their terms row by row. Without the copy every element would cost a cache line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/loop_plan.h"

namespace portacl::engine {

// The part of a loop that a task walks, which bounds the copies: positions before `end`, and of each row the
// columns [column, column + columns).
struct LoopRange {
  int64_t end;
  int64_t column;
  int64_t columns;

  // The whole loop.
  explicit LoopRange(const LoopPlan& plan)
      : end(plan.count), column(0), columns(plan.extent[plan.rank - 1]) {}
  LoopRange(int64_t end_position, int64_t first_column, int64_t column_count)
      : end(end_position), column(first_column), columns(column_count) {}
};

// The transposed rows of one input. Only one thread uses an object; its memory is that thread's (see
// AttachTransposedRows).
class TransposedRows {
 public:
  // Tells whether transposed rows serve this operand: it is dense along the last dim but one, and neither dense nor
  // repeated along the last.
  static bool Fit(const LoopPlan& plan, const OperandLoop& operand) noexcept;

  bool attached() const noexcept { return copy_ != nullptr; }

  // Returns the elements of a row from `column` to the window's end, one after the other. `row` is the
  // address at which the row begins. `rows_left` counts the rows still to come, this one included.
  const char* Row(const char* row, int64_t column, int64_t rows_left) noexcept {
    if (rows_ == 0 || row < first_ || row - first_ >= rows_ * size_) Fill(row, rows_left);
    return copy_ + (row - first_) / size_ * pitch_ + (column - column_) * size_;
  }

 private:
  friend void AttachTransposedRows(const LoopPlan& plan, const LoopRange& loop_range, int inputs,
                                   TransposedRows* rows_of_inputs) noexcept;

  void Fill(const char* row, int64_t rows_left) noexcept;

  char* copy_ = nullptr;
  int64_t most_rows_ = 0;
  int64_t column_ = 0;
  int64_t columns_ = 0;
  int64_t stride_ = 0;  // in bytes, along a row
  int32_t size_ = 1;    // of an element, and so the distance of rows
  int64_t pitch_ = 0;   // in bytes, from row to row of the copy
  const char* first_ = nullptr;
  int64_t rows_ = 0;  // in the copy
};

// Gives Transposed rows to each input that they fit. They use memory of the calling thread, which keeps it, so that
// later calls allocate nothing; Transposed rows made there before become invalid. Inputs whose rows are too long, and
// threads that get no memory, go without and are slower.
void AttachTransposedRows(const LoopPlan& plan, const LoopRange& loop_range, int inputs,
                          TransposedRows* rows_of_inputs) noexcept;

}  // namespace portacl::engine
