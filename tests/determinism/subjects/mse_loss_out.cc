// aclnnMseLossOut for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_mse_loss_out.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

// What both subjects have in common.
Subject Of(const char* name) {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = name;
  op.binding.tensors = {"self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnMseLossOutGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
  };
  op.binding.run = aclnnMseLossOut;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  subject.seed = 0x35E;
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

const SubjectRegistration kRegistration([] {
  Subject subject = Of("aclnnMseLossOut");
  subject.description.attributes = {{.reduction = 0}};
  return subject;
}());

const SubjectRegistration kReducedRegistration([] {
  Subject subject = Of("aclnnMseLossOut_reduced");
  subject.description.attributes = {{.reduction = 1}, {.reduction = 2}};
  subject.description.output_shape = [](std::span<const Shape> shapes) {
    const Shape all = *Broadcast(shapes);
    return all.empty() ? all : Shape(all.begin() + 1, all.end());
  };
  subject.sums_everything = true;
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
