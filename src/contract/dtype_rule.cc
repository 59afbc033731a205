// Prints sets of dtypes (see dtype_rule.h).
// SPDX-License-Identifier: Apache-2.0
#include "contract/dtype_rule.h"

#include "base/data_type.h"

namespace portacl {

void AddDtypeSet(Text& text, DtypeSet set) noexcept {
  text.Add('[');
  for (int dtype = 0; dtype < 64; ++dtype) {
    if (!set.Contains(static_cast<aclDataType>(dtype))) continue;
    AddDtypeName(text, static_cast<aclDataType>(dtype));
    text.Add(',');
  }
  text.Add(']');
}

}  // namespace portacl
