// CANN's dtype rules: promotion of tensor dtypes and castability.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base.h"
#include "acl/text.h"

namespace portacl {

// The type that two tensors' dtypes promote to; ACL_DT_UNDEFINED when there is none. Not symmetric where
// CANN's table is not (unsigned 16/32/64-bit against complex).
aclDataType PromoteType(aclDataType a, aclDataType b) noexcept;

// Whether CANN considers a cast legal: not from complex to non-complex, from floating to integer, or to bool
// from anything else.
bool CanCast(aclDataType from, aclDataType to) noexcept;

// Adds why a message refuses such a cast, in the words that tests of clients look for: those of PyTorch and of CANN.
Text& AddCannotCast(Text& message, aclDataType from, aclDataType to);

}  // namespace portacl
