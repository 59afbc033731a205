// aclnnEqTensor, aclnnNeTensor, aclnnGtTensor, aclnnGeTensor, aclnnLtTensor, aclnnLeTensor and their in-place
// forms: elementwise comparisons of two tensors. aclnnEqual compares whole tensors.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/logic/compare_tensors.cc"
#include "base/foreach_target.h"

#include "aclnnop/logic/comparisons-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace comparisons {

using Equal = OfTensors<IsEqual>;
using Less = OfTensors<IsLess>;
using LessOrEqual = OfTensors<IsLessOrEqual>;

}  // namespace comparisons
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/logic/compare_tensors_functions.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

using namespace comparisons;

constexpr auto kEqualKernels = PORTACL_VALUE_KERNELS(comparisons::Equal);
constexpr auto kLessKernels = PORTACL_VALUE_KERNELS(comparisons::Less);
constexpr auto kLessOrEqualKernels = PORTACL_VALUE_KERNELS(comparisons::LessOrEqual);

enum Tensors { kSelf, kOther, kOut };

// Differences between the lists: the accepted dtypes, and the products on which each input's dtype and the
// promoted dtype are checked.
struct Lists {
  const DtypeRule& in;
  const DtypeRule& result;
  ProductSet each_input;
  ProductSet promoted;
};

constexpr auto TestsOf(const Lists& lists, int out, Operands ranks) {
  return List(OnProducts(lists.each_input, DtypesIn(lists.in, {kSelf, kOther})),
              DtypesIn(lists.result, {out}), PromotesByRank(kSelf, kOther),
              OnProducts(lists.promoted, PromotedIn(lists.in, {kSelf, kOther})), RankAtMost(8, ranks),
              Broadcasts({kSelf, kOther}), ShapeIsBroadcast(out), SizesRepresentable({out}),
              DoneIfEmpty({kSelf, kOther}), InsideStorage({kSelf, kOther}),
              DtypeImplemented({kSelf, kOther, out}, kConvertible));
}
constexpr auto NotNulls(int out) { return List(NotNull(kSelf), NotNull(kOther), NotNull(out)); }

constexpr auto Checks(const Lists& lists, int out) {
  return Join(NotNulls(out), TestsOf(lists, out, {kSelf, kOther, out}));
}
constexpr auto ChecksWithoutRankOfOut(const Lists& lists, int out) {
  return Join(NotNulls(out), TestsOf(lists, out, {kSelf, kOther}));
}
// aclnnNeTensor and aclnnLeTensor return for empty tensors before any other check.
constexpr auto ChecksAfterEmpty(const Lists& lists, int out, Operands ranks) {
  return Join(NotNulls(out), List(DoneIfEmpty({kSelf, kOther})), TestsOf(lists, out, ranks));
}

constexpr ProductSet kNowhere{};
constexpr Lists kEq{kEqual, kEqualOut, products::kAscend950, products::kAll};
constexpr Lists kNe{kNotEqual, kNotEqualOut, products::kAll, products::kAscend950};
constexpr Lists kGt{kOrdered, kGreaterOut, kNowhere, products::kAll};
constexpr Lists kGe{kOrdered, kGreaterOrEqualOut, kNowhere, products::kAll};
constexpr Lists kLt{kOrdered, kLessOut, products::kAll, products::kAscend950};
constexpr Lists kLe{kLessOrEqual, kLessOrEqualOut, products::kAll, products::kAscend950};

constexpr auto kEqChecks = Checks(kEq, kOut);
constexpr auto kInplaceEqChecks = Checks(kEq, kSelf);
constexpr auto kNeChecks = ChecksAfterEmpty(kNe, kOut, {kSelf, kOther});
constexpr auto kInplaceNeChecks = ChecksAfterEmpty(kNe, kSelf, {kSelf, kOther});
constexpr auto kGtChecks = Checks(kGt, kOut);
constexpr auto kInplaceGtChecks = Checks(kGt, kSelf);
constexpr auto kGeChecks = Checks(kGe, kOut);
constexpr auto kInplaceGeChecks = Checks(kGe, kSelf);
constexpr auto kLtChecks = ChecksWithoutRankOfOut(kLt, kOut);
constexpr auto kInplaceLtChecks = ChecksWithoutRankOfOut(kLt, kSelf);
constexpr auto kLeChecks = ChecksAfterEmpty(kLe, kOut, {kSelf, kOther, kOut});
constexpr auto kInplaceLeChecks = ChecksAfterEmpty(kLe, kSelf, {kSelf, kOther, kSelf});

enum class Relation { kEqual, kNotEqual, kLess, kGreater, kLessOrEqual, kGreaterOrEqual };

void SetComparison(const OperatorCall& call, Relation relation, Executor& executor) {
  using enum Relation;
  const bool has_equal = relation == kLessOrEqual || relation == kGreaterOrEqual;
  // a <= b is the opposite of b < a, unless there is NaN.
  const bool is_opposite = relation == kNotEqual || (has_equal && !HasNan(call.promoted));
  const bool is_swapped = relation == kGreater || relation == kGreaterOrEqual;
  const engine::KernelTable& kernels = relation == kEqual || relation == kNotEqual ? kEqualKernels
                                       : has_equal && !is_opposite                 ? kLessOrEqualKernels
                                                                                   : kLessKernels;
  const Operands order =
      is_swapped != (has_equal && is_opposite) ? Operands{kOther, kSelf} : Operands{kSelf, kOther};
  SetMapJob(call, order, call.in_place ? kSelf : kOut, kernels, ScalarsOf(is_opposite), executor);
}

aclnnStatus Compare(OperatorCall& call, std::span<const Check> checks, Relation relation,
                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetComparison(checked, relation, fresh);
  });
}

constexpr DtypeRule kWhole =
    WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegersAndBool | kUnsignedSince16Bits);

// Different shapes are accepted, and nothing broadcasts.
constexpr auto kWholeChecks =
    List(NotNull(kSelf), NotNull(kOther), NotNull(kOut), Promotes({kSelf, kOther}),
         PromotedIn(kWhole, {kSelf, kOther}), DtypesIn(DtypeSet{ACL_BOOL}, {kOut}),
         RankAtMost(8, {kSelf, kOther, kOut}), RankIs(1, {kOut}), OneElement(kOut, ACLNN_ERR_PARAM_INVALID),
         SizesRepresentable({kOut}), InsideStorage({kSelf, kOther}),
         DtypeImplemented({kSelf, kOther}, kConvertible));

void SetWholeComparison(const OperatorCall& call, Executor& executor) {
  const Shape& shape = call.Tensor(kSelf).shape;
  const bool is_same_shape = shape == call.Tensor(kOther).shape;
  if (is_same_shape && NumelOf(shape) > 0)
    return SetEveryJob(call, {kSelf, kOther}, kOut, kEqualKernels, ScalarsOf(/*is_opposite=*/false),
                       executor);
  ScalarValue value{};
  value.bytes[0] = is_same_shape ? 1 : 0;
  SetFillJob(call, kOut, value, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnEqTensor) { return Compare(call, kEqChecks, Relation::kEqual, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceEqTensor) {
  return Compare(call, kInplaceEqChecks, Relation::kEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnNeTensor) {
  return Compare(call, kNeChecks, Relation::kNotEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceNeTensor) {
  return Compare(call, kInplaceNeChecks, Relation::kNotEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnGtTensor) {
  return Compare(call, kGtChecks, Relation::kGreater, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceGtTensor) {
  return Compare(call, kInplaceGtChecks, Relation::kGreater, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnGeTensor) {
  return Compare(call, kGeChecks, Relation::kGreaterOrEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceGeTensor) {
  return Compare(call, kInplaceGeChecks, Relation::kGreaterOrEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLtTensor) { return Compare(call, kLtChecks, Relation::kLess, workspaceSize, executor); }

PORTACL_PHASE_1(aclnnInplaceLtTensor) {
  return Compare(call, kInplaceLtChecks, Relation::kLess, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnLeTensor) {
  return Compare(call, kLeChecks, Relation::kLessOrEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceLeTensor) {
  return Compare(call, kInplaceLeChecks, Relation::kLessOrEqual, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnEqual) {
  return RunPhase1(call, kWholeChecks, workspaceSize, executor, SetWholeComparison);
}

#endif  // HWY_ONCE
