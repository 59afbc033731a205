// aclnnDynamicMxQuant and its kin: quantise blocks along one axis, along both of the last two, in squares, or in
// groups of rows, to codes that share powers of two; and aclnnAntiMxQuant, the inverse.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/mx_quant_functions.h"

#include "aclnnop/quantisation/mx.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kX };
// On the last product alone.
constexpr DtypeRule kHalfAndBf16On950 = ByGeneration({}, {}, kHalfAndBf16);
constexpr DtypeRule kFloatsOn950 = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr DtypeRule kMxCodesOn950 = ByGeneration({}, {}, kMxFloat8s | kFloat4s);

int64_t AxisOf(int64_t axis, const Shape& shape) { return axis < 0 ? axis + shape.rank : axis; }

// ---- aclnnDynamicMxQuant, V2 and V3 ----

enum AxisTensors { kY = 1, kScale };
enum AxisAttributes { kAxis, kRound, kDtype, kBlock, kAlgorithm, kMost, kLeast };
constexpr Modes kAxisModes{kY, kRound, kDtype, kAlgorithm, kMost};

aclnnStatus AxisFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX).dtype;
  checks.HoldsOf(IsMxRounding(call.Tensor(kY).dtype, TextOf(call, kRound), IsNull(call, kRound)), kRound,
                 "rint, with codes of FLOAT4 round and floor, too");
  const int64_t block = Integer(call, kBlock);
  const bool is_one = x == ACL_FLOAT || Integer(call, kAlgorithm) == 2;
  checks.HoldsOf(Integer(call, kDtype) == call.Tensor(kY).dtype, kDtype, "the dtype of yOut");
  checks.HoldsOf(block == kMxBlock || (!is_one && block > 0 && block <= 1024 && block % kMxBlock == 0),
                 kBlock, "a multiple of 32 up to 1024, with x of FLOAT and with scaleAlg 2 32");
  HasModes(checks, call, kAxisModes);
  const double least = RealOf(call, kLeast);
  checks.HoldsOf(least == 0 || (least > 0 && Integer(call, kAlgorithm) == 1), kLeast,
                 "0, with scaleAlg 1 also more");
  checks.Rank(kX, 1, 7);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  checks.Integer(kAxis, -shape.rank, shape.rank - 1);
  if (!checks.Passed()) return checks.status();
  HasCodes(checks, call, shape, kY);
  const auto axis = static_cast<int>(AxisOf(Integer(call, kAxis), shape));
  return checks.Is(kScale, PairsShape(shape, axis, block)).status();
}

constexpr Check kAxisChecks[] = {
    NotNull(kX),
    NotNull(kY),
    NotNull(kScale),
    DtypesIn(kFloatsOn950, {kX}),
    DtypesIn(kMxCodesOn950, {kY}),
    DtypesIn(kPowers, {kScale}),
    Custom(AxisFits, kTiling),
    SizesRepresentable({kY, kScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    Packed<kY>(),
};

void SetAxis(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  engine::QuantiseMx job;
  job.block = Integer(call, kBlock);
  job.rule = RuleOf(call, kAxisModes, RealOf(call, kLeast));
  job.rounding = MxRoundingOf(TextOf(call, kRound));
  const auto axis = static_cast<int>(AxisOf(Integer(call, kAxis), shape));
  AddMx(ops, call, NumbersIn(ops, call, kX), shape, axis, kY, kScale, job);
  ops.SetJob();
}

// ---- aclnnDynamicMxQuantWithDualAxis and V2: the last two axes, each by itself ----

enum DualTensors { kY1 = 1, kScale1, kY2, kScale2 };
enum DualAttributes { kDualRound, kDualDtype, kDualAlgorithm, kDualMost };
constexpr Modes kDualModes{kY1, kDualRound, kDualDtype, kDualAlgorithm, kDualMost};

aclnnStatus DualFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  HasModes(checks, call, kDualModes);
  checks.Holds(call.Tensor(kY2).dtype == call.Tensor(kY1).dtype, kY2, "the dtype of y1Out").Rank(kX, 2, 7);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  HasCodes(checks, call, shape, kY1).Is(kY2, shape);
  return checks.Is(kScale1, PairsShape(shape, shape.rank - 1, kMxBlock))
      .Is(kScale2, PairsShape(shape, shape.rank - 2, kMxBlock))
      .status();
}

constexpr Check kDualChecks[] = {
    NotNull(kX),
    NotNull(kY1),
    NotNull(kScale1),
    NotNull(kY2),
    NotNull(kScale2),
    DtypesIn(kHalfAndBf16On950, {kX}),
    DtypesIn(kMxCodesOn950, {kY1, kY2}),
    DtypesIn(kPowers, {kScale1, kScale2}),
    Custom(DualFits, kTiling),
    SizesRepresentable({kY1, kScale1, kY2, kScale2}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    Packed<kY1>(),
    Packed<kY2>(),
};

void SetDual(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  const Numbers x = NumbersIn(ops, call, kX);
  engine::QuantiseMx job;
  job.rule = RuleOf(call, kDualModes);
  job.rounding = MxRoundingOf(TextOf(call, kDualRound));
  AddMx(ops, call, x, shape, shape.rank - 1, kY1, kScale1, job);
  AddMx(ops, call, x, shape, shape.rank - 2, kY2, kScale2, job);
  ops.SetJob();
}

// ---- aclnnDynamicBlockMxQuant: squares ----

enum SquareTensors { kSquareY = 1, kRowScale, kColumnScale };
enum SquareAttributes { kSquareRound, kSquareDtype, kSquareAlgorithm, kSquareMost };
constexpr Modes kSquareModes{kSquareY, kSquareRound, kSquareDtype, kSquareAlgorithm, kSquareMost};

aclnnStatus SquaresFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  HasModes(checks, call, kSquareModes);
  checks.HoldsOf(Integer(call, kSquareAlgorithm) != 1, kSquareAlgorithm, "0 or 2").Rank(kX, 2, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  HasCodes(checks, call, shape, kSquareY);
  return checks.Is(kRowScale, PairsShape(shape, shape.rank - 1, kMxBlock))
      .Is(kColumnScale, PairsShape(shape, shape.rank - 2, kMxBlock))
      .status();
}

constexpr Check kSquareChecks[] = {
    NotNull(kX),
    NotNull(kSquareY),
    NotNull(kRowScale),
    NotNull(kColumnScale),
    DtypesIn(kHalfAndBf16On950, {kX}),
    DtypesIn(kMxCodesOn950, {kSquareY}),
    DtypesIn(kPowers, {kRowScale, kColumnScale}),
    Custom(SquaresFit, kTiling),
    SizesRepresentable({kSquareY, kRowScale, kColumnScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    Packed<kSquareY>(),
};

void SetSquares(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  engine::QuantiseMxSquares job;
  Quantiser codes;
  SetCodes(ops, call, kSquareY, codes);
  job.x = NumbersIn(ops, call, kX);
  job.codes = codes.codes;
  job.dtype = codes.dtype;
  job.row_scales = ops.Out(kRowScale);
  job.column_scales = ops.Out(kColumnScale);
  job.rows = shape[shape.rank - 2];
  job.columns = shape[shape.rank - 1];
  job.batches = call.Tensor(kX).numel / (job.rows * job.columns);
  job.rule = RuleOf(call, kSquareModes);
  job.rounding = MxRoundingOf(TextOf(call, kSquareRound));
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {job.x.buffer, job.codes, job.row_scales, job.column_scales}, call.Tensor(kX).numel);
  ops.SetJob();
}

// ---- aclnnGroupedDynamicMxQuant and V2: blocks of rows, anew in each group ----

enum GroupTensors { kGroup = 1, kGroupY, kGroupScale };
enum GroupAttributes { kGroupRound, kGroupDtype, kGroupBlock, kGroupAlgorithm, kGroupMost };
constexpr Modes kGroupModes{kGroupY, kGroupRound, kGroupDtype, kGroupAlgorithm, kGroupMost};

aclnnStatus RoundGiven(const Check& check, OperatorCall& call) noexcept {
  if (!IsNull(call, kGroupRound)) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call).Add("parameter roundMode is null, accepted: rint."));
}
aclnnStatus GroupModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  HasModes(checks, call, kGroupModes);
  return checks.HoldsOf(Integer(call, kGroupBlock) == kMxBlock, kGroupBlock, "32").status();
}
aclnnStatus GroupShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kGroup, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  HasCodes(checks, call, shape, kGroupY);
  const int64_t groups = call.Tensor(kGroup).shape[0];
  checks.Is(kGroupScale, Shape{shape[0] / (2 * kMxBlock) + groups, shape[1], 2});
  return checks.Holds(groups > 0, kGroup, "one group or more").status();
}
aclnnStatus GroupCodesPacked(const Check& check, OperatorCall& call) noexcept {
  return LiesPacked(call, check, kGroupY);
}

// The first form has codes of FLOAT8 alone.
constexpr DtypeRule kFirstCodesOn950 = ByGeneration({}, {}, kMxFloat8s);
template <const DtypeRule& kCodes>
constexpr Check kGroupChecks[] = {
    NotNull(kX),
    NotNull(kGroup),
    NotNull(kGroupY),
    NotNull(kGroupScale),
    Custom(RoundGiven, ACLNN_ERR_PARAM_NULLPTR),
    DtypesIn(kHalfAndBf16On950, {kX}),
    DtypesIn(kInt32, {kGroup}),
    DtypesIn(kCodes, {kGroupY}),
    DtypesIn(kPowers, {kGroupScale}),
    Custom(GroupModesFit),
    Custom(GroupShapesFit),
    Custom(GroupCodesPacked),
    SizesRepresentable({kGroupY, kGroupScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kGroup}),
};

void SetGrouped(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantiseMx job;
  job.rule = RuleOf(call, kGroupModes);
  job.rounding = MxRoundingOf(TextOf(call, kGroupRound));
  job.groups.count = call.Tensor(kGroup).shape[0];
  job.groups.ends = {ops.In(kGroup, ACL_INT64), ACL_INT64, true};
  AddMx(ops, call, NumbersIn(ops, call, kX), call.Tensor(kX).shape, 0, kGroupY, kGroupScale, job);
  ops.SetJob();
}

// ---- aclnnDynamicDualLevelMxQuant: powers of two below a scale of larger blocks ----

enum LevelTensors { kSmooth = 1, kLevelY, kLevel0, kLevel1 };
enum LevelAttributes { kLevelRound, kBlock0, kBlock1 };
constexpr DtypeRule kE2m1On950 = ByGeneration({}, {}, DtypeSet(ACL_FLOAT4_E2M1));
constexpr int64_t kLevelBlock = 512;

aclnnStatus LevelsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(IsMxRounding(ACL_FLOAT4_E2M1, TextOf(call, kLevelRound), IsNull(call, kLevelRound)),
                 kLevelRound, "rint, round or floor");
  checks.Integer(kBlock0, kLevelBlock, kLevelBlock).Integer(kBlock1, kMxBlock, kMxBlock).Rank(kX, 1, 7);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  const int last = shape.rank - 1;
  checks.IsIfGiven(kSmooth, Shape{shape[last]});
  HasCodes(checks, call, shape, kLevelY);
  Shape scales = shape;
  scales.dim[last] = shape[last] / kLevelBlock + (shape[last] % kLevelBlock != 0 ? 1 : 0);
  return checks.Is(kLevel0, scales).Is(kLevel1, PairsShape(shape, last, kMxBlock)).status();
}

constexpr Check kLevelChecks[] = {
    NotNull(kX),
    NotNull(kLevelY),
    NotNull(kLevel0),
    NotNull(kLevel1),
    DtypesIn(kHalfAndBf16On950, {kX}),
    IfGiven<kSmooth>(SameDtype(kX, kSmooth)),
    DtypesIn(kE2m1On950, {kLevelY}),
    DtypesIn(kFloat, {kLevel0}),
    DtypesIn(kPowers, {kLevel1}),
    Custom(LevelsFit, kTiling),
    SizesRepresentable({kLevelY, kLevel0, kLevel1}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kSmooth>(InsideStorage({kSmooth})),
    Packed<kLevelY>(),
};

void SetLevels(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  const int64_t numel = call.Tensor(kX).numel;
  engine::DivideBlocks divide;
  divide.x = NumbersIn(ops, call, kX);
  divide.smooth = NumbersIn(ops, call, kSmooth);
  divide.scales = ops.Out(kLevel0);
  divide.to = {ops.Bytes(numel * SizeOf(call, kX)), call.Tensor(kX).dtype, true};
  divide.columns = shape[shape.rank - 1];
  divide.rows = numel / divide.columns;
  AddRows(ops, divide, {divide.x.buffer, BufferOf(divide.smooth), divide.scales, divide.to.buffer});
  engine::QuantiseMx job;
  job.rule = PowerRuleOf(ACL_FLOAT4_E2M1, 0);
  job.rounding = MxRoundingOf(TextOf(call, kLevelRound));
  AddMx(ops, call, divide.to, shape, shape.rank - 1, kLevelY, kLevel1, job);
  ops.SetJob();
}

// ---- aclnnAntiMxQuant ----

enum AntiTensors { kAntiScale = 1, kAntiY };
enum AntiAttributes { kAntiAxis, kAntiDtype };

aclnnStatus AntiFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(Integer(call, kAntiDtype) == call.Tensor(kAntiY).dtype, kAntiDtype, "the dtype of y");
  checks.Rank(kX, 1, 7);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kX).shape;
  const bool is_packed = kFloat4s.Contains(call.Tensor(kX).dtype);
  checks.Holds(!is_packed || shape[shape.rank - 1] % 2 == 0, kX, "of FLOAT4 an even last dim");
  checks.Is(kAntiY, shape).Rank(kAntiScale, shape.rank + 1, shape.rank + 1);
  return checks.Integer(kAntiAxis, -shape.rank, shape.rank - 1).status();
}
aclnnStatus AntiCodesPacked(const Check& check, OperatorCall& call) noexcept {
  return LiesPacked(call, check, kX);
}
aclnnStatus AntiScaleFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kX).shape;
  const auto axis = static_cast<int>(AxisOf(Integer(call, kAntiAxis), shape));
  return ShapeChecks(check, call).Is(kAntiScale, PairsShape(shape, axis, kMxBlock)).status();
}

constexpr Check kAntiChecks[] = {
    NotNull(kX),
    NotNull(kAntiScale),
    NotNull(kAntiY),
    DtypesIn(kMxCodesOn950, {kX}),
    DtypesIn(kPowers, {kAntiScale}),
    DtypesIn(kFloatsOn950, {kAntiY}),
    Custom(AntiFits),
    SizesRepresentable({kAntiY}),
    DoneIfEmpty({kX}),
    Custom(AntiCodesPacked),
    Custom(AntiScaleFits, kTiling),
    InsideStorage({kX, kAntiScale}),
};

void SetAnti(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& shape = call.Tensor(kX).shape;
  const auto axis = static_cast<int>(AxisOf(Integer(call, kAntiAxis), shape));
  engine::DequantiseMx job;
  job.codes = CodesIn(ops, call, kX);
  job.scales = ops.In(kAntiScale);
  job.to = NumbersOut(ops, call, kAntiY);
  for (int dim = 0; dim < axis; ++dim) job.outer *= shape[dim];
  job.length = shape[axis];
  for (int dim = axis + 1; dim < shape.rank; ++dim) job.inner *= shape[dim];
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {job.codes.buffer, job.scales, job.to.buffer}, call.Tensor(kX).numel);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDynamicMxQuant) {
  return dense::RunOpList(call, kAxisChecks, workspaceSize, executor, SetAxis);
}
PORTACL_PHASE_1(aclnnDynamicMxQuantV2) {
  return dense::RunOpList(call, kAxisChecks, workspaceSize, executor, SetAxis);
}
PORTACL_PHASE_1(aclnnDynamicMxQuantV3) {
  return dense::RunOpList(call, kAxisChecks, workspaceSize, executor, SetAxis);
}
PORTACL_PHASE_1(aclnnDynamicMxQuantWithDualAxis) {
  return dense::RunOpList(call, kDualChecks, workspaceSize, executor, SetDual);
}
PORTACL_PHASE_1(aclnnDynamicMxQuantWithDualAxisV2) {
  return dense::RunOpList(call, kDualChecks, workspaceSize, executor, SetDual);
}
PORTACL_PHASE_1(aclnnDynamicBlockMxQuant) {
  return dense::RunOpList(call, kSquareChecks, workspaceSize, executor, SetSquares);
}
PORTACL_PHASE_1(aclnnGroupedDynamicMxQuant) {
  return dense::RunOpList(call, kGroupChecks<kFirstCodesOn950>, workspaceSize, executor, SetGrouped);
}
PORTACL_PHASE_1(aclnnGroupedDynamicMxQuantV2) {
  return dense::RunOpList(call, kGroupChecks<kMxCodesOn950>, workspaceSize, executor, SetGrouped);
}
PORTACL_PHASE_1(aclnnAntiMxQuant) {
  return dense::RunOpList(call, kAntiChecks, workspaceSize, executor, SetAnti);
}
PORTACL_PHASE_1(aclnnDynamicDualLevelMxQuant) {
  return dense::RunOpList(call, kLevelChecks, workspaceSize, executor, SetLevels);
}
