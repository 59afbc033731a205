// aclnnIndexFill, aclnnIndexFillTensor and their in-place forms: fill the slices of a tensor along a dim that
// an index tensor, or a host array, names.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/index_fill_functions.h"

#include <algorithm>

#include "aclnnop/jobs/op_list.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

// The in-place forms have no out, and the forms with an array have no index tensor.
enum Tensors { kSelf, kIndex };
enum Attributes { kDim, kValue, kArray };

constexpr DtypeSet kFillOld{ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT64, ACL_BOOL};
constexpr DtypeSet kFill950 = kRealArithmetic | kBf16;
constexpr DtypeRule kFillDtypes = ByGeneration(kNoDtype, kFillOld | kBf16, kFill950);
constexpr DtypeRule kArrayDtypes = ByGeneration(kFillOld, kFillOld | kBf16, kFill950);
constexpr DtypeSet kIndexDtypes{ACL_INT32, ACL_INT64};

bool HasElements(const OperatorCall& call) noexcept { return !call.Tensor(kSelf).shape.IsEmpty(); }
bool HasArray(const OperatorCall& call) noexcept { return call.attributes.size() > kArray; }
int64_t Indices(const OperatorCall& call) {
  return HasArray(call) ? static_cast<int64_t>(call.Array(kArray).size()) : call.Tensor(kIndex).numel;
}
int64_t LengthOf(const StridedView& self, int dim) { return self.shape.rank == 0 ? 1 : self.shape[dim]; }

aclnnStatus OutIsGiven(const Check&, OperatorCall& call) noexcept {
  const Check given = NotNull(call.Output());
  return given.run(given, call);
}
aclnnStatus OutHasDtype(const Check&, OperatorCall& call) noexcept {
  const Check same = SameDtype(kSelf, call.Output());
  return same.run(same, call);
}
aclnnStatus OutHasShape(const Check&, OperatorCall& call) noexcept {
  const Check same = SameShape(kSelf, call.Output());
  return same.run(same, call);
}
aclnnStatus OutIsRepresentable(const Check&, OperatorCall& call) noexcept {
  const Check fits = SizesRepresentable({call.Output()});
  return fits.run(fits, call);
}

aclnnStatus ArrayIsInRange(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& self = call.Tensor(kSelf);
  // Every index exceeds a negative length.
  const int64_t length =
      std::max(LengthOf(self, WrappedDim(call.attributes[kDim].integer, self.shape.rank)), int64_t{0});
  for (const int64_t index : call.Array(kArray)) {
    if (index < -length || index >= length)
      return RefuseInteger(check, call, "index", index, -length, length - 1);
  }
  return ACL_SUCCESS;
}

aclnnStatus ValueIsReal(const Check& check, OperatorCall& call) noexcept {
  const aclDataType value = call.Scalar(kValue).dtype;
  if (value != ACL_COMPLEX64 && value != ACL_COMPLEX128) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, value);
  return FailAclnn(check.code, message.Add(" is complex, accepted: a real value."));
}

aclnnStatus ValueConverts(const Check& check, OperatorCall& call) noexcept {
  if (ScalarConverts(call.Scalar(kValue).dtype, call.Tensor(kSelf).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter value with dtype ");
  AddDtypeName(message, call.Scalar(kValue).dtype);
  return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
}

constexpr auto kShapeChecks =
    List(If(HasElements, Custom(OutHasShape)), If(HasElements, RankAtMost(8, {kSelf})),
         If(HasElements, DimIn(kDim, kSelf)));
constexpr auto kEnd = List(Custom(OutIsRepresentable), DoneIfEmpty({kSelf}), InsideStorage({kSelf}),
                           Custom(ValueConverts, ACLNN_ERR_INNER_NULLPTR));
constexpr auto kTensorChecks =
    Join(List(NotNull(kSelf), NotNull(kIndex), ScalarNotNull(kValue), Custom(OutIsGiven),  // in CANN's order
              DtypesIn(kFillDtypes, {kSelf}), Custom(OutHasDtype), DtypesIn(kIndexDtypes, {kIndex})),
         kShapeChecks, List(InsideStorage({kIndex})), kEnd);
constexpr auto kArrayChecks = Join(
    List(NotNull(kSelf), ArrayNotNull(kArray), ScalarNotNull(kValue), Custom(OutIsGiven),  // in CANN's order
         DtypesIn(kArrayDtypes, {kSelf}), Custom(OutHasDtype)),
    kShapeChecks, List(If(HasElements, Custom(ArrayIsInRange)), Custom(ValueIsReal)), kEnd);

void SetFillJobOf(const OperatorCall& call, Executor& executor) {
  const int output = call.Output();
  const StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(output));
  OpList ops(executor, 3, HasArray(call) ? &call.Array(kArray) : nullptr);
  if (!call.in_place) ops.Copy(self, OperandBuffer(kSelf), out, OperandBuffer(output));
  const int64_t count = Indices(call);
  if (count == 0) return ops.SetJob();
  engine::BufferRef buffer = ops.Array();
  int operand = engine::BufferRef::kMemory;
  StridedView index = DenseTensor(Shape{count}, ACL_INT64);
  if (HasArray(call)) {
    index.offset = buffer.offset / int64_t{sizeof(int64_t)};
  } else {
    index = PlainView(call.Tensor(kIndex));
    buffer = ops.Flatten(index, kIndex);
    operand = buffer.operand;
    index.offset += buffer.offset / static_cast<int64_t>(aclDataTypeSize(index.dtype));
  }
  const int64_t step = index.strides[0];
  const int dim = WrappedDim(call.attributes[kDim].integer, self.shape.rank);
  // The loop has self's shape, with as many slices as there are indices.
  Shape shape = self.shape;
  if (shape.rank == 0) shape = Shape{count};
  shape.dim[dim] = count;
  StridedView value = DenseTensor(shape, self.dtype);
  StridedView indexed = value;
  indexed.offset = out.offset;
  index.shape = shape;
  index.strides.rank = shape.rank;
  for (int i = 0; i < shape.rank; ++i) {
    value.strides.dim[i] = 0;
    index.strides.dim[i] = i == dim ? step : 0;
    indexed.strides.dim[i] = i == dim ? 0 : out.strides[i];
  }
  const engine::IndexView named{.view = &index,
                                .operand = operand,
                                .name = HasArray(call) ? "index" : call.Name(kIndex),
                                .wraps = true,
                                .bound = LengthOf(self, dim),
                                .step = out.shape.rank == 0 ? 0 : out.strides[dim]};
  engine::IndexedMove* const move = ops.Indexed(engine::IndexedAction::kPut, value,
                                                ops.Value(ConvertScalar(call.Scalar(kValue), self.dtype)),
                                                indexed, OperandBuffer(output), &named, 1);
  // Skips indices out of range, as CANN's page says.
  if (move != nullptr) move->raises = false;
  ops.SetJob();
}

aclnnStatus FillByTensor(OperatorCall& call, int64_t dim, const aclScalar* value, uint64_t* workspaceSize,
                         aclOpExecutor** executor) {
  const Attribute attributes[] = {{"dim", dim}, {"value", value}};
  call.attributes = attributes;
  return RunPhase1(call, kTensorChecks, workspaceSize, executor, SetFillJobOf);
}

aclnnStatus FillByArray(OperatorCall& call, int64_t dim, const aclIntArray* index, const aclScalar* value,
                        uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Attribute attributes[] = {{"dim", dim}, {"value", value}, {"index", index}};
  call.attributes = attributes;
  return RunPhase1(call, kArrayChecks, workspaceSize, executor, SetFillJobOf);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnIndexFill) {
  return FillByTensor(call, given.dim, given.value, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceIndexFill) {
  return FillByTensor(call, given.dim, given.value, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnIndexFillTensor) {
  return FillByArray(call, given.dim, given.index, given.value, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceIndexFillTensor) {
  return FillByArray(call, given.dim, given.index, given.value, workspaceSize, executor);
}
