// aclnnMoeInitRouting, V2 and QuantV2: copy tokens to the rows of their experts, quantised on request.

// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/init_routing_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/moe/routed_entries.h"

namespace portacl {
namespace {

using namespace dense;
using engine::BufferRef;
using engine::OptionalBuffer;
using routing::AddQuantiser;
using routing::Entries;
using routing::kMost;
using routing::QuantiserOf;
using routing::RankOf;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;

// ---- the first form ----

enum FirstTensors { kX, kRowIdx, kExpertIdx, kExpandedX, kExpandedRow, kExpandedExpert };
enum FirstAttributes { kActiveNum };

aclnnStatus FirstFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kExpertIdx, 2, 2).Integer(kActiveNum, 0, std::numeric_limits<int64_t>::max());
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& experts = call.Tensor(kExpertIdx).shape;
  const int64_t entries = Entries(call, kExpertIdx);
  checks.Holds(experts[0] == x[0], kExpertIdx, "as many rows as x has");
  checks.Is(kRowIdx, experts);
  int64_t rows = 0;
  if (__builtin_mul_overflow(std::min(x[0], Integer(call, kActiveNum)), experts[1], &rows)) rows = -1;
  checks.Is(kExpandedX, Shape{rows, x[1]});
  return checks.Is(kExpandedRow, Shape{entries}).Is(kExpandedExpert, Shape{entries}).status();
}

constexpr Check kFirstChecks[] = {
    NotNull(kX),
    NotNull(kRowIdx),
    NotNull(kExpertIdx),
    NotNull(kExpandedX),
    NotNull(kExpandedRow),
    NotNull(kExpandedExpert),
    DtypesIn(kFloats, {kX}),
    DtypesIn(kInt32, {kRowIdx, kExpertIdx}),
    SameDtype(kX, kExpandedX),
    DtypesIn(kInt32, {kExpandedRow, kExpandedExpert}),
    Custom(FirstFits, kTiling),
    SizesRepresentable({kExpandedX, kExpandedRow, kExpandedExpert}),
    DoneIfEmpty({kExpertIdx}),
    InsideStorage({kX, kRowIdx, kExpertIdx}),
};

void SetFirst(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = Entries(call, kExpertIdx);
  const BufferRef order = ops.Order(kExpertIdx, {ops.Out(kExpandedExpert), true});
  engine::MoveNumbers rows{};
  rows.from = ops.In(kRowIdx, ACL_INT64);
  rows.to = ops.Words(entries);
  rows.buffer = order;
  rows.count = rows.length = entries;
  rows.size = sizeof(int64_t);
  ops.Compute(rows, {rows.from}, entries);
  engine::InvertIndex invert{};
  invert.index = rows.to;
  invert.element = {order, true};
  invert.entry = ops.Words(entries);
  invert.entries = invert.rows = entries;
  invert.name = call.Name(kRowIdx);
  invert.raises = ops.Raises();
  ops.Compute(invert, {}, entries);
  ops.WordsTo(invert.entry, kExpandedRow);
  const aclTensor& expanded = call.Tensor(kExpandedX);
  if (!expanded.shape.IsEmpty()) {
    engine::TakeRows take{};
    take.source = ops.In(kX);
    take.to = ops.Out(kExpandedX);
    take.entry = {rows.to, true};
    take.rows = expanded.shape[0];
    take.bytes = expanded.shape[1] * SizeOf(call, kX);
    take.modulus = call.Tensor(kX).shape[0];
    take.source_rows = take.modulus;
    take.clears = true;
    take.name = call.Name(kRowIdx);
    take.threads = call.threads;
    ops.Compute(take, {take.source, take.to}, expanded.numel);
  }
  ops.SetJob();
}

// ---- second form, and its quantised form, whose scale and offset follow the experts ----

struct Second {
  int experts, scale, offset, expanded, row, count, before, row_scale;
  bool IsQuantised() const { return scale >= 0; }
};
constexpr Second kSecond{1, -1, -1, 2, 3, 4, 5, -1};
constexpr Second kQuantised{1, 2, 3, 4, 5, 6, 7, 8};
enum SecondAttributes { kActive, kCapacity, kExpertNum, kDropPad, kCountFlag, kBeforeFlag, kQuantMode };
enum CountFlag : int64_t { kNoCounts, kCumulated, kCounted };

bool Drops(const OperatorCall& call) noexcept { return Integer(call, kDropPad) == 1; }
bool Counts(const OperatorCall& call) noexcept {
  return !Drops(call) && Integer(call, kCountFlag) != kNoCounts;
}
bool CountsBefore(const OperatorCall& call) noexcept {
  return Drops(call) && Integer(call, kBeforeFlag) != 0;
}
bool IsDynamic(const OperatorCall& call) noexcept { return Integer(call, kQuantMode) == 1; }

aclnnStatus SecondFits(const Check& check, const OperatorCall& call, const Second& at) {
  ShapeChecks checks(check, call);
  const bool is_950 = call.product == Product::kAscend950;
  checks.Rank(kX, 2, 2).Rank(at.experts, is_950 ? 1 : 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t entries = Entries(call, at.experts);
  checks.Holds(call.Tensor(at.experts).shape[0] == x[0], at.experts, "as many rows as x has");
  checks.Integer(kCapacity, 0, kMost).Integer(kExpertNum, 0, kMost);
  checks.Integer(kActive, is_950 ? std::numeric_limits<int64_t>::min() : 0,
                 std::numeric_limits<int64_t>::max());
  checks.Integer(kDropPad, 0, 1).Integer(kCountFlag, kNoCounts, kCounted);
  if (Drops(call)) checks.Integer(kCapacity, 1, x[0]).Integer(kExpertNum, 1, kMost);
  if (Integer(call, kCountFlag) > 0) checks.Integer(kExpertNum, 1, kMost);
  if (call.product == Product::kAtlasInference)
    checks.Holds(x[1] % 32 == 0, kX, "rows of a multiple of 32 elements");
  if (!checks.Passed()) return checks.status();
  const int64_t experts = Integer(call, kExpertNum);
  const int64_t capacity = Integer(call, kCapacity);
  const int64_t active = Integer(call, kActive);
  const Shape expanded = Drops(call) ? Shape{experts, capacity, x[1]}
                                     : Shape{active > 0 ? std::min(active, entries) : entries, x[1]};
  checks.Is(at.expanded, expanded).Is(at.row, Shape{entries});
  if (Counts(call))
    checks.Given(at.count, "with expertTokensCountOrCumsumFlag").IsIfGiven(at.count, Shape{experts});
  if (CountsBefore(call))
    checks.Given(at.before, "with expertTokensBeforeCapacityFlag").IsIfGiven(at.before, Shape{experts});
  if (!at.IsQuantised()) return checks.status();
  checks.Integer(kQuantMode, 0, 1);
  if (!checks.Passed()) return checks.status();
  if (!IsDynamic(call)) {
    checks.Given(at.scale, "with quantMode 0").IsIfGiven(at.scale, Shape{1});
    return checks.Given(at.offset, "with quantMode 0").IsIfGiven(at.offset, Shape{1}).status();
  }
  if (call.IsGiven(at.scale)) {
    const Shape& scale = call.Tensor(at.scale).shape;
    const bool fits = scale == Shape{1, x[1]} || (experts > 0 && scale == Shape{experts, x[1]});
    checks.Holds(fits, at.scale, "[1,H] or [expertNum,H]");
  }
  const int64_t rows = Drops(call) ? experts * capacity : expanded[0];
  return checks.Given(at.row_scale, "with quantMode 1").IsIfGiven(at.row_scale, Shape{rows}).status();
}
aclnnStatus PlainFits(const Check& check, OperatorCall& call) noexcept {
  return SecondFits(check, call, kSecond);
}
aclnnStatus QuantisedFits(const Check& check, OperatorCall& call) noexcept {
  return SecondFits(check, call, kQuantised);
}

// Counts that are requested and given must be INT32.
aclnnStatus CountDtypes(OperatorCall& call, const Second& at) {
  const bool asks[] = {Counts(call), CountsBefore(call)};
  const int tensors[] = {at.count, at.before};
  for (int i = 0; i < 2; ++i) {
    const Check check = DtypesIn(kInt32, {tensors[i]});
    if (!asks[i] || !call.IsGiven(tensors[i])) continue;
    if (const aclnnStatus status = check.run(check, call)) return status;
  }
  const bool has_scales = at.IsQuantised() && IsDynamic(call) && call.IsGiven(at.row_scale);
  const Check scales = DtypesIn(kFloat, {std::max(at.row_scale, 0)});
  return has_scales ? scales.run(scales, call) : ACL_SUCCESS;
}
aclnnStatus PlainCounts(const Check&, OperatorCall& call) noexcept { return CountDtypes(call, kSecond); }
aclnnStatus QuantisedCounts(const Check&, OperatorCall& call) noexcept {
  return CountDtypes(call, kQuantised);
}

// Atlas inference products have the second form without BF16. Ascend 950 accepts INT64 experts.
constexpr DtypeRule kSecondX = SinceAtlasA2(kFloatHalfAndBf16).On({Product::kAtlasInference}, kFloatAndHalf);
constexpr DtypeRule kSecondExperts = ByGeneration(kInt32, kInt32, kInt32Or64);

constexpr Check kSecondChecks[] = {
    NotNull(kX),
    NotNull(kSecond.experts),
    NotNull(kSecond.expanded),
    NotNull(kSecond.row),
    DtypesIn(kSecondX, {kX}),
    DtypesIn(kSecondExperts, {kSecond.experts}),
    SameDtype(kX, kSecond.expanded),
    DtypesIn(kInt32, {kSecond.row}),
    Custom(PlainCounts),
    Custom(PlainFits, kTiling),
    SizesRepresentable({kSecond.expanded, kSecond.row}),
    If(Counts, SizesRepresentable({kSecond.count})),
    If(CountsBefore, SizesRepresentable({kSecond.before})),
    InsideStorage({kX, kSecond.experts}),
};

constexpr Check kQuantisedChecks[] = {
    NotNull(kX),
    NotNull(kQuantised.experts),
    NotNull(kQuantised.expanded),
    NotNull(kQuantised.row),
    DtypesIn(kOnAtlasA2AndA3, {kX}),
    DtypesIn(kInt32, {kQuantised.experts}),
    IfGiven<kQuantised.scale>(DtypesIn(kFloat, {kQuantised.scale})),
    IfGiven<kQuantised.offset>(DtypesIn(kFloat, {kQuantised.offset})),
    DtypesIn(DtypeSet(ACL_INT8), {kQuantised.expanded}),
    DtypesIn(kInt32, {kQuantised.row}),
    Custom(QuantisedCounts),
    Custom(QuantisedFits, kTiling),
    SizesRepresentable({kQuantised.expanded, kQuantised.row}),
    If(Counts, SizesRepresentable({kQuantised.count})),
    If(CountsBefore, SizesRepresentable({kQuantised.before})),
    If(IsDynamic, SizesRepresentable({kQuantised.row_scale})),
    InsideStorage({kX, kQuantised.experts}),
    IfGiven<kQuantised.scale>(InsideStorage({kQuantised.scale})),
    IfGiven<kQuantised.offset>(InsideStorage({kQuantised.offset})),
};

engine::TakeRows TakeOf(DenseOpList& ops, const OperatorCall& call, int to, OptionalBuffer entry,
                        int64_t rows, int64_t divisor, bool clears, bool keeps) {
  engine::TakeRows take{};
  take.source = ops.In(kX);
  take.to = ops.Out(to, ACL_DT_UNDEFINED, keeps);
  take.entry = entry;
  take.rows = rows;
  take.bytes = call.Tensor(kX).shape[1] * SizeOf(call, kX);
  take.divisor = divisor;
  take.source_rows = call.Tensor(kX).shape[0];
  take.clears = clears;
  take.threads = call.threads;
  return take;
}
bool ScalesByExpert(const OperatorCall& call, const Second& at) noexcept {
  return at.IsQuantised() && IsDynamic(call) && call.IsGiven(at.scale) && call.Tensor(at.scale).shape[0] > 1;
}

void SetSecondOf(const OperatorCall& call, const Second& at, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = Entries(call, at.experts);
  const bool drops = Drops(call);
  const bool counts = Counts(call);
  const int64_t experts = Integer(call, kExpertNum);
  const aclTensor& expanded = call.Tensor(at.expanded);
  const int64_t rows = drops ? expanded.shape[0] * expanded.shape[1] : expanded.shape[0];
  // Without counts the number of experts is unknown, and one row of scales serves all of them.
  const bool is_bounded = drops || counts || ScalesByExpert(call, at);
  engine::RankEntries rank = RankOf(
      ops, call, at.experts, is_bounded ? 0 : std::numeric_limits<int64_t>::min(),
      is_bounded ? experts : std::numeric_limits<int64_t>::max(), drops ? Integer(call, kCapacity) : 0, rows);
  rank.raises = is_bounded && ops.Raises();
  const bool is_cumulated = counts && Integer(call, kCountFlag) == kCumulated;
  if (is_cumulated) rank.total = {ops.Words(experts), true};
  if ((counts && !is_cumulated) || CountsBefore(call)) rank.count = {ops.Words(experts), true};
  ops.Compute(rank, {rank.expert}, entries + rows);
  ops.WordsTo(rank.rank.buffer, at.row);
  if (counts) ops.WordsTo(is_cumulated ? rank.total.buffer : rank.count.buffer, at.count);
  if (CountsBefore(call)) ops.WordsTo(rank.count.buffer, at.before);
  const int64_t divisor = std::max<int64_t>(1, DimOr(call.Tensor(at.experts).shape, 1, 1));
  if (!at.IsQuantised()) {
    const engine::TakeRows take = TakeOf(ops, call, at.expanded, rank.entry, rows, divisor, true, false);
    ops.Compute(take, {take.source, take.to}, expanded.numel);
    return ops.SetJob();
  }
  engine::QuantiseRows quantise = QuantiserOf(ops, call, at.expanded, rank.entry, rows, divisor, true, false);
  quantise.is_dynamic = IsDynamic(call);
  quantise.scale = ops.InIfGiven(at.scale);
  if (quantise.is_dynamic) {
    quantise.row_scale = {ops.Out(at.row_scale), true};
    quantise.expert = {rank.expert, true};
    quantise.is_wide = rank.is_wide;
    quantise.scale_rows = call.IsGiven(at.scale) ? call.Tensor(at.scale).shape[0] : 0;
  } else {
    quantise.offset = ops.InIfGiven(at.offset);
  }
  AddQuantiser(ops, quantise);
  ops.SetJob();
}
void SetSecond(const OperatorCall& call, Executor& executor) { SetSecondOf(call, kSecond, executor); }
void SetQuantised(const OperatorCall& call, Executor& executor) { SetSecondOf(call, kQuantised, executor); }

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeInitRouting) {
  return dense::RunOpList(call, kFirstChecks, workspaceSize, executor, SetFirst);
}
PORTACL_PHASE_1(aclnnMoeInitRoutingV2) {
  return dense::RunOpList(call, kSecondChecks, workspaceSize, executor, SetSecond);
}

PORTACL_PHASE_1(aclnnMoeInitRoutingQuantV2) {
  return dense::RunOpList(call, kQuantisedChecks, workspaceSize, executor, SetQuantised);
}
