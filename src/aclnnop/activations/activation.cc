// Converts attributes of activations to numbers (see activation.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/activations/activation.h"

#include "aclnnop/float_attributes.h"
#include "base/errors.h"

namespace portacl {

engine::Scalars FloatsOf(const OperatorCall& call) noexcept { return FloatScalars(call); }

aclnnStatus RefuseNumber(const Check& check, const OperatorCall& call, int attribute, float value,
                         const char* accepted) noexcept {
  Text message =
      StartMessage(call).Add("parameter ").Add(call.attributes[static_cast<size_t>(attribute)].name);
  return FailAclnn(check.code,
                   message.Add(" has the value ").Add(value).Add(", accepted: ").Add(accepted).Add("."));
}

}  // namespace portacl
