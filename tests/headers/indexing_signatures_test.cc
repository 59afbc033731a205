// The signatures of operators that move and index elements are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/image.h"
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/matmul.h"
#include "aclnnop/families/shape.h"
#include "aclnnop/families/sort.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclTensorList* List;
typedef aclTensorList* OutList;
typedef const aclIntArray* Array;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnCat, List, int64_t, Out);
HAS(aclnnStack, List, int64_t, Out);
HAS(aclnnChannelShuffle, In, int64_t, Out);
HAS(aclnnFlatten, In, int64_t, Out);
HAS(aclnnConfusionTranspose, In, Array, Array, bool, Out);
HAS(aclnnInplaceFillDiagonal, Out, Scalar, bool);
HAS(aclnnStridedSlice, In, Array, Array, Array, int64_t, int64_t, int64_t, int64_t, int64_t, Out);
HAS(aclnnChunkCat, List, int64_t, int64_t, Out);
HAS(aclnnSplitTensor, In, uint64_t, int64_t, OutList);
HAS(aclnnSplitWithSize, In, Array, int64_t, OutList);
HAS(aclnnPermute, In, Array, Out);
HAS(aclnnFlip, In, Array, Out);
HAS(aclnnRoll, In, Array, Array, Out);
HAS(aclnnSlice, In, int64_t, int64_t, int64_t, int64_t, Out);
HAS(aclnnSliceV2, In, Array, Array, Array, Array, Out);
HAS(aclnnRepeat, In, Array, Out);
HAS(aclnnExpand, In, Array, Out);
HAS(aclnnRepeatInterleaveInt, In, int64_t, int64_t, Out);
HAS(aclnnRepeatInterleaveIntWithDim, In, int64_t, int64_t, int64_t, Out);
HAS(aclnnRepeatInterleave, In, In, int64_t, Out);
HAS(aclnnRepeatInterleaveWithDim, In, In, int64_t, int64_t, Out);
HAS(aclnnRepeatInterleaveTensor, In, int64_t, Out);
HAS(aclnnConstantPadNd, In, Array, Scalar, Out);
HAS(aclnnReflectionPad1d, In, Array, Out);
HAS(aclnnReflectionPad2d, In, Array, Out);
HAS(aclnnReplicationPad1d, In, Array, Out);
HAS(aclnnReplicationPad2d, In, Array, Out);
HAS(aclnnCircularPad2d, In, Array, Out);
HAS(aclnnReflectionPad1dBackward, In, In, Array, Out);
HAS(aclnnReflectionPad2dBackward, In, In, Array, Out);
HAS(aclnnReplicationPad1dBackward, In, In, Array, Out);
HAS(aclnnReplicationPad2dBackward, In, In, Array, Out);
HAS(aclnnReflectionPad3d, In, Array, Out);
HAS(aclnnReplicationPad3d, In, Array, Out);
HAS(aclnnCircularPad3d, In, Array, Out);
HAS(aclnnReflectionPad3dBackward, In, In, Array, Out);
HAS(aclnnReplicationPad3dBackward, In, In, Array, Out);
HAS(aclnnCircularPad2dBackward, In, In, Array, Out);
HAS(aclnnCircularPad3dBackward, In, In, Array, Out);
HAS(aclnnIm2col, In, Array, Array, Array, Array, In);
HAS(aclnnIm2colBackward, In, Array, Array, Array, Array, Array, Out);
HAS(aclnnUnfoldGrad, In, Array, int64_t, int64_t, int64_t, In);
HAS(aclnnUpsampleLinear1d, In, Array, bool, double, Out);
HAS(aclnnUpsampleLinear1dBackward, In, Array, Array, bool, double, Out);
HAS(aclnnUpsampleNearest1dBackward, In, Array, Array, double, Out);
HAS(aclnnUpsampleNearestExact1d, In, Array, double, Out);
HAS(aclnnUpsampleNearestExact1dBackward, In, Array, Array, double, Out);
HAS(aclnnUpsampleNearestExact2d, In, Array, double, double, Out);
HAS(aclnnUpsampleNearestExact2dBackward, In, Array, Array, double, double, Out);
HAS(aclnnUpsampleBicubic2dBackward, In, Array, Array, bool, double, double, Out);
HAS(aclnnUpsampleBilinear2dAA, In, Array, bool, double, double, Out);
HAS(aclnnUpsampleBilinear2dAABackward, In, Array, Array, bool, double, double, Out);
HAS(aclnnUpsampleBicubic2dAA, In, Array, bool, double, double, Out);
HAS(aclnnUpsampleBicubic2dAAGrad, In, Array, Array, bool, double, double, Out);
HAS(aclnnUpsampleNearest3d, In, Array, double, double, double, Out);
HAS(aclnnUpsampleNearest3dBackward, In, Array, Array, double, double, double, Out);
HAS(aclnnUpsampleNearestExact3d, In, Array, double, double, double, Out);
HAS(aclnnUpsampleNearestExact3dBackward, In, Array, Array, double, double, double, Out);
HAS(aclnnUpsampleTrilinear3d, In, Array, bool, double, double, double, Out);
HAS(aclnnUpsampleTrilinear3dBackward, In, Array, Array, bool, double, double, double, Out);
HAS(aclnnUpsampleNearest1d, In, Array, Out);
HAS(aclnnUpsampleNearest1dV2, In, Array, float, Out);
HAS(aclnnUpsampleNearest2d, In, Array, Out);
HAS(aclnnUpsampleNearest2dV2, In, Array, float, float, Out);
HAS(aclnnUpsampleNearest2dBackward, In, Array, Array, double, double, Out);
HAS(aclnnUpsampleBilinear2d, In, Array, bool, double, double, Out);
HAS(aclnnUpsampleBicubic2d, In, Array, bool, double, double, Out);
HAS(aclnnUpsampleBilinear2dBackward, In, Array, Array, bool, double, double, Out);
HAS(aclnnUpsampleBilinear2dBackwardV2, In, Array, Array, bool, double, double, Out);
HAS(aclnnGridSampler2D, In, In, int64_t, int64_t, bool, Out);
HAS(aclnnAffineGrid, In, Array, bool, Out);
HAS(aclnnGridSampler3D, In, In, int64_t, int64_t, bool, Out);
HAS(aclnnGridSampler2DBackward, In, In, In, int64_t, int64_t, bool, const aclBoolArray*, Out, Out);
HAS(aclnnGridSampler3DBackward, In, In, In, int64_t, int64_t, bool, const aclBoolArray*, Out, Out);
HAS(aclnnROIAlign, In, In, float, int64_t, int64_t, int64_t, int64_t, Out);
HAS(aclnnROIAlignBackward, In, In, Array, int64_t, int64_t, float, int64_t, int64_t, Out);
HAS(aclnnTransMatmulWeight, Out);
static_assert(
    std::is_same<decltype(&aclnnCalculateMatmulWeightSize), aclnnStatus (*)(Array, uint64_t*)>::value,
    "aclnnCalculateMatmulWeightSize");
static_assert(std::is_same<decltype(&aclnnCalculateMatmulWeightSizeV2),
                           aclnnStatus (*)(Array, aclDataType, uint64_t*)>::value,
              "aclnnCalculateMatmulWeightSizeV2");
HAS(aclnnDiag, In, int64_t, Out);
HAS(aclnnDiagFlat, In, int64_t, Out);
HAS(aclnnIndexSelect, In, int64_t, In, Out);
HAS(aclnnGather, In, int64_t, In, Out);
HAS(aclnnGatherV2, In, int64_t, In, Out);
HAS(aclnnGatherV3, In, int64_t, In, int64_t, int64_t, Out);
HAS(aclnnTake, In, In, Out);
HAS(aclnnEmbedding, In, In, In);
HAS(aclnnIndex, In, List, Out);
HAS(aclnnIndexPutImpl, Out, List, In, bool, bool);
HAS(aclnnScatter, In, int64_t, In, In, int64_t, Out);
HAS(aclnnInplaceScatter, Out, int64_t, In, In, int64_t);
HAS(aclnnScatterValue, In, int64_t, In, Scalar, int64_t, Out);
HAS(aclnnInplaceScatterValue, Out, int64_t, In, Scalar, int64_t);
HAS(aclnnScatterAdd, In, int64_t, In, In, Out);
HAS(aclnnEmbeddingDenseBackward, In, In, uint64_t, uint64_t, bool, In);
HAS(aclnnEmbeddingBag, In, In, In, bool, int64_t, bool, In, bool, int64_t, Out, Out, Out, Out);
HAS(aclnnIndexAdd, In, int64_t, In, In, Scalar, Out);
HAS(aclnnIndexAddV2, In, int64_t, In, In, Scalar, int64_t, Out);
HAS(aclnnIndexCopy, Out, int64_t, In, In, Out);
HAS(aclnnInplaceIndexCopy, Out, int64_t, In, In);
HAS(aclnnNonzero, In, Out);
HAS(aclnnNonzeroV2, In, Out);
HAS(aclnnMaskedSelect, In, In, Out);
HAS(aclnnScatterReduce, In, int64_t, In, In, int64_t, bool, Out);
HAS(aclnnInplaceScatterReduce, Out, int64_t, In, In, int64_t, bool);
HAS(aclnnScatterNd, In, In, In, Out);
HAS(aclnnScatterNdUpdate, Out, In, In);
HAS(aclnnInplaceScatterUpdate, Out, In, In, int64_t);
HAS(aclnnScatterList, OutList, In, In, In, char*, int64_t);
HAS(aclnnIndexFill, In, int64_t, In, Scalar, Out);
HAS(aclnnInplaceIndexFill, Out, int64_t, In, Scalar);
HAS(aclnnIndexFillTensor, In, int64_t, Array, Scalar, Out);
HAS(aclnnInplaceIndexFillTensor, Out, int64_t, Array, Scalar);
HAS(aclnnInplacePut, Out, In, In, bool);
HAS(aclnnInplaceMaskedScatter, Out, In, In);
HAS(aclnnOneHot, In, int, In, In, int64_t, Out);
HAS(aclnnUnique, In, bool, bool, Out, Out);
HAS(aclnnUnique2, In, bool, bool, bool, Out, Out, Out);
HAS(aclnnUniqueConsecutive, In, bool, bool, int64_t, Out, Out, Out);
HAS(aclnnUniqueDim, In, bool, bool, int64_t, Out, Out, Out);
