// aclnnRmsNormQuant and its third form, aclnnRmsNormDynamicQuant: divide rows by their root mean square, and quantise.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/rms_norm_quant_functions.h"

#include "aclnnop/quantisation/norm_rows.h"

namespace portacl {
namespace {

using namespace quantisation;
using engine::QuantiseNormed;

// ---- RmsNormQuant ----

enum PlainTensors { kX, kPlainGamma, kPlainBeta, kScale, kOffset, kY };
enum PlainAttributes { kPlainEpsilon };

constexpr DtypeRule kPlainDtypes = SinceAtlasA2(kHalfAndBf16)
                                       .On({Product::kAtlasInference, Product::kAtlas200I500A2}, kHalfAndBf16)
                                       .On(products::kAscend950, kFloatHalfAndBf16);
constexpr DtypeRule kPlainCodes =
    Everywhere(kIntegerCodes).On(products::kAscend950, kIntegerCodes | kFloat8s);

aclnnStatus PlainTypes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType scale = call.Tensor(kScale).dtype;
  const aclDataType offset = call.Tensor(kOffset).dtype;
  if (!IsOn950(call)) {
    checks.Holds(scale == x, kScale, "x's dtype");
    return checks.Holds(offset == ACL_INT8, kOffset, "INT8").status();
  }
  if (x == ACL_FLOAT)
    return checks.Holds(scale == x, kScale, "x's dtype").Holds(offset == x, kOffset, "x's dtype").status();
  checks.Holds(scale == x || scale == ACL_FLOAT, kScale, "x's dtype or FLOAT");
  const bool fits =
      scale == ACL_FLOAT ? offset == ACL_FLOAT || offset == ACL_INT32 : offset == x || offset == ACL_INT8;
  return checks.Holds(fits, kOffset, "scale's dtype, or an integer one").status();
}

aclnnStatus PlainShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 1, 8).Rank(kPlainGamma, 1, 2).Rank(kPlainBeta, 1, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& gamma = call.Tensor(kPlainGamma).shape;
  const bool is_row = gamma[gamma.rank - 1] == x[x.rank - 1] && (gamma.rank == 1 || gamma[0] == 1);
  checks.Holds(is_row, kPlainGamma, "a row as x has");
  HasCodesOf(checks, call, x, kY).Is(kPlainBeta, gamma).Is(kOffset, call.Tensor(kScale).shape);
  const aclTensor& scale = call.Tensor(kScale);
  const bool fits = scale.numel == 1 || (IsOn950(call) && scale.shape == Shape{x[x.rank - 1]});
  return checks.Holds(fits, kScale, "one element, on Ascend 950 also one for each of a row").status();
}

// Products before Ascend 950 have no kernel that writes INT4.
aclnnStatus CodesComputed(const Check& check, OperatorCall& call) noexcept {
  const bool fits = IsOn950(call) || call.Tensor(kY).dtype != ACL_INT4;
  return ShapeChecks(check, call).Holds(fits, kY, "INT8, or INT32 of eight codes").status();
}
aclnnStatus PlainEpsilonFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .HoldsOf(RealOf(call, kPlainEpsilon) >= 0, kPlainEpsilon, "0 or more")
      .status();
}

constexpr Check kPlainChecks[] = {
    NotNull(kX),
    NotNull(kPlainGamma),
    NotNull(kPlainBeta),
    NotNull(kScale),
    NotNull(kOffset),
    NotNull(kY),
    DtypesIn(kPlainDtypes, {kX}),
    SameDtype(kX, kPlainGamma),
    SameDtype(kX, kPlainBeta),
    DtypesIn(kPlainCodes, {kY}),
    Custom(PlainTypes),
    Custom(PlainShapes),
    SizesRepresentable({kY}),
    DoneIfEmpty({kX}),
    Custom(CodesComputed, ACLNN_ERR_INNER_NULLPTR),
    Custom(PlainEpsilonFits, kTiling),
    InsideStorage({kX, kPlainGamma, kPlainBeta, kScale, kOffset}),
    Packed<kY>(),
};

void SetPlain(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseNormed job;
  SetRowsOf(ops, call, kX, kPlainGamma, kPlainEpsilon, job);
  job.beta = NumbersIn(ops, call, kPlainBeta);
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kReciprocal;
  quantiser.half_before = IsBefore950(call);
  SetCodes(ops, call, kY, quantiser);
  quantiser.scale = OneOrColumns(NumbersIn(ops, call, kScale), call, kScale, job.columns);
  quantiser.offset = OneOrColumns(NumbersIn(ops, call, kOffset), call, kOffset, job.columns);
  AddNormed(ops, job);
}

// ---- RmsNormQuantV3: divides or multiplies by the scale, and writes the reciprocal roots ----

enum ThirdTensors { kThirdGamma = 1, kThirdScale, kThirdOffset, kThirdBeta, kThirdY, kThirdRstd };
enum ThirdAttributes { kThirdEpsilon, kThirdDivides, kOutputsRstd };

bool WritesRstd(const OperatorCall& call) noexcept { return Integer(call, kOutputsRstd) != 0; }

aclnnStatus ThirdRanks(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kThirdGamma, 1, 2).Rank(kThirdScale, 1, 1);
  if (checks.Passed() && call.Tensor(kThirdY).dtype == ACL_INT32)
    HasCodesOf(checks, call, call.Tensor(kX).shape, kThirdY);
  return checks.status();
}
// Checks everything else with one code.
aclnnStatus ThirdFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsOn950(call))
    return FailAclnn(check.code,
                     StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType scale = call.Tensor(kThirdScale).dtype;
  checks.Holds(kFloatHalfAndBf16.Contains(x), kX, "FLOAT, FLOAT16 or BF16");
  checks.Holds(call.Tensor(kThirdGamma).dtype == x, kThirdGamma, "x's dtype");
  if (call.IsGiven(kThirdBeta)) checks.Holds(call.Tensor(kThirdBeta).dtype == x, kThirdBeta, "x's dtype");
  checks.Holds(scale == x || scale == ACL_FLOAT, kThirdScale, "x's dtype or FLOAT");
  if (call.IsGiven(kThirdOffset)) {
    const aclDataType offset = call.Tensor(kThirdOffset).dtype;
    const bool fits = x == ACL_FLOAT       ? offset == x
                      : scale == ACL_FLOAT ? offset == ACL_FLOAT || offset == ACL_INT32
                                           : offset == x || offset == ACL_INT8;
    checks.Holds(fits, kThirdOffset, "scale's dtype, or an integer one with x of 16 bits");
  }
  const aclDataType y = call.Tensor(kThirdY).dtype;
  checks.Holds((kIntegerCodes | kFloat8s).Contains(y), kThirdY, "INT8, INT4, INT32 or an 8-bit float");
  checks.Rank(kX, 1, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  const int64_t columns = shape[shape.rank - 1];
  const Shape& gamma = call.Tensor(kThirdGamma).shape;
  checks.Holds(gamma[gamma.rank - 1] == columns && (gamma.rank == 1 || gamma[0] == 1), kThirdGamma,
               "a row as x has");
  checks.IsIfGiven(kThirdBeta, gamma);
  HasCodesOf(checks, call, shape, kThirdY);
  const aclTensor& scales = call.Tensor(kThirdScale);
  checks.Holds(scales.numel == 1 || scales.shape[0] == columns, kThirdScale,
               "one element, or one for each of a row");
  checks.IsIfGiven(kThirdOffset, scales.shape);
  checks.HoldsOf(RealOf(call, kThirdEpsilon) >= 0, kThirdEpsilon, "0 or more");
  if (!WritesRstd(call)) return checks.status();
  Shape rows = shape;
  rows.dim[rows.rank - 1] = 1;
  checks.Holds(call.Tensor(kThirdRstd).dtype == ACL_FLOAT, kThirdRstd, "FLOAT");
  return checks.Is(kThirdRstd, rows).status();
}

constexpr Check kThirdChecks[] = {
    NotNull(kX),
    NotNull(kThirdGamma),
    NotNull(kThirdScale),
    NotNull(kThirdY),
    If(WritesRstd, NotNull(kThirdRstd)),
    Custom(ThirdRanks),
    Custom(ThirdFits, ACLNN_ERR_INNER_NULLPTR),
    SizesRepresentable({kThirdY}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kThirdGamma, kThirdScale}),
    IfGiven<kThirdOffset>(InsideStorage({kThirdOffset})),
    IfGiven<kThirdBeta>(InsideStorage({kThirdBeta})),
    Packed<kThirdY>(),
};

void SetThird(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseNormed job;
  SetRowsOf(ops, call, kX, kThirdGamma, kThirdEpsilon, job);
  job.beta = NumbersIn(ops, call, kThirdBeta);
  if (WritesRstd(call)) job.rstd = NumbersOut(ops, call, kThirdRstd);
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Integer(call, kThirdDivides) != 0 ? Quantiser::Kind::kDivide : Quantiser::Kind::kMultiply;
  SetCodes(ops, call, kThirdY, quantiser);
  quantiser.scale = OneOrColumns(NumbersIn(ops, call, kThirdScale), call, kThirdScale, job.columns);
  quantiser.offset = OneOrColumns(NumbersIn(ops, call, kThirdOffset), call, kThirdOffset, job.columns);
  AddNormed(ops, job);
}

// ---- RmsNormDynamicQuant ----

enum OwnScaleTensors { kOwnGamma = 1, kOwnSmooth, kOwnBeta, kOwnY, kOwnScale };
enum OwnScaleAttributes { kOwnEpsilon, kOwnType };
constexpr DtypeRule kOwnDtypes = SinceAtlasA2(kHalfAndBf16);

aclnnStatus OwnScaleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 8).Rank(kOwnGamma, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape gamma{x[x.rank - 1]};
  checks.Is(kOwnGamma, gamma).IsIfGiven(kOwnSmooth, gamma).IsIfGiven(kOwnBeta, gamma).Is(kOwnY, x);
  Shape rows = x;
  rows.rank = x.rank - 1;
  checks.Is(kOwnScale, rows);
  checks.HoldsOf(Integer(call, kOwnType) == call.Tensor(kOwnY).dtype, kOwnType, "the dtype of yOut");
  return checks.HoldsOf(RealOf(call, kOwnEpsilon) >= 0, kOwnEpsilon, "0 or more").status();
}

constexpr Check kOwnScaleChecks[] = {
    NotNull(kX),
    NotNull(kOwnGamma),
    NotNull(kOwnY),
    NotNull(kOwnScale),
    DtypesIn(kOwnDtypes, {kX}),
    SameDtype(kX, kOwnGamma),
    IfGiven<kOwnSmooth>(SameDtype(kX, kOwnSmooth)),
    IfGiven<kOwnBeta>(SameDtype(kX, kOwnBeta)),
    DtypesIn(kInt8, {kOwnY}),
    DtypesIn(kFloat, {kOwnScale}),
    Custom(OwnScaleFits, kTiling),
    SizesRepresentable({kOwnY, kOwnScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kOwnGamma}),
    IfGiven<kOwnSmooth>(InsideStorage({kOwnSmooth})),
    IfGiven<kOwnBeta>(InsideStorage({kOwnBeta})),
};

void SetOwnScale(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseNormed job;
  SetRowsOf(ops, call, kX, kOwnGamma, kOwnEpsilon, job);
  job.beta = NumbersIn(ops, call, kOwnBeta);
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kGreatest;
  SetCodes(ops, call, kOwnY, quantiser);
  quantiser.scale.numbers = NumbersIn(ops, call, kOwnSmooth);
  quantiser.scale.by_column = true;
  quantiser.row_step = NumbersOut(ops, call, kOwnScale);
  AddNormed(ops, job);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRmsNormQuant) {
  return dense::RunOpList(call, kPlainChecks, workspaceSize, executor, SetPlain);
}
PORTACL_PHASE_1(aclnnRmsNormQuantV3) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetThird);
}
PORTACL_PHASE_1(aclnnRmsNormDynamicQuant) {
  return dense::RunOpList(call, kOwnScaleChecks, workspaceSize, executor, SetOwnScale);
}
