// aclnnSoftmax, aclnnLogSoftmax: exp(x - m) / s, and (x - m) - log(s), where m is the maximum of a row and s
// the sum of exp(x - m).
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/softmax.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/across_loop-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace softmax {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;
using engine::HWY_NAMESPACE::kKeptTerms;
using engine::HWY_NAMESPACE::UnrolledSteps;

// Returns the formula exp(x - greatest).
template <class V>
HWY_INLINE auto Exponential(const V& greatest) {
  return UnrolledSteps{[&greatest](auto tag, auto x) HWY_ATTR {
    using hn::Sub;
    return functions::FusedExp(tag, Sub(x, decltype(x)(greatest)));
  }};
}

// NaN and infinities make the whole row NaN, whatever the maximum is then: NaN through the sum, and
// infinities through the difference.
struct Softmax : engine::HWY_NAMESPACE::RowwiseFormula<Softmax> {
  static constexpr int kInputs = 1;
  explicit Softmax(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V greatest = hn::Set(d, row.template Max<0>());
    const UnrolledSteps exponential{[&](auto tag, auto x) HWY_ATTR {
      using hn::Sub;
      return functions::FusedExp(tag, Sub(x, decltype(x)(greatest)));
    }};
    const double sum = row.template SumKeeping<0>(exponential);
    const V factor = hn::Set(d, static_cast<typename Row::T>(1.0 / sum));
    if (row.keeps()) {
      row.template Write<0, kKeptTerms>([&](auto, V kept) HWY_ATTR { return hn::Mul(kept, factor); });
    } else {
      row.template Write<0, 0>([&](auto tag, V x) HWY_ATTR { return hn::Mul(exponential(tag, x), factor); });
    }
  }

  // Computes the same for adjacent rows in the lanes of a vector.
  template <class Rows>
  static HWY_INLINE void Across(Rows& rows) {
    using V = typename Rows::V;
    const V greatest = rows.Max();
    const V factor =
        rows.template Sum<true, 0>(Exponential<V>(greatest), [](double sum) { return 1.0 / sum; });
    rows.template Write<0>([&](auto, V kept) HWY_ATTR { return hn::Mul(kept, factor); });
  }
};

struct LogSoftmax : engine::HWY_NAMESPACE::RowwiseFormula<LogSoftmax> {
  static constexpr int kInputs = 1;
  explicit LogSoftmax(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    using T = typename Row::T;
    const typename Row::D d;
    const V greatest = hn::Set(d, row.template Max<0>());
    const double sum = row.template Sum<0>(UnrolledSteps{[&](auto tag, auto x) HWY_ATTR {
      using hn::Sub;
      return functions::FusedExp(tag, Sub(x, decltype(x)(greatest)));
    }});
    const V log = functions::Log(d, hn::Set(d, static_cast<T>(sum)));
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR { return hn::Sub(hn::Sub(x, greatest), log); });
  }

  template <class Rows>
  static HWY_INLINE void Across(Rows& rows) {
    using V = typename Rows::V;
    const V greatest = rows.Max();
    const V sum = rows.template Sum<false, 0>(Exponential<V>(greatest), [](double total) { return total; });
    const V log = functions::Log(typename Rows::D(), sum);
    rows.template Write<0>([&](auto, V x) HWY_ATTR { return hn::Sub(hn::Sub(x, greatest), log); });
  }
};

Isa SoftmaxAcross(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<Softmax>(work, none);
}
Isa LogSoftmaxAcross(const engine::RowwiseWork& work, const void* none) {
  return engine::HWY_NAMESPACE::RunAcross<LogSoftmax>(work, none);
}

}  // namespace softmax
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/norm/softmax_functions.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kDim };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);

constexpr auto kShared = List(DtypesIn(kDtypes, {kSelf, kOut}), DimIn(kDim, kSelf), RankAtMost(8, {kSelf}),
                              SameShape(kSelf, kOut));
constexpr auto kComputable = List(SizesRepresentable({kOut}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}),
                                  FunctionsThere(kDouble, WhyFunctionsAreMissing));

// Empty tensors return before any other check. self's dtype determines that of the computation.
constexpr auto kSoftmaxChecks = Join(List(NotNull(kSelf), NotNull(kOut), DoneIfEmpty({kSelf})), kShared,
                                     List(PromotesToDtypeOf(kSelf)), kComputable);
// out's dtype determines that of the computation.
constexpr auto kLogSoftmaxChecks =
    Join(List(NotNull(kSelf), NotNull(kOut)), kShared, List(PromotesToDtypeOf(kOut)), kComputable);

constexpr auto kSoftmax = engine::WithAcross(PORTACL_ROWWISE_KERNELS_OF_DOUBLE_TOO(softmax::Softmax),
                                             PORTACL_ISA_TABLE(softmax::SoftmaxAcross));
constexpr auto kLogSoftmax = engine::WithAcross(PORTACL_ROWWISE_KERNELS_OF_DOUBLE_TOO(softmax::LogSoftmax),
                                                PORTACL_ISA_TABLE(softmax::LogSoftmaxAcross));

void SetRows(const OperatorCall& call, const engine::RowwiseKernels& kernels, bool keeps,
             Executor& executor) {
  const aclTensor& self = call.Tensor(kSelf);
  engine::RowwiseJobMaker rows(self.shape, AxisSet(call.attributes[kDim].integer, self.shape),
                               ComputedInRows(call.promoted), call.isa, call.threads);
  rows.Input(kSelf, self);
  rows.Output(kOut, call.Tensor(kOut));
  if (keeps) rows.Keep();
  SetRowwiseJob(rows, kernels, engine::NoParameters(), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSoftmax) {
  return RunPhase1(
      call, kSoftmaxChecks, workspaceSize, executor,
      [](const OperatorCall& checked, Executor& fresh) { SetRows(checked, kSoftmax, true, fresh); });
}

PORTACL_PHASE_1(aclnnLogSoftmax) {
  return RunPhase1(
      call, kLogSoftmaxChecks, workspaceSize, executor,
      [](const OperatorCall& checked, Executor& fresh) { SetRows(checked, kLogSoftmax, false, fresh); });
}

#endif  // HWY_ONCE
