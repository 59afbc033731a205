// aclnnFmodTensor, aclnnFmodScalar and their in-place forms: exact remainders with the dividend's sign.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/fmod.cc"
#include "base/foreach_target.h"

#include "engine/functions/modulo-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace truncated_remainders {

using namespace engine::HWY_NAMESPACE;

// Computes C's fmod.
struct Fmod : Elementwise<Fmod> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit Fmod(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Fmod(d, a, b);
    } else {
      return EachLane(
          d, [](T x, T y) { return TruncatedRemainder(x, y); }, a, b);
    }
  }
};
using FmodByScalar = WithLastScalar<Fmod>;

}  // namespace truncated_remainders
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/fmod_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kFmod = PORTACL_VALUE_KERNELS(truncated_remainders::Fmod);
constexpr auto kFmodByScalar = PORTACL_VALUE_KERNELS(truncated_remainders::FmodByScalar);

enum Tensors { kSelf, kOther, kOut };
constexpr int kOutOfScalar = kOther;
enum Attributes { kScalar };

constexpr DtypeRule kDivided = WithBf16SinceAtlasA2(
    DtypeSet{ACL_FLOAT, ACL_INT32, ACL_INT8, ACL_FLOAT16, ACL_UINT8, ACL_DOUBLE, ACL_INT64});

constexpr auto TensorChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kOther), NotNull(out), DtypesIn(kDivided, {kSelf, kOther, out}),
                   Promotes({kSelf, kOther}), PromotedIn(kDivided, {kSelf, kOther})),
              BroadcastChecks(kSelf, kOther, out), ComputableChecks({kSelf, kOther}, out));
}
constexpr auto kChecks = TensorChecks(kOut);
constexpr auto kInPlaceChecks = TensorChecks(kSelf);

constexpr auto ScalarChecks(int out) {
  return Join(
      List(WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kScalar)), NotNull(kSelf), NotNull(out),
           DtypesIn(kDivided, {kSelf}), ScalarDtypesIn(kDivided, {kScalar}), DtypesIn(kDivided, {out}),
           PromotesScalarBy(ScalarRule::kFmodScalar, kSelf, {kScalar}, out),
           PromotedIn(kDivided, {kSelf}, {kScalar}), RankAtMost(8, {kSelf}), SameShape(kSelf, out)),
      ComputableChecks({kSelf}, out, {kScalar}));
}
constexpr auto kScalarChecks = ScalarChecks(kOutOfScalar);
constexpr auto kInPlaceScalarChecks = ScalarChecks(kSelf);

void SetFmod(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, call.Output(), kFmod, engine::Scalars(), executor);
}

void SetFmodByScalar(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kFmodByScalar, call.Scalar(kScalar), scalars, 0);
  SetMapJob(call, {kSelf}, call.Output(), kFmodByScalar, scalars, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFmodTensor) { return RunPhase1(call, kChecks, workspaceSize, executor, SetFmod); }

PORTACL_PHASE_1(aclnnInplaceFmodTensor) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetFmod);
}

PORTACL_PHASE_1(aclnnFmodScalar) {
  return RunPhase1(call, kScalarChecks, workspaceSize, executor, SetFmodByScalar);
}

PORTACL_PHASE_1(aclnnInplaceFmodScalar) {
  return RunPhase1(call, kInPlaceScalarChecks, workspaceSize, executor, SetFmodByScalar);
}

#endif  // HWY_ONCE
