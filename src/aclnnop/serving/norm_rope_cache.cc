// aclnnKvRmsNormRopeCache and V2, aclnnQkvRmsNormRopeCache: normalize and rotate rows of keys and values, and write them to caches.
// SPDX-License-Identifier: Apache-2.0

#include <strings.h>

#include "aclnnop/aclnn_qkv_rms_norm_rope_cache.h"
#include "aclnnop/jobs/normalized.h"
#include "aclnnop/serving/cache_rows.h"
#include "aclnnop/serving/norm_rope_cache_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;

using namespace serving;

// ---- KvRmsNormRopeCache ----

enum Kv {
  kKv,
  kGamma,
  kCos,
  kSin,
  kIndex,
  kKeyCache,
  kValueCache,
  kKeyScale,
  kValueScale,
  kKeyOffset,
  kValueOffset
};
enum KvAttributes { kEpsilon, kCacheMode, kIsOutput };
// Positions that change where values are a separate tensor; -1: there is none.
struct KvPositions {
  int values, key_out, value_out;
};
constexpr KvPositions kV1{-1, 11, 12};
constexpr KvPositions kV2{11, 12, 13};

struct CacheMode {
  const char* name;
  bool is_paged, is_grouped, is_by_page;
};
constexpr CacheMode kCacheModes[] = {{"Norm", false, false, false},      {"PA", true, false, false},
                                     {"PA_BNSD", true, false, false},    {"PA_NZ", true, true, false},
                                     {"PA_BLK_BNSD", true, false, true}, {"PA_BLK_NZ", true, true, true}};
const CacheMode* ModeOf(const OperatorCall& call) {
  for (const CacheMode& mode : kCacheModes) {
    if (std::strcmp(mode.name, TextOr(call, kCacheMode, "Norm")) == 0) return &mode;
  }
  return nullptr;
}
template <const KvPositions& positions>
bool HasValues(const OperatorCall& call) noexcept {
  return positions.values >= 0 && call.IsGiven(positions.values);
}

template <int cache, int like>
aclnnStatus CacheDtype(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(cache).dtype;
  if (dtype == ACL_INT8 || dtype == call.Tensor(like).dtype) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, cache);
  AddArgumentDtype(message.Add(", accepted: INT8, or as "), call, like);
  return FailAclnn(check.code, message.Add("."));
}

template <const KvPositions& positions>
aclnnStatus KvFits(const Check& check, OperatorCall& call) noexcept {
  const CacheMode* const mode = ModeOf(call);
  if (mode == nullptr)
    return serving::RefuseText(check, call, kCacheMode, "Norm, PA, PA_BNSD, PA_NZ, PA_BLK_BNSD, PA_BLK_NZ");
  ShapeChecks checks(check, call);
  for (const int tensor : {kKv, kCos, kKeyCache, kValueCache}) checks.Rank(tensor, 4, 4);
  checks.Rank(kGamma, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& kv = call.Tensor(kKv).shape;
  const Shape& cos = call.Tensor(kCos).shape;
  const Shape& keys = call.Tensor(kKeyCache).shape;
  const Shape& values = call.Tensor(kValueCache).shape;
  const int64_t turned = cos[3];
  const int64_t normed = call.Tensor(kGamma).shape[0];
  const bool has_values = HasValues<positions>(call);
  checks.Holds(kv[1] == 1, kKv, "one head");
  checks.Holds(
      turned > 0 && turned % 2 == 0 && cos[0] == kv[0] && cos[1] == 1 && (cos[2] == kv[2] || cos[2] == 1),
      kCos, "[B,1,S or 1,D], D even and above 0");
  checks.Is(kSin, cos);
  checks.Holds(
      normed > 0 && (has_values ? normed == kv[3] && turned <= normed : kv[3] - turned == normed), kGamma,
      has_values ? "kv's columns, of which as many are turned as cos has" : "kv's columns but those of cos");
  if (!checks.Passed()) return checks.status();
  int64_t value_columns = normed;
  const int64_t key_columns = has_values ? normed : turned;
  if (has_values) {
    checks.Rank(positions.values, 4, 4);
    if (!checks.Passed()) return checks.status();
    value_columns = call.Tensor(positions.values).shape[3];
    checks.Is(positions.values, Shape{kv[0], 1, kv[2], value_columns});
  }
  const auto cache_fits = [&](int cache, int64_t columns) {
    const aclTensor& tensor = call.Tensor(cache);
    const Shape& shape = tensor.shape;
    const int64_t group = serving::GroupLength(tensor.dtype);
    if (!mode->is_paged) {
      checks.Is(cache, Shape{kv[0], 1, shape[2], columns});
      return;
    }
    checks.Is(cache, Shape{shape[0], shape[1], 1, columns});
    checks.Holds(shape[1] % group == 0, cache, "pages of a multiple of 16 slots, of INT8 32");
    if (mode->is_grouped) checks.Holds(columns % group == 0, cache, "columns in groups of 32 bytes");
  };
  cache_fits(kKeyCache, key_columns);
  cache_fits(kValueCache, value_columns);
  if (mode->is_paged) {
    checks.Holds(values[0] == keys[0] && values[1] == keys[1], kValueCache,
                 "as many pages as kCacheRef, as long");
  } else {
    checks.Holds(values[2] == keys[2], kValueCache, "as long as kCacheRef");
  }
  if (!checks.Passed()) return checks.status();
  if (!mode->is_paged) {
    checks.Is(kIndex, Shape{kv[0], kv[2]});
  } else {
    const int64_t slots = std::max<int64_t>(keys[1], 1);
    checks.Is(kIndex, Shape{mode->is_by_page ? kv[0] * ((kv[2] + slots - 1) / slots) : kv[0] * kv[2]});
  }
  const auto scale_fits = [&](int cache, int scale, int offset, int64_t columns) {
    if (call.Tensor(cache).dtype != ACL_INT8) return;
    checks.Given(scale, "where the cache is INT8");
    for (const int tensor : {scale, offset}) {
      if (!checks.Passed() || !call.IsGiven(tensor)) continue;
      const int64_t count = call.Tensor(tensor).numel;
      checks.Holds(count == 1 || count == columns, tensor, "one element, or one of each column");
    }
  };
  scale_fits(kKeyCache, kKeyScale, kKeyOffset, key_columns);
  scale_fits(kValueCache, kValueScale, kValueOffset, value_columns);
  if (Integer(call, kIsOutput) == 0) return checks.status();
  checks.Is(positions.key_out, Shape{kv[0], 1, kv[2], key_columns});
  return checks.Is(positions.value_out, Shape{kv[0], 1, kv[2], value_columns}).status();
}

constexpr DtypeRule kHalfDtypes = SinceAtlasA2(serving::kHalves);
template <const KvPositions& positions>
constexpr auto KvChecks() {
  constexpr auto kStart = Join(
      List(NotNull(kKv), NotNull(kGamma), NotNull(kCos), NotNull(kSin), NotNull(kIndex), NotNull(kKeyCache),
           NotNull(kValueCache), NotNull(positions.key_out), NotNull(positions.value_out)),
      List(DtypesIn(kHalfDtypes, {kKv}), SameDtype(kKv, kGamma), SameDtype(kKv, kCos), SameDtype(kKv, kSin),
           DtypesIn(kInt64, {kIndex}), Custom(CacheDtype<kKeyCache, kKv>),
           Custom(CacheDtype<kValueCache, kKv>)));
  constexpr auto kScales = List(IfGiven<kKeyScale>(DtypesIn(kFloat, {kKeyScale})),
                                IfGiven<kValueScale>(DtypesIn(kFloat, {kValueScale})),
                                IfGiven<kKeyOffset>(DtypesIn(kFloat, {kKeyOffset})),
                                IfGiven<kValueOffset>(DtypesIn(kFloat, {kValueOffset})));
  constexpr auto kEnd = List(
      SameDtype(kKv, positions.key_out), SameDtype(kKv, positions.value_out),
      SizesRepresentable({kKeyCache, kValueCache, positions.key_out, positions.value_out}),
      Custom(KvFits<positions>, kTiling), Custom(NothingToPut),
      InsideStorage({kKv, kGamma, kCos, kSin, kIndex}), IfGiven<kKeyScale>(InsideStorage({kKeyScale})),
      IfGiven<kValueScale>(InsideStorage({kValueScale})), IfGiven<kKeyOffset>(InsideStorage({kKeyOffset})),
      IfGiven<kValueOffset>(InsideStorage({kValueOffset})));
  if constexpr (positions.values >= 0) {
    return Join(Join(kStart, kScales),
                Join(List(If(HasValues<positions>, SameDtype(kKv, positions.values))),
                     Join(kEnd, List(IfGiven<positions.values>(InsideStorage({positions.values}))))));
  } else {
    return Join(Join(kStart, kScales), kEnd);
  }
}
constexpr auto kKvChecks = KvChecks<kV1>();
constexpr auto kKvChecksV2 = KvChecks<kV2>();

template <const KvPositions& positions>
void SetKv(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const CacheMode& mode = *ModeOf(call);
  const Shape& kv = call.Tensor(kKv).shape;
  const Shape& cache = call.Tensor(kKeyCache).shape;
  const int64_t turned = call.Tensor(kCos).shape[3];
  const int64_t normed = call.Tensor(kGamma).shape[0];
  const bool has_values = HasValues<positions>(call);
  const int64_t rows = kv[0] * kv[2];
  CacheLayout layout{cache[0], mode.is_paged ? cache[1] : cache[2], mode.is_grouped, Slots::kEach, kv[2]};
  if (!mode.is_paged) layout.slots_of = Slots::kEachInBatch;
  if (mode.is_by_page) layout.slots_of = Slots::kPages;
  const engine::BufferRef slot = ops.In(kIndex);
  const engine::NumberRows source = ops.Rows(kKv);

  MakeRows key = StartRows(ops, rows, 1, has_values ? normed : turned);
  MakeRows value = StartRows(ops, rows, 1, has_values ? call.Tensor(positions.values).shape[3] : normed);
  key.source = value.source = source;
  key.pitch = value.pitch = kv[3];
  key.first = has_values ? 0 : normed;
  MakeRows& with_norm = has_values ? key : value;
  with_norm.gamma = ops.Rows(kGamma);
  with_norm.epsilon = FloatNumber(call, kEpsilon);
  if (has_values) {
    value.source = ops.Rows(positions.values);
    value.pitch = value.width;
  }
  key.turned = turned;
  key.is_interleaved = true;
  key.angle_rows = call.Tensor(kCos).shape[2] == 1 ? kv[2] : 1;
  key.cos = ops.Rows(kCos);
  key.sin = ops.Rows(kSin);
  if (Integer(call, kIsOutput) != 0) {
    key.to = ops.RowsOut(positions.key_out);
    value.to = ops.RowsOut(positions.value_out);
  }
  if (call.Tensor(kKeyCache).dtype == ACL_INT8)
    key.quantiser = Quantiser(call, ops, kKeyScale, kKeyOffset, /*divides=*/false);
  if (call.Tensor(kValueCache).dtype == ACL_INT8)
    value.quantiser = Quantiser(call, ops, kValueScale, kValueOffset, /*divides=*/false);
  ComputeAndPut(call, ops, key, kKeyCache, slot, layout);
  ComputeAndPut(call, ops, value, kValueCache, slot, layout);
  ops.SetJob();
}

// ---- QkvRmsNormRopeCache ----

enum Qkv {
  kQkv,
  kQueryGamma,
  kKeyGamma,
  kQkvCos,
  kQkvSin,
  kQkvIndex,
  kQuery,
  kQkvKeys,
  kQkvValues,
  kQkvKeyScale,
  kQkvValueScale,
  kQkvKeyOffset,
  kQkvValueOffset,
  kQueryBefore,
  kKeyBefore,
  kValueBefore
};
enum QkvAttributes { kSize, kHeads, kQkvEpsilon, kQkvCacheMode };

struct HeadsOfQkv {
  int64_t rows, tokens, width, query, key, value;
};
HeadsOfQkv SizesOf(const OperatorCall& call) {
  const auto& size = call.Array(kSize);
  const auto& heads = call.Array(kHeads);
  return {size[0] * size[1], size[1], size[3], heads[0], heads[1], heads[2]};
}

aclnnStatus QkvFits(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kMost = int64_t{1} << 20;
  if (std::strcmp(TextOr(call, kQkvCacheMode, "PA_NZ"), "PA_NZ") != 0)
    return serving::RefuseText(check, call, kQkvCacheMode, "PA_NZ");
  const auto are_small = [](const std::vector<int64_t>& values, size_t count) {
    return values.size() == count &&
           std::all_of(values.begin(), values.end(), [](int64_t v) { return v >= 0 && v <= kMost; });
  };
  if (!are_small(call.Array(kSize), 4))
    return RefuseArray(check, call, kSize, " is not of 4 sizes", "B, S, N, D, each 0 to 1048576");
  if (!are_small(call.Array(kHeads), 3))
    return RefuseArray(check, call, kHeads, " is not of 3 numbers of heads", "3 numbers, each 0 to 1048576");
  const HeadsOfQkv sizes = SizesOf(call);
  ShapeChecks checks(check, call);
  checks.HoldsOf(call.Array(kSize)[2] == sizes.query + sizes.key + sizes.value, kSize,
                 "as many heads as headNums");
  checks.HoldsOf(sizes.width > 0 && sizes.width % 2 == 0, kSize, "heads of an even number of elements");
  checks.HoldsOf(sizes.query > 0 && sizes.key > 0 && sizes.value > 0, kHeads, "numbers above 0");
  if (!checks.Passed()) return checks.status();
  checks.Is(kQkv, Shape{sizes.rows, call.Array(kSize)[2] * sizes.width});
  checks.Is(kQueryGamma, Shape{sizes.width}).Is(kKeyGamma, Shape{sizes.width});
  checks.Rank(kQkvCos, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& cos = call.Tensor(kQkvCos).shape;
  checks.Holds(cos[1] == sizes.width && (cos[0] == sizes.rows || cos[0] == call.Array(kSize)[0]), kQkvCos,
               "[B * S or B,D]");
  checks.Is(kQkvSin, cos)
      .Is(kQkvIndex, Shape{sizes.rows})
      .Is(kQuery, Shape{sizes.rows, sizes.query * sizes.width});
  for (const int half : {0, 1}) {
    const int cache = kQkvKeys + half;
    const int64_t columns = (half == 0 ? sizes.key : sizes.value) * sizes.width;
    const int64_t group = serving::GroupLength(call.Tensor(cache).dtype);
    checks.Rank(cache, 4, 4);
    if (!checks.Passed()) return checks.status();
    const Shape& shape = call.Tensor(cache).shape;
    checks.Holds(columns % group == 0, cache, "rows of groups of 32 bytes");
    checks.Is(cache, Shape{shape[0], columns / group, shape[2], group});
    if (call.Tensor(cache).dtype == ACL_INT8) {
      checks.Given(kQkvKeyScale + half, "where the cache is INT8");
      for (const int tensor : {kQkvKeyScale + half, kQkvKeyOffset + half})
        checks.IsIfGiven(tensor, Shape{columns / sizes.width, sizes.width});
    }
  }
  const Shape& keys = call.Tensor(kQkvKeys).shape;
  const Shape& values = call.Tensor(kQkvValues).shape;
  checks.Holds(values[0] == keys[0] && values[2] == keys[2], kQkvValues, "as many blocks as kCache, as long");
  const int64_t heads[] = {sizes.query, sizes.key, sizes.value};
  for (const int part : {0, 1, 2})
    checks.IsIfGiven(kQueryBefore + part, Shape{sizes.rows, heads[part] * sizes.width});
  return checks.status();
}

constexpr auto kQkvChecks =
    Join(Join(List(NotNull(kQkv), NotNull(kQueryGamma), NotNull(kKeyGamma), NotNull(kQkvCos),
                   NotNull(kQkvSin), NotNull(kQkvIndex), NotNull(kQuery), NotNull(kQkvKeys),
                   NotNull(kQkvValues), ArrayNotNull(kSize), ArrayNotNull(kHeads)),
              List(DtypesIn(kHalfDtypes, {kQkv}), SameDtype(kQkv, kQueryGamma), SameDtype(kQkv, kKeyGamma),
                   SameDtype(kQkv, kQkvCos), SameDtype(kQkv, kQkvSin), DtypesIn(kInt64, {kQkvIndex}),
                   SameDtype(kQkv, kQuery), Custom(CacheDtype<kQkvKeys, kQkv>),
                   Custom(CacheDtype<kQkvValues, kQkv>))),
         Join(List(IfGiven<kQkvKeyScale>(DtypesIn(kFloat, {kQkvKeyScale})),
                   IfGiven<kQkvValueScale>(DtypesIn(kFloat, {kQkvValueScale})),
                   IfGiven<kQkvKeyOffset>(DtypesIn(kFloat, {kQkvKeyOffset})),
                   IfGiven<kQkvValueOffset>(DtypesIn(kFloat, {kQkvValueOffset})),
                   IfGiven<kQueryBefore>(SameDtype(kQkv, kQueryBefore)),
                   IfGiven<kKeyBefore>(SameDtype(kQkv, kKeyBefore)),
                   IfGiven<kValueBefore>(SameDtype(kQkv, kValueBefore))),
              List(SizesRepresentable({kQuery, kQkvKeys, kQkvValues}), Custom(QkvFits, kTiling),
                   Custom(NothingToPut), InsideStorage({kQkv, kQueryGamma, kKeyGamma, kQkvCos, kQkvSin}),
                   InsideStorage({kQkvIndex}), IfGiven<kQkvKeyScale>(InsideStorage({kQkvKeyScale})),
                   IfGiven<kQkvValueScale>(InsideStorage({kQkvValueScale})),
                   IfGiven<kQkvKeyOffset>(InsideStorage({kQkvKeyOffset})),
                   IfGiven<kQkvValueOffset>(InsideStorage({kQkvValueOffset})))));

void SetQkv(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const HeadsOfQkv sizes = SizesOf(call);
  const Shape& cache = call.Tensor(kQkvKeys).shape;
  const CacheLayout layout{cache[0], cache[2], /*is_grouped=*/true, Slots::kEach, sizes.rows};
  const engine::BufferRef slot = ops.In(kQkvIndex);
  const engine::NumberRows source = ops.Rows(kQkv);
  const engine::NumberRows cos = ops.Rows(kQkvCos);
  const engine::NumberRows sin = ops.Rows(kQkvSin);
  const int64_t heads[] = {sizes.query, sizes.key, sizes.value};
  int64_t first = 0;
  for (const int part : {0, 1, 2}) {
    MakeRows made = StartRows(ops, sizes.rows, heads[part], sizes.width);
    made.source = source;
    made.pitch = (sizes.query + sizes.key + sizes.value) * sizes.width;
    made.first = first;
    first += heads[part] * sizes.width;
    if (part < 2) {
      made.gamma = ops.Rows(part == 0 ? kQueryGamma : kKeyGamma);
      made.epsilon = FloatNumber(call, kQkvEpsilon);
      made.turned = sizes.width;
      made.angle_rows = call.Tensor(kQkvCos).shape[0] == sizes.rows ? 1 : sizes.tokens;
      made.cos = cos;
      made.sin = sin;
    }
    const int before = kQueryBefore + part;
    if (part == 0) {
      made.to = ops.RowsOut(kQuery);
      Compute(ops, made);
      if (!call.IsGiven(before)) continue;
      made.to = ops.RowsOut(before);
      Compute(ops, made);
      continue;
    }
    made.to = call.IsGiven(before) ? ops.RowsOut(before) : engine::NumberRows{};
    const int table = kQkvKeys + part - 1;
    if (call.Tensor(table).dtype == ACL_INT8)
      made.quantiser =
          Quantiser(call, ops, kQkvKeyScale + part - 1, kQkvKeyOffset + part - 1, /*divides=*/true);
    ComputeAndPut(call, ops, made, table, slot, layout);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnKvRmsNormRopeCache) {
  return dense::RunOpList(call, kKvChecks, workspaceSize, executor, SetKv<kV1>);
}
PORTACL_PHASE_1(aclnnKvRmsNormRopeCacheV2) {
  return dense::RunOpList(call, kKvChecksV2, workspaceSize, executor, SetKv<kV2>);
}

aclnnStatus aclnnQkvRmsNormRopeCacheGetWorkspaceSize(
    const aclTensor* qkv, const aclTensor* qGamma, const aclTensor* kGamma, const aclTensor* cos,
    const aclTensor* sin, const aclTensor* index, aclTensor* qOut, aclTensor* kCache, aclTensor* vCache,
    const aclTensor* kScaleOptional, const aclTensor* vScaleOptional, const aclTensor* kOffsetOptional,
    const aclTensor* vOffsetOptional, const aclIntArray* qkvSize, const aclIntArray* headNums, double epsilon,
    char* cacheModeOptional, const aclTensor* qOutBeforeQuant, const aclTensor* kOutBeforeQuant,
    const aclTensor* vOutBeforeQuant, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"qkv", qkv},
                                    {"qGamma", qGamma},
                                    {"kGamma", kGamma},
                                    {"cos", cos},
                                    {"sin", sin},
                                    {"index", index},
                                    {"qOut", qOut},
                                    {"kCache", kCache},
                                    {"vCache", vCache},
                                    {"kScaleOptional", kScaleOptional},
                                    {"vScaleOptional", vScaleOptional},
                                    {"kOffsetOptional", kOffsetOptional},
                                    {"vOffsetOptional", vOffsetOptional},
                                    {"qOutBeforeQuant", qOutBeforeQuant},
                                    {"kOutBeforeQuant", kOutBeforeQuant},
                                    {"vOutBeforeQuant", vOutBeforeQuant}};
  const Attribute attributes[] = {{"qkvSize", qkvSize},
                                  {"headNums", headNums},
                                  {"epsilon", epsilon},
                                  {"cacheModeOptional", cacheModeOptional}};
  OperatorCall call{"aclnnQkvRmsNormRopeCache", tensors, attributes, /*in_place=*/false, /*output_count=*/3};
  return dense::RunOpList(call, kQkvChecks, workspaceSize, executor, SetQkv);
}
PORTACL_PHASE_2(aclnnQkvRmsNormRopeCache)
