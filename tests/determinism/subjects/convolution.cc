// Convolutions and their gradients, for the determinism test: blocks of terms, tiles and panels in part and in whole, borders, steps, groups.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/convolution.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

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

// A setting, transposed or not, or one of its gradients.
template <class Shapes>
std::vector<GivenCase> Cases(size_t ways, const Shapes& shapes) {
  std::vector<GivenCase> cases;
  for (size_t i = 0; i < kSettings.size(); ++i) {
    for (size_t way = 0; way < ways; ++way) {
      for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
        const std::vector<Shape> all = shapes(kSettings[i], way);
        cases.push_back(Case(dtype, {all.begin(), all.end() - 1}, all.back(), i * ways + way));
        cases.back().format = ACL_FORMAT_NCHW;
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

const auto kConvolution =
    Register({"aclnnConvolution", aclnnConvolution,
              [](Call& c) {
                const Setting& s = kSettings[static_cast<size_t>(c.setting / 2)];
                const bool is_transposed = c.setting % 2 != 0;
                return aclnnConvolutionGetWorkspaceSize(
                    c[0], c[1], c[2], c.Ints({s.stride, s.stride}), c.Ints({s.padding, s.padding}),
                    c.Ints({s.dilation, s.dilation}), is_transposed, c.Ints(OutputPadding(s)), s.groups, c[3],
                    1, c.size, c.executor);
              }},
             Cases(2, [](const Setting& s, size_t is_transposed) {
               return is_transposed != 0 ? std::vector<Shape>{s.y, s.w, {s.x[1]}, s.x}
                                         : std::vector<Shape>{s.x, s.w, {s.y[1]}, s.y};
             }));

const auto kConvolutionBackward =
    Register({"aclnnConvolutionBackward", aclnnConvolutionBackward,
              [](Call& c) {
                const Setting& s = kSettings[static_cast<size_t>(c.setting / 2)];
                const auto which = static_cast<size_t>(c.setting % 2);
                return aclnnConvolutionBackwardGetWorkspaceSize(
                    c[0], c[1], c[2], nullptr, c.Ints({s.stride, s.stride}), c.Ints({s.padding, s.padding}),
                    c.Ints({s.dilation, s.dilation}), false, c.Ints({0, 0}), static_cast<int>(s.groups),
                    c.Flags({which == 0, which == 1, false}), 1, c.OutIf(which == 0), c.OutIf(which == 1),
                    nullptr, c.size, c.executor);
              }},
             Cases(2, [](const Setting& s, size_t of_weight) {
               return std::vector<Shape>{s.y, s.x, s.w, of_weight != 0 ? s.w : s.x};
             }));

std::vector<GivenCase> CasesOf(const std::vector<CaseTensor>& inputs,
                               const std::vector<CaseTensor>& outputs) {
  std::vector<GivenCase> cases;
  for (size_t way = 0; way < outputs.size(); ++way) {
    for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      cases.push_back(Case(dtype, inputs, outputs[way], way));
      if (inputs[0].shape.size() == 4) cases.back().format = ACL_FORMAT_NCHW;
    }
  }
  return cases;
}

const auto kConvDepthwise2d =
    Register(PORTACL_PHASES(aclnnConvDepthwise2d, c[0], c[1], c.Ints({3, 5}), c[2], c.Ints({2, 1}),
                            c.Ints({1, 2}), c.Ints({1, 1}), c[3], 1),
             CasesOf({{2, 13, 21, 37}, {26, 1, 3, 5}, {26}}, {{2, 26, 11, 37}}));

// The result, or the samples that are multiplied.
const auto kDeformableConv2d =
    Register(PORTACL_PHASES(aclnnDeformableConv2d, c[0], c[1], c[2], nullptr, c.Ints({3, 2}),
                            c.Ints({1, 1, 2, 1}), c.Ints({1, 1, 1, 1}), c.Ints({1, 1, 1, 2}), 2, 2, true,
                            c.OutIf(c.setting != 1, {2, 26, 11, 37}, c.Dtype()), c.OutIf(c.setting == 1)),
             CasesOf({{2, 12, 21, 37}, {26, 6, 3, 2}, {2, 36, 11, 37}}, {{2, 26, 11, 37}, {2, 12, 33, 74}}));

const auto kConvTbc = Register(PORTACL_PHASES(aclnnConvTbc, c[0], c[1], c[2], 2, c[3], 1),
                               CasesOf({{70, 3, 130}, {3, 130, 33}, {33}}, {{72, 3, 33}}));

const Shape kSequence = {70, 3, 130}, kSequenceWeight = {3, 130, 33}, kSequenceBias = {33};
const auto kConvTbcBackward =
    Register(PORTACL_PHASES(aclnnConvTbcBackward, c[0], c[1], c[2], c.Unseen(kSequenceBias, c.Dtype()), 2, 1,
                            c.OutIf(c.setting == 0, kSequence, c.Dtype()),
                            c.OutIf(c.setting == 1, kSequenceWeight, c.Dtype()),
                            c.OutIf(c.setting == 2, kSequenceBias, c.Dtype())),
             CasesOf({{72, 3, 33}, kSequence, kSequenceWeight}, {kSequence, kSequenceWeight, kSequenceBias}));

}  // namespace
}  // namespace portacl::testing
