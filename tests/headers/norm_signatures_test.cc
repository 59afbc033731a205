// The C signatures of softmax, norms and losses over classes, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/loss.h"
#include "aclnnop/families/norm.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef const aclIntArray* Array;
typedef const aclBoolArray* Flags;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnRenorm, In, Scalar, int64_t, Scalar, Out);
HAS(aclnnInplaceRenorm, Out, Scalar, int64_t, Scalar);
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
HAS(aclnnGemmaRmsNorm, In, In, double, In, In);
HAS(aclnnInplaceAddRmsNorm, Out, Out, In, double, In);
HAS(aclnnAddRmsNormBias, In, In, In, In, double, In, In, In);
HAS(aclnnAddRmsNormCast, In, In, In, double, In, In, In, In);
HAS(aclnnDeepNorm, In, In, In, In, double, double, In, In, In);
HAS(aclnnDeepNormGrad, In, In, In, In, In, In, double, In, In, In, In);
HAS(aclnnAddLayerNormGrad, In, In, In, In, In, In, In, In, In, In);
HAS(aclnnGroupNormSilu, In, In, In, int64_t, double, Out, Out, Out);
HAS(aclnnGroupNormSiluV2, In, In, In, int64_t, double, bool, Out, Out, Out);
HAS(aclnnGroupNormSwish, In, In, In, int64_t, char*, double, bool, double, In, In, In);
HAS(aclnnGroupNormSwishGrad, In, In, In, In, In, In, int64_t, char*, double, bool, bool, In, In, In);
HAS(aclnnScaledMaskedSoftmax, In, In, double, bool, Out);
HAS(aclnnScaledMaskedSoftmaxBackward, In, In, In, double, bool, Out);
HAS(aclnnMaskedSoftmaxWithRelPosBias, In, In, In, double, int64_t, In);
HAS(aclnnBatchNorm, In, In, In, Out, Out, bool, double, double, Out, Out, Out);
HAS(aclnnBatchNormBackward, In, In, In, In, In, In, In, bool, double, Flags, Out, Out, Out);
HAS(aclnnBatchNormStats, In, double, Out, Out);
HAS(aclnnBatchNormElemt, In, In, In, Out, Out, double, Out);
HAS(aclnnBatchNormElemtBackward, In, In, In, In, In, In, In, Out, Out);
HAS(aclnnBatchNormReduce, In, Out, Out);
HAS(aclnnBatchNormReduceBackward, In, In, In, In, In, bool, bool, bool, Out, Out, Out, Out);
HAS(aclnnBatchNormGatherStatsWithCounts, In, In, In, Out, Out, double, double, In, Out, Out);
HAS(aclnnSyncBatchNormGatherStats, In, In, In, Out, Out, float, float, Out, Out);
HAS(aclnnGroupNorm, In, In, In, int64_t, int64_t, int64_t, int64_t, double, Out, Out, Out);
HAS(aclnnGroupNormBackward, In, In, In, In, In, int64_t, int64_t, int64_t, int64_t, Flags, Out, Out, Out);
HAS(aclnnBinaryCrossEntropy, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyBackward, In, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyWithLogits, In, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyWithLogitsBackward, In, In, In, In, In, int64_t, Out);
HAS(aclnnBinaryCrossEntropyWithLogitsTargetBackward, In, In, In, In, In, int64_t, Out);
HAS(aclnnInstanceNorm, In, In, In, const char*, double, Out, Out, Out);
HAS(aclnnAdaLayerNorm, In, In, In, In, In, double, Out);
HAS(aclnnSoftMarginLoss, In, In, int64_t, Out);
HAS(aclnnSoftMarginLossBackward, In, In, In, int64_t, Out);
HAS(aclnnCrossEntropyLoss, In, In, In, char*, int64_t, double, double, bool, In, In, In, In);
HAS(aclnnCrossEntropyLossGrad, In, In, In, In, In, In, char*, int64_t, double, double, In);
HAS(aclnnFusedCrossEntropyLossWithMaxSum, In, In, In, float, In, In, In, Out, Out);
HAS(aclnnSoftmaxCrossEntropyWithLogits, In, Out, Out, Out);
HAS(aclnnMultilabelMarginLoss, In, In, int64_t, Out, Out);
HAS(aclnnCtcLoss, In, In, Array, Array, int64_t, bool, Out, Out);
HAS(aclnnCtcLossBackward, In, In, In, Array, Array, In, In, int64_t, bool, Out);
HAS(aclnnFusedLinearOnlineMaxSum, In, In, In, int64_t, int64_t, Out, Out, Out, Out, Out, Out);
HAS(aclnnFusedLinearCrossEntropyLossGrad, In, In, In, In, In, float, In, In, In, Out, Out);
HAS(aclnnNLLLoss, In, In, In, int64_t, int64_t, Out, Out);
HAS(aclnnNLLLoss2d, In, In, In, int64_t, int64_t, Out, Out);
HAS(aclnnNLLLossBackward, In, In, In, In, int64_t, int64_t, In, Out);
HAS(aclnnNLLLoss2dBackward, In, In, In, In, int64_t, int64_t, Out, Out);
