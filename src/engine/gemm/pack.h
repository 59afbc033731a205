// Packing: parts of an operand of a matrix product, wherever they lie, as float32 in the order in which kernels read them. What a product is
// of need not be a matrix in memory: a kind of operand is what it packs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

// Lines, which are rows of the left or columns of the right operand, of terms. Steps are in bytes.
struct PackSource {
  int64_t line;  // from a line to the next
  int64_t term;
  int32_t size;  // of an element
  LoadFunction load;
  PackColumnsFunction pack_columns;
  TransposeFunction transpose;
  GatherFunction gather;
};

// Bytes that packing needs besides, for elements of 16 bits.
inline constexpr int64_t kPackMemory = kMostPanelColumns * kGemmDepth * 2;

// `depth` terms of each line, at most kGemmDepth: lines kPackedRow numbers apart.
void PackRows(const PackSource& source, const char* first, int64_t lines, int64_t depth, char* memory,
              float* to) noexcept;
// Panels of `width` lines, the lines of a term side by side; what the last one lacks is 0.
void PackPanels(const PackSource& source, const char* first, int64_t lines, int64_t depth, int64_t width,
                char* memory, float* to) noexcept;

}  // namespace portacl::engine
