// Transposition of small blocks, for operands that are dense along another axis than the loop's innermost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// The element sizes for which loops that compute use a transposed copy. TransposeIn supports 8 and 16 bytes,
// too.
constexpr bool CanTranspose(int32_t size) { return size == 1 || size == 2 || size == 4; }

// Transposes a block from memory: destination[c][r] = source[r][c] for r in [0, rows), c in [0, columns).
// Elements of a row are adjacent; rows are `stride` bytes apart. `next` is the following block, or nullptr:
// its first rows are prefetched and need not be readable.
void TransposeIn(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                 int64_t rows, int64_t columns, int32_t size, const char* next) noexcept;

// Transposes a block to memory. With `stream`, writes past the caches if the instruction set can; the caller
// then ends with a fence.
void TransposeOut(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                  int64_t rows, int64_t columns, int32_t size, bool stream) noexcept;

}  // namespace portacl::engine
