// aclnnMoeDistributeDispatch and aclnnMoeDistributeCombine: tokens travel to the ranks of their experts and back.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/distribute_functions.h"

#include <algorithm>
#include <cstring>

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/heads.h"
#include "engine/route/normed_rows.h"
#include "engine/route/rank_routes.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::RankRoutes;

// The attributes with which both operators begin. An attribute that a version lacks is 0 or null.
enum Attributes {
  kGroup,
  kRanks,
  kRank,
  kExperts,
  kTpGroup,
  kTpRanks,
  kTpRank,
  kShardType,
  kShared,
  kSharedRanks,
  kGlobalTokens,
  kZeros,
  kCopies,
  kConstants,
  kOwn,  // attributes of each operator's own follow
};
// Attributes of aclnnMoeDistributeDispatch, and of aclnnMoeDistributeCombine.
enum DispatchAttributes { kQuantMode = kOwn, kCountsType, kIsFirst };
enum CombineAttributes { kOutType = kOwn, kCommQuantMode, kListType, kEpsilon };

enum DispatchTensors {
  kX,
  kIds,
  kScales,
  kMask,
  kIdScales,
  kElastic,
  kPerformance,
  kExpandX,
  kRowScales,
  kInfo,
  kCounts,
  kReceived,
  kTpReceived,
  kExpandScales
};
enum CombineTensors {
  kRows,
  kRowIds,
  kRowInfo,
  kSent,
  kWeights,
  kTpSent,
  kRowMask,
  kActivationScale,
  kWeightScale,
  kGroupList,
  kRowExpandScales,
  kSharedX,
  kRowElastic,
  kOriginalX,
  kAlpha1,
  kAlpha2,
  kConstantV,
  kRowPerformance,
  kOut
};
// Norms have these instead of kOut.
enum NormTensors { kResidual = kOut, kGamma, kNorm, kReciprocal, kSum };

constexpr size_t kMostName = 127;
constexpr int64_t kDynamic = 2;
constexpr int64_t kMostShared = 4;
constexpr int64_t kTriple = 3;

struct Sizes {
  int64_t ranks;
  int64_t experts_of_rank;
  int64_t own_experts;  // 1 on ranks of shared experts
  int64_t special;
  int64_t most_rows;  // that may come
};

int64_t SpecialOf(const OperatorCall& call) noexcept {
  return Integer(call, kZeros) + Integer(call, kCopies) + Integer(call, kConstants);
}
// The shared experts that have ranks.
int64_t SharedOf(const OperatorCall& call) noexcept {
  return Integer(call, kSharedRanks) == 0 ? 0 : Integer(call, kShared);
}

Sizes SizesOf(const OperatorCall& call, const Shape& ids) noexcept {
  Sizes sizes{};
  sizes.ranks = Integer(call, kRanks);
  const int64_t shared_ranks = Integer(call, kSharedRanks);
  sizes.experts_of_rank = Integer(call, kExperts) / (sizes.ranks - shared_ranks);
  const bool is_shared = Integer(call, kRank) < shared_ranks;
  sizes.own_experts = is_shared ? 1 : sizes.experts_of_rank;
  sizes.special = SpecialOf(call);
  const int64_t global = Integer(call, kGlobalTokens);
  const int64_t tokens = global == 0 ? ids[0] : global / sizes.ranks;
  if (is_shared) {
    const int64_t ranks_of_shared = shared_ranks / Integer(call, kShared);
    sizes.most_rows = tokens * ((sizes.ranks + ranks_of_shared - 1) / ranks_of_shared);
  } else {
    sizes.most_rows = tokens * sizes.ranks * std::min(sizes.experts_of_rank, ids[1]);
  }
  return sizes;
}

// ---- checks ----

aclnnStatus GroupIsNamed(const Check& check, OperatorCall& call) noexcept {
  if (*call.attributes[kGroup].text != '\0') return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kGroup, "a name that is not empty");
}
aclnnStatus NamesAreShort(const Check& check, OperatorCall& call) noexcept {
  for (const int attribute : {kGroup, kTpGroup}) {
    const char* const name = call.attributes[static_cast<size_t>(attribute)].text;
    if (name == nullptr || std::strlen(name) <= kMostName) continue;
    return attention::RefuseAttribute(check, call, attribute, "a name of at most 127 characters");
  }
  return ACL_SUCCESS;
}

constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr int64_t kMostExperts = int64_t{1} << 20;
constexpr int64_t kMostChoices = 4096;

// Checks what both operators have. `ids` and `mask` are tensors.
void CheckRoutes(ShapeChecks& checks, const OperatorCall& call, int ids, int mask) {
  const int64_t ranks = exchanges::RanksOf(call, kGroup);
  checks.HoldsOf(Integer(call, kRanks) == ranks, kRanks, "the number of ranks of groupEp");
  checks.HoldsOf(Integer(call, kRank) == exchanges::OwnRank(call, kGroup), kRank,
                 "this rank's number in groupEp");
  checks.Integer(kTpRanks, 0, 2).Integer(kShardType, 0, 0).Integer(kShared, 0, kMostShared);
  checks.Integer(kSharedRanks, 0, ranks - 1).Integer(kExperts, 1, kMostExperts);
  for (const int special : {kZeros, kCopies, kConstants}) checks.Integer(special, 0, kMostExperts);
  if (!checks.Passed()) return;
  const int64_t shared = Integer(call, kShared);
  const int64_t shared_ranks = Integer(call, kSharedRanks);
  checks.HoldsOf(shared_ranks == 0 ? shared <= 1 : shared > 0, kShared,
                 "from 1 on beside ranks of shared experts, else 0 or 1");
  if (!checks.Passed()) return;
  checks.HoldsOf(shared_ranks == 0 || shared_ranks % shared == 0, kSharedRanks,
                 "a multiple of sharedExpertNum");
  checks.HoldsOf(Integer(call, kExperts) % (ranks - shared_ranks) == 0, kExperts,
                 "a multiple of the ranks without shared experts");
  checks.Rank(ids, 2, 2);
  if (!checks.Passed()) return;
  const Shape& shape = call.Tensor(ids).shape;
  const int64_t global = Integer(call, kGlobalTokens);
  checks.Holds(shape[0] >= 1 && shape[0] <= kMostTokens, ids, "at least one token");
  checks.Holds(shape[1] >= 1 && shape[1] <= std::min(Integer(call, kExperts) + SpecialOf(call), kMostChoices),
               ids, "1 to as many columns as there are experts");
  checks.HoldsOf(
      global == 0 || (global % ranks == 0 && global / ranks >= shape[0] && global / ranks <= kMostTokens),
      kGlobalTokens, "0, or the most tokens of a rank times the ranks");
  if (!call.IsGiven(mask)) return;
  const Shape& flags = call.Tensor(mask).shape;
  checks.Holds(flags == Shape{shape[0]} || flags == shape, mask, "a flag for each token or each choice");
}

// Refuses calls that portacl does not compute.
aclnnStatus CheckComputed(ShapeChecks& checks, const OperatorCall& call, int elastic, int performance) {
  checks.HoldsOf(Integer(call, kTpRanks) <= 1, kTpRanks,
                 "0 or 1: portacl does not divide experts among ranks of groupTp");
  for (const int tensor : {elastic, performance})
    checks.Holds(!call.IsGiven(tensor), tensor, "null: portacl leaves no rank out");
  return checks.status();
}

constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeRule kRowTypes = SinceAtlasA2(kHalves);
constexpr Check Tiling(const Check& check) { return WithCode(dense::kTiling, check); }

bool IsDynamic(const OperatorCall& call) noexcept { return Integer(call, kQuantMode) == kDynamic; }

aclnnStatus DispatchFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  CheckRoutes(checks, call, kIds, kMask);
  checks.Integer(kCountsType, 0, 1).Rank(kX, 2, 2).Rank(kExpandX, 2, 2);
  const int64_t mode = Integer(call, kQuantMode);
  checks.HoldsOf(mode == 0 || mode == kDynamic, kQuantMode, "0 or 2");
  if (!checks.Passed()) return checks.status();
  const bool is_dynamic = IsDynamic(call);
  const Shape& ids = call.Tensor(kIds).shape;
  const Sizes sizes = SizesOf(call, ids);
  const int64_t columns = call.Tensor(kX).shape[1];
  const int64_t rows = sizes.most_rows;
  checks.Is(kX, Shape{ids[0], columns}).Holds(columns > 0, kX, "at least one column");
  checks.IsIfGiven(kIdScales, ids);
  checks.Holds(is_dynamic || !call.IsGiven(kScales), kScales, "null beside quantMode 0");
  checks.Holds(call.Tensor(kExpandX).dtype == (is_dynamic ? ACL_INT8 : call.Tensor(kX).dtype), kExpandX,
               "x's type, and INT8 beside quantMode 2");
  checks.Holds(call.Tensor(kExpandX).shape[0] >= rows && call.Tensor(kExpandX).shape[1] == columns, kExpandX,
               "room for the rows that may come, of x's columns");
  const bool is_first = Integer(call, kIsFirst) != 0;
  checks.Holds(call.Tensor(kInfo).numel >= (is_first ? ids[0] * ids[1] : kTriple * rows), kInfo,
               is_first ? "a number for each choice" : "three numbers for each row that may come");
  checks.Holds(call.Tensor(kCounts).numel == sizes.own_experts, kCounts, "a number for each own expert");
  checks.Holds(call.Tensor(kReceived).numel >= sizes.ranks * sizes.own_experts, kReceived,
               "a number for each own expert and rank");
  if (is_dynamic)
    checks.Holds(call.Tensor(kRowScales).numel >= rows, kRowScales, "a number for each row that may come");
  if (call.IsGiven(kIdScales) && call.IsGiven(kExpandScales) && !call.Tensor(kExpandScales).shape.IsEmpty())
    checks.Holds(call.Tensor(kExpandScales).numel >= rows, kExpandScales,
                 "a number for each row that may come");
  if (is_dynamic && call.IsGiven(kScales)) {
    checks.Rank(kScales, 2, 2);
    if (!checks.Passed()) return checks.status();
    const int64_t first = is_first ? (SharedOf(call) > 0 ? 1 : 0) : SharedOf(call);
    const Shape& scales = call.Tensor(kScales).shape;
    checks.Holds(scales[0] >= first + Integer(call, kExperts) && scales[1] == columns, kScales,
                 "a row for each shared and each routed expert");
  }
  return checks.status();
}
aclnnStatus DispatchIsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return CheckComputed(checks, call, kElastic, kPerformance);
}

constexpr auto kDispatchChecks =
    Join(List(NotNull(kX), NotNull(kIds), NotNull(kExpandX), NotNull(kInfo), NotNull(kCounts),
              NotNull(kTpReceived), NotNull(kReceived), exchanges::GroupGiven(kGroup),
              Custom(GroupIsNamed, ACLNN_ERR_PARAM_NULLPTR), If(IsDynamic, NotNull(kRowScales)),
              Custom(NamesAreShort, ACLNN_ERR_PARAM_NULLPTR)),
         List(Tiling(DtypesIn(kRowTypes, {kX})),
              Tiling(DtypesIn(DtypeSet(ACL_INT32), {kIds, kInfo, kReceived, kTpReceived})),
              IfGiven<kScales>(Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kScales}))),
              IfGiven<kMask>(Tiling(DtypesIn(kBool, {kMask}))),
              IfGiven<kIdScales>(Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kIdScales}))),
              Tiling(DtypesIn(DtypeSet(ACL_INT64), {kCounts})),
              IfGiven<kRowScales>(Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kRowScales}))),
              IfGiven<kExpandScales>(Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kExpandScales})))),
         List(SizesRepresentable({kX, kExpandX}), exchanges::GroupKnown(kGroup),
              Custom(DispatchFits, dense::kTiling), Custom(DispatchIsComputed, ACLNN_ERR_INNER_NULLPTR),
              InsideStorage({kX, kIds}), IfGiven<kScales>(InsideStorage({kScales})),
              IfGiven<kMask>(InsideStorage({kMask})), IfGiven<kIdScales>(InsideStorage({kIdScales}))));

template <bool has_norm>
aclnnStatus CombineFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  CheckRoutes(checks, call, kRowIds, kRowMask);
  for (const int tensor : {kActivationScale, kWeightScale, kGroupList})
    checks.Holds(!call.IsGiven(tensor), tensor, "null");
  checks.Rank(kRows, 2, 2).Integer(kOutType, 0, 0).Integer(kListType, 0, 0);
  const int64_t mode = Integer(call, kCommQuantMode);
  checks.HoldsOf(mode == 0 || mode == kDynamic, kCommQuantMode, "0 or 2");
  if (!checks.Passed()) return checks.status();
  const Shape& ids = call.Tensor(kRowIds).shape;
  const Sizes sizes = SizesOf(call, ids);
  const int64_t columns = call.Tensor(kRows).shape[1];
  checks.Holds(columns > 0, kRows, "at least one column");
  checks.Is(kWeights, ids);
  if (has_norm) {
    const Shape rows{ids[0], 1, columns};
    checks.Is(kResidual, rows)
        .Is(kNorm, rows)
        .Is(kSum, rows)
        .Is(kReciprocal, Shape{ids[0], 1, 1})
        .Is(kGamma, Shape{columns});
    for (const int tensor : {kGamma, kNorm, kSum})
      checks.Holds(call.Tensor(tensor).dtype == call.Tensor(kRows).dtype, tensor, "expandX's type");
    checks.Holds(call.Tensor(kReciprocal).dtype == ACL_FLOAT, kReciprocal, "the type FLOAT");
  } else {
    checks.Is(kOut, Shape{ids[0], columns});
  }
  checks.Holds(call.Tensor(kOut).dtype == call.Tensor(kRows).dtype, kOut, "expandX's type");
  checks.Holds(call.Tensor(kSent).numel >= sizes.ranks * sizes.own_experts, kSent,
               "a number for each own expert and rank");
  if (call.IsGiven(kSharedX)) {
    const Shape& shape = call.Tensor(kSharedX).shape;
    checks.Holds(shape.rank >= 2 && shape[shape.rank - 1] == columns &&
                     call.Tensor(kSharedX).numel == ids[0] * columns,
                 kSharedX, "a row for each token");
    checks.HoldsOf(Integer(call, kSharedRanks) == 0, kSharedRanks, "0 beside sharedExpertX");
    checks.Holds(call.Tensor(kSharedX).dtype == call.Tensor(kRows).dtype, kSharedX, "expandX's type");
  }
  const int64_t copies = Integer(call, kCopies);
  const int64_t constants = Integer(call, kConstants);
  if (copies + constants > 0) {
    checks.Given(kOriginalX, "beside copies and constant experts");
    checks.IsIfGiven(kOriginalX, Shape{ids[0], columns});
  }
  if (constants > 0) {
    checks.Given(kAlpha1, "beside constant experts").Given(kAlpha2, "beside constant experts");
    checks.Given(kConstantV, "beside constant experts");
    if (!checks.Passed()) return checks.status();
    for (const int tensor : {kAlpha1, kAlpha2})
      checks.Holds(call.Tensor(tensor).numel == constants, tensor, "a number for each constant expert");
    checks.Is(kConstantV, Shape{constants, columns});
  }
  return checks.status();
}
aclnnStatus CombineIsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(Integer(call, kCommQuantMode) == 0, kCommQuantMode,
                 "0: portacl does not quantise what ranks exchange");
  return CheckComputed(checks, call, kRowElastic, kRowPerformance);
}

template <bool has_norm>
constexpr auto CombineChecks() {
  return Join(
      List(NotNull(kRows), NotNull(kRowIds), NotNull(kRowInfo), NotNull(kSent), NotNull(kWeights),
           NotNull(kOut), exchanges::GroupGiven(kGroup), Custom(GroupIsNamed, ACLNN_ERR_PARAM_NULLPTR),
           Custom(NamesAreShort)),
      List(Tiling(DtypesIn(kRowTypes, {kRows, kOut})),
           Tiling(DtypesIn(DtypeSet(ACL_INT32), {kRowIds, kSent})),
           Tiling(DtypesIn(DtypeSet(ACL_FLOAT), {kWeights})),
           IfGiven<kRowMask>(Tiling(DtypesIn(kBool, {kRowMask}))),
           IfGiven<kOriginalX>(Tiling(DtypesIn(kRowTypes, {kOriginalX}))),
           IfGiven<kAlpha1>(Tiling(DtypesIn(kFloatHalfAndBf16, {kAlpha1}))),
           IfGiven<kAlpha2>(Tiling(DtypesIn(kFloatHalfAndBf16, {kAlpha2}))),
           IfGiven<kConstantV>(Tiling(DtypesIn(kFloatHalfAndBf16, {kConstantV})))),
      List(SizesRepresentable({kOut}), exchanges::GroupKnown(kGroup),
           Custom(CombineFits<has_norm>, dense::kTiling), Custom(CombineIsComputed, ACLNN_ERR_INNER_NULLPTR),
           InsideStorage({kRows, kRowIds, kSent, kWeights}), IfGiven<kRowMask>(InsideStorage({kRowMask})),
           IfGiven<kSharedX>(InsideStorage({kSharedX})), IfGiven<kOriginalX>(InsideStorage({kOriginalX})),
           IfGiven<kAlpha1>(InsideStorage({kAlpha1})), IfGiven<kAlpha2>(InsideStorage({kAlpha2})),
           IfGiven<kConstantV>(InsideStorage({kConstantV}))));
}
constexpr auto kCombineChecks = CombineChecks<false>();
constexpr auto kNormChecks = Join(List(NotNull(kGamma), NotNull(kNorm), NotNull(kReciprocal), NotNull(kSum)),
                                  CombineChecks<true>(), List(InsideStorage({kResidual, kGamma})));

// ---- the jobs ----

RankRoutes RoutesOf(const OperatorCall& call, DenseOpList& ops, int ids, int mask) {
  const Shape& shape = call.Tensor(ids).shape;
  const Sizes sizes = SizesOf(call, shape);
  RankRoutes routes{};
  routes.expert = ops.In(ids);
  if (call.IsGiven(mask)) {
    routes.active = {ops.In(mask), true};
    routes.is_by_choice = call.Tensor(mask).shape.rank == 2;
  }
  routes.tokens = shape[0];
  routes.choices = shape[1];
  routes.ranks = sizes.ranks;
  routes.own = Integer(call, kRank);
  routes.experts = Integer(call, kExperts);
  routes.experts_of_rank = sizes.experts_of_rank;
  routes.special = sizes.special;
  routes.shared = SharedOf(call);
  routes.shared_ranks = Integer(call, kSharedRanks);
  routes.order = ops.Words(routes.Entries());
  routes.count = ops.Words(routes.Keys());
  routes.begin = ops.Words(routes.Keys() + 1);
  routes.name = call.Name(ids);
  routes.raises = ops.Raises();
  return routes;
}

void SetDispatch(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 2, executor)) return;
  DenseOpList ops(call, executor);
  const Sizes sizes = SizesOf(call, call.Tensor(kIds).shape);
  const aclDataType dtype = call.Tensor(kX).dtype;
  const bool is_first = Integer(call, kIsFirst) != 0;
  engine::DispatchRows rows{};
  rows.routes = RoutesOf(call, ops, kIds, kMask);
  rows.source = ops.In(kX);
  rows.columns = call.Tensor(kX).shape[1];
  rows.size = static_cast<int32_t>(dense::SizeOf(call, kX));
  rows.load = engine::FindLoad(call.isa, dtype, ACL_FLOAT);
  rows.quantises = IsDynamic(call);
  rows.scale = ops.InIfGiven(kScales);
  rows.first_scale = is_first && SharedOf(call) > 0 ? 1 : SharedOf(call);
  rows.factor = ops.InIfGiven(kIdScales);
  rows.capacity = sizes.most_rows;
  rows.to = ops.Out(kExpandX, ACL_DT_UNDEFINED, /*keeps=*/true);
  const auto out = [&](int tensor) -> engine::OptionalBuffer {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).shape.IsEmpty()) return {};
    return {ops.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true), true};
  };
  if (rows.quantises) rows.row_scale = out(kRowScales);
  if (rows.factor.is_there) rows.to_factor = out(kExpandScales);
  (is_first ? rows.repeats : rows.info) = out(kInfo);
  rows.expert_count = ops.Out(kCounts);
  rows.are_ends = Integer(call, kCountsType) == 0;
  rows.received = ops.Out(kReceived, ACL_DT_UNDEFINED, /*keeps=*/true);
  rows.other = out(kTpReceived);
  rows.send = ops.Bytes(rows.routes.Entries() * rows.RecordBytes());
  rows.came = ops.Bytes(rows.capacity * rows.RecordBytes());
  rows.words = ops.Words(rows.WordsNeeded());
  rows.threads = call.threads;
  ops.Compute(rows,
              {rows.source, rows.routes.expert, rows.routes.active.buffer, rows.scale.buffer,
               rows.factor.buffer, rows.to, rows.row_scale.buffer, rows.to_factor.buffer, rows.info.buffer,
               rows.repeats.buffer, rows.expert_count, rows.received, rows.other.buffer},
              rows.routes.Entries() * rows.columns);
  ops.SetJob();
}

// Adds the op that receives the experts' results, sums them for each token, and writes the sums to `to`.
void AddCombine(const OperatorCall& call, DenseOpList& ops, const engine::NumberRows& to, bool clears) {
  const aclTensor& rows = call.Tensor(kRows);
  engine::CombineRanks combined{};
  combined.routes = RoutesOf(call, ops, kRowIds, kRowMask);
  combined.columns = rows.shape[1];
  combined.source_rows = rows.shape[0];
  combined.source =
      engine::NumberRowsOf(call.isa, rows.shape.IsEmpty() ? ops.Bytes(1) : ops.In(kRows), rows.dtype);
  combined.received = ops.In(kSent);
  combined.factor = ops.In(kWeights);
  combined.zeros = Integer(call, kZeros);
  combined.copies = Integer(call, kCopies);
  combined.constants = Integer(call, kConstants);
  combined.words = ops.Words(combined.WordsNeeded());
  combined.token = combined.alpha1 = combined.alpha2 = combined.constant_row = combined.words;
  if (combined.copies + combined.constants > 0) combined.token = ops.In(kOriginalX, ACL_FLOAT);
  if (combined.constants > 0) {
    combined.alpha1 = ops.In(kAlpha1, ACL_FLOAT);
    combined.alpha2 = ops.In(kAlpha2, ACL_FLOAT);
    combined.constant_row = ops.In(kConstantV, ACL_FLOAT);
  }
  combined.added = ops.InIfGiven(kSharedX, ACL_FLOAT);
  combined.to = to;
  combined.clears = clears;
  const int64_t bytes = combined.columns * combined.source.size;
  combined.send = ops.Bytes(combined.source_rows * bytes);
  combined.came = ops.Bytes(combined.routes.Entries() * bytes);
  combined.threads = call.threads;
  ops.Compute(combined,
              {combined.source.buffer, combined.routes.expert, combined.routes.active.buffer,
               combined.received, combined.factor, combined.token, combined.alpha1, combined.alpha2,
               combined.constant_row, combined.added.buffer, combined.to.buffer},
              combined.routes.Entries() * combined.columns);
}

void SetCombine(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const BufferRef out = ops.Out(kOut, ACL_DT_UNDEFINED, /*keeps=*/true);
  AddCombine(call, ops, engine::NumberRowsOf(call.isa, out, call.Tensor(kOut).dtype), /*clears=*/false);
  ops.SetJob();
}

void SetNorm(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const Shape& residual = call.Tensor(kResidual).shape;
  engine::NormedRows norm{};
  norm.rows = residual[0];
  norm.columns = residual[2];
  norm.source = engine::NumberRowsOf(call.isa, ops.Floats(norm.rows * norm.columns), ACL_FLOAT);
  AddCombine(call, ops, norm.source, /*clears=*/true);
  norm.added = ops.Rows(kResidual);
  norm.gamma = ops.Rows(kGamma);
  norm.sum = ops.RowsOut(kSum);
  norm.normed = ops.RowsOut(kNorm);
  norm.reciprocal = {ops.Out(kReciprocal), true};
  norm.epsilon = call.attributes[kEpsilon].real;
  norm.rounds_quotient = true;
  norm.threads = call.threads;
  ops.Compute(
      norm,
      {norm.added.buffer, norm.gamma.buffer, norm.sum.buffer, norm.normed.buffer, norm.reciprocal.buffer},
      norm.rows * norm.columns);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMoeDistributeDispatch) {
  return dense::RunOpList(call, kDispatchChecks, workspaceSize, executor, SetDispatch);
}
PORTACL_PHASE_1(aclnnMoeDistributeDispatchV2) {
  return dense::RunOpList(call, kDispatchChecks, workspaceSize, executor, SetDispatch);
}
PORTACL_PHASE_1(aclnnMoeDistributeDispatchV3) {
  return dense::RunOpList(call, kDispatchChecks, workspaceSize, executor, SetDispatch);
}
PORTACL_PHASE_1(aclnnMoeDistributeDispatchV4) {
  return dense::RunOpList(call, kDispatchChecks, workspaceSize, executor, SetDispatch);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombine) {
  return dense::RunOpList(call, kCombineChecks, workspaceSize, executor, SetCombine);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombineV2) {
  return dense::RunOpList(call, kCombineChecks, workspaceSize, executor, SetCombine);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombineV3) {
  return dense::RunOpList(call, kCombineChecks, workspaceSize, executor, SetCombine);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombineV4) {
  return dense::RunOpList(call, kCombineChecks, workspaceSize, executor, SetCombine);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombineAddRmsNorm) {
  return dense::RunOpList(call, kNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnMoeDistributeCombineAddRmsNormV2) {
  return dense::RunOpList(call, kNormChecks, workspaceSize, executor, SetNorm);
}
