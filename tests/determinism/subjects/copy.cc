// aclnnInplaceCopy for the determinism test, with its tensors the other way round.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_copy.h"

#include "determinism/subject.h"

namespace portacl::testing {
namespace {

const SubjectRegistration kRegistration([] {
  Subject subject;
  NumericDescription& op = subject.description;
  op.binding.name = "aclnnInplaceCopy";
  op.binding.tensors = {"src", "selfRef"};
  op.binding.plan = [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                       aclOpExecutor** executor) {
    return aclnnInplaceCopyGetWorkspaceSize(t[1], t[0], size, executor);
  };
  op.binding.run = aclnnInplaceCopy;
  op.input_dtypes = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE, ACL_INT8,   ACL_UINT8, ACL_INT16,
                     ACL_UINT16, ACL_INT32,   ACL_UINT32, ACL_INT64,  ACL_UINT64, ACL_BOOL};
  op.output_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                      ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                      ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};
  op.attributes = {{}};
  subject.cuts_freely = [](const Attributes&) { return true; };
  subject.is_plain_code = true;
  subject.seed = 0xC0B1;
  return subject;
}());

}  // namespace
}  // namespace portacl::testing
