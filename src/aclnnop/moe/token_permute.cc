// aclnnMoeTokenPermute and aclnnMoeTokenUnpermute: sort rows of tokens by expert, and restore their order.
// Also their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/token_permute_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl {
namespace {

using namespace dense;

constexpr int64_t kMostOfToken = 512;
constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;
constexpr DtypeRule kMoved = SinceAtlasA2(kFloatHalfAndBf16 | DtypeSet(ACL_INT8));
// Atlas inference products accept it without BF16.
constexpr DtypeRule kUnpermuted =
    SinceAtlasA2(kFloatHalfAndBf16).On({Product::kAtlasInference}, kFloatAndHalf);

// ---- permute ----

enum PermuteTensors { kTokens, kIndices, kPermuted, kSorted };
enum PermuteAttributes { kNumOut, kPermutePadded };

int64_t RowsOf(const OperatorCall& call) noexcept {
  const int64_t wanted = Integer(call, kNumOut);
  const int64_t entries = call.Tensor(kIndices).numel;
  if (wanted > 0) return std::min(wanted, entries);
  return wanted < -entries ? 0 : entries + wanted;
}

aclnnStatus PermuteFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kTokens, 2, 2).Rank(kIndices, 1, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& tokens = call.Tensor(kTokens).shape;
  const Shape& indices = call.Tensor(kIndices).shape;
  checks.Holds(indices[0] == tokens[0], kIndices, "as many rows as tokens has");
  checks.Holds(DimOr(indices, 1, 1) <= kMostOfToken, kIndices, "at most 512 experts of a token");
  checks.Is(kSorted, Shape{call.Tensor(kIndices).numel});
  checks.Is(kPermuted, Shape{RowsOf(call), tokens[1]});
  return checks.status();
}

constexpr Check kPermuteChecks[] = {
    NotNull(kTokens),
    NotNull(kIndices),
    NotNull(kPermuted),
    NotNull(kSorted),
    DtypesIn(kMoved, {kTokens}),
    DtypesIn(kInt32Or64, {kIndices}),
    SameDtype(kTokens, kPermuted),
    DtypesIn(kInt32, {kSorted}),
    OnProducts(products::kAscend950, IntegerIn(kPermutePadded, 0, 0)),
    WithCode(kTiling, IntegerIn(kPermutePadded, 0, 0)),
    Custom(PermuteFits, kTiling),
    SizesRepresentable({kPermuted, kSorted}),
    DoneIfEmpty({kIndices}),
    InsideStorage({kTokens, kIndices}),
};

void SetPermute(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const aclTensor& indices = call.Tensor(kIndices);
  const aclTensor& permuted = call.Tensor(kPermuted);
  const int64_t rows = permuted.shape[0];
  engine::RankEntries rank{};
  rank.expert = ops.In(kIndices);
  rank.is_wide = indices.dtype == ACL_INT64;
  rank.order = ops.Order(kIndices);
  rank.entries = indices.numel;
  rank.low = std::numeric_limits<int64_t>::min();
  rank.high = std::numeric_limits<int64_t>::max();
  rank.rows = rows;
  rank.rank = {ops.Words(indices.numel), true};
  rank.entry = {ops.Words(rows), true};
  ops.Compute(rank, {rank.expert}, indices.numel);
  ops.WordsTo(rank.rank.buffer, kSorted);
  engine::TakeRows take{};
  take.source = ops.In(kTokens);
  take.to = ops.Out(kPermuted);
  take.entry = rank.entry;
  take.rows = rows;
  take.bytes = permuted.shape[1] * SizeOf(call, kTokens);
  take.divisor = DimOr(indices.shape, 1, 1);
  take.source_rows = call.Tensor(kTokens).shape[0];
  take.clears = true;
  take.threads = call.threads;
  ops.Compute(take, {take.source, take.to}, permuted.numel);
  ops.SetJob();
}

// ---- gradient of permute ----

enum PermuteGradTensors { kPermuteGrad, kPermuteIndex, kPermuteGradOut };
enum PermuteGradAttributes { kTopK, kPermuteGradPadded };

aclnnStatus PermuteGradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kPermuteGrad, 2, 2).Rank(kPermuteIndex, 1, 1).Integer(kTopK, 1, kMostOfToken);
  if (!checks.Passed()) return checks.status();
  const int64_t k = Integer(call, kTopK);
  const int64_t entries = call.Tensor(kPermuteIndex).numel;
  checks.Holds(entries % k == 0, kPermuteIndex, "a multiple of numTopk elements");
  checks.Is(kPermuteGradOut, Shape{entries / k, call.Tensor(kPermuteGrad).shape[1]});
  return checks.status();
}

constexpr Check kPermuteGradChecks[] = {
    NotNull(kPermuteGrad),
    NotNull(kPermuteIndex),
    NotNull(kPermuteGradOut),
    DtypesIn(kFloats, {kPermuteGrad}),
    DtypesIn(kInt32, {kPermuteIndex}),
    SameDtype(kPermuteGrad, kPermuteGradOut),
    OnProducts(products::kAscend950, IntegerIn(kPermuteGradPadded, 0, 0)),
    WithCode(kTiling, IntegerIn(kPermuteGradPadded, 0, 0)),
    Custom(PermuteGradFits, kTiling),
    SizesRepresentable({kPermuteGradOut}),
    DoneIfEmpty({kPermuteGradOut}),
    InsideStorage({kPermuteGrad, kPermuteIndex}),
};

void SetPermuteGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kPermuteGrad);
  combine.to = ops.RowsOut(kPermuteGradOut);
  combine.index = ops.InIfGiven(kPermuteIndex, ACL_INT64);
  combine.rows = call.Tensor(kPermuteGradOut).shape[0];
  combine.columns = call.Tensor(kPermuteGradOut).shape[1];
  combine.entries_of_row = Integer(call, kTopK);
  combine.source_rows = call.Tensor(kPermuteGrad).shape[0];
  combine.may_exceed = true;
  combine.name = call.Name(kPermuteIndex);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  ops.Compute(combine, {combine.source.buffer, combine.to.buffer, combine.index.buffer},
              call.Tensor(kPermuteGrad).numel);
  ops.SetJob();
}

// ---- unpermute ----

enum UnpermuteTensors { kRows, kIndex, kProbs, kOut };
enum UnpermuteAttributes { kPadded, kRestoreShape };

// Returns the number of experts of a token.
int64_t EntriesOf(const OperatorCall& call, int probs) noexcept {
  return call.IsGiven(probs) ? DimOr(call.Tensor(probs).shape, 1, 1) : 1;
}

aclnnStatus UnpermuteFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kPadded, 0, 0).Rank(kRows, 2, 2).Rank(kIndex, 1, 1);
  if (call.IsGiven(kProbs)) checks.Rank(kProbs, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t k = EntriesOf(call, kProbs);
  const int64_t entries = call.Tensor(kIndex).numel;
  if (call.IsGiven(kProbs)) {
    const Shape& probs = call.Tensor(kProbs).shape;
    checks.Holds(probs[1] >= 1 && probs[1] <= kMostOfToken, kProbs, "1 to 512 columns");
    checks.Holds(call.Tensor(kProbs).numel == entries, kProbs, "as many elements as sortedIndices has");
  }
  if (!checks.Passed()) return checks.status();
  return checks.Is(kOut, Shape{entries / k, call.Tensor(kRows).shape[1]}).status();
}

constexpr Check kUnpermuteChecks[] = {
    NotNull(kRows),
    NotNull(kIndex),
    NotNull(kOut),
    DtypesIn(kUnpermuted, {kRows}),
    DtypesIn(kInt32, {kIndex}),
    IfGiven<kProbs>(DtypesIn(kUnpermuted, {kProbs})),
    SameDtype(kRows, kOut),
    Custom(UnpermuteFits, kTiling),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kOut}),
    InsideStorage({kRows, kIndex}),
    IfGiven<kProbs>(InsideStorage({kProbs})),
};

void SetUnpermute(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kRows);
  combine.to = ops.RowsOut(kOut);
  combine.index = ops.InIfGiven(kIndex, ACL_INT64);
  combine.factor = ops.InIfGiven(kProbs, ACL_FLOAT);
  combine.rows = call.Tensor(kOut).shape[0];
  combine.columns = call.Tensor(kOut).shape[1];
  combine.entries_of_row = EntriesOf(call, kProbs);
  combine.source_rows = call.Tensor(kRows).shape[0];
  combine.skips_zero = true;
  combine.may_exceed = true;
  combine.name = call.Name(kIndex);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  ops.Compute(combine,
              {combine.source.buffer, combine.to.buffer, combine.index.buffer, combine.factor.buffer},
              call.Tensor(kRows).numel);
  ops.SetJob();
}

// ---- gradients of unpermute ----

enum UnpermuteGradTensors { kGivenRows, kGrad, kGradIndex, kGradProbs, kRowsGrad, kProbsGrad };

bool HasProbs(const OperatorCall& call) noexcept { return call.IsGiven(kGradProbs); }

aclnnStatus UnpermuteGradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kPadded, 0, 0).Rank(kGrad, 2, 2).Rank(kGradIndex, 1, 1).Rank(kRowsGrad, 2, 2);
  if (HasProbs(call)) checks.Given(kGivenRows, "with probs").Rank(kGradProbs, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t k = EntriesOf(call, kGradProbs);
  const int64_t entries = call.Tensor(kGradIndex).numel;
  const Shape& grad = call.Tensor(kGrad).shape;
  if (HasProbs(call)) {
    checks.Holds(k >= 1 && k <= kMostOfToken, kGradProbs, "1 to 512 columns");
    if (!checks.Passed()) return checks.status();
    checks.Is(kGradProbs, Shape{entries / k, k});
  }
  checks.Holds(entries > 0 && entries % k == 0 && entries / k == grad[0], kGradIndex,
               "as many elements as unpermutedTokensGrad's rows have entries, at least one");
  checks.Holds(grad[1] > 0, kGrad, "rows that have elements");
  checks.Holds(call.Tensor(kRowsGrad).shape[0] > 0 && call.Tensor(kRowsGrad).shape[1] == grad[1], kRowsGrad,
               "rows as long as unpermutedTokensGrad's, at least one");
  if (call.IsGiven(kGivenRows)) checks.Is(kGivenRows, call.Tensor(kRowsGrad).shape);
  if (HasProbs(call)) checks.Is(kProbsGrad, call.Tensor(kGradProbs).shape);
  return checks.status();
}

constexpr Check kUnpermuteGradChecks[] = {
    NotNull(kGrad),
    NotNull(kGradIndex),
    NotNull(kRowsGrad),
    NotNull(kProbsGrad),
    DtypesIn(kFloats, {kGrad}),
    IfGiven<kGivenRows>(SameDtype(kGrad, kGivenRows)),
    DtypesIn(kInt32, {kGradIndex}),
    IfGiven<kGradProbs>(DtypesIn(kFloats, {kGradProbs})),
    SameDtype(kGrad, kRowsGrad),
    IfGiven<kGradProbs>(SameDtype(kGradProbs, kProbsGrad)),
    Custom(UnpermuteGradFits, kTiling),
    SizesRepresentable({kRowsGrad, kProbsGrad}),
    InsideStorage({kGrad, kGradIndex}),
    IfGiven<kGivenRows>(InsideStorage({kGivenRows})),
    IfGiven<kGradProbs>(InsideStorage({kGradProbs})),
};

void SetUnpermuteGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = call.Tensor(kGradIndex).numel;
  const Shape& rows = call.Tensor(kRowsGrad).shape;
  engine::InvertIndex invert{};
  invert.index = ops.In(kGradIndex, ACL_INT64);
  invert.entries = entries;
  invert.rows = rows[0];
  invert.entry = ops.Words(rows[0]);
  invert.least = HasProbs(call) ? -1 : 0;
  invert.name = call.Name(kGradIndex);
  invert.raises = ops.Raises();
  invert.may_exceed = true;
  ops.Compute(invert, {invert.index}, entries);
  engine::BroadcastRows broadcast{};
  broadcast.source = ops.Rows(kGrad);
  broadcast.to = ops.RowsOut(kRowsGrad);
  broadcast.entry = {invert.entry, true};
  broadcast.factor = ops.InIfGiven(kGradProbs, ACL_FLOAT);
  broadcast.rows = rows[0];
  broadcast.columns = rows[1];
  broadcast.divisor = EntriesOf(call, kGradProbs);
  broadcast.source_rows = call.Tensor(kGrad).shape[0];
  broadcast.threads = call.threads;
  ops.Compute(broadcast, {broadcast.source.buffer, broadcast.to.buffer, broadcast.factor.buffer},
              rows[0] * rows[1]);
  if (HasProbs(call)) {
    engine::DotRows dot{};
    dot.left = ops.Rows(kGivenRows);
    dot.right = broadcast.source;
    dot.to = ops.Out(kProbsGrad, ACL_FLOAT);
    dot.index = {invert.index, true};
    dot.entries = entries;
    dot.columns = rows[1];
    dot.divisor = broadcast.divisor;
    dot.left_rows = rows[0];
    dot.right_rows = broadcast.source_rows;
    dot.threads = call.threads;
    ops.Compute(dot, {dot.left.buffer, dot.right.buffer, dot.to, dot.index.buffer}, rows[0] * rows[1]);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeTokenPermute) {
  return dense::RunOpList(call, kPermuteChecks, workspaceSize, executor, SetPermute);
}
PORTACL_PHASE_1(aclnnMoeTokenPermuteGrad) {
  return dense::RunOpList(call, kPermuteGradChecks, workspaceSize, executor, SetPermuteGrad);
}
PORTACL_PHASE_1(aclnnMoeTokenUnpermute) {
  return dense::RunOpList(call, kUnpermuteChecks, workspaceSize, executor, SetUnpermute);
}
PORTACL_PHASE_1(aclnnMoeTokenUnpermuteGrad) {
  return dense::RunOpList(call, kUnpermuteGradChecks, workspaceSize, executor, SetUnpermuteGrad);
}
