// Checks of attention without gradients (see infer_checks.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/infer_checks.h"

#include <algorithm>

#include "aclnnop/attention/infer_operands.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl::attention::infer {
namespace {

constexpr int kNotComputed[] = {kDeqScale1,    kDeqScale1 + 1, kDeqScale1 + 2,
                                kKeyRopeScale, kQuery,         kQueryScale};

}  // namespace

aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int list : {kKey, kValue}) {
    bool is_given = CountAt(call, list) > 0;
    for (int entry = 0; entry < CountAt(call, list); ++entry)
      is_given = is_given && EntryAt(call, list, entry) != nullptr;
    if (is_given) continue;
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter ")
                                     .Add(call.Name(At(call, list)))
                                     .Add(" is a null pointer or has a null tensor, expected tensors."));
  }
  return ACL_SUCCESS;
}

aclnnStatus LayoutGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kLayout].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter inputLayout is a null pointer, expected a text."));
}

// Refuses quantised queries and products, which docs/compatibility.md lists as unsupported.
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  const auto is_refused = [&](int tensor) {
    // Queries of INT8 are only computed with a scale, and a scale only with queries of INT8.
    if (tensor == kQuery) return TakesCodes(call) && !Has(call, kQueryScale);
    return Has(call, tensor) && (tensor != kQueryScale || !TakesCodes(call));
  };
  for (const int tensor : kNotComputed) {
    if (!is_refused(tensor)) continue;
    Text message = StartMessage(call);
    if (tensor == kQuery) {
      AddArgumentDtype(message.Add("parameter "), call, At(call, tensor));
      return FailAclnn(check.code, message.Add(", accepted: FLOAT16, BF16, or INT8 with dequantScaleQuery. "
                                               "portacl does not compute with another."));
    }
    AddArgumentShape(message.Add("parameter "), call, At(call, tensor));
    return FailAclnn(check.code, message.Add(" is given, accepted: null. portacl does not compute with it."));
  }
  return ACL_SUCCESS;
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  // With queries of INT8 the other operands are BF16.
  const bool takes_codes = TakesCodes(call);
  const aclDataType dtype = takes_codes ? ACL_BF16 : TensorAt(call, kQuery).dtype;
  const auto refuse = [&](int tensor, int entry) {
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, At(call, tensor), entry);
    AddArgumentDtype(message.Add(" does not go with "), call, At(call, kQuery));
    return FailAclnn(check.code,
                     message.Add(", accepted: its dtype, INT8 for key and value with scales and for "
                                 "attentionOut; BOOL, INT8 or UINT8 for a mask, INT32 for blockTable, INT64 "
                                 "for paddings, FLOAT for softmaxLse, slopes, scales of tokens, and, or BF16 "
                                 "as query, quantScale2; quantOffset2's is its."));
  };
  for (const int list : {kKey, kValue}) {
    const ScaleSource source(call, list);
    for (int entry = 0; entry < CountAt(call, list); ++entry) {
      const aclDataType own = EntryAt(call, list, entry)->dtype;
      if (own != (source.is_there || takes_codes ? ACL_INT8 : dtype)) return refuse(list, entry);
    }
    if (!source.is_there) continue;
    const bool is_of_channels = source.mode == 0 || source.mode == 2;
    for (const int tensor : {source.scale, source.offset}) {
      const aclDataType accepted = is_of_channels && !takes_codes ? dtype : ACL_FLOAT;
      if (Has(call, tensor) && TensorAt(call, tensor).dtype != accepted) return refuse(tensor, 0);
    }
  }
  for (const int tensor : {kQueryRope, kKeyRope, kKeyPrefix, kValuePrefix}) {
    if (Has(call, tensor) && TensorAt(call, tensor).dtype != dtype) return refuse(tensor, 0);
  }
  if (TensorAt(call, kOut).dtype != dtype && TensorAt(call, kOut).dtype != ACL_INT8) return refuse(kOut, 0);
  if (MakesCodes(call)) {
    const aclDataType scale = TensorAt(call, kQuantScale2).dtype;
    if (scale != ACL_FLOAT && (scale != ACL_BF16 || dtype != ACL_BF16)) return refuse(kQuantScale2, 0);
    if (Has(call, kQuantOffset2) && TensorAt(call, kQuantOffset2).dtype != scale)
      return refuse(kQuantOffset2, 0);
  }
  for (const int tensor : {kQueryPadding, kKeyPadding}) {
    if (Has(call, tensor) && TensorAt(call, tensor).dtype != ACL_INT64) return refuse(tensor, 0);
  }
  if (Has(call, kQueryScale) && TensorAt(call, kQueryScale).dtype != ACL_FLOAT) return refuse(kQueryScale, 0);
  if (Has(call, kShift) && TensorAt(call, kShift).dtype != (HasSlopes(call) ? ACL_FLOAT : dtype))
    return refuse(kShift, 0);
  if (Has(call, kMask)) {
    const aclDataType mask = TensorAt(call, kMask).dtype;
    if (mask != ACL_BOOL && mask != ACL_INT8 && mask != ACL_UINT8) return refuse(kMask, 0);
  }
  if (HasPages(call) && TensorAt(call, kTable).dtype != ACL_INT32) return refuse(kTable, 0);
  if (WantsLse(call) && TensorAt(call, kLse).dtype != ACL_FLOAT) return refuse(kLse, 0);
  if (HasSink(call) && !kFloatHalfAndBf16.Contains(TensorAt(call, kSink).dtype)) return refuse(kSink, 0);
  return ACL_SUCCESS;
}

aclnnStatus LayoutFits(const Check& check, OperatorCall& call) noexcept {
  const Layouts layouts(call);
  if (layouts.in == Layout::kNone) {
    return RefuseAttribute(
        check, call, kLayout,
        "BSH, BSND, BNSD, TND, BNSD_BSND, NTD_TND, TND_NTD, BSH_NBSD, BSND_NBSD or BNSD_NBSD");
  }
  if (TensorAt(call, kQuery).shape.rank != RankOf(layouts.in))
    return RefuseAt(check, call, kQuery, "as many dims as inputLayout names");
  if (Has(call, kKeyRope) != HasRopes(call))
    return RefuseAt(check, call, HasRopes(call) ? kQueryRope : kKeyRope, "both rotary parts, or none");
  if (HasRopes(call) && TensorAt(call, kQueryRope).shape.rank != RankOf(layouts.in))
    return RefuseAt(check, call, kQueryRope, "as many dims as query");
  if (Has(call, kValuePrefix) != HasPrefix(call))
    return RefuseAt(check, call, HasPrefix(call) ? kKeyPrefix : kValuePrefix, "both prefixes, or none");
  const int count = CountAt(call, kKey);
  const bool is_list_taken =
      !layouts.IsPacked() && !HasPages(call) && !HasRopes(call) && !HasPrefix(call) && count <= kMostLists;
  if (CountAt(call, kValue) != count || (count > 1 && !is_list_taken))
    return RefuseAttribute(
        check, call, kLayout,
        "lists of one tensor, or, without blockTable, rotary parts and prefixes and but in "
        "TND, of a tensor for each batch, as many keys as values");
  const int key_rank = Only(call, kKey).shape.rank;
  for (const int list : {kKey, kValue}) {
    for (int entry = 0; entry < count; ++entry) {
      const int rank = EntryAt(call, list, entry)->shape.rank;
      const bool fits =
          HasPages(call) ? rank >= 3 && rank <= 5 && rank == key_rank : rank == RankOf(layouts.in);
      if (!fits)
        return RefuseAt(check, call, list, "as many dims as inputLayout names; 3 to 5 of pages, as key",
                        entry);
    }
  }
  if (HasRopes(call) && TensorAt(call, kKeyRope).shape.rank != key_rank)
    return RefuseAt(check, call, kKeyRope, "as many dims as key");
  if (HasPages(call) && TensorAt(call, kTable).shape.rank != 2)
    return RefuseAt(check, call, kTable, "[batches, blocks of each]");
  for (const int tensor : {kKeyPrefix, kValuePrefix}) {
    if (!Has(call, tensor)) continue;
    if (layouts.IsPacked() || HasPages(call) || HasRopes(call) || ScaleSource(call, kKey).is_there ||
        TensorAt(call, tensor).shape.rank != RankOf(layouts.in))
      return RefuseAt(check, call, tensor,
                      "as many dims as key, without blockTable, scales and rotary parts, not in TND");
  }
  return ACL_SUCCESS;
}

aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t heads = call.attributes[kHeads].integer;
  const int64_t key_heads = KeyHeads(call);
  if (heads <= 0) return RefuseAttribute(check, call, kHeads, "at least 1");
  if (key_heads <= 0 || heads % key_heads != 0 ||
      heads / key_heads > (HasRopes(call) ? kMostGroupOfRopes : kMostGroup))
    return RefuseAttribute(check, call, kKeyHeads,
                           "0, or what divides numHeads into at most 64, with rotary parts 128");
  const Sizes sizes(call);
  const auto splits = [](const StridedView& tensor, const attention::Heads& made) {
    return tensor.shape.rank == 4 || made.operand.head == 0 || made.depth > 0;
  };
  const aclTensor& query = TensorAt(call, kQuery);
  if (sizes.query.heads != heads || !splits(query, sizes.query) ||
      (sizes.layouts.in == Layout::kBsh && query.shape[2] != heads * sizes.query.depth))
    return RefuseAt(check, call, kQuery, "numHeads heads");
  for (const int list : {kKey, kValue}) {
    for (int entry = 0; entry < CountAt(call, list); ++entry) {
      const StridedView& tensor = *EntryAt(call, list, entry);
      const attention::Heads& made = sizes.lists > 0 ? sizes.KeysOfEntry(call, list, entry)
                                     : list == kKey  ? sizes.key
                                                     : sizes.value;
      const bool is_joined = HasPages(call) ? tensor.shape.rank == 3 : sizes.layouts.in == Layout::kBsh;
      if (made.heads != key_heads || (is_joined && tensor.shape[2] != key_heads * made.depth))
        return RefuseAt(check, call, list, "numKeyValueHeads heads", entry);
      const attention::Heads& key = sizes.lists > 0 ? sizes.KeysOfEntry(call, kKey, entry) : sizes.key;
      if (made.rows != key.rows || made.batches != key.batches)
        return RefuseAt(check, call, list, "batches and rows of key", entry);
      if (sizes.lists > 0 &&
          (made.batches != 1 || made.depth != (list == kKey ? sizes.key : sizes.value).depth))
        return RefuseAt(check, call, list, "a batch of 1 and elements of the others", entry);
    }
  }
  if (sizes.query.depth <= 0 || sizes.key.depth != sizes.query.depth)
    return RefuseAt(check, call, kKey, "heads of as many elements as query's, at least 1");
  if (!sizes.layouts.IsPacked() && !HasPages(call) && sizes.key.batches != sizes.query.batches)
    return RefuseAt(check, call, kKey, "query's batch");
  return ACL_SUCCESS;
}

namespace {

// Checks that a padding is one number, and that the call has lengths, but no page table, prefix, rotary part or list.
aclnnStatus PaddingsFit(const Check& check, const OperatorCall& call, const Sizes& sizes) {
  for (const int tensor : {kQueryPadding, kKeyPadding}) {
    if (!Has(call, tensor)) continue;
    const Shape& shape = TensorAt(call, tensor).shape;
    const bool is_alone = !sizes.layouts.IsPacked() && !HasPages(call) && !HasPrefix(call) &&
                          !HasRopes(call) && sizes.lists == 0;
    if (shape != Shape{1} || !is_alone)
      return RefuseAt(check, call, tensor,
                      "[1], without blockTable, prefixes, rotary parts and lists, not in TND");
    const int attribute = tensor == kQueryPadding ? kQueryLengths : kKeyLengths;
    const aclIntArray* const lengths = call.attributes[static_cast<size_t>(attribute)].array;
    if (lengths == nullptr || lengths->values.empty())
      return RefuseAttribute(check, call, attribute, "lengths, beside a padding");
  }
  return ACL_SUCCESS;
}

// Checks the operands of a call with queries, keys and values of INT8: some are required, others must be null.
aclnnStatus CodesFit(const Check& check, const OperatorCall& call, const Sizes& sizes, const ScaleSource& key,
                     const ScaleSource& value) {
  if (!HasRopes(call)) return RefuseAt(check, call, kQuery, "rotary parts beside INT8");
  if (!HasPages(call) || Only(call, kKey).shape.rank != 5)
    return RefuseAt(check, call, kKey, "blocks of 5 dims beside a query of INT8");
  for (const ScaleSource* const source : {&key, &value}) {
    if (!source->is_there || source->is_joint || source->mode != 0 ||
        TensorAt(call, source->scale).numel != 1)
      return RefuseAt(check, call, kQuery, "INT8 with one scale of keys and one of values, in the modes 0");
    if (Has(call, source->offset))
      return RefuseAt(check, call, source->offset, "null beside a query of INT8");
  }
  for (const int tensor : {kShift, kQuantScale2, kSink}) {
    if (tensor == kSink ? HasSink(call) : Has(call, tensor))
      return RefuseAt(check, call, tensor, "null beside a query of INT8");
  }
  engine::AttentionOperand position;
  if (!LocateQueryScale(call, sizes, &position))
    return RefuseAt(check, call, kQueryScale, "query's dims without the last");
  return ACL_SUCCESS;
}

}  // namespace

// Checks that rotary parts and prefixes have query's and key's dims, except the number of elements or rows.
aclnnStatus PartsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  if (HasRopes(call)) {
    engine::AttentionFractals fractals;
    const bool is_bsh = sizes.layouts.in == Layout::kBsh;
    const bool is_joined = HasPages(call) ? TensorAt(call, kKeyRope).shape.rank == 3 : is_bsh;
    const attention::Heads query =
        HeadsOf(TensorAt(call, kQueryRope), 0, sizes.layouts.in, sizes.query.heads);
    if (query.depth != kRopeDepth ||
        (is_bsh && TensorAt(call, kQueryRope).shape[2] != query.heads * query.depth) ||
        query.rows != sizes.query.rows || query.batches != sizes.query.batches ||
        query.heads != sizes.query.heads)
      return RefuseAt(check, call, kQueryRope, "query's dims with 64 elements");
    const attention::Heads key = KeysOf(call, sizes.layouts, TensorAt(call, kKeyRope), 0, &fractals);
    if (key.depth != kRopeDepth ||
        (is_joined && TensorAt(call, kKeyRope).shape[2] != key.heads * key.depth) ||
        key.rows != sizes.key.rows || key.batches != sizes.key.batches || key.heads != sizes.key.heads)
      return RefuseAt(check, call, kKeyRope, "key's dims with 64 elements");
  }
  if (HasPrefix(call)) {
    for (const int tensor : {kKeyPrefix, kValuePrefix}) {
      const attention::Heads& made = tensor == kKeyPrefix ? sizes.key_prefix : sizes.value_prefix;
      if (made.batches != 1 || made.heads != sizes.key.heads || made.rows != sizes.key_prefix.rows ||
          made.depth != (tensor == kKeyPrefix ? sizes.key : sizes.value).depth ||
          (sizes.layouts.in == Layout::kBsh && TensorAt(call, tensor).shape[2] != made.heads * made.depth))
        return RefuseAt(check, call, tensor, "heads and elements of key or value, a batch of 1");
    }
    if (sizes.prefix_rows < 0 || sizes.prefix_rows > sizes.key_prefix.rows)
      return RefuseAt(check, call, kKeyPrefix, "at least the rows that actualSharedPrefixLen names");
  }
  if (const aclnnStatus status = PaddingsFit(check, call, sizes)) return status;
  const ScaleSource key(call, kKey);
  const ScaleSource value(call, kValue);
  if (key.is_there != value.is_there)
    return RefuseAt(check, call, key.is_there ? key.scale : value.scale, "scales of key and value, or none");
  if (TakesCodes(call)) return CodesFit(check, call, sizes, key, value);
  if (!key.is_there) return ACL_SUCCESS;
  if (HasRopes(call)) return RefuseAt(check, call, kQueryRope, "null where key is INT8");
  if (key.mode != value.mode && (key.mode != 0 || value.mode != 1))
    return RefuseAttribute(check, call, kValueScaleMode, "that of key, or 1 where that is 0");
  for (const ScaleSource* const source : {&key, &value}) {
    const attention::Heads& of = source == &key ? sizes.key : sizes.value;
    for (const int tensor : {source->scale, source->offset}) {
      engine::AttentionOperand position;
      if (Has(call, tensor) && !LocateScales(call, sizes, *source, tensor, of, &position))
        return RefuseAt(check, call, tensor, "a shape of its antiquantMode, 0 to 5");
    }
  }
  return ACL_SUCCESS;
}

namespace {

aclnnStatus RefuseLengths(const Check& check, const OperatorCall& call, int attribute) {
  return FailAclnn(
      check.code,
      StartMessage(call)
          .Add("parameter ")
          .Add(call.attributes[static_cast<size_t>(attribute)].name)
          .Add(" does not fit, accepted: one length of at most the rows that there are, or one for each "
               "batch; in TND their sums up to each batch, of both; with blockTable those of keys."));
}

}  // namespace

aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const bool is_packed = sizes.layouts.IsPacked();
  for (const int attribute : {kQueryLengths, kKeyLengths}) {
    const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
    const bool is_query = attribute == kQueryLengths;
    const bool is_cumulative = is_packed && (is_query || !HasPages(call));
    const int64_t count = array == nullptr ? 0 : std::ssize(array->values);
    if (count == 0) {
      if (is_packed || (!is_query && HasPages(call))) return RefuseLengths(check, call, attribute);
      continue;
    }
    if (count < sizes.batches && (count != 1 || is_cumulative)) return RefuseLengths(check, call, attribute);
    if (is_query && IsDecoding(sizes)) continue;
    int64_t before = 0;
    const bool is_each = !is_query && sizes.lists > 0;
    for (int64_t batch = 0; batch < (is_each ? sizes.batches : std::min(count, sizes.batches)); ++batch) {
      const int64_t most = is_query  ? sizes.query.rows
                           : is_each ? sizes.KeysOfEntry(call, kKey, static_cast<int>(batch)).rows
                                     : sizes.most_own_keys;
      const int64_t length = array->values[count == 1 ? 0 : static_cast<size_t>(batch)];
      if (length < before || length > most) return RefuseLengths(check, call, attribute);
      if (is_cumulative) before = length;
    }
  }
  if (HasPages(call)) {
    if (TensorAt(call, kTable).shape[0] < sizes.batches)
      return RefuseAt(check, call, kTable, "a row for each batch");
    if (call.attributes[kPageRows].integer != sizes.key.rows)
      return RefuseAttribute(check, call, kPageRows, "the rows of key's blocks");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!Has(call, kShift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = TensorAt(call, kShift).shape;
  const int64_t type = call.attributes[kShiftType].integer;
  if (type < 0 || type > 3) return RefuseAttribute(check, call, kShiftType, "0 to 3");
  if (HasSlopes(call)) {
    if (shape == Shape{sizes.query.heads} || shape == Shape{sizes.batches, sizes.query.heads})
      return ACL_SUCCESS;
    return RefuseAt(check, call, kShift, "[N] or [B, N] slopes");
  }
  if (!sizes.layouts.IsPacked() && shape.rank == 4 && (shape[0] == 1 || shape[0] == sizes.batches) &&
      shape[1] == sizes.query.heads && shape[2] >= sizes.query.rows && shape[3] >= sizes.most_keys)
    return ACL_SUCCESS;
  return RefuseAt(check, call, kShift, "[B or 1, N, at least Sq, at least Skv], not in TND");
}

aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const int64_t mode = call.attributes[kMode].integer;
  if (mode < 0 || mode > 4) return RefuseAttribute(check, call, kMode, "0 to 4");
  const bool is_decoding = IsDecoding(sizes);
  if (!Has(call, kMask)) {
    if (mode == 0 || is_decoding) return ACL_SUCCESS;
    return RefuseAttribute(check, call, kMode, "0 without attenMask");
  }
  const Shape& shape = TensorAt(call, kMask).shape;
  const int64_t columns = shape[shape.rank - 1];
  if (IsTemplateOfOneQuery(call, sizes)) return ACL_SUCCESS;
  if (is_decoding) {
    bool fits = shape.rank >= 2 && shape.rank <= 4 && (shape[0] == 1 || shape[0] == sizes.batches) &&
                columns >= sizes.most_keys;
    for (int dim = 1; dim < shape.rank - 1; ++dim) fits = fits && shape[dim] == 1;
    return fits ? ACL_SUCCESS : RefuseAt(check, call, kMask, "[B, Skv], [B, 1, Skv] or [B, 1, 1, Skv]");
  }
  const int64_t rows = shape.rank > 1 ? shape[shape.rank - 2] : 0;
  bool fits = shape.rank >= 2 && shape.rank <= 4;
  if (mode >= 2) {
    if (IsTemplate(shape)) return ACL_SUCCESS;
    return RefuseAt(check, call, kMask, "[2048, 2048], [1, 2048, 2048] or [1, 1, 2048, 2048]");
  }
  fits = fits && !sizes.layouts.IsPacked() && rows >= sizes.query.rows && columns >= sizes.most_keys &&
         (shape.rank == 2 || shape[0] == 1 || shape[0] == sizes.batches);
  return fits ? ACL_SUCCESS
              : RefuseTensor(
                    check, call, kMask,
                    "[at least Sq, at least Skv], with dims [B or 1] or [B or 1, 1] before, not in TND");
}

// Checks that a window has positive length, and begins and ends among the keys.
aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const int64_t mode = call.attributes[kMode].integer;
  if (!Has(call, kMask) || IsDecoding(sizes) || (mode != 0 && mode != 4)) return ACL_SUCCESS;
  // With paddings mode 0 ignores preTokens and nextTokens.
  if (mode == 0 && HasPaddings(call)) return ACL_SUCCESS;
  const int64_t before = std::clamp(call.attributes[kBefore].integer, -kMostTokens, kMostTokens);
  const int64_t after = std::clamp(call.attributes[kAfter].integer, -kMostTokens, kMostTokens);
  if (-after > before) return RefuseAttribute(check, call, kAfter, "at least -preTokens");
  if (before >= 0 && after >= 0) return ACL_SUCCESS;
  for (int64_t batch = 0; batch < sizes.batches; ++batch) {
    int64_t before_ends = Keys(call, sizes, batch).count + sizes.prefix_rows;
    int64_t after_ends = Queries(call, sizes, batch).count;
    if (before_ends == 0 || after_ends == 0) continue;
    if (mode == 4) std::swap(before_ends, after_ends);
    if (-after >= after_ends)
      return RefuseAttribute(check, call, kAfter,
                             "more than the negative number of each batch's queries, in mode 4 of its keys");
    if (-before >= before_ends)
      return RefuseAttribute(check, call, kBefore,
                             "more than the negative number of each batch's keys, in mode 4 of its queries");
  }
  return ACL_SUCCESS;
}

namespace {

Shape ResultShape(const Sizes& sizes) {
  const int64_t batches = sizes.query.batches;
  const int64_t heads = sizes.query.heads;
  const int64_t rows = sizes.query.rows;
  const int64_t depth = sizes.value.depth;
  const auto of = [](std::initializer_list<int64_t> dims) {
    Shape shape{};
    for (const int64_t dim : dims) shape.dim[shape.rank++] = dim;
    return shape;
  };
  switch (sizes.layouts.out) {
    case Layout::kBsh:
      return of({batches, rows, heads * depth});
    case Layout::kBnsd:
      return of({batches, heads, rows, depth});
    case Layout::kBsnd:
      return of({batches, rows, heads, depth});
    case Layout::kNbsd:
      return of({heads, batches, rows, depth});
    case Layout::kNtd:
      return of({heads, rows, depth});
    default:
      return of({rows, heads, depth});
  }
}
Shape LseShape(const Sizes& sizes) {
  Shape shape{};
  if (!sizes.layouts.IsPacked()) {
    shape.rank = 4;
    shape.dim[0] = sizes.query.batches;
    shape.dim[1] = sizes.query.heads;
    shape.dim[2] = sizes.query.rows;
    shape.dim[3] = 1;
  } else {
    shape.rank = 3;
    shape.dim[0] = sizes.query.rows;
    shape.dim[1] = sizes.query.heads;
    shape.dim[2] = 1;
  }
  return shape;
}

}  // namespace

aclnnStatus ResultsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const Shape accepted = ResultShape(sizes);
  if (TensorAt(call, kOut).shape != accepted) return RefuseShape(check, call, At(call, kOut), accepted);
  const bool is_code = TensorAt(call, kOut).dtype == ACL_INT8;
  if (is_code != MakesCodes(call))
    return RefuseAt(check, call, is_code ? kOut : kQuantScale2, "INT8 and quantScale2, or neither");
  for (const int tensor : {kQuantScale2, kQuantOffset2}) {
    if (!Has(call, tensor)) continue;
    attention::Heads of = sizes.value;
    of.heads = sizes.query.heads;
    engine::AttentionOperand position;
    if (!is_code || !LocateScales(call, sizes, ScaleSource(call), tensor, of, &position))
      return RefuseAt(check, call, tensor, "one element, or N * D, beside an INT8 attentionOut");
    if (TensorAt(call, tensor).numel != TensorAt(call, kQuantScale2).numel)
      return RefuseAt(check, call, tensor, "as many elements as quantScale2");
  }
  const Shape numbers = LseShape(sizes);
  if (WantsLse(call) && TensorAt(call, kLse).shape != numbers)
    return RefuseShape(check, call, At(call, kLse), numbers);
  if (HasSink(call)) {
    const Shape& sink = TensorAt(call, kSink).shape;
    if (sink.rank != 1 || sink[0] != sizes.query.heads) return RefuseAt(check, call, kSink, "[N]");
  }
  return ACL_SUCCESS;
}

aclnnStatus Inside(const Check&, OperatorCall& call) noexcept {
  const Check sizes = WantsLse(call) ? SizesRepresentable({At(call, kOut), At(call, kLse)})
                                     : SizesRepresentable({At(call, kOut)});
  if (const aclnnStatus status = sizes.run(sizes, call)) return status;
  for (int at = 0; at < At(call, kOut); ++at) {
    const Check inside = InsideStorage({at});
    if (const aclnnStatus status = inside.run(inside, call)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus OutGiven(const Check& check, OperatorCall& call) noexcept {
  Check given = WithCode(check.code, NotNull(At(call, kOut)));
  if (const aclnnStatus status = given.run(given, call)) return status;
  if (!WantsLse(call)) return ACL_SUCCESS;
  given = WithCode(check.code, NotNull(At(call, kLse)));
  return given.run(given, call);
}

// Checks that each batch has one query.
aclnnStatus IsOneQuery(const Check& check, OperatorCall& call) noexcept {
  if (IsDecoding(Sizes(call))) return ACL_SUCCESS;
  return RefuseAt(check, call, kQuery, "one row of each batch, in BSH, BSND or BNSD");
}

}  // namespace portacl::attention::infer
