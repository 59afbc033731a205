// aclnnIsFinite, aclnnIsInf, aclnnIsPosInf, aclnnIsNegInf and aclnnSignbit: classify each element.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/classify.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace classes {

using namespace engine::HWY_NAMESPACE;

struct Finite : Elementwise<Finite> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Finite(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V x) const {
    return hn::Lt(hn::Abs(x), functions::Infinity(d));
  }
};

struct Infinite : Elementwise<Infinite> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Infinite(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V x) const {
    return hn::Eq(hn::Abs(x), functions::Infinity(d));
  }
};

// Tests for the infinity that the scalar gives.
struct Equal : Elementwise<Equal> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Equal(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V x) const {
    return hn::Eq(x, hn::Set(d, scalars.Get<float>(0)));
  }

  engine::Scalars scalars;
};

// Tests the sign bit, also of -0 and NaN.
struct Negative : Elementwise<Negative> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int8_t, int16_t, int32_t, int64_t>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Negative(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V x) const {
    using Bits = hwy::MakeSigned<hn::TFromD<D>>;
    const hn::Rebind<Bits, D> di;
    return hn::RebindMask(d, hn::Lt(hn::BitCast(di, x), hn::Zero(di)));
  }
};

}  // namespace classes
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>
#include <limits>

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/logic/classify_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/map_types.h"

namespace portacl {
namespace {

constexpr auto kFinite = PORTACL_VALUE_KERNELS(classes::Finite);
constexpr auto kInfinite = PORTACL_VALUE_KERNELS(classes::Infinite);
constexpr auto kEqual = PORTACL_VALUE_KERNELS(classes::Equal);
constexpr auto kNegative = PORTACL_VALUE_KERNELS(classes::Negative);

enum Tensors { kSelf, kOut };

constexpr DtypeRule kInfinityDtypes =
    WithBf16SinceAtlasA2(kFloatAndHalf | kIntegersAndBool)
        .On({Product::kAtlasTraining, Product::kAtlas200I500A2, Product::kNoDevice}, kNoDtype);
constexpr DtypeRule kIsInfDtypes =
    Everywhere(kFloatHalfAndBf16).On({Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeRule kSignDtypes = WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits);

constexpr auto End() {
  return List(SizesRepresentable({kOut}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}),
              PromotesToDtypeOf(kSelf));
}
constexpr auto NotNulls() { return List(NotNull(kSelf), NotNull(kOut)); }
constexpr auto Shapes(Operands ranks) {
  return List(Broadcasts({kSelf}), SameShape(kSelf, kOut), RankAtMost(8, ranks));
}

constexpr auto kFiniteChecks =
    Join(NotNulls(), List(DtypesIn(kRealArithmeticDtypes, {kSelf}), DtypesIn(kBool, {kOut})), Shapes({kSelf}),
         End());
constexpr auto kInfinityChecks = Join(
    NotNulls(), Shapes({kSelf}), List(DtypesIn(kInfinityDtypes, {kSelf}), DtypesIn(kBool, {kOut})), End());
constexpr auto kIsInfChecks =
    Join(NotNulls(),
         List(DtypesIn(kIsInfDtypes, {kSelf}), DtypesIn(kBool, {kOut}), Broadcasts({kSelf}),
              SameShape(kSelf, kOut), WithCode(ACLNN_ERR_INNER_TILING_ERROR, RankAtMost(8, {kSelf}))),
         End());
constexpr auto kSignChecks =
    Join(NotNulls(), List(DtypesIn(kSignDtypes, {kSelf, kOut})), Shapes({kSelf, kOut}), End());

// `of_others` is the result for integers; where signs are tested, for unsigned ones.
aclnnStatus Classify(OperatorCall& call, std::span<const Check> checks, const engine::KernelTable& kernels,
                     bool of_others, float equal, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    if (engine::ComputedType(checked.promoted, kernels.takes) == engine::ElementType::kOther ||
        (kUnsignedSince16Bits | DtypeSet{ACL_UINT8, ACL_BOOL}).Contains(checked.promoted)) {
      aclScalar value;
      value.dtype = ACL_BOOL;
      value.value[0] = of_others ? 1 : 0;
      return SetFillJob(checked, kOut, ConvertScalar(value, checked.Tensor(kOut).dtype), fresh);
    }
    engine::Scalars scalars;
    std::memcpy(scalars.bytes[0], &equal, sizeof equal);
    SetMapJob(checked, {kSelf}, kOut, kernels, scalars, fresh);
  });
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIsFinite) {
  return Classify(call, kFiniteChecks, kFinite, /*of_others=*/true, 0.0f, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnIsInf) {
  return Classify(call, kIsInfChecks, kInfinite, /*of_others=*/false, 0.0f, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnIsPosInf) {
  return Classify(call, kInfinityChecks, kEqual, /*of_others=*/false, kInfinity, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnIsNegInf) {
  return Classify(call, kInfinityChecks, kEqual, /*of_others=*/false, -kInfinity, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnSignbit) {
  return Classify(call, kSignChecks, kNegative, /*of_others=*/false, 0.0f, workspaceSize, executor);
}

#endif  // HWY_ONCE
