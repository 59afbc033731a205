// Unpooling: puts elements where the indices of a max pool say, and takes the gradients from there.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/max_unpool_functions.h"

#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "aclnnop/phase1.h"
#include "aclnnop/pooling/pool_windows.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

// Unpooling takes elements and gives planes. A gradient has the planes' gradient first, then the elements, which give their shape.
enum Tensors { kSelf, kIndices, kOut };
enum GradientTensors { kGradOutput, kGradSelf, kGradIndices, kGradOut };
enum Attributes { kOutputSize, kStride, kPadding };

constexpr DtypeSet kTaken = kFloatAndHalf | kDouble | kIntegers;
constexpr DtypeSet kTaken2dGradient = kTaken.Without(kDouble) | kBool;
constexpr DtypeSet kIndexTypes{ACL_INT32, ACL_INT64};

struct Form {
  int axes;
  int elements;  // the tensor of pooled elements, or, for a gradient, the one with their shape
  int indices;
  int planes;
};
constexpr Form kUnpool2d{2, kSelf, kIndices, kOut};
constexpr Form kUnpool3d{3, kSelf, kIndices, kOut};
constexpr Form kGradient2d{2, kGradSelf, kGradIndices, kGradOutput};
constexpr Form kGradient3d{3, kGradSelf, kGradIndices, kGradOutput};

// ---- checks ----

// Refuses elements with a dim of 0 besides the batch.
template <const Form& kForm>
aclnnStatus ElementsArePresent(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kForm.elements).shape;
  for (int dim = 1; dim < shape.rank; ++dim) {
    if (shape[dim] > 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kForm.elements);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  return ACL_SUCCESS;
}

// Refuses planes of fewer positions than there are elements. Computes their shape into call.broadcast.
template <const Form& kForm>
aclnnStatus PlanesHoldElements(const Check& check, OperatorCall& call) noexcept {
  const auto& size = call.Array(kOutputSize);
  call.broadcast = call.Tensor(kForm.elements).shape;
  int64_t elements = 1;
  int64_t positions = 1;
  for (int axis = 0; axis < kForm.axes; ++axis) {
    int64_t& length = call.broadcast.dim[call.broadcast.rank - kForm.axes + axis];
    if (__builtin_mul_overflow(elements, length, &elements)) elements = std::numeric_limits<int64_t>::max();
    length = size[static_cast<size_t>(axis)];
    if (__builtin_mul_overflow(positions, length, &positions))
      positions = std::numeric_limits<int64_t>::max();
  }
  if (positions >= elements) return ACL_SUCCESS;
  return RefuseArray(check, call, kOutputSize, " has fewer places than there are elements",
                     "as many or more");
}

aclnnStatus IsContiguousOut(const Check& check, OperatorCall& call, int tensor) noexcept {
  if (IsContiguous(call.Tensor(tensor))) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.Name(tensor))
                                   .Add(" is not contiguous, accepted: a contiguous tensor."));
}
aclnnStatus OutIsContiguous(const Check& check, OperatorCall& call) noexcept {
  return IsContiguousOut(check, call, kOut);
}
aclnnStatus GradientIsContiguous(const Check& check, OperatorCall& call) noexcept {
  return IsContiguousOut(check, call, kGradOut);
}

// CANN compares only numbers of elements. A tensor of another shape has to be contiguous.
aclnnStatus HoldsResult(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(kOut);
  int64_t numel = 0;
  if (call.broadcast.Numel(&numel) && numel == out.numel &&
      (out.shape == call.broadcast || IsContiguous(out)))
    return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, call.broadcast);
}

aclnnStatus PlanesAsAsked(const Check& check, OperatorCall& call) noexcept {
  const Shape& planes = call.Tensor(kGradOutput).shape;
  return planes == call.broadcast ? ACL_SUCCESS : RefuseShape(check, call, kGradOutput, call.broadcast);
}

// Refuses an empty gradient of planes where there are elements.
aclnnStatus PlanesAreNotEmpty(const Check& check, OperatorCall& call) noexcept {
  if (!call.Tensor(kGradOutput).shape.IsEmpty() || call.Tensor(kGradSelf).shape.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kGradOutput);
  return FailAclnn(check.code, message.Add(" is empty, accepted: empty only if self is."));
}

template <const Form& kForm>
constexpr auto Ranks() {
  return List(RankAtLeast(kForm.axes + 1, {kForm.elements}), RankAtMost(kForm.axes + 2, {kForm.elements}),
              SameShape(kForm.elements, kForm.indices), Custom(ElementsArePresent<kForm>));
}

constexpr auto kUnpool2dChecks =
    Join(List(NotNull(kSelf), NotNull(kIndices), ArrayNotNull(kOutputSize), NotNull(kOut),
              DtypesIn(kTaken, {kSelf}), SameDtype(kSelf, kOut), DtypesIn(kIndexTypes, {kIndices})),
         Ranks<kUnpool2d>(),
         List(CountIn(kOutputSize, {2}), ValuesFrom(kOutputSize, 1), Custom(PlanesHoldElements<kUnpool2d>),
              SizesRepresentable({kOut}), DoneIfEmpty({kSelf}), Custom(HoldsResult, ACLNN_ERR_INNER_NULLPTR),
              InsideStorage({kSelf, kIndices})));
constexpr auto kUnpool3dChecks = Join(
    List(NotNull(kSelf), NotNull(kIndices), ArrayNotNull(kOutputSize), ArrayNotNull(kStride),
         ArrayNotNull(kPadding), NotNull(kOut), Custom(OutIsContiguous), DtypesIn(kTaken, {kSelf}),
         SameDtype(kSelf, kOut), DtypesIn(kIndexTypes, {kIndices})),
    Ranks<kUnpool3d>(),
    List(CountIn(kOutputSize, {3}), CountIn(kStride, {3}), CountIn(kPadding, {3}), ValuesFrom(kStride, 1),
         ValuesFrom(kOutputSize, 1), Custom(PlanesHoldElements<kUnpool3d>), SizesRepresentable({kOut}),
         ShapeIsResult(kOut), DoneIfEmpty({kSelf}), InsideStorage({kSelf, kIndices})));
constexpr auto kGradient2dChecks = Join(List(
    NotNull(kGradOutput), NotNull(kGradSelf), NotNull(kGradIndices), ArrayNotNull(kOutputSize),
    NotNull(kGradOut), DtypesIn(kTaken2dGradient, {kGradOutput}), SameDtype(kGradOutput, kGradSelf),
    DtypesIn(kTaken2dGradient, {kGradOut}), CastsTo(kGradOutput, kGradOut),
    DtypesIn(kIndexTypes, {kGradIndices}), RankAtLeast(3, {kGradSelf}), RankAtMost(4, {kGradSelf}),
    SameRank(kGradSelf, kGradOutput), SameBatch(kGradSelf, kGradOutput), SameShape(kGradSelf, kGradIndices),
    SameShape(kGradSelf, kGradOut), CountIn(kOutputSize, {2}), SizeIsOut(kOutputSize, kGradOutput),
    Custom(PlanesAreNotEmpty), SizesRepresentable({kGradOutput, kGradOut}), DoneIfEmpty({kGradSelf}),
    InsideStorage({kGradOutput, kGradIndices})));
constexpr auto kGradient3dChecks = Join(
    List(NotNull(kGradOutput), NotNull(kGradSelf), NotNull(kGradIndices), ArrayNotNull(kOutputSize),
         ArrayNotNull(kStride), ArrayNotNull(kPadding), NotNull(kGradOut), Custom(GradientIsContiguous),
         DtypesIn(kTaken, {kGradOutput}), SameDtype(kGradOutput, kGradSelf), SameDtype(kGradOutput, kGradOut),
         DtypesIn(DtypeSet{ACL_INT64}, {kGradIndices})),
    Ranks<kGradient3d>(),
    List(CountIn(kOutputSize, {3}), CountIn(kStride, {3}), CountIn(kPadding, {3}), ValuesFrom(kStride, 1),
         ValuesFrom(kOutputSize, 1), Custom(PlanesHoldElements<kGradient3d>), Custom(PlanesAsAsked),
         SameShape(kGradSelf, kGradOut), SizesRepresentable({kGradOutput, kGradOut}),
         DoneIfEmpty({kGradOutput}), InsideStorage({kGradOutput, kGradIndices})));

// ---- jobs ----

// Tells whether one stride walks a plane, as an index counts it.
bool IsFlat(const StridedView& planes) {
  const int64_t of_row = planes.shape[4] * planes.strides[4];
  return (planes.shape[3] == 1 || planes.strides[3] == of_row) &&
         (planes.shape[2] == 1 || planes.strides[2] == planes.shape[3] * of_row);
}

// Returns `planes` with the shape of the elements. Indices replace the axes.
StridedView Indexed(const StridedView& planes, const StridedView& elements) {
  StridedView target = planes;
  target.shape = elements.shape;
  for (int dim = 2; dim < 5; ++dim) target.strides.dim[dim] = 0;
  return target;
}

engine::IndexView IndexOf(const OperatorCall& call, int tensor, const StridedView& indices,
                          const StridedView& planes) {
  const int64_t positions = planes.shape[2] * planes.shape[3] * planes.shape[4];
  // A single element may have any stride.
  const int64_t step = positions == 1 ? 1 : planes.strides[4];
  return {&indices, tensor, call.Name(tensor), -1, false, positions, step};
}

int64_t Bytes(const StridedView& view) {
  int64_t bytes = static_cast<int64_t>(StorageBits(view.dtype) / 8);
  for (int dim = 0; dim < view.shape.rank; ++dim) bytes *= view.shape[dim];
  return bytes;
}

template <const Form& kForm>
void SetUnpool(const OperatorCall& call, Executor& executor) {
  StridedView given = call.Tensor(kOut);
  if (!(given.shape == call.broadcast)) {
    given.shape = call.broadcast;
    given.strides = RowMajorStrides(call.broadcast);
  }
  const StridedView elements = PoolView(call.Tensor(kSelf), kForm.axes);
  const StridedView indices = PoolView(call.Tensor(kIndices), kForm.axes);
  const StridedView planes = PoolView(given, kForm.axes);
  OpList ops(executor, 3);
  const bool is_direct = IsFlat(planes);
  const StridedView put = is_direct ? planes : DenseTensor(planes.shape, planes.dtype);
  const engine::BufferRef buffer = is_direct ? OperandBuffer(kOut) : ops.Workspace(Bytes(put));
  ops.Fill(put, buffer, ops.Value({}));
  const engine::IndexView index = IndexOf(call, kIndices, indices, put);
  ops.Indexed(engine::IndexedAction::kPut, elements, OperandBuffer(kSelf), Indexed(put, elements), buffer,
              &index, 1);
  if (!is_direct) ops.Copy(put, buffer, planes, OperandBuffer(kOut));
  ops.SetJob();
}

template <const Form& kForm>
void SetGradient(const OperatorCall& call, Executor& executor) {
  const StridedView gradient = PoolView(call.Tensor(kGradOutput), kForm.axes);
  const StridedView indices = PoolView(call.Tensor(kGradIndices), kForm.axes);
  const StridedView result = PoolView(call.Tensor(kGradOut), kForm.axes);
  OpList ops(executor, 3);
  StridedView planes = gradient;
  engine::BufferRef from = OperandBuffer(kGradOutput);
  if (!IsFlat(gradient)) {
    planes = DenseTensor(gradient.shape, gradient.dtype);
    from = ops.Workspace(Bytes(planes));
    ops.Copy(gradient, OperandBuffer(kGradOutput), planes, from);
  }
  const bool is_direct = result.dtype == gradient.dtype;
  const StridedView taken = is_direct ? result : DenseTensor(result.shape, gradient.dtype);
  const engine::BufferRef to = is_direct ? OperandBuffer(kGradOut) : ops.Workspace(Bytes(taken));
  const engine::IndexView index = IndexOf(call, kGradIndices, indices, planes);
  ops.Indexed(engine::IndexedAction::kTake, taken, to, Indexed(planes, taken), from, &index, 1);
  if (!is_direct) ops.Copy(taken, to, result, OperandBuffer(kGradOut));
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMaxUnpool2d) {
  return RunPhase1(call, kUnpool2dChecks, workspaceSize, executor, SetUnpool<kUnpool2d>);
}

PORTACL_PHASE_1(aclnnMaxUnpool3d) {
  return RunPhase1(call, kUnpool3dChecks, workspaceSize, executor, SetUnpool<kUnpool3d>);
}

PORTACL_PHASE_1(aclnnMaxUnpool2dBackward) {
  return RunPhase1(call, kGradient2dChecks, workspaceSize, executor, SetGradient<kGradient2d>);
}

PORTACL_PHASE_1(aclnnMaxUnpool3dBackward) {
  return RunPhase1(call, kGradient3dChecks, workspaceSize, executor, SetGradient<kGradient3d>);
}
