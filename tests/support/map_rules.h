// Checks of phase 1 from which the descriptions of elementwise operators are composed. Written from CANN's
// rules, independently of the library under test. One string may name several operands: "self other".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "map_operator.h"

namespace portacl::testing {

using DtypeList = std::vector<DtypeNumber>;
using Rules = std::vector<Rule>;

inline constexpr std::initializer_list<Product> kNewProducts = {Product::k950, Product::kA3, Product::kA2};
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

// ---- checks ----
Rule Nulls(const std::string& names, aclnnStatus code = 161001);
Rule NotAllNull(const std::string& names);
Rule In(const std::string& names, const Listed& list);
Rule PromotedIn(const std::string& names, const Listed& list);
Rule Promotes(const std::string& names);  // from left to right
Rule PromotesTo(const std::string& names, std::function<DtypeNumber(MapCall&)> rule);
Rule CastsTo(const std::string& name);                           // CanCast(P, name)
Rule CastsFrom(const std::string& from, const std::string& to);  // CanCast of two operands
Rule CastsToPromoted(const std::string& names);
Rule SameDtypes(const std::string& first, const std::string& second);
Rule AlphaFits(bool bool_case = true);
Rule Ranks(const std::string& names, size_t most = 8, size_t least = 0);
Rule RanksUnlessContiguous(const std::string& names, const std::string& all);
Rule Broadcasts(const std::string& names);  // sets call.broadcast
Rule BroadcastIs(const std::string& name);  // its shape
Rule SameShapes(const std::string& first, const std::string& second);
Rule Empty(const std::string& names);  // success if one is empty
Rule NotPrivate(const std::string& names);
Rule SameFormats(const std::string& names);
Rule Says(aclnnStatus code, const std::string& names, std::function<bool(MapCall&)> wrong);
Rule Sets(std::function<void(MapCall&)> change);             // never fails
Rule Undetermined(std::function<bool(MapCall&)> condition);  // the rules do not say what happens

// ---- around checks ----
Rule On(std::initializer_list<Product> products, const Rule& rule);
Rule When(std::function<bool(MapCall&)> condition, const Rule& rule);
Rule WithCode(aclnnStatus code, const Rule& rule);
Rules operator+(Rules first, const Rules& second);

// Checks broadcast and shape of selfRef before everything else.
Rules InPlaceFirst(const std::string& names);

// ---- descriptions ----
MapOperator Describe(const CFunction& function, const std::string& names, const Rules& rules,
                     const Oracle& oracle);
// Makes the in-place form of an operator: other names, and additional first checks.
MapOperator InPlace(const CFunction& function, const MapOperator& base, const std::string& names,
                    const Rules& first = {});

// ---- dtypes of a tensor and a scalar; `tensor` and `scalar` are names ----
DtypeNumber Stt(DtypeNumber tensor, DtypeNumber scalar);
DtypeNumber WithScalarBefore950(DtypeNumber tensor, DtypeNumber scalar, DtypeNumber out);
DtypeNumber WithScalarOn950(DtypeNumber tensor, DtypeNumber scalar, bool keeps_double = false);
// The 950 rule, widened to FLOAT where rounding to it would change the scalar's value.
DtypeNumber ExactRule950(MapCall& call, const std::string& tensor, const std::string& scalars);
DtypeNumber Combine(DtypeNumber high, DtypeNumber low);
DtypeNumber Def(DtypeNumber scalar);
DtypeNumber PromoteByRank(MapCall& call, const std::string& first, const std::string& second);

// Converts a scalar to a dtype as operators do.
Number ScalarIn(const Operand& scalar, DtypeNumber dtype);

std::vector<std::string> Words(const std::string& text);

}  // namespace portacl::testing
