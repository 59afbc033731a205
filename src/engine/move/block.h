// Copies of blocks: two dims of elements of one size, any strides on both sides. All that moves bytes ends here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/move/stream_lines.h"

namespace portacl::engine {

// Where the elements of a block lie: bytes from one row to the next and from one column to the next.
struct BlockSteps {
  int64_t row;
  int64_t column;
};

// A block that is to be transposed, since its source is dense along the columns and its destination along the rows, has at
// most so many rows, and so many bytes in a destination row: then it passes through the first-level cache once.
inline constexpr int64_t kTransposedRows = 64;
inline constexpr int64_t kTransposedRowBytes = 512;

// destination[r][c] = source[r][c] for rows x columns elements of `size` bytes, any number of them. Reads elements alone, or
// what lies between two of a row; writes elements alone. Views that overlap give any of their values. With `stream`,
// what is dense and long is written past the caches where the machine can; the caller then ends with a fence.
void CopyBlock(const char* source, BlockSteps from, char* destination, BlockSteps to, int64_t rows,
               int64_t columns, int32_t size, bool stream) noexcept;

// The same, streamed, for runs (of more than 16 bytes) whose rows lie closer together in the source than their columns. What is
// `ahead` bytes from a run is asked for with it; it need not be readable.
void StreamRuns(const char* source, BlockSteps from, char* destination, BlockSteps to, int64_t rows,
                int64_t columns, int32_t size, int64_t ahead) noexcept;

// Whole lines of the caches, written past them to where one begins. What lies at `next`, which need not be readable, is asked for: of what is
// copied later as much as of this, of a long row its beginning. `copy`: FindLineCopy's, found once.
void StreamRow(const char* source, char* destination, int64_t bytes, const char* next,
               LineCopy copy) noexcept;

// The same bytes, in any direction of overlap where not streamed.
void CopyBytes(const char* source, char* destination, int64_t bytes, bool stream) noexcept;

}  // namespace portacl::engine
