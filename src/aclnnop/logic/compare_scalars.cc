// aclnnEqScalar, aclnnNeScalar, aclnnGtScalar, aclnnGeScalar, aclnnLtScalar, aclnnLeScalar and their in-place
// forms, aclnnIsInTensorScalar and aclnnIsInScalarTensor: comparisons of a tensor with a scalar.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/compare_scalars.cc"
#include "base/foreach_target.h"

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
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/promotion.h"

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

// ---- IsIn ----

// aclnnIsInTensorScalar asks for each element whether it is the number, aclnnIsInScalarTensor whether the number is any element.
enum AttributesOfIsIn { kNumber, kAssumesUnique, kInverts };

constexpr DtypeRule kSought = WithBf16SinceAtlasA2(DtypeSet{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE} | kIntegers);

// With fewer elements the number does not lift the tensor's dtype within its category.
constexpr int64_t kManyElements = 10;

bool IsFloating(aclDataType dtype) { return (kFloatHalfAndBf16 | kDouble).Contains(dtype); }

template <bool kIsAny>
aclnnStatus PromotesSought(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& tensor = call.Tensor(kSelf);
  aclDataType number = call.Scalar(kNumber).dtype;
  if (call.product == Product::kAscend950 && IsFloating(number)) number = ACL_FLOAT;
  const bool is_lifted = kIsAny && tensor.countable && tensor.numel >= kManyElements;
  const bool crosses = IsFloating(number) && !IsFloating(tensor.dtype);
  call.promoted = is_lifted || crosses ? PromoteType(number, tensor.dtype) : tensor.dtype;
  if (call.promoted != ACL_DT_UNDEFINED) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kSelf).Add(" does not promote with the number's dtype");
  return FailAclnn(check.code, message.Add(", accepted: dtypes that do."));
}

constexpr auto SoughtChecks(const Check& promotes, const Check& cast, const Check& shape) {
  return List(DtypesIn(kSought, {kSelf}), ScalarDtypesIn(kSought, {kNumber}), DtypesIn(kBool, {kOut}),
              promotes, cast, RankAtMost(8, {kSelf}), shape, SizesRepresentable({kOut}));
}
constexpr auto kIsInTensorScalarChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(kNumber), NotNull(kOut)),
         SoughtChecks(Custom(PromotesSought<false>), CastsToPromoted({kSelf}), SameShape(kSelf, kOut)),
         List(DoneIfEmpty({kSelf}), InsideStorage({kSelf})));
constexpr auto kIsInScalarTensorChecks =
    Join(List(ScalarNotNull(kNumber), NotNull(kSelf), NotNull(kOut)),
         SoughtChecks(Custom(PromotesSought<true>), CastsToPromoted({kSelf}), IsScalar(kOut)),
         List(ScalarsCastToPromoted({kNumber}), InsideStorage({kSelf})));

// An element is the number unless every one is another, so the test for all is asked and its answer inverted.
void SetIsInTensor(const OperatorCall& call, Executor& executor) {
  const bool inverts = call.attributes[kInverts].integer != 0;
  if (call.Tensor(kSelf).shape.IsEmpty()) {
    ScalarValue value{};
    value.bytes[0] = inverts ? 1 : 0;
    return SetFillJob(call, kOut, value, executor);
  }
  engine::Scalars scalars = ScalarsOf(/*is_opposite=*/true);
  SetMapScalar(call, kEqualKernels, call.Scalar(kNumber), scalars, 0, call.promoted);
  SetEveryJob(call, {kSelf}, kOut, kEqualKernels, scalars, executor, /*is_opposite=*/!inverts);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIsInTensorScalar) {
  const bool inverts = call.attributes[kInverts].integer != 0;
  return Compare(call, kIsInTensorScalarChecks, inverts ? kNe : kEq, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnIsInScalarTensor) {
  return RunPhase1(call, kIsInScalarTensorChecks, workspaceSize, executor, SetIsInTensor);
}

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
