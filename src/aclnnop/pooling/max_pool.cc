// Max pools: alone, or with the positions of the maxima, as indices or in the tensor that CANN calls a mask;
// and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/max_pool_functions.h"

#include <algorithm>

#include "aclnnop/phase1.h"
#include "aclnnop/pooling/max_gradient.h"
#include "aclnnop/pooling/pool_windows.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut, kIndices };
enum GradientTensors { kGradOutput, kGradSelf, kGradIndices, kGradInput };
enum Attributes { kKernel, kStride, kPadding, kDilation, kCeil };
enum MaxPoolAttributes { kPoolKernel, kPoolStrides, kAutoPad, kPoolPads, kPoolDilations, kPoolCeil };

constexpr WindowRules kFlat{.dilation = kDilation, .ceil = kCeil};
constexpr WindowRules kDeep{.axes = 3, .dilation = kDilation, .ceil = kCeil};
constexpr WindowRules kAlone{.kernel = kPoolKernel,
                             .stride = kPoolStrides,
                             .padding = kPoolPads,
                             .dilation = kPoolDilations,
                             .ceil = kPoolCeil,
                             .steps_by_one = true};

constexpr DtypeSet kIntegersOf950{ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16};
constexpr DtypeRule kAloneDtypes =
    ByGeneration(DtypeSet{ACL_FLOAT16}, kFloatAndHalf, kFloatHalfAndBf16 | kIntegersOf950);
constexpr DtypeRule kMaskDtypes = ByGeneration(kFloatAndHalf, kFloatHalfAndBf16, DtypeSet{})
                                      .On(ProductSet{Product::kAtlasInference}, DtypeSet{ACL_FLOAT});
constexpr DtypeRule kIndicesDtypes = kNoneBeforeAtlasA2;
constexpr DtypeRule kIndicesGradientDtypes = ByGeneration({}, DtypeSet{ACL_FLOAT}, kFloatHalfAndBf16);
constexpr DtypeRule kIndexDtypes = SinceAtlasA2(DtypeSet{ACL_INT32, ACL_INT64});
constexpr DtypeSet kIndicesOrMask{ACL_INT32, ACL_INT8};
constexpr DtypeRule kIndicesOfGradient = ByGeneration({}, kIndicesOrMask, DtypeSet{ACL_INT32, ACL_INT64});
constexpr DtypeRule kDeepIndices = ByGeneration({}, DtypeSet{ACL_INT32}, DtypeSet{ACL_INT32, ACL_INT64});

// ---- MaxPool ----

aclnnStatus PadsFit(const Check& check, OperatorCall& call) noexcept {
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t sum = WindowValue(call, kPoolPads, axis, 0) + WindowValue(call, kPoolPads, axis, 0, true);
    if (sum > WindowValue(call, kPoolKernel, axis, 1))
      return RefuseArray(check, call, kPoolPads, " has more on both sides of an axis than the kernel spans",
                         "a sum of at most the kernel's");
  }
  return ACL_SUCCESS;
}

constexpr Check kMaxPoolChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kPoolKernel),
    ArrayNotNull(kPoolStrides),
    ArrayNotNull(kPoolPads),
    ArrayNotNull(kPoolDilations),
    NotNull(kOut),
    DtypesIn(kAloneDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    SameFormat({kSelf, kOut}),
    RankAtLeast(3, {kSelf}),
    RankAtMost(4, {kSelf}),
    CountIn(kPoolKernel, {1, 2}),
    CountIn(kPoolStrides, {0, 1, 2}),
    ValuesFrom(kPoolKernel, 1),
    ValuesFrom(kPoolStrides, 1),
    CountIn(kPoolPads, {0, 1, 2, 4}),
    ValuesFrom(kPoolPads, 0),
    CountIn(kPoolDilations, {0, 1, 2, 4}),
    ValuesAre1(kPoolDilations),
    IntegerIn(kAutoPad, 0, 0),
    Custom(PadsFit),
    SizesRepresentable({kOut}),
    ImageNotEmpty(kSelf, 2),
    IsPooled<kAlone, kSelf, kOut>(),
    DoneIfEmpty({kSelf}),
    PlanesFit({kSelf}, 2),
    InsideStorage({kSelf}),
};

void SetMaxima(const OperatorCall& call, Executor& executor, const WindowRules& rules,
               const StridedView* indices, int indices_operand, bool channels_last = false) {
  const auto seen = [&](int tensor) {
    return channels_last ? PlanesOf(call.Tensor(tensor), true) : PoolView(call.Tensor(tensor), rules.axes);
  };
  const StridedView self = seen(kSelf);
  const StridedView out = seen(kOut);
  engine::Pool pool;
  SetAxes(call, rules, self, out, pool);
  executor.SetJob([&] {
    return engine::MakePoolJob(executor, pool, {&self, kSelf, &out, kOut, indices, indices_operand}, call.isa,
                               call.threads);
  });
}

void SetMaxPool(const OperatorCall& call, Executor& executor) {
  SetMaxima(call, executor, kAlone, nullptr, -1);
}

// ---- with a mask ----

// Tells whether windows have one element. They need no indices: the maximum is at the window's position.
bool IsOneElement(const OperatorCall& call) {
  return WindowValue(call, kKernel, 0, 1) == 1 && WindowValue(call, kKernel, 1, 1) == 1;
}

aclnnStatus MaskShape(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  Shape accepted = self;
  const int last = self.rank - 1;
  const int64_t rows = WindowAxis(call, kFlat, 0, self[last - 1]).positions;
  const int64_t columns = WindowAxis(call, kFlat, 1, self[last]).positions;
  int64_t windows = 0;
  const int64_t kernel = WindowValue(call, kKernel, 0, 1) * WindowValue(call, kKernel, 1, 1);
  accepted.dim[last - 1] = kernel;
  if (__builtin_mul_overflow(rows, columns, &windows) || windows > engine::kMostPooled) windows = 0;
  accepted.dim[last] = ((windows + 15) / 16 + 1) * 32;
  return call.Tensor(kIndices).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kIndices, accepted);
}

aclnnStatus NotOn950(const Check& check, OperatorCall& call) noexcept {
  return FailAclnn(check.code,
                   StartMessage(call).Add("not on Ascend 950, accepted there: the operators with indices."));
}

constexpr auto kFlatWindows = List(
    ValuesFrom(kKernel, 1), CountIn(kStride, {0, 1, 2}), ValuesFrom(kStride, 1), CountIn(kPadding, {1, 2}),
    CountIn(kDilation, {1, 2}), ValuesFrom(kPadding, 0), HalfOf(kPadding, kKernel, 2));

constexpr auto kMaskChecks = Join(
    List(ArrayNotNull(kKernel), NotNull(kSelf), NotNull(kOut), CountIn(kKernel, {1, 2}),  // in CANN's order
         ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kIndices),
         OnProducts(products::kAscend950, Custom(NotOn950)), DtypesIn(kMaskDtypes, {kSelf}),
         DtypesIn(DtypeSet{ACL_INT8}, {kIndices}), SameDtype(kSelf, kOut), SameFormat({kSelf, kOut}),
         NotPrivate({kSelf, kOut, kIndices}), RankAtLeast(3, {kSelf}), RankAtMost(4, {kSelf})),
    kFlatWindows,
    List(ValuesAre1(kDilation), ImageNotEmpty(kSelf, 2), SizesRepresentable({kOut, kIndices}),
         IsPooled<kFlat, kSelf, kOut>(), Custom(MaskShape), DoneIfEmpty({kSelf}), PlanesFit({kSelf}, 2),
         InsideStorage({kSelf})));

// Views the mask's storage as INT32 indices, one for each element of the output, in its order.
StridedView IndicesInMask(const StridedView& windows) {
  return PoolView(DenseTensor(windows.shape, ACL_INT32), 2);
}

void SetWithMask(const OperatorCall& call, Executor& executor) {
  if (IsOneElement(call)) return SetMaxima(call, executor, kFlat, nullptr, -1);
  const StridedView indices = IndicesInMask(call.Tensor(kOut));
  SetMaxima(call, executor, kFlat, &indices, kIndices);
}

// CANN accepts any shape of the mask. Its storage must hold the indices that are read.
aclnnStatus MaskHoldsIndices(const Check& check, OperatorCall& call) noexcept {
  if (IsOneElement(call)) return ACL_SUCCESS;
  const aclTensor& indices = call.Tensor(kGradIndices);
  const int64_t needed = call.Tensor(kGradOutput).numel * int64_t{sizeof(int32_t)};
  int64_t there = 0;
  indices.storage.Numel(&there);
  if (there >= needed / static_cast<int64_t>(std::max<size_t>(1, aclDataTypeSize(indices.dtype))))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kGradIndices);
  return FailAclnn(check.code, message.Add(" has too little storage, accepted: ").Add(needed).Add(" bytes."));
}

// Checks shared by the gradients. Formats and indices depend on the operator.
constexpr auto kGradientShapes = List(RankAtLeast(3, {kGradSelf}), RankAtMost(4, {kGradSelf}));

constexpr auto kMaskGradientChecks =
    Join(List(ArrayNotNull(kKernel), NotNull(kGradOutput), NotNull(kGradSelf),  // in CANN's order
              WithCode(ACLNN_ERR_PARAM_NULLPTR, CountIn(kKernel, {1, 2})), ArrayNotNull(kStride),
              ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kGradIndices), NotNull(kGradInput),
              OnProducts(products::kAscend950, Custom(NotOn950)), DtypesIn(kMaskDtypes, {kGradOutput}),
              DtypesIn(kIndicesOrMask, {kGradIndices}), SameDtype(kGradOutput, kGradSelf),
              SameDtype(kGradOutput, kGradInput), SameFormat({kGradSelf, kGradOutput, kGradInput}),
              NotPrivate({kGradSelf, kGradOutput, kGradIndices, kGradInput})),
         kGradientShapes, kFlatWindows,
         List(ValuesAre1(kDilation), SameShape(kGradSelf, kGradInput), ImageNotEmpty(kGradSelf, 2),
              SizesRepresentable({kGradInput}), IsPooled<kFlat, kGradSelf, kGradOutput>(),
              DoneIfEmpty({kGradSelf}), PlanesFit({kGradSelf}, 2),
              Custom(MaskHoldsIndices, ACLNN_ERR_INNER_NULLPTR), InsideStorage({kGradOutput, kGradSelf})));

void SetMaskGradient(const OperatorCall& call, Executor& executor) {
  const MaxGradientOperands operands{kGradOutput, kGradIndices, kGradInput, 2};
  if (IsOneElement(call)) {
    const int64_t steps[2] = {WindowAxis(call, kFlat, 0, 1).stride, WindowAxis(call, kFlat, 1, 1).stride};
    return SetGradientOfElements(call, operands, steps, executor);
  }
  const StridedView indices = IndicesInMask(call.Tensor(kGradOutput));
  SetMaxGradient(call, operands, indices, executor);
}

// ---- with indices ----

// Tells whether self's format puts channels last. Ascend 950 then reads self and the results so.
bool HasChannelsLast(const OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  return call.product == Product::kAscend950 && self.format == ACL_FORMAT_NHWC && self.shape.rank == 4;
}
bool HasPlanesLast(const OperatorCall& call) noexcept { return !HasChannelsLast(call); }

constexpr auto kIndicesChecks =
    Join(List(NotNull(kSelf), ArrayNotNull(kKernel), ArrayNotNull(kStride), ArrayNotNull(kPadding),
              ArrayNotNull(kDilation), NotNull(kOut), NotNull(kIndices),  // in CANN's order
              DtypesIn(kIndicesDtypes, {kSelf}), DtypesIn(kIndexDtypes, {kIndices}), SameDtype(kSelf, kOut),
              SameFormat({kSelf, kOut}), NotPrivate({kSelf, kOut, kIndices}), RankAtLeast(3, {kSelf}),
              RankAtMost(4, {kSelf}), CountIn(kKernel, {1, 2})),
         kFlatWindows,
         List(ValuesFrom(kDilation, 1), OnProducts(~products::kAscend950, ValuesAre1(kDilation)),
              ImageNotEmpty(kSelf, 2), SizesRepresentable({kOut, kIndices}),
              If(HasPlanesLast, IsPooled<kFlat, kSelf, kOut>()),
              If(HasChannelsLast, IsPooled<kFlat, kSelf, kOut, 1>()), SameShape(kOut, kIndices),
              DoneIfEmpty({kSelf}), If(HasPlanesLast, PlanesFit({kSelf}, 2)),
              If(HasChannelsLast, PlanesFit({kSelf}, 2, /*behind=*/1)), InsideStorage({kSelf})));

void SetWithIndices(const OperatorCall& call, Executor& executor) {
  const StridedView indices = PlanesOf(call.Tensor(kIndices), HasChannelsLast(call));
  SetMaxima(call, executor, kFlat, &indices, kIndices, HasChannelsLast(call));
}

bool IsMask(const OperatorCall& call) noexcept { return call.Tensor(kGradIndices).dtype == ACL_INT8; }
bool IsNoMask(const OperatorCall& call) noexcept { return !IsMask(call); }

constexpr auto kIndicesGradientChecks =
    Join(List(NotNull(kGradOutput), NotNull(kGradSelf), NotNull(kGradIndices), ArrayNotNull(kKernel),
              ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kGradInput),
              DtypesIn(kIndicesGradientDtypes, {kGradOutput}), DtypesIn(kIndicesOfGradient, {kGradIndices}),
              SameDtype(kGradOutput, kGradSelf), SameDtype(kGradOutput, kGradInput),
              SameFormat({kGradSelf, kGradOutput, kGradInput}),
              NotPrivate({kGradSelf, kGradOutput, kGradIndices, kGradInput})),
         kGradientShapes, List(CountIn(kKernel, {1, 2})), kFlatWindows,
         List(ValuesFrom(kDilation, 1), OnProducts(~products::kAscend950, ValuesAre1(kDilation)),
              SameShape(kGradSelf, kGradInput), ImageNotEmpty(kGradSelf, 2), SizesRepresentable({kGradInput}),
              IsPooled<kFlat, kGradSelf, kGradOutput>(), If(IsNoMask, SameShape(kGradOutput, kGradIndices)),
              DoneIfEmpty({kGradSelf}), PlanesFit({kGradSelf}, 2),
              If(IsMask, Custom(MaskHoldsIndices, ACLNN_ERR_INNER_NULLPTR)),
              InsideStorage({kGradOutput, kGradSelf}), If(IsNoMask, InsideStorage({kGradIndices}))));

void SetIndicesGradient(const OperatorCall& call, Executor& executor) {
  if (IsMask(call)) return SetMaskGradient(call, executor);
  SetMaxGradient(call, {kGradOutput, kGradIndices, kGradInput, 2}, PoolView(call.Tensor(kGradIndices), 2),
                 executor);
}

// ---- over volumes ----

constexpr auto kDeepWindows =
    List(CountIn(kKernel, {1, 3}), CountIn(kStride, {0, 1, 3}), CountIn(kPadding, {1, 3}),
         CountIn(kDilation, {1, 3}), ValuesFrom(kKernel, 1), ValuesFrom(kStride, 1), ValuesFrom(kPadding, 0),
         HalfOf(kPadding, kKernel, 3), ValuesFrom(kDilation, 1),
         OnProducts(~products::kAscend950, ValuesAre1(kDilation)));

constexpr auto kDeepChecks = Join(
    List(NotNull(kSelf), ArrayNotNull(kKernel), ArrayNotNull(kStride), ArrayNotNull(kPadding),
         ArrayNotNull(kDilation), NotNull(kOut), NotNull(kIndices),  // in CANN's order
         DtypesIn(kIndicesDtypes, {kSelf}), DtypesIn(kDeepIndices, {kIndices}), SameDtype(kSelf, kOut),
         SameFormat({kSelf, kOut, kIndices}), RankAtLeast(4, {kSelf}), RankAtMost(5, {kSelf})),
    kDeepWindows,
    List(ImageNotEmpty(kSelf, 3), SizesRepresentable({kOut, kIndices}), IsPooled<kDeep, kSelf, kOut>(),
         SameShape(kOut, kIndices), DoneIfEmpty({kSelf}), PlanesFit({kSelf}, 3), InsideStorage({kSelf})));

void SetDeep(const OperatorCall& call, Executor& executor) {
  const StridedView indices = PoolView(call.Tensor(kIndices), 3);
  SetMaxima(call, executor, kDeep, &indices, kIndices);
}

constexpr auto kDeepGradientChecks =
    Join(List(NotNull(kGradOutput), NotNull(kGradSelf), NotNull(kGradIndices), ArrayNotNull(kKernel),
              ArrayNotNull(kStride), ArrayNotNull(kPadding), ArrayNotNull(kDilation), NotNull(kGradInput),
              DtypesIn(kIndicesDtypes, {kGradOutput}), DtypesIn(kDeepIndices, {kGradIndices}),
              SameDtype(kGradOutput, kGradSelf), SameDtype(kGradOutput, kGradInput),
              SameFormat({kGradSelf, kGradOutput, kGradInput}),
              NotPrivate({kGradSelf, kGradOutput, kGradIndices, kGradInput}), RankAtLeast(4, {kGradSelf}),
              RankAtMost(5, {kGradSelf})),
         kDeepWindows,
         List(SameShape(kGradSelf, kGradInput), ImageNotEmpty(kGradSelf, 3), SizesRepresentable({kGradInput}),
              IsPooled<kDeep, kGradSelf, kGradOutput>(), SameShape(kGradOutput, kGradIndices),
              DoneIfEmpty({kGradSelf}), PlanesFit({kGradSelf}, 3),
              InsideStorage({kGradOutput, kGradSelf, kGradIndices})));

void SetDeepGradient(const OperatorCall& call, Executor& executor) {
  SetMaxGradient(call, {kGradOutput, kGradIndices, kGradInput, 3}, PoolView(call.Tensor(kGradIndices), 3),
                 executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMaxPool) { return RunPhase1(call, kMaxPoolChecks, workspaceSize, executor, SetMaxPool); }

PORTACL_PHASE_1(aclnnMaxPool2dWithMask) {
  return RunPhase1(call, kMaskChecks, workspaceSize, executor, SetWithMask);
}

PORTACL_PHASE_1(aclnnMaxPool2dWithMaskBackward) {
  return RunPhase1(call, kMaskGradientChecks, workspaceSize, executor, SetMaskGradient);
}

PORTACL_PHASE_1(aclnnMaxPool2dWithIndices) {
  return RunPhase1(call, kIndicesChecks, workspaceSize, executor, SetWithIndices);
}

PORTACL_PHASE_1(aclnnMaxPool2dWithIndicesBackward) {
  return RunPhase1(call, kIndicesGradientChecks, workspaceSize, executor, SetIndicesGradient);
}

PORTACL_PHASE_1(aclnnMaxPool3dWithArgmax) {
  return RunPhase1(call, kDeepChecks, workspaceSize, executor, SetDeep);
}

PORTACL_PHASE_1(aclnnMaxPool3dWithArgmaxBackward) {
  return RunPhase1(call, kDeepGradientChecks, workspaceSize, executor, SetDeepGradient);
}
