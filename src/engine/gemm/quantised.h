// Quantised weights as the right operand of a matrix product: packing widens them, so that they are never in memory as numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/pack.h"

namespace portacl::engine {

// Numbers that groups of terms of a column share. Steps are in bytes and may be 0.
struct GroupNumbers {
  int8_t argument;
  int64_t first;
  int64_t column;
  int64_t group;
};

// Element (term, column) is (w + offset) * scale, each operation rounded in float32.
struct QuantisedWeights {
  int8_t argument;
  bool is_int4;  // two of a byte, the lower half first; else INT8
  bool has_offset;
  int64_t first;  // in elements, as steps are
  int64_t term;
  int64_t column;
  int64_t group_terms;  // the last group may have fewer
  aclDataType dtype;    // FLOAT16 or BF16, of scales and offsets
  GroupNumbers scale;
  GroupNumbers offset;
};

// The same where they lie when a job runs.
struct QuantisedSource {
  const QuantisedWeights* weights;
  const char* elements;
  const char* scales;
  const char* offsets;
  LoadFunction load_elements;  // of INT8
  LoadFunction load_numbers;
  int32_t number_size;
  StoreFunction round = nullptr;  // elements are rounded to numbers of that size; nullptr: they are not
};

// Columns that are widened at a time where their terms lie side by side.
inline constexpr int64_t kQuantisedLines = kPackMemory / (kGemmDepth * int64_t{sizeof(float)});

// As PackPanels (engine/gemm/pack.h), from a column and a term on. `transpose` is that of float32; `lines` are kPackMemory bytes.
void PackQuantisedPanels(const QuantisedSource& source, TransposeFunction transpose, int64_t column,
                         int64_t columns, int64_t term, int64_t depth, int64_t width, float* lines,
                         float* to) noexcept;
// Spreads `count` elements of 4 bits from one on, two of a byte, the lower half first, to bytes.
void SpreadHalves(const char* elements, int64_t at, int64_t count, int8_t* to) noexcept;
// One element.
float QuantisedElement(const QuantisedSource& source, int64_t column, int64_t term) noexcept;

}  // namespace portacl::engine
