// The table of operators: see operator_calls.h.
// SPDX-License-Identifier: Apache-2.0
#include "operator_calls.h"

#include <iterator>

#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_fill_tensor.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "aclnnop/aclnn_kl_div_target_backward.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_mse_loss.h"
#include "aclnnop/aclnn_mse_loss_backward.h"
#include "aclnnop/aclnn_mse_loss_out.h"
#include "aclnnop/aclnn_one.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_zero.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// NOLINTBEGIN(readability-identifier-length)
constexpr OperatorCall kCalls[] = {
    {"aclnnL1LossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
     },
     aclnnL1LossBackward},
    {"aclnnSmoothL1LossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.beta, t[3], size,
                                                        executor);
     },
     aclnnSmoothL1LossBackward},
    {"aclnnKlDivBackward", 4, OutputShape::kOperand1, 1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                                 executor);
     },
     aclnnKlDivBackward},
    {"aclnnKlDivTargetBackward", 4, OutputShape::kOperand2, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivTargetBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3],
                                                       size, executor);
     },
     aclnnKlDivTargetBackward},
    {"aclnnMseLossBackward", 4, OutputShape::kBroadcast, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
     },
     aclnnMseLossBackward},
    {"aclnnL1Loss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnL1LossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnL1Loss},
    {"aclnnSmoothL1Loss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], a.reduction, a.beta, t[2], size, executor);
     },
     aclnnSmoothL1Loss},
    {"aclnnKlDiv", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnKlDivGetWorkspaceSize(t[0], t[1], a.reduction, a.log_target, t[2], size, executor);
     },
     aclnnKlDiv},
    {"aclnnMseLoss", 3, OutputShape::kReduced, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnMseLoss},
    {"aclnnMseLossOut", 3, OutputShape::kReducedFirstAxis, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMseLossOutGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
     },
     aclnnMseLossOut},
    {"aclnnInplaceCopy", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceCopyGetWorkspaceSize(t[1], t[0], size, executor);
     },
     aclnnInplaceCopy},
    {"aclnnCast", 2, OutputShape::kOperand0, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       aclDataType dtype = ACL_INT8;
       if (t[1] != nullptr && a.reduction >= 0) aclGetDataType(t[1], &dtype);
       return aclnnCastGetWorkspaceSize(t[0], dtype, t[1], size, executor);
     },
     aclnnCast},
    {"aclnnInplaceFillScalar", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes& a, uint64_t* size, aclOpExecutor** executor) {
       CallAttributes values = a;
       aclScalar* const value = a.log_target ? aclCreateScalar(&values.beta, ACL_FLOAT)
                                             : aclCreateScalar(&values.reduction, ACL_INT64);
       const aclnnStatus status = aclnnInplaceFillScalarGetWorkspaceSize(t[0], value, size, executor);
       aclDestroyScalar(value);
       return status;
     },
     aclnnInplaceFillScalar},
    {"aclnnInplaceFillTensor", 2, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceFillTensorGetWorkspaceSize(t[1], t[0], size, executor);
     },
     aclnnInplaceFillTensor},
    {"aclnnInplaceZero", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceZeroGetWorkspaceSize(t[0], size, executor);
     },
     aclnnInplaceZero},
    {"aclnnInplaceOne", 1, OutputShape::kAny, -1,
     [](Tensors t, const CallAttributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnInplaceOneGetWorkspaceSize(t[0], size, executor);
     },
     aclnnInplaceOne},
};
// NOLINTEND(readability-identifier-length)

// An operator that the library has and no program calls would go unnoticed.
constexpr int kOperators =
#define OPERATOR(name, repository) +1
#include "aclnnop/operators.def"
#undef OPERATOR
    ;
static_assert(std::size(kCalls) == kOperators, "an operator of src/aclnnop/operators.def is missing here");

}  // namespace

std::span<const OperatorCall> OperatorCalls() { return kCalls; }

}  // namespace portacl::testing
