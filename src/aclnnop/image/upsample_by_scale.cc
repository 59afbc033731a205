// Upsampling that takes scales: linear for sequences and volumes, nearest-exact for sequences, images and volumes, nearest for volumes,
// linear and cubic against aliasing for images, and the gradients of these, of nearest for sequences and of cubic for images.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/upsample_by_scale_functions.h"

#include <algorithm>

#include "acl/stream/thread_limit.h"
#include "aclnnop/image/upsample.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using engine::AxisMap;
using Kind = AxisMap::Kind;

// A forward function has input and output. A gradient has the output's gradient first, then the input's.
enum Tensors { kSelf, kOut };
enum Attributes { kOutputSize };

constexpr DtypeRule kTaken = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | DtypeSet{ACL_UINT8});
constexpr DtypeRule kSummed = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble);
constexpr DtypeRule kWeighed = kBf16SinceAtlasA2;

// The kind of a function. It decides which attributes come between outputSize and the scales: inputSize for gradients, alignCorners for
// all but nearest ones.
struct Form {
  int dims;  // that are resized: 1 to 3
  Kind kind;
  double shift;  // added to an output index before it is scaled: 0.5 for nearest-exact
  bool is_gradient;

  constexpr int Corners() const { return is_gradient ? 2 : 1; }
  constexpr int FirstScale() const { return Corners() + (kind == Kind::kNearest ? 0 : 1); }
};

constexpr Form kLinear1d{1, Kind::kLinear, 0, false};
constexpr Form kLinear1dGradient{1, Kind::kLinear, 0, true};
constexpr Form kNearest1dGradient{1, Kind::kNearest, 0, true};
constexpr Form kExact1d{1, Kind::kNearest, 0.5, false};
constexpr Form kExact1dGradient{1, Kind::kNearest, 0.5, true};
constexpr Form kExact2d{2, Kind::kNearest, 0.5, false};
constexpr Form kExact2dGradient{2, Kind::kNearest, 0.5, true};
constexpr Form kCubic2dGradient{2, Kind::kCubic, 0, true};
constexpr Form kSmoothLinear2d{2, Kind::kSmoothLinear, 0, false};
constexpr Form kSmoothLinear2dGradient{2, Kind::kSmoothLinear, 0, true};
constexpr Form kSmoothCubic2d{2, Kind::kSmoothCubic, 0, false};
constexpr Form kSmoothCubic2dGradient{2, Kind::kSmoothCubic, 0, true};
constexpr Form kNearest3d{3, Kind::kNearest, 0, false};
constexpr Form kNearest3dGradient{3, Kind::kNearest, 0, true};
constexpr Form kExact3d{3, Kind::kNearest, 0.5, false};
constexpr Form kExact3dGradient{3, Kind::kNearest, 0.5, true};
constexpr Form kLinear3d{3, Kind::kLinear, 0, false};
constexpr Form kLinear3dGradient{3, Kind::kLinear, 0, true};

// Images and volumes may have their channels last. The view has them second.
StridedView ViewOf(const Form& form, const aclTensor& tensor) {
  if (form.dims == 2) return ImageView(tensor);
  StridedView view = PlainView(tensor);
  constexpr int kChannelsSecond[] = {0, 4, 1, 2, 3};
  if (form.dims == 3 && tensor.format == ACL_FORMAT_NDHWC) Permute(view, kChannelsSecond);
  return view;
}
int FirstDim(const Form& form, const aclTensor& tensor) {
  if (form.dims == 2) return DimsOf(tensor).rows;
  return form.dims == 3 && tensor.format == ACL_FORMAT_NDHWC ? 1 : 2;
}

template <const Form& kForm>
aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kSelf, kOut}) {
    if (call.Tensor(tensor).shape.rank == kForm.dims + 2) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code,
                     message.Add(" has another rank, accepted: ").Add(kForm.dims + 2).Add(" dims."));
  }
  return ACL_SUCCESS;
}

// The number of values that an array accepts, for a message.
constexpr const char* kCounts[] = {"0 values", "1 value", "2 values", "3 values", "4 values", "5 values"};

template <const Form& kForm>
aclnnStatus SizesFit(const Check& check, OperatorCall& call) noexcept {
  const auto& output = call.Array(kOutputSize);
  if (static_cast<int>(output.size()) != kForm.dims)
    return RefuseArray(check, call, kOutputSize, " has another number of values", kCounts[kForm.dims]);
  if (const aclnnStatus status = ArrayIsPositive(check, call, kOutputSize)) return status;
  if (!kForm.is_gradient) return ACL_SUCCESS;
  const auto& input = call.Array(kOutputSize + 1);
  if (static_cast<int>(input.size()) == kForm.dims + 2) return ACL_SUCCESS;
  return RefuseArray(check, call, kOutputSize + 1, " has another number of values", kCounts[kForm.dims + 2]);
}

aclnnStatus VolumeFormats(const Check& check, const OperatorCall& call) {
  for (const int tensor : {kSelf, kOut}) {
    const aclFormat format = call.Tensor(tensor).format;
    const bool is_volume =
        format == ACL_FORMAT_NCDHW || format == ACL_FORMAT_NDHWC || format == ACL_FORMAT_ND;
    if (is_volume && format == call.Tensor(kSelf).format) continue;
    Text message = StartMessage(call);
    message.Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
    AddFormatName(message, format);
    message.Add(", accepted: NCDHW, NDHWC or ND, and that of ").Add(call.Name(kSelf));
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}

template <const Form& kForm>
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  if (kForm.dims == 1) return ACL_SUCCESS;
  if (kForm.dims == 3) return VolumeFormats(check, call);
  if (const aclnnStatus status = ImageFormat(check, call, kSelf, kSelf, /*takes_nd=*/true)) return status;
  return ImageFormat(check, call, kOut, kSelf, /*takes_nd=*/true);
}

// The image has elements in every dim but the batch. The resized one has the same shape, with outputSize in the resized dims.
template <const Form& kForm>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const int image = kForm.is_gradient ? kOut : kSelf;
  const int resized = kForm.is_gradient ? kSelf : kOut;
  if (kForm.is_gradient) {
    const auto& input = call.Array(kOutputSize + 1);
    Shape accepted{};
    accepted.rank = kForm.dims + 2;
    std::copy(input.begin(), input.end(), accepted.dim);
    if (!(call.Tensor(kOut).shape == accepted)) return RefuseShape(check, call, kOut, accepted);
  }
  const Shape& shape = call.Tensor(image).shape;
  for (int dim = 1; dim < shape.rank; ++dim) {
    if (shape[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, image);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  Shape accepted = shape;
  for (int axis = 0; axis < kForm.dims; ++axis)
    accepted.dim[FirstDim(kForm, call.Tensor(image)) + axis] =
        call.Array(kOutputSize)[static_cast<size_t>(axis)];
  return call.Tensor(resized).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, resized, accepted);
}

template <const Form& kForm>
constexpr auto Checks(const DtypeRule& dtypes) {
  return Join(List(NotNull(kSelf), ArrayNotNull(kOutputSize)),
              List(kForm.is_gradient ? ArrayNotNull(kOutputSize + 1) : ArrayNotNull(kOutputSize),
                   NotNull(kOut), DtypesIn(dtypes, {kSelf}), SameDtype(kSelf, kOut), Custom(RanksFit<kForm>),
                   Custom(SizesFit<kForm>), Custom(FormatsFit<kForm>), NotPrivate({kSelf, kOut}),
                   SizesRepresentable({kOut}), Custom(ShapesFit<kForm>), DoneIfEmpty({kSelf, kOut}),
                   InsideStorage({kSelf})));
}
constexpr auto kLinear1dChecks = Checks<kLinear1d>(kWeighed);
constexpr auto kLinear1dGradientChecks = Checks<kLinear1dGradient>(kWeighed);
constexpr auto kNearest1dGradientChecks = Checks<kNearest1dGradient>(kSummed);
constexpr auto kExact1dChecks = Checks<kExact1d>(kTaken);
constexpr auto kExact1dGradientChecks = Checks<kExact1dGradient>(kSummed);
constexpr auto kExact2dChecks = Checks<kExact2d>(kTaken);
constexpr auto kExact2dGradientChecks = Checks<kExact2dGradient>(kSummed);
constexpr auto kCubic2dGradientChecks = Checks<kCubic2dGradient>(kWeighed);
constexpr auto kSmoothLinear2dChecks = Checks<kSmoothLinear2d>(kWeighed);
constexpr auto kSmoothLinear2dGradientChecks = Checks<kSmoothLinear2dGradient>(kWeighed);
constexpr auto kSmoothCubic2dChecks = Checks<kSmoothCubic2d>(kWeighed);
constexpr auto kSmoothCubic2dGradientChecks = Checks<kSmoothCubic2dGradient>(kWeighed);
constexpr auto kNearest3dChecks = Checks<kNearest3d>(kTaken);
constexpr auto kNearest3dGradientChecks = Checks<kNearest3dGradient>(kSummed);
constexpr auto kExact3dChecks = Checks<kExact3d>(kTaken);
constexpr auto kExact3dGradientChecks = Checks<kExact3dGradient>(kSummed);
constexpr auto kLinear3dChecks = Checks<kLinear3d>(kWeighed);
constexpr auto kLinear3dGradientChecks = Checks<kLinear3dGradient>(kWeighed);

template <const Form& kForm>
AxisMap AxisOf(const OperatorCall& call, const StridedView& image, const StridedView& resized, int axis) {
  const int dim = image.shape.rank - kForm.dims + axis;
  double scale = call.attributes[static_cast<size_t>(kForm.FirstScale()) + static_cast<size_t>(axis)].wide;
  // The scale of aclnnUpsampleNearest1dV2 is a float.
  if (kForm.dims == 1 && kForm.kind == Kind::kNearest && kForm.shift == 0)
    scale = NearestScale(call, static_cast<double>(static_cast<float>(scale)));
  const bool aligns_corners =
      kForm.kind != Kind::kNearest && call.attributes[static_cast<size_t>(kForm.Corners())].integer != 0;
  const int64_t from = image.shape[dim];
  const int64_t to = resized.shape[dim];
  const bool keeps = from == to && (kForm.kind == Kind::kNearest
                                        ? kForm.shift == 0
                                        : kForm.dims == 1 && products::kAtlasA2AndA3.Contains(call.product));
  const double step = keeps ? 1 : SpacingBetween(from, to, scale, aligns_corners, false);
  AxisMap map = ResizedAxis(kForm.kind, image, resized, dim, step, aligns_corners, false);
  map.shift = kForm.shift;
  return map;
}

template <const Form& kForm>
void SetResized(const OperatorCall& call, Executor& executor) {
  const StridedView self = ViewOf(kForm, call.Tensor(kSelf));
  const StridedView out = ViewOf(kForm, call.Tensor(kOut));
  const StridedView& image = kForm.is_gradient ? out : self;
  const StridedView& resized = kForm.is_gradient ? self : out;
  engine::AxisMaps maps;
  if (kForm.dims == 1) {
    maps.rows.inner = maps.rows.length = image.shape[1];
    maps.rows.index_stride = image.strides[1];
    maps.rows.inner_stride = resized.strides[1];
  } else {
    maps.rows = AxisOf<kForm>(call, image, resized, kForm.dims - 2);
  }
  if (kForm.dims == 3) maps.planes = AxisOf<kForm>(call, image, resized, 0);
  maps.columns = AxisOf<kForm>(call, image, resized, kForm.dims - 1);
  const engine::AxesOperands operands{&self, kSelf, &out, kOut, kForm.dims == 1 ? 1 : 2};
  executor.SetJob([&] {
    if (kForm.kind == Kind::kNearest && !kForm.is_gradient)
      return engine::MakeTakeJob(executor, operands, maps, call.isa, call.threads);
    return engine::MakeSumJob(
        executor, operands, maps,
        kForm.is_gradient ? engine::Direction::kFromPositions : engine::Direction::kToPositions, call.isa,
        call.threads);
  });
}

}  // namespace
}  // namespace portacl

using namespace portacl;

#define PORTACL_RESIZED(name, form)                                                  \
  PORTACL_PHASE_1(aclnn##name) {                                                     \
    return RunPhase1(call, form##Checks, workspaceSize, executor, SetResized<form>); \
  }

PORTACL_RESIZED(UpsampleLinear1d, kLinear1d)
PORTACL_RESIZED(UpsampleLinear1dBackward, kLinear1dGradient)
PORTACL_RESIZED(UpsampleNearest1dBackward, kNearest1dGradient)
PORTACL_RESIZED(UpsampleNearestExact1d, kExact1d)
PORTACL_RESIZED(UpsampleNearestExact1dBackward, kExact1dGradient)
PORTACL_RESIZED(UpsampleNearestExact2d, kExact2d)
PORTACL_RESIZED(UpsampleNearestExact2dBackward, kExact2dGradient)
PORTACL_RESIZED(UpsampleBicubic2dBackward, kCubic2dGradient)
PORTACL_RESIZED(UpsampleBilinear2dAA, kSmoothLinear2d)
PORTACL_RESIZED(UpsampleBilinear2dAABackward, kSmoothLinear2dGradient)
PORTACL_RESIZED(UpsampleBicubic2dAA, kSmoothCubic2d)
PORTACL_RESIZED(UpsampleBicubic2dAAGrad, kSmoothCubic2dGradient)
PORTACL_RESIZED(UpsampleNearest3d, kNearest3d)
PORTACL_RESIZED(UpsampleNearest3dBackward, kNearest3dGradient)
PORTACL_RESIZED(UpsampleNearestExact3d, kExact3d)
PORTACL_RESIZED(UpsampleNearestExact3dBackward, kExact3dGradient)
PORTACL_RESIZED(UpsampleTrilinear3d, kLinear3d)
PORTACL_RESIZED(UpsampleTrilinear3dBackward, kLinear3dGradient)
