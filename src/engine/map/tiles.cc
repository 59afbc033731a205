// Fills tiles and computes formulas over them (see tiles.h). Nothing here depends on a formula.
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/tiles.h"

#include <array>
#include <cstring>

namespace portacl::engine {
namespace {

template <class Bits>
void Repeat(const char* element, size_t bytes, void* to) {
  Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  std::fill_n(static_cast<Bits*>(to), bytes / sizeof bits, bits);
}

}  // namespace

char* DenseAddress(const LoopPlan& plan, int operand, char* base, const Cursor& cursor, int64_t position,
                   int64_t n) noexcept {
  const OperandLoop& loop = plan.operand[operand];
  if (loop.linear && loop.linear_stride == loop.element_size) return base + position * loop.linear_stride;
  if (n <= cursor.left_in_row() && loop.stride[plan.rank - 1] == loop.element_size) return cursor.At(operand);
  return nullptr;
}

void RepeatElement(const Formula& formula, KernelType kernel, int input, const char* source,
                   void* to) noexcept {
  const size_t size = SizeOf(kernel.elements);
  alignas(kWidestElement) char element[kWidestElement];
  if (kernel.elements == formula.type[input]) {
    std::memcpy(element, source, size);
  } else {
    formula.load[input](source, element, 1);
  }
  const size_t bytes = RepeatedBytes(kernel.elements);
  switch (size) {
    case 1:
      return Repeat<uint8_t>(element, bytes, to);
    case 2:
      return Repeat<uint16_t>(element, bytes, to);
    case 4:
      return Repeat<uint32_t>(element, bytes, to);
    case 8:
      return Repeat<uint64_t>(element, bytes, to);
    default:
      return Repeat<std::array<uint64_t, 2>>(element, bytes, to);
  }
}

FormulaTiles::FormulaTiles(const Formula& formula, const LoopPlan& plan, char* const* base, KernelType kernel,
                           ElementType result) noexcept
    : formula_(formula),
      plan_(plan),
      kernel_(kernel),
      result_size_(SizeOf(result)),
      long_rows_(HasLongRows(plan)),
      long_tiles_(long_rows_) {
  for (int k = 0; k < formula.input_count; ++k) {
    const OperandLoop& operand = plan.operand[k];
    base_[k] = base[k];
    is_one_value_[k] = operand.linear && operand.linear_stride == 0;
    if (is_one_value_[k]) RepeatElement(formula, kernel, k, base[k], repeated_[k]);
    size_[k] = IsNative(k) ? static_cast<size_t>(operand.element_size) : SizeOf(formula.computed);
    if (!IsDense(k) && RowStride(k) != 0) long_tiles_ = false;
  }
}

void FormulaTiles::WalkRows(const LoopRange& loop_range) noexcept {
  if (!long_rows_) return;
  AttachTransposedRows(plan_, loop_range, formula_.input_count, transposed_rows_);
  end_ = loop_range.end;
  long_tiles_ = true;
  for (int k = 0; k < formula_.input_count; ++k) {
    const bool as_it_is = RowStride(k) == 0 || IsDense(k) || (transposed_rows_[k].attached() && IsNative(k));
    long_tiles_ = long_tiles_ && as_it_is;
  }
}

void FormulaTiles::Locate(const Cursor& cursor, int64_t position, int64_t n, const void** in,
                          size_t* step) noexcept {
  for (int k = 0; k < formula_.input_count; ++k) {
    const char* dense = is_one_value_[k] ? nullptr : DenseAddress(plan_, k, base_[k], cursor, position, n);
    if (dense == nullptr && (is_one_value_[k] || (RowStride(k) == 0 && n <= cursor.left_in_row()))) {
      if (!is_one_value_[k]) RepeatElement(formula_, kernel_, k, cursor.At(k), repeated_[k]);
      in[k] = repeated_[k];
      step[k] = 0;
      continue;
    }
    if (dense == nullptr && transposed_rows_[k].attached() && n <= cursor.left_in_row()) {
      // Rows that begin before the walk's end.
      const int64_t row_length = plan_.extent[plan_.rank - 1];
      const int64_t rows = (end_ - position + cursor.column() + row_length - 1) / row_length;
      dense = transposed_rows_[k].Row(cursor.RowAt(k), cursor.column(), std::min(rows, cursor.left_rows()));
    }
    if (dense == nullptr) {
      const int32_t size = plan_.operand[k].element_size;
      char* const gathered = IsNative(k) ? tile_[k] : raw_;
      ForEachDenseRange(plan_, k, cursor, n,
                        [&](const char* address, int64_t stride, int64_t done, int64_t length) {
                          formula_.gather(address, stride, size, gathered + done * size, length);
                        });
      dense = gathered;
    }
    if (IsNative(k)) {
      in[k] = dense;
    } else {
      formula_.load[k](dense, tile_[k], static_cast<size_t>(n));
      in[k] = tile_[k];
    }
    step[k] = size_[k];
  }
}

void FormulaTiles::Compute(const Cursor& cursor, int64_t position, int64_t n, void* out,
                           bool stream) noexcept {
  VectorWork work;
  Locate(cursor, position, n, work.in, work.step);
  work.step[formula_.input_count] = result_size_;
  work.out = out;
  work.n = static_cast<size_t>(n);
  work.stream = stream;
  isa_ = formula_.function(kernel_, formula_.parameters, work);
}

}  // namespace portacl::engine
