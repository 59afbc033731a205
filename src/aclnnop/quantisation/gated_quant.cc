// aclnnDequantSwigluQuant and its second form, aclnnSwiGluQuantV2: multiply an activation of one half of a
// row by the other half, and quantise.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/gated_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;
using engine::QuantiseGated;

void AddJob(DenseOpList& ops, QuantiseGated& job) {
  AddRows(ops, job,
          {job.x.buffer, BufferOf(job.weight_scale.numbers), BufferOf(job.activation_scale.numbers),
           BufferOf(job.first_bias.numbers), BufferOf(job.bias.numbers), job.quantiser[0].codes,
           BufferOf(job.quantiser[0].scale.numbers), BufferOf(job.quantiser[0].offset.numbers),
           BufferOf(job.quantiser[0].row_step), BufferOf(job.groups.ends)});
  ops.SetJob();
}

// Returns the shape of rows: all dims but the last.
Shape RowsOf(const Shape& shape) {
  Shape rows = shape;
  rows.rank = shape.rank - 1;
  return rows;
}

// ---- DequantSwigluQuant ----

enum Tensors { kX, kWeightScale, kActivationScale, kBias, kQuantScale, kQuantOffset, kGroup, kY, kStep };
enum Attributes { kLeft, kMode, kDstType, kRound, kDim, kForm, kLimit, kAlpha, kShift };

constexpr DtypeRule kDtypesOfX =
    ByGeneration({}, DtypeSet(ACL_INT32, ACL_BF16), DtypeSet(ACL_INT32, ACL_BF16, ACL_FLOAT16));
constexpr DtypeSet kBiases{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32};
constexpr DtypeSet kQuantScales = kFloatHalfAndBf16;
constexpr DtypeRule kCodes = ByGeneration({}, kInt8, kInt8 | kFloat8s);

bool IsDynamic(const OperatorCall& call) noexcept { return TextOf(call, kMode) == "dynamic"; }
bool IsDequantised(const OperatorCall& call) noexcept { return call.Tensor(kX).dtype == ACL_INT32; }
int64_t GroupsOf(const OperatorCall& call) noexcept {
  return call.IsGiven(kGroup) ? call.Tensor(kGroup).shape[0] : 0;
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_static = IsNull(call, kMode) || TextOf(call, kMode) == "static";
  checks.HoldsOf(is_static || IsDynamic(call), kMode, "static or dynamic");
  checks.HoldsOf(Integer(call, kDstType) == call.Tensor(kY).dtype, kDstType, "the dtype of yOut");
  checks.HoldsOf(IsNull(call, kRound) || TextOf(call, kRound) == "rint", kRound, "rint");
  const int64_t dim = Integer(call, kDim);
  checks.HoldsOf(dim == -1 || dim == call.Tensor(kX).shape.rank - 1, kDim, "the last dim");
  checks.Integer(kForm, 0, 3);
  if (is_static) {
    checks.Given(kQuantScale, "with quantMode static").Given(kQuantOffset, "with quantMode static");
  } else if (checks.Passed() && call.IsGiven(kQuantOffset)) {
    checks.Holds(false, kQuantOffset, "null with quantMode dynamic");
  }
  if (!IsDequantised(call)) {
    for (const int tensor : {kWeightScale, kActivationScale, kBias}) {
      if (call.IsGiven(tensor)) checks.Holds(false, tensor, "null unless x is INT32");
    }
    return checks.status();
  }
  return checks.Given(kWeightScale, "with x of INT32").status();
}

bool IsRowOrGroups(const Shape& shape, int64_t columns, int64_t groups) {
  if (shape == Shape{columns}) return true;
  return shape == Shape{std::max<int64_t>(groups, 1), columns};
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 8);
  if (call.IsGiven(kGroup)) checks.Rank(kGroup, 1, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t both = x[x.rank - 1];
  if (call.IsGiven(kGroup)) {
    const Shape& group = call.Tensor(kGroup).shape;
    checks.Holds(group[0] >= 1 && (group.rank == 1 || group[1] == 2), kGroup, "[G] or [G,2]");
  }
  checks.Holds(both >= 2 && both % 2 == 0, kX, "an even last dim");
  if (!checks.Passed()) return checks.status();
  const int64_t columns = both / 2;
  const int64_t groups = GroupsOf(call);
  Shape y = x;
  y.dim[x.rank - 1] = columns;
  checks.Is(kY, y).Is(kStep, RowsOf(x));
  if (call.IsGiven(kWeightScale))
    checks.Holds(IsRowOrGroups(call.Tensor(kWeightScale).shape, both, groups), kWeightScale,
                 "[2H] or [G,2H]");
  if (call.IsGiven(kBias))
    checks.Holds(IsRowOrGroups(call.Tensor(kBias).shape, both, groups), kBias, "[2H] or [G,2H]");
  if (call.IsGiven(kActivationScale))
    checks.Holds(call.Tensor(kActivationScale).numel == call.Tensor(kX).numel / both, kActivationScale,
                 "one element for each row");
  for (const int tensor : {kQuantScale, kQuantOffset}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    const bool is_one =
        shape == Shape{1} || (groups > 0 && (shape == Shape{groups} || shape == Shape{groups, 1}));
    checks.Holds(IsRowOrGroups(shape, columns, groups) || (!IsDynamic(call) && is_one), tensor,
                 "[H] or [G,H], with quantMode static also [1] or [G]");
  }
  return checks.status();
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kY),
    NotNull(kStep),
    DtypesIn(kDtypesOfX, {kX}),
    IfGiven<kWeightScale>(DtypesIn(kFloat, {kWeightScale})),
    IfGiven<kActivationScale>(DtypesIn(kFloat, {kActivationScale})),
    IfGiven<kBias>(DtypesIn(kBiases, {kBias})),
    IfGiven<kQuantScale>(DtypesIn(kQuantScales, {kQuantScale})),
    IfGiven<kQuantOffset>(DtypesIn(kQuantScales, {kQuantOffset})),
    IfGiven<kGroup>(DtypesIn(kInt64, {kGroup})),
    DtypesIn(kCodes, {kY}),
    DtypesIn(kFloat, {kStep}),
    Custom(ModesFit, kTiling),
    Custom(ShapesFit, kTiling),
    SizesRepresentable({kY, kStep}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
    IfGiven<kWeightScale>(InsideStorage({kWeightScale})),
    IfGiven<kActivationScale>(InsideStorage({kActivationScale})),
    IfGiven<kBias>(InsideStorage({kBias})),
    IfGiven<kQuantScale>(InsideStorage({kQuantScale})),
    IfGiven<kQuantOffset>(InsideStorage({kQuantOffset})),
    IfGiven<kGroup>(InsideStorage({kGroup})),
};

// Returns a factor that is one number, or one for each column, each group, or both. A single dim of length
// `groups` is taken as groups, even if there are as many columns.
Factors FactorsOf(DenseOpList& ops, const OperatorCall& call, int tensor, int64_t columns,
                  int64_t groups = 0) {
  Factors factors;
  factors.numbers = NumbersIn(ops, call, tensor);
  if (!factors.numbers.is_there) return factors;
  const Shape& shape = call.Tensor(tensor).shape;
  factors.by_column =
      shape[shape.rank - 1] == columns && !(shape.rank == 1 && groups > 0 && shape[0] == groups);
  factors.rows = call.Tensor(tensor).numel / (factors.by_column ? columns : 1);
  factors.by_group = factors.rows > 1;
  return factors;
}

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseGated job;
  job.columns = call.Tensor(kY).shape[call.Tensor(kY).shape.rank - 1];
  job.rows = call.Tensor(kY).numel / job.columns;
  job.form = static_cast<QuantiseGated::Form>(Integer(call, kForm));
  job.activates_left = Integer(call, kLeft) != 0;
  job.limit = static_cast<float>(RealOf(call, kLimit));
  job.alpha = static_cast<float>(RealOf(call, kAlpha));
  job.shift = static_cast<float>(RealOf(call, kShift));
  job.x = NumbersIn(ops, call, kX);
  job.weight_scale = FactorsOf(ops, call, kWeightScale, 2 * job.columns);
  job.activation_scale.numbers = NumbersIn(ops, call, kActivationScale);
  job.activation_scale.rows = job.rows;
  if (call.IsGiven(kBias))
    (call.Tensor(kBias).dtype == ACL_INT32 ? job.first_bias : job.bias) =
        FactorsOf(ops, call, kBias, 2 * job.columns);
  if (call.IsGiven(kGroup)) {
    job.groups.ends = {ops.In(kGroup), ACL_INT64, true};
    job.groups.count = GroupsOf(call);
    job.groups.are_pairs = call.Tensor(kGroup).shape.rank == 2;
    job.groups.are_counts = true;
  }
  Quantiser& quantiser = job.quantiser[0];
  SetCodes(ops, call, kY, quantiser, call.IsGiven(kGroup));
  quantiser.scale = FactorsOf(ops, call, kQuantScale, job.columns, IsDynamic(call) ? 0 : GroupsOf(call));
  if (IsDynamic(call)) {
    quantiser.kind = Quantiser::Kind::kGreatest;
    quantiser.step = Quantiser::Step::kQuotient;
    quantiser.most = engine::GreatestNumber(quantiser.dtype);
    quantiser.row_step = NumbersOut(ops, call, kStep, call.IsGiven(kGroup));
  } else {
    quantiser.kind = Quantiser::Kind::kDivide;
    quantiser.passes_zero = true;
    quantiser.offset = FactorsOf(ops, call, kQuantOffset, job.columns, GroupsOf(call));
  }
  AddJob(ops, job);
}

// ---- SwiGluQuant ----

enum PlainTensors { kPlainX, kSmooth, kOffsets, kPlainGroup, kPlainY, kPlainStep };
enum PlainAttributes { kPlainLeft, kPlainMode, kGroupType, kPlainDstType };

constexpr DtypeRule kPlainDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeRule kPlainCodes = SinceAtlasA2(DtypeSet(ACL_INT8, ACL_INT4));
constexpr int64_t kMostColumns = 8192;

bool IsPlainDynamic(const OperatorCall& call) noexcept { return TextOf(call, kPlainMode) == "dynamic"; }

aclnnStatus PlainFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kPlainX, 2, 8);
  if (call.IsGiven(kPlainGroup)) checks.Rank(kPlainGroup, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kPlainX).shape;
  const int64_t both = x[x.rank - 1];
  checks.Holds(both >= 2 && both % 2 == 0 && both <= kMostColumns, kPlainX, "an even last dim up to 8192");
  const bool is_static = IsNull(call, kPlainMode) || TextOf(call, kPlainMode) == "static";
  checks.HoldsOf(is_static || IsPlainDynamic(call), kPlainMode, "static or dynamic")
      .Integer(kGroupType, 0, 1);
  checks.HoldsOf(Integer(call, kPlainDstType) == call.Tensor(kPlainY).dtype, kPlainDstType,
                 "the dtype of yOut");
  if (!checks.Passed()) return checks.status();
  const int64_t groups = call.IsGiven(kPlainGroup) ? call.Tensor(kPlainGroup).shape[0] : 1;
  checks.Holds(groups >= 1, call.IsGiven(kPlainGroup) ? int{kPlainGroup} : int{kPlainX},
               "at least one group");
  Shape y = x;
  y.dim[x.rank - 1] = both / 2;
  HasCodesOf(checks, call, y, kPlainY).Is(kPlainStep, RowsOf(x));
  for (const int tensor : {kSmooth, kOffsets}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    checks.Holds(shape == Shape{groups, both / 2} || shape == Shape{groups}, tensor, "[G,N] or [G]");
  }
  if (is_static) checks.Given(kSmooth, "with quantMode static").Given(kOffsets, "with quantMode static");
  return checks.status();
}

constexpr Check kPlainChecks[] = {
    NotNull(kPlainX),
    NotNull(kPlainY),
    NotNull(kPlainStep),
    DtypesIn(kPlainDtypes, {kPlainX}),
    IfGiven<kSmooth>(DtypesIn(kFloat, {kSmooth})),
    IfGiven<kOffsets>(DtypesIn(kFloat, {kOffsets})),
    IfGiven<kPlainGroup>(DtypesIn(kInt32, {kPlainGroup})),
    DtypesIn(kPlainCodes, {kPlainY}),
    DtypesIn(kFloat, {kPlainStep}),
    Custom(PlainFits, kTiling),
    SizesRepresentable({kPlainY, kPlainStep}),
    DoneIfEmpty({kPlainX}),
    InsideStorage({kPlainX}),
    IfGiven<kSmooth>(InsideStorage({kSmooth})),
    IfGiven<kOffsets>(InsideStorage({kOffsets})),
    IfGiven<kPlainGroup>(InsideStorage({kPlainGroup})),
    Packed<kPlainY>(),
};

// Returns a factor of shape [G, N] or [G].
Factors GroupFactors(DenseOpList& ops, const OperatorCall& call, int tensor) {
  Factors factors;
  factors.numbers = NumbersIn(ops, call, tensor);
  if (!factors.numbers.is_there) return factors;
  factors.by_column = call.Tensor(tensor).shape.rank == 2;
  factors.by_group = true;
  factors.rows = call.Tensor(tensor).shape[0];
  return factors;
}

void SetPlain(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  QuantiseGated job;
  job.columns = call.Tensor(kPlainY).shape[call.Tensor(kPlainY).shape.rank - 1];
  job.rows = call.Tensor(kPlainY).numel / job.columns;
  job.activates_left = Integer(call, kPlainLeft) != 0;
  job.x = NumbersIn(ops, call, kPlainX);
  const bool keeps = call.IsGiven(kPlainGroup);
  if (keeps) {
    job.groups.ends = {ops.In(kPlainGroup, ACL_INT64), ACL_INT64, true};
    job.groups.count = call.Tensor(kPlainGroup).shape[0];
    job.groups.are_counts = Integer(call, kGroupType) == 1;
  }
  Quantiser& quantiser = job.quantiser[0];
  SetCodes(ops, call, kPlainY, quantiser, keeps);
  quantiser.scale = GroupFactors(ops, call, kSmooth);
  if (IsPlainDynamic(call)) {
    quantiser.kind = Quantiser::Kind::kGreatest;
    quantiser.step = Quantiser::Step::kInverse;
    quantiser.most = engine::GreatestNumber(quantiser.dtype);
    quantiser.row_step = NumbersOut(ops, call, kPlainStep, keeps);
  } else {
    quantiser.kind = Quantiser::Kind::kMultiply;
    quantiser.offset = GroupFactors(ops, call, kOffsets);
  }
  AddJob(ops, job);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDequantSwigluQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnDequantSwigluQuantV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnSwiGluQuantV2) {
  return dense::RunOpList(call, kPlainChecks, workspaceSize, executor, SetPlain);
}
