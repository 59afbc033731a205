// Products of one rank (see rank_products.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/rank_products.h"

#include <cstring>
#include <string_view>

#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl::communication {

using engine::BufferRef;
using engine::GroupedOperand;
using engine::GroupedPart;
using engine::GroupedProducts;

aclnnStatus check::IsSum(const Check& check, OperatorCall& call) noexcept {
  constexpr std::string_view kSum = "sum";
  const Attribute& given = call.attributes[static_cast<size_t>(check.low)];
  if (given.text == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR, StartMessage(call)
                                                  .Add("parameter ")
                                                  .Add(given.name)
                                                  .Add(" is a null pointer, expected the text \"sum\"."));
  }
  const std::string_view text = given.text;
  if (check.high != 0 ? text.substr(0, kSum.size()) == kSum : text == kSum) return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, static_cast<int>(check.low), "\"sum\"");
}
aclnnStatus check::StopsOnFailure(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[static_cast<size_t>(check.low)].integer == 1) return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, static_cast<int>(check.low), "1");
}

int64_t RowsOf(const Shape& shape) noexcept {
  int64_t rows = 1;
  for (int dim = 0; dim + 1 < shape.rank; ++dim) {
    if (__builtin_mul_overflow(rows, shape[dim], &rows)) return -1;
  }
  return rows;
}

GroupedOperand DenseRows(BufferRef buffer, aclDataType dtype, int64_t columns) noexcept {
  const auto bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
  return {true, buffer, dtype, columns * bytes, bytes, 0};
}
GroupedOperand LeftOf(const OperatorCall& call, dense::DenseOpList& ops, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  return DenseRows(ops.In(tensor), view.dtype, view.shape[view.shape.rank - 1]);
}
GroupedOperand NumbersOf(const OperatorCall& call, int tensor) noexcept {
  if (!call.IsGiven(tensor)) return {};
  GroupedOperand numbers = grouped::OperandOf(call, tensor, 0, false, false);
  if (call.Tensor(tensor).numel == 1) numbers.column = 0;
  // The lower half of a word is its scale.
  if (StorageBits(numbers.dtype) == 64) numbers.dtype = ACL_FLOAT;
  return numbers;
}

namespace {

BufferRef AddProducts(dense::DenseOpList& ops, GroupedProducts products) {
  products.isa = ops.isa();
  products.threads = ops.threads();
  products.schedule = ops.Words(products.ScheduleWords());
  GroupedPart& part = products.part;
  // Operands without elements may have no address.
  if (part.depth == 0 || part.rows == 0) part.left.buffer = part.right.buffer = products.schedule;
  if (part.rows == 0) part.out.buffer = products.schedule;
  for (GroupedOperand* const operand : {&part.added, &part.scale, &part.factor, &part.offset}) {
    if (!operand->is_there || part.rows == 0) operand->buffer = products.schedule;
  }
  ops.Compute(products,
              {part.left.buffer, part.right.buffer, part.added.buffer, part.scale.buffer, part.factor.buffer,
               part.offset.buffer, part.out.buffer},
              products.Elements());
  return products.schedule;
}

}  // namespace

void Multiply(dense::DenseOpList& ops, const GroupedPart& part) {
  GroupedProducts products{};
  products.groups = 1;
  products.part = part;
  AddProducts(ops, products);
}
BufferRef MultiplyGroups(dense::DenseOpList& ops, const GroupedPart& part, int64_t groups, BufferRef sizes) {
  GroupedProducts products{};
  products.groups = products.entries = groups;
  products.cut = GroupedProducts::Cut::kRows;
  products.list_kind = GroupedProducts::List::kSizes;
  products.list = {true, sizes, ACL_INT64, int64_t{sizeof(int64_t)}, 0, 0};
  products.part = part;
  return AddProducts(ops, products);
}

void AddRows(dense::DenseOpList& ops, const engine::NumberRows& sums, const engine::NumberRows& added,
             const engine::NumberRows& to, int64_t rows, int64_t columns) {
  engine::CombineRows combined{};
  combined.first = sums;
  combined.second = added;
  combined.to = to;
  combined.rows = rows;
  combined.columns = columns;
  combined.threads = ops.threads();
  ops.Compute(combined, {sums.buffer, added.buffer, to.buffer}, rows * columns);
}

}  // namespace portacl::communication
