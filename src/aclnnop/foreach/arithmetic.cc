// Arithmetic over lists of tensors with other lists, with one number, or with one number for each tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/foreach/arithmetic_functions.h"

#include "aclnnop/jobs/clamp.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/jobs/sums.h"

namespace portacl {
namespace {

using Number = ListNumber;
using Other = ListFormula::Other;
using KernelTable = engine::KernelTable;

constexpr DtypeSet kFourSet = kFloatHalfAndBf16 | DtypeSet(ACL_INT32);
constexpr DtypeRule kFloats = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeRule kFour = SinceAtlasA2(kFourSet);
constexpr DtypeRule kAll = SinceAtlasA2(kFourSet | DtypeSet(ACL_INT16, ACL_INT8, ACL_UINT8));
constexpr DtypeRule kAllBefore950 = kAll.On(products::kAscend950, kFourSet);
constexpr DtypeSet kFloatOrDouble(ACL_FLOAT, ACL_DOUBLE);

// Returns the kernels of a formula that has the same ones for every number.
template <const KernelTable& (*kKernels)() noexcept>
const KernelTable& Of(const OperatorCall&, const aclScalar*) noexcept {
  return kKernels();
}
const KernelTable& OfProduct(const OperatorCall& call, const aclScalar*) noexcept {
  return ProductKernels(call.promoted);
}
const KernelTable& OfScaledSum(const OperatorCall&, const aclScalar*) noexcept {
  return SumKernels(ACL_FLOAT);
}
const KernelTable& OfSum(const OperatorCall& call, const aclScalar* alpha) noexcept {
  return SumKernels(alpha != nullptr && IsOne(*alpha) ? call.promoted : ACL_FLOAT);
}
const KernelTable& OfPower(const OperatorCall& call, const aclScalar* exponent) noexcept {
  return exponent == nullptr ? PowerWithScalarKernels() : PowerByKernels(call.promoted, *exponent);
}

constexpr ListFormula kSum{.kernels = OfSum};
constexpr ListFormula kDifference{.kernels = OfScaledSum, .is_negated = true};
constexpr ListFormula kProduct{.kernels = OfProduct};
constexpr ListFormula kQuotient{.kernels = Of<QuotientKernels>};
constexpr ListFormula kGreater{.kernels = Of<GreaterKernels>};
constexpr ListFormula kLesser{.kernels = Of<LesserKernels>};
constexpr ListFormula kPower{.kernels = Of<PowerKernels>};
constexpr ListFormula kSumWithNumber{.kernels = Of<LineKernels>, .position = 1, .other = Other::kOne};
constexpr ListFormula kLessNumber{
    .kernels = Of<LineKernels>, .position = 1, .other = Other::kOne, .is_negated = true};
constexpr ListFormula kScaled{.kernels = Of<ScaledKernels>};
constexpr ListFormula kDivided{.kernels = Of<QuotientByScalarKernels>};
constexpr ListFormula kAtLeast{.kernels = Of<ClampKernels>, .position = 0, .other = Other::kLargest};
constexpr ListFormula kAtMost{.kernels = Of<ClampKernels>, .position = 1, .other = Other::kSmallest};
constexpr ListFormula kRaised{.kernels = OfPower};
constexpr ListFormula kPowerOfNumber{.kernels = Of<PowerWithScalarKernels>, .number_is_first = true};
constexpr ListFormula kSumWithProduct{.kernels = Of<SumWithProductKernels>};
constexpr ListFormula kSumWithQuotient{.kernels = Of<SumWithQuotientKernels>};
constexpr ListFormula kBetween{.kernels = Of<BetweenKernels>};
constexpr ListFormula kBetweenByNumber{.kernels = Of<BetweenByScalarKernels>};

}  // namespace

}  // namespace portacl

using namespace portacl;

// Defines operators, grouped by their parameters. The arguments are: whether CANN generates phase 1 (its
// header then has `const` before the type of out), the formula, and the dtypes of the lists. Every other rule
// follows from these.
#define PORTACL_LISTS(name, scalars, ...)                            \
  PORTACL_PHASE_1(aclnnForeach##name) {                              \
    static constexpr ListRules kRules{__VA_ARGS__};                  \
    return RunLists(call, kRules, scalars, workspaceSize, executor); \
  }
#define PORTACL_LISTS_AND_NUMBER(name, generated, formula_of, list_dtypes, count, ...)                  \
  PORTACL_LISTS(name, nullptr, .formula = formula_of, .dtypes = list_dtypes, .is_generated = generated, \
                .inputs = count, .number = Number::__VA_ARGS__)
#define PORTACL_LIST_AND_SCALARS(name, formula_of, list_dtypes)                        \
  PORTACL_LISTS(name, given.scalars, .formula = (formula_of), .dtypes = (list_dtypes), \
                .number = Number::kScalarEach)

PORTACL_LISTS_AND_NUMBER(AddListV2, false, kSum, kAll, 2, kScalar)
PORTACL_LISTS_AND_NUMBER(SubListV2, false, kDifference, kAll, 2, kScalar)
PORTACL_LISTS_AND_NUMBER(AddList, false, kSum, kFour, 2, kTensor, .takes_wide_numbers = true)
PORTACL_LISTS_AND_NUMBER(SubList, true, kDifference, kFour, 2, kTensor)
PORTACL_LISTS_AND_NUMBER(MulList, false, kProduct, kAll, 2, kNone)
PORTACL_LISTS_AND_NUMBER(DivList, false, kQuotient, kFloats, 2, kNone)
PORTACL_LISTS_AND_NUMBER(MaximumList, true, kGreater, kFour, 2, kNone)
PORTACL_LISTS_AND_NUMBER(MinimumList, true, kLesser, kFour, 2, kNone)
PORTACL_LISTS_AND_NUMBER(PowList, true, kPower, kFour, 2, kNone)
PORTACL_LISTS_AND_NUMBER(AddScalarV2, false, kSumWithNumber, kAllBefore950, 1, kScalar,
                         .takes_float_on_950 = true)
PORTACL_LISTS_AND_NUMBER(SubScalarV2, false, kLessNumber, kFour, 1, kScalar)
PORTACL_LISTS_AND_NUMBER(MulScalarV2, false, kScaled, kFour, 1, kScalar, .takes_float_on_950 = true)
PORTACL_LISTS_AND_NUMBER(DivScalarV2, false, kDivided, kFloats, 1, kScalar)
PORTACL_LISTS_AND_NUMBER(MaximumScalarV2, false, kAtLeast, kFour, 1, kScalar, .number_has_range = true)
PORTACL_LISTS_AND_NUMBER(MinimumScalarV2, false, kAtMost, kFour, 1, kScalar, .number_has_range = true)
PORTACL_LISTS_AND_NUMBER(PowScalarV2, false, kRaised, kFour, 1, kScalar)
PORTACL_LISTS_AND_NUMBER(AddScalar, true, kSumWithNumber, kAllBefore950, 1, kTensor,
                         .takes_float_on_950 = true)
PORTACL_LISTS_AND_NUMBER(SubScalar, true, kLessNumber, kFour, 1, kTensor)
PORTACL_LISTS_AND_NUMBER(MulScalar, true, kScaled, kFour, 1, kTensor)
PORTACL_LISTS_AND_NUMBER(DivScalar, false, kDivided, kFloats, 1, kTensor, .takes_wide_numbers = true)
PORTACL_LISTS_AND_NUMBER(MaximumScalar, true, kAtLeast, kFour, 1, kTensor)
PORTACL_LISTS_AND_NUMBER(MinimumScalar, true, kAtMost, kFour, 1, kTensor)
PORTACL_LISTS_AND_NUMBER(PowScalar, true, kRaised, kFour, 1, kTensor)
PORTACL_LIST_AND_SCALARS(AddScalarList, kSumWithNumber, kFour)
PORTACL_LIST_AND_SCALARS(SubScalarList, kLessNumber, kFour)
PORTACL_LIST_AND_SCALARS(MulScalarList, kScaled, kFour)
PORTACL_LIST_AND_SCALARS(DivScalarList, kDivided, kFloats)
PORTACL_LIST_AND_SCALARS(MaximumScalarList, kAtLeast, kFour)
PORTACL_LIST_AND_SCALARS(MinimumScalarList, kAtMost, kFour)
PORTACL_LIST_AND_SCALARS(PowScalarList, kRaised, kFour)
PORTACL_LISTS_AND_NUMBER(AddcmulScalarV2, false, kSumWithProduct, kFour, 3, kScalar,
                         .takes_float_on_950 = true)
PORTACL_LISTS_AND_NUMBER(AddcdivScalarV2, false, kSumWithQuotient, kFloats, 3, kScalar)
PORTACL_LISTS_AND_NUMBER(AddcmulScalar, true, kSumWithProduct, kFour, 3, kTensor)
PORTACL_LISTS_AND_NUMBER(AddcdivScalar, false, kSumWithQuotient, kFloats, 3, kTensor,
                         .takes_wide_numbers = true)
PORTACL_LISTS_AND_NUMBER(AddcmulScalarList, true, kSumWithProduct, kFour, 3, kTensorEach)
PORTACL_LISTS_AND_NUMBER(AddcdivScalarList, false, kSumWithQuotient, kFloats, 3, kTensorEach)
PORTACL_LISTS_AND_NUMBER(AddcmulList, true, kSumWithProduct, kFour, 3, kTensorEach)
PORTACL_LISTS_AND_NUMBER(AddcdivList, true, kSumWithQuotient, kFloats, 3, kTensorEach)
PORTACL_LISTS_AND_NUMBER(LerpScalar, false, kBetweenByNumber, kFloats, 2, kScalar,
                         .number_dtypes = kFloatOrDouble, .number_is_float = true)
PORTACL_LISTS_AND_NUMBER(LerpList, false, kBetween, kFloats, 3, kNone)

PORTACL_PHASE_1(aclnnForeachPowScalarAndTensor) {
  static constexpr ListRules kRules{.formula = kPowerOfNumber,
                                    .dtypes = kFour,
                                    .number = Number::kScalar,
                                    .number_dtypes = DtypeSet(ACL_FLOAT, ACL_DOUBLE, ACL_INT64),
                                    .number_is_float = true};
  return RunLists(call, kRules, nullptr, workspaceSize, executor);
}
