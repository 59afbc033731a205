// aclnnAscendQuant, aclnnAscendQuantV3, aclnnQuantize and aclnnGroupQuant: quantise with given scales.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/static_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kX, kScale, kOffset, kY };

int64_t LastOf(const Shape& shape) { return shape.rank == 0 ? 1 : shape[shape.rank - 1]; }

// Returns an axis counted from 0.
int64_t AxisOf(int64_t axis, const Shape& shape) { return axis < 0 ? axis + std::max(shape.rank, 1) : axis; }

// Sets rows and factors of a tensor whose factors vary along one dim.
void SetRows(const OperatorCall& call, int64_t axis, Quantiser& quantiser, engine::QuantisedRows& job) {
  const Shape& x = call.Tensor(kX).shape;
  const int64_t numel = call.Tensor(kX).numel;
  const bool is_one = call.Tensor(kScale).numel == 1;
  Factors* const factors[] = {&quantiser.scale, &quantiser.offset};
  if (is_one || x.rank == 0) {
    job.rows = 1;
    job.columns = numel;
    return;
  }
  int64_t inner = 1;
  for (int dim = static_cast<int>(axis) + 1; dim < x.rank; ++dim) inner *= x[dim];
  const bool is_last = axis == x.rank - 1;
  job.columns = is_last ? x[static_cast<int>(axis)] : inner;
  job.rows = numel / job.columns;
  for (Factors* const one : factors) {
    one->by_column = is_last;
    one->rows = is_last ? 1 : x[static_cast<int>(axis)];
  }
}

void Add(DenseOpList& ops, const OperatorCall& call, engine::QuantisePlain& job) {
  job.x = NumbersIn(ops, call, kX);
  AddRows(ops, job,
          {job.x.buffer, job.quantiser[0].codes, BufferOf(job.quantiser[0].scale.numbers),
           BufferOf(job.quantiser[0].offset.numbers), BufferOf(job.groups.ends)});
  ops.SetJob();
}

// ---- AscendQuant and its third form ----

enum Attributes { kSquare, kRoundMode, kDstType, kAxis };

constexpr DtypeRule kFloatsBefore950 =
    ByGeneration(kFloatAndHalf, kFloatHalfAndBf16, {})
        .OnlyOn(products::kAtlasA2AndA3 | ProductSet{Product::kAtlasInference});
constexpr DtypeRule kFloats = kFloatsBefore950.On(products::kAscend950, kFloatHalfAndBf16);
constexpr DtypeRule kCodesBefore950 =
    ByGeneration({}, kIntegerCodes, {}).On({Product::kAtlasInference}, kInt8);
constexpr DtypeRule kCodes = kCodesBefore950.On(products::kAscend950, kIntegerCodes | kFloat8s);

// 161002 for an x without dims.
aclnnStatus HasDimsOfX(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call).Holds(call.Tensor(kX).shape.rank > 0, kX, "at least one dim").status();
}
aclnnStatus ScaleDtypeFits(const Check& check, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  ShapeChecks checks(check, call);
  checks.Holds(x == ACL_FLOAT || call.Tensor(kScale).dtype == x, kScale, "x's dtype unless that is FLOAT");
  return checks.HoldsOf(Integer(call, kDstType) == call.Tensor(kY).dtype, kDstType, "the dtype of y")
      .status();
}

aclnnStatus FirstShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  HasCodesOf(checks, call, x, kY);
  checks.Rank(kX, 0, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& scale = call.Tensor(kScale).shape;
  const auto fits = [&](const Shape& factors) {
    for (int dim = 0; dim + 1 < factors.rank; ++dim) {
      if (factors[dim] != 1) return false;
    }
    return factors.rank <= std::max(x.rank, 1);
  };
  if (call.IsGiven(kOffset)) {
    const Shape& offset = call.Tensor(kOffset).shape;
    checks.Holds(LastOf(offset) == LastOf(scale) && fits(offset), kOffset,
                 "a last dim as scale has, others of 1");
  }
  const bool is_fit = LastOf(scale) == 1 || LastOf(scale) == LastOf(x);
  return checks.Holds(is_fit && fits(scale), kScale, "a last dim of 1 or as x has, others of 1").status();
}

aclnnStatus RoundingFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (IsNull(call, kRoundMode)) {
    Text message = StartMessage(call).Add("parameter roundMode is null, accepted: a name of a rounding");
    return FailAclnn(check.code, message.Add("."));
  }
  const std::string_view mode = TextOf(call, kRoundMode);
  const aclDataType y = call.Tensor(kY).dtype;
  if (y == ACL_HIFLOAT8)
    return checks.HoldsOf(mode == "round" || mode == "hybrid", kRoundMode, "round or hybrid").status();
  if (kFloat8s.Contains(y)) return checks.HoldsOf(mode == "round", kRoundMode, "round").status();
  return checks.HoldsOf(IsRounding(mode), kRoundMode, "round, floor, ceil or trunc").status();
}

constexpr auto kNotNull = List(NotNull(kX), NotNull(kScale), NotNull(kY));
constexpr auto kEnd = List(SizesRepresentable({kY}), DoneIfEmpty({kX}), InsideStorage({kX, kScale}),
                           IfGiven<kOffset>(InsideStorage({kOffset})), Packed<kY>());
constexpr auto kFirstChecks =
    Join(kNotNull,
         List(DtypesIn(kFloatsBefore950, {kX}), DtypesIn(kCodesBefore950, {kY}),
              DtypesIn(kFloatsBefore950, {kScale}), IfGiven<kOffset>(SameDtype(kScale, kOffset)),
              Custom(ScaleDtypeFits), Custom(FirstShapes), Custom(RoundingFits)),
         kEnd);

aclnnStatus AxisFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t rank = call.Tensor(kX).shape.rank;
  const int64_t axis = Integer(call, kAxis);
  if (call.product == Product::kAtlasInference)
    return checks.HoldsOf(axis == -1 || axis == rank - 1, kAxis, "-1 or the last dim").status();
  checks.Integer(kAxis, -rank, rank - 1);
  if (rank <= 2) return checks.status();
  return checks.HoldsOf(AxisOf(axis, call.Tensor(kX).shape) >= rank - 2, kAxis, "one of the last two dims")
      .status();
}
aclnnStatus ThirdShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  HasCodesOf(checks, call, x, kY);
  checks.Rank(kX, 1, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& scale = call.Tensor(kScale).shape;
  checks.IsIfGiven(kOffset, scale);
  checks.Holds(scale.rank == 1 || scale.rank == x.rank, kScale, "one dim, or as many as x has");
  if (!checks.Passed()) return checks.status();
  const int axis = static_cast<int>(AxisOf(Integer(call, kAxis), x));
  const int own = scale.rank == 1 ? 0 : axis;
  bool fits = scale[own] == 1 || scale[own] == x[axis];
  for (int dim = 0; dim < scale.rank; ++dim) fits = fits && (dim == own || scale[dim] == 1);
  return checks.Holds(fits, kScale, "along axis 1 or as many as x has, other dims of 1").status();
}

constexpr auto kThirdChecks =
    Join(kNotNull,
         List(Custom(HasDimsOfX), DtypesIn(kFloats, {kX}), DtypesIn(kCodes, {kY}),
              DtypesIn(kFloats, {kScale}), IfGiven<kOffset>(SameDtype(kScale, kOffset)),
              Custom(ScaleDtypeFits), Custom(AxisFits), Custom(ThirdShapes), Custom(RoundingFits)),
         kEnd);

void SetScaled(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantisePlain job;
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kMultiply;
  quantiser.rounding = RoundingOf(TextOf(call, kRoundMode));
  const bool is_squared = Integer(call, kSquare) != 0;
  quantiser.squares_scale = is_squared && IsOn950(call);
  quantiser.multiplies_twice = is_squared && IsBefore950(call);
  quantiser.scale.numbers = NumbersIn(ops, call, kScale);
  quantiser.offset.numbers = NumbersIn(ops, call, kOffset);
  SetCodes(ops, call, kY, quantiser);
  SetRows(call, AxisOf(Integer(call, kAxis), call.Tensor(kX).shape), quantiser, job);
  Add(ops, call, job);
}

// ---- Quantize ----

enum QuantizeAttributes { kDtype, kQuantizeAxis };

constexpr DtypeRule kAnyFloats = SinceAtlasA2(kFloatHalfAndBf16, kFloatAndHalf);
constexpr DtypeSet kZeros{ACL_INT8, ACL_UINT8, ACL_INT32};
constexpr DtypeRule kZeroPoints = ByGeneration(kZeros, kZeros | kBf16, kZeros | kBf16 | DtypeSet(ACL_FLOAT));
constexpr DtypeRule kResults = ByGeneration(kZeros, kZeros, kZeros | kFloat8s);

aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 0, 8).Is(kY, call.Tensor(kX).shape).Rank(kScale, 1, 1);
  if (!checks.Passed()) return checks.status();
  const int64_t length = call.Tensor(kScale).shape[0];
  checks.IsIfGiven(kOffset, Shape{length});
  const Shape& x = call.Tensor(kX).shape;
  if (length == 1) return checks.status();
  const int64_t rank = x.rank;
  checks.Integer(kQuantizeAxis, -std::max<int64_t>(rank, 1), std::max<int64_t>(rank, 1) - 1);
  if (!checks.Passed()) return checks.status();
  const int64_t axis = AxisOf(Integer(call, kQuantizeAxis), x);
  return checks
      .Holds(rank > 0 && x[static_cast<int>(axis)] == length, kScale,
             "one element, or as many as x has along axis")
      .status();
}
// Checks that either all tensors are BF16 or none is.
aclnnStatus Bfloat16Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const auto is_bf16 = [&](int tensor) { return call.Tensor(tensor).dtype == ACL_BF16; };
  const bool any = is_bf16(kScale) || (call.IsGiven(kOffset) && is_bf16(kOffset));
  checks.HoldsOf(Integer(call, kDtype) == call.Tensor(kY).dtype, kDtype, "the dtype of out");
  if (!any) return checks.status();
  for (const int tensor : {kX, kScale, kOffset}) {
    if (call.IsGiven(tensor))
      checks.Holds(is_bf16(tensor), tensor, "BF16 where scales or zeroPoints are of that");
  }
  return checks.status();
}

constexpr Check kQuantizeChecks[] = {
    NotNull(kX),
    NotNull(kScale),
    NotNull(kY),
    Custom(ScalesFit),
    DtypesIn(kAnyFloats, {kX, kScale}),
    IfGiven<kOffset>(DtypesIn(kZeroPoints, {kOffset})),
    DtypeIn(kResults, kDtype),
    Custom(Bfloat16Fits),
    NotPrivate({kX, kScale, kY}),
    IfGiven<kOffset>(NotPrivate({kOffset})),
    SizesRepresentable({kY}),
    DoneIfEmpty({kX}),
    DoneIfEmpty({kScale}),
    InsideStorage({kX, kScale}),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

void SetQuantize(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantisePlain job;
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kDivide;
  quantiser.scale.numbers = NumbersIn(ops, call, kScale);
  quantiser.offset.numbers = NumbersIn(ops, call, kOffset);
  quantiser.dtype = call.Tensor(kY).dtype;
  quantiser.codes = ops.Out(kY);
  SetRows(call, AxisOf(Integer(call, kQuantizeAxis), call.Tensor(kX).shape), quantiser, job);
  Add(ops, call, job);
}

// ---- aclnnGroupQuant: the scale has a row for each group of rows ----

enum GroupTensors { kGroupScale = 1, kGroupIndex, kGroupOffset, kGroupY };
enum GroupAttributes { kGroupType };

constexpr DtypeRule kGroupFloats = kNoneBeforeAtlasA2;
constexpr DtypeRule kGroupCodes = SinceAtlasA2(kIntegerCodes);

aclnnStatus GroupsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (call.IsGiven(kGroupOffset)) {
    const aclTensor& offset = call.Tensor(kGroupOffset);
    checks.Holds(offset.shape.rank == 0 || offset.shape == Shape{1}, kGroupOffset, "one element");
  }
  checks.Rank(kX, 2, 2).Rank(kGroupScale, 2, 2).Rank(kGroupIndex, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  checks.Is(kGroupScale, Shape{call.Tensor(kGroupIndex).shape[0], x[1]});
  return HasCodesOf(checks, call, x, kGroupY).status();
}
aclnnStatus GroupTypeFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .HoldsOf(Integer(call, kGroupType) == call.Tensor(kGroupY).dtype, kGroupType, "the dtype of y")
      .status();
}

constexpr Check kGroupChecks[] = {
    NotNull(kX),
    NotNull(kGroupScale),
    NotNull(kGroupIndex),
    NotNull(kGroupY),
    DtypesIn(kGroupFloats, {kX, kGroupScale}),
    DtypesIn(kInt32Or64, {kGroupIndex}),
    IfGiven<kGroupOffset>(SameDtype(kGroupScale, kGroupOffset)),
    DtypesIn(kGroupCodes, {kGroupY}),
    Custom(GroupTypeFits),
    Custom(GroupsFit),
    SizesRepresentable({kGroupY}),
    DoneIfEmpty({kX}),
    DoneIfEmpty({kGroupScale}),
    InsideStorage({kX, kGroupScale, kGroupIndex}),
    IfGiven<kGroupOffset>(InsideStorage({kGroupOffset})),
    Packed<kGroupY>(),
};

void SetGroups(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::QuantisePlain job;
  Quantiser& quantiser = job.quantiser[0];
  quantiser.kind = Quantiser::Kind::kMultiply;
  quantiser.scale.numbers = NumbersIn(ops, call, kGroupScale);
  quantiser.scale.by_column = quantiser.scale.by_group = true;
  quantiser.scale.rows = job.groups.count = call.Tensor(kGroupIndex).shape[0];
  quantiser.offset.numbers = NumbersIn(ops, call, kGroupOffset);
  job.groups.ends = {ops.In(kGroupIndex, ACL_INT64), ACL_INT64, true};
  SetCodes(ops, call, kGroupY, quantiser, /*keeps=*/true);
  job.rows = call.Tensor(kX).shape[0];
  job.columns = call.Tensor(kX).shape[1];
  Add(ops, call, job);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAscendQuant) {
  return dense::RunOpList(call, kFirstChecks, workspaceSize, executor, SetScaled);
}
PORTACL_PHASE_1(aclnnAscendQuantV3) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetScaled);
}
PORTACL_PHASE_1(aclnnQuantize) {
  return dense::RunOpList(call, kQuantizeChecks, workspaceSize, executor, SetQuantize);
}
PORTACL_PHASE_1(aclnnGroupQuant) {
  return dense::RunOpList(call, kGroupChecks, workspaceSize, executor, SetGroups);
}
