// What ggml's back end for CANN, which llama.cpp and whisper.cpp have, includes and calls: the headers are there, and with
// them alone the functions are declared, but aclnnRotaryPositionEmbedding, which ggml declares itself.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_add_rms_norm.h"
#include "aclnnop/aclnn_addcdiv.h"
#include "aclnnop/aclnn_arange.h"
#include "aclnnop/aclnn_argmax.h"
#include "aclnnop/aclnn_argsort.h"
#include "aclnnop/aclnn_avgpool2d.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_constant_pad_nd.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_cumsum.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_embedding.h"
#include "aclnnop/aclnn_eq_tensor.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v2.h"
#include "aclnnop/aclnn_gather_v2.h"
#include "aclnnop/aclnn_geglu.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_gelu_v2.h"
#include "aclnnop/aclnn_ger.h"
#include "aclnnop/aclnn_group_norm.h"
#include "aclnnop/aclnn_grouped_matmul_v3.h"
#include "aclnnop/aclnn_gt_scalar.h"
#include "aclnnop/aclnn_hardsigmoid.h"
#include "aclnnop/aclnn_hardswish.h"
#include "aclnnop/aclnn_im2col.h"
#include "aclnnop/aclnn_index_copy.h"
#include "aclnnop/aclnn_index_fill_tensor.h"
#include "aclnnop/aclnn_index_select.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_leaky_relu.h"
#include "aclnnop/aclnn_log.h"
#include "aclnnop/aclnn_logical_not.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_max_pool.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_mv.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_norm.h"
#include "aclnnop/aclnn_permute.h"
#include "aclnnop/aclnn_pow.h"
#include "aclnnop/aclnn_pow_tensor_tensor.h"
#include "aclnnop/aclnn_recurrent_gated_delta_rule.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_reflection_pad1d.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_repeat.h"
#include "aclnnop/aclnn_repeat_interleave.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_roll.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_sign.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_slice.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_cross_entropy_with_logits.h"
#include "aclnnop/aclnn_softplus.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_sub.h"
#include "aclnnop/aclnn_sum.h"
#include "aclnnop/aclnn_swi_glu.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_threshold.h"
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include "aclnnop/aclnn_triangular_solve.h"
#include "aclnnop/aclnn_tril.h"
#include "aclnnop/aclnn_triu.h"
#include "aclnnop/aclnn_upsample_nearest_2d.h"
#include "aclnnop/aclnn_weight_quant_batch_matmul_v2.h"
#include "aclnnop/aclnn_zero.h"

#define IS_FUNCTION(name) static_assert(std::is_function<decltype(name)>::value, #name)
#define IS_OPERATOR(name) \
  IS_FUNCTION(name);      \
  IS_FUNCTION(name##GetWorkspaceSize)

IS_OPERATOR(aclnnAbs);
IS_OPERATOR(aclnnAdd);
IS_OPERATOR(aclnnAddRmsNorm);
IS_OPERATOR(aclnnArange);
IS_OPERATOR(aclnnArgMax);
IS_OPERATOR(aclnnArgsort);
IS_OPERATOR(aclnnAvgPool2d);
IS_OPERATOR(aclnnBatchMatMul);
IS_OPERATOR(aclnnCast);
IS_OPERATOR(aclnnCat);
IS_OPERATOR(aclnnClamp);
IS_OPERATOR(aclnnClampMin);
IS_OPERATOR(aclnnConstantPadNd);
IS_OPERATOR(aclnnConvolution);
IS_OPERATOR(aclnnCos);
IS_OPERATOR(aclnnCumsum);
IS_OPERATOR(aclnnDiv);
IS_OPERATOR(aclnnElu);
IS_OPERATOR(aclnnEqTensor);
IS_OPERATOR(aclnnExp);
IS_OPERATOR(aclnnFusedInferAttentionScoreV2);
IS_OPERATOR(aclnnGatherV2);
IS_OPERATOR(aclnnGeGluV3);
IS_OPERATOR(aclnnGelu);
IS_OPERATOR(aclnnGeluV2);
IS_OPERATOR(aclnnGroupNorm);
IS_OPERATOR(aclnnGtScalar);
IS_OPERATOR(aclnnHardsigmoid);
IS_OPERATOR(aclnnHardswish);
IS_OPERATOR(aclnnIm2col);
IS_OPERATOR(aclnnIndexSelect);
IS_OPERATOR(aclnnInplaceAdd);
IS_OPERATOR(aclnnInplaceAdds);
IS_OPERATOR(aclnnInplaceClampMax);
IS_OPERATOR(aclnnInplaceCopy);
IS_OPERATOR(aclnnInplaceCos);
IS_OPERATOR(aclnnInplaceDiv);
IS_OPERATOR(aclnnInplaceDivs);
IS_OPERATOR(aclnnInplaceExp);
IS_OPERATOR(aclnnInplaceFillScalar);
IS_OPERATOR(aclnnInplaceIndexCopy);
IS_OPERATOR(aclnnInplaceIndexFillTensor);
IS_OPERATOR(aclnnInplaceMul);
IS_OPERATOR(aclnnInplaceMuls);
IS_OPERATOR(aclnnInplacePowTensorTensor);
IS_OPERATOR(aclnnInplaceSin);
IS_OPERATOR(aclnnInplaceSub);
IS_OPERATOR(aclnnInplaceSubs);
IS_OPERATOR(aclnnInplaceThreshold);
IS_OPERATOR(aclnnInplaceTriu);
IS_OPERATOR(aclnnInplaceZero);
IS_OPERATOR(aclnnLayerNorm);
IS_OPERATOR(aclnnLeakyRelu);
IS_OPERATOR(aclnnLog);
IS_OPERATOR(aclnnMatmul);
IS_OPERATOR(aclnnMaxPool);
IS_OPERATOR(aclnnMean);
IS_OPERATOR(aclnnMm);
IS_OPERATOR(aclnnMul);
IS_OPERATOR(aclnnMuls);
IS_OPERATOR(aclnnMv);
IS_OPERATOR(aclnnNeg);
IS_OPERATOR(aclnnNorm);
IS_OPERATOR(aclnnPermute);
IS_OPERATOR(aclnnPowScalarTensor);
IS_OPERATOR(aclnnReduceSum);
IS_OPERATOR(aclnnReflectionPad1d);
IS_OPERATOR(aclnnRelu);
IS_OPERATOR(aclnnRepeat);
IS_OPERATOR(aclnnRepeatInterleaveIntWithDim);
IS_OPERATOR(aclnnRmsNorm);
IS_OPERATOR(aclnnRoll);
IS_OPERATOR(aclnnSigmoid);
IS_OPERATOR(aclnnSign);
IS_OPERATOR(aclnnSilu);
IS_OPERATOR(aclnnSin);
IS_OPERATOR(aclnnSlice);
IS_OPERATOR(aclnnSoftmax);
IS_OPERATOR(aclnnSoftmaxCrossEntropyWithLogits);
IS_OPERATOR(aclnnSoftplus);
IS_OPERATOR(aclnnSqrt);
IS_OPERATOR(aclnnSub);
IS_OPERATOR(aclnnSwiGlu);
IS_OPERATOR(aclnnTanh);
IS_OPERATOR(aclnnTransMatmulWeight);
IS_OPERATOR(aclnnTriangularSolve);
IS_OPERATOR(aclnnTril);
IS_OPERATOR(aclnnTriu);
IS_OPERATOR(aclnnUpsampleNearest2d);
IS_OPERATOR(aclnnWeightQuantBatchMatmulV2);
IS_FUNCTION(aclnnCalculateMatmulWeightSizeV2);

IS_FUNCTION(aclCreateIntArray);
IS_FUNCTION(aclCreateScalar);
IS_FUNCTION(aclCreateTensor);
IS_FUNCTION(aclCreateTensorList);
IS_FUNCTION(aclDestroyIntArray);
IS_FUNCTION(aclDestroyScalar);
IS_FUNCTION(aclDestroyTensor);
IS_FUNCTION(aclDestroyTensorList);
IS_FUNCTION(aclGetRecentErrMsg);
IS_FUNCTION(aclInit);
IS_FUNCTION(aclmdlRICaptureBegin);
IS_FUNCTION(aclmdlRICaptureEnd);
IS_FUNCTION(aclmdlRIDestroy);
IS_FUNCTION(aclmdlRIExecuteAsync);
IS_FUNCTION(aclrtCreateEvent);
IS_FUNCTION(aclrtCreateEventWithFlag);
IS_FUNCTION(aclrtCreateStream);
IS_FUNCTION(aclrtDestroyEvent);
IS_FUNCTION(aclrtDestroyStream);
IS_FUNCTION(aclrtDeviceCanAccessPeer);
IS_FUNCTION(aclrtDeviceEnablePeerAccess);
IS_FUNCTION(aclrtFree);
IS_FUNCTION(aclrtFreeHost);
IS_FUNCTION(aclrtFreePhysical);
IS_FUNCTION(aclrtGetDevice);
IS_FUNCTION(aclrtGetDeviceCount);
IS_FUNCTION(aclrtGetMemInfo);
IS_FUNCTION(aclrtGetSocName);
IS_FUNCTION(aclrtMalloc);
IS_FUNCTION(aclrtMallocHost);
IS_FUNCTION(aclrtMallocPhysical);
IS_FUNCTION(aclrtMapMem);
IS_FUNCTION(aclrtMemGetAllocationGranularity);
IS_FUNCTION(aclrtMemcpy);
IS_FUNCTION(aclrtMemcpyAsync);
IS_FUNCTION(aclrtMemset);
IS_FUNCTION(aclrtRecordEvent);
IS_FUNCTION(aclrtReleaseMemAddress);
IS_FUNCTION(aclrtReserveMemAddress);
IS_FUNCTION(aclrtResetDevice);
IS_FUNCTION(aclrtSetDevice);
IS_FUNCTION(aclrtStreamWaitEvent);
IS_FUNCTION(aclrtSynchronizeDevice);
IS_FUNCTION(aclrtSynchronizeEvent);
IS_FUNCTION(aclrtSynchronizeStream);
IS_FUNCTION(aclrtUnmapMem);
