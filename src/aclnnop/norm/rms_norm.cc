// aclnnRmsNorm, aclnnAddRmsNorm, aclnnRmsNormGrad: x * rstd * gamma with rstd = 1 / sqrt(mean(x * x) + eps)
// over the last axes, and the same for x = x1 + x2. With h = x * rstd and g = dy * gamma, the gradient of x
// is rstd * (g - h * mean(g * h)), and that of gamma the sum of dy * h.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/rms_norm.cc"
#include "base/foreach_target.h"

#include "aclnnop/norm/moments-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace rms_norm {

namespace hn = hwy::HWY_NAMESPACE;

struct RmsNorm : engine::HWY_NAMESPACE::RowwiseFormula<RmsNorm> {
  static constexpr int kInputs = 2;
  explicit RmsNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double squares = row.template Sum<0>([](auto, V x) HWY_ATTR { return hn::Mul(x, x); });
    const V rstd = hn::Set(d, SetReciprocal(row, squares, eps));
    row.template Write<0, 0, 1>([&](auto, V x, V gamma)
                                    HWY_ATTR { return hn::Mul(hn::Mul(x, rstd), gamma); });
  }

  double eps;
};

// Normalizes the sum before it is rounded.
template <bool kWritesSum>
struct AddRmsNorm : engine::HWY_NAMESPACE::RowwiseFormula<AddRmsNorm<kWritesSum>> {
  static constexpr int kInputs = 3;
  explicit AddRmsNorm(const void* parameters) : eps(static_cast<const NormParameters*>(parameters)->eps) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const double squares = row.template Sum<0, 1>([](auto, V x1, V x2) HWY_ATTR {
      const V x = hn::Add(x1, x2);
      return hn::Mul(x, x);
    });
    const V rstd = hn::Set(d, SetReciprocal(row, squares, eps));
    if constexpr (kWritesSum) {
      row.template Write2<0, 1, 2>([&](auto, V& y, V& x, V x1, V x2, V gamma) HWY_ATTR {
        x = hn::Add(x1, x2);
        y = hn::Mul(hn::Mul(x, rstd), gamma);
      });
    } else {
      row.template Write<0, 0, 1, 2>([&](auto, V x1, V x2, V gamma)
                                         HWY_ATTR { return hn::Mul(hn::Mul(hn::Add(x1, x2), rstd), gamma); });
    }
  }

  double eps;
};
using AddRmsNormAndSum = AddRmsNorm<true>;
using AddRmsNormAlone = AddRmsNorm<false>;

struct RmsNormGrad : engine::HWY_NAMESPACE::RowwiseFormula<RmsNormGrad> {
  static constexpr int kInputs = 3;
  explicit RmsNormGrad(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V rstd = hn::Set(d, static_cast<float>(row.Value(0)));
    const double sum = row.template Sum<0, 1, 2>([&](auto, V gradient, V x, V gamma) HWY_ATTR {
      return hn::Mul(hn::Mul(gradient, gamma), hn::Mul(x, rstd));
    });
    const V mean = hn::Set(d, static_cast<float>(sum / static_cast<double>(row.n())));
    row.template AddToColumns<0, 0, 1>([&](auto, V gradient, V x)
                                           HWY_ATTR { return hn::Mul(gradient, hn::Mul(x, rstd)); });
    row.template Write<0, 0, 1, 2>([&](auto, V gradient, V x, V gamma) HWY_ATTR {
      return hn::Mul(rstd, hn::Sub(hn::Mul(gradient, gamma), hn::Mul(hn::Mul(x, rstd), mean)));
    });
  }
};

}  // namespace rms_norm
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/norm/rms_norm_functions.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {

const engine::RowwiseKernels add_rms_norm_kernels = PORTACL_ROWWISE_KERNELS(rms_norm::AddRmsNormAndSum);

namespace {

constexpr auto kRmsNorm = PORTACL_ROWWISE_KERNELS(rms_norm::RmsNorm);
constexpr auto kAddRmsNormAlone = PORTACL_ROWWISE_KERNELS(rms_norm::AddRmsNormAlone);
constexpr auto kRmsNormGrad = PORTACL_ROWWISE_KERNELS(rms_norm::RmsNormGrad);

// Atlas inference products have no BF16. Atlas training products and Atlas 200I/500 A2 have no dtype.
constexpr DtypeRule kDtypes =
    SinceAtlasA2(kFloatHalfAndBf16).On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeRule kWithoutRstdDtypes = SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16))
                                             .On(ProductSet{Product::kAtlasInference}, DtypeSet(ACL_FLOAT16));
constexpr DtypeSet kFloatAlone{ACL_FLOAT};

// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

template <int gamma, int x>
aclnnStatus GammaGoesWith(const Check& check, OperatorCall& call) noexcept {
  if (call.product == Product::kAtlasInference) {
    const Check same = SameDtype(x, gamma);
    return same.run(same, call);
  }
  return FloatOrDtypeOf<gamma, x>(check, call);
}

// ---- RmsNorm ----

enum Norm { kX, kGamma, kY, kRstd };

constexpr Check kNormChecks[] = {
    NotNull(kX),
    NotNull(kGamma),
    NotNull(kY),
    NotNull(kRstd),
    DtypesIn(kDtypes, {kX}),
    SameDtype(kX, kY),
    Custom(GammaGoesWith<kGamma, kX>),
    DtypesIn(kFloatAlone, {kRstd}),
    WithCode(kTiling, RankAtMost(8, {kX, kGamma})),
    WithCode(kTiling, RankAtLeast(1, {kX})),
    Custom(GammaIsTail<kX, kGamma>, kTiling),
    WithCode(kTiling, SameShape(kX, kY)),
    Custom(EpsilonIsNotNegative<0>, kTiling),
    Custom(RstdFits<kX, kGamma, kRstd>, kTiling),
    SizesRepresentable({kY, kRstd}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kGamma}),
};

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, const StridedView& x, const StridedView& gamma) {
  return engine::RowwiseJobMaker(x.shape, LastAxes(gamma.shape.rank, x.shape), ACL_FLOAT, call.isa,
                                 call.threads);
}

void SetNorm(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX), call.Tensor(kGamma));
  rows.Input(kX, call.Tensor(kX));
  rows.Input(kGamma, call.Tensor(kGamma));
  rows.Output(kY, call.Tensor(kY));
  rows.ValueOut(kRstd, call.Tensor(kRstd));
  SetRowwiseJob(rows, kRmsNorm, NormParameters{FloatNumber(call, 0)}, executor);
}

// ---- RmsNormGrad ----

enum Grad { kDy, kInput, kReciprocal, kWeight, kDx, kDweight };

constexpr Check kGradChecks[] = {
    NotNull(kDy),
    NotNull(kInput),
    NotNull(kReciprocal),
    NotNull(kWeight),
    NotNull(kDx),
    NotNull(kDweight),
    DtypesIn(kDtypes, {kDy}),
    SameDtype(kDy, kInput),
    SameDtype(kDy, kDx),
    Custom(GammaGoesWith<kWeight, kInput>),
    DtypesIn(kFloatAlone, {kReciprocal, kDweight}),
    WithCode(kTiling, RankAtMost(8, {kDy, kInput})),
    WithCode(kTiling, RankAtLeast(2, {kInput})),
    WithCode(kTiling, RankAtMost(8, {kReciprocal, kWeight})),
    WithCode(kTiling, SameShape(kDy, kInput)),
    WithCode(kTiling, SameShape(kInput, kDx)),
    Custom(GammaIsTail<kInput, kWeight>, kTiling),
    WithCode(kTiling, SameShape(kWeight, kDweight)),
    Custom(RstdFits<kInput, kWeight, kReciprocal>, kTiling),
    SizesRepresentable({kDx, kDweight}),
    InsideStorage({kDy, kInput, kReciprocal, kWeight}),
};

void SetGrad(const OperatorCall& call, Executor& executor) {
  if (call.Tensor(kInput).shape.IsEmpty()) {
    const int zeros[] = {kDweight};
    return SetZeroJob(call, zeros, 1, executor);
  }
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kInput), call.Tensor(kWeight));
  for (const int tensor : {kDy, kInput, kWeight}) rows.Input(tensor, call.Tensor(tensor));
  rows.Output(kDx, call.Tensor(kDx));
  rows.ValueIn(kReciprocal, call.Tensor(kReciprocal));
  rows.ColumnSum(kDweight, call.Tensor(kDweight));
  rows.NoColumnSum();
  SetRowwiseJob(rows, kRmsNormGrad, engine::NoParameters(), executor);
}

// ---- AddRmsNorm ----

enum Added { kX1, kX2, kScale, kNormed, kNumbers, kSum };

bool HasRstd(const OperatorCall& call) noexcept { return call.IsGiven(kNumbers); }
bool HasNoRstd(const OperatorCall& call) noexcept { return !call.IsGiven(kNumbers); }
bool HasSum(const OperatorCall& call) noexcept { return call.IsGiven(kSum); }

aclnnStatus GammaOfTwoDims(const Check& check, OperatorCall& call) noexcept {
  const Check rank = WithCode(check.code, RankAtMost(2, {kScale}));
  return rank.run(rank, call);
}

// Drops gamma's leading dims of 1 where x does not have them.
StridedView Tail(const StridedView& gamma, const StridedView& x) {
  StridedView tail = PlainView(gamma);
  while (tail.shape.rank > 1 && tail.shape[0] == 1 &&
         (tail.shape.rank > x.shape.rank || x.shape[x.shape.rank - tail.shape.rank] != 1))
    Select(tail, 0, 0);
  return tail;
}

aclnnStatus ScaleIsTail(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kX1).shape;
  const Shape tail = Tail(call.Tensor(kScale), call.Tensor(kX1)).shape;
  bool fits = tail.rank >= 1 && tail.rank <= shape.rank;
  for (int i = 0; fits && i < tail.rank; ++i) fits = tail[i] == shape[shape.rank - tail.rank + i];
  if (fits) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kScale);
  AddArgumentShape(message.Add(" is not made of the last dims of "), call, kX1);
  return FailAclnn(check.code, message.Add(", accepted: the last dims of that."));
}

aclnnStatus NumbersFit(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& x = call.Tensor(kX1);
  const Shape accepted = RowsOf(x.shape, Tail(call.Tensor(kScale), x).shape.rank);
  return call.Tensor(kNumbers).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kNumbers, accepted);
}

constexpr Check kAddedChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kScale),
    NotNull(kNormed),
    If(HasRstd, NotNull(kSum)),
    If(HasRstd, DtypesIn(kDtypes, {kX1})),
    If(HasNoRstd, DtypesIn(kWithoutRstdDtypes, {kX1})),
    SameDtype(kX1, kX2),
    SameDtype(kX1, kScale),
    SameDtype(kX1, kNormed),
    If(HasSum, SameDtype(kX1, kSum)),
    If(HasRstd, DtypesIn(kFloatAlone, {kNumbers})),
    RankAtMost(8, {kX1, kX2, kScale, kNormed, kSum}),
    RankAtLeast(1, {kX1, kX2, kScale, kNormed, kSum}),
    SameShape(kX1, kX2),
    SameShape(kX1, kNormed),
    If(HasSum, SameShape(kX1, kSum)),
    If(HasNoRstd, Custom(GammaOfTwoDims)),
    SizesRepresentable({kNormed, kNumbers, kSum}),
    DoneIfEmpty({kX1, kScale}),
    Custom(ScaleIsTail, kTiling),
    If(HasRstd, Custom(NumbersFit, kTiling)),
    InsideStorage({kX1, kX2, kScale}),
};

void SetAdded(const OperatorCall& call, Executor& executor) {
  const StridedView scale = Tail(call.Tensor(kScale), call.Tensor(kX1));
  engine::RowwiseJobMaker rows = RowsOf(call, call.Tensor(kX1), scale);
  rows.Input(kX1, call.Tensor(kX1));
  rows.Input(kX2, call.Tensor(kX2));
  rows.Input(kScale, scale);
  rows.Output(kNormed, call.Tensor(kNormed));
  if (HasSum(call)) rows.Output(kSum, call.Tensor(kSum));
  ValueOutIfGiven(rows, call, kNumbers);
  SetRowwiseJob(rows, HasSum(call) ? add_rms_norm_kernels : kAddRmsNormAlone,
                NormParameters{FloatNumber(call, 0)}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRmsNorm) { return RunPhase1(call, kNormChecks, workspaceSize, executor, SetNorm); }

PORTACL_PHASE_1(aclnnRmsNormGrad) { return RunPhase1(call, kGradChecks, workspaceSize, executor, SetGrad); }

PORTACL_PHASE_1(aclnnAddRmsNorm) { return RunPhase1(call, kAddedChecks, workspaceSize, executor, SetAdded); }

#endif  // HWY_ONCE
