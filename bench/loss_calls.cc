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
     .is_gradient = true},
    {.name = "smooth_l1_loss_backward",
     .plan = PlanSmoothL1Gradient,
     .run = aclnnSmoothL1LossBackward,
     .is_gradient = true},
    {.name = "kl_div_backward",
     .plan = PlanKlGradient<kKlGradientPlan, false>,
     .run = aclnnKlDivBackward,
     .is_gradient = true,
     .unread_input = 1,
     .summed_like = 1},
    {.name = "kl_div_backward.log",
     .plan = PlanKlGradient<kKlGradientPlan, true>,
     .run = aclnnKlDivBackward,
     .is_gradient = true,
     .unread_input = 1,
     .summed_like = 1,
     .uses_exp_or_log = true},
    {.name = "kl_div_target_backward",
     .plan = PlanKlGradient<kKlTargetPlan, false>,
     .run = aclnnKlDivTargetBackward,
     .is_gradient = true,
     .summed_like = 2,
     .uses_exp_or_log = true,
     .output_has_dtype_of = 2},
    {.name = "kl_div_target_backward.log",
     .plan = PlanKlGradient<kKlTargetPlan, true>,
     .run = aclnnKlDivTargetBackward,
     .is_gradient = true,
     .summed_like = 2,
     .uses_exp_or_log = true,
     .output_has_dtype_of = 2},
    {.name = "mse_loss_backward",
     .plan = PlanGradient<aclnnMseLossBackwardGetWorkspaceSize, kNone>,
     .run = aclnnMseLossBackward,
     .is_gradient = true,
     .inputs_share_dtype = true},
    {.name = "l1_loss.none", .plan = PlanLoss<kL1Plan, kNone>, .run = aclnnL1Loss},
    {.name = "l1_loss.mean", .plan = PlanLoss<kL1Plan, kMean>, .run = aclnnL1Loss, .output = kOneElement},
    {.name = "l1_loss.sum", .plan = PlanLoss<kL1Plan, kSum>, .run = aclnnL1Loss, .output = kOneElement},
    {.name = "smooth_l1_loss.none", .plan = PlanSmoothL1<kNone>, .run = aclnnSmoothL1Loss},
    {.name = "smooth_l1_loss.mean",
     .plan = PlanSmoothL1<kMean>,
     .run = aclnnSmoothL1Loss,
     .output = kOneElement},
    {.name = "smooth_l1_loss.sum",
     .plan = PlanSmoothL1<kSum>,
     .run = aclnnSmoothL1Loss,
     .output = kOneElement},
    {.name = "mse_loss.none", .plan = PlanLoss<kMsePlan, kNone>, .run = aclnnMseLoss},
    {.name = "mse_loss.mean", .plan = PlanLoss<kMsePlan, kMean>, .run = aclnnMseLoss, .output = kOneElement},
    {.name = "mse_loss.sum", .plan = PlanLoss<kMsePlan, kSum>, .run = aclnnMseLoss, .output = kOneElement},
    {.name = "mse_loss_out.none", .plan = PlanLoss<kMseOutPlan, kNone>, .run = aclnnMseLossOut},
    {.name = "mse_loss_out.mean",
     .plan = PlanLoss<kMseOutPlan, kMean>,
     .run = aclnnMseLossOut,
     .output = kWithoutFirstAxis},
    {.name = "mse_loss_out.sum",
     .plan = PlanLoss<kMseOutPlan, kSum>,
     .run = aclnnMseLossOut,
     .output = kWithoutFirstAxis},
    {.name = "kl_div.none", .plan = PlanKl<kNone, false>, .run = aclnnKlDiv, .uses_exp_or_log = true},
    {.name = "kl_div.mean",
     .plan = PlanKl<kMean, false>,
     .run = aclnnKlDiv,
     .uses_exp_or_log = true,
     .output = kOneElement},
    {.name = "kl_div.sum",
     .plan = PlanKl<kSum, false>,
     .run = aclnnKlDiv,
     .uses_exp_or_log = true,
     .output = kOneElement},
    {.name = "kl_div.none.log", .plan = PlanKl<kNone, true>, .run = aclnnKlDiv, .uses_exp_or_log = true},
    {.name = "kl_div.mean.log",
     .plan = PlanKl<kMean, true>,
     .run = aclnnKlDiv,
     .uses_exp_or_log = true,
     .output = kOneElement},
    {.name = "kl_div.sum.log",
     .plan = PlanKl<kSum, true>,
     .run = aclnnKlDiv,
     .uses_exp_or_log = true,
     .output = kOneElement},
};

}  // namespace

std::span<const LossCall> LossCalls() { return kLossCalls; }

}  // namespace portacl::bench
