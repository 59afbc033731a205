// aclnnLightningIndexer and aclnnQuantLightningIndexer: choose keys for each query. aclnnSparseFlashAttention,
// aclnnKvQuantSparseFlashAttention and their V2: attend to blocks of chosen keys.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/selected_keys.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/sparse_attention_functions.h"

namespace portacl {
namespace {

using namespace dense;

constexpr int64_t kMostKeys = std::numeric_limits<int32_t>::max();  // they are counted in INT32
constexpr int64_t kMostScores = int64_t{1} << 40;                   // of a query
constexpr int64_t kBottomRight = 3;                                 // the mode that hides later keys
constexpr int64_t kLatentDepth = 512;
constexpr int64_t kRopeDepth = 64;
constexpr int64_t kIndexDepth = 128;
constexpr int64_t kIndexHeads = 64;
constexpr int64_t kTile = 128;

enum Tensors { kQuery, kKey };

// Indices of the tensors and attributes that describe the sequences.
struct SequencePositions {
  int query_lengths, key_lengths, table;  // tensors
  int query_layout, key_layout;           // attributes
};

std::string_view LayoutText(const OperatorCall& call, int attribute) {
  return serving::TextOr(call, attribute, "BSND");
}
template <const SequencePositions& at>
bool IsPacked(const OperatorCall& call) {
  return LayoutText(call, at.query_layout) == "TND";
}
template <const SequencePositions& at>
bool IsPaged(const OperatorCall& call) {
  return LayoutText(call, at.key_layout) == "PA_BSND";
}

// The dims of a call. The layouts must have been checked.
template <const SequencePositions& at>
struct Sizes {
  explicit Sizes(const OperatorCall& call) {
    const Shape& query = call.Tensor(kQuery).shape;
    const int first = IsPacked<at>(call) ? 1 : 2;
    batches = IsPacked<at>(call) ? call.Tensor(at.query_lengths).shape[0] : query[0];
    rows = query[0];
    // If the product overflows, the query is empty, or later checks refuse it because of another dim.
    if (!IsPacked<at>(call) && __builtin_mul_overflow(query[0], query[1], &rows)) rows = 0;
    heads = query[first];
    depth = query[first + 1];
    leading = IsPacked<at>(call) ? Shape{query[0]} : Shape{query[0], query[1]};
  }
  Shape With(int64_t last) const {
    Shape shape = leading;
    shape.dim[shape.rank++] = last;
    return shape;
  }
  Shape With(int64_t before, int64_t last) const {
    Shape shape = With(before);
    shape.dim[shape.rank++] = last;
    return shape;
  }

  int64_t batches, rows, heads, depth;
  Shape leading;  // of tensors that have a row for each query
};

// Checks layouts, lengths and the table, and that keys have one head.
template <const SequencePositions& at>
ShapeChecks& SequencesFit(const OperatorCall& call, ShapeChecks& checks) noexcept {
  const std::string_view of_query = LayoutText(call, at.query_layout);
  const std::string_view of_key = LayoutText(call, at.key_layout);
  checks.HoldsOf(of_query == "BSND" || of_query == "TND", at.query_layout, "BSND, TND or a null pointer");
  checks.HoldsOf(of_key == "PA_BSND" || of_key == of_query, at.key_layout, "query's layout, or PA_BSND");
  if (!checks.Passed()) return checks;
  const bool is_packed = IsPacked<at>(call);
  const bool is_paged = IsPaged<at>(call);
  checks.Rank(kQuery, is_packed ? 3 : 4, is_packed ? 3 : 4);
  checks.Rank(kKey, is_paged || !is_packed ? 4 : 3, is_paged || !is_packed ? 4 : 3);
  if (is_packed) checks.Given(at.query_lengths, "in the layout TND");
  if (is_packed || is_paged) checks.Given(at.key_lengths, "in the layouts TND and PA_BSND");
  if (is_paged) checks.Given(at.table, "in the layout PA_BSND");
  if (!checks.Passed()) return checks;
  const Shape& key = call.Tensor(kKey).shape;
  if (is_packed) {
    checks.Rank(at.query_lengths, 1, 1);
    if (checks.Passed())
      checks.Holds(call.Tensor(at.query_lengths).shape[0] > 0, at.query_lengths,
                   "a length for each sequence");
    if (!checks.Passed()) return checks;
  }
  const Sizes<at> sizes(call);
  const Shape lengths{sizes.batches};
  checks.IsIfGiven(at.query_lengths, lengths).IsIfGiven(at.key_lengths, lengths);
  checks.Holds(key[key.rank - 2] == 1, kKey, "one head");
  checks.Holds(sizes.heads > 0, kQuery, "at least one head");
  int64_t keys = is_packed && !is_paged ? key[0] : key[1];
  if (is_paged) {
    checks.Rank(at.table, 2, 2);
    if (!checks.Passed()) return checks;
    const Shape& table = call.Tensor(at.table).shape;
    checks.Holds(table[0] == sizes.batches, at.table, "a row for each sequence");
    if (__builtin_mul_overflow(table[1], key[1], &keys)) keys = std::numeric_limits<int64_t>::max();
  } else if (!is_packed) {
    checks.Holds(key[0] == sizes.batches, kKey, "query's batch");
  }
  return checks.Holds(keys <= kMostKeys, kKey, "at most 2^31 - 1 keys of a sequence");
}

template <const SequencePositions& at>
engine::SequenceRows QueriesOf(DenseOpList& ops, const OperatorCall& call) {
  engine::SequenceRows made;
  const Shape& query = call.Tensor(kQuery).shape;
  made.layout =
      IsPacked<at>(call) ? engine::SequenceRows::Layout::kPacked : engine::SequenceRows::Layout::kBatches;
  made.length = ops.InIfGiven(at.query_lengths, ACL_INT64);
  made.batches = Sizes<at>(call).batches;
  made.rows = IsPacked<at>(call) ? query[0] : query[1];
  return made;
}
template <const SequencePositions& at>
engine::SequenceRows KeysOf(DenseOpList& ops, const OperatorCall& call) {
  engine::SequenceRows made;
  const Shape& key = call.Tensor(kKey).shape;
  made.length = ops.InIfGiven(at.key_lengths, ACL_INT64);
  made.batches = Sizes<at>(call).batches;
  if (IsPaged<at>(call)) {
    made.layout = engine::SequenceRows::Layout::kPaged;
    made.table = ops.In(at.table, ACL_INT64);
    made.rows = call.Tensor(at.table).shape[1];
    made.pages = key[0];
    made.slots = key[1];
  } else {
    made.layout =
        IsPacked<at>(call) ? engine::SequenceRows::Layout::kPacked : engine::SequenceRows::Layout::kBatches;
    made.rows = IsPacked<at>(call) ? key[0] : key[1];
  }
  return made;
}

template <const SequencePositions& at>
constexpr auto SequenceDtypes() {
  return List(IfGiven<at.query_lengths>(DtypesIn(kInt32, {at.query_lengths})),
              IfGiven<at.key_lengths>(DtypesIn(kInt32, {at.key_lengths})),
              IfGiven<at.table>(DtypesIn(kInt32, {at.table})));
}
template <const SequencePositions& at>
constexpr auto SequencesInside() {
  return List(InsideStorage({kQuery, kKey}), IfGiven<at.query_lengths>(InsideStorage({at.query_lengths})),
              IfGiven<at.key_lengths>(InsideStorage({at.key_lengths})),
              IfGiven<at.table>(InsideStorage({at.table})));
}

// ---- LightningIndexer ----

// Positions of the arguments in the two functions; -1: the function lacks it.
struct IndexerPositions {
  SequencePositions sequences;
  int query_scale, index, values;        // tensors
  int query_mode, count, mode, returns;  // attributes
};
enum Indexed { kWeights = 2 };
constexpr IndexerPositions kIndexer{{3, 4, 5, 0, 1}, -1, 6, 7, -1, 2, 3, 6};
constexpr IndexerPositions kQuantIndexer{{5, 6, 7, 2, 3}, 3, 8, -1, 0, 4, 5, -1};
constexpr SequencePositions kOfIndexer = kIndexer.sequences;
constexpr SequencePositions kOfQuantIndexer = kQuantIndexer.sequences;

template <const IndexerPositions& positions>
bool ReturnsValues(const OperatorCall& call) noexcept {
  return positions.returns >= 0 && Integer(call, positions.returns) != 0;
}

template <const IndexerPositions& positions, const SequencePositions& at>
aclnnStatus IndexerFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (!SequencesFit<at>(call, checks).Passed()) return checks.status();
  const Sizes<at> sizes(call);
  const Shape& key = call.Tensor(kKey).shape;
  checks.Holds(sizes.depth == kIndexDepth, kQuery, "heads of 128 elements");
  checks.Holds(key[key.rank - 1] == kIndexDepth, kKey, "rows of 128 elements");
  checks.Holds(sizes.heads <= kIndexHeads, kQuery, "at most 64 heads");
  checks.Is(kWeights, sizes.With(sizes.heads));
  if (positions.query_scale >= 0) {
    checks.Integer(positions.query_mode, 0, 0).Integer(positions.query_mode + 1, 0, 0);
    checks.Is(positions.query_scale, sizes.With(sizes.heads));
    Shape scales = key;
    --scales.rank;
    checks.Is(positions.query_scale + 1, scales);
  }
  checks.Integer(positions.count, 1, kMostKeys);
  const int64_t mode = Integer(call, positions.mode);
  checks.HoldsOf(mode == 0 || mode == kBottomRight, positions.mode, "0 or 3");
  if (!checks.Passed()) return checks.status();
  const Shape result = sizes.With(1, Integer(call, positions.count));
  checks.Is(positions.index, result);
  if (ReturnsValues<positions>(call)) {
    checks.Given(positions.values, "where returnValue is true");
    if (checks.Passed()) checks.Is(positions.values, result);
  }
  return checks.status();
}

template <const IndexerPositions& positions, const SequencePositions& at>
void SetIndexer(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Sizes<at> sizes(call);
  engine::RankKeys rank{};
  rank.queries = QueriesOf<at>(ops, call);
  rank.keys = KeysOf<at>(ops, call);
  rank.query = ops.Rows(kQuery);
  rank.key = ops.Rows(kKey);
  rank.weight = ops.Rows(kWeights);
  if (positions.query_scale >= 0) {
    rank.query_scale = ops.Rows(positions.query_scale);
    rank.key_scale = ops.Rows(positions.query_scale + 1);
  }
  rank.index = ops.Out(positions.index);
  if (ReturnsValues<positions>(call)) rank.to = ops.RowsOut(positions.values);
  rank.rows = sizes.rows;
  rank.heads = sizes.heads;
  rank.depth = sizes.depth;
  rank.count = Integer(call, positions.count);
  rank.is_causal = Integer(call, positions.mode) == kBottomRight;
  rank.functions = engine::SelectedKeysFunctionsOf(call.isa);
  rank.threads = call.threads;
  rank.work = ops.Bytes(rank.WorkBytes());
  ops.Compute(rank,
              {rank.queries.length.buffer, rank.keys.length.buffer, rank.keys.table, rank.query.buffer,
               rank.key.buffer, rank.weight.buffer, rank.query_scale.buffer, rank.key_scale.buffer,
               rank.index, rank.to.buffer},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

template <const IndexerPositions& positions>
bool HasValues(const OperatorCall& call) noexcept {
  return ReturnsValues<positions>(call) && call.IsGiven(positions.values);
}

constexpr DtypeRule kHalfAndBf16Rule = SinceAtlasA2(serving::kHalfAndBf16);
constexpr DtypeRule kInt8Rule = SinceAtlasA2(DtypeSet(ACL_INT8));
constexpr auto kIndexerChecks = Join(
    Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kWeights), NotNull(kIndexer.index),
              DtypesIn(kHalfAndBf16Rule, {kQuery}), SameDtype(kQuery, kKey),
              DtypesIn(kNoneBeforeAtlasA2, {kWeights})),
         SequenceDtypes<kOfIndexer>()),
    Join(List(DtypesIn(kInt32, {kIndexer.index}), If(HasValues<kIndexer>, SameDtype(kQuery, kIndexer.values)),
              Custom(IndexerFits<kIndexer, kOfIndexer>, kTiling), SizesRepresentable({kIndexer.index}),
              If(HasValues<kIndexer>, SizesRepresentable({kIndexer.values})), DoneIfEmpty({kQuery}),
              InsideStorage({kWeights})),
         SequencesInside<kOfIndexer>()));
constexpr auto kQuantIndexerChecks =
    Join(Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kWeights), NotNull(kQuantIndexer.query_scale),
                   NotNull(kQuantIndexer.query_scale + 1), NotNull(kQuantIndexer.index),
                   DtypesIn(kInt8Rule, {kQuery}), SameDtype(kQuery, kKey),
                   DtypesIn(kNoneBeforeAtlasA2,
                            {kWeights, kQuantIndexer.query_scale, kQuantIndexer.query_scale + 1})),
              SequenceDtypes<kOfQuantIndexer>()),
         Join(List(DtypesIn(kInt32, {kQuantIndexer.index}),
                   Custom(IndexerFits<kQuantIndexer, kOfQuantIndexer>, kTiling),
                   SizesRepresentable({kQuantIndexer.index}), DoneIfEmpty({kQuery}),
                   InsideStorage({kWeights, kQuantIndexer.query_scale, kQuantIndexer.query_scale + 1})),
              SequencesInside<kOfQuantIndexer>()));

// ---- SparseFlashAttention ----

// Positions of the arguments in the four functions; -1: the function lacks it.
struct SparsePositions {
  SequencePositions sequences;
  int query_rope, key_rope, sink, out, greatest;    // tensors; the sum follows the greatest
  int scale, block, mode, attention_mode, returns;  // attributes
  int key_mode, repository_mode;                    // of keys that are INT8
};
enum Sparse { kValue = 2, kIndex };
constexpr SparsePositions kSparse{{5, 6, 4, 2, 3}, 7, 8, -1, 9, 10, 0, 1, 4, 7, 8, -1, -1};
constexpr SparsePositions kSparseV2{{5, 6, 4, 2, 3}, 7, 8, 9, 10, 11, 0, 1, 4, 7, 8, -1, -1};
// The tensors 4 and 5 are scales of keys and values, which are null.
constexpr SparsePositions kQuantSparse{{7, 8, 6, 4, 5}, -1, -1, -1, 9, -1, 0, 3, 6, 9, -1, 1, 10};
constexpr SparsePositions kQuantSparseV2{{7, 8, 6, 4, 5}, -1, -1, 9, 10, -1, 0, 3, 6, 9, -1, 1, 10};
enum Quantised { kKeyScale = 4, kValueScale };
constexpr SequencePositions kOfSparse = kSparse.sequences;
constexpr SequencePositions kOfQuantSparse = kQuantSparse.sequences;

template <const SparsePositions& positions>
constexpr bool kIsQuantised = positions.key_mode >= 0;
template <const SparsePositions& positions>
bool ReturnsStatistics(const OperatorCall& call) noexcept {
  return positions.returns >= 0 && Integer(call, positions.returns) != 0;
}

// Bytes of a key's row: INT8 elements, FLOAT16 or BF16 ones, a FLOAT scale for each tile.
constexpr int64_t kQuantisedRow =
    kLatentDepth + kRopeDepth * 2 + kLatentDepth / kTile * int64_t{sizeof(float)};

template <const SparsePositions& positions, const SequencePositions& at>
aclnnStatus SparseFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (!SequencesFit<at>(call, checks).Passed()) return checks.status();
  const Sizes<at> sizes(call);
  const Shape& key = call.Tensor(kKey).shape;
  const int64_t columns = key[key.rank - 1];
  if constexpr (kIsQuantised<positions>) {
    checks.Holds(sizes.depth == kLatentDepth + kRopeDepth, kQuery, "heads of 576 elements");
    checks.Holds(columns == kQuantisedRow, kKey, "rows of 656 bytes");
  } else {
    checks.Holds(sizes.depth == kLatentDepth, kQuery, "heads of 512 elements");
    checks.Holds(columns == kLatentDepth, kKey, "rows of 512 elements");
    checks.Given(positions.query_rope, "of the rotary elements");
    checks.Given(positions.key_rope, "of the rotary elements");
    if (!checks.Passed()) return checks.status();
    checks.Is(positions.query_rope, sizes.With(sizes.heads, kRopeDepth));
    Shape ropes = key;
    ropes.dim[ropes.rank - 1] = kRopeDepth;
    checks.Is(positions.key_rope, ropes);
  }
  checks.Is(kValue, key);
  if (positions.sink >= 0) checks.IsIfGiven(positions.sink, Shape{sizes.heads});
  if (!checks.Passed()) return checks.status();
  const Shape& index = call.Tensor(kIndex).shape;
  const int64_t count = index.rank > 0 ? index[index.rank - 1] : 0;
  checks.Is(kIndex, sizes.With(1, count)).Integer(positions.block, 1, kMostKeys);
  if (!checks.Passed()) return checks.status();
  checks.Holds(count <= kMostKeys / Integer(call, positions.block), kIndex,
               "at most 2^31 - 1 keys of a query");
  if (!checks.Passed()) return checks.status();
  const int64_t most = std::max<int64_t>(count * Integer(call, positions.block), 1);
  checks.Holds(sizes.heads <= kMostScores / most, kQuery,
               "at most 2^40 scores of a query: one of each head and chosen key");
  const int64_t mode = Integer(call, positions.mode);
  checks.HoldsOf(mode == 0 || mode == kBottomRight, positions.mode, "0 or 3");
  checks.Integer(positions.attention_mode, 2, 2);
  if constexpr (kIsQuantised<positions>) {
    checks.Integer(positions.key_mode, 2, 2).Integer(positions.key_mode + 1, 2, 2);
    checks.Integer(positions.repository_mode, 1, 1).Integer(positions.repository_mode + 1, kTile, kTile);
    checks.Integer(positions.repository_mode + 2, kRopeDepth, kRopeDepth);
    for (const int scale : {kKeyScale, kValueScale})
      checks.Holds(!call.IsGiven(scale), scale, "null: scales are in the rows of keys");
  }
  checks.Is(positions.out, sizes.With(sizes.heads, kLatentDepth));
  if (!ReturnsStatistics<positions>(call)) return checks.status();
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape statistics =
      IsPacked<at>(call) ? Shape{1, sizes.rows, sizes.heads} : Shape{query[0], 1, query[1], sizes.heads};
  for (const int tensor : {positions.greatest, positions.greatest + 1}) {
    checks.Given(tensor, "where returnSoftmaxLse is true");
    if (checks.Passed()) checks.Is(tensor, statistics);
  }
  return checks.status();
}

template <const SparsePositions& positions, const SequencePositions& at>
void SetSparse(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Sizes<at> sizes(call);
  const Shape& index = call.Tensor(kIndex).shape;
  engine::AttendToBlocks attend{};
  attend.queries = QueriesOf<at>(ops, call);
  attend.keys = KeysOf<at>(ops, call);
  attend.query = ops.Rows(kQuery);
  attend.key = ops.Rows(kKey);
  attend.depth = sizes.depth;
  attend.value_depth = kLatentDepth;
  if constexpr (kIsQuantised<positions>) {
    attend.tile = kTile;
    attend.row_bytes = kQuantisedRow;
    attend.key_rope = engine::NumberRowsOf(call.isa, attend.key.buffer, call.Tensor(kQuery).dtype);
  } else {
    attend.query_rope = ops.Rows(positions.query_rope);
    attend.key_rope = ops.Rows(positions.key_rope);
    attend.rope_depth = kRopeDepth;
  }
  if (positions.sink >= 0) attend.sink = ops.RowsIfGiven(positions.sink);
  attend.index = ops.In(kIndex);
  attend.count = index[index.rank - 1];
  attend.block = Integer(call, positions.block);
  attend.to = ops.RowsOut(positions.out);
  if (ReturnsStatistics<positions>(call)) {
    attend.greatest = {ops.Out(positions.greatest), true};
    attend.sum = ops.Out(positions.greatest + 1);
  }
  attend.rows = sizes.rows;
  attend.heads = sizes.heads;
  attend.scale = static_cast<float>(call.attributes[static_cast<size_t>(positions.scale)].wide);
  attend.is_causal = Integer(call, positions.mode) == kBottomRight;
  attend.functions = engine::SelectedKeysFunctionsOf(call.isa);
  attend.threads = call.threads;
  attend.work = ops.Bytes(attend.WorkBytes());
  ops.Compute(attend,
              {attend.queries.length.buffer, attend.keys.length.buffer, attend.keys.table,
               attend.query.buffer, attend.key.buffer, attend.query_rope.buffer, attend.key_rope.buffer,
               attend.sink.buffer, attend.index, attend.to.buffer, attend.greatest.buffer, attend.sum},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

template <const SparsePositions& positions>
constexpr auto RopeDtypes() {
  return List(IfGiven<positions.query_rope>(SameDtype(kQuery, positions.query_rope)),
              IfGiven<positions.key_rope>(SameDtype(kQuery, positions.key_rope)));
}
template <const SparsePositions& positions, int tensor>
bool HasStatistic(const OperatorCall& call) noexcept {
  return ReturnsStatistics<positions>(call) && call.IsGiven(tensor);
}
template <const SparsePositions& positions>
constexpr auto StatisticDtypes() {
  constexpr int kMost = positions.greatest;
  constexpr int kSum = positions.greatest + 1;
  return List(If(HasStatistic<positions, kMost>, DtypesIn(kFloat, {kMost})),
              If(HasStatistic<positions, kSum>, DtypesIn(kFloat, {kSum})));
}
// Statistics are there if they are wanted, since SparseFits has checked them.
template <const SparsePositions& positions>
constexpr auto StatisticsRepresentable() {
  constexpr int kMost = positions.greatest;
  return List(If(ReturnsStatistics<positions>, SizesRepresentable({kMost, kMost + 1})));
}
template <const SparsePositions& positions, const SequencePositions& at>
constexpr auto SparseChecks() {
  constexpr auto kFirst =
      Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kIndex), NotNull(positions.out),
                DtypesIn(kHalfAndBf16Rule, {kQuery}),
                kIsQuantised<positions> ? DtypesIn(kInt8Rule, {kKey}) : SameDtype(kQuery, kKey),
                SameDtype(kKey, kValue), DtypesIn(kInt32, {kIndex})),
           SequenceDtypes<at>());
  constexpr auto kLast =
      Join(List(SameDtype(kQuery, positions.out), Custom(SparseFits<positions, at>, kTiling),
                SizesRepresentable({positions.out}), DoneIfEmpty({kQuery}), InsideStorage({kIndex})),
           SequencesInside<at>());
  constexpr auto kSinks = [] {
    if constexpr (positions.sink >= 0) {
      return List(IfGiven<positions.sink>(DtypesIn(kNoneBeforeAtlasA2, {positions.sink})));
    } else {
      return List();
    }
  }();
  constexpr auto kSinksInside = [] {
    if constexpr (positions.sink >= 0) {
      return List(IfGiven<positions.sink>(InsideStorage({positions.sink})));
    } else {
      return List();
    }
  }();
  if constexpr (kIsQuantised<positions>) {
    return Join(Join(kFirst, kSinks), Join(kLast, kSinksInside));
  } else {
    constexpr auto kRopesInside = List(InsideStorage({positions.query_rope, positions.key_rope}));
    return Join(Join(Join(kFirst, RopeDtypes<positions>()), Join(kSinks, StatisticDtypes<positions>())),
                Join(Join(kLast, StatisticsRepresentable<positions>()), Join(kRopesInside, kSinksInside)));
  }
}
constexpr auto kSparseChecks = SparseChecks<kSparse, kOfSparse>();
constexpr auto kSparseChecksOfV2 = SparseChecks<kSparseV2, kOfSparse>();
constexpr auto kQuantSparseChecks = SparseChecks<kQuantSparse, kOfQuantSparse>();
constexpr auto kQuantSparseChecksOfV2 = SparseChecks<kQuantSparseV2, kOfQuantSparse>();

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLightningIndexer) {
  return dense::RunOpList(call, kIndexerChecks, workspaceSize, executor, SetIndexer<kIndexer, kOfIndexer>);
}
PORTACL_PHASE_1(aclnnQuantLightningIndexer) {
  return dense::RunOpList(call, kQuantIndexerChecks, workspaceSize, executor,
                          SetIndexer<kQuantIndexer, kOfQuantIndexer>);
}
PORTACL_PHASE_1(aclnnSparseFlashAttention) {
  return dense::RunOpList(call, kSparseChecks, workspaceSize, executor, SetSparse<kSparse, kOfSparse>);
}
PORTACL_PHASE_1(aclnnSparseFlashAttentionV2) {
  return dense::RunOpList(call, kSparseChecksOfV2, workspaceSize, executor, SetSparse<kSparseV2, kOfSparse>);
}
PORTACL_PHASE_1(aclnnKvQuantSparseFlashAttention) {
  return dense::RunOpList(call, kQuantSparseChecks, workspaceSize, executor,
                          SetSparse<kQuantSparse, kOfQuantSparse>);
}
PORTACL_PHASE_1(aclnnKvQuantSparseFlashAttentionV2) {
  return dense::RunOpList(call, kQuantSparseChecksOfV2, workspaceSize, executor,
                          SetSparse<kQuantSparseV2, kOfQuantSparse>);
}
