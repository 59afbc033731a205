// The table of operators that are measured.
// SPDX-License-Identifier: Apache-2.0
#include "loss_calls.h"

#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "aclnnop/aclnn_kl_div_target_backward.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_mse_loss.h"
#include "aclnnop/aclnn_mse_loss_backward.h"
#include "aclnnop/aclnn_mse_loss_out.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace portacl::bench {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

constexpr float kBeta = 1.0f;

template <auto Plan, int64_t reduction>
aclnnStatus PlanGradient(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return Plan(t[0], t[1], t[2], reduction, t[3], size, executor);
}

aclnnStatus PlanSmoothL1Gradient(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], kNone, kBeta, t[3], size, executor);
}

template <auto Plan, bool log_target>
aclnnStatus PlanKlGradient(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return Plan(t[0], t[1], t[2], kNone, log_target, t[3], size, executor);
}

template <auto Plan, int64_t reduction>
aclnnStatus PlanLoss(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return Plan(t[0], t[1], reduction, t[2], size, executor);
}

template <int64_t reduction>
aclnnStatus PlanSmoothL1(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], reduction, kBeta, t[2], size, executor);
}

template <int64_t reduction, bool log_target>
aclnnStatus PlanKl(aclTensor* const* t, uint64_t* size, aclOpExecutor** executor) {
  return aclnnKlDivGetWorkspaceSize(t[0], t[1], reduction, log_target, t[2], size, executor);
}

constexpr auto kEveryElement = LossCall::Output::kEveryElement;
constexpr auto kOneElement = LossCall::Output::kOneElement;
constexpr auto kWithoutFirstAxis = LossCall::Output::kWithoutFirstAxis;

constexpr auto* kL1Plan = aclnnL1LossGetWorkspaceSize;
constexpr auto* kMsePlan = aclnnMseLossGetWorkspaceSize;
constexpr auto* kMseOutPlan = aclnnMseLossOutGetWorkspaceSize;
constexpr auto* kKlGradientPlan = aclnnKlDivBackwardGetWorkspaceSize;
constexpr auto* kKlTargetPlan = aclnnKlDivTargetBackwardGetWorkspaceSize;

constexpr LossCall kLossCalls[] = {
    {.name = "l1_loss_backward",
     .plan = PlanGradient<aclnnL1LossBackwardGetWorkspaceSize, kNone>,
     .run = aclnnL1LossBackward,
     .is_gradient = true,
     .unread_input = -1,
     .summed_like = -1,
     .uses_exp_or_log = false,
     .output = kEveryElement},
    {.name = "smooth_l1_loss_backward",
     .plan = PlanSmoothL1Gradient,
     .run = aclnnSmoothL1LossBackward,
     .is_gradient = true,
     .unread_input = -1,
     .summed_like = -1,
     .uses_exp_or_log = false,
     .output = kEveryElement},
    {.name = "kl_div_backward",
     .plan = PlanKlGradient<kKlGradientPlan, false>,
     .run = aclnnKlDivBackward,
     .is_gradient = true,
     .unread_input = 1,
     .summed_like = 1,
     .uses_exp_or_log = false,
     .output = kEveryElement},
    {.name = "kl_div_backward.log",
     .plan = PlanKlGradient<kKlGradientPlan, true>,
     .run = aclnnKlDivBackward,
     .is_gradient = true,
     .unread_input = 1,
     .summed_like = 1,
     .uses_exp_or_log = true,
     .output = kEveryElement},
    {.name = "kl_div_target_backward",
     .plan = PlanKlGradient<kKlTargetPlan, false>,
     .run = aclnnKlDivTargetBackward,
     .is_gradient = true,
     .unread_input = -1,
     .summed_like = 2,
     .uses_exp_or_log = true,
     .output = kEveryElement,
     .output_has_dtype_of = 2},
    {.name = "kl_div_target_backward.log",
     .plan = PlanKlGradient<kKlTargetPlan, true>,
     .run = aclnnKlDivTargetBackward,
     .is_gradient = true,
     .unread_input = -1,
     .summed_like = 2,
     .uses_exp_or_log = true,
     .output = kEveryElement,
     .output_has_dtype_of = 2},
    {.name = "mse_loss_backward",
     .plan = PlanGradient<aclnnMseLossBackwardGetWorkspaceSize, kNone>,
     .run = aclnnMseLossBackward,
     .is_gradient = true,
     .unread_input = -1,
     .summed_like = -1,
     .uses_exp_or_log = false,
     .output = kEveryElement,
     .inputs_share_dtype = true},
    {"l1_loss.none", PlanLoss<kL1Plan, kNone>, aclnnL1Loss, false, -1, -1, false, kEveryElement},
    {"l1_loss.mean", PlanLoss<kL1Plan, kMean>, aclnnL1Loss, false, -1, -1, false, kOneElement},
    {"l1_loss.sum", PlanLoss<kL1Plan, kSum>, aclnnL1Loss, false, -1, -1, false, kOneElement},
    {"smooth_l1_loss.none", PlanSmoothL1<kNone>, aclnnSmoothL1Loss, false, -1, -1, false, kEveryElement},
    {"smooth_l1_loss.mean", PlanSmoothL1<kMean>, aclnnSmoothL1Loss, false, -1, -1, false, kOneElement},
    {"smooth_l1_loss.sum", PlanSmoothL1<kSum>, aclnnSmoothL1Loss, false, -1, -1, false, kOneElement},
    {"mse_loss.none", PlanLoss<kMsePlan, kNone>, aclnnMseLoss, false, -1, -1, false, kEveryElement},
    {"mse_loss.mean", PlanLoss<kMsePlan, kMean>, aclnnMseLoss, false, -1, -1, false, kOneElement},
    {"mse_loss.sum", PlanLoss<kMsePlan, kSum>, aclnnMseLoss, false, -1, -1, false, kOneElement},
    {"mse_loss_out.none", PlanLoss<kMseOutPlan, kNone>, aclnnMseLossOut, false, -1, -1, false, kEveryElement},
    {"mse_loss_out.mean", PlanLoss<kMseOutPlan, kMean>, aclnnMseLossOut, false, -1, -1, false,
     kWithoutFirstAxis},
    {"mse_loss_out.sum", PlanLoss<kMseOutPlan, kSum>, aclnnMseLossOut, false, -1, -1, false,
     kWithoutFirstAxis},
    {"kl_div.none", PlanKl<kNone, false>, aclnnKlDiv, false, -1, -1, true, kEveryElement},
    {"kl_div.mean", PlanKl<kMean, false>, aclnnKlDiv, false, -1, -1, true, kOneElement},
    {"kl_div.sum", PlanKl<kSum, false>, aclnnKlDiv, false, -1, -1, true, kOneElement},
    {"kl_div.none.log", PlanKl<kNone, true>, aclnnKlDiv, false, -1, -1, true, kEveryElement},
    {"kl_div.mean.log", PlanKl<kMean, true>, aclnnKlDiv, false, -1, -1, true, kOneElement},
    {"kl_div.sum.log", PlanKl<kSum, true>, aclnnKlDiv, false, -1, -1, true, kOneElement},
};

}  // namespace

std::span<const LossCall> LossCalls() { return kLossCalls; }

}  // namespace portacl::bench
