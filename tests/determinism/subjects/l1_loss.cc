// aclnnL1Loss for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_l1_loss.h"

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
    return aclnnL1LossGetWorkspaceSize(t[0], t[1], a.reduction, t[2], size, executor);
  };
  op.binding.run = aclnnL1Loss;
  op.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  op.integer_dtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
  subject.cuts_freely = [](const Attributes& a) { return a.reduction == 0; };
  return subject;
}

const SubjectRegistration kRegistration([] {
  Subject subject = Of("aclnnL1Loss");
  subject.description.attributes = {{.reduction = 0}};
  // A floating target asks for a floating self.
  subject.description.accepts_dtypes = [](std::span<const DtypeNumber> dtypes) {
    return IsFloatingDtype(dtypes[0]) || !IsFloatingDtype(dtypes[1]);
  };
  return subject;
}());

const SubjectRegistration kReducedRegistration([] {
  Subject subject = Of("aclnnL1Loss_reduced");
  subject.description.attributes = {{.reduction = 1}, {.reduction = 2}};
  subject.description.output_shape = [](std::span<const Shape>) { return Shape{}; };
  subject.sums_everything = true;
  return subject;
}());

// Inputs that promote to INT64 are computed in integers.
Subject OfIntegers(const char* name, int64_t reduction) {
  Subject subject = Of(name);
  NumericDescription& op = subject.description;
  op.input_dtypes = {ACL_INT64};
  op.output_dtypes = {ACL_INT64, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT32};
  op.attributes = {{.reduction = reduction}};
  subject.is_plain_code = true;
  return subject;
}

const SubjectRegistration kIntegerRegistration(OfIntegers("aclnnL1Loss_integers", 0));

const SubjectRegistration kReducedIntegerRegistration([] {
  Subject subject = OfIntegers("aclnnL1Loss_integers_reduced", 2);
  subject.description.output_shape = [](std::span<const Shape>) { return Shape{}; };
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
