// aclnnLerp, aclnnLerps and their in-place forms: linear interpolation between two values.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/lerp.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace interpolation {

using namespace engine::HWY_NAMESPACE;

// Starts from the nearer end, as PyTorch does.
struct Between : Elementwise<Between> {
  using Parameters = engine::Scalars;
  static constexpr int kInputs = 3;
  static constexpr bool kTakes16BitFloats = true;
  explicit Between(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V start, V end, V weight) const {
    const auto is_nearer_start = hn::Lt(weight, hn::Set(d, 0.5f));
    const V from = hn::IfThenElse(is_nearer_start, start, end);
    const V factor = hn::IfThenElse(is_nearer_start, weight, hn::Sub(weight, hn::Set(d, 1.0f)));
    return functions::Fma(d, factor, hn::Sub(end, start), from);
  }
};
using BetweenByScalar = WithLastScalar<Between>;

}  // namespace interpolation
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/lerp_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kBetween = PORTACL_VALUE_KERNELS(interpolation::Between);
constexpr auto kBetweenByScalar = PORTACL_VALUE_KERNELS(interpolation::BetweenByScalar);

enum Tensors { kSelf, kEnd, kWeight, kOut };
constexpr int kOutOfScalar = kWeight;
enum Attributes { kScalarWeight };

constexpr DtypeRule kOutDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);

constexpr auto TensorChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kEnd), NotNull(kWeight), NotNull(out),
                   DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kEnd), SameDtype(kSelf, kWeight),
                   SameDtype(kSelf, out)),
              BroadcastsInto({kSelf, kEnd, kWeight}, out),
              List(RankAtMostUnlessContiguous(8, {kSelf, kEnd, kWeight, out}), PromotesToDtypeOf(kSelf)),
              ComputableChecks({kSelf, kEnd, kWeight}, out));
}
constexpr auto ScalarChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kEnd), ScalarNotNull(kScalarWeight), NotNull(out),
                   DtypesIn(kBf16SinceAtlasA2, {kSelf}), DtypesIn(kOutDtypes, {out}), SameDtype(kSelf, kEnd)),
              BroadcastsInto({kSelf, kEnd}, out),
              List(RankAtMostUnlessContiguous(8, {kSelf, kEnd, out}), PromotesToDtypeOf(kSelf)),
              ComputableChecks({kSelf, kEnd}, out, {kScalarWeight}));
}
constexpr auto kChecks = TensorChecks(kOut);
constexpr auto kInPlaceChecks = TensorChecks(kSelf);
constexpr auto kScalarChecks = ScalarChecks(kOutOfScalar);
constexpr auto kInPlaceScalarChecks = ScalarChecks(kSelf);

void SetBetween(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kEnd, kWeight}, call.Output(), kBetween, engine::Scalars(), executor);
}

void SetBetweenByScalar(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  SetMapScalar(call, kBetweenByScalar, call.Scalar(kScalarWeight), scalars, 0);
  SetMapJob(call, {kSelf, kEnd}, call.Output(), kBetweenByScalar, scalars, executor);
}

}  // namespace

const engine::KernelTable& BetweenKernels() noexcept { return kBetween; }
const engine::KernelTable& BetweenByScalarKernels() noexcept { return kBetweenByScalar; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLerp) { return RunPhase1(call, kChecks, workspaceSize, executor, SetBetween); }

PORTACL_PHASE_1(aclnnInplaceLerp) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetBetween);
}

PORTACL_PHASE_1(aclnnLerps) {
  return RunPhase1(call, kScalarChecks, workspaceSize, executor, SetBetweenByScalar);
}

PORTACL_PHASE_1(aclnnInplaceLerps) {
  return RunPhase1(call, kInPlaceScalarChecks, workspaceSize, executor, SetBetweenByScalar);
}

#endif  // HWY_ONCE
