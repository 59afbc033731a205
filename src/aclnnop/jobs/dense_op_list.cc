// Dense operands of operators that make lists of ops (see dense_op_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/dense_op_list.h"

#include <limits>

#include "aclnnop/jobs/heads.h"
#include "base/data_type.h"

namespace portacl::dense {

using engine::BufferRef;
using engine::NumberRows;
using engine::OptionalBuffer;

ShapeChecks& ShapeChecks::Rank(int tensor, int least, int most) {
  const int rank = call_.Tensor(tensor).shape.rank;
  if (status_ != ACL_SUCCESS || (rank >= least && rank <= most)) return *this;
  Text message = StartMessage(call_);
  AddArgumentShape(message.Add("parameter "), call_, tensor).Add(" has ").Add(rank).Add(" dims, accepted: ");
  message.Add(least);
  if (most != least) message.Add(" to ").Add(most);
  status_ = FailAclnn(check_.code, message.Add("."));
  return *this;
}
ShapeChecks& ShapeChecks::Holds(bool holds, int tensor, const char* accepted) {
  if (status_ == ACL_SUCCESS && !holds) status_ = attention::RefuseTensor(check_, call_, tensor, accepted);
  return *this;
}
ShapeChecks& ShapeChecks::HoldsOf(bool holds, int attribute, const char* accepted) {
  if (status_ == ACL_SUCCESS && !holds)
    status_ = attention::RefuseAttribute(check_, call_, attribute, accepted);
  return *this;
}
ShapeChecks& ShapeChecks::Given(int tensor, const char* when) {
  if (status_ != ACL_SUCCESS || call_.IsGiven(tensor)) return *this;
  Text message = StartMessage(call_).Add("parameter ").Add(call_.Name(tensor));
  status_ = FailAclnn(check_.code, message.Add(" is null, accepted: a tensor ").Add(when).Add("."));
  return *this;
}

namespace {

// Returns the number of elements, with dims of 0 counted as 1: rows without elements need memory, too.
int64_t SizeToKeep(const Shape& shape) {
  int64_t size = 1;
  for (int dim = 0; dim < shape.rank; ++dim) {
    if (__builtin_mul_overflow(size, std::max<int64_t>(shape[dim], 1), &size))
      return std::numeric_limits<int64_t>::max();
  }
  return size;
}

bool HasMemoryFor(const OperatorCall& call, Executor& executor) {
  constexpr int64_t kMost = int64_t{1} << 48;
  for (int tensor = 0; tensor < static_cast<int>(call.tensors.size()); ++tensor) {
    if (!call.IsGiven(tensor)) continue;
    const int64_t size = SizeToKeep(call.Tensor(tensor).shape);
    if (size <= kMost) continue;
    executor.RefuseSize(call.Name(tensor), size);
    return false;
  }
  return true;
}

}  // namespace

aclnnStatus RunOpList(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                      aclOpExecutor** executor,
                      void (*set)(const OperatorCall& call, Executor& executor)) noexcept {
  return RunPhase1(call, checks, workspaceSize, executor,
                   [set](const OperatorCall& passed, Executor& acquired) {
                     if (HasMemoryFor(passed, acquired)) set(passed, acquired);
                   });
}

BufferRef DenseOpList::In(int tensor, aclDataType dtype) {
  return InView(tensor, PlainView(call_.Tensor(tensor)), dtype);
}
BufferRef DenseOpList::InView(int tensor, const StridedView& view, aclDataType dtype) {
  if (dtype == ACL_DT_UNDEFINED) dtype = view.dtype;
  if (dtype == view.dtype && IsContiguous(view)) return {call_.OperandOf(tensor), ByteOffset(view)};
  const StridedView dense = DenseTensor(view.shape, dtype);
  const BufferRef buffer = ops_.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(dtype)));
  ops_.Copy(view, OperandBuffer(call_.OperandOf(tensor)), dense, buffer);
  return buffer;
}
BufferRef DenseOpList::PaddedFloats(int tensor, int64_t pitch) {
  const StridedView view = PlainView(call_.Tensor(tensor));
  StridedView padded = DenseTensor(view.shape, ACL_FLOAT);
  int64_t step = pitch;
  for (int dim = view.shape.rank - 2; dim >= 0; --dim) {
    padded.strides.dim[dim] = step;
    step *= view.shape[dim];
  }
  padded.Describe();
  const BufferRef buffer = Floats(step);
  ops_.Copy(view, OperandBuffer(call_.OperandOf(tensor)), padded, buffer);
  return buffer;
}
OptionalBuffer DenseOpList::InIfGiven(int tensor, aclDataType dtype) {
  if (!call_.IsGiven(tensor)) return {};
  return {In(tensor, dtype), true};
}
NumberRows DenseOpList::Rows(int tensor) {
  return engine::NumberRowsOf(call_.isa, In(tensor), call_.Tensor(tensor).dtype);
}
NumberRows DenseOpList::RowsIfGiven(int tensor) {
  return call_.IsGiven(tensor) ? Rows(tensor) : NumberRows{};
}

BufferRef DenseOpList::Out(int tensor, aclDataType dtype, bool keeps) {
  return OutView(tensor, PlainView(call_.Tensor(tensor)), dtype, keeps);
}
BufferRef DenseOpList::OutView(int tensor, const StridedView& view, aclDataType dtype, bool keeps) {
  if (dtype == ACL_DT_UNDEFINED) dtype = view.dtype;
  if (dtype == view.dtype && IsContiguous(view)) return {call_.OperandOf(tensor), ByteOffset(view)};
  const StridedView dense = DenseTensor(view.shape, dtype);
  const BufferRef buffer = ops_.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(dtype)));
  const int operand = call_.OperandOf(tensor);
  if (keeps) ops_.Copy(view, OperandBuffer(operand), dense, buffer);
  outputs_[output_count_++] = {dense, view, buffer, operand};
  return buffer;
}
NumberRows DenseOpList::RowsOut(int tensor) {
  return engine::NumberRowsOf(call_.isa, Out(tensor), call_.Tensor(tensor).dtype);
}

void DenseOpList::WordsTo(BufferRef words, int tensor, aclDataType dtype) {
  const StridedView view = PlainView(call_.Tensor(tensor));
  ops_.Copy(DenseTensor(view.shape, dtype), words, view, OperandBuffer(call_.OperandOf(tensor)));
}

BufferRef DenseOpList::Order(int tensor, OptionalBuffer sorted) {
  const BufferRef source = In(tensor);
  const int64_t count = call_.Tensor(tensor).numel;
  const BufferRef order = Words(count);
  if (count == 0) return order;
  const StridedView keys = DenseTensor(Shape{count}, call_.Tensor(tensor).dtype);
  const StridedView buffers = DenseTensor(Shape{count}, ACL_INT64);
  engine::SortRows rows{};
  rows.kind = engine::SortRows::Kind::kFirst;
  rows.kept = count;
  ops_.SortRows(keys, source, sorted.is_there ? &keys : nullptr, sorted.buffer, &buffers, order, 0, rows);
  return order;
}
BufferRef DenseOpList::OrderOfWords(BufferRef words, int64_t count) {
  const BufferRef order = Words(count);
  if (count == 0) return order;
  const StridedView keys = DenseTensor(Shape{count}, ACL_INT64);
  engine::SortRows rows{};
  rows.kind = engine::SortRows::Kind::kFirst;
  rows.kept = count;
  ops_.SortRows(keys, words, nullptr, {}, &keys, order, 0, rows);
  return order;
}

void DenseOpList::SetJob() {
  for (const Output* output = outputs_; output < outputs_ + output_count_; ++output)
    ops_.Copy(output->dense, output->buffer, output->view, OperandBuffer(output->tensor));
  ops_.SetJob();
}

}  // namespace portacl::dense
