// aclnnKlDiv for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_kl_div.h"

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
    return aclnnKlDivGetWorkspaceSize(t[0], t[1], a.reduction, a.log_target, t[2], size, executor);
  };
  op.binding.run = aclnnKlDiv;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

const SubjectRegistration kRegistration([] {
  Subject subject = Of("aclnnKlDiv");
  subject.description.attributes = {{.reduction = 0}, {.reduction = 0, .log_target = true}};
  return subject;
}());

const SubjectRegistration kReducedRegistration([] {
  Subject subject = Of("aclnnKlDiv_reduced");
  subject.description.attributes = {
      {.reduction = 1}, {.reduction = 2}, {.reduction = 3}, {.reduction = 2, .log_target = true}};
  subject.description.output_shape = [](std::span<const Shape>) { return Shape{}; };
  subject.sums_everything = true;
  subject.not_negative = {1};  // it has no logarithm otherwise
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
