// aclnnSmoothL1Loss for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_smooth_l1_loss.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

// What both subjects have in common.
Subject Of(const char* name) {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = name;
  op.binding.tensors = {"self", "target", "result"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], a.reduction, a.beta, t[2], size, executor);
  };
  op.binding.run = aclnnSmoothL1Loss;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

const SubjectRegistration kRegistration([] {
  Subject subject = Of("aclnnSmoothL1Loss");
  subject.description.attributes = {{.beta = 1.0f}, {.beta = 0.3f}, {.beta = 0.0f}};
  return subject;
}());

const SubjectRegistration kReducedRegistration([] {
  Subject subject = Of("aclnnSmoothL1Loss_reduced");
  subject.description.attributes = {
      {.reduction = 1, .beta = 1.0f}, {.reduction = 2, .beta = 0.3f}, {.reduction = 2, .beta = 0.0f}};
  subject.description.output_shape = [](std::span<const Shape>) { return Shape{}; };
  subject.sums_everything = true;
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
