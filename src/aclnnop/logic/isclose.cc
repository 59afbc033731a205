// aclnnIsClose: tells whether elements of two tensors are equal within a tolerance.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/isclose.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace closeness {

using namespace engine::HWY_NAMESPACE;

enum ScalarIndices { kRtol, kAtol };

// The second part of the first scalar is 1 if NaN counts as close to NaN.
struct Close : Elementwise<Close> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double>;
  static constexpr int kInputs = 2;
  static constexpr bool kTakes16BitFloats = true;
  static constexpr bool kWritesBool = true;
  explicit Close(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    const V tolerance =
        hn::Add(hn::Set(d, scalars.Get<T>(kAtol)), hn::Mul(hn::Set(d, scalars.Get<T>(kRtol)), hn::Abs(b)));
    const auto near =
        hn::And(hn::Lt(hn::Abs(b), functions::Infinity(d)), hn::Le(hn::Abs(hn::Sub(a, b)), tolerance));
    // Makes a mask of all lanes or of none.
    const auto equal_nan = hn::Eq(hn::Set(d, scalars.Get<T>(kRtol, 1)), hn::Set(d, T{1}));
    const auto both_nan = hn::AndNot(hn::Eq(a, a), hn::AndNot(hn::Eq(b, b), equal_nan));
    return hn::Or(hn::Or(hn::Eq(a, b), near), both_nan);
  }

  engine::Scalars scalars;
};

}  // namespace closeness
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/logic/isclose_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kClose = PORTACL_VALUE_KERNELS(closeness::Close);

enum Tensors { kSelf, kOther, kOut };
enum ScalarIndices { kRtol, kAtol };

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kOther),
    NotNull(kOut),
    DtypesIn(kRealArithmeticDtypes, {kSelf, kOther}),
    SameDtype(kSelf, kOther),
    RankAtMost(8, {kSelf, kOther}),
    Broadcasts({kSelf, kOther}),
    ShapeIsBroadcast(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOther}),
    InsideStorage({kSelf, kOther}),
    DtypeImplemented({kOut}, kBool),
    PromotesToDtypeOf(kSelf),
    ReplacesPromoted(DtypeSet{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_BOOL}, ACL_FLOAT),
    ReplacesPromoted(DtypeSet{ACL_INT64}, ACL_DOUBLE),
};

// Returns the scalars for lanes of type T.
template <class T>
engine::Scalars Tolerances(float rtol, float atol, bool equalNan) {
  const T of_rtol[] = {rtol, equalNan ? T{1} : T{0}};
  const T of_atol[] = {atol};
  engine::Scalars scalars;
  std::memcpy(scalars.bytes[kRtol], of_rtol, sizeof of_rtol);
  std::memcpy(scalars.bytes[kAtol], of_atol, sizeof of_atol);
  return scalars;
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIsClose) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const auto relative = static_cast<float>(given.rtol);
    const auto absolute = static_cast<float>(given.atol);
    const engine::Scalars scalars = checked.promoted == ACL_DOUBLE
                                        ? Tolerances<double>(relative, absolute, given.equalNan)
                                        : Tolerances<float>(relative, absolute, given.equalNan);
    SetMapJob(checked, {kSelf, kOther}, kOut, kClose, scalars, fresh);
  });
}

#endif  // HWY_ONCE
