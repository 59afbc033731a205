// The work of a rowwise kernel: the elements of a few rows, the numbers that belong to each row, and the sums
// over columns to which rows add.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Limits for operands with an element for each element of a row (inputs and outputs), numbers of a row, and
// sums over columns.
inline constexpr int kMaxRowwiseOperands = 8;
inline constexpr int kMaxRowwiseValues = 8;
inline constexpr int kMaxColumnSums = 2;

// A row too long for the buffers is taken in tiles. A tile is loaded for every pass that reads it and stored
// after every pass that writes it. A set of operands has a bit for each.
struct RowTiles {
  size_t most;  // elements of a tile: a multiple of 16
  void (*take)(const RowTiles& row_tiles, uint32_t reads, uint32_t writes, size_t at, size_t n,
               char** operand);
  void (*give)(const RowTiles& row_tiles, uint32_t writes, size_t at, size_t n);
};

struct RowwiseWork {
  size_t n;                                 // elements of a row
  size_t rows;                              // 1 if in tiles
  char* operand[kMaxRowwiseOperands];       // the first row: inputs, then outputs
  int64_t row_stride[kMaxRowwiseOperands];  // in bytes; 0 for an input that all rows share
  double* values;                           // number i of row r is values[i * value_pitch + r]
  size_t value_pitch;
  void*
      // N elements of the computed type, rounded up to 16, that one pass leaves to the next; may be nullptr.
      kept;
  double* columns
      [kMaxColumnSums];  // one sum for each element of a row, and up to 15 more; nullptr where it is not wanted
  const RowTiles* row_tiles;  // nullptr: rows are whole
  bool stream;                // outputs go past the caches; their rows begin at whole cache lines
  int64_t ahead;              // prefetch distance of later rows, in bytes
};

// Computes some rows; `parameters` points to the formula's parameters.
using RowwiseFunction = Isa (*)(const RowwiseWork& work, const void* parameters);

}  // namespace portacl::engine
