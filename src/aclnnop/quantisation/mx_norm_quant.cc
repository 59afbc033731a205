// aclnnRmsNormDynamicMxQuant and aclnnAddRmsNormDynamicMxQuant: divide rows by their root mean square, and quantise
// blocks of them to codes that share powers of two.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/mx_norm_quant_functions.h"

#include "aclnnop/quantisation/mx.h"

namespace portacl {
namespace {

using namespace quantisation;

struct Positions {
  int x2, gamma, beta, y, sum, scale, rstd;
};
enum Tensors { kX };
constexpr Positions kPlain{-1, 1, 2, 3, -1, 4, 5};
constexpr Positions kAdded{1, 2, 3, 4, 5, 6, 7};
enum Attributes { kEpsilon, kAlgorithm, kRound, kDtype, kWritesRstd };

bool WritesRstd(const OperatorCall& call) noexcept { return Integer(call, kWritesRstd) != 0; }

// Checks everything but null pointers with one code.
aclnnStatus FitsAt(const Check& check, const OperatorCall& call, const Positions& at) {
  if (!IsOn950(call))
    return FailAclnn(check.code,
                     StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType y = call.Tensor(at.y).dtype;
  checks.Holds(kHalfAndBf16.Contains(x), kX, "FLOAT16 or BF16");
  if (at.x2 >= 0) {
    checks.Holds(call.Tensor(at.x2).dtype == x, at.x2, "x1's dtype");
    checks.Holds(call.Tensor(at.sum).dtype == x, at.sum, "x1's dtype");
  }
  for (const int tensor : {at.gamma, at.beta}) {
    if (!call.IsGiven(tensor)) continue;
    const aclDataType dtype = call.Tensor(tensor).dtype;
    checks.Holds(dtype == x || dtype == ACL_FLOAT, tensor, "x's dtype or FLOAT");
  }
  checks.Holds((kMxFloat8s | kFloat4s).Contains(y), at.y,
               "FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT4_E2M1 or FLOAT4_E1M2");
  checks.Holds(call.Tensor(at.scale).dtype == ACL_FLOAT8_E8M0, at.scale, "FLOAT8_E8M0");
  checks.HoldsOf(IsMxRounding(y, TextOf(call, kRound), IsNull(call, kRound)), kRound,
                 "rint, with codes of FLOAT4 round and floor, too");
  checks.HoldsOf(Integer(call, kDtype) == y, kDtype, "the dtype of yOut");
  checks.HoldsOf(HasAlgorithm(y, Integer(call, kAlgorithm)), kAlgorithm,
                 "0, with codes of FLOAT8 also 1, of FLOAT4_E2M1 also 2");
  checks.HoldsOf(RealOf(call, kEpsilon) >= 0, kEpsilon, "0 or more").Rank(kX, 1, 7);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  const int last = shape.rank - 1;
  if (at.x2 >= 0) checks.Is(at.x2, shape).Is(at.sum, shape);
  checks.Is(at.gamma, Shape{shape[last]}).IsIfGiven(at.beta, Shape{shape[last]}).Is(at.y, shape);
  checks.Holds(!kFloat4s.Contains(y) || shape[last] % 2 == 0, at.y, "of FLOAT4 an even last dim");
  checks.Is(at.scale, PairsShape(shape, last, kMxBlock));
  if (!WritesRstd(call)) return checks.status();
  Shape rows = shape;
  rows.dim[last] = 1;
  checks.Holds(call.Tensor(at.rstd).dtype == ACL_FLOAT, at.rstd, "FLOAT");
  return checks.Is(at.rstd, rows).status();
}
template <const Positions& kAt>
aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  return FitsAt(check, call, kAt);
}

template <const Positions& kAt>
constexpr auto kRest = List(NotNull(kAt.gamma), NotNull(kAt.y), NotNull(kAt.scale),
                            If(WritesRstd, NotNull(kAt.rstd)), Custom(Fits<kAt>, ACLNN_ERR_INNER_NULLPTR),
                            SizesRepresentable({kAt.y, kAt.scale}), DoneIfEmpty({kX}),
                            InsideStorage({kX, kAt.gamma}), IfGiven<kAt.beta>(InsideStorage({kAt.beta})),
                            Packed<kAt.y>());
constexpr auto kPlainChecks = Join(List(NotNull(kX)), kRest<kPlain>);
constexpr auto kAddedChecks = Join(List(NotNull(kX), NotNull(kAdded.x2), NotNull(kAdded.sum)), kRest<kAdded>,
                                   List(InsideStorage({kAdded.x2})));

void SetAt(const OperatorCall& call, const Positions& at, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  engine::QuantiseNormed norm;
  norm.columns = shape[shape.rank - 1];
  norm.rows = call.Tensor(kX).numel / norm.columns;
  norm.eps = RealOf(call, kEpsilon);
  norm.x1 = NumbersIn(ops, call, kX);
  norm.gamma = NumbersIn(ops, call, at.gamma);
  norm.beta = NumbersIn(ops, call, at.beta);
  if (at.x2 >= 0) {
    norm.x2 = NumbersIn(ops, call, at.x2);
    norm.sum = NumbersOut(ops, call, at.sum);
  }
  if (WritesRstd(call)) norm.rstd = NumbersOut(ops, call, at.rstd);
  norm.normed = {ops.Floats(call.Tensor(kX).numel), ACL_FLOAT, true};
  norm.normed_has_beta = true;
  AddRows(ops, norm,
          {norm.x1.buffer, BufferOf(norm.x2), norm.gamma.buffer, BufferOf(norm.beta), BufferOf(norm.sum),
           BufferOf(norm.rstd), norm.normed.buffer});
  engine::QuantiseMx job;
  job.rule = PowerRuleOf(call.Tensor(at.y).dtype, Integer(call, kAlgorithm));
  job.rounding = MxRoundingOf(TextOf(call, kRound));
  AddMx(ops, call, norm.normed, shape, shape.rank - 1, at.y, at.scale, job);
  ops.SetJob();
}
void SetPlain(const OperatorCall& call, Executor& executor) { SetAt(call, kPlain, executor); }
void SetAdded(const OperatorCall& call, Executor& executor) { SetAt(call, kAdded, executor); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRmsNormDynamicMxQuant) {
  return dense::RunOpList(call, kPlainChecks, workspaceSize, executor, SetPlain);
}
PORTACL_PHASE_1(aclnnAddRmsNormDynamicMxQuant) {
  return dense::RunOpList(call, kAddedChecks, workspaceSize, executor, SetAdded);
}
