// The signatures of unary functions, comparisons, logic, bits and selection are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_acos.h"
#include "aclnnop/aclnn_acosh.h"
#include "aclnnop/aclnn_asin.h"
#include "aclnnop/aclnn_asinh.h"
#include "aclnnop/aclnn_atan.h"
#include "aclnnop/aclnn_atan2.h"
#include "aclnnop/aclnn_atanh.h"
#include "aclnnop/aclnn_bitwise_and_scalar.h"
#include "aclnnop/aclnn_bitwise_and_tensor.h"
#include "aclnnop/aclnn_bitwise_not.h"
#include "aclnnop/aclnn_bitwise_or_scalar.h"
#include "aclnnop/aclnn_bitwise_or_tensor.h"
#include "aclnnop/aclnn_bitwise_xor_scalar.h"
#include "aclnnop/aclnn_bitwise_xor_tensor.h"
#include "aclnnop/aclnn_bitwiseand.h"
#include "aclnnop/aclnn_ceil.h"
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_cosh.h"
#include "aclnnop/aclnn_digamma.h"
#include "aclnnop/aclnn_eq_scalar.h"
#include "aclnnop/aclnn_eq_tensor.h"
#include "aclnnop/aclnn_equal.h"
#include "aclnnop/aclnn_erf.h"
#include "aclnnop/aclnn_erfc.h"
#include "aclnnop/aclnn_erfinv.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_exp2.h"
#include "aclnnop/aclnn_expm1.h"
#include "aclnnop/aclnn_floor.h"
#include "aclnnop/aclnn_frac.h"
#include "aclnnop/aclnn_ge_scalar.h"
#include "aclnnop/aclnn_ge_tensor.h"
#include "aclnnop/aclnn_gt_scalar.h"
#include "aclnnop/aclnn_gt_tensor.h"
#include "aclnnop/aclnn_is_inf.h"
#include "aclnnop/aclnn_isclose.h"
#include "aclnnop/aclnn_isfinite.h"
#include "aclnnop/aclnn_isneginf.h"
#include "aclnnop/aclnn_isposinf.h"
#include "aclnnop/aclnn_le_scalar.h"
#include "aclnnop/aclnn_le_tensor.h"
#include "aclnnop/aclnn_left_shift.h"
#include "aclnnop/aclnn_lgamma.h"
#include "aclnnop/aclnn_log.h"
#include "aclnnop/aclnn_log10.h"
#include "aclnnop/aclnn_log1p.h"
#include "aclnnop/aclnn_log2.h"
#include "aclnnop/aclnn_logaddexp.h"
#include "aclnnop/aclnn_logaddexp2.h"
#include "aclnnop/aclnn_logical_and.h"
#include "aclnnop/aclnn_logical_not.h"
#include "aclnnop/aclnn_logical_or.h"
#include "aclnnop/aclnn_logical_xor.h"
#include "aclnnop/aclnn_lt_scalar.h"
#include "aclnnop/aclnn_lt_tensor.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "aclnnop/aclnn_masked_fill_tensor.h"
#include "aclnnop/aclnn_nan_to_num.h"
#include "aclnnop/aclnn_ne_scalar.h"
#include "aclnnop/aclnn_ne_tensor.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_reciprocal.h"
#include "aclnnop/aclnn_right_shift.h"
#include "aclnnop/aclnn_round.h"
#include "aclnnop/aclnn_rsqrt.h"
#include "aclnnop/aclnn_s_where.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_sign.h"
#include "aclnnop/aclnn_signbit.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_sinc.h"
#include "aclnnop/aclnn_sinh.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_square.h"
#include "aclnnop/aclnn_tan.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_threshold.h"
#include "aclnnop/aclnn_tril.h"
#include "aclnnop/aclnn_triu.h"
#include "aclnnop/aclnn_trunc.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnAbs, In, Out);
HAS(aclnnNeg, In, Out);
HAS(aclnnInplaceNeg, Out);
HAS(aclnnExp, In, Out);
HAS(aclnnInplaceExp, Out);
HAS(aclnnLog, In, Out);
HAS(aclnnInplaceLog, Out);
HAS(aclnnLog2, In, In);
HAS(aclnnInplaceLog2, In);
HAS(aclnnLog10, In, Out);
HAS(aclnnInplaceLog10, Out);
HAS(aclnnLog1p, In, Out);
HAS(aclnnInplaceLog1p, Out);
HAS(aclnnSqrt, In, Out);
HAS(aclnnInplaceSqrt, Out);
HAS(aclnnRsqrt, In, Out);
HAS(aclnnInplaceRsqrt, Out);
HAS(aclnnReciprocal, In, Out);
HAS(aclnnInplaceReciprocal, In);
HAS(aclnnSin, In, Out);
HAS(aclnnInplaceSin, Out);
HAS(aclnnCos, In, Out);
HAS(aclnnInplaceCos, Out);
HAS(aclnnTan, In, Out);
HAS(aclnnInplaceTan, In);
HAS(aclnnAsin, In, Out);
HAS(aclnnInplaceAsin, Out);
HAS(aclnnAcos, In, Out);
HAS(aclnnInplaceAcos, Out);
HAS(aclnnAtan, In, Out);
HAS(aclnnInplaceAtan, Out);
HAS(aclnnSinh, In, Out);
HAS(aclnnInplaceSinh, Out);
HAS(aclnnCosh, In, Out);
HAS(aclnnInplaceCosh, Out);
HAS(aclnnTanh, In, Out);
HAS(aclnnInplaceTanh, Out);
HAS(aclnnAsinh, In, Out);
HAS(aclnnInplaceAsinh, Out);
HAS(aclnnAcosh, In, Out);
HAS(aclnnInplaceAcosh, Out);
HAS(aclnnAtanh, In, Out);
HAS(aclnnInplaceAtanh, Out);
HAS(aclnnSigmoid, In, Out);
HAS(aclnnInplaceSigmoid, Out);
HAS(aclnnErf, In, Out);
HAS(aclnnInplaceErf, Out);
HAS(aclnnErfc, In, Out);
HAS(aclnnInplaceErfc, In);
HAS(aclnnErfinv, In, Out);
HAS(aclnnInplaceErfinv, In);
HAS(aclnnExpm1, In, Out);
HAS(aclnnInplaceExpm1, Out);
HAS(aclnnExp2, In, Out);
HAS(aclnnInplaceExp2, Out);
HAS(aclnnSign, In, Out);
HAS(aclnnFloor, In, Out);
HAS(aclnnInplaceFloor, Out);
HAS(aclnnCeil, In, Out);
HAS(aclnnInplaceCeil, Out);
HAS(aclnnTrunc, In, Out);
HAS(aclnnInplaceTrunc, Out);
HAS(aclnnSquare, In, Out);
HAS(aclnnFrac, In, Out);
HAS(aclnnInplaceFrac, Out);
HAS(aclnnSinc, In, Out);
HAS(aclnnInplaceSinc, Out);
HAS(aclnnSignbit, In, Out);
HAS(aclnnDigamma, In, Out);
HAS(aclnnInplaceDigamma, Out);
HAS(aclnnLgamma, In, Out);
HAS(aclnnInplaceLgamma, Out);
HAS(aclnnBitwiseNot, In, Out);
HAS(aclnnRound, In, Out);
HAS(aclnnInplaceRound, In);
HAS(aclnnRoundDecimals, In, int64_t, Out);
HAS(aclnnInplaceRoundDecimals, Out, int64_t);
HAS(aclnnIsFinite, In, Out);
HAS(aclnnIsPosInf, In, Out);
HAS(aclnnIsNegInf, In, Out);
HAS(aclnnIsInf, In, Out);
HAS(aclnnNanToNum, In, float, float, float, Out);
HAS(aclnnInplaceNanToNum, Out, float, float, float);
HAS(aclnnAtan2, In, In, Out);
HAS(aclnnInplaceAtan2, Out, Out);
HAS(aclnnLogAddExp, In, In, Out);
HAS(aclnnLogAddExp2, In, In, Out);
HAS(aclnnEqual, In, In, Out);
HAS(aclnnEqTensor, In, In, Out);
HAS(aclnnInplaceEqTensor, In, In);
HAS(aclnnEqScalar, In, Scalar, Out);
HAS(aclnnInplaceEqScalar, In, Scalar);
HAS(aclnnNeTensor, In, In, Out);
HAS(aclnnInplaceNeTensor, Out, In);
HAS(aclnnNeScalar, In, Scalar, Out);
HAS(aclnnInplaceNeScalar, Out, Scalar);
HAS(aclnnGtTensor, In, In, Out);
HAS(aclnnInplaceGtTensor, In, In);
HAS(aclnnGtScalar, In, Scalar, Out);
HAS(aclnnInplaceGtScalar, Out, Scalar);
HAS(aclnnGeTensor, In, In, Out);
HAS(aclnnInplaceGeTensor, Out, In);
HAS(aclnnGeScalar, In, Scalar, Out);
HAS(aclnnInplaceGeScalar, Out, Scalar);
HAS(aclnnLtTensor, In, In, Out);
HAS(aclnnInplaceLtTensor, In, In);
HAS(aclnnLtScalar, In, Scalar, Out);
HAS(aclnnInplaceLtScalar, In, Scalar);
HAS(aclnnLeTensor, In, In, Out);
HAS(aclnnInplaceLeTensor, Out, In);
HAS(aclnnLeScalar, In, Scalar, Out);
HAS(aclnnInplaceLeScalar, Out, Scalar);
HAS(aclnnIsClose, In, In, double, double, bool, Out);
HAS(aclnnLogicalAnd, In, In, Out);
HAS(aclnnInplaceLogicalAnd, Out, In);
HAS(aclnnLogicalOr, In, In, Out);
HAS(aclnnInplaceLogicalOr, Out, In);
HAS(aclnnLogicalXor, In, In, Out);
HAS(aclnnLogicalNot, In, Out);
HAS(aclnnInplaceLogicalNot, Out);
HAS(aclnnBitwiseAndTensor, In, In, Out);
HAS(aclnnInplaceBitwiseAndTensor, In, In);
HAS(aclnnBitwiseAndScalar, In, Scalar, Out);
HAS(aclnnInplaceBitwiseAndScalar, In, Scalar);
HAS(aclnnBitwiseOrTensor, In, In, Out);
HAS(aclnnInplaceBitwiseOrTensor, Out, In);
HAS(aclnnBitwiseOrScalar, In, Scalar, Out);
HAS(aclnnInplaceBitwiseOrScalar, Out, Scalar);
HAS(aclnnBitwiseXorTensor, In, In, Out);
HAS(aclnnInplaceBitwiseXorTensor, Out, In);
HAS(aclnnBitwiseXorScalar, In, Scalar, Out);
HAS(aclnnInplaceBitwiseXorScalar, Out, Scalar);
HAS(aclnnBitwiseAndTensorOut, In, In, Out);
HAS(aclnnInplaceBitwiseAndTensorOut, In, In);
HAS(aclnnLeftShift, In, In, Out);
HAS(aclnnLeftShifts, In, Scalar, Out);
HAS(aclnnRightShift, In, In, Out);
HAS(aclnnClamp, In, Scalar, Scalar, Out);
HAS(aclnnClampMin, In, Scalar, Out);
HAS(aclnnClampMax, In, Scalar, Out);
HAS(aclnnInplaceClampMax, In, Scalar);
HAS(aclnnClampTensor, In, In, In, Out);
HAS(aclnnClampMinTensor, In, In, Out);
HAS(aclnnClampMaxTensor, In, In, Out);
HAS(aclnnInplaceClampMinTensor, Out, In);
HAS(aclnnInplaceClampMaxTensor, Out, In);
HAS(aclnnSWhere, In, In, In, Out);
HAS(aclnnInplaceMaskedFillScalar, Out, In, Scalar);
HAS(aclnnInplaceMaskedFillTensor, Out, In, In);
HAS(aclnnTriu, In, int64_t, Out);
HAS(aclnnInplaceTriu, Out, int64_t);
HAS(aclnnTril, In, int64_t, Out);
HAS(aclnnInplaceTril, In, int64_t);
HAS(aclnnThreshold, In, Scalar, Scalar, Out);
HAS(aclnnInplaceThreshold, Out, Scalar, Scalar);
