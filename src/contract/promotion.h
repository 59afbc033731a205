// CANN's dtype rules: promotion of tensor dtypes and castability.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "base/text.h"

namespace portacl {

// Returns the dtype to which two tensors' dtypes promote, or ACL_DT_UNDEFINED when there is none. Not
// symmetric where CANN's table is not: unsigned 16, 32 and 64-bit integers with complex numbers.
aclDataType PromoteType(aclDataType a, aclDataType b) noexcept;

// Tells whether CANN allows a cast. It allows none from complex to non-complex, from floating to integer, or
// to bool from anything else.
bool CanCast(aclDataType from, aclDataType to) noexcept;

// Adds the reason for refusing such a cast. Tests of clients search for these words of PyTorch and CANN.
Text& AddCannotCast(Text& message, aclDataType from, aclDataType to);

}  // namespace portacl
