// aclnnFlatQuant, its second form, and aclnnRotateQuant: multiply rows by matrices, and quantise.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/rotated_quant_functions.h"

#include <algorithm>

#include "aclnnop/quantisation/coded.h"
#include "aclnnop/quantisation/mx.h"

namespace portacl {
namespace {

using namespace quantisation;

constexpr DtypeRule kHalfAndBf16SinceA2 = SinceAtlasA2(kHalfAndBf16);
constexpr DtypeSet kPackedCodes{ACL_INT4, ACL_INT32};
constexpr DtypeSet kE2m1{ACL_FLOAT4_E2M1};

// ---- aclnnFlatQuant: a matrix in front and one behind ----

enum FlatTensors { kX, kLeft, kRight, kOut, kStep };
enum FlatAttributes { kClip, kMost };
constexpr int64_t kMostMatrices = 262144;
constexpr DtypeRule kFlatCodes = ByGeneration({}, kPackedCodes, kPackedCodes | kE2m1);
constexpr DtypeRule kFlatSteps = ByGeneration({}, kFloat, kFloat | kPowers);

// Codes of FLOAT4 share powers of two in blocks of a matrix's numbers.
bool IsFlatMx(const OperatorCall& call) noexcept { return call.Tensor(kOut).dtype == ACL_FLOAT4_E2M1; }
bool HasNoRight(const OperatorCall& call) noexcept { return call.Tensor(kRight).shape == Shape{0, 0}; }

aclnnStatus FlatShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t most = engine::QuantiseKronecker::kMostWidth;
  checks.Holds(x[0] <= kMostMatrices && x[1] <= most && x[2] <= most, kX,
               "up to 262144 matrices of up to 256 rows and columns");
  checks.Is(kLeft, Shape{x[1], x[1]});
  const aclDataType step = call.Tensor(kStep).dtype;
  if (!IsFlatMx(call)) {
    checks.Is(kRight, Shape{x[2], x[2]}).Holds(step == ACL_FLOAT, kStep, "FLOAT beside codes of integers");
    return HasCodesOf(checks, call, x, kOut).Is(kStep, Shape{x[0]}).status();
  }
  if (!HasNoRight(call)) checks.Is(kRight, Shape{x[2], x[2]});
  const Shape row{x[0], x[1] * x[2]};
  checks.Holds(step == ACL_FLOAT8_E8M0, kStep, "FLOAT8_E8M0 beside codes of FLOAT4");
  return HasCodes(checks, call, row, kOut).Is(kStep, PairsShape(row, 1, kMxBlock)).status();
}
// torch_npu gives tensors of three dims the format NCL.
aclnnStatus FlatFormats(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX, kLeft, kRight, kOut, kStep}) {
    const aclFormat format = call.Tensor(tensor).format;
    checks.Holds(format == ACL_FORMAT_ND || format == ACL_FORMAT_NCL, tensor, "the format ND or NCL");
  }
  return checks.status();
}
aclnnStatus FlatNumbers(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const double clip = RealOf(call, kClip);
  const double most = RealOf(call, kMost);
  checks.HoldsOf(clip > 0 && clip <= 1, kClip, "above 0, at most 1");
  checks.HoldsOf(!IsFlatMx(call) || clip == 1, kClip, "1 with codes of FLOAT4");
  return checks.HoldsOf(most == 0 || (most >= 6 && most <= 12), kMost, "0, or 6 to 12").status();
}

constexpr Check kFlatChecks[] = {
    NotNull(kX),
    NotNull(kLeft),
    NotNull(kRight),
    NotNull(kOut),
    NotNull(kStep),
    DtypesIn(kHalfAndBf16SinceA2, {kX}),
    SameDtype(kX, kLeft),
    SameDtype(kX, kRight),
    DtypesIn(kFlatCodes, {kOut}),
    DtypesIn(kFlatSteps, {kStep}),
    Custom(FlatShapes),
    Custom(FlatFormats),
    Custom(FlatNumbers),
    SizesRepresentable({kOut, kStep}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kLeft, kRight}),
    Packed<kOut>(),
};

void SetFlat(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  engine::QuantiseKronecker job;
  job.rows = x[0];
  job.height = x[1];
  job.width = x[2];
  job.columns = x[1] * x[2];
  job.x = NumbersIn(ops, call, kX);
  job.left = ops.In(kLeft, ACL_FLOAT);
  job.has_right = !HasNoRight(call);
  if (job.has_right) job.right = ops.In(kRight, ACL_FLOAT);
  job.memory = ops.Floats(2 * job.Parts() * job.columns);
  if (IsFlatMx(call)) {
    job.to = {ops.Floats(job.rows * job.columns), ACL_FLOAT, true};
    AddRows(ops, job, {job.x.buffer, job.left, job.has_right ? job.right : job.left, job.to.buffer});
    const double most = RealOf(call, kMost);
    engine::QuantiseMx codes;
    codes.rule = PowerRuleOf(ACL_FLOAT4_E2M1, most == 0 ? 0 : 2, most);
    AddMx(ops, call, job.to, Shape{job.rows, job.columns}, 1, kOut, kStep, codes);
    ops.SetJob();
    return;
  }
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kGreatest;
  quantiser.step = Quantiser::Step::kBoth;
  quantiser.half_before = true;
  SetCodes(ops, call, kOut, quantiser);
  quantiser.most = 7.0f * static_cast<float>(RealOf(call, kClip));
  quantiser.row_step = NumbersOut(ops, call, kStep);
  AddRows(ops, job, {job.x.buffer, job.left, job.right, quantiser.codes, quantiser.row_step.buffer});
  ops.SetJob();
}

// ---- aclnnRotateQuant: parts of rows times one matrix ----

enum RotateTensors { kRotation = 1, kAlpha, kRotatedY, kRotatedScale };
enum RotateAttributes { kAxis, kRound, kAlgorithm, kRotatedMost, kTransposes };
constexpr DtypeSet kMxCodes = kMxFloat8s | kFloat4s;
constexpr DtypeRule kRotatedCodes = ByGeneration({}, kIntegerCodes, kMxCodes);
constexpr DtypeRule kRotatedScales = ByGeneration({}, kFloat, kPowers);

// Checks the modes of Ascend 950, whose codes share powers of two.
aclnnStatus RotatesByPowers(ShapeChecks& checks, const OperatorCall& call) {
  const aclDataType y = call.Tensor(kRotatedY).dtype;
  checks.HoldsOf(IsMxRounding(y, TextOf(call, kRound), IsNull(call, kRound)), kRound,
                 "rint, with codes of FLOAT4 round and floor, too");
  const int64_t algorithm = Integer(call, kAlgorithm);
  const double most = RealOf(call, kRotatedMost);
  checks.HoldsOf(HasAlgorithm(y, algorithm), kAlgorithm,
                 "0, with codes of FLOAT8 also 1, of FLOAT4_E2M1 also 2");
  checks.HoldsOf(most == 0 || (algorithm == 2 && IsGreatestOfFloat4(most)), kRotatedMost,
                 "0, with scaleAlg 2 also 6 to 12");
  if (call.IsGiven(kAlpha)) {
    checks.Holds(kFloatHalfAndBf16.Contains(call.Tensor(kAlpha).dtype) && call.Tensor(kAlpha).numel == 1,
                 kAlpha, "one number of FLOAT, FLOAT16 or BF16");
  }
  checks.Rank(kX, 2, 2).Rank(kRotation, 2, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& rotation = call.Tensor(kRotation).shape;
  const int64_t width = rotation[rotation.rank - 1];
  checks.Holds(rotation[rotation.rank - 2] == width && (width == 32 || width == 64 || width == 128),
               kRotation, "square matrices of 32, 64 or 128 rows");
  checks.Holds(x[1] > 0 && x[1] % std::max<int64_t>(width, 1) == 0, kX,
               "rows of a multiple of rotation's columns");
  if (!checks.Passed()) return checks.status();
  checks.Holds(rotation.rank == 2 || rotation[0] == x[1] / width, kRotation,
               "one matrix, or one for each part of a row");
  return HasCodes(checks, call, x, kRotatedY).Is(kRotatedScale, PairsShape(x, 1, kMxBlock)).status();
}

aclnnStatus RotateFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t axis = Integer(call, kAxis);
  checks.HoldsOf(axis == -1 || axis == 1, kAxis, "-1 or 1");
  checks.HoldsOf(Integer(call, kTransposes) == 0, kTransposes, "false");
  if (IsOn950(call)) return RotatesByPowers(checks, call);
  checks.Holds(!call.IsGiven(kAlpha), kAlpha, "a null pointer: numbers are not cut");
  checks.HoldsOf(IsNull(call, kRound) || TextOf(call, kRound) == "rint", kRound, "rint");
  checks.Integer(kAlgorithm, 0, 0);
  checks.HoldsOf(RealOf(call, kRotatedMost) == 0, kRotatedMost, "0").Rank(kX, 2, 2).Rank(kRotation, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& rotation = call.Tensor(kRotation).shape;
  const int64_t width = rotation[0];
  checks.Holds(width == rotation[1] && width >= 16 && width <= engine::QuantiseRotated::kMostWidth, kRotation,
               "a square matrix of 16 to 1024 rows");
  checks.Holds(x[1] >= 128 && x[1] <= 16000 && x[1] % 8 == 0 && (width < 1 || x[1] % width == 0), kX,
               "rows of 128 to 16000 elements, a multiple of 8 and of rotation's rows");
  return HasCodesOf(checks, call, x, kRotatedY).Is(kRotatedScale, Shape{x[0]}).status();
}

constexpr Check kRotateChecks[] = {
    NotNull(kX),
    NotNull(kRotation),
    NotNull(kRotatedY),
    NotNull(kRotatedScale),
    DtypesIn(kHalfAndBf16SinceA2, {kX}),
    SameDtype(kX, kRotation),
    DtypesIn(kRotatedCodes, {kRotatedY}),
    DtypesIn(kRotatedScales, {kRotatedScale}),
    Custom(RotateFits),
    SizesRepresentable({kRotatedY, kRotatedScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kRotation}),
    IfGiven<kAlpha>(InsideStorage({kAlpha})),
    Packed<kRotatedY>(),
};

void SetRotated(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantiseRotated job;
  job.rows = call.Tensor(kX).shape[0];
  job.columns = call.Tensor(kX).shape[1];
  const Shape& rotation = call.Tensor(kRotation).shape;
  job.width = rotation[rotation.rank - 1];
  job.has_many = rotation.rank == 3;
  job.x = NumbersIn(ops, call, kX);
  job.rotation = ops.In(kRotation, ACL_FLOAT);
  if (IsOn950(call)) {
    job.to = {ops.Floats(job.rows * job.columns), ACL_FLOAT, true};
    job.limit = NumbersIn(ops, call, kAlpha);
    AddRows(ops, job, {job.x.buffer, job.rotation, BufferOf(job.limit), job.to.buffer});
    engine::QuantiseMx codes;
    codes.rule =
        PowerRuleOf(call.Tensor(kRotatedY).dtype, Integer(call, kAlgorithm), RealOf(call, kRotatedMost));
    codes.rounding = MxRoundingOf(TextOf(call, kRound));
    AddMx(ops, call, job.to, call.Tensor(kX).shape, 1, kRotatedY, kRotatedScale, codes);
    ops.SetJob();
    return;
  }
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kGreatest;
  SetCodes(ops, call, kRotatedY, quantiser);
  quantiser.most = engine::GreatestNumber(quantiser.dtype);
  quantiser.row_step = NumbersOut(ops, call, kRotatedScale);
  AddRows(ops, job, {job.x.buffer, job.rotation, quantiser.codes, quantiser.row_step.buffer});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFlatQuant) {
  return dense::RunOpList(call, kFlatChecks, workspaceSize, executor, SetFlat);
}
PORTACL_PHASE_1(aclnnFlatQuantV2) {
  return dense::RunOpList(call, kFlatChecks, workspaceSize, executor, SetFlat);
}
PORTACL_PHASE_1(aclnnRotateQuant) {
  return dense::RunOpList(call, kRotateChecks, workspaceSize, executor, SetRotated);
}
