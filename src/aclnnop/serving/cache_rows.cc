// Rows of keys and values on their way to caches (see cache_rows.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/cache_rows.h"

#include <algorithm>

#include "aclnnop/serving/paged_rows.h"

namespace portacl::serving {

MakeRows StartRows(DenseOpList& ops, int64_t rows, int64_t heads, int64_t width) {
  MakeRows made{};
  made.rows = rows;
  made.heads = heads;
  made.width = width;
  made.load_half = engine::FindLoad(ops.isa(), ACL_FLOAT16, ACL_FLOAT);
  made.store_half = engine::FindStore(ops.isa(), ACL_FLOAT16);
  made.threads = ops.threads();
  made.work = ops.Bytes(made.WorkBytes());
  return made;
}

void Compute(DenseOpList& ops, const MakeRows& made) {
  ops.Compute(made,
              {made.source.buffer, made.gamma.buffer, made.cos.buffer, made.sin.buffer, made.to.buffer,
               made.quantiser.scale.buffer, made.quantiser.offset.buffer},
              made.rows * made.heads * made.width);
}

void ComputeAndPut(const OperatorCall& call, DenseOpList& ops, MakeRows made, int cache,
                   engine::BufferRef slot, const CacheLayout& layout) {
  const aclDataType dtype = call.Tensor(cache).dtype;
  PutInPages put{};
  put.to = serving::PagesOf(ops, call, cache, layout.pages, layout.slots, made.heads * made.width,
                            layout.is_grouped, /*is_written=*/true);
  put.from = ops.Bytes(made.rows * put.to.columns * put.to.size);
  put.slots = layout.slots_of;
  put.slot = slot;
  put.rows = made.rows;
  put.rows_of_batch = layout.rows_of_batch;
  if (dtype == ACL_INT8) {
    made.quantised = {put.from, true};
  } else {
    made.element = engine::NumberRowsOf(call.isa, put.from, dtype);
  }
  Compute(ops, made);
  ops.Compute(put, {put.to.buffer}, put.rows);
}

engine::CacheQuantiser Quantiser(const OperatorCall& call, DenseOpList& ops, int scale, int offset,
                                 bool divides) {
  engine::CacheQuantiser made;
  made.scale = ops.InIfGiven(scale);
  if (call.IsGiven(scale)) made.scales = std::max<int64_t>(call.Tensor(scale).numel, 1);
  if (offset >= 0) {
    made.offset = ops.InIfGiven(offset);
    if (call.IsGiven(offset)) made.offsets = std::max<int64_t>(call.Tensor(offset).numel, 1);
  }
  made.divides = divides;
  return made;
}

aclnnStatus NothingToPut(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(0).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

}  // namespace portacl::serving
