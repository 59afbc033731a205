// aclnnAddLayerNorm: aclnnLayerNorm of the sum of two tensors and a bias.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/add_layer_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace add_layer_norm {

namespace hn = hwy::HWY_NAMESPACE;

// Inputs: two terms, a bias, gamma, beta. A missing bias is -0. The sum is normalized before it is rounded.
template <bool kWritesSum>
struct AddLayerNorm : engine::HWY_NAMESPACE::RowwiseFormula<AddLayerNorm<kWritesSum>> {
  static constexpr int kInputs = 5;
  explicit AddLayerNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const Moments moments =
        MomentsOf<0, 1, 2>(row, [](V x1, V x2, V bias) HWY_ATTR { return hn::Add(hn::Add(x1, x2), bias); });
    const float reciprocal = static_cast<float>(1.0 / std::sqrt(moments.variance + eps));
    row.SetValue(0, static_cast<double>(moments.mean));
    row.SetValue(1, static_cast<double>(reciprocal));
    const V mean = hn::Set(d, moments.mean);
    const V rstd = hn::Set(d, reciprocal);
    if constexpr (kWritesSum) {
      row.template Write2<0, 1, 2, 3, 4>([&](auto, V& y, V& x, V x1, V x2, V bias, V gamma, V beta) HWY_ATTR {
        x = hn::Add(hn::Add(x1, x2), bias);
        y = hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), gamma), beta);
      });
    } else {
      row.template Write<0, 0, 1, 2, 3, 4>([&](auto, V x1, V x2, V bias, V gamma, V beta) HWY_ATTR {
        const V x = hn::Add(hn::Add(x1, x2), bias);
        return hn::Add(hn::Mul(hn::Mul(hn::Sub(x, mean), rstd), gamma), beta);
      });
    }
  }

  double eps;
};
using AndSum = AddLayerNorm<true>;
using Alone = AddLayerNorm<false>;

}  // namespace add_layer_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/add_layer_norm_functions.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kAndSum = PORTACL_ROWWISE_KERNELS(add_layer_norm::AndSum);
constexpr auto kAlone = PORTACL_ROWWISE_KERNELS(add_layer_norm::Alone);

// Atlas inference products have no BF16. Atlas training products and Atlas 200I/500 A2 have no dtype.
constexpr DtypeRule kDtypes =
    SinceAtlasA2(kFloatHalfAndBf16).On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeSet kFloatAlone{ACL_FLOAT};

// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

enum Tensors { kX1, kX2, kGamma, kBeta, kBias, kY, kMean, kRstd, kX };
enum Attributes { kEpsilon, kAdditionalOutput };

bool WantsSum(const OperatorCall& call) noexcept { return call.attributes[kAdditionalOutput].integer != 0; }
bool IsInference(const OperatorCall& call) noexcept { return call.product == Product::kAtlasInference; }

// Returns the sum's dtype: FLOAT if the terms have two dtypes.
aclDataType SumDtype(const OperatorCall& call) {
  const aclDataType first = call.Tensor(kX1).dtype;
  return first == call.Tensor(kX2).dtype ? first : ACL_FLOAT;
}

aclnnStatus TermsGoTogether(const Check& check, OperatorCall& call) noexcept {
  const aclDataType first = call.Tensor(kX1).dtype;
  const aclDataType second = call.Tensor(kX2).dtype;
  if (first == second || (!IsInference(call) && (first == ACL_FLOAT || second == ACL_FLOAT)))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kX2);
  AddArgumentDtype(message.Add(" does not go with "), call, kX1);
  return FailAclnn(check.code, message.Add(IsInference(call) ? "; accepted: the same dtype."
                                                             : "; accepted: the same dtype, or FLOAT."));
}

template <int tensor>
aclnnStatus HasSumDtype(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(tensor).dtype == SumDtype(call)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, tensor);
  AddArgumentDtype(message.Add(" does not go with "), call, kX1);
  AddArgumentDtype(message.Add(" and "), call, kX2);
  return FailAclnn(check.code, message.Add("; accepted: theirs, or FLOAT where they differ."));
}

aclnnStatus GammaGoesWith(const Check& check, OperatorCall& call) noexcept {
  if (!IsInference(call) && call.Tensor(kGamma).dtype == ACL_FLOAT) return ACL_SUCCESS;
  return HasSumDtype<kGamma>(check, call);
}

aclnnStatus HasElements(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kX1).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kX1);
  return FailAclnn(check.code, message.Add(", accepted: no dim of 0."));
}

aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& bias = call.Tensor(kBias).shape;
  if (bias == call.Tensor(kGamma).shape || bias == call.Tensor(kX1).shape) return ACL_SUCCESS;
  return RefuseShape(check, call, kBias, call.Tensor(kGamma).shape);
}

constexpr Check kChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kGamma),
    NotNull(kBeta),
    NotNull(kY),
    NotNull(kMean),
    NotNull(kRstd),
    NotNull(kX),
    DtypesIn(kDtypes, {kX1, kX2}),
    Custom(TermsGoTogether),
    Custom(GammaGoesWith),
    SameDtype(kGamma, kBeta),
    IfThere<kBias>(Custom(HasSumDtype<kBias>)),
    Custom(HasSumDtype<kY>),
    DtypesIn(kFloatAlone, {kMean, kRstd}),
    If(WantsSum, Custom(HasSumDtype<kX>)),
    WithCode(kTiling, RankAtMost(8, {kX1})),
    WithCode(kTiling, RankAtLeast(1, {kX1})),
    WithCode(kTiling, SameShape(kX1, kX2)),
    WithCode(kTiling, SameShape(kX1, kY)),
    If(WantsSum, WithCode(kTiling, SameShape(kX1, kX))),
    Custom(HasElements, kTiling),
    Custom(GammaIsTail<kX1, kGamma>, kTiling),
    WithCode(kTiling, SameShape(kGamma, kBeta)),
    IfThere<kBias>(Custom(BiasFits, kTiling)),
    Custom(RstdFits<kX1, kGamma, kMean>, kTiling),
    Custom(RstdFits<kX1, kGamma, kRstd>, kTiling),
    SizesRepresentable({kY, kMean, kRstd, kX}),
    InsideStorage({kX1, kX2, kGamma, kBeta, kBias}),
};

void SetRows(const OperatorCall& call, Executor& executor) {
  const aclTensor& x1 = call.Tensor(kX1);
  engine::RowwiseJobMaker rows(x1.shape, LastAxes(call.Tensor(kGamma).shape.rank, x1.shape), ACL_FLOAT,
                               call.isa, call.threads);
  rows.Input(kX1, x1);
  rows.Input(kX2, call.Tensor(kX2));
  InputOr(rows, call, kBias, -0.0);  // -0 leaves any sum unchanged, even -0
  rows.Input(kGamma, call.Tensor(kGamma));
  rows.Input(kBeta, call.Tensor(kBeta));
  rows.Output(kY, call.Tensor(kY));
  if (WantsSum(call)) rows.Output(kX, call.Tensor(kX));
  for (const int tensor : {kMean, kRstd}) {
    if (IsInference(call)) {
      rows.NoValueOut();
    } else {
      rows.ValueOut(tensor, call.Tensor(tensor));
    }
  }
  SetRowwiseJob(rows, WantsSum(call) ? kAndSum : kAlone,
                NormParameters{static_cast<double>(static_cast<float>(call.attributes[kEpsilon].wide))},
                executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddLayerNorm) { return RunPhase1(call, kChecks, workspaceSize, executor, SetRows); }

#endif  // HWY_ONCE
