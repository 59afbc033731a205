// The signatures of creation and arithmetic are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/creation.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnArange, Scalar, Scalar, Scalar, Out);
HAS(aclnnRange, Scalar, Scalar, Scalar, Out);
HAS(aclnnEye, int64_t, int64_t, Out);
HAS(aclnnLinspace, Scalar, Scalar, int64_t, Out);
HAS(aclnnLogSpace, Scalar, Scalar, int64_t, double, Out);
HAS(aclnnAdd, In, In, Scalar, Out);
HAS(aclnnInplaceAdd, In, In, Scalar);
HAS(aclnnAdds, In, Scalar, Scalar, Out);
HAS(aclnnInplaceAdds, In, Scalar, Scalar);
HAS(aclnnSub, In, In, Scalar, Out);
HAS(aclnnInplaceSub, Out, In, Scalar);
HAS(aclnnSubs, In, Scalar, Scalar, Out);
HAS(aclnnInplaceSubs, Out, Scalar, Scalar);
HAS(aclnnAddV3, Scalar, In, Scalar, Out);
HAS(aclnnInplaceAddV3, Scalar, In, Scalar);
HAS(aclnnRsub, In, In, Scalar, Out);
HAS(aclnnRsubs, In, Scalar, Scalar, Out);
HAS(aclnnMul, In, In, Out);
HAS(aclnnInplaceMul, Out, In);
HAS(aclnnMuls, In, Scalar, Out);
HAS(aclnnInplaceMuls, Out, Scalar);
HAS(aclnnDiv, In, In, Out);
HAS(aclnnInplaceDiv, Out, In);
HAS(aclnnDivs, In, Scalar, Out);
HAS(aclnnInplaceDivs, Out, Scalar);
HAS(aclnnDivMod, In, In, int, Out);
HAS(aclnnInplaceDivMod, Out, In, int);
HAS(aclnnDivMods, In, Scalar, int, Out);
HAS(aclnnInplaceDivMods, Out, Scalar, int);
HAS(aclnnFloorDivide, In, In, Out);
HAS(aclnnInplaceFloorDivide, Out, In);
HAS(aclnnFloorDivides, In, Scalar, Out);
HAS(aclnnInplaceFloorDivides, Out, Scalar);
HAS(aclnnAddcmul, In, In, In, Scalar, Out);
HAS(aclnnInplaceAddcmul, In, In, In, Scalar);
HAS(aclnnAddcdiv, In, In, In, Scalar, In);
HAS(aclnnInplaceAddcdiv, In, In, In, Scalar);
HAS(aclnnLerp, In, In, In, Out);
HAS(aclnnInplaceLerp, Out, In, In);
HAS(aclnnLerps, In, In, Scalar, Out);
HAS(aclnnInplaceLerps, Out, In, Scalar);
HAS(aclnnMaximum, In, In, Out);
HAS(aclnnMinimum, In, In, Out);
HAS(aclnnPowTensorScalar, In, Scalar, In);
HAS(aclnnInplacePowTensorScalar, In, Scalar);
HAS(aclnnPowScalarTensor, Scalar, In, In);
HAS(aclnnPowTensorTensor, In, In, Out);
HAS(aclnnInplacePowTensorTensor, In, In);
HAS(aclnnRemainderTensorTensor, In, In, Out);
HAS(aclnnInplaceRemainderTensorTensor, Out, In);
HAS(aclnnRemainderTensorScalar, In, Scalar, Out);
HAS(aclnnInplaceRemainderTensorScalar, Out, Scalar);
HAS(aclnnRemainderScalarTensor, Scalar, In, Out);
HAS(aclnnFmodTensor, In, In, Out);
HAS(aclnnInplaceFmodTensor, Out, In);
HAS(aclnnFmodScalar, In, Scalar, Out);
HAS(aclnnInplaceFmodScalar, Out, Scalar);
