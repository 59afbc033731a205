// aclnnNsaCompressAttention and aclnnNsaCompressAttentionInfer: attention to compressed keys, which selects blocks.
// aclnnNsaSelectedAttentionInfer: attention to selected blocks in pages of a cache.
// aclnnNsaSelectedAttentionGrad: the gradients of attention to selected blocks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "aclnnop/serving/nsa_attention_functions.h"
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/sequence_lengths.h"
#include "engine/serve/compressed_keys.h"

namespace portacl {
namespace {

using namespace dense;

constexpr int64_t kMostKeys = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostDepth = 768;
constexpr int64_t kMostSteps = int64_t{1} << 16;
constexpr int64_t kCopies = 8;

enum Tensors { kQuery, kKey, kValue };

std::span<const int64_t> ArrayIn(const OperatorCall& call, int attribute) noexcept {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array == nullptr ? std::span<const int64_t>() : array->values;
}
// Tells whether numbers are the ends of so many sequences, in at most `most` rows.
bool EndsFit(std::span<const int64_t> ends, size_t sequences, int64_t most) noexcept {
  bool fits = !ends.empty() && ends.size() == sequences;
  int64_t before = 0;
  for (const int64_t end : ends) {
    fits = fits && end >= before && end <= most;
    before = end;
  }
  return fits;
}
bool HasElements(const OperatorCall& call, int tensor) noexcept {
  return call.IsGiven(tensor) && call.Tensor(tensor).numel > 0;
}
template <int tensor>
bool Masks(const OperatorCall& call) noexcept {
  return HasElements(call, tensor);
}
aclnnStatus RefuseGiven(const Check& check, const OperatorCall& call, std::initializer_list<int> tensors) {
  ShapeChecks checks(check, call);
  for (const int tensor : tensors) {
    if (HasElements(call, tensor)) checks.Holds(false, tensor, "null: portacl does not compute with it");
  }
  return checks.status();
}

// Indices of the attributes of the compression of keys.
struct Windows {
  int window, stride, block, count;
};

void WindowsFit(const OperatorCall& call, const Windows& at, ShapeChecks& checks) {
  checks.Integer(at.stride, 1, kMostKeys).Integer(at.window, 1, kMostKeys).Integer(at.block, 1, kMostKeys);
  if (!checks.Passed()) return;
  const int64_t stride = Integer(call, at.stride);
  const auto fits = [&](int attribute) {
    const int64_t length = Integer(call, attribute);
    return length % stride == 0 && length / stride <= kMostSteps;
  };
  checks.HoldsOf(fits(at.window), at.window, "a multiple of compressStride");
  checks.HoldsOf(fits(at.block), at.block, "a multiple of compressStride");
  checks.Integer(at.count, 0, kMostKeys);
}

// Fills in what attention to compressed keys has in either form.
void SetWindows(const OperatorCall& call, const Windows& at, engine::AttendAndRank& made) {
  made.count = Integer(call, at.count);
  made.block_steps = Integer(call, at.block) / Integer(call, at.stride);
  made.window_steps = Integer(call, at.window) / Integer(call, at.stride);
  made.functions = engine::SelectedKeysFunctionsOf(call.isa);
  made.threads = call.threads;
}
void Add(DenseOpList& ops, const OperatorCall& call, engine::AttendAndRank& made) {
  made.work = ops.Bytes(made.WorkBytes());
  ops.Compute(made,
              {made.query.buffer, made.key.buffer, made.value.buffer, made.mask.buffer, made.keys.table,
               made.to.buffer, made.greatest.buffer, made.sum.buffer, made.index},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

constexpr DtypeRule kDtypes = SinceAtlasA2(serving::kHalfAndBf16);
constexpr DtypeSet kBool{ACL_BOOL};

// ---- NsaCompressAttention ----

enum Compressed { kMask = 3, kRankMask, kGreatest, kSum, kOut, kIndex };
enum CompressedAttributes {
  kQueryEnds,
  kKeyEnds,
  kBlockEnds,
  kScale,
  kHeads,
  kLayout,
  kMode,
  kWindow,
  kStride,
  kBlock,
  kCount
};
constexpr Windows kOfCompressed{kWindow, kStride, kBlock, kCount};

// Checks queries, keys and values of packed sequences, [tokens, heads, elements], by the attributes of their layout and heads.
void PackedHeadsFit(const OperatorCall& call, int layout, int heads, ShapeChecks& checks) noexcept {
  checks.HoldsOf(std::string_view(serving::TextOr(call, layout, "")) == "TND", layout, "TND");
  for (const int tensor : {kQuery, kKey, kValue}) checks.Rank(tensor, 3, 3);
  if (!checks.Passed()) return;
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  const int64_t value_depth = call.Tensor(kValue).shape[2];
  checks.Holds(query[1] > 0 && query[2] > 0 && query[2] <= kMostDepth, kQuery,
               "at least one head, of 1 to 768 elements");
  checks.Holds(key[1] > 0 && query[1] % std::max<int64_t>(key[1], 1) == 0, kKey,
               "heads that divide those of query");
  checks.Holds(key[0] <= kMostKeys, kKey, "at most 2^31 - 1 keys");
  checks.Is(kKey, Shape{key[0], key[1], query[2]}).Is(kValue, Shape{key[0], key[1], value_depth});
  checks.Holds(value_depth <= kMostDepth, kValue, "heads of at most 768 elements");
  checks.HoldsOf(Integer(call, heads) == query[1], heads, "the number of query's heads");
}

aclnnStatus CompressedFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  PackedHeadsFit(call, kLayout, kHeads, checks);
  if (!checks.Passed()) return checks.status();
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  const int64_t value_depth = call.Tensor(kValue).shape[2];
  WindowsFit(call, kOfCompressed, checks);
  if (!checks.Passed()) return checks.status();
  const auto of_query = ArrayIn(call, kQueryEnds);
  const auto of_key = ArrayIn(call, kKeyEnds);
  const auto of_block = ArrayIn(call, kBlockEnds);
  checks.HoldsOf(EndsFit(of_query, of_query.size(), query[0]), kQueryEnds,
                 "where each sequence of queries ends");
  checks.HoldsOf(EndsFit(of_key, of_query.size(), key[0]), kKeyEnds,
                 "where each sequence of keys ends, as many as of queries");
  if (!checks.Passed()) return checks.status();
  // Blocks that were compressed follow from the keys.
  const int64_t steps = Integer(call, kBlock) / Integer(call, kStride);
  bool fits = of_block.size() == of_key.size();
  int64_t longest_query = 0;
  int64_t longest_key = 0;
  int64_t end = 0;
  for (size_t b = 0; b < of_key.size(); ++b) {
    const int64_t keys = of_key[b] - (b == 0 ? 0 : of_key[b - 1]);
    longest_key = std::max(longest_key, keys);
    longest_query = std::max(longest_query, of_query[b] - (b == 0 ? 0 : of_query[b - 1]));
    end += (keys + steps - 1) / steps;
    fits = fits && of_block[b] == end;
  }
  checks.HoldsOf(fits, kBlockEnds,
                 "where each sequence of blocks ends, one for selectBlockSize / compressStride keys");
  checks.Integer(kMode, 0, 1);
  if (HasElements(call, kMask)) {
    checks.Rank(kMask, 2, 2);
    if (!checks.Passed()) return checks.status();
    const Shape& mask = call.Tensor(kMask).shape;
    checks.Holds(mask[0] >= longest_query && mask[1] >= longest_key, kMask,
                 "[queries, keys] of the longest sequences at least");
  }
  const Shape statistics{query[0], query[1], kCopies};
  checks.Is(kGreatest, statistics).Is(kSum, statistics);
  checks.Is(kOut, Shape{query[0], query[1], value_depth});
  return checks.Is(kIndex, Shape{query[0], key[1], Integer(call, kCount)}).status();
}
aclnnStatus CompressedIsComputed(const Check& check, OperatorCall& call) noexcept {
  return RefuseGiven(check, call, {kRankMask});
}

constexpr auto kCompressedChecks = Join(
    List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kGreatest), NotNull(kSum), NotNull(kOut),
         NotNull(kIndex), DtypesIn(kDtypes, {kQuery}), SameDtype(kQuery, kKey), SameDtype(kQuery, kValue)),
    List(If(Masks<kMask>, DtypesIn(kBool, {kMask})), DtypesIn(kFloat, {kGreatest, kSum}),
         SameDtype(kQuery, kOut), DtypesIn(kInt32, {kIndex}), Custom(CompressedFits, kTiling),
         Custom(CompressedIsComputed, ACLNN_ERR_INNER_NULLPTR),
         SizesRepresentable({kGreatest, kSum, kOut, kIndex}), DoneIfEmpty({kQuery}),
         InsideStorage({kQuery, kKey, kValue}), If(Masks<kMask>, InsideStorage({kMask}))));

void SetCompressed(const OperatorCall& call, Executor& executor) {
  const auto of_query = ArrayIn(call, kQueryEnds);
  const auto of_key = ArrayIn(call, kKeyEnds);
  std::vector<int64_t> ends;
  if (!serving::JoinLengths(of_query, of_key, &ends))
    return executor.RefuseSize(call.Name(kQuery), std::ssize(of_query));
  DenseOpList ops(call, executor, &ends);
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  engine::AttendAndRank made{};
  made.queries.layout = made.keys.layout = engine::SequenceRows::Layout::kPacked;
  made.queries.batches = made.keys.batches = std::ssize(of_query);
  made.queries.rows = query[0];
  made.keys.rows = key[0];
  made.queries.length = {ops.Array(), true};
  made.keys.length = made.queries.length;
  made.keys.length.buffer.offset += std::ssize(of_query) * int64_t{sizeof(int64_t)};
  made.query = ops.Rows(kQuery);
  made.key = ops.Rows(kKey);
  made.value = ops.Rows(kValue);
  if (HasElements(call, kMask)) {
    made.mask = {ops.In(kMask), true};
    made.mask_columns = call.Tensor(kMask).shape[1];
  }
  made.to = ops.RowsOut(kOut);
  made.greatest = {ops.Out(kGreatest), true};
  made.sum = {ops.Out(kSum), true};
  made.copies = kCopies;
  made.index = ops.Out(kIndex);
  made.rows = query[0];
  made.heads = query[1];
  made.key_heads = key[1];
  made.depth = query[2];
  made.value_depth = call.Tensor(kValue).shape[2];
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  SetWindows(call, kOfCompressed, made);
  Add(ops, call, made);
}

// ---- one query of each sequence, and keys in pages ----

// Positions of what both operators have.
struct Paged {
  int table, out;                                                     // tensors
  int lengths, layout, heads, key_heads, page, scale, query_lengths;  // attributes
};

struct PagedSizes {
  PagedSizes(const OperatorCall& call, const Paged& at) {
    const Shape& query = call.Tensor(kQuery).shape;
    batches = query[0];
    heads = Integer(call, at.heads);
    key_heads = Integer(call, at.key_heads);
    // Lengths that do not fit belong to a query that is refused.
    int64_t columns = 1;
    for (int dim = 1; dim < query.rank; ++dim) {
      if (__builtin_mul_overflow(columns, query[dim], &columns)) columns = 0;
    }
    depth = heads > 0 ? columns / heads : 0;
    value_depth = key_heads > 0 ? ColumnsOf(call, kValue) / key_heads : 0;
  }
  // Elements of a row of a cache.
  static int64_t ColumnsOf(const OperatorCall& call, int tensor) {
    const Shape& shape = call.Tensor(tensor).shape;
    int64_t columns = shape[2];
    if (shape.rank == 4 && __builtin_mul_overflow(columns, shape[3], &columns)) return 0;
    return columns;
  }
  int64_t batches, heads, key_heads, depth, value_depth;
};

void PagedFits(const OperatorCall& call, const Paged& at, std::string_view otherwise, bool joins,
               ShapeChecks& checks) {
  const std::string_view layout = serving::TextOr(call, at.layout, otherwise.data());
  checks.HoldsOf(layout == "TND" || layout == "BSND" || (joins && layout == "BSH"), at.layout,
                 joins ? "BSH, BSND or TND" : "BSND or TND");
  const int rank = layout == "BSND" ? 4 : 3;
  checks.Rank(kQuery, rank, rank).Rank(kKey, 3, joins ? 4 : 3).Rank(kValue, 3, joins ? 4 : 3);
  checks.Given(at.table, "of the pages");
  if (checks.Passed()) checks.Rank(at.table, 2, 2);
  if (!checks.Passed()) return;
  checks.Integer(at.heads, 1, kMostSteps).Integer(at.key_heads, 1, kMostSteps);
  if (!checks.Passed()) return;
  const PagedSizes sizes(call, at);
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  const Shape& value = call.Tensor(kValue).shape;
  checks.HoldsOf(sizes.heads % sizes.key_heads == 0, at.key_heads,
                 "what divides the number of query's heads");
  checks.Holds(sizes.depth > 0 && sizes.depth <= kMostDepth, kQuery, "heads of 1 to 768 elements");
  checks.Holds(sizes.value_depth <= kMostDepth, kValue, "heads of at most 768 elements");
  if (!checks.Passed()) return;
  if (layout == "BSND") {
    checks.Is(kQuery, Shape{query[0], 1, sizes.heads, sizes.depth});
  } else if (layout == "BSH") {
    checks.Is(kQuery, Shape{query[0], 1, sizes.heads * sizes.depth});
  } else {
    checks.Is(kQuery, Shape{query[0], sizes.heads, sizes.depth});
  }
  const auto row = [&](const Shape& shape, int64_t depth) {
    return shape.rank == 4 ? Shape{key[0], key[1], sizes.key_heads, depth}
                           : Shape{key[0], key[1], sizes.key_heads * depth};
  };
  checks.Is(kKey, row(key, sizes.depth)).Is(kValue, row(value, sizes.value_depth));
  checks.HoldsOf(Integer(call, at.page) == key[1] && key[1] > 0, at.page, "the rows of a page");
  const Shape& table = call.Tensor(at.table).shape;
  checks.Holds(table[0] == sizes.batches, at.table, "a row for each sequence");
  checks.Holds(table[1] <= kMostKeys / std::max<int64_t>(key[1], 1), at.table,
               "pages of at most 2^31 - 1 keys of each sequence");
  if (!checks.Passed()) return;
  const auto lengths = ArrayIn(call, at.lengths);
  bool fits = std::ssize(lengths) == sizes.batches;
  for (const int64_t length : lengths) fits = fits && length >= 0 && length <= table[1] * key[1];
  checks.HoldsOf(fits, at.lengths, "the keys of each sequence, at most those of its pages");
  checks.HoldsOf(
      ArrayIn(call, at.query_lengths).empty() || std::ssize(ArrayIn(call, at.query_lengths)) == sizes.batches,
      at.query_lengths, "null, or a number for each sequence");
  Shape out = query;
  out.dim[out.rank - 1] = layout == "BSH" ? sizes.heads * sizes.value_depth : sizes.value_depth;
  checks.Is(at.out, out);
}

// Fills in rows of queries, one of each sequence, and of keys in pages.
template <class Attention>
void SetPaged(const OperatorCall& call, const Paged& at, DenseOpList& ops, Attention& made) {
  const PagedSizes sizes(call, at);
  const Shape& key = call.Tensor(kKey).shape;
  made.queries.layout = engine::SequenceRows::Layout::kBatches;
  made.queries.batches = made.keys.batches = sizes.batches;
  made.queries.rows = 1;
  made.keys.layout = engine::SequenceRows::Layout::kPaged;
  made.keys.length = {ops.Array(), true};
  made.keys.table = ops.In(at.table, ACL_INT64);
  made.keys.rows = call.Tensor(at.table).shape[1];
  made.keys.pages = key[0];
  made.keys.slots = key[1];
  made.query = ops.Rows(kQuery);
  made.key = ops.Rows(kKey);
  made.value = ops.Rows(kValue);
  made.to = ops.RowsOut(at.out);
  made.rows = sizes.batches;
  made.heads = sizes.heads;
  made.key_heads = sizes.key_heads;
  made.depth = sizes.depth;
  made.value_depth = sizes.value_depth;
  made.scale = static_cast<float>(call.attributes[static_cast<size_t>(at.scale)].wide);
  made.functions = engine::SelectedKeysFunctionsOf(call.isa);
  made.threads = call.threads;
}

// ---- NsaCompressAttentionInfer ----

enum Inferred { kInferMask = 3, kTable, kInferRankMask, kInferOut, kInferIndex };
enum InferredAttributes {
  kInferQueries,
  kInferKeys,
  kInferBlocks,
  kInferHeads,
  kInferKeyHeads,
  kInferBlock,
  kInferCount,
  kInferWindow,
  kInferStride,
  kInferScale,
  kInferLayout,
  kInferPage,
  kInferMode
};
constexpr Windows kOfInferred{kInferWindow, kInferStride, kInferBlock, kInferCount};
constexpr Paged kInferPaged{kTable,         kInferOut,  kInferKeys,  kInferLayout, kInferHeads,
                            kInferKeyHeads, kInferPage, kInferScale, kInferQueries};

aclnnStatus InferredFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  PagedFits(call, kInferPaged, "TND", /*joins=*/false, checks);
  WindowsFit(call, kOfInferred, checks);
  if (!checks.Passed()) return checks.status();
  const PagedSizes sizes(call, kInferPaged);
  return checks.Is(kInferIndex, Shape{sizes.batches, sizes.key_heads, Integer(call, kInferCount)}).status();
}
aclnnStatus InferredIsComputed(const Check& check, OperatorCall& call) noexcept {
  return RefuseGiven(check, call, {kInferMask, kInferRankMask});
}
constexpr auto kInferredChecks = Join(
    List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kInferOut), NotNull(kInferIndex),
         DtypesIn(kDtypes, {kQuery}), SameDtype(kQuery, kKey), SameDtype(kQuery, kValue)),
    List(IfGiven<kTable>(DtypesIn(kInt32, {kTable})), SameDtype(kQuery, kInferOut),
         DtypesIn(kInt32, {kInferIndex}), SizesRepresentable({kQuery, kKey, kValue, kInferOut, kInferIndex}),
         Custom(InferredFits, kTiling), Custom(InferredIsComputed, ACLNN_ERR_INNER_NULLPTR),
         DoneIfEmpty({kQuery}), InsideStorage({kQuery, kKey, kValue, kTable})));

void SetInferred(const OperatorCall& call, Executor& executor) {
  const aclIntArray* const lengths = call.attributes[kInferKeys].array;
  DenseOpList ops(call, executor, &lengths->values);
  engine::AttendAndRank made{};
  SetPaged(call, kInferPaged, ops, made);
  made.index = ops.Out(kInferIndex);
  made.copies = 0;
  SetWindows(call, kOfInferred, made);
  Add(ops, call, made);
}

// ---- NsaSelectedAttentionInfer ----

enum Selected { kSelection = 3, kSelectedMask, kSelectedTable, kSelectedOut };
enum SelectedAttributes {
  kSelectedQueries,
  kSelectedKeys,
  kSelectedLayout,
  kSelectedHeads,
  kSelectedKeyHeads,
  kSelectedBlock,
  kSelectedCount,
  kSelectedPage,
  kSelectedScale,
  kSelectedMode
};
constexpr Paged kSelectedPaged{kSelectedTable,  kSelectedOut,   kSelectedKeys,
                               kSelectedLayout, kSelectedHeads, kSelectedKeyHeads,
                               kSelectedPage,   kSelectedScale, kSelectedQueries};

aclnnStatus SelectedFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  PagedFits(call, kSelectedPaged, "BSND", /*joins=*/true, checks);
  checks.Integer(kSelectedBlock, 1, kMostKeys).Integer(kSelectedCount, 0, kMostKeys);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(Integer(call, kSelectedCount) <= kMostKeys / Integer(call, kSelectedBlock), kSelectedCount,
                 "at most 2^31 - 1 keys of a query");
  const PagedSizes sizes(call, kSelectedPaged);
  return checks.Is(kSelection, Shape{sizes.batches, sizes.key_heads, Integer(call, kSelectedCount)}).status();
}
aclnnStatus SelectedIsComputed(const Check& check, OperatorCall& call) noexcept {
  return RefuseGiven(check, call, {kSelectedMask});
}
constexpr auto kSelectedChecks =
    Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kSelection), NotNull(kSelectedOut),
              DtypesIn(kDtypes, {kQuery}), SameDtype(kQuery, kKey), SameDtype(kQuery, kValue)),
         List(DtypesIn(kInt32, {kSelection}), IfGiven<kSelectedTable>(DtypesIn(kInt32, {kSelectedTable})),
              SameDtype(kQuery, kSelectedOut),
              SizesRepresentable({kQuery, kKey, kValue, kSelection, kSelectedOut}),
              Custom(SelectedFits, kTiling), Custom(SelectedIsComputed, ACLNN_ERR_INNER_NULLPTR),
              DoneIfEmpty({kQuery}), InsideStorage({kQuery, kKey, kValue, kSelection, kSelectedTable})));

void SetSelected(const OperatorCall& call, Executor& executor) {
  const aclIntArray* const lengths = call.attributes[kSelectedKeys].array;
  DenseOpList ops(call, executor, &lengths->values);
  engine::AttendToHeads made{};
  SetPaged(call, kSelectedPaged, ops, made);
  made.index = {ops.In(kSelection), true};
  made.count = Integer(call, kSelectedCount);
  made.key_block = Integer(call, kSelectedBlock);
  made.work = ops.Bytes(made.WorkBytes());
  ops.Compute(made,
              {made.query.buffer, made.key.buffer, made.value.buffer, made.index.buffer, made.keys.table,
               made.to.buffer},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

// ---- NsaSelectedAttentionGrad ----

enum Gradients {
  kAttended = 3,
  kAttendedGradient,
  kGradGreatest,
  kGradSum,
  kGradIndex,
  kGradMask,
  kOfQuery,
  kOfKey,
  kOfValue
};
enum GradientAttributes {
  kGradQueryEnds,
  kGradKeyEnds,
  kGradScale,
  kGradBlock,
  kGradCount,
  kGradHeads,
  kGradLayout,
  kGradMode
};

aclnnStatus GradientsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  PackedHeadsFit(call, kGradLayout, kGradHeads, checks);
  if (!checks.Passed()) return checks.status();
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  const int64_t value_depth = call.Tensor(kValue).shape[2];
  const auto of_query = ArrayIn(call, kGradQueryEnds);
  checks.HoldsOf(EndsFit(of_query, of_query.size(), query[0]), kGradQueryEnds,
                 "where each sequence of queries ends");
  checks.HoldsOf(EndsFit(ArrayIn(call, kGradKeyEnds), of_query.size(), key[0]), kGradKeyEnds,
                 "where each sequence of keys ends, as many as of queries");
  const int64_t mode = Integer(call, kGradMode);
  checks.HoldsOf(mode == 0 || mode == 2, kGradMode, "0 or 2");
  checks.Integer(kGradBlock, 1, kMostKeys).Integer(kGradCount, 0, kMostKeys);
  if (!checks.Passed()) return checks.status();
  const Shape result{query[0], query[1], value_depth};
  const Shape statistics{query[0], query[1], kCopies};
  checks.Is(kAttended, result).Is(kAttendedGradient, result);
  checks.Is(kGradGreatest, statistics).Is(kGradSum, statistics);
  checks.Is(kGradIndex, Shape{query[0], key[1], Integer(call, kGradCount)});
  return checks.Is(kOfQuery, query).Is(kOfKey, key).Is(kOfValue, call.Tensor(kValue).shape).status();
}
aclnnStatus GradientsAreComputed(const Check& check, OperatorCall& call) noexcept {
  if (Integer(call, kGradMode) == 2) return ACL_SUCCESS;
  return RefuseGiven(check, call, {kGradMask});
}
constexpr auto kGradientChecks =
    Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kAttended), NotNull(kAttendedGradient),
              NotNull(kGradGreatest), NotNull(kGradSum), NotNull(kGradIndex), NotNull(kOfQuery),
              NotNull(kOfKey), NotNull(kOfValue), DtypesIn(kDtypes, {kQuery})),
         Join(List(SameDtype(kQuery, kKey), SameDtype(kQuery, kValue), SameDtype(kQuery, kAttended),
                   SameDtype(kQuery, kAttendedGradient), DtypesIn(kFloat, {kGradGreatest, kGradSum}),
                   DtypesIn(kInt32, {kGradIndex}), SameDtype(kQuery, kOfQuery), SameDtype(kQuery, kOfKey),
                   SameDtype(kQuery, kOfValue), Custom(GradientsFit, kTiling)),
              List(Custom(GradientsAreComputed, ACLNN_ERR_INNER_NULLPTR),
                   SizesRepresentable({kOfQuery, kOfKey, kOfValue}), DoneIfEmpty({kQuery}),
                   InsideStorage({kQuery, kKey, kValue, kAttended, kAttendedGradient}),
                   InsideStorage({kGradGreatest, kGradSum, kGradIndex}))));

void SetGradients(const OperatorCall& call, Executor& executor) {
  const auto of_query = ArrayIn(call, kGradQueryEnds);
  const auto of_key = ArrayIn(call, kGradKeyEnds);
  std::vector<int64_t> ends;
  if (!serving::JoinLengths(of_query, of_key, &ends))
    return executor.RefuseSize(call.Name(kQuery), std::ssize(of_query));
  DenseOpList ops(call, executor, &ends);
  const Shape& query = call.Tensor(kQuery).shape;
  const Shape& key = call.Tensor(kKey).shape;
  const engine::NumberRows numbers = ops.Rows(kQuery);
  engine::SelectedGradients made{};
  made.queries.layout = made.keys.layout = engine::SequenceRows::Layout::kPacked;
  made.queries.batches = made.keys.batches = std::ssize(of_query);
  made.queries.rows = query[0];
  made.keys.rows = key[0];
  made.queries.length = {ops.Array(), true};
  made.keys.length = made.queries.length;
  made.keys.length.buffer.offset += std::ssize(of_query) * int64_t{sizeof(int64_t)};
  made.load = numbers.load;
  made.size = numbers.size;
  made.query = numbers.buffer;
  made.key = ops.In(kKey);
  made.value = ops.In(kValue);
  made.out = ops.In(kAttended);
  made.of_out = ops.In(kAttendedGradient);
  made.greatest = ops.In(kGradGreatest);
  made.sum = ops.In(kGradSum);
  made.index = ops.In(kGradIndex);
  made.of_query = ops.Out(kOfQuery, ACL_FLOAT);
  made.of_key = ops.Out(kOfKey, ACL_FLOAT);
  made.of_value = ops.Out(kOfValue, ACL_FLOAT);
  made.copies = kCopies;
  made.count = Integer(call, kGradCount);
  made.block = Integer(call, kGradBlock);
  made.heads = query[1];
  made.key_heads = key[1];
  made.depth = query[2];
  made.value_depth = call.Tensor(kValue).shape[2];
  made.scale = static_cast<float>(call.attributes[kGradScale].wide);
  made.is_causal = Integer(call, kGradMode) == 2;
  made.functions = engine::SelectedKeysFunctionsOf(call.isa);
  made.threads = call.threads;
  made.work = ops.Bytes(made.WorkBytes());
  ops.Compute(made,
              {made.query, made.key, made.value, made.out, made.of_out, made.greatest, made.sum, made.index},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnNsaSelectedAttentionGrad) {
  return dense::RunOpList(call, kGradientChecks, workspaceSize, executor, SetGradients);
}

PORTACL_PHASE_1(aclnnNsaCompressAttention) {
  return dense::RunOpList(call, kCompressedChecks, workspaceSize, executor, SetCompressed);
}
PORTACL_PHASE_1(aclnnNsaCompressAttentionInfer) {
  return dense::RunOpList(call, kInferredChecks, workspaceSize, executor, SetInferred);
}
PORTACL_PHASE_1(aclnnNsaSelectedAttentionInfer) {
  return dense::RunOpList(call, kSelectedChecks, workspaceSize, executor, SetSelected);
}

// Forwards to phase 1: the workspace is enough for all lengths.
aclnnStatus aclnnNsaCompressAttentionInferGetMaxWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value, const aclTensor* attenMaskOptional,
    const aclTensor* blockTableOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualCmpSeqKvLenOptional, const aclIntArray* actualSelSeqKvLenOptional,
    const aclTensor* topkMaskOptional, int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize,
    int64_t selectBlockCount, int64_t compressBlockSize, int64_t compressBlockStride, double scaleValue,
    char* layoutOptional, int64_t pageBlockSize, int64_t sparseMode, const aclTensor* output,
    const aclTensor* topkIndicesOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return aclnnNsaCompressAttentionInferGetWorkspaceSize(
      query, key, value, attenMaskOptional, blockTableOptional, actualSeqQLenOptional,
      actualCmpSeqKvLenOptional, actualSelSeqKvLenOptional, topkMaskOptional, numHeads, numKeyValueHeads,
      selectBlockSize, selectBlockCount, compressBlockSize, compressBlockStride, scaleValue, layoutOptional,
      pageBlockSize, sparseMode, output, topkIndicesOut, workspaceSize, executor);
}
