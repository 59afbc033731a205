// Steps that scatter elements to indexed positions, shared by all operators that put, add or reduce there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "aclnnop/jobs/step_list.h"

namespace portacl {

// Views of a target for the loop. The target is the operand or a dense copy of it.
struct TargetViews {
  StridedView indexed;
  StridedView index[engine::kMostIndices];
  engine::IndexView named[engine::kMostIndices];
  int count = 0;
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
// where derive adds steps.
template <class Derive>
void ScatterInto(StepList& steps, engine::IndexedAction action, const StridedView& plain,
                 engine::Place plain_place, const StridedView* initial, engine::Place initial_place,
                 const StridedView& target, engine::Place target_place, const Derive& derive,
                 const aclScalar* scale = nullptr, bool may_be_rows = true) noexcept {
  const bool is_half = target.dtype == ACL_FLOAT16 || target.dtype == ACL_BF16;
  const bool is_wide = is_half && action != engine::IndexedAction::kPut;
  StridedView whole = target;
  engine::Place place = target_place;
  if (is_wide && may_be_rows) {
    TargetViews views = derive(target);
    for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
    if (steps.SumsRows(action, plain, views.indexed, views.named, views.count)) {
      if (initial != nullptr) steps.Copy(*initial, initial_place, target, target_place);
      SetScale(
          steps.SumRows(action, plain, plain_place, views.indexed, target_place, views.named, views.count),
          scale, ACL_FLOAT);
      return;
    }
  }
  if (is_wide) {
    whole = DenseTensor(target.view, ACL_FLOAT);
    place = steps.Workspace(target.numel * int64_t{sizeof(float)});
    steps.Copy(initial != nullptr ? *initial : target, initial != nullptr ? initial_place : target_place,
               whole, place);
  } else if (initial != nullptr) {
    steps.Copy(*initial, initial_place, target, target_place);
  }
  TargetViews views = derive(whole);
  for (int k = 0; k < views.count; ++k) views.named[k].view = &views.index[k];
  SetScale(steps.Indexed(action, plain, plain_place, views.indexed, place, views.named, views.count), scale,
           whole.dtype);
  if (is_wide) steps.Copy(whole, place, target, target_place);
}

}  // namespace portacl
