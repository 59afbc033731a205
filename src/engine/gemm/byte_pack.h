// Packing of INT8 operands as words of four adjacent terms (see byte_kernel.h), from bytes wherever they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

// Lines of INT8 terms: rows of the left or columns of the right operand. Steps are in bytes.
struct ByteSource {
  int64_t line;
  int64_t term;
  TransposeFunction transpose;  // for float32, whose elements are words
  PackWordsFunction pack_words;
  GatherFunction gather;
};

// Packs `depth` terms of each line, at most kByteDepth. Packed rows are kPackedRow words apart.
void PackByteRows(const ByteSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                  int64_t depth, uint32_t* to) noexcept;
// Packs panels of `width` lines, with a line's words `width` apart.
void PackBytePanels(const ByteSource& source, const ByteKernels& kernels, const char* first, int64_t lines,
                    int64_t depth, int64_t width, uint32_t* to) noexcept;

}  // namespace portacl::engine
