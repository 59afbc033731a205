// Dtypes of a tensor and a scalar: see scalar_dtypes.h.
// SPDX-License-Identifier: Apache-2.0
#include "scalar_dtypes.h"

#include <cmath>
#include <vector>

#include "map_values.h"

namespace portacl::testing {

DtypeNumber Stt(DtypeNumber tensor, DtypeNumber scalar) { return PromoteDtypes(tensor, scalar); }

DtypeNumber WithScalarBefore950(DtypeNumber tensor, DtypeNumber scalar, DtypeNumber out) {
  if (IsComplexDtype(tensor) || IsComplexDtype(scalar)) return Stt(tensor, scalar);
  if (IsFloatingDtype(tensor)) return tensor;
  if (scalar == ACL_DOUBLE && out == ACL_FLOAT) return ACL_FLOAT;
  if (IsFloatingDtype(scalar) || tensor == ACL_BOOL) return Stt(tensor, scalar);
  return tensor;
}

DtypeNumber WithScalarOn950(DtypeNumber tensor, DtypeNumber scalar, bool keeps_double) {
  if (IsFloatingDtype(scalar) && !(keeps_double && scalar == ACL_DOUBLE)) scalar = ACL_FLOAT;
  if (IsComplexDtype(scalar)) scalar = ACL_COMPLEX64;
  if (IsComplexDtype(tensor)) return tensor;
  if (IsComplexDtype(scalar)) return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  if (IsFloatingDtype(tensor)) return tensor;
  if (tensor == ACL_BOOL || IsFloatingDtype(scalar)) return PromoteDtypes(tensor, scalar);
  return tensor;
}

DtypeNumber ExactRule950(PlanCall& call, const std::string& tensor, const std::string& scalars) {
  const std::vector<std::string> words = Words(scalars);
  const DtypeNumber promoted = WithScalarOn950(call[tensor].dtype, call[words.front()].dtype);
  if (promoted != ACL_FLOAT16 && promoted != ACL_BF16) return promoted;
  for (const std::string& word : words) {
    const long double value = ScalarIn(call[word], ACL_FLOAT).real;
    if (std::fabs(ScalarIn(call[word], promoted).real - value) > 0x1p-23L) return ACL_FLOAT;
  }
  return promoted;
}

DtypeNumber Combine(DtypeNumber high, DtypeNumber low) {
  if (IsComplexDtype(high)) return high;
  if (IsComplexDtype(low)) {
    if (!IsFloatingDtype(high)) return low;
    return high == ACL_FLOAT16 ? ACL_COMPLEX32 : high == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  }
  if (IsFloatingDtype(high)) return high;
  return high == ACL_BOOL || IsFloatingDtype(low) ? PromoteDtypes(high, low) : high;
}

DtypeNumber Def(DtypeNumber scalar) {
  return IsComplexDtype(scalar) ? ACL_COMPLEX64 : IsFloatingDtype(scalar) ? ACL_FLOAT : scalar;
}

DtypeNumber PromoteByRank(PlanCall& call, const std::string& first, const std::string& second) {
  const PlanArgument& a = call[first];
  const PlanArgument& b = call[second];
  if (call.product == Product::k950 && a.shape.empty() != b.shape.empty())
    return a.shape.empty() ? Combine(b.dtype, a.dtype) : Combine(a.dtype, b.dtype);
  return PromoteDtypes(a.dtype, b.dtype);
}

Number ScalarIn(const PlanArgument& scalar, DtypeNumber dtype) {
  const Element own = ElementOfNumber(scalar.dtype, scalar.number);
  const Number value = NumberOf(scalar.dtype, own.data());
  if (IsComplexDtype(scalar.dtype) && !IsComplexDtype(dtype)) return {0, 0};
  if (dtype == ACL_BOOL && IsFloatingDtype(scalar.dtype)) {
    const long double epsilon = scalar.dtype == ACL_DOUBLE ? 0x1p-52L : 0x1p-23L;
    return {!(std::fabs(value.real) < epsilon) ? 1.0L : 0.0L, 0};
  }
  const Element converted = ConvertedElement(scalar.dtype, own, dtype);
  return NumberOf(dtype, converted.data());
}

}  // namespace portacl::testing
