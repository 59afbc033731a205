// aclnnBlockSparseAttention: attention to the blocks of keys that a mask of blocks marks.
// aclnnNsaSelectedAttention: attention to the blocks that were selected for each query.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "aclnnop/serving/block_attention_functions.h"
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/sequence_lengths.h"
#include "engine/attention/attention_kernel.h"
#include "engine/serve/selected_keys.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace dense;

constexpr int64_t kMostKeys = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostDepth = 768;
constexpr int64_t kCopies = 8;

enum Tensors { kQuery, kKey, kValue };

std::span<const int64_t> ArrayIn(const OperatorCall& call, int attribute) noexcept {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array == nullptr ? std::span<const int64_t>() : array->values;
}

// The dims of a call in either layout: packed rows [T, N, D], or batches [B, N, S, D].
struct Sizes {
  Sizes(const OperatorCall& call, int64_t sequences) {
    const Shape& query = call.Tensor(kQuery).shape;
    const Shape& key = call.Tensor(kKey).shape;
    is_packed = query.rank == 3;
    batches = is_packed ? sequences : query[0];
    heads = query[1];
    key_heads = key[1];
    queries = is_packed ? query[0] : query[2];
    keys = is_packed ? key[0] : key[2];
    depth = query[query.rank - 1];
    value_depth = call.Tensor(kValue).shape[query.rank - 1];
  }
  int64_t Rows() const { return is_packed ? queries : batches * queries; }

  bool is_packed;
  int64_t batches, heads, key_heads;
  int64_t queries, keys;  // of a batch, or of all packed sequences
  int64_t depth, value_depth;
};

// Checks query, key and value, whose ranks are equal and checked.
void HeadsFit(const OperatorCall& call, const Sizes& sizes, ShapeChecks& checks) {
  const Shape& query = call.Tensor(kQuery).shape;
  checks.Holds(sizes.heads > 0 && sizes.depth > 0 && sizes.depth <= kMostDepth, kQuery,
               "at least one head, of 1 to 768 elements");
  checks.Holds(sizes.key_heads > 0 && sizes.heads % std::max<int64_t>(sizes.key_heads, 1) == 0, kKey,
               "heads that divide those of query");
  Shape key = call.Tensor(kKey).shape;
  key.dim[key.rank - 1] = sizes.depth;
  if (!sizes.is_packed) key.dim[0] = query[0];
  checks.Is(kKey, key);
  key.dim[key.rank - 1] = sizes.value_depth;
  checks.Is(kValue, key);
  checks.Holds(sizes.value_depth <= kMostDepth, kValue, "heads of at most 768 elements");
  checks.Holds(sizes.keys <= kMostKeys, kKey, "at most 2^31 - 1 keys");
}

// Returns the call's tensor with heads behind rows: a view of batches, or packed rows as they are.
StridedView RowsFirst(const aclTensor& tensor) {
  StridedView view = PlainView(tensor);
  constexpr int kOrder[] = {0, 2, 1, 3};
  if (view.shape.rank == 4) Permute(view, kOrder);
  return view;
}

// Fills in what both operators have. `lengths` are the array's numbers: those of queries, then those of keys.
engine::AttendToHeads AttentionOf(DenseOpList& ops, const OperatorCall& call, const Sizes& sizes,
                                  bool has_lengths, double scale) {
  engine::AttendToHeads made{};
  const auto layout =
      sizes.is_packed ? engine::SequenceRows::Layout::kPacked : engine::SequenceRows::Layout::kBatches;
  made.queries.layout = made.keys.layout = layout;
  made.queries.batches = made.keys.batches = sizes.batches;
  made.queries.rows = sizes.queries;
  made.keys.rows = sizes.keys;
  if (has_lengths) {
    made.queries.length = {ops.Array(), true};
    made.keys.length = made.queries.length;
    made.keys.length.buffer.offset += sizes.batches * int64_t{sizeof(int64_t)};
  }
  const auto rows = [&](int tensor) {
    return engine::NumberRowsOf(call.isa, ops.InView(tensor, RowsFirst(call.Tensor(tensor))),
                                call.Tensor(tensor).dtype);
  };
  made.query = rows(kQuery);
  made.key = rows(kKey);
  made.value = rows(kValue);
  made.rows = sizes.Rows();
  made.heads = sizes.heads;
  made.key_heads = sizes.key_heads;
  made.depth = sizes.depth;
  made.value_depth = sizes.value_depth;
  made.scale = static_cast<float>(scale);
  made.functions = engine::SelectedKeysFunctionsOf(call.isa);
  made.log_sum_of = engine::FindAttentionKernels(call.isa).log_sum;
  made.threads = call.threads;
  return made;
}

void Add(DenseOpList& ops, const OperatorCall& call, engine::AttendToHeads& made) {
  made.work = ops.Bytes(made.WorkBytes());
  ops.Compute(made,
              {made.query.buffer, made.key.buffer, made.value.buffer, made.index.buffer, made.mark,
               made.to.buffer, made.greatest.buffer, made.sum.buffer, made.log_sum.buffer},
              call.Tensor(kQuery).numel);
  ops.SetJob();
}

constexpr DtypeRule kDtypes = SinceAtlasA2(serving::kHalfAndBf16);

// ---- BlockSparseAttention ----

enum Sparse { kMarks = 3, kMask, kTable, kOut, kLogSum };
enum SparseAttributes {
  kBlockShape,
  kQueryLengths,
  kKeyLengths,
  kQueryLayout,
  kKeyLayout,
  kKeyHeads,
  kMaskType,
  kScale,
  kPrecise,
  kPage,
  kBefore,
  kAfter,
  kReturnsLogSum
};

bool ReturnsLogSum(const OperatorCall& call) noexcept { return Integer(call, kReturnsLogSum) != 0; }
bool HasLogSum(const OperatorCall& call) noexcept { return ReturnsLogSum(call) && call.IsGiven(kLogSum); }

// Checks the rows of sequences, which are given one by one, and returns the most.
int64_t LongestOf(const OperatorCall& call, int attribute, int64_t count, int64_t most, bool is_packed,
                  ShapeChecks& checks) {
  const auto lengths = ArrayIn(call, attribute);
  if (lengths.empty() && !is_packed) return most;
  int64_t longest = 0;
  int64_t total = 0;
  bool fits = std::ssize(lengths) == count;
  for (const int64_t length : lengths) {
    fits = fits && length >= 0 && length <= most - (is_packed ? total : 0);
    if (!fits) break;
    total += length;
    longest = std::max(longest, length);
  }
  checks.HoldsOf(fits, attribute, "the rows of each sequence, together no more than there are");
  return longest;
}

aclnnStatus SparseFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const std::string_view layout = serving::TextOr(call, kQueryLayout, "TND");
  checks.HoldsOf(layout == "TND" || layout == "BNSD", kQueryLayout, "TND, BNSD or a null pointer");
  checks.HoldsOf(layout == serving::TextOr(call, kKeyLayout, "TND"), kKeyLayout, "query's layout");
  const int rank = layout == "TND" ? 3 : 4;
  for (const int tensor : {kQuery, kKey, kValue}) checks.Rank(tensor, rank, rank);
  if (!checks.Passed()) return checks.status();
  const int64_t sequences = std::ssize(ArrayIn(call, kQueryLengths));
  const Sizes sizes(call, sequences);
  HeadsFit(call, sizes, checks);
  checks.HoldsOf(Integer(call, kKeyHeads) == sizes.key_heads, kKeyHeads, "the number of key's heads");
  const auto shape = ArrayIn(call, kBlockShape);
  checks.HoldsOf(shape.size() >= 2 && shape[0] > 0 && shape[1] > 0, kBlockShape,
                 "two numbers above 0, of queries and of keys of a block");
  if (sizes.is_packed) checks.HoldsOf(sequences > 0, kQueryLengths, "a length of each sequence");
  if (!checks.Passed()) return checks.status();
  const int64_t queries =
      LongestOf(call, kQueryLengths, sizes.batches, sizes.queries, sizes.is_packed, checks);
  const int64_t keys = LongestOf(call, kKeyLengths, sizes.batches, sizes.keys, sizes.is_packed, checks);
  const auto divided_up = [](int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); };
  const Shape& marks = call.Tensor(kMarks).shape;
  checks.Holds(marks.rank == 4 && marks[0] == sizes.batches && marks[1] == sizes.heads &&
                   marks[2] >= divided_up(queries, shape[0]) && marks[3] >= divided_up(keys, shape[1]),
               kMarks, "[B,N,blocks of queries,blocks of keys]");
  Shape out = call.Tensor(kQuery).shape;
  out.dim[out.rank - 1] = sizes.value_depth;
  checks.Is(kOut, out);
  if (ReturnsLogSum(call)) {
    checks.Given(kLogSum, "where softmaxLseFlag is not 0");
    out.dim[out.rank - 1] = 1;
    if (checks.Passed()) checks.Is(kLogSum, out);
  }
  return checks.status();
}
aclnnStatus SparseIsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kMask, kTable}) {
    if (call.IsGiven(tensor) && call.Tensor(tensor).numel > 0)
      checks.Holds(false, tensor, "null: portacl does not compute with it");
  }
  return checks.HoldsOf(Integer(call, kMaskType) == 0, kMaskType, "0: portacl computes with no other")
      .status();
}

constexpr auto kSparseChecks =
    Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kMarks), NotNull(kOut),
              DtypesIn(kDtypes, {kQuery}), SameDtype(kQuery, kKey), SameDtype(kQuery, kValue)),
         List(DtypesIn(DtypeSet(ACL_INT8), {kMarks}), SameDtype(kQuery, kOut),
              If(HasLogSum, DtypesIn(kFloat, {kLogSum})), Custom(SparseFits, kTiling),
              Custom(SparseIsComputed, ACLNN_ERR_INNER_NULLPTR), SizesRepresentable({kOut}),
              If(HasLogSum, SizesRepresentable({kLogSum})), DoneIfEmpty({kOut}),
              InsideStorage({kQuery, kKey, kValue, kMarks})));

// Puts the numbers of each sequence of queries and then of keys into one array: lengths, or ends of packed
// sequences. Returns false if there is no memory.
bool AllLengths(const Sizes& sizes, std::span<const int64_t> of_query, std::span<const int64_t> of_key,
                std::vector<int64_t>* lengths) noexcept {
  const auto add = [&](std::span<const int64_t> own, int64_t all) {
    int64_t end = 0;
    for (int64_t b = 0; b < sizes.batches; ++b) {
      const int64_t length = own.empty() ? all : own[static_cast<size_t>(b)];
      end = sizes.is_packed ? end + length : length;
      lengths->push_back(end);
    }
  };
  try {
    lengths->reserve(2 * static_cast<size_t>(sizes.batches));
    add(of_query, sizes.queries);
    add(of_key, sizes.keys);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void SetSparse(const OperatorCall& call, Executor& executor) {
  const auto of_query = ArrayIn(call, kQueryLengths);
  const auto of_key = ArrayIn(call, kKeyLengths);
  const Sizes sizes(call, std::ssize(of_query));
  const bool has_lengths = !of_query.empty() || !of_key.empty();
  std::vector<int64_t> lengths;
  if (has_lengths && !AllLengths(sizes, of_query, of_key, &lengths))
    return executor.RefuseSize(call.Name(kQuery), sizes.batches);
  DenseOpList ops(call, executor, has_lengths ? &lengths : nullptr);
  engine::AttendToHeads made = AttentionOf(ops, call, sizes, has_lengths, call.attributes[kScale].wide);
  const Shape& marks = call.Tensor(kMarks).shape;
  made.mark = ops.In(kMarks);
  made.query_blocks = marks[2];
  made.count = marks[3];
  made.query_block = ArrayIn(call, kBlockShape)[0];
  made.key_block = ArrayIn(call, kBlockShape)[1];
  const auto result = [&](int tensor) { return ops.OutView(tensor, RowsFirst(call.Tensor(tensor))); };
  made.to = engine::NumberRowsOf(call.isa, result(kOut), call.Tensor(kOut).dtype);
  if (ReturnsLogSum(call)) made.log_sum = {result(kLogSum), true};
  made.copies = 1;
  Add(ops, call, made);
}

// ---- NsaSelectedAttention ----

enum Selected { kIndex = 3, kSelectedMask, kGreatest, kSum, kSelectedOut };
enum SelectedAttributes { kQueryEnds, kKeyEnds, kSelectedScale, kHeads, kLayout, kMode, kBlock, kCount };

aclnnStatus SelectedFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(std::string_view(serving::TextOr(call, kLayout, "")) == "TND", kLayout, "TND");
  for (const int tensor : {kQuery, kKey, kValue}) checks.Rank(tensor, 3, 3);
  if (!checks.Passed()) return checks.status();
  const auto of_query = ArrayIn(call, kQueryEnds);
  const auto of_key = ArrayIn(call, kKeyEnds);
  const Sizes sizes(call, std::ssize(of_query));
  HeadsFit(call, sizes, checks);
  checks.HoldsOf(Integer(call, kHeads) == sizes.heads, kHeads, "the number of query's heads");
  const auto ends_fit = [](std::span<const int64_t> ends, size_t count, int64_t rows) {
    bool fits = !ends.empty() && ends.size() == count;
    int64_t before = 0;
    for (const int64_t end : ends) {
      fits = fits && end >= before && end <= rows;
      before = end;
    }
    return fits;
  };
  checks.HoldsOf(ends_fit(of_query, of_query.size(), sizes.queries), kQueryEnds,
                 "where each sequence of queries ends");
  checks.HoldsOf(ends_fit(of_key, of_query.size(), sizes.keys), kKeyEnds,
                 "where each sequence of keys ends, as many as of queries");
  const int64_t mode = Integer(call, kMode);
  checks.HoldsOf(mode == 0 || mode == 2, kMode, "0 or 2");
  checks.Integer(kBlock, 1, kMostKeys).Integer(kCount, 0, kMostKeys);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(Integer(call, kCount) <= kMostKeys / Integer(call, kBlock), kCount,
                 "at most 2^31 - 1 keys of a query");
  checks.Is(kIndex, Shape{sizes.queries, sizes.key_heads, Integer(call, kCount)});
  const Shape statistics{sizes.queries, sizes.heads, kCopies};
  checks.Is(kGreatest, statistics).Is(kSum, statistics);
  return checks.Is(kSelectedOut, Shape{sizes.queries, sizes.heads, sizes.value_depth}).status();
}
aclnnStatus SelectedIsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (Integer(call, kMode) == 0 && call.IsGiven(kSelectedMask) && call.Tensor(kSelectedMask).numel > 0)
    checks.Holds(false, kSelectedMask, "null in mode 0: portacl does not compute with it");
  return checks.status();
}

constexpr auto kSelectedChecks = Join(
    List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kIndex), NotNull(kGreatest), NotNull(kSum),
         NotNull(kSelectedOut), DtypesIn(kDtypes, {kQuery}), SameDtype(kQuery, kKey),
         SameDtype(kQuery, kValue)),
    List(DtypesIn(kInt32, {kIndex}), DtypesIn(kFloat, {kGreatest, kSum}), SameDtype(kQuery, kSelectedOut),
         Custom(SelectedFits, kTiling), Custom(SelectedIsComputed, ACLNN_ERR_INNER_NULLPTR),
         SizesRepresentable({kGreatest, kSum, kSelectedOut}), DoneIfEmpty({kQuery}),
         InsideStorage({kQuery, kKey, kValue, kIndex})));

void SetSelected(const OperatorCall& call, Executor& executor) {
  const auto of_query = ArrayIn(call, kQueryEnds);
  const auto of_key = ArrayIn(call, kKeyEnds);
  const Sizes sizes(call, std::ssize(of_query));
  std::vector<int64_t> ends;
  if (!serving::JoinLengths(of_query, of_key, &ends))
    return executor.RefuseSize(call.Name(kQuery), sizes.batches);
  DenseOpList ops(call, executor, &ends);
  engine::AttendToHeads made =
      AttentionOf(ops, call, sizes, /*has_lengths=*/true, call.attributes[kSelectedScale].wide);
  made.index = {ops.In(kIndex), true};
  made.count = Integer(call, kCount);
  made.key_block = Integer(call, kBlock);
  made.is_causal = Integer(call, kMode) == 2;
  made.to = ops.RowsOut(kSelectedOut);
  made.greatest = {ops.Out(kGreatest), true};
  made.sum = {ops.Out(kSum), true};
  made.copies = kCopies;
  Add(ops, call, made);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnBlockSparseAttention) {
  return dense::RunOpList(call, kSparseChecks, workspaceSize, executor, SetSparse);
}
PORTACL_PHASE_1(aclnnNsaSelectedAttention) {
  return dense::RunOpList(call, kSelectedChecks, workspaceSize, executor, SetSelected);
}
