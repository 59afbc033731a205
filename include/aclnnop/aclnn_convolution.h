// aclnnop/aclnn_convolution.h: aclnnConvolution, images of one, two or three axes with a kernel, in groups, or transposed.
// SPDX-License-Identifier: Apache-2.0
//
// output[n, o, p] = bias[o] + the sum over (channel c of o's group, place k) of weight[o, c, k] * input[n, c, p * stride + k * dilation -
// padding], where +0 stands outside. Transposed: output[n, o, p] = bias[o] + the sum over (channel c, place k) of weight[c, o, k] *
// input[n, c, q], for those k with q * stride + k * dilation - padding = p. Sums, types and layout: "Products of matrices" in
// aclnnop/aclnn_util.h; terms are those sums', ascending, the last axis fastest. bias is added before the one rounding.
#ifndef PORTACL_ACLNNOP_ACLNN_CONVOLUTION_H_
#define PORTACL_ACLNNOP_ACLNN_CONVOLUTION_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   input          [batch, channels, axes...], of the format NCL, NCHW or NCDHW, as weight and output
//   weight         [output's channels, input's / groups, kernel...]; transposed [input's channels, output's / groups, kernel...]
//   bias           one element for each of output's channels; null: none
//   stride, dilation  one value for each axis, 1 or more
//   padding        one value for each axis, or before and behind for each: of one axis, not transposed, and of two; may be negative
//   outputPadding  one value for each axis, 0 to less than stride or dilation; not read unless transposed
//   output         [batch, channels, (input + padding - dilation * (kernel - 1) - 1) / stride + 1], rounded down; transposed
//                  [batch, channels, (input - 1) * stride - padding + dilation * (kernel - 1) + outputPadding + 1]
//   cubeMathType   0 to 4, before Atlas A2 0 to 3; with FLOAT there 1 or 2
// aclnnConvDepthwise2d: two axes, one type, groups = self's channels; kernelSize are weight's last two dims. aclnnConvTbc: one type but
// bias's, self [time, batch, channels], weight [kernel, self's channels, output's], a bias, output [time + 2 * pad - kernel + 1, ...].
// Codes, after those that all operators share, in this order:
//   161001  an argument is null, but bias, and outputPadding unless transposed
//   161002  the type of a tensor is not in the product's list; ranks or arrays do not go with the axes; bias, weight, channels and
//           groups do not go together; a format is another one; a value is out of range; the kernel is empty or longer than the padded
//           input (aclnnConvTbc: than time + pad); transposed, but for Ascend 950, dilation * (kernel - 1) - padding exceeds 255;
//           output has another shape, or elements where input or weight has none; cubeMathType is not accepted; aclnnConvolution on
//           Atlas 200I/500 A2: not two axes, or transposed
//           (here success is returned when output is empty)
//   561103  a tensor is not dense and reaches outside its storage; values are 2^60 or more
// clang-format off
ACLNN_API aclnnStatus aclnnConvolutionGetWorkspaceSize(const aclTensor* input, const aclTensor* weight, const aclTensor*
    bias, const aclIntArray* stride, const aclIntArray* padding, const aclIntArray* dilation, bool transposed, const
    aclIntArray* outputPadding, const int64_t groups, aclTensor* output, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConvolution(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
ACLNN_API aclnnStatus aclnnConvDepthwise2dGetWorkspaceSize(const aclTensor* self, const aclTensor* weight, const
    aclIntArray* kernelSize, const aclTensor* bias, const aclIntArray* stride, const aclIntArray* padding, const
    aclIntArray* dilation, aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConvDepthwise2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
ACLNN_API aclnnStatus aclnnConvTbcGetWorkspaceSize(const aclTensor* self, const aclTensor* weight, const aclTensor* bias,
    const int64_t pad, aclTensor* output, int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnConvTbc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CONVOLUTION_H_
