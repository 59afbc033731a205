// Shared code of pools (see pool_windows.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/pool_windows.h"

#include <algorithm>
#include <limits>

#include "base/errors.h"
#include "plan/views.h"

namespace portacl {

int64_t WindowValue(const OperatorCall& call, int attribute, int axis, int64_t otherwise, bool behind) {
  const aclIntArray* const array =
      attribute < 0 ? nullptr : call.attributes[static_cast<size_t>(attribute)].array;
  if (array == nullptr || array->values.empty()) return otherwise;
  const std::vector<int64_t>& values = array->values;
  const size_t at = static_cast<size_t>(axis) + (behind && values.size() == 4 ? 2 : 0);
  return values.size() == 1 ? values[0] : values[std::min(at, values.size() - 1)];
}

engine::PoolAxis WindowAxis(const OperatorCall& call, const WindowRules& rules, int axis, int64_t length) {
  engine::PoolAxis result;
  result.length = length;
  result.kernel = WindowValue(call, rules.kernel, axis, 1);
  result.stride = WindowValue(call, rules.stride, axis, rules.steps_by_one ? 1 : result.kernel);
  result.before = WindowValue(call, rules.padding, axis, 0);
  result.after = WindowValue(call, rules.padding, axis, 0, /*behind=*/true);
  result.dilation = WindowValue(call, rules.dilation, axis, 1);
  const bool rounds_up = call.attributes[static_cast<size_t>(rules.ceil)].integer != 0;
  const int64_t room = length + result.before + result.after - result.dilation * (result.kernel - 1) - 1 +
                       (rounds_up ? result.stride - 1 : 0);
  result.positions = room < 0 ? 0 : room / result.stride + 1;
  if (rounds_up && (result.positions - 1) * result.stride >= length + result.before) --result.positions;
  return result;
}

StridedView PoolView(const StridedView& tensor, int axes) {
  StridedView view = PlainView(tensor);
  const int batch = view.shape.rank - axes;
  for (int k = axes; k < 3; ++k) InsertDim(view, batch, 1, 0);
  for (int k = batch; k < 2; ++k) InsertDim(view, 0, 1, 0);
  return view;
}

StridedView PlanesOf(const StridedView& images, bool channels_last) {
  if (!channels_last) return PoolView(images, 2);
  StridedView transposed = PlainView(images);
  const int order[] = {0, 3, 1, 2};
  Permute(transposed, order);
  return PoolView(transposed, 2);
}

void SetAxes(const OperatorCall& call, const WindowRules& rules, const StridedView& pooled,
             const StridedView& windows, engine::Pool& pool) {
  for (int axis = 0; axis < rules.axes; ++axis) {
    const int at = 3 - rules.axes + axis;
    pool.axis[at] = WindowAxis(call, rules, axis, pooled.shape[2 + at]);
    pool.axis[at].positions = windows.shape[2 + at];
  }
}

void SetAdaptiveAxes(const StridedView& pooled, const StridedView& windows, engine::Pool& pool) {
  for (int at = 1; at < 3; ++at) {
    pool.axis[at].length = pooled.shape[2 + at];
    pool.axis[at].positions = windows.shape[2 + at];
    pool.axis[at].is_adaptive = true;
  }
}

namespace pools {

aclnnStatus CountIn(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  if (call.attributes[static_cast<size_t>(attribute)].array == nullptr) return ACL_SUCCESS;
  const size_t count = call.Array(attribute).size();
  if (count < 8 && (check.low >> count & 1) != 0) return ACL_SUCCESS;
  Text accepted;
  const char* between = "";
  for (int k = 0; k < 8; ++k) {
    if ((check.low >> k & 1) == 0) continue;
    accepted.Add(between).Add(k);
    between = ", ";
  }
  return RefuseArray(check, call, attribute, " has another number of values", accepted.c_str());
}

aclnnStatus ValuesFrom(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  if (call.attributes[static_cast<size_t>(attribute)].array == nullptr) return ACL_SUCCESS;
  for (const int64_t value : call.Array(attribute)) {
    if (value < check.low || value > std::numeric_limits<int32_t>::max())
      return RefuseArray(check, call, attribute, " has a value out of range",
                         check.low > 0 ? "1 to 2147483647 each" : "0 to 2147483647 each");
  }
  return ACL_SUCCESS;
}

aclnnStatus ValuesAre1(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  for (const int64_t value : call.Array(attribute)) {
    if (value != 1) return RefuseArray(check, call, attribute, " has another value than 1", "1 each");
  }
  return ACL_SUCCESS;
}

aclnnStatus HalfOf(const Check& check, OperatorCall& call) noexcept {
  const int padding = check.operands.index[0];
  for (int axis = 0; axis < check.low; ++axis) {
    if (WindowValue(call, padding, axis, 0) > WindowValue(call, check.operands.index[1], axis, 1) / 2)
      return RefuseArray(check, call, padding, " is more than half of the kernel",
                         "at most half of it, rounded down");
  }
  return ACL_SUCCESS;
}

aclnnStatus ImageNotEmpty(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Shape& shape = call.Tensor(tensor).shape;
  for (int dim = shape.rank - static_cast<int>(check.low); dim < shape.rank; ++dim) {
    if (shape[dim] != 0) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" is empty, accepted: a batch of 0, no other dim."));
  }
  return ACL_SUCCESS;
}

aclnnStatus SameRank(const Check& check, OperatorCall& call) noexcept {
  const int a = check.operands.index[0];
  const int b = check.operands.index[1];
  const int rank = call.Tensor(a).shape.rank;
  if (rank == call.Tensor(b).shape.rank) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, b).Add(" has another rank than ").Add(call.Name(a));
  return FailAclnn(check.code, message.Add(", accepted: ").Add(rank).Add(" dims."));
}

aclnnStatus SameBatch(const Check& check, OperatorCall& call) noexcept {
  const int a = check.operands.index[0];
  const int b = check.operands.index[1];
  const Shape& first = call.Tensor(a).shape;
  const Shape& second = call.Tensor(b).shape;
  for (int dim = 0; dim < first.rank - static_cast<int>(check.low); ++dim) {
    if (first[dim] == second[dim]) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, b).Add(" has another dim ").Add(dim).Add(" than ");
    return FailAclnn(check.code, message.Add(call.Name(a)).Add(", accepted: ").Add(first[dim]).Add("."));
  }
  return ACL_SUCCESS;
}

aclnnStatus FormatOfImages(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : check.operands) {
    const aclTensor& given = call.Tensor(tensor);
    const bool is_batch = given.shape.rank == 4;
    if ((is_batch && given.format == ACL_FORMAT_NCHW) ||
        (given.shape.rank == 3 && given.format == ACL_FORMAT_NCL))
      continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor)
        .Add(" has the format ")
        .Add(static_cast<int>(given.format));
    return FailAclnn(check.code, message.Add(", accepted: NCHW (0) with 4 dims, NCL (47) with 3."));
  }
  return ACL_SUCCESS;
}

aclnnStatus PlanesFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : check.operands) {
    const Shape& shape = call.Tensor(tensor).shape;
    int64_t plane = 1;
    const int end = shape.rank - static_cast<int>(check.high);
    for (int dim = end - static_cast<int>(check.low); dim < end; ++dim) {
      if (!__builtin_mul_overflow(plane, shape[dim], &plane) && plane <= engine::kMostPooled) continue;
      Text message = StartMessage(call);
      AddArgumentShape(message.Add("parameter "), call, tensor);
      return FailAclnn(check.code, message.Add(" has planes of more elements than accepted: 2147483647."));
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus SizeIsOut(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  const Shape& out = call.Tensor(check.operands.index[1]).shape;
  const auto& size = call.Array(attribute);
  if (size[0] == out[out.rank - 2] && size[1] == out[out.rank - 1]) return ACL_SUCCESS;
  return RefuseArray(check, call, attribute, " is not what the output's last dims are", "its last two dims");
}

aclnnStatus IsPooled(const Check& check, OperatorCall& call, const WindowRules& rules, int self, int out,
                     int behind) {
  const Shape& shape = call.Tensor(self).shape;
  call.broadcast = shape;
  for (int axis = 0; axis < rules.axes; ++axis) {
    const int dim = shape.rank - behind - rules.axes + axis;
    call.broadcast.dim[dim] = WindowAxis(call, rules, axis, shape[dim]).positions;
    if (call.broadcast.dim[dim] < 1)
      return RefuseArray(check, call, rules.kernel, " is larger than the padded input", "a window that fits");
  }
  return call.Tensor(out).shape == call.broadcast ? ACL_SUCCESS
                                                  : RefuseShape(check, call, out, call.broadcast);
}

}  // namespace pools
}  // namespace portacl
