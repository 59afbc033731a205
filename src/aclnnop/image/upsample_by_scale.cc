// Upsampling that takes scales: linear for sequences, nearest-exact for sequences and images, and the gradients of these and of nearest
// for sequences.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/upsample_by_scale_functions.h"

#include <algorithm>

#include "acl/stream/thread_limit.h"
#include "aclnnop/image/upsample.h"
#include "aclnnop/phase1.h"
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
constexpr DtypeRule kLinear = kBf16SinceAtlasA2;

// The kind of a function. It decides which attributes come between outputSize and the scales: inputSize for gradients, alignCorners for
// linear ones.
struct Form {
  int dims;  // that are resized: 1 or 2
  Kind kind;
  double shift;  // added to an output index before it is scaled: 0.5 for nearest-exact
  bool is_gradient;

  constexpr int Corners() const { return is_gradient ? 2 : 1; }
  constexpr int FirstScale() const { return Corners() + (kind == Kind::kLinear ? 1 : 0); }
};

constexpr Form kLinear1d{1, Kind::kLinear, 0, false};
constexpr Form kLinear1dGradient{1, Kind::kLinear, 0, true};
constexpr Form kNearest1dGradient{1, Kind::kNearest, 0, true};
constexpr Form kExact1d{1, Kind::kNearest, 0.5, false};
constexpr Form kExact1dGradient{1, Kind::kNearest, 0.5, true};
constexpr Form kExact2d{2, Kind::kNearest, 0.5, false};
constexpr Form kExact2dGradient{2, Kind::kNearest, 0.5, true};

// Images of two dims may have their channels last.
StridedView ViewOf(const Form& form, const aclTensor& tensor) {
  return form.dims == 2 ? ImageView(tensor) : PlainView(tensor);
}
int FirstDim(const Form& form, const aclTensor& tensor) { return form.dims == 2 ? DimsOf(tensor).rows : 2; }

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

template <const Form& kForm>
aclnnStatus SizesFit(const Check& check, OperatorCall& call) noexcept {
  const auto& output = call.Array(kOutputSize);
  if (static_cast<int>(output.size()) != kForm.dims)
    return RefuseArray(check, call, kOutputSize, " has another number of values",
                       kForm.dims == 1 ? "1 value" : "2 values");
  if (const aclnnStatus status = ArrayIsPositive(check, call, kOutputSize)) return status;
  if (!kForm.is_gradient) return ACL_SUCCESS;
  const auto& input = call.Array(kOutputSize + 1);
  if (static_cast<int>(input.size()) == kForm.dims + 2) return ACL_SUCCESS;
  return RefuseArray(check, call, kOutputSize + 1, " has another number of values",
                     kForm.dims == 1 ? "3 values" : "4 values");
}

template <const Form& kForm>
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  if (kForm.dims == 1) return ACL_SUCCESS;
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
constexpr auto kLinear1dChecks = Checks<kLinear1d>(kLinear);
constexpr auto kLinear1dGradientChecks = Checks<kLinear1dGradient>(kLinear);
constexpr auto kNearest1dGradientChecks = Checks<kNearest1dGradient>(kSummed);
constexpr auto kExact1dChecks = Checks<kExact1d>(kTaken);
constexpr auto kExact1dGradientChecks = Checks<kExact1dGradient>(kSummed);
constexpr auto kExact2dChecks = Checks<kExact2d>(kTaken);
constexpr auto kExact2dGradientChecks = Checks<kExact2dGradient>(kSummed);

template <const Form& kForm>
AxisMap AxisOf(const OperatorCall& call, const StridedView& image, const StridedView& resized, int axis) {
  const int dim = image.shape.rank - kForm.dims + axis;
  double scale = call.attributes[static_cast<size_t>(kForm.FirstScale()) + static_cast<size_t>(axis)].wide;
  // The scale of aclnnUpsampleNearest1dV2 is a float.
  if (kForm.kind == Kind::kNearest && kForm.shift == 0)
    scale = NearestScale(call, static_cast<double>(static_cast<float>(scale)));
  const bool aligns_corners =
      kForm.kind == Kind::kLinear && call.attributes[static_cast<size_t>(kForm.Corners())].integer != 0;
  const int64_t from = image.shape[dim];
  const int64_t to = resized.shape[dim];
  const bool keeps =
      from == to &&
      (kForm.kind == Kind::kLinear ? products::kAtlasA2AndA3.Contains(call.product) : kForm.shift == 0);
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
  AxisMap rows;
  if (kForm.dims == 1) {
    rows.inner = rows.length = image.shape[1];
    rows.index_stride = image.strides[1];
    rows.inner_stride = resized.strides[1];
  } else {
    rows = AxisOf<kForm>(call, image, resized, 0);
  }
  const AxisMap columns = AxisOf<kForm>(call, image, resized, kForm.dims - 1);
  const engine::AxesOperands operands{&self, kSelf, &out, kOut, kForm.dims == 1 ? 1 : 2};
  executor.SetJob([&] {
    if (kForm.kind == Kind::kNearest && !kForm.is_gradient)
      return engine::MakeTakeJob(executor, operands, rows, columns, call.isa, call.threads);
    return engine::MakeSumJob(
        executor, operands, rows, columns,
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
