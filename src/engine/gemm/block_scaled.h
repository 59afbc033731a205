// A product of matrices of INT8 whose blocks of terms have scales.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// out[m, n] = sum over blocks b of terms: (left @ right of the block) * (row_scale[m, b] * column_scale[n /
// column_block, b]), then bias[n]. Sums of a block are exact integers; the rest is float32, by ascending block. A
// listed op (OpList::Compute) with dense operands, trivially copyable.
struct BlockScaledProduct {
  static constexpr int64_t kBlock = 128;
  BufferRef left;       // INT8 [rows, terms]
  BufferRef right;      // INT8 [columns, terms]
  BufferRef row_scale;  // FLOAT [rows, blocks of terms]
  BufferRef
      column_scale;  // FLOAT [blocks of columns, blocks of terms], or [blocks of columns] for all of these
  BufferRef bias;    // FLOAT [columns]
  BufferRef out;
  aclDataType dtype = ACL_BF16;  // of out
  bool has_bias = false;
  bool repeats_columns = false;   // column_scale is for all blocks of terms
  int64_t term_block = kBlock;    // terms
  int64_t column_block = kBlock;  // columns
  int64_t rows = 0, columns = 0, terms = 0;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
