// Shared code of operators that draw random numbers (see random_source.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/random_source.h"

#include <cmath>
#include <cstring>

#include "base/data_type.h"
#include "base/errors.h"

namespace portacl::random {

aclnnStatus CheckOneInteger(const Check& check, OperatorCall& call) noexcept {
  for (int index : check.operands) {
    const aclTensor& tensor = call.Tensor(index);
    if (check.dtypes.Contains(tensor.dtype) && tensor.countable && tensor.numel == 1) continue;
    Text message(call.api, ": parameter ", call.Name(index), " with dtype ");
    AddDtypeName(message, tensor.dtype);
    AddShape(message.Add(" and shape "), tensor.shape);
    AddDtypeSet(message.Add(" is not supported, accepted: one element of "), check.dtypes);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}

engine::DeviceSource DeviceSourceOf(const OperatorCall& call, int seed, int offset) noexcept {
  const auto element = [&](int index) -> engine::IntegerElement {
    if (index < 0) return {};
    return {static_cast<int8_t>(index), ByteOffset(call.Tensor(index))};
  };
  return {element(seed), element(offset)};
}

aclnnStatus CheckProbability(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  if (!(attribute.wide < 0) && !(attribute.wide > 1)) return ACL_SUCCESS;
  return FailAclnn(check.code, Text(call.api, ": parameter ", attribute.name, " has the value ",
                                    static_cast<float>(attribute.wide), ", accepted: 0 to 1."));
}

uint32_t GreatestWordBelow(double probability) noexcept {
  return static_cast<uint32_t>(static_cast<int64_t>(std::ceil(probability * 0x1p32)) - 1);
}

double RoundedTo(aclDataType dtype, double value) noexcept {
  aclScalar scalar{ACL_DOUBLE, {}};
  std::memcpy(scalar.value, &value, sizeof value);
  const ScalarValue rounded = ConvertScalar(scalar, dtype);
  aclScalar narrow{dtype, {}};
  std::memcpy(narrow.value, rounded.bytes, sizeof rounded.bytes);
  double result = 0;
  std::memcpy(&result, ConvertScalar(narrow, ACL_DOUBLE).bytes, sizeof result);
  return result;
}

}  // namespace portacl::random
