// aclnnFlatQuant, its second form, and aclnnRotateQuant: multiply rows by matrices, and quantise.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/rotated_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

constexpr DtypeRule kHalfAndBf16SinceA2 = SinceAtlasA2(kHalfAndBf16);
constexpr DtypeSet kPackedCodes{ACL_INT4, ACL_INT32};

// ---- aclnnFlatQuant: a matrix in front and one behind ----

enum FlatTensors { kX, kLeft, kRight, kOut, kStep };
enum FlatAttributes { kClip, kMost };
constexpr int64_t kMostMatrices = 262144;

aclnnStatus FlatShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t most = engine::QuantiseKronecker::kMostWidth;
  checks.Holds(x[0] <= kMostMatrices && x[1] <= most && x[2] <= most, kX,
               "up to 262144 matrices of up to 256 rows and columns");
  checks.Is(kLeft, Shape{x[1], x[1]}).Is(kRight, Shape{x[2], x[2]});
  return HasCodesOf(checks, call, x, kOut).Is(kStep, Shape{x[0]}).status();
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
    DtypesIn(kPackedCodes, {kOut}),
    DtypesIn(kFloat, {kStep}),
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
  job.right = ops.In(kRight, ACL_FLOAT);
  job.memory = ops.Floats(2 * job.Parts() * job.columns);
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
constexpr DtypeRule kRotatedX = ByGeneration({}, kHalfAndBf16, {});

aclnnStatus RotateFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Holds(!call.IsGiven(kAlpha), kAlpha, "a null pointer: numbers are not cut");
  const int64_t axis = Integer(call, kAxis);
  checks.HoldsOf(axis == -1 || axis == 1, kAxis, "-1 or 1");
  checks.HoldsOf(IsNull(call, kRound) || TextOf(call, kRound) == "rint", kRound, "rint");
  checks.Integer(kAlgorithm, 0, 0);
  checks.HoldsOf(Integer(call, kTransposes) == 0, kTransposes, "false");
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
    DtypesIn(kRotatedX, {kX}),
    SameDtype(kX, kRotation),
    DtypesIn(kIntegerCodes, {kRotatedY}),
    DtypesIn(kFloat, {kRotatedScale}),
    Custom(RotateFits),
    SizesRepresentable({kRotatedY, kRotatedScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kRotation}),
    Packed<kRotatedY>(),
};

void SetRotated(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantiseRotated job;
  job.rows = call.Tensor(kX).shape[0];
  job.columns = call.Tensor(kX).shape[1];
  job.width = call.Tensor(kRotation).shape[0];
  job.x = NumbersIn(ops, call, kX);
  job.rotation = ops.In(kRotation, ACL_FLOAT);
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
