// aclnnAllGatherMatmul and aclnnMatmulReduceScatter: a product of all ranks' rows, and a product whose sum over the
// ranks is divided among them.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/gathered_matmul_functions.h"

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/matrix_product.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;

// A tensor that a function lacks is a null pointer, an attribute 0.
// aclnnMatmulReduceScatter has no kGathered: kAmax follows kOut.
enum Tensors { kX1, kX2, kBias, kX1Scale, kX2Scale, kQuantScale, kOut, kGathered, kAmax };
enum Attributes { kGroup, kStreamMode, kGatherIndex, kBlockSize, kGroupSize };

constexpr int64_t kLeastTerms = 256;
constexpr int64_t kMostTerms = 65534;

// ---- checks ----

bool IsInt8(const OperatorCall& call) noexcept { return call.Tensor(kX1).dtype == ACL_INT8; }
bool IsNotInt8(const OperatorCall& call) noexcept { return !IsInt8(call); }
bool AddsFloats(const OperatorCall& call) noexcept { return !IsInt8(call) && call.IsGiven(kBias); }
// Tells whether a tensor is given and has elements.
bool Has(const OperatorCall& call, int tensor) noexcept {
  return call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty();
}

// Ends a call that has no rows, or with `is_scattered` no columns. Such a call does not communicate.
template <bool is_scattered>
aclnnStatus HasTerms(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  checks.Holds(left[1] != 0, kX1, "at least one column");
  const bool has_columns = !is_scattered || right.rank < 2 || right[1] != 0;
  if (checks.Passed() && (left[0] == 0 || !has_columns)) call.work = OperatorCall::Work::kNothing;
  return checks.status();
}

template <bool is_scattered>
aclnnStatus MatricesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX2, 2, 2).Rank(kOut, 2, 2);
  checks.Holds(!matmul::IsTransposed(call.Tensor(kX1)), kX1, "a matrix that is not transposed");
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  checks.Holds(right[0] == left[1], kX2, "as many rows as x1 has columns");
  if (!is_scattered && Has(call, kGathered)) {
    checks.Rank(kGathered, 2, 2);
    if (!checks.Passed()) return checks.status();
    checks.Holds(call.Tensor(kGathered).shape[1] == left[1], kGathered, "as many columns as x1");
  }
  checks.Holds(left[1] >= kLeastTerms && left[1] <= kMostTerms, kX1, "256 to 65534 columns");
  checks.Holds(right[1] == call.Tensor(kOut).shape[1], kOut, "as many columns as x2");
  return checks.IsIfGiven(kBias, Shape{right[1]})
      .HoldsOf(Integer(call, kGatherIndex) == 0, kGatherIndex, "0")
      .status();
}

aclnnStatus RowsAreGathered(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& left = call.Tensor(kX1).shape;
  int64_t rows = 0;
  checks.Holds(!__builtin_mul_overflow(left[0], exchanges::RanksOf(call, kGroup), &rows), kX1, "fewer rows");
  checks.Is(kOut, Shape{rows, call.Tensor(kX2).shape[1]});
  if (Has(call, kGathered)) {
    checks.Is(kGathered, Shape{rows, left[1]});
    checks.Holds(call.Tensor(kGathered).dtype == call.Tensor(kX1).dtype, kGathered, "x1's type");
  }
  return checks.status();
}
aclnnStatus RowsAreScattered(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t ranks = exchanges::RanksOf(call, kGroup);
  const int64_t rows = call.Tensor(kX1).shape[0];
  checks.Holds(ranks > 0 && rows % ranks == 0, kX1, "a multiple of the ranks as rows");
  if (checks.Passed()) checks.Is(kOut, Shape{rows / ranks, call.Tensor(kX2).shape[1]});
  return checks.status();
}

template <bool is_scattered>
aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kQuantScale, is_scattered ? kGathered : kAmax})
    checks.Holds(!Has(call, tensor), tensor, "null or empty");
  return checks.HoldsOf(Integer(call, kBlockSize) == 0, kBlockSize, "0")
      .HoldsOf(Integer(call, kGroupSize) == 0, kGroupSize, "0")
      .status();
}
aclnnStatus HasNoScales(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1Scale, kX2Scale})
    checks.Holds(!Has(call, tensor), tensor, "null or empty beside FLOAT16 and BF16");
  return checks.status();
}

constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeRule kHalvesAndInt8 = SinceAtlasA2(kHalves | kInt8);

aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  checks.Given(kX2Scale, "beside INT8");
  if (!checks.Passed()) return checks.status();
  const aclDataType scale = call.Tensor(kX2Scale).dtype;
  const aclDataType out = call.Tensor(kOut).dtype;
  const bool has_words = scale == ACL_INT64 || scale == ACL_UINT64;
  checks.Holds(has_words || scale == ACL_FLOAT, kX2Scale, "the type FLOAT, INT64 or UINT64");
  checks.Holds(out == ACL_FLOAT16 || (out == ACL_BF16 && !has_words), kOut,
               "the type FLOAT16, or BF16 beside scales of FLOAT");
  const Shape& columns = call.Tensor(kX2Scale).shape;
  checks.Holds(columns == Shape{1} || columns == Shape{right[1]} || columns == Shape{1, right[1]}, kX2Scale,
               "[1], [n] or [1,n]");
  if (call.IsGiven(kX1Scale)) {
    const Shape& rows = call.Tensor(kX1Scale).shape;
    checks.Holds(call.Tensor(kX1Scale).dtype == ACL_FLOAT, kX1Scale, "the type FLOAT");
    checks.Holds(rows == Shape{left[0], 1} || rows == Shape{left[0]}, kX1Scale, "[m,1] or [m]");
  }
  if (call.IsGiven(kBias))
    checks.Holds(call.Tensor(kBias).dtype == ACL_INT32, kBias, "the type INT32 beside INT8");
  return checks.status();
}

constexpr auto kFloatTypes = List(NotNull(kX1), NotNull(kX2), NotNull(kOut), exchanges::GroupGiven(kGroup),
                                  DtypesIn(kHalvesSinceAtlasA2, {kX1, kX2, kOut}),
                                  IfGiven<kBias>(DtypesIn(kHalvesSinceAtlasA2, {kBias})), SameDtype(kX1, kX2),
                                  SameDtype(kX1, kOut), IfGiven<kBias>(SameDtype(kX1, kBias)));
// The second versions also take INT8.
template <bool is_scattered>
constexpr auto AllTypes() {
  return List(NotNull(kX1), NotNull(kX2), NotNull(kOut), exchanges::GroupGiven(kGroup),
              DtypesIn(kHalvesAndInt8, {kX1}), SameDtype(kX1, kX2), DtypesIn(kHalvesSinceAtlasA2, {kOut}),
              If(IsNotInt8, SameDtype(kX1, kOut)), If(AddsFloats, SameDtype(kX1, kBias)),
              Custom(HasNoMore<is_scattered>), If(IsNotInt8, Custom(HasNoScales)));
}
constexpr auto kLies =
    List(SizesRepresentable({kOut}), matmul::FractalInsideStorage({kX2}),
         matmul::MatricesInsideStorage({kX1, kX2}), IfGiven<kBias>(InsideStorage({kBias})));
constexpr auto kScaleLies =
    List(IfGiven<kX1Scale>(InsideStorage({kX1Scale})), IfGiven<kX2Scale>(InsideStorage({kX2Scale})));

template <bool is_scattered>
constexpr auto Shapes() {
  return List(StopsOnFailure(kStreamMode), Custom(HasTerms<is_scattered>), Custom(MatricesFit<is_scattered>));
}
constexpr auto kGatherRows = List(exchanges::GroupKnown(kGroup), Custom(RowsAreGathered, dense::kTiling));
constexpr auto kScatterRows = List(exchanges::GroupKnown(kGroup), Custom(RowsAreScattered, dense::kTiling));

constexpr auto kGatherChecks = Join(kFloatTypes, Shapes<false>(), kLies, kGatherRows);
constexpr auto kGatherChecksOfV2 = Join(AllTypes<false>(), Shapes<false>(),
                                        List(If(IsInt8, Custom(ScalesFit))), kLies, kScaleLies, kGatherRows);
constexpr auto kScatterChecks = Join(kFloatTypes, Shapes<true>(), kLies, kScatterRows);
constexpr auto kScatterChecksOfV2 = Join(
    AllTypes<true>(), Shapes<true>(), List(If(IsInt8, Custom(ScalesFit))), kLies, kScaleLies, kScatterRows);

// ---- the jobs ----

// Sets all but rows, the left operand, the factors of rows and the output.
GroupedPart PartOf(const OperatorCall& call) {
  GroupedPart part{};
  part.columns = call.Tensor(kX2).shape[1];
  part.depth = call.Tensor(kX1).shape[1];
  part.right = grouped::OperandOf(call, kX2, 0, true, false);
  if (call.IsGiven(kBias)) part.added = grouped::OperandOf(call, kBias, 0, false, false);
  if (!IsInt8(call)) return part;
  part.kind = GroupedPart::Kind::kIntegers;
  part.scale = NumbersOf(call, kX2Scale);
  return part;
}
engine::GroupedOperand FactorsOf(BufferRef rows) {
  return {true, rows, ACL_FLOAT, int64_t{sizeof(float)}, 0, 0};
}

void SetGathered(const OperatorCall& call, Executor& executor) {
  const bool has_factors = IsInt8(call) && call.IsGiven(kX1Scale);
  if (!exchanges::Join(call, kGroup, has_factors ? 2 : 1, executor)) return;
  DenseOpList ops(call, executor);
  const int64_t ranks = exchanges::RanksIn(executor);
  const aclTensor& x1 = call.Tensor(kX1);
  const int64_t own = x1.shape[0];
  GroupedPart part = PartOf(call);
  part.rows = ranks * own;
  const int64_t bytes = x1.numel * dense::SizeOf(call, kX1);
  const BufferRef gathered = Has(call, kGathered) ? ops.Out(kGathered) : ops.Bytes(ranks * bytes);
  exchanges::EqualParts rows{};
  rows.send = ops.In(kX1);
  rows.receive = gathered;
  rows.ranks = ranks;
  rows.give = rows.take = rows.take_step = bytes;
  exchanges::Add(ops, rows);
  if (has_factors) {
    exchanges::EqualParts scales{};
    scales.send = ops.In(kX1Scale);
    scales.receive = ops.Floats(part.rows);
    scales.ranks = ranks;
    scales.give = scales.take = scales.take_step = own * int64_t{sizeof(float)};
    scales.step = 1;
    exchanges::Add(ops, scales);
    part.factor = FactorsOf(scales.receive);
  }
  part.left = DenseRows(gathered, x1.dtype, part.depth);
  part.out = DenseRows(ops.Out(kOut), call.Tensor(kOut).dtype, part.columns);
  Multiply(ops, part);
  ops.SetJob();
}

void SetScattered(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const aclDataType dtype = call.Tensor(kOut).dtype;
  GroupedPart part = PartOf(call);
  part.rows = call.Tensor(kX1).shape[0];
  part.left = LeftOf(call, ops, kX1);
  if (IsInt8(call) && call.IsGiven(kX1Scale)) part.factor = FactorsOf(ops.In(kX1Scale));
  const BufferRef product = ops.Bytes(part.rows * part.columns * dense::SizeOf(call, kOut));
  part.out = DenseRows(product, dtype, part.columns);
  Multiply(ops, part);
  exchanges::Add(ops, exchanges::SumOverRanks{product, ops.Out(kOut), call.Tensor(kOut).numel, dtype,
                                              /*is_part=*/true, /*step=*/0});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAllGatherMatmul) {
  return dense::RunOpList(call, kGatherChecks, workspaceSize, executor, SetGathered);
}
PORTACL_PHASE_1(aclnnAllGatherMatmulV2) {
  return dense::RunOpList(call, kGatherChecksOfV2, workspaceSize, executor, SetGathered);
}
PORTACL_PHASE_1(aclnnMatmulReduceScatter) {
  return dense::RunOpList(call, kScatterChecks, workspaceSize, executor, SetScattered);
}
PORTACL_PHASE_1(aclnnMatmulReduceScatterV2) {
  return dense::RunOpList(call, kScatterChecksOfV2, workspaceSize, executor, SetScattered);
}
