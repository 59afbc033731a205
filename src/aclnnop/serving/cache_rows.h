// Steps of the operators that normalize and rotate rows of keys and values, quantise them, and write them to caches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/serve/serve.h"

namespace portacl::serving {

using dense::DenseOpList;
using engine::MakeRows;
using engine::PutInPages;

using Slots = PutInPages::Slots;

// The layout of a cache whose rows are heads of a row.
struct CacheLayout {
  int64_t pages, slots;
  bool is_grouped;
  Slots slots_of;
  int64_t rows_of_batch;
};

// Returns the computation of some rows, whose operands the caller sets.
MakeRows StartRows(DenseOpList& ops, int64_t rows, int64_t heads, int64_t width);

void Compute(DenseOpList& ops, const MakeRows& made);

// Computes the rows, quantises them for the cache, and writes them to it.
void ComputeAndPut(const OperatorCall& call, DenseOpList& ops, MakeRows made, int cache,
                   engine::BufferRef slot, const CacheLayout& layout);

// Returns the quantiser of a cache. Without an offset, `offset` is -1.
engine::CacheQuantiser Quantiser(const OperatorCall& call, DenseOpList& ops, int scale, int offset,
                                 bool divides);

// Ends a call whose first tensor is empty.
aclnnStatus NothingToPut(const Check&, OperatorCall& call) noexcept;

}  // namespace portacl::serving
