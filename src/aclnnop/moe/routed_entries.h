// Entries of tokens and experts in the forms of aclnnMoeInitRouting: their rows, and tokens quantised to these.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/conversions.h"

namespace portacl::routing {

inline constexpr int kTokens = 0;
inline constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

inline int64_t Entries(const OperatorCall& call, int experts) noexcept { return call.Tensor(experts).numel; }

// Computes the row of each entry, for experts from `low` on and below `high`, and the entry of each row. The
// greatest `high` includes all numbers.
inline engine::RankEntries RankOf(dense::DenseOpList& ops, const OperatorCall& call, int experts, int64_t low,
                                  int64_t high, int64_t capacity, int64_t rows) {
  const int64_t entries = Entries(call, experts);
  engine::RankEntries rank{};
  rank.expert = ops.In(experts);
  rank.is_wide = call.Tensor(experts).dtype == ACL_INT64;
  rank.order = ops.Order(experts);
  rank.entries = entries;
  rank.low = low;
  rank.high = high;
  rank.capacity = capacity;
  rank.rows = rows;
  rank.rank = {ops.Words(entries), true};
  rank.entry = {ops.Words(rows), true};
  rank.name = call.Name(experts);
  return rank;
}

// Makes the op that quantises tokens, the call's first tensor, to the rows of their experts.
inline engine::QuantiseRows QuantiserOf(dense::DenseOpList& ops, const OperatorCall& call, int to,
                                        engine::OptionalBuffer entry, int64_t rows, int64_t divisor,
                                        bool clears, bool keeps) {
  engine::QuantiseRows quantise{};
  quantise.source = ops.Rows(kTokens);
  quantise.to = ops.Out(to, ACL_DT_UNDEFINED, keeps);
  quantise.entry = entry;
  quantise.rows = rows;
  quantise.columns = call.Tensor(kTokens).shape[1];
  quantise.divisor = divisor;
  quantise.clears = clears;
  quantise.load_half = engine::FindLoad(call.isa, ACL_FLOAT16, ACL_FLOAT);
  quantise.store_half = engine::FindStore(call.isa, ACL_FLOAT16);
  quantise.threads = call.threads;
  return quantise;
}
inline void AddQuantiser(dense::DenseOpList& ops, const engine::QuantiseRows& quantise) {
  ops.Compute(quantise,
              {quantise.source.buffer, quantise.to, quantise.scale.buffer, quantise.offset.buffer,
               quantise.row_scale.buffer, quantise.expert.buffer},
              quantise.rows * quantise.columns);
}

}  // namespace portacl::routing
