// aclnnMoeFinalizeRouting and its later forms: sum the experts' results for each token. Also their gradient.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/finalize_routing_functions.h"

#include <limits>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl {
namespace {

using namespace dense;

constexpr DtypeRule kFloats = kNoneBeforeAtlasA2;

// Returns a range of experts from an array that may be null. [-1, -1] means none.
engine::CombineRows::Range RangeOf(const OperatorCall& call, int attribute) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  if (array == nullptr || array->values.size() != 2 || array->values[0] < 0) return {};
  return {array->values[0], array->values[1]};
}
bool IsRange(const OperatorCall& call, int attribute) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  if (array == nullptr) return true;
  if (array->values.size() != 2) return false;
  const int64_t low = array->values[0];
  const int64_t high = array->values[1];
  return (low == -1 && high == -1) ||
         (low >= 0 && high >= low && high <= std::numeric_limits<int32_t>::max());
}
bool IsUsed(const engine::CombineRows::Range& range) { return range.high > range.low; }

// ---- the first form ----

enum FirstTensors {
  kFirstX,
  kFirstX1,
  kFirstX2,
  kFirstBias,
  kFirstScales,
  kFirstRow,
  kFirstExpert,
  kFirstOut
};

aclnnStatus FirstFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kFirstX, 2, 2).Rank(kFirstScales, 2, 2).Rank(kFirstBias, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& scales = call.Tensor(kFirstScales).shape;
  const int64_t columns = call.Tensor(kFirstX).shape[1];
  int64_t entries = 0;
  if (__builtin_mul_overflow(scales[0], scales[1], &entries)) entries = 0;
  checks.Holds(scales[1] > 0, kFirstScales, "at least one expert of a token");
  checks.Holds(call.Tensor(kFirstBias).shape[0] > 0, kFirstBias, "at least one expert");
  checks.Is(kFirstX, Shape{entries, columns}).Is(kFirstX1, Shape{scales[0], columns});
  checks.IsIfGiven(kFirstX2, Shape{scales[0], columns});
  checks.Is(kFirstBias, Shape{call.Tensor(kFirstBias).shape[0], columns}).Is(kFirstRow, Shape{entries});
  return checks.Is(kFirstExpert, scales).Is(kFirstOut, Shape{scales[0], columns}).status();
}

constexpr Check kFirstChecks[] = {
    NotNull(kFirstX),
    NotNull(kFirstX1),
    NotNull(kFirstBias),
    NotNull(kFirstScales),
    NotNull(kFirstRow),
    NotNull(kFirstExpert),
    NotNull(kFirstOut),
    DtypesIn(kOnAtlasA2AndA3, {kFirstX}),
    SameDtype(kFirstX, kFirstX1),
    IfGiven<kFirstX2>(SameDtype(kFirstX, kFirstX2)),
    SameDtype(kFirstX, kFirstBias),
    SameDtype(kFirstX, kFirstScales),
    DtypesIn(kInt32, {kFirstRow, kFirstExpert}),
    SameDtype(kFirstX, kFirstOut),
    Custom(FirstFits, kTiling),
    SizesRepresentable({kFirstOut}),
    DoneIfEmpty({kFirstOut}),
    InsideStorage({kFirstX, kFirstX1, kFirstBias, kFirstScales, kFirstRow}),
    InsideStorage({kFirstExpert}),
    IfGiven<kFirstX2>(InsideStorage({kFirstX2})),
};

void Add(DenseOpList& ops, const engine::CombineRows& combine, int64_t elements) {
  ops.Compute(
      combine,
      {combine.source.buffer, combine.to.buffer, combine.first.buffer, combine.second.buffer,
       combine.bias.buffer, combine.index.buffer, combine.expert.buffer, combine.factor.buffer,
       combine.token.buffer, combine.constant_row.buffer, combine.alpha1.buffer, combine.alpha2.buffer},
      elements);
  ops.SetJob();
}

void SetFirst(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kFirstX);
  combine.to = ops.RowsOut(kFirstOut);
  combine.first = ops.Rows(kFirstX1);
  combine.second = ops.RowsIfGiven(kFirstX2);
  combine.bias = ops.Rows(kFirstBias);
  combine.index = ops.InIfGiven(kFirstRow, ACL_INT64);
  combine.expert = ops.InIfGiven(kFirstExpert, ACL_INT64);
  combine.factor = ops.InIfGiven(kFirstScales, ACL_FLOAT);
  combine.rows = call.Tensor(kFirstOut).shape[0];
  combine.columns = call.Tensor(kFirstOut).shape[1];
  combine.entries_of_row = call.Tensor(kFirstScales).shape[1];
  combine.source_rows = call.Tensor(kFirstX).shape[0];
  combine.experts = call.Tensor(kFirstBias).shape[0];
  combine.is_column_order = true;
  combine.name = call.Name(kFirstRow);
  combine.expert_name = call.Name(kFirstExpert);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  Add(ops, combine, call.Tensor(kFirstX).numel);
}

// ---- second and fourth form ----

// In the second form the output follows kExpert.
enum Tensors {
  kX,
  kRow,
  kX1,
  kX2,
  kBias,
  kScales,
  kExpert,
  kSecondOut,
  kToken = kSecondOut,
  kAlpha1,
  kAlpha2,
  kConstant
};
enum Attributes { kMode, kZeroRange, kCopyRange, kConstantRange, kK };
enum Mode : int64_t { kColumnOrder, kColumnOrderPadded, kRowOrder, kRowOrderPadded };

bool IsFourth(const OperatorCall& call) noexcept { return call.attributes.size() > kK; }
bool IsPadded(const OperatorCall& call) noexcept {
  return Integer(call, kMode) == kColumnOrderPadded || Integer(call, kMode) == kRowOrderPadded;
}
int64_t EntriesOf(const OperatorCall& call) noexcept {
  if (call.IsGiven(kScales)) return call.Tensor(kScales).shape[1];
  return IsFourth(call) ? Integer(call, kK) : 1;
}
// Tells whether there may be fewer rows of experts than entries.
bool MayBeFewer(const OperatorCall& call) noexcept {
  if (call.product == Product::kAscend950) return true;
  return IsFourth(call) && (IsUsed(RangeOf(call, kZeroRange)) || IsUsed(RangeOf(call, kCopyRange)) ||
                            IsUsed(RangeOf(call, kConstantRange)));
}
bool IsAlpha(const OperatorCall& call, int tensor, int64_t experts) {
  const int64_t count = call.Tensor(tensor).numel;
  return count == 1 || count == experts;
}

aclnnStatus ScalesFit(const Check&, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  const aclDataType scales = call.Tensor(kScales).dtype;
  const bool takes_any = call.product == Product::kAscend950 && kFloatHalfAndBf16.Contains(scales);
  if (scales == x || takes_any || (x == ACL_BF16 && scales == ACL_FLOAT)) return ACL_SUCCESS;
  const Check same = SameDtype(kX, kScales);
  return same.run(same, call);
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int out = call.Output();
  checks.Integer(kMode, kColumnOrder, kRowOrderPadded).Rank(kRow, 1, 1);
  if (call.IsGiven(kScales)) checks.Rank(kScales, 2, 2);
  if (IsFourth(call) && !call.IsGiven(kScales)) checks.Integer(kK, 1, std::numeric_limits<int32_t>::max());
  const int rank = checks.Passed() && IsPadded(call) ? 3 : 2;
  checks.Rank(kX, rank, rank);
  if (!checks.Passed()) return checks.status();
  const int64_t entries = call.Tensor(kRow).numel;
  const int64_t k = EntriesOf(call);
  if (call.IsGiven(kScales)) checks.Holds(k > 0, kScales, "at least one expert of a token");
  if (!checks.Passed()) return checks.status();
  const int64_t rows = entries / k;
  const Shape& x = call.Tensor(kX).shape;
  const int64_t columns = x[rank - 1];
  checks.Holds(entries % k == 0, kRow, "as many elements for each token as it has experts");
  checks.IsIfGiven(kScales, Shape{rows, k});
  checks.IsIfGiven(kX1, Shape{rows, columns});
  if (call.IsGiven(kX2)) checks.Given(kX1, "with x2Optional").Is(kX2, Shape{rows, columns});
  if (call.IsGiven(kBias)) {
    checks.Given(kExpert, "with biasOptional").Rank(kBias, 2, 2);
    if (!checks.Passed()) return checks.status();
    checks.Is(kBias, Shape{IsPadded(call) ? x[0] : call.Tensor(kBias).shape[0], columns});
  }
  checks.IsIfGiven(kExpert, Shape{rows, k});
  checks.Is(out, Shape{rows, columns});
  if (!checks.Passed()) return checks.status();
  if (!IsPadded(call) && !MayBeFewer(call)) checks.Is(kX, Shape{entries, columns});
  if (!IsPadded(call))
    checks.Holds(x[0] <= entries, kX, "at most as many rows as expandedRowIdx has elements");
  if (!IsFourth(call)) return checks.status();
  for (const int range : {kZeroRange, kCopyRange, kConstantRange})
    checks.HoldsOf(IsRange(call, range), range, "null, [-1, -1] or [first, end]");
  if (!checks.Passed()) return checks.status();
  const bool copies = IsUsed(RangeOf(call, kCopyRange));
  const auto constant = RangeOf(call, kConstantRange);
  if (MayBeFewer(call) && (copies || IsUsed(constant) || IsUsed(RangeOf(call, kZeroRange))))
    checks.Given(kExpert, "with ranges of experts");
  if (copies || IsUsed(constant)) checks.Given(kToken, "with such a range").Is(kToken, Shape{rows, columns});
  if (IsUsed(constant)) {
    const int64_t experts = constant.high - constant.low;
    checks.Given(kAlpha1, "with constantExpertRange").Given(kAlpha2, "with constantExpertRange");
    checks.Given(kConstant, "with constantExpertRange");
    if (!checks.Passed()) return checks.status();
    checks.Holds(IsAlpha(call, kAlpha1, experts), kAlpha1, "one element or one for each constant expert");
    checks.Holds(call.Tensor(kAlpha1).numel == call.Tensor(kAlpha2).numel, kAlpha2,
                 "as many elements as alpha1Optional has");
    const int64_t constants = call.Tensor(kConstant).numel;
    checks.Holds(constants == columns || constants == experts * columns, kConstant,
                 "one row of out's length or one for each constant expert");
    for (const int tensor : {kAlpha1, kAlpha2, kConstant}) checks.Rank(tensor, 0, 2);
  }
  return checks.status();
}

constexpr auto Checks(int out) {
  return List(NotNull(kX), NotNull(kRow), NotNull(out), DtypesIn(kFloats, {kX}), DtypesIn(kInt32, {kRow}),
              IfGiven<kX1>(SameDtype(kX, kX1)), IfGiven<kX2>(SameDtype(kX, kX2)),
              IfGiven<kBias>(SameDtype(kX, kBias)), IfGiven<kScales>(Custom(ScalesFit)),
              IfGiven<kExpert>(DtypesIn(kInt32, {kExpert})), SameDtype(kX, out));
}
constexpr auto LastChecks(int out) {
  return List(Custom(Fits, kTiling), SizesRepresentable({out}), DoneIfEmpty({out}), InsideStorage({kX, kRow}),
              IfGiven<kX1>(InsideStorage({kX1})), IfGiven<kX2>(InsideStorage({kX2})),
              IfGiven<kBias>(InsideStorage({kBias})), IfGiven<kScales>(InsideStorage({kScales})),
              IfGiven<kExpert>(InsideStorage({kExpert})));
}
constexpr auto kSecondChecks = Join(Checks(kSecondOut), LastChecks(kSecondOut));
constexpr int kFourthOut = kConstant + 1;
constexpr auto kFourthChecks =
    Join(Checks(kFourthOut),
         List(IfGiven<kToken>(SameDtype(kX, kToken)), IfGiven<kAlpha1>(DtypesIn(kFloats, {kAlpha1})),
              IfGiven<kAlpha2>(DtypesIn(kFloats, {kAlpha2})), IfGiven<kConstant>(SameDtype(kX, kConstant))),
         LastChecks(kFourthOut),
         List(IfGiven<kToken>(InsideStorage({kToken})), IfGiven<kAlpha1>(InsideStorage({kAlpha1})),
              IfGiven<kAlpha2>(InsideStorage({kAlpha2})), IfGiven<kConstant>(InsideStorage({kConstant}))));

void SetFinalized(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int out = call.Output();
  const int64_t mode = Integer(call, kMode);
  engine::CombineRows combine{};
  combine.source = ops.Rows(kX);
  combine.to = ops.RowsOut(out);
  combine.first = ops.RowsIfGiven(kX1);
  combine.second = ops.RowsIfGiven(kX2);
  combine.bias = ops.RowsIfGiven(kBias);
  combine.index = ops.InIfGiven(kRow, ACL_INT64);
  combine.expert = ops.InIfGiven(kExpert, ACL_INT64);
  combine.factor = ops.InIfGiven(kScales, ACL_FLOAT);
  combine.rows = call.Tensor(out).shape[0];
  combine.columns = call.Tensor(out).shape[1];
  combine.entries_of_row = EntriesOf(call);
  const aclTensor& x = call.Tensor(kX);
  combine.source_rows = x.numel / std::max<int64_t>(combine.columns, 1);
  combine.experts = call.IsGiven(kBias) ? call.Tensor(kBias).shape[0] : 0;
  combine.is_column_order = mode == kColumnOrder || mode == kColumnOrderPadded;
  combine.least = IsPadded(call) ? -1 : 0;
  combine.may_exceed = !IsPadded(call) && call.product == Product::kAscend950;
  combine.name = call.Name(kRow);
  combine.expert_name = call.Name(kExpert);
  combine.raises = ops.Raises();
  combine.threads = call.threads;
  if (IsFourth(call)) {
    combine.zero = RangeOf(call, kZeroRange);
    combine.copy = RangeOf(call, kCopyRange);
    combine.constant = RangeOf(call, kConstantRange);
    if (IsUsed(combine.copy) || IsUsed(combine.constant)) combine.token = ops.Rows(kToken);
    if (IsUsed(combine.constant)) {
      combine.constant_row = ops.Rows(kConstant);
      combine.alpha1 = ops.InIfGiven(kAlpha1, ACL_FLOAT);
      combine.alpha2 = ops.InIfGiven(kAlpha2, ACL_FLOAT);
      combine.alphas = call.Tensor(kAlpha1).numel;
      combine.constant_rows = call.Tensor(kConstant).numel / combine.columns;
    }
  }
  Add(ops, combine, x.numel);
}

// ---- gradient ----

enum GradTensors { kGrad, kGradRow, kGradX, kGradScales, kGradExpert, kGradBias, kXGrad, kScalesGrad };
enum GradAttributes { kGradMode, kActiveNum, kExpertNum, kCapacity };

aclnnStatus GradFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kGradMode, 0, 1).Rank(kGrad, 2, 2).Rank(kGradRow, 1, 1);
  if (call.IsGiven(kGradScales)) checks.Given(kGradX, "with scalesOptional").Rank(kGradScales, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t k = call.IsGiven(kGradScales) ? call.Tensor(kGradScales).shape[1] : 1;
  const int64_t entries = call.Tensor(kGradRow).numel;
  const int64_t tokens = call.Tensor(kGrad).shape[0];
  const int64_t columns = call.Tensor(kGrad).shape[1];
  checks.Holds(k > 0 && entries % k == 0 && entries / k == tokens, kGradRow,
               "as many elements for each of gradY's rows as it has experts");
  if (!checks.Passed()) return checks.status();
  checks.IsIfGiven(kGradScales, Shape{tokens, k}).IsIfGiven(kGradExpert, Shape{tokens, k});
  if (call.IsGiven(kGradBias)) {
    checks.Given(kGradExpert, "with biasOptional").Rank(kGradBias, 2, 2);
    if (!checks.Passed()) return checks.status();
    checks.Is(kGradBias, Shape{call.Tensor(kGradBias).shape[0], columns});
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  Shape rows;
  if (Integer(call, kGradMode) == 0) {
    const int64_t active = Integer(call, kActiveNum);
    rows = Shape{active > 0 && active < entries ? active : entries, columns};
  } else {
    checks.Integer(kExpertNum, 1, kMost).Integer(kCapacity, 1, kMost);
    if (!checks.Passed()) return checks.status();
    rows = Shape{Integer(call, kExpertNum), Integer(call, kCapacity), columns};
  }
  return checks.IsIfGiven(kGradX, rows).Is(kXGrad, rows).Is(kScalesGrad, Shape{tokens, k}).status();
}

constexpr Check kGradChecks[] = {
    NotNull(kGrad),
    NotNull(kGradRow),
    NotNull(kXGrad),
    NotNull(kScalesGrad),
    DtypesIn(kFloats, {kGrad}),
    DtypesIn(kInt32, {kGradRow}),
    IfGiven<kGradX>(SameDtype(kGrad, kGradX)),
    IfGiven<kGradScales>(SameDtype(kGrad, kGradScales)),
    IfGiven<kGradExpert>(DtypesIn(kInt32, {kGradExpert})),
    IfGiven<kGradBias>(SameDtype(kGrad, kGradBias)),
    SameDtype(kGrad, kXGrad),
    SameDtype(kGrad, kScalesGrad),
    Custom(GradFits, kTiling),
    SizesRepresentable({kXGrad, kScalesGrad}),
    InsideStorage({kGrad, kGradRow}),
    IfGiven<kGradX>(InsideStorage({kGradX})),
    IfGiven<kGradScales>(InsideStorage({kGradScales})),
    IfGiven<kGradExpert>(InsideStorage({kGradExpert})),
    IfGiven<kGradBias>(InsideStorage({kGradBias})),
};

void SetGrad(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t entries = call.Tensor(kGradRow).numel;
  const int64_t columns = call.Tensor(kGrad).shape[1];
  // Rows may have no elements: their products are 0 then.
  const Shape& to = call.Tensor(kXGrad).shape;
  const int64_t rows = to.rank == 3 ? to[0] * to[1] : to[0];
  engine::InvertIndex invert{};
  invert.index = ops.In(kGradRow, ACL_INT64);
  invert.entry = ops.Words(rows);
  invert.entries = entries;
  invert.rows = rows;
  invert.least = -1;
  invert.may_exceed = true;
  invert.name = call.Name(kGradRow);
  invert.raises = ops.Raises();
  ops.Compute(invert, {invert.index}, entries);
  engine::BroadcastRows broadcast{};
  broadcast.source = ops.Rows(kGrad);
  broadcast.to = ops.RowsOut(kXGrad);
  broadcast.entry = {invert.entry, true};
  broadcast.factor = ops.InIfGiven(kGradScales, ACL_FLOAT);
  broadcast.rows = rows;
  broadcast.columns = columns;
  broadcast.divisor = call.Tensor(kScalesGrad).shape[1];
  broadcast.source_rows = call.Tensor(kGrad).shape[0];
  broadcast.threads = call.threads;
  ops.Compute(broadcast, {broadcast.source.buffer, broadcast.to.buffer, broadcast.factor.buffer},
              rows * columns);
  if (call.IsGiven(kGradScales)) {
    engine::DotRows dot{};
    dot.left = ops.Rows(kGradX);
    dot.right = broadcast.source;
    dot.bias = ops.RowsIfGiven(kGradBias);
    dot.to = ops.Out(kScalesGrad, ACL_FLOAT);
    dot.index = {invert.index, true};
    dot.expert = ops.InIfGiven(kGradExpert, ACL_INT64);
    dot.entries = entries;
    dot.columns = columns;
    dot.divisor = broadcast.divisor;
    dot.left_rows = rows;
    dot.right_rows = broadcast.source_rows;
    dot.experts = call.IsGiven(kGradBias) ? call.Tensor(kGradBias).shape[0] : 0;
    dot.expert_name = call.Name(kGradExpert);
    dot.raises = ops.Raises();
    dot.threads = call.threads;
    ops.Compute(
        dot,
        {dot.left.buffer, dot.right.buffer, dot.bias.buffer, dot.to, dot.index.buffer, dot.expert.buffer},
        rows * columns);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeFinalizeRouting) {
  return dense::RunOpList(call, kFirstChecks, workspaceSize, executor, SetFirst);
}
PORTACL_PHASE_1(aclnnMoeFinalizeRoutingV2) {
  return dense::RunOpList(call, kSecondChecks, workspaceSize, executor, SetFinalized);
}
PORTACL_PHASE_1(aclnnMoeFinalizeRoutingV4) {
  return dense::RunOpList(call, kFourthChecks, workspaceSize, executor, SetFinalized);
}
PORTACL_PHASE_1(aclnnMoeFinalizeRoutingV2Grad) {
  return dense::RunOpList(call, kGradChecks, workspaceSize, executor, SetGrad);
}
