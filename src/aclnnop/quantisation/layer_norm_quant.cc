// aclnnAddLayerNormQuant: quantises rows of the layer norm of a sum, by one or two given scales or by the rows' own.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/layer_norm_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors {
  kX1,
  kX2,
  kGamma,
  kBeta,
  kBias,
  kScales1,
  kScales2,
  kZeros1,
  kZeros2,
  kY1,
  kY2,
  kSum,
  kOutScales1,
  kOutScales2
};
enum Attributes { kMode, kEpsilon, kWritesSum, kDivides };

constexpr DtypeRule kFloatsOn950 = ByGeneration({}, {}, kFloatHalfAndBf16);

bool IsDynamic(const OperatorCall& call) noexcept { return TextOf(call, kMode) == "dynamic"; }
bool IsStatic(const OperatorCall& call) noexcept { return TextOf(call, kMode) == "static"; }
bool WritesSum(const OperatorCall& call) noexcept { return Integer(call, kWritesSum) != 0; }
bool HasSecond(const OperatorCall& call) noexcept { return call.IsGiven(kScales2); }
bool HasSecondStep(const OperatorCall& call) noexcept { return IsDynamic(call) && HasSecond(call); }

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(IsDynamic(call) || IsStatic(call), kMode, "static or dynamic");
  if (!checks.Passed()) return checks.status();
  if (IsStatic(call)) {
    checks.Given(kScales1, "with static");
    checks.Holds(!HasSecond(call) || call.IsGiven(kZeros1) == call.IsGiven(kZeros2), kZeros2,
                 "zero points of both scales or of none");
    return checks.Holds(HasSecond(call) || !call.IsGiven(kZeros2), kZeros2, "null without scales2Optional")
        .status();
  }
  checks.Holds(!HasSecond(call) || call.IsGiven(kScales1), kScales2, "null without scales1Optional");
  for (const int tensor : {kZeros1, kZeros2})
    checks.Holds(!call.IsGiven(tensor), tensor, "null with dynamic");
  return checks.status();
}
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX1).dtype;
  checks.Holds(call.Tensor(kX2).dtype == x, kX2, "x1's dtype");
  if (call.IsGiven(kBias)) checks.Holds(call.Tensor(kBias).dtype == x, kBias, "x1's dtype");
  for (const int tensor : {kGamma, kBeta, kScales1, kScales2, kZeros1, kZeros2}) {
    if (!call.IsGiven(tensor)) continue;
    const aclDataType dtype = call.Tensor(tensor).dtype;
    checks.Holds(dtype == x || dtype == ACL_FLOAT, tensor, "x1's dtype or FLOAT");
  }
  checks.Holds(call.Tensor(kY1).dtype == ACL_INT8, kY1, "INT8");
  if (HasSecond(call)) checks.Holds(call.Tensor(kY2).dtype == ACL_INT8, kY2, "INT8");
  if (WritesSum(call)) checks.Holds(call.Tensor(kSum).dtype == x, kSum, "x1's dtype");
  if (IsDynamic(call)) checks.Holds(call.Tensor(kOutScales1).dtype == ACL_FLOAT, kOutScales1, "FLOAT");
  if (HasSecondStep(call)) checks.Holds(call.Tensor(kOutScales2).dtype == ACL_FLOAT, kOutScales2, "FLOAT");
  return checks.status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 1, 8).Rank(kGamma, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX1).shape;
  const Shape row{x[x.rank - 1]};
  checks.Is(kX2, x).Is(kGamma, row).Is(kBeta, row).Is(kY1, x);
  if (call.IsGiven(kBias))
    checks.Holds(call.Tensor(kBias).shape == row || call.Tensor(kBias).shape == x, kBias,
                 "a row, or x1's shape");
  for (const int tensor : {kScales1, kScales2, kZeros1, kZeros2}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    checks.Holds(shape == row || (IsStatic(call) && shape == Shape{1}), tensor,
                 "a number for each column, with static also one for all");
  }
  if (HasSecond(call)) checks.Is(kY2, x);
  if (WritesSum(call)) checks.Is(kSum, x);
  Shape rows = x;
  rows.rank = x.rank - 1;
  if (IsDynamic(call)) checks.Is(kOutScales1, rows);
  if (HasSecondStep(call)) checks.Is(kOutScales2, rows);
  return checks.HoldsOf(RealOf(call, kEpsilon) >= 0, kEpsilon, "0 or more").status();
}

constexpr Check kChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kGamma),
    NotNull(kBeta),
    NotNull(kY1),
    If(WritesSum, NotNull(kSum)),
    If(HasSecond, NotNull(kY2)),
    If(IsDynamic, NotNull(kOutScales1)),
    If(HasSecondStep, NotNull(kOutScales2)),
    DtypesIn(kFloatsOn950, {kX1}),
    Custom(ModesFit),
    Custom(TypesFit),
    Custom(ShapesFit),
    SizesRepresentable({kY1}),
    DoneIfEmpty({kX1}),
    InsideStorage({kX1, kX2, kGamma, kBeta}),
    IfGiven<kBias>(InsideStorage({kBias})),
    IfGiven<kScales1>(InsideStorage({kScales1})),
    IfGiven<kScales2>(InsideStorage({kScales2})),
    IfGiven<kZeros1>(InsideStorage({kZeros1})),
    IfGiven<kZeros2>(InsideStorage({kZeros2})),
};

// The tensors of one quantiser.
struct Positions {
  int y, scales, zeros, out_scales;
};
void SetQuantiser(DenseOpList& ops, const OperatorCall& call, const Positions& at, int64_t columns,
                  Quantiser& quantiser) {
  SetCodes(ops, call, at.y, quantiser);
  quantiser.scale = OneOrColumns(NumbersIn(ops, call, at.scales), call, at.scales, columns);
  if (IsDynamic(call)) {
    quantiser.kind = Quantiser::Kind::kGreatest;
    quantiser.step = Quantiser::Step::kProduct;
    quantiser.row_step = NumbersOut(ops, call, at.out_scales);
    return;
  }
  quantiser.kind = Integer(call, kDivides) != 0 ? Quantiser::Kind::kDivide : Quantiser::Kind::kMultiply;
  quantiser.offset = OneOrColumns(NumbersIn(ops, call, at.zeros), call, at.zeros, columns);
}

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX1).shape;
  engine::QuantiseCentred job;
  job.columns = x[x.rank - 1];
  job.rows = call.Tensor(kX1).numel / job.columns;
  job.eps = RealOf(call, kEpsilon);
  job.x1 = NumbersIn(ops, call, kX1);
  job.x2 = NumbersIn(ops, call, kX2);
  job.bias = NumbersIn(ops, call, kBias);
  job.has_bias_each = call.IsGiven(kBias) && call.Tensor(kBias).shape.rank > 1;
  job.gamma = NumbersIn(ops, call, kGamma);
  job.beta = NumbersIn(ops, call, kBeta);
  if (WritesSum(call)) job.sum = NumbersOut(ops, call, kSum);
  SetQuantiser(ops, call, {kY1, kScales1, kZeros1, kOutScales1}, job.columns, job.quantiser[0]);
  if (HasSecond(call))
    SetQuantiser(ops, call, {kY2, kScales2, kZeros2, kOutScales2}, job.columns, job.quantiser[1]);
  const Quantiser& first = job.quantiser[0];
  const Quantiser& second = job.quantiser[1];
  AddRows(ops, job,
          {job.x1.buffer, job.x2.buffer, BufferOf(job.bias), job.gamma.buffer, job.beta.buffer,
           BufferOf(job.sum), first.codes, BufferOf(first.scale.numbers), BufferOf(first.offset.numbers),
           BufferOf(first.row_step), HasSecond(call) ? second.codes : first.codes,
           BufferOf(second.scale.numbers), BufferOf(second.offset.numbers), BufferOf(second.row_step)});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddLayerNormQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
