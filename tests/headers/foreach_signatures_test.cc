// The signatures of operators over lists of tensors are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/aclnn_amp_update_scale.h"
#include "aclnnop/aclnn_apply_adam_w_v2.h"
#include "aclnnop/aclnn_foreach_abs.h"
#include "aclnnop/aclnn_foreach_acos.h"
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
#include "aclnnop/aclnn_foreach_asin.h"
#include "aclnnop/aclnn_foreach_atan.h"
#include "aclnnop/aclnn_foreach_copy.h"
#include "aclnnop/aclnn_foreach_cos.h"
#include "aclnnop/aclnn_foreach_cosh.h"
#include "aclnnop/aclnn_foreach_div_list.h"
#include "aclnnop/aclnn_foreach_div_scalar.h"
#include "aclnnop/aclnn_foreach_div_scalar_list.h"
#include "aclnnop/aclnn_foreach_div_scalar_v2.h"
#include "aclnnop/aclnn_foreach_erf.h"
#include "aclnnop/aclnn_foreach_erfc.h"
#include "aclnnop/aclnn_foreach_exp.h"
#include "aclnnop/aclnn_foreach_expm1.h"
#include "aclnnop/aclnn_foreach_lerp_list.h"
#include "aclnnop/aclnn_foreach_lerp_scalar.h"
#include "aclnnop/aclnn_foreach_log.h"
#include "aclnnop/aclnn_foreach_log10.h"
#include "aclnnop/aclnn_foreach_log1p.h"
#include "aclnnop/aclnn_foreach_log2.h"
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
#include "aclnnop/aclnn_foreach_neg.h"
#include "aclnnop/aclnn_foreach_non_finite_check_and_unscale.h"
#include "aclnnop/aclnn_foreach_norm.h"
#include "aclnnop/aclnn_foreach_pow_list.h"
#include "aclnnop/aclnn_foreach_pow_scalar.h"
#include "aclnnop/aclnn_foreach_pow_scalar_and_tensor.h"
#include "aclnnop/aclnn_foreach_pow_scalar_list.h"
#include "aclnnop/aclnn_foreach_pow_scalar_v2.h"
#include "aclnnop/aclnn_foreach_reciprocal.h"
#include "aclnnop/aclnn_foreach_round_off_number.h"
#include "aclnnop/aclnn_foreach_round_off_number_v2.h"
#include "aclnnop/aclnn_foreach_sigmoid.h"
#include "aclnnop/aclnn_foreach_sign.h"
#include "aclnnop/aclnn_foreach_sin.h"
#include "aclnnop/aclnn_foreach_sinh.h"
#include "aclnnop/aclnn_foreach_sqrt.h"
#include "aclnnop/aclnn_foreach_sub_list.h"
#include "aclnnop/aclnn_foreach_sub_list_v2.h"
#include "aclnnop/aclnn_foreach_sub_scalar.h"
#include "aclnnop/aclnn_foreach_sub_scalar_list.h"
#include "aclnnop/aclnn_foreach_sub_scalar_v2.h"
#include "aclnnop/aclnn_foreach_tan.h"
#include "aclnnop/aclnn_foreach_tanh.h"
#include "aclnnop/aclnn_foreach_zero_inplace.h"
#include "aclnnop/aclnn_fused_sgd.h"

typedef const aclTensorList* In;
typedef aclTensorList* Out;
typedef const aclTensorList* OutOfGenerated;  // where phase 1 of CANN's operator is generated
typedef const aclTensor* Number;
typedef aclTensor* Rewritten;
typedef const aclScalar* Scalar;
typedef const aclScalarList* Scalars;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnForeachAbs, In, OutOfGenerated);
HAS(aclnnForeachReciprocal, In, OutOfGenerated);
HAS(aclnnForeachAcos, In, OutOfGenerated);
HAS(aclnnForeachAsin, In, OutOfGenerated);
HAS(aclnnForeachAtan, In, OutOfGenerated);
HAS(aclnnForeachCos, In, OutOfGenerated);
HAS(aclnnForeachCosh, In, OutOfGenerated);
HAS(aclnnForeachErf, In, OutOfGenerated);
HAS(aclnnForeachErfc, In, OutOfGenerated);
HAS(aclnnForeachExp, In, OutOfGenerated);
HAS(aclnnForeachExpm1, In, OutOfGenerated);
HAS(aclnnForeachLog, In, OutOfGenerated);
HAS(aclnnForeachLog10, In, OutOfGenerated);
HAS(aclnnForeachLog1p, In, OutOfGenerated);
HAS(aclnnForeachLog2, In, OutOfGenerated);
HAS(aclnnForeachNeg, In, OutOfGenerated);
HAS(aclnnForeachSigmoid, In, OutOfGenerated);
HAS(aclnnForeachSign, In, OutOfGenerated);
HAS(aclnnForeachSin, In, OutOfGenerated);
HAS(aclnnForeachSinh, In, OutOfGenerated);
HAS(aclnnForeachSqrt, In, Out);
HAS(aclnnForeachTan, In, OutOfGenerated);
HAS(aclnnForeachTanh, In, OutOfGenerated);
HAS(aclnnForeachAddListV2, In, In, Scalar, Out);
HAS(aclnnForeachSubListV2, In, In, Scalar, Out);
HAS(aclnnForeachAddList, In, In, Number, Out);
HAS(aclnnForeachSubList, In, In, Number, OutOfGenerated);
HAS(aclnnForeachMulList, In, In, Out);
HAS(aclnnForeachDivList, In, In, Out);
HAS(aclnnForeachMaximumList, In, In, OutOfGenerated);
HAS(aclnnForeachMinimumList, In, In, OutOfGenerated);
HAS(aclnnForeachPowList, In, In, OutOfGenerated);
HAS(aclnnForeachAddScalarV2, In, Scalar, Out);
HAS(aclnnForeachSubScalarV2, In, Scalar, Out);
HAS(aclnnForeachMulScalarV2, In, Scalar, Out);
HAS(aclnnForeachDivScalarV2, In, Scalar, Out);
HAS(aclnnForeachMaximumScalarV2, In, Scalar, Out);
HAS(aclnnForeachMinimumScalarV2, In, Scalar, Out);
HAS(aclnnForeachPowScalarV2, In, Scalar, Out);
HAS(aclnnForeachAddScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachSubScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachMulScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachDivScalar, In, Number, Out);
HAS(aclnnForeachMaximumScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachRoundOffNumber, In, Number, OutOfGenerated);
HAS(aclnnForeachRoundOffNumberV2, In, Scalar, Out);
HAS(aclnnForeachMinimumScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachPowScalar, In, Number, OutOfGenerated);
HAS(aclnnForeachAddScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachSubScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMulScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachDivScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMaximumScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachMinimumScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachPowScalarList, In, Scalars, OutOfGenerated);
HAS(aclnnForeachAddcmulScalarV2, In, In, In, Scalar, Out);
HAS(aclnnForeachAddcdivScalarV2, In, In, In, Scalar, Out);
HAS(aclnnForeachAddcmulScalar, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivScalar, In, In, In, Number, Out);
HAS(aclnnForeachAddcmulScalarList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivScalarList, In, In, In, Number, Out);
HAS(aclnnForeachAddcmulList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachAddcdivList, In, In, In, Number, OutOfGenerated);
HAS(aclnnForeachLerpScalar, In, In, Scalar, Out);
HAS(aclnnForeachLerpList, In, In, In, Out);
HAS(aclnnForeachPowScalarAndTensor, Scalar, In, OutOfGenerated);
HAS(aclnnForeachCopy, In, Out);
HAS(aclnnForeachZeroInplace, In);
HAS(aclnnForeachNorm, In, Scalar, OutOfGenerated);
HAS(aclnnForeachNonFiniteCheckAndUnscale, In, Number, Number);
HAS(aclnnApplyAdamWV2, Rewritten, Rewritten, Rewritten, Rewritten, Number, Number, float, float, float, float,
    float, bool, bool);
HAS(aclnnFusedSgd, In, In, In, Number, float, float, float, float, bool, bool, bool);
HAS(aclnnAmpUpdateScale, Number, Number, Number, double, double, int64_t, Rewritten, Rewritten);
