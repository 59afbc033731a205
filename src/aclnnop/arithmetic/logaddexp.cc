// aclnnLogAddExp and aclnnLogAddExp2: logarithm of the sum of two powers.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/logaddexp.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace logarithms_of_sums {

using namespace engine::HWY_NAMESPACE;

struct OfPowersOfE : Elementwise<OfPowersOfE> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit OfPowersOfE(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return functions::LogAddExp(d, a, b);
  }
};

struct OfPowersOfTwo : Elementwise<OfPowersOfTwo> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float>;
  static constexpr int kInputs = 2;
  explicit OfPowersOfTwo(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return functions::LogAddExp2(d, a, b);
  }
};

}  // namespace logarithms_of_sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/logaddexp_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kOfPowersOfE = PORTACL_VALUE_KERNELS(logarithms_of_sums::OfPowersOfE);
constexpr auto kOfPowersOfTwo = PORTACL_VALUE_KERNELS(logarithms_of_sums::OfPowersOfTwo);

enum Tensors { kSelf, kOther, kOut };

constexpr DtypeRule kIn = WithBf16SinceAtlasA2(kRealArithmetic | kUnsignedSince16Bits);
constexpr DtypeRule kOutDtypes = kBf16SinceAtlasA2;

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kOther),
    NotNull(kOut),
    DtypesIn(kIn, {kSelf, kOther}),
    DtypesIn(kOutDtypes, {kOut}),
    CastsTo(kSelf, kOut),
    CastsTo(kOther, kOut),
    RankAtMost(8, {kSelf, kOther}),
    Broadcasts({kSelf, kOther}),
    ShapeIsBroadcast(kOut),
    OnProducts(products::kAscend950, SameFormat({kSelf, kOther, kOut})),
    OnProducts(products::kAscend950, NotPrivate({kSelf, kOther, kOut})),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOther}),
    InsideStorage({kSelf, kOther}),
    PromotesToDtypeOf(kOut),
};

aclnnStatus AddPowers(OperatorCall& call, const engine::KernelTable& kernels, uint64_t* workspaceSize,
                      aclOpExecutor** executor) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetMapJob(checked, {kSelf, kOther}, kOut, kernels, {}, fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLogAddExp) { return AddPowers(call, kOfPowersOfE, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnLogAddExp2) { return AddPowers(call, kOfPowersOfTwo, workspaceSize, executor); }

#endif  // HWY_ONCE
