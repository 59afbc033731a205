// aclnnGeluQuant: quantises GELU of rows, by given scales or by each row's own.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/gelu_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kSelf, kScale, kOffset, kY, kOutScale };
enum Attributes { kApproximate, kMode, kRound, kType };

constexpr DtypeSet kCodes = kInt8 | kFloat8s;

bool IsDynamic(const OperatorCall& call) noexcept { return TextOf(call, kMode).starts_with("dynamic"); }
bool IsStatic(const OperatorCall& call) noexcept { return TextOf(call, kMode).starts_with("static"); }

aclnnStatus On950(const Check& check, OperatorCall& call) noexcept {
  if (IsOn950(call)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
}
template <int attribute>
aclnnStatus TextThere(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call).HoldsOf(!IsNull(call, attribute), attribute, "a text").status();
}
aclnnStatus ModeFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .HoldsOf(IsDynamic(call) || IsStatic(call), kMode, "static or dynamic")
      .status();
}
aclnnStatus OperandsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (IsStatic(call)) return checks.Holds(!call.IsGiven(kOutScale), kOutScale, "null with static").status();
  if (call.IsGiven(kOffset)) checks.Given(kScale, "beside inputOffsetOptional");
  return checks.status();
}
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kSelf).dtype;
  checks.Holds(kFloatHalfAndBf16.Contains(x), kSelf, "FLOAT, FLOAT16 or BF16");
  if (call.IsGiven(kScale)) {
    const aclDataType scale = call.Tensor(kScale).dtype;
    checks.Holds(scale == x || scale == ACL_FLOAT, kScale, "self's dtype or FLOAT");
    if (call.IsGiven(kOffset))
      checks.Holds(call.Tensor(kOffset).dtype == scale, kOffset, "inputScaleOptional's dtype");
  }
  checks.Holds(kCodes.Contains(call.Tensor(kY).dtype), kY, "INT8 or an 8-bit float");
  checks.HoldsOf(Integer(call, kType) == call.Tensor(kY).dtype, kType, "the dtype of y");
  if (IsDynamic(call)) checks.Holds(call.Tensor(kOutScale).dtype == ACL_FLOAT, kOutScale, "FLOAT");
  return checks
      .HoldsOf(TextOf(call, kApproximate) == "none" || TextOf(call, kApproximate) == "tanh", kApproximate,
               "none or tanh")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kSelf, IsDynamic(call) ? 2 : 1, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kSelf).shape;
  const int64_t columns = x[x.rank - 1];
  if (call.IsGiven(kScale)) {
    const Shape& scale = call.Tensor(kScale).shape;
    checks.Holds(scale == Shape{1} || scale == Shape{columns}, kScale,
                 "one dim, of one number or one for each column");
    checks.IsIfGiven(kOffset, scale);
  }
  checks.Is(kY, x);
  if (!IsDynamic(call)) return checks.status();
  Shape rows = x;
  rows.rank = x.rank - 1;
  return checks.Is(kOutScale, rows).status();
}
aclnnStatus RoundFits(const Check& check, OperatorCall& call) noexcept {
  const std::string_view round = TextOf(call, kRound);
  const bool is_hifloat = call.Tensor(kY).dtype == ACL_HIFLOAT8;
  return ShapeChecks(check, call)
      .HoldsOf(is_hifloat ? round == "round" || round == "hybrid" : round == "rint", kRound,
               "rint, with HIFLOAT8 round or hybrid")
      .status();
}

constexpr Check kChecks[] = {
    Custom(On950, ACLNN_ERR_RUNTIME_ERROR),
    Custom(TextThere<kMode>, ACLNN_ERR_PARAM_NULLPTR),
    Custom(ModeFits),
    NotNull(kSelf),
    NotNull(kY),
    If(IsStatic, NotNull(kScale)),
    If(IsDynamic, NotNull(kOutScale)),
    Custom(TextThere<kApproximate>, ACLNN_ERR_PARAM_NULLPTR),
    Custom(TextThere<kRound>, ACLNN_ERR_PARAM_NULLPTR),
    Custom(OperandsFit),
    Custom(TypesFit),
    Custom(ShapesFit),
    Custom(RoundFits),
    SizesRepresentable({kY}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
    IfGiven<kScale>(InsideStorage({kScale})),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kSelf).shape;
  engine::QuantiseGelu job;
  job.columns = x[x.rank - 1];
  job.rows = call.Tensor(kSelf).numel / job.columns;
  job.x = NumbersIn(ops, call, kSelf);
  job.is_by_tanh = TextOf(call, kApproximate) == "tanh";
  Quantiser& quantiser = job.quantiser[0];
  SetCodes(ops, call, kY, quantiser);
  quantiser.scale = OneOrColumns(NumbersIn(ops, call, kScale), call, kScale, job.columns);
  quantiser.offset = OneOrColumns(NumbersIn(ops, call, kOffset), call, kOffset, job.columns);
  if (IsDynamic(call)) {
    quantiser.kind = Quantiser::Kind::kGreatest;
    quantiser.step = Quantiser::Step::kProduct;
    quantiser.most = engine::GreatestNumber(quantiser.dtype);
    quantiser.row_step = NumbersOut(ops, call, kOutScale);
  } else {
    quantiser.kind = Quantiser::Kind::kMultiply;
  }
  AddRows(ops, job,
          {job.x.buffer, quantiser.codes, BufferOf(quantiser.scale.numbers),
           BufferOf(quantiser.offset.numbers), BufferOf(quantiser.row_step)});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGeluQuant) { return dense::RunOpList(call, kChecks, workspaceSize, executor, Set); }
