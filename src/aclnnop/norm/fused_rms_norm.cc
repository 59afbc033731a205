// Variants of aclnnAddRmsNorm and aclnnRmsNorm. aclnnAddRmsNormCast also writes the result as FLOAT,
// aclnnInplaceAddRmsNorm overwrites its terms, aclnnAddRmsNormBias adds a bias, and aclnnGemmaRmsNorm
// multiplies by 1 + gamma.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/fused_rms_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace fused_rms_norm {

namespace hn = hwy::HWY_NAMESPACE;

struct GemmaRmsNorm : engine::HWY_NAMESPACE::RowwiseFormula<GemmaRmsNorm> {
  static constexpr int kInputs = 2;
  explicit GemmaRmsNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double squares = row.template Sum<0>([](auto, V x) HWY_ATTR { return hn::Mul(x, x); });
    const V rstd = hn::Set(d, SetReciprocal(row, squares, eps));
    const V one = hn::Set(d, 1.0f);
    row.template Write<0, 0, 1>([&](auto, V x, V gamma)
                                    HWY_ATTR { return hn::Mul(hn::Mul(x, rstd), hn::Add(one, gamma)); });
  }

  double eps;
};

// Normalizes a sum and adds a bias.
struct AddRmsNormBias : engine::HWY_NAMESPACE::RowwiseFormula<AddRmsNormBias> {
  static constexpr int kInputs = 4;
  explicit AddRmsNormBias(const void* parameters)
      : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double squares = row.template Sum<0, 1>([](auto, V x1, V x2) HWY_ATTR {
      const V x = hn::Add(x1, x2);
      return hn::Mul(x, x);
    });
    const V rstd = hn::Set(d, SetReciprocal(row, squares, eps));
    row.template Write2<0, 1, 2, 3>([&](auto, V& y, V& x, V x1, V x2, V gamma, V beta) HWY_ATTR {
      x = hn::Add(x1, x2);
      y = hn::Add(hn::Mul(hn::Mul(x, rstd), gamma), beta);
    });
  }

  double eps;
};

// Writes an earlier result as another dtype.
struct Converted : engine::HWY_NAMESPACE::RowwiseFormula<Converted> {
  static constexpr int kInputs = 1;
  explicit Converted(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    row.template Write<0, 0>([](auto, typename Row::V x) HWY_ATTR { return x; });
  }
};

}  // namespace fused_rms_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/fused_rms_norm_functions.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kGemma = PORTACL_ROWWISE_KERNELS(fused_rms_norm::GemmaRmsNorm);
constexpr auto kBiased = PORTACL_ROWWISE_KERNELS(fused_rms_norm::AddRmsNormBias);
constexpr auto kConverted = PORTACL_ROWWISE_KERNELS_OF_FLOAT(fused_rms_norm::Converted);

constexpr DtypeRule kHalfAndBf16 = SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16));
// Atlas inference products have no BF16.
constexpr DtypeRule kInplaceDtypes =
    kNoneBeforeAtlasA2.On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeSet kFloatAlone{ACL_FLOAT};

// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

enum Attributes { kEpsilon };

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, const StridedView& x, const StridedView& gamma) {
  return engine::RowwiseJobMaker(x.shape, LastAxes(gamma.shape.rank, x.shape), ACL_FLOAT, call.isa,
                                 call.threads);
}
NormParameters Parameters(const OperatorCall& call) { return {FloatNumber(call, kEpsilon)}; }

// ---- GemmaRmsNorm ----

enum Gemma { kX, kGamma, kY, kRstd };

constexpr Check kGemmaChecks[] = {
    NotNull(kX),
    NotNull(kGamma),
    NotNull(kY),
    NotNull(kRstd),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    SameDtype(kX, kGamma),
    SameDtype(kX, kY),
    DtypesIn(kFloatAlone, {kRstd}),
    WithCode(kTiling, RankAtMost(8, {kX, kGamma})),
    WithCode(kTiling, RankAtLeast(1, {kX})),
    Custom(GammaIsTail<kX, kGamma>, kTiling),
    WithCode(kTiling, SameShape(kX, kY)),
    Custom(EpsilonIsNotNegative<kEpsilon>, kTiling),
    Custom(RstdFits<kX, kGamma, kRstd>, kTiling),
    SizesRepresentable({kY, kRstd}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kGamma}),
};

void SetGemma(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX), call.Tensor(kGamma));
  rows.Input(kX, call.Tensor(kX));
  rows.Input(kGamma, call.Tensor(kGamma));
  rows.Output(kY, call.Tensor(kY));
  rows.ValueOut(kRstd, call.Tensor(kRstd));
  SetRowwiseJob(rows, kGemma, Parameters(call), executor);
}

// ---- sums ----

enum Terms { kX1, kX2, kScale };

void AddSum(engine::RowwiseJobMaker& rows, const OperatorCall& call, int normed, int sum, int rstd) {
  for (const int tensor : {kX1, kX2, kScale}) rows.Input(tensor, call.Tensor(tensor));
  rows.Output(normed, call.Tensor(normed));
  rows.Output(sum, call.Tensor(sum));
  if (call.product == Product::kAtlasInference) {
    rows.NoValueOut();  // its kernel writes none
  } else {
    rows.ValueOut(rstd, call.Tensor(rstd));
  }
}

// InplaceAddRmsNorm
enum Inplace { kNumbers = kScale + 1 };

aclnnStatus HasElements(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kX1).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kX1);
  return FailAclnn(check.code, message.Add(", accepted: no dim of 0."));
}

constexpr Check kInplaceChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kScale),
    NotNull(kNumbers),
    DtypesIn(kInplaceDtypes, {kX1}),
    SameDtype(kX1, kX2),
    SameDtype(kX1, kScale),
    DtypesIn(kFloatAlone, {kNumbers}),
    WithCode(kTiling, RankAtMost(8, {kX1, kX2, kScale})),
    WithCode(kTiling, RankAtLeast(1, {kX1})),
    WithCode(kTiling, SameShape(kX1, kX2)),
    Custom(HasElements, kTiling),
    Custom(GammaIsTail<kX1, kScale>, kTiling),
    Custom(EpsilonIsNotNegative<kEpsilon>, kTiling),
    Custom(RstdFits<kX1, kScale, kNumbers>, kTiling),
    SizesRepresentable({kX1, kX2, kNumbers}),
    InsideStorage({kScale}),
};

void SetInplace(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX1), call.Tensor(kScale));
  AddSum(rows, call, kX1, kX2, kNumbers);
  SetRowwiseJob(rows, add_rms_norm_kernels, Parameters(call), executor);
}

// AddRmsNormBias
enum Biased { kBias = kScale + 1, kBiasedOut, kBiasedRstd, kBiasedSum };

constexpr Check kBiasChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kScale),
    NotNull(kBiasedOut),
    NotNull(kBiasedRstd),
    NotNull(kBiasedSum),
    DtypesIn(kNoneBeforeAtlasA2, {kX1}),
    SameDtype(kX1, kX2),
    SameDtype(kX1, kScale),
    IfThere<kBias>(SameDtype(kX1, kBias)),
    SameDtype(kX1, kBiasedOut),
    DtypesIn(kFloatAlone, {kBiasedRstd}),
    SameDtype(kX1, kBiasedSum),
    WithCode(kTiling, RankAtMost(8, {kX1, kX2, kScale})),
    WithCode(kTiling, RankAtLeast(1, {kX1})),
    WithCode(kTiling, SameShape(kX1, kX2)),
    WithCode(kTiling, SameShape(kX1, kBiasedOut)),
    WithCode(kTiling, SameShape(kX1, kBiasedSum)),
    Custom(GammaIsTail<kX1, kScale>, kTiling),
    IfThere<kBias>(WithCode(kTiling, SameShape(kScale, kBias))),
    Custom(EpsilonIsNotNegative<kEpsilon>, kTiling),
    Custom(RstdFits<kX1, kScale, kBiasedRstd>, kTiling),
    SizesRepresentable({kBiasedOut, kBiasedRstd, kBiasedSum}),
    DoneIfEmpty({kX1}),
    InsideStorage({kX1, kX2, kScale, kBias}),
};

void SetBiased(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX1), call.Tensor(kScale));
  if (!call.IsGiven(kBias)) {
    AddSum(rows, call, kBiasedOut, kBiasedSum, kBiasedRstd);
    return SetRowwiseJob(rows, add_rms_norm_kernels, Parameters(call), executor);
  }
  for (const int tensor : {kX1, kX2, kScale}) rows.Input(tensor, call.Tensor(tensor));
  rows.Input(kBias, call.Tensor(kBias));
  rows.Output(kBiasedOut, call.Tensor(kBiasedOut));
  rows.Output(kBiasedSum, call.Tensor(kBiasedSum));
  rows.ValueOut(kBiasedRstd, call.Tensor(kBiasedRstd));
  SetRowwiseJob(rows, kBiased, Parameters(call), executor);
}

// AddRmsNormCast
enum Cast { kWide = kScale + 1, kNarrow, kReciprocal, kSum };

constexpr Check kCastChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kScale),
    NotNull(kWide),
    NotNull(kNarrow),
    NotNull(kReciprocal),
    NotNull(kSum),
    DtypesIn(kHalfAndBf16, {kX1}),
    SameDtype(kX1, kX2),
    SameDtype(kX1, kScale),
    DtypesIn(kFloatAlone, {kWide, kReciprocal}),
    SameDtype(kX1, kNarrow),
    SameDtype(kX1, kSum),
    WithCode(kTiling, RankAtMost(8, {kX1, kX2, kScale})),
    WithCode(kTiling, RankAtLeast(1, {kX1})),
    WithCode(kTiling, SameShape(kX1, kX2)),
    WithCode(kTiling, SameShape(kX1, kWide)),
    WithCode(kTiling, SameShape(kX1, kNarrow)),
    WithCode(kTiling, SameShape(kX1, kSum)),
    Custom(GammaIsTail<kX1, kScale>, kTiling),
    Custom(EpsilonIsNotNegative<kEpsilon>, kTiling),
    Custom(RstdFits<kX1, kScale, kReciprocal>, kTiling),
    SizesRepresentable({kWide, kNarrow, kReciprocal, kSum}),
    DoneIfEmpty({kX1}),
    InsideStorage({kX1, kX2, kScale}),
};

// On Ascend 950 the narrow result is the rounded wide one. On products before Atlas A2 the wide result is the widened
// narrow one.
void SetCast(const OperatorCall& call, Executor& executor) {
  const bool is_wide_first = call.product == Product::kAscend950;
  const int first = is_wide_first ? kWide : kNarrow;
  const int second = is_wide_first ? kNarrow : kWide;
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX1), call.Tensor(kScale));
  AddSum(rows, call, first, kSum, kReciprocal);
  engine::RowwiseJobMaker copies = RowsOf(call, call.Tensor(kX1), call.Tensor(kScale));
  copies.Input(first, call.Tensor(first));
  copies.Output(second, call.Tensor(second));
  const engine::RowwiseJob* const jobs[] = {
      &rows.Make(add_rms_norm_kernels, Parameters(call), &executor.workspace_size),
      &copies.Make(kConverted, engine::NoParameters(), &executor.workspace_size)};
  executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, 2, rows.touched() | copies.touched()); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGemmaRmsNorm) {
  return RunPhase1(call, kGemmaChecks, workspaceSize, executor, SetGemma);
}

PORTACL_PHASE_1(aclnnInplaceAddRmsNorm) {
  return RunPhase1(call, kInplaceChecks, workspaceSize, executor, SetInplace);
}

PORTACL_PHASE_1(aclnnAddRmsNormBias) {
  return RunPhase1(call, kBiasChecks, workspaceSize, executor, SetBiased);
}

PORTACL_PHASE_1(aclnnAddRmsNormCast) {
  return RunPhase1(call, kCastChecks, workspaceSize, executor, SetCast);
}

#endif  // HWY_ONCE
