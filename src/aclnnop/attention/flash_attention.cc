// aclnnFlashAttentionScore and aclnnFlashAttentionScoreGrad, their forms for packed sequences, and their V2
// to V5: attention that returns each row's maximum score and sum of exponentials, and its gradients, which
// are computed from these statistics.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/flash_attention_functions.h"

#include <algorithm>

#include "aclnnop/attention/flash_checks.h"
#include "aclnnop/attention/flash_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/random_source.h"
#include "aclnnop/jobs/statistics.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace attention;
using namespace attention::flash;

// Makes phase 1 on this thread, as long as an object lives, size workspaces for all lengths that the tensors allow.
class ForAllLengths {
 public:
  ForAllLengths() noexcept { is_on = true; }
  ~ForAllLengths() { is_on = false; }
  ForAllLengths(const ForAllLengths&) = delete;
  ForAllLengths& operator=(const ForAllLengths&) = delete;

  static bool IsOn() noexcept { return is_on; }

 private:
  static inline thread_local bool is_on = false;
};

// Returns the queries of the longest sequence: of this call, or of all that may come with the same tensors. A
// shift and a mask may have a row for each of them.
template <const OperandPositions& at>
int64_t MostQueries(const OperatorCall& call, const Sizes& sizes, const Sequences& sequences) {
  if (!ForAllLengths::IsOn() || !IsPacked(call)) return sequences.queries;
  if (HasPlainShift<at>(call) && call.Tensor(at.shift).shape[2] > 1) return sequences.queries;
  const int64_t mode = call.attributes[kMode].integer;
  if (IsThere(call, at.mask) && (mode <= 1 || mode == 5)) return sequences.queries;
  return sizes.query.rows;
}

// Fills in the engine's attention, except for the outputs.
template <const OperandPositions& at>
engine::Attention AttentionOf(const OperatorCall& call, const Sizes& sizes) {
  engine::Attention made{};
  made.heads = sizes.query.heads;
  made.group = sizes.query.heads / sizes.key.heads;
  made.depth = sizes.query.depth;
  made.value_depth = sizes.value.depth;
  made.query = sizes.query.operand;
  made.key = sizes.key.operand;
  made.value = sizes.value.operand;
  made.out = HeadsOf(call.Tensor(at.out), at.out, LayoutIn(call), sizes.query.heads).operand;
  for (const int tensor : {at.greatest, at.sum}) {
    (tensor == at.sum ? made.sum : made.greatest) =
        IsPacked(call) ? HeadsOf(call.Tensor(tensor), tensor, Layout::kTnd, sizes.query.heads).operand
                       : Broadcast(call.Tensor(tensor), tensor);
  }
  if (IsPacked(call)) {
    const char* const order = call.attributes[kStatisticLayout].text;
    made.packs_heads = order == nullptr || order != kRowsOfHeads;
  }
  made.copies = kStatisticCopies;
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  made.keep = static_cast<float>(call.attributes[kKeep].wide);
  made.shift_first = !at.HasShiftType() || call.attributes[kShiftType].integer == 1;
  if (HasPlainShift<at>(call)) made.shift = Broadcast(call.Tensor(at.shift), at.shift);
  if (IsThere(call, at.kept)) {
    made.kept = Broadcast(call.Tensor(at.kept), at.kept);
    if (call.Tensor(at.kept).shape.rank > 1) made.kept.column = 1;
  } else if (at.IsV4() && made.keep < 1) {
    made.draws = true;
    made.drawn = random::SourceOf(call.attributes[kSeed].integer, call.attributes[kOffset].integer);
    made.most = random::GreatestWordBelow(static_cast<double>(made.keep));
  }
  if (IsThere(call, at.mask) && call.attributes[kMode].integer <= 1)
    made.mask = Broadcast(call.Tensor(at.mask), at.mask);
  if (HasSink<at>(call)) {
    made.sink = Broadcast(call.Tensor(at.sink), at.sink);
    made.sink.head = made.sink.column;
  }
  if (HasRopes<at>(call)) {
    const Shape& rope = call.Tensor(at.query_rope).shape;
    made.rope_depth = rope[rope.rank - 1];
  }
  return made;
}

// Returns the mode of a sequence. Modes 7 and 8 use mode 4 for the last or the first sequence that has
// queries, and 3 or 2 for the others.
template <const OperandPositions& at>
int64_t ModeOf(const Sequences& sequences, int64_t b) {
  const OperatorCall& call = sequences.call;
  const int64_t mode = IsThere(call, at.mask) ? call.attributes[kMode].integer : 1;
  if (mode < 7) return mode;
  const auto ends = Ends(call, kQueryLengths);
  const bool has_queries = sequences.Queries(b).count > 0;
  const bool has_band = has_queries && (mode == 7 ? ends[static_cast<size_t>(b)] == ends.back()
                                                  : sequences.Queries(b).first == 0);
  return has_band ? 4 : mode == 7 ? 3 : 2;
}

template <const OperandPositions& at>
void SetSlopes(const OperatorCall& call, engine::AttentionParts& parts) {
  const aclTensor& slopes = call.Tensor(at.shift);
  parts.slopes = Broadcast(slopes, at.shift);
  parts.slopes.batch = slopes.shape.rank == 2 ? parts.slopes.row : 0;
  parts.slopes.head = parts.slopes.column;
  const auto first = [&](int attribute) -> int64_t {
    const auto values = Ends(call, attribute);
    return values.empty() ? 0 : values[0];
  };
  parts.slope_start = SlopeStart(first(kQueryStart), first(kKeyStart));
  parts.slopes_of_roots = call.attributes[kShiftType].integer == 3;
}

// Fills in the rotary parts, and the gradients of these and of the sink.
template <const OperandPositions& at>
void SetParts(const OperatorCall& call, const Sizes& sizes, engine::AttentionParts& parts) {
  const auto operand = [&](int tensor, int64_t heads) {
    return HeadsOf(call.Tensor(tensor), tensor, LayoutIn(call), heads).operand;
  };
  if (HasRopes<at>(call)) {
    parts.query_rope = operand(at.query_rope, sizes.query.heads);
    parts.key_rope = operand(at.query_rope + 1, sizes.key.heads);
    if (at.dq_rope > 0) {
      parts.of_query_rope = operand(at.dq_rope, sizes.query.heads);
      parts.of_key_rope = operand(at.dq_rope + 1, sizes.key.heads);
    }
  }
  if (!WantsSink<at>(call)) return;
  parts.of_sink = Broadcast(call.Tensor(at.dsink), at.dsink);
  parts.of_sink.head = parts.of_sink.column;
}

// Fills in the fields that differ from sequence to sequence. Rows that belong to no sequence follow as
// further batches, none longer than the longest sequence. Returns false when there is no memory.
template <const OperandPositions& at>
bool SetBatches(const OperatorCall& call, const Sizes& sizes, engine::Attention& made, Executor& executor,
                engine::AttentionParts** parts) {
  const Sequences sequences(call, sizes);
  made.queries = std::max<int64_t>(sequences.queries, 1);
  if (ForAllLengths::IsOn())
    made.most_queries = std::max(made.queries, MostQueries<at>(call, sizes, sequences));
  made.keys = std::max<int64_t>(sequences.keys, 1);
  Rows of_query{0, 0};
  Rows of_key{0, 0};
  if (IsPacked(call)) {
    of_query.first = Ends(call, kQueryLengths).back();
    of_key.first = Ends(call, kKeyLengths).back();
    of_query.count = sizes.query.rows - of_query.first;
    of_key.count = sizes.key.rows - of_key.first;
  }
  const auto divided_up = [](int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); };
  made.batches = sequences.count +
                 std::max(divided_up(of_query.count, made.queries), divided_up(of_key.count, made.keys));
  const int64_t mode = call.attributes[kMode].integer;
  const bool has_prefix = (mode == 5 || mode == 6) && IsThere(call, at.mask);
  made.are_alike = !IsPacked(call) && !has_prefix;
  const int64_t rows = made.are_alike ? 1 : made.batches;
  engine::AttentionMemory memory{};
  if (HasSlopes<at>(call) || HasRopes<at>(call) || WantsSink<at>(call)) {
    memory = engine::ReserveAttentionParts(executor, rows, 0);
  } else {
    memory.batches = engine::ReserveAttentionBatches(executor, rows);
  }
  engine::AttentionBatch* const batches = memory.batches;
  if (batches == nullptr) return false;
  *parts = memory.parts;
  if (HasSlopes<at>(call)) SetSlopes<at>(call, *memory.parts);
  if (memory.parts != nullptr) SetParts<at>(call, sizes, *memory.parts);
  uint64_t first_score = 0;
  for (int64_t b = 0; b < std::min(rows, sequences.count); ++b) {
    const Rows queries = sequences.Queries(b);
    const Rows keys = sequences.Keys(b);
    engine::AttentionBatch& batch = batches[b] = {queries.count, keys.count, queries.first, keys.first};
    if (has_prefix) batch.prefix = call.Array(kPrefix)[static_cast<size_t>(b)];
    SetWindow(ModeOf<at>(sequences, b), call.attributes[kBefore].integer, call.attributes[kAfter].integer,
              batch);
    batch.first_score = first_score;
    first_score += static_cast<uint64_t>(queries.count) * static_cast<uint64_t>(keys.count);
  }
  const auto take = [](Rows& rest, int64_t most) {
    const Rows some{rest.first, std::min(rest.count, most)};
    rest = {rest.first + some.count, rest.count - some.count};
    return some;
  };
  for (int64_t b = sequences.count; b < made.batches; ++b) {
    const Rows queries = take(of_query, made.queries);
    const Rows keys = take(of_key, made.keys);
    batches[b] = {queries.count, keys.count, queries.first, keys.first};
    batches[b].before = -kNoLimit;
    batches[b].after = -kNoLimit;
    batches[b].is_rest = true;
  }
  return true;
}

// ---- FlashAttentionScore ----

template <const OperandPositions& at>
constexpr auto ScoreChecks() {
  constexpr auto kLast = List(Custom(IsStatistic<at.greatest>, ACLNN_ERR_PARAM_NULLPTR),
                              Custom(IsStatistic<at.sum>, ACLNN_ERR_PARAM_NULLPTR),
                              Custom(IsResult<at.out>, ACLNN_ERR_PARAM_NULLPTR),
                              WithCode(ACLNN_ERR_PARAM_NULLPTR, SameDtype(kQuery, at.out)),
                              SizesRepresentable({at.greatest, at.sum, at.out}),
                              InsideStorage({kQuery, kKey, kValue, kShift, kKept}), InsideStorage({kMask}));
  constexpr auto kFirst =
      Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), Custom(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
                NotNull(at.greatest), NotNull(at.sum), NotNull(at.out),
                If(AllEmpty<at.greatest, at.sum, at.out>, Custom(Done)), SameDtype(kQuery, kKey),
                SameDtype(kQuery, kValue), If(HasPlainShift<at>, SameDtype(kQuery, kShift))),
           kShared<at>,
           List(Custom(ShiftFits<at>, kTiling), Custom(KeptFits<at>, kTiling), Custom(MaskFits<at>, kTiling),
                Custom(TokensFit<at>, kTiling)));
  if constexpr (at.IsV4()) {
    return Join(kFirst, List(Custom(IsComputed<at>, kNotComputed)), kLast);
  } else if constexpr (at.sink > 0) {
    return Join(kFirst, List(Custom(PartsFit<at>, kTiling)), kLast,
                List(InsideStorage({at.sink, at.query_rope, at.query_rope + 1})));
  } else {
    return Join(kFirst, kLast);
  }
}
constexpr auto kScoreChecks = ScoreChecks<kOfScore>();
constexpr auto kVarLenScoreChecks = ScoreChecks<kOfVarLenScore>();
constexpr auto kScoreChecksOfV2 = ScoreChecks<kOfScoreV2>();
constexpr auto kVarLenScoreChecksOfV2 = ScoreChecks<kOfVarLenScoreV2>();
constexpr auto kScoreChecksOfV3 = ScoreChecks<kOfScoreV3>();
constexpr auto kVarLenScoreChecksOfV5 = ScoreChecks<kOfVarLenScoreV5>();
constexpr auto kScoreChecksOfV4 = ScoreChecks<kOfScoreV4>();

template <const OperandPositions& at>
void SetScore(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  // Without keys, or with values of depth 0, there is nothing to sum.
  if (sizes.key.rows == 0) {
    const int zeros[] = {at.greatest, at.sum, at.out};
    return SetZeroJob(call, zeros, sizes.value.depth == 0 ? 2 : 3, executor);
  }
  engine::Attention made = AttentionOf<at>(call, sizes);
  engine::AttentionParts* parts = nullptr;
  if (!SetBatches<at>(call, sizes, made, executor, &parts)) return;
  executor.SetJob([&] { return engine::MakeAttentionJob(made, call.isa, call.threads, parts); });
}

// ---- FlashAttentionScoreGrad ----

template <const OperandPositions& at>
aclnnStatus RanksOfGrad(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor :
       std::initializer_list<int>{kQuery, kKey, kValue, kDy, kGradOut, at.dq, at.dk, at.dv}) {
    if (call.Tensor(tensor).shape.rank < 3) return RefuseTensor(check, call, tensor, "at least 3 dims");
  }
  return ACL_SUCCESS;
}

template <const OperandPositions& at>
aclnnStatus StatisticsGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {at.greatest, at.sum}) {
    const Check given = WithCode(check.code, NotNull(tensor));
    if (const aclnnStatus status = given.run(given, call)) return status;
  }
  return ACL_SUCCESS;
}

template <const OperandPositions& at>
bool WantsShift(const OperatorCall& call) noexcept {
  return HasPlainShift<at>(call) && call.IsGiven(at.dpse) && !call.Tensor(at.dpse).shape.IsEmpty();
}

constexpr aclnnStatus kInner = ACLNN_ERR_PARAM_NULLPTR;  // CANN's code for internal failures

// Checks the size of the workspace. It has one row per thread for each query of the heads that share keys,
// and the sums of a shift's gradient.
template <const OperandPositions& at>
aclnnStatus WorkspaceFits(const Check&, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const Sequences sequences(call, sizes);
  const auto in_lanes = [](int64_t length) { return static_cast<double>(length) + 64; };
  const int64_t members = sizes.query.heads / sizes.key.heads;
  const double rows =
      static_cast<double>(members) * call.threads * in_lanes(MostQueries<at>(call, sizes, sequences));
  const double shifts = WantsShift<at>(call) ? static_cast<double>(sizes.query.heads) *
                                                   in_lanes(sequences.queries) * in_lanes(sequences.keys)
                                             : 0;
  constexpr double kMostNumbers = double{1LL << 60};
  double depth = in_lanes(sizes.query.depth);
  if (HasRopes<at>(call)) depth += in_lanes(kMostDepth);
  if (rows * depth + shifts < kMostNumbers) return ACL_SUCCESS;
  return FailAclnn(
      ACLNN_ERR_PARAM_INVALID,
      StartMessage(call).Add("the workspace for so many queries, heads and keys would have more than "
                             "2^62 bytes, accepted: fewer."));
}

// Tells whether no result has elements. The sink's gradient has some even where there are no queries.
template <const OperandPositions& at>
bool NothingWanted(const OperatorCall& call) noexcept {
  return AllEmpty<at.dq, at.dk, at.dv, at.dpse>(call) && !WantsSink<at>(call);
}

// Checks the gradients of rotary parts, which belong to these, and of the sink.
template <const OperandPositions& at>
aclnnStatus ResultsOfPartsFit(const Check& check, OperatorCall& call) noexcept {
  const auto run = [&](const Check& one) {
    const Check coded = WithCode(check.code, one);
    return coded.run(coded, call);
  };
  if constexpr (at.dq_rope > 0) {
    for (int i = 0; i < 2 && HasRopes<at>(call); ++i) {
      const int rope = at.query_rope + i;
      const int result = at.dq_rope + i;
      if (const aclnnStatus status = run(NotNull(result))) return status;
      if (call.Tensor(result).shape != call.Tensor(rope).shape)
        return RefuseShape(check, call, result, call.Tensor(rope).shape);
      if (call.Tensor(result).dtype != call.Tensor(rope).dtype)
        return RefuseTensor(check, call, result, "query's type");
    }
  }
  if (!WantsSink<at>(call)) return ACL_SUCCESS;
  if (call.Tensor(at.dsink).dtype == ACL_FLOAT && call.Tensor(at.dsink).shape == call.Tensor(at.sink).shape)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, at.dsink, "[N] of FLOAT");
}

template <const OperandPositions& at>
constexpr auto GradChecks() {
  constexpr auto kFirst =
      Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kDy), NotNull(kGradOut),
                NotNull(at.dq), NotNull(at.dk), NotNull(at.dv), Custom(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
                If(NothingWanted<at>, Custom(Done)), Custom(HeadsGiven), Custom(RanksOfGrad<at>)),
           kShared<at>,
           List(WithCode(kInner, SameDtype(kQuery, kKey)), WithCode(kInner, SameDtype(kQuery, kValue)),
                WithCode(kInner, SameDtype(kQuery, kDy)), WithCode(kInner, SameDtype(kQuery, kGradOut)),
                WithCode(kInner, SameDtype(kQuery, at.dq)), WithCode(kInner, SameDtype(kQuery, at.dk)),
                WithCode(kInner, SameDtype(kQuery, at.dv)),
                If(HasPlainShift<at>, WithCode(kInner, SameDtype(kQuery, kGradShift))),
                Custom(ShiftFits<at>, kTiling), Custom(KeptFits<at>, kTiling), Custom(MaskFits<at>, kTiling),
                Custom(TokensFit<at>, kTiling)));
  constexpr auto kLast =
      List(Custom(StatisticsGiven<at>, kInner), Custom(IsStatistic<kGradGreatest>, kInner),
           Custom(IsStatistic<kGradSum>, kInner), Custom(IsResult<kDy>, kInner),
           Custom(IsResult<kGradOut>, kInner), WithCode(kInner, SameShape(kQuery, at.dq)),
           WithCode(kInner, SameShape(kKey, at.dk)), WithCode(kInner, SameShape(kValue, at.dv)),
           If(WantsShift<at>, WithCode(kInner, SameShape(kGradShift, at.dpse))),
           If(WantsShift<at>, WithCode(kInner, SameDtype(kGradShift, at.dpse))),
           SizesRepresentable({at.dq, at.dk, at.dv, at.dpse}), Custom(WorkspaceFits<at>),
           InsideStorage({kQuery, kKey, kValue, kDy, kGradOut}),
           InsideStorage({kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum}));
  if constexpr (at.IsV4()) {
    return Join(kFirst, List(Custom(IsComputed<at>, kNotComputed)), kLast);
  } else if constexpr (at.sink > 0) {
    return Join(kFirst, List(Custom(PartsFit<at>, kTiling)), kLast,
                List(Custom(ResultsOfPartsFit<at>, kInner),
                     If(HasRopes<at>, SizesRepresentable({at.dq_rope, at.dq_rope + 1})),
                     If(WantsSink<at>, SizesRepresentable({at.dsink})),
                     InsideStorage({at.sink, at.query_rope, at.query_rope + 1})));
  } else {
    return Join(kFirst, kLast);
  }
}
constexpr auto kGradChecks = GradChecks<kOfGrad>();
constexpr auto kUnpaddingGradChecks = GradChecks<kOfUnpaddingGrad>();
constexpr auto kGradChecksOfV2 = GradChecks<kOfGradV2>();
constexpr auto kUnpaddingGradChecksOfV2 = GradChecks<kOfUnpaddingGradV2>();
constexpr auto kGradChecksOfV3 = GradChecks<kOfGradV3>();
constexpr auto kUnpaddingGradChecksOfV3 = GradChecks<kOfUnpaddingGradV3>();
constexpr auto kUnpaddingGradChecksOfV5 = GradChecks<kOfUnpaddingGradV5>();
constexpr auto kGradChecksOfV4 = GradChecks<kOfGradV4>();

template <const OperandPositions& at>
void SetGrad(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  const Layout layout = LayoutIn(call);
  if (sizes.query.IsEmpty() || sizes.key.IsEmpty() || sizes.value.IsEmpty()) {
    int zeros[7];  // dq, dk, dv, dpse, those of the rotary parts, dsink
    int count = 0;
    for (const int tensor : {at.dq, at.dk, at.dv, at.dpse}) {
      if ((tensor != at.dpse || WantsShift<at>(call)) && !call.Tensor(tensor).shape.IsEmpty())
        zeros[count++] = tensor;
    }
    for (const int tensor : {at.dq_rope, at.dq_rope + 1}) {
      if (at.dq_rope > 0 && HasRopes<at>(call) && !call.Tensor(tensor).shape.IsEmpty())
        zeros[count++] = tensor;
    }
    if (WantsSink<at>(call)) zeros[count++] = at.dsink;
    if (count > 0) SetZeroJob(call, zeros, count, executor);
    return;
  }
  engine::Attention made = AttentionOf<at>(call, sizes);
  const auto operand = [&](int tensor, int64_t heads) {
    return HeadsOf(call.Tensor(tensor), tensor, layout, heads).operand;
  };
  made.of_out = operand(kDy, sizes.query.heads);
  made.of_query = operand(at.dq, sizes.query.heads);
  made.of_key = operand(at.dk, sizes.key.heads);
  made.of_value = operand(at.dv, sizes.key.heads);
  if (WantsShift<at>(call)) made.of_shift = Broadcast(call.Tensor(at.dpse), at.dpse);
  engine::AttentionParts* parts = nullptr;
  if (!SetBatches<at>(call, sizes, made, executor, &parts)) return;
  // With one sequence, the gradient of the shift is not summed over the batches of rows behind that sequence.
  const bool is_one = IsPacked(call) && Ends(call, kQueryLengths).size() == 1;
  if (is_one && made.of_shift.IsThere()) made.of_shift.batch = 1;
  executor.SetJob([&] { return engine::MakeAttentionGradientJob(made, call.isa, call.threads, parts); });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFlashAttentionScore) {
  return RunPhase1(call, kScoreChecks, workspaceSize, executor, SetScore<kOfScore>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreGrad) {
  return RunPhase1(call, kGradChecks, workspaceSize, executor, SetGrad<kOfGrad>);
}

PORTACL_PHASE_1(aclnnFlashAttentionVarLenScore) {
  return RunPhase1(call, kVarLenScoreChecks, workspaceSize, executor, SetScore<kOfVarLenScore>);
}

PORTACL_PHASE_1(aclnnFlashAttentionVarLenScoreV4) {
  return RunPhase1(call, kVarLenScoreChecks, workspaceSize, executor, SetScore<kOfVarLenScore>);
}

PORTACL_PHASE_1(aclnnFlashAttentionUnpaddingScoreGrad) {
  return RunPhase1(call, kUnpaddingGradChecks, workspaceSize, executor, SetGrad<kOfUnpaddingGrad>);
}

PORTACL_PHASE_1(aclnnFlashAttentionUnpaddingScoreGradV4) {
  return RunPhase1(call, kUnpaddingGradChecks, workspaceSize, executor, SetGrad<kOfUnpaddingGrad>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreV4) {
  return RunPhase1(call, kScoreChecksOfV4, workspaceSize, executor, SetScore<kOfScoreV4>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreGradV4) {
  return RunPhase1(call, kGradChecksOfV4, workspaceSize, executor, SetGrad<kOfGradV4>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreV2) {
  return RunPhase1(call, kScoreChecksOfV2, workspaceSize, executor, SetScore<kOfScoreV2>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreGradV2) {
  return RunPhase1(call, kGradChecksOfV2, workspaceSize, executor, SetGrad<kOfGradV2>);
}

PORTACL_PHASE_1(aclnnFlashAttentionVarLenScoreV2) {
  return RunPhase1(call, kVarLenScoreChecksOfV2, workspaceSize, executor, SetScore<kOfVarLenScoreV2>);
}

PORTACL_PHASE_1(aclnnFlashAttentionUnpaddingScoreGradV2) {
  return RunPhase1(call, kUnpaddingGradChecksOfV2, workspaceSize, executor, SetGrad<kOfUnpaddingGradV2>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreV3) {
  return RunPhase1(call, kScoreChecksOfV3, workspaceSize, executor, SetScore<kOfScoreV3>);
}

PORTACL_PHASE_1(aclnnFlashAttentionScoreGradV3) {
  return RunPhase1(call, kGradChecksOfV3, workspaceSize, executor, SetGrad<kOfGradV3>);
}

PORTACL_PHASE_1(aclnnFlashAttentionVarLenScoreV3) {
  return RunPhase1(call, kVarLenScoreChecksOfV5, workspaceSize, executor, SetScore<kOfVarLenScoreV5>);
}

PORTACL_PHASE_1(aclnnFlashAttentionUnpaddingScoreGradV3) {
  return RunPhase1(call, kUnpaddingGradChecksOfV3, workspaceSize, executor, SetGrad<kOfUnpaddingGradV3>);
}

PORTACL_PHASE_1(aclnnFlashAttentionVarLenScoreV5) {
  return RunPhase1(call, kVarLenScoreChecksOfV5, workspaceSize, executor, SetScore<kOfVarLenScoreV5>);
}

PORTACL_PHASE_1(aclnnFlashAttentionUnpaddingScoreGradV5) {
  return RunPhase1(call, kUnpaddingGradChecksOfV5, workspaceSize, executor, SetGrad<kOfUnpaddingGradV5>);
}

// The executor of these runs as any other; its workspace is that of the greatest lengths.
aclnnStatus aclnnFlashAttentionVarLenScoreV5GetMaxWorkspaceSize(
    const aclTensor* query, const aclTensor* queryRopeOptional, const aclTensor* key,
    const aclTensor* keyRopeOptional, const aclTensor* value, const aclTensor* realShiftOptional,
    const aclTensor* dropMaskOptional, const aclTensor* paddingMaskOptional,
    const aclTensor* attenMaskOptional, const aclTensor* sinkOptional, const aclIntArray* prefixOptional,
    const aclIntArray* actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional,
    const aclIntArray* qStartIdxOptional, const aclIntArray* kvStartIdxOptional, double scaleValue,
    double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout,
    int64_t innerPrecise, int64_t sparseMode, int64_t pseType, char* softmaxOutLayout,
    const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut,
    const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const ForAllLengths scope;
  return aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize(
      query, queryRopeOptional, key, keyRopeOptional, value, realShiftOptional, dropMaskOptional,
      paddingMaskOptional, attenMaskOptional, sinkOptional, prefixOptional, actualSeqQLenOptional,
      actualSeqKvLenOptional, qStartIdxOptional, kvStartIdxOptional, scaleValue, keepProb, preTokens,
      nextTokens, headNum, inputLayout, innerPrecise, sparseMode, pseType, softmaxOutLayout, softmaxMaxOut,
      softmaxSumOut, softmaxOutOut, attentionOutOut, workspaceSize, executor);
}

aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV5GetMaxWorkspaceSize(
    const aclTensor* query, const aclTensor* queryRopeOptional, const aclTensor* keyIn,
    const aclTensor* keyInRopeOptional, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional, const aclTensor* sinkOptional,
    const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional,
    const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional,
    const aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode,
    int64_t pseType, char* softmaxInLayout, const aclTensor* dqOut, const aclTensor* dqRopeOut,
    const aclTensor* dkOut, const aclTensor* dkRopeOut, const aclTensor* dvOut, const aclTensor* dpseOut,
    const aclTensor* dsinkOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const ForAllLengths scope;
  return aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize(
      query, queryRopeOptional, keyIn, keyInRopeOptional, value, dy, pseShiftOptional, dropMaskOptional,
      paddingMaskOptional, attenMaskOptional, softmaxMaxOptional, softmaxSumOptional, softmaxInOptional,
      attentionInOptional, sinkOptional, prefixOptional, actualSeqQLenOptional, actualSeqKvLenOptional,
      qStartIdxOptional, kvStartIdxOptional, scaleValue, keepProb, preTokens, nextTokens, headNum,
      inputLayout, innerPrecise, sparseMode, pseType, softmaxInLayout, dqOut, dqRopeOut, dkOut, dkRopeOut,
      dvOut, dpseOut, dsinkOut, workspaceSize, executor);
}
