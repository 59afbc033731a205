// Converts tensors to operands of grouped matrix products (see grouped_operands.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/grouped_operands.h"

#include <algorithm>
#include <limits>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl::grouped {

using engine::GroupedOperand;
using engine::GroupedPart;
using engine::GroupedProducts;

namespace {

constexpr int64_t kInWord = 8;

const aclTensor& EntryOf(const OperatorCall& call, int argument, int entry) {
  return *call.Entry(argument, call.Count(argument) == 1 ? 0 : entry);
}

// Multiplies, with saturation: checks of lengths then find the result beyond their limits.
int64_t ElementsOf(int64_t words) {
  int64_t elements = 0;
  if (!__builtin_mul_overflow(words, kInWord, &elements)) return elements;
  return words < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}
// Returns the dim along which words of eight elements are packed.
int InnerOf(const StridedView& view) { return view.shape.rank - (matmul::IsTransposed(view) ? 2 : 1); }

}  // namespace

StridedView Lying(const StridedView& tensor) noexcept {
  StridedView view = tensor;
  view.is_dense = false;
  view.Describe();
  return PlainView(view);
}

StridedView InElements(const StridedView& tensor) noexcept {
  StridedView view = Lying(tensor);
  if (view.dtype != ACL_INT32) return view;
  const int inner = InnerOf(view);
  for (int i = 0; i < view.shape.rank; ++i)
    view.strides.dim[i] = i == inner ? 1 : ElementsOf(view.strides[i]);
  view.shape.dim[inner] = ElementsOf(view.shape[inner]);
  view.offset = ElementsOf(view.offset);
  view.dtype = ACL_INT4;
  return view;
}

bool WordsLieTogether(const StridedView& tensor) noexcept {
  if (tensor.dtype != ACL_INT32) return true;
  const StridedView view = Lying(tensor);
  const int inner = InnerOf(view);
  return view.shape.IsEmpty() || view.shape[inner] == 1 || view.strides[inner] == 1;
}

GroupedOperand OperandOf(const OperatorCall& call, int argument, int entry, bool has_rows,
                         bool has_groups) noexcept {
  const StridedView view = Lying(EntryOf(call, argument, entry));
  GroupedOperand operand{};
  operand.is_there = true;
  operand.buffer = {call.OperandOf(argument, call.Count(argument) == 1 ? 0 : entry), ByteOffset(view)};
  operand.dtype = view.dtype;
  int dim = view.shape.rank - 1;
  operand.column = dim >= 0 ? ByteStride(view, dim) : 0;
  if (has_rows && dim >= 1) operand.row = ByteStride(view, --dim);
  if (has_groups && dim >= 1) operand.step = ByteStride(view, dim - 1);
  return operand;
}

void SetWeights(GroupedPart& part, const OperatorCall& call, int argument, int entry) noexcept {
  const StridedView weight = InElements(EntryOf(call, argument, entry));
  const int last = weight.shape.rank - 1;
  part.kind = GroupedPart::Kind::kWeights;
  part.is_int4 = weight.dtype == ACL_INT4;
  part.right = OperandOf(call, argument, entry, true, last == 2);
  part.right.buffer.offset = 0;
  part.first_weight = weight.offset;
  part.right.row = weight.strides[last - 1];
  part.right.column = weight.strides[last];
  part.right.step = last == 2 ? weight.strides[0] : 0;
  part.group_terms = std::max<int64_t>(part.depth, 1);
}

void SetScales(GroupedPart& part, const OperatorCall& call, int argument) noexcept {
  const Shape& shape = EntryOf(call, argument, 0).shape;
  const bool has_terms = shape.rank == 3;
  part.scale = OperandOf(call, argument, 0, has_terms, true);
  if (has_terms) part.group_terms = std::max<int64_t>(part.depth / std::max<int64_t>(shape[1], 1), 1);
  if (StorageBits(part.scale.dtype) == 64) part.scale.dtype = ACL_FLOAT;
}

void SetList(GroupedProducts& products, const OperatorCall& call, int argument,
             GroupedProducts::List kind) noexcept {
  const bool has_pairs = kind == GroupedProducts::List::kPairs;
  products.list = OperandOf(call, argument, 0, has_pairs, false);
  if (!has_pairs) {
    products.list.row = products.list.column;
    products.list.column = 0;
  }
  products.entries = EntryOf(call, argument, 0).shape[0];
  products.list_kind = kind;
  products.isa = call.isa;
  products.threads = call.threads;
  products.raises = CurrentConfiguration().index_errors_raise;
  products.name = call.Name(argument);
}

engine::GroupedOperand QuantiseRows(OpList& ops, const OperatorCall& call, const RowsToQuantise& rows,
                                    engine::GroupedPart& part) noexcept {
  const Shape& x = call.Tensor(rows.x).shape;
  engine::GroupedInput input{};
  input.kind = engine::GroupedInput::Kind::kQuantise;
  input.from = OperandOf(call, rows.x, 0, true, false);
  input.rows = x[0];
  input.columns = x[1];
  input.to = ops.Workspace(x[0] * x[1]);
  input.made = ops.Workspace(x[0] * 4);
  input.isa = call.isa;
  input.threads = call.threads;
  if (call.IsGiven(rows.smooth)) input.smooth = OperandOf(call, rows.smooth, 0, false, false);
  if (call.IsGiven(rows.step)) {
    input.step = OperandOf(call, rows.step, 0, false, false);
    input.step.row = rows.step_by_row ? input.step.column : 0;
    input.step.column = 0;
  }
  ops.Compute(input, {input.from.buffer, input.smooth.buffer, input.step.buffer}, x[0] * x[1]);
  part.kind = engine::GroupedPart::Kind::kIntegers;
  part.rows = x[0];
  part.depth = x[1];
  part.left = {true, input.to, ACL_INT8, x[1], 1, 0};
  return {true, input.made, ACL_FLOAT, 4, 0, 0};
}

aclnnStatus CheckLies(const OperatorCall& call, int first, int last) noexcept {
  for (int argument = first; argument <= last; ++argument) {
    if (!call.IsList(argument) && !call.IsGiven(argument)) continue;
    for (int entry = 0; entry < call.Count(argument); ++entry) {
      if (call.Entry(argument, entry) == nullptr) continue;
      const aclTensor& tensor = *call.Entry(argument, entry);
      const StridedView view = matmul::ByStrides(tensor);
      if (view.shape.IsEmpty() || IsContiguous(view) || (view.bytes_fit && matmul::IsTransposed(view)))
        continue;
      int64_t lowest = 0;
      int64_t highest = 0;
      int64_t size = 0;
      if (view.bytes_fit && ReachOf(view, &lowest, &highest) && tensor.storage.Numel(&size) && lowest >= 0 &&
          highest < size)
        continue;
      return RefuseArgument(call, ACLNN_ERR_INNER_NULLPTR, argument, call.IsList(argument) ? entry : -1,
                            " reaches outside its storage, accepted: views inside it.");
    }
  }
  return ACL_SUCCESS;
}

}  // namespace portacl::grouped
