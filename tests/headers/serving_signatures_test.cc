// The C signatures of paged caches, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/serving.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnExpSegsum, In, Out);
HAS(aclnnExpSegsumBackward, In, In, Out);
HAS(aclnnSinkhorn, In, const aclScalar*, Out);
HAS(aclnnScatterPaKvCache, In, Out, In, In, Out, In, In, In, char*, char*, Array, Array);
HAS(aclnnScatterPaCache, In, Out, In, In, In, In, char*);
HAS(aclnnApplyTopKTopP, In, In, In, Out);
HAS(aclnnGatherPaKvCache, In, In, In, In, Out, Out, In, char*, bool);
HAS(aclnnKvRmsNormRopeCache, In, In, In, In, In, Out, Out, In, In, In, In, double, char*, bool, In, In);
HAS(aclnnKvRmsNormRopeCacheV2, In, In, In, In, In, Out, Out, In, In, In, In, In, double, char*, bool, In, In);
HAS(aclnnQkvRmsNormRopeCache, In, In, In, In, In, In, Out, Out, Out, In, In, In, In, Array, Array, double,
    char*, In, In, In);
HAS(aclnnDequantRopeQuantKvcache, In, In, In, Out, Out, In, In, In, In, In, In, In, In, Array, char*, char*,
    bool, char*, In, In, In);
HAS(aclnnInplaceQuantScatter, Out, In, In, In, In, int64_t, int64_t, int64_t);
HAS(aclnnInplaceQuantScatterV2, Out, In, In, In, In, int64_t, int64_t, int64_t, const char*);
HAS(aclnnTopKTopPSample, In, In, In, In, double, bool, int64_t, In, In);
HAS(aclnnTopKTopPSampleV2, In, In, In, In, In, double, bool, int64_t, int64_t, bool, bool, In, In, In, In);
HAS(aclnnAdvanceStep, Out, In, Out, Out, Out, In, int64_t, int64_t, int64_t);
HAS(aclnnAdvanceStepV2, Out, In, Out, Out, Out, In, In, In, int64_t, int64_t, int64_t);
HAS(aclnnRecurrentGatedDeltaRule, In, In, In, In, Out, In, In, In, In, In, float, Out);
HAS(aclnnChunkGatedDeltaRule, In, In, In, In, In, In, float, In, Out, Out);
HAS(aclnnMaskedCausalConv1d, In, In, In, Out);
HAS(aclnnSwigluGroup, In, In, In, double, Out);
HAS(aclnnApplyTopKTopPCustom, In, In, In, Out);
HAS(aclnnLightningIndexer, In, In, In, In, In, In, char*, char*, int64_t, int64_t, int64_t, int64_t, bool, In,
    In);
HAS(aclnnQuantLightningIndexer, In, In, In, In, In, In, In, In, int64_t, int64_t, char*, char*, int64_t,
    int64_t, int64_t, int64_t, In);
HAS(aclnnSparseFlashAttention, In, In, In, In, In, In, In, In, In, double, int64_t, char*, char*, int64_t,
    int64_t, int64_t, int64_t, bool, In, In, In);
HAS(aclnnSparseFlashAttentionV2, In, In, In, In, In, In, In, In, In, In, double, int64_t, char*, char*,
    int64_t, int64_t, int64_t, int64_t, bool, In, In, In);
HAS(aclnnKvQuantSparseFlashAttention, In, In, In, In, In, In, In, In, In, double, int64_t, int64_t, int64_t,
    char*, char*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, In);
HAS(aclnnKvQuantSparseFlashAttentionV2, In, In, In, In, In, In, In, In, In, In, double, int64_t, int64_t,
    int64_t, char*, char*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, In);
HAS(aclnnBlockSparseAttention, In, In, In, In, In, Array, Array, Array, In, char*, char*, int64_t, int64_t,
    double, int64_t, int64_t, int64_t, int64_t, int64_t, In, In);
HAS(aclnnNsaSelectedAttention, In, In, In, In, In, Array, Array, double, int64_t, char*, int64_t, int64_t,
    int64_t, In, In, In);
HAS(aclnnFusedCausalConv1d, In, In, Out, In, In, In, In, In, In, In, In, In, int64_t, int64_t, int64_t,
    int64_t, int64_t, int64_t, int64_t, Out);
HAS(aclnnInplaceFusedCausalConv1d, Out, In, Out, In, In, In, In, In, In, In, In, In, int64_t, int64_t,
    int64_t, int64_t, int64_t, int64_t, int64_t);
HAS(aclnnNsaCompress, In, In, Array, char*, int64_t, int64_t, int64_t, In);
HAS(aclnnNsaCompressGrad, In, In, In, Array, int64_t, int64_t, int64_t, char*, In, In);
HAS(aclnnMlaProlog, In, In, In, In, In, In, In, In, In, In, Out, Out, In, In, In, In, In, In, In, double,
    double, char*, In, In);
HAS(aclnnMlaPrologV2WeightNz, In, In, In, In, In, In, In, In, In, In, Out, Out, In, In, In, In, In, In, In,
    double, double, char*, In, In, In);
HAS(aclnnMlaPrologV3WeightNz, In, In, In, In, In, In, In, In, In, Out, Out, In, In, In, In, In, In, In, In,
    In, In, double, double, char*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double, In,
    In, In, In, In);
HAS(aclnnNsaCompressAttention, In, In, In, In, In, Array, Array, Array, double, int64_t, char*, int64_t,
    int64_t, int64_t, int64_t, int64_t, In, In, In, In);
HAS(aclnnNsaCompressAttentionInfer, In, In, In, In, In, Array, Array, Array, In, int64_t, int64_t, int64_t,
    int64_t, int64_t, int64_t, double, char*, int64_t, int64_t, In, In);
HAS(aclnnNsaSelectedAttentionInfer, In, In, In, In, In, In, Array, Array, char*, int64_t, int64_t, int64_t,
    int64_t, int64_t, double, int64_t, In);
HAS(aclnnNsaSelectedAttentionGrad, In, In, In, In, In, In, In, In, Array, Array, In, double, int64_t, int64_t,
    int64_t, char*, int64_t, In, In, In);
HAS(aclnnNsaCompressWithCache, In, In, In, Array, In, char*, int64_t, int64_t, int64_t, int64_t, Out);
HAS(aclnnMhcPre, In, In, In, In, In, double, double, In, In, In, In, In, In);
HAS(aclnnMhcPreV2, In, In, In, In, In, double, double, int64_t, In, In, In, In, In, In);
HAS(aclnnMhcPost, In, In, In, In, In);
HAS(aclnnMhcSinkhorn, In, float, int64_t, In, In, In);
static_assert(std::is_same<decltype(&aclnnNsaCompressAttentionInferGetMaxWorkspaceSize),
                           decltype(&aclnnNsaCompressAttentionInferGetWorkspaceSize)>::value,
              "aclnnNsaCompressAttentionInferGetMaxWorkspaceSize");
