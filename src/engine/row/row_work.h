// What a kernel over rows is given: where the elements of a few rows lie, the numbers that belong to each row, and the sums
// over columns that rows add to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/isa.h"

namespace portacl::engine {

// Operands that have an element for each element of a row, inputs and outputs; numbers of a row; sums over columns.
inline constexpr int kMaxRowOperands = 8;
inline constexpr int kMaxRowValues = 8;
inline constexpr int kMaxColumnSums = 2;

// A row that is too long to be held at once is taken in pieces, each of which is brought from memory for every pass that reads
// it, and written back after every pass that writes it. A set of operands has a bit for each.
struct RowPieces {
  size_t most;  // elements of a piece: a multiple of 16
  void (*take)(const RowPieces& pieces, uint32_t reads, uint32_t writes, size_t at, size_t n, char** operand);
  void (*give)(const RowPieces& pieces, uint32_t writes, size_t at, size_t n);
};

struct RowWork {
  size_t n;                             // elements of a row
  size_t rows;                          // 1 in pieces
  char* operand[kMaxRowOperands];       // the first row: inputs, then outputs
  int64_t row_stride[kMaxRowOperands];  // in bytes; 0 for an input that all rows share
  double* values;                       // number i of row r is values[i * value_pitch + r]
  size_t value_pitch;
  void*
      kept;  // n elements, rounded up to 16, of the type that is computed in: what one pass leaves to the next; may be nullptr
  double* columns
      [kMaxColumnSums];  // one sum for each element of a row, and up to 15 more; nullptr where it is not wanted
  const RowPieces* pieces;  // nullptr: rows lie in memory as a whole
  bool stream;              // outputs go past the caches; their rows begin at whole cache lines
  int64_t ahead;            // how many bytes in front of what is streamed later rows are asked for
};

// The work of some rows; what `parameters` points to is the formula's.
using RowFunction = Isa (*)(const RowWork& work, const void* parameters);

}  // namespace portacl::engine
