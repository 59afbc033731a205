// aclnnL1LossBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_l1_loss_backward.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

const SubjectRegistration kRegistration([] {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = "aclnnL1LossBackward";
  op.binding.tensors = {"gradOutput", "self", "target", "gradInput"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
  };
  op.binding.run = aclnnL1LossBackward;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.integer_dtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
  op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}};
  subject.cuts_freely = [](const Attributes& attributes) { return attributes.reduction != 1; };
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
