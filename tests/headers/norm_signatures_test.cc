// The C signatures of softmax, norms and losses over classes, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/norm.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef const aclBoolArray* Flags;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnSoftmax, In, int64_t, Out);
HAS(aclnnLogSoftmax, In, int64_t, Out);
HAS(aclnnSoftmaxBackward, In, In, int64_t, Out);
HAS(aclnnLogSoftmaxBackward, In, In, int64_t, Out);
HAS(aclnnLayerNorm, In, Array, In, In, double, Out, Out, Out);
HAS(aclnnLayerNormWithImplMode, In, Array, In, In, double, Out, Out, Out, int32_t);
HAS(aclnnLayerNormBackward, In, In, Array, In, In, In, In, Flags, Out, Out, Out);
HAS(aclnnRmsNorm, In, In, double, In, In);
HAS(aclnnRmsNormGrad, In, In, In, In, In, In);
HAS(aclnnAddLayerNorm, In, In, In, In, In, double, bool, In, In, In, In);
HAS(aclnnAddRmsNorm, In, In, In, double, Out, Out, Out);
HAS(aclnnBatchNorm, In, In, In, Out, Out, bool, double, double, Out, Out, Out);
HAS(aclnnBatchNormBackward, In, In, In, In, In, In, In, bool, double, Flags, Out, Out, Out);
HAS(aclnnGroupNorm, In, In, In, int64_t, int64_t, int64_t, int64_t, double, Out, Out, Out);
HAS(aclnnGroupNormBackward, In, In, In, In, In, int64_t, int64_t, int64_t, int64_t, Flags, Out, Out, Out);
HAS(aclnnBinaryCrossEntropy, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyBackward, In, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyWithLogits, In, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyWithLogitsBackward, In, In, In, In, In, int64_t, Out);
HAS(aclnnSoftMarginLoss, In, In, int64_t, Out);
HAS(aclnnSoftMarginLossBackward, In, In, In, int64_t, Out);
HAS(aclnnCrossEntropyLoss, In, In, In, char*, int64_t, double, double, bool, In, In, In, In);
HAS(aclnnCrossEntropyLossGrad, In, In, In, In, In, In, char*, int64_t, double, double, In);
HAS(aclnnSoftmaxCrossEntropyWithLogits, In, Out, Out, Out);
HAS(aclnnMultilabelMarginLoss, In, In, int64_t, Out, Out);
HAS(aclnnNLLLoss, In, In, In, int64_t, int64_t, Out, Out);
HAS(aclnnNLLLoss2d, In, In, In, int64_t, int64_t, Out, Out);
HAS(aclnnNLLLossBackward, In, In, In, In, int64_t, int64_t, In, Out);
HAS(aclnnNLLLoss2dBackward, In, In, In, In, int64_t, int64_t, Out, Out);
