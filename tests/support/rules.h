// The checks of phase 1 of which descriptions are composed. Written from CANN's rules, independently of the library under test. One string
// may name several arguments, "self other", and stand for the entries of a list. A null argument has no dtype and no shape to check. A
// refusal names an argument as this form of the operator calls it, and says what is wrong with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "dtype_lists.h"
#include "plan_call.h"

namespace portacl::testing {

using Condition = std::function<bool(PlanCall&)>;

// ---- any check ----
Rule Refuses(aclnnStatus code, const std::string& names, const Condition& wrong);
Rule SucceedsIf(const Condition& done);
Rule Sets(const std::function<void(PlanCall&)>& change);  // never fails
Rule Undetermined(const Condition& condition);            // the rules do not say what happens
// A fault that CANN finds when it divides the work: 561002.
Rule Tiling(const std::string& names, const Condition& wrong);

// ---- around checks ----
Rule When(const Condition& condition, const Rule& rule);
Rule Given(const std::string& name, const Rule& rule);  // unless the argument is null
Rule On(std::initializer_list<Product> products, const Rule& rule);
Rule WithCode(aclnnStatus code, const Rule& rule);
Rules operator+(Rules first, const Rules& second);

// ---- null arguments ----
Rule NoNulls(const std::string& names, aclnnStatus code = 161001);
Rule NotAllNull(const std::string& names);

// ---- dtypes ----
// The names of those dtypes that have one: messages do not promise how they show numbers that are no dtype.
std::vector<std::string> NamesOf(const DtypeList& dtypes);
Rule DtypeIn(const std::string& names, const Listed& list);
// Each of the others has the dtype of the first.
Rule SameDtype(const std::string& first, const std::string& others);
// Promotes one after the other into call.promoted.
Rule Promotes(const std::string& names);
Rule PromotesTo(const std::string& names, const std::function<DtypeNumber(PlanCall&)>& promote);
Rule PromotedIn(const std::string& names, const Listed& list);
Rule PromotedCastsTo(const std::string& name);                      // call.promoted to the argument's dtype
Rule CastsToPromoted(const std::string& names);                     // their dtypes to call.promoted
Rule CastsTo(const std::string& from, const std::string& into);     // one argument's dtype to another's
Rule Convertible(const std::string& names, const DtypeList& list);  // 561103

// ---- attributes ----
Rule IntegerFrom(const std::string& name, int64_t least, int64_t most);
Rule NotBelowZero(const std::string& name);  // and not NaN
// The words by which messages show a real, if it has few digits.
std::vector<std::string> Shown(double value);

// ---- shapes ----
Rule Ranks(const std::string& names, size_t least = 0, size_t most = 8);
Rule RanksUnlessDense(const std::string& names);  // of at most 8 dims, unless all of them are dense
// No tensor has a negative dim, or takes 2^63 bytes and more. Neither does what the tensors broadcast to.
Rule Representable();
// Broadcasts one after the other into call.result.
Rule Broadcasts(const std::string& names);
Rule Expands(const std::string& name);  // to call.result
Rule HasShape(const std::string& name, const std::function<Shape(const PlanCall&)>& shape,
              aclnnStatus code = 161002);
Rule ResultIs(const std::string& name, aclnnStatus code = 161002);       // its shape is call.result
Rule ResultIsOrOne(const std::string& name, aclnnStatus code = 161002);  // or both have one element
Rule SameShape(const std::string& first, const std::string& others);
Rule HasOneElement(const std::string& name, aclnnStatus code);
Rule DoneIfEmpty(const std::string& names);  // success if one is empty
// The elements of a shape; nullopt if a dim is negative, or there are 2^63 and more.
std::optional<int64_t> CountedElements(const Shape& shape);
bool IsAnyEmpty(const PlanCall& call, const std::string& names);

// ---- memory and formats ----
bool IsDense(const PlanArgument& tensor);
// A view that is not dense lies inside its storage.
Rule Inside(const std::string& names);
Rule NoPrivateFormat(const std::string& names);
Rule SameFormat(const std::string& first, const std::string& others);

}  // namespace portacl::testing
