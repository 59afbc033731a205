// The signatures of activations are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include <type_traits>

#include "aclnnop/families/activations.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnRelu, In, In);
HAS(aclnnInplaceRelu, Out);
HAS(aclnnThresholdBackward, In, In, Scalar, Out);
HAS(aclnnLeakyRelu, In, Scalar, Out);
HAS(aclnnInplaceLeakyRelu, Out, Scalar);
HAS(aclnnLeakyReluBackward, In, In, Scalar, bool, Out);
HAS(aclnnGelu, In, Out);
HAS(aclnnGeluV2, In, int64_t, Out);
HAS(aclnnGeluBackward, In, In, In);
HAS(aclnnGeluBackwardV2, In, In, char*, Out);
HAS(aclnnSilu, In, Out);
HAS(aclnnSiluBackward, In, In, Out);
HAS(aclnnSwish, In, Scalar, Out);
HAS(aclnnSwishBackward, In, In, Scalar, Out);
HAS(aclnnFastGelu, In, Out);
HAS(aclnnFastGeluBackward, In, In, Out);
HAS(aclnnElu, In, Scalar, Scalar, Scalar, Out);
HAS(aclnnInplaceElu, Out, Scalar, Scalar, Scalar);
HAS(aclnnEluBackward, In, Scalar, Scalar, Scalar, bool, In, Out);
HAS(aclnnCelu, In, Scalar, Out);
HAS(aclnnInplaceCelu, Out, Scalar);
HAS(aclnnSelu, In, Out);
HAS(aclnnInplaceSelu, Out);
HAS(aclnnSeluBackward, In, In, Out);
HAS(aclnnPrelu, In, In, Out);
HAS(aclnnPreluBackward, In, In, In, Out, Out);
HAS(aclnnSoftplus, In, Scalar, Scalar, Out);
HAS(aclnnSoftplusBackward, In, In, Scalar, Scalar, Out);
HAS(aclnnMish, In, Out);
HAS(aclnnInplaceMish, Out);
HAS(aclnnMishBackward, In, In, Out);
HAS(aclnnLogit, In, double, In);
HAS(aclnnLogitGrad, In, In, double, In);
HAS(aclnnLogSigmoid, In, Out);
HAS(aclnnLogSigmoidForward, In, Out, Out);
HAS(aclnnLogSigmoidBackward, In, In, In, Out);
HAS(aclnnHardsigmoid, In, Out);
HAS(aclnnInplaceHardsigmoid, In);
HAS(aclnnHardsigmoidBackward, In, In, Out);
HAS(aclnnHardswish, In, In);
HAS(aclnnInplaceHardswish, In);
HAS(aclnnHardswishBackward, In, In, Out);
HAS(aclnnHardswishBackwardV2, In, In, Out);
HAS(aclnnHardtanh, In, Scalar, Scalar, Out);
HAS(aclnnInplaceHardtanh, Out, Scalar, Scalar);
HAS(aclnnHardtanhBackward, In, In, Scalar, Scalar, Out);
HAS(aclnnHardshrink, In, Scalar, Out);
HAS(aclnnHardshrinkBackward, In, In, Scalar, Out);
HAS(aclnnSoftshrink, In, Scalar, Out);
HAS(aclnnShrink, In, Scalar, Scalar, Out);
HAS(aclnnSoftshrinkBackward, In, In, Scalar, Out);
HAS(aclnnTanhBackward, In, In, Out);
HAS(aclnnSigmoidBackward, In, In, Out);
HAS(aclnnGlu, In, int64_t, In);
HAS(aclnnGluBackward, In, In, int64_t, In);
HAS(aclnnSwiGlu, In, int64_t, In);
HAS(aclnnSwiGluGrad, In, In, int64_t, In);
HAS(aclnnGeluMul, In, char*, In);
HAS(aclnnFatreluMul, In, In, In);
HAS(aclnnClippedSwiglu, In, In, int64_t, double, double, double, bool, In);
HAS(aclnnSituGlu, In, int64_t, double, double, bool, In);
HAS(aclnnClippedSwigluV2, In, In, int64_t, double, double, double, bool, int64_t, In);
HAS(aclnnGeGlu, In, int64_t, int64_t, Out, Out);
HAS(aclnnGeGluV3, In, int64_t, int64_t, bool, Out, Out);
HAS(aclnnGeGluBackward, In, In, In, int64_t, int64_t, Out);
HAS(aclnnGeGluV3Backward, In, In, In, int64_t, int64_t, bool, Out);
