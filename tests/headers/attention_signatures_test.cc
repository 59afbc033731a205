// The C signatures of attention and rotary embeddings, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/attention.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclTensorList* List;
typedef const aclIntArray* Array;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnRotaryPositionEmbedding, In, In, In, int64_t, Out);
HAS(aclnnRotaryPositionEmbeddingGrad, In, In, In, In, int64_t, In, In, In);
HAS(aclnnRotaryPositionEmbeddingV2, In, In, In, int64_t, In, Out);
HAS(aclnnApplyRotaryPosEmb, Out, Out, In, In, int64_t);
HAS(aclnnApplyRotaryPosEmbV2, Out, Out, In, In, int64_t, char*);
HAS(aclnnInterleaveRope, In, In, In, In);
HAS(aclnnRopeWithSinCosCache, In, In, In, In, Array, int64_t, bool, Out, Out);
HAS(aclnnRopeWithSinCosCacheV2, In, In, In, In, Array, int64_t, bool, int64_t, Out, Out);
HAS(aclnnTransformBiasRescaleQkv, In, In, int64_t, In, In, In);
HAS(aclnnFlashAttentionScore, In, In, In, In, In, In, In, Array, double, double, int64_t, int64_t, int64_t,
    char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionScoreGrad, In, In, In, In, In, In, In, In, In, In, In, In, Array, double, double,
    int64_t, int64_t, int64_t, char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionVarLenScore, In, In, In, In, In, In, In, Array, Array, Array, double, double, int64_t,
    int64_t, int64_t, char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionVarLenScoreV4, In, In, In, In, In, In, In, Array, Array, Array, double, double,
    int64_t, int64_t, int64_t, char*, int64_t, int64_t, char*, In, In, In, In);
HAS(aclnnFlashAttentionUnpaddingScoreGrad, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array,
    Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionUnpaddingScoreGradV4, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array,
    Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, In, In, In, In, char*);
HAS(aclnnFlashAttentionScoreV4, In, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array, Array,
    Array, Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, int64_t, char*,
    int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionScoreGradV4, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In,
    In, In, Array, Array, Array, Array, Array, double, double, int64_t, int64_t, int64_t, char*, char*,
    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, In, In, In, In, In, In, In);
HAS(aclnnFusedInferAttentionScore, In, List, List, In, In, Array, Array, In, In, In, In, In, In, In, In, In,
    In, int64_t, double, int64_t, int64_t, char*, int64_t, int64_t, int64_t, int64_t, int64_t, bool, In, In);
HAS(aclnnFusedInferAttentionScoreV2, In, List, List, In, In, Array, Array, In, In, In, In, In, In, In, In, In,
    In, In, In, In, In, In, In, Array, int64_t, double, int64_t, int64_t, char*, int64_t, int64_t, int64_t,
    int64_t, int64_t, bool, int64_t, int64_t, In, In);
HAS(aclnnFusedInferAttentionScoreV3, In, List, List, In, In, Array, Array, In, In, In, In, In, In, In, In, In,
    In, In, In, In, In, In, In, Array, In, In, In, int64_t, double, int64_t, int64_t, char*, int64_t, int64_t,
    int64_t, int64_t, int64_t, bool, int64_t, int64_t, In, In);
HAS(aclnnFusedInferAttentionScoreV4, In, List, List, In, In, Array, Array, In, In, In, In, In, In, In, In, In,
    In, In, In, In, In, In, In, Array, In, In, In, In, In, int64_t, double, int64_t, int64_t, char*, int64_t,
    int64_t, int64_t, int64_t, int64_t, bool, int64_t, int64_t, int64_t, In, In);
HAS(aclnnFusedInferAttentionScoreV5, In, List, List, In, In, Array, Array, In, In, In, In, In, In, In, In, In,
    In, In, In, In, In, In, In, Array, In, In, In, In, In, Array, Array, int64_t, double, int64_t, int64_t,
    char*, int64_t, int64_t, int64_t, int64_t, int64_t, bool, int64_t, int64_t, int64_t, int64_t, In, In);
HAS(aclnnPromptFlashAttention, In, In, In, In, In, Array, int64_t, double, int64_t, int64_t, char*, int64_t,
    In);
HAS(aclnnPromptFlashAttentionV2, In, In, In, In, In, Array, Array, In, In, In, In, In, int64_t, double,
    int64_t, int64_t, char*, int64_t, int64_t, In);
HAS(aclnnPromptFlashAttentionV3, In, In, In, In, In, Array, Array, In, In, In, In, In, int64_t, double,
    int64_t, int64_t, char*, int64_t, int64_t, int64_t, In);
HAS(aclnnIncreFlashAttention, In, List, List, In, In, Array, int64_t, double, char*, int64_t, In);
HAS(aclnnIncreFlashAttentionV2, In, List, List, In, In, Array, In, In, In, In, In, int64_t, double, char*,
    int64_t, In);
HAS(aclnnIncreFlashAttentionV3, In, List, List, In, In, Array, In, In, In, In, In, In, In, In, int64_t,
    double, char*, int64_t, int64_t, int64_t, In);
HAS(aclnnIncreFlashAttentionV4, In, List, List, In, In, Array, In, In, In, In, In, In, In, In, In, int64_t,
    double, char*, int64_t, int64_t, int64_t, In);

#define HAS_MOST(function)                                                                                  \
  static_assert(                                                                                            \
      std::is_same<decltype(&function##GetMaxWorkspaceSize), decltype(&function##GetWorkspaceSize)>::value, \
      #function "GetMaxWorkspaceSize")
HAS_MOST(aclnnFusedInferAttentionScoreV3);
HAS_MOST(aclnnFusedInferAttentionScoreV4);
HAS_MOST(aclnnFusedInferAttentionScoreV5);
HAS_MOST(aclnnFlashAttentionVarLenScoreV5);
HAS_MOST(aclnnFlashAttentionUnpaddingScoreGradV5);
HAS(aclnnAttentionUpdate, List, List, int64_t, Out, Out);
HAS(aclnnRingAttentionUpdate, In, In, In, In, In, In, In, char*, In, In, In);
HAS(aclnnRingAttentionUpdateV2, In, In, In, In, In, In, In, char*, char*, In, In, In);
HAS(aclnnFlashAttentionScoreV2, In, In, In, In, In, In, In, Array, Array, Array, double, double, int64_t,
    int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionScoreGradV2, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array, Array,
    double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionVarLenScoreV2, In, In, In, In, In, In, In, Array, Array, Array, Array, Array, double,
    double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionUnpaddingScoreGradV2, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array,
    Array, Array, Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In,
    In, In);
HAS(aclnnFlashAttentionScoreV3, In, In, In, In, In, In, In, In, Array, Array, Array, double, double, int64_t,
    int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionScoreGradV3, In, In, In, In, In, In, In, In, In, In, In, In, In, Array, Array, Array,
    double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In, In);
HAS(aclnnFlashAttentionVarLenScoreV3, In, In, In, In, In, In, In, In, In, Array, Array, Array, Array, Array,
    double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnFlashAttentionUnpaddingScoreGradV3, In, In, In, In, In, In, In, In, In, In, In, In, In, In, Array,
    Array, Array, Array, Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t,
    In, In, In, In, In, In);
HAS(aclnnFlashAttentionVarLenScoreV5, In, In, In, In, In, In, In, In, In, In, Array, Array, Array, Array,
    Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t, int64_t, char*, In, In, In,
    In);
HAS(aclnnFlashAttentionUnpaddingScoreGradV5, In, In, In, In, In, In, In, In, In, In, In, In, In, In, In,
    Array, Array, Array, Array, Array, double, double, int64_t, int64_t, int64_t, char*, int64_t, int64_t,
    int64_t, char*, In, In, In, In, In, In, In);
