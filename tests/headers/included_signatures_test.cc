// What CANN declares in an operator's header and portacl in one of its own is there with that operator's header alone.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/aclnn_dropout_gen_mask.h"
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_max_pool2d_with_indices.h"
#include "aclnnop/aclnn_max_pool2d_with_indices_backward.h"
#include "aclnnop/aclnn_ones.h"
#include "aclnnop/aclnn_searchsorted.h"
#include "aclnnop/aclnn_trans_quant_param.h"

typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define IS_DECLARED(function)                                              \
  static_assert(std::is_same<decltype(&function), Run>::value, #function); \
  static_assert(std::is_pointer<decltype(&function##GetWorkspaceSize)>::value, #function "GetWorkspaceSize")

IS_DECLARED(aclnnFlashAttentionVarLenScore);
IS_DECLARED(aclnnFlashAttentionVarLenScoreV4);
IS_DECLARED(aclnnFlashAttentionUnpaddingScoreGrad);
IS_DECLARED(aclnnFlashAttentionUnpaddingScoreGradV4);
IS_DECLARED(aclnnTransQuantParamV2);
IS_DECLARED(aclnnSearchSorteds);
IS_DECLARED(aclnnDropoutGenMaskV2);
IS_DECLARED(aclnnDropoutGenMaskV2Tensor);
IS_DECLARED(aclnnMaxPool2dWithMask);
IS_DECLARED(aclnnMaxPool2dWithMaskBackward);
IS_DECLARED(aclnnInplaceOne);
