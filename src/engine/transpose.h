// Transposition of small blocks, for operands that are dense along another axis than the loop's innermost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Sizes of elements that pay a transposed copy in loops that compute. TransposeIn takes those of 8 and 16 bytes too.
constexpr bool CanTranspose(int32_t size) { return size == 1 || size == 2 || size == 4; }

// A block from memory: destination[c][r] = source[r][c] for r in [0, rows), c in [0, columns). Elements of a row
// lie side by side, rows `stride` bytes apart. `next` is the block that is wanted after this one, nullptr if none: its
// first rows are asked for ahead, and need not be readable.
void TransposeIn(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                 int64_t rows, int64_t columns, int32_t size, const char* next) noexcept;

// The same. With `stream`, writes past the caches where the instruction set can; the caller then ends with a fence.
void TransposeOut(const char* source, int64_t source_stride, char* destination, int64_t destination_stride,
                  int64_t rows, int64_t columns, int32_t size, bool stream) noexcept;

}  // namespace portacl::engine
