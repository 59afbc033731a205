// aclnnKlDivTargetBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_kl_div_target_backward.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

// What both subjects have in common.
Subject Of(const char* name) {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = name;
  op.binding.tensors = {"gradOutput", "self", "target", "gradTarget"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnKlDivTargetBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                                    executor);
  };
  op.binding.run = aclnnKlDivTargetBackward;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_has_dtype_of = 2;
  op.attributes = {{.reduction = 0},
                   {.reduction = 1},
                   {.reduction = 0, .log_target = true},
                   {.reduction = 3, .log_target = true}};
  op.output_shape = [](std::span<const Shape> shapes) { return shapes[2]; };
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

// gradOutput may only expand.
bool Expands(std::span<const Shape> shapes) {
  const auto result = Broadcast(shapes.subspan(1));
  const auto all = Broadcast(shapes);
  return result.has_value() && all.has_value() && *all == *result;
}

const SubjectRegistration kRegistration([] {
  Subject subject = Of("aclnnKlDivTargetBackward");
  subject.description.accepts = [](std::span<const Shape> shapes) {
    return Expands(shapes) && Broadcast(shapes) == shapes[2];
  };
  return subject;
}());

// Where target is broadcast, the terms are summed back to its shape.
const SubjectRegistration kSummedRegistration([] {
  Subject subject = Of("aclnnKlDivTargetBackward_summed");
  subject.description.accepts = Expands;
  subject.sums_everything = true;
  subject.not_negative = {2};  // it has no logarithm otherwise
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
