// aclnnop/aclnn_convolution_backward.h: aclnnConvolutionBackward, the gradients of a convolution's input, weight and bias.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is the transposed convolution of gradOutput with weight, of a transposed one the convolution; gradWeight[o, c, k] the sum over
// (image, position) of gradOutput * input where place k meets it; gradBias the sum of gradOutput over all dims but the channels'.
// Sums of products, types and layout: "Products of matrices" in aclnnop/aclnn_util.h, one rounding to each gradient's type.
#ifndef PORTACL_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   gradOutput     of the shape of aclnnConvolution's output; not empty, unless input is
//   input, weight  as in aclnnConvolution; the formats are NCHW, NCDHW and, of three dims, NCL or ND; so are gradInput's and gradWeight's
//   biasSizes      [channels of gradOutput]; read where input or weight is empty alone, else it may be null
//   stride, padding, dilation, transposed, groups   as in aclnnConvolution; padding, 0 or more, also four values for two axes
//   outputPadding  as padding; 0 unless transposed
//   outputMask     three values: whether gradInput, gradWeight, gradBias are wanted; others are not written, and may be null
//   cubeMathType   0 to 3
//   gradInput, gradWeight  of the shapes of input and weight;  gradBias  [channels of gradOutput]
// aclnnConvTbcBackward: self is the gradient of aclnnConvTbc's output, of one type with all but bias and gradBias; all three are written.
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, input, weight, stride, padding, dilation, outputPadding or outputMask is null; outputMask has not 3 values;
//           a wanted gradient is null
//   161002  the type of a tensor is not in the product's list; on Ascend 950 a gradient's is not that of input, weight, gradOutput
//   161002  a format or a rank is not accepted; a value is out of range
//   161002  input or weight is empty, from Atlas A2 on: gradBias is wanted and biasSizes another one; gradInput is wanted and input
//           has a batch and channels; arrays, channels and kernel do not go together (else gradWeight and gradBias become 0)
//   161002  ranks differ; gradOutput or weight is empty; a gradient has another shape; an array has another number of values;
//           channels and groups do not go together; of three axes gradOutput has another shape than the convolution's output, or,
//           Atlas A2 and A3, gradWeight is FLOAT, there are groups, and inputs are of 16 bits or cubeMathType 2
//   561103  gradOutput has another batch or other axes than the convolution's output; a tensor is not dense and reaches outside its
//           storage
// clang-format off
ACLNN_API aclnnStatus aclnnConvolutionBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* input, const
    aclTensor* weight, const aclIntArray* biasSizes, const aclIntArray* stride, const aclIntArray* padding, const
    aclIntArray* dilation, bool transposed, const aclIntArray* outputPadding, int groups, const aclBoolArray* outputMask,
    int8_t cubeMathType, aclTensor* gradInput, aclTensor* gradWeight, aclTensor* gradBias, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConvolutionBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
ACLNN_API aclnnStatus aclnnConvTbcBackwardGetWorkspaceSize(const aclTensor* self, const aclTensor* input, const
    aclTensor* weight, const aclTensor* bias, int64_t pad, int8_t cubeMathType, aclTensor* gradInput, aclTensor*
    gradWeight, aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConvTbcBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CONVOLUTION_BACKWARD_H_
