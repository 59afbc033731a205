// The operands of flash attention: where each operator has them, their sizes, and the rows of each sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "aclnnop/jobs/heads.h"

namespace portacl::attention::flash {

inline constexpr int64_t kMostDepth = 768;
inline constexpr int64_t kTemplate = 2048;  // rows and columns of a mask whose content follows from the mode
inline constexpr int64_t kPrefixTemplate = 3072;
inline constexpr int64_t kModes = 7;
inline constexpr int64_t kModesOfPacked = 9;
inline constexpr std::string_view kRowsOfHeads = "same_as_input";  // statistics in the order of query's rows

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
  // Tensors of V3 and V5, which have the attributes of V2, too; 0: there is none.
  int sink = 0;
  int query_rope = 0;  // that of keys follows
  int dsink = 0;
  int dq_rope = 0;  // that of keys follows

  constexpr bool HasShiftType() const { return is_v2 || IsV4(); }
  constexpr bool IsV4() const { return end_of_extras > 0; }
};
enum Score { kShift = 3, kKept, kPadding, kMask, kGreatest, kSum, kSoftmax, kOut };
inline constexpr OperandPositions kOfScore{Takes::kBatches, kShift, kKept, kMask, kGreatest, kSum, kOut};
inline constexpr OperandPositions kOfVarLenScore{Takes::kPacked, kShift, kKept, kMask, kGreatest, kSum, kOut};
inline constexpr OperandPositions AsV2(OperandPositions positions) {
  positions.is_v2 = true;
  return positions;
}
inline constexpr OperandPositions kOfScoreV2 = AsV2(kOfScore);
inline constexpr OperandPositions kOfVarLenScoreV2 = AsV2(kOfVarLenScore);
// The sink and the rotary parts may be null.
enum ScoreV5 { kSink = kMask + 1, kQueryRope, kKeyRope, kGreatestOfV5, kSumOfV5, kSoftmaxOfV5, kOutOfV5 };
constexpr OperandPositions OfScoreV5(Takes takes) {
  OperandPositions positions{takes, kShift, kKept, kMask, kGreatestOfV5, kSumOfV5, kOutOfV5};
  positions.is_v2 = true;
  positions.sink = kSink;
  positions.query_rope = kQueryRope;
  return positions;
}
inline constexpr OperandPositions kOfScoreV3 = OfScoreV5(Takes::kBatches);
inline constexpr OperandPositions kOfVarLenScoreV5 = OfScoreV5(Takes::kPacked);
enum ScoreV4 { kFirstExtra = kMask + 1, kGreatestOfV4 = kFirstExtra + 6, kSumOfV4, kSoftmaxOfV4, kOutOfV4 };
inline constexpr OperandPositions kOfScoreV4{Takes::kBoth, kShift,   kKept,       kMask,        kGreatestOfV4,
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
inline constexpr OperandPositions kOfGrad{Takes::kBatches,
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
inline constexpr OperandPositions kOfUnpaddingGrad{
    Takes::kPacked, kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum, kGradOut, 0, 0, kDq, kDk, kDv,
    kDpse};
inline constexpr OperandPositions kOfGradV2 = AsV2(kOfGrad);
inline constexpr OperandPositions kOfUnpaddingGradV2 = AsV2(kOfUnpaddingGrad);
enum GradV5 {
  kGradSink = kGradOut + 1,
  kGradQueryRope,
  kGradKeyRope,
  kDqOfV5,
  kDkOfV5,
  kDvOfV5,
  kDpseOfV5,
  kRestOfV5
};
constexpr OperandPositions OfGradV5(Takes takes, int dsink, int dq_rope) {
  OperandPositions positions{takes, kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum, kGradOut,
                             0,     0,          kDqOfV5,   kDkOfV5,   kDvOfV5,       kDpseOfV5};
  positions.is_v2 = true;
  positions.sink = kGradSink;
  positions.query_rope = kGradQueryRope;
  positions.dsink = dsink;
  positions.dq_rope = dq_rope;
  return positions;
}
inline constexpr OperandPositions kOfGradV3 = OfGradV5(Takes::kBatches, kRestOfV5, 0);
inline constexpr OperandPositions kOfUnpaddingGradV3 = OfGradV5(Takes::kPacked, 0, kRestOfV5);
inline constexpr OperandPositions kOfUnpaddingGradV5 = OfGradV5(Takes::kPacked, kRestOfV5 + 2, kRestOfV5);
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
inline constexpr OperandPositions kOfGradV4{
    Takes::kBoth,    kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum, kGradOut,
    kFirstGradExtra, kDqOfV4,    kDqOfV4,   kDkOfV4,   kDvOfV4,       kDpseOfV4};

// Tells whether shifts are computed from slopes, which then take the shift's position.
template <const OperandPositions& at>
bool HasSlopes(const OperatorCall& call) noexcept {
  return at.is_v2 && IsThere(call, at.shift) && call.attributes[kShiftType].integer >= 2;
}
template <const OperandPositions& at>
bool HasPlainShift(const OperatorCall& call) noexcept {
  return IsThere(call, at.shift) && !HasSlopes<at>(call);
}

template <const OperandPositions& at>
bool HasSink(const OperatorCall& call) noexcept {
  return at.sink > 0 && IsThere(call, at.sink);
}
template <const OperandPositions& at>
bool HasRopes(const OperatorCall& call) noexcept {
  return at.query_rope > 0 && IsThere(call, at.query_rope);
}
template <const OperandPositions& at>
bool WantsSink(const OperatorCall& call) noexcept {
  return at.dsink > 0 && HasSink<at>(call) && call.IsGiven(at.dsink) &&
         !call.Tensor(at.dsink).shape.IsEmpty();
}

inline Layout LayoutIn(const OperatorCall& call) noexcept { return LayoutOf(call.attributes[kLayout].text); }
inline bool IsJoined(const OperatorCall& call) noexcept {
  return LayoutIn(call) == Layout::kBsh || LayoutIn(call) == Layout::kSbh;
}
inline bool IsPacked(const OperatorCall& call) noexcept { return LayoutIn(call) == Layout::kTnd; }

// The sizes of a call. Layout and ranks must have been checked.
struct Sizes {
  explicit Sizes(const OperatorCall& call) {
    const Layout layout = LayoutIn(call);
    query = HeadsOf(call.Tensor(kQuery), kQuery, layout, call.attributes[kHeadCount].integer);
    const int64_t joined = IsJoined(call) ? call.Tensor(kKey).shape[2] : 0;
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
inline std::span<const int64_t> Ends(const OperatorCall& call, int attribute) noexcept {
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

}  // namespace portacl::attention::flash
