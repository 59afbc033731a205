// aclnnFusedCrossEntropyLossWithMaxSum: the cross entropy of rows of classes, and softmax, from the greatest
// logit and the sum of exponentials of each row, which several devices have found together.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/fused_cross_entropy.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace fused_cross_entropy {

using namespace engine::HWY_NAMESPACE;

struct LossOfSum : Elementwise<LossOfSum> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit LossOfSum(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V sum, V predicted) const {
    return hn::Sub(functions::Log(d, sum), predicted);
  }
};

struct FractionOfSum : Elementwise<FractionOfSum> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 3;
  explicit FractionOfSum(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V logit, V greatest, V sum) const {
    return hn::Div(functions::Exp(d, hn::Sub(logit, greatest)), sum);
  }
};

}  // namespace fused_cross_entropy
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/float_attributes.h"
#include "aclnnop/loss/fused_cross_entropy_functions.h"
#include "aclnnop/map_list.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kLossOfSum = PORTACL_VALUE_KERNELS(fused_cross_entropy::LossOfSum);
constexpr auto kFractionOfSum = PORTACL_VALUE_KERNELS(fused_cross_entropy::FractionOfSum);

enum Tensors { kMost, kSum, kPredicted, kInput, kWeight, kLogits, kLoss, kSoftmax };
enum Attributes { kLabelSmoothing };

constexpr DtypeRule kFloatAlone = Everywhere(DtypeSet{ACL_FLOAT});
constexpr DtypeRule kLogitDtypes = Everywhere(kFloatHalfAndBf16);

bool HasLogits(const OperatorCall& call) noexcept { return call.IsGiven(kLogits); }

aclnnStatus RowsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& logits = call.Tensor(kLogits).shape;
  const int64_t rows = call.Tensor(kMost).shape[0];
  return logits[0] == rows ? ACL_SUCCESS : RefuseShape(check, call, kLogits, Shape{rows, logits[1]});
}

constexpr Check kChecks[] = {
    NotNull(kMost),
    NotNull(kSum),
    NotNull(kPredicted),
    NotNull(kLoss),
    If(HasLogits, NotNull(kSoftmax)),
    DtypesIn(kFloatAlone, {kMost, kSum, kPredicted, kLoss}),
    If(HasLogits, DtypesIn(kLogitDtypes, {kLogits})),
    If(HasLogits, DtypesIn(kFloatAlone, {kSoftmax})),
    RankIs(1, {kMost}),
    SameShape(kMost, kSum),
    SameShape(kMost, kPredicted),
    SameShape(kMost, kLoss),
    If(HasLogits, RankIs(2, {kLogits})),
    If(HasLogits, Custom(RowsFit)),
    If(HasLogits, SameShape(kLogits, kSoftmax)),
    FloatIsZero(kLabelSmoothing),
    SizesRepresentable({kLoss}),
    If(HasLogits, SizesRepresentable({kSoftmax})),
    DoneIfEmpty({kMost}),
    InsideStorage({kMost, kSum, kPredicted, kLogits}),
    PromotesTo(ACL_FLOAT),
};

MappedView Whole(const OperatorCall& call, int tensor) {
  return {PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
}
// Views a number of each row as a column, which repeats along the classes.
MappedView Column(const OperatorCall& call, int tensor) {
  MappedView column = Whole(call, tensor);
  InsertDim(column.tensor, 1, 1, 0);
  return column;
}

void SetLoss(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 2);
  maps.Add({Whole(call, kSum), Whole(call, kPredicted)}, Whole(call, kLoss), kLossOfSum);
  if (HasLogits(call) && !call.Tensor(kLogits).shape.IsEmpty()) {
    maps.Add({Whole(call, kLogits), Column(call, kMost), Column(call, kSum)}, Whole(call, kSoftmax),
             kFractionOfSum);
  }
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedCrossEntropyLossWithMaxSum) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetLoss);
}

#endif  // HWY_ONCE
