// aclnnSmoothL1LossBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

const SubjectRegistration kRegistration([] {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = "aclnnSmoothL1LossBackward";
  op.binding.tensors = {"gradOut", "self", "target", "gradInput"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.beta, t[3], size,
                                                     executor);
  };
  op.binding.run = aclnnSmoothL1LossBackward;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.attributes = {
      {.reduction = 0, .beta = 1.0f}, {.reduction = 1, .beta = 0.7f}, {.reduction = 2, .beta = 0.0f}};
  subject.cuts_freely = [](const Attributes& attributes) { return attributes.reduction != 1; };
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
