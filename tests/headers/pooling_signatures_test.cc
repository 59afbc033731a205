// The signatures of pools are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/pooling.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Ints;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnAvgPool2d, In, Ints, Ints, Ints, bool, bool, int64_t, int8_t, Out);
HAS(aclnnAvgPool2dBackward, In, In, Ints, Ints, Ints, bool, bool, int64_t, int8_t, Out);
HAS(aclnnAvgPool3d, In, Ints, Ints, Ints, bool, bool, int64_t, Out);
HAS(aclnnAvgPool3dBackward, In, In, Ints, Ints, Ints, bool, bool, int64_t, Out);
HAS(aclnnAdaptiveAvgPool2d, In, Ints, Out);
HAS(aclnnAdaptiveAvgPool2dBackward, In, In, Out);
HAS(aclnnAdaptiveMaxPool2d, In, Ints, Out, Out);
HAS(aclnnAdaptiveMaxPool2dBackward, In, In, In, Out);
HAS(aclnnAdaptiveAvgPool3d, In, Ints, Out);
HAS(aclnnAdaptiveAvgPool3dBackward, In, In, Out);
HAS(aclnnAdaptiveMaxPool3d, In, Ints, Out, Out);
HAS(aclnnAdaptiveMaxPool3dBackward, In, In, In, Out);
HAS(aclnnGlobalAveragePool, In, Out);
HAS(aclnnGlobalMaxPool, In, Out);
HAS(aclnnMaxUnpool2d, In, In, Ints, Out);
HAS(aclnnMaxUnpool3d, In, In, Ints, Ints, Ints, Out);
HAS(aclnnMaxUnpool2dBackward, In, In, In, Ints, Out);
HAS(aclnnMaxUnpool3dBackward, In, In, In, Ints, Ints, Ints, Out);
HAS(aclnnMaxPool, In, Ints, Ints, int64_t, Ints, Ints, int64_t, Out);
HAS(aclnnMaxPool2dWithMask, In, Ints, Ints, Ints, Ints, bool, Out, Out);
HAS(aclnnMaxPool2dWithIndices, In, Ints, Ints, Ints, Ints, bool, Out, Out);
HAS(aclnnMaxPool3dWithArgmax, In, Ints, Ints, Ints, Ints, bool, Out, Out);
HAS(aclnnMaxPool2dWithMaskBackward, In, In, In, Ints, Ints, Ints, Ints, bool, Out);
HAS(aclnnMaxPool2dWithIndicesBackward, In, In, In, Ints, Ints, Ints, Ints, bool, Out);
HAS(aclnnMaxPool3dWithArgmaxBackward, In, In, In, Ints, Ints, Ints, Ints, bool, Out);
