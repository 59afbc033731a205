// aclnnSoftmaxBackward, aclnnLogSoftmaxBackward: (g - s) * y, where s is the sum of g * y over a row, and g -
// exp(y) * s, where s is that of g.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/softmax_backward.cc"
#include "base/foreach_target.h"

#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/across_loop-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace softmax_gradients {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;
using engine::HWY_NAMESPACE::UnrolledSteps;

struct SoftmaxBackward : engine::HWY_NAMESPACE::RowwiseFormula<SoftmaxBackward> {
  static constexpr int kInputs = 2;
  explicit SoftmaxBackward(const void*) {}

  template <class Row>
  HWY_INLINE double First(Row& row) const {
    using V = typename Row::V;
    return row.template Sum<0, 1>([](auto, V gradient, V output)
                                      HWY_ATTR { return hn::Mul(gradient, output); });
  }
  template <class Row>
  HWY_INLINE void Second(Row& row, double total) const {
    using V = typename Row::V;
    const V sum = hn::Set(typename Row::D(), static_cast<float>(total));
    row.template Write<0, 0, 1>([&](auto, V gradient, V output)
                                    HWY_ATTR { return hn::Mul(hn::Sub(gradient, sum), output); });
  }

  // Computes the same for adjacent rows in the lanes of a vector.
  template <class Rows>
  static HWY_INLINE void Across(Rows& rows) {
    using V = typename Rows::V;
    const V sum = rows.template Sum<false, 0, 1>([](auto, V gradient, V output)
                                                     HWY_ATTR { return hn::Mul(gradient, output); },
                                                 [](double total) { return total; });
    rows.template Write<0, 1>([&](auto, V gradient, V output)
                                  HWY_ATTR { return hn::Mul(hn::Sub(gradient, sum), output); });
  }
};

struct LogSoftmaxBackward : engine::HWY_NAMESPACE::RowwiseFormula<LogSoftmaxBackward> {
  static constexpr int kInputs = 2;
  explicit LogSoftmaxBackward(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double total = row.template Sum<0>([](auto, V gradient) HWY_ATTR { return gradient; });
    const V sum = hn::Set(d, static_cast<float>(total));
    row.template Write<0, 0, 1>(UnrolledSteps{[&](auto tag, auto gradient, auto output) HWY_ATTR {
      using hn::Mul;
      using hn::Sub;
      return Sub(gradient, Mul(functions::FusedExp(tag, output), decltype(output)(sum)));
    }});
  }

  template <class Rows>
  static HWY_INLINE void Across(Rows& rows) {
    using V = typename Rows::V;
    const V sum = rows.template Sum<false, 0>([](auto, V gradient) HWY_ATTR { return gradient; },
                                              [](double total) { return total; });
    rows.template Write<0, 1>(UnrolledSteps{[&](auto tag, auto gradient, auto output) HWY_ATTR {
      using hn::Mul;
      using hn::Sub;
      return Sub(gradient, Mul(functions::FusedExp(tag, output), decltype(output)(sum)));
    }});
  }
};

Isa SoftmaxBackwardAcross(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<SoftmaxBackward>(work, none);
}
Isa LogSoftmaxBackwardAcross(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<LogSoftmaxBackward>(work, none);
}
Isa SoftmaxBackwardAcrossBf16(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<SoftmaxBackward, engine::HWY_NAMESPACE::Bf16Elements>(work, none);
}
Isa LogSoftmaxBackwardAcrossBf16(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<LogSoftmaxBackward, engine::HWY_NAMESPACE::Bf16Elements>(work,
                                                                                                   none);
}

}  // namespace softmax_gradients
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/norm/softmax_backward_functions.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kOutput, kOut };
enum Attributes { kDim };

constexpr auto kChecks = Join(List(
    OnProducts(products::kBeforeAscend950, DoneIfEmpty({kGradOutput, kOutput})),
    DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kOutput}), SameDtype(kGradOutput, kOutput),
    RankAtMost(8, {kGradOutput, kOutput, kOut}), DimIn(kDim, kGradOutput), SameShape(kGradOutput, kOutput),
    SameShape(kGradOutput, kOut), SizesRepresentable({kOut}), DoneIfEmpty({kGradOutput}),
    Converts(kGradOutput, kOut, kConvertible), InsideStorage({kGradOutput, kOutput})));
constexpr auto kSoftmaxChecks = Join(List(NotNull(kGradOutput), NotNull(kOutput), NotNull(kOut)), kChecks);
constexpr auto kLogSoftmaxChecks = Join(List(NotNull(kOutput), NotNull(kGradOutput), NotNull(kOut)), kChecks);

constexpr auto kSoftmax = engine::WithAcross(PORTACL_ROWWISE_KERNELS(softmax_gradients::SoftmaxBackward),
                                             PORTACL_ISA_TABLE(softmax_gradients::SoftmaxBackwardAcross),
                                             PORTACL_ISA_TABLE(softmax_gradients::SoftmaxBackwardAcrossBf16));
constexpr auto kLogSoftmax =
    engine::WithAcross(PORTACL_ROWWISE_KERNELS(softmax_gradients::LogSoftmaxBackward),
                       PORTACL_ISA_TABLE(softmax_gradients::LogSoftmaxBackwardAcross),
                       PORTACL_ISA_TABLE(softmax_gradients::LogSoftmaxBackwardAcrossBf16));

void SetRows(const OperatorCall& call, const engine::RowwiseKernels& kernels, Executor& executor) {
  const Shape& shape = call.Tensor(kGradOutput).shape;
  engine::RowwiseJobMaker rows(shape, AxisSet(call.attributes[kDim].integer, shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(kGradOutput, call.Tensor(kGradOutput));
  rows.Input(kOutput, call.Tensor(kOutput));
  rows.Output(kOut, call.Tensor(kOut));
  SetRowwiseJob(rows, kernels, engine::NoParameters(), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSoftmaxBackward) {
  return RunPhase1(call, kSoftmaxChecks, workspaceSize, executor,
                   [](const OperatorCall& checked, Executor& fresh) { SetRows(checked, kSoftmax, fresh); });
}

PORTACL_PHASE_1(aclnnLogSoftmaxBackward) {
  return RunPhase1(
      call, kLogSoftmaxChecks, workspaceSize, executor,
      [](const OperatorCall& checked, Executor& fresh) { SetRows(checked, kLogSoftmax, fresh); });
}

#endif  // HWY_ONCE
