// The results of integer matrix products: an exact sum of products of int8, as int32, is scaled to the
// output's type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/conversions.h"
#include "engine/strided.h"

namespace portacl::engine {

// Numbers of rows and columns, at distances in bytes.
struct IntegerNumbers {
  const char* first;  // nullptr: there are none
  int64_t row;
  int64_t column;
  aclDataType dtype;
};

// out = ((sum + added) * scale) * factor + offset + added, each operation rounded in float32. An INT32
// `added` is added first, exactly modulo 2^32, another type last. INT32 output is the sum alone. INT8 output
// is rounded to nearest even and saturated, and NaN becomes 0.
struct IntegerResult {
  IntegerNumbers scale;
  IntegerNumbers factor;
  IntegerNumbers offset;
  bool
      // scales have 64 bits, and their offsets (see scale_words.h) are used unless `offset` is given
      has_words;
  aclDataType out;  // INT32, INT8, FLOAT16 or BF16
  LoadFunction load_f16;
  LoadFunction load_bf16;
  GatherFunction gather;
};

// The job's sums of a row from a column on.
struct IntegerSums {
  const float* sums;  // int32
  int64_t count;      // at most 512
  int64_t row;
  int64_t column;
  bool is_transposed;  // rows and columns are exchanged
  struct Added {
    const char* first;  // nullptr: nothing is added
    int64_t step;
    aclDataType dtype;
  } added;
};

// Writes the results side by side.
void ResultOfIntegers(const IntegerResult& result, const IntegerSums& sums, Isa isa, StoreFunction store,
                      char* to) noexcept;

// sums += block modulo 2^32. `sums` are int32; `block` holds whole numbers below 2^24 as float32. For the
// first block sums = block.
void AddIntegers(const float* block, int64_t n, bool is_first, float* sums) noexcept;

}  // namespace portacl::engine
