// The job of weighted sums along two axes (see axes.h), with the tables that say which elements each row and each column takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"
#include "engine/conversions.h"
#include "engine/resample/axes_memory.h"

namespace portacl::engine {

// Columns that are summed at a time, and source rows whose sums are kept: at least as many as a position has
// taps.
inline constexpr int64_t kTileColumns = 256;
inline constexpr int64_t kRowsKept = 8;
// If no column has more taps than this, all columns are padded to the same number.
inline constexpr int64_t kMostPadded = 12;
// Taps whose values are gathered at a time.
inline constexpr int64_t kTapsTogether = 512;
// Rows that are combined at once: the taps of a cubic position, or two.
inline constexpr int64_t kMostCombined = 4;
static_assert(kMostCombined < kRowsKept);

struct RowTap {
  int64_t offset;  // of the source row, in bytes
  int64_t number;  // of the source row; adjacent rows have consecutive numbers
  double weight;
};

// Columns of one tile that take elements at equal distances, each once. With column_step 0 all elements add
// to one column.
struct Range {
  int64_t offset;
  int64_t step;
  int32_t column;
  int32_t column_step;
  int64_t count;
};

struct ColumnTap {
  int64_t offset;
  double weight;
};

struct SumJob {
  // The storage of the columns' taps in a row:
  // - kRanges: arithmetic sequences, by tile.
  // - kFixed: the same number for every column. A tile's taps are contiguous: the first tap of all columns,
  // then the second and so on.
  // - kPadded: like kFixed, with missing taps of weight 0.
  // - kPairs: two for every column, which are the elements of a dense row in order, with weight 1.
  // - kListed: any taps, by column.
  // - kNear: like kFixed, along a dense row; a tile's taps ascend and lie within kTapsTogether elements.
  enum class Columns : uint8_t { kRanges, kFixed, kPadded, kPairs, kListed, kNear };

  AxesRows loop;
  Isa isa;
  Columns columns;
  bool is_wide;
  bool streams;       // the result is written past the caches, which cannot hold both sides
  int32_t from_size;  // of a number
  int32_t to_size;
  int64_t to_row;
  int64_t to_step;
  int64_t taps;       // of a column, if all have the same number
  LoadFunction load;  // nullptr if nothing is converted
  StoreFunction store;
  Table<int64_t> first_row_tap;
  Table<RowTap> row_taps;
  Table<int64_t> first_in_tile;  // index of a stretch, or of a column's tap
  Table<Range> ranges;
  int64_t length;          // of a source row, for kNear
  Table<int64_t> offsets;  // for kFixed; 32-bit indices for kNear
  Table<double> weights;   // for both; float if that is the computed type
  Table<ColumnTap> column_taps;

  bool Touches(int operand) const noexcept { return operand == loop.source || operand == loop.destination; }
  int64_t Elements() const noexcept { return loop.batches * loop.rows * loop.columns; }
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
