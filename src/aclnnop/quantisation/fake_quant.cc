// aclnnFakeQuantPerTensorAffineCachemask and aclnnFakeQuantPerChannelAffineCachemask: numbers as their codes would
// give them back, and which are within the codes; aclnnQuantMax and aclnnGroupedQuantMax: rows times a scale as
// codes, and the greatest magnitude of each group.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/fake_quant_functions.h"

#include "aclnnop/quantisation/coded.h"
#include "engine/quantise/blocks.h"

namespace portacl {
namespace {

using namespace quantisation;

// ---- fake quantisation ----

enum Tensors { kX, kScale, kZero, kOut, kMask };
enum TensorAttributes { kEnabled, kLeast, kGreatest };
enum ChannelAttributes { kAxis, kChannelLeast, kChannelGreatest };

constexpr DtypeRule kFloats = Everywhere(kFloatAndHalf);
constexpr DtypeRule kOuts = SinceAtlasA2(kFloatHalfAndBf16, kFloatAndHalf);
constexpr DtypeRule kZeroOfChannels = Everywhere(kInt32 | kFloatAndHalf);

// A tensor that is missing has the code of a fault inside.
constexpr Check Missing(int tensor) {
  Check check = NotNull(tensor);
  check.code = ACLNN_ERR_INNER_NULLPTR;
  return check;
}

ShapeChecks& HasLimits(ShapeChecks& checks, const OperatorCall& call, int least, int greatest) {
  return checks.Is(kOut, call.Tensor(kX).shape)
      .Is(kMask, call.Tensor(kX).shape)
      .HoldsOf(Integer(call, least) <= Integer(call, greatest), greatest, "quantMin or more");
}
aclnnStatus TensorFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 0, 8);
  checks.Holds(call.Tensor(kScale).numel == 1, kScale, "one element");
  checks.Holds(call.Tensor(kZero).numel == 1, kZero, "one element");
  return HasLimits(checks, call, kLeast, kGreatest).status();
}
aclnnStatus ChannelsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  const int64_t rank = x.rank;
  checks.Rank(kX, 1, 8).Rank(kScale, 1, 1).Rank(kZero, 1, 1).Integer(kAxis, -rank, rank - 1);
  if (!checks.Passed()) return checks.status();
  const int64_t axis = Integer(call, kAxis) < 0 ? Integer(call, kAxis) + rank : Integer(call, kAxis);
  const Shape channels{x[static_cast<int>(axis)]};
  checks.Is(kScale, channels).Is(kZero, channels);
  return HasLimits(checks, call, kChannelLeast, kChannelGreatest).status();
}

template <const DtypeRule& kDtypesOfZero>
constexpr auto kBegin = List(Missing(kX), Missing(kScale), Missing(kZero), Missing(kOut), Missing(kMask),
                             DtypesIn(kFloats, {kX, kScale}), DtypesIn(kDtypesOfZero, {kZero}),
                             DtypesIn(kOuts, {kOut}), DtypesIn(DtypeSet(ACL_BOOL), {kMask}));
constexpr DtypeRule kZeroOfTensor = Everywhere(kInt32);
constexpr auto kEnd =
    List(SizesRepresentable({kOut, kMask}), DoneIfEmpty({kX}), InsideStorage({kX, kScale, kZero}));
constexpr auto kTensorChecks = Join(kBegin<kZeroOfTensor>, List(Custom(TensorFits)), kEnd);
constexpr auto kChannelChecks = Join(kBegin<kZeroOfChannels>, List(Custom(ChannelsFit)), kEnd);

void Add(const OperatorCall& call, Executor& executor, engine::FakeQuantise& job) {
  DenseOpList ops(call, executor);
  job.x = NumbersIn(ops, call, kX);
  job.to = NumbersOut(ops, call, kOut);
  job.mask = ops.Out(kMask);
  job.scale.numbers = NumbersIn(ops, call, kScale);
  job.zero.numbers = NumbersIn(ops, call, kZero);
  AddRows(ops, job,
          {job.x.buffer, job.to.buffer, job.mask, job.scale.numbers.buffer, job.zero.numbers.buffer});
  ops.SetJob();
}
void SetTensor(const OperatorCall& call, Executor& executor) {
  engine::FakeQuantise job;
  job.is_enabled = call.attributes[kEnabled].real >= 1;
  job.least = static_cast<float>(Integer(call, kLeast));
  job.greatest = static_cast<float>(Integer(call, kGreatest));
  job.rows = 1;
  job.columns = call.Tensor(kX).numel;
  Add(call, executor, job);
}
void SetChannels(const OperatorCall& call, Executor& executor) {
  const Shape& x = call.Tensor(kX).shape;
  const auto axis =
      static_cast<int>(Integer(call, kAxis) < 0 ? Integer(call, kAxis) + x.rank : Integer(call, kAxis));
  engine::FakeQuantise job;
  job.least = static_cast<float>(Integer(call, kChannelLeast));
  job.greatest = static_cast<float>(Integer(call, kChannelGreatest));
  int64_t inner = 1;
  for (int dim = axis + 1; dim < x.rank; ++dim) inner *= x[dim];
  job.scale.by_column = inner == 1;
  job.columns = inner == 1 ? x[axis] : inner;
  job.scale.rows = inner == 1 ? 1 : x[axis];
  job.rows = call.Tensor(kX).numel / job.columns;
  Add(call, executor, job);
}

// ---- codes and the greatest magnitude ----

enum MostAttributes { kRound, kDtype };
struct Most {
  int group, y, greatest;
};
constexpr Most kOne{-1, 2, 3};
constexpr Most kGroups{2, 3, 4};
constexpr DtypeRule kOn950 = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr DtypeRule kCodes = ByGeneration({}, {}, kFloat8s);

aclnnStatus MostFitsAt(const Check& check, const OperatorCall& call, const Most& at) {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  const bool is_grouped = at.group >= 0;
  checks.Rank(kX, is_grouped ? 2 : 1, 8);
  if (is_grouped) checks.Rank(at.group, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape groups{is_grouped ? call.Tensor(at.group).shape[0] : 1};
  checks.Is(kScale, groups);
  const auto dtype = static_cast<aclDataType>(Integer(call, kDtype));
  const bool is_dtype = Integer(call, kDtype) >= 0 && Integer(call, kDtype) < 64 && kFloat8s.Contains(dtype);
  checks.HoldsOf(is_dtype, kDtype, "HIFLOAT8, FLOAT8_E5M2 or FLOAT8_E4M3FN");
  const std::string_view round = TextOf(call, kRound);
  const bool rounds = dtype == ACL_HIFLOAT8 ? round == "round" || round == "hybrid" : round == "rint";
  checks.HoldsOf(rounds, kRound, "rint, with HIFLOAT8 round or hybrid");
  checks.Holds(call.Tensor(at.y).dtype == dtype, at.y, "the dtype that dstType says").Is(at.y, x);
  checks.Holds(call.Tensor(at.greatest).dtype == call.Tensor(kX).dtype, at.greatest, "x's dtype");
  return checks.Is(at.greatest, groups).status();
}
template <const Most& kAt>
aclnnStatus MostFits(const Check& check, OperatorCall& call) noexcept {
  return MostFitsAt(check, call, kAt);
}

constexpr Check kOneChecks[] = {
    NotNull(kX),
    NotNull(kScale),
    NotNull(kOne.y),
    NotNull(kOne.greatest),
    DtypesIn(kOn950, {kX}),
    DtypesIn(kFloat, {kScale}),
    Custom(MostFits<kOne>),
    SizesRepresentable({kOne.y, kOne.greatest}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kScale}),
};
constexpr Check kGroupsChecks[] = {
    NotNull(kX),
    NotNull(kScale),
    NotNull(kGroups.group),
    NotNull(kGroups.y),
    NotNull(kGroups.greatest),
    DtypesIn(kOn950, {kX}),
    DtypesIn(kFloat, {kScale}),
    DtypesIn(kInt64, {kGroups.group}),
    Custom(MostFits<kGroups>),
    SizesRepresentable({kGroups.y, kGroups.greatest}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kScale, kGroups.group}),
};

void SetMostAt(const OperatorCall& call, const Most& at, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const bool is_grouped = at.group >= 0;
  engine::QuantiseGroups job;
  job.x = NumbersIn(ops, call, kX);
  job.dtype = call.Tensor(at.y).dtype;
  job.codes = ops.Out(at.y, ACL_DT_UNDEFINED, is_grouped);
  job.scale = NumbersIn(ops, call, kScale);
  job.greatest = NumbersOut(ops, call, at.greatest);
  job.rows = x[0];
  job.columns = call.Tensor(kX).numel / x[0];
  if (is_grouped) {
    job.groups.count = call.Tensor(at.group).shape[0];
    job.groups.ends = {ops.In(at.group, ACL_INT64), ACL_INT64, true};
  }
  AddRows(ops, job,
          {job.x.buffer, job.codes, job.scale.buffer, job.greatest.buffer, BufferOf(job.groups.ends)});
  ops.SetJob();
}
void SetOne(const OperatorCall& call, Executor& executor) { SetMostAt(call, kOne, executor); }
void SetGroups(const OperatorCall& call, Executor& executor) { SetMostAt(call, kGroups, executor); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFakeQuantPerTensorAffineCachemask) {
  return dense::RunOpList(call, kTensorChecks, workspaceSize, executor, SetTensor);
}
PORTACL_PHASE_1(aclnnFakeQuantPerChannelAffineCachemask) {
  return dense::RunOpList(call, kChannelChecks, workspaceSize, executor, SetChannels);
}
PORTACL_PHASE_1(aclnnQuantMax) { return dense::RunOpList(call, kOneChecks, workspaceSize, executor, SetOne); }
PORTACL_PHASE_1(aclnnGroupedQuantMax) {
  return dense::RunOpList(call, kGroupsChecks, workspaceSize, executor, SetGroups);
}
