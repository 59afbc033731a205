// aclnnSwigluMxQuant and its forms for both axes, the latter also of gradients: gated rows as codes that share powers
// of two.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/swiglu_mx_quant_functions.h"

#include "aclnnop/quantisation/mx.h"

namespace portacl {
namespace {

using namespace quantisation;

constexpr DtypeRule kHalfAndBf16On950 = ByGeneration({}, {}, kHalfAndBf16);
constexpr DtypeSet kMxCodes = kMxFloat8s | kFloat4s;

Shape HalfOf(const Shape& x) {
  Shape half = x;
  half.dim[x.rank - 1] /= 2;
  return half;
}

// Adds the op that writes gated rows as FLOAT to the workspace. The caller has set the fields of `form`.
Numbers AddGated(DenseOpList& ops, const OperatorCall& call, int x, engine::SwigluRows rows) {
  const Shape& shape = call.Tensor(x).shape;
  rows.columns = shape[shape.rank - 1] / 2;
  rows.rows = call.Tensor(x).numel / (2 * rows.columns);
  rows.x = NumbersIn(ops, call, x);
  rows.to = {ops.Floats(rows.rows * rows.columns), ACL_FLOAT, true};
  AddRows(ops, rows, {rows.x.buffer, BufferOf(rows.groups.ends)});
  return rows.to;
}

// ---- SwigluMxQuant ----

enum Tensors { kX, kGroup, kY, kScale };
enum Attributes {
  kDim,
  kLeft,
  kForm,
  kLimit,
  kAlpha,
  kShift,
  kGroupMode,
  kAxis,
  kType,
  kRound,
  kAlgorithm,
  kMost
};
constexpr Modes kModes{kY, kRound, kType, kAlgorithm, kMost};

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  HasModes(checks, call, kModes).Rank(kX, 2, 7).Integer(kForm, 0, 1).Integer(kGroupMode, 0, 1);
  if (call.IsGiven(kGroup)) checks.Rank(kGroup, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int last = x.rank - 1;
  checks.HoldsOf(Integer(call, kDim) == -1 || Integer(call, kDim) == last, kDim, "the last dim");
  const int64_t axis = Integer(call, kAxis) < 0 ? Integer(call, kAxis) + x.rank : Integer(call, kAxis);
  checks.HoldsOf(axis == last || (axis == last - 1 && !call.IsGiven(kGroup)), kAxis,
                 "the last dim, without groupIndexOptional also the one before");
  checks.Holds(x[last] % 2 == 0, kX, "an even last dim");
  if (!checks.Passed()) return checks.status();
  const Shape half = HalfOf(x);
  HasCodes(checks, call, half, kY);
  return checks.Is(kScale, PairsShape(half, static_cast<int>(axis), kMxBlock)).status();
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kY),
    NotNull(kScale),
    DtypesIn(kHalfAndBf16On950, {kX}),
    IfGiven<kGroup>(DtypesIn(kInt64, {kGroup})),
    DtypesIn(kMxCodes, {kY}),
    DtypesIn(kPowers, {kScale}),
    Custom(Fits, kTiling),
    SizesRepresentable({kY, kScale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kGroup>(InsideStorage({kGroup})),
    Packed<kY>(),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  engine::SwigluRows rows;
  rows.form =
      Integer(call, kForm) == 0 ? engine::GatedRows::Form::kSilu : engine::GatedRows::Form::kClampedPairs;
  rows.activates_left = Integer(call, kLeft) != 0;
  rows.limit = static_cast<float>(RealOf(call, kLimit));
  rows.alpha = static_cast<float>(RealOf(call, kAlpha));
  rows.shift = static_cast<float>(RealOf(call, kShift));
  if (call.IsGiven(kGroup)) {
    rows.groups.ends = {ops.In(kGroup), ACL_INT64, true};
    rows.groups.count = call.Tensor(kGroup).shape[0];
    rows.groups.are_counts = Integer(call, kGroupMode) == 0;
  }
  const Numbers gated = AddGated(ops, call, kX, rows);
  engine::QuantiseMx job;
  job.covered = rows.groups;
  job.rule = RuleOf(call, kModes);
  job.rounding = MxRoundingOf(TextOf(call, kRound));
  const int64_t axis = Integer(call, kAxis) < 0 ? Integer(call, kAxis) + x.rank : Integer(call, kAxis);
  AddMx(ops, call, gated, HalfOf(x), static_cast<int>(axis), kY, kScale, job);
  ops.SetJob();
}

// ---- both axes ----

// The tensors of a call, and its attributes.
struct Positions {
  int slope, group, y1, scale1, y2, scale2;
  Modes modes;
  int left;
};
enum DualAttributes { kDualLeft, kDualRound, kDualAlgorithm, kDualType, kDualMost };
constexpr Positions kForward{-1,       1, 2, 3, 4, 5, {2, kDualRound, kDualType, kDualAlgorithm, kDualMost},
                             kDualLeft};
constexpr Positions kBackward{1,        2, 3, 4, 5, 6, {3, kDualRound, kDualType, kDualAlgorithm, kDualMost},
                              kDualLeft};

aclnnStatus DualFitsAt(const Check& check, const OperatorCall& call, const Positions& at) {
  ShapeChecks checks(check, call);
  HasModes(checks, call, at.modes).Rank(kX, 2, 7);
  checks.Holds(call.Tensor(at.y2).dtype == call.Tensor(at.y1).dtype, at.y2, "y1Out's dtype");
  checks.Holds(!call.IsGiven(at.group), at.group, "a null pointer");
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  checks.Holds(x[x.rank - 1] % 2 == 0, kX, "an even last dim");
  const Shape half = HalfOf(x);
  if (at.slope >= 0) checks.Is(at.slope, half);
  const Shape& coded = at.slope >= 0 ? x : half;
  HasCodes(checks, call, coded, at.y1);
  HasCodes(checks, call, coded, at.y2);
  checks.Is(at.scale1, PairsShape(coded, coded.rank - 1, kMxBlock));
  return checks.Is(at.scale2, PairsShape(coded, coded.rank - 2, kMxBlock)).status();
}
template <const Positions& kAt>
aclnnStatus DualFits(const Check& check, OperatorCall& call) noexcept {
  return DualFitsAt(check, call, kAt);
}

template <const Positions& kAt>
constexpr auto kDualOutputs = List(NotNull(kAt.y1), NotNull(kAt.scale1), NotNull(kAt.y2),
                                   NotNull(kAt.scale2));
template <const Positions& kAt>
constexpr auto kDualRest = List(DtypesIn(kHalfAndBf16On950, {kX}),
                                IfGiven<kAt.group>(DtypesIn(kInt64, {kAt.group})),
                                DtypesIn(kMxCodes, {kAt.y1, kAt.y2}),
                                DtypesIn(kPowers, {kAt.scale1, kAt.scale2}), Custom(DualFits<kAt>, kTiling),
                                SizesRepresentable({kAt.y1, kAt.scale1, kAt.scale2}), DoneIfEmpty({kX}),
                                InsideStorage({kX}), Packed<kAt.y1>(), Packed<kAt.y2>());
constexpr auto kForwardChecks = Join(List(NotNull(kX)), kDualOutputs<kForward>, kDualRest<kForward>);
constexpr auto kBackwardChecks =
    Join(List(NotNull(kX), NotNull(kBackward.slope)),
         Join(kDualOutputs<kBackward>, List(SameDtype(kX, kBackward.slope)),
              Join(kDualRest<kBackward>, List(InsideStorage({kBackward.slope})))));

void AddBothAxes(DenseOpList& ops, const OperatorCall& call, const Numbers& numbers, const Shape& shape,
                 const Positions& at) {
  engine::QuantiseMx job;
  job.rule = RuleOf(call, at.modes);
  job.rounding = MxRoundingOf(TextOf(call, at.modes.round));
  AddMx(ops, call, numbers, shape, shape.rank - 1, at.y1, at.scale1, job);
  AddMx(ops, call, numbers, shape, shape.rank - 2, at.y2, at.scale2, job);
}
void SetForward(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::SwigluRows rows;
  rows.activates_left = Integer(call, kForward.left) != 0;
  const Numbers gated = AddGated(ops, call, kX, rows);
  AddBothAxes(ops, call, gated, HalfOf(call.Tensor(kX).shape), kForward);
  ops.SetJob();
}
void SetBackward(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  engine::SwigluGradient job;
  job.columns = x[x.rank - 1] / 2;
  job.rows = call.Tensor(kX).numel / (2 * job.columns);
  job.x = NumbersIn(ops, call, kX);
  job.gradient = NumbersIn(ops, call, kBackward.slope);
  job.to = {ops.Floats(call.Tensor(kX).numel), ACL_FLOAT, true};
  job.activates_left = Integer(call, kBackward.left) != 0;
  AddRows(ops, job, {job.x.buffer, job.gradient.buffer});
  AddBothAxes(ops, call, job.to, x, kBackward);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSwigluMxQuant) { return dense::RunOpList(call, kChecks, workspaceSize, executor, Set); }
PORTACL_PHASE_1(aclnnSwigluMxQuantWithDualAxis) {
  return dense::RunOpList(call, kForwardChecks, workspaceSize, executor, SetForward);
}
PORTACL_PHASE_1(aclnnSwigluBackwardMxQuantWithDualAxis) {
  return dense::RunOpList(call, kBackwardChecks, workspaceSize, executor, SetBackward);
}
