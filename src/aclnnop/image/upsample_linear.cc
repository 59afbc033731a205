// Resizes images by interpolation: bilinear with its gradients, and bicubic.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/upsample_linear_functions.h"

#include <algorithm>
#include <cmath>

#include "aclnnop/image/upsample.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using Kind = engine::AxisMap::Kind;

enum Tensors { kSelf, kOut };
enum Attributes { kOutputSize, kAlignCorners, kScaleRows, kScaleColumns, kInputSize };

constexpr DtypeRule kBilinearDtypes = Everywhere(kFloatHalfAndBf16 | kDouble);
constexpr DtypeRule kBicubicDtypes = kBf16SinceAtlasA2;
constexpr DtypeRule kGradientDtypes = ByGeneration(kFloatAndHalf, kFloatAndHalf, kFloatHalfAndBf16);
constexpr DtypeRule kGradientV2Dtypes =
    kBf16SinceAtlasA2.On(ProductSet{Product::kAtlas200I500A2}, DtypeSet{});

bool IsNhwc(const OperatorCall& call, int tensor) { return call.Tensor(tensor).format == ACL_FORMAT_NHWC; }

// Atlas A2 and A3 ignore a scale that does not lead from one length to the other.
double ScaleOf(const OperatorCall& call, double scale, int64_t from, int64_t to) {
  if (!products::kAtlasA2AndA3.Contains(call.product)) return scale;
  return std::floor(static_cast<double>(from) * scale) == static_cast<double>(to) ? scale : 0;
}

engine::AxisMap BilinearAxis(const OperatorCall& call, const StridedView& image, const StridedView& resized,
                             int dim, double scale) {
  const bool aligns_corners = call.attributes[kAlignCorners].integer != 0;
  const bool is_wide = image.dtype == ACL_DOUBLE;
  const int64_t from = image.shape[dim];
  const int64_t to = resized.shape[dim];
  const bool keeps = from == to && products::kAtlasA2AndA3.Contains(call.product);
  const double step =
      keeps ? 1 : SpacingBetween(from, to, ScaleOf(call, scale, from, to), aligns_corners, is_wide);
  return ResizedAxis(Kind::kLinear, image, resized, dim, step, aligns_corners, is_wide);
}

aclnnStatus FourDims(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kSelf, kOut}) {
    if (call.Tensor(tensor).shape.rank == 4) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" does not have 4 dims, accepted: 4."));
  }
  return ACL_SUCCESS;
}

aclnnStatus FormatsOfImages(const Check& check, OperatorCall& call) noexcept {
  const bool takes_nd = check.low != 0;
  if (const aclnnStatus status = ImageFormat(check, call, kSelf, kSelf, takes_nd)) return status;
  return ImageFormat(check, call, kOut, kSelf, takes_nd);
}
constexpr Check FormatsOrNd() {
  Check check = Custom(FormatsOfImages);
  check.low = 1;
  return check;
}

// ---- bilinear ----

aclnnStatus DoublesAreNhwc(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).dtype != ACL_DOUBLE || IsNhwc(call, kSelf)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter self of DOUBLE has the format NCHW, accepted: NHWC."));
}

aclnnStatus ImagesAndChannels(const Check& check, OperatorCall& call) noexcept {
  return SameImagesAndChannels(check, call, kOut, kSelf);
}

aclnnStatus ScalesAreNotNegative(const Check& check, OperatorCall& call) noexcept {
  for (const int scale : {kScaleRows, kScaleColumns}) {
    if (!(call.attributes[static_cast<size_t>(scale)].wide < 0)) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.attributes[static_cast<size_t>(scale)].name);
    return FailAclnn(check.code, message.Add(" is negative, accepted: at least 0."));
  }
  return ACL_SUCCESS;
}

aclnnStatus TwoValues(const Check& check, OperatorCall& call) noexcept {
  return ArrayHas(check, call, kOutputSize, 2);
}

aclnnStatus ShapeAsAsked(const Check& check, OperatorCall& call) noexcept {
  const auto& size = call.Array(kOutputSize);
  const Shape accepted = ResizedShape(call.Tensor(kSelf), size[0], size[1]);
  return call.Tensor(kOut).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kOut, accepted);
}

aclnnStatus ImagesHaveElements(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const ImageDims dims = DimsOf(self);
  for (const int dim : {dims.channels, dims.rows, dims.columns}) {
    if (self.shape[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  return ArrayIsPositive(check, call, kOutputSize);
}

constexpr Check kBilinearChecks[] = {
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kSelf)),  // in CANN's order
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kOut)),
    DtypesIn(kBilinearDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(FormatsOfImages),
    Custom(FourDims),
    Custom(DoublesAreNhwc),
    Custom(ImagesAndChannels),
    Custom(ScalesAreNotNegative),
    WithCode(ACLNN_ERR_PARAM_INVALID, ArrayNotNull(kOutputSize)),
    Custom(TwoValues),
    SizesRepresentable({kOut}),
    Custom(ShapeAsAsked),
    DoneIfEmpty({kSelf, kOut}),
    InsideStorage({kSelf}),
};

void SetBilinear(const OperatorCall& call, Executor& executor) {
  const StridedView self = ImageView(call.Tensor(kSelf));
  const StridedView out = ImageView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&self, kSelf, &out, kOut, 2},
                              BilinearAxis(call, self, out, 2, call.attributes[kScaleRows].wide),
                              BilinearAxis(call, self, out, 3, call.attributes[kScaleColumns].wide),
                              engine::Direction::kToPositions, call.isa, call.threads);
  });
}

// ---- bicubic ----

// Tolerance for a rounded scale.
constexpr double kScaleError = 1e-4;

aclnnStatus ScalesGiveOutput(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  const int dims[] = {DimsOf(self).rows, DimsOf(self).columns};
  for (int axis = 0; axis < 2; ++axis) {
    const Attribute& scale = call.attributes[size_t{kScaleRows} + static_cast<size_t>(axis)];
    if (!(scale.wide > 0)) continue;
    const double length = static_cast<double>(self.shape[dims[axis]]) * scale.wide;
    const auto asked = static_cast<double>(call.Array(kOutputSize)[static_cast<size_t>(axis)]);
    const double room = kScaleError * asked;
    if (asked <= length + room && length < asked + 1 + room) continue;
    Text message = StartMessage(call).Add("parameter ").Add(scale.name);
    return FailAclnn(
        check.code,
        message.Add(" does not make outputSize of self's size, accepted: a scale that does, or 0."));
  }
  return ACL_SUCCESS;
}

constexpr Check kBicubicChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    DtypesIn(kBicubicDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    FormatsOrNd(),
    Custom(FourDims),
    Custom(TwoValues),
    Custom(ImagesHaveElements),
    SizesRepresentable({kOut}),
    Custom(ShapeAsAsked),
    OnProducts(products::kBeforeAscend950, Custom(ScalesGiveOutput)),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

engine::AxisMap BicubicAxis(const OperatorCall& call, const StridedView& self, const StridedView& out,
                            int dim, double scale) {
  const bool aligns_corners = call.attributes[kAlignCorners].integer != 0;
  const double step = SpacingBetween(self.shape[dim], out.shape[dim], scale, aligns_corners, false);
  return ResizedAxis(Kind::kCubic, self, out, dim, step, aligns_corners, false);
}

void SetBicubic(const OperatorCall& call, Executor& executor) {
  const StridedView self = ImageView(call.Tensor(kSelf));
  const StridedView out = ImageView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&self, kSelf, &out, kOut, 2},
                              BicubicAxis(call, self, out, 2, call.attributes[kScaleRows].wide),
                              BicubicAxis(call, self, out, 3, call.attributes[kScaleColumns].wide),
                              engine::Direction::kToPositions, call.isa, call.threads);
  });
}

// ---- gradients of the bilinear operators ----

// Checks that gradOut has the images and channels of inputSize, and the rows and columns of outputSize.
// inputSize is out's shape.
aclnnStatus GradientShapes(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& grad = call.Tensor(kSelf);
  if (grad.shape.rank != 4) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" does not have 4 dims, accepted: 4."));
  }
  if (const aclnnStatus status = ArrayHas(check, call, kOutputSize, 2)) return status;
  if (const aclnnStatus status = ArrayHas(check, call, kInputSize, 4)) return status;
  const ImageDims dims = DimsOf(grad);
  const auto& input = call.Array(kInputSize);
  if (input[static_cast<size_t>(dims.rows)] < 1 || input[static_cast<size_t>(dims.columns)] < 1)
    return RefuseArray(check, call, kInputSize, " has no rows or columns", "at least 1 each");
  if (const aclnnStatus status = ArrayIsPositive(check, call, kOutputSize)) return status;
  call.broadcast.rank = 4;
  std::copy(input.begin(), input.end(), call.broadcast.dim);
  Shape accepted = call.broadcast;
  accepted.dim[dims.rows] = call.Array(kOutputSize)[0];
  accepted.dim[dims.columns] = call.Array(kOutputSize)[1];
  return grad.shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kSelf, accepted);
}

// CANN does not check dtype lists where the size stays the same.
bool Resizes(const OperatorCall& call) noexcept { return !(call.Tensor(kSelf).shape == call.broadcast); }
bool MixesTypes(const OperatorCall& call) noexcept {
  return call.product == Product::kAscend950 && call.Tensor(kSelf).dtype == ACL_FLOAT && Resizes(call);
}
bool KeepsType(const OperatorCall& call) noexcept { return !MixesTypes(call); }
bool KeepsSize(const OperatorCall& call) noexcept { return !Resizes(call); }

aclnnStatus SizesAre32Bits(const Check& check, OperatorCall& call) noexcept {
  if (const aclnnStatus status = SizesFit32Bits(check, call, kSelf)) return status;
  return SizesFit32Bits(check, call, kOut);
}

constexpr auto kGradientStart = List(NotNull(kSelf), ArrayNotNull(kOutputSize), ArrayNotNull(kInputSize),
                                     NotNull(kOut), Custom(GradientShapes));
constexpr auto kGradientChecks =
    Join(kGradientStart,
         List(ShapeIsResult(kOut), If(Resizes, DtypesIn(kGradientDtypes, {kSelf})),
              If(MixesTypes, DtypesIn(kFloatHalfAndBf16, {kOut})), If(KeepsType, SameDtype(kSelf, kOut)),
              Custom(FormatsOfImages), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
              InsideStorage({kSelf}), If(KeepsSize, MovesBytes({kSelf}))));
constexpr auto kGradientV2Checks =
    Join(kGradientStart, List(If(Resizes, DtypesIn(kGradientV2Dtypes, {kSelf})), SameDtype(kSelf, kOut),
                              Custom(FormatsOfImages), Custom(SizesAre32Bits), SizesRepresentable({kOut}),
                              DoneIfEmpty({kSelf, kOut}), ShapeIsResult(kOut), InsideStorage({kSelf}),
                              If(KeepsSize, MovesBytes({kSelf}))));

void SetGradient(const OperatorCall& call, Executor& executor) {
  // With equal sizes nothing is interpolated.
  if (KeepsSize(call)) return SetMoveJob(call, kSelf, kOut, executor);
  const StridedView grad = ImageView(call.Tensor(kSelf));
  const StridedView result = ImageView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&grad, kSelf, &result, kOut, 2},
                              BilinearAxis(call, result, grad, 2, call.attributes[kScaleRows].wide),
                              BilinearAxis(call, result, grad, 3, call.attributes[kScaleColumns].wide),
                              engine::Direction::kFromPositions, call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnUpsampleBilinear2d) {
  return RunPhase1(call, kBilinearChecks, workspaceSize, executor, SetBilinear);
}

PORTACL_PHASE_1(aclnnUpsampleBicubic2d) {
  return RunPhase1(call, kBicubicChecks, workspaceSize, executor, SetBicubic);
}

PORTACL_PHASE_1(aclnnUpsampleBilinear2dBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradient);
}

PORTACL_PHASE_1(aclnnUpsampleBilinear2dBackwardV2) {
  return RunPhase1(call, kGradientV2Checks, workspaceSize, executor, SetGradient);
}
