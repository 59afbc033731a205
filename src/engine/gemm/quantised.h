// Quantised weights as the right operand of a matrix product. Packing widens them, so that memory never holds
// them as floats.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/pack.h"
#include "engine/gemm/quantised_row.h"

namespace portacl::engine {

// Numbers shared by groups of terms of a column. Steps are in bytes and may be 0.
struct GroupNumbers {
  int8_t argument;
  int64_t first;
  int64_t column;
  int64_t group;
};

// Element (term, column) is (w + offset) * scale, each operation rounded in float32.
struct QuantisedWeights {
  int8_t argument;
  bool is_int4;  // two of a byte, the lower half first; else INT8, or 8-bit floats where elements are rounded
  bool has_offset;
  int64_t first;  // in elements, as steps are
  int64_t term;
  int64_t column;
  int64_t group_terms;  // the last group may have fewer
  aclDataType dtype;    // FLOAT16 or BF16, of scales and offsets, or FLOAT8_E8M0 of scales
  GroupNumbers scale;
  GroupNumbers offset;
  bool is_float4 = false;  // with is_int4: the halves of bytes are codes of FLOAT4_E2M1
};

// The weights' addresses in a running job.
struct QuantisedSource {
  const QuantisedWeights* weights;
  const char* elements;
  const char* scales;
  const char* offsets;
  LoadFunction load_elements;  // of 8 bits; of 4-bit ones once they are INT8
  LoadFunction load_numbers;
  int32_t number_size;
  StoreFunction round = nullptr;  // rounds elements to its size; nullptr: they are not rounded
};

// Columns that are widened at a time if their terms are contiguous.
inline constexpr int64_t kQuantisedLines = kPackMemory / (kGemmDepth * int64_t{sizeof(float)});

// Like PackPanels (engine/gemm/pack.h), from a column and a term on. `transpose` is for float32; `lines` has
// kPackMemory bytes.
void PackQuantisedPanels(const QuantisedSource& source, TransposeFunction transpose, int64_t column,
                         int64_t columns, int64_t term, int64_t depth, int64_t width, float* lines,
                         float* to) noexcept;

// How one row is multiplied without packing: weights that are contiguous along the columns, or along the
// terms; kNone if packing must read them.
enum class QuantisedOrder : uint8_t { kNone, kColumns, kTerms };
QuantisedOrder OrderOf(const QuantisedSource& source, int64_t depth) noexcept;
// Computes the sums of a block of terms of one row, c[0] for `column`. `a` has the row's `depth` terms from
// `term` on, at most kGemmDepth; a tile of columns begins at a multiple of `width`, the columns of a panel.
// `words` has kPackMemory bytes.
struct QuantisedRow {
  const QuantisedRowKernels* kernels;
  TransposeFunction transpose;  // for float32, whose elements are words
  int64_t width;
  float* words;
};
void MultiplyQuantisedRow(const QuantisedSource& source, const QuantisedRow& row, const float* a,
                          int64_t column, int64_t columns, int64_t term, int64_t depth, float* c) noexcept;
// Widens `count` 4-bit elements from index `at` on to bytes. A byte holds two of them, the lower half first.
void UnpackNibbles(const char* elements, int64_t at, int64_t count, int8_t* to) noexcept;
// Returns one element.
float QuantisedElement(const QuantisedSource& source, int64_t column, int64_t term) noexcept;

}  // namespace portacl::engine
