// The signatures of the losses and of the gradients added with them are CANN's: see signatures_test.cc.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "aclnnop/families/loss.h"

typedef const aclTensor* In;
typedef aclTensor* Out;
typedef aclnnStatus (*Run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
typedef aclnnStatus (*PlanLoss)(In, In, int64_t, Out, uint64_t*, aclOpExecutor**);
typedef aclnnStatus (*PlanGradient)(In, In, In, int64_t, Out, uint64_t*, aclOpExecutor**);

#define IS(function, type) static_assert(std::is_same<decltype(&function), type>::value, #function)

IS(aclnnL1LossGetWorkspaceSize, PlanLoss);
IS(aclnnL1Loss, Run);
typedef aclnnStatus (*PlanSmoothL1Loss)(In, In, int64_t, float, Out, uint64_t*, aclOpExecutor**);
IS(aclnnSmoothL1LossGetWorkspaceSize, PlanSmoothL1Loss);
IS(aclnnSmoothL1Loss, Run);
typedef aclnnStatus (*PlanSmoothL1LossBackward)(In, In, In, int64_t, float, Out, uint64_t*, aclOpExecutor**);
IS(aclnnSmoothL1LossBackwardGetWorkspaceSize, PlanSmoothL1LossBackward);
IS(aclnnSmoothL1LossBackward, Run);
typedef aclnnStatus (*PlanKlDiv)(In, In, int64_t, bool, Out, uint64_t*, aclOpExecutor**);
IS(aclnnKlDivGetWorkspaceSize, PlanKlDiv);
IS(aclnnKlDiv, Run);
typedef aclnnStatus (*PlanKlDivTargetBackward)(In, In, In, int64_t, bool, Out, uint64_t*, aclOpExecutor**);
IS(aclnnKlDivTargetBackwardGetWorkspaceSize, PlanKlDivTargetBackward);
IS(aclnnKlDivTargetBackward, Run);
IS(aclnnKlDivBackwardGetWorkspaceSize, PlanKlDivTargetBackward);
IS(aclnnKlDivBackward, Run);
IS(aclnnMseLossGetWorkspaceSize, PlanLoss);
IS(aclnnMseLoss, Run);
IS(aclnnMseLossOutGetWorkspaceSize, PlanLoss);
IS(aclnnMseLossOut, Run);
IS(aclnnMseLossBackwardGetWorkspaceSize, PlanGradient);
IS(aclnnMseLossBackward, Run);
typedef aclnnStatus (*PlanWeightedLoss)(In, In, In, int64_t, Out, uint64_t*, aclOpExecutor**);
IS(aclnnBinaryCrossEntropyGetWorkspaceSize, PlanWeightedLoss);
IS(aclnnBinaryCrossEntropy, Run);
typedef aclnnStatus (*PlanWeightedGradient)(In, In, In, In, int64_t, Out, uint64_t*, aclOpExecutor**);
IS(aclnnBinaryCrossEntropyBackwardGetWorkspaceSize, PlanWeightedGradient);
IS(aclnnBinaryCrossEntropyBackward, Run);
IS(aclnnBinaryCrossEntropyWithLogitsGetWorkspaceSize, PlanWeightedGradient);
IS(aclnnBinaryCrossEntropyWithLogits, Run);
typedef aclnnStatus (*PlanTwiceWeightedGradient)(In, In, In, In, In, int64_t, Out, uint64_t*,
                                                 aclOpExecutor**);
IS(aclnnBinaryCrossEntropyWithLogitsBackwardGetWorkspaceSize, PlanTwiceWeightedGradient);
IS(aclnnBinaryCrossEntropyWithLogitsBackward, Run);
IS(aclnnSoftMarginLossGetWorkspaceSize, PlanLoss);
IS(aclnnSoftMarginLoss, Run);
IS(aclnnSoftMarginLossBackwardGetWorkspaceSize, PlanGradient);
IS(aclnnSoftMarginLossBackward, Run);
