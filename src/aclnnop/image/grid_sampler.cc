// aclnnGridSampler2D: samples images at the positions that a grid gives.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/grid_sampler_functions.h"

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/grid.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kInput, kGrid, kOut };
enum Attributes { kInterpolationMode, kPaddingMode, kAlignCorners };

constexpr int64_t kBicubic = 2;
constexpr DtypeSet kFloats = kFloatHalfAndBf16 | kDouble;
constexpr DtypeRule kDtypes =
    Everywhere(kFloats).On(ProductSet{Product::kAtlasInference}, kFloats.Without(kBf16));

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kInput).shape;
  const Shape& grid = call.Tensor(kGrid).shape;
  const auto refuse = [&](int tensor, const char* why) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(why));
  };
  if (grid[0] != input[0])
    return refuse(kGrid, " has another number of images than input, accepted: that one.");
  call.broadcast = Shape{input[0], input[1], grid[1], grid[2]};
  if (!(call.Tensor(kOut).shape == call.broadcast)) return RefuseShape(check, call, kOut, call.broadcast);
  if (input[2] == 0 || input[3] == 0)
    return refuse(kInput, " has no rows or columns, accepted: at least 1 each.");
  if (grid[3] != 2) return refuse(kGrid, " does not have two coordinates, accepted: 2 in its last dim.");
  return ACL_SUCCESS;
}

// CANN has no bicubic kernel for DOUBLE.
aclnnStatus NoBicubicDouble(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kInput).dtype != ACL_DOUBLE) return ACL_SUCCESS;
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
    Custom(ShapesFit),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kInput, kGrid}),
    InsideStorage({kInput, kGrid}),
};

void SetSampling(const OperatorCall& call, Executor& executor) {
  constexpr engine::GridFilter kFilters[] = {engine::GridFilter::kLinear, engine::GridFilter::kNearest,
                                             engine::GridFilter::kCubic};
  constexpr engine::GridEdge kEdges[] = {engine::GridEdge::kZero, engine::GridEdge::kBorder,
                                         engine::GridEdge::kReflection};
  const StridedView input = PlainView(call.Tensor(kInput));
  const StridedView grid = PlainView(call.Tensor(kGrid));
  const StridedView out = PlainView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeGridJob({&input, kInput, &grid, kGrid, &out, kOut},
                               kFilters[call.attributes[kInterpolationMode].integer],
                               kEdges[call.attributes[kPaddingMode].integer],
                               call.attributes[kAlignCorners].integer != 0, call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGridSampler2D) { return RunPhase1(call, kChecks, workspaceSize, executor, SetSampling); }
