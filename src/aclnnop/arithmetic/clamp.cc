// aclnnClamp and its forms: clamps numbers to bounds, which are scalars or tensors.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/clamp.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace bounds {

using namespace engine::HWY_NAMESPACE;

using BoundLanes = LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t>;

// AtLeast and AtMost return NaN where x or the bound is NaN.
template <class D, class V>
HWY_INLINE V AtLeast(D, V x, V bound) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::IfThenElse(hn::Eq(bound, bound), hn::IfThenElse(hn::Lt(x, bound), bound, x), bound);
  } else {
    return hn::Max(x, bound);
  }
}
template <class D, class V>
HWY_INLINE V AtMost(D, V x, V bound) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return hn::IfThenElse(hn::Eq(bound, bound), hn::IfThenElse(hn::Lt(bound, x), bound, x), bound);
  } else {
    return hn::Min(x, bound);
  }
}

// Scalars: the lower and the upper bound.
struct WithinScalars : Elementwise<WithinScalars> {
  using Parameters = engine::Scalars;
  using Lanes = BoundLanes;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  explicit WithinScalars(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    return AtMost(d, AtLeast(d, x, hn::Set(d, scalars.Get<T>(0))), hn::Set(d, scalars.Get<T>(1)));
  }

  engine::Scalars scalars;
};

// Rarely used, so narrower integers are computed as int32.
struct WithinTensors : Elementwise<WithinTensors> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 3;
  explicit WithinTensors(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V lower, V upper) const {
    return AtMost(d, AtLeast(d, x, lower), upper);
  }
};

struct AboveTensor : Elementwise<AboveTensor> {
  using Parameters = engine::Scalars;
  using Lanes = BoundLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  explicit AboveTensor(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V lower) const {
    return AtLeast(d, x, lower);
  }
};

struct BelowTensor : Elementwise<BelowTensor> {
  using Parameters = engine::Scalars;
  using Lanes = BoundLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  explicit BelowTensor(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V upper) const {
    return AtMost(d, x, upper);
  }
};

}  // namespace bounds
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>
#include <limits>

#include "aclnnop/arithmetic/clamp_functions.h"
#include "aclnnop/jobs/clamp.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kWithinScalars = PORTACL_VALUE_KERNELS(bounds::WithinScalars);
constexpr auto kWithinTensors = PORTACL_VALUE_KERNELS(bounds::WithinTensors);
constexpr auto kAboveTensor = PORTACL_VALUE_KERNELS(bounds::AboveTensor);
constexpr auto kBelowTensor = PORTACL_VALUE_KERNELS(bounds::BelowTensor);

constexpr DtypeRule kClamped = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegers);

// ---- bounds as scalars ----
enum ScalarTensors { kSelf, kOut };
enum Bounds { kMin, kMax };

constexpr auto TestsWithScalars(int out) {
  return List(NotNull(kSelf), NotNull(out), DtypesIn(kClamped, {kSelf, out}), Broadcasts({kSelf}),
              SameShape(kSelf, out), RankAtMost(8, {kSelf, out}), SizesRepresentable({out}),
              DoneIfEmpty({kSelf}));
}
// Products before Ascend 950 first convert everything to the output's dtype.
constexpr auto PromotionOfScalars(Operands given, int out) {
  return List(PromotesScalarBy(ScalarRule::kClamp, kSelf, given, out),
              OnProducts(products::kBeforeAscend950, CastsToPromoted({kSelf})), PromotedCastsTo(out),
              PromotedIn(kClamped, {kSelf}, given), InsideStorage({kSelf}),
              ScalarsImplemented(kConvertible, given));
}
constexpr auto kClampChecks =
    Join(List(AnyScalarGiven({kMin, kMax})), TestsWithScalars(kOut), PromotionOfScalars({kMin, kMax}, kOut));
constexpr auto kClampMinChecks =
    Join(List(ScalarNotNull(kMin)), TestsWithScalars(kOut), PromotionOfScalars({kMin}, kOut));
constexpr auto kClampMaxChecks =
    Join(List(ScalarNotNull(kMax)), TestsWithScalars(kOut), PromotionOfScalars({kMax}, kOut));
constexpr auto kInplaceClampMaxChecks =
    Join(List(ScalarNotNull(kMax)), TestsWithScalars(kSelf), PromotionOfScalars({kMax}, kSelf));

// Sets the limits that stand for missing bounds.
template <class T>
void SetLimits(engine::Scalars& scalars) {
  using Limits = std::numeric_limits<T>;
  const T lower = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const T upper = Limits::has_infinity ? Limits::infinity() : Limits::max();
  std::memcpy(scalars.bytes[kMin], &lower, sizeof lower);
  std::memcpy(scalars.bytes[kMax], &upper, sizeof upper);
}
engine::Scalars LimitsOf(aclDataType dtype) {
  engine::Scalars scalars;
  switch (dtype) {
    case ACL_DOUBLE:
      SetLimits<double>(scalars);
      break;
    case ACL_INT8:
      SetLimits<int8_t>(scalars);
      break;
    case ACL_UINT8:
      SetLimits<uint8_t>(scalars);
      break;
    case ACL_INT16:
      SetLimits<int16_t>(scalars);
      break;
    case ACL_INT32:
      SetLimits<int32_t>(scalars);
      break;
    case ACL_INT64:
      SetLimits<int64_t>(scalars);
      break;
    default:
      SetLimits<float>(scalars);
  }
  return scalars;
}

aclnnStatus ClampByScalars(OperatorCall& call, const aclScalar* clipValueMin, const aclScalar* clipValueMax,
                           std::span<const Check> checks, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Attribute attributes[] = {{"clipValueMin", clipValueMin}, {"clipValueMax", clipValueMax}};
  call.attributes = attributes;
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    engine::Scalars scalars = LimitsOf(checked.promoted);
    // Rounds the bounds to the promoted dtype, even to a 16-bit one.
    for (const int i : {kMin, kMax}) {
      const aclScalar* const bound = attributes[i].scalar;
      if (bound != nullptr) SetMapScalar(checked, kWithinScalars, *bound, scalars, i, checked.promoted);
    }
    SetMapJob(checked, {kSelf}, checked.in_place ? kSelf : kOut, kWithinScalars, scalars, fresh);
  });
}

// ---- bounds as tensors: two, either of which may be missing, or one ----
enum Tensors { kClampedSelf, kLower, kUpper, kResult };
enum TensorsWithOneBound { kBoundedSelf, kBound, kBoundedResult };

// `ranks` lists all tensors, `inputs` self and the bounds.
constexpr auto TestsWithTensors(int out, Operands ranks, Operands inputs, Operands bounds) {
  return List(NotNull(kClampedSelf), NotNull(out), DtypesIn(kClamped, {kClampedSelf, out}),
              RankAtMost(8, ranks), DoneIfEmpty(ranks), Promotes(inputs), PromotedCastsTo(out),
              PromotedIn(kClamped, inputs), Broadcasts(inputs), ShapeIsBroadcast(out),
              SizesRepresentable({out}), InsideStorage(inputs), DtypeImplemented(bounds, kConvertible));
}
constexpr auto TestsWithOneBound(int out) {
  return Join(List(NotNull(kBound)),
              TestsWithTensors(out, {kBoundedSelf, out, kBound}, {kBoundedSelf, kBound}, {kBound}));
}
constexpr auto kClampTensorChecks = Join(List(AnyGiven({kLower, kUpper})),
                                         TestsWithTensors(kResult, {kClampedSelf, kResult, kLower, kUpper},
                                                          {kClampedSelf, kLower, kUpper}, {kLower, kUpper}));
constexpr auto kOneBoundChecks = TestsWithOneBound(kBoundedResult);
constexpr auto kInplaceOneBoundChecks = TestsWithOneBound(kBoundedSelf);

void SetTensorClamp(const OperatorCall& call, Executor& executor) {
  if (!call.IsGiven(kUpper))
    return SetMapJob(call, {kClampedSelf, kLower}, kResult, kAboveTensor, {}, executor);
  if (!call.IsGiven(kLower))
    return SetMapJob(call, {kClampedSelf, kUpper}, kResult, kBelowTensor, {}, executor);
  SetMapJob(call, {kClampedSelf, kLower, kUpper}, kResult, kWithinTensors, {}, executor);
}

aclnnStatus ClampByOneTensor(OperatorCall& call, const engine::KernelTable& kernels, uint64_t* workspaceSize,
                             aclOpExecutor** executor) {
  const std::span<const Check> checks = call.in_place ? std::span<const Check>(kInplaceOneBoundChecks)
                                                      : std::span<const Check>(kOneBoundChecks);
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kBoundedSelf, kBound}, checked.Output(), kernels, {}, fresh);
  });
}

}  // namespace

const engine::KernelTable& ClampKernels() noexcept { return kWithinScalars; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnClamp) {
  return ClampByScalars(call, given.clipValueMin, given.clipValueMax, kClampChecks, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnClampMin) {
  return ClampByScalars(call, given.clipValueMin, nullptr, kClampMinChecks, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnClampMax) {
  return ClampByScalars(call, nullptr, given.clipValueMax, kClampMaxChecks, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceClampMax) {
  return ClampByScalars(call, nullptr, given.clipValueMax, kInplaceClampMaxChecks, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnClampTensor) {
  return RunPhase1(call, kClampTensorChecks, workspaceSize, executor, SetTensorClamp);
}

PORTACL_PHASE_1(aclnnClampMinTensor) { return ClampByOneTensor(call, kAboveTensor, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceClampMinTensor) {
  return ClampByOneTensor(call, kAboveTensor, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnClampMaxTensor) { return ClampByOneTensor(call, kBelowTensor, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceClampMaxTensor) {
  return ClampByOneTensor(call, kBelowTensor, workspaceSize, executor);
}

#endif  // HWY_ONCE
