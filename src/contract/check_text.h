// The texts of the checks' messages: names of operands with their shapes, dtypes and formats, and what a product accepts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contract/checks.h"

namespace portacl::check_text {

// Returns "aclnnFoo: ", with which every message begins.
Text Start(const OperatorCall& call);

// Adds a tensor's name: self, or tensors[3] for a list's entry.
Text& AddName(Text& text, const OperatorCall& call, int tensor, int entry);
Text& AddTensorShape(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddTensorDtype(Text& text, const OperatorCall& call, int tensor, int entry = 0);
Text& AddTensorFormat(Text& text, const OperatorCall& call, int tensor);
Text& AddScalarDtype(Text& text, const OperatorCall& call, int attribute);

// Calls f(tensor, index, entry) for each tensor among the operands until it returns a failure. Visits a list
// entry by entry.
template <class F>
aclnnStatus ForEachTensor(const Operands& operands, const OperatorCall& call, const F& f) {
  for (const int index : operands) {
    for (int entry = 0; entry < call.Count(index); ++entry) {
      const aclTensor* const tensor = call.Entry(index, entry);
      if (tensor == nullptr) continue;
      if (const aclnnStatus status = f(*tensor, index, entry)) return status;
    }
  }
  return ACL_SUCCESS;
}

bool IsScalarGiven(const OperatorCall& call, int attribute);

// Adds the given tensors, then the scalars, with their dtypes: "self with dtype DT_INT8, other with dtype
// DT_BOOL".

Text& AddDtypes(Text& text, const OperatorCall& call, const Check& check);

// Returns the list of the call's product, or the check's only list where it has no rule.
DtypeSet AcceptedBy(const Check& check, const OperatorCall& call);

// Adds the product on which dtypes are accepted.
void AddProductNote(Text& text, const OperatorCall& call);

}  // namespace portacl::check_text
