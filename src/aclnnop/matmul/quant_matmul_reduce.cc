// aclnnQuantMatmulReduceSumWeightNz: the sum of products of a batch of INT8 matrices, each scaled.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_reduce_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "contract/arguments.h"
#include "engine/gemm/block_scaled.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace dense;
using engine::BlockScaledProduct;

enum Tensors { kX1, kX2, kX1Scale, kX2Scale, kYScale, kX1Offset, kX2Offset, kYOffset, kBias, kOut };
enum Attributes { kTranspose1, kTranspose2, kGroupSize, kDims, kKeepsDim };

constexpr DtypeRule kBytes = ByGeneration({}, DtypeSet(ACL_INT8), {});
constexpr DtypeRule kFloats = ByGeneration({}, DtypeSet(ACL_FLOAT), {});
constexpr DtypeRule kBfloats = ByGeneration({}, kBf16, {});

aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kYScale, kX1Offset, kX2Offset, kYOffset, kBias})
    checks.Holds(!call.IsGiven(tensor), tensor, "a null pointer");
  for (const int attribute : {kTranspose1, kTranspose2, kGroupSize, kKeepsDim})
    checks.HoldsOf(Integer(call, attribute) == 0, attribute, "0 or false");
  const aclIntArray* const dims = call.attributes[kDims].array;
  const bool is_first = dims != nullptr && dims->values.size() == 1 && dims->values[0] == 0;
  return checks.HoldsOf(is_first, kDims, "[0]").status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 3, 3).Rank(kX2, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  checks.Holds(!call.Tensor(kX1).shape.IsEmpty(), kX1, "a tensor with elements");
  checks.Holds(!call.Tensor(kX2).shape.IsEmpty(), kX2, "a tensor with elements");
  checks.Is(kX2, Shape{left[0], left[2], right[2]});
  checks.Holds(call.Tensor(kX2).format == ACL_FORMAT_FRACTAL_NZ, kX2, "the format FRACTAL_NZ");
  checks.Is(kX1Scale, Shape{left[0], left[1]}).Is(kX2Scale, Shape{right[2]});
  return checks.Is(kOut, Shape{left[1], right[2]}).status();
}

constexpr Check kChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kX1Scale),
    NotNull(kX2Scale),
    NotNull(kOut),
    DtypesIn(kBytes, {kX1, kX2}),
    DtypesIn(kFloats, {kX1Scale}),
    DtypesIn(kBfloats, {kX2Scale, kOut}),
    Custom(HasNoMore),
    Custom(ShapesFit),
    SizesRepresentable({kOut}),
    matmul::FractalInsideStorage({kX2}),
    matmul::MatricesInsideStorage({kX1, kX2}),
    matmul::MatricesInsideStorage({kX1Scale, kX2Scale}),
};

// Views a tensor as its strides say, with other dims in front.
template <size_t kRank>
StridedView Turned(const OperatorCall& call, int tensor, const int (&order)[kRank]) {
  StridedView view = call.Tensor(tensor);
  view.is_dense = false;
  view.Describe();
  Permute(view, order);
  return view;
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& left = call.Tensor(kX1).shape;
  BlockScaledProduct job;
  job.rows = left[1];
  job.columns = call.Tensor(kX2).shape[2];
  job.terms = left[0] * left[2];
  job.term_block = left[2];
  job.column_block = 1;
  job.repeats_columns = true;
  job.left = ops.InView(kX1, Turned(call, kX1, {1, 0, 2}));
  job.right = ops.InView(kX2, Turned(call, kX2, {2, 0, 1}));
  job.row_scale = ops.InView(kX1Scale, Turned(call, kX1Scale, {1, 0}));
  job.column_scale = ops.In(kX2Scale, ACL_FLOAT);
  job.out = ops.Out(kOut);
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {job.left, job.right, job.row_scale, job.column_scale, job.out}, job.rows * job.columns);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTNEXTLINE(readability-identifier-naming): the name is CANN's
PORTACL_PHASE_1(aclnnQuantMatmulReduceSumWeightNz) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
