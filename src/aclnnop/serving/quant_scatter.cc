// aclnnInplaceQuantScatter and V2: quantise rows, and scatter them by indices.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/quant_scatter_functions.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kSelf, kIndices, kUpdates, kScales, kZeroPoints };
enum Attributes { kAxis, kQuantAxis, kReduction, kRoundMode };

bool IsBf16(const OperatorCall& call) noexcept { return call.Tensor(kUpdates).dtype == ACL_BF16; }
bool IsHalf(const OperatorCall& call) noexcept { return !IsBf16(call); }
bool HasBf16Zero(const OperatorCall& call) noexcept { return IsBf16(call) && call.IsGiven(kZeroPoints); }
bool HasHalfZero(const OperatorCall& call) noexcept { return IsHalf(call) && call.IsGiven(kZeroPoints); }

// HIFLOAT8 is rounded away from zero at halves, whichever its mode.
aclnnStatus RoundModeIsKnown(const Check& check, OperatorCall& call) noexcept {
  const bool is_hifloat = call.Tensor(kSelf).dtype == ACL_HIFLOAT8;
  const char* const mode = serving::TextOr(call, kRoundMode, is_hifloat ? "round" : "rint");
  if (is_hifloat && std::strcmp(mode, "hybrid") == 0) return ACL_SUCCESS;
  if (std::strcmp(mode, is_hifloat ? "round" : "rint") == 0) return ACL_SUCCESS;
  return serving::RefuseText(check, call, kRoundMode, is_hifloat ? "round, hybrid" : "rint");
}
aclnnStatus RanksAreOne(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int rank = call.Tensor(kSelf).shape.rank;
  return checks.Rank(kUpdates, rank, rank).status();
}

int AxisOf(const OperatorCall& call) {
  return WrappedDim(Integer(call, kAxis), call.Tensor(kSelf).shape.rank);
}

aclnnStatus IndexDtypesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& updates = call.Tensor(kUpdates).shape;
  const Shape& indices = call.Tensor(kIndices).shape;
  ShapeChecks checks(check, call);
  checks.Rank(kSelf, 3, 8).Rank(kIndices, 1, 2).Integer(kReduction, 1, 1);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(IsDim(Integer(call, kAxis), self.rank) && AxisOf(call) > 0 && AxisOf(call) < self.rank - 1,
                 kAxis, "a dim but the first and the last");
  checks.HoldsOf(Integer(call, kQuantAxis) == -1 || Integer(call, kQuantAxis) == self.rank - 1, kQuantAxis,
                 "the last dim");
  if (!checks.Passed()) return checks.status();
  Shape accepted = self;
  accepted.dim[0] = updates[0];
  accepted.dim[AxisOf(call)] = updates[AxisOf(call)];
  checks.Is(kUpdates, accepted);
  if (indices.rank == 1) {
    checks.Is(kIndices, Shape{updates[0]});
    checks.Holds(updates[0] <= self[0], kUpdates, "no more rows than selfRef");
  } else {
    checks.Is(kIndices, Shape{updates[0], 2});
  }
  for (const int tensor : {kScales, kZeroPoints}) {
    if (!call.IsGiven(tensor)) continue;
    const int64_t count = call.Tensor(tensor).numel;
    checks.Holds(count == 1 || count == self[self.rank - 1], tensor, "one element, or one of each column");
  }
  return checks.status();
}

constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeSet kBf16Alone{ACL_BF16};
constexpr DtypeRule kTargets = SinceAtlasA2(kInt8);
constexpr DtypeRule kTargetsV2 =
    ByGeneration({}, {}, DtypeSet(ACL_INT8, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN));
constexpr auto kNulls = List(NotNull(kSelf), NotNull(kIndices), NotNull(kUpdates), NotNull(kScales));
constexpr auto kDtypes =
    List(DtypesIn(kInt32Or64, {kIndices}), DtypesIn(serving::kHalfAndBf16, {kUpdates}),
         If(IsBf16, DtypesIn(kBf16Alone, {kScales})), If(IsHalf, DtypesIn(kFloat, {kScales})),
         If(HasBf16Zero, DtypesIn(kBf16Alone, {kZeroPoints})),
         If(HasHalfZero, DtypesIn(kInt32, {kZeroPoints})), Custom(RanksAreOne));
constexpr auto kEnd = List(SizesRepresentable({kSelf}), DoneIfEmpty({kSelf, kIndices, kUpdates, kScales}),
                           Custom(IndexDtypesFit, kTiling), InsideStorage({kIndices, kUpdates, kScales}),
                           IfGiven<kZeroPoints>(InsideStorage({kZeroPoints})));
constexpr auto kChecks = Join(kNulls, Join(Join(List(DtypesIn(kTargets, {kSelf})), kDtypes), kEnd));
constexpr auto kChecksV2 = Join(
    kNulls,
    Join(Join(List(DtypesIn(kTargetsV2, {kSelf})), Join(kDtypes, List(Custom(RoundModeIsKnown)))), kEnd));

void SetScattered(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& updates = call.Tensor(kUpdates).shape;
  const int axis = AxisOf(call);
  engine::QuantiseToIndices put{};
  put.source = ops.Rows(kUpdates);
  put.to = ops.Out(kSelf, ACL_DT_UNDEFINED, /*keeps=*/true);
  put.buffer = ops.In(kIndices, ACL_INT64);
  put.names_batch = call.Tensor(kIndices).shape.rank == 2;
  put.batches = updates[0];
  put.positions = updates[axis];
  put.target_batches = self[0];
  put.target_positions = self[axis];
  put.before = put.between = 1;
  for (int dim = 1; dim < axis; ++dim) put.before *= self[dim];
  for (int dim = axis + 1; dim < self.rank - 1; ++dim) put.between *= self[dim];
  put.columns = self[self.rank - 1];
  put.quantiser.scale = {ops.In(kScales, ACL_FLOAT), true};
  put.quantiser.scales = call.Tensor(kScales).numel;
  put.quantiser.offset = ops.InIfGiven(kZeroPoints, ACL_FLOAT);
  if (call.IsGiven(kZeroPoints)) put.quantiser.offsets = std::max<int64_t>(call.Tensor(kZeroPoints).numel, 1);
  put.quantiser.divides = true;
  const aclDataType codes = call.Tensor(kSelf).dtype;
  if (codes != ACL_INT8) put.encode = engine::FindEncode(call.isa, codes);
  ops.Compute(
      put, {put.source.buffer, put.to, put.buffer, put.quantiser.scale.buffer, put.quantiser.offset.buffer},
      call.Tensor(kUpdates).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceQuantScatter) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetScattered);
}
PORTACL_PHASE_1(aclnnInplaceQuantScatterV2) {
  return dense::RunOpList(call, kChecksV2, workspaceSize, executor, SetScattered);
}
