// aclnnSoftmaxCrossEntropyWithLogits: with y = log(softmax(features)) over classes, -sum(labels * y) for each
// row, and the gradient softmax(features) - labels.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/softmax_cross_entropy.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace softmax_cross_entropy {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;
using engine::HWY_NAMESPACE::kKeptTerms;
using engine::HWY_NAMESPACE::UnrolledSteps;

// Inputs: features, labels. The number of a row is its loss.
struct LossOfProbabilities : engine::HWY_NAMESPACE::RowwiseFormula<LossOfProbabilities> {
  static constexpr int kInputs = 2;
  explicit LossOfProbabilities(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    using T = typename Row::T;
    const typename Row::D d;
    const V greatest = hn::Set(d, row.template Max<0>());
    const UnrolledSteps exponential{[&](auto tag, auto x) HWY_ATTR {
      using hn::Sub;
      return functions::FusedExp(tag, Sub(x, decltype(x)(greatest)));
    }};
    const double sum = row.template SumKeeping<0>(exponential);
    const V log = functions::Log(d, hn::Set(d, static_cast<T>(sum)));
    const double total = row.template Sum<0, 1>(
        [&](auto, V x, V label) HWY_ATTR { return hn::Mul(label, hn::Sub(hn::Sub(x, greatest), log)); });
    row.SetValue(0, -total);
    const V factor = hn::Set(d, static_cast<T>(1.0 / sum));
    if (row.keeps()) {
      row.template Write<0, kKeptTerms, 1>([&](auto, V kept, V label)
                                               HWY_ATTR { return hn::Sub(hn::Mul(kept, factor), label); });
    } else {
      row.template Write<0, 0, 1>([&](auto tag, V x, V label) HWY_ATTR {
        return hn::Sub(hn::Mul(exponential(tag, x), factor), label);
      });
    }
  }
};

}  // namespace softmax_cross_entropy
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/loss/softmax_cross_entropy_functions.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kLossOfProbabilities =
    PORTACL_ROWWISE_KERNELS_OF_FLOAT(softmax_cross_entropy::LossOfProbabilities);

enum Tensors { kFeatures, kLabels, kLoss, kBackprop };

// CANN does not compare shapes before it computes: labels of one row or class broadcast, and results have the
// shape that follows.
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& features = call.Tensor(kFeatures).shape;
  const Shape& labels = call.Tensor(kLabels).shape;
  for (int axis = 0; axis < 2; ++axis) {
    if (labels[axis] != features[axis] && labels[axis] != 1)
      return RefuseShape(check, call, kLabels, features);
  }
  const auto has = [&](int tensor, const Shape& shape, int64_t numel) {
    const aclTensor& given = call.Tensor(tensor);
    return given.shape == shape || (given.numel == 1 && numel == 1);
  };
  if (!has(kLoss, Shape{features[0]}, features[0]))
    return RefuseShape(check, call, kLoss, Shape{features[0]});
  if (!has(kBackprop, features, call.Tensor(kFeatures).numel))
    return RefuseShape(check, call, kBackprop, features);
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kFeatures),
    NotNull(kLabels),
    NotNull(kLoss),
    NotNull(kBackprop),
    DtypesIn(kBf16SinceAtlasA2, {kFeatures, kLabels, kLoss, kBackprop}),
    SameDtype(kFeatures, kLoss),
    SameDtype(kFeatures, kBackprop),
    RankAtMost(8, {kFeatures, kLabels, kLoss, kBackprop}),
    RankIs(2, {kFeatures, kLabels}),
    SizesRepresentable({kLoss, kBackprop}),
    DoneIfEmpty({kFeatures, kLabels}),
    Custom(ShapesFit, ACLNN_ERR_INNER_NULLPTR),
    InsideStorage({kFeatures, kLabels}),
};

void SetRows(const OperatorCall& call, Executor& executor) {
  const Shape& shape = call.Tensor(kFeatures).shape;
  engine::RowwiseJobMaker rows(shape, LastAxes(1, shape), ACL_FLOAT, call.isa, call.threads);
  rows.Keep();
  rows.Input(kFeatures, call.Tensor(kFeatures));
  rows.Input(kLabels, call.Tensor(kLabels));
  StridedView backprop = PlainView(call.Tensor(kBackprop));
  if (backprop.shape != shape) FillShape(backprop, shape, 1);  // one element
  rows.Output(kBackprop, backprop);
  rows.ValueOut(kLoss, call.Tensor(kLoss));
  SetRowwiseJob(rows, kLossOfProbabilities, engine::NoParameters(), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSoftmaxCrossEntropyWithLogits) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetRows);
}

#endif  // HWY_ONCE
