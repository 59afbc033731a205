// aclnnGroupedMatmulFinalizeRouting and its versions: multiply groups of rows, and add the results up for
// each token.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_finalize_functions.h"

#include <utility>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedProducts;

enum Tensors {
  kX,
  kWeight,
  kScale,
  kBias,
  kOffset,
  kAntiquantScale,
  kAntiquantOffset,
  kPerToken,
  kGroups,
  kShared,
  kLogit,
  kIndex,
  kOut
};
enum Attributes {
  kDtype,
  kWeightOfShared,
  kFirst,
  kTransposeX,
  kTransposeWeight,
  kListType,
  kTuning,
  kVersion
};
enum Version : int64_t { kBase, kV2, kV3, kNz, kNzV2 };

constexpr DtypeRule kInt8Rule = SinceAtlasA2(DtypeSet(ACL_INT8));
constexpr DtypeSet kBf16Alone{ACL_BF16};
constexpr DtypeSet kScales{ACL_FLOAT, ACL_BF16};

bool IsNz(const OperatorCall& call) { return Integer(call, kVersion) >= kNz; }
bool Has4BitWeights(const OperatorCall& call) { return grouped::Is4Bits(call.Tensor(kWeight).dtype); }

aclnnStatus NullAt(const OperatorCall& call, int tensor) {
  Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor));
  return FailAclnn(ACLNN_ERR_PARAM_NULLPTR, message.Add(" is a null pointer, accepted: a tensor."));
}

aclnnStatus TensorsThere(const Check&, OperatorCall& call) noexcept {
  const bool is_nz = IsNz(call);
  for (const int tensor : {kX, kWeight, kScale, kBias, kPerToken, kGroups, kShared, kLogit, kIndex}) {
    const bool may_lack =
        is_nz && (tensor == kBias || tensor == kPerToken || tensor == kShared || tensor == kLogit);
    if (!may_lack && !call.IsGiven(tensor)) return NullAt(call, tensor);
  }
  for (const int tensor : {kOffset, kAntiquantScale, kAntiquantOffset}) {
    if (!call.IsGiven(tensor) || (tensor == kOffset && Has4BitWeights(call))) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.Name(tensor));
    return FailAclnn(
        ACLNN_ERR_PARAM_NULLPTR,
        message.Add(" is given, accepted: a null pointer, of an offset beside weights of 4 bits a tensor."));
  }
  if (call.IsGiven(kShared) != call.IsGiven(kLogit))
    return NullAt(call, call.IsGiven(kShared) ? kLogit : kShared);
  if (!Has4BitWeights(call)) return ACL_SUCCESS;
  for (const int tensor : {kBias, kPerToken}) {
    if (!call.IsGiven(tensor)) return NullAt(call, tensor);
  }
  return ACL_SUCCESS;
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Integer(kDtype, 0, 0).Rank(kWeight, 3, 3).Integer(kTransposeX, 0, 0).Integer(kTransposeWeight, 0, 0);
  checks.Integer(kListType, 0, 1);
  if (!checks.Passed()) return checks.status();
  const aclTensor& weight = call.Tensor(kWeight);
  if (!IsNz(call)) {
    checks.Holds(Has4BitWeights(call), kWeight,
                 "elements of 4 bits, INT4 or in words; others in FRACTAL_NZ by another function");
  } else {
    checks.Holds(weight.format == ACL_FORMAT_FRACTAL_NZ, kWeight, "the format FRACTAL_NZ");
  }
  return checks.status();
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const bool has_4_bit_weights = Has4BitWeights(call);
  const auto is = [&](int tensor, DtypeSet accepted) -> aclnnStatus {
    if (!call.IsGiven(tensor) || accepted.Contains(call.Tensor(tensor).dtype)) return ACL_SUCCESS;
    Text message = StartMessage(call).Add("parameter ");
    AddArgumentDtype(message, call, tensor).Add(" is not accepted here, accepted: ");
    AddDtypeSet(message, accepted);
    return FailAclnn(check.code, message.Add("."));
  };
  const std::pair<int, DtypeSet> all[] = {
      {kX, kInt8Rule.For(call.product)},
      {kWeight, DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32)},
      {kScale, has_4_bit_weights ? DtypeSet(ACL_INT64, ACL_UINT64) : kScales},
      {kBias, has_4_bit_weights ? kFloat : kBf16Alone},
      {kOffset, kFloat},
      {kPerToken, kFloat},
      {kGroups, kInt64},
      {kShared, kBf16Alone},
      {kLogit, kFloat},
      {kIndex, has_4_bit_weights ? kInt64 : kInt32Or64},
      {kOut, kFloat},
  };
  for (const auto& [tensor, accepted] : all) {
    if (const auto status = is(tensor, accepted)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kOut, 2, 2).Rank(kGroups, 1, 1);
  checks.Holds(
      grouped::WordsLieTogether(call.Tensor(kWeight)), kWeight,
      "words of 4 bits side by side along the last dim, or the one before where matrices are transposed");
  if (call.IsGiven(kShared)) checks.Rank(kShared, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape weight = grouped::InElements(call.Tensor(kWeight)).shape;
  const Shape& out = call.Tensor(kOut).shape;
  const bool has_4_bit_weights = Has4BitWeights(call);
  const int64_t rows = x[0];
  const int64_t columns = weight[2];
  checks.Holds(weight[1] == x[1], kWeight, "as many terms as x1 has columns");
  if (!checks.Passed()) return checks.status();
  if (has_4_bit_weights) {
    const int64_t unit = IsNz(call) ? 64 : 8;
    checks.Holds(
        x[1] % 64 == 0 && x[1] > 128 && columns % unit == 0 && columns > 64, kWeight,
        "terms above 128 in multiples of 64, columns above 64 in multiples of 8, in FRACTAL_NZ of 64");
  } else {
    checks.Holds(x[1] % 16 == 0 && columns % 32 == 0 && columns >= 256, kWeight,
                 "terms in multiples of 16, columns of 32 and at least 256");
  }
  checks.Is(kScale, has_4_bit_weights ? Shape{weight[0], 1, columns} : Shape{weight[0], columns});
  checks.IsIfGiven(kOffset, Shape{weight[0], 1, columns});
  checks.IsIfGiven(kBias, Shape{weight[0], columns})
      .IsIfGiven(kPerToken, Shape{rows})
      .IsIfGiven(kLogit, Shape{rows});
  checks.Is(kIndex, Shape{rows}).Is(kGroups, Shape{weight[0]});
  checks.Holds(out[1] == columns && out[0] <= rows, kOut,
               "as many columns as x2 has, and at most as many rows as x1 has");
  const int64_t first = Integer(call, kFirst);
  checks.HoldsOf(first >= 0, kFirst, "at least 0");
  if (call.IsGiven(kShared)) {
    const Shape& shared = call.Tensor(kShared).shape;
    checks.Holds(shared[1] == columns && shared[0] <= out[0] && first <= out[0] - shared[0], kShared,
                 "as many columns as out has, and rows that lie in out from sharedInputOffset on");
  }
  for (const int tensor : {kX, kWeight, kScale, kGroups, kIndex, kOut})
    checks.Holds(!call.Tensor(tensor).shape.IsEmpty(), tensor, "at least one element");
  if (!checks.Passed()) return checks.status();
  const aclIntArray* const tuning = call.attributes[kTuning].array;
  if (tuning != nullptr && !tuning->values.empty() && (tuning->values[0] < 0 || tuning->values[0] > rows))
    return RefuseArray(check, call, kTuning, " begins with a number that is not from 0 to the rows of x1",
                       "such a number, or none");
  return ACL_SUCCESS;
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kIndex); }

constexpr Check kChecks[] = {
    Custom(TensorsThere),
    Custom(ModesFit),
    NotNull(kOut),
    Custom(DtypesFit),
    NotPrivate({kX, kScale, kGroups, kIndex, kOut}),
    SizesRepresentable({kOut}),
    Custom(ShapesFit),
    Custom(Lies),
};

// Every row has sums in the workspace. They may need more memory than any tensor, if x1 and x2 are expanded.
bool HasMemoryForSums(const OperatorCall& call, Executor& executor) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const int64_t rows = call.Tensor(kX).shape[0];
  if (rows <= kMost / call.Tensor(kOut).shape[1]) return true;
  executor.RefuseSize(call.Name(kX), rows);
  return false;
}

// Makes x less 8 the left operand of the products. Returns the sums of its rows, which offsets need.
engine::BufferRef SetLess8(OpList& ops, const OperatorCall& call, GroupedProducts& products) {
  const Shape& x = call.Tensor(kX).shape;
  engine::GroupedInput input{};
  input.kind = engine::GroupedInput::Kind::kLess8;
  input.from = products.part.left;
  input.rows = x[0];
  input.columns = x[1];
  input.to = ops.Workspace(x[0] * x[1] * 2);
  input.made = input.to;
  input.isa = products.isa;
  input.threads = products.threads;
  input.adds_up = call.IsGiven(kOffset);
  if (input.adds_up) input.made = ops.Workspace(x[0] * 4);
  ops.Compute(input, {input.from.buffer}, x[0] * x[1]);
  products.part.left = {true, input.to, ACL_BF16, x[1] * 2, 2, 0};
  return input.made;
}

void SetProducts(const OperatorCall& call, Executor& executor) {
  if (!HasMemoryForSums(call, executor)) return;
  OpList ops(executor, 4);
  GroupedProducts products{};
  grouped::SetList(
      products, call, kGroups,
      Integer(call, kListType) == 0 ? GroupedProducts::List::kEnds : GroupedProducts::List::kSizes);
  products.cut = GroupedProducts::Cut::kRows;
  products.groups = products.entries;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  const Shape& x = call.Tensor(kX).shape;
  const Shape& out = call.Tensor(kOut).shape;
  engine::GroupedCombine combine{};
  combine.rows = x[0];
  combine.columns = out[1];
  combine.to_rows = out[0];
  combine.sums = ops.Workspace(combine.rows * combine.columns * 4);
  combine.covered = products.schedule;
  combine.words = ops.Workspace((combine.to_rows + combine.rows) * 8);
  combine.to = grouped::OperandOf(call, kOut, 0, true, false);
  const auto of_rows = [&](int tensor) {
    engine::GroupedOperand operand{};
    if (!call.IsGiven(tensor)) return operand;
    operand = grouped::OperandOf(call, tensor, 0, false, false);
    std::swap(operand.row, operand.column);
    return operand;
  };
  combine.index = of_rows(kIndex);
  combine.logit = of_rows(kLogit);
  if (call.IsGiven(kShared)) combine.shared = grouped::OperandOf(call, kShared, 0, true, false);
  combine.shared_rows = call.IsGiven(kShared) ? call.Tensor(kShared).shape[0] : 0;
  combine.weight = call.attributes[kWeightOfShared].real;
  combine.first = Integer(call, kFirst);
  combine.name = call.Name(kIndex);
  combine.raises = products.raises;
  combine.isa = products.isa;
  combine.threads = products.threads;
  engine::GroupedPart& part = products.part;
  part.rows = x[0];
  part.depth = x[1];
  part.columns = out[1];
  part.left = grouped::OperandOf(call, kX, 0, true, false);
  part.out = {true, combine.sums, ACL_FLOAT, combine.columns * 4, 4, 0};
  if (call.IsGiven(kBias)) part.added = grouped::OperandOf(call, kBias, 0, false, true);
  engine::BufferRef sums_of_rows{engine::BufferRef::kWorkspace, 0};
  if (Has4BitWeights(call)) {
    sums_of_rows = SetLess8(ops, call, products);
    grouped::SetWeights(part, call, kWeight, 0);
    grouped::SetScales(part, call, kScale);
    combine.factor = of_rows(kPerToken);
  } else {
    part.kind = engine::GroupedPart::Kind::kIntegers;
    part.right = grouped::OperandOf(call, kWeight, 0, true, true);
    part.scale = grouped::OperandOf(call, kScale, 0, false, true);
    part.factor = of_rows(kPerToken);
  }
  ops.Compute(products,
              {part.left.buffer, part.right.buffer, part.scale.buffer, part.added.buffer, part.factor.buffer,
               products.list.buffer},
              products.Elements());
  if (call.IsGiven(kOffset)) {
    const engine::GroupedOffsets offsets{combine.sums,
                                         sums_of_rows,
                                         grouped::OperandOf(call, kOffset, 0, true, true),
                                         products.schedule,
                                         products.MostScheduled(),
                                         combine.rows,
                                         combine.columns,
                                         products.threads};
    ops.Compute(offsets, {offsets.offset.buffer}, combine.rows * combine.columns);
  }
  ops.Compute(combine,
              {combine.to.buffer, combine.index.buffer, combine.logit.buffer, combine.shared.buffer,
               combine.factor.buffer},
              combine.rows * combine.columns);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmulFinalizeRouting) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulFinalizeRoutingV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulFinalizeRoutingV3) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulFinalizeRoutingWeightNz) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulFinalizeRoutingWeightNzV2) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
