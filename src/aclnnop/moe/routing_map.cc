// aclnnMoeTokenPermuteWithRoutingMap and aclnnMoeTokenUnpermuteWithRoutingMap: copy tokens to the experts
// that a map marks, and back. Also their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/routing_map_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl {
namespace {

using namespace dense;
using engine::BufferRef;
using engine::OptionalBuffer;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;
constexpr DtypeSet kMapDtypes{ACL_BOOL, ACL_INT8};
constexpr int64_t kMostOfToken = 512;

// ---- shared ----

// Finds the ones of a map of BOOL or INT8.
engine::MapEntries EntriesOf(DenseOpList& ops, const OperatorCall& call, int map, int64_t rows,
                             int64_t capacity) {
  engine::MapEntries entries{};
  entries.map = ops.In(map);
  entries.tokens = call.Tensor(map).shape[0];
  entries.experts = call.Tensor(map).shape[1];
  entries.capacity = capacity;
  entries.rows = rows;
  entries.of_token = entries.tokens == 0 ? 0 : rows / entries.tokens;
  return entries;
}
// Gathers or scatters numbers between dense operands by an index.
void Move(DenseOpList& ops, BufferRef from, BufferRef to, BufferRef buffer, int64_t count, int64_t length,
          int64_t size, bool puts) {
  engine::MoveNumbers move{};
  move.from = from;
  move.to = to;
  move.buffer = buffer;
  move.count = count;
  move.length = length;
  move.size = static_cast<int32_t>(size);
  move.puts = puts;
  ops.Compute(move, {from, to, buffer}, puts ? length : count);
}
// Computes the index in the map of each padded row's entry. Row q belongs to expert q / capacity.
BufferRef PositionsOfPadded(DenseOpList& ops, BufferRef token, OptionalBuffer position, int64_t count,
                            int64_t tokens, int64_t experts) {
  engine::PaddedPositions positions{};
  positions.token = token;
  positions.position = position;
  positions.buffer = ops.Words(count);
  positions.count = count;
  positions.tokens = tokens;
  positions.experts = experts;
  positions.capacity = std::max<int64_t>(1, count / experts);
  ops.Compute(positions, {token, position.buffer}, count);
  return positions.buffer;
}
// Sums into row i of the output the rows whose index is i, in their order.
void AddSums(DenseOpList& ops, engine::CombineRows combine, BufferRef index, int64_t entries,
             const char* name) {
  engine::GroupIndex group{};
  group.index = index;
  group.order = ops.OrderOfWords(index, entries);
  group.begin = ops.Words(combine.rows + 1);
  group.entries = entries;
  group.groups = combine.rows;
  group.name = name;
  group.raises = ops.Raises();
  ops.Compute(group, {index}, entries);
  combine.begin = {group.begin, true};
  combine.index = {group.order, true};
  ops.Compute(combine, {combine.source.buffer, combine.to.buffer, combine.factor.buffer},
              entries * combine.columns);
}

// ---- permute ----

enum PermuteTensors { kTokens, kMap, kProbs, kPermuted, kPermutedProbs, kSorted };
enum PermuteAttributes { kNumOut, kDropAndPad };

bool Pads(const OperatorCall& call) noexcept { return Integer(call, kDropAndPad) != 0; }

aclnnStatus PermuteFits(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kMostDim = 16777214;
  ShapeChecks checks(check, call);
  checks.Rank(kTokens, 2, 2).Rank(kMap, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& map = call.Tensor(kMap).shape;
  const Shape& tokens = call.Tensor(kTokens).shape;
  checks.Holds(map[0] <= kMostDim && map[1] <= kMostDim, kMap, "dims below 16777215");
  checks.Holds(tokens[0] == map[0], kTokens, "as many rows as routingMap has");
  if (!checks.Passed()) return checks.status();
  checks.IsIfGiven(kProbs, map).Integer(kNumOut, 0, map[0] * map[1]);
  const int64_t unit = std::max<int64_t>(1, Pads(call) ? map[1] : map[0]);
  const int64_t rows = Integer(call, kNumOut) / unit * unit;
  checks.Is(kPermuted, Shape{rows, tokens[1]}).Is(kSorted, Shape{rows});
  if (call.IsGiven(kProbs)) checks.Is(kPermutedProbs, Shape{rows});
  return checks.status();
}

constexpr Check kPermuteChecks[] = {
    NotNull(kTokens),
    NotNull(kMap),
    NotNull(kPermuted),
    NotNull(kSorted),
    IfGiven<kProbs>(NotNull(kPermutedProbs)),
    DtypesIn(kFloats, {kTokens}),
    DtypesIn(kMapDtypes, {kMap}),
    SameDtype(kTokens, kPermuted),
    DtypesIn(kInt32, {kSorted}),
    IfGiven<kProbs>(SameDtype(kTokens, kProbs)),
    IfGiven<kProbs>(SameDtype(kProbs, kPermutedProbs)),
    Custom(PermuteFits),
    SizesRepresentable({kPermuted, kSorted}),
    IfGiven<kProbs>(SizesRepresentable({kPermutedProbs})),
    DoneIfEmpty({kMap, kPermuted}),
    InsideStorage({kTokens, kMap}),
    IfGiven<kProbs>(InsideStorage({kProbs})),
};

void SetPermute(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& permuted = call.Tensor(kPermuted).shape;
  const int64_t rows = permuted[0];
  engine::MapEntries entries =
      EntriesOf(ops, call, kMap, rows, Pads(call) ? rows / call.Tensor(kMap).shape[1] : 0);
  entries.token = {ops.Words(rows), true};
  entries.in_order = {ops.Words(rows), true};
  if (!Pads(call)) entries.rank = {ops.Words(rows), true};
  ops.Compute(entries, {entries.map}, call.Tensor(kMap).numel);
  ops.WordsTo(Pads(call) ? entries.token.buffer : entries.rank.buffer, kSorted);
  if (call.IsGiven(kProbs))
    Move(ops, ops.In(kProbs), ops.Out(kPermutedProbs), entries.in_order.buffer, rows, call.Tensor(kMap).numel,
         SizeOf(call, kProbs), /*puts=*/false);
  engine::TakeRows take{};
  take.source = ops.In(kTokens);
  take.to = ops.Out(kPermuted);
  take.entry = entries.token;
  take.rows = rows;
  take.bytes = permuted[1] * SizeOf(call, kTokens);
  take.source_rows = call.Tensor(kTokens).shape[0];
  take.clears = true;
  take.threads = call.threads;
  ops.Compute(take, {take.source, take.to}, call.Tensor(kPermuted).numel);
  ops.SetJob();
}

// ---- gradients of permute ----

enum PermuteGradTensors { kGrad, kOfProbs, kIndex, kGradMap, kTokensGrad, kProbsGrad };
enum PermuteGradAttributes { kExperts, kTokensNum, kGradPads };

bool GivesProbsGrad(const OperatorCall& call) noexcept { return call.IsGiven(kProbsGrad); }

aclnnStatus PermuteGradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kGrad, 2, 2).Rank(kTokensGrad, 2, 2).Rank(kIndex, 1, 1);
  if (call.IsGiven(kGradMap)) checks.Rank(kGradMap, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t entries = call.Tensor(kIndex).numel;
  const int64_t tokens = Integer(call, kTokensNum);
  const int64_t experts = Integer(call, kExperts);
  const bool pads = Integer(call, kGradPads) != 0;
  checks.Holds(call.Tensor(kGrad).shape[0] == entries, kGrad, "as many rows as sortedIndices has elements");
  checks.Is(kTokensGrad, Shape{tokens, call.Tensor(kGrad).shape[1]});
  checks.Holds(entries % (pads ? experts : tokens) == 0, kIndex,
               pads ? "as many elements for each expert" : "as many elements for each token");
  if (GivesProbsGrad(call)) checks.Is(kOfProbs, Shape{entries}).Is(kGradMap, Shape{tokens, experts});
  return checks.status();
}
aclnnStatus ProbsGradFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .Is(kProbsGrad, Shape{Integer(call, kTokensNum), Integer(call, kExperts)})
      .status();
}

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr Check kPermuteGradChecks[] = {
    IntegerIn(kExperts, 1, kMost),
    IntegerIn(kTokensNum, 1, kMost),
    NotNull(kGrad),
    NotNull(kIndex),
    NotNull(kTokensGrad),
    If(GivesProbsGrad, NotNull(kGradMap)),
    If(GivesProbsGrad, NotNull(kOfProbs)),
    DtypesIn(kFloats, {kGrad}),
    DtypesIn(kInt32, {kIndex}),
    SameDtype(kGrad, kTokensGrad),
    If(GivesProbsGrad, SameDtype(kGrad, kOfProbs)),
    If(GivesProbsGrad, SameDtype(kGrad, kProbsGrad)),
    If(GivesProbsGrad, DtypesIn(kMapDtypes, {kGradMap})),
    Custom(PermuteGradFits),
    SizesRepresentable({kTokensGrad}),
    If(GivesProbsGrad, SizesRepresentable({kProbsGrad})),
    DoneIfEmpty({kGrad, kTokensGrad}),
    If(GivesProbsGrad, Custom(ProbsGradFits, ACLNN_ERR_INNER_NULLPTR)),
    InsideStorage({kGrad, kIndex}),
    If(GivesProbsGrad, InsideStorage({kOfProbs, kGradMap})),
};

void SetPermuteGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = call.Tensor(kIndex).numel;
  const int64_t tokens = Integer(call, kTokensNum);
  const int64_t experts = Integer(call, kExperts);
  const bool pads = Integer(call, kGradPads) != 0;
  const BufferRef index = ops.In(kIndex, ACL_INT64);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kGrad);
  combine.to = ops.RowsOut(kTokensGrad);
  combine.rows = tokens;
  combine.columns = call.Tensor(kGrad).shape[1];
  combine.entries_of_row = entries / tokens;
  combine.source_rows = entries;
  combine.least = -1;
  combine.name = call.Name(kIndex);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  if (pads) {
    AddSums(ops, combine, index, entries, call.Name(kIndex));
  } else {
    combine.index = {index, true};
    ops.Compute(combine, {combine.source.buffer, combine.to.buffer, index}, call.Tensor(kGrad).numel);
  }
  if (GivesProbsGrad(call)) {
    BufferRef positions = {};
    if (pads) {
      positions = PositionsOfPadded(ops, index, {}, entries, tokens, experts);
    } else {
      engine::MapEntries map = EntriesOf(ops, call, kGradMap, entries, 0);
      map.in_order = {ops.Words(entries), true};
      ops.Compute(map, {map.map}, tokens * experts);
      positions = map.in_order.buffer;
    }
    Move(ops, ops.In(kOfProbs), ops.Out(kProbsGrad), positions, entries, tokens * experts,
         SizeOf(call, kProbsGrad), /*puts=*/true);
  }
  ops.SetJob();
}

// ---- unpermute ----

enum UnpermuteTensors { kRows, kRowIndex, kRowMap, kRowProbs, kOut, kOutIndex, kTokenId, kOutProbs };
enum UnpermuteAttributes { kPadded, kRestoreShape };

bool IsPadded(const OperatorCall& call) noexcept { return Integer(call, kPadded) != 0; }
bool ReadsMap(const OperatorCall& call) noexcept { return !IsPadded(call) && call.IsGiven(kRowProbs); }

aclnnStatus ProbsOrShape(const Check& check, OperatorCall& call) noexcept {
  if (call.IsGiven(kRowProbs) || call.attributes[kRestoreShape].array != nullptr) return ACL_SUCCESS;
  return ShapeChecks(check, call).Given(kRowProbs, "or restoreShapeOptional").status();
}

aclnnStatus UnpermuteFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kRows, 2, 2).Rank(kRowIndex, 1, 1);
  if (call.IsGiven(kRowMap)) checks.Rank(kRowMap, 2, 2);
  if (call.IsGiven(kRowProbs)) checks.Rank(kRowProbs, 2, 2);
  if (!call.IsGiven(kRowProbs))
    checks.HoldsOf(!call.Array(kRestoreShape).empty() && call.Array(kRestoreShape)[0] >= 0, kRestoreShape,
                   "the number of tokens first");
  if (!checks.Passed()) return checks.status();
  const int64_t tokens =
      call.IsGiven(kRowProbs) ? call.Tensor(kRowProbs).shape[0] : call.Array(kRestoreShape)[0];
  const int64_t entries = call.Tensor(kRowIndex).numel;
  checks.Holds(call.Tensor(kRows).shape[0] == entries, kRows, "as many rows as sortedIndices has elements");
  checks.Is(kOut, Shape{tokens, call.Tensor(kRows).shape[1]});
  if (!IsPadded(call))
    checks.Holds(tokens == 0 || entries % tokens == 0, kRowIndex, "as many elements for each token");
  if (ReadsMap(call)) checks.Is(kRowMap, call.Tensor(kRowProbs).shape);
  if (call.IsGiven(kRowProbs)) {
    const int64_t experts = call.Tensor(kRowProbs).shape[1];
    if (IsPadded(call))
      checks.Holds(experts > 0 && entries % experts == 0, kRowIndex, "as many elements for each expert");
    checks.Is(kOutProbs, Shape{entries});
  }
  if (IsPadded(call)) checks.Is(kOutIndex, Shape{entries}).Is(kTokenId, Shape{entries});
  return checks.status();
}

constexpr Check kUnpermuteChecks[] = {
    NotNull(kRows),
    NotNull(kRowIndex),
    Custom(ProbsOrShape, ACLNN_ERR_PARAM_NULLPTR),
    NotNull(kOut),
    If(ReadsMap, NotNull(kRowMap)),
    If(IsPadded, NotNull(kOutIndex)),
    If(IsPadded, NotNull(kTokenId)),
    IfGiven<kRowProbs>(NotNull(kOutProbs)),
    DtypesIn(kFloats, {kRows}),
    DtypesIn(kInt32, {kRowIndex}),
    IfGiven<kRowMap>(DtypesIn(kMapDtypes, {kRowMap})),
    IfGiven<kRowProbs>(DtypesIn(kFloats, {kRowProbs})),
    SameDtype(kRows, kOut),
    If(IsPadded, DtypesIn(kInt32, {kOutIndex, kTokenId})),
    IfGiven<kRowProbs>(SameDtype(kRowProbs, kOutProbs)),
    Custom(UnpermuteFits),
    SizesRepresentable({kOut}),
    If(IsPadded, SizesRepresentable({kOutIndex, kTokenId})),
    IfGiven<kRowProbs>(SizesRepresentable({kOutProbs})),
    DoneIfEmpty({kOut}),
    InsideStorage({kRows, kRowIndex}),
    IfGiven<kRowMap>(InsideStorage({kRowMap})),
    IfGiven<kRowProbs>(InsideStorage({kRowProbs})),
};

void SetUnpermute(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = call.Tensor(kRowIndex).numel;
  const Shape& out = call.Tensor(kOut).shape;
  const BufferRef index = ops.In(kRowIndex, ACL_INT64);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kRows);
  combine.to = ops.RowsOut(kOut);
  combine.rows = out[0];
  combine.columns = out[1];
  combine.entries_of_row = entries / out[0];
  combine.source_rows = entries;
  combine.least = -1;
  combine.name = call.Name(kRowIndex);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  if (call.IsGiven(kRowProbs) && entries > 0) {
    const Shape& probs = call.Tensor(kRowProbs).shape;
    BufferRef positions = {};
    if (IsPadded(call)) {
      positions = PositionsOfPadded(ops, index, {}, entries, probs[0], probs[1]);
    } else {
      engine::MapEntries map = EntriesOf(ops, call, kRowMap, entries, 0);
      map.ones = {ops.Words(entries), true};
      ops.Compute(map, {map.map}, probs[0] * probs[1]);
      positions = map.ones.buffer;
    }
    Move(ops, ops.In(kRowProbs), ops.Out(kOutProbs), positions, entries, probs[0] * probs[1],
         SizeOf(call, kRowProbs), /*puts=*/false);
    combine.factor = {ops.Floats(entries), true};
    Move(ops, ops.In(kRowProbs, ACL_FLOAT), combine.factor.buffer, positions, entries, probs[0] * probs[1],
         sizeof(float), /*puts=*/false);
  }
  if (!IsPadded(call)) {
    combine.index = {index, true};
    ops.Compute(combine, {combine.source.buffer, combine.to.buffer, index}, call.Tensor(kRows).numel);
    return ops.SetJob();
  }
  if (entries > 0) {
    const BufferRef order = ops.Order(kRowIndex, {ops.Out(kTokenId), true});
    ops.WordsTo(order, kOutIndex);
  }
  AddSums(ops, combine, index, entries, call.Name(kRowIndex));
  ops.SetJob();
}

// ---- gradients of unpermute ----

enum UnpermuteGradTensors {
  kOutGrad,
  kGradIndex,
  kGradToken,
  kOfMap,
  kOfRows,
  kGradProbs,
  kRowsGrad,
  kOutProbsGrad
};

bool HasProbs(const OperatorCall& call) noexcept { return call.IsGiven(kGradProbs); }
bool NeedsMap(const OperatorCall& call) noexcept { return HasProbs(call) && !IsPadded(call); }

aclnnStatus UnpermuteGradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kOutGrad, 2, 2).Rank(kGradIndex, 1, 1).Rank(kRowsGrad, 2, 2);
  if (HasProbs(call))
    checks.Given(kOfRows, "with probsOptional")
        .Given(kOutProbsGrad, "with probsOptional")
        .Rank(kGradProbs, 2, 2);
  if (NeedsMap(call)) checks.Given(kOfMap, "with probsOptional");
  if (!checks.Passed()) return checks.status();
  const Shape& grad = call.Tensor(kOutGrad).shape;
  const int64_t entries = call.Tensor(kGradIndex).numel;
  checks.Holds(!grad.IsEmpty(), kOutGrad, "at least one element");
  checks.Holds(entries > 0, kGradIndex, "at least one element");
  checks.Is(kGradToken, Shape{entries}).Is(kRowsGrad, Shape{entries, DimOr(grad, 1, 0)});
  const int64_t tokens = grad[0];
  if (!checks.Passed() || tokens < 1) return checks.status();
  if (!IsPadded(call)) {
    checks.Holds(entries % tokens == 0 && entries / tokens <= kMostOfToken, kGradIndex,
                 "as many elements for each token, at most 512");
  }
  if (HasProbs(call)) {
    const int64_t experts = call.Tensor(kGradProbs).shape[1];
    checks.Is(kGradProbs, Shape{grad[0], experts}).Is(kOutProbsGrad, Shape{grad[0], experts});
    checks.Is(kOfRows, call.Tensor(kRowsGrad).shape);
    if (NeedsMap(call)) {
      checks.Is(kOfMap, Shape{grad[0], experts});
      checks.Holds(entries / tokens <= experts, kGradIndex,
                   "at most as many elements for each token as experts");
    } else {
      checks.Holds(experts > 0 && entries % experts == 0 && entries / experts <= tokens, kGradIndex,
                   "as many elements for each expert, at most as many as tokens");
    }
  }
  return checks.status();
}

constexpr Check kUnpermuteGradChecks[] = {
    NotNull(kOutGrad),
    NotNull(kGradIndex),
    NotNull(kGradToken),
    NotNull(kRowsGrad),
    DtypesIn(kFloats, {kOutGrad}),
    DtypesIn(kInt32, {kGradIndex, kGradToken}),
    IfGiven<kOfMap>(DtypesIn(kMapDtypes, {kOfMap})),
    IfGiven<kOfRows>(SameDtype(kOutGrad, kOfRows)),
    IfGiven<kGradProbs>(SameDtype(kOutGrad, kGradProbs)),
    SameDtype(kOutGrad, kRowsGrad),
    IfGiven<kOutProbsGrad>(SameDtype(kOutGrad, kOutProbsGrad)),
    Custom(UnpermuteGradFits, kTiling),
    SizesRepresentable({kRowsGrad}),
    IfGiven<kOutProbsGrad>(SizesRepresentable({kOutProbsGrad})),
    InsideStorage({kOutGrad, kGradIndex, kGradToken}),
    IfGiven<kOfMap>(InsideStorage({kOfMap})),
    IfGiven<kOfRows>(InsideStorage({kOfRows})),
    IfGiven<kGradProbs>(InsideStorage({kGradProbs})),
};

void SetUnpermuteGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = call.Tensor(kGradIndex).numel;
  const int64_t tokens = call.Tensor(kOutGrad).shape[0];
  const int64_t columns = call.Tensor(kOutGrad).shape[1];
  const bool is_padded = IsPadded(call);
  engine::InvertIndex invert{};
  invert.index = ops.In(kGradIndex, ACL_INT64);
  invert.entry = ops.Words(entries);
  invert.entries = invert.rows = entries;
  invert.least = -1;
  invert.name = call.Name(kGradIndex);
  invert.raises = ops.Raises();
  ops.Compute(invert, {invert.index}, entries);
  engine::BroadcastRows broadcast{};
  broadcast.source = ops.Rows(kOutGrad);
  broadcast.to = ops.RowsOut(kRowsGrad);
  broadcast.entry = {invert.entry, true};
  if (is_padded) broadcast.source_row = ops.InIfGiven(kGradToken, ACL_INT64);
  broadcast.rows = entries;
  broadcast.columns = columns;
  broadcast.divisor = is_padded ? 1 : entries / tokens;
  broadcast.source_rows = tokens;
  broadcast.name = call.Name(kGradToken);
  broadcast.raises = is_padded && ops.Raises();
  broadcast.threads = call.threads;
  BufferRef positions = {};
  int64_t experts = 0;
  if (HasProbs(call)) {
    experts = call.Tensor(kGradProbs).shape[1];
    if (is_padded) {
      positions =
          PositionsOfPadded(ops, broadcast.source_row.buffer, {invert.index, true}, entries, tokens, experts);
    } else {
      engine::MapEntries map = EntriesOf(ops, call, kOfMap, entries, 0);
      map.ones = {ops.Words(entries), true};
      ops.Compute(map, {map.map}, tokens * experts);
      positions = map.ones.buffer;
    }
    broadcast.factor = {ops.Floats(entries), true};
    Move(ops, ops.In(kGradProbs, ACL_FLOAT), broadcast.factor.buffer, positions, entries, tokens * experts,
         sizeof(float), /*puts=*/false);
  }
  ops.Compute(broadcast, {broadcast.source.buffer, broadcast.to.buffer, broadcast.source_row.buffer},
              entries * columns);
  if (HasProbs(call)) {
    engine::DotRows dot{};
    dot.left = ops.Rows(kOfRows);
    dot.right = broadcast.source;
    dot.to = ops.Floats(entries);
    dot.index = {invert.index, true};
    dot.right_row = broadcast.source_row;
    dot.entries = entries;
    dot.columns = columns;
    dot.divisor = broadcast.divisor;
    dot.left_rows = entries;
    dot.right_rows = tokens;
    dot.threads = call.threads;
    ops.Compute(dot, {dot.left.buffer, dot.right.buffer, dot.index.buffer, dot.right_row.buffer},
                entries * columns);
    Move(ops, dot.to, ops.Out(kOutProbsGrad, ACL_FLOAT), positions, entries, tokens * experts, sizeof(float),
         /*puts=*/true);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeTokenPermuteWithRoutingMap) {
  return dense::RunOpList(call, kPermuteChecks, workspaceSize, executor, SetPermute);
}
PORTACL_PHASE_1(aclnnMoeTokenPermuteWithRoutingMapGrad) {
  return dense::RunOpList(call, kPermuteGradChecks, workspaceSize, executor, SetPermuteGrad);
}
PORTACL_PHASE_1(aclnnMoeTokenUnpermuteWithRoutingMap) {
  return dense::RunOpList(call, kUnpermuteChecks, workspaceSize, executor, SetUnpermute);
}
PORTACL_PHASE_1(aclnnMoeTokenUnpermuteWithRoutingMapGrad) {
  return dense::RunOpList(call, kUnpermuteGradChecks, workspaceSize, executor, SetUnpermuteGrad);
}
