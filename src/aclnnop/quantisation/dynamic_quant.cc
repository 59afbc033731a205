// aclnnDynamicQuant and its later forms: quantise with scales computed from the numbers, for each row, each
// column or the whole tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/dynamic_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

enum Tensors { kX, kSmooth, kGroup };
// The first form has neither groups nor offsets.
struct Outputs {
  int y, scale, offset;
};
constexpr Outputs kFirst{2, 3, -1};
constexpr Outputs kLater{3, 4, 5};
bool IsFirst(const OperatorCall& call) noexcept { return call.tensors.size() == 4; }
Outputs OutputsOf(const OperatorCall& call) noexcept { return IsFirst(call) ? kFirst : kLater; }
enum Attributes { kMode, kMost, kIsSymmetrical };  // kIsSymmetrical: later forms only

constexpr DtypeRule kDtypesOfX = SinceAtlasA2(kHalves, DtypeSet(ACL_FLOAT16));
constexpr DtypeRule kDtypesOfY =
    SinceAtlasA2(kIntegerCodes, kInt8).On(products::kAscend950, kIntegerCodes | kFloat8s);
constexpr int64_t kMostGroups = 1024;

bool HasOffset(const OperatorCall& call) noexcept { return !IsFirst(call) && call.IsGiven(kLater.offset); }
bool IsByChannel(const OperatorCall& call) noexcept { return TextOf(call, kMode) == "perchannel"; }
bool IsByTensor(const OperatorCall& call) noexcept { return TextOf(call, kMode) == "pertensor"; }
bool HasGroups(const OperatorCall& call) noexcept {
  return !IsFirst(call) && call.IsGiven(kSmooth) && call.IsGiven(kGroup);
}

aclnnStatus On950(const Check& check, OperatorCall& call) noexcept {
  if (IsOn950(call)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_symmetrical = Integer(call, kIsSymmetrical) != 0;
  checks.HoldsOf(is_symmetrical != HasOffset(call), kIsSymmetrical, "true without offsetOut, false with it");
  if (checks.Passed() && IsNull(call, kMode))
    return FailAclnn(
        check.code,
        StartMessage(call).Add("parameter quantMode is null, accepted: pertoken, pertensor or perchannel."));
  const std::string_view mode = TextOf(call, kMode);
  checks.HoldsOf(mode == "pertoken" || mode == "pertensor" || mode == "perchannel", kMode,
                 "pertoken, pertensor or perchannel");
  return checks.HoldsOf(!IsByChannel(call) || !call.IsGiven(kGroup), kMode, "without groupIndexOptional that")
      .status();
}

Shape ScaleShape(const OperatorCall& call) {
  const Shape& x = call.Tensor(kX).shape;
  if (IsByTensor(call)) return Shape{1};
  Shape shape = x;
  shape.rank = x.rank - 1;
  if (IsByChannel(call)) shape.dim[shape.rank - 1] = x[x.rank - 1];
  return shape;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Outputs at = OutputsOf(call);
  checks.Rank(kX, 2, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  if (HasGroups(call)) {
    checks.Rank(kGroup, 1, 1);
  } else if (call.IsGiven(kSmooth)) {
    checks.Is(kSmooth, Shape{x[x.rank - (IsByChannel(call) ? 2 : 1)]});
  }
  HasCodesOf(checks, call, x, at.y);
  const Shape scale = ScaleShape(call);
  checks.Is(at.scale, scale);
  if (HasOffset(call)) checks.Is(at.offset, scale);
  return checks.status();
}

aclnnStatus TilesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  const int64_t columns = x[x.rank - 1];
  if (HasGroups(call)) {
    const int64_t groups = call.Tensor(kGroup).shape[0];
    checks.Holds(groups >= 1 && groups <= kMostGroups, kGroup, "1 to 1024 groups")
        .Is(kSmooth, Shape{groups, columns});
  }
  if (call.product == Product::kAtlasInference)
    checks.Holds(columns % 32 == 0, kX, "rows of a multiple of 32 elements");
  const bool is_packed = CodesOf(call.Tensor(OutputsOf(call).y)) == ACL_INT4;
  checks.HoldsOf(!(IsByChannel(call) && is_packed), kMode, "with codes of 4 bits pertoken or pertensor");
  const float most = call.attributes[kMost].real;
  if (!checks.Passed() || (most >= 0 && most <= 32768)) return checks.status();
  return FailAclnn(
      check.code,
      StartMessage(call).Add("parameter dstTypeMax is ").Add(most).Add(", accepted: 0 to 32768."));
}

template <const Outputs& kAt>
constexpr auto kNotNull = List(NotNull(kX), NotNull(kAt.y), NotNull(kAt.scale));
template <const Outputs& kAt>
constexpr auto kRest = List(DtypesIn(kDtypesOfX, {kX}), IfGiven<kSmooth>(SameDtype(kX, kSmooth)),
                            If(HasGroups, DtypesIn(kInt32Or64, {kGroup})), DtypesIn(kDtypesOfY, {kAt.y}),
                            DtypesIn(kFloat, {kAt.scale}), If(HasOffset, DtypesIn(kFloat, {kLater.offset})),
                            Custom(ShapesFit), SizesRepresentable({kAt.y, kAt.scale}), DoneIfEmpty({kX}),
                            DoneIfEmpty({kAt.y}), DoneIfEmpty({kAt.scale}), Custom(TilesFit, kTiling),
                            InsideStorage({kX}), IfGiven<kSmooth>(InsideStorage({kSmooth})),
                            If(HasGroups, InsideStorage({kGroup})), Packed<kAt.y>());
constexpr auto kFirstChecks = Join(kNotNull<kFirst>, kRest<kFirst>);
constexpr auto kSecondChecks = Join(kNotNull<kLater>, kRest<kLater>);
constexpr auto kLaterChecks =
    Join(List(Custom(On950, ACLNN_ERR_INNER)), kNotNull<kLater>, List(Custom(ModesFit)), kRest<kLater>);

// Returns the code of the greatest magnitude.
float MostOf(const OperatorCall& call, aclDataType codes) {
  const auto most = call.attributes[kMost].real;
  return codes == ACL_HIFLOAT8 && most != 0 ? most : engine::GreatestNumber(codes);
}

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Outputs at = OutputsOf(call);
  const bool keeps = HasGroups(call);
  StridedView x = PlainView(call.Tensor(kX));
  StridedView y = PlainView(call.Tensor(at.y));
  if (IsByChannel(call)) {
    int order[kMaxLoopRank];
    for (int i = 0; i < x.shape.rank; ++i) order[i] = i;
    std::swap(order[x.shape.rank - 2], order[x.shape.rank - 1]);
    Permute(x, order);
    Permute(y, order);
  }
  engine::QuantisePlain job;
  job.columns = x.shape[x.shape.rank - 1];
  job.rows = x.numel / job.columns;
  Quantiser& quantiser = job.quantiser[0];
  job.x = {ops.InView(kX, x), x.dtype, true};
  if (IsByChannel(call)) {
    quantiser.dtype = y.dtype;
    quantiser.codes = ops.OutView(at.y, y);
  } else {
    SetCodes(ops, call, at.y, quantiser, keeps);
  }
  quantiser.most = MostOf(call, quantiser.dtype);
  quantiser.kind = HasOffset(call) ? Quantiser::Kind::kRange : Quantiser::Kind::kGreatest;
  quantiser.step = IsOn950(call) ? Quantiser::Step::kProduct : Quantiser::Step::kReciprocal;
  quantiser.span = quantiser.dtype == ACL_INT8 || quantiser.dtype == ACL_INT4 ? 2 * quantiser.most + 1
                                                                              : 2 * quantiser.most;
  quantiser.least_step = IsOn950(call) ? 0.0f : 1e-12f;
  quantiser.scale.numbers = NumbersIn(ops, call, kSmooth);
  quantiser.scale.by_column = true;
  if (HasGroups(call)) {
    quantiser.scale.by_group = true;
    quantiser.scale.rows = job.groups.count = call.Tensor(kGroup).shape[0];
    job.groups.ends = {ops.In(kGroup, ACL_INT64), ACL_INT64, true};
  }
  quantiser.row_step = NumbersOut(ops, call, at.scale, keeps);
  if (HasOffset(call)) quantiser.row_offset = NumbersOut(ops, call, at.offset, keeps);
  if (IsByTensor(call)) {
    engine::TensorExtremes extremes{};
    extremes.x = job.x;
    extremes.factor = quantiser.scale;
    extremes.rows = job.rows;
    extremes.columns = job.columns;
    extremes.pairs = ops.Floats(2 * engine::TensorExtremes::Blocks(job.rows, job.columns));
    extremes.to = ops.Floats(2);
    extremes.groups = job.groups;
    AddRows(ops, extremes, {job.x.buffer, BufferOf(quantiser.scale.numbers), BufferOf(job.groups.ends)});
    quantiser.tensor_step = {extremes.to, ACL_FLOAT, true};
  }
  AddRows(ops, job,
          {job.x.buffer, quantiser.codes, BufferOf(quantiser.scale.numbers), BufferOf(job.groups.ends),
           BufferOf(quantiser.row_step), BufferOf(quantiser.row_offset)});
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDynamicQuant) {
  return dense::RunOpList(call, kFirstChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnDynamicQuantV2) {
  return dense::RunOpList(call, kSecondChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnDynamicQuantV3) {
  return dense::RunOpList(call, kLaterChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnDynamicQuantV4) {
  return dense::RunOpList(call, kLaterChecks, workspaceSize, executor, Set);
}
