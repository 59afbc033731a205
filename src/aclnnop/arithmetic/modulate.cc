// aclnnScale and aclnnModulate: a tensor times one of fewer dims, plus another one.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/modulate.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace modulate {

using namespace engine::HWY_NAMESPACE;

struct Scaled : Elementwise<Scaled> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 3;
  explicit Scaled(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V scale, V bias) const {
    return hn::Add(hn::Mul(x, scale), bias);
  }
};

// The scale counts from 1.
struct Modulated : Elementwise<Modulated> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 3;
  explicit Modulated(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V scale, V shift) const {
    return hn::Add(hn::Mul(x, hn::Add(hn::Set(d, 1.0f), scale)), shift);
  }
};

}  // namespace modulate
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "aclnnop/arithmetic/modulate_functions.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/map_list.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kScaled = PORTACL_VALUE_KERNELS(modulate::Scaled);
constexpr auto kModulated = PORTACL_VALUE_KERNELS(modulate::Modulated);

MappedView Whole(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}

// ---- aclnnScale ----

enum ScaleTensors { kX, kScale, kBias, kY };
enum ScaleAttributes { kAxis, kAxes, kIsOfAxes };

bool HasBias(const OperatorCall& call) noexcept { return call.IsGiven(kBias); }
int AxisOf(const OperatorCall& call) {
  return WrappedDim(call.attributes[kAxis].integer, call.Tensor(kX).shape.rank);
}

// Tells whether the scale is one number, which has no axes.
bool IsOneNumber(const OperatorCall& call) {
  if (call.attributes[kIsOfAxes].integer != 0) return call.attributes[kAxes].integer == 0;
  return call.Tensor(kScale).numel == 1;
}

aclnnStatus AxesFit(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kIsOfAxes].integer == 0) return ACL_SUCCESS;
  const int64_t count = call.attributes[kAxes].integer;
  const int64_t most = call.Tensor(kX).shape.rank - AxisOf(call);
  return count >= -1 && count <= most ? ACL_SUCCESS : RefuseInteger(check, call, "numAxes", count, -1, most);
}

// With scaleFromBlob numAxes says how many axes the scale has, else its own dims do.
aclnnStatus ScaleFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  const aclTensor& scale = call.Tensor(kScale);
  if (IsOneNumber(call)) return scale.numel == 1 ? ACL_SUCCESS : RefuseShape(check, call, kScale, Shape{1});
  const int axis = AxisOf(call);
  const int most = x.rank - axis;
  int count = scale.shape.rank;
  if (call.attributes[kIsOfAxes].integer != 0) {
    const int64_t given = call.attributes[kAxes].integer;
    count = given == -1 ? most : static_cast<int>(given);
  }
  Shape accepted;
  for (int i = 0; i < std::min(count, most); ++i) accepted.dim[accepted.rank++] = x[axis + i];
  return scale.shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kScale, accepted);
}

constexpr auto kScaleChecks = List(
    NotNull(kX), NotNull(kScale), NotNull(kY), DtypesIn(kBf16SinceAtlasA2, {kX}), SameDtype(kX, kScale),
    If(HasBias, SameDtype(kX, kBias)), SameDtype(kX, kY), RankAtMost(8, {kX, kScale}), DimIn(kAxis, kX),
    Custom(AxesFit), Custom(ScaleFits), If(HasBias, SameShape(kScale, kBias)), SameShape(kX, kY),
    SizesRepresentable({kY}), DoneIfEmpty({kX}), InsideStorage({kX, kScale, kBias}), PromotesTo(ACL_FLOAT));

// Views a tensor of some axes in the dims of x.
MappedView OfAxes(const OperatorCall& call, int tensor) {
  MappedView view = Whole(call, tensor);
  if (IsOneNumber(call)) {
    FillShape(view.tensor, Shape{1}, 1);
    return view;
  }
  const int rank = call.Tensor(kX).shape.rank - AxisOf(call);
  while (view.tensor.shape.rank < rank) InsertDim(view.tensor, view.tensor.shape.rank, 1, 0);
  return view;
}

void SetScale(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  if (HasBias(call)) {
    maps.Add({Whole(call, kX), OfAxes(call, kScale), OfAxes(call, kBias)}, Whole(call, kY), kScaled);
  } else {
    maps.Add({Whole(call, kX), OfAxes(call, kScale)}, Whole(call, kY), ProductKernels(ACL_FLOAT));
  }
  maps.SetJob();
}

// ---- aclnnModulate ----

enum ModulateTensors { kSelf, kFactor, kShift, kOut };

// Scale and shift have no dim of rows, or one row.
aclnnStatus OneRowEach(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  for (const int tensor : {static_cast<int>(kFactor), static_cast<int>(kShift)}) {
    const Shape& shape = call.Tensor(tensor).shape;
    if (shape == Shape{self[0], self[2]} || shape == Shape{self[0], 1, self[2]}) continue;
    return RefuseShape(check, call, tensor, Shape{self[0], 1, self[2]});
  }
  return ACL_SUCCESS;
}
// A tensor without rows has none to modulate.
aclnnStatus EmptyTogether(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kSelf).shape.IsEmpty()) return ACL_SUCCESS;
  for (const int tensor : {static_cast<int>(kFactor), static_cast<int>(kShift)}) {
    if (call.Tensor(tensor).shape.IsEmpty()) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor).Add(" has elements, but not ");
    return FailAclnn(check.code, AddArgumentShape(message, call, kSelf).Add(", accepted: both or none."));
  }
  return ACL_SUCCESS;
}

constexpr auto kModulateChecks =
    List(NotNull(kSelf), NotNull(kOut), WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kFactor)),
         WithCode(ACLNN_ERR_PARAM_INVALID, NotNull(kShift)), DtypesIn(kBf16SinceAtlasA2, {kSelf}),
         SameDtype(kSelf, kFactor), SameDtype(kSelf, kShift), SameDtype(kSelf, kOut), RankIs(3, {kSelf}),
         Custom(OneRowEach), SameShape(kSelf, kOut), SizesRepresentable({kOut}), Custom(EmptyTogether),
         DoneIfEmpty({kSelf}), InsideStorage({kSelf, kFactor, kShift}), PromotesTo(ACL_FLOAT));

MappedView OneRow(const OperatorCall& call, int tensor) {
  MappedView view = Whole(call, tensor);
  if (view.tensor.shape.rank == 2) InsertDim(view.tensor, 1, 1, 0);
  return view;
}

void SetModulate(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  maps.Add({Whole(call, kSelf), OneRow(call, kFactor), OneRow(call, kShift)}, Whole(call, kOut), kModulated);
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnScale) { return RunPhase1(call, kScaleChecks, workspaceSize, executor, SetScale); }

PORTACL_PHASE_1(aclnnModulate) {
  return RunPhase1(call, kModulateChecks, workspaceSize, executor, SetModulate);
}

#endif  // HWY_ONCE
