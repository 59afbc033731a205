// The operands of attention without gradients: where each operator has them, their layouts, sizes and lengths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "aclnnop/jobs/heads.h"
#include "plan/views.h"

namespace portacl::attention::infer {

inline constexpr int64_t kMostGroup = 64;
inline constexpr int64_t kMostGroupOfRopes = 128;
inline constexpr int64_t kRopeDepth = 64;
inline constexpr int64_t kTemplate = 2048;
inline constexpr int64_t kMostLists = 256;
inline constexpr int64_t kMostTokens = 2147483647;

enum Tensors {
  kQuery,
  kKey,
  kValue,
  kShift,
  kMask,
  kDeqScale1,
  kQuantScale2 = 8,
  kQuantOffset2,
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
inline constexpr OperandPositions kForms[] = {
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
inline int At(const OperatorCall& call, int tensor) {
  return kForms[call.attributes[kForm].integer].Of(tensor);
}
inline bool Has(const OperatorCall& call, int tensor) {
  const int at = At(call, tensor);
  return at >= 0 && IsThere(call, at);
}
inline const aclTensor& TensorAt(const OperatorCall& call, int tensor) {
  return call.Tensor(At(call, tensor));
}
inline int OperandAt(const OperatorCall& call, int tensor, int entry = 0) {
  return call.OperandOf(At(call, tensor), entry);
}
inline int CountAt(const OperatorCall& call, int list) { return call.Count(At(call, list)); }
inline const aclTensor* EntryAt(const OperatorCall& call, int list, int entry) {
  return call.Entry(At(call, list), entry);
}
inline aclnnStatus RefuseAt(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                            int entry = 0) {
  return RefuseTensor(check, call, At(call, tensor), accepted, entry);
}

inline bool WantsLse(const OperatorCall& call) noexcept { return call.attributes[kWantsLse].integer != 0; }
inline bool HasPages(const OperatorCall& call) noexcept { return Has(call, kTable); }
inline bool HasRopes(const OperatorCall& call) noexcept { return Has(call, kQueryRope); }
inline bool HasPrefix(const OperatorCall& call) noexcept { return Has(call, kKeyPrefix); }
// An empty sink counts as none.
inline bool HasSink(const OperatorCall& call) noexcept {
  return Has(call, kSink) && !TensorAt(call, kSink).shape.IsEmpty();
}
// Tells whether a tensor gives the number of padding rows at the end of each batch.
inline bool HasPaddings(const OperatorCall& call) noexcept {
  return Has(call, kQueryPadding) || Has(call, kKeyPadding);
}
// Tells whether queries, keys and values are INT8, as in multi-head latent attention.
inline bool TakesCodes(const OperatorCall& call) noexcept { return TensorAt(call, kQuery).dtype == ACL_INT8; }
// Tells whether results become INT8.
inline bool MakesCodes(const OperatorCall& call) noexcept { return Has(call, kQuantScale2); }
inline bool HasSlopes(const OperatorCall& call) noexcept {
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

// Returns the number of heads of keys, which is that of queries if the attribute is 0.
int64_t KeyHeads(const OperatorCall& call);
// Returns the first tensor of a list, or the only one.
inline const aclTensor& Only(const OperatorCall& call, int list) { return *EntryAt(call, list, 0); }

// Views pages: blocks of rows, blocks of heads of rows, or blocks of heads of rows that are split into
// fractals.
attention::Heads PagesOf(const OperatorCall& call, const StridedView& tensor, int operand,
                         engine::AttentionFractals* fractals);

// Views keys, values or the rotary part of keys.
attention::Heads KeysOf(const OperatorCall& call, const Layouts& layouts, const StridedView& tensor,
                        int operand, engine::AttentionFractals* fractals);

// The sizes of a call. Layout, ranks and heads must have been checked.
struct Sizes {
  explicit Sizes(const OperatorCall& call) : layouts(call) {
    query = HeadsOf(TensorAt(call, kQuery), kQuery, layouts.in, call.attributes[kHeads].integer);
    key = KeysOf(call, layouts, Only(call, kKey), OperandAt(call, kKey), &key_fractals);
    value = KeysOf(call, layouts, Only(call, kValue), OperandAt(call, kValue), &value_fractals);
    lists = CountAt(call, kKey) > 1 ? CountAt(call, kKey) : 0;
    for (int entry = 1; entry < lists; ++entry)
      key.rows = std::max(key.rows, KeysOfEntry(call, kKey, entry).rows);
    if (lists > 0) key.batches = lists;
    const aclIntArray* const lengths = call.attributes[kQueryLengths].array;
    batches = !layouts.IsPacked() ? query.batches : lengths == nullptr ? 0 : std::ssize(lengths->values);
    // Keys of one batch, without the prefix.
    most_own_keys = key.rows;
    if (HasPages(call) && __builtin_mul_overflow(TensorAt(call, kTable).shape[1], key.rows, &most_own_keys))
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
  engine::AttentionFractals key_fractals;
  engine::AttentionFractals value_fractals;
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

// Returns the rows of a batch by an attribute of lengths, or all rows (`whole`) without it.
Length LengthOf(const OperatorCall& call, int attribute, bool is_cumulative, int64_t whole, int64_t batch);
// Tells whether an attribute gives each batch its own length.
bool GivesEach(const OperatorCall& call, int attribute);

// Tells whether each batch has one query. In every mode only the mask hides keys from it.
inline bool IsDecoding(const Sizes& sizes) { return !sizes.layouts.IsPacked() && sizes.query.rows == 1; }
// Tells whether a mask has the size of one that follows from the mode.
bool IsTemplate(const Shape& shape);

// Tells whether the mask is a template of a mode that counts from the ends. Such a mask hides nothing from
// the last query, and here the only query is the last.
bool IsTemplateOfOneQuery(const OperatorCall& call, const Sizes& sizes);

// Return the rows of a batch in queries and in keys.
Length Queries(const OperatorCall& call, const Sizes& sizes, int64_t batch);
Length Keys(const OperatorCall& call, const Sizes& sizes, int64_t batch);

// The scales of keys or values: in one tensor for each, or in one tensor for both (`is_joint`).
struct ScaleSource {
  // The scale of results, one for each channel.
  explicit ScaleSource(const OperatorCall& call)
      : scale(kQuantScale2),
        offset(kQuantOffset2),
        mode(0),
        part(0),
        is_joint(false),
        is_there(Has(call, kQuantScale2)) {}
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

// Sets strides of the scale of queries, which has their dims without the elements. Returns false for another
// shape.
bool LocateQueryScale(const OperatorCall& call, const Sizes& sizes, engine::AttentionOperand* to);
// Sets strides of a scale by batches (or pages), heads, rows and columns of keys. Returns false where the
// mode does not accept the shape.
bool LocateScales(const OperatorCall& call, const Sizes& sizes, const ScaleSource& source, int tensor,
                  const attention::Heads& of, engine::AttentionOperand* to);

}  // namespace portacl::attention::infer
