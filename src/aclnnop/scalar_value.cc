// Converts scalars (see scalar_value.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/scalar_value.h"

#include <cmath>
#include <cstring>

#include "base/data_type.h"
#include "contract/dtype_rule.h"
#include "engine/move/conversion.h"

namespace portacl {
namespace {

ScalarValue Converted(const void* value, aclDataType from, aclDataType to) {
  ScalarValue result;
  const engine::Conversion conversion = engine::FindConversion(Isa::kPortable, from, to);
  if (conversion.KeepsBytes()) {
    std::memcpy(result.bytes, value, (StorageBits(to) + 7) / 8);
  } else {
    conversion.Run(value, result.bytes, 1, /*stream=*/false);
  }
  return result;
}

}  // namespace

bool ScalarConverts(aclDataType from, aclDataType to) noexcept {
  return kConvertible.Contains(from) && kConvertible.Contains(to);
}

ScalarValue ConvertScalar(const aclScalar& scalar, aclDataType to) noexcept {
  const aclDataType from = scalar.dtype;
  if (IsComplex(from) && !IsComplex(to)) return {};
  if (to == ACL_BOOL && IsFloating(from)) {
    const ScalarValue wide = Converted(scalar.value, from, ACL_DOUBLE);
    double value = 0;
    std::memcpy(&value, wide.bytes, sizeof value);
    ScalarValue result;
    result.bytes[0] = std::fabs(value) >= (from == ACL_DOUBLE ? 0x1p-52 : 0x1p-23) ? 1 : 0;
    return result;
  }
  return Converted(scalar.value, from, to);
}

bool IsOne(const aclScalar& scalar) noexcept {
  const ScalarValue value = ConvertScalar(scalar, ACL_COMPLEX128);
  double parts[2];
  std::memcpy(parts, value.bytes, sizeof parts);
  return parts[0] == 1.0 && parts[1] == 0.0;
}

}  // namespace portacl
