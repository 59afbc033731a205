// Lists of dtypes, as CANN has them for each operator: what products have besides is a part of the list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "acl/acl.h"
#include "dtype_rules.h"
#include "products.h"

namespace portacl::testing {

using DtypeList = std::vector<DtypeNumber>;

inline constexpr std::initializer_list<Product> kOldProducts = {Product::k910, Product::k310P,
                                                                Product::k310B};
inline constexpr std::initializer_list<Product> kBefore950 = {Product::kA3, Product::kA2, Product::k910,
                                                              Product::k310P, Product::k310B};
inline constexpr std::initializer_list<Product> k950Only = {Product::k950};

// A list of dtypes, and its additions on some products.
struct Listed {
  DtypeList everywhere = {};
  DtypeList on_new = {};  // A2, A3 and 950
  DtypeList on_950 = {};
  DtypeList on_910 = {};
  DtypeList before_950 = {};
  DtypeList on_310 = {};
  DtypeList on_310b = {};

  bool Has(Product product, DtypeNumber dtype) const;
};
Listed operator+(Listed list, const DtypeList& more);
Listed operator-(Listed list, const DtypeList& less);

inline const DtypeList kSignedAndBool = {ACL_INT8,  ACL_UINT8, ACL_INT16,
                                         ACL_INT32, ACL_INT64, ACL_BOOL};  // "I"
inline const DtypeList kUnsigned = {ACL_UINT16, ACL_UINT32, ACL_UINT64};
inline const DtypeList kComplexDtypes = {ACL_COMPLEX64, ACL_COMPLEX128};
inline const Listed kFloats = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};  // "F"
inline const Listed kFD = kFloats + DtypeList{ACL_DOUBLE};
inline const Listed kFI = kFloats + kSignedAndBool;
inline const Listed kFDI = kFD + kSignedAndBool;
inline const Listed kFDC = kFD + kComplexDtypes;
inline const Listed kFDCI = kFDI + kComplexDtypes;  // "L11"

bool IsOneOf(DtypeNumber dtype, const DtypeList& dtypes);
bool IsIntegral(DtypeNumber dtype);  // integer or bool

}  // namespace portacl::testing
