// Resizes images and sequences by the nearest element; also the gradient for images.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/upsample_nearest_functions.h"

#include <limits>

#include "aclnnop/image/upsample.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {

double NearestScale(const OperatorCall& call, double scale) noexcept {
  const aclDataType dtype = call.Tensor(0).dtype;
  constexpr ProductSet kWithoutScales{Product::kAtlasTraining, Product::kAtlas200I500A2, Product::kNoDevice};
  return dtype == ACL_DOUBLE || dtype == ACL_UINT8 || kWithoutScales.Contains(call.product) ? 0 : scale;
}

namespace {

using Kind = engine::AxisMap::Kind;

enum Tensors { kSelf, kOut };
enum Attributes { kOutputSize, kScaleRows, kScaleColumns };
enum GradientAttributes { kGradientOutputSize, kInputSize, kGradientScaleRows, kGradientScaleColumns };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | DtypeSet{ACL_UINT8});
constexpr DtypeRule kGradientDtypes = kBf16SinceAtlasA2;

// Computes positions in float32, whatever the dtype.
engine::AxisMap NearestAxis(const OperatorCall& call, const StridedView& image, const StridedView& resized,
                            int dim, double scale) {
  const int64_t from = image.shape[dim];
  const int64_t to = resized.shape[dim];
  const double step = from == to ? 1 : SpacingBetween(from, to, NearestScale(call, scale), false, false);
  return ResizedAxis(Kind::kNearest, image, resized, dim, step, false, false);
}

// ---- two dims ----

aclnnStatus ImageShapes(const Check& check, OperatorCall& call) noexcept {
  if (const aclnnStatus status = ArrayHas(check, call, kOutputSize, 2)) return status;
  const aclTensor& self = call.Tensor(kSelf);
  for (const int tensor : {kSelf, kOut}) {
    const Shape& shape = call.Tensor(tensor).shape;
    if (shape.rank == 4) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" does not have 4 dims, accepted: 4."));
  }
  const ImageDims dims = DimsOf(self);
  for (const int dim : {1, dims.rows, dims.columns}) {
    if (self.shape[dim] != 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  return ArrayIsPositive(check, call, kOutputSize);
}

aclnnStatus ImageFormatsAgree(const Check& check, OperatorCall& call) noexcept {
  if (const aclnnStatus status = ImageFormat(check, call, kSelf, kSelf)) return status;
  return ImageFormat(check, call, kOut, kSelf);
}

aclnnStatus ImageFormats(const Check& check, OperatorCall& call) noexcept {
  if (const aclnnStatus status = ImageFormat(check, call, kSelf, kSelf)) return status;
  return ImageFormat(check, call, kOut, kOut);
}

aclnnStatus ImagesAndChannels(const Check& check, OperatorCall& call) noexcept {
  return SameImagesAndChannels(check, call, kOut, kSelf);
}

aclnnStatus ResizedAsAsked(const Check& check, OperatorCall& call) noexcept {
  const auto& size = call.Array(kOutputSize);
  const aclTensor& out = call.Tensor(kOut);
  const ImageDims dims = DimsOf(out);
  if (out.shape[dims.rows] == size[0] && out.shape[dims.columns] == size[1]) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, ResizedShape(out, size[0], size[1]));
}

aclnnStatus SizesAre32Bits(const Check& check, OperatorCall& call) noexcept {
  if (const aclnnStatus status = SizesFit32Bits(check, call, kSelf)) return status;
  return SizesFit32Bits(check, call, kOut);
}

constexpr Check kNearest2dChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kOutputSize),
    NotNull(kOut),
    DtypesIn(kDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(ImageShapes),
    Custom(ImageFormatsAgree),
    Custom(ImagesAndChannels),
    Custom(ResizedAsAsked),
    OnProducts(products::kBeforeAscend950, Custom(SizesAre32Bits)),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    InsideStorage({kSelf}),
};

constexpr Check kNearest2dV2Checks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    ArrayNotNull(kOutputSize),
    DtypesIn(kDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(ImageShapes),
    Custom(ImageFormats),
    Custom(ImagesAndChannels),
    Custom(ResizedAsAsked),
    OnProducts(products::kBeforeAscend950, Custom(SizesAre32Bits)),
    InsideStorage({kSelf}),
};

void SetNearest2d(const OperatorCall& call, double rows, double columns, Executor& executor) {
  const StridedView self = ImageView(call.Tensor(kSelf));
  const StridedView out = ImageView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeTakeJob(executor, {&self, kSelf, &out, kOut, 2}, NearestAxis(call, self, out, 2, rows),
                               NearestAxis(call, self, out, 3, columns), call.isa, call.threads);
  });
}

void SetNearest2dByLengths(const OperatorCall& call, Executor& executor) {
  SetNearest2d(call, 0, 0, executor);
}
void SetNearest2dByScales(const OperatorCall& call, Executor& executor) {
  SetNearest2d(call, static_cast<double>(call.attributes[kScaleRows].real),
               static_cast<double>(call.attributes[kScaleColumns].real), executor);
}

// ---- one dim ----

aclnnStatus SequenceShapes(const Check& check, OperatorCall& call) noexcept {
  if (call.Array(kOutputSize).empty())
    return RefuseArray(check, call, kOutputSize, " has no values", "1 value");
  const Shape& self = call.Tensor(kSelf).shape;
  if (self.rank == 3 && self[1] != 0 && self[2] != 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(check.code,
                   message.Add(" does not have 3 dims, or one is 0, accepted: 3 dims, a batch of 0."));
}

aclnnStatus LengthAsAsked(const Check& check, OperatorCall& call) noexcept {
  Shape accepted = call.Tensor(kSelf).shape;
  const Shape& out = call.Tensor(kOut).shape;
  accepted.dim[2] = call.Array(kOutputSize)[0];
  if (out.rank == 3 && out[2] == accepted[2]) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, accepted);
}

aclnnStatus LengthIsGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.Array(kOutputSize)[0] != 0) return ACL_SUCCESS;
  return RefuseArray(check, call, kOutputSize, " has a length of 0", "at least 1");
}

aclnnStatus SequenceFormats(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kSelf, kOut}) {
    const aclFormat format = call.Tensor(tensor).format;
    if (format == ACL_FORMAT_NCL) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
    AddFormatName(message, format);
    return FailAclnn(check.code, message.Add(", accepted: NCL."));
  }
  return ACL_SUCCESS;
}

aclnnStatus SequenceResult(const Check&, OperatorCall& call) noexcept {
  call.broadcast = call.Tensor(kSelf).shape;
  call.broadcast.dim[2] = call.Array(kOutputSize)[0];
  return ACL_SUCCESS;
}

constexpr auto kNearest1dStart =
    List(NotNull(kSelf), ArrayNotNull(kOutputSize), NotNull(kOut), DtypesIn(kDtypes, {kSelf}),
         SameDtype(kSelf, kOut), Custom(SequenceShapes));
constexpr auto kNearest1dEnd = List(
    Custom(LengthIsGiven), Custom(SequenceFormats), SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kOut}),
    Custom(SequenceResult), WithCode(ACLNN_ERR_INNER_NULLPTR, ShapeIsResult(kOut)), InsideStorage({kSelf}));
constexpr auto kNearest1dChecks = Join(kNearest1dStart, kNearest1dEnd);
constexpr auto kNearest1dV2Checks = Join(kNearest1dStart, List(Custom(LengthAsAsked)), kNearest1dEnd);

void SetNearest1d(const OperatorCall& call, double scale, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOut));
  engine::AxisMap channels;
  channels.inner = channels.length = self.shape[1];
  channels.index_stride = self.strides[1];
  channels.inner_stride = out.strides[1];
  executor.SetJob([&] {
    return engine::MakeTakeJob(executor, {&self, kSelf, &out, kOut, 1}, channels,
                               NearestAxis(call, self, out, 2, scale), call.isa, call.threads);
  });
}

void SetNearest1dByLength(const OperatorCall& call, Executor& executor) { SetNearest1d(call, 0, executor); }
void SetNearest1dByScale(const OperatorCall& call, Executor& executor) {
  SetNearest1d(call, static_cast<double>(call.attributes[kScaleRows].real), executor);
}

// ---- gradient ----

aclnnStatus GradientShapes(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kSelf).shape.rank != 4) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" does not have 4 dims, accepted: 4."));
  }
  if (const aclnnStatus status = ArrayHas(check, call, kGradientOutputSize, 2)) return status;
  return ArrayHas(check, call, kInputSize, 4);
}

// Checks that inputSize is gradInput's shape. gradOut has the same shape, except for rows and columns.
aclnnStatus GradientSizes(const Check& check, OperatorCall& call) noexcept {
  const auto& input = call.Array(kInputSize);
  const auto& output = call.Array(kGradientOutputSize);
  const aclTensor& grad = call.Tensor(kSelf);
  const ImageDims dims = DimsOf(grad);
  if (input[static_cast<size_t>(dims.rows)] < 1 || input[static_cast<size_t>(dims.columns)] < 1)
    return RefuseArray(check, call, kInputSize, " has no rows or columns", "at least 1 each");
  if (const aclnnStatus status = ArrayIsPositive(check, call, kGradientOutputSize)) return status;
  call.broadcast = grad.shape;
  std::copy(input.begin(), input.end(), call.broadcast.dim);
  Shape accepted = call.broadcast;
  accepted.dim[dims.rows] = output[0];
  accepted.dim[dims.columns] = output[1];
  return grad.shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kSelf, accepted);
}

constexpr Check kGradientChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kGradientOutputSize),
    ArrayNotNull(kInputSize),
    NotNull(kOut),
    DtypesIn(kGradientDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    Custom(GradientShapes),
    Custom(ImageFormatsAgree),
    Custom(GradientSizes),
    ShapeIsResult(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kOut}),
    InsideStorage({kSelf}),
};

void SetGradient(const OperatorCall& call, Executor& executor) {
  const StridedView grad = ImageView(call.Tensor(kSelf));
  const StridedView result = ImageView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeSumJob(executor, {&grad, kSelf, &result, kOut, 2},
                              NearestAxis(call, result, grad, 2, call.attributes[kGradientScaleRows].wide),
                              NearestAxis(call, result, grad, 3, call.attributes[kGradientScaleColumns].wide),
                              engine::Direction::kFromPositions, call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnUpsampleNearest1d) {
  return RunPhase1(call, kNearest1dChecks, workspaceSize, executor, SetNearest1dByLength);
}

PORTACL_PHASE_1(aclnnUpsampleNearest1dV2) {
  return RunPhase1(call, kNearest1dV2Checks, workspaceSize, executor, SetNearest1dByScale);
}

PORTACL_PHASE_1(aclnnUpsampleNearest2d) {
  return RunPhase1(call, kNearest2dChecks, workspaceSize, executor, SetNearest2dByLengths);
}

PORTACL_PHASE_1(aclnnUpsampleNearest2dV2) {
  return RunPhase1(call, kNearest2dV2Checks, workspaceSize, executor, SetNearest2dByScales);
}

PORTACL_PHASE_1(aclnnUpsampleNearest2dBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradient);
}
