// Products of INT8 whose blocks of 128 terms and columns have scales (see quant_matmul_blocks.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_blocks.h"

#include "acl/device/device.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "engine/gemm/block_scaled.h"
#include "plan/views.h"

namespace portacl::matmul {
namespace {

using dense::DenseOpList;
using dense::ShapeChecks;
using engine::BlockScaledProduct;

// As aclnnQuantMatmulV5 passes them.
enum Tensors { kX1, kX2, kScale, kOffset, kPertoken, kBias, kYScale, kX1Offset, kYOffset, kOut };
enum Attributes { kTranspose1, kTranspose2, kGroupSize };

constexpr int64_t kBlock = BlockScaledProduct::kBlock;
constexpr DtypeRule kBytes = SinceAtlasA2(DtypeSet(ACL_INT8));
constexpr DtypeRule kFloats = SinceAtlasA2(DtypeSet(ACL_FLOAT));
constexpr DtypeRule kOuts = SinceAtlasA2(DtypeSet(ACL_BF16));

int64_t QuotientUp(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
bool IsSwapped(const OperatorCall& call, bool is_left) {
  return dense::Integer(call, is_left ? kTranspose1 : kTranspose2) != 0;
}

// Views a tensor of two dims as its strides say, with its dims swapped where its matrix is.
StridedView MatrixOf(const OperatorCall& call, int tensor, bool swaps) {
  StridedView view = call.Tensor(tensor);
  view.is_dense = false;
  if (swaps) {
    std::swap(view.shape.dim[0], view.shape.dim[1]);
    std::swap(view.strides.dim[0], view.strides.dim[1]);
  }
  view.Describe();
  return view;
}

aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kOffset, kYScale, kX1Offset, kYOffset})
    checks.Holds(!call.IsGiven(tensor) || call.Tensor(tensor).shape.IsEmpty(), tensor,
                 "a null pointer or no elements beside scales of blocks");
  return checks.status();
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1, kX2, kScale, kPertoken, kOut}) checks.Rank(tensor, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape left = MatrixOf(call, kX1, IsSwapped(call, true)).shape;
  const Shape right = MatrixOf(call, kX2, IsSwapped(call, false)).shape;
  checks.Holds(left[1] == right[0], kX2, "as many terms as x1 has");
  const bool is_950 = products::kAscend950.Contains(call.product);
  checks.Holds(left[1] > 0 && (is_950 || left[1] % (4 * kBlock) == 0), kX1,
               "terms, before Ascend 950 a multiple of 512");
  checks.Holds(is_950 || right[1] % (2 * kBlock) == 0, kX2, "before Ascend 950 a multiple of 256 columns");
  const bool is_across = IsSwapped(call, false) != IsTransposed(MatrixOf(call, kX2, false));
  checks.Holds(is_950 || is_across, kX2, "before Ascend 950 a transposed matrix");
  const int64_t blocks = QuotientUp(left[1], kBlock);
  checks.Holds(MatrixOf(call, kPertoken, IsSwapped(call, true)).shape == Shape{left[0], blocks}, kPertoken,
               "a number for each row and block of 128 terms");
  checks.Holds(
      MatrixOf(call, kScale, IsSwapped(call, false)).shape == Shape{blocks, QuotientUp(right[1], kBlock)},
      kScale, "a number for each block of 128 terms and 128 columns");
  if (call.IsGiven(kBias)) checks.Is(kBias, Shape{right[1]});
  return checks.Is(kOut, Shape{left[0], right[1]}).status();
}

// Accepts groups of one row, 128 columns and 128 terms. 0 means the size that follows from the scales' shape. Then the
// length must be a multiple of 128.
aclnnStatus GroupFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t group = dense::Integer(call, kGroupSize);
  const int64_t of_terms = group & 0xFFFF;
  const int64_t of_columns = group >> 16 & 0xFFFF;
  const int64_t of_rows = group >> 32;
  const Shape right = MatrixOf(call, kX2, IsSwapped(call, false)).shape;
  const auto is_block = [](int64_t given, int64_t length) {
    return given == 0 ? length % kBlock == 0 : given == kBlock;
  };
  const bool fits =
      is_block(of_terms, right[0]) && is_block(of_columns, right[1]) && (of_rows == 0 || of_rows == 1);
  return ShapeChecks(check, call)
      .HoldsOf(fits, kGroupSize,
               "groups of one row, 128 columns and 128 terms, 0 where whole blocks have them")
      .status();
}
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1, kX2, kScale, kPertoken, kBias, kOut}) {
    if (!call.IsGiven(tensor)) continue;
    const aclFormat format = call.Tensor(tensor).format;
    const bool is_fractal = format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_FRACTAL_NZ_C0_32;
    checks.Holds(!IsPrivateFormat(format) || (tensor == kX2 && is_fractal), tensor,
                 "no private format, but FRACTAL_NZ and FRACTAL_NZ_C0_32 of x2");
  }
  return checks.status();
}
aclnnStatus IsFractal(const Check& check, OperatorCall& call) noexcept {
  const bool is_fractal = call.Tensor(kX2).format == ACL_FORMAT_FRACTAL_NZ;
  return ShapeChecks(check, call).Holds(is_fractal, kX2, "the format FRACTAL_NZ").status();
}

// Gives kCodeOfMore for a tensor that does not go with scales of blocks.
template <aclnnStatus kCodeOfMore>
constexpr auto kChecksWith = List(DtypesIn(kBytes, {kX1, kX2}), DtypesIn(kFloats, {kScale}),
                                  DtypesIn(kOuts, {kOut}), DtypesIn(kFloats, {kPertoken}),
                                  dense::IfGiven<kBias>(DtypesIn(kFloats, {kBias})),
                                  Custom(HasNoMore, kCodeOfMore), Custom(ShapesFit), Custom(FormatsFit),
                                  Custom(GroupFits), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
                                  FractalInsideStorage({kX2}), MatricesInsideStorage({kX1, kX2}),
                                  MatricesInsideStorage({kScale, kPertoken}), MatricesInsideStorage({kBias}));
constexpr auto kChecks = kChecksWith<ACLNN_ERR_PARAM_NULLPTR>;
constexpr auto kFractalChecks = Join(List(Custom(IsFractal)), kChecksWith<ACLNN_ERR_PARAM_INVALID>);

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const StridedView left = MatrixOf(call, kX1, IsSwapped(call, true));
  // Terms are contiguous in both operands.
  const StridedView right = MatrixOf(call, kX2, !IsSwapped(call, false));
  BlockScaledProduct job;
  job.rows = left.shape[0];
  job.terms = left.shape[1];
  job.columns = right.shape[0];
  job.left = ops.InView(kX1, left);
  job.right = ops.InView(kX2, right);
  job.row_scale = ops.InView(kPertoken, MatrixOf(call, kPertoken, IsSwapped(call, true)));
  job.column_scale = ops.InView(kScale, MatrixOf(call, kScale, !IsSwapped(call, false)));
  job.has_bias = call.IsGiven(kBias);
  if (job.has_bias) job.bias = ops.In(kBias);
  job.out = ops.Out(kOut);
  job.dtype = call.Tensor(kOut).dtype;
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(
      job, {job.left, job.right, job.row_scale, job.column_scale, job.has_bias ? job.bias : job.out, job.out},
      job.rows * job.columns);
  ops.SetJob();
}

}  // namespace

bool IsBlockScaled(const OperatorCall& call) noexcept {
  for (const int tensor : {kX1, kX2, kScale, kPertoken, kOut}) {
    if (!call.IsGiven(tensor)) return false;
  }
  return products::kSinceAtlasA2.Contains(CurrentProduct()) && call.Tensor(kX1).dtype == ACL_INT8 &&
         call.Tensor(kX2).dtype == ACL_INT8 && call.Tensor(kScale).shape.rank >= 2 &&
         call.Tensor(kPertoken).shape.rank >= 2;
}

aclnnStatus RunBlockScaled(OperatorCall& call, bool is_fractal, uint64_t* workspaceSize,
                           aclOpExecutor** executor) noexcept {
  if (is_fractal) return dense::RunOpList(call, kFractalChecks, workspaceSize, executor, SetProduct);
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}

}  // namespace portacl::matmul
