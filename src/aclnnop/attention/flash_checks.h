// The checks that the forms of flash attention share: layouts, heads, lengths, masks and the shapes of results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "aclnnop/attention/flash_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/statistics.h"
#include "base/errors.h"

namespace portacl::attention::flash {

inline aclnnStatus LayoutGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kLayout].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter inputLayout is a null pointer, expected a text."));
}

inline aclnnStatus HeadsGiven(const Check& check, OperatorCall& call) noexcept {
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
    if (call.Tensor(tensor).shape.rank != RankOf(layout))
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
inline aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
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

inline aclnnStatus DepthsFit(const Check& check, OperatorCall& call) noexcept {
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

inline aclnnStatus KeepFits(const Check& check, OperatorCall& call) noexcept {
  const auto keep = static_cast<float>(call.attributes[kKeep].wide);
  return keep > 0 && keep <= 1 ? ACL_SUCCESS
                               : RefuseAttribute(check, call, kKeep, "greater than 0, at most 1");
}

inline aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const bool is_joined = IsJoined(call);
  const Shape& query = call.Tensor(kQuery).shape;
  const int64_t heads = call.attributes[kHeadCount].integer;
  if (sizes.query.heads != heads || (is_joined && query[2] != heads * sizes.query.depth))
    return RefuseTensor(check, call, kQuery, "headNum heads");
  const Shape& key = call.Tensor(kKey).shape;
  if (heads % sizes.key.heads != 0 || (is_joined && key[2] != sizes.key.heads * sizes.key.depth))
    return RefuseTensor(check, call, kKey, "heads that divide those of query");
  const Shape& value = call.Tensor(kValue).shape;
  if (sizes.value.heads != sizes.key.heads || sizes.value.rows != sizes.key.rows ||
      (is_joined && value[2] != sizes.value.heads * sizes.value.depth))
    return RefuseTensor(check, call, kValue, "heads and rows of key");
  if (sizes.key.batches != sizes.query.batches) return RefuseTensor(check, call, kKey, "query's batch");
  if (sizes.value.batches != sizes.query.batches) return RefuseTensor(check, call, kValue, "query's batch");
  return ACL_SUCCESS;
}

// Tells whether a dim is `length`, or 1 if `or_one`.
inline bool IsDim(int64_t dim, int64_t length, bool or_one) { return dim == length || (or_one && dim == 1); }

template <const OperandPositions& at>
aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, at.shift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = call.Tensor(at.shift).shape;
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
  if (kept.dtype == ACL_UINT8 && (kept.contiguous || kept.shape.rank == 1) &&
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
  const Shape& shape = mask.shape;
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
    if (!IsThere(call, tensor) || call.Tensor(tensor).shape.IsEmpty()) continue;
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

inline Shape StatisticShape(const OperatorCall& call, const Sizes& sizes) {
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
inline Shape ResultShape(const OperatorCall& call) {
  const Sizes sizes(call);
  Shape shape = call.Tensor(kQuery).shape;
  shape.dim[shape.rank - 1] = IsJoined(call) ? sizes.value.depth * sizes.query.heads : sizes.value.depth;
  return shape;
}

template <int tensor>
aclnnStatus IsResult(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = ResultShape(call);
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

template <int tensor>
aclnnStatus IsStatistic(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = StatisticShape(call, Sizes(call));
  if (call.Tensor(tensor).shape != accepted) return RefuseShape(check, call, tensor, accepted);
  const Check is_float = WithCode(check.code, DtypesIn(DtypeSet(ACL_FLOAT), {tensor}));
  return is_float.run(is_float, call);
}

template <int... tensors>
bool AllEmpty(const OperatorCall& call) noexcept {
  return (... && (!call.IsGiven(tensors) || call.Tensor(tensors).shape.IsEmpty()));
}
inline aclnnStatus Done(const Check&, OperatorCall& call) noexcept {
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

template <const OperandPositions& at>
inline constexpr auto kShared = List(Custom(HeadsGiven), Custom(LayoutFits<at>), Custom(DepthsFit),
                                     WithCode(kTiling, DtypesIn(kNoneBeforeAtlasA2, {kQuery})),
                                     Custom(KeepFits, kTiling), Custom(HeadsFit, kTiling),
                                     Custom(LengthsFit, kTiling));

// Code of the features of V4 that IsComputed refuses.
inline constexpr aclnnStatus kNotComputed = ACLNN_ERR_INNER_NULLPTR;

}  // namespace portacl::attention::flash
