// aclnnNanToNum and aclnnInplaceNanToNum: replace NaN and infinities with numbers.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/nan_to_num.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace numbers {

using namespace engine::HWY_NAMESPACE;

// Scalars: the replacements of NaN and infinity, as two parts, and that of -infinity.
struct Replace : Elementwise<Replace> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = true;
  explicit Replace(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V infinity = functions::Infinity(d);
    const V number = hn::IfThenElse(hn::Eq(x, x), x, hn::Set(d, scalars.Get<float>(0)));
    const V finite = hn::IfThenElse(hn::Eq(x, infinity), hn::Set(d, scalars.Get<float>(0, 1)), number);
    return hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), hn::Set(d, scalars.Get<float>(1)), finite);
  }

  engine::Scalars scalars;
};

}  // namespace numbers
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/phase1.h"
#include "aclnnop/unary/nan_to_num_functions.h"

namespace portacl {
namespace {

constexpr auto kReplace = PORTACL_VALUE_KERNELS(numbers::Replace);

enum Tensors { kSelf, kOut };

constexpr DtypeRule kReplaced = SinceAtlasA2(kFloatHalfAndBf16 | kIntegersAndBool);

constexpr auto Checks(int out) {
  return List(NotNull(kSelf), NotNull(out), DtypesIn(kReplaced, {kSelf}), SameDtype(kSelf, out),
              Broadcasts({kSelf}), SameShape(kSelf, out), RankAtMost(8, {kSelf}), SizesRepresentable({out}),
              DoneIfEmpty({kSelf}), InsideStorage({kSelf}), PromotesToDtypeOf(kSelf));
}
constexpr auto kChecks = Checks(kOut);
constexpr auto kInplaceChecks = Checks(kSelf);

aclnnStatus ReplaceNan(OperatorCall& call, std::span<const Check> checks, float nan, float posinf,
                       float neginf, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const int out = checked.in_place ? kSelf : kOut;
    if (!kFloatHalfAndBf16.Contains(checked.promoted)) return SetMoveJob(checked, kSelf, out, fresh);
    engine::Scalars scalars;
    std::memcpy(scalars.bytes[0], &nan, sizeof nan);
    std::memcpy(scalars.bytes[0] + sizeof nan, &posinf, sizeof posinf);
    std::memcpy(scalars.bytes[1], &neginf, sizeof neginf);
    SetMapJob(checked, {kSelf}, out, kReplace, scalars, fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnNanToNum) {
  return ReplaceNan(call, kChecks, given.nan, given.posinf, given.neginf, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceNanToNum) {
  return ReplaceNan(call, kInplaceChecks, given.nan, given.posinf, given.neginf, workspaceSize, executor);
}

#endif  // HWY_ONCE
