// aclnnMatmulAllReduce, its quantised forms and its forms with quantised weights: each rank's product, summed over
// the ranks; and their forms whose sum goes through a norm.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/matmul_all_reduce_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/matrix_product.h"
#include "engine/route/normed_rows.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;

// A tensor that a function lacks is a null pointer, an attribute 0.
enum Tensors { kX1, kX2, kBias, kX3, kScale, kPertoken, kOffset, kCommScale1, kCommScale2, kOut };
enum Attributes { kGroup, kReduce, kStreamMode, kGroupSize, kCommMode, kEpsilon };
// Functions with a norm have these instead of kOut. In place they lack kY, and the index of kNorm is that of kY.
enum NormTensors { kResidual = kOut, kGamma, kY, kNorm };

bool IsInference(const OperatorCall& call) noexcept { return kInference.Contains(call.product); }
bool HasCommScales(const OperatorCall& call) noexcept {
  return call.IsGiven(kCommScale1) || call.IsGiven(kCommScale2);
}

// ---- checks ----

aclnnStatus NotFractal(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& x2 = call.Tensor(kX2);
  ShapeChecks checks(check, call);
  return checks
      .Holds(IsInference(call) || x2.format != ACL_FORMAT_FRACTAL_NZ || x2.storage.rank != 4, kX2,
             "another format than FRACTAL_NZ")
      .status();
}

// The shape of x2 in elements, of which a word may hold eight.
Shape RightOf(const OperatorCall& call) noexcept { return grouped::InElements(call.Tensor(kX2)).shape; }

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX2, 2, 2).Rank(kX1, 2, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape right = RightOf(call);
  const int last = left.rank - 1;
  checks.Holds(right[0] == left[last], kX2, "as many rows as x1 has columns");
  Shape result = left;
  result.dim[last] = right[1];
  checks.Is(kOut, result).IsIfGiven(kX3, result).IsIfGiven(kBias, Shape{right[1]});
  checks.Holds(RowsOf(left) != 0, kX1, "at least one row").Holds(right[1] != 0, kX2, "at least one column");
  return checks.Holds(!IsInference(call) || !call.IsGiven(kX3), kX3, "null on Atlas inference products")
      .status();
}

constexpr auto kLies = List(SizesRepresentable({kOut}), matmul::FractalInsideStorage({kX1, kX2}),
                            matmul::MatricesInsideStorage({kX1, kX2}), IfGiven<kBias>(InsideStorage({kBias})),
                            IfGiven<kX3>(InsideStorage({kX3})));

constexpr auto kFloatChecks =
    Join(List(NotNull(kX1), NotNull(kX2), NotNull(kOut), exchanges::GroupGiven(kGroup),
              DtypesIn(kHalvesAndInference, {kX1, kX2, kOut}),
              IfGiven<kBias>(DtypesIn(kHalvesAndInference, {kBias})),
              IfGiven<kX3>(DtypesIn(kHalvesAndInference, {kX3})), IfGiven<kX3>(SameDtype(kX1, kX3)),
              SameDtype(kX1, kX2), SameDtype(kX1, kOut), IfGiven<kBias>(SameDtype(kX1, kBias))),
         List(IsSum(kReduce), StopsOnFailure(kStreamMode), Custom(NotFractal), Custom(ShapesFit)), kLies,
         List(exchanges::GroupKnown(kGroup)));

// ---- INT8 ----

constexpr DtypeRule kBytes = SinceAtlasA2(DtypeSet(ACL_INT8)).On(kInference, DtypeSet(ACL_INT8));
constexpr DtypeSet kWords{ACL_UINT64, ACL_INT64};
constexpr DtypeRule kScales =
    SinceAtlasA2(DtypeSet(ACL_UINT64, ACL_INT64, ACL_BF16, ACL_FLOAT)).On(kInference, kWords);

aclnnStatus ScaleFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType scale = call.Tensor(kScale).dtype;
  const bool is_bf16 = call.Tensor(kOut).dtype == ACL_BF16;
  checks.Holds((scale == ACL_BF16) == is_bf16, kScale, "BF16 beside an output of BF16, else another type");
  if (call.IsGiven(kPertoken)) {
    checks.Holds(call.Tensor(kPertoken).dtype == ACL_FLOAT, kPertoken, "the type FLOAT");
    checks.Holds(is_bf16 || scale == ACL_FLOAT, kScale,
                 "FLOAT beside scales of rows and an output of FLOAT16");
  }
  return checks.status();
}

aclnnStatus ScaleShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t columns = call.Tensor(kX2).shape[1];
  const Shape& scale = call.Tensor(kScale).shape;
  checks.Holds(scale == Shape{1} || scale == Shape{columns} || scale == Shape{1, columns}, kScale,
               "[1], [n] or [1,n]");
  return checks.IsIfGiven(kPertoken, Shape{RowsOf(call.Tensor(kX1).shape)}).status();
}

aclnnStatus CommScalesAreComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kCommScale1, kCommScale2})
    checks.Holds(!call.IsGiven(tensor), tensor, "null: portacl does not quantise what ranks exchange");
  return checks.HoldsOf(dense::Integer(call, kCommMode) == 0, kCommMode, "0").status();
}
aclnnStatus CommScalesComeTogether(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Given(kCommScale1, "beside commQuantScale2Optional")
      .Given(kCommScale2, "beside commQuantScale1Optional");
  return checks.status();
}
aclnnStatus HasNoGroups(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks
      .HoldsOf(dense::Integer(call, kGroupSize) == 0, kGroupSize,
               "0: portacl does not compute products of groups, of MX and of fp8 types")
      .status();
}

constexpr auto kByteTypes =
    List(NotNull(kX1), NotNull(kX2), NotNull(kOut), NotNull(kScale), exchanges::GroupGiven(kGroup),
         DtypesIn(kBytes, {kX1, kX2}), DtypesIn(kScales, {kScale}), DtypesIn(kHalvesAndInference, {kOut}),
         IfGiven<kBias>(DtypesIn(DtypeSet(ACL_INT32), {kBias})), IfGiven<kX3>(SameDtype(kOut, kX3)),
         Custom(ScaleFits));
constexpr auto kByteShapes =
    List(StopsOnFailure(kStreamMode), Custom(ShapesFit), Custom(ScaleShapesFit),
         If(HasCommScales, Custom(CommScalesComeTogether)), Custom(HasNoGroups, ACLNN_ERR_INNER_NULLPTR),
         Custom(CommScalesAreComputed, ACLNN_ERR_INNER_NULLPTR));
constexpr auto kByteRest = Join(kLies, List(matmul::MatricesInsideStorage({kScale}),
                                            IfGiven<kPertoken>(matmul::MatricesInsideStorage({kPertoken})),
                                            exchanges::GroupKnown(kGroup)));
constexpr auto kByteChecks = Join(kByteTypes, List(IsSum(kReduce)), kByteShapes, kByteRest);
constexpr auto kByteChecksOfV4 = Join(kByteTypes, List(BeginsWithSum(kReduce)), kByteShapes, kByteRest);

// ---- weights ----

constexpr DtypeRule kWeights = SinceAtlasA2(DtypeSet(ACL_INT8, ACL_INT4)).On(kInference, DtypeSet(ACL_INT8));

aclnnStatus GroupFits(const Check& check, OperatorCall& call) noexcept {
  constexpr int64_t kUnit = 32;
  ShapeChecks checks(check, call);
  const Shape& left = call.Tensor(kX1).shape;
  const int64_t terms = left.rank > 0 ? left[left.rank - 1] : 0;
  const int64_t group = dense::Integer(call, kGroupSize);
  if (terms == 0 || group == 0) return ACL_SUCCESS;
  const int64_t most = std::min<int64_t>(terms - 1, std::numeric_limits<int32_t>::max());
  return checks
      .HoldsOf(group >= kUnit && group <= most && group % kUnit == 0, kGroupSize,
               "0, or a multiple of 32 that is less than the terms")
      .status();
}

int64_t GroupsOf(const OperatorCall& call) noexcept {
  const Shape& left = call.Tensor(kX1).shape;
  const int64_t group = dense::Integer(call, kGroupSize);
  const int64_t terms = left[left.rank - 1];
  return group == 0 || terms == 0 ? 1 : (terms - 1) / group + 1;
}

aclnnStatus WeightScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t columns = RightOf(call)[1];
  const Shape& scale = call.Tensor(kScale).shape;
  if (dense::Integer(call, kGroupSize) == 0) {
    checks.Holds(scale == Shape{1} || scale == Shape{columns} || scale == Shape{1, columns}, kScale,
                 "[1], [n] or [1,n]");
  } else {
    checks.Is(kScale, Shape{GroupsOf(call), columns});
  }
  return checks.IsIfGiven(kOffset, scale).status();
}

constexpr auto kWeightChecks =
    Join(List(NotNull(kX1), NotNull(kX2), NotNull(kScale), NotNull(kOut), exchanges::GroupGiven(kGroup),
              DtypesIn(kHalvesAndInference, {kX1}), DtypesIn(kWeights, {kX2}), SameDtype(kX1, kScale),
              SameDtype(kX1, kOut), IfGiven<kOffset>(SameDtype(kX1, kOffset)),
              IfGiven<kBias>(SameDtype(kX1, kBias)), IfGiven<kX3>(SameDtype(kX1, kX3))),
         List(IsSum(kReduce), StopsOnFailure(kStreamMode), Custom(GroupFits), Custom(ShapesFit),
              Custom(WeightScalesFit)),
         kLies,
         List(matmul::MatricesInsideStorage({kScale}),
              IfGiven<kOffset>(matmul::MatricesInsideStorage({kOffset})), exchanges::GroupKnown(kGroup)));

// ---- norms ----

int NormOf(const OperatorCall& call) noexcept { return static_cast<int>(call.tensors.size()) - 1; }
int SumOf(const OperatorCall& call) noexcept { return NormOf(call) == kNorm ? kY : kResidual; }

// Ends a call of tensors without elements: it does not communicate.
aclnnStatus NormHasTerms(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& residual = call.Tensor(kResidual).shape;
  checks.Rank(kX1, 1, kMaxDims).Rank(kX2, 2, 2).Rank(kResidual, 1, kMaxDims);
  if (!checks.Passed()) return checks.status();
  const Shape right = RightOf(call);
  checks.Holds(left[left.rank - 1] == right[0], kX2, "as many rows as x1 has columns");
  checks.Holds(residual[residual.rank - 1] == right[1], kResidual, "as many columns as x2");
  const bool is_empty =
      left.IsEmpty() || right.IsEmpty() || residual.IsEmpty() || call.Tensor(kGamma).shape.IsEmpty();
  if (is_empty) checks.Holds(right[0] != 0, kX1, "at least one column");
  if (is_empty && checks.Passed()) call.work = OperatorCall::Work::kNothing;
  return checks.status();
}

aclnnStatus NormShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 2, 3).Rank(kResidual, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& residual = call.Tensor(kResidual).shape;
  const int64_t columns = residual[2];
  checks.Holds(RowsOf(call.Tensor(kX1).shape) == RowsOf(residual), kResidual, "as many rows as x1");
  checks.IsIfGiven(kBias, Shape{columns}).Is(kGamma, Shape{columns});
  for (const int tensor : {SumOf(call), NormOf(call)}) {
    checks.Is(tensor, residual);
    checks.Holds(call.Tensor(tensor).dtype == call.Tensor(kResidual).dtype, tensor, "residual's type");
  }
  return checks.status();
}
aclnnStatus NormsAreGiven(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks.Given(SumOf(call), "for the sum").Given(NormOf(call), "for the norm").status();
}

constexpr auto kNormStart = List(NotNull(kX1), NotNull(kX2), NotNull(kResidual), NotNull(kGamma));
constexpr auto kNormRest = Join(List(Custom(NormHasTerms), StopsOnFailure(kStreamMode), IsSum(kReduce),
                                     Custom(NormsAreGiven, ACLNN_ERR_PARAM_NULLPTR),
                                     exchanges::GroupGiven(kGroup), SameDtype(kResidual, kGamma)),
                                List(Custom(NormShapesFit), SizesRepresentable({kResidual})));
constexpr auto kNormLies =
    List(matmul::FractalInsideStorage({kX1, kX2}), matmul::MatricesInsideStorage({kX1, kX2}),
         IfGiven<kBias>(InsideStorage({kBias})), InsideStorage({kResidual, kGamma}),
         IfGiven<kScale>(matmul::MatricesInsideStorage({kScale})),
         IfGiven<kOffset>(matmul::MatricesInsideStorage({kOffset})), exchanges::GroupKnown(kGroup));
constexpr auto kFloatNormChecks = Join(kNormStart, kNormRest,
                                       List(DtypesIn(kHalvesSinceAtlasA2, {kX1}), SameDtype(kX1, kX2),
                                            SameDtype(kX1, kResidual), IfGiven<kBias>(SameDtype(kX1, kBias))),
                                       kNormLies);
constexpr auto kByteNormChecks = Join(
    kNormStart, List(NotNull(kScale)), kNormRest,
    List(DtypesIn(kBytes, {kX1, kX2}), DtypesIn(kScales, {kScale}),
         DtypesIn(kHalvesSinceAtlasA2, {kResidual}), IfGiven<kBias>(DtypesIn(DtypeSet(ACL_INT32), {kBias})),
         Custom(ScaleFits), Custom(ScaleShapesFit)),
    kNormLies);
constexpr auto kWeightNormChecks =
    Join(kNormStart, List(NotNull(kScale)), kNormRest,
         List(DtypesIn(kHalvesSinceAtlasA2, {kX1}), DtypesIn(kWeights, {kX2}), SameDtype(kX1, kScale),
              SameDtype(kX1, kResidual), IfGiven<kOffset>(SameDtype(kX1, kOffset)),
              IfGiven<kBias>(SameDtype(kX1, kBias)), Custom(GroupFits), Custom(WeightScalesFit)),
         kNormLies);

// ---- the jobs ----

void SetRight(const OperatorCall& call, GroupedPart& part) {
  const aclDataType x2 = call.Tensor(kX2).dtype;
  if (!call.IsGiven(kScale) || x2 == call.Tensor(kX1).dtype) {
    part.right = grouped::OperandOf(call, kX2, 0, true, false);
    if (!call.IsGiven(kScale)) return;
    part.kind = GroupedPart::Kind::kIntegers;
    part.scale = NumbersOf(call, kScale);
    if (!call.IsGiven(kPertoken)) return;
    part.factor = grouped::OperandOf(call, kPertoken, 0, false, false);
    part.factor.row = part.factor.column;
    part.factor.column = 0;
    return;
  }
  grouped::SetWeights(part, call, kX2, 0);
  const int64_t group = dense::Integer(call, kGroupSize);
  const auto numbers = [&](int tensor) {
    if (group == 0) return NumbersOf(call, tensor);
    return grouped::OperandOf(call, tensor, 0, true, false);
  };
  part.scale = numbers(kScale);
  if (call.IsGiven(kOffset)) part.offset = numbers(kOffset);
  if (group != 0) part.group_terms = group;
  part.rounds_weights = true;
}

// Returns the product without its output, whose shape is kOut's.
GroupedPart PartOf(const OperatorCall& call, DenseOpList& ops) {
  const Shape& result = call.Tensor(kOut).shape;
  GroupedPart part{};
  part.rows = RowsOf(result);
  part.columns = result[result.rank - 1];
  part.depth = call.Tensor(kX1).shape[call.Tensor(kX1).shape.rank - 1];
  part.left = LeftOf(call, ops, kX1);
  SetRight(call, part);
  if (call.IsGiven(kBias)) part.added = grouped::OperandOf(call, kBias, 0, false, false);
  return part;
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const aclTensor& result = call.Tensor(kOut);
  GroupedPart part = PartOf(call, ops);
  const BufferRef out = ops.Out(kOut);
  const int64_t count = part.rows * part.columns;
  if (call.IsGiven(kX3)) {
    const BufferRef sums = ops.Floats(count);
    part.out = DenseRows(sums, ACL_FLOAT, part.columns);
    Multiply(ops, part);
    AddRows(ops, engine::NumberRowsOf(call.isa, sums, ACL_FLOAT), ops.Rows(kX3),
            engine::NumberRowsOf(call.isa, out, result.dtype), part.rows, part.columns);
  } else {
    part.out = DenseRows(out, result.dtype, part.columns);
    Multiply(ops, part);
  }
  exchanges::Add(ops, exchanges::SumOverRanks{out, out, count, result.dtype, /*is_part=*/false, /*step=*/0});
  ops.SetJob();
}

void SetNorm(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  DenseOpList ops(call, executor);
  const aclTensor& residual = call.Tensor(kResidual);
  GroupedPart part = PartOf(call, ops);
  const int64_t count = part.rows * part.columns;
  const BufferRef product = ops.Bytes(count * dense::SizeOf(call, kResidual));
  part.out = DenseRows(product, residual.dtype, part.columns);
  Multiply(ops, part);
  exchanges::Add(
      ops, exchanges::SumOverRanks{product, product, count, residual.dtype, /*is_part=*/false, /*step=*/0});
  engine::NormedRows norm{};
  norm.source = engine::NumberRowsOf(call.isa, product, residual.dtype);
  norm.added = ops.Rows(kResidual);
  norm.gamma = ops.Rows(kGamma);
  norm.sum = ops.RowsOut(SumOf(call));
  norm.normed = ops.RowsOut(NormOf(call));
  norm.epsilon = static_cast<float>(call.attributes[kEpsilon].wide);
  norm.rows = part.rows;
  norm.columns = part.columns;
  norm.threads = call.threads;
  ops.Compute(norm, {norm.added.buffer, norm.gamma.buffer, norm.sum.buffer, norm.normed.buffer}, count);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnMatmulAllReduce) {
  return dense::RunOpList(call, kFloatChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnMatmulAllReduceV2) {
  return dense::RunOpList(call, kFloatChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnMatmulAllReduceV3) {
  return dense::RunOpList(call, kFloatChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduce) {
  return dense::RunOpList(call, kByteChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduceV2) {
  return dense::RunOpList(call, kByteChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduceV3) {
  return dense::RunOpList(call, kByteChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduceV4) {
  return dense::RunOpList(call, kByteChecksOfV4, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduceV5) {
  return dense::RunOpList(call, kByteChecksOfV4, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnWeightQuantMatmulAllReduce) {
  return dense::RunOpList(call, kWeightChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnWeightQuantMatmulAllReduceV2) {
  return dense::RunOpList(call, kWeightChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kFloatNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnInplaceMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kFloatNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnQuantMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kByteNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnInplaceQuantMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kByteNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnWeightQuantMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kWeightNormChecks, workspaceSize, executor, SetNorm);
}
PORTACL_PHASE_1(aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm) {
  return dense::RunOpList(call, kWeightNormChecks, workspaceSize, executor, SetNorm);
}
// NOLINTEND(readability-identifier-naming)
