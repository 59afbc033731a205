// Checks of norms over the last axes of a tensor. The first array attribute gives the lengths of these axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/jobs/statistics.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {

// Returns a shape with its last dims replaced by 1.
inline Shape RowsOf(const Shape& shape, int last) {
  Shape rows = shape;
  for (int axis = shape.rank - last; axis < shape.rank; ++axis) rows.dim[axis] = 1;
  return rows;
}

// 161002 when the tensor's dtype is neither FLOAT nor the other tensor's.
template <int tensor, int other>
aclnnStatus FloatOrDtypeOf(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(tensor).dtype;
  if (dtype == ACL_FLOAT || dtype == call.Tensor(other).dtype) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, tensor);
  AddArgumentDtype(message.Add(" does not go with "), call, other);
  return FailAclnn(check.code, message.Add("; accepted: FLOAT or the same dtype."));
}

// Returns a double attribute, rounded to float32.
inline double FloatNumber(const OperatorCall& call, int attribute) {
  return static_cast<double>(static_cast<float>(call.attributes[static_cast<size_t>(attribute)].wide));
}

template <int attribute>
aclnnStatus EpsilonIsNotNegative(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[attribute].wide >= 0) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter epsilon is negative, accepted: at least 0."));
}

template <int a, int b>
bool BothThere(const OperatorCall& call) noexcept {
  return call.IsGiven(a) && call.IsGiven(b);
}

inline aclnnStatus RefuseNormalized(const Check& check, const OperatorCall& call, int tensor) noexcept {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" does not go with normalizedShape [");
  const char* separator = "";
  for (const int64_t value : call.Array(0)) {
    message.Add(separator).Add(value);
    separator = ", ";
  }
  return FailAclnn(check.code, message.Add("], accepted: a shape whose last dims are those, at least one."));
}

// 161002 when the array is empty, longer than the tensor's rank, or different from the tensor's last dims.
template <int tensor>
aclnnStatus NormalizedDimsFit(const Check& check, OperatorCall& call) noexcept {
  const auto& normalized = call.Array(0);
  const Shape& shape = call.Tensor(tensor).shape;
  const int count = static_cast<int>(normalized.size());
  bool fits = count >= 1 && count <= shape.rank;
  for (int i = 0; fits && i < count; ++i)
    fits = normalized[static_cast<size_t>(i)] == shape[shape.rank - count + i];
  return fits ? ACL_SUCCESS : RefuseNormalized(check, call, tensor);
}

// 161002 when the tensor's shape differs from the array.
template <int tensor>
aclnnStatus ShapeIsNormalized(const Check& check, OperatorCall& call) noexcept {
  const auto& normalized = call.Array(0);
  const Shape& shape = call.Tensor(tensor).shape;
  bool fits = shape.rank == static_cast<int>(normalized.size());
  for (int i = 0; fits && i < shape.rank; ++i) fits = normalized[static_cast<size_t>(i)] == shape[i];
  return fits ? ACL_SUCCESS : RefuseNormalized(check, call, tensor);
}

// Checks that gamma has the shape of x's last dims, without a 0.
template <int x, int gamma>
aclnnStatus GammaIsTail(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(x).shape;
  const Shape& tail = call.Tensor(gamma).shape;
  bool fits = tail.rank >= 1 && tail.rank <= shape.rank && !tail.IsEmpty();
  for (int i = 0; fits && i < tail.rank; ++i) fits = tail[i] == shape[shape.rank - tail.rank + i];
  if (fits) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, gamma);
  AddArgumentShape(message.Add(" is not made of the last dims of "), call, x);
  return FailAclnn(check.code, message.Add(", accepted: the last dims of that, without a 0."));
}

// Checks that rstd has one number for each row: x's leading dims, then any number of dims of 1. Leading dims
// of 1 at the end may be missing.
template <int x, int gamma, int rstd>
aclnnStatus RstdFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(x).shape;
  const int leading = shape.rank - call.Tensor(gamma).shape.rank;
  const Shape& numbers = call.Tensor(rstd).shape;
  const auto length = [&](int i) { return i < leading ? shape[i] : 1; };
  bool fits = numbers.rank <= shape.rank;
  for (int i = 0; fits && i < numbers.rank; ++i) fits = numbers[i] == length(i);
  for (int i = numbers.rank; fits && i < leading; ++i) fits = shape[i] == 1;
  if (fits) return ACL_SUCCESS;
  return RefuseShape(check, call, rstd, RowsOf(shape, shape.rank - leading));
}

}  // namespace portacl
