// Plans moves with indices (see indexed.h): dims and strides in bytes, where dims that lie together are merged.
// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.h"
#include "engine/move/indexed.h"

namespace portacl::engine {
namespace {

bool CanMerge(const IndexedMove& move, int dim) {
  const auto continues = [&](const int64_t* stride) {
    int64_t step = 0;
    return !__builtin_mul_overflow(stride[dim + 1], move.extent[dim + 1], &step) && step == stride[dim];
  };
  if (!continues(move.plain_stride) || !continues(move.indexed_stride)) return false;
  for (int k = 0; k < move.index_count; ++k) {
    const IndexOperand& one = move.index[k];
    if (!continues(one.stride) || (one.repeated >> dim & 1) != (one.repeated >> (dim + 1) & 1)) return false;
  }
  return true;
}

}  // namespace

bool PlanIndexed(const StridedView& plain, const StridedView& indexed, const IndexView* indices, int count,
                 IndexedMove& move) noexcept {
  const int64_t plain_size = StorageBits(plain.dtype) / 8;
  const int64_t size = StorageBits(indexed.dtype) / 8;
  move.size = static_cast<int32_t>(size);
  move.plain.offset = ByteOffset(plain);
  move.indexed.offset = ByteOffset(indexed);
  move.index_count = count;
  move.count = 1;
  // A view without elements, or with one along a dim, may have any stride there.
  const bool is_empty = plain.shape.IsEmpty();
  const auto in_bytes = [is_empty](int64_t stride, int64_t bytes) { return is_empty ? 0 : stride * bytes; };
  for (int k = 0; k < count; ++k) {
    IndexOperand& one = move.index[k];
    one = {indices[k].name,
           indices[k].operand,
           indices[k].entry,
           indices[k].view->dtype == ACL_INT64,
           indices[k].wraps,
           0,
           indices[k].bound,
           in_bytes(indices[k].bound > 1 ? indices[k].step : 0, size),
           ByteOffset(*indices[k].view),
           {},
           nullptr};
  }
  int rank = 0;
  for (int dim = 0; dim < plain.shape.rank; ++dim) {
    if (plain.shape[dim] == 1) continue;
    move.extent[rank] = plain.shape[dim];
    move.count *= plain.shape[dim];
    move.plain_stride[rank] = in_bytes(plain.strides[dim], plain_size);
    move.indexed_stride[rank] = in_bytes(indexed.strides[dim], size);
    for (int k = 0; k < count; ++k) {
      IndexOperand& one = move.index[k];
      one.stride[rank] = in_bytes(indices[k].view->strides[dim], StorageBits(indices[k].view->dtype) / 8);
      one.repeated = (one.repeated & DimBits(0, rank)) | (indices[k].repeated >> dim & 1) << rank;
    }
    ++rank;
    move.rank = rank;
    if (rank > 1 && CanMerge(move, rank - 2)) {
      move.extent[rank - 2] *= move.extent[rank - 1];
      move.plain_stride[rank - 2] = move.plain_stride[rank - 1];
      move.indexed_stride[rank - 2] = move.indexed_stride[rank - 1];
      for (int k = 0; k < count; ++k) move.index[k].stride[rank - 2] = move.index[k].stride[rank - 1];
      --rank;
    }
    if (rank > kMaxLoopRank) return false;
  }
  if (rank == 0) {
    rank = 1;
    move.extent[0] = 1;
    move.plain_stride[0] = move.indexed_stride[0] = 0;
    for (int k = 0; k < count; ++k) move.index[k].stride[0] = 0;
  }
  move.rank = rank;
  return true;
}

}  // namespace portacl::engine
