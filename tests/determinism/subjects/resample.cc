// Resampling for the determinism test: gradients of pads and windows, interpolation, its gradients and grids.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/image.h"
#include "determinism/calls.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kHalves = {ACL_FLOAT, ACL_FLOAT16};
const Traits kPlain = {.is_plain_code = true};
// Without scales, and with them.
const Traits kScaled = {.is_plain_code = true, .settings = {0, 2}};

const Shape kImage = {3, 17, 301};
const Shape kPadded = {3, 23, 309};
const std::vector<DtypeNumber> kPadDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_COMPLEX64};

const auto kReflection =
    Register(PORTACL_PHASES(aclnnReflectionPad2dBackward, c[0], c[1], c.Ints({3, 5, 2, 4}), c[2]),
             Cases(kPadDtypes, {kPadded, kImage}, {kImage}), kPlain);
const auto kReplication =
    Register(PORTACL_PHASES(aclnnReplicationPad2dBackward, c[0], c[1], c.Ints({3, 5, 2, 4}), c[2]),
             Cases(kPadDtypes, {kPadded, kImage}, {kImage}), kPlain);
const auto kColumns = Register(PORTACL_PHASES(aclnnIm2colBackward, c[0], c.Ints({17, 301}), c.Ints({3, 2}),
                                              c.Ints({1, 2}), c.Ints({1, 1}), c.Ints({2, 1}), c[1]),
                               Cases(kHalves, {{18, 9 * 301}}, {kImage}), kPlain);
const auto kWindows =
    Register(PORTACL_PHASES(aclnnUnfoldGrad, c[0], c.Ints(kImage), 2, 7, 2, c[1]),
             Cases({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{3, 17, 148, 7}}, {kImage}), kPlain);
const auto kBicubic =
    Register(PORTACL_PHASES(aclnnUpsampleBicubic2d, c[0], c.Ints({31, 307}), c.setting != 0, 0, 0, c[1]),
             Cases(kHalves, {{2, 3, 19, 131}}, {{2, 3, 31, 307}, {2, 3, 31, 307}}), kPlain);
const auto kGrid = Register(
    PORTACL_PHASES(aclnnGridSampler2D, c[0], c[1], c.setting % 3, c.setting / 3, c.setting % 2 != 0, c[2]),
    Cases(kHalves, {{2, 5, 19, 31}, {2, 11, 301, 2}}, std::vector<CaseTensor>(7, {2, 5, 11, 301})),
    {.is_plain_code = true, .settings = {0, 1, 2, 3, 5, 6, 8}});

const auto kAffine =
    Register(PORTACL_PHASES(aclnnAffineGrid, c[0], c.Ints({3, 1, 5, 17, 301}), c.setting != 0, c[1]),
             Cases(kHalves, {{3, 3, 4}}, {{3, 5, 17, 301, 3}, {3, 5, 17, 301, 3}}), kPlain);
const auto kGrid3d = Register(
    PORTACL_PHASES(aclnnGridSampler3D, c[0], c[1], c.setting % 3, c.setting / 3, c.setting % 2 != 0, c[2]),
    Cases(kHalves, {{2, 5, 4, 9, 11}, {2, 3, 7, 61, 3}}, std::vector<CaseTensor>(4, {2, 5, 3, 7, 61})),
    {.is_plain_code = true, .settings = {0, 1, 3, 6}});

// The gradient of one operand; the other is not asked for.
const auto kGridOfImages =
    Register(PORTACL_PHASES(aclnnGridSampler2DBackward, c[0], c[1], c[2], c.setting % 3, c.setting / 3,
                            c.setting % 2 != 0, c.Flags({false, true}), nullptr, c[3]),
             Cases(kHalves, {{2, 11, 7, 61}, {2, 11, 9, 13}, {2, 7, 61, 2}},
                   std::vector<CaseTensor>(6, {2, 7, 61, 2})),
             {.is_plain_code = true, .settings = {0, 2, 3, 5, 6, 8}});
const auto kGridOfVolumes =
    Register(PORTACL_PHASES(aclnnGridSampler3DBackward, c[0], c[1], c[2], c.setting % 3, c.setting / 3,
                            c.setting % 2 != 0, c.Flags({true, false}), c[3], nullptr),
             Cases(kHalves, {{2, 11, 3, 7, 61}, {2, 11, 4, 9, 13}, {2, 3, 7, 61, 3}},
                   std::vector<CaseTensor>(4, {2, 11, 4, 9, 13})),
             {.is_plain_code = true, .settings = {0, 1, 3, 6}});

// Boxes on two images: their numbers are from 0 to 2.
const auto kBoxes =
    Register(PORTACL_PHASES(aclnnROIAlign, c[0], c[1], 9, 5, 7, c.setting / 2, c.setting % 2, c[2]),
             Cases(kHalves, {{2, 37, 19, 31}, {61, 5}}, std::vector<CaseTensor>(4, {61, 37, 5, 7})),
             {.not_negative = {1}, .is_plain_code = true, .settings = {0, 1, 4, 5}});
const auto kBoxesGradient =
    Register(PORTACL_PHASES(aclnnROIAlignBackward, c[0], c[1], c.Ints({2, 37, 19, 31}), 7, 5, 9,
                            c.setting / 2, c.setting % 2, c[2]),
             Cases(kHalves, {{61, 37, 5, 7}, {61, 5}}, std::vector<CaseTensor>(4, {2, 37, 19, 31})),
             {.not_negative = {1}, .is_plain_code = true, .settings = {0, 1, 4, 5}});

// ---- images that say in which format they are ----

const Shape kSmall = {2, 3, 19, 131};
const Shape kLarge = {2, 3, 31, 307};

Shape ImageSize(const Shape& image) { return {image[2], image[3]}; }

Shape ChannelsLast(const Shape& image) { return {image[0], image[2], image[3], image[1]}; }

// The scales that make the one image of the other; 0: none are given.
double Rows(const Call& c) { return c.setting / 2 != 0 ? 1.65 : 0; }
double Columns(const Call& c) { return c.setting / 2 != 0 ? 2.35 : 0; }
// As float32. Nothing is converted in a call: its floating-point environment may trap what is inexact.
float NarrowRows(const Call& c) { return c.setting / 2 != 0 ? 1.65f : 0.0f; }
float NarrowColumns(const Call& c) { return c.setting / 2 != 0 ? 2.35f : 0.0f; }

std::vector<GivenCase> Images(const std::vector<DtypeNumber>& dtypes, const Shape& from, const Shape& to,
                              size_t settings) {
  std::vector<GivenCase> cases = Cases(dtypes, {from}, std::vector<CaseTensor>(settings, to));
  for (GivenCase& c : cases) c.format = ACL_FORMAT_NCHW;
  for (GivenCase& c :
       Cases(dtypes, {ChannelsLast(from)}, std::vector<CaseTensor>(settings, ChannelsLast(to)))) {
    c.format = ACL_FORMAT_NHWC;
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<GivenCase> Lines(const std::vector<DtypeNumber>& dtypes, size_t settings) {
  std::vector<GivenCase> cases =
      Cases(dtypes, {{2, 57, 131}}, std::vector<CaseTensor>(settings, {2, 57, 307}));
  for (GivenCase& c : cases) c.format = ACL_FORMAT_NCL;
  return cases;
}

const std::vector<DtypeNumber> kNearestDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_UINT8};
const std::vector<DtypeNumber> kAllHalves = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

const auto kNearest1d = Register(PORTACL_PHASES(aclnnUpsampleNearest1d, c[0], c.Ints({307}), c[1]),
                                 Lines(kNearestDtypes, 1), kPlain);
const auto kNearest1dV2 =
    Register(PORTACL_PHASES(aclnnUpsampleNearest1dV2, c[0], c.Ints({307}), NarrowColumns(c), c[1]),
             Lines(kNearestDtypes, 2), kScaled);
const auto kNearest2d =
    Register(PORTACL_PHASES(aclnnUpsampleNearest2d, c[0], c.Ints(ImageSize(kLarge)), c[1]),
             Images(kNearestDtypes, kSmall, kLarge, 1), kPlain);
const auto kNearest2dV2 = Register(PORTACL_PHASES(aclnnUpsampleNearest2dV2, c[0], c.Ints(ImageSize(kLarge)),
                                                  NarrowRows(c), NarrowColumns(c), c[1]),
                                   Images(kNearestDtypes, kSmall, kLarge, 2), kScaled);
const auto kNearestGradient =
    Register(PORTACL_PHASES(aclnnUpsampleNearest2dBackward, c[0], c.Ints(ImageSize(kLarge)),
                            c.Ints(c.ShapeOf(1)), Rows(c), Columns(c), c[1]),
             Images(kAllHalves, kLarge, kSmall, 2), kScaled);
const auto kBilinear = Register(
    PORTACL_PHASES(aclnnUpsampleBilinear2d, c[0], c.Ints(ImageSize(kLarge)), c.setting % 2 != 0, Rows(c),
                   Columns(c), c[1]),
    [] {
      std::vector<GivenCase> cases = Images(kAllHalves, kSmall, kLarge, 3);
      for (GivenCase& c : Images({ACL_DOUBLE}, kSmall, kLarge, 3)) {
        if (c.format == ACL_FORMAT_NHWC) cases.push_back(std::move(c));
      }
      return cases;
    }(),
    kPlain);

const auto kBilinearGradient =
    Register(PORTACL_PHASES(aclnnUpsampleBilinear2dBackward, c[0], c.Ints(ImageSize(kLarge)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, Rows(c), Columns(c), c[1]),
             Images(kHalves, kLarge, kSmall, 3), kPlain);
const auto kBilinearGradientV2 =
    Register(PORTACL_PHASES(aclnnUpsampleBilinear2dBackwardV2, c[0], c.Ints(ImageSize(kLarge)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, Rows(c), Columns(c), c[1]),
             Images(kAllHalves, kLarge, kSmall, 3), kPlain);

// Sequences, by scales that do not divide.
const Shape kShortLine = {3, 17, 101};
const Shape kLongLine = {3, 17, 273};
const auto kLinear1d =
    Register(PORTACL_PHASES(aclnnUpsampleLinear1d, c[0], c.Ints({273}), c.setting != 0, 0, c[1]),
             Cases(kAllHalves, {kShortLine}, {kLongLine, kLongLine}), kPlain);
const auto kLinear1dGradient = Register(PORTACL_PHASES(aclnnUpsampleLinear1dBackward, c[0], c.Ints({273}),
                                                       c.Ints({3, 17, 101}), c.setting != 0, 0, c[1]),
                                        Cases(kAllHalves, {kLongLine}, {kShortLine, kShortLine}), kPlain);
const auto kNearest1dGradient = Register(
    PORTACL_PHASES(aclnnUpsampleNearest1dBackward, c[0], c.Ints({273}), c.Ints({3, 17, 101}), 0, c[1]),
    Cases(kAllHalves, {kLongLine}, {kShortLine}), kPlain);
const auto kExact1d = Register(PORTACL_PHASES(aclnnUpsampleNearestExact1d, c[0], c.Ints({273}), 0, c[1]),
                               Cases(kAllHalves, {kShortLine}, {kLongLine}), kPlain);
const auto kExact1dGradient = Register(
    PORTACL_PHASES(aclnnUpsampleNearestExact1dBackward, c[0], c.Ints({273}), c.Ints({3, 17, 101}), 0, c[1]),
    Cases(kAllHalves, {kLongLine}, {kShortLine}), kPlain);
const auto kExact2d = Register(
    PORTACL_PHASES(aclnnUpsampleNearestExact2d, c[0], c.Ints(ImageSize(kLarge)), Rows(c), Columns(c), c[1]),
    Images(kAllHalves, kSmall, kLarge, 2), kScaled);
const auto kExact2dGradient =
    Register(PORTACL_PHASES(aclnnUpsampleNearestExact2dBackward, c[0], c.Ints(ImageSize(kLarge)),
                            c.Ints(c.ShapeOf(1)), Rows(c), Columns(c), c[1]),
             Images(kAllHalves, kLarge, kSmall, 2), kScaled);

// Images made smaller, so that every filter is wider than an element.
const auto kSmoothLinear = Register(PORTACL_PHASES(aclnnUpsampleBilinear2dAA, c[0], c.Ints(ImageSize(kSmall)),
                                                   c.setting % 2 != 0, 0, 0, c[1]),
                                    Images(kAllHalves, kLarge, kSmall, 2), kPlain);
const auto kSmoothCubic = Register(
    PORTACL_PHASES(aclnnUpsampleBicubic2dAA, c[0], c.Ints(ImageSize(kSmall)), c.setting % 2 != 0, 0, 0, c[1]),
    Images(kAllHalves, kLarge, kSmall, 2), kPlain);
const auto kSmoothLinearGradient =
    Register(PORTACL_PHASES(aclnnUpsampleBilinear2dAABackward, c[0], c.Ints(ImageSize(kSmall)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, 0, 0, c[1]),
             Images(kAllHalves, kSmall, kLarge, 2), kPlain);
const auto kSmoothCubicGradient =
    Register(PORTACL_PHASES(aclnnUpsampleBicubic2dAAGrad, c[0], c.Ints(ImageSize(kSmall)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, 0, 0, c[1]),
             Images(kAllHalves, kSmall, kLarge, 2), kPlain);
const auto kCubicGradient =
    Register(PORTACL_PHASES(aclnnUpsampleBicubic2dBackward, c[0], c.Ints(ImageSize(kLarge)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, Rows(c), Columns(c), c[1]),
             Images(kAllHalves, kLarge, kSmall, 3), kPlain);

// Volumes.
const Shape kSmallVolume = {2, 3, 5, 9, 31};
const Shape kLargeVolume = {2, 3, 8, 13, 301};

Shape VolumeSize(const Shape& volume) { return {volume[2], volume[3], volume[4]}; }

const auto kNearest3d =
    Register(PORTACL_PHASES(aclnnUpsampleNearest3d, c[0], c.Ints(VolumeSize(kLargeVolume)), Rows(c), Rows(c),
                            Columns(c), c[1]),
             Cases(kAllHalves, {kSmallVolume}, {kLargeVolume, kLargeVolume}), kScaled);
const auto kNearest3dGradient =
    Register(PORTACL_PHASES(aclnnUpsampleNearest3dBackward, c[0], c.Ints(VolumeSize(kLargeVolume)),
                            c.Ints(c.ShapeOf(1)), Rows(c), Rows(c), Columns(c), c[1]),
             Cases(kAllHalves, {kLargeVolume}, {kSmallVolume, kSmallVolume}), kScaled);
const auto kExact3d =
    Register(PORTACL_PHASES(aclnnUpsampleNearestExact3d, c[0], c.Ints(VolumeSize(kLargeVolume)), Rows(c),
                            Rows(c), Columns(c), c[1]),
             Cases(kAllHalves, {kSmallVolume}, {kLargeVolume, kLargeVolume}), kScaled);
const auto kExact3dGradient =
    Register(PORTACL_PHASES(aclnnUpsampleNearestExact3dBackward, c[0], c.Ints(VolumeSize(kLargeVolume)),
                            c.Ints(c.ShapeOf(1)), Rows(c), Rows(c), Columns(c), c[1]),
             Cases(kAllHalves, {kLargeVolume}, {kSmallVolume, kSmallVolume}), kScaled);
const auto kLinear3d =
    Register(PORTACL_PHASES(aclnnUpsampleTrilinear3d, c[0], c.Ints(VolumeSize(kLargeVolume)),
                            c.setting % 2 != 0, Rows(c), Rows(c), Columns(c), c[1]),
             Cases(kAllHalves, {kSmallVolume}, std::vector<CaseTensor>(3, kLargeVolume)), kPlain);
const auto kLinear3dGradient =
    Register(PORTACL_PHASES(aclnnUpsampleTrilinear3dBackward, c[0], c.Ints(VolumeSize(kLargeVolume)),
                            c.Ints(c.ShapeOf(1)), c.setting % 2 != 0, Rows(c), Rows(c), Columns(c), c[1]),
             Cases(kAllHalves, {kLargeVolume}, std::vector<CaseTensor>(3, kSmallVolume)), kPlain);

const Shape kWiderVolume = {2, 3, 8, 15, 39};
const std::vector<DtypeNumber> kCircularDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const auto kReflection3d =
    Register(PORTACL_PHASES(aclnnReflectionPad3dBackward, c[0], c[1], c.Ints({3, 5, 2, 4, 1, 2}), c[2]),
             Cases(kPadDtypes, {kWiderVolume, kSmallVolume}, {kSmallVolume}), kPlain);
const auto kReplication3d =
    Register(PORTACL_PHASES(aclnnReplicationPad3dBackward, c[0], c[1], c.Ints({3, 5, 2, 4, 1, 2}), c[2]),
             Cases(kPadDtypes, {kWiderVolume, kSmallVolume}, {kSmallVolume}), kPlain);
const auto kCircular3d =
    Register(PORTACL_PHASES(aclnnCircularPad3dBackward, c[0], c[1], c.Ints({3, 5, 2, 4, 1, 2}), c[2]),
             Cases(kCircularDtypes, {kWiderVolume, kSmallVolume}, {kSmallVolume}), kPlain);
const auto kCircular2d =
    Register(PORTACL_PHASES(aclnnCircularPad2dBackward, c[0], c[1], c.Ints({3, 5, 2, 4}), c[2]),
             Cases(kCircularDtypes, {kPadded, kImage}, {kImage}), kPlain);

}  // namespace
}  // namespace portacl::testing
