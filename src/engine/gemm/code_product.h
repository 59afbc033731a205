// Products of matrices of codes of few bits: 8-bit and 4-bit floats, and INT4. Blocks of terms may have scales.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// Codes of a batch of matrices. Lines are rows of the left operand, or columns of the right one. Steps are in
// elements; `line_step` or `term_step` is 1. With two codes in a byte the other steps are even.
struct CodeMatrix {
  BufferRef buffer;
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  int64_t batch_step = 0, line_step = 0, term_step = 1;
};

// Scales of lines and of blocks of terms: the one of batch b, line l and block j is number b * batch_step + l /
// lines * line_step + j / blocks * block_step.
struct CodeScales {
  BufferRef buffer;
  aclDataType dtype = ACL_FLOAT;  // or FLOAT16, BF16, FLOAT8_E8M0, UINT64, of which the lower half is FLOAT
  bool is_there = false;
  int64_t batch_step = 0, line_step = 0, block_step = 0;
  int32_t lines = 1, blocks = 1;
};
// A number for each line, or one for all: number b * batch_step + line.
struct CodeNumbers {
  BufferRef buffer;
  aclDataType dtype = ACL_FLOAT;  // as of CodeScales
  bool is_there = false;
  bool is_one = false;
  int64_t batch_step = 0;
};

// out[m, n] = sum over blocks j of terms: part[m, n, j] * (left_scale[m, j] * right_scale[j, n]), with part = the sum
// over terms of the block of left * right, both in float32 by ascending index. What follows, each in float32: the
// bias, if `adds_first`; the column's factor; the row's factor; the bias otherwise. Products of two codes are
// exact in float32. A listed op (OpList::Compute), trivially copyable.
struct CodeProduct {
  CodeMatrix left, right;
  CodeScales left_scale, right_scale;
  CodeScales left_level, right_level;  // multiply these
  CodeScales zero;                     // of columns and blocks: subtracted from the codes of `right`
  CodeNumbers column_factor, row_factor;
  CodeNumbers bias;  // of columns
  bool adds_first = false;
  bool adds_to_out = false;  // adds the result to what out has
  BufferRef out;
  aclDataType dtype = ACL_BF16;  // of out: FLOAT, FLOAT16, BF16 or HIFLOAT8
  int64_t out_batch_step = 0, out_row_step = 0;
  int64_t batches = 1, rows = 0, columns = 0, terms = 0;
  int64_t block = 0;  // terms; 0: one block of all
  // A list cuts terms or rows, which are then those of all batches. It has the end of each batch's, or its
  // count, INT64. Of terms, batch b has the blocks from together * (first term / (together * block) + b) on. Rows of no
  // batch are not written. A list of rows may have pairs of a batch and its count, which end at the first count
  // that is not above 0.
  enum class Cut : uint8_t { kNone, kTerms, kRows };
  Cut cut = Cut::kNone;
  BufferRef ends;
  bool are_counts = false;
  int64_t pairs = -1;  // in the list; negative: it has ends or counts
  int32_t together = 2;
  bool raises = false;  // a batch that reaches beyond the end fails the stream, and names this parameter
  const char* name = nullptr;
  Isa isa = Isa::kPortable;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
