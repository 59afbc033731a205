// Attributes as float32, whatever their type in the signature, and checks of these numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/scalar_value.h"
#include "contract/checks.h"
#include "engine/map/formula.h"

namespace portacl {

// Returns a scalar's value. 0 for a dtype without one; ScalarsImplemented refuses those at the end of a list.
float FloatOf(const aclScalar& scalar) noexcept;
// Returns the value of a scalar, float, double, integer or bool attribute.
float FloatOf(const Attribute& attribute) noexcept;
inline float FloatOf(const OperatorCall& call, int attribute) noexcept {
  return FloatOf(call.attributes[static_cast<size_t>(attribute)]);
}

// Returns the attributes in order, at most eight, as the numbers of a float32 formula: number i is
// parameters.Get<float>(i / 4, i % 4).
engine::Scalars FloatScalars(const OperatorCall& call) noexcept;

// Reports "parameter NAME has the value V, accepted: ACCEPTED." and returns the check's code.
aclnnStatus RefuseFloat(const Check& check, const OperatorCall& call, int attribute,
                        const char* accepted) noexcept;

namespace check {
aclnnStatus FloatAtLeastZero(const Check& check, OperatorCall& call) noexcept;
aclnnStatus FloatIsZero(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161002 when the attribute is below 0 (NaN passes), or, for the second check, not 0.
constexpr Check FloatAtLeastZero(int attribute) {
  return {.run = check::FloatAtLeastZero, .operands = {attribute}};
}
constexpr Check FloatIsZero(int attribute) { return {.run = check::FloatIsZero, .operands = {attribute}}; }

}  // namespace portacl
