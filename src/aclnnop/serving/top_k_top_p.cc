// aclnnApplyTopKTopP, and aclnnApplyTopKTopPCustom, which is the same: keep those of a row's logits that are
// among the k greatest. Of these, keep the greatest whose probabilities add up to p.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/serving/top_k_top_p.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

#ifndef PORTACL_ACLNNOP_SERVING_TOP_K_TOP_P_PARAMETERS
#define PORTACL_ACLNNOP_SERVING_TOP_K_TOP_P_PARAMETERS
namespace portacl {
struct NucleusParameters {
  bool has_shares;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace top_k_top_p {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;

// Input: a row in ascending order. Numbers in: k, where a number outside 1 to the row's length means all; and
// p. Sets the others to -infinity, but never the last one.
struct Nucleus : engine::HWY_NAMESPACE::RowwiseFormula<Nucleus> {
  static constexpr int kInputs = 1;
  explicit Nucleus(const void* parameters) : given(*static_cast<const NucleusParameters*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    constexpr float kHidden = -std::numeric_limits<float>::infinity();
    const auto n = static_cast<int64_t>(row.n());
    const double wanted = row.Value(0);
    const bool is_cut = wanted >= 1 && wanted < static_cast<double>(n);
    const float least =
        is_cut ? row.template At<0>(static_cast<size_t>(n - static_cast<int64_t>(wanted))) : kHidden;
    const V least_of_all = hn::Set(d, least);
    const V hidden = hn::Set(d, kHidden);
    const auto kept = [&](V x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, least_of_all), hidden, x); };
    if (!given.has_shares) {
      row.template Write<0, 0>([&](auto, V x) HWY_ATTR { return kept(x); });
      return;
    }
    const float most = row.template At<0>(static_cast<size_t>(n - 1));
    const V greatest = hn::Set(d, most);
    const double total = row.template Sum<0>(
        [&](auto tag, V x) HWY_ATTR { return functions::FusedExp(tag, hn::Sub(kept(x), greatest)); });
    const double limit = static_cast<double>(1.0f - static_cast<float>(row.Value(1)));
    row.template Write<0, 0>([&](auto, V x) HWY_ATTR { return kept(x); });
    // Position of the first logit that top-k keeps.
    int64_t first = 0;
    for (int64_t end = is_cut ? n - static_cast<int64_t>(wanted) : 0; first < end;) {
      const int64_t middle = first + (end - first) / 2;
      if (row.template At<0>(static_cast<size_t>(middle)) < least) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    double sum = 0;
    for (int64_t i = first; i < n - 1; ++i) {
      const float x = row.template At<0>(static_cast<size_t>(i));
      sum += static_cast<double>(engine::HWY_NAMESPACE::OfOne(
          d, x - most, [](auto tag, V v) HWY_ATTR { return functions::FusedExp(tag, v); }));
      if (!(sum / total <= limit)) break;
      row.template Put<0>(static_cast<size_t>(i), kHidden);
    }
  }

  NucleusParameters given;
};

}  // namespace top_k_top_p
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/serving/top_k_top_p_functions.h"
#include "aclnnop/stage_list.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kNucleus = PORTACL_ROWWISE_KERNELS_OF_FLOAT(top_k_top_p::Nucleus);
constexpr DtypeSet kCountDtypes{ACL_INT32};

enum Tensors { kLogits, kShare, kCount, kOut };

template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}
template <int tensor>
aclnnStatus OneOfEachRow(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted{call.Tensor(kLogits).shape[0]};
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}
aclnnStatus DoneIfNothing(const Check&, OperatorCall& call) noexcept {
  for (const int tensor : {kLogits, kShare, kCount}) {
    if (call.IsGiven(tensor) && call.Tensor(tensor).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kLogits),
    NotNull(kOut),
    AnyGiven({kShare, kCount}),
    DtypesIn(kNoneBeforeAtlasA2, {kLogits}),
    If(IsThere<kShare>, SameDtype(kLogits, kShare)),
    If(IsThere<kCount>, DtypesIn(kCountDtypes, {kCount})),
    SameDtype(kLogits, kOut),
    RankIs(2, {kLogits}),
    SameShape(kLogits, kOut),
    If(IsThere<kShare>, Custom(OneOfEachRow<kShare>)),
    If(IsThere<kCount>, Custom(OneOfEachRow<kCount>)),
    SizesRepresentable({kOut}),
    Custom(DoneIfNothing),
    InsideStorage({kLogits, kShare, kCount}),
};

void SetKept(const OperatorCall& call, Executor& executor) {
  const MappedView logits{PlainView(call.Tensor(kLogits)), call.OperandOf(kLogits)};
  const Shape& shape = logits.tensor.shape;
  StageList stages(call, executor, 3);
  const MappedView values = stages.Scratch(shape, logits.tensor.dtype);
  const MappedView indices = stages.Scratch(shape, ACL_INT64);
  const MappedView kept = stages.Scratch(shape, logits.tensor.dtype);
  stages.Sort(logits, values, indices, 1);

  engine::RowwiseJobMaker rows(shape, LastAxes(1, shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(values.operand, values.tensor);
  rows.Output(kept.operand, kept.tensor);
  for (const int tensor : {kCount, kShare}) {
    if (call.IsGiven(tensor)) {
      rows.ValueIn(call.OperandOf(tensor), call.Tensor(tensor));
    } else {
      rows.ConstantValueIn(0);
    }
  }
  stages.Rows(rows, kNucleus, NucleusParameters{call.IsGiven(kShare)});

  MappedView out{PlainView(call.Tensor(kOut)), call.OperandOf(kOut)};
  const engine::IndexView index{.view = &indices.tensor,
                                .operand = indices.operand,
                                .name = call.Name(kOut),
                                .bound = shape[1],
                                .step = out.tensor.strides[1]};
  out.tensor.strides.dim[1] = 0;
  stages.Indexed(engine::IndexedAction::kPut, kept, out, &index, 1, /*raises=*/false);
  stages.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnApplyTopKTopPCustom) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetKept);
}
PORTACL_PHASE_1(aclnnApplyTopKTopP) { return RunPhase1(call, kChecks, workspaceSize, executor, SetKept); }

#endif  // HWY_ONCE
