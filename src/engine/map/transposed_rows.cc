// Transposed copies of rows (see transposed_rows.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/transposed_rows.h"

#include <algorithm>
#include <cstddef>

#include "engine/thread_memory.h"
#include "engine/transpose.h"

namespace portacl::engine {
namespace {

// Smaller blocks are not worth a copy.
constexpr int64_t kFewestColumns = 64;
constexpr int64_t kFewestRows = 4;

// Bytes of a column to copy at once. Each column lies in other pages of memory, and going from page to page
// costs more than reading a cache line.
constexpr int64_t kMostBytesOfColumn = 512;

// The size of all copies of a thread.
constexpr int64_t kBytes = kThreadMemoryBytes;

// Whole cache lines and one more: rows a power of two apart would compete for a few sets of the first-level
// cache.
int64_t Pitch(const LoopRange& loop_range, const OperandLoop& operand) {
  return (loop_range.columns * operand.element_size + 63) / 64 * 64 + 64;
}

}  // namespace

bool TransposedRows::Fit(const LoopPlan& plan, const OperandLoop& operand) noexcept {
  const int last = plan.rank - 1;
  return last > 0 && operand.stride[last - 1] == operand.element_size && operand.stride[last] != 0 &&
         operand.stride[last] != operand.element_size && CanTranspose(operand.element_size) &&
         plan.extent[last - 1] >= kFewestRows && plan.extent[last] >= kFewestColumns;
}

void TransposedRows::Fill(const char* row, int64_t rows_left) noexcept {
  int64_t rows = std::min(most_rows_, rows_left);
  // Ends at the end of a cache line, so that no line is read for two copies.
  const auto beyond =
      static_cast<int64_t>((reinterpret_cast<uintptr_t>(row) + static_cast<uintptr_t>(rows * size_)) % 64) /
      size_;
  if (beyond < rows && rows < rows_left) rows -= beyond;
  TransposeIn(row + column_ * stride_, stride_, copy_, pitch_, columns_, rows, size_, nullptr);
  first_ = row;
  rows_ = rows;
}

void AttachTransposedRows(const LoopPlan& plan, const LoopRange& loop_range, int inputs,
                          TransposedRows* rows_of_inputs) noexcept {
  int64_t bytes_in_row = 0;
  for (int k = 0; k < inputs; ++k) {
    const OperandLoop& operand = plan.operand[k];
    rows_of_inputs[k] = TransposedRows();
    if (TransposedRows::Fit(plan, operand)) bytes_in_row += Pitch(loop_range, operand);
  }
  if (bytes_in_row == 0 || loop_range.columns < kFewestColumns || kBytes / bytes_in_row < kFewestRows) return;
  char* memory = ThreadMemory(MemoryUse::kRowCopies);
  if (memory == nullptr) return;
  for (int k = 0; k < inputs; ++k) {
    const OperandLoop& operand = plan.operand[k];
    if (!TransposedRows::Fit(plan, operand)) continue;
    TransposedRows& one = rows_of_inputs[k];
    one.size_ = operand.element_size;
    one.stride_ = operand.stride[plan.rank - 1];
    one.column_ = loop_range.column;
    one.columns_ = loop_range.columns;
    one.most_rows_ = std::min(kBytes / bytes_in_row, kMostBytesOfColumn / one.size_);
    one.pitch_ = Pitch(loop_range, operand);
    one.copy_ = memory;
    memory += one.most_rows_ * one.pitch_;
  }
}

}  // namespace portacl::engine
