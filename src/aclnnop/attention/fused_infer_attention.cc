// aclnnFusedInferAttentionScore and its versions V2 to V5, aclnnPromptFlashAttention and
// aclnnIncreFlashAttention: attention without gradients, over batches of different lengths and paged keys.
// The schema gives all of them the same attributes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/fused_infer_attention_functions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/statistics.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace attention;

constexpr int64_t kMostGroup = 64;
constexpr int64_t kMostGroupOfRopes = 128;
constexpr int64_t kRopeDepth = 64;
constexpr int64_t kTemplate = 2048;
constexpr int64_t kMostLists = 256;
constexpr int64_t kMostTokens = 2147483647;

enum Tensors {
  kQuery,
  kKey,
  kValue,
  kShift,
  kMask,
  kDeqScale1,
  kQuantOffset2 = 9,
  kJointScale,
  kJointOffset,
  kTable,
  kQueryPadding,
  kKeyPadding,
  kKeyScale,
  kKeyOffset,
  kValueScale,
  kValueOffset,
  kKeyPrefix,
  kValuePrefix,
  kQueryRope,
  kKeyRope,
  kKeyRopeScale,
  kQueryScale,
  kSink,
  kOut,
  kLse,
  kTensors
};
constexpr int kNotComputed[] = {kDeqScale1,    kDeqScale1 + 1, kDeqScale1 + 2, kDeqScale1 + 3, kQuantOffset2,
                                kQueryPadding, kKeyPadding,    kKeyRopeScale,  kQueryScale};
enum Attributes {
  kQueryLengths,
  kKeyLengths,
  kPrefixLength,
  kHeads,
  kScale,
  kBefore,
  kAfter,
  kLayout,
  kKeyHeads,
  kMode,
  kPageRows,
  kWantsLse,
  kJointScaleMode,
  kKeyScaleMode,
  kValueScaleMode,
  kShiftType,
  kQueryStart,
  kKeyStart,
  kForm
};

// Positions of the tensors that an operator has, in parameter order. The schema refers to an operator by its
// index in kForms.
class OperandPositions {
 public:
  constexpr OperandPositions(int inputs, int more = -1, bool has_lse = false) {
    for (int8_t& position : position_) position = -1;
    int8_t count = 0;
    for (int tensor = 0; tensor < inputs; ++tensor) position_[tensor] = count++;
    if (more >= 0) position_[more] = count++;
    position_[kOut] = count++;
    if (has_lse) position_[kLse] = count;
  }
  constexpr int Of(int tensor) const { return position_[tensor]; }

 private:
  int8_t position_[kTensors]{};
};
constexpr OperandPositions kForms[] = {
    // aclnnFusedInferAttentionScore and V2 to V5
    {kKeyPadding + 1, -1, true},
    {kValuePrefix + 1, -1, true},
    {kKeyRopeScale + 1, -1, true},
    {kSink + 1, -1, true},
    {kSink + 1, -1, true},
    // aclnnPromptFlashAttention, V2, V3
    {kMask + 1},
    {kQuantOffset2 + 1},
    {kQuantOffset2 + 1},
    // aclnnIncreFlashAttention and V2 to V4
    {kMask + 1},
    {kQuantOffset2 + 1},
    {kTable + 1},
    {kTable + 1, kKeyPadding},
};

// Returns the position of a tensor in the call, or -1 if the operator lacks it.
int At(const OperatorCall& call, int tensor) { return kForms[call.attributes[kForm].integer].Of(tensor); }
bool Has(const OperatorCall& call, int tensor) {
  const int at = At(call, tensor);
  return at >= 0 && IsThere(call, at);
}
const aclTensor& TensorAt(const OperatorCall& call, int tensor) { return call.Tensor(At(call, tensor)); }
int OperandAt(const OperatorCall& call, int tensor, int entry = 0) {
  return call.OperandOf(At(call, tensor), entry);
}
int CountAt(const OperatorCall& call, int list) { return call.Count(At(call, list)); }
const aclTensor* EntryAt(const OperatorCall& call, int list, int entry) {
  return call.Entry(At(call, list), entry);
}
aclnnStatus RefuseAt(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                     int entry = 0) {
  return RefuseTensor(check, call, At(call, tensor), accepted, entry);
}

bool WantsLse(const OperatorCall& call) noexcept { return call.attributes[kWantsLse].integer != 0; }
bool HasPages(const OperatorCall& call) noexcept { return Has(call, kTable); }
bool HasRopes(const OperatorCall& call) noexcept { return Has(call, kQueryRope); }
bool HasPrefix(const OperatorCall& call) noexcept { return Has(call, kKeyPrefix); }
// An empty sink counts as none.
bool HasSink(const OperatorCall& call) noexcept {
  return Has(call, kSink) && !TensorAt(call, kSink).view.IsEmpty();
}
bool HasSlopes(const OperatorCall& call) noexcept {
  return Has(call, kShift) && call.attributes[kShiftType].integer >= 2;
}

// Parses "BNSD", or "BNSD_BSND": the layout of the inputs, then that of the result.
struct Layouts {
  explicit Layouts(const OperatorCall& call) {
    const std::string_view text = call.attributes[kLayout].text;
    const size_t cut = std::min(text.find('_'), text.size());
    in = LayoutOf(text.substr(0, cut));
    out = cut == text.size() ? in : LayoutOf(text.substr(cut + 1));
    const std::string_view joined[] = {"BNSD_BSND", "NTD_TND", "TND_NTD", "BSH_NBSD", "BSND_NBSD",
                                       "BNSD_NBSD", "BSH",     "BSND",    "BNSD",     "TND"};
    if (std::find(std::begin(joined), std::end(joined), text) == std::end(joined)) in = Layout::kNone;
  }
  bool IsPacked() const { return in == Layout::kTnd || in == Layout::kNtd; }

  Layout in;
  Layout out;
};

int64_t KeyHeads(const OperatorCall& call) {
  const int64_t heads = call.attributes[kKeyHeads].integer;
  return heads == 0 ? call.attributes[kHeads].integer : heads;
}

const aclTensor& Only(const OperatorCall& call, int list) { return *EntryAt(call, list, 0); }

// Views pages: blocks of rows, blocks of heads of rows, or blocks of heads of rows that are split into
// pieces.
attention::Heads PagesOf(const OperatorCall& call, const StridedView& tensor, int operand,
                         engine::AttentionPieces* pieces) {
  if (tensor.view.rank < 5) {
    const bool is_joined = tensor.view.rank == 3;
    return HeadsOf(tensor, operand, is_joined ? Layout::kBsh : Layout::kBnsd, KeyHeads(call));
  }
  const StridedView view = PlainView(tensor);
  attention::Heads made;
  made.batches = view.view[0];
  made.heads = view.view[1];
  made.rows = view.view[3];
  made.depth = view.view[2] * view.view[4];
  made.operand.argument = static_cast<int16_t>(operand);
  made.operand.dtype = view.dtype;
  made.operand.offset = ByteOffset(view);
  made.operand.batch = ByteStride(view, 0);
  made.operand.head = ByteStride(view, 1);
  made.operand.row = ByteStride(view, 3);
  made.operand.column = ByteStride(view, 4);
  *pieces = {view.view[4], ByteStride(view, 2)};
  return made;
}

// Views keys, values or the rotary part of keys.
attention::Heads KeysOf(const OperatorCall& call, const Layouts& layouts, const StridedView& tensor,
                        int operand, engine::AttentionPieces* pieces) {
  return HasPages(call) ? PagesOf(call, tensor, operand, pieces)
                        : HeadsOf(tensor, operand, layouts.in, KeyHeads(call));
}

// The sizes of a call. Layout, ranks and heads must have been checked.
struct Sizes {
  explicit Sizes(const OperatorCall& call) : layouts(call) {
    query = HeadsOf(TensorAt(call, kQuery), kQuery, layouts.in, call.attributes[kHeads].integer);
    key = KeysOf(call, layouts, Only(call, kKey), OperandAt(call, kKey), &key_pieces);
    value = KeysOf(call, layouts, Only(call, kValue), OperandAt(call, kValue), &value_pieces);
    lists = CountAt(call, kKey) > 1 ? CountAt(call, kKey) : 0;
    for (int entry = 1; entry < lists; ++entry)
      key.rows = std::max(key.rows, KeysOfEntry(call, kKey, entry).rows);
    if (lists > 0) key.batches = lists;
    const aclIntArray* const lengths = call.attributes[kQueryLengths].array;
    batches = !layouts.IsPacked() ? query.batches : lengths == nullptr ? 0 : std::ssize(lengths->values);
    // Keys of one batch, without the prefix.
    most_own_keys = key.rows;
    if (HasPages(call) && __builtin_mul_overflow(TensorAt(call, kTable).view[1], key.rows, &most_own_keys))
      most_own_keys = std::numeric_limits<int64_t>::max();
    if (HasPrefix(call)) {
      for (const int tensor : {kKeyPrefix, kValuePrefix}) {
        (tensor == kKeyPrefix ? key_prefix : value_prefix) =
            HeadsOf(TensorAt(call, tensor), OperandAt(call, tensor), layouts.in, KeyHeads(call));
      }
      const aclIntArray* const length = call.attributes[kPrefixLength].array;
      prefix_rows = length == nullptr || length->values.empty() ? key_prefix.rows : length->values[0];
    }
    if (__builtin_add_overflow(prefix_rows, most_own_keys, &most_keys))
      most_keys = std::numeric_limits<int64_t>::max();
  }
  attention::Heads KeysOfEntry(const OperatorCall& call, int list, int entry) const {
    return HeadsOf(*EntryAt(call, list, entry), OperandAt(call, list, entry), layouts.in, KeyHeads(call));
  }

  Layouts layouts;
  attention::Heads query;
  attention::Heads key;
  attention::Heads value;
  attention::Heads key_prefix;
  attention::Heads value_prefix;
  engine::AttentionPieces key_pieces;
  engine::AttentionPieces value_pieces;
  int64_t batches;
  int64_t lists;  // number of batches if each has its own key and value tensor, else 0
  int64_t prefix_rows = 0;
  int64_t most_own_keys;
  int64_t most_keys;  // with the prefix's keys
};

// Rows of a batch in queries or keys: the number of rows before them, and their number.
struct Length {
  int64_t first;
  int64_t count;
};
Length LengthOf(const OperatorCall& call, int attribute, bool is_cumulative, int64_t whole, int64_t batch) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  if (array == nullptr || array->values.empty()) return {0, whole};
  const auto at = static_cast<size_t>(batch);
  if (!is_cumulative) return {0, array->values[array->values.size() == 1 ? 0 : at]};
  const int64_t first = batch == 0 ? 0 : array->values[at - 1];
  return {first, array->values[at] - first};
}
// Tells whether an attribute gives each batch its own length.
bool GivesEach(const OperatorCall& call, int attribute) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array != nullptr && array->values.size() > 1;
}
// Tells whether each batch has one query. Only the mask hides keys from it, whatever the mode.
bool IsDecoding(const Sizes& sizes) { return !sizes.layouts.IsPacked() && sizes.query.rows == 1; }
bool IsTemplate(const Shape& shape) {
  bool is_template = shape.rank >= 2 && shape.rank <= 4 && shape[shape.rank - 2] == kTemplate &&
                     shape[shape.rank - 1] == kTemplate;
  for (int dim = 0; dim < shape.rank - 2; ++dim) is_template = is_template && shape[dim] == 1;
  return is_template;
}
// Tells whether the mask is a template of a mode that counts from the ends. Such a mask hides nothing from
// the last query, and here the only query is the last.
bool IsTemplateOfOneQuery(const OperatorCall& call, const Sizes& sizes) {
  const int64_t mode = call.attributes[kMode].integer;
  return IsDecoding(sizes) && (mode == 3 || mode == 4) && Has(call, kMask) &&
         IsTemplate(TensorAt(call, kMask).view);
}

Length Queries(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  if (IsDecoding(sizes)) return {0, 1};
  return LengthOf(call, kQueryLengths, sizes.layouts.IsPacked(), sizes.query.rows, batch);
}
Length Keys(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  const int64_t whole =
      sizes.lists > 0 ? sizes.KeysOfEntry(call, kKey, static_cast<int>(batch)).rows : sizes.most_own_keys;
  return LengthOf(call, kKeyLengths, sizes.layouts.IsPacked() && !HasPages(call), whole, batch);
}

// The scales of keys or values: in a tensor of their own, or in one that both share.
struct ScaleSource {
  ScaleSource(const OperatorCall& call, int list) {
    const bool is_key = list == kKey;
    const int own = is_key ? kKeyScale : kValueScale;
    is_joint = !Has(call, own) && Has(call, kJointScale);
    scale = is_joint ? kJointScale : own;
    offset = is_joint ? kJointOffset : is_key ? kKeyOffset : kValueOffset;
    mode = call.attributes[is_joint ? kJointScaleMode : is_key ? kKeyScaleMode : kValueScaleMode].integer;
    part = is_joint && !is_key ? 1 : 0;
    is_there = Has(call, scale);
  }

  int scale;
  int offset;
  int64_t mode;
  int64_t part;
  bool is_joint;
  bool is_there;
};

// Sets strides of a scale by batches (or pages), heads, rows and columns of keys. Returns false where the
// mode does not accept the shape.
bool PlaceScales(const OperatorCall& call, const Sizes& sizes, const ScaleSource& source, int tensor,
                 const attention::Heads& of, engine::AttentionOperand* to) {
  const StridedView view = PlainView(TensorAt(call, tensor));
  int first = 0;
  to->argument = static_cast<int16_t>(OperandAt(call, tensor));
  to->dtype = view.dtype;
  to->offset = ByteOffset(view);
  if (source.is_joint) {
    if (view.view[0] != 2) return false;
    to->offset += source.part * ByteStride(view, 0);
    first = 1;
  }
  struct Dim {
    int64_t length;
    int64_t stride;
  };
  Dim dims[kMaxDims];
  int rank = 0;
  for (int i = first; i < view.view.rank; ++i) {
    if (source.mode != 0 || view.view[i] != 1) dims[rank++] = {view.view[i], ByteStride(view, i)};
  }
  const auto drop_ones = [&](int wanted) {
    int ones = 0;
    while (rank - ones > wanted && dims[ones].length == 1) ++ones;
    std::copy(dims + ones, dims + rank, dims);
    rank -= ones;
    return rank == wanted;
  };
  switch (source.mode) {
    case 0:
      if (rank == 0) return true;
      if (rank == 1 && dims[0].length == of.heads * of.depth) {
        to->column = dims[0].stride;
        to->head = of.depth * dims[0].stride;
        return true;
      }
      if (rank != 2 || dims[0].length != of.heads || dims[1].length != of.depth) return false;
      to->head = dims[0].stride;
      to->column = dims[1].stride;
      return true;
    case 1:
      if (!drop_ones(2)) return false;
      to->batch = dims[0].stride;
      to->row = dims[1].stride;
      return dims[0].length == sizes.batches && dims[1].length >= sizes.most_keys;
    case 2:
      if (!drop_ones(1)) return false;
      to->head = dims[0].stride;
      return dims[0].length == of.heads;
    case 3:
      if (!drop_ones(3)) return false;
      to->batch = dims[0].stride;
      to->head = dims[1].stride;
      to->row = dims[2].stride;
      return dims[0].length == sizes.batches && dims[1].length == of.heads &&
             dims[2].length >= sizes.most_keys;
    case 4:
      if (!drop_ones(2)) return false;
      to->batch = dims[0].stride;
      to->row = dims[1].stride;
      return HasPages(call) && dims[0].length == of.batches && dims[1].length == of.rows;
    case 5:
      if (!drop_ones(3)) return false;
      to->batch = dims[0].stride;
      to->head = dims[1].stride;
      to->row = dims[2].stride;
      return HasPages(call) && dims[0].length == of.batches && dims[1].length == of.heads &&
             dims[2].length == of.rows;
    default:
      return false;
  }
}

// ---- checks ----

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

// Refuses quantised queries, quantised results and padding on the left, which docs/compatibility.md lists as
// unsupported.
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : kNotComputed) {
    if (!Has(call, tensor)) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, At(call, tensor));
    return FailAclnn(check.code, message.Add(" is given, accepted: null. portacl does not compute with it."));
  }
  return ACL_SUCCESS;
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = TensorAt(call, kQuery).dtype;
  const auto refuse = [&](int tensor, int entry) {
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, At(call, tensor), entry);
    AddArgumentDtype(message.Add(" does not go with "), call, At(call, kQuery));
    return FailAclnn(check.code,
                     message.Add(", accepted: its dtype, INT8 for key and value with scales; BOOL, "
                                 "INT8 or UINT8 for a mask, INT32 for blockTable, FLOAT for "
                                 "softmaxLse, slopes and scales of tokens."));
  };
  for (const int list : {kKey, kValue}) {
    const ScaleSource source(call, list);
    for (int entry = 0; entry < CountAt(call, list); ++entry) {
      const aclDataType own = EntryAt(call, list, entry)->dtype;
      if (own != (source.is_there ? ACL_INT8 : dtype)) return refuse(list, entry);
    }
    if (!source.is_there) continue;
    const bool is_of_channels = source.mode == 0 || source.mode == 2;
    for (const int tensor : {source.scale, source.offset}) {
      if (Has(call, tensor) && TensorAt(call, tensor).dtype != (is_of_channels ? dtype : ACL_FLOAT))
        return refuse(tensor, 0);
    }
  }
  for (const int tensor : {kQueryRope, kKeyRope, kKeyPrefix, kValuePrefix}) {
    if (Has(call, tensor) && TensorAt(call, tensor).dtype != dtype) return refuse(tensor, 0);
  }
  if (TensorAt(call, kOut).dtype != dtype) return refuse(kOut, 0);
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
  if (TensorAt(call, kQuery).view.rank != RankOf(layouts.in))
    return RefuseAt(check, call, kQuery, "as many dims as inputLayout names");
  if (Has(call, kKeyRope) != HasRopes(call))
    return RefuseAt(check, call, HasRopes(call) ? kQueryRope : kKeyRope, "both rotary parts, or none");
  if (HasRopes(call) && TensorAt(call, kQueryRope).view.rank != RankOf(layouts.in))
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
  const int key_rank = Only(call, kKey).view.rank;
  for (const int list : {kKey, kValue}) {
    for (int entry = 0; entry < count; ++entry) {
      const int rank = EntryAt(call, list, entry)->view.rank;
      const bool fits =
          HasPages(call) ? rank >= 3 && rank <= 5 && rank == key_rank : rank == RankOf(layouts.in);
      if (!fits)
        return RefuseAt(check, call, list, "as many dims as inputLayout names; 3 to 5 of pages, as key",
                        entry);
    }
  }
  if (HasRopes(call) && TensorAt(call, kKeyRope).view.rank != key_rank)
    return RefuseAt(check, call, kKeyRope, "as many dims as key");
  if (HasPages(call) && TensorAt(call, kTable).view.rank != 2)
    return RefuseAt(check, call, kTable, "[batches, blocks of each]");
  for (const int tensor : {kKeyPrefix, kValuePrefix}) {
    if (!Has(call, tensor)) continue;
    if (layouts.IsPacked() || HasPages(call) || HasRopes(call) || ScaleSource(call, kKey).is_there ||
        TensorAt(call, tensor).view.rank != RankOf(layouts.in))
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
    return tensor.view.rank == 4 || made.operand.head == 0 || made.depth > 0;
  };
  const aclTensor& query = TensorAt(call, kQuery);
  if (sizes.query.heads != heads || !splits(query, sizes.query) ||
      (sizes.layouts.in == Layout::kBsh && query.view[2] != heads * sizes.query.depth))
    return RefuseAt(check, call, kQuery, "numHeads heads");
  for (const int list : {kKey, kValue}) {
    for (int entry = 0; entry < CountAt(call, list); ++entry) {
      const StridedView& tensor = *EntryAt(call, list, entry);
      const attention::Heads& made = sizes.lists > 0 ? sizes.KeysOfEntry(call, list, entry)
                                     : list == kKey  ? sizes.key
                                                     : sizes.value;
      const bool is_joined = HasPages(call) ? tensor.view.rank == 3 : sizes.layouts.in == Layout::kBsh;
      if (made.heads != key_heads || (is_joined && tensor.view[2] != key_heads * made.depth))
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

// Checks that rotary parts and prefixes have query's and key's dims, except the number of elements or rows.
aclnnStatus PartsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  if (HasRopes(call)) {
    engine::AttentionPieces pieces;
    const bool is_bsh = sizes.layouts.in == Layout::kBsh;
    const bool is_joined = HasPages(call) ? TensorAt(call, kKeyRope).view.rank == 3 : is_bsh;
    const attention::Heads query =
        HeadsOf(TensorAt(call, kQueryRope), 0, sizes.layouts.in, sizes.query.heads);
    if (query.depth != kRopeDepth ||
        (is_bsh && TensorAt(call, kQueryRope).view[2] != query.heads * query.depth) ||
        query.rows != sizes.query.rows || query.batches != sizes.query.batches ||
        query.heads != sizes.query.heads)
      return RefuseAt(check, call, kQueryRope, "query's dims with 64 elements");
    const attention::Heads key = KeysOf(call, sizes.layouts, TensorAt(call, kKeyRope), 0, &pieces);
    if (key.depth != kRopeDepth || (is_joined && TensorAt(call, kKeyRope).view[2] != key.heads * key.depth) ||
        key.rows != sizes.key.rows || key.batches != sizes.key.batches || key.heads != sizes.key.heads)
      return RefuseAt(check, call, kKeyRope, "key's dims with 64 elements");
  }
  if (HasPrefix(call)) {
    for (const int tensor : {kKeyPrefix, kValuePrefix}) {
      const attention::Heads& made = tensor == kKeyPrefix ? sizes.key_prefix : sizes.value_prefix;
      if (made.batches != 1 || made.heads != sizes.key.heads || made.rows != sizes.key_prefix.rows ||
          made.depth != (tensor == kKeyPrefix ? sizes.key : sizes.value).depth ||
          (sizes.layouts.in == Layout::kBsh && TensorAt(call, tensor).view[2] != made.heads * made.depth))
        return RefuseAt(check, call, tensor, "heads and elements of key or value, a batch of 1");
    }
    if (sizes.prefix_rows < 0 || sizes.prefix_rows > sizes.key_prefix.rows)
      return RefuseAt(check, call, kKeyPrefix, "at least the rows that actualSharedPrefixLen names");
  }
  const ScaleSource key(call, kKey);
  const ScaleSource value(call, kValue);
  if (key.is_there != value.is_there)
    return RefuseAt(check, call, key.is_there ? key.scale : value.scale, "scales of key and value, or none");
  if (!key.is_there) return ACL_SUCCESS;
  if (HasRopes(call)) return RefuseAt(check, call, kQueryRope, "null where key is INT8");
  if (key.mode != value.mode && (key.mode != 0 || value.mode != 1))
    return RefuseAttribute(check, call, kValueScaleMode, "that of key, or 1 where that is 0");
  for (const ScaleSource* const source : {&key, &value}) {
    const attention::Heads& of = source == &key ? sizes.key : sizes.value;
    for (const int tensor : {source->scale, source->offset}) {
      engine::AttentionOperand position;
      if (Has(call, tensor) && !PlaceScales(call, sizes, *source, tensor, of, &position))
        return RefuseAt(check, call, tensor, "a shape of its antiquantMode, 0 to 5");
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus RefuseLengths(const Check& check, const OperatorCall& call, int attribute) {
  return FailAclnn(
      check.code,
      StartMessage(call)
          .Add("parameter ")
          .Add(call.attributes[static_cast<size_t>(attribute)].name)
          .Add(" does not fit, accepted: one length of at most the rows that there are, or one for each "
               "batch; in TND their sums up to each batch, of both; with blockTable those of keys."));
}

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
    if (TensorAt(call, kTable).view[0] < sizes.batches)
      return RefuseAt(check, call, kTable, "a row for each batch");
    if (call.attributes[kPageRows].integer != sizes.key.rows)
      return RefuseAttribute(check, call, kPageRows, "the rows of key's blocks");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!Has(call, kShift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = TensorAt(call, kShift).view;
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
  const Shape& shape = TensorAt(call, kMask).view;
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

aclnnStatus ResultsFit(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const Shape accepted = ResultShape(sizes);
  if (TensorAt(call, kOut).view != accepted) return RefuseShape(check, call, At(call, kOut), accepted);
  const Shape numbers = LseShape(sizes);
  if (WantsLse(call) && TensorAt(call, kLse).view != numbers)
    return RefuseShape(check, call, At(call, kLse), numbers);
  if (HasSink(call)) {
    const Shape& sink = TensorAt(call, kSink).view;
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

constexpr DtypeRule kDtypes =
    Everywhere(kNoDtype).On(products::kAtlasA2AndA3, DtypeSet(ACL_FLOAT16, ACL_BF16));
constexpr DtypeRule kDtypesOfV5 = kDtypes.On(products::kAscend950, DtypeSet(ACL_FLOAT16, ACL_BF16));

// Checks that each batch has one query.
aclnnStatus IsOneQuery(const Check& check, OperatorCall& call) noexcept {
  if (IsDecoding(Sizes(call))) return ACL_SUCCESS;
  return RefuseAt(check, call, kQuery, "one row of each batch, in BSH, BSND or BNSD");
}

constexpr auto ChecksFor(const DtypeRule& dtypes) {
  return List(NotNull(kQuery), Custom(ListsGiven, ACLNN_ERR_PARAM_NULLPTR),
              Custom(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR), Custom(OutGiven, ACLNN_ERR_PARAM_NULLPTR),
              DtypesIn(dtypes, {kQuery}), Custom(DtypesFit), Custom(IsComputed, ACLNN_ERR_INNER_NULLPTR),
              DoneIfEmpty({kQuery}), Custom(LayoutFits, kTiling), Custom(HeadsFit, kTiling));
}
constexpr auto kRest =
    List(Custom(PartsFit, kTiling), Custom(LengthsFit, kTiling), Custom(ShiftFits, kTiling),
         Custom(MaskFits, kTiling), Custom(TokensFit, kTiling), Custom(ResultsFit, kTiling), Custom(Inside));
constexpr auto kChecks = Join(ChecksFor(kDtypes), kRest);
constexpr auto kChecksOfV5 = Join(ChecksFor(kDtypesOfV5), kRest);
constexpr auto kChecksOfOneQuery = Join(ChecksFor(kDtypes), List(Custom(IsOneQuery, kTiling)), kRest);

// ---- the job ----

void SetParts(const OperatorCall& call, const Sizes& sizes, engine::Attention& made,
              engine::AttentionParts& parts) {
  parts.key_pieces = sizes.key_pieces;
  parts.value_pieces = sizes.value_pieces;
  if (HasRopes(call)) {
    made.rope_depth = kRopeDepth;
    parts.query_rope =
        HeadsOf(TensorAt(call, kQueryRope), OperandAt(call, kQueryRope), sizes.layouts.in, sizes.query.heads)
            .operand;
    parts.key_rope =
        KeysOf(call, sizes.layouts, TensorAt(call, kKeyRope), OperandAt(call, kKeyRope), &parts.rope_pieces)
            .operand;
  }
  if (HasPrefix(call)) {
    parts.key_prefix = sizes.key_prefix.operand;
    parts.value_prefix = sizes.value_prefix.operand;
    parts.prefix_rows = sizes.prefix_rows;
  }
  for (const int list : {kKey, kValue}) {
    const ScaleSource source(call, list);
    if (!source.is_there) continue;
    engine::AttentionScales& scales = list == kKey ? parts.key_scales : parts.value_scales;
    const attention::Heads& of = list == kKey ? sizes.key : sizes.value;
    scales.by_page = source.mode == 4 || source.mode == 5;
    PlaceScales(call, sizes, source, source.scale, of, &scales.scale);
    if (Has(call, source.offset)) PlaceScales(call, sizes, source, source.offset, of, &scales.offset);
  }
  if (HasSlopes(call)) {
    const aclTensor& slopes = TensorAt(call, kShift);
    parts.slopes = Broadcast(slopes, OperandAt(call, kShift));
    parts.slopes.batch = slopes.view.rank == 2 ? parts.slopes.row : 0;
    parts.slopes.head = parts.slopes.column;
    const auto first = [&](int attribute) -> int64_t {
      const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
      return array == nullptr || array->values.empty() ? 0 : array->values[0];
    };
    parts.slope_start = SlopeStart(first(kQueryStart), first(kKeyStart));
    parts.slopes_of_roots = call.attributes[kShiftType].integer == 3;
  }
}

void SetAttention(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  const int out = kOut;
  if (sizes.most_keys == 0 || sizes.batches == 0 || sizes.value.depth == 0) {
    const int zeros[] = {At(call, WantsLse(call) ? kLse : kOut), At(call, kOut)};
    const bool is_empty = TensorAt(call, out).numel == 0;
    return SetZeroJob(call, zeros, (WantsLse(call) ? 1 : 0) + (is_empty ? 0 : 1), executor);
  }
  engine::Attention made{};
  made.are_alike = !sizes.layouts.IsPacked() && sizes.lists == 0 &&
                   (!GivesEach(call, kQueryLengths) || IsDecoding(sizes)) && !GivesEach(call, kKeyLengths);
  const int64_t rows = made.are_alike ? 1 : sizes.batches;
  made.has_lists = sizes.lists > 0;
  const ScaleSource key_scales(call, kKey);
  const ScaleSource value_scales(call, kValue);
  const bool has_parts = HasRopes(call) || HasPrefix(call) || key_scales.is_there || HasSlopes(call) ||
                         sizes.key_pieces.elements > 0;
  engine::AttentionMemory memory{};
  if (has_parts || made.has_lists) {
    memory = engine::ReserveAttentionParts(executor, rows, 2 * sizes.lists);
  } else {
    memory.batches = engine::ReserveAttentionBatches(executor, rows);
  }
  engine::AttentionBatch* const batches = memory.batches;
  if (batches == nullptr) return;
  // Without a mask all keys are visible.
  const int64_t mode = !Has(call, kMask) || IsDecoding(sizes) ? 1 : call.attributes[kMode].integer;
  for (int64_t b = 0; b < rows; ++b) {
    const Length queries = Queries(call, sizes, b);
    const Length keys = Keys(call, sizes, b);
    engine::AttentionBatch& batch =
        batches[b] = {queries.count, keys.count + sizes.prefix_rows, queries.first, keys.first};
    SetWindow(mode, call.attributes[kBefore].integer, call.attributes[kAfter].integer, batch);
    made.queries = std::max(made.queries, queries.count);
    made.keys = std::max(made.keys, batch.keys);
  }
  for (int b = 0; b < sizes.lists; ++b) {
    for (const int list : {kKey, kValue}) {
      engine::AttentionOperand& one = memory.lists[list == kKey ? b : sizes.batches + b];
      one = sizes.KeysOfEntry(call, list, b).operand;
      one.batch = 0;
    }
  }
  // Unless sequences are packed, every batch has room for the same number of rows. Rows past a batch's length
  // are written as padding.
  made.pads = !sizes.layouts.IsPacked();
  if (made.pads) made.queries = sizes.query.rows;
  made.queries = std::max<int64_t>(made.queries, 1);
  made.keys = std::max<int64_t>(made.keys, 1);
  made.batches = sizes.batches;
  made.heads = sizes.query.heads;
  made.group = sizes.query.heads / sizes.key.heads;
  made.depth = sizes.query.depth;
  made.value_depth = sizes.value.depth;
  made.query = sizes.query.operand;
  made.key = sizes.key.operand;
  made.value = sizes.value.operand;
  made.out = HeadsOf(TensorAt(call, out), OperandAt(call, out), sizes.layouts.out, sizes.query.heads).operand;
  made.copies = 1;
  if (WantsLse(call)) {
    const int lse = kLse;
    made.log_sum = sizes.layouts.IsPacked()
                       ? HeadsOf(TensorAt(call, lse), OperandAt(call, lse), Layout::kTnd, 1).operand
                       : Broadcast(TensorAt(call, lse), OperandAt(call, lse));
  }
  if (HasPages(call)) {
    made.table = Broadcast(TensorAt(call, kTable), OperandAt(call, kTable));
    made.table.batch = made.table.row;
    made.table.column = ByteStride(PlainView(TensorAt(call, kTable)), 1);
    made.page = sizes.key.rows;
    made.pages = sizes.key.batches;
  }
  if (HasSink(call)) {
    made.sink = Broadcast(TensorAt(call, kSink), OperandAt(call, kSink));
    made.sink.head = made.sink.column;
  }
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  made.keep = 1;
  made.log_of_no_keys =
      IsDecoding(sizes) ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::infinity();
  // The workspace does not depend on lengths: a client reuses the size that it got for other lengths.
  made.most_queries = sizes.query.rows;
  made.shift_first = call.attributes[kShiftType].integer == 1;
  if (memory.parts != nullptr) SetParts(call, sizes, made, *memory.parts);
  if (Has(call, kShift) && !HasSlopes(call))
    made.shift = Broadcast(TensorAt(call, kShift), OperandAt(call, kShift));
  if (Has(call, kMask) && mode <= 1 && !IsTemplateOfOneQuery(call, sizes)) {
    made.mask = Broadcast(TensorAt(call, kMask), OperandAt(call, kMask));
    // The first dim of a mask counts batches.
    const Shape& shape = TensorAt(call, kMask).view;
    const int64_t first = ByteStride(PlainView(TensorAt(call, kMask)), 0);
    if (IsDecoding(sizes)) made.mask.row = 0;
    if (IsDecoding(sizes) || shape.rank > 2) made.mask.batch = first;
    made.mask.head = 0;
  }
  executor.SetJob([&] { return engine::MakeAttentionJob(made, call.isa, call.threads, memory.parts); });
}

#define PORTACL_INFER_OPERATORS(X)                                                        \
  X(fused_infer_attention_score, FusedInferAttentionScore, kDtypes, kChecks)              \
  X(fused_infer_attention_score_v2, FusedInferAttentionScoreV2, kDtypes, kChecks)         \
  X(fused_infer_attention_score_v3, FusedInferAttentionScoreV3, kDtypes, kChecks)         \
  X(fused_infer_attention_score_v4, FusedInferAttentionScoreV4, kDtypes, kChecks)         \
  X(fused_infer_attention_score_v5, FusedInferAttentionScoreV5, kDtypesOfV5, kChecksOfV5) \
  X(prompt_flash_attention, PromptFlashAttention, kDtypes, kChecks)                       \
  X(prompt_flash_attention_v2, PromptFlashAttentionV2, kDtypes, kChecks)                  \
  X(prompt_flash_attention_v3, PromptFlashAttentionV3, kDtypes, kChecks)                  \
  X(incre_flash_attention, IncreFlashAttention, kDtypes, kChecksOfOneQuery)               \
  X(incre_flash_attention_v2, IncreFlashAttentionV2, kDtypes, kChecksOfOneQuery)          \
  X(incre_flash_attention_v3, IncreFlashAttentionV3, kDtypes, kChecksOfOneQuery)          \
  X(incre_flash_attention_v4, IncreFlashAttentionV4, kDtypes, kChecksOfOneQuery)

}  // namespace

}  // namespace portacl

using namespace portacl;

#define PORTACL_INFER_PHASE_1(name, function, dtypes, checks) \
  PORTACL_PHASE_1(aclnn##function) { return RunPhase1(call, checks, workspaceSize, executor, SetAttention); }
PORTACL_INFER_OPERATORS(PORTACL_INFER_PHASE_1)

// Forwards to phase 1: every workspace is already sized for the greatest lengths.
aclnnStatus aclnnFusedInferAttentionScoreV3GetMaxWorkspaceSize(
    const aclTensor* query, const aclTensorList* key, const aclTensorList* value, const aclTensor* pseShift,
    const aclTensor* attenMask, const aclIntArray* actualSeqLengths, const aclIntArray* actualSeqLengthsKv,
    const aclTensor* deqScale1, const aclTensor* quantScale1, const aclTensor* deqScale2,
    const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor* antiquantScale,
    const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, const aclTensor* keyAntiquantScale, const aclTensor* keyAntiquantOffset,
    const aclTensor* valueAntiquantScale, const aclTensor* valueAntiquantOffset,
    const aclTensor* keySharedPrefix, const aclTensor* valueSharedPrefix,
    const aclIntArray* actualSharedPrefixLen, const aclTensor* queryRope, const aclTensor* keyRope,
    const aclTensor* keyRopeAntiquantScale, int64_t numHeads, double scaleValue, int64_t preTokens,
    int64_t nextTokens, char* inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
    int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode,
    int64_t valueAntiquantMode, const aclTensor* attentionOut, const aclTensor* softmaxLse,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
      query, key, value, pseShift, attenMask, actualSeqLengths, actualSeqLengthsKv, deqScale1, quantScale1,
      deqScale2, quantScale2, quantOffset2, antiquantScale, antiquantOffset, blockTable, queryPaddingSize,
      kvPaddingSize, keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset,
      keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, queryRope, keyRope, keyRopeAntiquantScale,
      numHeads, scaleValue, preTokens, nextTokens, inputLayout, numKeyValueHeads, sparseMode, innerPrecise,
      blockSize, antiquantMode, softmaxLseFlag, keyAntiquantMode, valueAntiquantMode, attentionOut,
      softmaxLse, workspaceSize, executor);
}
aclnnStatus aclnnFusedInferAttentionScoreV4GetMaxWorkspaceSize(
    const aclTensor* query, const aclTensorList* key, const aclTensorList* value, const aclTensor* pseShift,
    const aclTensor* attenMask, const aclIntArray* actualSeqLengths, const aclIntArray* actualSeqLengthsKv,
    const aclTensor* deqScale1, const aclTensor* quantScale1, const aclTensor* deqScale2,
    const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor* antiquantScale,
    const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, const aclTensor* keyAntiquantScale, const aclTensor* keyAntiquantOffset,
    const aclTensor* valueAntiquantScale, const aclTensor* valueAntiquantOffset,
    const aclTensor* keySharedPrefix, const aclTensor* valueSharedPrefix,
    const aclIntArray* actualSharedPrefixLen, const aclTensor* queryRope, const aclTensor* keyRope,
    const aclTensor* keyRopeAntiquantScale, const aclTensor* dequantScaleQuery,
    const aclTensor* learnableSink, int64_t numHeads, double scaleValue, int64_t preTokens,
    int64_t nextTokens, char* inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
    int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode,
    int64_t valueAntiquantMode, int64_t queryQuantMode, const aclTensor* attentionOut,
    const aclTensor* softmaxLse, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return aclnnFusedInferAttentionScoreV4GetWorkspaceSize(
      query, key, value, pseShift, attenMask, actualSeqLengths, actualSeqLengthsKv, deqScale1, quantScale1,
      deqScale2, quantScale2, quantOffset2, antiquantScale, antiquantOffset, blockTable, queryPaddingSize,
      kvPaddingSize, keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset,
      keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, queryRope, keyRope, keyRopeAntiquantScale,
      dequantScaleQuery, learnableSink, numHeads, scaleValue, preTokens, nextTokens, inputLayout,
      numKeyValueHeads, sparseMode, innerPrecise, blockSize, antiquantMode, softmaxLseFlag, keyAntiquantMode,
      valueAntiquantMode, queryQuantMode, attentionOut, softmaxLse, workspaceSize, executor);
}
aclnnStatus aclnnFusedInferAttentionScoreV5GetMaxWorkspaceSize(
    const aclTensor* query, const aclTensorList* key, const aclTensorList* value, const aclTensor* pseShift,
    const aclTensor* attenMask, const aclIntArray* actualSeqLengths, const aclIntArray* actualSeqLengthsKv,
    const aclTensor* deqScale1, const aclTensor* quantScale1, const aclTensor* deqScale2,
    const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor* antiquantScale,
    const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, const aclTensor* keyAntiquantScale, const aclTensor* keyAntiquantOffset,
    const aclTensor* valueAntiquantScale, const aclTensor* valueAntiquantOffset,
    const aclTensor* keySharedPrefix, const aclTensor* valueSharedPrefix,
    const aclIntArray* actualSharedPrefixLen, const aclTensor* queryRope, const aclTensor* keyRope,
    const aclTensor* keyRopeAntiquantScale, const aclTensor* dequantScaleQuery,
    const aclTensor* learnableSink, const aclIntArray* qStartIdx, const aclIntArray* kvStartIdx,
    int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, char* inputLayout,
    int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize,
    int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode,
    int64_t queryQuantMode, int64_t pseType, const aclTensor* attentionOut, const aclTensor* softmaxLse,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return aclnnFusedInferAttentionScoreV5GetWorkspaceSize(
      query, key, value, pseShift, attenMask, actualSeqLengths, actualSeqLengthsKv, deqScale1, quantScale1,
      deqScale2, quantScale2, quantOffset2, antiquantScale, antiquantOffset, blockTable, queryPaddingSize,
      kvPaddingSize, keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset,
      keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, queryRope, keyRope, keyRopeAntiquantScale,
      dequantScaleQuery, learnableSink, qStartIdx, kvStartIdx, numHeads, scaleValue, preTokens, nextTokens,
      inputLayout, numKeyValueHeads, sparseMode, innerPrecise, blockSize, antiquantMode, softmaxLseFlag,
      keyAntiquantMode, valueAntiquantMode, queryQuantMode, pseType, attentionOut, softmaxLse, workspaceSize,
      executor);
}
