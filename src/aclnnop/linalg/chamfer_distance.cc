// aclnnChamferDistanceBackward: the gradients of the chamfer distance of two sets of points in the plane.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/linalg/chamfer_distance_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/route/chamfer.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors {
  kPoints1,
  kPoints2,
  kNearest1,
  kNearest2,
  kGradDistance1,
  kGradDistance2,
  kGradPoints1,
  kGradPoints2
};

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kPoints1, 3, 3).Rank(kPoints2, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& first = call.Tensor(kPoints1).shape;
  const Shape& second = call.Tensor(kPoints2).shape;
  checks.Is(kPoints1, Shape{first[0], first[1], 2}).Is(kPoints2, Shape{first[0], second[1], 2});
  for (const int tensor : {kNearest1, kGradDistance1}) checks.Is(tensor, Shape{first[0], first[1]});
  for (const int tensor : {kNearest2, kGradDistance2}) checks.Is(tensor, Shape{first[0], second[1]});
  return checks.Is(kGradPoints1, first).Is(kGradPoints2, second).status();
}

constexpr auto kChecks =
    Join(List(NotNull(kPoints1), NotNull(kPoints2), NotNull(kNearest1), NotNull(kNearest2),
              NotNull(kGradDistance1), NotNull(kGradDistance2), NotNull(kGradPoints1), NotNull(kGradPoints2)),
         List(DtypesIn(kFloatAndHalf, {kPoints1}), SameDtype(kPoints1, kPoints2),
              DtypesIn(kInt32, {kNearest1, kNearest2}), SameDtype(kPoints1, kGradDistance1),
              SameDtype(kPoints1, kGradDistance2), SameDtype(kPoints1, kGradPoints1),
              SameDtype(kPoints1, kGradPoints2), Custom(Fits)),
         List(SizesRepresentable({kGradPoints1, kGradPoints2}), DoneIfEmpty({kPoints1, kPoints2}),
              InsideStorage({kPoints1, kPoints2, kNearest1, kNearest2}),
              InsideStorage({kGradDistance1, kGradDistance2})));

void SetGradients(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::ChamferGradients gradients{};
  for (int set = 0; set < 2; ++set) {
    engine::PointSet& points = gradients.sets[set];
    points.points = ops.In(kPoints1 + set, ACL_FLOAT);
    points.nearest = ops.In(kNearest1 + set);
    points.distance = ops.In(kGradDistance1 + set, ACL_FLOAT);
    points.gradient = ops.Out(kGradPoints1 + set, ACL_FLOAT);
    points.count = call.Tensor(kPoints1 + set).shape[1];
    points.name = call.Name(kNearest1 + set);
  }
  gradients.batches = call.Tensor(kPoints1).shape[0];
  gradients.raises = ops.Raises();
  gradients.threads = ops.threads();
  const engine::PointSet& a = gradients.sets[0];
  const engine::PointSet& b = gradients.sets[1];
  ops.Compute(gradients,
              {a.points, a.nearest, a.distance, a.gradient, b.points, b.nearest, b.distance, b.gradient},
              call.Tensor(kPoints1).numel + call.Tensor(kPoints2).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnChamferDistanceBackward) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetGradients);
}
