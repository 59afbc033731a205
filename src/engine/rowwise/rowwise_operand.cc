// The layout of rows in memory, and copies to and from dense rows (see rowwise_operand.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/rowwise_operand.h"

#include <algorithm>

#include "base/data_type.h"
#include "engine/move/block.h"
#include "plan/views.h"

namespace portacl::engine {
namespace {

// Dense rows at least this long are converted directly in memory.
constexpr int64_t kLongRow = 64;

void AddAxis(RowAxes& axes, int64_t extent, int64_t stride) {
  if (extent == 1) return;
  if (axes.rank > 0 && axes.stride[axes.rank - 1] == extent * stride) {
    axes.extent[axes.rank - 1] *= extent;
    axes.stride[axes.rank - 1] = stride;
    return;
  }
  axes.extent[axes.rank] = extent;
  axes.stride[axes.rank] = stride;
  ++axes.rank;
}

// Calls copy(memory, steps there, dense, rows, columns) for each block of rows and elements at equal
// distances in memory. ForEachTile cuts a block so that one that is transposed stays in the first-level
// cache.
template <class Copy>
void ForEachRun(const RowwiseOperand& operand, char* base, int64_t row, int64_t rows, int64_t at, int64_t n,
                char* dense, int64_t pitch, int32_t dense_size, const Copy& copy) {
  for (int64_t r = 0; r < rows;) {
    const RowTile outer = RowTileFrom(operand.outer, row + r, rows - r);
    for (int64_t i = 0; i < n;) {
      const RowTile inner = RowTileFrom(operand.inner, at + i, n - i);
      copy(base + operand.offset + outer.offset + inner.offset, BlockStrides{outer.stride, inner.stride},
           dense + r * pitch + i * dense_size, outer.count, inner.count);
      i += inner.count;
    }
    r += outer.count;
  }
}

// Tells whether the elements of neighbouring rows are adjacent in memory.
bool IsAcross(BlockStrides memory, int32_t size) { return memory.row == size && memory.column != size; }

// Calls copy for tiles of the rows and columns. A tile that is transposed stays in the first-level cache.
template <class Copy>
void ForEachTile(BlockStrides memory, int32_t size, int64_t rows, int64_t columns, const Copy& copy) {
  const bool is_across = IsAcross(memory, size);
  const int64_t most_rows = is_across ? kTransposedRows : rows;
  const int64_t most_columns = is_across ? std::min(kTransposedRowBytes / size, kTransposedRows) : columns;
  for (int64_t r = 0; r < rows; r += most_rows) {
    for (int64_t c = 0; c < columns; c += most_columns)
      copy(r, c, std::min(most_rows, rows - r), std::min(most_columns, columns - c));
  }
}

void FillWith(double value, int32_t size, char* to, int64_t n) {
  if (size == sizeof(float)) {
    std::fill_n(reinterpret_cast<float*>(to), n, static_cast<float>(value));
  } else {
    std::fill_n(reinterpret_cast<double*>(to), n, value);
  }
}

bool IsRepeated(const RowAxes& axes) {
  return std::all_of(axes.stride, axes.stride + axes.rank, [](int64_t stride) { return stride == 0; });
}

}  // namespace

bool IsDense(const RowAxes& axes, int32_t size) noexcept {
  return axes.rank == 0 || (axes.rank == 1 && axes.stride[0] == size);
}

RowTile RowTileFrom(const RowAxes& axes, int64_t index, int64_t most) noexcept {
  if (axes.rank == 0) return {0, 0, most};
  const int last = axes.rank - 1;
  const int64_t column = index % axes.extent[last];
  index /= axes.extent[last];
  RowTile run{column * axes.stride[last], axes.stride[last], std::min(most, axes.extent[last] - column)};
  for (int axis = last - 1; axis >= 0 && index != 0; --axis) {
    run.offset += index % axes.extent[axis] * axes.stride[axis];
    index /= axes.extent[axis];
  }
  return run;
}

void LoadRows(const RowwiseOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
              int64_t n, int32_t size, char* to, char* raw) noexcept {
  if (operand.argument == RowwiseOperand::kConstant) return FillWith(operand.constant, size, to, rows * n);
  auto* const base = static_cast<char*>(addresses[operand.argument]);
  const Conversion& conversion = *operand.conversion;
  const bool keeps_bytes = conversion.KeepsBytes();
  const bool is_dense = IsDense(operand.inner, operand.size) && n >= kLongRow;
  char* const gathered = keeps_bytes ? to : raw;
  const int64_t pitch = keeps_bytes || is_dense ? n * size : n * operand.size;
  ForEachRun(operand, base, row, rows, at, n, is_dense ? to : gathered, pitch, is_dense ? size : operand.size,
             [&](const char* memory, BlockStrides steps, char* dense, int64_t run_rows, int64_t columns) {
               if (is_dense && !keeps_bytes) {
                 for (int64_t r = 0; r < run_rows; ++r)
                   conversion.Run(memory + r * steps.row, dense + r * pitch, static_cast<size_t>(columns),
                                  false);
                 return;
               }
               ForEachTile(steps, operand.size, run_rows, columns,
                           [&](int64_t r, int64_t c, int64_t tile_rows, int64_t tile_columns) {
                             CopyBlock(memory + r * steps.row + c * steps.column, steps,
                                       dense + r * pitch + c * operand.size, {pitch, operand.size}, tile_rows,
                                       tile_columns, operand.size, false);
                           });
             });
  if (!keeps_bytes && !is_dense) conversion.Run(raw, to, static_cast<size_t>(rows * n), false);
}

void StoreRows(const RowwiseOperand& operand, void* const* addresses, int64_t row, int64_t rows, int64_t at,
               int64_t n, int32_t size, const char* from, char* raw) noexcept {
  auto* const base = static_cast<char*>(addresses[operand.argument]);
  const Conversion& conversion = *operand.conversion;
  const bool keeps_bytes = conversion.KeepsBytes();
  const bool is_dense = IsDense(operand.inner, operand.size) && n >= kLongRow;
  if (!keeps_bytes && !is_dense) conversion.Run(from, raw, static_cast<size_t>(rows * n), false);
  char* const source = keeps_bytes || is_dense ? const_cast<char*>(from) : raw;
  const int32_t source_size = is_dense ? size : operand.size;
  const int64_t pitch = n * source_size;
  ForEachRun(
      operand, base, row, rows, at, n, source, pitch, source_size,
      [&](char* memory, BlockStrides steps, const char* dense, int64_t run_rows, int64_t columns) {
        if (is_dense && !keeps_bytes) {
          for (int64_t r = 0; r < run_rows; ++r)
            conversion.Run(dense + r * pitch, memory + r * steps.row, static_cast<size_t>(columns), false);
          return;
        }
        ForEachTile(steps, operand.size, run_rows, columns,
                    [&](int64_t r, int64_t c, int64_t tile_rows, int64_t tile_columns) {
                      const char* const source_tile = dense + r * pitch + c * operand.size;
                      char* const target = memory + r * steps.row + c * steps.column;
                      // Exchanging rows and columns makes it a block that CopyBlock transposes.
                      if (IsAcross(steps, operand.size)) {
                        CopyBlock(source_tile, {operand.size, pitch}, target, {steps.column, steps.row},
                                  tile_columns, tile_rows, operand.size, false);
                      } else {
                        CopyBlock(source_tile, {pitch, operand.size}, target, steps, tile_rows, tile_columns,
                                  operand.size, false);
                      }
                    });
      });
}

RowwiseOperand RowwiseOperandOf(int operand, const StridedView& tensor, const Shape& shape, uint32_t axes,
                                bool is_output, aclDataType computed, Isa isa) noexcept {
  const StridedView view = PlainView(tensor);
  RowwiseOperand to{};
  to.argument = static_cast<int8_t>(operand);
  to.size = static_cast<int32_t>(StorageBits(view.dtype) / 8);
  to.offset = ByteOffset(view);
  const int missing = shape.rank - view.shape.rank;
  for (int axis = 0; axis < shape.rank; ++axis) {
    AddAxis((axes >> axis & 1) != 0 ? to.inner : to.outer, shape[axis],
            axis >= missing ? ByteStride(view, axis - missing) : 0);
  }
  to.is_shared = !is_output && IsRepeated(to.outer);
  const aclDataType from = is_output ? computed : view.dtype;
  const aclDataType into = is_output ? view.dtype : computed;
  to.conversion = &ConversionBetween(isa, ConvertedPart(from, into), into);
  return to;
}

RowwiseOperand NumbersOf(int operand, const StridedView& tensor, bool is_output, aclDataType computed,
                         Isa isa) noexcept {
  const StridedView view = PlainView(tensor);
  RowwiseOperand to{};
  to.argument = static_cast<int8_t>(operand);
  to.size = static_cast<int32_t>(StorageBits(view.dtype) / 8);
  to.offset = ByteOffset(view);
  for (int axis = 0; axis < view.shape.rank; ++axis)
    AddAxis(to.outer, view.shape[axis], ByteStride(view, axis));
  const aclDataType from = is_output ? computed : view.dtype;
  const aclDataType into = is_output ? view.dtype : computed;
  to.conversion = &ConversionBetween(isa, ConvertedPart(from, into), into);
  return to;
}

}  // namespace portacl::engine
