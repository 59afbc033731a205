// Samples images and volumes at the positions that a grid gives, and computes the gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/grid_sampler_functions.h"

#include "aclnnop/jobs/statistics.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/grid.h"
#include "plan/views.h"

namespace portacl {
namespace {

// A gradient has the output's gradient first, and two results.
enum Tensors { kInput, kGrid, kOut };
enum GradientTensors { kGradOutput, kGradInput, kGradGrid, kInputGrad, kGridGrad };
enum Attributes { kInterpolationMode, kPaddingMode, kAlignCorners, kOutputMask };

constexpr int64_t kBicubic = 2;
constexpr DtypeSet kFloats = kFloatHalfAndBf16 | kDouble;
constexpr DtypeRule kDtypes =
    Everywhere(kFloats).On(ProductSet{Product::kAtlasInference}, kFloats.Without(kBf16));

// The tensors of a function, and whether it samples volumes.
struct Form {
  int input;
  int grid;
  int output;
  bool is_volume;

  constexpr int Rank() const { return is_volume ? 5 : 4; }
};
constexpr Form kImages{kInput, kGrid, kOut, false};
constexpr Form kVolumes{kInput, kGrid, kOut, true};
constexpr Form kImagesGradient{kGradInput, kGradGrid, kGradOutput, false};
constexpr Form kVolumesGradient{kGradInput, kGradGrid, kGradOutput, true};

template <const Form& kForm>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kForm.input).shape;
  const Shape& grid = call.Tensor(kForm.grid).shape;
  const auto refuse = [&](int tensor, const char* why) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(why));
  };
  if (grid[0] != input[0])
    return refuse(kForm.grid, kForm.is_volume
                                  ? " has another number of volumes than input, accepted: that one."
                                  : " has another number of images than input, accepted: that one.");
  call.broadcast = input;
  for (int dim = 2; dim < kForm.Rank(); ++dim) call.broadcast.dim[dim] = grid[dim - 1];
  if (!(call.Tensor(kForm.output).shape == call.broadcast))
    return RefuseShape(check, call, kForm.output, call.broadcast);
  for (int dim = 2; dim < kForm.Rank(); ++dim) {
    if (input[dim] != 0) continue;
    return refuse(kForm.input, kForm.is_volume ? " has no planes, rows or columns, accepted: at least 1 each."
                                               : " has no rows or columns, accepted: at least 1 each.");
  }
  if (grid[kForm.Rank() - 1] == kForm.Rank() - 2) return ACL_SUCCESS;
  return refuse(kForm.grid, kForm.is_volume ? " does not have three coordinates, accepted: 3 in its last dim."
                                            : " does not have two coordinates, accepted: 2 in its last dim.");
}

// CANN has no bicubic kernel for DOUBLE.
aclnnStatus NoBicubicDouble(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(0).dtype != ACL_DOUBLE) return ACL_SUCCESS;
  return FailAclnn(
      check.code,
      StartMessage(call).Add("parameter interpolationMode is 2 (bicubic) for DOUBLE, accepted: 0 or 1."));
}
aclnnStatus NoBicubic(const Check& check, OperatorCall& call) noexcept {
  return RefuseInteger(check, call, "interpolationMode", kBicubic, 0, 1);
}

constexpr Check kChecks[] = {
    NotNull(kInput),  // in CANN's order
    NotNull(kGrid),
    NotNull(kOut),
    DtypesIn(kDtypes, {kInput}),
    SameDtype(kInput, kGrid),
    SameDtype(kInput, kOut),
    IntegerIn(kInterpolationMode, 0, kBicubic),
    IntegerIn(kPaddingMode, 0, 2),
    IfEqual(kInterpolationMode, kBicubic, Custom(NoBicubicDouble)),
    OnProducts(products::kBeforeAtlasA2, IfEqual(kInterpolationMode, kBicubic, Custom(NoBicubic))),
    RankIs(4, {kInput, kGrid, kOut}),
    Custom(ShapesFit<kImages>),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kInput, kGrid}),
    InsideStorage({kInput, kGrid}),
};

constexpr Check kVolumeChecks[] = {
    NotNull(kInput),
    NotNull(kGrid),
    NotNull(kOut),
    DtypesIn(kDtypes, {kInput}),
    SameDtype(kInput, kGrid),
    SameDtype(kInput, kOut),
    IntegerIn(kInterpolationMode, 0, 1),
    IntegerIn(kPaddingMode, 0, 2),
    RankIs(5, {kInput, kGrid, kOut}),
    Custom(ShapesFit<kVolumes>),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kInput, kGrid}),
    InsideStorage({kInput, kGrid}),
};

// ---- gradients ----

template <int kTensor>
bool IsWanted(const OperatorCall& call) noexcept {
  return (call.attributes[kOutputMask].integer >> (kTensor - kInputGrad) & 1) != 0;
}

aclnnStatus MaskIsThere(const Check&, OperatorCall& call) noexcept {
  if (call.attributes[kOutputMask].real == 2.0f) return ACL_SUCCESS;
  const bool is_null = call.attributes[kOutputMask].real < 0.0f;
  Text message = StartMessage(call);
  message.Add("parameter outputMask ");
  return FailAclnn(
      is_null ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID,
      message.Add(is_null ? "is a null pointer" : "has not 2 values").Add(", accepted: 2 values."));
}

// Selects the work of operands without elements: gradients of no points are 0.
aclnnStatus NothingToSum(const Check&, OperatorCall& call) noexcept {
  if (!IsWanted<kInputGrad>(call) && !IsWanted<kGridGrad>(call)) {
    call.work = OperatorCall::Work::kNothing;
  } else if (call.Tensor(kGradOutput).shape.IsEmpty()) {
    const bool has_input = IsWanted<kInputGrad>(call) && !call.Tensor(kGradInput).shape.IsEmpty();
    const bool has_grid = IsWanted<kGridGrad>(call) && !call.Tensor(kGradGrid).shape.IsEmpty();
    call.work = has_input || has_grid ? OperatorCall::Work::kNoTerms : OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

template <const Form& kForm>
constexpr auto GradientChecks() {
  constexpr int kRank = kForm.Rank();
  return Join(
      List(NotNull(kGradOutput), NotNull(kGradInput), NotNull(kGradGrid), Custom(MaskIsThere),
           If(IsWanted<kInputGrad>, NotNull(kInputGrad)), If(IsWanted<kGridGrad>, NotNull(kGridGrad)),
           DtypesIn(kDtypes, {kGradOutput}), SameDtype(kGradOutput, kGradInput),
           SameDtype(kGradOutput, kGradGrid), If(IsWanted<kInputGrad>, SameDtype(kGradOutput, kInputGrad)),
           If(IsWanted<kGridGrad>, SameDtype(kGradOutput, kGridGrad)),
           IntegerIn(kInterpolationMode, 0, kForm.is_volume ? 1 : kBicubic), IntegerIn(kPaddingMode, 0, 2),
           IfEqual(kInterpolationMode, kBicubic, Custom(NoBicubicDouble)),
           OnProducts(products::kBeforeAtlasA2, IfEqual(kInterpolationMode, kBicubic, Custom(NoBicubic))),
           RankIs(kRank, {kGradOutput, kGradInput, kGradGrid}), Custom(ShapesFit<kForm>),
           If(IsWanted<kInputGrad>, SameShape(kGradInput, kInputGrad)),
           If(IsWanted<kGridGrad>, SameShape(kGradGrid, kGridGrad)),
           SizesRepresentable({kGradOutput, kGradInput, kGradGrid, kInputGrad, kGridGrad}),
           Custom(NothingToSum), InsideStorage({kGradOutput, kGradInput, kGradGrid})));
}
constexpr auto kImagesGradientChecks = GradientChecks<kImagesGradient>();
constexpr auto kVolumesGradientChecks = GradientChecks<kVolumesGradient>();

// ---- jobs ----

engine::GridRules RulesOf(const OperatorCall& call) {
  constexpr engine::GridFilter kFilters[] = {engine::GridFilter::kLinear, engine::GridFilter::kNearest,
                                             engine::GridFilter::kCubic};
  constexpr engine::GridEdge kEdges[] = {engine::GridEdge::kZero, engine::GridEdge::kBorder,
                                         engine::GridEdge::kReflection};
  return {kFilters[call.attributes[kInterpolationMode].integer],
          kEdges[call.attributes[kPaddingMode].integer], call.attributes[kAlignCorners].integer != 0};
}

void SetSampling(const OperatorCall& call, Executor& executor) {
  const StridedView input = PlainView(call.Tensor(kInput));
  const StridedView grid = PlainView(call.Tensor(kGrid));
  const StridedView out = PlainView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeGridJob({&input, kInput, &grid, kGrid, &out, kOut}, RulesOf(call), call.isa,
                               call.threads);
  });
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  if (call.work == OperatorCall::Work::kNoTerms) {
    int tensors[2];
    int count = 0;
    if (IsWanted<kInputGrad>(call) && !call.Tensor(kInputGrad).shape.IsEmpty()) tensors[count++] = kInputGrad;
    if (IsWanted<kGridGrad>(call) && !call.Tensor(kGridGrad).shape.IsEmpty()) tensors[count++] = kGridGrad;
    return SetZeroJob(call, tensors, count, executor);
  }
  const StridedView output = PlainView(call.Tensor(kGradOutput));
  const StridedView input = PlainView(call.Tensor(kGradInput));
  const StridedView grid = PlainView(call.Tensor(kGradGrid));
  StridedView input_gradient;
  StridedView grid_gradient;
  engine::GridGradients gradients{nullptr, kInputGrad, nullptr, kGridGrad};
  if (IsWanted<kInputGrad>(call)) {
    input_gradient = PlainView(call.Tensor(kInputGrad));
    gradients.input = &input_gradient;
  }
  if (IsWanted<kGridGrad>(call)) {
    grid_gradient = PlainView(call.Tensor(kGridGrad));
    gradients.grid = &grid_gradient;
  }
  executor.SetJob([&] {
    return engine::MakeGridGradientJob({&input, kGradInput, &grid, kGradGrid, &output, kGradOutput},
                                       gradients, RulesOf(call), call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGridSampler2D) { return RunPhase1(call, kChecks, workspaceSize, executor, SetSampling); }

PORTACL_PHASE_1(aclnnGridSampler3D) {
  return RunPhase1(call, kVolumeChecks, workspaceSize, executor, SetSampling);
}

PORTACL_PHASE_1(aclnnGridSampler2DBackward) {
  return RunPhase1(call, kImagesGradientChecks, workspaceSize, executor, SetGradients);
}

PORTACL_PHASE_1(aclnnGridSampler3DBackward) {
  return RunPhase1(call, kVolumesGradientChecks, workspaceSize, executor, SetGradients);
}
