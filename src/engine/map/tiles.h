// Tiles of a loop: the inputs of each are dense elements of the computed type, whatever dtype and strides the
// operands have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/map/formula.h"
#include "engine/map/transposed_rows.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// The widest element: complex128.
inline constexpr size_t kWidestElement = 16;
// Rows at least this long are walked one at a time, so that dense and repeated operands need no tile.
inline constexpr int64_t kLongRow = 64;

// A position in the loop: its row, its column, and each operand's address at the row's start.
class Cursor {
 public:
  Cursor(const LoopPlan& plan, char* const* base, int64_t position) : plan_(&plan) {
    const int last = plan.rank - 1;
    column_ = position % plan.extent[last];
    position /= plan.extent[last];
    for (int k = 0; k < plan.operand_count; ++k) row_[k] = base[k];
    for (int axis = last - 1; axis >= 0; --axis) {
      index_[axis] = position % plan.extent[axis];
      position /= plan.extent[axis];
      for (int k = 0; k < plan.operand_count; ++k) row_[k] += index_[axis] * plan.operand[k].stride[axis];
    }
  }

  int64_t left_in_row() const { return plan_->extent[plan_->rank - 1] - column_; }
  int64_t column() const { return column_; }
  // Counts the rows of the innermost dim but one that are left, this one included.
  int64_t left_rows() const {
    return plan_->rank < 2 ? 1 : plan_->extent[plan_->rank - 2] - index_[plan_->rank - 2];
  }
  // Returns the address at which the row begins.
  char* RowAt(int operand) const { return row_[operand]; }
  char* At(int operand) const {
    return row_[operand] + column_ * plan_->operand[operand].stride[plan_->rank - 1];
  }

  // Moves down by `rows` rows, at most left_rows(). The cursor is at a row's beginning.
  void SkipRows(int64_t rows) {
    if (rows > 1) {
      const int axis = plan_->rank - 2;
      index_[axis] += rows - 1;
      for (int k = 0; k < plan_->operand_count; ++k) row_[k] += (rows - 1) * plan_->operand[k].stride[axis];
    }
    Advance(left_in_row());
  }

  // Moves on by any number of elements.
  void Skip(int64_t n) {
    while (n > 0) {
      const int64_t step = std::min(n, left_in_row());
      Advance(step);
      n -= step;
    }
  }

  // Moves on by n elements, at most left_in_row().
  void Advance(int64_t n) {
    column_ += n;
    if (column_ < plan_->extent[plan_->rank - 1]) return;
    column_ = 0;
    for (int axis = plan_->rank - 2; axis >= 0; --axis) {
      const bool wraps = ++index_[axis] == plan_->extent[axis];
      for (int k = 0; k < plan_->operand_count; ++k) {
        row_[k] += plan_->operand[k].stride[axis] * (wraps ? 1 - plan_->extent[axis] : 1);
      }
      if (!wraps) return;
      index_[axis] = 0;
    }
  }

 private:
  const LoopPlan* plan_;
  int64_t column_ = 0;
  int64_t index_[kMaxLoopRank] = {};
  char* row_[kMaxLoopOperands] = {};
};

// Calls segment(address, stride, done, length) for the part in each row of the cursor's next n elements.
template <class DenseRange>
void ForEachDenseRange(const LoopPlan& plan, int operand, Cursor cursor, int64_t n,
                       DenseRange&& dense_range) {
  const int64_t stride = plan.operand[operand].stride[plan.rank - 1];
  for (int64_t done = 0; done < n;) {
    const int64_t length = std::min(n - done, cursor.left_in_row());
    dense_range(cursor.At(operand), stride, done, length);
    cursor.Advance(length);
    done += length;
  }
}

// Returns the address of an operand's next n elements if they are dense, else nullptr. `position` is the
// cursor's index in the loop; `base` is the operand's address at index 0.
char* DenseAddress(const LoopPlan& plan, int operand, char* base, const Cursor& cursor, int64_t position,
                   int64_t n) noexcept;

// Whether a plan's rows are walked one at a time.
inline bool HasLongRows(const LoopPlan& plan) {
  return plan.extent[plan.rank - 1] >= kLongRow || plan.rank == 1;
}

// Repeats one element of an input as often as VectorWork says, in the type that the kernel reads.
void RepeatElement(const Formula& formula, KernelType kernel, int input, const char* source,
                   void* to) noexcept;

// Computes a formula over a loop, tile by tile. The formula's inputs are the plan's first operands. Inputs
// that the kernel can read in memory need no tile. Buffers live in the object, so that threads share nothing.
class FormulaTiles {
 public:
  FormulaTiles(const Formula& formula, const LoopPlan& plan, char* const* base, KernelType kernel,
               ElementType result) noexcept;
  // Restricts the walk to this part of the loop, row by row. Inputs that lie across the rows are read through
  // transposed rows.
  void WalkRows(const LoopRange& loop_range) noexcept;

  // Computes out[0..n) at the cursor's next n elements, n <= LongestTile(). `out` may be an input's own
  // memory if the input is dense there.
  void Compute(const Cursor& cursor, int64_t position, int64_t n, void* out, bool stream = false) noexcept;

  // Finds the inputs of the cursor's next n elements, and the size of their elements as the kernel reads
  // them, or 0 for a repeated one. Tiles that it fills stay until the next call.
  void Locate(const Cursor& cursor, int64_t position, int64_t n, const void** in, size_t* step) noexcept;

  // Records the instruction set of a kernel that the caller ran on Locate's result.
  void SetIsa(Isa isa) noexcept { isa_ = isa; }

  // Returns how many elements Compute takes at once: a tile, or the rest of the row if no input needs a tile.
  int64_t LongestTile(const Cursor& cursor) const noexcept {
    const int64_t tile = formula_.tile;
    const int64_t row = long_rows_ ? cursor.left_in_row() : tile;
    return long_tiles_ ? row : std::min(row, tile);
  }

  // Returns the instruction set of the kernel that ran last.
  Isa isa() const noexcept { return isa_; }

 private:
  int64_t RowStride(int input) const { return plan_.operand[input].stride[plan_.rank - 1]; }
  // Whether the kernel reads the input directly from memory.
  bool IsNative(int input) const { return Takes(kernel_.elements, formula_.type[input]); }
  // Whether the kernel reads the input directly from memory, and the input is dense within a row.
  bool IsDense(int input) const {
    return IsNative(input) && RowStride(input) == plan_.operand[input].element_size;
  }

  const Formula& formula_;
  const LoopPlan& plan_;
  const KernelType kernel_;
  const size_t result_size_;
  size_t size_[kMaxInputs];  // of an element as the kernel takes it
  char* base_[kMaxInputs];
  bool is_one_value_[kMaxInputs];
  bool long_rows_;
  bool long_tiles_;  // within a row every input is native and dense, or in transposed rows, or one value
  TransposedRows transposed_rows_[kMaxInputs];
  int64_t end_ = 0;  // of the part that is walked by rows
  Isa isa_ = Isa::kPortable;
  alignas(64) char tile_[kMaxInputs][kTileBytes];
  alignas(64) char repeated_[kMaxInputs][2 * kRepeatedBytes];
  alignas(64) char raw_[kRawBytes];
};

}  // namespace portacl::engine
