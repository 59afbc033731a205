// The C signatures of attention and rotary embeddings, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnRotaryPositionEmbedding, In, In, In, int64_t, Out);
HAS(aclnnFlashAttentionScore, In, In, In, In, In, In, In, Array, double, double, int64_t, int64_t, int64_t,
    char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionScoreGrad, In, In, In, In, In, In, In, In, In, In, In, In, Array, double, double,
    int64_t, int64_t, int64_t, char*, int64_t, int64_t, In, In, In, In);
