// aclnnQuantGroupedMatmulDequant and its form for FRACTAL_NZ: quantise rows of FLOAT16, multiply them in
// groups, and scale the results back.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_dequant_functions.h"

#include <string_view>
#include <utility>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedProducts;

enum Tensors { kX, kWeight, kWeightScale, kGroups, kBias, kXScale, kXOffset, kSmooth, kOut };
enum Attributes { kMode, kTransposed, kIsNz };

constexpr DtypeRule kOnInference =
    Everywhere({}).On(ProductSet{Product::kAtlasInference}, DtypeSet(ACL_FLOAT16));
constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeSet kHalf{ACL_FLOAT16};

std::string_view ModeOf(const OperatorCall& call) {
  const char* const text = call.attributes[kMode].text;
  return text == nullptr ? "pertoken" : text;
}

aclnnStatus IsTransposed(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call).Integer(kTransposed, 1, 1).status();
}
aclnnStatus NotComputed(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kBias, kXOffset}) {
    if (!call.IsGiven(tensor)) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor));
    return FailAclnn(check.code, message.Add(" is given, accepted: a null pointer."));
  }
  return ACL_SUCCESS;
}
bool HasWords(const OperatorCall& call) { return call.Tensor(kWeightScale).dtype == ACL_INT64; }

aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const std::string_view mode = ModeOf(call);
  checks.HoldsOf(mode == "pertoken" || mode == "pertensor", kMode, "pertoken or pertensor");
  checks.HoldsOf(mode == "pertoken" || call.IsGiven(kXScale), kMode, "pertoken without xScaleOptional");
  if (HasWords(call))
    checks.Holds(call.IsGiven(kXScale) && mode == "pertensor" && call.Tensor(kXScale).dtype == ACL_FLOAT16,
                 kWeightScale, "FLOAT, or INT64 with a FLOAT16 xScaleOptional for all rows");
  else if (call.IsGiven(kXScale))
    checks.Holds(call.Tensor(kXScale).dtype == ACL_FLOAT, kXScale, "FLOAT beside a weightScale of that");
  return checks.status();
}
aclnnStatus Aligned(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kWeight, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& weight = call.Tensor(kWeight).shape;
  return checks
      .Holds(weight[1] % 16 == 0 && weight[2] % 16 == 0, kWeight, "columns and terms in multiples of 16")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  checks.Holds(weight[2] == x[1], kWeight, "as many terms as x has columns");
  checks.Is(kWeightScale, Shape{weight[0], weight[1]})
      .Is(kGroups, Shape{weight[0]})
      .Is(kOut, Shape{x[0], weight[1]});
  checks.IsIfGiven(kXScale, ModeOf(call) == "pertoken" ? Shape{x[0]} : Shape{1})
      .IsIfGiven(kSmooth, Shape{x[1]});
  return checks.status();
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kSmooth); }

aclnnStatus IsDense(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Holds(IsContiguous(call.Tensor(kWeight)), kWeight, "contiguous");
  return checks.Holds(IsContiguous(call.Tensor(kOut)), kOut, "contiguous").status();
}

constexpr Check kChecks[] = {
    Custom(IsTransposed),
    NotNull(kX),
    NotNull(kWeight),
    NotNull(kWeightScale),
    NotNull(kGroups),
    NotNull(kOut),
    Custom(NotComputed, ACLNN_ERR_PARAM_NULLPTR),
    SameDtype(kX, kOut),
    DtypesIn(kOnInference, {kX}),
    DtypesIn(kInt8, {kWeight}),
    DtypesIn(DtypeSet(ACL_FLOAT, ACL_INT64), {kWeightScale}),
    DtypesIn(kInt64, {kGroups}),
    IfGiven<kXScale>(DtypesIn(DtypeSet(ACL_FLOAT, ACL_FLOAT16), {kXScale})),
    IfGiven<kSmooth>(DtypesIn(kHalf, {kSmooth})),
    Custom(ScalesFit),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kX, kWeight, kWeightScale, kGroups}),
    Custom(IsDense),
    Custom(Aligned),
    Custom(ShapesFit, kTiling),
    Custom(Lies),
};

void SetProducts(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 2);
  GroupedProducts products{};
  grouped::SetList(products, call, kGroups, GroupedProducts::List::kEnds);
  products.cut = GroupedProducts::Cut::kRows;
  products.groups = products.entries;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  const engine::GroupedOperand steps =
      grouped::QuantiseRows(ops, call, {kX, kSmooth, kXScale, ModeOf(call) == "pertoken"}, products.part);
  engine::GroupedPart& part = products.part;
  part.columns = call.Tensor(kWeight).shape[1];
  part.right = grouped::OperandOf(call, kWeight, 0, true, true);
  std::swap(part.right.row, part.right.column);
  part.out = grouped::OperandOf(call, kOut, 0, true, false);
  grouped::SetScales(part, call, kWeightScale);
  if (!HasWords(call)) part.factor = steps;
  ops.Compute(products, {part.right.buffer, part.out.buffer, part.scale.buffer, products.list.buffer},
              products.Elements());
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnQuantGroupedMatmulDequant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnQuantGroupedMatmulDequantWeightNZ) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
