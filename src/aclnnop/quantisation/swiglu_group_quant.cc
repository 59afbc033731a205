// aclnnSwigluGroupQuant and its gradient: gated rows of groups, weighted, as codes with scales of blocks, powers of
// two or groups.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/swiglu_group_quant_functions.h"

#include "aclnnop/quantisation/mx.h"

namespace portacl {
namespace {

using namespace quantisation;

constexpr DtypeRule kFloatsOn950 = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr double kNoLimit = -1;
constexpr float kLeastGreatest = 1e-4f;

// ---- forward ----

enum Tensors { kX, kWeight, kGroup, kScale, kY, kYScale, kOrigin };
enum Attributes { kType, kMode, kBlock, kRounds, kLimit, kMost, kWritesOrigin };
enum Mode { kBlocks, kPowersOfTwo, kGiven, kOfGroups };
constexpr int64_t kRowBlock = 128;

bool WritesOrigin(const OperatorCall& call) noexcept { return Integer(call, kWritesOrigin) != 0; }
bool WritesScale(const OperatorCall& call) noexcept { return Integer(call, kMode) != kGiven; }
bool IsGivenScale(const OperatorCall& call) noexcept { return Integer(call, kMode) == kGiven; }

Shape HalfOf(const Shape& x) {
  Shape half = x;
  half.dim[x.rank - 1] /= 2;
  return half;
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kMode, kBlocks, kOfGroups);
  if (!checks.Passed()) return checks.status();
  const aclDataType y = call.Tensor(kY).dtype;
  const int64_t mode = Integer(call, kMode);
  checks.HoldsOf(Integer(call, kType) == y, kType, "the dtype of yOut");
  if (mode == kBlocks) checks.Holds(kMxFloat8s.Contains(y), kY, "FLOAT8_E4M3FN or FLOAT8_E5M2");
  if (mode == kPowersOfTwo) checks.Holds((kMxFloat8s | kFloat4s).Contains(y), kY, "FLOAT8 or FLOAT4");
  if (mode >= kGiven) checks.Holds(y == ACL_HIFLOAT8, kY, "HIFLOAT8");
  const int64_t block = mode == kBlocks ? kRowBlock : kMxBlock;
  checks.HoldsOf(mode >= kGiven || Integer(call, kBlock) == block || Integer(call, kBlock) == 0, kBlock,
                 "0, with quantMode 0 128, with quantMode 1 32");
  const double limit = RealOf(call, kLimit);
  checks.HoldsOf(limit == kNoLimit || limit > 0, kLimit, "-1, or above 0");
  const double most = RealOf(call, kMost);
  checks.HoldsOf(mode != kOfGroups || (most >= 0 && most <= 32768), kMost, "0 to 32768");
  if (WritesScale(call))
    checks.Holds(call.Tensor(kYScale).dtype == (mode == kPowersOfTwo ? ACL_FLOAT8_E8M0 : ACL_FLOAT), kYScale,
                 "FLOAT8_E8M0 with quantMode 1, else FLOAT");
  if (WritesOrigin(call))
    checks.Holds(call.Tensor(kOrigin).dtype == call.Tensor(kX).dtype, kOrigin, "x's dtype");
  return checks.status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 7);
  if (call.IsGiven(kGroup)) checks.Rank(kGroup, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int last = x.rank - 1;
  checks.Holds(x[last] % 2 == 0, kX, "an even last dim");
  const Shape half = HalfOf(x);
  int64_t rows = 1;
  for (int dim = 0; dim < last; ++dim) rows *= x[dim];
  const int64_t groups = call.IsGiven(kGroup) ? call.Tensor(kGroup).shape[0] : 1;
  if (call.IsGiven(kWeight))
    checks.Holds(call.Tensor(kWeight).numel == rows, kWeight, "a number for each row");
  checks.Holds(groups >= 1, call.IsGiven(kGroup) ? int{kGroup} : int{kX}, "at least one group");
  if (IsGivenScale(call)) checks.Is(kScale, Shape{groups});
  HasCodes(checks, call, half, kY);
  if (WritesOrigin(call)) checks.Is(kOrigin, half);
  switch (Integer(call, kMode)) {
    case kBlocks: {
      Shape blocks = half;
      blocks.dim[last] = half[last] / kRowBlock + (half[last] % kRowBlock != 0 ? 1 : 0);
      checks.Is(kYScale, blocks);
      break;
    }
    case kPowersOfTwo:
      checks.Is(kYScale, PairsShape(half, last, kMxBlock));
      break;
    case kOfGroups:
      checks.Is(kYScale, Shape{groups});
      break;
    default:
      break;
  }
  return checks.status();
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kY),
    If(WritesScale, NotNull(kYScale)),
    If(WritesOrigin, NotNull(kOrigin)),
    If(IsGivenScale, NotNull(kScale)),
    DtypesIn(kFloatsOn950, {kX}),
    IfGiven<kWeight>(DtypesIn(kFloat, {kWeight})),
    IfGiven<kGroup>(DtypesIn(kInt64, {kGroup})),
    IfGiven<kScale>(DtypesIn(kFloat, {kScale})),
    Custom(ModesFit, kTiling),
    Custom(ShapesFit, kTiling),
    SizesRepresentable({kY}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kWeight>(InsideStorage({kWeight})),
    IfGiven<kGroup>(InsideStorage({kGroup})),
    If(IsGivenScale, InsideStorage({kScale})),
    Packed<kY>(),
};

engine::RowGroups GroupsOf(DenseOpList& ops, const OperatorCall& call, int tensor) {
  engine::RowGroups groups;
  if (!call.IsGiven(tensor)) return groups;
  groups.ends = {ops.In(tensor), ACL_INT64, true};
  groups.count = call.Tensor(tensor).shape[0];
  groups.are_counts = true;
  return groups;
}

// Adds the op that quantises gated rows with a scale for each group, given or computed.
void AddScaled(DenseOpList& ops, const OperatorCall& call, const engine::SwigluRows& rows, bool keeps) {
  engine::QuantisePlain job;
  job.rows = rows.rows;
  job.columns = rows.columns;
  job.groups = rows.groups;
  job.x = rows.to;
  Quantiser& quantiser = job.quantiser[0];
  SetCodes(ops, call, kY, quantiser, keeps);
  quantiser.scale.by_group = true;
  quantiser.scale.rows = std::max<int64_t>(rows.groups.count, 1);
  if (IsGivenScale(call)) {
    quantiser.kind = Quantiser::Kind::kMultiply;
    quantiser.scale.numbers = NumbersIn(ops, call, kScale);
  } else {
    engine::GroupScales scales;
    scales.x = rows.to;
    scales.groups = rows.groups;
    scales.rows = rows.rows;
    scales.columns = rows.columns;
    const auto most = static_cast<float>(RealOf(call, kMost));
    scales.most = most == 0 ? engine::GreatestNumber(ACL_HIFLOAT8) : most;
    const Numbers found = NumbersOut(ops, call, kYScale);
    scales.scales = found.buffer;
    AddRows(ops, scales, {scales.x.buffer, scales.scales, BufferOf(scales.groups.ends)});
    quantiser.kind = Quantiser::Kind::kDivide;
    quantiser.passes_zero = true;
    quantiser.scale.numbers = found;
  }
  AddRows(ops, job,
          {job.x.buffer, quantiser.codes, quantiser.scale.numbers.buffer, BufferOf(job.groups.ends)});
}

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const bool keeps = call.IsGiven(kGroup);
  engine::SwigluRows rows;
  rows.columns = x[x.rank - 1] / 2;
  rows.rows = call.Tensor(kX).numel / (2 * rows.columns);
  rows.activates_left = true;
  if (RealOf(call, kLimit) != kNoLimit) {
    rows.form = engine::GatedRows::Form::kClampedHalves;
    rows.limit = static_cast<float>(RealOf(call, kLimit));
  }
  rows.x = NumbersIn(ops, call, kX);
  rows.weight.numbers = NumbersIn(ops, call, kWeight);
  rows.weight.rows = rows.rows;
  rows.groups = GroupsOf(ops, call, kGroup);
  const auto add_rows = [&](const Numbers& to) {
    rows.to = to;
    AddRows(ops, rows, {rows.x.buffer, BufferOf(rows.weight.numbers), BufferOf(rows.groups.ends), to.buffer});
  };
  if (WritesOrigin(call)) add_rows(NumbersOut(ops, call, kOrigin, keeps));
  add_rows({ops.Floats(rows.rows * rows.columns), ACL_FLOAT, true});
  const aclDataType codes = call.Tensor(kY).dtype;
  switch (Integer(call, kMode)) {
    case kBlocks: {
      engine::QuantiseRowBlocks job;
      job.x = rows.to;
      Quantiser quantiser;
      SetCodes(ops, call, kY, quantiser, keeps);
      job.codes = quantiser.codes;
      job.dtype = codes;
      job.scales = NumbersOut(ops, call, kYScale, keeps).buffer;
      job.rows = rows.rows;
      job.columns = rows.columns;
      job.most = engine::GreatestNumber(codes);
      job.least = kLeastGreatest;
      job.rounds_up = Integer(call, kRounds) != 0;
      job.covered = rows.groups;
      AddRows(ops, job, {job.x.buffer, job.codes, job.scales, BufferOf(job.covered.ends)});
      break;
    }
    case kPowersOfTwo: {
      engine::QuantiseMx job;
      job.covered = rows.groups;
      const bool is_byte = kMxFloat8s.Contains(codes);
      job.rule = PowerRuleOf(codes, 0);
      job.rule.kind = is_byte ? engine::PowerRule::Kind::kQuotient : engine::PowerRule::Kind::kBfloat16;
      if (is_byte) {
        job.rule.inverse = 1.0f / engine::GreatestNumber(codes);
        job.rule.least_greatest = kLeastGreatest;
      }
      job.rule.fraction = 0x7F;
      const Shape half = HalfOf(x);
      AddMx(ops, call, rows.to, half, half.rank - 1, kY, kYScale, job);
      break;
    }
    default:
      AddScaled(ops, call, rows, keeps);
      break;
  }
  ops.SetJob();
}

// ---- gradient ----

enum GradTensors { kSlope, kGradX, kGradWeight, kGradOrigin, kGradGroup, kXOut, kWeightOut };
enum GradAttributes { kGradLimit };

bool WritesWeight(const OperatorCall& call) noexcept {
  return call.IsGiven(kWeightOut) && call.IsGiven(kGradWeight);
}
bool IsLimited(const OperatorCall& call) { return RealOf(call, kGradLimit) > 0; }

aclnnStatus GradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kGradX).dtype;
  checks.Holds(call.Tensor(kSlope).dtype == x, kSlope, "x's dtype");
  checks.Holds(call.Tensor(kXOut).dtype == x, kXOut, "x's dtype");
  if (call.IsGiven(kGradOrigin)) checks.Holds(call.Tensor(kGradOrigin).dtype == x, kGradOrigin, "x's dtype");
  if (WritesWeight(call)) {
    checks.Given(kGradOrigin, "with gradWeightOutOptional");
    checks.Holds(call.Tensor(kWeightOut).dtype == ACL_FLOAT, kWeightOut, "FLOAT");
  }
  const double limit = RealOf(call, kGradLimit);
  checks.HoldsOf(limit == kNoLimit || limit >= 0, kGradLimit, "-1, or 0 or more").Rank(kGradX, 2, 7);
  if (call.IsGiven(kGradGroup)) checks.Rank(kGradGroup, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& shape = call.Tensor(kGradX).shape;
  const int last = shape.rank - 1;
  checks.Holds(shape[last] % 2 == 0, kGradX, "an even last dim");
  const Shape half = HalfOf(shape);
  int64_t rows = 1;
  for (int dim = 0; dim < last; ++dim) rows *= shape[dim];
  checks.Is(kSlope, half).IsIfGiven(kGradOrigin, half).Is(kXOut, shape);
  const auto has_rows = [&](int tensor) {
    checks.Holds(call.Tensor(tensor).numel == rows, tensor, "a number for each row");
  };
  if (call.IsGiven(kGradWeight)) has_rows(kGradWeight);
  if (WritesWeight(call)) has_rows(kWeightOut);
  return checks.status();
}

constexpr Check kGradChecks[] = {
    NotNull(kSlope),
    NotNull(kGradX),
    NotNull(kXOut),
    DtypesIn(kFloatsOn950, {kGradX}),
    IfGiven<kGradWeight>(DtypesIn(kFloat, {kGradWeight})),
    IfGiven<kGradGroup>(DtypesIn(kInt64, {kGradGroup})),
    Custom(GradFits, kTiling),
    SizesRepresentable({kXOut}),
    DoneIfEmpty({kGradX}),
    InsideStorage({kSlope, kGradX}),
    IfGiven<kGradWeight>(InsideStorage({kGradWeight})),
    IfGiven<kGradOrigin>(InsideStorage({kGradOrigin})),
    IfGiven<kGradGroup>(InsideStorage({kGradGroup})),
};

void SetGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kGradX).shape;
  const bool keeps = call.IsGiven(kGradGroup);
  engine::SwigluGradient job;
  job.columns = x[x.rank - 1] / 2;
  job.rows = call.Tensor(kGradX).numel / (2 * job.columns);
  job.x = NumbersIn(ops, call, kGradX);
  job.gradient = NumbersIn(ops, call, kSlope);
  job.weight = NumbersIn(ops, call, kGradWeight);
  job.groups = GroupsOf(ops, call, kGradGroup);
  job.is_limited = IsLimited(call);
  job.limit = static_cast<float>(RealOf(call, kGradLimit));
  job.to = NumbersOut(ops, call, kXOut, keeps);
  if (WritesWeight(call)) {
    job.origin = NumbersIn(ops, call, kGradOrigin);
    job.weight_gradient = NumbersOut(ops, call, kWeightOut, keeps);
  }
  AddRows(ops, job,
          {job.x.buffer, job.gradient.buffer, BufferOf(job.weight), BufferOf(job.origin),
           BufferOf(job.groups.ends), job.to.buffer, BufferOf(job.weight_gradient)});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSwigluGroupQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnSwigluGroupQuantGrad) {
  return dense::RunOpList(call, kGradChecks, workspaceSize, executor, SetGrad);
}
