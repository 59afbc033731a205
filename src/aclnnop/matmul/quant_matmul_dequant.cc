// aclnnQuantMatmulDequant: quantises rows of FLOAT16, multiplies them, and scales the results back.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_dequant_functions.h"

#include <string_view>
#include <utility>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedProducts;

enum Tensors { kX, kWeight, kWeightScale, kBias, kXScale, kXOffset, kSmooth, kOut };
enum Attributes { kMode, kTransposed };

constexpr DtypeRule kOnInference =
    Everywhere({}).On(ProductSet{Product::kAtlasInference}, DtypeSet(ACL_FLOAT16));
constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeSet kHalf{ACL_FLOAT16};

std::string_view ModeOf(const OperatorCall& call) {
  const char* const text = call.attributes[kMode].text;
  return text == nullptr ? "pertoken" : text;
}
bool HasWords(const OperatorCall& call) { return call.Tensor(kWeightScale).dtype == ACL_INT64; }

aclnnStatus NotComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kBias, kXOffset}) checks.Holds(!call.IsGiven(tensor), tensor, "a null pointer");
  return checks.status();
}
aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const std::string_view mode = ModeOf(call);
  checks.HoldsOf(mode == "pertoken" || mode == "pertensor", kMode, "pertoken or pertensor");
  checks.HoldsOf(mode == "pertoken" || call.IsGiven(kXScale), kMode, "pertoken without xScaleOptional");
  checks.Integer(kTransposed, 1, 1);
  if (HasWords(call))
    checks.Holds(call.IsGiven(kXScale) && mode == "pertensor" && call.Tensor(kXScale).dtype == ACL_FLOAT16,
                 kWeightScale, "FLOAT, or INT64 with a FLOAT16 xScaleOptional for all rows");
  else if (call.IsGiven(kXScale))
    checks.Holds(call.Tensor(kXScale).dtype == ACL_FLOAT, kXScale, "FLOAT beside a weightScale of that");
  return checks.status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kWeight, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  checks.Holds(weight[0] % 16 == 0 && weight[1] % 16 == 0, kWeight, "columns and terms in multiples of 16");
  checks.Holds(weight[1] == x[1], kWeight, "as many terms as x has columns");
  checks.Is(kWeightScale, Shape{weight[0]}).Is(kOut, Shape{x[0], weight[0]});
  checks.IsIfGiven(kXScale, ModeOf(call) == "pertoken" ? Shape{x[0]} : Shape{1})
      .IsIfGiven(kSmooth, Shape{x[1]});
  return checks.status();
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kSmooth); }

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kWeight),
    NotNull(kWeightScale),
    NotNull(kOut),
    Custom(NotComputed),
    SameDtype(kX, kOut),
    DtypesIn(kOnInference, {kX}),
    DtypesIn(kInt8, {kWeight}),
    DtypesIn(DtypeSet(ACL_FLOAT, ACL_INT64), {kWeightScale}),
    IfGiven<kXScale>(DtypesIn(DtypeSet(ACL_FLOAT, ACL_FLOAT16), {kXScale})),
    IfGiven<kSmooth>(DtypesIn(kHalf, {kSmooth})),
    Custom(ScalesFit),
    Custom(ShapesFit),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kX, kWeight}),
    Custom(Lies),
};

void SetProduct(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 2);
  GroupedProducts products{};
  products.cut = GroupedProducts::Cut::kNone;
  products.groups = 1;
  products.name = call.Name(kX);
  products.isa = call.isa;
  products.threads = call.threads;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  const engine::GroupedOperand steps =
      grouped::QuantiseRows(ops, call, {kX, kSmooth, kXScale, ModeOf(call) == "pertoken"}, products.part);
  engine::GroupedPart& part = products.part;
  part.columns = call.Tensor(kWeight).shape[0];
  part.right = grouped::OperandOf(call, kWeight, 0, true, false);
  std::swap(part.right.row, part.right.column);
  part.out = grouped::OperandOf(call, kOut, 0, true, false);
  part.scale = grouped::OperandOf(call, kWeightScale, 0, false, false);
  if (HasWords(call)) {
    part.scale.dtype = ACL_FLOAT;  // the lower half of a word
  } else {
    part.factor = steps;
  }
  ops.Compute(products, {part.right.buffer, part.out.buffer, part.scale.buffer}, products.Elements());
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnQuantMatmulDequant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
