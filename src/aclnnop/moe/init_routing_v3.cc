// aclnnMoeInitRoutingV3: copies tokens to the rows of the experts of a range, quantised on request.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/init_routing_v3_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/moe/routed_codes.h"
#include "aclnnop/moe/routed_entries.h"

namespace portacl {
namespace {

using namespace dense;
using engine::OptionalBuffer;
using routing::CodeMode;
using routing::Entries;
using routing::kMost;

enum ThirdTensors { kX, kThirdExperts, kScale, kOffset, kThirdX, kThirdRow, kThirdCount, kThirdScale };
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

// Tokens on Ascend 950 whose codes are copied.
constexpr DtypeSet kCodedTokens{ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_FLOAT4_E2M1};

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
// Returns nullptr for modes that all products have.
const CodeMode* CodesOf(const OperatorCall& call) noexcept {
  return call.product == Product::kAscend950 ? routing::CodeModeOf(Integer(call, kThirdQuantMode)) : nullptr;
}
bool HasPowers(const OperatorCall& call) noexcept {
  return call.IsGiven(kScale) && call.Tensor(kScale).dtype == ACL_FLOAT8_E8M0;
}
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

// Checks scales that are given and those that are written for `rows` rows of tokens like x.
void ScaleShapes(ShapeChecks& checks, const OperatorCall& call, const Shape& x, int64_t rows) {
  const int64_t mode = Integer(call, kThirdQuantMode);
  const Range range = RangeOf(call);
  const CodeMode* const codes = CodesOf(call);
  if (call.IsGiven(kScale)) {
    const Shape& scale = call.Tensor(kScale).shape;
    if (mode == -1 && HasPowers(call)) {
      checks.Holds(routing::ArePairs(scale, x[0], x[1]), kScale, "[n, pairs of blocks of 32, 2]");
    } else if (mode == -1) {
      checks.Is(kScale, Shape{x[0]});
    }
    if (mode == 0 || (codes != nullptr && codes->scales == CodeMode::Scales::kGiven))
      checks.Is(kScale, Shape{1});
    if (mode == 1)
      checks.Holds(scale == Shape{range.high - range.low, x[1]} || scale == Shape{1, x[1]}, kScale,
                   "[1,H] or a row for each expert of the range");
    if (codes != nullptr && codes->dtype == ACL_INT4) checks.Is(kScale, Shape{1, x[1]});
  }
  const Shape& written = call.Tensor(kThirdScale).shape;
  if (mode == -1 && HasPowers(call)) {
    checks.Holds(routing::ArePairs(written, rows, x[1]), kThirdScale, "[rows, pairs of blocks of 32, 2]");
  } else if (mode == 1 || (mode == -1 && call.IsGiven(kScale))) {
    checks.Is(kThirdScale, Shape{rows});
  }
  if (codes != nullptr)
    checks.Holds(routing::FitsRows(*codes, written, rows, x[1]), kThirdScale,
                 "the shape of the scales that quantMode has");
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
  ScaleShapes(checks, call, x, rows);
  for (const int tensor : {kX, kThirdX})
    checks.Holds(StorageBits(call.Tensor(tensor).dtype) != 4 || x[1] % 2 == 0, tensor,
                 "of 4 bits an even number of columns");
  checks.Is(kThirdX, expanded).Is(kThirdRow, Shape{entries});
  return checks
      .Is(kThirdCount,
          Integer(call, kNumType) == kPairs ? Shape{Integer(call, kThirdExpertNum), 2} : Shape{experts})
      .status();
}

// Checks that the types of tokens, of codes and of scales go with quantMode.
void TypesFit(ShapeChecks& checks, const OperatorCall& call) {
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType expanded = call.Tensor(kThirdX).dtype;
  const aclDataType written = call.Tensor(kThirdScale).dtype;
  const CodeMode* const codes = CodesOf(call);
  const bool has_powers = codes != nullptr && codes->scales == CodeMode::Scales::kPowers;
  if (IsCopied(call)) {
    checks.Holds(expanded == x, kThirdX, "x's type with quantMode -1");
    checks.Holds(!HasPowers(call) || kCodedTokens.Contains(x), kScale,
                 "FLOAT where x has no codes of floats");
    checks.Holds(!call.IsGiven(kScale) || written == call.Tensor(kScale).dtype, kThirdScale,
                 "scaleOptional's type with quantMode -1");
    return;
  }
  checks.Holds(kFloatHalfAndBf16.Contains(x), kX, "a floating type where it is quantised");
  checks.Holds(!HasPowers(call), kScale, "FLOAT where x is quantised");
  if (codes == nullptr) {
    checks.Holds(expanded == ACL_INT8, kThirdX, "INT8 where x is quantised");
  } else {
    checks.Holds(expanded == codes->dtype, kThirdX, "the type of the codes that quantMode has");
    checks.Holds(codes->dtype != ACL_INT4 || x != ACL_FLOAT16, kX, "FLOAT or BF16 with quantMode 13");
  }
  checks.Holds((written == ACL_FLOAT8_E8M0) == has_powers, kThirdScale,
               "FLOAT8_E8M0 with powers of two as scales, else FLOAT");
}

aclnnStatus ThirdModes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Range range = RangeOf(call);
  const bool is_whole = range.low == 0 && range.high == Integer(call, kThirdExpertNum);
  checks.Integer(kThirdActive, -1, std::numeric_limits<int64_t>::max()).Integer(kNumType, kTotals, kPairs);
  const CodeMode* const codes = CodesOf(call);
  const int64_t mode = Integer(call, kThirdQuantMode);
  checks.Integer(kNumFlag, 1, 1);
  checks.HoldsOf((mode >= -1 && mode <= 1) || codes != nullptr, kThirdQuantMode,
                 "-1, 0 or 1, on Ascend 950 also 2 to 9 and 11 to 17");
  checks.Integer(kRowType, 0, 1);
  if (ThirdDrops(call)) {
    checks.HoldsOf(is_whole, kRange, "with dropPadMode 1 all experts").Integer(kNumType, kNumbers, kNumbers);
    checks.Integer(kRowType, 0, 0);
  }
  if (!checks.Passed()) return checks.status();
  TypesFit(checks, call);
  if (mode == 0) {
    checks.Given(kScale, "with quantMode 0").Given(kOffset, "with quantMode 0");
    if (checks.Passed()) checks.Is(kOffset, Shape{1});
  }
  if (codes == nullptr) return checks.status();
  const bool is_given = codes->scales == CodeMode::Scales::kGiven;
  const bool is_int4 = codes->dtype == ACL_INT4;
  if (is_given) checks.Given(kScale, "with quantMode 7");
  checks.Holds(!call.IsGiven(kScale) || is_given || is_int4, kScale, "none with this quantMode");
  checks.Holds(!call.IsGiven(kOffset) || is_given, kOffset, "none with this quantMode");
  return checks.HoldsOf(!is_int4 || !ThirdDrops(call), kThirdDropPad, "0 with quantMode 13").status();
}

constexpr DtypeSet kInt8AndFloats = kFloatHalfAndBf16 | DtypeSet(ACL_INT8);
constexpr DtypeRule kThirdTypes =
    SinceAtlasA2(kInt8AndFloats).On({Product::kAscend950}, kInt8AndFloats | kCodedTokens);
constexpr DtypeRule kThirdOut =
    SinceAtlasA2(kInt8AndFloats)
        .On({Product::kAscend950}, kInt8AndFloats | kCodedTokens | DtypeSet(ACL_HIFLOAT8, ACL_INT4));
constexpr DtypeRule kThirdScales =
    Everywhere(kFloat).On({Product::kAscend950}, kFloat | DtypeSet(ACL_FLOAT8_E8M0));
constexpr Check kThirdChecks[] = {
    NotNull(kX),
    NotNull(kThirdExperts),
    NotNull(kThirdX),
    NotNull(kThirdRow),
    NotNull(kThirdCount),
    NotNull(kThirdScale),
    DtypesIn(kThirdTypes, {kX}),
    DtypesIn(kInt32, {kThirdExperts}),
    IfGiven<kScale>(DtypesIn(kThirdScales, {kScale})),
    IfGiven<kOffset>(DtypesIn(kFloat, {kOffset})),
    DtypesIn(kThirdOut, {kThirdX}),
    DtypesIn(kInt32, {kThirdRow}),
    DtypesIn(kInt64, {kThirdCount}),
    DtypesIn(kThirdScales, {kThirdScale}),
    Custom(ThirdRange, kTiling),
    Custom(ThirdFits),
    Custom(ThirdModes, kTiling),
    routing::InBytes<kX>(),
    routing::InBytes<kThirdX>(),
    SizesRepresentable({kThirdX, kThirdRow, kThirdCount, kThirdScale}),
    InsideStorage({kX, kThirdExperts}),
    IfGiven<kScale>(InsideStorage({kScale})),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

// Copies tokens to the rows of their experts, or their codes, which are made once for each token; and scales with them.
void AddTaken(DenseOpList& ops, const OperatorCall& call, OptionalBuffer entry, int64_t rows,
              int64_t divisor) {
  const bool drops = ThirdDrops(call);
  const int64_t columns = call.Tensor(kX).shape[1];
  engine::TakeRows take{};
  take.entry = entry;
  take.rows = rows;
  take.divisor = divisor;
  take.source_rows = call.Tensor(kX).shape[0];
  take.clears = drops;
  take.threads = call.threads;
  engine::TakeRows scales = take;
  take.to = routing::BytesOut(ops, call, kThirdX, !drops);
  take.bytes = routing::RowBytes(call, kThirdX, columns);
  if (const CodeMode* const mode = CodesOf(call)) {
    const routing::CodedTokens coded = routing::AddCodes(ops, call, *mode, kX, kScale);
    take.source = coded.codes;
    scales.source = coded.scales;
    scales.bytes = coded.scale_bytes;
  } else {
    take.source = routing::BytesIn(ops, call, kX);
    if (call.IsGiven(kScale)) {
      scales.source = ops.In(kScale);
      const Shape& shape = call.Tensor(kScale).shape;
      int64_t of_token = 1;
      for (int i = 1; HasPowers(call) && i < shape.rank; ++i) of_token *= shape[i];
      scales.bytes = routing::RowBytes(call, kScale, of_token);
    }
  }
  ops.Compute(take, {take.source, take.to}, rows * columns);
  if (scales.bytes == 0) return;
  scales.to = ops.Out(kThirdScale, ACL_DT_UNDEFINED, !drops);
  ops.Compute(scales, {scales.source, scales.to}, rows);
}

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
  engine::RankEntries rank = routing::RankOf(ops, call, kThirdExperts, range.low, range.high,
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
  if (mode != 0 && mode != 1) {
    AddTaken(ops, call, rank.entry, rows, divisor);
    return ops.SetJob();
  }
  engine::QuantiseRows quantise =
      routing::QuantiserOf(ops, call, kThirdX, rank.entry, rows, divisor, drops, !drops);
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
  routing::AddQuantiser(ops, quantise);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeInitRoutingV3) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetThird);
}
PORTACL_PHASE_1(aclnnMoeInitRoutingCustom) {
  return dense::RunOpList(call, kThirdChecks, workspaceSize, executor, SetThird);
}
