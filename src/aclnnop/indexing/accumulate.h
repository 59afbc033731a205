// Steps that scatter elements to indexed positions, shared by all operators that put, add or reduce there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "aclnnop/jobs/op_list.h"

namespace portacl {

// Views of a target for the loop. The target is the operand or a dense copy of it.
struct TargetViews {
  StridedView indexed;
  StridedView index[engine::kMostIndices];
  engine::IndexView named[engine::kMostIndices];
  int count = 0;
  bool are_columns = false;  // see engine::IndexedMove
};

inline void SetScale(engine::IndexedMove* move, const aclScalar* scale, aclDataType dtype) noexcept {
  if (move == nullptr || scale == nullptr || IsOne(*scale)) return;
  move->is_scaled = true;
  const ScalarValue value = ConvertScalar(*scale, dtype);
  std::memcpy(move->scale, value.bytes, sizeof move->scale);
}

// Sets target = initial, and then applies the action at the indexed positions. A null `initial` means in
// place: target keeps its values. Sums of 16-bit floats are computed in float32, row by row or in the
// workspace, and rounded once. derive(whole) returns the TargetViews of a tensor of target's shape. `scale`
// multiplies the added values, in the dtype of the computation; null means 1. Pass `may_be_rows` = false
// where derive adds ops.
template <class Derive>
void ScatterInto(OpList& ops, engine::IndexedAction action, const StridedView& plain,
                 engine::BufferRef plain_buffer, const StridedView* initial, engine::BufferRef initial_buffer,
                 const StridedView& target, engine::BufferRef target_buffer, const Derive& derive,
                 const aclScalar* scale = nullptr, bool may_be_rows = true) noexcept {
  const bool is_half = target.dtype == ACL_FLOAT16 || target.dtype == ACL_BF16;
  const bool is_wide = is_half && action != engine::IndexedAction::kPut;
  StridedView whole = target;
  engine::BufferRef buffer = target_buffer;
  if (is_wide && may_be_rows) {
    TargetViews views = derive(target);
    for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
    if (ops.SumsRows(action, plain, views.indexed, views.named, views.count)) {
      if (initial != nullptr) ops.Copy(*initial, initial_buffer, target, target_buffer);
      SetScale(
          ops.SumRows(action, plain, plain_buffer, views.indexed, target_buffer, views.named, views.count),
          scale, ACL_FLOAT);
      return;
    }
  }
  if (is_wide) {
    whole = DenseTensor(target.shape, ACL_FLOAT);
    buffer = ops.FloatsOf(target_buffer, target.numel);
    ops.Copy(initial != nullptr ? *initial : target, initial != nullptr ? initial_buffer : target_buffer,
             whole, buffer);
  } else if (initial != nullptr) {
    ops.Copy(*initial, initial_buffer, target, target_buffer);
  }
  TargetViews views = derive(whole);
  for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
  engine::IndexedMove* const move =
      ops.Indexed(action, plain, plain_buffer, views.indexed, buffer, views.named, views.count);
  if (move != nullptr) move->are_columns = views.are_columns;
  SetScale(move, scale, whole.dtype);
  if (is_wide) ops.Copy(whole, buffer, target, target_buffer);
}

}  // namespace portacl
