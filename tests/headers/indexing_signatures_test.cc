// The signatures of operators that move and index elements are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_circular_pad2d.h"
#include "aclnnop/aclnn_constant_pad_nd.h"
#include "aclnnop/aclnn_diag.h"
#include "aclnnop/aclnn_diag_flat.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_expand.h"
#include "aclnnop/aclnn_flip.h"
#include "aclnnop/aclnn_gather.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_grid_sampler2d.h"
#include "aclnnop/aclnn_im2col.h"
#include "aclnnop/aclnn_im2col_backward.h"
#include "aclnnop/aclnn_index.h"
#include "aclnnop/aclnn_index_add.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_index_fill.h"
#include "aclnnop/aclnn_index_fill_tensor.h"
#include "aclnnop/aclnn_index_put_impl.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_masked_scatter.h"
#include "aclnnop/aclnn_masked_select.h"
#include "aclnnop/aclnn_nonzero.h"
#include "aclnnop/aclnn_nonzero_v2.h"
#include "aclnnop/aclnn_one_hot.h"
#include "aclnnop/aclnn_pad2d_backward.h"
#include "aclnnop/aclnn_permute.h"
#include "aclnnop/aclnn_put.h"
#include "aclnnop/aclnn_reflection_pad1d.h"
#include "aclnnop/aclnn_reflection_pad1d_backward.h"
#include "aclnnop/aclnn_reflection_pad2d.h"
#include "aclnnop/aclnn_repeat.h"
#include "aclnnop/aclnn_repeat_interleave.h"
#include "aclnnop/aclnn_replication_pad1d.h"
#include "aclnnop/aclnn_replication_pad1d_backward.h"
#include "aclnnop/aclnn_replication_pad2d.h"
#include "aclnnop/aclnn_roll.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_scatter_add.h"
#include "aclnnop/aclnn_scatter_nd.h"
#include "aclnnop/aclnn_scatter_nd_update.h"
#include "aclnnop/aclnn_scatter_reduce.h"
#include "aclnnop/aclnn_slice.h"
#include "aclnnop/aclnn_slice_v2.h"
#include "aclnnop/aclnn_split_tensor.h"
#include "aclnnop/aclnn_split_with_size.h"
#include "aclnnop/aclnn_stack.h"
#include "aclnnop/aclnn_take.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include "aclnnop/aclnn_unfold_grad.h"
#include "aclnnop/aclnn_unique.h"
#include "aclnnop/aclnn_unique2.h"
#include "aclnnop/aclnn_unique_consecutive.h"
#include "aclnnop/aclnn_upsample_bicubic_2d.h"
#include "aclnnop/aclnn_upsample_bilinear_2d.h"
#include "aclnnop/aclnn_upsample_bilinear_2d_backward.h"
#include "aclnnop/aclnn_upsample_bilinear_2d_backward_v2.h"
#include "aclnnop/aclnn_upsample_nearest_1d.h"
#include "aclnnop/aclnn_upsample_nearest_1d_v2.h"
#include "aclnnop/aclnn_upsample_nearest_2d.h"
#include "aclnnop/aclnn_upsample_nearest_2d_backward.h"
#include "aclnnop/aclnn_upsample_nearest_2d_v2.h"

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
HAS(aclnnIm2col, In, Array, Array, Array, Array, In);
HAS(aclnnIm2colBackward, In, Array, Array, Array, Array, Array, Out);
HAS(aclnnUnfoldGrad, In, Array, int64_t, int64_t, int64_t, In);
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
HAS(aclnnIndexAdd, In, int64_t, In, In, Scalar, Out);
HAS(aclnnIndexCopy, Out, int64_t, In, In, Out);
HAS(aclnnInplaceIndexCopy, Out, int64_t, In, In);
HAS(aclnnNonzero, In, Out);
HAS(aclnnNonzeroV2, In, Out);
HAS(aclnnMaskedSelect, In, In, Out);
HAS(aclnnScatterReduce, In, int64_t, In, In, int64_t, bool, Out);
HAS(aclnnInplaceScatterReduce, Out, int64_t, In, In, int64_t, bool);
HAS(aclnnScatterNd, In, In, In, Out);
HAS(aclnnScatterNdUpdate, Out, In, In);
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
