// Pools for the determinism test: means, maxima and the gradients of both.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/pooling.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kHalves = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const Shape kImages = {3, 7, 19, 301};
const Shape kPooled = {3, 7, 10, 151};
const Shape kVolumes = {2, 3, 7, 9, 37};
const Shape kPooledVolumes = {2, 3, 4, 5, 19};

std::vector<GivenCase> Pools(const std::vector<DtypeNumber>& dtypes, const std::vector<CaseTensor>& inputs,
                             const std::vector<CaseTensor>& outputs) {
  std::vector<GivenCase> cases = Cases(dtypes, inputs, outputs);
  for (GivenCase& one : cases) one.format = one.output_shape.size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND;
  return cases;
}

// Without padding counted, with it, with another divisor.
const auto kMeans = Register(PORTACL_PHASES(aclnnAvgPool2d, c[0], c.Ints({3}), c.Ints({2}), c.Ints({1}),
                                            false, c.setting == 1, c.setting == 2 ? 5 : 0, 0, c[1]),
                             Pools(kHalves, {kImages}, std::vector<CaseTensor>(3, kPooled)));
const auto kMeansGradient =
    Register(PORTACL_PHASES(aclnnAvgPool2dBackward, c[0], c[1], c.Ints({3}), c.Ints({2}), c.Ints({1}), false,
                            c.setting == 1, c.setting == 2 ? 5 : 0, 0, c[2]),
             Pools(kHalves, {kPooled, kImages}, std::vector<CaseTensor>(3, kImages)));
const auto kGlobalMeans =
    Register(PORTACL_PHASES(aclnnGlobalAveragePool, c[0], c[1]), Pools(kHalves, {kImages}, {{3, 7, 1, 1}}));
const auto kGlobalMaxima = Register(PORTACL_PHASES(aclnnGlobalMaxPool, c[0], c[1]),
                                    Pools({ACL_FLOAT, ACL_FLOAT16}, {kImages}, {{3, 7, 1, 1}}));
const auto kVolumeMeans = Register(PORTACL_PHASES(aclnnAvgPool3d, c[0], c.Ints({3}), c.Ints({2}), c.Ints({1}),
                                                  false, c.setting == 1, c.setting == 2 ? 5 : 0, c[1]),
                                   Pools(kHalves, {kVolumes}, std::vector<CaseTensor>(3, kPooledVolumes)));
const auto kVolumeGradient =
    Register(PORTACL_PHASES(aclnnAvgPool3dBackward, c[0], c[1], c.Ints({3}), c.Ints({2}), c.Ints({1}), false,
                            c.setting == 1, c.setting == 2 ? 5 : 0, c[2]),
             Pools(kHalves, {kPooledVolumes, kVolumes}, std::vector<CaseTensor>(3, kVolumes)));
const auto kAdaptive = Register(PORTACL_PHASES(aclnnAdaptiveAvgPool2d, c[0], c.Ints({10, 151}), c[1]),
                                Pools(kHalves, {kImages}, {kPooled}));
const auto kAdaptiveGradient = Register(PORTACL_PHASES(aclnnAdaptiveAvgPool2dBackward, c[0], c[1], c[2]),
                                        Pools(kHalves, {kPooled, kImages}, {kImages}));
const auto kMaxima = Register(
    PORTACL_PHASES(aclnnMaxPool, c[0], c.Ints({3}), c.Ints({2}), 0, c.Ints({1}), c.Ints({1}), 0, c[1]),
    Pools({ACL_FLOAT, ACL_FLOAT16}, {kImages}, {kPooled}));
// Gradients of maxima add at places, which one code does.
const auto kMaximaGradient =
    Register(PORTACL_PHASES(aclnnMaxPool2dWithIndicesBackward, c[0], c[1], c[2], c.Ints({3}), c.Ints({2}),
                            c.Ints({1}), c.Ints({1}), false, c[3]),
             Pools({ACL_FLOAT}, {kPooled, kImages, {kPooled, ACL_INT32, 19 * 301}}, {kImages}),
             {.is_plain_code = true});
const auto kAdaptiveMaximaGradient = Register(
    PORTACL_PHASES(aclnnAdaptiveMaxPool2dBackward, c[0], c[1], c[2], c[3]),
    Pools(kHalves, {kPooled, kImages, {kPooled, ACL_INT64, 19 * 301}}, {kImages}), {.is_plain_code = true});
const auto kAdaptiveVolumes = Register(PORTACL_PHASES(aclnnAdaptiveAvgPool3d, c[0], c.Ints({4, 5, 19}), c[1]),
                                       Pools(kHalves, {kVolumes}, {kPooledVolumes}));
const auto kAdaptiveVolumesGradient =
    Register(PORTACL_PHASES(aclnnAdaptiveAvgPool3dBackward, c[0], c[1], c[2]),
             Pools(kHalves, {kPooledVolumes, kVolumes}, {kVolumes}));
const auto kAdaptiveMaximaOfVolumesGradient =
    Register(PORTACL_PHASES(aclnnAdaptiveMaxPool3dBackward, c[0], c[1], c[2], c[3]),
             Pools(kHalves, {kPooledVolumes, kVolumes, {kPooledVolumes, ACL_INT32, 7 * 9 * 37}}, {kVolumes}),
             {.is_plain_code = true});

}  // namespace
}  // namespace portacl::testing
