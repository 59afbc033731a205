// aclnnOneHot: writes a row for each element of a tensor of classes. The row has the on value at the class
// and the off value elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/one_hot_functions.h"

#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOnValue, kOffValue, kOut };
enum Attributes { kClasses, kAxis };

constexpr DtypeSet kWholeNumbers{ACL_INT32, ACL_INT64};
constexpr DtypeSet kValues = kWholeNumbers | kFloatAndHalf;
constexpr DtypeRule kSelfDtypes =
    ByGeneration(kWholeNumbers, kWholeNumbers, kWholeNumbers | DtypeSet{ACL_UINT8});
constexpr DtypeRule kValueDtypes = ByGeneration(kValues, kValues, kValues | DtypeSet{ACL_INT8, ACL_UINT8});

aclnnStatus ClassesFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t classes = call.attributes[kClasses].integer;
  const int64_t least = call.Tensor(kSelf).shape.IsEmpty() ? 1 : 0;
  if (classes >= least) return ACL_SUCCESS;
  return RefuseInteger(check, call, "numClasses", classes, least, std::numeric_limits<int32_t>::max());
}

aclnnStatus AxisFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t axis = call.attributes[kAxis].integer;
  const int rank = call.Tensor(kSelf).shape.rank;
  if (axis >= -1 && axis <= rank) return ACL_SUCCESS;
  return RefuseInteger(check, call, "axis", axis, -1, rank);
}

int AxisOf(const OperatorCall& call) {
  const int64_t axis = call.attributes[kAxis].integer;
  return axis < 0 ? call.Tensor(kSelf).shape.rank : static_cast<int>(axis);
}

aclnnStatus OneHotShape(const Check&, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const int axis = AxisOf(call);
  call.broadcast.rank = self.rank + 1;
  for (int i = 0; i <= self.rank; ++i)
    call.broadcast.dim[i] = i == axis ? call.attributes[kClasses].integer : self[i < axis ? i : i - 1];
  return ACL_SUCCESS;
}

aclnnStatus DoneWithoutClasses(const Check&, OperatorCall& call) noexcept {
  if (call.attributes[kClasses].integer == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus ValuesAreThere(const Check& check, OperatorCall& call) noexcept {
  for (const int value : {static_cast<int>(kOnValue), static_cast<int>(kOffValue)}) {
    if (!call.Tensor(value).shape.IsEmpty()) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, value);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a tensor with an element."));
  }
  return ACL_SUCCESS;
}

constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOnValue),
    NotNull(kOffValue),
    NotNull(kOut),
    DtypesIn(kSelfDtypes, {kSelf}),
    DtypesIn(kValueDtypes, {kOut}),
    SameDtype(kOut, kOnValue),
    SameDtype(kOut, kOffValue),
    OnProducts(products::kBeforeAscend950, RankAtMost(8, {kSelf})),
    OnProducts(products::kAscend950, RankAtMost(7, {kSelf})),
    RankAtMost(8, {kOnValue, kOffValue, kOut}),
    Custom(ClassesFit),
    Custom(AxisFits),
    Custom(OneHotShape),
    ShapeIsResult(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    Custom(DoneWithoutClasses),
    InsideStorage({kSelf, kOnValue, kOffValue}),
    Custom(ValuesAreThere, ACLNN_ERR_INNER_NULLPTR),
};

// Returns the first element, as a tensor without dims.
StridedView FirstOf(const StridedView& tensor) {
  StridedView one = DenseTensor(Shape{}, tensor.dtype);
  one.offset = tensor.offset;
  return one;
}

void SetOneHot(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  const StridedView out = PlainView(call.Tensor(kOut));
  const int axis = AxisOf(call);
  OpList ops(executor, 3);
  engine::BufferRef self_buffer = OperandBuffer(kSelf);
  if (self.dtype == ACL_UINT8) {
    const StridedView wide = DenseTensor(self.shape, ACL_INT32);
    self_buffer = ops.Workspace(self.numel * int64_t{sizeof(int32_t)});
    ops.Copy(self, OperandBuffer(kSelf), wide, self_buffer);
    self = wide;
    self.offset = self_buffer.offset / int64_t{sizeof(int32_t)};
  }
  ops.Copy(FirstOf(PlainView(call.Tensor(kOffValue))), OperandBuffer(kOffValue), out, OperandBuffer(kOut));
  StridedView row = out;
  Select(row, axis, 0);
  StridedView on = FirstOf(PlainView(call.Tensor(kOnValue)));
  on.shape = on.strides = self.shape;
  for (int i = 0; i < on.strides.rank; ++i) on.strides.dim[i] = 0;
  const engine::IndexView named{.view = &self,
                                .operand = self_buffer.operand,
                                .name = call.Name(kSelf),
                                .bound = out.shape[axis],
                                .step = out.strides[axis]};
  engine::IndexedMove* const move = ops.Indexed(engine::IndexedAction::kPut, on, OperandBuffer(kOnValue), row,
                                                OperandBuffer(kOut), &named, 1);
  // A class out of range leaves its row off.
  if (move != nullptr) move->raises = false;
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnOneHot) { return RunPhase1(call, kChecks, workspaceSize, executor, SetOneHot); }
