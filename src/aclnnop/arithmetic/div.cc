// aclnnDiv, aclnnDivs, aclnnDivMod, aclnnDivMods and their in-place forms: true, truncated or floored
// quotients.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/div.cc"
#include "base/foreach_target.h"

#include "engine/functions/primitives-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/scalar_operand-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace quotients {

using namespace engine::HWY_NAMESPACE;

struct Quotient : Elementwise<Quotient> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, Complex<float>, Complex<double>>;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;
  static constexpr bool kTakes16BitFloats = true;
  explicit Quotient(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
  // Uses CANN's formula, which does not scale against overflow.
  template <class D, class V>
  HWY_INLINE void OfParts(D, V a, V b, V a_imaginary, V b_imaginary, V& real, V& imaginary) const {
    const V norm = hn::Add(hn::Mul(b, b), hn::Mul(b_imaginary, b_imaginary));
    real = hn::Div(hn::Add(hn::Mul(a, b), hn::Mul(a_imaginary, b_imaginary)), norm);
    imaginary = hn::Div(hn::Sub(hn::Mul(a_imaginary, b), hn::Mul(a, b_imaginary)), norm);
  }
};
using QuotientByScalar = WithLastScalar<Quotient>;

// Floats are rounded to a quotient first, and truncated then.
struct Truncated : Elementwise<Truncated> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t>;
  static constexpr int kInputs = 2;
  explicit Truncated(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return functions::Trunc(d, hn::Div(a, b));
    } else {
      return EachLane(
          d, [](T x, T y) { return TruncatedQuotient(x, y); }, a, b);
    }
  }
};
using TruncatedByScalar = WithLastScalar<Truncated>;

}  // namespace quotients
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/arithmetic/div_functions.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/floor_divide.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kQuotient = PORTACL_VALUE_KERNELS(quotients::Quotient);
constexpr auto kQuotientByScalar = PORTACL_VALUE_KERNELS(quotients::QuotientByScalar);
constexpr auto kTruncated = PORTACL_VALUE_KERNELS(quotients::Truncated);
constexpr auto kTruncatedByScalar = PORTACL_VALUE_KERNELS(quotients::TruncatedByScalar);

enum Tensors { kSelf, kOther, kOut };
constexpr int kOutOfScalar = kOther;
enum Attributes { kMode };
enum AttributesWithScalar { kScalar, kModeWithScalar };
enum Modes { kTrue, kTruncate, kFloor };

// A wrong mode passes here; the check of the mode refuses it.
bool CastIsTested(const OperatorCall& call) noexcept {
  return call.product != Product::kAscend950 || call.attributes.back().integer != kTruncate;
}
bool IsRounded(const OperatorCall& call) noexcept { return call.attributes.back().integer != kTrue; }
bool IsNotInt32ByInt32(const OperatorCall& call) noexcept {
  return call.Tensor(kSelf).dtype != ACL_INT32 || call.Tensor(kOther).dtype != ACL_INT32;
}

// Follows the check of the mode: success for empty tensors comes before the refusal of complex numbers.
constexpr auto EmptyChecks(Operands inputs, int out) {
  return List(SizesRepresentable({out}), DoneIfEmpty(inputs));
}

constexpr auto TensorChecks(int out) {
  return Join(List(NotNull(out), NotNull(kOther), NotNull(kSelf)), BroadcastChecks(kSelf, kOther, out),
              List(DtypesIn(kArithmeticDtypes, {kOther, kSelf}), Promotes({kSelf, kOther}),
                   OnProducts(products::kAscend950,
                              IfEqual(kMode, kTrue, ReplacesPromoted(kIntegersAndBool, ACL_FLOAT))),
                   If(CastIsTested, PromotedCastsTo(out)), NotPrivate({kSelf, kOther, out}),
                   IntegerIn(kMode, kTrue, kFloor)),
              EmptyChecks({kSelf, kOther}, out),
              List(If(IsRounded, PromotedNotIn(kComplex, {kSelf, kOther}))));
}
// Selects the dtype of the computation. Before Ascend 950, modes 0 and 1 compute DOUBLE as FLOAT, and mode 1
// computes all integers but INT32 by INT32 as FLOAT.
constexpr auto ModeChecks(int out) {
  constexpr DtypeSet kAsFloat = kIntegersAndBool | kDouble;
  return Join(TensorChecks(out),
              List(OnProducts(products::kBeforeAscend950,
                              IfEqual(kMode, kTrue, ReplacesPromoted(kAsFloat, ACL_FLOAT))),
                   OnProducts(products::kBeforeAscend950,
                              IfEqual(kMode, kTruncate,
                                      If(IsNotInt32ByInt32, ReplacesPromoted(kAsFloat, ACL_FLOAT)))),
                   ReplacesPromoted(kBool, ACL_FLOAT)),
              ComputableChecks({kSelf, kOther}, out));
}
constexpr auto DivChecks(int out) {
  return Join(TensorChecks(out), List(ReplacesPromoted(kIntegersAndBool, ACL_FLOAT)),
              ComputableChecks({kSelf, kOther}, out));
}
constexpr auto kDivChecks = DivChecks(kOut);
constexpr auto kInPlaceDivChecks = Join(InPlaceFirstChecks(kSelf, kOther), DivChecks(kSelf));
constexpr auto kModeChecks = ModeChecks(kOut);
constexpr auto kInPlaceModeChecks = Join(InPlaceFirstChecks(kSelf, kOther), ModeChecks(kSelf));

constexpr Check Computes(Modes mode, ScalarRule rule, int out) {
  return IfEqual(kModeWithScalar, mode, PromotesScalarBy(rule, kSelf, {kScalar}, out));
}
constexpr auto ScalarChecks(ScalarRule for_true, int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kScalar), NotNull(out), NotPrivate({kSelf, out}),
                   ScalarDtypesIn(kArithmeticDtypes, {kScalar}), DtypesIn(kArithmeticDtypes, {kSelf}),
                   RankAtMost(8, {kSelf}), SameShape(kSelf, out),
                   PromotesScalarBy(ScalarRule::kDivsResult, kSelf, {kScalar}, out),
                   Computes(kFloor, ScalarRule::kDivModsFloorResult, out),
                   If(CastIsTested, PromotedCastsTo(out)), IntegerIn(kModeWithScalar, kTrue, kFloor)),
              EmptyChecks({kSelf}, out),
              List(Computes(kTrue, for_true, out), Computes(kTruncate, ScalarRule::kDivModsTruncate, out),
                   Computes(kFloor, ScalarRule::kDivModsFloor, out),
                   If(IsRounded, PromotedNotIn(kComplex, {kSelf}, {kScalar}))),
              ComputableChecks({kSelf}, out, {kScalar}));
}
constexpr auto kDivsChecks = ScalarChecks(ScalarRule::kDivs, kOutOfScalar);
constexpr auto kInPlaceDivsChecks = ScalarChecks(ScalarRule::kDivs, kSelf);
constexpr auto kScalarModeChecks = ScalarChecks(ScalarRule::kDivModsTrue, kOutOfScalar);
constexpr auto kInPlaceScalarModeChecks = ScalarChecks(ScalarRule::kDivModsTrue, kSelf);

const engine::KernelTable& KernelsOf(int64_t mode) {
  return mode == kTrue ? kQuotient : mode == kTruncate ? kTruncated : FlooredQuotientKernels();
}
const engine::KernelTable& KernelsByScalarOf(int64_t mode) {
  return mode == kTrue       ? kQuotientByScalar
         : mode == kTruncate ? kTruncatedByScalar
                             : FlooredQuotientByScalarKernels();
}

void SetQuotient(const OperatorCall& call, Executor& executor) {
  const engine::KernelTable& kernels = KernelsOf(call.attributes[kMode].integer);
  SetMapJob(call, {kSelf, kOther}, call.Output(), kernels, engine::Scalars(), executor);
}

void SetQuotientByScalar(const OperatorCall& call, Executor& executor) {
  const engine::KernelTable& kernels = KernelsByScalarOf(call.attributes[kModeWithScalar].integer);
  engine::Scalars scalars;
  SetMapScalar(call, kernels, call.Scalar(kScalar), scalars, 0);
  SetMapJob(call, {kSelf}, call.Output(), kernels, scalars, executor);
}

}  // namespace

const engine::KernelTable& QuotientKernels() noexcept { return kQuotient; }
const engine::KernelTable& QuotientByScalarKernels() noexcept { return kQuotientByScalar; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDiv) { return RunPhase1(call, kDivChecks, workspaceSize, executor, SetQuotient); }

PORTACL_PHASE_1(aclnnInplaceDiv) {
  return RunPhase1(call, kInPlaceDivChecks, workspaceSize, executor, SetQuotient);
}

PORTACL_PHASE_1(aclnnDivs) {
  return RunPhase1(call, kDivsChecks, workspaceSize, executor, SetQuotientByScalar);
}

PORTACL_PHASE_1(aclnnInplaceDivs) {
  return RunPhase1(call, kInPlaceDivsChecks, workspaceSize, executor, SetQuotientByScalar);
}

PORTACL_PHASE_1(aclnnDivMod) { return RunPhase1(call, kModeChecks, workspaceSize, executor, SetQuotient); }

PORTACL_PHASE_1(aclnnInplaceDivMod) {
  return RunPhase1(call, kInPlaceModeChecks, workspaceSize, executor, SetQuotient);
}

PORTACL_PHASE_1(aclnnDivMods) {
  return RunPhase1(call, kScalarModeChecks, workspaceSize, executor, SetQuotientByScalar);
}

PORTACL_PHASE_1(aclnnInplaceDivMods) {
  return RunPhase1(call, kInPlaceScalarModeChecks, workspaceSize, executor, SetQuotientByScalar);
}

#endif  // HWY_ONCE
