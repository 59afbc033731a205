// aclnnMlaProlog, V2WeightNz and V3WeightNz: makes the queries of latent attention, and the rows of its caches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/normalized.h"
#include "aclnnop/serving/cache_rows.h"
#include "aclnnop/serving/mla_prolog_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;
using namespace serving;
using engine::GroupedOperand;
using engine::GroupedPart;
using engine::GroupedProducts;

enum Tensors { kX, kDown, kUp, kAbsorbed, kLatent, kQueryGamma, kLatentGamma, kSin, kCos };
enum Attributes {
  kQueryEpsilon,
  kLatentEpsilon,
  kCacheMode,
  kWeightMode,
  kCacheQuantMode,
  kQueryMode,
  kLatentRepository,
  kScaleRepository,
  kTileSize,
  kQueryFactor,
  kLatentFactor
};

// Positions that differ among the functions; -1: there is none.
struct Positions {
  int index, latent_cache, rope_cache, scales, query, query_rope, query_step, norm, norm_step, reserved;
};
constexpr Positions kV1{9, 10, 11, 12, 19, 20, -1, -1, -1, -1};
constexpr Positions kV2{9, 10, 11, 12, 19, 20, 21, -1, -1, -1};
constexpr Positions kV3{11, 9, 10, 12, 21, 22, 23, 24, 25, 19};
// Scales in their order, behind Positions::scales.
enum Scales { kRowScale, kDownScale, kUpScale, kLatentScale, kLatentQuant, kRopeQuant, kSmooth, kScales };

constexpr int64_t kMostInDim = int64_t{1} << 20;

struct Mode {
  bool is_known, is_grouped;
};
Mode ModeOf(const OperatorCall& call) {
  const std::string_view name = TextOr(call, kCacheMode, "BNSD");
  return {name == "PA_BSND" || name == "PA_NZ", name == "PA_NZ"};
}

bool IsInt8(const OperatorCall& call, int tensor) { return call.Tensor(tensor).dtype == ACL_INT8; }
// Tells whether queries become INT8, as they do beside an INT8 cache of quantised tokens.
template <const Positions& at>
bool QuantisesQueries(const OperatorCall& call) {
  return IsInt8(call, kX) && IsInt8(call, at.latent_cache);
}
// Tells whether an optional result has the dims of one that is wanted. {0} and {1} are what callers pass for none.
bool IsWanted(const OperatorCall& call, int tensor, int rank) {
  return tensor >= 0 && call.IsGiven(tensor) && call.Tensor(tensor).shape.rank == rank;
}

// Lengths that all operands share.
struct Sizes {
  int64_t tokens, columns, query_rank, heads, depth, turned, latent;
};
Sizes SizesOf(const OperatorCall& call) {
  const aclTensor& x = call.Tensor(kX);
  const Shape& absorbed = call.Tensor(kAbsorbed).shape;
  const Shape& sin = call.Tensor(kSin).shape;
  const int64_t columns = x.shape[x.shape.rank - 1];
  return {columns > 0 ? x.numel / columns : 0,
          columns,
          call.Tensor(kDown).shape[1],
          absorbed[0],
          absorbed[1],
          sin[sin.rank - 1],
          absorbed[2]};
}

// ---- checks ----

aclnnStatus RefuseType(const Check& check, const OperatorCall& call, int tensor, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, tensor);
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
}

template <const Positions& at>
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  for (const int weight : {kDown, kLatent}) {
    if (call.Tensor(weight).dtype != x) return RefuseType(check, call, weight, "tokenX's type");
  }
  const aclDataType up = call.Tensor(kUp).dtype;
  if (up != ACL_INT8 && (x == ACL_INT8 || up != ACL_BF16))
    return RefuseType(check, call, kUp, "INT8, or BF16 beside a tokenX of BF16");
  const bool has_codes = up == ACL_INT8 && !(at.query_step < 0 && x == ACL_INT8);
  const aclDataType latent = call.Tensor(at.latent_cache).dtype;
  if (latent != ACL_BF16 && (latent != ACL_INT8 || !has_codes))
    return RefuseType(check, call, at.latent_cache,
                      at.query_step < 0 ? "BF16, or INT8 beside an INT8 weightUqQr and a tokenX of BF16"
                                        : "BF16, or INT8 beside an INT8 weightUqQr");
  const aclDataType rope = x == ACL_INT8 ? ACL_BF16 : latent;
  if (call.Tensor(at.rope_cache).dtype != rope)
    return RefuseType(check, call, at.rope_cache, "kvCacheRef's type, or BF16 beside a tokenX of INT8");
  const aclDataType query = QuantisesQueries<at>(call) ? ACL_INT8 : ACL_BF16;
  if (call.Tensor(at.query).dtype != query)
    return RefuseType(check, call, at.query, "INT8 where tokenX and kvCacheRef are it, else BF16");
  if (IsWanted(call, at.norm, call.Tensor(kX).shape.rank) && call.Tensor(at.norm).dtype != up)
    return RefuseType(check, call, at.norm, "weightUqQr's type");
  return ACL_SUCCESS;
}

// Modes are what the types say, or 0, which early callers pass.
aclnnStatus ModesFit(const OperatorCall& call, ShapeChecks& checks) {
  const bool is_full = IsInt8(call, kX);
  const bool has_codes = IsInt8(call, kV3.latent_cache);
  const int64_t weights = is_full ? 2 : IsInt8(call, kUp) ? 1 : 0;
  const int64_t caches = !has_codes ? 0 : is_full ? 1 : 2;
  const int64_t queries = is_full && has_codes ? 1 : 0;
  const auto fits = [&](int attribute, int64_t accepted, const char* text) {
    const int64_t given = Integer(call, attribute);
    checks.HoldsOf(given == 0 || given == accepted, attribute, text);
  };
  fits(kWeightMode, weights, "0, with an INT8 weightUqQr 1, with INT8 tokens 2");
  fits(kCacheQuantMode, caches, "0, with an INT8 kvCacheRef 1 beside INT8 tokens, else 2");
  fits(kQueryMode, queries, "0, with INT8 queries 1");
  checks.Integer(kLatentRepository, 0, 0).Integer(kScaleRepository, 0, 0);
  return checks.status();
}

template <const Positions& at>
aclnnStatus ScalesFit(const OperatorCall& call, const Sizes& sizes, ShapeChecks& checks) {
  const bool is_full = IsInt8(call, kX);
  const auto fits = [&](Scales scale, bool is_read, const char* when, int64_t count, const char* accepted) {
    const int tensor = at.scales + scale;
    if (!is_read || !checks.Passed()) return;
    if (when != nullptr) checks.Given(tensor, when);
    if (!checks.Passed() || !call.IsGiven(tensor)) return;
    checks.Holds(call.Tensor(tensor).numel == count, tensor, accepted);
  };
  const int64_t joined = sizes.heads * (sizes.depth + sizes.turned);
  fits(kRowScale, is_full, "beside INT8 tokens", sizes.tokens, "an element for each token");
  fits(kDownScale, is_full, "beside INT8 tokens", sizes.query_rank, "an element for each column of weightDq");
  fits(kUpScale, IsInt8(call, kUp), "beside an INT8 weightUqQr", joined,
       "an element for each column of weightUqQr");
  fits(kLatentScale, is_full, "beside INT8 tokens", sizes.latent + sizes.turned,
       "an element for each column of weightDkvKr");
  if (IsInt8(call, at.latent_cache)) {
    const int64_t given =
        call.IsGiven(at.scales + kLatentQuant) ? call.Tensor(at.scales + kLatentQuant).numel : 0;
    fits(kLatentQuant, true, "beside an INT8 kvCacheRef", is_full && given == 1 ? 1 : sizes.latent,
         is_full ? "one element, or one for each column of kvCacheRef"
                 : "an element for each column of kvCacheRef");
  }
  fits(kRopeQuant, IsInt8(call, at.rope_cache), "beside an INT8 krCacheRef", sizes.turned,
       "an element for each column of krCacheRef");
  fits(kSmooth, IsInt8(call, kUp), nullptr, sizes.query_rank, "an element for each column of weightDq");
  return checks.status();
}

template <const Positions& at>
aclnnStatus PrologFits(const Check& check, OperatorCall& call) noexcept {
  const Mode mode = ModeOf(call);
  ShapeChecks checks(check, call);
  checks.HoldsOf(mode.is_known, kCacheMode, "PA_BSND or PA_NZ");
  checks.Rank(kX, 2, 3).Rank(kDown, 2, 2).Rank(kUp, 2, 2).Rank(kAbsorbed, 3, 3).Rank(kLatent, 2, 2);
  const int rank = call.Tensor(kX).shape.rank;
  checks.Rank(kSin, rank, rank).Rank(at.latent_cache, 4, 4).Rank(at.rope_cache, 4, 4);
  if (!checks.Passed()) return checks.status();
  const Sizes sizes = SizesOf(call);
  const auto is_length = [](int64_t length) { return length > 0 && length <= kMostInDim; };
  checks.Holds(is_length(sizes.columns), kX, "a last dim from 1 to 1048576");
  checks.Holds(is_length(sizes.query_rank), kDown, "a last dim from 1 to 1048576");
  checks.Holds(is_length(sizes.heads) && is_length(sizes.depth) && is_length(sizes.latent), kAbsorbed,
               "dims from 1 to 1048576");
  checks.Holds(is_length(sizes.turned) && sizes.turned % 2 == 0, kSin, "an even last dim up to 1048576");
  if (!checks.Passed()) return checks.status();
  const int64_t joined = sizes.heads * (sizes.depth + sizes.turned);
  checks.Is(kDown, Shape{sizes.columns, sizes.query_rank}).Is(kUp, Shape{sizes.query_rank, joined});
  checks.Is(kLatent, Shape{sizes.columns, sizes.latent + sizes.turned});
  checks.Is(kQueryGamma, Shape{sizes.query_rank}).Is(kLatentGamma, Shape{sizes.latent});
  // Tensors that have a row for each token have tokenX's dims in front.
  Shape leading = call.Tensor(kX).shape;
  --leading.rank;
  const auto with = [&](std::initializer_list<int64_t> last) {
    Shape shape = leading;
    for (const int64_t dim : last) shape.dim[shape.rank++] = dim;
    return shape;
  };
  checks.Is(kSin, with({sizes.turned})).Is(kCos, with({sizes.turned})).Is(at.index, leading);
  const Shape& cache = call.Tensor(at.latent_cache).shape;
  checks.Is(at.latent_cache, Shape{cache[0], cache[1], 1, sizes.latent});
  checks.Is(at.rope_cache, Shape{cache[0], cache[1], 1, sizes.turned});
  for (const int table : {at.latent_cache, at.rope_cache}) {
    if (mode.is_grouped)
      checks.Holds(call.Tensor(table).shape[3] % GroupLength(call.Tensor(table).dtype) == 0, table,
                   "columns in groups of 32 bytes");
  }
  checks.Is(at.query, with({sizes.heads, sizes.latent})).Is(at.query_rope, with({sizes.heads, sizes.turned}));
  if (!checks.Passed()) return checks.status();
  if (const aclnnStatus status = ScalesFit<at>(call, sizes, checks)) return status;
  if (QuantisesQueries<at>(call)) {
    checks.Given(at.query_step, "beside INT8 queries");
    if (!checks.Passed()) return checks.status();
    checks.Holds(call.Tensor(at.query_step).numel == sizes.tokens * sizes.heads, at.query_step,
                 "an element for each token and head");
  }
  if constexpr (at.norm >= 0) {
    if (IsWanted(call, at.norm, rank)) {
      checks.Is(at.norm, with({sizes.query_rank}));
      if (IsInt8(call, kUp)) {
        checks.Given(at.norm_step, "beside an INT8 queryNormOptional");
        if (!checks.Passed()) return checks.status();
        checks.Holds(call.Tensor(at.norm_step).numel == sizes.tokens, at.norm_step,
                     "an element for each token");
      }
    }
    return ModesFit(call, checks);
  }
  return checks.status();
}

// Refuses the parameters that CANN reserves.
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kV3.reserved, kV3.reserved + 1}) {
    if (call.IsGiven(tensor) && call.Tensor(tensor).numel > 0)
      checks.Holds(false, tensor, "null: CANN reserves it");
  }
  return checks.status();
}
aclnnStatus WeightsLie(const Check&, OperatorCall& call) noexcept {
  return grouped::CheckLies(call, kDown, kLatent);
}

constexpr DtypeSet kBf16{ACL_BF16};
constexpr DtypeSet kTokens{ACL_BF16, ACL_INT8};
constexpr DtypeRule kOnAtlas = ByGeneration({}, kTokens, {});
constexpr DtypeRule kSinceAtlas = SinceAtlasA2(kTokens);

template <const Positions& at, int scale>
constexpr auto FloatScale() {
  return IfGiven<at.scales + scale>(DtypesIn(kFloat, {at.scales + scale}));
}
template <const Positions& at, int scale>
constexpr auto ScaleInside() {
  return IfGiven<at.scales + scale>(InsideStorage({at.scales + scale}));
}
template <const Positions& at>
constexpr auto PrologChecks() {
  constexpr auto kNulls =
      List(NotNull(kX), NotNull(kDown), NotNull(kUp), NotNull(kAbsorbed), NotNull(kLatent),
           NotNull(kQueryGamma), NotNull(kLatentGamma), NotNull(kSin), NotNull(kCos), NotNull(at.index),
           NotNull(at.latent_cache), NotNull(at.rope_cache), NotNull(at.query), NotNull(at.query_rope));
  constexpr auto kTypes =
      List(DtypesIn(at.norm >= 0 ? kSinceAtlas : kOnAtlas, {kX}),
           DtypesIn(kBf16, {kAbsorbed, kQueryGamma, kLatentGamma, kSin, kCos}), DtypesIn(kInt64, {at.index}),
           Custom(TypesFit<at>), FloatScale<at, kRowScale>(), FloatScale<at, kDownScale>(),
           FloatScale<at, kUpScale>(), FloatScale<at, kLatentScale>(), FloatScale<at, kLatentQuant>(),
           FloatScale<at, kRopeQuant>(), FloatScale<at, kSmooth>(), DtypesIn(kBf16, {at.query_rope}));
  constexpr auto kShapes = List(SizesRepresentable({kX, kDown, kUp, kAbsorbed, kLatent}),
                                SizesRepresentable({at.latent_cache, at.rope_cache, at.query, at.query_rope}),
                                Custom(PrologFits<at>, kTiling));
  constexpr auto kStorages =
      List(Custom(NothingToPut), Custom(WeightsLie), InsideStorage({kX, kQueryGamma, kLatentGamma}),
           InsideStorage({kSin, kCos, at.index}), ScaleInside<at, kRowScale>(), ScaleInside<at, kDownScale>(),
           ScaleInside<at, kUpScale>(), ScaleInside<at, kLatentScale>(), ScaleInside<at, kLatentQuant>(),
           ScaleInside<at, kRopeQuant>(), ScaleInside<at, kSmooth>());
  if constexpr (at.norm >= 0) {
    return Join(Join(kNulls, kTypes),
                Join(Join(List(IfGiven<at.query_step>(DtypesIn(kFloat, {at.query_step})),
                               IfGiven<at.norm_step>(DtypesIn(kFloat, {at.norm_step})),
                               IfGiven<at.query_step>(SizesRepresentable({at.query_step})),
                               IfGiven<at.norm>(SizesRepresentable({at.norm})),
                               IfGiven<at.norm_step>(SizesRepresentable({at.norm_step}))),
                          kShapes),
                     Join(List(Custom(IsComputed, ACLNN_ERR_INNER_NULLPTR)), kStorages)));
  } else if constexpr (at.query_step >= 0) {
    return Join(Join(kNulls, kTypes),
                Join(Join(List(IfGiven<at.query_step>(DtypesIn(kFloat, {at.query_step})),
                               IfGiven<at.query_step>(SizesRepresentable({at.query_step}))),
                          kShapes),
                     kStorages));
  } else {
    return Join(Join(kNulls, kTypes), Join(kShapes, kStorages));
  }
}
constexpr auto kChecks = PrologChecks<kV1>();
constexpr auto kChecksV2 = PrologChecks<kV2>();
constexpr auto kChecksV3 = PrologChecks<kV3>();

// ---- the job ----

GroupedOperand Dense(engine::BufferRef buffer, aclDataType dtype, int64_t columns) {
  const auto bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
  return {true, buffer, dtype, columns * bytes, bytes, 0};
}
// Returns a number of each column, or of each row.
GroupedOperand OfColumns(engine::BufferRef buffer) {
  return {true, buffer, ACL_FLOAT, 0, int64_t{sizeof(float)}, 0};
}
GroupedOperand OfRows(engine::BufferRef buffer) {
  return {true, buffer, ACL_FLOAT, int64_t{sizeof(float)}, 0, 0};
}

// Adds products, of `heads` matrices or of one.
void AddProduct(const OperatorCall& call, DenseOpList& ops, const GroupedPart& part, int64_t heads) {
  GroupedProducts products{};
  products.isa = call.isa;
  products.threads = call.threads;
  products.groups = heads;
  products.part = part;
  products.schedule = ops.Words(products.ScheduleWords());
  ops.Compute(products,
              {part.left.buffer, part.right.buffer, part.out.buffer, part.scale.buffer, part.factor.buffer},
              products.Elements());
}

// Makes the product of rows with a weight, whose results are BF16.
engine::NumberRows Multiplied(const OperatorCall& call, DenseOpList& ops, engine::BufferRef rows, int weight,
                              int64_t count, engine::OptionalBuffer row_scale, int column_scale) {
  const Shape& shape = call.Tensor(weight).shape;
  GroupedPart part{};
  part.rows = count;
  part.depth = shape[0];
  part.columns = shape[1];
  part.left = Dense(rows, call.Tensor(weight).dtype, part.depth);
  part.right = grouped::OperandOf(call, weight, 0, true, false);
  const engine::BufferRef to = ops.Bytes(count * part.columns * int64_t{sizeof(uint16_t)});
  part.out = Dense(to, ACL_BF16, part.columns);
  if (row_scale.is_there) {
    part.kind = GroupedPart::Kind::kIntegers;
    part.scale = OfColumns(ops.In(column_scale));
    part.factor = OfRows(row_scale.buffer);
  }
  AddProduct(call, ops, part, 1);
  return engine::NumberRowsOf(call.isa, to, ACL_BF16);
}

template <const Positions& at>
class Prolog {
 public:
  Prolog(const OperatorCall& call, Executor& executor)
      : call_(call),
        ops_(call, executor, nullptr, kMostOps),
        sizes_(SizesOf(call)),
        has_codes_(IsInt8(call, kUp)) {}

  void Set() {
    const bool is_full = IsInt8(call_, kX);
    x_ = ops_.In(kX);
    if (is_full) row_scale_ = {ops_.In(at.scales + kRowScale), true};
    cos_ = ops_.Rows(kCos);
    sin_ = ops_.Rows(kSin);
    SetQueries(NormedQueries());
    SetCaches();
    ops_.SetJob();
  }

 private:
  // More steps than most operators have: each operand may need a copy.
  static constexpr int kMostOps = 48;

  float Factor(int attribute) const {
    if constexpr (at.norm < 0) return 1.0f;
    return static_cast<float>(FloatNumber(call_, attribute));
  }

  // The normalised low-rank queries, as codes with a step of each row where weights are codes.
  struct Normed {
    engine::BufferRef rows;
    engine::OptionalBuffer step;
  };
  Normed NormedQueries() {
    const int64_t tokens = sizes_.tokens;
    const int64_t rank = sizes_.query_rank;
    MakeRows norm = StartRows(ops_, tokens, 1, rank);
    norm.source = Multiplied(call_, ops_, x_, kDown, tokens, row_scale_, at.scales + kDownScale);
    norm.pitch = rank;
    norm.gamma = ops_.Rows(kQueryGamma);
    norm.epsilon = FloatNumber(call_, kQueryEpsilon);
    norm.factor = Factor(kQueryFactor);
    const bool is_wanted = IsWanted(call_, at.norm, call_.Tensor(kX).shape.rank);
    if (!has_codes_) {
      const engine::BufferRef rows =
          is_wanted ? ops_.Out(at.norm) : ops_.Bytes(tokens * rank * int64_t{sizeof(uint16_t)});
      norm.to = engine::NumberRowsOf(call_.isa, rows, ACL_BF16);
      Compute(ops_, norm);
      return {rows, {}};
    }
    norm.to = engine::NumberRowsOf(call_.isa, ops_.Floats(tokens * rank), ACL_FLOAT);
    Compute(ops_, norm);
    engine::QuantiseByRow quantise{};
    quantise.source = norm.to;
    quantise.smooth = ops_.InIfGiven(at.scales + kSmooth);
    quantise.to = is_wanted ? ops_.Out(at.norm) : ops_.Bytes(tokens * rank);
    quantise.step = is_wanted ? ops_.Out(at.norm_step) : ops_.Floats(tokens);
    quantise.rows = tokens;
    quantise.columns = rank;
    quantise.threads = call_.threads;
    ops_.Compute(quantise, {quantise.smooth.buffer, quantise.to, quantise.step}, tokens * rank);
    return {quantise.to, {quantise.step, true}};
  }

  void SetQueries(const Normed& normed) {
    const int64_t tokens = sizes_.tokens;
    const int64_t heads = sizes_.heads;
    const int64_t joined = sizes_.depth + sizes_.turned;
    const int64_t size = sizeof(uint16_t);
    const engine::NumberRows up =
        Multiplied(call_, ops_, normed.rows, kUp, tokens, normed.step, at.scales + kUpScale);
    const bool quantises = QuantisesQueries<at>(call_);
    GroupedPart part{};
    part.rows = tokens;
    part.depth = sizes_.depth;
    part.columns = sizes_.latent;
    part.left = {true, up.buffer, ACL_BF16, heads * joined * size, size, joined * size};
    part.right = grouped::OperandOf(call_, kAbsorbed, 0, true, true);
    const engine::BufferRef query =
        quantises ? ops_.Bytes(tokens * heads * sizes_.latent * size) : ops_.Out(at.query);
    part.out = {true, query, ACL_BF16, heads * sizes_.latent * size, size, sizes_.latent * size};
    AddProduct(call_, ops_, part, heads);

    MakeRows rope = StartRows(ops_, tokens * heads, 1, sizes_.turned);
    rope.source = up;
    rope.pitch = joined;
    rope.first = sizes_.depth;
    SetTurn(rope, heads);
    if (!quantises) {
      rope.to = ops_.RowsOut(at.query_rope);
      return Compute(ops_, rope);
    }
    engine::QuantiseByRow quantise{};
    quantise.source = engine::NumberRowsOf(call_.isa, query, ACL_BF16);
    quantise.to = ops_.Out(at.query);
    quantise.step = ops_.Out(at.query_step);
    quantise.rows = tokens * heads;
    quantise.columns = sizes_.latent;
    quantise.threads = call_.threads;
    ops_.Compute(quantise, {quantise.to, quantise.step}, quantise.rows * quantise.columns);
    rope.to = engine::NumberRowsOf(call_.isa, ops_.Bytes(tokens * heads * sizes_.turned * size), ACL_BF16);
    Compute(ops_, rope);
    engine::RescaleRows rescale{};
    rescale.source = rope.to;
    rescale.to = ops_.RowsOut(at.query_rope);
    rescale.factor = ops_.In(at.scales + kLatentQuant);
    rescale.step = quantise.step;
    rescale.rows = tokens * heads;
    rescale.columns = sizes_.turned;
    rescale.threads = call_.threads;
    ops_.Compute(rescale, {rescale.to.buffer, rescale.factor, rescale.step}, rescale.rows * rescale.columns);
  }

  void SetCaches() {
    const int64_t tokens = sizes_.tokens;
    const Shape& cache = call_.Tensor(at.latent_cache).shape;
    const CacheLayout layout{cache[0], cache[1], ModeOf(call_).is_grouped, Slots::kEach, tokens};
    const engine::BufferRef slot = ops_.In(at.index);
    const engine::NumberRows rows =
        Multiplied(call_, ops_, x_, kLatent, tokens, row_scale_, at.scales + kLatentScale);
    MakeRows latent = StartRows(ops_, tokens, 1, sizes_.latent);
    MakeRows rope = StartRows(ops_, tokens, 1, sizes_.turned);
    latent.source = rope.source = rows;
    latent.pitch = rope.pitch = sizes_.latent + sizes_.turned;
    latent.gamma = ops_.Rows(kLatentGamma);
    latent.epsilon = FloatNumber(call_, kLatentEpsilon);
    latent.factor = Factor(kLatentFactor);
    rope.first = sizes_.latent;
    SetTurn(rope, 1);
    if (IsInt8(call_, at.latent_cache)) {
      latent.quantiser = Quantiser(call_, ops_, at.scales + kLatentQuant, -1, /*divides=*/false);
      // The first scale holds for all columns of tokens that are codes.
      if (IsInt8(call_, kX)) latent.quantiser.scales = 1;
    }
    if (IsInt8(call_, at.rope_cache))
      rope.quantiser = Quantiser(call_, ops_, at.scales + kRopeQuant, -1, /*divides=*/false);
    ComputeAndPut(call_, ops_, latent, at.latent_cache, slot, layout);
    ComputeAndPut(call_, ops_, rope, at.rope_cache, slot, layout);
  }

  // Turns whole rows by the angles of their token.
  void SetTurn(MakeRows& rows, int64_t rows_of_token) const {
    rows.turned = sizes_.turned;
    rows.is_interleaved = true;
    rows.angle_rows = rows_of_token;
    rows.cos = cos_;
    rows.sin = sin_;
  }

  const OperatorCall& call_;
  DenseOpList ops_;
  const Sizes sizes_;
  const bool has_codes_;
  engine::BufferRef x_{};
  engine::OptionalBuffer row_scale_{};
  engine::NumberRows cos_{}, sin_{};
};

// Tells whether memory can hold the numbers between steps. Expanded tensors take no memory themselves.
bool HasMemory(const Sizes& sizes) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const int64_t of_up = sizes.heads * (sizes.depth + sizes.turned);
  const int64_t of_query = sizes.heads * (sizes.latent + sizes.turned);
  int64_t most = std::max({sizes.query_rank, of_up, of_query, sizes.latent + sizes.turned});
  return !__builtin_mul_overflow(sizes.tokens, most, &most) && most <= kMost;
}

template <const Positions& at>
void SetProlog(const OperatorCall& call, Executor& executor) {
  const Sizes sizes = SizesOf(call);
  if (!HasMemory(sizes)) return executor.RefuseSize(call.Name(kX), sizes.tokens);
  Prolog<at>(call, executor).Set();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMlaProlog) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProlog<kV1>);
}
PORTACL_PHASE_1(aclnnMlaPrologV2WeightNz) {
  return dense::RunOpList(call, kChecksV2, workspaceSize, executor, SetProlog<kV2>);
}
PORTACL_PHASE_1(aclnnMlaPrologV3WeightNz) {
  return dense::RunOpList(call, kChecksV3, workspaceSize, executor, SetProlog<kV3>);
}
