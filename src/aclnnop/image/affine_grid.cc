// aclnnAffineGrid: the grid by which an affine map samples images or volumes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/affine_grid_functions.h"

#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/affine.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kTheta, kOut };
enum Attributes { kSize, kAlignCorners };

constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;

aclnnStatus ThetaIsNotEmpty(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kTheta).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kTheta);
  return FailAclnn(check.code, message.Add(" is empty, accepted: at least one map."));
}

// Two axes follow from four sizes, three from five.
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const auto& size = call.Array(kSize);
  if (size.size() != 4 && size.size() != 5)
    return RefuseArray(check, call, kSize, " has another number of values",
                       "4 values (N, C, H, W) or 5 (N, C, D, H, W)");
  const auto axes = static_cast<int>(size.size()) - 2;
  const Shape maps{size[0], axes, axes + 1};
  if (!(call.Tensor(kTheta).shape == maps)) return RefuseShape(check, call, kTheta, maps);
  call.broadcast.rank = axes + 2;
  call.broadcast.dim[0] = size[0];
  for (int axis = 0; axis < axes; ++axis) call.broadcast.dim[1 + axis] = size[2 + static_cast<size_t>(axis)];
  call.broadcast.dim[axes + 1] = axes;
  return call.Tensor(kOut).shape == call.broadcast ? ACL_SUCCESS
                                                   : RefuseShape(check, call, kOut, call.broadcast);
}

constexpr Check kChecks[] = {
    NotNull(kTheta),  // in CANN's order
    ArrayNotNull(kSize),     NotNull(kOut),     DtypesIn(kDtypes, {kTheta}), SameDtype(kTheta, kOut),
    Custom(ThetaIsNotEmpty), Custom(ShapesFit), SizesRepresentable({kOut}),  DoneIfEmpty({kOut}),
    InsideStorage({kTheta}),
};

void SetGrid(const OperatorCall& call, Executor& executor) {
  const StridedView theta = PlainView(call.Tensor(kTheta));
  const StridedView out = PlainView(call.Tensor(kOut));
  executor.SetJob([&] {
    return engine::MakeAffineJob(theta, kTheta, out, kOut, call.attributes[kAlignCorners].integer != 0,
                                 call.isa, call.threads);
  });
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAffineGrid) { return RunPhase1(call, kChecks, workspaceSize, executor, SetGrid); }
