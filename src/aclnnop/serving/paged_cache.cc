// aclnnScatterPaKvCache, aclnnScatterPaCache: scatter rows of keys and values to the slots of a paged cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "aclnnop/aclnn_scatter_pa_cache.h"
#include "aclnnop/aclnn_scatter_pa_kv_cache.h"
#include "aclnnop/jobs/floor_divide.h"
#include "aclnnop/stage_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr DtypeSet kBeforeAscend950{ACL_FLOAT16, ACL_BF16, ACL_INT8};
constexpr DtypeSet kOnAscend950 =
    kBeforeAscend950 | DtypeSet{ACL_FLOAT, ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32, ACL_UINT32} |
    DtypeSet{ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeRule kDtypes = ByGeneration(kNoDtype, kBeforeAscend950, kOnAscend950);
constexpr DtypeRule kSingleDtypes = ByGeneration(kNoDtype, kNoDtype, kOnAscend950);
constexpr DtypeSet kSlotDtypes{ACL_INT32, ACL_INT64};

// CANN's codes for null tensors, and for calls that a kernel's own checks refuse.
constexpr aclnnStatus kNull = ACLNN_ERR_INNER_NULLPTR;
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

enum Tensors { kKey, kKeyCache, kSlots, kValue, kValueCache, kLens, kOffsets, kSeqLens };
enum Attributes { kCacheMode, kScatterMode };

const char* CacheMode(const OperatorCall& call) {
  const char* const text = call.attributes[kCacheMode].text;
  return text == nullptr ? "Norm" : text;
}
// Tells whether a row is split into groups of 32 bytes. The slots of a group are adjacent.
bool IsGrouped(const OperatorCall& call) noexcept { return std::strcmp(CacheMode(call), "PA_NZ") == 0; }
bool IsPlain(const OperatorCall& call) noexcept { return !IsGrouped(call); }
int64_t GroupLength(const StridedView& cache) {
  constexpr int64_t kGroupBytes = 32;
  return kGroupBytes * 8 / static_cast<int64_t>(StorageBits(cache.dtype));
}

aclnnStatus CacheModeIsKnown(const Check& check, OperatorCall& call) noexcept {
  if (IsGrouped(call) || std::strcmp(CacheMode(call), "Norm") == 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.attributes[kCacheMode].name)
                                   .Add(" is \"")
                                   .Add(CacheMode(call))
                                   .Add("\", accepted: Norm, PA_NZ, or a null pointer."));
}
aclnnStatus ScatterModeIsNone(const Check& check, OperatorCall& call) noexcept {
  const char* const text = call.attributes[kScatterMode].text;
  if (text == nullptr || *text == '\0' || std::strcmp(text, "None") == 0) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call)
                       .Add("parameter scatterModeOptional is \"")
                       .Add(text)
                       .Add("\", which is not supported, accepted: None, an empty text, or a null pointer."));
}

// An empty value tensor counts as none.
bool HasValues(const OperatorCall& call) noexcept {
  return call.IsGiven(kValue) && call.Tensor(kValue).numel != 0 && call.Tensor(kValue).shape.rank != 0;
}
bool IsValueGiven(const OperatorCall& call) noexcept { return call.IsGiven(kValue); }
bool AreBothGiven(const OperatorCall& call) noexcept {
  return call.IsGiven(kValue) && call.IsGiven(kValueCache);
}
bool ArePlainAndGiven(const OperatorCall& call) noexcept { return IsPlain(call) && AreBothGiven(call); }
template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}

aclnnStatus NothingToWrite(const Check&, OperatorCall& call) noexcept {
  const bool has_keys = !call.Tensor(kKey).shape.IsEmpty() && !call.Tensor(kKeyCache).shape.IsEmpty();
  const bool has_values =
      HasValues(call) && call.IsGiven(kValueCache) && !call.Tensor(kValueCache).shape.IsEmpty();
  if (!has_keys && !has_values) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus ValueRank(const Check& check, OperatorCall& call) noexcept {
  const int rank = call.Tensor(kValue).shape.rank;
  if (rank == 0 || rank == 3 || rank == 4) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kValue);
  return FailAclnn(check.code, message.Add(", accepted: 0, 3 or 4 dims."));
}

// Returns the number of elements of some dims, or -1 on overflow.
int64_t CountOf(const Shape& shape, int first, int count) {
  Shape dims;
  dims.rank = count;
  std::copy_n(shape.dim + first, count, dims.dim);
  int64_t elements = 0;
  return dims.Numel(&elements) ? elements : -1;
}

template <int rows>
aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(rows).shape;
  const Shape accepted{CountOf(shape, 0, shape.rank - 2)};
  return call.Tensor(kSlots).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kSlots, accepted);
}

template <int rows, int cache>
aclnnStatus CacheFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(rows).shape;
  const Shape& pages = call.Tensor(cache).shape;
  const int64_t heads = shape[shape.rank - 2];
  const int64_t length = shape[shape.rank - 1];
  if (!IsGrouped(call)) {
    if (pages.rank == 4 && pages[2] == heads && pages[3] == length) return ACL_SUCCESS;
    const bool has_pages = pages.rank >= 2;
    return RefuseShape(check, call, cache,
                       Shape{has_pages ? pages[0] : 0, has_pages ? pages[1] : 0, heads, length});
  }
  const int64_t group = GroupLength(call.Tensor(cache));
  const int64_t row = CountOf(shape, shape.rank - 2, 2);
  const bool fits_4 =
      pages.rank == 4 && row >= 0 && row % group == 0 && pages[1] == row / group && pages[3] == group;
  const bool fits_5 = pages.rank == 5 && length % group == 0 && pages[1] == heads &&
                      pages[2] == length / group && pages[4] == group;
  if (fits_4 || fits_5) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, cache).Add(" does not go with ");
  AddArgumentShape(message, call, rows).Add(", accepted: [blocks, ").Add(heads).Add(" * D / ").Add(group);
  message.Add(", block, ").Add(group).Add("] or [blocks, ").Add(heads).Add(", D / ").Add(group);
  return FailAclnn(check.code,
                   message.Add(", block, ").Add(group).Add("], what is divided a multiple of the last."));
}

constexpr auto kPairChecks = Join(
    List(WithCode(kNull, NotNull(kKey)), WithCode(kNull, NotNull(kKeyCache)),
         WithCode(kNull, NotNull(kSlots)), If(IsValueGiven, WithCode(kNull, NotNull(kValueCache))),
         Custom(NothingToWrite), RankAtLeast(3, {kKey}), RankAtMost(4, {kKey}),
         If(IsValueGiven, Custom(ValueRank)), DtypesIn(kDtypes, {kKey}), SameDtype(kKey, kKeyCache),
         If(AreBothGiven, SameDtype(kValue, kValueCache)), If(ArePlainAndGiven, SameDtype(kKey, kValue))),
    List(DtypesIn(kSlotDtypes, {kSlots}), If(IsThere<kLens>, SameDtype(kSlots, kLens)),
         If(IsThere<kOffsets>, SameDtype(kSlots, kOffsets)),
         If(IsThere<kSeqLens>, SameDtype(kSlots, kSeqLens)), If(HasValues, DtypesIn(kDtypes, {kValue})),
         Custom(CacheModeIsKnown, kTiling), Custom(ScatterModeIsNone, kNull),
         SizesRepresentable({kKeyCache, kValueCache}), Custom(TokensFit<kKey>, kTiling),
         Custom(CacheFits<kKey, kKeyCache>, kTiling), If(HasValues, Custom(TokensFit<kValue>, kTiling)),
         If(HasValues, Custom(CacheFits<kValue, kValueCache>, kTiling)), PromotesToDtypeOf(kSlots),
         InsideStorage({kKey, kSlots}), If(HasValues, InsideStorage({kValue}))));

constexpr auto kSingleChecks = List(
    WithCode(kNull, NotNull(kKey)), WithCode(kNull, NotNull(kKeyCache)), WithCode(kNull, NotNull(kSlots)),
    DoneIfEmpty({kKey, kKeyCache}), RankAtLeast(3, {kKey}), RankAtMost(4, {kKey}),
    DtypesIn(kSingleDtypes, {kKey}), SameDtype(kKey, kKeyCache), DtypesIn(kSlotDtypes, {kSlots}),
    Custom(CacheModeIsKnown, kTiling), SizesRepresentable({kKeyCache}), Custom(TokensFit<kKey>, kTiling),
    Custom(CacheFits<kKey, kKeyCache>, kTiling), PromotesToDtypeOf(kSlots), InsideStorage({kKey, kSlots}));

// Returns the slot of each token as an index. It has the loop's shape, and repeats along the dims of a row.
engine::IndexView IndexOf(const MappedView& slots, const StridedView& rows, int leading, const char* name,
                          StridedView& view) {
  Shape tokens = rows.shape;
  tokens.rank = leading;
  view = slots.tensor;
  FillShape(view, tokens, view.shape.rank == 0 ? 1 : view.strides[0]);
  while (view.shape.rank < rows.shape.rank) InsertDim(view, view.shape.rank, rows.shape[view.shape.rank], 0);
  return {.view = &view, .operand = slots.operand, .name = name, .repeated = ~engine::DimBits(0, leading)};
}

// Copies rows to a dense tensor with heads and columns in one dim, since their groups span several heads. The
// slot serves as an index with stride 0: rows whose slot lies outside the cache are not read either.
MappedView Packed(StageList& stages, const OperatorCall& call, const MappedView& slots,
                  const MappedView& rows, int leading, int64_t bound) {
  MappedView packed = stages.Scratch(rows.tensor.shape, rows.tensor.dtype);
  StridedView view;
  engine::IndexView index = IndexOf(slots, rows.tensor, leading, call.Name(kSlots), view);
  index.bound = bound;
  index.step = 0;
  stages.Indexed(engine::IndexedAction::kTake, packed, rows, &index, 1, /*raises=*/false);
  Shape flat = rows.tensor.shape;
  flat.rank = leading + 1;
  flat.dim[leading] *= rows.tensor.shape[leading + 1];
  FillShape(packed.tensor, flat, 1);
  return packed;
}

// Adds the copy of rows to slots. A slot numbers a block and a position within it. If blocks are contiguous,
// one stride leads from slot to row. Otherwise the block's number adds the difference. Slots outside the
// cache are skipped. If slots repeat, the last row wins.
void AddRows(StageList& stages, const OperatorCall& call, int from, int to) {
  MappedView rows{PlainView(call.Tensor(from)), call.OperandOf(from)};
  MappedView cache{PlainView(call.Tensor(to)), call.OperandOf(to)};
  const MappedView slots{PlainView(call.Tensor(kSlots)), call.OperandOf(kSlots)};
  const int leading = rows.tensor.shape.rank - 2;
  int slot_dim = 1;
  if (IsGrouped(call)) {
    const int64_t group = GroupLength(cache.tensor);
    if (rows.tensor.shape[leading + 1] % group == 0) {
      SplitDim(rows.tensor, leading + 1, group);
      if (cache.tensor.shape.rank == 4) SplitDim(cache.tensor, 1, rows.tensor.shape[leading + 1]);
      slot_dim = 3;
    } else {
      rows = Packed(stages, call, slots, rows, leading, cache.tensor.shape[0] * cache.tensor.shape[2]);
      SplitDim(rows.tensor, leading, group);
      slot_dim = 2;
    }
  }
  const int64_t blocks = cache.tensor.shape[0];
  const int64_t length = cache.tensor.shape[slot_dim];
  const int64_t of_block = cache.tensor.strides[0];
  const int64_t of_slot = cache.tensor.strides[slot_dim];

  MappedView target = cache;
  target.tensor.shape = target.tensor.strides = rows.tensor.shape;
  for (int dim = 0; dim < leading; ++dim) target.tensor.strides.dim[dim] = 0;
  int own = leading;
  for (int dim = 1; dim < cache.tensor.shape.rank; ++dim) {
    if (dim != slot_dim) target.tensor.strides.dim[own++] = cache.tensor.strides[dim];
  }

  StridedView views[2];
  engine::IndexView indices[2];
  int count = 1;
  indices[0] = IndexOf(slots, rows.tensor, leading, call.Name(kSlots), views[0]);
  indices[0].bound = blocks * length;
  indices[0].step = of_slot;
  // INT32 slots cannot leave a first block that is longer than their range.
  const bool is_first_alone = slots.tensor.dtype == ACL_INT32 && length > std::numeric_limits<int32_t>::max();
  if (of_block != length * of_slot && !is_first_alone) {
    const MappedView numbers = stages.Scratch(slots.tensor.shape, slots.tensor.dtype);
    engine::Scalars scalars;
    if (slots.tensor.dtype == ACL_INT32) {
      const auto divisor = static_cast<int32_t>(length);
      std::memcpy(scalars.bytes[0], &divisor, sizeof divisor);
    } else {
      std::memcpy(scalars.bytes[0], &length, sizeof length);
    }
    stages.Map({slots}, numbers, FlooredQuotientByScalarKernels(), scalars);
    indices[1] = IndexOf(numbers, rows.tensor, leading, call.Name(kSlots), views[1]);
    indices[1].bound = blocks;
    indices[1].step = of_block - length * of_slot;
    count = 2;
  }
  stages.Indexed(engine::IndexedAction::kPut, rows, target, indices, count, /*raises=*/false);
}

bool HasElements(const OperatorCall& call, int tensor) { return !call.Tensor(tensor).shape.IsEmpty(); }

void SetPair(const OperatorCall& call, Executor& executor) {
  StageList stages(call, executor, 6);
  if (HasElements(call, kKey) && HasElements(call, kKeyCache)) AddRows(stages, call, kKey, kKeyCache);
  if (HasValues(call) && HasElements(call, kValueCache)) AddRows(stages, call, kValue, kValueCache);
  stages.SetJob();
}

void SetSingle(const OperatorCall& call, Executor& executor) {
  StageList stages(call, executor, 3);
  AddRows(stages, call, kKey, kKeyCache);
  stages.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

// The caches that are written count among the inputs.
aclnnStatus aclnnScatterPaKvCacheGetWorkspaceSize(
    const aclTensor* key, aclTensor* keyCacheRef, const aclTensor* slotMapping, const aclTensor* value,
    aclTensor* valueCacheRef, const aclTensor* compressLensOptional,
    const aclTensor* compressSeqOffsetOptional, const aclTensor* seqLensOptional, char* cacheModeOptional,
    char* scatterModeOptional, const aclIntArray* stridesOptional, const aclIntArray* offsetsOptional,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"key", key},
                                    {"keyCacheRef", keyCacheRef},
                                    {"slotMapping", slotMapping},
                                    {"value", value},
                                    {"valueCacheRef", valueCacheRef},
                                    {"compressLensOptional", compressLensOptional},
                                    {"compressSeqOffsetOptional", compressSeqOffsetOptional},
                                    {"seqLensOptional", seqLensOptional}};
  const Attribute attributes[] = {{"cacheModeOptional", cacheModeOptional},
                                  {"scatterModeOptional", scatterModeOptional},
                                  {"stridesOptional", stridesOptional},
                                  {"offsetsOptional", offsetsOptional}};
  OperatorCall call{"aclnnScatterPaKvCache", tensors, attributes, /*in_place=*/false, /*output_count=*/0};
  return RunPhase1(call, kPairChecks, workspaceSize, executor, SetPair);
}
PORTACL_PHASE_2(aclnnScatterPaKvCache)

aclnnStatus aclnnScatterPaCacheGetWorkspaceSize(const aclTensor* key, aclTensor* keyCacheRef,
                                                const aclTensor* slotMapping,
                                                const aclTensor* compressLensOptional,
                                                const aclTensor* compressSeqOffsetOptional,
                                                const aclTensor* seqLensOptional, char* cacheMode,
                                                uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"key", key},
                                    {"keyCacheRef", keyCacheRef},
                                    {"slotMapping", slotMapping},
                                    {"compressLensOptional", compressLensOptional},
                                    {"compressSeqOffsetOptional", compressSeqOffsetOptional},
                                    {"seqLensOptional", seqLensOptional}};
  const Attribute attributes[] = {{"cacheMode", cacheMode}};
  OperatorCall call{"aclnnScatterPaCache", tensors, attributes, /*in_place=*/false, /*output_count=*/0};
  return RunPhase1(call, kSingleChecks, workspaceSize, executor, SetSingle);
}
PORTACL_PHASE_2(aclnnScatterPaCache)
