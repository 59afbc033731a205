// aclnnExpSegsum and aclnnExpSegsumBackward: exponentials of the sums of all segments of vectors, and their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/exp_segsum_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/serve/segment_sums.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kSelf, kOut };
enum GradientTensors { kGrad, kResult, kGradInput };

constexpr int kMostDims = 7;  // of vectors; their matrices have one more

// Returns the shape of the matrices of vectors.
Shape MatricesOf(const Shape& vectors) {
  Shape shape = vectors;
  shape.dim[shape.rank++] = vectors[vectors.rank - 1];
  return shape;
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kSelf, 1, kMostDims);
  if (!checks.Passed()) return checks.status();
  return checks.Is(kOut, MatricesOf(call.Tensor(kSelf).shape)).status();
}
aclnnStatus GradientFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kGradInput, 1, kMostDims);
  if (!checks.Passed()) return checks.status();
  const Shape matrices = MatricesOf(call.Tensor(kGradInput).shape);
  return checks.Is(kGrad, matrices).Is(kResult, matrices).status();
}

constexpr auto kChecks =
    List(NotNull(kSelf), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf}), SameDtype(kSelf, kOut),
         Custom(Fits), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}), InsideStorage({kSelf}));
constexpr auto kGradientChecks =
    List(NotNull(kGrad), NotNull(kResult), NotNull(kGradInput), DtypesIn(kBf16SinceAtlasA2, {kGrad}),
         SameDtype(kGrad, kResult), SameDtype(kGrad, kGradInput), Custom(GradientFits),
         SizesRepresentable({kGradInput}), DoneIfEmpty({kGrad}), InsideStorage({kGrad, kResult}));

int64_t LengthOf(const OperatorCall& call, int vectors) {
  const Shape& shape = call.Tensor(vectors).shape;
  return shape[shape.rank - 1];
}

void SetSums(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::SumSegments sums{};
  sums.from = ops.Rows(kSelf);
  sums.to = ops.RowsOut(kOut);
  sums.length = LengthOf(call, kSelf);
  sums.vectors = call.Tensor(kSelf).numel / sums.length;
  sums.exponentials = engine::ExponentialsOf(ops.isa());
  sums.threads = ops.threads();
  ops.Compute(sums, {sums.from.buffer, sums.to.buffer}, call.Tensor(kOut).numel);
  ops.SetJob();
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::SegmentGradients gradients{};
  gradients.gradient = ops.Rows(kGrad);
  gradients.result = ops.Rows(kResult);
  gradients.to = ops.RowsOut(kGradInput);
  gradients.sums = ops.Words(call.Tensor(kGradInput).numel);
  gradients.length = LengthOf(call, kGradInput);
  gradients.vectors = call.Tensor(kGradInput).numel / gradients.length;
  gradients.threads = ops.threads();
  ops.Compute(gradients, {gradients.gradient.buffer, gradients.result.buffer, gradients.to.buffer},
              call.Tensor(kGrad).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnExpSegsum) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetSums); }

PORTACL_PHASE_1(aclnnExpSegsumBackward) {
  return dense::RunOpList(call, kGradientChecks, workspaceSize, executor, SetGradients);
}
