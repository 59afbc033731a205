// Adaptive pools, whose windows divide an image evenly: means, maxima and the gradients of both.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/adaptive_pool_functions.h"

#include "aclnnop/phase1.h"
#include "aclnnop/pooling/max_gradient.h"
#include "aclnnop/pooling/pool_windows.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kIndices };
enum MeanGradientTensors { kGradOutput, kGradSelf, kGradOut };
enum MaxGradientTensors { kMaxGradOutput, kMaxGradSelf, kMaxGradIndices, kGradInput };
enum Attributes { kOutputSize };

constexpr DtypeRule kMeanDtypes = kBf16SinceAtlasA2;
constexpr DtypeRule kMaxDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
constexpr DtypeRule kMaxGradientDtypes = kNoneBeforeAtlasA2;

// ---- means ----

constexpr Check kMeanChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    RankAtLeast(3, {kSelf}),
    RankAtMost(4, {kSelf}),
    SameRank(kSelf, kOut),
    SameBatch(kSelf, kOut),
    DtypesIn(kMeanDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    FormatOfImages({kSelf, kOut}),
    CountIn(kOutputSize, {2}),
    OnProducts(~products::kAscend950, ValuesFrom(kOutputSize, 1)),
    OnProducts(products::kAscend950, ValuesFrom(kOutputSize, 0)),
    SizeIsOut(kOutputSize, kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    PlanesFit({kSelf, kOut}, 2),
    InsideStorage({kSelf}),
};

constexpr Check kMeanGradientChecks[] = {
    NotNull(kGradOutput),  // in CANN's order
    NotNull(kGradSelf),
    NotNull(kGradOut),
    RankAtLeast(3, {kGradSelf}),
    RankAtMost(4, {kGradSelf}),
    SameRank(kGradSelf, kGradOutput),
    SameRank(kGradSelf, kGradOut),
    SameBatch(kGradSelf, kGradOutput),
    SameBatch(kGradSelf, kGradOut),
    DtypesIn(kMeanDtypes, {kGradOutput}),
    SameDtype(kGradOutput, kGradSelf),
    NotPrivate({kGradOutput}),
    SameFormat({kGradOutput, kGradSelf}),
    SizesRepresentable({kGradOut}),
    DoneIfEmpty({kGradOutput, kGradSelf}),
    WithCode(ACLNN_ERR_INNER_NULLPTR, SameShape(kGradSelf, kGradOut)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kGradSelf, kGradOut)),
    PlanesFit({kGradOutput, kGradSelf}, 2),
    InsideStorage({kGradOutput, kGradSelf}),
};

void SetMean(const OperatorCall& call, Executor& executor) {
  const StridedView self = PoolView(call.Tensor(kSelf), 2);
  const StridedView out = PoolView(call.Tensor(kOut), 2);
  engine::Pool pool;
  pool.kind = engine::PoolKind::kMean;
  SetAdaptiveAxes(self, out, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut}, call.isa, call.threads);
  });
}

void SetMeanGradient(const OperatorCall& call, Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(kGradOutput), 2);
  const StridedView result = PoolView(call.Tensor(kGradOut), 2);
  engine::Pool pool;
  pool.kind = engine::PoolKind::kMeanGradient;
  SetAdaptiveAxes(result, gradient, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&gradient, kGradOutput, &result, kGradOut}, call.isa,
                               call.threads);
  });
}

// ---- maxima ----

// Tells whether self's format puts channels last. CANN then transposes self and the results.
bool HasChannelsLast(const OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  return self.format == ACL_FORMAT_NHWC && self.shape.rank == 4;
}
bool HasPlanesLast(const OperatorCall& call) noexcept { return !HasChannelsLast(call); }

// CANN computes the result and then reshapes it, so only the number of elements has to fit.
aclnnStatus HasElementsOfResult(const Check& check, OperatorCall& call) noexcept {
  Shape accepted = call.Tensor(kSelf).shape;
  const int plane = HasChannelsLast(call) ? 1 : accepted.rank - 2;
  for (int axis = 0; axis < 2; ++axis)
    accepted.dim[plane + axis] = call.Array(kOutputSize)[static_cast<size_t>(axis)];
  int64_t numel = 0;
  if (accepted.Numel(&numel) && numel == call.Tensor(kOut).numel) {
    call.broadcast = accepted;
    return ACL_SUCCESS;
  }
  return RefuseShape(check, call, kOut, accepted);
}

// A tensor that is not contiguous cannot be reshaped.
aclnnStatus KeepsShape(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kOut, kIndices}) {
    if (call.Tensor(tensor).shape == call.broadcast || IsContiguous(call.Tensor(tensor))) continue;
    return RefuseShape(check, call, tensor, call.broadcast);
  }
  return ACL_SUCCESS;
}

constexpr Check kMaxChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    NotNull(kIndices),
    DtypesIn(kMaxDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    DtypesIn(DtypeSet{ACL_INT64}, {kIndices}),
    RankAtLeast(3, {kSelf}),
    RankAtMost(4, {kSelf}),
    SameShape(kOut, kIndices),
    CountIn(kOutputSize, {2}),
    ValuesFrom(kOutputSize, 1),
    ImageNotEmpty(kSelf, 2),
    SizesRepresentable({kOut, kIndices}),
    DoneIfEmpty({kSelf}),
    Custom(HasElementsOfResult, ACLNN_ERR_INNER_NULLPTR),
    Custom(KeepsShape, ACLNN_ERR_INNER_NULLPTR),
    If(HasPlanesLast, PlanesFit({kSelf}, 2)),
    If(HasChannelsLast, PlanesFit({kSelf}, 2, /*behind=*/1)),
    InsideStorage({kSelf}),
};

constexpr Check kMaxGradientChecks[] = {
    NotNull(kMaxGradOutput),  // in CANN's order
    NotNull(kMaxGradSelf),
    NotNull(kMaxGradIndices),
    NotNull(kGradInput),
    DtypesIn(kMaxGradientDtypes, {kMaxGradOutput}),
    SameDtype(kMaxGradOutput, kMaxGradSelf),
    SameDtype(kMaxGradOutput, kGradInput),
    DtypesIn(DtypeSet{ACL_INT32, ACL_INT64}, {kMaxGradIndices}),
    RankAtLeast(3, {kMaxGradSelf}),
    RankAtMost(4, {kMaxGradSelf}),
    SameShape(kMaxGradOutput, kMaxGradIndices),
    SameShape(kMaxGradSelf, kGradInput),
    OnProducts(~products::kAscend950, WithCode(ACLNN_ERR_PARAM_INVALID, PlanesFit({kMaxGradSelf}, 2))),
    SameFormat({kMaxGradSelf, kMaxGradOutput, kMaxGradIndices, kGradInput}),
    NotPrivate({kMaxGradSelf, kMaxGradOutput, kMaxGradIndices, kGradInput}),
    SameRank(kMaxGradSelf, kMaxGradOutput),
    SameBatch(kMaxGradSelf, kMaxGradOutput),
    SizesRepresentable({kGradInput}),
    DoneIfEmpty({kMaxGradSelf, kMaxGradOutput}),
    PlanesFit({kMaxGradSelf}, 2),
    InsideStorage({kMaxGradOutput, kMaxGradSelf, kMaxGradIndices}),
};

void SetMaxima(const OperatorCall& call, Executor& executor) {
  const auto seen = [&](const StridedView& images) { return PlanesOf(images, HasChannelsLast(call)); };
  const auto shaped = [&](int tensor) {
    StridedView given = call.Tensor(tensor);
    if (!(given.shape == call.broadcast)) {
      given.shape = call.broadcast;
      given.strides = RowMajorStrides(call.broadcast);
    }
    return seen(given);
  };
  const StridedView self = seen(call.Tensor(kSelf));
  const StridedView out = shaped(kOut);
  const StridedView indices = shaped(kIndices);
  engine::Pool pool;
  SetAdaptiveAxes(self, out, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut, &indices, kIndices}, call.isa,
                               call.threads);
  });
}

void SetMaximaGradient(const OperatorCall& call, Executor& executor) {
  SetMaxGradient(call, {kMaxGradOutput, kMaxGradIndices, kGradInput, 2},
                 PoolView(call.Tensor(kMaxGradIndices), 2), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdaptiveAvgPool2d) {
  return RunPhase1(call, kMeanChecks, workspaceSize, executor, SetMean);
}

PORTACL_PHASE_1(aclnnAdaptiveAvgPool2dBackward) {
  return RunPhase1(call, kMeanGradientChecks, workspaceSize, executor, SetMeanGradient);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool2d) {
  return RunPhase1(call, kMaxChecks, workspaceSize, executor, SetMaxima);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool2dBackward) {
  return RunPhase1(call, kMaxGradientChecks, workspaceSize, executor, SetMaximaGradient);
}
