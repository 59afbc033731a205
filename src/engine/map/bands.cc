// Transposed copies of rows (see bands.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/bands.h"

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
int64_t Pitch(const Window& window, const OperandLoop& operand) {
  return (window.columns * operand.element_size + 63) / 64 * 64 + 64;
}

}  // namespace

bool Bands::Fit(const LoopPlan& plan, const OperandLoop& operand) noexcept {
  const int last = plan.rank - 1;
  return last > 0 && operand.stride[last - 1] == operand.element_size && operand.stride[last] != 0 &&
         operand.stride[last] != operand.element_size && CanTranspose(operand.element_size) &&
         plan.extent[last - 1] >= kFewestRows && plan.extent[last] >= kFewestColumns;
}

void Bands::Fill(const char* row, int64_t rows_left) noexcept {
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

void AttachBands(const LoopPlan& plan, const Window& window, int inputs, Bands* bands) noexcept {
  int64_t bytes_in_row = 0;
  for (int k = 0; k < inputs; ++k) {
    const OperandLoop& operand = plan.operand[k];
    bands[k] = Bands();
    if (Bands::Fit(plan, operand)) bytes_in_row += Pitch(window, operand);
  }
  if (bytes_in_row == 0 || window.columns < kFewestColumns || kBytes / bytes_in_row < kFewestRows) return;
  char* memory = ThreadMemory(MemoryUse::kBands);
  if (memory == nullptr) return;
  for (int k = 0; k < inputs; ++k) {
    const OperandLoop& operand = plan.operand[k];
    if (!Bands::Fit(plan, operand)) continue;
    Bands& one = bands[k];
    one.size_ = operand.element_size;
    one.stride_ = operand.stride[plan.rank - 1];
    one.column_ = window.column;
    one.columns_ = window.columns;
    one.most_rows_ = std::min(kBytes / bytes_in_row, kMostBytesOfColumn / one.size_);
    one.pitch_ = Pitch(window, operand);
    one.copy_ = memory;
    memory += one.most_rows_ * one.pitch_;
  }
}

}  // namespace portacl::engine
