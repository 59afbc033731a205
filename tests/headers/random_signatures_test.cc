// The signatures of random numbers are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/random.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef const aclIntArray* Dims;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnInplaceUniform, In, double, double, uint64_t, uint64_t);
HAS(aclnnInplaceUniformTensor, In, double, double, In, In, uint64_t);
HAS(aclnnInplaceNormal, In, float, float, int64_t, int64_t);
HAS(aclnnInplaceNormalTensor, In, float, float, In, In, int64_t);
HAS(aclnnInplaceRandom, In, int64_t, int64_t, int64_t, int64_t);
HAS(aclnnInplaceRandomTensor, In, int64_t, int64_t, In, In, int64_t);
HAS(aclnnInplaceRandomWithoutFromTo, In, int64_t, int64_t);
HAS(aclnnInplaceRandomWithoutFromToTensor, In, In, In, int64_t);
HAS(aclnnSimThreadExponential, Out, int64_t, double, int64_t, int64_t);
HAS(aclnnNormalTensorTensor, In, In, int64_t, int64_t, Out);
HAS(aclnnNormalTensorFloat, In, float, int64_t, int64_t, Out);
HAS(aclnnNormalFloatTensor, float, In, int64_t, int64_t, Out);
HAS(aclnnNormalFloatFloat, float, float, int64_t, int64_t, Out);
HAS(aclnnBernoulli, In, Scalar, int64_t, int64_t, Out);
HAS(aclnnInplaceBernoulli, In, Scalar, int64_t, int64_t);
HAS(aclnnBernoulliTensor, In, In, int64_t, int64_t, Out);
HAS(aclnnInplaceBernoulliTensor, In, In, int64_t, int64_t);
HAS(aclnnRandperm, int64_t, int64_t, int64_t, Out);
HAS(aclnnMultinomial, In, int64_t, bool, int64_t, int64_t, Out);
HAS(aclnnMultinomialTensor, In, int64_t, bool, In, In, int64_t, Out);
HAS(aclnnDropout, In, double, bool, int64_t, int64_t, Out, Out);
HAS(aclnnDropoutBackward, In, In, double, Out);
HAS(aclnnDropoutGenMask, Dims, double, int64_t, int64_t, Out);
HAS(aclnnDropoutGenMaskV2, Dims, double, int64_t, int64_t, aclDataType, Out);
HAS(aclnnDropoutGenMaskV2Tensor, Dims, double, In, In, int64_t, aclDataType, Out);
HAS(aclnnDropoutDoMask, In, In, double, Out);
HAS(aclnnDropoutV3, In, In, double, int64_t, int64_t, Out, Out);
HAS(aclnnDropoutV3Grad, In, In, double, Out);
