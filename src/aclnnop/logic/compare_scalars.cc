// aclnnEqScalar, aclnnNeScalar, aclnnGtScalar, aclnnGeScalar, aclnnLtScalar, aclnnLeScalar and their in-place
// forms: comparisons of a tensor with a scalar.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/compare_scalars.cc"
#include <hwy/foreach_target.h>

#include "aclnnop/logic/comparisons-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace comparisons {

using Equal = OfScalar<IsEqual>;
using Less = OfScalar<IsLess>;
using Greater = OfScalar<IsLess, /*kScalarFirst=*/true>;
using LessOrEqual = OfScalar<IsLessOrEqual>;
using GreaterOrEqual = OfScalar<IsLessOrEqual, /*kScalarFirst=*/true>;

}  // namespace comparisons
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/logic/compare_scalars_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

using namespace comparisons;

constexpr auto kEqualKernels = PORTACL_VALUE_KERNELS(comparisons::Equal);
constexpr auto kGreaterKernels = PORTACL_VALUE_KERNELS(comparisons::Greater);
constexpr auto kGreaterOrEqualKernels = PORTACL_VALUE_KERNELS(comparisons::GreaterOrEqual);
constexpr auto kLessKernels = PORTACL_VALUE_KERNELS(comparisons::Less);
constexpr auto kLessOrEqualKernels = PORTACL_VALUE_KERNELS(comparisons::LessOrEqual);

enum Tensors { kSelf, kOut };
enum Attributes { kOther };

constexpr ProductSet kNowhere{};

// On `tested` products both dtypes are checked, on others only the promoted one. On `promoting` products the
// dtypes must also promote as two tensors' would, although the result is not used.
constexpr auto Checks(const DtypeRule& in, const DtypeRule& result, ScalarRule rule, int out,
                      ProductSet tested = products::kAll, ProductSet promoting = kNowhere) {
  return List(NotNull(kSelf), ScalarNotNull(kOther), NotNull(out), OnProducts(tested, DtypesIn(in, {kSelf})),
              OnProducts(tested, ScalarDtypesIn(in, {kOther})), DtypesIn(result, {out}),
              OnProducts(promoting, PromotesScalar(kSelf, kOther)),
              PromotesScalarBy(rule, kSelf, {kOther}, out), PromotedIn(in, {kSelf}, {kOther}),
              RankAtMost(8, {kSelf, out}), Broadcasts({kSelf}), SameShape(kSelf, out),
              SizesRepresentable({out}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}),
              DtypeImplemented({kSelf, out}, kConvertible), ScalarsImplemented(kConvertible, {kOther}));
}
constexpr auto kEqChecks = Checks(kEqualOfScalar, kEqualOutOfScalar, ScalarRule::kEqScalar, kOut,
                                  products::kAll, products::kBeforeAscend950);
constexpr auto kInplaceEqChecks = Checks(kEqualOfScalar, kEqualOutOfScalar, ScalarRule::kEqScalar, kSelf,
                                         products::kAll, products::kBeforeAscend950);
constexpr auto kNeChecks = Checks(kNotEqual, kNotEqualOut, ScalarRule::kEqScalar, kOut);
constexpr auto kInplaceNeChecks = Checks(kNotEqual, kNotEqualOut, ScalarRule::kEqScalar, kSelf);
constexpr auto kGtChecks = Checks(kOrdered, kGreaterOut, ScalarRule::kGtScalar, kOut);
constexpr auto kInplaceGtChecks = Checks(kOrdered, kGreaterOut, ScalarRule::kGtScalar, kSelf);
constexpr auto kGeChecks = Checks(kOrdered, kGreaterOrEqualOut, ScalarRule::kGtScalar, kOut, kNowhere);
constexpr auto kInplaceGeChecks =
    Checks(kOrdered, kGreaterOrEqualOut, ScalarRule::kGtScalar, kSelf, kNowhere);
// Products before Ascend 950 compute the promoted dtype of aclnnLtScalar before they check for null.
constexpr auto kLtOperands =
    List(OnProducts(products::kBeforeAscend950, WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kSelf))),
         OnProducts(products::kBeforeAscend950, WithCode(ACLNN_ERR_INNER_NULLPTR, ScalarNotNull(kOther))));
constexpr auto kLtChecks = Join(kLtOperands, Checks(kOrdered, kLessOut, ScalarRule::kLtScalar, kOut));
constexpr auto kInplaceLtChecks = Join(kLtOperands, Checks(kOrdered, kLessOut, ScalarRule::kLtScalar, kSelf));
constexpr auto kLeChecks = Checks(kLessOrEqual, kLessOrEqualOut, ScalarRule::kLeScalar, kOut);
constexpr auto kInplaceLeChecks = Checks(kLessOrEqual, kLessOrEqualOut, ScalarRule::kLeScalar, kSelf);

// An operator's kernels, and, if they exist, the kernels of the opposite relation, which integers use.
struct Comparison {
  const engine::KernelTable& kernels;
  const engine::KernelTable* opposite_of_integers = nullptr;
  bool is_opposite = false;
};
constexpr Comparison kEq{kEqualKernels};
constexpr Comparison kNe{kEqualKernels, nullptr, /*is_opposite=*/true};
constexpr Comparison kGt{kGreaterKernels};
constexpr Comparison kGe{kGreaterOrEqualKernels, &kLessKernels};
constexpr Comparison kLt{kLessKernels};
constexpr Comparison kLe{kLessOrEqualKernels, &kGreaterKernels};

aclnnStatus Compare(OperatorCall& call, std::span<const Check> checks, const Comparison& comparison,
                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const bool by_opposite = comparison.opposite_of_integers != nullptr && !HasNan(checked.promoted);
    const engine::KernelTable& kernels = by_opposite ? *comparison.opposite_of_integers : comparison.kernels;
    engine::Scalars scalars = ScalarsOf(by_opposite || comparison.is_opposite);
    // Rounds the scalar to the promoted dtype, even to a 16-bit one.
    SetMapScalar(checked, kernels, checked.Scalar(0), scalars, 0, checked.promoted);
    SetMapJob(checked, {kSelf}, checked.in_place ? kSelf : kOut, kernels, scalars, fresh);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnEqScalar) { return Compare(call, kEqChecks, kEq, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceEqScalar) {
  return Compare(call, kInplaceEqChecks, kEq, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnNeScalar) { return Compare(call, kNeChecks, kNe, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceNeScalar) {
  return Compare(call, kInplaceNeChecks, kNe, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnGtScalar) { return Compare(call, kGtChecks, kGt, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceGtScalar) {
  return Compare(call, kInplaceGtChecks, kGt, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnGeScalar) { return Compare(call, kGeChecks, kGe, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceGeScalar) {
  return Compare(call, kInplaceGeChecks, kGe, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLtScalar) { return Compare(call, kLtChecks, kLt, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLtScalar) {
  return Compare(call, kInplaceLtChecks, kLt, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLeScalar) { return Compare(call, kLeChecks, kLe, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLeScalar) {
  return Compare(call, kInplaceLeChecks, kLe, workspaceSize, executor);
}

#endif  // HWY_ONCE
