// Pools for the determinism test: means, maxima and the gradients of both.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/pooling.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

class Array {
 public:
  Array(std::initializer_list<int64_t> values) : array_(aclCreateIntArray(values.begin(), values.size())) {}
  ~Array() { aclDestroyIntArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

const std::vector<DtypeNumber> kHalves = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const Shape kImages = {3, 7, 19, 301};
const Shape kPooled = {3, 7, 10, 151};
const Shape kVolumes = {2, 3, 7, 9, 37};
const Shape kPooledVolumes = {2, 3, 4, 5, 19};

// Gradients of maxima add at places, which one code does.
Subject Make(const OperatorBinding& binding, std::vector<GivenCase> given, size_t settings = 1) {
  Subject subject;
  subject.is_plain_code = !given[0].indices.empty();
  subject.description.binding = binding;
  for (size_t setting = 0; setting < settings; ++setting) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(setting);
  }
  subject.given = std::move(given);
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return subject;
}

std::vector<GivenCase> Cases(const std::vector<DtypeNumber>& dtypes, const std::vector<Shape>& inputs,
                             const Shape& output, size_t settings = 1) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes) {
    for (size_t setting = 0; setting < settings; ++setting) {
      cases.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, output, setting});
      if (output.size() == 4) cases.back().format = ACL_FORMAT_NCHW;
    }
  }
  return cases;
}

// The last input holds places in planes of so many elements.
std::vector<GivenCase> WithPlaces(std::vector<GivenCase> cases, DtypeNumber dtype, int64_t below) {
  for (GivenCase& c : cases) {
    c.input_dtypes.back() = dtype;
    c.indices = {{c.input_dtypes.size() - 1, below}};
  }
  return cases;
}

// Without padding counted, with it, with another divisor.
bool CountsPadding(const Attributes& attributes) { return attributes.reduction == 1; }
int64_t Divisor(const Attributes& attributes) { return attributes.reduction == 2 ? 5 : 0; }

const SubjectRegistration kMeans(
    Make({"aclnnAvgPool2d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAvgPool2dGetWorkspaceSize(t[0], Array({3}), Array({2}), Array({1}), false,
                                                  CountsPadding(a), Divisor(a), 0, t[1], size, executor);
          },
          aclnnAvgPool2d},
         Cases(kHalves, {kImages}, kPooled, 3), 3));
const SubjectRegistration kMeansGradient(Make({"aclnnAvgPool2dBackward",
                                               {"gradOutput", "self", "gradInput"},
                                               [](Tensors t, const Attributes& a, uint64_t* size,
                                                  aclOpExecutor** executor) {
                                                 return aclnnAvgPool2dBackwardGetWorkspaceSize(
                                                     t[0], t[1], Array({3}), Array({2}), Array({1}), false,
                                                     CountsPadding(a), Divisor(a), 0, t[2], size, executor);
                                               },
                                               aclnnAvgPool2dBackward},
                                              Cases(kHalves, {kPooled, kImages}, kImages, 3), 3));
const SubjectRegistration kGlobalMeans(
    Make({"aclnnGlobalAveragePool",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnGlobalAveragePoolGetWorkspaceSize(t[0], t[1], size, executor);
          },
          aclnnGlobalAveragePool},
         Cases(kHalves, {kImages}, {3, 7, 1, 1})));
const SubjectRegistration kGlobalMaxima(
    Make({"aclnnGlobalMaxPool",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnGlobalMaxPoolGetWorkspaceSize(t[0], t[1], size, executor);
          },
          aclnnGlobalMaxPool},
         Cases({ACL_FLOAT, ACL_FLOAT16}, {kImages}, {3, 7, 1, 1})));
const SubjectRegistration kVolumeMeans(
    Make({"aclnnAvgPool3d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAvgPool3dGetWorkspaceSize(t[0], Array({3}), Array({2}), Array({1}), false,
                                                  CountsPadding(a), Divisor(a), t[1], size, executor);
          },
          aclnnAvgPool3d},
         Cases(kHalves, {kVolumes}, kPooledVolumes, 3), 3));
const SubjectRegistration kVolumeGradient(Make({"aclnnAvgPool3dBackward",
                                                {"gradOutput", "self", "output"},
                                                [](Tensors t, const Attributes& a, uint64_t* size,
                                                   aclOpExecutor** executor) {
                                                  return aclnnAvgPool3dBackwardGetWorkspaceSize(
                                                      t[0], t[1], Array({3}), Array({2}), Array({1}), false,
                                                      CountsPadding(a), Divisor(a), t[2], size, executor);
                                                },
                                                aclnnAvgPool3dBackward},
                                               Cases(kHalves, {kPooledVolumes, kVolumes}, kVolumes, 3), 3));
const SubjectRegistration kAdaptive(
    Make({"aclnnAdaptiveAvgPool2d",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveAvgPool2dGetWorkspaceSize(t[0], Array({10, 151}), t[1], size, executor);
          },
          aclnnAdaptiveAvgPool2d},
         Cases(kHalves, {kImages}, kPooled)));
const SubjectRegistration kAdaptiveGradient(
    Make({"aclnnAdaptiveAvgPool2dBackward",
          {"gradOutput", "self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveAvgPool2dBackwardGetWorkspaceSize(t[0], t[1], t[2], size, executor);
          },
          aclnnAdaptiveAvgPool2dBackward},
         Cases(kHalves, {kPooled, kImages}, kImages)));
const SubjectRegistration kMaxima(
    Make({"aclnnMaxPool",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnMaxPoolGetWorkspaceSize(t[0], Array({3}), Array({2}), 0, Array({1}), Array({1}), 0,
                                                t[1], size, executor);
          },
          aclnnMaxPool},
         Cases({ACL_FLOAT, ACL_FLOAT16}, {kImages}, kPooled)));
const SubjectRegistration kMaximaGradient(Make(
    {"aclnnMaxPool2dWithIndicesBackward",
     {"gradOutput", "self", "indices", "gradInput"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnMaxPool2dWithIndicesBackwardGetWorkspaceSize(
           t[0], t[1], t[2], Array({3}), Array({2}), Array({1}), Array({1}), false, t[3], size, executor);
     },
     aclnnMaxPool2dWithIndicesBackward},
    WithPlaces(Cases({ACL_FLOAT}, {kPooled, kImages, kPooled}, kImages), ACL_INT32, 19 * 301)));
const SubjectRegistration kAdaptiveMaximaGradient(
    Make({"aclnnAdaptiveMaxPool2dBackward",
          {"gradOutput", "self", "indices", "gradInput"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveMaxPool2dBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], size, executor);
          },
          aclnnAdaptiveMaxPool2dBackward},
         WithPlaces(Cases(kHalves, {kPooled, kImages, kPooled}, kImages), ACL_INT64, 19 * 301)));
const SubjectRegistration kAdaptiveVolumes(
    Make({"aclnnAdaptiveAvgPool3d",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveAvgPool3dGetWorkspaceSize(t[0], Array({4, 5, 19}), t[1], size, executor);
          },
          aclnnAdaptiveAvgPool3d},
         Cases(kHalves, {kVolumes}, kPooledVolumes)));
const SubjectRegistration kAdaptiveVolumesGradient(
    Make({"aclnnAdaptiveAvgPool3dBackward",
          {"gradOutput", "self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAdaptiveAvgPool3dBackwardGetWorkspaceSize(t[0], t[1], t[2], size, executor);
          },
          aclnnAdaptiveAvgPool3dBackward},
         Cases(kHalves, {kPooledVolumes, kVolumes}, kVolumes)));
const SubjectRegistration kAdaptiveMaximaOfVolumesGradient(Make(
    {"aclnnAdaptiveMaxPool3dBackward",
     {"gradOutput", "self", "indices", "gradInput"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       return aclnnAdaptiveMaxPool3dBackwardGetWorkspaceSize(t[0], t[1], t[2], t[3], size, executor);
     },
     aclnnAdaptiveMaxPool3dBackward},
    WithPlaces(Cases(kHalves, {kPooledVolumes, kVolumes, kPooledVolumes}, kVolumes), ACL_INT32, 7 * 9 * 37)));

}  // namespace
}  // namespace portacl::testing
