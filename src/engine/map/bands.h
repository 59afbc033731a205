// Bands: transposed copies of the next few rows of an input whose elements lie side by side across the rows, for sums that
// take their terms row by row. Element by element, every one of them would cost a cache line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/loop_plan.h"

namespace portacl::engine {

// The part of a loop that a piece of work walks, so that no band holds more than is wanted: positions before `end`,
// of each row the columns [column, column + columns).
struct Window {
  int64_t end;
  int64_t column;
  int64_t columns;

  // All of the loop.
  explicit Window(const LoopPlan& plan) : end(plan.count), column(0), columns(plan.extent[plan.rank - 1]) {}
  Window(int64_t end_position, int64_t first_column, int64_t column_count)
      : end(end_position), column(first_column), columns(column_count) {}
};

// The bands of one input. At most one thread uses it; its memory is that thread's (see AttachBands).
class Bands {
 public:
  // Whether bands are for this operand: dense along the last dim but one, neither dense nor repeated along the last.
  static bool Fit(const LoopPlan& plan, const OperandLoop& operand) noexcept;

  bool attached() const noexcept { return copy_ != nullptr; }

  // The elements from `column` on, to the window's end, of a row that begins at `row` in memory, one after the
  // other. `rows_left` rows, this one included, are still to come.
  const char* Row(const char* row, int64_t column, int64_t rows_left) noexcept {
    if (rows_ == 0 || row < first_ || row - first_ >= rows_ * size_) Fill(row, rows_left);
    return copy_ + (row - first_) / size_ * pitch_ + (column - column_) * size_;
  }

 private:
  friend void AttachBands(const LoopPlan& plan, const Window& window, int inputs, Bands* bands) noexcept;

  void Fill(const char* row, int64_t rows_left) noexcept;

  char* copy_ = nullptr;
  int64_t most_rows_ = 0;
  int64_t column_ = 0;
  int64_t columns_ = 0;
  int64_t stride_ = 0;  // in bytes, along a row
  int32_t size_ = 1;    // of an element, and so from row to row
  int64_t pitch_ = 0;   // in bytes, from row to row of the copy
  const char* first_ = nullptr;
  int64_t rows_ = 0;  // in the copy
};

// Gives those of the inputs that they fit bands in the calling thread's memory, which stays with the thread, so that
// later calls allocate none; the bands made there before lose it. Rows too long for it, and threads that get no memory,
// have none: they are slower.
void AttachBands(const LoopPlan& plan, const Window& window, int inputs, Bands* bands) noexcept;

}  // namespace portacl::engine
