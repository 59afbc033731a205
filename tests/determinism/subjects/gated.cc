// Maps over views, for the determinism test: gated units over halves, and Prelu, whose weights' gradients are sums; tensors that are
// scaled and shifted.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/activations.h"
#include "aclnnop/families/arithmetic.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;
const std::vector<DtypeNumber> kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const std::vector<DtypeNumber> kWithDouble = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
const Shape kHalf = {151, 257};
const Shape kWhole = {302, 257};

const Traits kMaps = {.sums_everything = false};

// In two settings: dtypes after settings.
std::vector<GivenCase> BothWays(const std::vector<DtypeNumber>& dtypes, const std::vector<CaseTensor>& inputs,
                                const CaseTensor& output) {
  std::vector<GivenCase> cases = Cases(dtypes, inputs, {output});
  for (const DtypeNumber dtype : dtypes) cases.push_back(Case(dtype, inputs, output, 1));
  return cases;
}

const auto kGlu =
    Register(PORTACL_PHASES(aclnnGlu, c[0], 0, c[1]), Cases(kWithDouble, {kWhole}, {kHalf}), kMaps);
const auto kGluBackward = Register(PORTACL_PHASES(aclnnGluBackward, c[0], c[1], 0, c[2]),
                                   Cases(kWithDouble, {kHalf, kWhole}, {kWhole}), kMaps);
const auto kSwiGlu =
    Register(PORTACL_PHASES(aclnnSwiGlu, c[0], 0, c[1]), Cases(kFloats, {kWhole}, {kHalf}), kMaps);
const auto kSwiGluGrad = Register(PORTACL_PHASES(aclnnSwiGluGrad, c[0], c[1], 0, c[2]),
                                  Cases(kFloats, {kHalf, kWhole}, {kWhole}), kMaps);
// Both results in one tensor.
const auto kGeluMul =
    Register(PORTACL_PHASES(aclnnGeluMul, c[0], c.setting == 0 ? nullptr : c.Text("tanh"), c[1]),
             BothWays(kFloats, {{257, 302}}, {257, 151}), kMaps);
const auto kFatreluMul = Register(PORTACL_PHASES(aclnnFatreluMul, c[0], c[1], c[2]),
                                  Cases(kFloats, {{257, 302}, {1}}, {{257, 151}}), kMaps);
const auto kClippedSwiglu =
    Register(PORTACL_PHASES(aclnnClippedSwiglu, c[0], nullptr, 1, 1.702, 7, 1, c.setting == 1, c[1]),
             BothWays(kFloats, {{257, 302}}, {257, 151}), kMaps);
const auto kSituGlu =
    Register(PORTACL_PHASES(aclnnSituGlu, c[0], 0, 4, c.setting == 1 ? 25 : 0, c.setting == 1, c[1]),
             BothWays(kFloats, {kWhole}, kHalf), kMaps);
const auto kScale = Register(PORTACL_PHASES(aclnnScale, c[0], c[1], c[2], 1, -1, true, c[3]),
                             Cases(kFloats, {kHalf, {257}, {257}}, {kHalf}), kMaps);
const auto kModulate = Register(PORTACL_PHASES(aclnnModulate, c[0], c[1], c[2], c[3]),
                                Cases(kFloats, {{3, 97, 257}, {3, 257}, {3, 1, 257}}, {{3, 97, 257}}), kMaps);
const auto kGeGlu =
    Register(PORTACL_PHASES(aclnnGeGlu, c[0], 0, c.setting, c.Part(1, 0, 0, 151), c.Part(1, 0, 151, 151)),
             BothWays(kFloats, {kWhole}, kWhole), kMaps);
const auto kGeGluBackward = Register(PORTACL_PHASES(aclnnGeGluBackward, c[0], c[1], c[2], 0, c.setting, c[3]),
                                     BothWays(kFloats, {kHalf, kWhole, kHalf}, kWhole), kMaps);
const auto kPrelu =
    Register(PORTACL_PHASES(aclnnPrelu, c[0], c[1], c[2]), Cases(kFloats, {kWhole, {257}}, {kWhole}), kMaps);
aclTensor* LastRow(Call& c, size_t i) {
  ViewOf view(c[i]);
  view.offset += 302 * view.strides[0];
  view.shape.erase(view.shape.begin());
  view.strides.erase(view.strides.begin());
  return c.Own(view.Create());
}
// Both results in one tensor.
const auto kPreluBackward =
    Register(PORTACL_PHASES(aclnnPreluBackward, c[0], c[1], c[2], c.Part(3, 0, 0, 302), LastRow(c, 3)),
             Cases(kFloats, {kWhole, kWhole, {257}}, {{303, 257}}));

}  // namespace
}  // namespace portacl::testing
