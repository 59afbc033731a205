// aclnnMoeInitRouting and its later forms: copy tokens to the rows of their experts, quantised on request.

// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/init_routing_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl {
namespace {

using namespace dense;
using engine::BufferRef;
using engine::OptionalBuffer;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;
constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// ---- shared by all forms ----

int64_t Entries(const OperatorCall& call, int experts) noexcept { return call.Tensor(experts).numel; }

// Computes the row of each entry, for experts from `low` on and below `high`, and the entry of each row. The
// greatest `high` includes all numbers.
engine::RankEntries RankOf(DenseOpList& ops, const OperatorCall& call, int experts, int64_t low, int64_t high,
                           int64_t capacity, int64_t rows) {
  const int64_t entries = Entries(call, experts);
  engine::RankEntries rank{};
  rank.expert = ops.In(experts);
  rank.is_wide = call.Tensor(experts).dtype == ACL_INT64;
  rank.order = ops.Order(experts);
  rank.entries = entries;
  rank.low = low;
  rank.high = high;
  rank.capacity = capacity;
  rank.rows = rows;
  rank.rank = {ops.Words(entries), true};
  rank.entry = {ops.Words(rows), true};
  rank.name = call.Name(experts);
  return rank;
}

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
engine::QuantiseRows QuantiserOf(DenseOpList& ops, const OperatorCall& call, int to, OptionalBuffer entry,
                                 int64_t rows, int64_t divisor, bool clears, bool keeps) {
  engine::QuantiseRows quantise{};
  quantise.source = ops.Rows(kX);
  quantise.to = ops.Out(to, ACL_DT_UNDEFINED, keeps);
  quantise.entry = entry;
  quantise.rows = rows;
  quantise.columns = call.Tensor(kX).shape[1];
  quantise.divisor = divisor;
  quantise.clears = clears;
  quantise.load_half = engine::FindLoad(call.isa, ACL_FLOAT16, ACL_FLOAT);
  quantise.store_half = engine::FindStore(call.isa, ACL_FLOAT16);
  quantise.threads = call.threads;
  return quantise;
}
void AddQuantiser(DenseOpList& ops, const engine::QuantiseRows& quantise) {
  ops.Compute(quantise,
              {quantise.source.buffer, quantise.to, quantise.scale.buffer, quantise.offset.buffer,
               quantise.row_scale.buffer, quantise.expert.buffer},
              quantise.rows * quantise.columns);
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

// ---- third form ----

enum ThirdTensors { kThirdExperts = 1, kScale, kOffset, kThirdX, kThirdRow, kThirdCount, kThirdScale };
enum ThirdAttributes {
  kThirdActive,
  kThirdCapacity,
  kThirdExpertNum,
  kThirdDropPad,
  kNumType,
  kNumFlag,
  kThirdQuantMode,
  kRange,
  kRowType
};
enum NumType : int64_t { kTotals, kNumbers, kPairs };

struct Range {
  int64_t low, high;
};
// Returns the range of experts. It is all of them if the array is null or empty.
Range RangeOf(const OperatorCall& call) {
  const aclIntArray* const array = call.attributes[kRange].array;
  if (array == nullptr || array->values.size() != 2) return {0, Integer(call, kThirdExpertNum)};
  return {array->values[0], array->values[1]};
}
bool ThirdDrops(const OperatorCall& call) noexcept { return Integer(call, kThirdDropPad) == 1; }
bool IsCopied(const OperatorCall& call) noexcept { return Integer(call, kThirdQuantMode) == -1; }
int64_t RowsOfThird(const OperatorCall& call) noexcept {
  const int64_t entries = Entries(call, kThirdExperts);
  const int64_t active = Integer(call, kThirdActive);
  return active > 0 ? std::min(active, entries) : entries;
}

// CANN returns 561002 after the checks of shapes, except for the values that determine shapes.
aclnnStatus ThirdRange(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclIntArray* const array = call.attributes[kRange].array;
  checks.Integer(kThirdExpertNum, 1, kMost);
  checks.HoldsOf(array == nullptr || array->values.empty() || array->values.size() == 2, kRange,
                 "null, no elements or [first, end]");
  if (!checks.Passed()) return checks.status();
  const Range range = RangeOf(call);
  const int64_t most = Integer(call, kNumType) == kPairs ? 5120 : 10240;
  const bool fits = range.low >= 0 && range.low < range.high &&
                    range.high <= Integer(call, kThirdExpertNum) && range.high <= most;
  return checks.HoldsOf(fits, kRange, "0 <= first < end <= expertNum, end at most 10240, 5120 with pairs")
      .Integer(kThirdDropPad, 0, 1)
      .Integer(kThirdCapacity, ThirdDrops(call) ? 1 : std::numeric_limits<int64_t>::min(), kMost)
      .status();
}

aclnnStatus ThirdFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kThirdExperts, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t entries = Entries(call, kThirdExperts);
  const Range range = RangeOf(call);
  const int64_t experts = range.high - range.low;
  checks.Holds(call.Tensor(kThirdExperts).shape[0] == x[0], kThirdExperts, "as many rows as x has");
  int64_t rows = RowsOfThird(call);
  Shape expanded{rows, x[1]};
  if (ThirdDrops(call)) {
    expanded = Shape{Integer(call, kThirdExpertNum), Integer(call, kThirdCapacity), x[1]};
    rows = expanded[0] * expanded[1];
  }
  const int64_t mode = Integer(call, kThirdQuantMode);
  if (call.IsGiven(kScale)) {
    const Shape& scale = call.Tensor(kScale).shape;
    if (mode == -1) checks.Is(kScale, Shape{x[0]});
    if (mode == 0) checks.Is(kScale, Shape{1});
    if (mode == 1)
      checks.Holds(scale == Shape{experts, x[1]} || scale == Shape{1, x[1]}, kScale,
                   "[1,H] or a row for each expert of the range");
  }
  if (mode == 1 || (mode == -1 && call.IsGiven(kScale))) checks.Is(kThirdScale, Shape{rows});
  checks.Is(kThirdX, expanded).Is(kThirdRow, Shape{entries});
  return checks
      .Is(kThirdCount,
          Integer(call, kNumType) == kPairs ? Shape{Integer(call, kThirdExpertNum), 2} : Shape{experts})
      .status();
}

aclnnStatus ThirdModes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Range range = RangeOf(call);
  const bool is_whole = range.low == 0 && range.high == Integer(call, kThirdExpertNum);
  checks.Integer(kThirdActive, -1, std::numeric_limits<int64_t>::max()).Integer(kNumType, kTotals, kPairs);
  checks.Integer(kNumFlag, 1, 1).Integer(kThirdQuantMode, -1, 1).Integer(kRowType, 0, 1);
  if (ThirdDrops(call)) {
    checks.HoldsOf(is_whole, kRange, "with dropPadMode 1 all experts").Integer(kNumType, kNumbers, kNumbers);
    checks.Integer(kRowType, 0, 0);
  }
  if (!checks.Passed()) return checks.status();
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType expanded = call.Tensor(kThirdX).dtype;
  if (IsCopied(call)) {
    checks.Holds(expanded == x, kThirdX, "x's type with quantMode -1");
  } else {
    checks.Holds(x != ACL_INT8, kX, "a floating type where it is quantised");
    checks.Holds(expanded == ACL_INT8, kThirdX, "INT8 where x is quantised");
  }
  if (Integer(call, kThirdQuantMode) == 0) {
    checks.Given(kScale, "with quantMode 0").Given(kOffset, "with quantMode 0");
    if (checks.Passed()) checks.Is(kOffset, Shape{1});
  }
  return checks.status();
}

constexpr DtypeRule kThirdTypes = SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT8));
constexpr Check kThirdChecks[] = {
    NotNull(kX),
    NotNull(kThirdExperts),
    NotNull(kThirdX),
    NotNull(kThirdRow),
    NotNull(kThirdCount),
    NotNull(kThirdScale),
    DtypesIn(kThirdTypes, {kX}),
    DtypesIn(kInt32, {kThirdExperts}),
    IfGiven<kScale>(DtypesIn(kFloat, {kScale})),
    IfGiven<kOffset>(DtypesIn(kFloat, {kOffset})),
    DtypesIn(kThirdTypes, {kThirdX}),
    DtypesIn(kInt32, {kThirdRow}),
    DtypesIn(kInt64, {kThirdCount}),
    DtypesIn(kFloat, {kThirdScale}),
    Custom(ThirdRange, kTiling),
    Custom(ThirdFits),
    Custom(ThirdModes, kTiling),
    SizesRepresentable({kThirdX, kThirdRow, kThirdCount, kThirdScale}),
    InsideStorage({kX, kThirdExperts}),
    IfGiven<kScale>(InsideStorage({kScale})),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

void SetThird(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = Entries(call, kThirdExperts);
  const Range range = RangeOf(call);
  const int64_t experts = range.high - range.low;
  const bool drops = ThirdDrops(call);
  const int64_t mode = Integer(call, kThirdQuantMode);
  const aclTensor& expanded = call.Tensor(kThirdX);
  const int64_t rows = drops ? expanded.shape[0] * expanded.shape[1] : expanded.shape[0];
  const bool scatters = Integer(call, kRowType) == 1;
  const int64_t positions = scatters ? std::max(rows, entries) : rows;
  engine::RankEntries rank = RankOf(ops, call, kThirdExperts, range.low, range.high,
                                    drops ? Integer(call, kThirdCapacity) : 0, positions);
  const int64_t type = Integer(call, kNumType);
  (type == kTotals ? rank.total : rank.count) = {ops.Words(experts), true};
  ops.Compute(rank, {rank.expert}, entries + positions);
  if (scatters) {
    ops.WordsTo(rank.entry.buffer, kThirdRow);
  } else {
    ops.WordsTo(rank.rank.buffer, kThirdRow);
  }
  if (type == kPairs) {
    engine::PairCounts pairs{};
    pairs.count = rank.count.buffer;
    pairs.pairs = ops.Out(kThirdCount, ACL_INT64, /*keeps=*/true);
    pairs.experts = experts;
    pairs.first = range.low;
    pairs.rows = call.Tensor(kThirdCount).shape[0];
    ops.Compute(pairs, {pairs.pairs}, experts);
  } else {
    ops.WordsTo(type == kTotals ? rank.total.buffer : rank.count.buffer, kThirdCount);
  }
  const int64_t divisor = std::max<int64_t>(1, call.Tensor(kThirdExperts).shape[1]);
  if (mode == -1) {
    const engine::TakeRows take = TakeOf(ops, call, kThirdX, rank.entry, rows, divisor, drops, !drops);
    ops.Compute(take, {take.source, take.to}, expanded.numel);
    if (call.IsGiven(kScale)) {
      engine::TakeRows scales = take;
      scales.source = ops.In(kScale);
      scales.to = ops.Out(kThirdScale, ACL_DT_UNDEFINED, !drops);
      scales.bytes = sizeof(float);
      ops.Compute(scales, {scales.source, scales.to}, rows);
    }
    return ops.SetJob();
  }
  engine::QuantiseRows quantise = QuantiserOf(ops, call, kThirdX, rank.entry, rows, divisor, drops, !drops);
  quantise.is_dynamic = mode == 1;
  quantise.scale = ops.InIfGiven(kScale);
  if (quantise.is_dynamic) {
    quantise.row_scale = {ops.Out(kThirdScale, ACL_DT_UNDEFINED, !drops), true};
    quantise.expert = {rank.expert, true};
    quantise.first_expert = range.low;
    quantise.scale_rows = call.IsGiven(kScale) ? call.Tensor(kScale).shape[0] : 0;
  } else {
    quantise.offset = ops.InIfGiven(kOffset);
  }
  AddQuantiser(ops, quantise);
  ops.SetJob();
}

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
PORTACL_PHASE_1(aclnnMoeInitRoutingV3) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetThird);
}
PORTACL_PHASE_1(aclnnMoeInitRoutingCustom) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetThird);
}
