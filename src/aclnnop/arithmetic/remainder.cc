// aclnnRemainderTensorTensor, aclnnRemainderTensorScalar, aclnnRemainderScalarTensor and the in-place forms
// of the first two: exact remainders with the divisor's sign.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/remainder.cc"
#include "base/foreach_target.h"

#include "engine/functions/modulo-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace remainders {

using namespace engine::HWY_NAMESPACE;

// Returns a remainder with the sign of b.
struct Remainder : Elementwise<Remainder> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit Remainder(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Remainder(d, a, b);
    } else {
      return FlooredRemainders(d, a, b);
    }
  }
};
using RemainderWithScalar = WithEitherScalar<Remainder>;

}  // namespace remainders
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/remainder_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kRemainder = PORTACL_VALUE_KERNELS(remainders::Remainder);
constexpr auto kRemainderWithScalar = PORTACL_VALUE_KERNELS(remainders::RemainderWithScalar);

enum Tensors { kSelf, kOther, kOut };
// Positions in the forms with a scalar.
constexpr int kTensor = kSelf;
constexpr int kOutOfScalar = kOther;
enum Attributes { kScalar };

constexpr DtypeSet kOld{ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE};
constexpr DtypeSet kNew{ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_BF16};
// The accepted dtypes of each product; none on Atlas 200I/500 A2.
constexpr DtypeRule kDivided{{kOld, kNew, kNew, kNew, kOld, kNoDtype, kOld}};
constexpr DtypeSet kReal = kRealArithmetic | kBf16 | kUnsignedSince16Bits;

constexpr auto TensorChecks(int out, bool is_in_place) {
  return Join(
      List(NotNull(kSelf), NotNull(kOther), NotNull(out), Promotes({kSelf, kOther}), PromotedCastsTo(out),
           PromotedIn(kDivided, {kSelf, kOther}), Broadcasts({kSelf, kOther}),
           is_in_place ? ShapeIsBroadcast(out) : OnProducts(products::kAscend950, ShapeIsBroadcast(out)),
           OnProducts(products::kBeforeAscend950, ShapeIsBroadcastOrValue(out)),
           RankAtMost(8, {kSelf, kOther, out})),
      ComputableChecks({kSelf, kOther}, out));
}
constexpr auto kChecks = TensorChecks(kOut, false);
constexpr auto kInPlaceChecks = TensorChecks(kSelf, true);

constexpr auto TensorScalarChecks(int out) {
  return Join(List(NotNull(kTensor), ScalarNotNull(kScalar), NotNull(out), SameShape(kTensor, out),
                   DtypesIn(kReal, {kTensor}), ScalarDtypesIn(kReal, {kScalar}),
                   PromotesScalarBy(ScalarRule::kRemainderTensorScalar, kTensor, {kScalar}, out),
                   CastsToPromoted({kTensor}), PromotedIn(kDivided, {kTensor}, {kScalar}),
                   PromotedCastsTo(out), RankAtMost(8, {kTensor, out})),
              ComputableChecks({kTensor}, out, {kScalar}));
}
constexpr auto kTensorScalarChecks = TensorScalarChecks(kOutOfScalar);
constexpr auto kInPlaceTensorScalarChecks = TensorScalarChecks(kTensor);

// Products before Ascend 950 compute in the output's dtype.
constexpr auto kScalarTensorChecks =
    Join(List(WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kScalar)),
              WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kTensor)),
              WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOutOfScalar)), SameShape(kTensor, kOutOfScalar),
              ScalarDtypesIn(kReal, {kScalar}), DtypesIn(kReal, {kTensor}),
              PromotesScalarBy(ScalarRule::kRemainderScalarTensor, kTensor, {kScalar}, kOutOfScalar),
              PromotedCastsTo(kOutOfScalar), DtypesIn(kDivided, {kOutOfScalar}),
              RankAtMost(8, {kTensor, kOutOfScalar}),
              OnProducts(products::kBeforeAscend950, PromotesToDtypeOf(kOutOfScalar))),
         ComputableChecks({kTensor}, kOutOfScalar, {kScalar}));

void SetRemainder(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, call.Output(), kRemainder, engine::Scalars(), executor);
}

template <bool kScalarIsFirst>
void SetRemainderWithScalar(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kRemainderWithScalar, call.Scalar(kScalar), scalars, 0);
  if (kScalarIsFirst) scalars.SetScalarIsFirst();
  SetMapJob(call, {kTensor}, call.Output(), kRemainderWithScalar, scalars, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRemainderTensorTensor) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetRemainder);
}

PORTACL_PHASE_1(aclnnInplaceRemainderTensorTensor) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetRemainder);
}

PORTACL_PHASE_1(aclnnRemainderTensorScalar) {
  return RunPhase1(call, kTensorScalarChecks, workspaceSize, executor, SetRemainderWithScalar<false>);
}

PORTACL_PHASE_1(aclnnInplaceRemainderTensorScalar) {
  return RunPhase1(call, kInPlaceTensorScalarChecks, workspaceSize, executor, SetRemainderWithScalar<false>);
}

PORTACL_PHASE_1(aclnnRemainderScalarTensor) {
  return RunPhase1(call, kScalarTensorChecks, workspaceSize, executor, SetRemainderWithScalar<true>);
}

#endif  // HWY_ONCE
