// aclnnAlltoAllMatmul and aclnnMatmulAlltoAll: a product behind or before an exchange of blocks between all ranks; and
// their quantised forms.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/all_to_all_matmul_functions.h"

#include <iterator>
#include <utility>

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/matrix_product.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;

// aclnnMatmulAlltoAll has no kPermuted. Functions without quantisation have null pointers as scales, and only the
// first attributes.
enum Tensors { kX1, kX2, kBias, kX1Scale, kX2Scale, kCommonScale, kX1Offset, kX2Offset, kOut, kPermuted };
enum Attributes {
  kGroup,
  kAxes,
  kTranspose1,
  kTranspose2,
  kX1Mode,
  kX2Mode,
  kCommonMode,
  kCommType,
  kX1Type,
  kGroupSize
};
// Modes of quantisation: a given scale for each column, a given one for each row, and one computed from each row.
constexpr int64_t kOfColumns = 2;
constexpr int64_t kOfRows = 3;
constexpr int64_t kDynamic = 7;

bool HasPermuted(const OperatorCall& call) noexcept {
  return std::ssize(call.tensors) > kPermuted && call.IsGiven(kPermuted) &&
         !call.Tensor(kPermuted).shape.IsEmpty();
}

// ---- checks ----

aclnnStatus AxesFit(const Check& check, OperatorCall& call) noexcept {
  const aclIntArray* const axes = call.attributes[kAxes].array;
  if (axes == nullptr || axes->values.empty()) return ACL_SUCCESS;
  const auto& values = axes->values;
  if (values.size() == 2 && (values[0] == -1 || values[0] == -2) && values[0] + values[1] == -3)
    return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kAxes, "null, no numbers, [-2, -1] or [-1, -2]");
}
aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType accepted = call.Tensor(kX1).dtype == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16;
  return checks.Holds(call.Tensor(kBias).dtype == accepted, kBias, "the type FLOAT16, and beside BF16 FLOAT")
      .status();
}

Shape RightOf(const OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kX2).shape;
  return Integer(call, kTranspose2) != 0 ? Shape{shape[1], shape[0]} : shape;
}

template <bool is_behind>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(Integer(call, kTranspose1) == 0, kTranspose1, "false");
  checks.Rank(kX1, 2, 2).Rank(kX2, 2, 2).Rank(kOut, 2, 2);
  checks.Holds(!matmul::IsTransposed(call.Tensor(kX1)), kX1, "a matrix that is not transposed");
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape right = RightOf(call);
  const int64_t ranks = exchanges::RanksOf(call, kGroup);
  checks.Holds(left[1] != 0, kX1, "at least one column");
  checks.Holds(right[0] != 0 && right[1] != 0, kX2, "at least one element");
  checks.IsIfGiven(kBias, Shape{right[1]});
  if (is_behind) {
    int64_t terms = 0;
    checks.Holds(left[0] % ranks == 0, kX1, "a multiple of the ranks as rows");
    checks.Holds(!__builtin_mul_overflow(left[1], ranks, &terms) && right[0] == terms, kX2,
                 "as many rows as x1 has columns, times the ranks");
    if (!checks.Passed()) return checks.status();
    checks.Is(kOut, Shape{left[0] / ranks, right[1]});
    if (HasPermuted(call)) checks.Is(kPermuted, Shape{left[0] / ranks, terms});
    return checks.status();
  }
  int64_t rows = 0;
  checks.Holds(right[0] == left[1], kX2, "as many rows as x1 has columns");
  checks.Holds(right[1] % ranks == 0, kX2, "a multiple of the ranks as columns");
  checks.Holds(!__builtin_mul_overflow(left[0], ranks, &rows), kX1, "fewer rows");
  if (checks.Passed()) checks.Is(kOut, Shape{rows, right[1] / ranks});
  return checks.status();
}

template <bool is_behind>
constexpr auto Checks() {
  return List(NotNull(kX1), NotNull(kX2), NotNull(kOut), exchanges::GroupGiven(kGroup),
              DtypesIn(kHalvesSinceAtlasA2, {kX1}), SameDtype(kX1, kX2), SameDtype(kX1, kOut),
              If(HasPermuted, SameDtype(kX1, kPermuted)), IfGiven<kBias>(Custom(BiasFits)), Custom(AxesFit),
              exchanges::GroupKnown(kGroup), Custom(ShapesFit<is_behind>), SizesRepresentable({kOut}),
              DoneIfEmpty({kX1}), matmul::FractalInsideStorage({kX2}),
              matmul::MatricesInsideStorage({kX1, kX2}), IfGiven<kBias>(InsideStorage({kBias})));
}
constexpr auto kBehind = Checks<true>();
constexpr auto kBefore = Checks<false>();

// ---- INT8 ----

constexpr DtypeRule kBytes = SinceAtlasA2(DtypeSet(ACL_INT8));
constexpr DtypeRule kResults = SinceAtlasA2(kFloatHalfAndBf16);
constexpr DtypeSet kFloat{ACL_FLOAT};

// After an exchange x1 is floating-point, and the product quantises its rows.
template <bool is_behind>
aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(Integer(call, kX1Mode) == (is_behind ? kDynamic : kOfRows), kX1Mode, is_behind ? "7" : "3");
  checks.HoldsOf(Integer(call, kX2Mode) == kOfColumns, kX2Mode, "2");
  checks.HoldsOf(Integer(call, kCommonMode) == 0, kCommonMode, "0");
  checks.HoldsOf(Integer(call, kCommType) == -1, kCommType,
                 "-1: portacl does not quantise what ranks exchange");
  checks.HoldsOf(Integer(call, kGroupSize) == 0, kGroupSize, "0");
  if (is_behind)
    checks.HoldsOf(Integer(call, kX1Type) == ACL_INT8, kX1Type,
                   "INT8: portacl does not compute with fp8 types");
  for (const int tensor : {kCommonScale, kX1Offset, kX2Offset})
    checks.Holds(!call.IsGiven(tensor) || call.Tensor(tensor).shape.IsEmpty(), tensor, "null or empty");
  return checks.status();
}

template <bool is_behind>
aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (!is_behind) {
    const int64_t rows = call.Tensor(kX1).shape[0];
    const Shape& scale = call.Tensor(kX1Scale).shape;
    checks.Holds(scale == Shape{rows} || scale == Shape{rows, 1}, kX1Scale, "[BS] or [BS,1]");
  }
  const int64_t columns = RightOf(call)[1];
  const Shape& scale = call.Tensor(kX2Scale).shape;
  checks.Holds(scale == Shape{columns} || scale == Shape{1, columns}, kX2Scale, "[n] or [1,n]");
  return checks.status();
}

template <bool is_behind>
constexpr auto QuantisedChecks() {
  return Join(List(NotNull(kX1), NotNull(kX2), NotNull(kX2Scale), NotNull(kOut),
                   exchanges::GroupGiven(kGroup), DtypesIn(is_behind ? kHalvesSinceAtlasA2 : kBytes, {kX1}),
                   DtypesIn(kBytes, {kX2}), DtypesIn(kFloat, {kX2Scale}), DtypesIn(kResults, {kOut}),
                   IfGiven<kBias>(DtypesIn(kFloat, {kBias})), If(HasPermuted, SameDtype(kX1, kPermuted)),
                   Custom(ModesFit<is_behind>), Custom(AxesFit)),
              List(exchanges::GroupKnown(kGroup), Custom(ShapesFit<is_behind>), Custom(ScalesFit<is_behind>),
                   SizesRepresentable({kOut}), DoneIfEmpty({kX1}), matmul::FractalInsideStorage({kX2}),
                   matmul::MatricesInsideStorage({kX1, kX2}), InsideStorage({kX2Scale}),
                   IfGiven<kBias>(InsideStorage({kBias}))));
}
constexpr auto kQuantisedBehind = QuantisedChecks<true>();
constexpr auto kQuantisedBefore = Join(List(NotNull(kX1Scale), DtypesIn(kFloat, {kX1Scale})),
                                       QuantisedChecks<false>(), List(InsideStorage({kX1Scale})));

// ---- the jobs ----

GroupedPart PartOf(const OperatorCall& call) {
  GroupedPart part{};
  const Shape right = RightOf(call);
  part.depth = right[0];
  part.columns = right[1];
  part.right = grouped::OperandOf(call, kX2, 0, true, false);
  if (Integer(call, kTranspose2) != 0) std::swap(part.right.row, part.right.column);
  if (call.IsGiven(kBias)) part.added = grouped::OperandOf(call, kBias, 0, false, false);
  if (!call.IsGiven(kX2Scale)) return part;
  part.kind = GroupedPart::Kind::kIntegers;
  part.scale = grouped::OperandOf(call, kX2Scale, 0, false, false);
  return part;
}
engine::GroupedOperand FactorsOf(BufferRef rows) {
  return {true, rows, ACL_FLOAT, int64_t{sizeof(float)}, 0, 0};
}

// Sets rows that are quantised by their greatest magnitudes as the left operand, with their scales.
void SetQuantised(const OperatorCall& call, DenseOpList& ops, BufferRef rows, GroupedPart& part) {
  engine::QuantiseRows quantised{};
  quantised.source = engine::NumberRowsOf(call.isa, rows, call.Tensor(kX1).dtype);
  quantised.to = ops.Bytes(part.rows * part.depth);
  quantised.is_dynamic = true;
  quantised.row_scale = {ops.Floats(part.rows), true};
  quantised.rows = part.rows;
  quantised.columns = part.depth;
  quantised.divisor = 1;
  quantised.load_half = engine::FindLoad(call.isa, ACL_FLOAT16, ACL_FLOAT);
  quantised.store_half = engine::FindStore(call.isa, ACL_FLOAT16);
  quantised.threads = call.threads;
  ops.Compute(quantised, {rows}, part.rows * part.depth);
  part.left = DenseRows(quantised.to, ACL_INT8, part.depth);
  part.factor = FactorsOf(quantised.row_scale.buffer);
}

// A view of dense elements, two of whose three dims are swapped.
StridedView Swapped(const Shape& shape, aclDataType dtype) {
  constexpr int kOrder[] = {1, 0, 2};
  StridedView view = PlainView(DenseTensor(shape, dtype));
  Permute(view, kOrder);
  return view;
}

// Each rank gets a block of every rank's rows, which become columns side by side.
void SetBehind(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const int64_t ranks = exchanges::RanksIn(executor);
  const aclTensor& x1 = call.Tensor(kX1);
  const int64_t bytes = x1.numel * dense::SizeOf(call, kX1);
  const int64_t columns = x1.shape[1];
  GroupedPart part = PartOf(call);
  part.rows = x1.shape[0] / ranks;
  exchanges::EqualParts blocks{};
  blocks.send = ops.In(kX1);
  blocks.receive = ops.Bytes(bytes);
  blocks.ranks = ranks;
  blocks.give = blocks.give_step = blocks.take = blocks.take_step = bytes / ranks;
  exchanges::Add(ops, blocks);
  const BufferRef permuted = HasPermuted(call) ? ops.Out(kPermuted) : ops.Bytes(bytes);
  ops.Copy(Swapped({ranks, part.rows, columns}, x1.dtype), blocks.receive,
           DenseTensor({part.rows, ranks, columns}, x1.dtype), permuted);
  if (call.IsGiven(kX2Scale)) {
    SetQuantised(call, ops, permuted, part);
  } else {
    part.left = DenseRows(permuted, x1.dtype, part.depth);
  }
  part.out = DenseRows(ops.Out(kOut), call.Tensor(kOut).dtype, part.columns);
  Multiply(ops, part);
  ops.SetJob();
}

// Each rank gets a block of every rank's columns, which become rows below each other.
void SetBefore(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const int64_t ranks = exchanges::RanksIn(executor);
  const aclDataType dtype = call.Tensor(kOut).dtype;
  GroupedPart part = PartOf(call);
  part.rows = call.Tensor(kX1).shape[0];
  part.left = LeftOf(call, ops, kX1);
  if (call.IsGiven(kX1Scale)) part.factor = FactorsOf(ops.In(kX1Scale));
  const int64_t bytes = part.rows * part.columns * dense::SizeOf(call, kOut);
  const BufferRef product = ops.Bytes(bytes);
  part.out = DenseRows(product, dtype, part.columns);
  Multiply(ops, part);
  exchanges::EqualParts blocks{};
  blocks.send = ops.Bytes(bytes);
  blocks.receive = ops.Out(kOut);
  blocks.ranks = ranks;
  blocks.give = blocks.give_step = blocks.take = blocks.take_step = bytes / ranks;
  ops.Copy(Swapped({part.rows, ranks, part.columns / ranks}, dtype), product,
           DenseTensor({ranks, part.rows, part.columns / ranks}, dtype), blocks.send);
  exchanges::Add(ops, blocks);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAlltoAllMatmul) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetBehind);
}
PORTACL_PHASE_1(aclnnAlltoAllMatmulV2) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetBehind);
}
PORTACL_PHASE_1(aclnnMatmulAlltoAll) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetBefore);
}
PORTACL_PHASE_1(aclnnMatmulAlltoAllV2) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetBefore);
}
PORTACL_PHASE_1(aclnnAlltoAllQuantMatmul) {
  return dense::RunOpList(call, kQuantisedBehind, workspaceSize, executor, SetBehind);
}
PORTACL_PHASE_1(aclnnAlltoAllQuantMatmulV2) {
  return dense::RunOpList(call, kQuantisedBehind, workspaceSize, executor, SetBehind);
}
PORTACL_PHASE_1(aclnnQuantMatmulAlltoAll) {
  return dense::RunOpList(call, kQuantisedBefore, workspaceSize, executor, SetBefore);
}
PORTACL_PHASE_1(aclnnQuantMatmulAlltoAllV2) {
  return dense::RunOpList(call, kQuantisedBefore, workspaceSize, executor, SetBefore);
}
