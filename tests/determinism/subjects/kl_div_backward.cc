// aclnnKlDivBackward for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_kl_div_backward.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

const SubjectRegistration kRegistration([] {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = "aclnnKlDivBackward";
  op.binding.tensors = {"gradOutput", "self", "target", "out"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnKlDivBackwardGetWorkspaceSize(t[0], t[1], t[2], a.reduction, a.log_target, t[3], size,
                                              executor);
  };
  op.binding.run = aclnnKlDivBackward;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.attributes = {{.reduction = 0}, {.reduction = 1}, {.reduction = 3, .log_target = true}};
  // gradOutput may only expand; where self is broadcast, the terms are summed back to its shape.
  op.accepts = [](std::span<const Shape> shapes) {
    const auto result = Broadcast(shapes.subspan(1));
    const auto all = Broadcast(shapes);
    return result.has_value() && all.has_value() && *all == *result;
  };
  op.output_shape = [](std::span<const Shape> shapes) { return shapes[1]; };
  subject.cuts_freely = [](const Attributes& attributes) { return attributes.reduction == 0; };
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
