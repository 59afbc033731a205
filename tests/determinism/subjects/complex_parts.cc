// Complex numbers and their parts, and outer products that are added to, for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/arithmetic.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             bool is_plain_code = false) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.attributes.emplace_back();
  subject.given = given;
  subject.cuts_freely = [](const Attributes&) { return true; };
  subject.is_plain_code = is_plain_code;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

const Shape kCube = {7, 61, 53};
const Shape kPlane = {61, 53};

const auto kComplex = Register({"aclnnComplex",
                                {"real", "imag", "out"},
                                [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                  return aclnnComplexGetWorkspaceSize(t[0], t[1], t[2], size, executor);
                                },
                                aclnnComplex},
                               {{{ACL_FLOAT, ACL_FLOAT}, {kCube, kPlane}, ACL_COMPLEX64, kCube, 0},
                                {{ACL_DOUBLE, ACL_DOUBLE}, {kCube, kPlane}, ACL_COMPLEX128, kCube, 0}},
                               /*is_plain_code=*/true);
const auto kPolar = Register({"aclnnPolar",
                              {"input", "angle", "out"},
                              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                return aclnnPolarGetWorkspaceSize(t[0], t[1], t[2], size, executor);
                              },
                              aclnnPolar},
                             {{{ACL_FLOAT, ACL_FLOAT}, {kCube, kPlane}, ACL_COMPLEX64, kCube, 0}});
const auto kAngle = Register({"aclnnAngleV2",
                              {"x", "out"},
                              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                return aclnnAngleV2GetWorkspaceSize(t[0], t[1], size, executor);
                              },
                              aclnnAngleV2},
                             {{{ACL_COMPLEX64}, {kCube}, ACL_FLOAT, kCube, 0},
                              {{ACL_FLOAT16}, {kCube}, ACL_FLOAT16, kCube, 0},
                              {{ACL_INT32}, {kCube}, ACL_FLOAT, kCube, 0}});
const auto kAddr =
    Register({"aclnnAddr",
              {"self", "vec1", "vec2", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnAddrGetWorkspaceSize(t[0], t[1], t[2], nullptr, nullptr, t[3], size, executor);
              },
              aclnnAddr},
             {{{ACL_FLOAT, ACL_FLOAT, ACL_FLOAT}, {kPlane, {61}, {53}}, ACL_FLOAT, kPlane, 0},
              {{ACL_BF16, ACL_BF16, ACL_BF16}, {kPlane, {61}, {53}}, ACL_BF16, kPlane, 0},
              {{ACL_INT64, ACL_INT64, ACL_INT64}, {kPlane, {61}, {53}}, ACL_INT64, kPlane, 0}});

}  // namespace
}  // namespace portacl::testing
