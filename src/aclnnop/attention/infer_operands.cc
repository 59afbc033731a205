// Views, lengths and scales of attention without gradients (see infer_operands.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/infer_operands.h"

namespace portacl::attention::infer {

int64_t KeyHeads(const OperatorCall& call) {
  const int64_t heads = call.attributes[kKeyHeads].integer;
  return heads == 0 ? call.attributes[kHeads].integer : heads;
}

attention::Heads PagesOf(const OperatorCall& call, const StridedView& tensor, int operand,
                         engine::AttentionFractals* fractals) {
  if (tensor.shape.rank < 5) {
    const bool is_joined = tensor.shape.rank == 3;
    return HeadsOf(tensor, operand, is_joined ? Layout::kBsh : Layout::kBnsd, KeyHeads(call));
  }
  const StridedView view = PlainView(tensor);
  attention::Heads made;
  made.batches = view.shape[0];
  made.heads = view.shape[1];
  made.rows = view.shape[3];
  made.depth = view.shape[2] * view.shape[4];
  made.operand.argument = static_cast<int16_t>(operand);
  made.operand.dtype = view.dtype;
  made.operand.offset = ByteOffset(view);
  made.operand.batch = ByteStride(view, 0);
  made.operand.head = ByteStride(view, 1);
  made.operand.row = ByteStride(view, 3);
  made.operand.column = ByteStride(view, 4);
  *fractals = {view.shape[4], ByteStride(view, 2)};
  return made;
}

attention::Heads KeysOf(const OperatorCall& call, const Layouts& layouts, const StridedView& tensor,
                        int operand, engine::AttentionFractals* fractals) {
  return HasPages(call) ? PagesOf(call, tensor, operand, fractals)
                        : HeadsOf(tensor, operand, layouts.in, KeyHeads(call));
}

Length LengthOf(const OperatorCall& call, int attribute, bool is_cumulative, int64_t whole, int64_t batch) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  if (array == nullptr || array->values.empty()) return {0, whole};
  const auto at = static_cast<size_t>(batch);
  if (!is_cumulative) return {0, array->values[array->values.size() == 1 ? 0 : at]};
  const int64_t first = batch == 0 ? 0 : array->values[at - 1];
  return {first, array->values[at] - first};
}

bool GivesEach(const OperatorCall& call, int attribute) {
  const aclIntArray* const array = call.attributes[static_cast<size_t>(attribute)].array;
  return array != nullptr && array->values.size() > 1;
}

bool IsTemplate(const Shape& shape) {
  bool is_template = shape.rank >= 2 && shape.rank <= 4 && shape[shape.rank - 2] == kTemplate &&
                     shape[shape.rank - 1] == kTemplate;
  for (int dim = 0; dim < shape.rank - 2; ++dim) is_template = is_template && shape[dim] == 1;
  return is_template;
}

bool IsTemplateOfOneQuery(const OperatorCall& call, const Sizes& sizes) {
  const int64_t mode = call.attributes[kMode].integer;
  return IsDecoding(sizes) && (mode == 3 || mode == 4) && Has(call, kMask) &&
         IsTemplate(TensorAt(call, kMask).shape);
}

Length Queries(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  if (IsDecoding(sizes)) return {0, 1};
  return LengthOf(call, kQueryLengths, sizes.layouts.IsPacked(), sizes.query.rows, batch);
}
Length Keys(const OperatorCall& call, const Sizes& sizes, int64_t batch) {
  const int64_t whole =
      sizes.lists > 0 ? sizes.KeysOfEntry(call, kKey, static_cast<int>(batch)).rows : sizes.most_own_keys;
  return LengthOf(call, kKeyLengths, sizes.layouts.IsPacked() && !HasPages(call), whole, batch);
}

bool LocateQueryScale(const OperatorCall& call, const Sizes& sizes, engine::AttentionOperand* to) {
  const StridedView view = PlainView(TensorAt(call, kQueryScale));
  // The dims that batches, heads and rows have; -1: none.
  struct Dims {
    int batch, head, row, rank;
  };
  const Dims dims = sizes.layouts.in == Layout::kBnsd  ? Dims{0, 1, 2, 3}
                    : sizes.layouts.in == Layout::kTnd ? Dims{-1, 1, 0, 2}
                    : sizes.layouts.in == Layout::kNtd ? Dims{-1, 0, 1, 2}
                                                       : Dims{0, 2, 1, 3};
  const int rank = view.shape.rank;
  if (rank != dims.rank && (rank != dims.rank + 1 || view.shape[rank - 1] != 1)) return false;
  if (dims.batch >= 0 && view.shape[dims.batch] != sizes.query.batches) return false;
  if (view.shape[dims.head] != sizes.query.heads || view.shape[dims.row] != sizes.query.rows) return false;
  to->argument = static_cast<int16_t>(OperandAt(call, kQueryScale));
  to->dtype = view.dtype;
  to->offset = ByteOffset(view);
  if (dims.batch >= 0) to->batch = ByteStride(view, dims.batch);
  to->head = ByteStride(view, dims.head);
  to->row = ByteStride(view, dims.row);
  return true;
}

bool LocateScales(const OperatorCall& call, const Sizes& sizes, const ScaleSource& source, int tensor,
                  const attention::Heads& of, engine::AttentionOperand* to) {
  const StridedView view = PlainView(TensorAt(call, tensor));
  int first = 0;
  to->argument = static_cast<int16_t>(OperandAt(call, tensor));
  to->dtype = view.dtype;
  to->offset = ByteOffset(view);
  if (source.is_joint) {
    if (view.shape[0] != 2) return false;
    to->offset += source.part * ByteStride(view, 0);
    first = 1;
  }
  struct Dim {
    int64_t length;
    int64_t stride;
  };
  Dim dims[kMaxDims];
  int rank = 0;
  for (int i = first; i < view.shape.rank; ++i) {
    if (source.mode != 0 || view.shape[i] != 1) dims[rank++] = {view.shape[i], ByteStride(view, i)};
  }
  const auto drop_ones = [&](int wanted) {
    int ones = 0;
    while (rank - ones > wanted && dims[ones].length == 1) ++ones;
    std::copy(dims + ones, dims + rank, dims);
    rank -= ones;
    return rank == wanted;
  };
  switch (source.mode) {
    case 0:
      if (rank == 0) return true;
      if (rank == 1 && dims[0].length == of.heads * of.depth) {
        to->column = dims[0].stride;
        to->head = of.depth * dims[0].stride;
        return true;
      }
      if (rank != 2 || dims[0].length != of.heads || dims[1].length != of.depth) return false;
      to->head = dims[0].stride;
      to->column = dims[1].stride;
      return true;
    case 1:
      if (!drop_ones(2)) return false;
      to->batch = dims[0].stride;
      to->row = dims[1].stride;
      return dims[0].length == sizes.batches && dims[1].length >= sizes.most_keys;
    case 2:
      if (!drop_ones(1)) return false;
      to->head = dims[0].stride;
      return dims[0].length == of.heads;
    case 3:
      if (!drop_ones(3)) return false;
      to->batch = dims[0].stride;
      to->head = dims[1].stride;
      to->row = dims[2].stride;
      return dims[0].length == sizes.batches && dims[1].length == of.heads &&
             dims[2].length >= sizes.most_keys;
    case 4:
      if (!drop_ones(2)) return false;
      to->batch = dims[0].stride;
      to->row = dims[1].stride;
      return HasPages(call) && dims[0].length == of.batches && dims[1].length == of.rows;
    case 5:
      if (!drop_ones(3)) return false;
      to->batch = dims[0].stride;
      to->head = dims[1].stride;
      to->row = dims[2].stride;
      return HasPages(call) && dims[0].length == of.batches && dims[1].length == of.heads &&
             dims[2].length == of.rows;
    default:
      return false;
  }
}

}  // namespace portacl::attention::infer
