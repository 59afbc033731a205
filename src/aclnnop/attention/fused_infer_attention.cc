// aclnnFusedInferAttentionScore and its versions V2 to V4: attention without gradients, over batches of different lengths and keys that lie in
// pages.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/fused_infer_attention_functions.h"

#include <algorithm>

#include "acl/data_type.h"
#include "acl/errors.h"
#include "acl/stream/thread_limit.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/statistics.h"
#include "aclnnop/operator_facts.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace attention;

constexpr int64_t kMostGroup = 64;
constexpr int64_t kTemplate = 2048;

// What all versions have at the same places; results are the last two.
enum Tensors {
  kQuery,
  kKey,
  kValue,
  kShift,
  kMask,
  kDeqScale1,
  kAntiquantOffset = 11,
  kTable = 12,
  kQueryPadding,
  kKeyPadding,
  kCommon
};
constexpr int kSinkOfV4 = kCommon + 10;
enum Attributes {
  kQueryLengths,
  kKeyLengths,
  kHeads,
  kScale,
  kBefore,
  kAfter,
  kLayout,
  kKeyHeads,
  kMode,
  kPageRows,
  kWantsLse
};

int OutOf(const OperatorCall& call) { return call.Output(); }
int LseOf(const OperatorCall& call) { return call.Output() + 1; }
bool WantsLse(const OperatorCall& call) noexcept { return call.attributes[kWantsLse].integer != 0; }
bool HasPages(const OperatorCall& call) noexcept { return IsThere(call, kTable); }
bool HasSink(const OperatorCall& call) noexcept {
  return OutOf(call) > kSinkOfV4 && IsThere(call, kSinkOfV4);
}

// "BNSD", or "BNSD_BSND": the layout of the result after that of what is read.
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

const aclTensor& Only(const OperatorCall& call, int list) { return *call.Entry(list, 0); }

// Blocks of rows, or of heads of rows.
attention::Heads PagesOf(const OperatorCall& call, int list) {
  const aclTensor& tensor = Only(call, list);
  const bool is_joined = tensor.view.rank == 3;
  return HeadsOf(tensor, call.OperandOf(list), is_joined ? Layout::kBsh : Layout::kBnsd, KeyHeads(call));
}

// The sizes of a call whose layout, ranks and heads are right.
struct Sizes {
  explicit Sizes(const OperatorCall& call) : layouts(call) {
    query = HeadsOf(call.Tensor(kQuery), kQuery, layouts.in, call.attributes[kHeads].integer);
    for (const int list : {kKey, kValue}) {
      (list == kKey ? key : value) =
          HasPages(call) ? PagesOf(call, list)
                         : HeadsOf(Only(call, list), call.OperandOf(list), layouts.in, KeyHeads(call));
    }
    const aclIntArray* const lengths = call.attributes[kQueryLengths].array;
    batches = !layouts.IsPacked() ? query.batches : lengths == nullptr ? 0 : std::ssize(lengths->values);
    // Of one batch.
    most_keys = !HasPages(call) ? key.rows : call.Tensor(kTable).view[1] * key.rows;
  }

  Layouts layouts;
  attention::Heads query;
  attention::Heads key;
  attention::Heads value;
  int64_t batches;
  int64_t most_keys;
};

// Queries or keys of a batch, and how many others' rows are before them.
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
// Whether an attribute gives each batch a length of its own.
bool GivesEach(const OperatorCall& call, int attribute) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array != nullptr && array->values.size() > 1;
}
Length Queries(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  return LengthOf(call, kQueryLengths, sizes.layouts.IsPacked(), sizes.query.rows, batch);
}
Length Keys(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  return LengthOf(call, kKeyLengths, sizes.layouts.IsPacked() && !HasPages(call), sizes.most_keys, batch);
}

// ---- checks ----

aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int list : {kKey, kValue}) {
    bool is_given = call.Count(list) > 0;
    for (int entry = 0; entry < call.Count(list); ++entry)
      is_given = is_given && call.Entry(list, entry) != nullptr;
    if (is_given) continue;
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter ")
                                     .Add(call.Name(list))
                                     .Add(" is a null pointer or has a null tensor, expected tensors."));
  }
  return ACL_SUCCESS;
}

aclnnStatus LayoutGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kLayout].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter inputLayout is a null pointer, expected a text."));
}

// What is computed of what CANN has: no quantised numbers, shared prefixes, padding on the left or rotary parts.
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  for (int tensor = kDeqScale1; tensor < OutOf(call); ++tensor) {
    if (tensor == kTable || (tensor == kSinkOfV4 && OutOf(call) > kSinkOfV4) || !IsThere(call, tensor))
      continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" is given, accepted: null. portacl does not compute with it."));
  }
  return ACL_SUCCESS;
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kQuery).dtype;
  const auto refuse = [&](int tensor, int entry) {
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, tensor, entry);
    AddArgumentDtype(message.Add(" does not go with "), call, kQuery);
    return FailAclnn(check.code, message.Add(", accepted: its dtype; BOOL, INT8 or UINT8 for a mask, INT32 "
                                             "for blockTable, FLOAT for softmaxLse."));
  };
  for (const int list : {kKey, kValue}) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry)->dtype != dtype) return refuse(list, entry);
    }
  }
  if (call.Tensor(OutOf(call)).dtype != dtype) return refuse(OutOf(call), 0);
  if (IsThere(call, kShift) && call.Tensor(kShift).dtype != dtype) return refuse(kShift, 0);
  if (IsThere(call, kMask)) {
    const aclDataType mask = call.Tensor(kMask).dtype;
    if (mask != ACL_BOOL && mask != ACL_INT8 && mask != ACL_UINT8) return refuse(kMask, 0);
  }
  if (HasPages(call) && call.Tensor(kTable).dtype != ACL_INT32) return refuse(kTable, 0);
  if (WantsLse(call) && call.Tensor(LseOf(call)).dtype != ACL_FLOAT) return refuse(LseOf(call), 0);
  if (HasSink(call) && !kFloatHalfAndBf16.Contains(call.Tensor(kSinkOfV4).dtype)) return refuse(kSinkOfV4, 0);
  return ACL_SUCCESS;
}

aclnnStatus LayoutFits(const Check& check, OperatorCall& call) noexcept {
  const Layouts layouts(call);
  if (layouts.in == Layout::kNone) {
    return RefuseAttribute(
        check, call, kLayout,
        "BSH, BSND, BNSD, TND, BNSD_BSND, NTD_TND, TND_NTD, BSH_NBSD, BSND_NBSD or BNSD_NBSD");
  }
  if (call.Tensor(kQuery).view.rank != RankOf(layouts.in))
    return RefuseTensor(check, call, kQuery, "as many dims as inputLayout names");
  for (const int list : {kKey, kValue}) {
    if (call.Count(list) != 1) return RefuseAttribute(check, call, kLayout, "lists of one tensor");
    const int rank = Only(call, list).view.rank;
    const bool fits = HasPages(call) ? rank == 3 || rank == 4 : rank == RankOf(layouts.in);
    if (!fits) return RefuseTensor(check, call, list, "as many dims as inputLayout names; 3 or 4 of pages");
  }
  if (HasPages(call) && call.Tensor(kTable).view.rank != 2)
    return RefuseTensor(check, call, kTable, "[batches, blocks of each]");
  return ACL_SUCCESS;
}

aclnnStatus HeadsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t heads = call.attributes[kHeads].integer;
  const int64_t key_heads = KeyHeads(call);
  if (heads <= 0) return RefuseAttribute(check, call, kHeads, "at least 1");
  if (key_heads <= 0 || heads % key_heads != 0 || heads / key_heads > kMostGroup)
    return RefuseAttribute(check, call, kKeyHeads, "0, or what divides numHeads into at most 64");
  const Sizes sizes(call);
  const auto splits = [](const aclTensor& tensor, const attention::Heads& made) {
    return tensor.view.rank == 4 || made.operand.head == 0 || made.depth > 0;
  };
  const aclTensor& query = call.Tensor(kQuery);
  if (sizes.query.heads != heads || !splits(query, sizes.query) ||
      (sizes.layouts.in == Layout::kBsh && query.view[2] != heads * sizes.query.depth))
    return RefuseTensor(check, call, kQuery, "numHeads heads");
  for (const int list : {kKey, kValue}) {
    const attention::Heads& made = list == kKey ? sizes.key : sizes.value;
    const aclTensor& tensor = Only(call, list);
    const bool is_joined = HasPages(call) ? tensor.view.rank == 3 : sizes.layouts.in == Layout::kBsh;
    if (made.heads != key_heads || (is_joined && tensor.view[2] != key_heads * made.depth))
      return RefuseTensor(check, call, list, "numKeyValueHeads heads");
    if (made.rows != sizes.key.rows || made.batches != sizes.key.batches)
      return RefuseTensor(check, call, list, "batches and rows of key");
  }
  if (sizes.query.depth <= 0 || sizes.key.depth != sizes.query.depth)
    return RefuseTensor(check, call, kKey, "heads of as many elements as query's, at least 1");
  if (!sizes.layouts.IsPacked() && !HasPages(call) && sizes.key.batches != sizes.query.batches)
    return RefuseTensor(check, call, kKey, "query's batch");
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
    const int64_t most = is_query ? sizes.query.rows : sizes.most_keys;
    int64_t before = 0;
    for (int64_t batch = 0; batch < std::min(count, sizes.batches); ++batch) {
      const int64_t length = array->values[static_cast<size_t>(batch)];
      if (length < before || length > most) return RefuseLengths(check, call, attribute);
      if (is_cumulative) before = length;
    }
  }
  if (HasPages(call)) {
    if (call.Tensor(kTable).view[0] < sizes.batches)
      return RefuseTensor(check, call, kTable, "a row for each batch");
    if (call.attributes[kPageRows].integer != sizes.key.rows)
      return RefuseAttribute(check, call, kPageRows, "the rows of key's blocks");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, kShift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = call.Tensor(kShift).view;
  if (!sizes.layouts.IsPacked() && shape.rank == 4 && (shape[0] == 1 || shape[0] == sizes.batches) &&
      shape[1] == sizes.query.heads && shape[2] >= sizes.query.rows && shape[3] >= sizes.most_keys)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, kShift, "[B or 1, N, at least Sq, at least Skv], not in TND");
}

// One query of each batch sees what the mask leaves, whatever the mode.
bool IsDecoding(const Sizes& sizes) { return !sizes.layouts.IsPacked() && sizes.query.rows == 1; }

aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const Sizes sizes(call);
  const int64_t mode = call.attributes[kMode].integer;
  if (mode < 0 || mode > 4) return RefuseAttribute(check, call, kMode, "0 to 4");
  const bool is_decoding = IsDecoding(sizes);
  if (!IsThere(call, kMask)) {
    if (mode == 0 || is_decoding) return ACL_SUCCESS;
    return RefuseAttribute(check, call, kMode, "0 without attenMask");
  }
  const Shape& shape = call.Tensor(kMask).view;
  const int64_t columns = shape[shape.rank - 1];
  if (is_decoding) {
    bool fits = shape.rank >= 2 && shape.rank <= 4 && (shape[0] == 1 || shape[0] == sizes.batches) &&
                columns >= sizes.most_keys;
    for (int dim = 1; dim < shape.rank - 1; ++dim) fits = fits && shape[dim] == 1;
    return fits ? ACL_SUCCESS : RefuseTensor(check, call, kMask, "[B, Skv], [B, 1, Skv] or [B, 1, 1, Skv]");
  }
  const int64_t rows = shape.rank > 1 ? shape[shape.rank - 2] : 0;
  bool fits = shape.rank >= 2 && shape.rank <= 4;
  if (mode >= 2) {
    for (int dim = 0; dim < shape.rank - 2; ++dim) fits = fits && shape[dim] == 1;
    if (fits && rows == kTemplate && columns == kTemplate) return ACL_SUCCESS;
    return RefuseTensor(check, call, kMask, "[2048, 2048], [1, 2048, 2048] or [1, 1, 2048, 2048]");
  }
  fits = fits && !sizes.layouts.IsPacked() && rows >= sizes.query.rows && columns >= sizes.most_keys &&
         (shape.rank == 2 || shape[0] == 1 || shape[0] == sizes.batches);
  return fits ? ACL_SUCCESS
              : RefuseTensor(
                    check, call, kMask,
                    "[at least Sq, at least Skv], with dims [B or 1] or [B or 1, 1] before, not in TND");
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
  if (call.Tensor(OutOf(call)).view != accepted) return RefuseShape(check, call, OutOf(call), accepted);
  const Shape numbers = LseShape(sizes);
  if (WantsLse(call) && call.Tensor(LseOf(call)).view != numbers)
    return RefuseShape(check, call, LseOf(call), numbers);
  if (HasSink(call)) {
    const Shape& sink = call.Tensor(kSinkOfV4).view;
    if (sink.rank != 1 || sink[0] != sizes.query.heads) return RefuseTensor(check, call, kSinkOfV4, "[N]");
  }
  return ACL_SUCCESS;
}

aclnnStatus Inside(const Check&, OperatorCall& call) noexcept {
  const Check sizes = SizesRepresentable({OutOf(call), LseOf(call)});
  if (const aclnnStatus status = sizes.run(sizes, call)) return status;
  const Check inside = InsideStorage({kQuery, kKey, kValue, kShift, kMask});
  if (const aclnnStatus status = inside.run(inside, call)) return status;
  const Check table = InsideStorage({kTable});
  return table.run(table, call);
}

aclnnStatus OutGiven(const Check& check, OperatorCall& call) noexcept {
  Check given = WithCode(check.code, NotNull(OutOf(call)));
  if (const aclnnStatus status = given.run(given, call)) return status;
  if (!WantsLse(call)) return ACL_SUCCESS;
  given = WithCode(check.code, NotNull(LseOf(call)));
  return given.run(given, call);
}

constexpr DtypeRule kDtypes =
    Everywhere(kNoDtype).On(products::kAtlasA2AndA3, DtypeSet(ACL_FLOAT16, ACL_BF16));

constexpr Check kChecks[] = {
    NotNull(kQuery),
    Own(ListsGiven, ACLNN_ERR_PARAM_NULLPTR),
    Own(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
    Own(OutGiven, ACLNN_ERR_PARAM_NULLPTR),
    DtypesIn(kDtypes, {kQuery}),
    Own(DtypesFit),
    Own(IsComputed, ACLNN_ERR_INNER_NULLPTR),
    DoneIfEmpty({kQuery}),
    Own(LayoutFits, kTiling),
    Own(HeadsFit, kTiling),
    Own(LengthsFit, kTiling),
    Own(ShiftFits, kTiling),
    Own(MaskFits, kTiling),
    Own(ResultsFit, kTiling),
    Own(Inside),
};

// ---- the job ----

void SetAttention(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  const int out = OutOf(call);
  if (sizes.most_keys == 0 || sizes.batches == 0 || sizes.value.depth == 0) {
    const int zeros[] = {out};
    return SetZeroJob(call, zeros, call.Tensor(out).numel > 0 ? 1 : 0, executor);
  }
  engine::Attention made{};
  made.are_alike =
      !sizes.layouts.IsPacked() && !GivesEach(call, kQueryLengths) && !GivesEach(call, kKeyLengths);
  const int64_t rows = made.are_alike ? 1 : sizes.batches;
  engine::AttentionBatch* const batches = engine::ReserveAttentionBatches(executor, rows);
  if (batches == nullptr) return;
  // Without a mask all keys are seen.
  const int64_t mode = !IsThere(call, kMask) || IsDecoding(sizes) ? 1 : call.attributes[kMode].integer;
  for (int64_t b = 0; b < rows; ++b) {
    const Length queries = Queries(call, sizes, b);
    const Length keys = Keys(call, sizes, b);
    engine::AttentionBatch& batch = batches[b] = {queries.count, keys.count, queries.first, keys.first};
    SetWindow(mode, call.attributes[kBefore].integer, call.attributes[kAfter].integer, batch);
    made.queries = std::max(made.queries, queries.count);
    made.keys = std::max(made.keys, keys.count);
  }
  // Rows that a batch has not are there to be written where each batch has as many.
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
  made.out = HeadsOf(call.Tensor(out), call.OperandOf(out), sizes.layouts.out, sizes.query.heads).operand;
  made.copies = 1;
  if (WantsLse(call)) {
    const int lse = LseOf(call);
    made.log_sum = sizes.layouts.IsPacked()
                       ? HeadsOf(call.Tensor(lse), call.OperandOf(lse), Layout::kTnd, 1).operand
                       : Broadcast(call.Tensor(lse), call.OperandOf(lse));
  }
  if (HasPages(call)) {
    made.table = Broadcast(call.Tensor(kTable), call.OperandOf(kTable));
    made.table.batch = made.table.row;
    made.table.column = ByteStride(PlainView(call.Tensor(kTable)), 1);
    made.page = sizes.key.rows;
    made.pages = sizes.key.batches;
  }
  if (HasSink(call)) {
    made.sink = Broadcast(call.Tensor(kSinkOfV4), call.OperandOf(kSinkOfV4));
    made.sink.head = made.sink.column;
  }
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  made.keep = 1;
  if (IsThere(call, kShift)) made.shift = Broadcast(call.Tensor(kShift), call.OperandOf(kShift));
  if (IsThere(call, kMask) && mode <= 1) {
    made.mask = Broadcast(call.Tensor(kMask), call.OperandOf(kMask));
    // The first of a mask's dims are batches.
    const Shape& shape = call.Tensor(kMask).view;
    const int64_t first = ByteStride(PlainView(call.Tensor(kMask)), 0);
    if (IsDecoding(sizes)) made.mask.row = 0;
    if (IsDecoding(sizes) || shape.rank > 2) made.mask.batch = first;
    made.mask.head = 0;
  }
  engine::SetAttentionJob(executor, made, JobIsa(), ThreadLimit());
}

}  // namespace

namespace facts {
extern const OperatorFacts fused_infer_attention_score, fused_infer_attention_score_v2,
    fused_infer_attention_score_v3, fused_infer_attention_score_v4;
}

#define PORTACL_INFER_FACTS(name, function)                                                            \
  const OperatorFacts facts::name = {"aclnn" #function, "aclnnop/aclnn_" #name ".h", kDtypes, kDtypes, \
                                     /*by_promotion=*/false};
PORTACL_INFER_FACTS(fused_infer_attention_score, FusedInferAttentionScore)
PORTACL_INFER_FACTS(fused_infer_attention_score_v2, FusedInferAttentionScoreV2)
PORTACL_INFER_FACTS(fused_infer_attention_score_v3, FusedInferAttentionScoreV3)
PORTACL_INFER_FACTS(fused_infer_attention_score_v4, FusedInferAttentionScoreV4)
#undef PORTACL_INFER_FACTS

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedInferAttentionScore) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetAttention);
}

PORTACL_PHASE_1(aclnnFusedInferAttentionScoreV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetAttention);
}

PORTACL_PHASE_1(aclnnFusedInferAttentionScoreV3) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetAttention);
}

PORTACL_PHASE_1(aclnnFusedInferAttentionScoreV4) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetAttention);
}
