// Average pools over images and volumes, and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/avg_pool_functions.h"

#include <algorithm>

#include "aclnnop/phase1.h"
#include "aclnnop/pooling/pool_windows.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum GradientTensors { kGradOutput, kGradSelf, kGradInput };
enum Attributes { kKernel, kStride, kPadding, kCeil, kCountsPadding, kDivisor, kMathType };

constexpr WindowRules kFlat{};
constexpr WindowRules kDeep{.axes = 3};

constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

engine::Pool PoolOf(const OperatorCall& call, const WindowRules& rules, engine::PoolKind kind,
                    const StridedView& pooled, const StridedView& windows) {
  engine::Pool pool;
  pool.kind = kind;
  const int64_t divisor = call.attributes[kDivisor].integer;
  pool.divisor = divisor != 0                                   ? engine::PoolDivisor::kGiven
                 : call.attributes[kCountsPadding].integer != 0 ? engine::PoolDivisor::kWithPadding
                                                                : engine::PoolDivisor::kElements;
  pool.given_divisor = divisor;
  SetAxes(call, rules, pooled, windows, pool);
  return pool;
}

void SetMean(const OperatorCall& call, const WindowRules& rules, Executor& executor) {
  const StridedView self = PoolView(call.Tensor(kSelf), rules.axes);
  const StridedView out = PoolView(call.Tensor(kOut), rules.axes);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, PoolOf(call, rules, engine::PoolKind::kMean, self, out),
                               {&self, kSelf, &out, kOut}, call.isa, call.threads);
  });
}

void SetGradient(const OperatorCall& call, const WindowRules& rules, Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(kGradOutput), rules.axes);
  const StridedView result = PoolView(call.Tensor(kGradInput), rules.axes);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor,
                               PoolOf(call, rules, engine::PoolKind::kMeanGradient, result, gradient),
                               {&gradient, kGradOutput, &result, kGradInput}, call.isa, call.threads);
  });
}

// ---- images ----

// Refuses modes in which the NPU's matrix units cannot compute float32 exactly.
aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t mode = call.attributes[kMathType].integer;
  if (mode < 0 || mode > 4) return RefuseInteger(check, call, "cubeMathType", mode, 0, 4);
  const aclTensor& self = call.Tensor(kSelf);
  if (self.dtype != ACL_FLOAT) return ACL_SUCCESS;
  if (products::kBeforeAtlasA2.Contains(call.product)) {
    if (mode != 0 && mode != 3) return ACL_SUCCESS;
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter cubeMathType has the value ")
                                     .Add(mode)
                                     .Add(" with self of FLOAT, accepted: 1, 2 or 4."));
  }
  if (!products::kAtlasA2AndA3.Contains(call.product) || mode == 0 || mode == 2) return ACL_SUCCESS;
  const Shape& shape = self.shape;
  const int64_t rows = shape[shape.rank - 2];
  const int64_t columns = shape[shape.rank - 1];
  const int64_t kernel[2] = {WindowValue(call, kKernel, 0, 1), WindowValue(call, kKernel, 1, 1)};
  const bool is_padded = WindowValue(call, kPadding, 0, 0) != 0 || WindowValue(call, kPadding, 1, 0) != 0;
  const bool is_whole = !is_padded && kernel[0] == rows && kernel[1] == columns;
  const int64_t most = std::max(kernel[0], kernel[1]);
  const int64_t divisor = call.attributes[kDivisor].integer;
  const bool is_small = call.attributes[kCeil].integer == 0 && std::max(columns / rows, rows / columns) < 2 &&
                        shape[shape.rank - 3] < 65536 && most <= 255 &&
                        (kernel[0] * kernel[1] <= 255 || most <= 20) && divisor >= -255 && divisor <= 255;
  if (!is_whole && !is_small) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call)
                       .Add("parameter cubeMathType has the value ")
                       .Add(mode)
                       .Add(" with self of FLOAT and windows that vectors compute, accepted: 0 or 2."));
}

aclnnStatus KernelHasValues(const Check& check, OperatorCall& call) noexcept {
  if (!call.Array(kKernel).empty()) return ACL_SUCCESS;
  return RefuseArray(check, call, kKernel, " has no values", "1 or 2");
}

aclnnStatus PaddingInKernel(const Check& check, OperatorCall& call) noexcept {
  for (int axis = 0; axis < 2; ++axis) {
    if (2 * WindowValue(call, kPadding, axis, 0) > WindowValue(call, kKernel, axis, 1))
      return RefuseArray(check, call, kPadding, " is more than half of the kernel", "at most half of it");
  }
  return ACL_SUCCESS;
}

constexpr Check kAvgPool2dChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kKernel),
    ArrayNotNull(kStride),
    ArrayNotNull(kPadding),
    NotNull(kOut),
    DtypesIn(kDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    FormatOfImages({kSelf, kOut}),
    ValuesFrom(kKernel, 1),
    ValuesFrom(kStride, 1),
    ValuesFrom(kPadding, 0),
    DoneIfEmpty({kSelf}),
    RankAtLeast(3, {kSelf}),
    RankAtMost(4, {kSelf}),
    Custom(KernelHasValues),
    CountIn(kPadding, {1, 2}),
    CountIn(kStride, {0, 1, 2}),
    Custom(PaddingInKernel),
    SizesRepresentable({kOut}),
    IsPooled<kFlat, kSelf, kOut>(),
    Custom(ModeFits),
    PlanesFit({kSelf}, 2),
    InsideStorage({kSelf}),
};

constexpr Check kAvgPool2dBackwardChecks[] = {
    NotNull(kGradOutput),  // in CANN's order
    NotNull(kGradSelf),
    ArrayNotNull(kKernel),
    ArrayNotNull(kPadding),
    NotNull(kGradInput),
    ValuesFrom(kKernel, 1),
    ValuesFrom(kStride, 1),
    CountIn(kStride, {0, 1, 2}),
    DtypesIn(kDtypes, {kGradOutput, kGradSelf}),
    SameDtype(kGradOutput, kGradInput),
    FormatOfImages({kGradOutput, kGradInput}),
    RankAtLeast(3, {kGradOutput}),
    RankAtMost(4, {kGradOutput}),
    SameRank(kGradOutput, kGradInput),
    CountIn(kKernel, {1, 2}),
    CountIn(kPadding, {1, 2}),
    ValuesFrom(kPadding, 0),
    HalfOf(kPadding, kKernel, 2),
    IntegerIn(kMathType, 0, 3),
    SizesRepresentable({kGradInput}),
    SameShape(kGradSelf, kGradInput),
    DoneIfEmpty({kGradOutput, kGradSelf}),
    SameBatch(kGradInput, kGradOutput, ACLNN_ERR_INNER_NULLPTR),
    PlanesFit({kGradOutput, kGradInput}, 2),
    InsideStorage({kGradOutput, kGradSelf}),
};

void SetAvgPool2d(const OperatorCall& call, Executor& executor) { SetMean(call, kFlat, executor); }
void SetAvgPool2dBackward(const OperatorCall& call, Executor& executor) {
  SetGradient(call, kFlat, executor);
}

// ---- volumes ----

constexpr auto kDeepWindows = List(CountIn(kKernel, {1, 3}), CountIn(kStride, {0, 1, 3}),
                                   CountIn(kPadding, {1, 3}), ValuesFrom(kKernel, 1), ValuesFrom(kStride, 1),
                                   ValuesFrom(kPadding, 0), HalfOf(kPadding, kKernel, 3));

template <int kPooled>
aclnnStatus KernelInInput(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kPooled).shape;
  for (int axis = 0; axis < 3; ++axis) {
    if (WindowValue(call, kKernel, axis, 1) > shape[shape.rank - 3 + axis])
      return RefuseArray(check, call, kKernel, " is larger than the input",
                         "at most the input's last three dims");
  }
  return ACL_SUCCESS;
}

constexpr auto kAvgPool3dChecks = Join(
    List(NotNull(kSelf), ArrayNotNull(kKernel), ArrayNotNull(kStride), ArrayNotNull(kPadding),
         NotNull(kOut),  // in CANN's order
         DtypesIn(kDtypes, {kSelf}), SameDtype(kSelf, kOut), NotPrivate({kSelf}), SameFormat({kSelf, kOut}),
         DoneIfEmpty({kSelf}), RankAtLeast(4, {kSelf}), RankAtMost(5, {kSelf})),
    kDeepWindows,
    List(Custom(KernelInInput<kSelf>), SizesRepresentable({kOut}), IsPooled<kDeep, kSelf, kOut>(),
         PlanesFit({kSelf}, 3), InsideStorage({kSelf})));

constexpr auto kAvgPool3dBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kGradSelf), ArrayNotNull(kKernel), ArrayNotNull(kStride),
              ArrayNotNull(kPadding), NotNull(kGradInput),  // in CANN's order
              DtypesIn(kDtypes, {kGradOutput}), SameDtype(kGradOutput, kGradSelf),
              SameDtype(kGradOutput, kGradInput), NotPrivate({kGradSelf}),
              SameFormat({kGradSelf, kGradOutput, kGradInput}), RankAtLeast(4, {kGradSelf}),
              RankAtMost(5, {kGradSelf})),
         kDeepWindows,
         List(SameShape(kGradSelf, kGradInput), ImageNotEmpty(kGradSelf, 3), Custom(KernelInInput<kGradSelf>),
              SizesRepresentable({kGradInput}), IsPooled<kDeep, kGradSelf, kGradOutput>(),
              DoneIfEmpty({kGradSelf}), PlanesFit({kGradSelf}, 3), InsideStorage({kGradOutput, kGradSelf})));

void SetAvgPool3d(const OperatorCall& call, Executor& executor) { SetMean(call, kDeep, executor); }
void SetAvgPool3dBackward(const OperatorCall& call, Executor& executor) {
  SetGradient(call, kDeep, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAvgPool2d) {
  return RunPhase1(call, kAvgPool2dChecks, workspaceSize, executor, SetAvgPool2d);
}

PORTACL_PHASE_1(aclnnAvgPool2dBackward) {
  return RunPhase1(call, kAvgPool2dBackwardChecks, workspaceSize, executor, SetAvgPool2dBackward);
}

PORTACL_PHASE_1(aclnnAvgPool3d) {
  return RunPhase1(call, kAvgPool3dChecks, workspaceSize, executor, SetAvgPool3d);
}

PORTACL_PHASE_1(aclnnAvgPool3dBackward) {
  return RunPhase1(call, kAvgPool3dBackwardChecks, workspaceSize, executor, SetAvgPool3dBackward);
}
