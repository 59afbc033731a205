// Checks of phase 1 that operators share, for descriptions of index_operator.h. Written from CANN's rules, independently of the library
// under test. A refusal says which words its message contains.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "index_operator.h"

namespace portacl::testing {

using Condition = std::function<bool(const IndexCall&)>;

// ---- around rules ----
IndexRule When(const Condition& condition, const IndexRule& rule);
IndexRule Given(const std::string& name, const IndexRule& rule);  // unless the argument is null
IndexRule On(std::initializer_list<Product> products, const IndexRule& rule);
IndexRules operator+(IndexRules first, const IndexRules& second);
// A fault that CANN finds when it divides the work: 561002.
IndexRule Tiling(const std::string& names, std::function<bool(IndexCall&)> wrong);

// ---- dtypes ----
// The names of those dtypes that have one: messages do not promise how they show numbers that are no dtype.
std::vector<std::string> NamesOf(const DtypeList& dtypes);
// Each of these tensors has a dtype of the list.
IndexRule DtypeOf(const std::string& names, const Listed& list);
IndexRule SameDtypeAs(const std::string& first, const std::string& others);
// Promotes one after the other into call.promoted.
IndexRule Promote(const std::string& names);
IndexRule PromotedIsIn(const Listed& list);
IndexRule PromotedFits(const std::string& name);                         // can be cast to its dtype
IndexRule Fits(const std::string& name, const std::string& into);        // so can that of a tensor
IndexRule Convertible(const std::string& names, const DtypeList& list);  // 561103

// ---- attributes ----
IndexRule IntegerFrom(const std::string& name, int64_t least, int64_t most);
IndexRule NotBelowZero(const std::string& name);  // and not NaN

// ---- shapes ----
IndexRule AtMost8Dims(const std::string& names);
// No tensor has a negative dim, or takes 2^63 bytes and more. Neither does what the tensors broadcast to.
IndexRule Representable();
// Broadcasts one after the other into call.result.
IndexRule BroadcastsTogether(const std::string& names);
IndexRule Expands(const std::string& name);  // to call.result
IndexRule HasShape(const std::string& name, const std::function<Shape(const IndexCall&)>& shape,
                   aclnnStatus code = 161002);
IndexRule HasOneElement(const std::string& name, aclnnStatus code);
IndexRule DoneIfEmpty(const std::string& names);
bool IsAnyEmpty(const IndexCall& call, const std::string& names);

// ---- memory and formats ----
bool IsDense(const IndexArgument& tensor);
// A view that is not dense lies inside its storage.
IndexRule Inside(const std::string& names);
IndexRule NoPrivateFormat(const std::string& names);
IndexRule OneFormat(const std::string& first, const std::string& second);

}  // namespace portacl::testing
