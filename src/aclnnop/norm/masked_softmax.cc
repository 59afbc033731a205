// aclnnScaledMaskedSoftmax and its gradient, aclnnMaskedSoftmaxWithRelPosBias: softmax over the last dim of
// scaled, masked or biased scores.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/norm/masked_softmax.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/statistics.h"
#include "engine/functions/functions-inl.h"
#include "engine/functions/fused_exp-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace masked_softmax {

namespace hn = hwy::HWY_NAMESPACE;
namespace functions = engine::HWY_NAMESPACE::functions;

inline constexpr float kHidden = -10000.0f;  // score of hidden positions

// Writes the softmax of the scores that `score` computes from a row's inputs.
template <size_t... kInput, class Row, class F>
HWY_INLINE void WriteSoftmax(Row& row, const F& score) {
  using V = typename Row::V;
  const typename Row::D d;
  const V greatest =
      hn::Set(d, row.template MaxOf<kInput...>([&](auto, auto... x) HWY_ATTR { return score(x...); }));
  const auto exponential = [&](auto tag, auto... x)
                               HWY_ATTR { return functions::FusedExp(tag, hn::Sub(score(x...), greatest)); };
  const double sum = row.template Sum<kInput...>(exponential);
  const V factor = hn::Set(d, static_cast<float>(1.0 / sum));
  row.template Write<0, kInput...>([&](auto tag, auto... x)
                                       HWY_ATTR { return hn::Mul(exponential(tag, x...), factor); });
}

template <class D, class V>
HWY_INLINE V Unhidden(D d, V mask, V shown, V hidden) {
  return hn::IfThenElse(hn::Eq(mask, hn::Zero(d)), shown, hidden);
}

// Inputs: x, mask.
struct Scaled : engine::HWY_NAMESPACE::RowwiseFormula<Scaled> {
  static constexpr int kInputs = 2;
  explicit Scaled(const void* parameters) : scale(*static_cast<const float*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V factor = hn::Set(d, scale);
    const V hidden = hn::Set(d, kHidden);
    WriteSoftmax<0, 1>(row,
                       [&](V x, V mask) HWY_ATTR { return Unhidden(d, mask, hn::Mul(x, factor), hidden); });
  }

  float scale;
};

// Inputs: gradient, result, mask.
struct ScaledBackward : engine::HWY_NAMESPACE::RowwiseFormula<ScaledBackward> {
  static constexpr int kInputs = 3;
  explicit ScaledBackward(const void* parameters) : scale(*static_cast<const float*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const typename Row::D d;
    const V factor = hn::Set(d, scale);
    const double total =
        row.template Sum<0, 1>([](auto, V gradient, V y) HWY_ATTR { return hn::Mul(gradient, y); });
    const V sum = hn::Set(d, static_cast<float>(total));
    row.template Write<0, 0, 1, 2>([&](auto, V gradient, V y, V mask) HWY_ATTR {
      return Unhidden(d, mask, hn::Mul(hn::Mul(hn::Sub(gradient, sum), y), factor), hn::Zero(d));
    });
  }

  float scale;
};

// Inputs: x, mask, bias, which are added in this order.
struct Biased : engine::HWY_NAMESPACE::RowwiseFormula<Biased> {
  static constexpr int kInputs = 3;
  explicit Biased(const void* parameters) : scale(*static_cast<const float*>(parameters)) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    const V factor = hn::Set(typename Row::D(), scale);
    WriteSoftmax<0, 1, 2>(
        row, [&](V x, V mask, V bias) HWY_ATTR { return hn::Add(hn::Add(hn::Mul(x, factor), mask), bias); });
  }

  float scale;
};

}  // namespace masked_softmax
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/norm/masked_softmax_functions.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

// The mask is always BOOL.
constexpr auto kScaled = PORTACL_ROWWISE_KERNELS_OF_FLOAT(masked_softmax::Scaled);
constexpr auto kScaledBackward = PORTACL_ROWWISE_KERNELS_OF_FLOAT(masked_softmax::ScaledBackward);
constexpr auto kBiased = PORTACL_ROWWISE_KERNELS(masked_softmax::Biased);

constexpr DtypeSet kMaskDtypes{ACL_BOOL};
constexpr int kRank = 4;

float Scale(const OperatorCall& call) { return static_cast<float>(call.attributes[0].wide); }

// ---- scaled and masked ----
//
// The last three tensors are y of the gradient, mask and the result, or x, mask and the result.

enum Attributes { kScaleOf, kFixTriuMask };

template <int x, int mask>
aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& scores = call.Tensor(x).shape;
  const Shape& hidden = call.Tensor(mask).shape;
  bool fits = hidden[2] == scores[2] && hidden[3] == scores[3];
  for (int dim = 0; dim < 2; ++dim) fits = fits && (hidden[dim] == 1 || hidden[dim] == scores[dim]);
  return fits ? ACL_SUCCESS : RefuseShape(check, call, mask, scores);
}

template <int x>
aclnnStatus RowsAreShort(const Check& check, OperatorCall& call) noexcept {
  const int64_t most = call.product == Product::kAscend950 ? 8192 : 4096;
  const int64_t length = call.Tensor(x).shape[kRank - 1];
  if (length > 0 && length <= most) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, x);
  return FailAclnn(check.code, message.Add(", accepted: a last dim of 1 to ").Add(most).Add("."));
}

template <int x, int mask, int out>
constexpr auto ChecksOfMasked() {
  return List(DtypesIn(kNoneBeforeAtlasA2, {x}), DtypesIn(kMaskDtypes, {mask}), SameDtype(x, out),
              RankIs(kRank, {x, mask, out}), Custom(MaskFits<x, mask>), Custom(RowsAreShort<x>),
              IntegerIn(kFixTriuMask, 0, 0), WithCode(ACLNN_ERR_INNER_TILING_ERROR, SameShape(x, out)),
              SizesRepresentable({out}), DoneIfEmpty({x}));
}

enum Tensors { kX, kMask, kY };
constexpr auto kChecks = Join(
    List(WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kX)), WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kMask)),
         WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kY))),
    ChecksOfMasked<kX, kMask, kY>(), List(InsideStorage({kX, kMask})));

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, int shape) {
  const Shape& view = call.Tensor(shape).shape;
  return engine::RowwiseJobMaker(view, LastAxes(1, view), ACL_FLOAT, call.isa, call.threads);
}

void SetScaled(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, kX);
  for (const int tensor : {kX, kMask}) rows.Input(tensor, call.Tensor(tensor));
  rows.Output(kY, call.Tensor(kY));
  SetRowwiseJob(rows, kScaled, Scale(call), executor);
}

enum Gradients { kGradOutput, kSoftmax, kHiding, kOut };
constexpr auto kBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kSoftmax), NotNull(kHiding), NotNull(kOut)),
         ChecksOfMasked<kGradOutput, kHiding, kOut>(),
         List(SameDtype(kGradOutput, kSoftmax),
              WithCode(ACLNN_ERR_INNER_TILING_ERROR, SameShape(kGradOutput, kSoftmax)),
              InsideStorage({kGradOutput, kSoftmax, kHiding})));

void SetScaledBackward(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, kGradOutput);
  for (const int tensor : {kGradOutput, kSoftmax, kHiding}) rows.Input(tensor, call.Tensor(tensor));
  rows.Output(kOut, call.Tensor(kOut));
  SetRowwiseJob(rows, kScaledBackward, Scale(call), executor);
}

// ---- with a bias of relative positions ----

enum Biases { kScores, kWindowMask, kBias, kResult };

constexpr DtypeRule kBiasedDtypes = ByGeneration(kNoDtype, kFloatHalfAndBf16, kNoDtype)
                                        .On(ProductSet{Product::kAtlasInference}, kFloatAndHalf);
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// Returns the number of planes of a shape [lengths..., S1, S2]: the one length that is not 1. Returns -1
// where several are not, or where S1 and S2 differ from those of the scores.
int64_t Planes(const Shape& shape, const Shape& scores) {
  int64_t planes = 1;
  for (int dim = 0; dim < shape.rank - 2; ++dim) {
    if (shape[dim] != 1 && planes != 1) return -1;
    planes = shape[dim] == 1 ? planes : shape[dim];
  }
  const bool fits = shape.rank >= 2 && shape[shape.rank - 2] == scores[scores.rank - 2] &&
                    shape[shape.rank - 1] == scores[scores.rank - 1];
  return fits ? planes : -1;
}

aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kScores).shape;
  if (Planes(call.Tensor(kBias).shape, x) == x[x.rank - 3]) return ACL_SUCCESS;
  return RefuseShape(check, call, kBias, Shape{x[x.rank - 3], x[x.rank - 2], x[x.rank - 1]});
}
// Checks that windows are a dim of x, or divide its first one.
aclnnStatus WindowsFit(const Check& check, OperatorCall& call) noexcept {
  if (!call.IsGiven(kWindowMask)) return ACL_SUCCESS;
  const Shape& x = call.Tensor(kScores).shape;
  const int64_t windows = Planes(call.Tensor(kWindowMask).shape, x);
  const bool fits = windows > 0 && (x.rank == 5 ? x[1] == windows : x[0] % windows == 0);
  if (fits) return ACL_SUCCESS;
  return RefuseShape(check, call, kWindowMask,
                     Shape{x.rank == 5 ? x[1] : x[0], x[x.rank - 2], x[x.rank - 1]});
}

bool IsMasked(const OperatorCall& call) noexcept { return call.IsGiven(kWindowMask); }

constexpr Check kBiasedChecks[] = {
    NotNull(kScores),
    NotNull(kBias),
    NotNull(kResult),
    DtypesIn(kBiasedDtypes, {kScores}),
    If(IsMasked, SameDtype(kScores, kWindowMask)),
    SameDtype(kScores, kBias),
    SameDtype(kScores, kResult),
    WithCode(kTiling, RankAtLeast(4, {kScores})),
    WithCode(kTiling, RankAtMost(5, {kScores})),
    WithCode(kTiling, SameShape(kScores, kResult)),
    WithCode(kTiling, RankAtMost(8, {kWindowMask, kBias})),
    SizesRepresentable({kResult}),
    DoneIfEmpty({kScores}),
    Custom(WindowsFit, kTiling),
    Custom(BiasFits, kTiling),
    InsideStorage({kScores, kWindowMask, kBias}),
};

// Views a tensor's planes as [planes, S1, S2].
StridedView OfPlanes(const OperatorCall& call, int tensor) {
  StridedView view = PlainView(call.Tensor(tensor));
  for (int dim = view.shape.rank - 3; dim >= 0; --dim) {
    if (view.shape.rank > 3 && view.shape[dim] == 1) Select(view, dim, 0);
  }
  if (view.shape.rank == 2) InsertDim(view, 0, 1, 0);
  return view;
}

void SetBiased(const OperatorCall& call, Executor& executor) {
  const int64_t windows = IsMasked(call) ? OfPlanes(call, kWindowMask).shape[0] : 1;
  const auto by_windows = [&](int tensor) {
    StridedView view = PlainView(call.Tensor(tensor));
    if (view.shape.rank == 4) SplitDim(view, 0, windows);
    return view;
  };
  const StridedView scores = by_windows(kScores);
  engine::RowwiseJobMaker rows(scores.shape, LastAxes(1, scores.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kScores, scores);
  if (IsMasked(call)) {
    StridedView mask = OfPlanes(call, kWindowMask);
    InsertDim(mask, 1, 1, 0);
    rows.Input(kWindowMask, mask);
  } else {
    rows.ConstantInput(-0.0);  // -0 leaves any sum unchanged, even -0
  }
  rows.Input(kBias, OfPlanes(call, kBias));
  rows.Output(kResult, by_windows(kResult));
  SetRowwiseJob(rows, kBiased, Scale(call), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnScaledMaskedSoftmax) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetScaled);
}

PORTACL_PHASE_1(aclnnScaledMaskedSoftmaxBackward) {
  return RunPhase1(call, kBackwardChecks, workspaceSize, executor, SetScaledBackward);
}

PORTACL_PHASE_1(aclnnMaskedSoftmaxWithRelPosBias) {
  return RunPhase1(call, kBiasedChecks, workspaceSize, executor, SetBiased);
}

#endif  // HWY_ONCE
