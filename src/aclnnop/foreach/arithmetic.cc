// Arithmetic over lists of tensors: with other lists, with one number or with one for each tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_foreach_add_list.h"
#include "aclnnop/aclnn_foreach_add_list_v2.h"
#include "aclnnop/aclnn_foreach_add_scalar.h"
#include "aclnnop/aclnn_foreach_add_scalar_list.h"
#include "aclnnop/aclnn_foreach_add_scalar_v2.h"
#include "aclnnop/aclnn_foreach_addcdiv_list.h"
#include "aclnnop/aclnn_foreach_addcdiv_scalar.h"
#include "aclnnop/aclnn_foreach_addcdiv_scalar_list.h"
#include "aclnnop/aclnn_foreach_addcdiv_scalar_v2.h"
#include "aclnnop/aclnn_foreach_addcmul_list.h"
#include "aclnnop/aclnn_foreach_addcmul_scalar.h"
#include "aclnnop/aclnn_foreach_addcmul_scalar_list.h"
#include "aclnnop/aclnn_foreach_addcmul_scalar_v2.h"
#include "aclnnop/aclnn_foreach_div_list.h"
#include "aclnnop/aclnn_foreach_div_scalar.h"
#include "aclnnop/aclnn_foreach_div_scalar_list.h"
#include "aclnnop/aclnn_foreach_div_scalar_v2.h"
#include "aclnnop/aclnn_foreach_lerp_list.h"
#include "aclnnop/aclnn_foreach_lerp_scalar.h"
#include "aclnnop/aclnn_foreach_maximum_list.h"
#include "aclnnop/aclnn_foreach_maximum_scalar.h"
#include "aclnnop/aclnn_foreach_maximum_scalar_list.h"
#include "aclnnop/aclnn_foreach_maximum_scalar_v2.h"
#include "aclnnop/aclnn_foreach_minimum_list.h"
#include "aclnnop/aclnn_foreach_minimum_scalar.h"
#include "aclnnop/aclnn_foreach_minimum_scalar_list.h"
#include "aclnnop/aclnn_foreach_minimum_scalar_v2.h"
#include "aclnnop/aclnn_foreach_mul_list.h"
#include "aclnnop/aclnn_foreach_mul_scalar.h"
#include "aclnnop/aclnn_foreach_mul_scalar_list.h"
#include "aclnnop/aclnn_foreach_mul_scalar_v2.h"
#include "aclnnop/aclnn_foreach_pow_list.h"
#include "aclnnop/aclnn_foreach_pow_scalar.h"
#include "aclnnop/aclnn_foreach_pow_scalar_and_tensor.h"
#include "aclnnop/aclnn_foreach_pow_scalar_list.h"
#include "aclnnop/aclnn_foreach_pow_scalar_v2.h"
#include "aclnnop/aclnn_foreach_sub_list.h"
#include "aclnnop/aclnn_foreach_sub_list_v2.h"
#include "aclnnop/aclnn_foreach_sub_scalar.h"
#include "aclnnop/aclnn_foreach_sub_scalar_list.h"
#include "aclnnop/aclnn_foreach_sub_scalar_v2.h"
#include "aclnnop/arithmetic/list_kernels.h"
#include "aclnnop/arithmetic/mul.h"
#include "aclnnop/arithmetic/sums.h"
#include "aclnnop/foreach/lists.h"
#include "aclnnop/pointwise/clamp.h"

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

// The kernels of a formula that has the same ones for every number.
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
constexpr ListFormula kSumWithNumber{.kernels = Of<LineKernels>, .place = 1, .other = Other::kOne};
constexpr ListFormula kLessNumber{
    .kernels = Of<LineKernels>, .place = 1, .other = Other::kOne, .is_negated = true};
constexpr ListFormula kScaled{.kernels = Of<ScaledKernels>};
constexpr ListFormula kDivided{.kernels = Of<QuotientByScalarKernels>};
constexpr ListFormula kAtLeast{.kernels = Of<ClampKernels>, .place = 0, .other = Other::kLargest};
constexpr ListFormula kAtMost{.kernels = Of<ClampKernels>, .place = 1, .other = Other::kSmallest};
constexpr ListFormula kRaised{.kernels = OfPower};
constexpr ListFormula kPowerOfNumber{.kernels = Of<PowerWithScalarKernels>, .number_is_first = true};
constexpr ListFormula kSumWithProduct{.kernels = Of<SumWithProductKernels>};
constexpr ListFormula kSumWithQuotient{.kernels = Of<SumWithQuotientKernels>};
constexpr ListFormula kBetween{.kernels = Of<BetweenKernels>};
constexpr ListFormula kBetweenByNumber{.kernels = Of<BetweenByScalarKernels>};

}  // namespace

PORTACL_LIST_FACTS(foreach_add_list_v2, ForeachAddListV2, kAll, kAll)
PORTACL_LIST_FACTS(foreach_sub_list_v2, ForeachSubListV2, kAll, kAll)
PORTACL_LIST_FACTS(foreach_add_list, ForeachAddList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_sub_list, ForeachSubList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_mul_list, ForeachMulList, kAll, kAll)
PORTACL_LIST_FACTS(foreach_div_list, ForeachDivList, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_maximum_list, ForeachMaximumList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_minimum_list, ForeachMinimumList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_pow_list, ForeachPowList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_add_scalar_v2, ForeachAddScalarV2, kAllBefore950, kAllBefore950)
PORTACL_LIST_FACTS(foreach_sub_scalar_v2, ForeachSubScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_mul_scalar_v2, ForeachMulScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_div_scalar_v2, ForeachDivScalarV2, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_maximum_scalar_v2, ForeachMaximumScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_minimum_scalar_v2, ForeachMinimumScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_pow_scalar_v2, ForeachPowScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_add_scalar, ForeachAddScalar, kAllBefore950, kAllBefore950)
PORTACL_LIST_FACTS(foreach_sub_scalar, ForeachSubScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_mul_scalar, ForeachMulScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_div_scalar, ForeachDivScalar, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_maximum_scalar, ForeachMaximumScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_minimum_scalar, ForeachMinimumScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_pow_scalar, ForeachPowScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_add_scalar_list, ForeachAddScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_sub_scalar_list, ForeachSubScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_mul_scalar_list, ForeachMulScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_div_scalar_list, ForeachDivScalarList, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_maximum_scalar_list, ForeachMaximumScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_minimum_scalar_list, ForeachMinimumScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_pow_scalar_list, ForeachPowScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_addcmul_scalar_v2, ForeachAddcmulScalarV2, kFour, kFour)
PORTACL_LIST_FACTS(foreach_addcdiv_scalar_v2, ForeachAddcdivScalarV2, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_addcmul_scalar, ForeachAddcmulScalar, kFour, kFour)
PORTACL_LIST_FACTS(foreach_addcdiv_scalar, ForeachAddcdivScalar, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_addcmul_scalar_list, ForeachAddcmulScalarList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_addcdiv_scalar_list, ForeachAddcdivScalarList, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_addcmul_list, ForeachAddcmulList, kFour, kFour)
PORTACL_LIST_FACTS(foreach_addcdiv_list, ForeachAddcdivList, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_lerp_scalar, ForeachLerpScalar, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_lerp_list, ForeachLerpList, kFloats, kFloats)
PORTACL_LIST_FACTS(foreach_pow_scalar_and_tensor, ForeachPowScalarAndTensor, kFour, kFour)

}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(bugprone-macro-parentheses): types and names of parameters take none

// Operators, by what they are called with. They say whether phase 1 of CANN's is generated (a header then has `const` before the type of
// out), their formula and the dtypes of their lists; what else their rules are follows.
#define PORTACL_OUT_OF_false aclTensorList
#define PORTACL_OUT_OF_true const aclTensorList

#define PORTACL_LISTS_PHASE_1(name, ...)                                                 \
  aclnnStatus aclnnForeach##name##GetWorkspaceSize(__VA_ARGS__, uint64_t* workspaceSize, \
                                                   aclOpExecutor** executor) {           \
    constexpr const char* kName = "aclnnForeach" #name;
#define PORTACL_LISTS_RUN(name, attributes, scalars, ...)        \
  static constexpr ListRules kRules{__VA_ARGS__};                \
  ListCall call{{kName, tensors, attributes}, &kRules, scalars}; \
  return RunLists(call, workspaceSize, executor);                \
  }                                                              \
  PORTACL_PHASE_2(aclnnForeach##name)

#define PORTACL_OF_LISTS(name, generated, formula_of, list_dtypes)                      \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x1, const aclTensorList* x2,         \
                        PORTACL_OUT_OF_##generated* out)                                \
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {"out", out}};              \
  PORTACL_LISTS_RUN(name, std::span<const Attribute>(), nullptr, .formula = formula_of, \
                    .dtypes = list_dtypes, .is_generated = generated, .inputs = 2)
#define PORTACL_OF_LISTS_AND_SCALAR(name, generated, formula_of, list_dtypes, scalar, ...)               \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x1, const aclTensorList* x2, const aclScalar* scalar, \
                        PORTACL_OUT_OF_##generated* out)                                                 \
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {"out", out}};                               \
  const Attribute attributes[] = {{#scalar, scalar}};                                                    \
  PORTACL_LISTS_RUN(name, attributes, nullptr, .formula = formula_of, .dtypes = list_dtypes,             \
                    .is_generated = generated, .inputs = 2,                                              \
                    .number = Number::kScalar __VA_OPT__(, ) __VA_ARGS__)
#define PORTACL_OF_LISTS_AND_TENSOR(name, generated, formula_of, list_dtypes, scalar, ...)               \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x1, const aclTensorList* x2, const aclTensor* scalar, \
                        PORTACL_OUT_OF_##generated* out)                                                 \
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {#scalar, scalar}, {"out", out}};            \
  PORTACL_LISTS_RUN(name, std::span<const Attribute>(), nullptr, .formula = formula_of,                  \
                    .dtypes = list_dtypes, .is_generated = generated, .inputs = 2,                       \
                    .number = Number::kTensor __VA_OPT__(, ) __VA_ARGS__)
#define PORTACL_OF_LIST_AND_SCALAR(name, generated, formula_of, list_dtypes, ...)            \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x, const aclScalar* scalar,               \
                        PORTACL_OUT_OF_##generated* out)                                     \
  const TensorArgument tensors[] = {{"x", x}, {"out", out}};                                 \
  const Attribute attributes[] = {{"scalar", scalar}};                                       \
  PORTACL_LISTS_RUN(name, attributes, nullptr, .formula = formula_of, .dtypes = list_dtypes, \
                    .is_generated = generated, .inputs = 1,                                  \
                    .number = Number::kScalar __VA_OPT__(, ) __VA_ARGS__)
#define PORTACL_OF_LIST_AND_TENSOR(name, generated, formula_of, list_dtypes, ...)       \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x, const aclTensor* scalar,          \
                        PORTACL_OUT_OF_##generated* out)                                \
  const TensorArgument tensors[] = {{"x", x}, {"scalar", scalar}, {"out", out}};        \
  PORTACL_LISTS_RUN(name, std::span<const Attribute>(), nullptr, .formula = formula_of, \
                    .dtypes = list_dtypes, .is_generated = generated, .inputs = 1,      \
                    .number = Number::kTensor __VA_OPT__(, ) __VA_ARGS__)
#define PORTACL_OF_LIST_AND_SCALARS(name, generated, formula_of, list_dtypes)           \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x, const aclScalarList* scalars,     \
                        PORTACL_OUT_OF_##generated* out)                                \
  const TensorArgument tensors[] = {{"x", x}, {"out", out}};                            \
  PORTACL_LISTS_RUN(name, std::span<const Attribute>(), scalars, .formula = formula_of, \
                    .dtypes = list_dtypes, .is_generated = generated, .inputs = 1,      \
                    .number = Number::kScalarEach)
#define PORTACL_OF_THREE_LISTS_AND_SCALAR(name, generated, formula_of, list_dtypes, ...)                 \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x1, const aclTensorList* x2, const aclTensorList* x3, \
                        const aclScalar* scalar, PORTACL_OUT_OF_##generated* out)                        \
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {"x3", x3}, {"out", out}};                   \
  const Attribute attributes[] = {{"scalar", scalar}};                                                   \
  PORTACL_LISTS_RUN(name, attributes, nullptr, .formula = formula_of, .dtypes = list_dtypes,             \
                    .is_generated = generated, .inputs = 3,                                              \
                    .number = Number::kScalar __VA_OPT__(, ) __VA_ARGS__)
#define PORTACL_OF_THREE_LISTS_AND_TENSOR(name, generated, formula_of, list_dtypes, scalar, ...)          \
  PORTACL_LISTS_PHASE_1(name, const aclTensorList* x1, const aclTensorList* x2, const aclTensorList* x3,  \
                        const aclTensor* scalar, PORTACL_OUT_OF_##generated* out)                         \
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {"x3", x3}, {#scalar, scalar}, {"out", out}}; \
  PORTACL_LISTS_RUN(name, std::span<const Attribute>(), nullptr, .formula = formula_of,                   \
                    .dtypes = list_dtypes, .is_generated = generated, .inputs = 3, .number = __VA_ARGS__)

PORTACL_OF_LISTS_AND_SCALAR(AddListV2, false, kSum, kAll, alpha)
PORTACL_OF_LISTS_AND_SCALAR(SubListV2, false, kDifference, kAll, alpha)
PORTACL_OF_LISTS_AND_TENSOR(AddList, false, kSum, kFour, alpha, .takes_wide_numbers = true)
PORTACL_OF_LISTS_AND_TENSOR(SubList, true, kDifference, kFour, alpha)
PORTACL_OF_LISTS(MulList, false, kProduct, kAll)
PORTACL_OF_LISTS(DivList, false, kQuotient, kFloats)
PORTACL_OF_LISTS(MaximumList, true, kGreater, kFour)
PORTACL_OF_LISTS(MinimumList, true, kLesser, kFour)
PORTACL_OF_LISTS(PowList, true, kPower, kFour)
PORTACL_OF_LIST_AND_SCALAR(AddScalarV2, false, kSumWithNumber, kAllBefore950, .takes_float_on_950 = true)
PORTACL_OF_LIST_AND_SCALAR(SubScalarV2, false, kLessNumber, kFour)
PORTACL_OF_LIST_AND_SCALAR(MulScalarV2, false, kScaled, kFour, .takes_float_on_950 = true)
PORTACL_OF_LIST_AND_SCALAR(DivScalarV2, false, kDivided, kFloats)
PORTACL_OF_LIST_AND_SCALAR(MaximumScalarV2, false, kAtLeast, kFour, .number_has_range = true)
PORTACL_OF_LIST_AND_SCALAR(MinimumScalarV2, false, kAtMost, kFour, .number_has_range = true)
PORTACL_OF_LIST_AND_SCALAR(PowScalarV2, false, kRaised, kFour)
PORTACL_OF_LIST_AND_TENSOR(AddScalar, true, kSumWithNumber, kAllBefore950, .takes_float_on_950 = true)
PORTACL_OF_LIST_AND_TENSOR(SubScalar, true, kLessNumber, kFour)
PORTACL_OF_LIST_AND_TENSOR(MulScalar, true, kScaled, kFour)
PORTACL_OF_LIST_AND_TENSOR(DivScalar, false, kDivided, kFloats, .takes_wide_numbers = true)
PORTACL_OF_LIST_AND_TENSOR(MaximumScalar, true, kAtLeast, kFour)
PORTACL_OF_LIST_AND_TENSOR(MinimumScalar, true, kAtMost, kFour)
PORTACL_OF_LIST_AND_TENSOR(PowScalar, true, kRaised, kFour)
PORTACL_OF_LIST_AND_SCALARS(AddScalarList, true, kSumWithNumber, kFour)
PORTACL_OF_LIST_AND_SCALARS(SubScalarList, true, kLessNumber, kFour)
PORTACL_OF_LIST_AND_SCALARS(MulScalarList, true, kScaled, kFour)
PORTACL_OF_LIST_AND_SCALARS(DivScalarList, true, kDivided, kFloats)
PORTACL_OF_LIST_AND_SCALARS(MaximumScalarList, true, kAtLeast, kFour)
PORTACL_OF_LIST_AND_SCALARS(MinimumScalarList, true, kAtMost, kFour)
PORTACL_OF_LIST_AND_SCALARS(PowScalarList, true, kRaised, kFour)
PORTACL_OF_THREE_LISTS_AND_SCALAR(AddcmulScalarV2, false, kSumWithProduct, kFour, .takes_float_on_950 = true)
PORTACL_OF_THREE_LISTS_AND_SCALAR(AddcdivScalarV2, false, kSumWithQuotient, kFloats)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcmulScalar, true, kSumWithProduct, kFour, scalar, Number::kTensor)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcdivScalar, false, kSumWithQuotient, kFloats, scalar, Number::kTensor,
                                  .takes_wide_numbers = true)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcmulScalarList, true, kSumWithProduct, kFour, scalars,
                                  Number::kTensorEach)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcdivScalarList, false, kSumWithQuotient, kFloats, scalars,
                                  Number::kTensorEach)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcmulList, true, kSumWithProduct, kFour, scalars, Number::kTensorEach)
PORTACL_OF_THREE_LISTS_AND_TENSOR(AddcdivList, true, kSumWithQuotient, kFloats, scalars, Number::kTensorEach)
PORTACL_OF_LISTS_AND_SCALAR(LerpScalar, false, kBetweenByNumber, kFloats, weight,
                            .number_dtypes = kFloatOrDouble, .number_is_float = true)
// NOLINTEND(bugprone-macro-parentheses)

aclnnStatus aclnnForeachLerpListGetWorkspaceSize(const aclTensorList* x1, const aclTensorList* x2,
                                                 const aclTensorList* weight, aclTensorList* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor) {
  static constexpr ListRules kRules{
      .formula = kBetween, .dtypes = kFloats, .is_generated = false, .inputs = 3};
  const TensorArgument tensors[] = {{"x1", x1}, {"x2", x2}, {"weight", weight}, {"out", out}};
  ListCall call{{"aclnnForeachLerpList", tensors, {}}, &kRules};
  return RunLists(call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnForeachLerpList)

aclnnStatus aclnnForeachPowScalarAndTensorGetWorkspaceSize(const aclScalar* scalar, const aclTensorList* x,
                                                           const aclTensorList* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor) {
  static constexpr ListRules kRules{.formula = kPowerOfNumber,
                                    .dtypes = kFour,
                                    .number = Number::kScalar,
                                    .number_dtypes = DtypeSet(ACL_FLOAT, ACL_DOUBLE, ACL_INT64),
                                    .number_is_float = true};
  const TensorArgument tensors[] = {{"x", x}, {"out", out}};
  const Attribute attributes[] = {{"scalar", scalar}};
  ListCall call{{"aclnnForeachPowScalarAndTensor", tensors, attributes}, &kRules};
  return RunLists(call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnForeachPowScalarAndTensor)
