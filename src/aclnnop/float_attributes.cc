// Converts attributes to float32 (see float_attributes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/float_attributes.h"

#include <bit>
#include <cstring>

#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {

float FloatOf(const aclScalar& scalar) noexcept {
  float number = 0;
  if (!ScalarConverts(scalar.dtype, ACL_FLOAT)) return number;
  const ScalarValue value = ConvertScalar(scalar, ACL_FLOAT);
  std::memcpy(&number, value.bytes, sizeof number);
  return number;
}

float FloatOf(const Attribute& attribute) noexcept {
  if (attribute.scalar != nullptr) return FloatOf(*attribute.scalar);
  if (attribute.integer != 0) return static_cast<float>(attribute.integer);
  // The bits decide, since -0 is a value.
  if (std::bit_cast<uint64_t>(attribute.wide) != 0) return static_cast<float>(attribute.wide);
  return attribute.real;
}

engine::Scalars FloatScalars(const OperatorCall& call) noexcept {
  engine::Scalars scalars;
  size_t i = 0;
  for (const Attribute& attribute : call.attributes) {
    const float number = FloatOf(attribute);
    std::memcpy(scalars.bytes[i / 4] + i % 4 * sizeof number, &number, sizeof number);
    ++i;
  }
  return scalars;
}

aclnnStatus RefuseFloat(const Check& check, const OperatorCall& call, int attribute,
                        const char* accepted) noexcept {
  Text message =
      StartMessage(call).Add("parameter ").Add(call.attributes[static_cast<size_t>(attribute)].name);
  message.Add(" has the value ").Add(FloatOf(call, attribute)).Add(", accepted: ").Add(accepted);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::FloatAtLeastZero(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  return FloatOf(call, attribute) < 0 ? RefuseFloat(check, call, attribute, "0 or more") : ACL_SUCCESS;
}

aclnnStatus check::FloatIsZero(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  return FloatOf(call, attribute) == 0 ? ACL_SUCCESS : RefuseFloat(check, call, attribute, "0");
}

}  // namespace portacl
