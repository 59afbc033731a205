// Lists of dtypes: see dtype_lists.h.
// SPDX-License-Identifier: Apache-2.0
#include "dtype_lists.h"

#include <algorithm>

namespace portacl::testing {

bool IsOneOf(DtypeNumber dtype, const DtypeList& dtypes) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

bool IsIntegral(DtypeNumber dtype) { return IsIntegerDtype(dtype) || dtype == ACL_BOOL; }

bool Listed::Has(Product product, DtypeNumber dtype) const {
  const bool is_950 = product == Product::k950;
  const bool is_new = is_950 || product == Product::kA2 || product == Product::kA3;
  return IsOneOf(dtype, everywhere) || (is_new && IsOneOf(dtype, on_new)) ||
         (is_950 && IsOneOf(dtype, on_950)) || (!is_950 && IsOneOf(dtype, before_950)) ||
         (product == Product::k910 && IsOneOf(dtype, on_910)) ||
         ((product == Product::k310B || product == Product::k310P) && IsOneOf(dtype, on_310)) ||
         (product == Product::k310B && IsOneOf(dtype, on_310b));
}

Listed operator+(Listed list, const DtypeList& more) {
  list.everywhere.insert(list.everywhere.end(), more.begin(), more.end());
  return list;
}

Listed operator-(Listed list, const DtypeList& less) {
  for (DtypeList* dtypes : {&list.everywhere, &list.on_new, &list.on_950, &list.on_910, &list.before_950,
                            &list.on_310, &list.on_310b})
    std::erase_if(*dtypes, [&](DtypeNumber dtype) { return IsOneOf(dtype, less); });
  return list;
}

}  // namespace portacl::testing
