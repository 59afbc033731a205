// The C signatures of quantisers, as CANN declares them: wrong ones do not compile.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/quantisation.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclBoolArray* Flags;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnDynamicQuant, In, In, In, In);
HAS(aclnnDynamicQuantV2, In, In, In, int64_t, In, In, In);
HAS(aclnnDynamicQuantV3, In, In, In, int64_t, bool, char*, In, In, In);
HAS(aclnnDynamicQuantV4, In, In, In, int64_t, bool, char*, float, In, In, In);
HAS(aclnnAscendQuant, In, In, In, bool, const char*, int32_t, In);
HAS(aclnnAscendQuantV3, In, In, In, bool, const char*, int32_t, int32_t, In);
HAS(aclnnQuantize, In, In, In, aclDataType, int32_t, Out);
HAS(aclnnSignBitsPack, In, int64_t, Out);
HAS(aclnnSignBitsUnpack, In, int64_t, aclDataType, Out);
HAS(aclnnGroupQuant, In, In, In, In, int32_t, Out);
HAS(aclnnAscendAntiQuant, In, In, In, int64_t, bool, In);
HAS(aclnnDequantBias, In, In, In, In, int64_t, Out);
HAS(aclnnAddRmsNormQuant, In, In, In, In, In, In, In, int64_t, double, bool, Out, Out, Out);
HAS(aclnnAddRmsNormQuantV2, In, In, In, In, In, In, In, In, int64_t, double, bool, Out, Out, Out, Out);
HAS(aclnnAddRmsNormDynamicQuant, In, In, In, In, In, double, Out, Out, Out, Out, Out);
HAS(aclnnAddRmsNormDynamicQuantV2, In, In, In, In, In, In, double, Flags, Out, Out, Out, Out, Out);
HAS(aclnnRmsNormQuant, In, In, In, In, In, double, Out);
HAS(aclnnDequantSwigluQuant, In, In, In, In, In, In, In, bool, char*, In, In);
HAS(aclnnDequantSwigluQuantV2, In, In, In, In, In, In, In, bool, char*, int64_t, char*, int64_t, int64_t,
    double, double, double, In, In);
HAS(aclnnSwiGluQuantV2, In, In, In, In, bool, char*, int64_t, int64_t, In, In);
HAS(aclnnDynamicMxQuant, In, int64_t, char*, int64_t, int64_t, int64_t, In, In);
HAS(aclnnDynamicMxQuantV2, In, int64_t, char*, int64_t, int64_t, int64_t, double, In, In);
HAS(aclnnDynamicMxQuantV3, In, int64_t, char*, int64_t, int64_t, int64_t, double, double, In, In);
HAS(aclnnDynamicMxQuantWithDualAxis, In, char*, int64_t, int64_t, In, In, In, In);
HAS(aclnnDynamicMxQuantWithDualAxisV2, In, char*, int64_t, int64_t, double, In, In, In, In);
HAS(aclnnDynamicBlockMxQuant, In, char*, int64_t, int64_t, double, In, In, In);
HAS(aclnnGroupedDynamicMxQuant, In, In, const char*, int64_t, int64_t, In, In);
HAS(aclnnGroupedDynamicMxQuantV2, In, In, const char*, int64_t, int64_t, int64_t, double, In, In);
HAS(aclnnAntiMxQuant, In, In, int64_t, int64_t, In);
HAS(aclnnDynamicBlockQuant, In, double, char*, int64_t, int64_t, int64_t, In, In);
HAS(aclnnDynamicBlockQuantV2, In, double, char*, int64_t, int64_t, int64_t, double, In, In);
HAS(aclnnGroupedDynamicBlockQuant, In, In, double, char*, int64_t, int64_t, int64_t, int64_t, In, In);
HAS(aclnnGroupedDynamicBlockQuantV2, In, In, double, char*, int64_t, int64_t, int64_t, int64_t, double, In,
    In);
HAS(aclnnFakeQuantPerTensorAffineCachemask, In, In, In, float, int64_t, int64_t, Out, Out);
HAS(aclnnFakeQuantPerChannelAffineCachemask, In, In, In, int64_t, int64_t, int64_t, Out, Out);
HAS(aclnnQuantMax, In, In, char*, int64_t, In, In);
HAS(aclnnGroupedQuantMax, In, In, In, char*, int64_t, In, In);
HAS(aclnnRmsNormQuantV3, In, In, In, In, In, double, bool, bool, Out, Out);
HAS(aclnnRmsNormDynamicQuant, In, In, In, In, double, int64_t, In, In);
HAS(aclnnFlatQuant, In, In, In, double, Out, Out);
HAS(aclnnFlatQuantV2, In, In, In, double, double, Out, Out);
HAS(aclnnRotateQuant, In, In, In, int64_t, char*, int64_t, double, bool, Out, Out);
HAS(aclnnRmsNormDynamicMxQuant, In, In, In, double, int64_t, char*, int64_t, bool, Out, Out, Out);
HAS(aclnnAddRmsNormDynamicMxQuant, In, In, In, In, double, int64_t, char*, int64_t, bool, Out, Out, Out, Out);
HAS(aclnnDynamicDualLevelMxQuant, In, In, char*, int64_t, int64_t, In, In, In);
HAS(aclnnGeluQuant, In, In, In, const char*, const char*, const char*, int64_t, In, In);
HAS(aclnnAddLayerNormQuant, In, In, In, In, In, In, In, In, In, const char*, double, bool, bool, Out, Out,
    Out, Out, Out);
HAS(aclnnRmsNormGradQuant, In, In, In, In, In, In, const char*, bool, Out, Out);
HAS(aclnnSwigluMxQuant, In, In, int64_t, bool, int64_t, double, double, double, int64_t, int64_t, int64_t,
    char*, int64_t, double, In, In);
HAS(aclnnSwigluMxQuantWithDualAxis, In, In, bool, char*, int64_t, int64_t, double, In, In, In, In);
HAS(aclnnSwigluBackwardMxQuantWithDualAxis, In, In, In, bool, char*, int64_t, int64_t, double, In, In, In,
    In);
HAS(aclnnSwigluGroupQuant, In, In, In, In, int64_t, int64_t, int64_t, bool, double, double, bool, In, In, In);
HAS(aclnnSwigluGroupQuantGrad, In, In, In, In, In, double, In, In);
