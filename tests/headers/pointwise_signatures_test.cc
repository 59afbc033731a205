// The signatures of unary functions, comparisons, logic, bits and selection are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/unary.h"

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
HAS(aclnnXLogYTensor, In, In, Out);
HAS(aclnnInplaceXLogYTensor, Out, In);
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
