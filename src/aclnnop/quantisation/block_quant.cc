// aclnnDynamicBlockQuant, its grouped form, and their second forms: quantise rectangles, each by the greatest of its
// numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/block_quant_functions.h"

#include "aclnnop/quantisation/coded.h"
#include "engine/quantise/blocks.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kX };
enum Attributes { kLeast, kRound, kDtype, kRowBlock, kColumnBlock, kMost, kGroupType };

constexpr DtypeRule kDtypesOfX = ByGeneration({}, kHalfAndBf16, kFloatHalfAndBf16);
constexpr DtypeRule kDtypesOfY = ByGeneration({}, kInt8, kInt8 | kFloat8s);
constexpr DtypeRule kGroupedX = ByGeneration({}, {}, kHalfAndBf16);
constexpr DtypeRule kGroupedY = ByGeneration({}, {}, kFloat8s);

struct Positions {
  int group, y, scale;
};
constexpr Positions kPlain{-1, 1, 2};
constexpr Positions kGrouped{1, 2, 3};

bool IsOneOf(int64_t number, std::initializer_list<int64_t> accepted) {
  return std::find(accepted.begin(), accepted.end(), number) != accepted.end();
}
int64_t QuotientUp(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

aclnnStatus FitsAt(const Check& check, const OperatorCall& call, const Positions& at) {
  ShapeChecks checks(check, call);
  const bool is_950 = IsOn950(call);
  const aclDataType y = call.Tensor(at.y).dtype;
  const bool is_hifloat = y == ACL_HIFLOAT8;
  checks.HoldsOf(RealOf(call, kLeast) >= 0, kLeast, "0 or more");
  const std::string_view round = TextOf(call, kRound);
  checks.HoldsOf(IsNull(call, kRound) || round == (is_hifloat ? "round" : "rint"), kRound,
                 "rint, with codes of HIFLOAT8 round");
  checks.HoldsOf(Integer(call, kDtype) == y, kDtype, "the dtype of yOut");
  const int64_t row_block = Integer(call, kRowBlock);
  const int64_t column_block = Integer(call, kColumnBlock);
  checks.HoldsOf(row_block == 1 || (is_950 && IsOneOf(row_block, {128, 256, 512})), kRowBlock,
                 "1, on Ascend 950 also 128, 256 and 512");
  checks.HoldsOf(column_block == 128 || (is_950 && IsOneOf(column_block, {64, 192, 256})), kColumnBlock,
                 "128, on Ascend 950 also 64, 192 and 256");
  const double most = RealOf(call, kMost);
  const bool is_most = most == 15 || most == 56 || most == 224 || most == 32768;
  checks.HoldsOf(most == 0 || (is_hifloat && is_most), kMost,
                 "0, with codes of HIFLOAT8 also 15, 56, 224 and 32768");
  if (at.group >= 0) {
    checks.HoldsOf(Integer(call, kGroupType) == 0, kGroupType, "0").Rank(kX, 2, 2).Rank(at.group, 1, 1);
  } else {
    checks.Rank(kX, 2, is_950 ? 3 : 2);
  }
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  Shape scale = x;
  scale.dim[x.rank - 1] = QuotientUp(x[x.rank - 1], column_block);
  scale.dim[x.rank - 2] =
      at.group < 0 ? QuotientUp(x[x.rank - 2], row_block) : x[0] / row_block + call.Tensor(at.group).shape[0];
  return checks.Is(at.y, x).Is(at.scale, scale).status();
}
template <const Positions& kAt>
aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  return FitsAt(check, call, kAt);
}

constexpr Check kPlainChecks[] = {
    NotNull(kX),
    NotNull(kPlain.y),
    NotNull(kPlain.scale),
    DtypesIn(kDtypesOfX, {kX}),
    DtypesIn(kDtypesOfY, {kPlain.y}),
    DtypesIn(kFloat, {kPlain.scale}),
    Custom(Fits<kPlain>, kTiling),
    SizesRepresentable({kPlain.y, kPlain.scale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX}),
};
constexpr Check kGroupedChecks[] = {
    NotNull(kX),
    NotNull(kGrouped.group),
    NotNull(kGrouped.y),
    NotNull(kGrouped.scale),
    DtypesIn(kGroupedX, {kX}),
    DtypesIn(kInt32, {kGrouped.group}),
    DtypesIn(kGroupedY, {kGrouped.y}),
    DtypesIn(kFloat, {kGrouped.scale}),
    Custom(Fits<kGrouped>, kTiling),
    SizesRepresentable({kGrouped.y, kGrouped.scale}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kGrouped.group}),
};

void SetAt(const OperatorCall& call, const Positions& at, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const bool is_grouped = at.group >= 0;
  engine::QuantiseRectangles job;
  job.x = NumbersIn(ops, call, kX);
  job.dtype = call.Tensor(at.y).dtype;
  job.codes = ops.Out(at.y, ACL_DT_UNDEFINED, is_grouped);
  job.scales = ops.Out(at.scale, ACL_DT_UNDEFINED, is_grouped);
  job.rows = x[x.rank - 2];
  job.columns = x[x.rank - 1];
  job.batches = x.rank == 3 ? x[0] : 1;
  job.row_block = Integer(call, kRowBlock);
  job.column_block = Integer(call, kColumnBlock);
  const double most = RealOf(call, kMost);
  job.most = most == 0 ? engine::GreatestNumber(job.dtype) : static_cast<float>(most);
  const double least = RealOf(call, kLeast);
  if (least > 0) job.greatest_scale = 1.0f / static_cast<float>(least);
  if (is_grouped) {
    job.groups.count = call.Tensor(at.group).shape[0];
    job.groups.ends = {ops.In(at.group, ACL_INT64), ACL_INT64, true};
  }
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {job.x.buffer, job.codes, job.scales, BufferOf(job.groups.ends)}, call.Tensor(kX).numel);
  ops.SetJob();
}
void SetPlain(const OperatorCall& call, Executor& executor) { SetAt(call, kPlain, executor); }
void SetGrouped(const OperatorCall& call, Executor& executor) { SetAt(call, kGrouped, executor); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDynamicBlockQuant) {
  return dense::RunOpList(call, kPlainChecks, workspaceSize, executor, SetPlain);
}
PORTACL_PHASE_1(aclnnDynamicBlockQuantV2) {
  return dense::RunOpList(call, kPlainChecks, workspaceSize, executor, SetPlain);
}
PORTACL_PHASE_1(aclnnGroupedDynamicBlockQuant) {
  return dense::RunOpList(call, kGroupedChecks, workspaceSize, executor, SetGrouped);
}
PORTACL_PHASE_1(aclnnGroupedDynamicBlockQuantV2) {
  return dense::RunOpList(call, kGroupedChecks, workspaceSize, executor, SetGrouped);
}
