// The signatures of products of matrices and of convolutions are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/convolution.h"
#include "aclnnop/families/linalg.h"
#include "aclnnop/families/matmul.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef const aclIntArray* Ints;
typedef const aclTensorList* List;
typedef aclTensorList* OutList;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnMm, In, In, Out, int8_t);
HAS(aclnnMatmul, In, In, Out, int8_t);
HAS(aclnnBatchMatMul, In, In, Out, int8_t);
HAS(aclnnTransposeBatchMatMul, In, In, In, In, const aclIntArray*, const aclIntArray*, const aclIntArray*,
    int8_t, int32_t, Out);
HAS(aclnnAddmm, In, In, In, Scalar, Scalar, Out, int8_t);
HAS(aclnnInplaceAddmm, In, In, In, Scalar, Scalar, int8_t);
HAS(aclnnEinsum, List, const char*, Out);
HAS(aclnnGemm, In, In, In, float, float, int64_t, int64_t, Out, int8_t);
HAS(aclnnBaddbmm, In, In, In, Scalar, Scalar, Out, int8_t);
HAS(aclnnInplaceBaddbmm, In, In, In, Scalar, Scalar, int8_t);
HAS(aclnnAddbmm, In, In, In, Scalar, Scalar, Out, int8_t);
HAS(aclnnInplaceAddbmm, Out, In, In, Scalar, Scalar, int8_t);
HAS(aclnnMv, In, In, Out, int8_t);
HAS(aclnnDot, In, In, Out);
HAS(aclnnAddmv, In, In, In, Scalar, Scalar, Out, int8_t);
HAS(aclnnGer, In, In, Out);
HAS(aclnnLinalgCross, In, In, int64_t, Out);
HAS(aclnnTriangularSolve, In, In, bool, bool, bool, Out, Out);
HAS(aclnnInverse, In, Out);
HAS(aclnnLinalgQr, In, int64_t, Out, Out);
HAS(aclnnChamferDistanceBackward, In, In, In, In, In, In, Out, Out);
HAS(aclnnCdist, In, In, float, int64_t, Out);
HAS(aclnnCdistBackward, In, In, In, In, float, Out);
HAS(aclnnPdist, In, float, Out);
HAS(aclnnPdistForward, In, Scalar, Out);
HAS(aclnnLinalgCholesky, In, bool, Out);
HAS(aclnnSlogdet, In, Out, Out);
HAS(aclnnSvd, In, bool, bool, Out, Out, Out);
HAS(aclnnQuantMatmulV3, In, In, In, In, In, bool, bool, In);
HAS(aclnnQuantMatmulV4, In, In, In, In, In, In, bool, bool, In);
HAS(aclnnQuantMatmulV5, In, In, In, In, In, In, In, In, In, bool, bool, int64_t, In);
HAS(aclnnQuantMatmulWeightNz, In, In, In, In, In, In, In, In, In, bool, bool, int64_t, In);
HAS(aclnnTransQuantParamV2, In, In, In);
HAS(aclnnTransQuantParamV3, In, In, int64_t, In);
static_assert(
    std::is_same<decltype(&aclnnTransQuantParam), aclnnStatus (*)(const float*, uint64_t, const float*,
                                                                  uint64_t, uint64_t**, uint64_t*)>::value,
    "aclnnTransQuantParam");
HAS(aclnnGroupedMatmul, List, List, List, List, List, List, List, Ints, int64_t, List);
HAS(aclnnGroupedMatmulV2, List, List, List, List, List, List, List, Ints, int64_t, int64_t, List);
HAS(aclnnGroupedMatmulV3, List, List, List, List, List, List, List, In, int64_t, int64_t, List);
HAS(aclnnGroupedMatmulV4, List, List, List, List, List, List, List, List, In, List, List, List, int64_t,
    int64_t, int64_t, int64_t, OutList, OutList, OutList);
HAS(aclnnGroupedMatmulV5, List, List, List, List, List, List, List, List, In, List, List, List, int64_t,
    int64_t, int64_t, int64_t, aclIntArray*, OutList, OutList, OutList);
HAS(aclnnGroupedMatmulWeightNz, List, List, List, List, List, List, List, List, In, List, List, List, int64_t,
    int64_t, int64_t, int64_t, aclIntArray*, int64_t, OutList, OutList, OutList);
HAS(aclnnWeightQuantBatchMatmulV2, In, In, In, In, In, In, In, int, In);
HAS(aclnnWeightQuantBatchMatmulV3, In, In, In, In, In, In, In, int, int, In);
HAS(aclnnWeightQuantBatchMatmulNz, In, In, In, In, In, In, In, int, In);
HAS(aclnnNpuFormatCast, In, Out);
HAS(aclnnTransposeQuantBatchMatMul, In, In, In, In, In, int32_t, int64_t, const aclIntArray*,
    const aclIntArray*, const aclIntArray*, int32_t, Out);
HAS(aclnnTransposeQuantBatchMatMulWeightNz, In, In, In, In, In, int32_t, int64_t, const aclIntArray*,
    const aclIntArray*, const aclIntArray*, int32_t, Out);
HAS(aclnnQuantBatchMatmulInplaceAdd, In, In, In, In, Out, bool, bool, int64_t);
HAS(aclnnQuantGroupedMatmulInplaceAdd, In, In, In, In, In, Out, int64_t, int64_t);
HAS(aclnnDualLevelQuantMatmulWeightNz, In, In, In, In, In, In, In, bool, bool, int64_t, int64_t, Out);
HAS(aclnnFusedQuantMatmul, In, In, In, In, In, In, In, In, In, In, const char*, int64_t, Out);
HAS(aclnnFusedQuantMatmulWeightNz, In, In, In, In, In, In, In, In, In, In, const char*, int64_t, Out);
HAS(aclnnConvertWeightToINT4Pack, In, Out);
HAS(aclnnQuantMatmulDequant, In, In, In, In, In, In, In, char*, bool, Out);
HAS(aclnnQuantMatmulReduceSumWeightNz, In, In, In, In, In, In, In, In, In, bool, bool, int64_t,
    const aclIntArray*, bool, Out);
static_assert(std::is_same<decltype(&aclnnNpuFormatCastCalculateSizeAndFormat),
                           aclnnStatus (*)(In, int, int, int64_t**, uint64_t*, int*)>::value,
              "aclnnNpuFormatCastCalculateSizeAndFormat");
HAS(aclnnConvolution, In, In, In, Ints, Ints, Ints, bool, Ints, int64_t, Out, int8_t);
HAS(aclnnConvolutionBackward, In, In, In, Ints, Ints, Ints, Ints, bool, Ints, int, const aclBoolArray*,
    int8_t, Out, Out, Out);
HAS(aclnnConvDepthwise2d, In, In, Ints, In, Ints, Ints, Ints, Out, int8_t);
HAS(aclnnDeformableConv2d, In, In, In, In, Ints, Ints, Ints, Ints, int64_t, int64_t, bool, Out, Out);
HAS(aclnnDeformableConv2dBackward, In, In, In, In, In, Ints, Ints, Ints, Ints, int64_t, int64_t, bool, Out,
    Out, Out, Out);
HAS(aclnnQuantConvolution, In, In, In, In, In, Ints, Ints, Ints, bool, Ints, int64_t, int32_t, const char*,
    Out);
HAS(aclnnConvTbc, In, In, In, int64_t, Out, int8_t);
HAS(aclnnConvTbcBackward, In, In, In, In, int64_t, int8_t, Out, Out, Out);
HAS(aclnnFusedMatmul, In, In, In, In, const char*, int8_t, In);
