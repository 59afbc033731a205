// The C signatures of routing to experts, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/moe.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclIntArray* Array;
typedef const aclTensorList* List;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnGroupedBiasAddGrad, In, In, Out);
HAS(aclnnGroupedBiasAddGradV2, In, In, int64_t, Out);
HAS(aclnnMoeGatingTopK, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, double, double,
    In, In, In);
HAS(aclnnMoeGatingTopKV2, In, In, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, double,
    double, In, In, In);
HAS(aclnnMoeGatingTopKBackward, In, In, In, int64_t, int64_t, double, double, In);
HAS(aclnnMoeGatingTopKSoftmax, In, In, int64_t, In, In, In);
HAS(aclnnMoeGatingTopKSoftmaxV2, In, In, int64_t, int64_t, bool, In, In, In);
HAS(aclnnMoeInitRouting, In, In, In, int64_t, In, In, In);
HAS(aclnnMoeInitRoutingV2, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, bool, In, In, In, In);
HAS(aclnnMoeInitRoutingV2Grad, In, In, int64_t, int64_t, int64_t, In);
HAS(aclnnMoeInitRoutingQuantV2, In, In, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, bool, int64_t,
    In, In, In, In, In);
HAS(aclnnMoeInitRoutingV3, In, In, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, bool, int64_t, Array,
    int64_t, In, In, In, In);
HAS(aclnnMoeInitRoutingCustom, In, In, In, In, int64_t, int64_t, int64_t, int64_t, int64_t, bool, int64_t,
    Array, int64_t, In, In, In, In);
HAS(aclnnMoeFinalizeRouting, In, In, In, In, In, In, In, In);
HAS(aclnnMoeFinalizeRoutingV2, In, In, In, In, In, In, In, int64_t, In);
HAS(aclnnMoeFinalizeRoutingV4, In, In, In, In, In, In, In, In, In, In, In, int64_t, Array, Array, Array,
    int64_t, In);
HAS(aclnnMoeFinalizeRoutingV2Grad, In, In, In, In, In, In, int64_t, int64_t, int64_t, int64_t, In, In);
HAS(aclnnMoeTokenPermute, In, In, int64_t, bool, In, In);
HAS(aclnnMoeTokenPermuteGrad, In, In, int64_t, bool, Out);
HAS(aclnnMoeTokenUnpermute, In, In, In, bool, Array, Out);
HAS(aclnnMoeTokenUnpermuteGrad, In, In, In, In, bool, Array, Out, Out);
HAS(aclnnMoeTokenPermuteWithRoutingMap, In, In, In, int64_t, bool, Out, Out, Out);
HAS(aclnnMoeTokenPermuteWithRoutingMapGrad, In, In, In, In, int64_t, int64_t, bool, Out, Out);
HAS(aclnnMoeTokenUnpermuteWithRoutingMap, In, In, In, In, bool, Array, Out, Out, Out, Out);
HAS(aclnnMoeTokenUnpermuteWithRoutingMapGrad, In, In, In, In, In, In, bool, Array, In, In);
HAS(aclnnMoeComputeExpertTokens, In, int64_t, In);
HAS(aclnnMoeReRouting, In, In, In, int64_t, int64_t, In, In, In, In);
HAS(aclnnMoeUpdateExpert, In, In, In, In, In, int64_t, int64_t, int64_t, Out, Out);
HAS(aclnnGroupedMatmulAdd, In, In, In, Out, bool, bool, int64_t);
HAS(aclnnGroupedMatmulAddV2, In, In, In, Out, bool, bool, int64_t, int64_t);
HAS(aclnnGroupedMatmulSwigluQuant, In, In, In, In, In, In, In, Out, Out, Out);
HAS(aclnnGroupedMatmulSwigluQuantWeightNZ, In, In, In, In, In, In, In, Out, Out, Out);
HAS(aclnnGroupedMatmulSwigluQuantV2, In, List, List, List, In, In, In, In, int64_t, int64_t, int64_t, int64_t,
    Array, Out, Out);
HAS(aclnnGroupedMatmulSwigluQuantWeightNzV2, In, List, List, List, In, In, In, In, int64_t, int64_t, int64_t,
    int64_t, Array, Out, Out);
HAS(aclnnGroupedMatmulFinalizeRouting, In, In, In, In, In, In, In, In, In, int64_t, float, int64_t, bool,
    bool, int64_t, Out);
HAS(aclnnGroupedMatmulFinalizeRoutingWeightNz, In, In, In, In, In, In, In, In, In, int64_t, float, int64_t,
    bool, bool, int64_t, Out);
HAS(aclnnGroupedMatmulFinalizeRoutingV2, In, In, In, In, In, In, In, In, In, In, In, In, int64_t, float,
    int64_t, bool, bool, int64_t, Out);
HAS(aclnnGroupedMatmulFinalizeRoutingV3, In, In, In, In, In, In, In, In, In, In, In, In, int64_t, float,
    int64_t, bool, bool, int64_t, Array, Out);
HAS(aclnnGroupedMatmulFinalizeRoutingWeightNzV2, In, In, In, In, In, In, In, In, In, In, In, In, int64_t,
    float, int64_t, bool, bool, int64_t, Array, Out);
HAS(aclnnQuantGroupedMatmulDequant, In, In, In, In, In, In, In, In, char*, bool, In);
HAS(aclnnQuantGroupedMatmulDequantWeightNZ, In, In, In, In, In, In, In, In, char*, bool, In);
HAS(aclnnFFN, In, In, In, Array, In, In, In, In, In, In, In, In, In, In, char*, int64_t, In);
HAS(aclnnFFNV2, In, In, In, Array, In, In, In, In, In, In, In, In, In, In, char*, int64_t, bool, In);
HAS(aclnnFFNV3, In, In, In, In, In, In, In, In, In, In, In, In, In, In, char*, int64_t, bool, In);
