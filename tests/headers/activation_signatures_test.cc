// The signatures of activations are CANN's: see signatures_test.cc.
// A row is a function and the types of what its first phase takes, but for workspaceSize and executor.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include <type_traits>

#include "aclnnop/aclnn_celu.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_fast_gelu.h"
#include "aclnnop/aclnn_fast_gelu_backward.h"
#include "aclnnop/aclnn_geglu.h"
#include "aclnnop/aclnn_geglu_backward.h"
#include "aclnnop/aclnn_gelu.h"
#include "aclnnop/aclnn_gelu_backward.h"
#include "aclnnop/aclnn_gelu_backward_v2.h"
#include "aclnnop/aclnn_gelu_v2.h"
#include "aclnnop/aclnn_glu.h"
#include "aclnnop/aclnn_glu_backward.h"
#include "aclnnop/aclnn_hardshrink.h"
#include "aclnnop/aclnn_hardshrink_backward.h"
#include "aclnnop/aclnn_hardsigmoid.h"
#include "aclnnop/aclnn_hardsigmoid_backward.h"
#include "aclnnop/aclnn_hardswish.h"
#include "aclnnop/aclnn_hardswish_backward.h"
#include "aclnnop/aclnn_hardswish_backward_v2.h"
#include "aclnnop/aclnn_hardtanh.h"
#include "aclnnop/aclnn_hardtanh_backward.h"
#include "aclnnop/aclnn_leaky_relu.h"
#include "aclnnop/aclnn_leaky_relu_backward.h"
#include "aclnnop/aclnn_logit.h"
#include "aclnnop/aclnn_logit_grad.h"
#include "aclnnop/aclnn_logsigmoid.h"
#include "aclnnop/aclnn_logsigmoid_backward.h"
#include "aclnnop/aclnn_mish.h"
#include "aclnnop/aclnn_mish_backward.h"
#include "aclnnop/aclnn_prelu.h"
#include "aclnnop/aclnn_prelu_backward.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_selu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_sigmoid_backward.h"
#include "aclnnop/aclnn_silu.h"
#include "aclnnop/aclnn_silu_backward.h"
#include "aclnnop/aclnn_softplus.h"
#include "aclnnop/aclnn_softplus_backward.h"
#include "aclnnop/aclnn_softshrink.h"
#include "aclnnop/aclnn_softshrink_backward.h"
#include "aclnnop/aclnn_swi_glu.h"
#include "aclnnop/aclnn_swi_glu_grad.h"
#include "aclnnop/aclnn_swish.h"
#include "aclnnop/aclnn_swish_backward.h"
#include "aclnnop/aclnn_tanh_backward.h"
#include "aclnnop/aclnn_threshold_backward.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef const aclScalar* Scalar;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);

#define HAS(function, ...)                                                                     \
  static_assert(std::is_same<decltype(&function##GetWorkspaceSize),                            \
                             aclnnStatus (*)(__VA_ARGS__, uint64_t*, aclOpExecutor**)>::value, \
                #function "GetWorkspaceSize");                                                 \
  static_assert(std::is_same<decltype(&function), Run>::value, #function)

HAS(aclnnRelu, In, In);
HAS(aclnnInplaceRelu, Out);
HAS(aclnnThresholdBackward, In, In, Scalar, Out);
HAS(aclnnLeakyRelu, In, Scalar, Out);
HAS(aclnnInplaceLeakyRelu, Out, Scalar);
HAS(aclnnLeakyReluBackward, In, In, Scalar, bool, Out);
HAS(aclnnGelu, In, Out);
HAS(aclnnGeluV2, In, int64_t, Out);
HAS(aclnnGeluBackward, In, In, In);
HAS(aclnnGeluBackwardV2, In, In, char*, Out);
HAS(aclnnSilu, In, Out);
HAS(aclnnSiluBackward, In, In, Out);
HAS(aclnnSwish, In, Scalar, Out);
HAS(aclnnSwishBackward, In, In, Scalar, Out);
HAS(aclnnFastGelu, In, Out);
HAS(aclnnFastGeluBackward, In, In, Out);
HAS(aclnnElu, In, Scalar, Scalar, Scalar, Out);
HAS(aclnnInplaceElu, Out, Scalar, Scalar, Scalar);
HAS(aclnnEluBackward, In, Scalar, Scalar, Scalar, bool, In, Out);
HAS(aclnnCelu, In, Scalar, Out);
HAS(aclnnInplaceCelu, Out, Scalar);
HAS(aclnnSelu, In, Out);
HAS(aclnnInplaceSelu, Out);
HAS(aclnnSeluBackward, In, In, Out);
HAS(aclnnPrelu, In, In, Out);
HAS(aclnnPreluBackward, In, In, In, Out, Out);
HAS(aclnnSoftplus, In, Scalar, Scalar, Out);
HAS(aclnnSoftplusBackward, In, In, Scalar, Scalar, Out);
HAS(aclnnMish, In, Out);
HAS(aclnnInplaceMish, Out);
HAS(aclnnMishBackward, In, In, Out);
HAS(aclnnLogit, In, double, In);
HAS(aclnnLogitGrad, In, In, double, In);
HAS(aclnnLogSigmoid, In, Out);
HAS(aclnnLogSigmoidForward, In, Out, Out);
HAS(aclnnLogSigmoidBackward, In, In, In, Out);
HAS(aclnnHardsigmoid, In, Out);
HAS(aclnnInplaceHardsigmoid, In);
HAS(aclnnHardsigmoidBackward, In, In, Out);
HAS(aclnnHardswish, In, In);
HAS(aclnnInplaceHardswish, In);
HAS(aclnnHardswishBackward, In, In, Out);
HAS(aclnnHardswishBackwardV2, In, In, Out);
HAS(aclnnHardtanh, In, Scalar, Scalar, Out);
HAS(aclnnInplaceHardtanh, Out, Scalar, Scalar);
HAS(aclnnHardtanhBackward, In, In, Scalar, Scalar, Out);
HAS(aclnnHardshrink, In, Scalar, Out);
HAS(aclnnHardshrinkBackward, In, In, Scalar, Out);
HAS(aclnnSoftshrink, In, Scalar, Out);
HAS(aclnnSoftshrinkBackward, In, In, Scalar, Out);
HAS(aclnnTanhBackward, In, In, Out);
HAS(aclnnSigmoidBackward, In, In, Out);
HAS(aclnnGlu, In, int64_t, In);
HAS(aclnnGluBackward, In, In, int64_t, In);
HAS(aclnnSwiGlu, In, int64_t, In);
HAS(aclnnSwiGluGrad, In, In, int64_t, In);
HAS(aclnnGeGlu, In, int64_t, int64_t, Out, Out);
HAS(aclnnGeGluV3, In, int64_t, int64_t, bool, Out, Out);
HAS(aclnnGeGluBackward, In, In, In, int64_t, int64_t, Out);
HAS(aclnnGeGluV3Backward, In, In, In, int64_t, int64_t, bool, Out);
