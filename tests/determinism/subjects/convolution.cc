// Convolutions and their gradients, for the determinism test: blocks of terms, tiles and panels in part and in whole, borders, steps, groups.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/convolution.h"
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
class Flags {
 public:
  explicit Flags(size_t which) {
    const bool values[] = {which == 0, which == 1, which == 2};
    array_ = aclCreateBoolArray(values, 3);
  }
  ~Flags() { aclDestroyBoolArray(array_); }
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;
  operator const aclBoolArray*() const { return array_; }

 private:
  aclBoolArray* array_;
};

// The images of y = x * w.
struct Setting {
  Shape x, w, y;
  int64_t stride, padding, dilation, groups;
};
const std::vector<Setting> kSettings = {
    {{2, 33, 12, 23}, {20, 33, 3, 3}, {2, 20, 12, 23}, 1, 1, 1, 1},
    {{2, 5, 29, 31}, {17, 5, 7, 7}, {2, 17, 15, 16}, 2, 3, 1, 1},
    {{2, 300, 9, 9}, {15, 300, 1, 1}, {2, 15, 9, 9}, 1, 0, 1, 1},
    {{2, 24, 20, 35}, {24, 1, 3, 3}, {2, 24, 20, 35}, 1, 1, 1, 24},
    {{2, 12, 31, 33}, {20, 6, 3, 3}, {2, 20, 14, 15}, 2, 0, 2, 2},
    {{2, 19, 33, 47}, {19, 1, 5, 5}, {2, 19, 17, 24}, 2, 2, 1, 19},
    {{3, 37, 7, 9}, {74, 1, 7, 7}, {3, 74, 7, 9}, 1, 6, 2, 37},
    {{1, 4, 150, 70}, {4, 1, 3, 3}, {1, 4, 75, 35}, 2, 1, 1, 4},
};

SubjectRegistration Register(const std::string& name, decltype(OperatorBinding::plan) plan,
                             decltype(OperatorBinding::run) run, const std::vector<GivenCase>& given) {
  Subject subject;
  OperatorBinding& binding = subject.description.binding;
  binding.name = name;
  for (size_t i = 0; i < given[0].input_shapes.size(); ++i)
    binding.tensors.push_back("input" + std::to_string(i));
  binding.tensors.emplace_back("output");
  binding.plan = std::move(plan);
  binding.run = run;
  binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  size_t settings = 1;
  for (const GivenCase& one : given) settings = std::max(settings, one.attributes + 1);
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  for (GivenCase& one : subject.given)
    one.format = one.input_shapes[0].size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  for (const char c : name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

// A setting, transposed or not, or one of its gradients.
template <class Shapes>
std::vector<GivenCase> Cases(size_t ways, const Shapes& shapes) {
  std::vector<GivenCase> cases;
  for (size_t i = 0; i < kSettings.size(); ++i) {
    for (size_t way = 0; way < ways; ++way) {
      for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        const std::vector<Shape> all = shapes(kSettings[i], way);
        GivenCase one;
        one.input_shapes = {all.begin(), all.end() - 1};
        one.input_dtypes.assign(one.input_shapes.size(), dtype);
        one.output_dtype = dtype;
        one.output_shape = all.back();
        one.attributes = i * ways + way;
        cases.push_back(one);
      }
    }
  }
  return cases;
}

// What a stride leaves over behind the last position.
Shape OutputPadding(const Setting& s) {
  Shape rest;
  for (size_t i = 2; i < 4; ++i)
    rest.push_back(s.x[i] - ((s.y[i] - 1) * s.stride - 2 * s.padding + s.dilation * (s.w[i] - 1) + 1));
  return rest;
}

const auto kConvolution = Register(
    "aclnnConvolution",
    [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
      const Setting& s = kSettings[static_cast<size_t>(a.reduction / 2)];
      const bool is_transposed = a.reduction % 2 != 0;
      return aclnnConvolutionGetWorkspaceSize(t[0], t[1], t[2], Array({s.stride, s.stride}),
                                              Array({s.padding, s.padding}), Array({s.dilation, s.dilation}),
                                              is_transposed, Array(OutputPadding(s)), s.groups, t[3], 1, size,
                                              executor);
    },
    aclnnConvolution, Cases(2, [](const Setting& s, size_t is_transposed) {
      return is_transposed != 0 ? std::vector<Shape>{s.y, s.w, {s.x[1]}, s.x}
                                : std::vector<Shape>{s.x, s.w, {s.y[1]}, s.y};
    }));

const auto kConvolutionBackward = Register(
    "aclnnConvolutionBackward",
    [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
      const Setting& s = kSettings[static_cast<size_t>(a.reduction / 2)];
      const auto which = static_cast<size_t>(a.reduction % 2);
      return aclnnConvolutionBackwardGetWorkspaceSize(
          t[0], t[1], t[2], nullptr, Array({s.stride, s.stride}), Array({s.padding, s.padding}),
          Array({s.dilation, s.dilation}), false, Array({0, 0}), static_cast<int>(s.groups), Flags(which), 1,
          which == 0 ? t[3] : nullptr, which == 1 ? t[3] : nullptr, nullptr, size, executor);
    },
    aclnnConvolutionBackward, Cases(2, [](const Setting& s, size_t of_weight) {
      return std::vector<Shape>{s.y, s.x, s.w, of_weight != 0 ? s.w : s.x};
    }));

std::vector<GivenCase> CasesOf(const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  std::vector<GivenCase> cases;
  for (size_t way = 0; way < outputs.size(); ++way) {
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16})
      cases.push_back({std::vector<DtypeNumber>(inputs.size(), dtype), inputs, dtype, outputs[way], way});
  }
  return cases;
}

const auto kConvDepthwise2d = Register(
    "aclnnConvDepthwise2d",
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      return aclnnConvDepthwise2dGetWorkspaceSize(t[0], t[1], Array({3, 5}), t[2], Array({2, 1}),
                                                  Array({1, 2}), Array({1, 1}), t[3], 1, size, executor);
    },
    aclnnConvDepthwise2d, CasesOf({{2, 13, 21, 37}, {26, 1, 3, 5}, {26}}, {{2, 26, 11, 37}}));

// A result that is not looked at, as long as phase 1 runs.
class Unseen {
 public:
  Unseen(const Shape& shape, const aclTensor* like) {
    aclFormat format = ACL_FORMAT_ND;
    aclGetFormat(like, &format);
    static std::vector<double> memory(1 << 15);
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclGetDataType(like, &dtype);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, format, shape.data(),
                              shape.size(), memory.data());
  }
  ~Unseen() { aclDestroyTensor(tensor_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

// The result, or the samples that are multiplied.
const auto kDeformableConv2d = Register(
    "aclnnDeformableConv2d",
    [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
      const bool has_samples = a.reduction == 1;
      const Unseen unseen({2, 26, 11, 37}, t[3]);
      return aclnnDeformableConv2dGetWorkspaceSize(
          t[0], t[1], t[2], nullptr, Array({3, 2}), Array({1, 1, 2, 1}), Array({1, 1, 1, 1}),
          Array({1, 1, 1, 2}), 2, 2, true, has_samples ? unseen : t[3], has_samples ? t[3] : nullptr, size,
          executor);
    },
    aclnnDeformableConv2d,
    CasesOf({{2, 12, 21, 37}, {26, 6, 3, 2}, {2, 36, 11, 37}}, {{2, 26, 11, 37}, {2, 12, 33, 74}}));

const auto kConvTbc = Register(
    "aclnnConvTbc",
    [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
      return aclnnConvTbcGetWorkspaceSize(t[0], t[1], t[2], 2, t[3], 1, size, executor);
    },
    aclnnConvTbc, CasesOf({{70, 3, 130}, {3, 130, 33}, {33}}, {{72, 3, 33}}));

const Shape kSequence = {70, 3, 130}, kSequenceWeight = {3, 130, 33}, kSequenceBias = {33};
const auto kConvTbcBackward = Register(
    "aclnnConvTbcBackward",
    [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
      const Unseen input(kSequence, t[0]), weight(kSequenceWeight, t[0]), bias(kSequenceBias, t[0]);
      return aclnnConvTbcBackwardGetWorkspaceSize(
          t[0], t[1], t[2], bias, 2, 1, a.reduction == 0 ? t[3] : static_cast<aclTensor*>(input),
          a.reduction == 1 ? t[3] : static_cast<aclTensor*>(weight),
          a.reduction == 2 ? t[3] : static_cast<aclTensor*>(bias), size, executor);
    },
    aclnnConvTbcBackward,
    CasesOf({{72, 3, 33}, kSequence, kSequenceWeight}, {kSequence, kSequenceWeight, kSequenceBias}));

}  // namespace
}  // namespace portacl::testing
