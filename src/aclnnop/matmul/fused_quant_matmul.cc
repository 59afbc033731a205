// aclnnFusedQuantMatmul and WeightNz: a product of INT8 or INT4 with scales of rows and columns, and GELU of it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/fused_quant_matmul_functions.h"

#include <string_view>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace dense;
using namespace matmul;
using engine::BufferRef;
using engine::GroupedInput;
using engine::GroupedProducts;
using engine::GroupedRows;

enum Tensors { kX1, kX2, kX1Scale, kX2Scale, kYScale, kX1Offset, kX2Offset, kYOffset, kBias, kX3, kOut };
enum Attributes { kType, kGroupSize };

constexpr DtypeRule kCodes = ByGeneration({}, DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32), {});
constexpr DtypeSet kScales{ACL_FLOAT, ACL_BF16};
constexpr DtypeSet kOuts{ACL_FLOAT16, ACL_BF16};

std::string_view TypeOf(const OperatorCall& call) {
  const char* const text = call.attributes[kType].text;
  return text == nullptr ? std::string_view() : std::string_view(text);
}

aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kYScale, kX1Offset, kX2Offset, kYOffset, kX3})
    checks.Holds(!call.IsGiven(tensor), tensor, "a null pointer");
  checks.HoldsOf(TypeOf(call) == "gelu_tanh" || TypeOf(call) == "gelu_erf", kType, "gelu_tanh or gelu_erf");
  return checks.Integer(kGroupSize, 0, 0).status();
}
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Holds(call.Tensor(kX2).dtype == call.Tensor(kX1).dtype, kX2, "x1's dtype");
  const aclDataType out = call.Tensor(kOut).dtype;
  checks.Holds(out == ACL_BF16 || call.Tensor(kX2Scale).dtype == ACL_FLOAT, kX2Scale,
               "FLOAT with out of FLOAT16");
  if (!call.IsGiven(kBias)) return checks.status();
  const aclDataType bias = call.Tensor(kBias).dtype;
  return checks
      .Holds(bias == ACL_INT32 || bias == ACL_FLOAT || bias == out, kBias, "INT32, FLOAT or out's dtype")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 2, 2).Rank(kX2, 2, 2);
  for (const int tensor : {kX1, kX2})
    checks.Holds(!checks.Passed() || grouped::WordsLieTogether(call.Tensor(tensor)), tensor,
                 "words of eight elements side by side");
  if (!checks.Passed()) return checks.status();
  const Shape left = grouped::InElements(call.Tensor(kX1)).shape;
  const Shape right = grouped::InElements(call.Tensor(kX2)).shape;
  checks.Holds(!left.IsEmpty(), kX1, "a matrix with elements");
  checks.Holds(!right.IsEmpty(), kX2, "a matrix with elements");
  checks.Holds(right[0] == left[1], kX2, "as many terms as x1 has");
  checks.Is(kX1Scale, Shape{left[0]});
  const Shape& scale = call.Tensor(kX2Scale).shape;
  checks.Holds(scale == Shape{1} || scale == Shape{right[1]}, kX2Scale,
               "one dim, of one number or one for each column");
  return checks.IsIfGiven(kBias, Shape{right[1]}).Is(kOut, Shape{left[0], right[1]}).status();
}
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1, kX1Scale, kX2Scale, kBias, kOut}) {
    if (call.IsGiven(tensor))
      checks.Holds(!IsPrivateFormat(call.Tensor(tensor).format), tensor, "no private format");
  }
  return checks.status();
}
aclnnStatus IsFractal(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .Holds(call.Tensor(kX2).format == ACL_FORMAT_FRACTAL_NZ, kX2, "the format FRACTAL_NZ")
      .status();
}

constexpr auto kChecks =
    List(NotNull(kX1), NotNull(kX2), NotNull(kX1Scale), NotNull(kX2Scale), NotNull(kOut),
         DtypesIn(kCodes, {kX1}), DtypesIn(kFloat, {kX1Scale}), DtypesIn(kScales, {kX2Scale}),
         DtypesIn(kOuts, {kOut}), Custom(TypesFit), Custom(HasNoMore), Custom(ShapesFit), Custom(FormatsFit),
         SizesRepresentable({kOut}), FractalInsideStorage({kX2}), MatricesInsideStorage({kX1, kX2}),
         MatricesInsideStorage({kX1Scale, kX2Scale, kBias}));
constexpr auto kFractalChecks = Join(kChecks, List(Custom(IsFractal)));

// Returns the elements of a matrix as INT8, unpacked through the workspace where they have 4 bits.
engine::GroupedOperand BytesOf(OpList& ops, const OperatorCall& call, int tensor) {
  const StridedView view = grouped::InElements(call.Tensor(tensor));
  if (view.dtype == ACL_INT8) return grouped::OperandOf(call, tensor, 0, true, false);
  GroupedInput input{};
  input.kind = GroupedInput::Kind::kUnpackNibbles;
  input.rows = view.shape[0];
  input.columns = view.shape[1];
  input.from = {true, {tensor, 0}, ACL_INT4, view.strides[0], view.strides[1], 0};
  input.first = view.offset;
  input.to = ops.Workspace(input.rows * input.columns);
  input.isa = call.isa;
  input.threads = call.threads;
  ops.Compute(input, {input.from.buffer}, input.rows * input.columns);
  return {true, input.to, ACL_INT8, input.columns, 1, 0};
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 4);
  GroupedProducts products{};
  products.cut = GroupedProducts::Cut::kNone;
  products.groups = 1;
  products.name = call.Name(kX1);
  products.isa = call.isa;
  products.threads = call.threads;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  engine::GroupedPart& part = products.part;
  const Shape left = grouped::InElements(call.Tensor(kX1)).shape;
  part.kind = engine::GroupedPart::Kind::kIntegers;
  part.rows = left[0];
  part.depth = left[1];
  part.columns = call.Tensor(kOut).shape[1];
  part.left = BytesOf(ops, call, kX1);
  part.right = BytesOf(ops, call, kX2);
  part.scale = grouped::OperandOf(call, kX2Scale, 0, false, false);
  if (call.Tensor(kX2Scale).numel == 1) part.scale.column = 0;
  part.factor = grouped::OperandOf(call, kX1Scale, 0, false, false);
  part.factor.row = part.factor.column;
  part.factor.column = 0;
  if (call.IsGiven(kBias)) part.added = grouped::OperandOf(call, kBias, 0, false, false);
  const BufferRef sums = ops.Workspace(part.rows * part.columns * 4);
  part.out = {true, sums, ACL_FLOAT, part.columns * 4, 4, 0};
  ops.Compute(products,
              {part.left.buffer, part.right.buffer, part.scale.buffer, part.factor.buffer,
               part.added.is_there ? part.added.buffer : sums},
              products.Elements());
  GroupedRows rows{};
  rows.function =
      TypeOf(call) == "gelu_erf" ? GroupedRows::Function::kGelu : GroupedRows::Function::kGeluTanh;
  rows.sums = sums;
  rows.covered = products.schedule;
  rows.rows = part.rows;
  rows.columns = part.columns;
  rows.out = grouped::OperandOf(call, kOut, 0, true, false);
  rows.threads = call.threads;
  SetFunction(rows, call.isa);
  ops.Compute(rows, {rows.out.buffer}, part.rows * part.columns);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnFusedQuantMatmul) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnFusedQuantMatmulWeightNz) {
  return dense::RunOpList(call, kFractalChecks, workspaceSize, executor, SetProduct);
}
// NOLINTEND(readability-identifier-naming)
