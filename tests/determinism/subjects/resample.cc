// Resampling for the determinism test: gradients of pads and windows, interpolation, its gradients and grids.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "aclnnop/families/image.h"
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

const SubjectRegistration kAffine(
    Make({"aclnnAffineGrid",
          {"theta", "out"},
          [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
            return aclnnAffineGridGetWorkspaceSize(t[0], Array({3, 1, 5, 17, 301}), attributes.reduction != 0,
                                                   t[1], size, executor);
          },
          aclnnAffineGrid},
         Modes({0, 1}), Cases(kHalves, {{3, 3, 4}}, {3, 5, 17, 301, 3}, 2)));
const SubjectRegistration kGrid3d(
    Make({"aclnnGridSampler3D",
          {"input", "grid", "out"},
          [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
            return aclnnGridSampler3DGetWorkspaceSize(t[0], t[1], attributes.reduction % 3,
                                                      attributes.reduction / 3, attributes.reduction % 2 != 0,
                                                      t[2], size, executor);
          },
          aclnnGridSampler3D},
         Modes({0, 1, 3, 6}), Cases(kHalves, {{2, 5, 4, 9, 11}, {2, 3, 7, 61, 3}}, {2, 5, 3, 7, 61}, 4)));

// The gradient of one operand; the other is not asked for.
template <auto kPlan, bool kOfGrid>
aclnnStatus PlanGridGradient(Tensors t, const Attributes& attributes, uint64_t* size,
                             aclOpExecutor** executor) {
  const bool wanted[] = {!kOfGrid, kOfGrid};
  aclBoolArray* const mask = aclCreateBoolArray(wanted, 2);
  const aclnnStatus status = kPlan(t[0], t[1], t[2], attributes.reduction % 3, attributes.reduction / 3,
                                   attributes.reduction % 2 != 0, mask, kOfGrid ? nullptr : t[3],
                                   kOfGrid ? t[3] : nullptr, size, executor);
  aclDestroyBoolArray(mask);
  return status;
}
const SubjectRegistration kGridOfImages(
    Make({"aclnnGridSampler2DBackward",
          {"gradOutput", "input", "grid", "gridGrad"},
          PlanGridGradient<&aclnnGridSampler2DBackwardGetWorkspaceSize, true>,
          aclnnGridSampler2DBackward},
         Modes({0, 2, 3, 5, 6, 8}),
         Cases(kHalves, {{2, 11, 7, 61}, {2, 11, 9, 13}, {2, 7, 61, 2}}, {2, 7, 61, 2}, 6)));
const SubjectRegistration kGridOfVolumes(
    Make({"aclnnGridSampler3DBackward",
          {"gradOutput", "input", "grid", "inputGrad"},
          PlanGridGradient<&aclnnGridSampler3DBackwardGetWorkspaceSize, false>,
          aclnnGridSampler3DBackward},
         Modes({0, 1, 3, 6}),
         Cases(kHalves, {{2, 11, 3, 7, 61}, {2, 11, 4, 9, 13}, {2, 3, 7, 61, 3}}, {2, 11, 4, 9, 13}, 4)));

// Boxes on two images: their numbers are from 0 to 2.
Subject OfBoxes(Subject subject) {
  subject.not_negative = {1};
  return subject;
}
const SubjectRegistration kBoxes(
    OfBoxes(Make({"aclnnROIAlign",
                  {"self", "rois", "out"},
                  [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
                    return aclnnROIAlignGetWorkspaceSize(t[0], t[1], 9, 5, 7, attributes.reduction / 2,
                                                         attributes.reduction % 2, t[2], size, executor);
                  },
                  aclnnROIAlign},
                 Modes({0, 1, 4, 5}), Cases(kHalves, {{2, 37, 19, 31}, {61, 5}}, {61, 37, 5, 7}, 4))));
const SubjectRegistration kBoxesGradient(
    OfBoxes(Make({"aclnnROIAlignBackward",
                  {"gradOutput", "rois", "out"},
                  [](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
                    return aclnnROIAlignBackwardGetWorkspaceSize(
                        t[0], t[1], Array({2, 37, 19, 31}), 7, 5, 9, attributes.reduction / 2,
                        attributes.reduction % 2, t[2], size, executor);
                  },
                  aclnnROIAlignBackward},
                 Modes({0, 1, 4, 5}), Cases(kHalves, {{61, 37, 5, 7}, {61, 5}}, {2, 37, 19, 31}, 4))));

// ---- images that say in which format they are ----

const Shape kSmall = {2, 3, 19, 131};
const Shape kLarge = {2, 3, 31, 307};

Array ImageSize(const Shape& image) { return Array({image[2], image[3]}); }

Shape ChannelsLast(const Shape& image) { return {image[0], image[2], image[3], image[1]}; }

// The scales that make the one image of the other; 0: none are given.
struct Scales {
  explicit Scales(const Attributes& attributes)
      : rows(attributes.reduction / 2 != 0 ? 1.65 : 0), columns(attributes.reduction / 2 != 0 ? 2.35 : 0) {}
  // As float32. Nothing is converted in a call: its floating-point environment may trap what is inexact.
  float NarrowRows() const { return rows != 0 ? 1.65f : 0.0f; }
  float NarrowColumns() const { return columns != 0 ? 2.35f : 0.0f; }
  double rows;
  double columns;
};
bool AlignsCorners(const Attributes& attributes) { return attributes.reduction % 2 != 0; }

Array ShapeOf(const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t rank = 0;
  aclGetViewShape(tensor, &dims, &rank);
  const std::unique_ptr<int64_t[]> owned(dims);
  return Array(Shape(dims, dims + rank));
}

std::vector<GivenCase> Images(const std::vector<DtypeNumber>& dtypes, const Shape& from, const Shape& to,
                              size_t settings) {
  std::vector<GivenCase> cases = Cases(dtypes, {from}, to, settings);
  for (GivenCase& c : cases) c.format = ACL_FORMAT_NCHW;
  for (GivenCase& c : Cases(dtypes, {ChannelsLast(from)}, ChannelsLast(to), settings)) {
    c.format = ACL_FORMAT_NHWC;
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<GivenCase> Lines(const std::vector<DtypeNumber>& dtypes, size_t settings) {
  std::vector<GivenCase> cases = Cases(dtypes, {{2, 57, 131}}, {2, 57, 307}, settings);
  for (GivenCase& c : cases) c.format = ACL_FORMAT_NCL;
  return cases;
}

const std::vector<DtypeNumber> kNearestDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_UINT8};
const std::vector<DtypeNumber> kAllHalves = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

const SubjectRegistration kNearest1d(
    Make({"aclnnUpsampleNearest1d",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest1dGetWorkspaceSize(t[0], Array({307}), t[1], size, executor);
          },
          aclnnUpsampleNearest1d},
         {{}}, Lines(kNearestDtypes, 1)));
const SubjectRegistration kNearest1dV2(
    Make({"aclnnUpsampleNearest1dV2",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest1dV2GetWorkspaceSize(t[0], Array({307}), Scales(a).NarrowColumns(),
                                                            t[1], size, executor);
          },
          aclnnUpsampleNearest1dV2},
         Modes({0, 2}), Lines(kNearestDtypes, 2)));
const SubjectRegistration kNearest2d(
    Make({"aclnnUpsampleNearest2d",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest2dGetWorkspaceSize(t[0], ImageSize(kLarge), t[1], size, executor);
          },
          aclnnUpsampleNearest2d},
         {{}}, Images(kNearestDtypes, kSmall, kLarge, 1)));
const SubjectRegistration kNearest2dV2(
    Make({"aclnnUpsampleNearest2dV2",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest2dV2GetWorkspaceSize(t[0], ImageSize(kLarge), Scales(a).NarrowRows(),
                                                            Scales(a).NarrowColumns(), t[1], size, executor);
          },
          aclnnUpsampleNearest2dV2},
         Modes({0, 2}), Images(kNearestDtypes, kSmall, kLarge, 2)));
const SubjectRegistration kNearestGradient(Make({"aclnnUpsampleNearest2dBackward",
                                                 {"gradOut", "gradInput"},
                                                 [](Tensors t, const Attributes& a, uint64_t* size,
                                                    aclOpExecutor** executor) {
                                                   return aclnnUpsampleNearest2dBackwardGetWorkspaceSize(
                                                       t[0], ImageSize(kLarge), ShapeOf(t[1]), Scales(a).rows,
                                                       Scales(a).columns, t[1], size, executor);
                                                 },
                                                 aclnnUpsampleNearest2dBackward},
                                                Modes({0, 2}), Images(kAllHalves, kLarge, kSmall, 2)));
const SubjectRegistration kBilinear(
    Make({"aclnnUpsampleBilinear2d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBilinear2dGetWorkspaceSize(t[0], ImageSize(kLarge), AlignsCorners(a),
                                                           Scales(a).rows, Scales(a).columns, t[1], size,
                                                           executor);
          },
          aclnnUpsampleBilinear2d},
         Modes({0, 1, 2}), [] {
           std::vector<GivenCase> cases = Images(kAllHalves, kSmall, kLarge, 3);
           for (GivenCase& c : Images({ACL_DOUBLE}, kSmall, kLarge, 3)) {
             if (c.format == ACL_FORMAT_NHWC) cases.push_back(std::move(c));
           }
           return cases;
         }()));

template <auto kPlan>
aclnnStatus PlanBilinearGradient(Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], ImageSize(kLarge), ShapeOf(t[1]), AlignsCorners(a), Scales(a).rows, Scales(a).columns,
               t[1], size, executor);
}

const SubjectRegistration kBilinearGradient(
    Make({"aclnnUpsampleBilinear2dBackward",
          {"gradOut", "out"},
          PlanBilinearGradient<&aclnnUpsampleBilinear2dBackwardGetWorkspaceSize>,
          aclnnUpsampleBilinear2dBackward},
         Modes({0, 1, 2}), Images(kHalves, kLarge, kSmall, 3)));
const SubjectRegistration kBilinearGradientV2(
    Make({"aclnnUpsampleBilinear2dBackwardV2",
          {"gradOut", "out"},
          PlanBilinearGradient<&aclnnUpsampleBilinear2dBackwardV2GetWorkspaceSize>,
          aclnnUpsampleBilinear2dBackwardV2},
         Modes({0, 1, 2}), Images(kAllHalves, kLarge, kSmall, 3)));

// Sequences, by scales that do not divide.
const Shape kShortLine = {3, 17, 101};
const Shape kLongLine = {3, 17, 273};
const SubjectRegistration kLinear1d(
    Make({"aclnnUpsampleLinear1d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleLinear1dGetWorkspaceSize(t[0], Array({273}), a.reduction != 0, 0, t[1], size,
                                                         executor);
          },
          aclnnUpsampleLinear1d},
         Modes({0, 1}), Cases(kAllHalves, {kShortLine}, kLongLine, 2)));
const SubjectRegistration kLinear1dGradient(
    Make({"aclnnUpsampleLinear1dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleLinear1dBackwardGetWorkspaceSize(t[0], Array({273}), Array({3, 17, 101}),
                                                                 a.reduction != 0, 0, t[1], size, executor);
          },
          aclnnUpsampleLinear1dBackward},
         Modes({0, 1}), Cases(kAllHalves, {kLongLine}, kShortLine, 2)));
const SubjectRegistration kNearest1dGradient(
    Make({"aclnnUpsampleNearest1dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest1dBackwardGetWorkspaceSize(t[0], Array({273}), Array({3, 17, 101}), 0,
                                                                  t[1], size, executor);
          },
          aclnnUpsampleNearest1dBackward},
         {{}}, Cases(kAllHalves, {kLongLine}, kShortLine)));
const SubjectRegistration kExact1d(
    Make({"aclnnUpsampleNearestExact1d",
          {"self", "out"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearestExact1dGetWorkspaceSize(t[0], Array({273}), 0, t[1], size, executor);
          },
          aclnnUpsampleNearestExact1d},
         {{}}, Cases(kAllHalves, {kShortLine}, kLongLine)));
const SubjectRegistration kExact1dGradient(
    Make({"aclnnUpsampleNearestExact1dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearestExact1dBackwardGetWorkspaceSize(
                t[0], Array({273}), Array({3, 17, 101}), 0, t[1], size, executor);
          },
          aclnnUpsampleNearestExact1dBackward},
         {{}}, Cases(kAllHalves, {kLongLine}, kShortLine)));
const SubjectRegistration kExact2d(
    Make({"aclnnUpsampleNearestExact2d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearestExact2dGetWorkspaceSize(t[0], ImageSize(kLarge), Scales(a).rows,
                                                               Scales(a).columns, t[1], size, executor);
          },
          aclnnUpsampleNearestExact2d},
         Modes({0, 2}), Images(kAllHalves, kSmall, kLarge, 2)));
const SubjectRegistration kExact2dGradient(Make({"aclnnUpsampleNearestExact2dBackward",
                                                 {"gradOut", "gradInput"},
                                                 [](Tensors t, const Attributes& a, uint64_t* size,
                                                    aclOpExecutor** executor) {
                                                   return aclnnUpsampleNearestExact2dBackwardGetWorkspaceSize(
                                                       t[0], ImageSize(kLarge), ShapeOf(t[1]), Scales(a).rows,
                                                       Scales(a).columns, t[1], size, executor);
                                                 },
                                                 aclnnUpsampleNearestExact2dBackward},
                                                Modes({0, 2}), Images(kAllHalves, kLarge, kSmall, 2)));

// Images made smaller, so that every filter is wider than an element.
const SubjectRegistration kSmoothLinear(
    Make({"aclnnUpsampleBilinear2dAA",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBilinear2dAAGetWorkspaceSize(t[0], ImageSize(kSmall), AlignsCorners(a), 0, 0,
                                                             t[1], size, executor);
          },
          aclnnUpsampleBilinear2dAA},
         Modes({0, 1}), Images(kAllHalves, kLarge, kSmall, 2)));
const SubjectRegistration kSmoothCubic(
    Make({"aclnnUpsampleBicubic2dAA",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBicubic2dAAGetWorkspaceSize(t[0], ImageSize(kSmall), AlignsCorners(a), 0, 0,
                                                            t[1], size, executor);
          },
          aclnnUpsampleBicubic2dAA},
         Modes({0, 1}), Images(kAllHalves, kLarge, kSmall, 2)));
const SubjectRegistration kSmoothLinearGradient(
    Make({"aclnnUpsampleBilinear2dAABackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBilinear2dAABackwardGetWorkspaceSize(
                t[0], ImageSize(kSmall), ShapeOf(t[1]), AlignsCorners(a), 0, 0, t[1], size, executor);
          },
          aclnnUpsampleBilinear2dAABackward},
         Modes({0, 1}), Images(kAllHalves, kSmall, kLarge, 2)));
const SubjectRegistration kSmoothCubicGradient(
    Make({"aclnnUpsampleBicubic2dAAGrad",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(t[0], ImageSize(kSmall), ShapeOf(t[1]),
                                                                AlignsCorners(a), 0, 0, t[1], size, executor);
          },
          aclnnUpsampleBicubic2dAAGrad},
         Modes({0, 1}), Images(kAllHalves, kSmall, kLarge, 2)));
const SubjectRegistration kCubicGradient(Make({"aclnnUpsampleBicubic2dBackward",
                                               {"gradOut", "gradInput"},
                                               [](Tensors t, const Attributes& a, uint64_t* size,
                                                  aclOpExecutor** executor) {
                                                 return aclnnUpsampleBicubic2dBackwardGetWorkspaceSize(
                                                     t[0], ImageSize(kLarge), ShapeOf(t[1]), AlignsCorners(a),
                                                     Scales(a).rows, Scales(a).columns, t[1], size, executor);
                                               },
                                               aclnnUpsampleBicubic2dBackward},
                                              Modes({0, 1, 2}), Images(kAllHalves, kLarge, kSmall, 3)));

// Volumes.
const Shape kSmallVolume = {2, 3, 5, 9, 31};
const Shape kLargeVolume = {2, 3, 8, 13, 301};

Array VolumeSize(const Shape& volume) { return Array({volume[2], volume[3], volume[4]}); }

const SubjectRegistration kNearest3d(Make({"aclnnUpsampleNearest3d",
                                           {"self", "out"},
                                           [](Tensors t, const Attributes& a, uint64_t* size,
                                              aclOpExecutor** executor) {
                                             return aclnnUpsampleNearest3dGetWorkspaceSize(
                                                 t[0], VolumeSize(kLargeVolume), Scales(a).rows,
                                                 Scales(a).rows, Scales(a).columns, t[1], size, executor);
                                           },
                                           aclnnUpsampleNearest3d},
                                          Modes({0, 2}), Cases(kAllHalves, {kSmallVolume}, kLargeVolume, 2)));
const SubjectRegistration kNearest3dGradient(
    Make({"aclnnUpsampleNearest3dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearest3dBackwardGetWorkspaceSize(
                t[0], VolumeSize(kLargeVolume), ShapeOf(t[1]), Scales(a).rows, Scales(a).rows,
                Scales(a).columns, t[1], size, executor);
          },
          aclnnUpsampleNearest3dBackward},
         Modes({0, 2}), Cases(kAllHalves, {kLargeVolume}, kSmallVolume, 2)));
const SubjectRegistration kExact3d(Make({"aclnnUpsampleNearestExact3d",
                                         {"self", "out"},
                                         [](Tensors t, const Attributes& a, uint64_t* size,
                                            aclOpExecutor** executor) {
                                           return aclnnUpsampleNearestExact3dGetWorkspaceSize(
                                               t[0], VolumeSize(kLargeVolume), Scales(a).rows, Scales(a).rows,
                                               Scales(a).columns, t[1], size, executor);
                                         },
                                         aclnnUpsampleNearestExact3d},
                                        Modes({0, 2}), Cases(kAllHalves, {kSmallVolume}, kLargeVolume, 2)));
const SubjectRegistration kExact3dGradient(
    Make({"aclnnUpsampleNearestExact3dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(
                t[0], VolumeSize(kLargeVolume), ShapeOf(t[1]), Scales(a).rows, Scales(a).rows,
                Scales(a).columns, t[1], size, executor);
          },
          aclnnUpsampleNearestExact3dBackward},
         Modes({0, 2}), Cases(kAllHalves, {kLargeVolume}, kSmallVolume, 2)));
const SubjectRegistration kLinear3d(
    Make({"aclnnUpsampleTrilinear3d",
          {"self", "out"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleTrilinear3dGetWorkspaceSize(t[0], VolumeSize(kLargeVolume), AlignsCorners(a),
                                                            Scales(a).rows, Scales(a).rows, Scales(a).columns,
                                                            t[1], size, executor);
          },
          aclnnUpsampleTrilinear3d},
         Modes({0, 1, 2}), Cases(kAllHalves, {kSmallVolume}, kLargeVolume, 3)));
const SubjectRegistration kLinear3dGradient(
    Make({"aclnnUpsampleTrilinear3dBackward",
          {"gradOut", "gradInput"},
          [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
            return aclnnUpsampleTrilinear3dBackwardGetWorkspaceSize(
                t[0], VolumeSize(kLargeVolume), ShapeOf(t[1]), AlignsCorners(a), Scales(a).rows,
                Scales(a).rows, Scales(a).columns, t[1], size, executor);
          },
          aclnnUpsampleTrilinear3dBackward},
         Modes({0, 1, 2}), Cases(kAllHalves, {kLargeVolume}, kSmallVolume, 3)));

template <auto kPlan>
aclnnStatus PlanVolumePad(Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
  return kPlan(t[0], t[1], Array({3, 5, 2, 4, 1, 2}), t[2], size, executor);
}

const Shape kWiderVolume = {2, 3, 8, 15, 39};
const std::vector<DtypeNumber> kCircularDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const SubjectRegistration kReflection3d(Make({"aclnnReflectionPad3dBackward",
                                              {"gradOutput", "self", "gradInput"},
                                              PlanVolumePad<&aclnnReflectionPad3dBackwardGetWorkspaceSize>,
                                              aclnnReflectionPad3dBackward},
                                             {{}},
                                             Cases(kPadDtypes, {kWiderVolume, kSmallVolume}, kSmallVolume)));
const SubjectRegistration kReplication3d(Make({"aclnnReplicationPad3dBackward",
                                               {"gradOutput", "self", "gradInput"},
                                               PlanVolumePad<&aclnnReplicationPad3dBackwardGetWorkspaceSize>,
                                               aclnnReplicationPad3dBackward},
                                              {{}},
                                              Cases(kPadDtypes, {kWiderVolume, kSmallVolume}, kSmallVolume)));
const SubjectRegistration kCircular3d(
    Make({"aclnnCircularPad3dBackward",
          {"gradOutput", "self", "gradInput"},
          PlanVolumePad<&aclnnCircularPad3dBackwardGetWorkspaceSize>,
          aclnnCircularPad3dBackward},
         {{}}, Cases(kCircularDtypes, {kWiderVolume, kSmallVolume}, kSmallVolume)));
const SubjectRegistration kCircular2d(Make({"aclnnCircularPad2dBackward",
                                            {"gradOutput", "self", "gradInput"},
                                            PlanPad<&aclnnCircularPad2dBackwardGetWorkspaceSize>,
                                            aclnnCircularPad2dBackward},
                                           {{}}, Cases(kCircularDtypes, {kPadded, kImage}, kImage)));

}  // namespace
}  // namespace portacl::testing
