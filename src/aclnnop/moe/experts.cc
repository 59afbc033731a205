// aclnnMoeComputeExpertTokens counts tokens by expert. aclnnMoeReRouting groups rows from many ranks by
// expert. aclnnMoeUpdateExpert selects the copies of experts to use.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/experts_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/moe/routed_codes.h"

namespace portacl {
namespace {

using namespace dense;

// ---- counts ----

enum CountTensors { kSorted, kCounts };
enum CountAttributes { kNumExperts };

aclnnStatus CountsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kSorted, 1, 1).Rank(kCounts, 1, 1).Integer(kNumExperts, 1, 2048);
  return checks
      .Holds(call.Tensor(kCounts).numel >= Integer(call, kNumExperts), kCounts,
             "at least numExperts elements")
      .status();
}

constexpr DtypeRule kCountTypes = ByGeneration({}, kInt32, {});
constexpr Check kCountChecks[] = {
    NotNull(kSorted),
    NotNull(kCounts),
    DtypesIn(kCountTypes, {kSorted, kCounts}),
    Custom(CountsFit, kTiling),
    SizesRepresentable({kCounts}),
    InsideStorage({kSorted}),
};

void SetCounts(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CountUpTo count{};
  count.sorted = ops.In(kSorted);
  count.to = ops.Out(kCounts, ACL_INT32, /*keeps=*/true);
  count.count = call.Tensor(kSorted).numel;
  count.experts = Integer(call, kNumExperts);
  ops.Compute(count, {count.sorted, count.to}, count.experts);
  ops.SetJob();
}

// ---- rows of many ranks ----

enum RerouteTensors { kTokens, kPerRank, kScales, kToTokens, kToScales, kToIndex, kToCounts };
enum RerouteAttributes { kNumType, kIdxType };

aclnnStatus RerouteFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kTokens, 2, 2).Rank(kPerRank, 2, 2).Integer(kNumType, 1, 1);
  checks.Integer(kIdxType, 0, call.product == Product::kAscend950 ? 1 : 0);
  if (!checks.Passed()) return checks.status();
  const Shape rows{call.Tensor(kTokens).shape[0]};
  checks.Holds(StorageBits(call.Tensor(kTokens).dtype) != 4 || call.Tensor(kTokens).shape[1] % 2 == 0,
               kTokens, "of 4 bits an even number of columns");
  checks.IsIfGiven(kScales, rows).Is(kToTokens, call.Tensor(kTokens).shape).Is(kToIndex, rows);
  if (call.IsGiven(kScales)) checks.Is(kToScales, rows);
  return checks.Is(kToCounts, Shape{call.Tensor(kPerRank).shape[1]}).status();
}

constexpr DtypeSet kWholeBytes{ACL_FLOAT16, ACL_BF16, ACL_INT8};
constexpr DtypeSet kCodesOfFloats{ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_HIFLOAT8, ACL_FLOAT4_E2M1,
                                  ACL_FLOAT4_E1M2};
constexpr DtypeRule kRerouted =
    SinceAtlasA2(kWholeBytes).On({Product::kAscend950}, kWholeBytes | kCodesOfFloats);
constexpr Check kRerouteChecks[] = {
    NotNull(kTokens),
    NotNull(kPerRank),
    NotNull(kToTokens),
    NotNull(kToScales),
    NotNull(kToIndex),
    NotNull(kToCounts),
    DtypesIn(kRerouted, {kTokens}),
    DtypesIn(kInt32Or64, {kPerRank}),
    IfGiven<kScales>(DtypesIn(kFloat, {kScales})),
    SameDtype(kTokens, kToTokens),
    DtypesIn(kFloat, {kToScales}),
    DtypesIn(kInt32, {kToIndex}),
    SameDtype(kPerRank, kToCounts),
    Custom(RerouteFits, kTiling),
    routing::InBytes<kTokens>(),
    routing::InBytes<kToTokens>(),
    SizesRepresentable({kToTokens, kToScales, kToIndex, kToCounts}),
    InsideStorage({kTokens, kPerRank}),
    IfGiven<kScales>(InsideStorage({kScales})),
};

void SetReroute(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& tokens = call.Tensor(kTokens).shape;
  const Shape& per_rank = call.Tensor(kPerRank).shape;
  engine::Reroute reroute{};
  reroute.count = ops.In(kPerRank, ACL_INT64);
  reroute.begin = ops.Words(per_rank[0] * per_rank[1]);
  reroute.source = ops.Words(tokens[0]);
  reroute.total = ops.Words(per_rank[1]);
  reroute.ranks = per_rank[0];
  reroute.experts = per_rank[1];
  reroute.rows = tokens[0];
  reroute.name = call.Name(kPerRank);
  reroute.raises = ops.Raises();
  ops.Compute(reroute, {reroute.count}, call.Tensor(kPerRank).numel + tokens[0]);
  if (!call.Tensor(kToCounts).shape.IsEmpty()) ops.WordsTo(reroute.total, kToCounts);
  if (tokens[0] == 0) return ops.SetJob();
  engine::BufferRef index = reroute.source;
  if (Integer(call, kIdxType) == 1) {
    engine::InvertIndex invert{};
    invert.index = reroute.source;
    invert.entry = ops.Words(tokens[0]);
    invert.entries = invert.rows = tokens[0];
    invert.least = -1;
    ops.Compute(invert, {}, tokens[0]);
    index = invert.entry;
  }
  ops.WordsTo(index, kToIndex);
  engine::TakeRows take{};
  take.source = routing::BytesIn(ops, call, kTokens);
  take.to = routing::BytesOut(ops, call, kToTokens, /*keeps=*/false);
  take.entry = {reroute.source, true};
  take.rows = take.source_rows = tokens[0];
  take.bytes = routing::RowBytes(call, kTokens, tokens[1]);
  take.clears = true;
  take.threads = call.threads;
  ops.Compute(take, {take.source, take.to}, call.Tensor(kTokens).numel);
  if (call.IsGiven(kScales)) {
    engine::TakeRows scales = take;
    scales.source = ops.In(kScales);
    scales.to = ops.Out(kToScales);
    scales.bytes = sizeof(float);
    ops.Compute(scales, {scales.source, scales.to}, tokens[0]);
  }
  ops.SetJob();
}

// ---- copies of experts ----

enum UpdateTensors { kIds, kTable, kScores, kThreshold, kActive, kToIds, kToActive };
enum UpdateAttributes { kRank, kWorld, kBalance };

bool Prunes(const OperatorCall& call) noexcept { return call.IsGiven(kScores) && call.IsGiven(kThreshold); }

aclnnStatus UpdateFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kIds, 2, 2).Rank(kTable, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& ids = call.Tensor(kIds).shape;
  const Shape& table = call.Tensor(kTable).shape;
  checks.Holds(ids[0] <= 512 && ids[1] <= 16, kIds, "at most 512 tokens of at most 16 experts");
  checks.Integer(kWorld, 1, std::numeric_limits<int32_t>::max());
  checks.Integer(kRank, 0, std::max<int64_t>(Integer(call, kWorld), 1) - 1).Integer(kBalance, 0, 1);
  if (!checks.Passed()) return checks.status();
  checks.Holds(table[0] >= 1 && table[1] >= 2 && table[1] <= Integer(call, kWorld) + 1, kTable,
               "rows of 2 to worldSize + 1 elements");
  checks.IsIfGiven(kScores, ids);
  if (call.IsGiven(kThreshold)) {
    const Shape& threshold = call.Tensor(kThreshold).shape;
    checks.Holds(threshold == Shape{ids[1]} || threshold == Shape{1, ids[1]}, kThreshold, "[k] or [1,k]");
  }
  if (call.IsGiven(kActive)) {
    checks.Given(kScores, "with activeMaskOptional").Given(kThreshold, "with activeMaskOptional");
    checks.Is(kActive, Shape{ids[0]});
  }
  checks.Is(kToIds, ids);
  if (Prunes(call)) checks.Is(kToActive, ids);
  return checks.status();
}

// Accepted on Atlas A3 and Ascend 950.
constexpr DtypeRule kUpdated =
    Everywhere({}).On(ProductSet{Product::kAtlasA3, Product::kAscend950}, kInt32Or64);
constexpr Check kUpdateChecks[] = {
    NotNull(kIds),
    NotNull(kTable),
    NotNull(kToIds),
    NotNull(kToActive),
    DtypesIn(kUpdated, {kIds}),
    DtypesIn(kInt32, {kTable}),
    IfGiven<kScores>(DtypesIn(kFloatHalfAndBf16, {kScores})),
    IfGiven<kThreshold>(DtypesIn(kFloat, {kThreshold})),
    IfGiven<kActive>(DtypesIn(kBool, {kActive})),
    SameDtype(kIds, kToIds),
    DtypesIn(kBool, {kToActive}),
    Custom(UpdateFits, kTiling),
    SizesRepresentable({kToIds, kToActive}),
    DoneIfEmpty({kIds}),
    InsideStorage({kIds, kTable}),
    IfGiven<kScores>(InsideStorage({kScores})),
    IfGiven<kThreshold>(InsideStorage({kThreshold})),
    IfGiven<kActive>(InsideStorage({kActive})),
};

void SetUpdate(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& ids = call.Tensor(kIds).shape;
  engine::ChooseCopies choose{};
  choose.expert = ops.In(kIds, ACL_INT64);
  choose.table = ops.In(kTable);
  choose.to = ops.Out(kToIds, ACL_INT64);
  choose.tokens = ids[0];
  choose.entries = ids[1];
  choose.experts = call.Tensor(kTable).shape[0];
  choose.columns = call.Tensor(kTable).shape[1];
  choose.rank = Integer(call, kRank);
  choose.world = Integer(call, kWorld);
  choose.by_token = Integer(call, kBalance) == 1;
  if (Prunes(call)) {
    choose.score = ops.InIfGiven(kScores, ACL_FLOAT);
    choose.threshold = ops.InIfGiven(kThreshold);
    choose.active = ops.InIfGiven(kActive);
    choose.kept = {ops.Out(kToActive), true};
  }
  choose.name = call.Name(kIds);
  choose.raises = ops.Raises();
  ops.Compute(choose,
              {choose.expert, choose.table, choose.to, choose.score.buffer, choose.threshold.buffer,
               choose.active.buffer, choose.kept.buffer},
              call.Tensor(kIds).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeComputeExpertTokens) {
  return dense::RunOpList(call, kCountChecks, workspaceSize, executor, SetCounts);
}
PORTACL_PHASE_1(aclnnMoeReRouting) {
  return dense::RunOpList(call, kRerouteChecks, workspaceSize, executor, SetReroute);
}
PORTACL_PHASE_1(aclnnMoeUpdateExpert) {
  return dense::RunOpList(call, kUpdateChecks, workspaceSize, executor, SetUpdate);
}
