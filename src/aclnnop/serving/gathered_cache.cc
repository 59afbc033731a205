// aclnnGatherPaKvCache: gathers rows of keys and values from paged caches.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_gather_pa_kv_cache.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;
using serving::TextOr;

enum Tensors { kKeyCache, kValueCache, kTable, kLengths, kKey, kValue, kSkipped };
enum Attributes { kCacheMode, kIsSummed };

constexpr DtypeSet kSinceA2 = kFloatHalfAndBf16 | DtypeSet{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_UINT16} |
                              DtypeSet{ACL_INT32, ACL_UINT32};
constexpr DtypeSet kOnAscend950 = kSinceA2 | DtypeSet{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeRule kDtypes = ByGeneration(kNoDtype, kSinceA2, kOnAscend950);

bool IsGrouped(const OperatorCall& call) {
  return std::strcmp(TextOr(call, kCacheMode, "Norm"), "PA_NZ") == 0;
}
int64_t Slots(const OperatorCall& call, int cache) {
  return call.Tensor(cache).shape[IsGrouped(call) ? 2 : 1];
}
int64_t Columns(const OperatorCall& call, int cache) {
  const Shape& shape = call.Tensor(cache).shape;
  return IsGrouped(call) ? shape[1] * shape[3] : shape[2] * shape[3];
}

aclnnStatus NothingToTake(const Check&, OperatorCall& call) noexcept {
  const auto is_empty = [&](int tensor) { return call.Tensor(tensor).shape.IsEmpty(); };
  const bool has_keys = !is_empty(kKeyCache) && !is_empty(kKey);
  const bool has_values = !is_empty(kValueCache) && !is_empty(kValue);
  if (is_empty(kTable) || is_empty(kLengths) || (!has_keys && !has_values))
    call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus CachesFit(const Check& check, OperatorCall& call) noexcept {
  const char* const mode = TextOr(call, kCacheMode, "Norm");
  if (!IsGrouped(call) && std::strcmp(mode, "Norm") != 0)
    return serving::RefuseText(check, call, kCacheMode, "Norm, PA_NZ");
  ShapeChecks checks(check, call);
  const int64_t batches = call.Tensor(kTable).shape[0];
  checks.Is(kLengths, Shape{batches + (Integer(call, kIsSummed) != 0 ? 1 : 0)});
  if (call.IsGiven(kSkipped)) checks.Is(kSkipped, Shape{batches});
  for (const int half : {0, 1}) {
    const aclTensor& cache = call.Tensor(kKeyCache + half);
    const aclTensor& rows = call.Tensor(kKey + half);
    if (cache.shape.IsEmpty() || rows.shape.IsEmpty()) continue;
    if (IsGrouped(call))
      checks.Holds(cache.shape[3] == serving::GroupLength(cache.dtype), kKeyCache + half,
                   "[blocks, N * D / c, block, c], c as many elements as 32 bytes hold");
    checks.Holds(rows.numel / rows.shape[0] == Columns(call, kKeyCache + half), kKey + half,
                 "rows of as many elements as the cache's");
  }
  const Shape& key = call.Tensor(kKey).shape;
  const Shape& value = call.Tensor(kValue).shape;
  if (!checks.Passed() || key.IsEmpty() || value.IsEmpty() || call.Tensor(kKeyCache).shape.IsEmpty() ||
      call.Tensor(kValueCache).shape.IsEmpty())
    return checks.status();
  checks.Holds(value[0] == key[0], kValue, "as many rows as keyRef");
  return checks
      .Holds(call.Tensor(kValueCache).shape[0] == call.Tensor(kKeyCache).shape[0] &&
                 Slots(call, kValueCache) == Slots(call, kKeyCache),
             kValueCache, "as many blocks as keyCache, as long as those")
      .status();
}

constexpr auto kChecks =
    Join(List(NotNull(kKeyCache), NotNull(kValueCache), NotNull(kTable), NotNull(kLengths), NotNull(kKey),
              NotNull(kValue), DtypesIn(kDtypes, {kKeyCache, kValueCache}), DtypesIn(kInt32Or64, {kTable}),
              SameDtype(kTable, kLengths), IfGiven<kSkipped>(SameDtype(kTable, kSkipped)),
              SameDtype(kKeyCache, kKey), SameDtype(kValueCache, kValue)),
         List(RankIs(4, {kKeyCache, kValueCache}), RankIs(2, {kTable}), RankIs(1, {kLengths}),
              RankAtLeast(2, {kKey, kValue}), RankAtMost(3, {kKey, kValue}),
              SizesRepresentable({kKey, kValue}), Custom(NothingToTake), Custom(CachesFit, kTiling),
              InsideStorage({kKeyCache, kValueCache, kTable, kLengths}),
              IfGiven<kSkipped>(InsideStorage({kSkipped}))));

void SetTaken(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const auto has = [&](int half) {
    return !call.Tensor(kKeyCache + half).shape.IsEmpty() && !call.Tensor(kKey + half).shape.IsEmpty();
  };
  const int first = has(0) ? 0 : 1;
  engine::ListSlots list{};
  list.table = ops.In(kTable, ACL_INT64);
  list.length = ops.In(kLengths, ACL_INT64);
  list.skipped = ops.InIfGiven(kSkipped, ACL_INT64);
  list.rows = call.Tensor(kKey + first).shape[0];
  list.slot = ops.Words(list.rows);
  list.batches = call.Tensor(kTable).shape[0];
  list.columns = call.Tensor(kTable).shape[1];
  list.pages = call.Tensor(kKeyCache + first).shape[0];
  list.slots = Slots(call, kKeyCache + first);
  list.is_summed = Integer(call, kIsSummed) != 0;
  ops.Compute(list, {list.table, list.length, list.skipped.buffer}, list.rows);
  for (const int half : {0, 1}) {
    if (!has(half)) continue;
    engine::TakeFromPages take{};
    take.from = serving::PagesOf(ops, call, kKeyCache + half, list.pages, list.slots,
                                 Columns(call, kKeyCache + half), IsGrouped(call), /*is_written=*/false);
    take.to = ops.Out(kKey + half, ACL_DT_UNDEFINED, /*keeps=*/true);
    take.slot = list.slot;
    take.rows = list.rows;
    take.threads = call.threads;
    ops.Compute(take, {take.from.buffer, take.to}, call.Tensor(kKey + half).numel);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnGatherPaKvCacheGetWorkspaceSize(const aclTensor* keyCache, const aclTensor* valueCache,
                                                 const aclTensor* blockTables, const aclTensor* seqLens,
                                                 aclTensor* keyRef, aclTensor* valueRef,
                                                 const aclTensor* seqOffsetOptional, char* cacheMode,
                                                 bool isSeqLensCumsum, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"keyCache", keyCache},
                                    {"valueCache", valueCache},
                                    {"blockTables", blockTables},
                                    {"seqLens", seqLens},
                                    {"keyRef", keyRef},
                                    {"valueRef", valueRef},
                                    {"seqOffsetOptional", seqOffsetOptional}};
  const Attribute attributes[] = {{"cacheMode", cacheMode},
                                  {"isSeqLensCumsum", static_cast<int64_t>(isSeqLensCumsum)}};
  OperatorCall call{"aclnnGatherPaKvCache", tensors, attributes, /*in_place=*/false, /*output_count=*/0};
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetTaken);
}
PORTACL_PHASE_2(aclnnGatherPaKvCache)
