// Packing of elements of 8 or 16 bits, with any strides, as words of adjacent terms. Instructions that
// multiply several terms of a word read them (byte_kernel.h, tile_kernel.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/gemm_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

// Lines of terms: rows of the left or columns of the right operand. Steps are in bytes.
struct WordSource {
  int64_t line;
  int64_t term;
  int64_t size;                  // of an element: 1 or 2
  TransposeFunction transpose;   // for float32, whose elements are words
  PackWordsFunction pack_words;  // for elements of this size
  GatherFunction gather;
  uint32_t inverted = 0;  // the bits of each word of panels that are inverted
};
WordSource WordSourceOf(const GemmKernels& kernels, GatherFunction gather, int64_t line, int64_t term,
                        int64_t size) noexcept;

// Packs `depth` terms of each line, padded with 0 to `words` words, at most kGemmDepth of them. Packed rows are
// `row` words apart.
void PackWordRows(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t words,
                  int64_t row, uint32_t* to) noexcept;
// Packs panels of `width` lines, with a line's words `width` apart. Missing lines and terms are 0.
void PackWordPanels(const WordSource& source, const char* first, int64_t lines, int64_t depth, int64_t words,
                    int64_t width, uint32_t* to) noexcept;

}  // namespace portacl::engine
