// aclnnPrelu and its gradients: multiplies elements that are not positive by a weight. There is one weight,
// or one for each channel (dim 1).
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/prelu.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace prelu {

struct Prelu : Activation<Prelu, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V weight) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(weight, x));
  }
};

struct PreluSlope : Activation<PreluSlope, 3> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x, V weight) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), gradient, hn::Mul(weight, gradient));
  }
};

// Computes an element's contribution to its weight's gradient.
struct WeightTerm : engine::HWY_NAMESPACE::Summable<WeightTerm> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  explicit WeightTerm(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return hn::IfThenZeroElse(hn::Gt(x, hn::Zero(d)), hn::Mul(x, gradient));
  }
};

}  // namespace prelu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/prelu_functions.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "plan/move_plan.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kPrelu = PORTACL_VALUE_KERNELS(prelu::Prelu);
constexpr auto kPreluSlope = PORTACL_VALUE_KERNELS(prelu::PreluSlope);
constexpr auto kWeightTerm = PORTACL_KERNELS(prelu::WeightTerm);

// Returns the number of weights that self takes besides 1.
int64_t Channels(const StridedView& self) { return self.shape.rank <= 1 ? 1 : self.shape[1]; }

// Returns the weights in as few dims as their strides allow; a single weight has none.
StridedView Weights(const StridedView& weight) { return MergedDims(PlainView(weight)); }

// Return views of one rank in which the weights have dims of their own: the weights, and tensors of self's
// shape, whose channels are split as the weights' dims are.
MappedView WeightView(const OperatorCall& call, int weight, int self) {
  MappedView view{Weights(call.Tensor(weight)), call.OperandOf(weight)};
  view.tensor.Describe();
  if (view.tensor.shape.rank == 0) return view;
  InsertDim(view.tensor, 0, 1, 0);
  for (int i = 2; i < call.Tensor(self).shape.rank; ++i) InsertDim(view.tensor, view.tensor.shape.rank, 1, 0);
  return view;
}
MappedView ViewOf(const OperatorCall& call, int tensor, int weight, int self) {
  MappedView view{PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
  const Shape& shape = call.Tensor(self).shape;
  while (view.tensor.shape.rank < shape.rank) InsertDim(view.tensor, 0, 1, 0);
  for (int i = 0; i < shape.rank; ++i) {
    if (view.tensor.shape[i] != shape[i]) Expand(view.tensor, i, shape[i]);
  }
  const Shape weights = Weights(call.Tensor(weight)).shape;
  int64_t inner = NumelOf(weights);
  for (int i = 1; i < weights.rank; ++i) {
    inner /= weights[i - 1];
    SplitDim(view.tensor, i, inner);
  }
  return view;
}

// check.operands: weight, self.
aclnnStatus WeightsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t weights = NumelOf(call.Tensor(check.operands.index[0]).shape);
  const int64_t channels = Channels(call.Tensor(check.operands.index[1]));
  if (weights == 1 || weights == channels) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, check.operands.index[0])
      .Add(" has ")
      .Add(weights)
      .Add(" elements, accepted: 1 or ")
      .Add(channels);
  return FailAclnn(check.code, message.Add(", the length of self's dim 1."));
}
constexpr Check WeightsFit(int weight, int self) { return {.run = WeightsFit, .operands = {weight, self}}; }

// check.operands: weight, self.
aclnnStatus ViewsFit(const Check& check, OperatorCall& call) noexcept {
  const int cuts = Weights(call.Tensor(check.operands.index[0])).shape.rank - 1;
  const int rank = call.Tensor(check.operands.index[1]).shape.rank + (cuts > 0 ? cuts : 0);
  if (rank <= kMaxLoopRank) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   Text(call.api, ": the weights' strides do not let them be taken along dim 1 of ",
                        "self, as a loop over ", rank, " dims, accepted: at most ", kMaxLoopRank, "."));
}
constexpr Check ViewsFit(int weight, int self) {
  return {.run = ViewsFit, .operands = {weight, self}, .code = ACLNN_ERR_INNER_NULLPTR};
}

// ---- aclnnPrelu ----
enum Tensors { kSelf, kWeight, kOut };
constexpr auto kPreluChecks = Join(
    List(NotNull(kSelf), NotNull(kWeight), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf, kWeight, kOut}),
         Promotes({kSelf, kWeight}), PromotedCastsTo(kOut), RankAtMost(8, {kSelf, kWeight, kOut}),
         SameShape(kSelf, kOut), WeightsFit(kWeight, kSelf)),
    ComputableChecks({kSelf, kWeight}, kOut), List(ViewsFit(kWeight, kSelf)));

void SetPrelu(const OperatorCall& call, Executor& executor) {
  MapList maps(call, executor, 1);
  maps.Add({ViewOf(call, kSelf, kWeight, kSelf), WeightView(call, kWeight, kSelf)},
           ViewOf(call, kOut, kWeight, kSelf), kPrelu);
  maps.SetJob();
}

// ---- aclnnPreluBackward ----
enum Gradients { kGradOutput, kInput, kWeights, kGradInput, kGradWeight };

aclnnStatus GradWeightFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& weight = call.Tensor(kWeights).shape;
  const int64_t count = NumelOf(weight);
  const Shape accepted = count == 1 ? weight : Shape{count};
  return call.Tensor(kGradWeight).shape == accepted ? ACL_SUCCESS
                                                    : RefuseShape(check, call, kGradWeight, accepted);
}

constexpr auto kPreluBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kWeights), NotNull(kGradInput),
              NotNull(kGradWeight), DtypesIn(kBf16SinceAtlasA2, {kGradOutput}),
              SameDtype(kGradOutput, kInput), SameDtype(kGradOutput, kWeights),
              SameDtype(kGradOutput, kGradInput), SameDtype(kGradOutput, kGradWeight),
              RankAtMost(8, {kGradOutput, kInput, kWeights, kGradInput, kGradWeight}),
              SameShape(kInput, kGradInput), WeightsFit(kWeights, kInput), Custom(GradWeightFits)),
         BroadcastsInto({kInput, kGradOutput}, kInput),
         List(PromotesToDtypeOf(kInput), SizesRepresentable({kGradInput, kGradWeight}),
              DoneIfEmpty({kGradOutput, kInput, kWeights}), InsideStorage({kGradOutput, kInput, kWeights}),
              ViewsFit(kWeights, kInput)));

void SetPreluBackward(const OperatorCall& call, Executor& executor) {
  const auto view_of = [&](int tensor) { return ViewOf(call, tensor, kWeights, kInput); };
  const MappedView gradient = view_of(kGradOutput);
  const MappedView self = view_of(kInput);
  const MappedView weight = WeightView(call, kWeights, kInput);
  MapList maps(call, executor, 1);
  maps.Add({gradient, self, weight}, view_of(kGradInput), kPreluSlope);
  maps.AddSum({gradient, self}, {PlainView(call.Tensor(kGradWeight)), call.OperandOf(kGradWeight)},
              self.tensor.shape, weight.tensor.shape, kWeightTerm.For(call.isa));
  maps.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnPrelu) { return RunPhase1(call, kPreluChecks, workspaceSize, executor, SetPrelu); }

PORTACL_PHASE_1(aclnnPreluBackward) {
  return RunPhase1(call, kPreluBackwardChecks, workspaceSize, executor, SetPreluBackward);
}

#endif  // HWY_ONCE
