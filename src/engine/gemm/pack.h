// Packing: parts of a matrix product's operand, with any strides, as float32 in the order in which kernels
// read them. An operand need not be a matrix in memory: a kind of operand is defined by how it is packed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

// Lines of terms: rows of the left or columns of the right operand. Steps are in bytes.
struct PackSource {
  int64_t line;  // the distance of lines
  int64_t term;
  int32_t size;  // of an element
  LoadFunction load;
  PackColumnsFunction pack_columns;
  TransposeFunction transpose;
  GatherFunction gather;
};

// Bytes of scratch memory that packing 16-bit elements needs.
inline constexpr int64_t kPackMemory = kMostPanelColumns * kGemmDepth * 2;

// Packs `depth` terms of each line, at most kGemmDepth. Packed lines are kPackedRow numbers apart.
void PackRows(const PackSource& source, const char* first, int64_t lines, int64_t depth, char* memory,
              float* to) noexcept;
// Packs panels of `width` lines, with the lines of a term side by side. The last panel is padded with 0.
void PackPanels(const PackSource& source, const char* first, int64_t lines, int64_t depth, int64_t width,
                char* memory, float* to) noexcept;

}  // namespace portacl::engine
