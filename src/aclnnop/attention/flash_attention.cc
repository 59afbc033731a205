// aclnnFlashAttentionScore and aclnnFlashAttentionScoreGrad, their forms for packed sequences, and their V2
// and V4: attention that returns each row's maximum score and sum of exponentials, and its gradients, which
// are computed from these statistics.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/flash_attention_functions.h"

#include <algorithm>

#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/random_source.h"
#include "aclnnop/jobs/statistics.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace attention;

constexpr int64_t kMostDepth = 768;
constexpr int64_t kTemplate = 2048;  // rows and columns of a mask whose content follows from the mode
constexpr int64_t kPrefixTemplate = 3072;
constexpr int64_t kModes = 7;
constexpr int64_t kModesOfPacked = 9;
constexpr std::string_view kRowsOfHeads = "same_as_input";  // statistics in the order of query's rows

// ---- tensors and attributes at the same positions in all operators here ----

enum Tensors { kQuery, kKey, kValue };
enum Attributes { kPrefix, kScale, kKeep, kBefore, kAfter, kHeadCount, kLayout, kPrecise, kMode };
// Attributes of the forms for packed sequences, and of V4.
enum AttributesOfPacked { kQueryLengths = kMode + 1, kKeyLengths, kStatisticLayout };
// Attributes of V4 only.
enum AttributesOfV4 { kShiftType = kStatisticLayout + 1, kSeed, kOffset };
// Attributes of V2.
enum AttributesOfV2 { kQueryStart = kShiftType + 1, kKeyStart };

// The layouts that an operator accepts.
enum class Takes : uint8_t { kBatches, kPacked, kBoth };

// Positions of the tensors that differ from operator to operator.
struct OperandPositions {
  Takes takes;
  int shift;
  int kept;
  int mask;
  int greatest;
  int sum;
  int out;
  int first_extra = 0;  // first of the inputs that only V4 has
  int end_of_extras = 0;
  int dq = 0;
  int dk = 0;
  int dv = 0;
  int dpse = 0;
  bool is_v2 = false;  // an attribute tells how a shift is added, or that it is computed from slopes

  constexpr bool HasShiftType() const { return is_v2 || IsV4(); }
  constexpr bool IsV4() const { return end_of_extras > 0; }
};
enum Score { kShift = 3, kKept, kPadding, kMask, kGreatest, kSum, kSoftmax, kOut };
constexpr OperandPositions kOfScore{Takes::kBatches, kShift, kKept, kMask, kGreatest, kSum, kOut};
constexpr OperandPositions kOfVarLenScore{Takes::kPacked, kShift, kKept, kMask, kGreatest, kSum, kOut};
constexpr OperandPositions AsV2(OperandPositions positions) {
  positions.is_v2 = true;
  return positions;
}
constexpr OperandPositions kOfScoreV2 = AsV2(kOfScore);
constexpr OperandPositions kOfVarLenScoreV2 = AsV2(kOfVarLenScore);
enum ScoreV4 { kFirstExtra = kMask + 1, kGreatestOfV4 = kFirstExtra + 6, kSumOfV4, kSoftmaxOfV4, kOutOfV4 };
constexpr OperandPositions kOfScoreV4{Takes::kBoth, kShift,   kKept,       kMask,        kGreatestOfV4,
                                      kSumOfV4,     kOutOfV4, kFirstExtra, kGreatestOfV4};
enum Grad {
  kDy = 3,
  kGradShift,
  kGradKept,
  kGradPadding,
  kGradMask,
  kGradGreatest,
  kGradSum,
  kGradSoftmax,
  kGradOut,
  kDq,
  kDk,
  kDv,
  kDpse
};
constexpr OperandPositions kOfGrad{Takes::kBatches,
                                   kGradShift,
                                   kGradKept,
                                   kGradMask,
                                   kGradGreatest,
                                   kGradSum,
                                   kGradOut,
                                   0,
                                   0,
                                   kDq,
                                   kDk,
                                   kDv,
                                   kDpse};
constexpr OperandPositions kOfUnpaddingGrad{
    Takes::kPacked, kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum, kGradOut, 0, 0, kDq, kDk, kDv,
    kDpse};
constexpr OperandPositions kOfGradV2 = AsV2(kOfGrad);
constexpr OperandPositions kOfUnpaddingGradV2 = AsV2(kOfUnpaddingGrad);
enum GradV4 {
  kFirstGradExtra = kGradOut + 1,
  kDqOfV4 = kFirstGradExtra + 8,
  kDkOfV4,
  kDvOfV4,
  kDqRope,
  kDkRope,
  kDpseOfV4,
  kDsink
};
constexpr OperandPositions kOfGradV4{Takes::kBoth, kGradShift, kGradKept,       kGradMask, kGradGreatest,
                                     kGradSum,     kGradOut,   kFirstGradExtra, kDqOfV4,   kDqOfV4,
                                     kDkOfV4,      kDvOfV4,    kDpseOfV4};

// Tells whether shifts are computed from slopes, which then take the shift's position.
template <const OperandPositions& at>
bool HasSlopes(const OperatorCall& call) noexcept {
  return at.is_v2 && IsThere(call, at.shift) && call.attributes[kShiftType].integer >= 2;
}
template <const OperandPositions& at>
bool HasPlainShift(const OperatorCall& call) noexcept {
  return IsThere(call, at.shift) && !HasSlopes<at>(call);
}

Layout LayoutIn(const OperatorCall& call) noexcept { return LayoutOf(call.attributes[kLayout].text); }
bool IsJoined(const OperatorCall& call) noexcept {
  return LayoutIn(call) == Layout::kBsh || LayoutIn(call) == Layout::kSbh;
}
bool IsPacked(const OperatorCall& call) noexcept { return LayoutIn(call) == Layout::kTnd; }

// The sizes of a call. Layout and ranks must have been checked.
struct Sizes {
  explicit Sizes(const OperatorCall& call) {
    const Layout layout = LayoutIn(call);
    query = HeadsOf(call.Tensor(kQuery), kQuery, layout, call.attributes[kHeadCount].integer);
    const int64_t joined = IsJoined(call) ? call.Tensor(kKey).view[2] : 0;
    key = HeadsOf(call.Tensor(kKey), kKey, layout, query.depth > 0 ? joined / query.depth : 0);
    value = HeadsOf(call.Tensor(kValue), kValue, layout, key.heads);
  }

  Heads query;
  Heads key;
  Heads value;
};

// Rows of one sequence in query or key.
struct Rows {
  int64_t first;
  int64_t count;
};

// Returns the end of each sequence: the number of rows up to and including it.
std::span<const int64_t> Ends(const OperatorCall& call, int attribute) noexcept {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array == nullptr ? std::span<const int64_t>() : array->values;
}

// The sequences of a call, batches or packed ones. Lengths must have been checked.
struct Sequences {
  Sequences(const OperatorCall& of, const Sizes& sizes) : call(of) {
    count = IsPacked(call) ? std::ssize(Ends(call, kQueryLengths)) : sizes.query.batches;
    if (!IsPacked(call)) {
      queries = sizes.query.rows;
      keys = sizes.key.rows;
      scores = static_cast<double>(count) * static_cast<double>(queries) * static_cast<double>(keys);
      return;
    }
    for (int64_t b = 0; b < count; ++b) {
      const int64_t of_query = Queries(b).count;
      const int64_t of_key = Keys(b).count;
      queries = std::max(queries, of_query);
      keys = std::max(keys, of_key);
      scores += static_cast<double>(of_query) * static_cast<double>(of_key);
    }
  }

  Rows Queries(int64_t b) const { return IsPacked(call) ? RowsOf(kQueryLengths, b) : Rows{0, queries}; }
  Rows Keys(int64_t b) const { return IsPacked(call) ? RowsOf(kKeyLengths, b) : Rows{0, keys}; }
  Rows RowsOf(int attribute, int64_t b) const {
    const auto ends = Ends(call, attribute);
    const int64_t first = b == 0 ? 0 : ends[static_cast<size_t>(b - 1)];
    return {first, ends[static_cast<size_t>(b)] - first};
  }

  const OperatorCall& call;
  int64_t count;
  int64_t queries = 0;  // of the longest sequence
  int64_t keys = 0;
  double scores = 0;  // of one head
};

aclnnStatus LayoutGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kLayout].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter inputLayout is a null pointer, expected a text."));
}

aclnnStatus HeadsGiven(const Check& check, OperatorCall& call) noexcept {
  return call.attributes[kHeadCount].integer > 0 ? ACL_SUCCESS
                                                 : RefuseAttribute(check, call, kHeadCount, "at least 1");
}

template <const OperandPositions& at>
aclnnStatus LayoutFits(const Check& check, OperatorCall& call) noexcept {
  const Layout layout = LayoutIn(call);
  const bool is_taken = layout == Layout::kTnd
                            ? at.takes != Takes::kBatches
                            : layout != Layout::kNone && layout < Layout::kTnd && at.takes != Takes::kPacked;
  if (!is_taken) {
    constexpr const char* kLayouts[] = {"BSH, SBH, BNSD or BSND", "TND", "BSH, SBH, BNSD, BSND or TND"};
    return RefuseAttribute(check, call, kLayout, kLayouts[static_cast<size_t>(at.takes)]);
  }
  for (const int tensor : {kQuery, kKey, kValue}) {
    if (call.Tensor(tensor).view.rank != RankOf(layout))
      return RefuseTensor(check, call, tensor, "3 dims in the layouts BSH, SBH and TND, 4 in BNSD and BSND");
  }
  if (layout == Layout::kTnd) {
    const char* const order = call.attributes[kStatisticLayout].text;
    if (order != nullptr && *order != '\0' && order != kRowsOfHeads)
      return RefuseAttribute(check, call, kStatisticLayout, "same_as_input, an empty text or null");
  }
  return ACL_SUCCESS;
}

// Checks the ends of the sequences: they do not decrease, begin at 0 or above, and end at or before the last
// row.
aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
  if (!IsPacked(call)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const int64_t count = std::ssize(Ends(call, kQueryLengths));
  for (const int attribute : {kQueryLengths, kKeyLengths}) {
    const auto ends = Ends(call, attribute);
    const auto refuse = [&](Text& message) {
      return FailAclnn(check.code,
                       message.Add(", accepted: the rows of all sequences up to each, ")
                           .Add(attribute == kQueryLengths ? "of query" : "of key, as many as of query")
                           .Add(", none less than the one before, at most ")
                           .Add(attribute == kQueryLengths ? sizes.query.rows : sizes.key.rows)
                           .Add("."));
    };
    Text message = StartMessage(call);
    message.Add("parameter ").Add(call.attributes[static_cast<size_t>(attribute)].name);
    if (ends.empty() || std::ssize(ends) != count)
      return refuse(message.Add(" has ").Add(std::ssize(ends)).Add(" values"));
    int64_t before = 0;
    for (int64_t b = 0; b < count; ++b) {
      const int64_t end = ends[static_cast<size_t>(b)];
      if (end < before || end > (attribute == kQueryLengths ? sizes.query.rows : sizes.key.rows))
        return refuse(message.Add(" has the value ").Add(end).Add(" at ").Add(b));
      before = end;
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus DepthsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  if (sizes.query.depth <= 0) return RefuseTensor(check, call, kQuery, "at least one element for each head");
  if (sizes.key.heads <= 0 || sizes.key.depth != sizes.query.depth)
    return RefuseTensor(check, call, kKey, "heads of as many elements as query's");
  if (sizes.value.depth > sizes.query.depth)
    return RefuseTensor(check, call, kValue, "heads of at most as many elements as query's");
  if (sizes.query.depth > kMostDepth)
    return RefuseTensor(check, call, kQuery, "heads of at most 768 elements");
  return ACL_SUCCESS;
}

aclnnStatus KeepFits(const Check& check, OperatorCall& call) noexcept {
  const auto keep = static_cast<float>(call.attributes[kKeep].wide);
  return keep > 0 && keep <= 1 ? ACL_SUCCESS
                               : RefuseAttribute(check, call, kKeep, "greater than 0, at most 1");
}

aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const bool is_joined = IsJoined(call);
  const Shape& query = call.Tensor(kQuery).view;
  const int64_t heads = call.attributes[kHeadCount].integer;
  if (sizes.query.heads != heads || (is_joined && query[2] != heads * sizes.query.depth))
    return RefuseTensor(check, call, kQuery, "headNum heads");
  const Shape& key = call.Tensor(kKey).view;
  if (heads % sizes.key.heads != 0 || (is_joined && key[2] != sizes.key.heads * sizes.key.depth))
    return RefuseTensor(check, call, kKey, "heads that divide those of query");
  const Shape& value = call.Tensor(kValue).view;
  if (sizes.value.heads != sizes.key.heads || sizes.value.rows != sizes.key.rows ||
      (is_joined && value[2] != sizes.value.heads * sizes.value.depth))
    return RefuseTensor(check, call, kValue, "heads and rows of key");
  if (sizes.key.batches != sizes.query.batches) return RefuseTensor(check, call, kKey, "query's batch");
  if (sizes.value.batches != sizes.query.batches) return RefuseTensor(check, call, kValue, "query's batch");
  return ACL_SUCCESS;
}

// Tells whether a dim is `length`, or 1 if `or_one`.
bool IsDim(int64_t dim, int64_t length, bool or_one) { return dim == length || (or_one && dim == 1); }

template <const OperandPositions& at>
aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, at.shift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = call.Tensor(at.shift).view;
  const Sequences sequences(call, sizes);
  if constexpr (at.is_v2) {
    const int64_t type = call.attributes[kShiftType].integer;
    if (type < 0 || type > 3) return RefuseAttribute(check, call, kShiftType, "0 to 3");
    if (HasSlopes<at>(call)) {
      if (call.Tensor(at.shift).dtype == ACL_FLOAT &&
          (shape == Shape{sizes.query.heads} || shape == Shape{sequences.count, sizes.query.heads}))
        return ACL_SUCCESS;
      return RefuseTensor(check, call, at.shift, "[N] or [B, N] slopes of FLOAT");
    }
  }
  if (shape.rank == 4 && IsDim(shape[0], sequences.count, true) && shape[1] == sizes.query.heads &&
      IsDim(shape[2], sequences.queries, true) && shape[3] == sequences.keys)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, at.shift, "[B or 1, N, Sq or 1, Skv], in TND of the longest sequences");
}

template <const OperandPositions& at>
aclnnStatus KeptFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, at.kept)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const aclTensor& kept = call.Tensor(at.kept);
  const double bits = static_cast<double>(sizes.query.heads) * Sequences(call, sizes).scores;
  if (kept.dtype == ACL_UINT8 && (kept.contiguous || kept.view.rank == 1) &&
      static_cast<double>(kept.numel) * 8 >= bits)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, at.kept,
                      "UINT8, contiguous or of one dim, a bit for each of B * N * Sq * Skv, in TND for each "
                      "batch's");
}

template <const OperandPositions& at>
aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t mode = call.attributes[kMode].integer;
  if (mode < 0 || mode >= (IsPacked(call) ? kModesOfPacked : kModes))
    return RefuseAttribute(check, call, kMode, IsPacked(call) ? "0 to 8" : "0 to 6; 7 and 8 in TND");
  if (!IsThere(call, at.mask)) return ACL_SUCCESS;
  const aclTensor& mask = call.Tensor(at.mask);
  if (mask.dtype != ACL_BOOL && mask.dtype != ACL_UINT8)
    return RefuseTensor(check, call, at.mask, "BOOL or UINT8");
  const Sizes sizes(call);
  const Shape& shape = mask.view;
  const int64_t rows = shape.rank > 1 ? shape[shape.rank - 2] : 0;
  const int64_t columns = shape[shape.rank - 1];
  if (mode >= 2 && mode != 5) {
    if (rows == (mode == 6 ? kPrefixTemplate : kTemplate) && columns == kTemplate) return ACL_SUCCESS;
    return RefuseTensor(check, call, at.mask,
                        "[2048, 2048] in the modes 2 to 4, 7 and 8, [3072, 2048] in mode 6");
  }
  const Sequences sequences(call, sizes);
  bool fits = (shape.rank == 2 || shape.rank == 4) && rows == sequences.queries && columns == sequences.keys;
  if (shape.rank == 4) {
    fits =
        fits && IsDim(shape[0], sequences.count, shape[1] == 1) && IsDim(shape[1], sizes.query.heads, true);
  }
  return fits ? ACL_SUCCESS
              : RefuseTensor(check, call, at.mask,
                             "[Sq, Skv], [1, 1, Sq, Skv], [B, 1, Sq, Skv] or [B, N, Sq, Skv], in TND of the "
                             "longest sequences");
}

template <const OperandPositions& at>
aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t mode = call.attributes[kMode].integer;
  if (!IsThere(call, at.mask)) return ACL_SUCCESS;
  if ((mode == 0 || mode == 4 || mode >= 7) && call.attributes[kBefore].integer < 0 &&
      call.attributes[kAfter].integer < 0)
    return RefuseAttribute(check, call, kBefore, "at least 0, or a nextTokens of at least 0");
  if (mode == 5 || mode == 6) {
    const aclIntArray* const prefix = call.attributes[kPrefix].array;
    if (prefix == nullptr || std::ssize(prefix->values) < Sequences(call, Sizes(call)).count) {
      return FailAclnn(check.code,
                       StartMessage(call).Add(
                           "parameter prefixOptional has no number for each batch, accepted: one each in "
                           "the modes 5 and 6."));
    }
  }
  return ACL_SUCCESS;
}

// Refuses what docs/compatibility.md lists as unsupported in V4: sinks, rotary parts, quantised numbers, lengths
// of sequences that are not packed, and shifts computed from slopes.
template <const OperandPositions& at>
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  for (int tensor = at.first_extra; tensor < at.end_of_extras; ++tensor) {
    if (!IsThere(call, tensor) || call.Tensor(tensor).view.IsEmpty()) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" is given, accepted: null. portacl does not compute with it."));
  }
  for (const int lengths : {kQueryLengths, kKeyLengths}) {
    const aclIntArray* const array = call.attributes[lengths].array;
    if (IsPacked(call) || array == nullptr || array->values.empty()) continue;
    return FailAclnn(check.code,
                     StartMessage(call)
                         .Add("parameter ")
                         .Add(call.attributes[lengths].name)
                         .Add(" has ")
                         .Add(std::ssize(array->values))
                         .Add(" values, accepted: none but in TND. portacl does not compute with it."));
  }
  const int64_t type = call.attributes[kShiftType].integer;
  if (!IsThere(call, at.shift) || type == 0 || type == 1) return ACL_SUCCESS;
  return RefuseAttribute(check, call, kShiftType, "0 or 1");
}

Shape StatisticShape(const OperatorCall& call, const Sizes& sizes) {
  Shape shape{};
  if (IsPacked(call)) {
    shape.rank = 3;
    shape.dim[0] = sizes.query.rows;
    shape.dim[1] = sizes.query.heads;
    shape.dim[2] = kStatisticCopies;
    return shape;
  }
  shape.rank = 4;
  shape.dim[0] = sizes.query.batches;
  shape.dim[1] = sizes.query.heads;
  shape.dim[2] = sizes.query.rows;
  shape.dim[3] = kStatisticCopies;
  return shape;
}

// Returns the shape of the result: query's, with heads of value's depth.
Shape ResultShape(const OperatorCall& call) {
  const Sizes sizes(call);
  Shape shape = call.Tensor(kQuery).view;
  shape.dim[shape.rank - 1] = IsJoined(call) ? sizes.value.depth * sizes.query.heads : sizes.value.depth;
  return shape;
}

template <int tensor>
aclnnStatus IsResult(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = ResultShape(call);
  return call.Tensor(tensor).view == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

template <int tensor>
aclnnStatus IsStatistic(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = StatisticShape(call, Sizes(call));
  if (call.Tensor(tensor).view != accepted) return RefuseShape(check, call, tensor, accepted);
  const Check is_float = WithCode(check.code, DtypesIn(DtypeSet(ACL_FLOAT), {tensor}));
  return is_float.run(is_float, call);
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
    if (call.Tensor(at.kept).view.rank > 1) made.kept.column = 1;
  } else if (at.IsV4() && made.keep < 1) {
    made.draws = true;
    made.drawn = random::SourceOf(call.attributes[kSeed].integer, call.attributes[kOffset].integer);
    made.most = random::GreatestWordBelow(static_cast<double>(made.keep));
  }
  if (IsThere(call, at.mask) && call.attributes[kMode].integer <= 1)
    made.mask = Broadcast(call.Tensor(at.mask), at.mask);
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
  parts.slopes.batch = slopes.view.rank == 2 ? parts.slopes.row : 0;
  parts.slopes.head = parts.slopes.column;
  const auto first = [&](int attribute) -> int64_t {
    const auto values = Ends(call, attribute);
    return values.empty() ? 0 : values[0];
  };
  parts.slope_start = SlopeStart(first(kQueryStart), first(kKeyStart));
  parts.slopes_of_roots = call.attributes[kShiftType].integer == 3;
}

// Fills in the fields that differ from sequence to sequence. Rows that belong to no sequence follow as
// further batches, none longer than the longest sequence. Returns false when there is no memory.
template <const OperandPositions& at>
bool SetBatches(const OperatorCall& call, const Sizes& sizes, engine::Attention& made, Executor& executor,
                engine::AttentionParts** parts) {
  const Sequences sequences(call, sizes);
  made.queries = std::max<int64_t>(sequences.queries, 1);
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
  if (HasSlopes<at>(call)) {
    memory = engine::ReserveAttentionParts(executor, rows, 0);
  } else {
    memory.batches = engine::ReserveAttentionBatches(executor, rows);
  }
  engine::AttentionBatch* const batches = memory.batches;
  if (batches == nullptr) return false;
  *parts = memory.parts;
  if (memory.parts != nullptr) SetSlopes<at>(call, *memory.parts);
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

template <int... tensors>
bool AllEmpty(const OperatorCall& call) noexcept {
  return (... && (!call.IsGiven(tensors) || call.Tensor(tensors).view.IsEmpty()));
}
aclnnStatus Done(const Check&, OperatorCall& call) noexcept {
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

template <const OperandPositions& at>
constexpr auto kShared = List(Custom(HeadsGiven), Custom(LayoutFits<at>), Custom(DepthsFit),
                              WithCode(kTiling, DtypesIn(kNoneBeforeAtlasA2, {kQuery})),
                              Custom(KeepFits, kTiling), Custom(HeadsFit, kTiling),
                              Custom(LengthsFit, kTiling));

// Code of the features of V4 that IsComputed refuses.
constexpr aclnnStatus kNotComputed = ACLNN_ERR_INNER_NULLPTR;

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
  } else {
    return Join(kFirst, kLast);
  }
}
constexpr auto kScoreChecks = ScoreChecks<kOfScore>();
constexpr auto kVarLenScoreChecks = ScoreChecks<kOfVarLenScore>();
constexpr auto kScoreChecksOfV2 = ScoreChecks<kOfScoreV2>();
constexpr auto kVarLenScoreChecksOfV2 = ScoreChecks<kOfVarLenScoreV2>();
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
    if (call.Tensor(tensor).view.rank < 3) return RefuseTensor(check, call, tensor, "at least 3 dims");
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
  return HasPlainShift<at>(call) && call.IsGiven(at.dpse) && !call.Tensor(at.dpse).view.IsEmpty();
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
  const double rows = static_cast<double>(members) * call.threads * in_lanes(sequences.queries);
  const double shifts = WantsShift<at>(call) ? static_cast<double>(sizes.query.heads) *
                                                   in_lanes(sequences.queries) * in_lanes(sequences.keys)
                                             : 0;
  constexpr double kMostNumbers = double{1LL << 60};
  if (rows * in_lanes(sizes.query.depth) + shifts < kMostNumbers) return ACL_SUCCESS;
  return FailAclnn(
      ACLNN_ERR_PARAM_INVALID,
      StartMessage(call).Add("the workspace for so many queries, heads and keys would have more than "
                             "2^62 bytes, accepted: fewer."));
}

template <const OperandPositions& at>
constexpr auto GradChecks() {
  constexpr auto kFirst =
      Join(List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kDy), NotNull(kGradOut),
                NotNull(at.dq), NotNull(at.dk), NotNull(at.dv), Custom(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
                If(AllEmpty<at.dq, at.dk, at.dv, at.dpse>, Custom(Done)), Custom(HeadsGiven),
                Custom(RanksOfGrad<at>)),
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
  } else {
    return Join(kFirst, kLast);
  }
}
constexpr auto kGradChecks = GradChecks<kOfGrad>();
constexpr auto kUnpaddingGradChecks = GradChecks<kOfUnpaddingGrad>();
constexpr auto kGradChecksOfV2 = GradChecks<kOfGradV2>();
constexpr auto kUnpaddingGradChecksOfV2 = GradChecks<kOfUnpaddingGradV2>();
constexpr auto kGradChecksOfV4 = GradChecks<kOfGradV4>();

template <const OperandPositions& at>
void SetGrad(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  const Layout layout = LayoutIn(call);
  if (sizes.query.IsEmpty() || sizes.key.IsEmpty() || sizes.value.IsEmpty()) {
    int zeros[4];
    int count = 0;
    for (const int tensor : {at.dq, at.dk, at.dv, at.dpse}) {
      if ((tensor != at.dpse || WantsShift<at>(call)) && !call.Tensor(tensor).view.IsEmpty())
        zeros[count++] = tensor;
    }
    return SetZeroJob(call, zeros, count, executor);
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
