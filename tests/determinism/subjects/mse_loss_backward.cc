// aclnnMseLossBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_mse_loss_backward.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

const SubjectRegistration kRegistration([] {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = "aclnnMseLossBackward";
  op.binding.tensors = {"gradOutput", "self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnMseLossBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, t[3], size, executor);
  };
  op.binding.run = aclnnMseLossBackward;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.accepts_dtypes = [](std::span<const DtypeNumber> dtypes) {
    return dtypes[1] == dtypes[0] && dtypes[2] == dtypes[0];
  };
  op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 2}};
  subject.cuts_freely = [](const Attributes& a) { return a.reduction != 1; };
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
