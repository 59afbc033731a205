// aclnnRmsNormGradQuant: quantises gradients of rows that were divided by their root mean square.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/rms_norm_grad_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kSlope, kX, kRstd, kGamma, kScale, kOffset, kOut, kGammaOut };
enum Attributes { kMode, kDivides };

constexpr DtypeSet kCodes{ACL_INT8, ACL_HIFLOAT8};

// Checks everything but null pointers with one code.
aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  if (!IsOn950(call))
    return FailAclnn(check.code,
                     StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX).dtype;
  checks.Holds(kFloatHalfAndBf16.Contains(x), kX, "FLOAT, FLOAT16 or BF16");
  checks.Holds(call.Tensor(kSlope).dtype == x, kSlope, "x's dtype");
  const aclDataType gamma_dtype = call.Tensor(kGamma).dtype;
  checks.Holds(gamma_dtype == x || gamma_dtype == ACL_FLOAT, kGamma, "x's dtype or FLOAT");
  for (const int tensor : {kRstd, kScale, kGammaOut})
    checks.Holds(call.Tensor(tensor).dtype == ACL_FLOAT, tensor, "FLOAT");
  if (call.IsGiven(kOffset)) checks.Holds(call.Tensor(kOffset).dtype == ACL_INT32, kOffset, "INT32");
  checks.Holds(kCodes.Contains(call.Tensor(kOut).dtype), kOut, "INT8 or HIFLOAT8");
  checks.HoldsOf(TextOf(call, kMode) == "static", kMode, "static");
  checks.Rank(kX, 1, 8).Rank(kGamma, 1, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  const Shape& gamma = call.Tensor(kGamma).shape;
  const int leading = shape.rank - gamma.rank;
  bool is_tail = leading >= 0;
  for (int dim = 0; is_tail && dim < gamma.rank; ++dim) is_tail = gamma[dim] == shape[leading + dim];
  checks.Holds(is_tail, kGamma, "x's last dims").Is(kSlope, shape).Is(kOut, shape).Is(kGammaOut, gamma);
  if (!checks.Passed()) return checks.status();
  int64_t rows = 1;
  for (int dim = 0; dim < leading; ++dim) rows *= shape[dim];
  checks.Holds(call.Tensor(kRstd).numel == rows, kRstd, "a number for each row");
  checks.Is(kScale, Shape{1}).IsIfGiven(kOffset, Shape{1});
  return checks.status();
}

constexpr Check kChecks[] = {
    NotNull(kSlope),
    NotNull(kX),
    NotNull(kRstd),
    NotNull(kGamma),
    NotNull(kScale),
    NotNull(kOut),
    NotNull(kGammaOut),
    Custom(Fits, ACLNN_ERR_INNER_NULLPTR),
    SizesRepresentable({kOut, kGammaOut}),
    DoneIfEmpty({kX}),
    InsideStorage({kSlope, kX, kRstd, kGamma}),
    InsideStorage({kScale}),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::RmsGradient gradient;
  gradient.columns = call.Tensor(kGamma).numel;
  gradient.rows = call.Tensor(kX).numel / gradient.columns;
  gradient.gradient = NumbersIn(ops, call, kSlope);
  gradient.x = NumbersIn(ops, call, kX);
  gradient.rstd = NumbersIn(ops, call, kRstd);
  gradient.gamma = NumbersIn(ops, call, kGamma);
  gradient.to = {ops.Floats(call.Tensor(kX).numel), ACL_FLOAT, true};
  gradient.gamma_gradient = NumbersOut(ops, call, kGammaOut);
  AddRows(ops, gradient,
          {gradient.gradient.buffer, gradient.x.buffer, gradient.rstd.buffer, gradient.gamma.buffer,
           gradient.gamma_gradient.buffer});
  engine::QuantisePlain job;
  job.columns = gradient.columns;
  job.rows = gradient.rows;
  job.x = gradient.to;
  Quantiser& quantiser = job.quantiser[0];
  SetCodes(ops, call, kOut, quantiser);
  quantiser.kind = Integer(call, kDivides) != 0 ? Quantiser::Kind::kDivide : Quantiser::Kind::kMultiply;
  quantiser.scale.numbers = NumbersIn(ops, call, kScale);
  quantiser.offset.numbers = NumbersIn(ops, call, kOffset);
  AddRows(
      ops, job,
      {job.x.buffer, quantiser.codes, quantiser.scale.numbers.buffer, BufferOf(quantiser.offset.numbers)});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRmsNormGradQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
