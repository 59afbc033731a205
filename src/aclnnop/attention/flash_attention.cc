// aclnnFlashAttentionScore and aclnnFlashAttentionScoreGrad: attention that keeps each row's greatest score and sum of exponentials, and its
// gradients, which are made from these.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "acl/errors.h"
#include "acl/stream/thread_limit.h"
#include "aclnnop/aclnn_flash_attention_score.h"
#include "aclnnop/aclnn_flash_attention_score_grad.h"
#include "aclnnop/attention/heads.h"
#include "aclnnop/norm/statistics.h"
#include "aclnnop/operator_facts.h"

namespace portacl {
namespace {

using namespace attention;

constexpr int64_t kMostDepth = 768;
constexpr int64_t kTemplate = 2048;  // rows and columns of a mask whose content follows from the mode
constexpr int64_t kPrefixTemplate = 3072;
constexpr int64_t kModes = 7;

// ---- what both have, at the same places ----

enum Tensors { kQuery, kKey, kValue };
enum Attributes { kPrefix, kScale, kKeep, kBefore, kAfter, kHeadCount, kLayout, kPrecise, kMode };

// Where the tensors are that the operators have at places of their own.
struct Places {
  int shift;
  int kept;
  int mask;
  int greatest;
  int sum;
  int out;
};
enum Score { kShift = 3, kKept, kPadding, kMask, kGreatest, kSum, kSoftmax, kOut };
constexpr Places kOfScore{kShift, kKept, kMask, kGreatest, kSum, kOut};
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
constexpr Places kOfGrad{kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum, kGradOut};

Layout LayoutIn(const OperatorCall& call) noexcept { return LayoutOf(call.attributes[kLayout].text); }

// The sizes of a call whose layout and ranks are right.
struct Sizes {
  explicit Sizes(const OperatorCall& call) {
    const Layout layout = LayoutIn(call);
    query = HeadsOf(call.Tensor(kQuery), kQuery, layout, call.attributes[kHeadCount].integer);
    const bool is_joined = layout == Layout::kBsh || layout == Layout::kSbh;
    const int64_t joined = is_joined ? call.Tensor(kKey).view[2] : 0;
    key = HeadsOf(call.Tensor(kKey), kKey, layout, query.depth > 0 ? joined / query.depth : 0);
    value = HeadsOf(call.Tensor(kValue), kValue, layout, key.heads);
  }

  Heads query;
  Heads key;
  Heads value;
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

aclnnStatus LayoutFits(const Check& check, OperatorCall& call) noexcept {
  const Layout layout = LayoutIn(call);
  if (layout == Layout::kNone || layout >= Layout::kTnd)
    return RefuseAttribute(check, call, kLayout, "BSH, SBH, BNSD or BSND");
  for (const int tensor : {kQuery, kKey, kValue}) {
    if (call.Tensor(tensor).view.rank != RankOf(layout))
      return RefuseTensor(check, call, tensor, "3 dims in the layouts BSH and SBH, 4 in BNSD and BSND");
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
  const Shape& query = call.Tensor(kQuery).view;
  const int64_t heads = call.attributes[kHeadCount].integer;
  if (sizes.query.heads != heads || (query.rank == 3 && query[2] != heads * sizes.query.depth))
    return RefuseTensor(check, call, kQuery, "headNum heads");
  const Shape& key = call.Tensor(kKey).view;
  if (heads % sizes.key.heads != 0 || (key.rank == 3 && key[2] != sizes.key.heads * sizes.key.depth))
    return RefuseTensor(check, call, kKey, "heads that divide those of query");
  const Shape& value = call.Tensor(kValue).view;
  if (sizes.value.heads != sizes.key.heads || sizes.value.rows != sizes.key.rows ||
      (value.rank == 3 && value[2] != sizes.value.heads * sizes.value.depth))
    return RefuseTensor(check, call, kValue, "heads and rows of key");
  if (sizes.key.batches != sizes.query.batches) return RefuseTensor(check, call, kKey, "query's batch");
  if (sizes.value.batches != sizes.query.batches) return RefuseTensor(check, call, kValue, "query's batch");
  return ACL_SUCCESS;
}

// Whether a dim is `length`, or 1 where that is allowed.
bool IsDim(int64_t dim, int64_t length, bool or_one) { return dim == length || (or_one && dim == 1); }

template <const Places& at>
aclnnStatus ShiftFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, at.shift)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const Shape& shape = call.Tensor(at.shift).view;
  if (shape.rank == 4 && IsDim(shape[0], sizes.query.batches, true) && shape[1] == sizes.query.heads &&
      IsDim(shape[2], sizes.query.rows, true) && shape[3] == sizes.key.rows)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, at.shift, "[B or 1, N, Sq or 1, Skv]");
}

template <const Places& at>
aclnnStatus KeptFits(const Check& check, OperatorCall& call) noexcept {
  if (!IsThere(call, at.kept)) return ACL_SUCCESS;
  const Sizes sizes(call);
  const aclTensor& kept = call.Tensor(at.kept);
  const double bits = static_cast<double>(sizes.query.batches) * static_cast<double>(sizes.query.heads) *
                      static_cast<double>(sizes.query.rows) * static_cast<double>(sizes.key.rows);
  if (kept.dtype == ACL_UINT8 && (kept.contiguous || kept.view.rank == 1) &&
      static_cast<double>(kept.numel) * 8 >= bits)
    return ACL_SUCCESS;
  return RefuseTensor(check, call, at.kept,
                      "UINT8, contiguous or of one dim, a bit for each of B * N * Sq * Skv");
}

template <const Places& at>
aclnnStatus MaskFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t mode = call.attributes[kMode].integer;
  if (mode < 0 || mode >= kModes) return RefuseAttribute(check, call, kMode, "0 to 6");
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
    return RefuseTensor(check, call, at.mask, "[2048, 2048] in the modes 2 to 4, [3072, 2048] in mode 6");
  }
  bool fits = (shape.rank == 2 || shape.rank == 4) && rows == sizes.query.rows && columns == sizes.key.rows;
  if (shape.rank == 4) {
    fits = fits && IsDim(shape[0], sizes.query.batches, shape[1] == 1) &&
           IsDim(shape[1], sizes.query.heads, true);
  }
  return fits ? ACL_SUCCESS
              : RefuseTensor(check, call, at.mask,
                             "[Sq, Skv], [1, 1, Sq, Skv], [B, 1, Sq, Skv] or [B, N, Sq, Skv]");
}

template <const Places& at>
aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t mode = call.attributes[kMode].integer;
  if (!IsThere(call, at.mask)) return ACL_SUCCESS;
  if ((mode == 0 || mode == 4) && call.attributes[kBefore].integer < 0 && call.attributes[kAfter].integer < 0)
    return RefuseAttribute(check, call, kBefore, "at least 0, or a nextTokens of at least 0");
  if (mode == 5 || mode == 6) {
    const aclIntArray* const prefix = call.attributes[kPrefix].array;
    if (prefix == nullptr || std::ssize(prefix->values) < Sizes(call).query.batches) {
      return FailAclnn(check.code,
                       StartMessage(call).Add(
                           "parameter prefixOptional has no number for each batch, accepted: one each in "
                           "the modes 5 and 6."));
    }
  }
  return ACL_SUCCESS;
}

Shape StatisticShape(const Sizes& sizes) {
  Shape shape{};
  shape.rank = 4;
  shape.dim[0] = sizes.query.batches;
  shape.dim[1] = sizes.query.heads;
  shape.dim[2] = sizes.query.rows;
  shape.dim[3] = kStatisticCopies;
  return shape;
}

// The shape of what attention gives: query's with heads of value's length.
Shape ResultShape(const OperatorCall& call) {
  const Sizes sizes(call);
  Shape shape = call.Tensor(kQuery).view;
  shape.dim[shape.rank - 1] = shape.rank == 4 ? sizes.value.depth : sizes.value.depth * sizes.query.heads;
  return shape;
}

template <int tensor>
aclnnStatus IsResult(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = ResultShape(call);
  return call.Tensor(tensor).view == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}

template <int tensor>
aclnnStatus IsStatistic(const Check& check, OperatorCall& call) noexcept {
  const Shape accepted = StatisticShape(Sizes(call));
  if (call.Tensor(tensor).view != accepted) return RefuseShape(check, call, tensor, accepted);
  const Check is_float = WithCode(check.code, DtypesIn(DtypeSet(ACL_FLOAT), {tensor}));
  return is_float.run(is_float, call);
}

// An engine's attention, but for what is written.
template <const Places& at>
engine::Attention AttentionOf(const OperatorCall& call, const Sizes& sizes) {
  engine::Attention made{};
  made.batches = sizes.query.batches;
  made.heads = sizes.query.heads;
  made.group = sizes.query.heads / sizes.key.heads;
  made.queries = sizes.query.rows;
  made.keys = sizes.key.rows;
  made.depth = sizes.query.depth;
  made.value_depth = sizes.value.depth;
  made.query = sizes.query.operand;
  made.key = sizes.key.operand;
  made.value = sizes.value.operand;
  made.out = HeadsOf(call.Tensor(at.out), at.out, LayoutIn(call), sizes.query.heads).operand;
  made.greatest = Broadcast(call.Tensor(at.greatest), at.greatest);
  made.sum = Broadcast(call.Tensor(at.sum), at.sum);
  made.copies = kStatisticCopies;
  made.scale = static_cast<float>(call.attributes[kScale].wide);
  made.keep = static_cast<float>(call.attributes[kKeep].wide);
  made.shift_first = true;
  if (IsThere(call, at.shift)) made.shift = Broadcast(call.Tensor(at.shift), at.shift);
  if (IsThere(call, at.kept)) {
    made.kept = Broadcast(call.Tensor(at.kept), at.kept);
    if (call.Tensor(at.kept).view.rank > 1) made.kept.column = 1;
  }
  const int64_t mode = call.attributes[kMode].integer;
  made.before = kNoLimit;
  made.after = kNoLimit;
  if (IsThere(call, at.mask)) {
    SetWindow(mode, call.attributes[kBefore].integer, call.attributes[kAfter].integer, made);
    if (mode <= 1) made.mask = Broadcast(call.Tensor(at.mask), at.mask);
  }
  return made;
}

// False when there is no memory.
template <const Places& at>
bool SetBatches(const OperatorCall& call, const Sizes& sizes, Executor& executor) {
  engine::AttentionBatch* const batches = engine::ReserveAttentionBatches(executor, sizes.query.batches);
  if (batches == nullptr) return false;
  const int64_t mode = call.attributes[kMode].integer;
  const bool has_prefix = (mode == 5 || mode == 6) && IsThere(call, at.mask);
  for (int64_t b = 0; b < sizes.query.batches; ++b) {
    batches[b] = {sizes.query.rows, sizes.key.rows, 0, 0,
                  has_prefix ? call.Array(kPrefix)[static_cast<size_t>(b)] : 0};
  }
  return true;
}

// ---- FlashAttentionScore ----

template <int... tensors>
bool AllEmpty(const OperatorCall& call) noexcept {
  return (... && (!call.IsGiven(tensors) || call.Tensor(tensors).numel == 0));
}
aclnnStatus Done(const Check&, OperatorCall& call) noexcept {
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kShared = List(Own(HeadsGiven), Own(LayoutFits), Own(DepthsFit),
                              WithCode(kTiling, DtypesIn(kNoneBeforeAtlasA2, {kQuery})),
                              Own(KeepFits, kTiling), Own(HeadsFit, kTiling));

constexpr auto kScoreChecks = Join(
    List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), Own(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
         NotNull(kGreatest), NotNull(kSum), NotNull(kOut), If(AllEmpty<kGreatest, kSum, kOut>, Own(Done)),
         SameDtype(kQuery, kKey), SameDtype(kQuery, kValue), If(HasDims<kShift>, SameDtype(kQuery, kShift))),
    kShared,
    List(Own(ShiftFits<kOfScore>, kTiling), Own(KeptFits<kOfScore>, kTiling),
         Own(MaskFits<kOfScore>, kTiling), Own(TokensFit<kOfScore>, kTiling),
         Own(IsStatistic<kGreatest>, ACLNN_ERR_PARAM_NULLPTR),
         Own(IsStatistic<kSum>, ACLNN_ERR_PARAM_NULLPTR), Own(IsResult<kOut>, ACLNN_ERR_PARAM_NULLPTR),
         WithCode(ACLNN_ERR_PARAM_NULLPTR, SameDtype(kQuery, kOut)),
         SizesRepresentable({kGreatest, kSum, kOut}), InsideStorage({kQuery, kKey, kValue, kShift, kKept}),
         InsideStorage({kMask})));

void SetScore(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  // Without keys, or values of a length, there is nothing to sum.
  if (sizes.key.rows == 0) {
    const int zeros[] = {kGreatest, kSum, kOut};
    return SetZeroJob(call, zeros, sizes.value.depth == 0 ? 2 : 3, executor);
  }
  if (!SetBatches<kOfScore>(call, sizes, executor)) return;
  engine::SetAttentionJob(executor, AttentionOf<kOfScore>(call, sizes), JobIsa(), ThreadLimit());
}

// ---- FlashAttentionScoreGrad ----

aclnnStatus RanksOfGrad(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : std::initializer_list<int>{kQuery, kKey, kValue, kDy, kGradOut, kDq, kDk, kDv}) {
    if (call.Tensor(tensor).view.rank < 3) return RefuseTensor(check, call, tensor, "at least 3 dims");
  }
  return ACL_SUCCESS;
}

template <const Places& at>
aclnnStatus StatisticsGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {at.greatest, at.sum}) {
    const Check given = WithCode(check.code, NotNull(tensor));
    if (const aclnnStatus status = given.run(given, call)) return status;
  }
  return ACL_SUCCESS;
}

bool WantsShift(const OperatorCall& call) noexcept {
  return IsThere(call, kGradShift) && call.IsGiven(kDpse) && call.Tensor(kDpse).numel > 0;
}

constexpr aclnnStatus kInner = ACLNN_ERR_PARAM_NULLPTR;  // CANN's code of what fails inside

constexpr auto kGradChecks = Join(
    List(NotNull(kQuery), NotNull(kKey), NotNull(kValue), NotNull(kDy), NotNull(kGradOut), NotNull(kDq),
         NotNull(kDk), NotNull(kDv), Own(LayoutGiven, ACLNN_ERR_PARAM_NULLPTR),
         If(AllEmpty<kDq, kDk, kDv, kDpse>, Own(Done)), Own(HeadsGiven), Own(RanksOfGrad)),
    kShared,
    List(WithCode(kInner, SameDtype(kQuery, kKey)), WithCode(kInner, SameDtype(kQuery, kValue)),
         WithCode(kInner, SameDtype(kQuery, kDy)), WithCode(kInner, SameDtype(kQuery, kGradOut)),
         WithCode(kInner, SameDtype(kQuery, kDq)), WithCode(kInner, SameDtype(kQuery, kDk)),
         WithCode(kInner, SameDtype(kQuery, kDv)),
         If(HasDims<kGradShift>, WithCode(kInner, SameDtype(kQuery, kGradShift))),
         Own(ShiftFits<kOfGrad>, kTiling), Own(KeptFits<kOfGrad>, kTiling), Own(MaskFits<kOfGrad>, kTiling),
         Own(TokensFit<kOfGrad>, kTiling), Own(StatisticsGiven<kOfGrad>, kInner),
         Own(IsStatistic<kGradGreatest>, kInner), Own(IsStatistic<kGradSum>, kInner),
         Own(IsResult<kDy>, kInner), Own(IsResult<kGradOut>, kInner),
         WithCode(kInner, SameShape(kQuery, kDq)), WithCode(kInner, SameShape(kKey, kDk)),
         WithCode(kInner, SameShape(kValue, kDv)),
         If(WantsShift, WithCode(kInner, SameShape(kGradShift, kDpse))),
         If(WantsShift, WithCode(kInner, SameDtype(kGradShift, kDpse))),
         SizesRepresentable({kDq, kDk, kDv, kDpse}), InsideStorage({kQuery, kKey, kValue, kDy, kGradOut}),
         InsideStorage({kGradShift, kGradKept, kGradMask, kGradGreatest, kGradSum})));

void SetGrad(const OperatorCall& call, Executor& executor) {
  const Sizes sizes(call);
  const Layout layout = LayoutIn(call);
  if (sizes.query.IsEmpty() || sizes.key.IsEmpty() || sizes.value.IsEmpty()) {
    int zeros[4];
    int count = 0;
    for (const int tensor : {kDq, kDk, kDv, kDpse}) {
      if ((tensor != kDpse || WantsShift(call)) && call.Tensor(tensor).numel > 0) zeros[count++] = tensor;
    }
    return SetZeroJob(call, zeros, count, executor);
  }
  engine::Attention made = AttentionOf<kOfGrad>(call, sizes);
  const auto operand = [&](int tensor, int64_t heads) {
    return HeadsOf(call.Tensor(tensor), tensor, layout, heads).operand;
  };
  made.of_out = operand(kDy, sizes.query.heads);
  made.of_query = operand(kDq, sizes.query.heads);
  made.of_key = operand(kDk, sizes.key.heads);
  made.of_value = operand(kDv, sizes.key.heads);
  if (WantsShift(call)) made.of_shift = Broadcast(call.Tensor(kDpse), kDpse);
  if (!SetBatches<kOfGrad>(call, sizes, executor)) return;
  engine::SetAttentionGradientJob(executor, made, JobIsa(), ThreadLimit());
}

}  // namespace

namespace facts {
extern const OperatorFacts flash_attention_score, flash_attention_score_grad;
}

const OperatorFacts facts::flash_attention_score = {
    "aclnnFlashAttentionScore", "aclnnop/aclnn_flash_attention_score.h", kNoneBeforeAtlasA2,
    kNoneBeforeAtlasA2, /*by_promotion=*/false};
const OperatorFacts facts::flash_attention_score_grad = {
    "aclnnFlashAttentionScoreGrad", "aclnnop/aclnn_flash_attention_score_grad.h", kNoneBeforeAtlasA2,
    kNoneBeforeAtlasA2, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnFlashAttentionScoreGetWorkspaceSize(
    const aclTensor* query, const aclTensor* key, const aclTensor* value, const aclTensor* realShiftOptional,
    const aclTensor* dropMaskOptional, const aclTensor* paddingMaskOptional,
    const aclTensor* attenMaskOptional, const aclIntArray* prefixOptional, double scaleValue, double keepProb,
    int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise,
    int64_t sparseMode, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut,
    const aclTensor* softmaxOutOut, const aclTensor* attentionOutOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"query", query},
                                    {"key", key},
                                    {"value", value},
                                    {"realShiftOptional", realShiftOptional},
                                    {"dropMaskOptional", dropMaskOptional},
                                    {"paddingMaskOptional", paddingMaskOptional},
                                    {"attenMaskOptional", attenMaskOptional},
                                    {"softmaxMaxOut", softmaxMaxOut},
                                    {"softmaxSumOut", softmaxSumOut},
                                    {"softmaxOutOut", softmaxOutOut},
                                    {"attentionOutOut", attentionOutOut}};
  const Attribute attributes[] = {{"prefixOptional", prefixOptional},
                                  {"scaleValue", scaleValue},
                                  {"keepProb", keepProb},
                                  {"preTokens", preTokens},
                                  {"nextTokens", nextTokens},
                                  {"headNum", headNum},
                                  {"inputLayout", static_cast<const char*>(inputLayout)},
                                  {"innerPrecise", innerPrecise},
                                  {"sparseMode", sparseMode}};
  OperatorCall call{"aclnnFlashAttentionScore", tensors, attributes, /*in_place=*/false, /*output_count=*/4};
  return RunPhase1(call, kScoreChecks, workspaceSize, executor, SetScore);
}
PORTACL_PHASE_2(aclnnFlashAttentionScore)

aclnnStatus aclnnFlashAttentionScoreGradGetWorkspaceSize(
    const aclTensor* query, const aclTensor* keyIn, const aclTensor* value, const aclTensor* dy,
    const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional,
    const aclTensor* softmaxMaxOptional, const aclTensor* softmaxSumOptional,
    const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, double scaleValue, double keepProb, int64_t preTokens,
    int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode,
    const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor* dvOut, const aclTensor* dpseOut,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"query", query},
                                    {"keyIn", keyIn},
                                    {"value", value},
                                    {"dy", dy},
                                    {"pseShiftOptional", pseShiftOptional},
                                    {"dropMaskOptional", dropMaskOptional},
                                    {"paddingMaskOptional", paddingMaskOptional},
                                    {"attenMaskOptional", attenMaskOptional},
                                    {"softmaxMaxOptional", softmaxMaxOptional},
                                    {"softmaxSumOptional", softmaxSumOptional},
                                    {"softmaxInOptional", softmaxInOptional},
                                    {"attentionInOptional", attentionInOptional},
                                    {"dqOut", dqOut},
                                    {"dkOut", dkOut},
                                    {"dvOut", dvOut},
                                    {"dpseOut", dpseOut}};
  const Attribute attributes[] = {{"prefixOptional", prefixOptional},
                                  {"scaleValue", scaleValue},
                                  {"keepProb", keepProb},
                                  {"preTokens", preTokens},
                                  {"nextTokens", nextTokens},
                                  {"headNum", headNum},
                                  {"inputLayout", static_cast<const char*>(inputLayout)},
                                  {"innerPrecise", innerPrecise},
                                  {"sparseMode", sparseMode}};
  OperatorCall call{"aclnnFlashAttentionScoreGrad", tensors, attributes, /*in_place=*/false,
                    /*output_count=*/4};
  return RunPhase1(call, kGradChecks, workspaceSize, executor, SetGrad);
}
PORTACL_PHASE_2(aclnnFlashAttentionScoreGrad)
