// aclnnAdd, aclnnAdds, aclnnAddV3, aclnnSub, aclnnSubs, aclnnRsub, aclnnRsubs and their in-place forms: sums
// and differences of two operands. One of them is scaled.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/add.cc"
#include "base/foreach_target.h"

#include "aclnnop/arithmetic/sums-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sums {

using namespace engine::HWY_NAMESPACE;

using IntegerLanes = LaneTypes<int8_t, uint8_t, int16_t, int32_t, int64_t>;

// Adds integers; with kIsDifference, subtracts the second.
template <bool kIsDifference>
struct IntegerSum : Elementwise<IntegerSum<kIsDifference>> {
  using Parameters = engine::Scalars;
  using Lanes = IntegerLanes;
  static constexpr int kInputs = 2;
  explicit IntegerSum(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return kIsDifference ? hn::Sub(a, b) : hn::Add(a, b);
  }
};
using Sum = IntegerSum<false>;
using Difference = IntegerSum<true>;

// Computes logical or; with kIsExclusive, exclusive or.
template <bool kIsExclusive>
struct Disjunction : Elementwise<Disjunction<kIsExclusive>> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<Bool>;
  static constexpr int kInputs = 2;
  explicit Disjunction(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return kIsExclusive ? hn::Xor(a, b) : hn::Or(a, b);
  }
};
using Either = Disjunction<false>;
using JustOne = Disjunction<true>;

// Computes a + alpha * b.
struct ScaledSum : Elementwise<ScaledSum> {
  using Parameters = engine::Scalars;
  using Lanes = WideLanes;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;
  explicit ScaledSum(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return Scaled(d, hn::Set(d, scalars.Get<hn::TFromD<D>>(0)), b, a);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V b, V a_imaginary, V b_imaginary, V& real, V& imaginary) const {
    using T = hn::TFromD<D>;
    ScaledParts(d, hn::Set(d, scalars.Get<T>(0)), hn::Set(d, scalars.Get<T>(0, 1)), b, b_imaginary, a,
                a_imaginary, real, imaginary);
  }

  engine::Scalars scalars;
};

}  // namespace sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/add_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kSum = PORTACL_VALUE_KERNELS(sums::Sum);
constexpr auto kDifference = PORTACL_VALUE_KERNELS(sums::Difference);
constexpr auto kEither = PORTACL_VALUE_KERNELS(sums::Either);
constexpr auto kJustOne = PORTACL_VALUE_KERNELS(sums::JustOne);
constexpr auto kScaledSum = PORTACL_VALUE_KERNELS(sums::ScaledSum);

enum Tensors { kSelf, kOther, kOut };
enum Attributes { kAlpha };

constexpr auto TensorChecks(const DtypeRule& dtypes, Check alpha_fits, int out) {
  return Join(List(NotNull(kSelf), NotNull(kOther), ScalarNotNull(kAlpha), NotNull(out),
                   DtypesIn(dtypes, {kSelf, kOther}), Promotes({kSelf, kOther}), alpha_fits),
              Ascend950Checks(dtypes, {kSelf, kOther}), List(PromotedCastsTo(out)),
              BroadcastChecks(kSelf, kOther, out), ComputableChecks({kSelf, kOther}, out, {kAlpha}));
}

// ---- aclnnAdd, aclnnSub ----
constexpr auto kChecks = TensorChecks(kArithmeticDtypes, AlphaFits(kAlpha), kOut);
constexpr auto kInPlaceSubChecks = TensorChecks(kArithmeticDtypes, AlphaFits(kAlpha), kSelf);
constexpr auto kInPlaceAddChecks = Join(InPlaceFirstChecks(kSelf, kOther), kInPlaceSubChecks);
constexpr auto kRsubChecks = TensorChecks(kRsubDtypes, ScalarsCastToPromoted({kAlpha}), kOut);
template <bool kSubtracts, bool kIsReversed = false>
void SetSum(const OperatorCall& call, Executor& executor) {
  const Operands inputs = kIsReversed ? Operands{kOther, kSelf} : Operands{kSelf, kOther};
  const aclScalar& alpha = call.Scalar(kAlpha);
  engine::Scalars scalars;
  if (IsIntegral(call.promoted) && IsOne(alpha)) {
    const engine::KernelTable& of_bool = kSubtracts ? kJustOne : kEither;
    const engine::KernelTable& of_integers = kSubtracts ? kDifference : kSum;
    const engine::KernelTable& kernels = call.promoted == ACL_BOOL ? of_bool : of_integers;
    return SetMapJob(call, inputs, call.Output(), kernels, scalars, executor);
  }
  SetMapScalar(call, kScaledSum, alpha, scalars, 0);
  if (kSubtracts) Negate(call, kScaledSum, scalars, 0);
  SetMapJob(call, inputs, call.Output(), kScaledSum, scalars, executor);
}

}  // namespace

const engine::KernelTable& SumKernels(aclDataType promoted) noexcept {
  if (!IsIntegral(promoted)) return kScaledSum;
  return promoted == ACL_BOOL ? kEither : kSum;
}

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAdd) { return RunPhase1(call, kChecks, workspaceSize, executor, SetSum<false>); }

PORTACL_PHASE_1(aclnnInplaceAdd) {
  return RunPhase1(call, kInPlaceAddChecks, workspaceSize, executor, SetSum<false>);
}

PORTACL_PHASE_1(aclnnSub) { return RunPhase1(call, kChecks, workspaceSize, executor, SetSum<true>); }

PORTACL_PHASE_1(aclnnInplaceSub) {
  return RunPhase1(call, kInPlaceSubChecks, workspaceSize, executor, SetSum<true>);
}

PORTACL_PHASE_1(aclnnRsub) {
  return RunPhase1(call, kRsubChecks, workspaceSize, executor, SetSum<true, true>);
}

#endif  // HWY_ONCE
