// aclnnQuantBatchMatmulInplaceAdd and aclnnQuantGroupedMatmulInplaceAdd: add products of 8-bit floats, the left
// operand of which is transposed, to a tensor; the latter of groups of terms, each to a matrix of its own.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_inplace_functions.h"

#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/matrix_product.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace dense;
using namespace matmul;
using engine::CodeProduct;

constexpr DtypeRule kCodesOn950 = ByGeneration({}, {}, kFloat8Codes | kHifloat8);
constexpr int64_t kMxGroup = int64_t{1} << 32 | int64_t{1} << 16 | kMxTerms;

// The tensors whose types go together.
struct Positions {
  int x1, x2, scale1, scale2, y;
};
aclnnStatus TypesFitAt(const Check& check, const OperatorCall& call, const Positions& at) {
  ShapeChecks checks(check, call);
  const bool is_hifloat = call.Tensor(at.x1).dtype == ACL_HIFLOAT8;
  checks.Holds((is_hifloat ? kHifloat8 : kFloat8Codes).Contains(call.Tensor(at.x2).dtype), at.x2,
               "HIFLOAT8 with x1 of that, else FLOAT8_E4M3FN or FLOAT8_E5M2");
  for (const int tensor : {at.scale1, at.scale2}) {
    checks.Given(tensor, "of scales");
    if (checks.Passed())
      checks.Holds((is_hifloat ? kScaleFloats : kScalePowers).Contains(call.Tensor(tensor).dtype), tensor,
                   "FLOAT beside HIFLOAT8, else FLOAT8_E8M0");
  }
  return checks.Holds(call.Tensor(at.y).dtype == ACL_FLOAT, at.y, "FLOAT").status();
}
// x1 is the second tensor of both calls.
bool IsHifloat(const OperatorCall& call) { return call.Tensor(1).dtype == ACL_HIFLOAT8; }

// ---- QuantBatchMatmulInplaceAdd ----

enum Tensors { kY, kX1, kX2, kX1Scale, kX2Scale };
enum Attributes { kTranspose1, kTranspose2, kGroupSize };
constexpr Positions kPositions{kX1, kX2, kX1Scale, kX2Scale, kY};

aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  return TypesFitAt(check, call, kPositions);
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kTranspose1, 1, 1).Integer(kTranspose2, 0, 0);
  for (const int tensor : {kX1, kX2, kY}) checks.Rank(tensor, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  const int64_t terms = left[0];
  checks.Holds(terms > 0, kX1, "at least one term");
  checks.Holds(right[0] == terms, kX2, "as many terms as x1 has");
  checks.Is(kY, Shape{left[1], right[1]});
  const int64_t pairs = BlocksIn(terms, kPairTerms);
  const bool is_hifloat = IsHifloat(call);
  checks.Is(kX1Scale, is_hifloat ? Shape{1} : Shape{pairs, left[1], 2});
  checks.Is(kX2Scale, is_hifloat ? Shape{1} : Shape{pairs, right[1], 2});
  const int64_t group = Integer(call, kGroupSize);
  return checks
      .HoldsOf(group == 0 || (!is_hifloat && group == kMxGroup), kGroupSize,
               "0, beside powers of two also groups of 1, 1 and 32")
      .status();
}

constexpr auto kChecks = List(NotNull(kX1), NotNull(kX2), NotNull(kX1Scale), NotNull(kX2Scale), NotNull(kY),
                              DtypesIn(kCodesOn950, {kX1}), Custom(TypesFit), Custom(ShapesFit),
                              SizesRepresentable({kY}), DoneIfEmpty({kY}), MatricesInsideStorage({kX1, kX2}),
                              MatricesInsideStorage({kX1Scale, kX2Scale}), InsideStorage({kY}));

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const StridedView left = LinesOf(call, kX1, true);
  const StridedView right = LinesOf(call, kX2, true);
  CodeProduct job;
  job.rows = left.shape[0];
  job.terms = left.shape[1];
  job.columns = right.shape[0];
  job.left = CodesFrom(ops, kX1, left);
  job.right = CodesFrom(ops, kX2, right);
  job.out = ops.Out(kY, ACL_DT_UNDEFINED, true);
  job.dtype = ACL_FLOAT;
  job.out_row_step = job.columns;
  job.adds_to_out = true;
  if (IsHifloat(call)) {
    job.column_factor = NumbersFrom(ops, call, kX2Scale);
    job.row_factor = NumbersFrom(ops, call, kX1Scale);
  } else {
    job.block = kMxTerms;
    job.left_scale = PairsFrom(ops, kX1Scale, OrderedView(call, kX1Scale, {1, 0, 2}));
    job.right_scale = PairsFrom(ops, kX2Scale, OrderedView(call, kX2Scale, {1, 0, 2}));
  }
  AddProduct(ops, job);
  ops.SetJob();
}

// ---- QuantGroupedMatmulInplaceAdd ----

enum GroupedTensors { kTo, kLeft, kRight, kLeftScale, kRightScale, kGroups };
enum GroupedAttributes { kListType, kOwnGroupSize };
constexpr Positions kGroupedPositions{kLeft, kRight, kLeftScale, kRightScale, kTo};

aclnnStatus GroupedTypesFit(const Check& check, OperatorCall& call) noexcept {
  return TypesFitAt(check, call, kGroupedPositions);
}
aclnnStatus GroupedShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kListType, 0, 1).Integer(kOwnGroupSize, 0, 0);
  checks.Rank(kLeft, 2, 2).Rank(kRight, 2, 2).Rank(kGroups, 1, 1).Rank(kTo, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kLeft).shape;
  const Shape& right = call.Tensor(kRight).shape;
  const int64_t groups = call.Tensor(kGroups).shape[0];
  const int64_t terms = left[1];
  checks.Holds(left[0] == 1 || terms == 1 || call.Tensor(kLeft).strides[0] == 1, kLeft,
               "a transposed matrix");
  checks.Holds(right[0] == terms, kRight, "as many terms as x1 has");
  checks.Is(kTo, Shape{groups, left[0], right[1]});
  if (IsHifloat(call)) {
    const auto is_of_groups = [&](int tensor) {
      const Shape& shape = call.Tensor(tensor).shape;
      return shape == Shape{groups} || shape == Shape{groups, 1};
    };
    checks.Holds(is_of_groups(kLeftScale), kLeftScale, "a number for each group");
    checks.Holds(is_of_groups(kRightScale) || call.Tensor(kRightScale).shape == Shape{groups, right[1]},
                 kRightScale, "a number for each group, or for each of its columns");
    return checks.status();
  }
  const int64_t pairs = terms / kPairTerms + groups;
  return checks.Is(kLeftScale, Shape{pairs, left[0], 2}).Is(kRightScale, Shape{pairs, right[1], 2}).status();
}

constexpr auto kGroupedChecks =
    List(NotNull(kLeft), NotNull(kRight), NotNull(kRightScale), NotNull(kGroups), NotNull(kTo),
         DtypesIn(kCodesOn950, {kLeft}), Custom(GroupedTypesFit), DtypesIn(kInt64, {kGroups}),
         Custom(GroupedShapesFit), SizesRepresentable({kTo}), DoneIfEmpty({kTo}),
         MatricesInsideStorage({kLeft, kRight}), MatricesInsideStorage({kLeftScale, kRightScale}),
         InsideStorage({kGroups, kTo}));

// Returns numbers of groups, or of groups and columns.
engine::CodeScales OfGroups(DenseOpList& ops, const OperatorCall& call, int tensor, int64_t columns) {
  engine::CodeScales scales;
  scales.buffer = ops.In(tensor);
  scales.dtype = ACL_FLOAT;
  scales.is_there = true;
  const Shape& shape = call.Tensor(tensor).shape;
  const bool has_columns = shape.rank == 2 && shape[1] == columns && columns > 1;
  scales.batch_step = has_columns ? columns : 1;
  scales.line_step = has_columns ? 1 : 0;
  return scales;
}

void SetGrouped(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const StridedView left = LinesOf(call, kLeft, false);
  const StridedView right = LinesOf(call, kRight, true);
  CodeProduct job;
  job.batches = call.Tensor(kGroups).shape[0];
  job.rows = left.shape[0];
  job.terms = left.shape[1];
  job.columns = right.shape[0];
  job.left = CodesFrom(ops, kLeft, left);
  job.right = CodesFrom(ops, kRight, right);
  job.out = ops.Out(kTo, ACL_DT_UNDEFINED, true);
  job.dtype = ACL_FLOAT;
  job.out_batch_step = job.rows * job.columns;
  job.out_row_step = job.columns;
  job.adds_to_out = true;
  job.ends = ops.In(kGroups);
  job.name = call.Name(kGroups);
  job.cut = CodeProduct::Cut::kTerms;
  job.are_counts = Integer(call, kListType) == 1;
  if (IsHifloat(call)) {
    job.left_scale = OfGroups(ops, call, kLeftScale, 0);
    job.right_scale = OfGroups(ops, call, kRightScale, job.columns);
  } else {
    job.block = kMxTerms;
    job.left_scale = PairsFrom(ops, kLeftScale, OrderedView(call, kLeftScale, {1, 0, 2}));
    job.right_scale = PairsFrom(ops, kRightScale, OrderedView(call, kRightScale, {1, 0, 2}));
  }
  AddProduct(ops, job);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnQuantBatchMatmulInplaceAdd) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantGroupedMatmulInplaceAdd) {
  return dense::RunOpList(call, kGroupedChecks, workspaceSize, executor, SetGrouped);
}
