// Copies of blocks: two dims of elements of one size, with any strides on both sides. All moves of bytes end
// here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/move/stream_lines.h"

namespace portacl::engine {

// The distances of rows and of columns of a block in bytes.
struct BlockStrides {
  int64_t row;
  int64_t column;
};

// The size of a block that is transposed, because its source is dense along the columns and its destination
// along the rows: the most rows, and the most bytes of a destination row. Such a block passes through the
// first-level cache once.
inline constexpr int64_t kTransposedRows = 64;
inline constexpr int64_t kTransposedRowBytes = 512;

// destination[r][c] = source[r][c] for rows x columns elements of any number of bytes, `size`. Reads nothing
// outside the span of a row, and writes only elements. If the views overlap, any of their values may result.
// With `stream`, long dense parts are written past the caches if the machine can; the caller then ends with a
// fence.
void CopyBlock(const char* source, BlockStrides from, char* destination, BlockStrides to, int64_t rows,
               int64_t columns, int32_t size, bool stream) noexcept;

// Streams elements of more than 16 bytes whose rows are closer together in the source than their columns.
// Prefetches `ahead` bytes from each element, which need not be readable.
void StreamRuns(const char* source, BlockStrides from, char* destination, BlockStrides to, int64_t rows,
                int64_t columns, int32_t size, int64_t ahead) noexcept;

// Streams whole cache lines past the caches; the destination begins with a line. Prefetches `next`, which is
// copied later and need not be readable: as many bytes as here, or the beginning of a long row. `copy` is
// FindLineCopy's result.
void StreamRow(const char* source, char* destination, int64_t bytes, const char* next,
               LineCopy copy) noexcept;

// Copies bytes. The ranges may overlap in any direction unless streamed.
void CopyBytes(const char* source, char* destination, int64_t bytes, bool stream) noexcept;

}  // namespace portacl::engine
