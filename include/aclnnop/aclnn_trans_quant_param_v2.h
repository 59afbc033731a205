// aclnnop/aclnn_trans_quant_param_v2.h: aclnnTransQuantParamV2 and aclnnTransQuantParam, scales and offsets as words of 64 bits for quantised
// products.
// SPDX-License-Identifier: Apache-2.0
//
// Bits 0 to 31 of a word are the scale's with its low 13 cleared; bits 37 to 45 the offset, rounded to the nearest integer (away from zero at
// halves) and saturated at -256 and 255; bit 46 is 1.
//
// Types: scale, offset FLOAT; out UINT64 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_V2_H_
#define PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   scale   [n] or [1, n]
//   offset  the same, or null: 0. One element of either goes with all of the other
//   out     result, as many as the longer of them
// Codes, after those that all operators share, in this order:
//   161001  scale or out is null
//   361001  the product is Atlas training or Atlas 200I/500 A2
//   161002  a type or a shape is another
ACLNN_API aclnnStatus aclnnTransQuantParamV2GetWorkspaceSize(const aclTensor* scale, const aclTensor* offset,
                                                             const aclTensor* out, uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTransQuantParamV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

// aclnnTransQuantParam: one call without an executor, of host memory. There are as many words as the longer array has elements, and 0 after
// them up to a multiple of 16 unless it is one.
//   scaleArray, scaleSize    scales, at least one
//   offsetArray, offsetSize  offsets: none, one or as many; one scale goes with all
//   quantParam               result: memory that the program frees with free
//   quantParamSize           its words
// Codes: 161001 scaleArray, quantParam or quantParamSize is null, or offsetArray with a size; 161002 a size does not fit; 561103 there is no
// memory.
ACLNN_API aclnnStatus aclnnTransQuantParam(const float* scaleArray, uint64_t scaleSize,
                                           const float* offsetArray, uint64_t offsetSize,
                                           uint64_t** quantParam, uint64_t* quantParamSize);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_V2_H_
