// aclnnFusedInferAttentionScore and its versions V2 to V5, aclnnPromptFlashAttention and
// aclnnIncreFlashAttention: attention without gradients, over batches of different lengths and paged keys.
// The schema gives all of them the same attributes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/fused_infer_attention_functions.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "aclnnop/attention/infer_checks.h"
#include "aclnnop/attention/infer_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/statistics.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace attention;
using namespace attention::infer;

constexpr DtypeRule kDtypes =
    Everywhere(kNoDtype).On(products::kAtlasA2AndA3, DtypeSet(ACL_FLOAT16, ACL_BF16));
constexpr DtypeRule kDtypesOfV4 =
    kDtypes.On(products::kAtlasA2AndA3, DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT8));
constexpr DtypeRule kDtypesOfV5 =
    kDtypesOfV4.On(products::kAscend950, DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT8));

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
constexpr auto kChecksOfV4 = Join(ChecksFor(kDtypesOfV4), kRest);
constexpr auto kChecksOfV5 = Join(ChecksFor(kDtypesOfV5), kRest);
constexpr auto kChecksOfOneQuery = Join(ChecksFor(kDtypes), List(Custom(IsOneQuery, kTiling)), kRest);

// ---- the job ----

void SetParts(const OperatorCall& call, const Sizes& sizes, engine::Attention& made,
              engine::AttentionParts& parts) {
  parts.key_fractals = sizes.key_fractals;
  parts.value_fractals = sizes.value_fractals;
  if (HasRopes(call)) {
    made.rope_depth = kRopeDepth;
    parts.query_rope =
        HeadsOf(TensorAt(call, kQueryRope), OperandAt(call, kQueryRope), sizes.layouts.in, sizes.query.heads)
            .operand;
    parts.key_rope =
        KeysOf(call, sizes.layouts, TensorAt(call, kKeyRope), OperandAt(call, kKeyRope), &parts.rope_fractals)
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
    scales.of_scores = TakesCodes(call) && list == kKey;
    LocateScales(call, sizes, source, source.scale, of, &scales.scale);
    if (Has(call, source.offset)) LocateScales(call, sizes, source, source.offset, of, &scales.offset);
  }
  if (TakesCodes(call)) LocateQueryScale(call, sizes, &parts.query_scale);
  const auto padding = [&](int tensor) {
    return Has(call, tensor) ? Broadcast(TensorAt(call, tensor), OperandAt(call, tensor))
                             : engine::AttentionOperand{};
  };
  // The only query of a batch is the last one.
  if (!IsDecoding(sizes)) parts.query_padding = padding(kQueryPadding);
  parts.key_padding = padding(kKeyPadding);
  parts.padded_keys = sizes.key.rows;
  if (MakesCodes(call)) {
    attention::Heads of = sizes.value;
    of.heads = sizes.query.heads;
    LocateScales(call, sizes, ScaleSource(call), kQuantScale2, of, &parts.out_scale);
    if (Has(call, kQuantOffset2))
      LocateScales(call, sizes, ScaleSource(call), kQuantOffset2, of, &parts.out_offset);
  }
  if (HasSlopes(call)) {
    const aclTensor& slopes = TensorAt(call, kShift);
    parts.slopes = Broadcast(slopes, OperandAt(call, kShift));
    parts.slopes.batch = slopes.shape.rank == 2 ? parts.slopes.row : 0;
    parts.slopes.head = parts.slopes.column;
    const auto first = [&](int attribute) -> int64_t {
      const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
      return array == nullptr || array->values.empty() ? 0 : array->values[0];
    };
    parts.slope_start = SlopeStart(first(kQueryStart), first(kKeyStart));
    parts.slopes_of_roots = call.attributes[kShiftType].integer == 3;
  }
}

// Fills in the lengths of each batch, and the greatest of all.
void SetBatches(const OperatorCall& call, const Sizes& sizes, int64_t mode, int64_t rows,
                const engine::AttentionMemory& memory, engine::Attention& made) {
  engine::AttentionBatch* const batches = memory.batches;
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
}

// Adds the optional operands of the call: the output of logsumexp, the page table, the sinks, the shifts of scores (pseShift), the mask.
void SetOptional(const OperatorCall& call, const Sizes& sizes, int64_t mode, engine::Attention& made) {
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
  if (Has(call, kShift) && !HasSlopes(call))
    made.shift = Broadcast(TensorAt(call, kShift), OperandAt(call, kShift));
  if (Has(call, kMask) && mode <= 1 && !IsTemplateOfOneQuery(call, sizes)) {
    made.mask = Broadcast(TensorAt(call, kMask), OperandAt(call, kMask));
    // The first dim of a mask counts batches.
    const Shape& shape = TensorAt(call, kMask).shape;
    const int64_t first = ByteStride(PlainView(TensorAt(call, kMask)), 0);
    if (IsDecoding(sizes)) made.mask.row = 0;
    if (IsDecoding(sizes) || shape.rank > 2) made.mask.batch = first;
    made.mask.head = 0;
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
                         sizes.key_fractals.elements > 0 || HasPaddings(call) || MakesCodes(call);
  engine::AttentionMemory memory{};
  if (has_parts || made.has_lists) {
    memory = engine::ReserveAttentionParts(executor, rows, 2 * sizes.lists);
  } else {
    memory.batches = engine::ReserveAttentionBatches(executor, rows);
  }
  if (memory.batches == nullptr) return;
  // Without a mask all keys are visible.
  const bool sees_all =
      !Has(call, kMask) || IsDecoding(sizes) || (HasPaddings(call) && call.attributes[kMode].integer == 0);
  const int64_t mode = sees_all ? 1 : call.attributes[kMode].integer;
  SetBatches(call, sizes, mode, rows, memory, made);
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
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  made.keep = 1;
  made.log_of_no_keys =
      IsDecoding(sizes) ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::infinity();
  // The workspace does not depend on lengths: a client reuses the size that it got for other lengths.
  made.most_queries = sizes.query.rows;
  made.shift_first = call.attributes[kShiftType].integer == 1;
  if (memory.parts != nullptr) SetParts(call, sizes, made, *memory.parts);
  SetOptional(call, sizes, mode, made);
  executor.SetJob([&] { return engine::MakeAttentionJob(made, call.isa, call.threads, memory.parts); });
}

#define PORTACL_INFER_OPERATORS(X)                                                        \
  X(fused_infer_attention_score, FusedInferAttentionScore, kDtypes, kChecks)              \
  X(fused_infer_attention_score_v2, FusedInferAttentionScoreV2, kDtypes, kChecks)         \
  X(fused_infer_attention_score_v3, FusedInferAttentionScoreV3, kDtypes, kChecks)         \
  X(fused_infer_attention_score_v4, FusedInferAttentionScoreV4, kDtypesOfV4, kChecksOfV4) \
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
