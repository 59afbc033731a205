// The signatures of reductions and scans are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/reductions.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnReduceSum, In, Array, bool, aclDataType, Out);
HAS(aclnnReduceNansum, In, Array, bool, aclDataType, Out);
HAS(aclnnReduceLogSum, In, Array, bool, bool, Out);
HAS(aclnnMean, In, Array, bool, aclDataType, Out);
HAS(aclnnMeanV2, In, Array, bool, bool, Out);
HAS(aclnnTrace, In, Out);
HAS(aclnnLogSumExp, In, Array, bool, Out);
HAS(aclnnMax, In, Out);
HAS(aclnnMin, In, Out);
HAS(aclnnAmax, In, Array, bool, Out);
HAS(aclnnAmin, In, Array, bool, Out);
HAS(aclnnMaxV2, In, Array, bool, bool, Out);
HAS(aclnnAminmax, In, Array, bool, Out, Out);
HAS(aclnnAminmaxAll, In, Out, Out);
HAS(aclnnAminmaxDim, In, const int64_t, bool, Out, Out);
HAS(aclnnMaxDim, In, int64_t, bool, Out, Out);
HAS(aclnnMinDim, In, int64_t, bool, Out, Out);
HAS(aclnnArgMax, In, int64_t, bool, Out);
HAS(aclnnArgMin, In, int64_t, bool, Out);
HAS(aclnnAny, In, Array, bool, Out);
HAS(aclnnAll, In, Array, bool, Out);
HAS(aclnnProd, In, const aclDataType, Out);
HAS(aclnnProdDim, In, int64_t, bool, const aclDataType, Out);
HAS(aclnnLinalgVectorNorm, In, Scalar, Array, bool, const aclDataType, Out);
HAS(aclnnNorm, In, Scalar, Array, bool, Out);
HAS(aclnnVar, In, Array, bool, bool, Out);
HAS(aclnnVarCorrection, In, Array, int64_t, bool, Out);
HAS(aclnnStd, In, Array, const int64_t, bool, Out);
HAS(aclnnStdMeanCorrection, In, Array, int64_t, bool, Out, Out);
HAS(aclnnVarMean, In, Array, int64_t, bool, Out, Out);
HAS(aclnnCumsum, In, int64_t, aclDataType, Out);
HAS(aclnnCumsumV2, In, int64_t, bool, bool, Out);
HAS(aclnnCumprod, In, Scalar, const aclDataType, Out);
HAS(aclnnInplaceCumprod, Out, Scalar);
HAS(aclnnCummax, In, int64_t, Out, Out);
HAS(aclnnCummin, In, int64_t, Out, Out);
