// aclnnFloorDivide, aclnnFloorDivides and their in-place forms: floored quotients.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/floor_divide.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace floored_quotients {

using namespace engine::HWY_NAMESPACE;

// Rounds the quotient of floats before it is floored.
struct Floored : Elementwise<Floored> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit Floored(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Floor(d, hn::Div(a, b));
    } else {
      return EachLane(
          d, [](T x, T y) { return engine::HWY_NAMESPACE::FlooredQuotient(x, y); }, a, b);
    }
  }
};
using FlooredByScalar = WithLastScalar<Floored>;

}  // namespace floored_quotients
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/floor_divide_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/floor_divide.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOther, kOut };
constexpr int kOutOfScalar = kOther;
enum Attributes { kScalar };

constexpr auto TensorChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kOther), NotNull(out),
                   DtypesIn(kRealArithmeticDtypes, {kSelf, kOther}), Promotes({kSelf, kOther})),
              Ascend950Checks(kRealArithmeticDtypes, {kSelf, kOther}),
              List(OnProducts(products::kAscend950, PromotedCastsTo(out))),
              BroadcastChecks(kSelf, kOther, out), List(ReplacesPromoted(kBool, ACL_FLOAT)),
              ComputableChecks({kSelf, kOther}, out));
}
constexpr auto kChecks = TensorChecks(kOut);
constexpr auto kInPlaceChecks = Join(InPlaceFirstChecks(kSelf, kOther), TensorChecks(kSelf));

constexpr auto ScalarChecks(int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kScalar), NotNull(out),
                   DtypesIn(kRealArithmeticDtypes, {kSelf}), ScalarDtypesIn(kRealArithmeticDtypes, {kScalar}),
                   PromotesScalarBy(ScalarRule::kFloorDivides, kSelf, {kScalar}, out)),
              Ascend950Checks(kRealArithmeticDtypes, {kSelf}, {kScalar}),
              List(OnProducts(products::kAscend950, PromotedCastsTo(out)), RankAtMost(8, {kSelf}),
                   SameShape(kSelf, out), ReplacesPromoted(kBool, ACL_FLOAT)),
              ComputableChecks({kSelf}, out, {kScalar}));
}
constexpr auto kScalarChecks = ScalarChecks(kOutOfScalar);
constexpr auto kInPlaceScalarChecks = ScalarChecks(kSelf);

constexpr engine::KernelTable kFloored = PORTACL_VALUE_KERNELS(floored_quotients::Floored);
constexpr engine::KernelTable kFlooredByScalar = PORTACL_VALUE_KERNELS(floored_quotients::FlooredByScalar);

void SetQuotient(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kOther}, call.Output(), kFloored, engine::Scalars(), executor);
}

void SetQuotientByScalar(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kFlooredByScalar, call.Scalar(kScalar), scalars, 0);
  SetMapJob(call, {kSelf}, call.Output(), kFlooredByScalar, scalars, executor);
}

}  // namespace

const engine::KernelTable& FlooredQuotientKernels() noexcept { return kFloored; }
const engine::KernelTable& FlooredQuotientByScalarKernels() noexcept { return kFlooredByScalar; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFloorDivide) { return RunPhase1(call, kChecks, workspaceSize, executor, SetQuotient); }

PORTACL_PHASE_1(aclnnInplaceFloorDivide) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetQuotient);
}

PORTACL_PHASE_1(aclnnFloorDivides) {
  return RunPhase1(call, kScalarChecks, workspaceSize, executor, SetQuotientByScalar);
}

PORTACL_PHASE_1(aclnnInplaceFloorDivides) {
  return RunPhase1(call, kInPlaceScalarChecks, workspaceSize, executor, SetQuotientByScalar);
}

#endif  // HWY_ONCE
