// Adaptive pools, whose windows divide an image or a volume evenly: means, maxima and the gradients of both.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/adaptive_pool_functions.h"

#include "aclnnop/phase1.h"
#include "aclnnop/pooling/max_gradient.h"
#include "aclnnop/pooling/pool_windows.h"
#include "base/data_type.h"
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

// Makes a check of three dims.
constexpr Check OfVolume(aclnnStatus (*run)(const Check&, OperatorCall&) noexcept, int tensor,
                         int first_dim = 0) {
  Check check = Custom(run);
  check.operands = {tensor};
  check.low = first_dim;
  return check;
}

// Refuses a tensor with a dim of 0, from the first dim of the check on.
aclnnStatus DimsArePositive(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Shape& shape = call.Tensor(tensor).shape;
  for (int dim = static_cast<int>(check.low); dim < shape.rank; ++dim) {
    if (shape[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code,
                     message.Add(" has a dim of 0, accepted: ")
                         .Add(check.low == 0 ? "at least 1 each." : "a batch of 0, no other dim."));
  }
  return ACL_SUCCESS;
}
constexpr Check AllDimsPositive(int tensor) { return OfVolume(DimsArePositive, tensor); }
constexpr Check DimsOfImagePositive(int tensor) { return OfVolume(DimsArePositive, tensor, 1); }

// Refuses a tensor whose last three dims have a 0.
aclnnStatus VolumeIsPositive(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Shape& shape = call.Tensor(tensor).shape;
  for (int dim = shape.rank - 3; dim < shape.rank; ++dim) {
    if (shape[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" has no windows along a dim, accepted: at least 1 each."));
  }
  return ACL_SUCCESS;
}
constexpr Check HasWindows(int tensor) { return OfVolume(VolumeIsPositive, tensor); }

// Refuses a format that is not NCDHW, NCHW or, where the check's number is not 0, ND.
aclnnStatus VolumeFormat(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const aclFormat format = call.Tensor(tensor).format;
  if (format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NCHW || (check.low != 0 && format == ACL_FORMAT_ND))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  message.Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
  AddFormatName(message, format);
  return FailAclnn(check.code, message.Add(check.low != 0 ? ", accepted: NCDHW, NCHW or ND."
                                                          : ", accepted: NCDHW or NCHW."));
}
constexpr Check IsVolumeFormat(int tensor, bool takes_nd) {
  return OfVolume(VolumeFormat, tensor, takes_nd ? 1 : 0);
}

constexpr Check kMean3dChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    RankAtLeast(4, {kSelf}),
    RankAtMost(5, {kSelf}),
    SameRank(kSelf, kOut),
    OnProducts(~products::kAscend950, AllDimsPositive(kSelf)),
    OnProducts(products::kAscend950, DimsOfImagePositive(kSelf)),
    SameBatch(kSelf, kOut, ACLNN_ERR_PARAM_INVALID, 3),
    HasWindows(kOut),
    DtypesIn(kMeanDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    SameFormat({kSelf, kOut}),
    OnProducts(~products::kAscend950, NotPrivate({kSelf})),
    OnProducts(products::kAscend950, IsVolumeFormat(kSelf, true)),
    CountIn(kOutputSize, {3}),
    ValuesFrom(kOutputSize, 1),
    SizeIsOut(kOutputSize, kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    PlanesFit({kSelf, kOut}, 3),
    InsideStorage({kSelf}),
};

// Refuses windows that are not the whole volume, where CANN has no kernel for them.
aclnnStatus OneWindow(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kGradOutput).shape;
  for (int dim = shape.rank - 3; dim < shape.rank; ++dim) {
    if (shape[dim] == 1) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kGradOutput);
    return FailAclnn(check.code, message.Add(" has more than one window, accepted on this product: one."));
  }
  return ACL_SUCCESS;
}

constexpr Check kMean3dGradientChecks[] = {
    NotNull(kGradOutput),  // in CANN's order
    NotNull(kGradSelf),
    NotNull(kGradOut),
    RankAtLeast(4, {kGradSelf}),
    RankAtMost(5, {kGradSelf}),
    SameRank(kGradSelf, kGradOutput),
    SameRank(kGradSelf, kGradOut),
    OnProducts(~products::kAscend950, AllDimsPositive(kGradSelf)),
    OnProducts(products::kAscend950, DimsOfImagePositive(kGradSelf)),
    SameShape(kGradSelf, kGradOut),
    SameBatch(kGradSelf, kGradOutput, ACLNN_ERR_PARAM_INVALID, 3),
    HasWindows(kGradOutput),
    DtypesIn(kMeanDtypes, {kGradOutput}),
    SameDtype(kGradOutput, kGradSelf),
    SameDtype(kGradOutput, kGradOut),
    OnProducts(products::kBeforeAtlasA2, Custom(OneWindow)),
    SameFormat({kGradOutput, kGradSelf, kGradOut}),
    NotPrivate({kGradOutput}),
    SizesRepresentable({kGradOut}),
    DoneIfEmpty({kGradOutput, kGradSelf}),
    PlanesFit({kGradOutput, kGradSelf}, 3),
    InsideStorage({kGradOutput, kGradSelf}),
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

template <int kAxes>
void SetMean(const OperatorCall& call, Executor& executor) {
  const StridedView self = PoolView(call.Tensor(kSelf), kAxes);
  const StridedView out = PoolView(call.Tensor(kOut), kAxes);
  engine::Pool pool;
  pool.kind = engine::PoolKind::kMean;
  SetAdaptiveAxes(self, out, kAxes, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut}, call.isa, call.threads);
  });
}

template <int kAxes>
void SetMeanGradient(const OperatorCall& call, Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(kGradOutput), kAxes);
  const StridedView result = PoolView(call.Tensor(kGradOut), kAxes);
  engine::Pool pool;
  pool.kind = engine::PoolKind::kMeanGradient;
  SetAdaptiveAxes(result, gradient, kAxes, pool);
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

constexpr DtypeRule kMax3dIndices =
    Everywhere(DtypeSet{ACL_INT32}).On(products::kAscend950, DtypeSet{ACL_INT32, ACL_INT64});

constexpr Check kMax3dChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    NotNull(kIndices),
    RankAtLeast(4, {kSelf}),
    RankAtMost(5, {kSelf}),
    RankAtLeast(4, {kOut}),
    RankAtMost(5, {kOut}),
    RankAtLeast(4, {kIndices}),
    RankAtMost(5, {kIndices}),
    SameRank(kSelf, kOut),
    SameRank(kSelf, kIndices),
    DtypesIn(kMaxGradientDtypes, {kSelf, kOut}),
    DtypesIn(kMax3dIndices, {kIndices}),
    OnProducts(~products::kAscend950, IsVolumeFormat(kSelf, false)),
    OnProducts(products::kAscend950, IsVolumeFormat(kSelf, true)),
    SameFormat({kSelf, kOut}),
    CountIn(kOutputSize, {3}),
    SameBatch(kSelf, kOut, ACLNN_ERR_PARAM_INVALID, 3),
    SizeIsOut(kOutputSize, kOut),
    SameShape(kOut, kIndices),
    SameDtype(kSelf, kOut),
    DimsOfImagePositive(kSelf),
    WithCode(ACLNN_ERR_PARAM_INVALID, PlanesFit({kSelf}, 3)),
    ValuesFrom(kOutputSize, 1),
    SizesRepresentable({kOut, kIndices}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

constexpr Check kMax3dGradientChecks[] = {
    NotNull(kMaxGradOutput),  // in CANN's order
    NotNull(kMaxGradSelf),
    NotNull(kMaxGradIndices),
    NotNull(kGradInput),
    DtypesIn(kMaxGradientDtypes, {kMaxGradOutput}),
    SameDtype(kMaxGradOutput, kMaxGradSelf),
    SameDtype(kMaxGradOutput, kGradInput),
    DtypesIn(DtypeSet{ACL_INT32, ACL_INT64}, {kMaxGradIndices}),
    SameShape(kMaxGradOutput, kMaxGradIndices),
    SameShape(kMaxGradSelf, kGradInput),
    RankAtLeast(4, {kMaxGradSelf}),
    RankAtMost(5, {kMaxGradSelf}),
    OnProducts(~products::kAscend950, WithCode(ACLNN_ERR_PARAM_INVALID, PlanesFit({kMaxGradSelf}, 3))),
    SameFormat({kMaxGradSelf, kMaxGradOutput, kMaxGradIndices, kGradInput}),
    NotPrivate({kMaxGradSelf, kMaxGradOutput, kMaxGradIndices, kGradInput}),
    DtypesIn(kMax3dIndices, {kMaxGradIndices}),
    SameRank(kMaxGradSelf, kMaxGradOutput),
    SameBatch(kMaxGradSelf, kMaxGradOutput, ACLNN_ERR_PARAM_INVALID, 3),
    SizesRepresentable({kGradInput}),
    DoneIfEmpty({kMaxGradSelf, kMaxGradOutput}),
    PlanesFit({kMaxGradSelf}, 3),
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
  SetAdaptiveAxes(self, out, 2, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut, &indices, kIndices}, call.isa,
                               call.threads);
  });
}

void SetMaxima3d(const OperatorCall& call, Executor& executor) {
  const StridedView self = PoolView(call.Tensor(kSelf), 3);
  const StridedView out = PoolView(call.Tensor(kOut), 3);
  const StridedView indices = PoolView(call.Tensor(kIndices), 3);
  engine::Pool pool;
  SetAdaptiveAxes(self, out, 3, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut, &indices, kIndices}, call.isa,
                               call.threads);
  });
}

template <int kAxes>
void SetMaximaGradient(const OperatorCall& call, Executor& executor) {
  SetMaxGradient(call, {kMaxGradOutput, kMaxGradIndices, kGradInput, kAxes},
                 PoolView(call.Tensor(kMaxGradIndices), kAxes), executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdaptiveAvgPool2d) {
  return RunPhase1(call, kMeanChecks, workspaceSize, executor, SetMean<2>);
}

PORTACL_PHASE_1(aclnnAdaptiveAvgPool2dBackward) {
  return RunPhase1(call, kMeanGradientChecks, workspaceSize, executor, SetMeanGradient<2>);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool2d) {
  return RunPhase1(call, kMaxChecks, workspaceSize, executor, SetMaxima);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool2dBackward) {
  return RunPhase1(call, kMaxGradientChecks, workspaceSize, executor, SetMaximaGradient<2>);
}

PORTACL_PHASE_1(aclnnAdaptiveAvgPool3d) {
  return RunPhase1(call, kMean3dChecks, workspaceSize, executor, SetMean<3>);
}

PORTACL_PHASE_1(aclnnAdaptiveAvgPool3dBackward) {
  return RunPhase1(call, kMean3dGradientChecks, workspaceSize, executor, SetMeanGradient<3>);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool3d) {
  return RunPhase1(call, kMax3dChecks, workspaceSize, executor, SetMaxima3d);
}

PORTACL_PHASE_1(aclnnAdaptiveMaxPool3dBackward) {
  return RunPhase1(call, kMax3dGradientChecks, workspaceSize, executor, SetMaximaGradient<3>);
}
