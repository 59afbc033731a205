// aclnnTransposeBatchMatMul: products of a batch of matrices, of which the batch is the second dim of the result and, if
// asked for, of the left operand.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/transpose_matmul_functions.h"

#include <algorithm>
#include <initializer_list>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/stage_list.h"
#include "engine/gemm/quantised_sums.h"

namespace portacl {
namespace {

using namespace matmul;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;

enum Tensors { kX1, kX2, kBias, kScale, kOut };
enum Attributes { kPermX1, kPermX2, kPermY, kMode, kSplit };

constexpr DtypeRule kInputs = kNoneBeforeAtlasA2;
constexpr DtypeSet kOuts = kFloatHalfAndBf16;
constexpr DtypeSet kHalf{ACL_FLOAT16};
constexpr DtypeSet kScaledOuts{ACL_INT8, ACL_FLOAT16};
constexpr DtypeSet kWords{ACL_UINT64, ACL_INT64};
constexpr int64_t kLongest = 65535;  // of dims on Atlas A2 and A3

bool IsOrder(const OperatorCall& call, int attribute, std::initializer_list<int64_t> order) {
  const std::vector<int64_t>& given = call.Array(attribute);
  return std::equal(given.begin(), given.end(), order.begin(), order.end());
}
bool IsSwapped(const OperatorCall& call, int attribute) {
  return IsOrder(call, attribute, {1, 0, 2}) || IsOrder(call, attribute, {0, 2, 1});
}
bool HasScale(const OperatorCall& call) noexcept { return call.IsGiven(kScale); }
bool HasNoScale(const OperatorCall& call) noexcept { return !call.IsGiven(kScale); }
bool IsPlain(const OperatorCall& call) { return HasNoScale(call) && Integer(call, kSplit) == 1; }

// Has the lengths of the products, once x1 and x2 have three dims and their orders are known.
struct Lengths {
  int64_t batches, rows, terms, columns;
};
Lengths LengthsOf(const OperatorCall& call) {
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  const bool is_moved = IsSwapped(call, kPermX1);
  return {left[is_moved ? 1 : 0], left[is_moved ? 0 : 1], left[2], right[IsSwapped(call, kPermX2) ? 1 : 2]};
}

aclnnStatus OrdersHaveThree(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int order : {kPermX1, kPermX2, kPermY})
    checks.HoldsOf(call.Array(order).size() == 3, order, "an order of three dims");
  return checks.status();
}
aclnnStatus ScaleIsAlone(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call).HoldsOf(Integer(call, kSplit) == 1, kSplit, "1 beside a scale").status();
}
aclnnStatus OrdersAreKnown(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(IsOrder(call, kPermX1, {0, 1, 2}) || IsOrder(call, kPermX1, {1, 0, 2}), kPermX1,
                 "[0, 1, 2] or [1, 0, 2]");
  checks.HoldsOf(IsOrder(call, kPermX2, {0, 1, 2}) || IsOrder(call, kPermX2, {0, 2, 1}), kPermX2,
                 "[0, 1, 2] or [0, 2, 1]");
  checks.HoldsOf(IsOrder(call, kPermY, {1, 0, 2}), kPermY, "[1, 0, 2]");
  if (!checks.Passed()) return checks.status();
  const Lengths lengths = LengthsOf(call);
  const Shape& right = call.Tensor(kX2).shape;
  checks.Holds(right[0] == lengths.batches, kX2, "as many matrices as x1 has");
  checks.Holds(right[IsSwapped(call, kPermX2) ? 2 : 1] == lengths.terms, kX2, "as many terms as x1 has");
  return checks.status();
}
// Checks what Atlas A2 and A3 alone ask for.
aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Lengths lengths = LengthsOf(call);
  const bool is_moved = IsSwapped(call, kPermX1);
  checks.Holds(lengths.columns <= kLongest, kX2, "at most 65535 columns");
  checks.Holds(lengths.batches <= kLongest, kX1, "at most 65535 matrices");
  if (!is_moved || !IsPlain(call)) checks.Holds(lengths.terms <= kLongest, kX1, "at most 65535 terms");
  if (is_moved && !IsPlain(call) && checks.Passed())
    checks.Holds(lengths.batches * lengths.terms <= kLongest, kX1,
                 "at most 65535 elements behind its first dim");
  checks.HoldsOf(!IsSwapped(call, kPermX2) || (is_moved && IsPlain(call)), kPermX2,
                 "[0, 1, 2], or [0, 2, 1] with a permX1 of [1, 0, 2], no scale and a batchSplitFactor of 1");
  return checks.status();
}
aclnnStatus RestFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Lengths lengths = LengthsOf(call);
  const int64_t parts = Integer(call, kSplit);
  checks.HoldsOf(parts > 0 && lengths.batches % parts == 0, kSplit, "a divisor of the number of matrices");
  for (const int tensor : {kX1, kX2})
    checks.Holds(!call.Tensor(tensor).shape.IsEmpty(), tensor, "at least one element");
  checks.Holds(!call.IsGiven(kBias), kBias, "a null pointer");
  if (!checks.Passed()) return checks.status();
  int64_t width = 0;
  const bool is_countable = !__builtin_mul_overflow(lengths.batches, lengths.columns, &width);
  checks.Holds(is_countable, kX2, "fewer columns");
  if (!checks.Passed()) return checks.status();
  if (HasScale(call)) {
    checks.Is(kScale, Shape{width}).Is(kOut, Shape{lengths.rows, 1, width});
  } else if (parts == 1) {
    checks.Is(kOut, Shape{lengths.rows, lengths.batches, lengths.columns});
  } else {
    checks.Is(kOut, Shape{parts, lengths.rows, width / parts});
  }
  return checks.status();
}

constexpr auto kChecks = Join(
    List(NotNull(kX1), NotNull(kX2), NotNull(kOut), ArrayNotNull(kPermX1), ArrayNotNull(kPermX2),
         ArrayNotNull(kPermY), RankIs(3, {kX1, kX2, kOut}), Custom(OrdersHaveThree),
         ModeFits(kMode, {kX1, kX2}), If(HasScale, Custom(ScaleIsAlone)), NotFractal({kX1, kX2, kOut})),
    List(DtypesIn(kInputs, {kX1}), SameDtype(kX1, kX2), If(HasScale, DtypesIn(kHalf, {kX1})),
         If(HasScale, DtypesIn(kWords, {kScale})), If(HasScale, DtypesIn(kScaledOuts, {kOut})),
         If(HasNoScale, DtypesIn(kOuts, {kOut})), Custom(OrdersAreKnown),
         OnProducts(products::kAtlasA2AndA3, Custom(LengthsFit)), Custom(RestFits),
         SizesRepresentable({kOut}), DoneIfEmpty({kOut}), FractalInsideStorage({kX1, kX2}),
         MatricesInsideStorage({kX1, kX2}), IfGiven<kScale>(InsideStorage({kScale})), PromotesTo(ACL_FLOAT)));

StridedView InOrder(StridedView view, std::initializer_list<int> order) {
  Permute(view, order.begin());
  view.Describe();
  return view;
}
StridedView LeftOf(const OperatorCall& call) {
  const StridedView view = ByStrides(call.Tensor(kX1));
  return IsSwapped(call, kPermX1) ? InOrder(view, {1, 0, 2}) : view;
}
StridedView RightOf(const OperatorCall& call) {
  const StridedView view = ByStrides(call.Tensor(kX2));
  return IsSwapped(call, kPermX2) ? LastTwoSwapped(view) : view;
}

// Views words of scales as their lower halves, which are FLOAT.
StridedView ScalesIn(const StridedView& words) {
  StridedView view = words;
  view.dtype = ACL_FLOAT;
  view.offset *= 2;
  view.strides.dim[0] *= 2;
  view.Describe();
  return view;
}

// Computes sums in the workspace, with the rows of all matrices side by side.
void SetScaled(const OperatorCall& call, Executor& executor) {
  const Lengths lengths = LengthsOf(call);
  StageList stages(call, executor, 2);
  const MappedView sums = stages.Scratch(Shape{lengths.rows, lengths.batches, lengths.columns}, ACL_FLOAT);
  const MappedView left{LeftOf(call), call.OperandOf(kX1)};
  const MappedView right{RightOf(call), call.OperandOf(kX2)};
  const MappedView scale{PlainView(call.Tensor(kScale)), call.OperandOf(kScale)};
  const MappedView out{PlainView(call.Tensor(kOut)), call.OperandOf(kOut)};
  const MatrixProduct product{{left.operand, left.tensor},
                              {right.operand, right.tensor},
                              {sums.operand, InOrder(sums.tensor, {1, 0, 2})}};
  stages.Product(GemmOf(product), left, right, sums);
  if (out.tensor.dtype == ACL_FLOAT16) {
    MappedView rows = sums;
    FillShape(rows.tensor, out.tensor.shape, 1);
    stages.Map({rows, {ScalesIn(scale.tensor), scale.operand}}, out, ProductKernels(ACL_FLOAT));
    return stages.SetJob();
  }
  engine::QuantisedSums codes{};
  codes.sums = stages.BufferOf(sums.operand);
  codes.sums.offset = ByteOffset(sums.tensor);
  codes.words = {scale.operand, ByteOffset(scale.tensor)};
  codes.word_step = ByteStride(scale.tensor, 0);
  codes.to = {out.operand, ByteOffset(out.tensor)};
  codes.row_step = ByteStride(out.tensor, 0);
  codes.column_step = ByteStride(out.tensor, 2);
  codes.rows = lengths.rows;
  codes.columns = lengths.batches * lengths.columns;
  codes.threads = call.threads;
  stages.Compute(codes, {sums, scale, out}, codes.rows * codes.columns);
  stages.SetJob();
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  if (HasScale(call)) return SetScaled(call, executor);
  const Lengths lengths = LengthsOf(call);
  const int64_t parts = Integer(call, kSplit);
  MatrixProduct product{{kX1, LeftOf(call)}, {kX2, RightOf(call)}, {kOut, PlainView(call.Tensor(kOut))}};
  if (parts == 1) {
    product.out.view = InOrder(product.out.view, {1, 0, 2});
  } else {
    // Parts of the batch are another dim in front.
    SplitDim(product.out.view, 2, lengths.columns);
    product.out.view = InOrder(product.out.view, {0, 2, 1, 3});
    SplitDim(product.left.view, 0, lengths.batches / parts);
    SplitDim(product.right.view, 0, lengths.batches / parts);
  }
  SetProductJob(call, product, executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTransposeBatchMatMul) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProduct);
}
