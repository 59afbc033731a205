// Converts attributes of activations to numbers (see activation.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/activations/activation.h"

#include <cstring>

#include "base/errors.h"

namespace portacl {

engine::Scalars FloatsOf(const OperatorCall& call) noexcept {
  engine::Scalars scalars;
  size_t i = 0;
  for (const Attribute& attribute : call.attributes) {
    ScalarValue value;
    if (attribute.scalar != nullptr) {
      if (ScalarConverts(attribute.scalar->dtype, ACL_FLOAT))
        value = ConvertScalar(*attribute.scalar, ACL_FLOAT);
    } else {
      const auto number = static_cast<float>(attribute.integer);
      std::memcpy(value.bytes, &number, sizeof number);
    }
    std::memcpy(scalars.bytes[i / 4] + i % 4 * sizeof(float), value.bytes, sizeof(float));
    ++i;
  }
  return scalars;
}

aclnnStatus RefuseNumber(const Check& check, const OperatorCall& call, int attribute, float value,
                         const char* accepted) noexcept {
  Text message =
      StartMessage(call).Add("parameter ").Add(call.attributes[static_cast<size_t>(attribute)].name);
  return FailAclnn(check.code,
                   message.Add(" has the value ").Add(value).Add(", accepted: ").Add(accepted).Add("."));
}

}  // namespace portacl
