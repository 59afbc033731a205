// Sums along two axes for the determinism test: gradients of pads and windows, interpolation and grids.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_grid_sampler2d.h"
#include "aclnnop/aclnn_im2col_backward.h"
#include "aclnnop/aclnn_pad2d_backward.h"
#include "aclnnop/aclnn_unfold_grad.h"
#include "aclnnop/aclnn_upsample_bicubic_2d.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

class Array {
 public:
  explicit Array(const Shape& values) : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Array() { aclDestroyIntArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

const std::vector<DtypeNumber> kHalves = {ACL_FLOAT, ACL_FLOAT16};

Subject Make(const OperatorBinding& binding, std::vector<Attributes> attributes,
             std::vector<GivenCase> given) {
  Subject subject;
  subject.description.binding = binding;
  subject.description.attributes = std::move(attributes);
  subject.given = std::move(given);
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.is_plain_code = true;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return subject;
}

std::vector<Attributes> Modes(std::initializer_list<int64_t> values) {
  std::vector<Attributes> attributes;
  for (const int64_t value : values) {
    attributes.emplace_back();
    attributes.back().reduction = value;
  }
  return attributes;
}

std::vector<GivenCase> Cases(const std::vector<DtypeNumber>& dtypes, const std::vector<Shape>& inputs,
                             const Shape& output, size_t settings = 1) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes) {
    for (size_t setting = 0; setting < settings; ++setting)
      cases.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, setting});
  }
  return cases;
}

template <auto kPlan>
aclnnStatus PlanPad(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], t[1], Array({3, 5, 2, 4}), t[2], size, executor);
}

const Shape kImage = {3, 17, 301};
const Shape kPadded = {3, 23, 309};
const std::vector<DtypeNumber> kPadDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_COMPLEX64};

const SubjectRegistration kReflection(Make({"aclnnReflectionPad2dBackward",
                                            {"gradOutput", "self", "gradInput"},
                                            PlanPad<&aclnnReflectionPad2dBackwardGetWorkspaceSize>,
                                            aclnnReflectionPad2dBackward},
                                           {{}}, Cases(kPadDtypes, {kPadded, kImage}, kImage)));
const SubjectRegistration kReplication(Make({"aclnnReplicationPad2dBackward",
                                             {"gradOutput", "self", "gradInput"},
                                             PlanPad<&aclnnReplicationPad2dBackwardGetWorkspaceSize>,
                                             aclnnReplicationPad2dBackward},
                                            {{}}, Cases(kPadDtypes, {kPadded, kImage}, kImage)));
const SubjectRegistration kColumns(
    Make({"aclnnIm2colBackward",
          {"gradOutput", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnIm2colBackwardGetWorkspaceSize(t[0], Array({17, 301}), Array({3, 2}), Array({1, 2}),
                                                       Array({1, 1}), Array({2, 1}), t[1], size, executor);
          },
          aclnnIm2colBackward},
         {{}}, Cases(kHalves, {{18, 9 * 301}}, kImage)));
const SubjectRegistration kWindows(
    Make({"aclnnUnfoldGrad",
          {"gradOut", "gradIn"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUnfoldGradGetWorkspaceSize(t[0], Array(kImage), 2, 7, 2, t[1], size, executor);
          },
          aclnnUnfoldGrad},
         {{}}, Cases({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{3, 17, 148, 7}}, kImage)));
const SubjectRegistration kBicubic(
    Make({"aclnnUpsampleBicubic2d",
          {"self", "out"},
          [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBicubic2dGetWorkspaceSize(t[0], Array({31, 307}), attributes.reduction != 0,
                                                          0, 0, t[1], size, executor);
          },
          aclnnUpsampleBicubic2d},
         Modes({0, 1}), Cases(kHalves, {{2, 3, 19, 131}}, {2, 3, 31, 307}, 2)));
const SubjectRegistration kGrid(Make(
    {"aclnnGridSampler2D",
     {"input", "grid", "out"},
     [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
       return aclnnGridSampler2DGetWorkspaceSize(t[0], t[1], attributes.reduction % 3,
                                                 attributes.reduction / 3, attributes.reduction % 2 != 0,
                                                 t[2], size, executor);
     },
     aclnnGridSampler2D},
    Modes({0, 1, 2, 3, 5, 6, 8}), Cases(kHalves, {{2, 5, 19, 31}, {2, 11, 301, 2}}, {2, 5, 11, 301}, 7)));

}  // namespace
}  // namespace portacl::testing
