// aclnnGroupedMatmulSwigluQuant, V2 and their forms for FRACTAL_NZ: multiply groups of rows, apply SwiGLU,
// and quantise to INT8.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_swiglu_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/lists.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedProducts;
using engine::GroupedRows;

// V2 takes lists of weights, of their scales and of the tensor at the position of bias.
enum Tensors { kX, kWeight, kBias, kWeightScale, kXScale, kGroups, kOtherBias, kSmooth, kOut, kOutScale };
enum Attributes { kDequantMode, kQuantMode, kListType, kVersion };
enum Version : int64_t { kBase, kBaseNz, kV2, kV2Nz };

constexpr DtypeSet kWords{ACL_UINT64, ACL_INT64};
constexpr DtypeRule kInt8Rule = SinceAtlasA2(DtypeSet(ACL_INT8));

int64_t VersionOf(const OperatorCall& call) { return Integer(call, kVersion); }
bool Has(const OperatorCall& call, int argument) {
  if (!call.IsList(argument)) return call.IsGiven(argument);
  return call.tensors[static_cast<size_t>(argument)].list != nullptr && call.Count(argument) > 0 &&
         call.Entry(argument, 0) != nullptr;
}
const aclTensor& At(const OperatorCall& call, int argument) { return *call.Entry(argument, 0); }
bool Has4BitWeights(const OperatorCall& call) { return grouped::Is4Bits(At(call, kWeight).dtype); }

aclnnStatus Refused(const OperatorCall& call, aclnnStatus code, int argument, const char* what) {
  return RefuseArgument(call, code, argument, call.IsList(argument) ? 0 : -1, what);
}
aclnnStatus RefuseShapeOf(const OperatorCall& call, int argument, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentShape(message, call, argument).Add(" is not accepted here, accepted: ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(accepted).Add("."));
}
aclnnStatus RefuseDtypeOf(const OperatorCall& call, int argument, DtypeSet accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentDtype(message, call, argument).Add(" is not accepted here, accepted: ");
  AddDtypeSet(message, accepted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
}

aclnnStatus TensorsThere(const Check&, OperatorCall& call) noexcept {
  for (const int argument : {kX, kWeight, kWeightScale, kXScale, kGroups, kOut, kOutScale}) {
    if (Has(call, argument)) continue;
    const bool is_out = argument == kOut && VersionOf(call) >= kV2;
    return Refused(call, is_out ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_PARAM_NULLPTR, argument,
                   " is a null pointer, accepted: a tensor, or a list of them.");
  }
  if (!Has4BitWeights(call) || Has(call, kBias)) return ACL_SUCCESS;
  return Refused(call, ACLNN_ERR_PARAM_NULLPTR, kBias,
                 " is not there with weights of 4 bits, accepted: a tensor, or a list of them.");
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  if (VersionOf(call) < kV2) return ACL_SUCCESS;
  ShapeChecks checks(check, call);
  checks.Integer(kListType, 0, 1).Integer(kDequantMode, 0, 1).Integer(kQuantMode, 0, 0);
  if (!checks.Passed()) return checks.status();
  for (const int tensor : {kOtherBias, kSmooth}) {
    if (call.IsGiven(tensor))
      return Refused(call, ACLNN_ERR_PARAM_INVALID, tensor,
                     " is given and not computed, accepted: a null pointer.");
  }
  for (const int list : {kWeight, kWeightScale, kBias}) {
    if (call.IsList(list) && Has(call, list) && call.Count(list) != 1)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, list, -1,
                            " has several tensors, accepted: one, with a first dim of groups.");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShapesFit(const Check&, OperatorCall& call) noexcept {
  const aclTensor& x = At(call, kX);
  const aclTensor& weight = At(call, kWeight);
  if (x.shape.rank != 2) return RefuseShapeOf(call, kX, "2 dims");
  if (weight.shape.rank != 3)
    return RefuseShapeOf(call, kWeight,
                         "3 dims, [groups, terms, columns], whatever the format; the blocks of "
                         "FRACTAL_NZ as dims are not computed");
  if (!grouped::WordsLieTogether(weight))
    return RefuseShapeOf(call, kWeight,
                         "words of 4 bits side by side along the last dim, or the one before "
                         "where matrices are transposed");
  const Shape matrix = grouped::InElements(weight).shape;
  const int64_t rows = x.shape[0];
  const int64_t columns = matrix[2];
  const bool has_4_bit_weights = Has4BitWeights(call);
  if (matrix[1] != x.shape[1]) return RefuseShapeOf(call, kWeight, "as many terms as x has columns");
  if (columns % 2 != 0 || columns > 10240)
    return RefuseShapeOf(call, kWeight, "an even number of columns up to 10240");
  if (x.shape[1] >= (has_4_bit_weights ? 20000 : 65536))
    return RefuseShapeOf(call, kX, "fewer than 65536 columns, with weights of 4 bits than 20000");
  const Shape& scale = At(call, kWeightScale).shape;
  const bool has_terms = has_4_bit_weights && scale.rank == 3 && scale[0] == matrix[0] &&
                         scale[2] == columns && scale[1] > 0 && matrix[1] % scale[1] == 0;
  if (!(scale == Shape{matrix[0], columns}) && !has_terms)
    return RefuseShapeOf(call, kWeightScale,
                         "[groups, columns], with weights of 4 bits [groups, groups of terms, columns] too");
  if (Has(call, kBias) && has_4_bit_weights && !(At(call, kBias).shape == Shape{matrix[0], columns}))
    return RefuseShapeOf(call, kBias, "[groups, columns]");
  if (!(At(call, kXScale).shape == Shape{rows}))
    return RefuseShapeOf(call, kXScale, "an element for each row");
  const Shape& groups = At(call, kGroups).shape;
  if (groups.rank != 1 || groups[0] > matrix[0])
    return RefuseShapeOf(call, kGroups, "one dim, of at most as many groups as weight has");
  if (!(At(call, kOut).shape == Shape{rows, columns / 2}))
    return RefuseShapeOf(call, kOut, "x's rows by half of the columns");
  if (!(At(call, kOutScale).shape == Shape{rows}))
    return RefuseShapeOf(call, kOutScale, "an element for each row");
  return ACL_SUCCESS;
}

aclnnStatus DtypesFit(const Check&, OperatorCall& call) noexcept {
  const auto is = [&](int argument, DtypeSet accepted) {
    return accepted.Contains(At(call, argument).dtype) ? ACL_SUCCESS
                                                       : RefuseDtypeOf(call, argument, accepted);
  };
  const bool has_4_bit_weights = Has4BitWeights(call);
  const bool is_v2 = VersionOf(call) >= kV2;
  const DtypeSet numbers = kFloatHalfAndBf16;
  if (const auto status = is(kX, kInt8Rule.For(call.product))) return status;
  if (const auto status = is(kWeight, DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32))) return status;
  if (const auto status = is(kWeightScale, has_4_bit_weights ? kWords : numbers)) return status;
  if (const auto status = is(kXScale, is_v2 ? kFloat : numbers)) return status;
  if (const auto status = is(kGroups, kInt64)) return status;
  if (has_4_bit_weights) {
    if (const auto status = is(kBias, kFloat)) return status;
  } else if (Has(call, kBias) && is_v2) {
    return Refused(call, ACLNN_ERR_PARAM_INVALID, kBias,
                   " is not accepted with weights of INT8, accepted: none.");
  }
  if (const auto status = is(kOut, DtypeSet(ACL_INT8))) return status;
  if (const auto status = is(kOutScale, kFloat)) return status;
  const bool needs_nz = VersionOf(call) != kBaseNz && (VersionOf(call) == kV2Nz || !has_4_bit_weights) &&
                        VersionOf(call) != kV2;
  if (needs_nz && At(call, kWeight).format != ACL_FORMAT_FRACTAL_NZ)
    return Refused(call, ACLNN_ERR_PARAM_INVALID, kWeight, " has another format, accepted: FRACTAL_NZ.");
  for (const int argument : {kX, kOut}) {
    if (IsPrivateFormat(At(call, argument).format))
      return Refused(call, ACLNN_ERR_PARAM_INVALID, argument, " has a private format, accepted: others.");
  }
  return ACL_SUCCESS;
}

aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept {
  for (const int argument : {kOut, kOutScale, kGroups}) {
    if (At(call, argument).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kGroups); }

constexpr Check kChecks[] = {
    Custom(TensorsThere), Custom(ModesFit),  SizesRepresentable({kOut, kOutScale}),
    Custom(ShapesFit),    Custom(DtypesFit), Custom(NothingToDo),
    Custom(Lies),
};

void SetProducts(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 3);
  GroupedProducts products{};
  const bool is_ends = VersionOf(call) < kV2 || Integer(call, kListType) == 0;
  grouped::SetList(products, call, kGroups,
                   is_ends ? GroupedProducts::List::kEnds : GroupedProducts::List::kSizes);
  products.cut = GroupedProducts::Cut::kRows;
  const Shape& x = At(call, kX).shape;
  const Shape weight = grouped::InElements(At(call, kWeight)).shape;
  products.groups = weight[0];
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  GroupedRows rows{};
  rows.function = GroupedRows::Function::kSwigluQuant;
  rows.rows = x[0];
  rows.columns = weight[2];
  rows.sums = ops.Workspace(rows.rows * rows.columns * 4);
  rows.covered = products.schedule;
  rows.out = grouped::OperandOf(call, kOut, 0, true, false);
  rows.row_scale = grouped::OperandOf(call, kOutScale, 0, false, false);
  rows.row_scale.row = rows.row_scale.column;
  rows.threads = products.threads;
  SetFunction(rows, products.isa);
  engine::GroupedPart& part = products.part;
  part.rows = x[0];
  part.depth = x[1];
  part.columns = weight[2];
  part.left = grouped::OperandOf(call, kX, 0, true, false);
  part.out = {true, rows.sums, ACL_FLOAT, rows.columns * 4, 4, 0};
  engine::GroupedOperand x_scale = grouped::OperandOf(call, kXScale, 0, false, false);
  std::swap(x_scale.row, x_scale.column);
  if (Has4BitWeights(call)) {
    engine::GroupedInput input{};
    input.kind = engine::GroupedInput::Kind::kLess8;
    input.from = part.left;
    input.rows = x[0];
    input.columns = x[1];
    input.to = ops.Workspace(x[0] * x[1] * 2);
    input.isa = products.isa;
    input.threads = products.threads;
    ops.Compute(input, {input.from.buffer}, x[0] * x[1]);
    part.left = {true, input.to, ACL_BF16, x[1] * 2, 2, 0};
    grouped::SetWeights(part, call, kWeight, 0);
    grouped::SetScales(part, call, kWeightScale);
    part.added = grouped::OperandOf(call, kBias, 0, false, true);
    rows.factor = x_scale;
  } else {
    part.kind = engine::GroupedPart::Kind::kIntegers;
    part.right = grouped::OperandOf(call, kWeight, 0, true, true);
    part.scale = x_scale;
    part.factor = grouped::OperandOf(call, kWeightScale, 0, false, true);
  }
  ops.Compute(products,
              {part.left.buffer, part.right.buffer, part.scale.buffer,
               part.is_int4 ? part.added.buffer : part.factor.buffer, products.list.buffer},
              products.Elements());
  ops.Compute(rows, {rows.out.buffer, rows.row_scale.buffer, x_scale.buffer}, rows.rows * rows.columns);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantWeightNZ) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantWeightNzV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
