// Attention and its gradients. Each query's row is the sum of the values' rows, weighted by the softmax of
// the query's products with all keys. Scores are made and used in tiles and never kept, so that memory grows
// linearly with the sequence. docs/numerics.md defines the orders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/attention/attention_kernel.h"
#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/tile_kernel.h"
#include "engine/job.h"
#include "engine/random/source.h"
#include "engine/strided.h"

namespace portacl::engine {

// Keys per block. Sums over keys add up blocks, each of which begins at a multiple of this.
inline constexpr int64_t kAttentionKeys = kGemmDepth;
// Queries whose terms of a gradient form one chain.
inline constexpr int64_t kAttentionQueries = 64;

// Lengths are in bytes; a stride may be 0 or negative. Keys and values have their own heads.
struct AttentionOperand {
  int16_t argument = -1;  // operand of the executor; -1: there is none
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t offset = 0;
  int64_t batch = 0;
  int64_t head = 0;
  int64_t row = 0;     // a query, or a key
  int64_t column = 0;  // an element of it; of a mask and a shift a key, of statistics a copy

  bool IsThere() const noexcept { return argument >= 0; }
};

// Converts INT8 to numbers: (k + offset) * scale. Rows are a batch's keys; with `by_page`, batches are pages
// and rows are theirs.
struct AttentionScales {
  AttentionOperand scale;
  AttentionOperand offset;
  bool by_page = false;
  bool of_scores = false;  // numbers stay as they are; scores are multiplied by the only scale
};

// Rows that are split, as in FRACTAL_NZ: each part has `elements` elements, and parts are `step` bytes apart.
// With 0 elements rows are not split.
struct AttentionFractals {
  int64_t elements = 0;
  int64_t step = 0;
};

// Rarely used operands. They are stored in the job's memory, beside the batches.
struct AttentionParts {
  // Further elements of queries and keys, whose products are added after the others.
  AttentionOperand query_rope;
  AttentionOperand key_rope;
  // Keys and values that precede those of every batch.
  AttentionOperand key_prefix;
  AttentionOperand value_prefix;
  int64_t prefix_rows = 0;
  AttentionFractals key_fractals;
  AttentionFractals value_fractals;
  AttentionFractals rope_fractals;
  AttentionScales key_scales;
  AttentionScales value_scales;
  // A computed shift: -slope * |key + slope_start - query|, or the distance's root.
  AttentionOperand slopes;
  int64_t slope_start = 0;
  bool slopes_of_roots = false;
  // Gradients of rotary parts, and of the sink.
  AttentionOperand of_query_rope;
  AttentionOperand of_key_rope;
  AttentionOperand of_sink;
  // One INT64 each: rows of a batch that follow its own ones. Its rows then end there, whatever is before them,
  // and keys' batches have `padded_keys` rows.
  AttentionOperand query_padding;
  AttentionOperand key_padding;
  int64_t padded_keys = 0;
  // Make results INT8: number * scale + offset, see StoreCodes. They have a head's and an element's stride.
  AttentionOperand out_scale;
  AttentionOperand out_offset;
  AttentionOperand query_scale;  // FLOAT of each row of queries: its scores are multiplied by it

  static constexpr int kOperands = 17;
  template <class F>
  void ForEachOperand(const F& f) const {
    for (const AttentionOperand* operand :
         {&query_rope, &key_rope, &key_prefix, &value_prefix, &key_scales.scale, &key_scales.offset,
          &value_scales.scale, &value_scales.offset, &slopes, &of_query_rope, &of_key_rope, &of_sink,
          &query_padding, &key_padding, &out_scale, &out_offset, &query_scale})
      f(*operand);
  }
  bool PadsLeft() const noexcept { return query_padding.IsThere() || key_padding.IsThere(); }
};

// The parameters of one batch.
struct AttentionBatch {
  int64_t queries;
  int64_t keys;
  int64_t first_query;  // rows before this batch's, in operands without a batch stride
  int64_t first_key;
  int64_t prefix = 0;  // keys that all its queries see
  // By position, query i sees keys i + origin - before .. i + origin + after.
  int64_t origin = 0;
  int64_t before = 0;
  int64_t after = 0;
  // Scores of a head in the batches before, modulo 2^64. Dropout numbers weights by it.
  uint64_t first_score = 0;
  bool is_rest = false;  // rows of no sequence, which see no key and have no shift
};

struct Attention {
  int64_t batches;
  int64_t heads;
  int64_t group;    // heads that share a head of keys and values
  int64_t queries;  // the most of any batch, as for keys
  int64_t keys;
  int64_t depth;
  int64_t value_depth;

  bool are_alike;  // only one batch is given, which describes all but their `first_score`

  AttentionOperand query;
  AttentionOperand key;
  AttentionOperand value;
  AttentionOperand shift;  // of scores, FLOAT, FLOAT16 or BF16
  AttentionOperand mask;   // bytes: other than 0 hides a key
  AttentionOperand out;
  AttentionOperand
      greatest;  // FLOAT: of a row's scores; the sum of exponentials; the logarithm of that of the scores' own
  AttentionOperand sum;
  AttentionOperand log_sum;
  int64_t copies;    // of statistics, side by side
  bool packs_heads;  // a batch's statistics lie head by head, with rows counted through all heads

  // Dropout bits, the lowest first: a weight is dropped if its bit is 0. The index of a bit is heads *
  // first_score + (n * queries + i) * keys + j, with the batch's lengths.
  AttentionOperand kept;
  // Dropout by drawing, if `draws`: a weight is kept if the random element at its bit's index has a word of
  // at most `most`.
  RandomSource drawn;
  uint32_t most;
  bool draws;
  // Pages: row t of batch b is row t % page of block table[b][t / page]. The operands' strides give its rows
  // and heads; blocks lie a batch stride apart. The table is INT32.
  AttentionOperand table;
  int64_t page;
  int64_t pages;  // blocks in memory

  // A score of each head that only adds to the sum of exponentials.
  AttentionOperand sink;

  // Operands of gradients.
  AttentionOperand of_out;
  AttentionOperand of_query;
  AttentionOperand of_key;
  AttentionOperand of_value;
  AttentionOperand of_shift;

  // Tells whether the job has the optional parts, and whether batches have their own keys and values. Both are
  // operands that follow the ones above (see ReserveAttentionBatches).
  bool has_parts;
  bool has_lists;
  bool pads_left;  // the parts have paddings
  int64_t rope_depth;
  int16_t of_parts[AttentionParts::kOperands];  // their arguments, set with the job

  float scale;
  float keep;        // the fraction of weights that are kept
  bool shift_first;  // the shift is added before scores are scaled
  bool pads;         // queries that a batch lacks are rows of zeros
  // The log-sum of a query in a batch without keys. Other queries that see no key have infinity.
  float log_of_no_keys;
  int64_t
      most_queries;  // the workspace is sized for any lengths up to this number of queries, at least `queries`; or 0

  AttentionKernels kernels;
  const GemmKernels* gemm;
  const TileKernels* tiles;  // for BF16; nullptr: none
  GatherFunction gather;
  ScatterFunction scatter;
  Isa isa;
  int threads;
  int64_t slot_bytes;  // of the workspace, for each thread
  int64_t tile_queries;
  int64_t together;  // heads of one query that walk the keys together
  // The rows of a shift whose gradient is summed in the workspace over batches or queries; or 0.
  int64_t shift_rows;

  bool Drops() const noexcept { return kept.IsThere() || draws; }
  void SetParts(const AttentionParts* parts) noexcept {
    has_parts = parts != nullptr;
    pads_left = has_parts && parts->PadsLeft();
    int count = 0;
    if (has_parts)
      parts->ForEachOperand([&](const AttentionOperand& one) { of_parts[count++] = one.argument; });
  }
  bool TouchesPart(int operand) const noexcept {
    bool touches = false;
    for (const int16_t argument : of_parts) touches |= has_parts && argument == operand;
    return touches;
  }

  template <class F>
  void ForEachOperand(const F& f) const {
    for (const AttentionOperand* operand :
         {&query, &key, &value, &shift, &mask, &out, &greatest, &sum, &log_sum, &kept, &table, &sink, &of_out,
          &of_query, &of_key, &of_value, &of_shift})
      if (operand->IsThere()) f(*operand);
  }
};

// Reserves memory for the fields that differ from batch to batch. The caller fills them before it makes the job. If all
// batches are alike, one entry is enough, whatever their number. Returns nullptr when there is no memory.
AttentionBatch* ReserveAttentionBatches(JobMemory& job, int64_t batches) noexcept;
// Memory for parts, batches and operands (see ReserveAttentionParts). If each batch has a tensor of keys and one of
// values, the operands are all keys, then all values.
struct AttentionMemory {
  AttentionParts* parts;
  AttentionBatch* batches;
  AttentionOperand* lists;
};
AttentionMemory ReserveAttentionParts(JobMemory& job, int64_t batches, int64_t operands) noexcept;

// Makes the job. Sets `kernels` and the members after it, so the caller need not. Neither batches,
// heads, queries, keys nor depth are 0.
AnyJob MakeAttentionJob(const Attention& attention, Isa isa, int threads,
                        const AttentionParts* parts = nullptr) noexcept;
// The gradients of query, key, value and, if they are there, shift, rotary parts and sink, from that of out. `out`, `greatest` and `sum` are inputs.
AnyJob MakeAttentionGradientJob(const Attention& attention, Isa isa, int threads,
                                const AttentionParts* parts = nullptr) noexcept;

}  // namespace portacl::engine
