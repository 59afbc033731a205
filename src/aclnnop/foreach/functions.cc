// aclnnForeachAbs, aclnnForeachSqrt and other functions of one tensor, over lists of tensors.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/foreach/functions_functions.h"

#include "aclnnop/jobs/lists.h"

namespace portacl {

// Defined beside the operators of single tensors (aclnnop/unary/unary.h).
namespace unary_kernels {
#define PORTACL_KERNELS_OF(stem) const engine::KernelTable& stem() noexcept;
PORTACL_KERNELS_OF(abs)
PORTACL_KERNELS_OF(acos)
PORTACL_KERNELS_OF(asin)
PORTACL_KERNELS_OF(atan)
PORTACL_KERNELS_OF(cos)
PORTACL_KERNELS_OF(cosh)
PORTACL_KERNELS_OF(erf)
PORTACL_KERNELS_OF(erfc)
PORTACL_KERNELS_OF(exp)
PORTACL_KERNELS_OF(expm1)
PORTACL_KERNELS_OF(log)
PORTACL_KERNELS_OF(log10)
PORTACL_KERNELS_OF(log1p)
PORTACL_KERNELS_OF(log2)
PORTACL_KERNELS_OF(neg)
PORTACL_KERNELS_OF(reciprocal)
PORTACL_KERNELS_OF(sigmoid)
PORTACL_KERNELS_OF(sign)
PORTACL_KERNELS_OF(sin)
PORTACL_KERNELS_OF(sinh)
PORTACL_KERNELS_OF(sqrt)
PORTACL_KERNELS_OF(tan)
PORTACL_KERNELS_OF(tanh)
#undef PORTACL_KERNELS_OF
}  // namespace unary_kernels

namespace {

constexpr DtypeRule kFloats = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeRule kExpDtypes =
    DtypeRule{}
        .On(products::kAtlasA2AndA3, kFloatHalfAndBf16 | DtypeSet(ACL_INT16, ACL_INT8, ACL_UINT8))
        .On(products::kAscend950, kFloatHalfAndBf16);
constexpr DtypeRule kNegDtypes =
    DtypeRule{}
        .On(products::kAtlasA2AndA3, kFloatHalfAndBf16 | DtypeSet(ACL_INT32, ACL_INT16, ACL_INT8, ACL_UINT8))
        .On(products::kAscend950, kFloatHalfAndBf16 | DtypeSet(ACL_INT32));
constexpr DtypeRule kSignDtypes = SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT8, ACL_INT32, ACL_INT64));

template <const engine::KernelTable& (*kKernels)() noexcept>
const engine::KernelTable& Of(const OperatorCall&, const aclScalar*) noexcept {
  return kKernels();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(bugprone-macro-parentheses): types and names of parameters take none
// NAME, of lists that hold `dtypes`; out's type in the header; whether integers are computed as float32.
#define PORTACL_LIST_FUNCTION(stem, name, list_dtypes, generated, floats)                                   \
  PORTACL_PHASE_1(aclnnForeach##name) {                                                                     \
    static constexpr ListFormula kFormula{.kernels = Of<unary_kernels::stem>, .computes_floats = (floats)}; \
    static constexpr ListRules kRules{                                                                      \
        .formula = kFormula, .dtypes = (list_dtypes), .is_generated = (generated)};                         \
    return RunLists(call, kRules, nullptr, workspaceSize, executor);                                        \
  }
// NOLINTEND(bugprone-macro-parentheses)

PORTACL_LIST_FUNCTION(abs, Abs, kFloats, true, false)
PORTACL_LIST_FUNCTION(reciprocal, Reciprocal, kFloats, true, false)
PORTACL_LIST_FUNCTION(acos, Acos, kFloats, true, false)
PORTACL_LIST_FUNCTION(asin, Asin, kFloats, true, false)
PORTACL_LIST_FUNCTION(atan, Atan, kFloats, true, false)
PORTACL_LIST_FUNCTION(cos, Cos, kFloats, true, false)
PORTACL_LIST_FUNCTION(cosh, Cosh, kFloats, true, false)
PORTACL_LIST_FUNCTION(erf, Erf, kFloats, true, false)
PORTACL_LIST_FUNCTION(erfc, Erfc, kFloats, true, false)
PORTACL_LIST_FUNCTION(exp, Exp, kExpDtypes, true, true)
PORTACL_LIST_FUNCTION(expm1, Expm1, kExpDtypes, true, true)
PORTACL_LIST_FUNCTION(log, Log, kFloats, true, false)
PORTACL_LIST_FUNCTION(log10, Log10, kFloats, true, false)
PORTACL_LIST_FUNCTION(log1p, Log1p, kFloats, true, false)
PORTACL_LIST_FUNCTION(log2, Log2, kFloats, true, false)
PORTACL_LIST_FUNCTION(neg, Neg, kNegDtypes, true, false)
PORTACL_LIST_FUNCTION(sigmoid, Sigmoid, kFloats, true, false)
PORTACL_LIST_FUNCTION(sign, Sign, kSignDtypes, true, false)
PORTACL_LIST_FUNCTION(sin, Sin, kFloats, true, false)
PORTACL_LIST_FUNCTION(sinh, Sinh, kFloats, true, false)
PORTACL_LIST_FUNCTION(sqrt, Sqrt, kFloats, false, false)
PORTACL_LIST_FUNCTION(tan, Tan, kFloats, true, false)
PORTACL_LIST_FUNCTION(tanh, Tanh, kFloats, true, false)
